//! VIs over UDP that wait use no processor. In a process of its own: other tests would be counted.
#![cfg(not(loom))]

use rustix::time::{ClockId, clock_gettime};
use std::{
    error::Error,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use throughline_vi::{Nic, Reliability, SendDescriptor, Vi, ViAttributes, WaitError};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const LONG: Option<Duration> = Some(Duration::from_secs(20));
const LEVELS: [Reliability; 2] = [Reliability::ReliableDelivery, Reliability::ReliableReception];

fn pair(level: Reliability) -> Result<[Vi; 2]> {
    let nics = [Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?];
    let attributes = ViAttributes::new(level);
    let mut vis = [nics[0].create_vi(&attributes)?, nics[1].create_vi(&attributes)?];
    vis.iter_mut().for_each(Vi::post_own_receives);
    let mut listener = nics[1].listen(b"udp")?;
    let [a, b] = &mut vis;
    std::thread::scope(|scope| -> Result {
        let active = scope.spawn(|| a.connect(nics[1].address(), b"udp", LONG));
        listener.wait(LONG)?.accept(b)?;
        Ok(active.join().expect("no panic")?)
    })?;
    Ok(vis)
}

fn descriptor(vi: &mut Vi, bytes: &[u8]) -> Result<SendDescriptor> {
    let mut buffer = vi.send_buffer().ok_or("no buffer")?;
    buffer.set_len(bytes.len());
    buffer.copy_from_slice(bytes);
    Ok(SendDescriptor::new(buffer))
}

fn send(vi: &mut Vi, bytes: &[u8]) -> Result {
    let descriptor = descriptor(vi, bytes)?;
    Ok(vi.post_send(descriptor.unsignaled())?)
}

fn receive(vi: &mut Vi) -> Result<Vec<u8>> {
    let completion = vi.receive_wait(LONG)?;
    completion.result?;
    let bytes = completion.buffer.to_vec();
    vi.post_receive(completion.buffer)?;
    Ok(bytes)
}

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
