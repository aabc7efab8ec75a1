//! How long lines of memory take: one after the other, and asked for together on their way to the first cache and the second; and
//! two of them where the first says which the second is, as tags and records are, with nothing to calculate.

use std::{hint::black_box, time::Instant};

use crate::flows::{Random, Record};

/// Lines fetched for each figure.
const FETCHES: usize = 4_000_000;

pub fn print() {
    println!("one after the other, ns a line");
    for megabytes in [1, 2, 4, 8, 12, 16, 32, 64, 512] {
        println!("{megabytes:6} MiB {:7.1}", one_by_one(&chain(megabytes << 14)));
    }
    let lines = vec![Record::of(1); 512 << 14];
    println!("of 512 MiB, ns a line    first cache    second cache");
    println!(
        "{:6} together {:18.1} {:15.1}",
        32,
        together::<32, false>(&lines),
        together::<32, true>(&lines)
    );
    println!(
        "{:6} together {:18.1} {:15.1}",
        64,
        together::<64, false>(&lines),
        together::<64, true>(&lines)
    );
    println!(
        "{:6} together {:18.1} {:15.1}",
        128,
        together::<128, false>(&lines),
        together::<128, true>(&lines)
    );
    println!("first one of these, then one of 512 MiB, 32 together, ns a pair");
    for megabytes in [1, 4, 8, 10, 12, 16, 64] {
        println!("{megabytes:6} MiB {:7.1}", pairs(&vec![Record::default(); megabytes << 14], &lines));
    }
}

/// Lines that each say which comes next, in one circle (Sattolo).
fn chain(count: usize) -> Vec<Record> {
    let mut lines = vec![Record::default(); count];
    lines.iter_mut().zip(0..).for_each(|(line, n)| line.value = n);
    let mut random = Random(7);
    for n in (1..count).rev() {
        let other = random.below(n as u64) as usize;
        let next = lines[n].value;
        lines[n].value = lines[other].value;
        lines[other].value = next;
    }
    lines
}

fn one_by_one(lines: &[Record]) -> f64 {
    let steps = |count| (0..count).fold(0, |line, _| lines[line].value as usize);
    black_box(steps(lines.len()));
    let start = Instant::now();
    black_box(steps(FETCHES));
    start.elapsed().as_nanos() as f64 / FETCHES as f64
}

fn together<const COUNT: usize, const SECOND: bool>(lines: &[Record]) -> f64 {
    let (mut random, mut sum) = (Random(11), 0);
    let start = Instant::now();
    for _ in 0..FETCHES / COUNT {
        let mut asked = [0; COUNT];
        for asked in &mut asked {
            *asked = random.below(lines.len() as u64) as usize;
            prefetch::<SECOND>(&lines[*asked]);
        }
        sum += asked.iter().map(|&line| lines[line].value).sum::<u64>();
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64 / FETCHES as f64
}

/// As [`together`]. Where the second line is depends on what is in the first, which is 0 everywhere.
fn pairs(first: &[Record], second: &[Record]) -> f64 {
    const COUNT: usize = 32;
    let (mut random, mut sum) = (Random(13), 0);
    let start = Instant::now();
    for _ in 0..FETCHES / COUNT {
        let mut asked = [(0, 0); COUNT];
        for (line, next) in &mut asked {
            *line = random.below(first.len() as u64) as usize;
            *next = random.below(second.len() as u64) as usize;
            prefetch::<false>(&first[*line]);
        }
        for (line, next) in &mut asked {
            *next += first[*line].value as usize;
            prefetch::<false>(&second[*next]);
        }
        sum += asked.iter().map(|&(_, line)| second[line].value).sum::<u64>();
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64 / FETCHES as f64
}

#[inline(always)]
fn prefetch<const SECOND: bool>(line: &Record) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86_64 has SSE; a prefetch changes nothing.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let line = core::ptr::from_ref(line).cast();
        if SECOND { _mm_prefetch::<_MM_HINT_T1>(line) } else { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
