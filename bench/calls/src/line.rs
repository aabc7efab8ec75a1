//! The least there can be: two processes that write one word in turns, so that one cache line goes to and fro.

use std::{
    fs::{File, OpenOptions},
    os::fd::AsRawFd,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    mm::{MapFlags, ProtFlags, mmap},
};

use crate::{Failure, parts};

const PAGE: usize = 4096;

/// Answers each odd number with the next even one.
pub fn serve() -> Result<(), Failure> {
    let ended = parts::ended();
    let file = File::from(memfd_create("line", MemfdFlags::CLOEXEC)?);
    ftruncate(&file, PAGE as u64)?;
    let word = map(&file)?;
    parts::say(&format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))?;
    let mut next = 1;
    while !ended.load(Ordering::Relaxed) {
        if word.load(Ordering::Acquire) == next {
            word.store(next + 1, Ordering::Release);
            next += 2;
        }
    }
    Ok(())
}

/// The client: the server's address.
pub fn call(arguments: &[String]) -> Result<(), Failure> {
    let [address] = arguments else { return Err("line-client: bad arguments".into()) };
    let word = map(&OpenOptions::new().read(true).write(true).open(address)?)?;
    let mut next = 1;
    parts::rounds(|round| {
        let mut times = Vec::with_capacity(round.count);
        for _ in 0..round.count {
            let since = Instant::now();
            word.store(next, Ordering::Release);
            while word.load(Ordering::Acquire) != next + 1 {}
            times.push(since.elapsed().as_nanos() as u64);
            next += 2;
        }
        Ok(times)
    })
}

fn map(file: &File) -> Result<&'static AtomicU64, Failure> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, which stays as long as the process.
    let base = unsafe { mmap(std::ptr::null_mut(), PAGE, access, MapFlags::SHARED, file, 0)? };
    // SAFETY: at the beginning of a page, and used as an atomic only.
    Ok(unsafe { AtomicU64::from_ptr(base.cast()) })
}
