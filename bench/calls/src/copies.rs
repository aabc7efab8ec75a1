//! What a copy takes within one process, all memory in its caches.

use std::{hint::black_box, time::Instant};

/// Nanoseconds of one `memcpy` of so many bytes: the median of batches.
pub fn measure(bytes: usize) -> f64 {
    const BATCH: u32 = 64;
    let (from, mut to) = (vec![1_u8; bytes], vec![0_u8; bytes]);
    let mut times: Vec<f64> = (0..501)
        .map(|_| {
            let since = Instant::now();
            for _ in 0..BATCH {
                to.copy_from_slice(black_box(&from));
                black_box(&to);
            }
            since.elapsed().as_nanos() as f64 / f64::from(BATCH)
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
