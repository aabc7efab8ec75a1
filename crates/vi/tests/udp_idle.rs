//! VIs over UDP that wait use no processor. In a process of its own: other tests would be counted.
#![cfg(not(loom))]

mod common;

use common::{LEVELS, Result, pair, receive, send};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use throughline_vi::{Vi, WaitError};

/// Processor time of this process.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).expect("a time")
}

#[test]
fn who_waits_while_nothing_happens_uses_no_processor() -> Result {
    for level in LEVELS {
        let [mut a, mut b] = pair(level)?;
        send(&mut a, b"before")?;
        assert_eq!(receive(&mut b)?, b"before");
        let wait = |vi: &mut Vi| vi.receive_wait(Some(Duration::from_millis(1500)));
        let before = processor_time();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| wait(&mut b).map(drop));
            assert!(matches!(wait(&mut a), Err(WaitError::Timeout)));
            assert!(matches!(other.join().expect("no panic"), Err(WaitError::Timeout)));
        });
        let used = processor_time().saturating_sub(before);
        assert!(used < Duration::from_millis(60), "{used:?} in 1.5 s");
    }
    Ok(())
}
