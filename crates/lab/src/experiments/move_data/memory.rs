//! What parts of a message's way cost alone, in one process: to copy its bytes, and to marshal them.

use std::hint::black_box;
use std::time::Duration;

use crate::Options;
use crate::peers::bench::Marshaling;
use crate::timing::{Work, in_turns};

/// For messages of one size; microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    pub(super) bytes: u32,
    /// One copy from one place in memory to another.
    pub(super) copy: f64,
    /// To write the argument and to read it, the mean of request and reply.
    pub(super) marshaling: f64,
}

/// For each size.
pub(super) fn measure(options: &Options, sizes: &[u32]) -> Vec<Alone> {
    let (rounds, batch) = if options.quick { (5, 500) } else { (21, 1_000) };
    sizes.iter().map(|bytes| of(*bytes, rounds, Duration::from_micros(batch))).collect()
}

fn of(bytes: u32, rounds: usize, batch: Duration) -> Alone {
    let (from, mut to) = (vec![1_u8; bytes as usize], vec![0_u8; bytes as usize]);
    let mut marshaling = Marshaling::new(bytes);
    let mut works: [Work<'_>; 2] = [
        Box::new(|count| {
            for _ in 0..count {
                to.copy_from_slice(black_box(&from));
                black_box(&to);
            }
        }),
        Box::new(|count| {
            for _ in 0..count {
                marshaling.request();
                marshaling.reply();
            }
        }),
    ];
    let times = in_turns(&mut works, rounds, batch);
    let [copy, both] = [times[0].median / 1_000.0, times[1].median / 1_000.0];
    Alone { bytes, copy, marshaling: both / 2.0 }
}
