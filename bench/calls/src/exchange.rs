//! What no transport can do without: the octets of a value are copied to memory that another process reads, and from there to
//! a value, in each direction; and a word says when. Nothing is found, checked or received.
//!
//! Each process has two pieces of memory in turns. While it waits it writes one byte into every line of the other piece, which the
//! peer has read, so that nothing waits for those lines when they are filled.

use std::{
    fs::{File, OpenOptions},
    os::fd::AsRawFd,
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use rustix::{
    fs::{MemfdFlags, ftruncate, memfd_create},
    mm::{MapFlags, ProtFlags, mmap},
};

use crate::{Failure, parts};

/// The longest value.
pub const LONGEST: usize = 64 << 10;
const LINE: usize = 64;
/// A piece of memory; not a power of two, lest the first lines of all be rivals in the caches.
const PIECE: usize = LONGEST + LINE;
/// For the words.
const PAGE: usize = 4096;
const LEN: usize = PAGE + 4 * PIECE;

/// One side of the memory that both share.
struct Side {
    base: NonNull<u8>,
    own: usize,
    turn: u64,
}

impl Side {
    fn map(file: &File, own: usize) -> Result<Self, Failure> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, which stays as long as the process.
        let base = unsafe { mmap(std::ptr::null_mut(), LEN, access, MapFlags::SHARED, file, 0)? };
        Ok(Self { base: NonNull::new(base.cast()).ok_or("mapped nowhere")?, own, turn: 0 })
    }

    /// How many values this side has copied, whose octets lie there for the other to read; and how many are to come.
    fn word(&self, side: usize) -> &AtomicU64 {
        // SAFETY: in the first page, aligned, and used as an atomic only.
        unsafe { AtomicU64::from_ptr(self.base.add(side * 2 * LINE).cast().as_ptr()) }
    }

    fn piece(&self, side: usize, turn: u64) -> NonNull<u8> {
        // SAFETY: inside: two sides with two pieces each.
        unsafe { self.base.add(PAGE + (side * 2 + turn as usize % 2) * PIECE) }
    }

    /// Shows the other side a value, then takes back what it has read before.
    fn show(&mut self, value: &[u8]) {
        // SAFETY: the other side reads the piece of this turn once it is told, and has read that of the last but one.
        unsafe {
            self.piece(self.own, self.turn).copy_from_nonoverlapping(NonNull::from(value).cast(), value.len())
        };
        self.turn += 1;
        self.word(self.own).store(self.turn, Ordering::Release);
    }

    fn take_back(&self, len: usize) {
        for offset in (0..len).step_by(LINE) {
            // SAFETY: as in `show`; whoever has answered the last value has read this piece.
            unsafe { self.piece(self.own, self.turn).add(offset).write_volatile(0) };
        }
    }

    /// Whether the other side has shown so many values.
    fn has(&self, turn: u64) -> bool {
        self.word(1 - self.own).load(Ordering::Acquire) >= turn
    }

    /// The value of that turn, which the other side has shown.
    fn copy(&self, turn: u64, into: &mut [u8]) {
        // SAFETY: it lies there until this side shows the next but one.
        unsafe {
            NonNull::from(&mut *into)
                .cast()
                .copy_from_nonoverlapping(self.piece(1 - self.own, turn - 1), into.len())
        };
    }
}

/// Sends values back. The length is in a word of its own, since the client knows it.
pub fn serve() -> Result<(), Failure> {
    let ended = parts::ended();
    let file = File::from(memfd_create("exchange", MemfdFlags::CLOEXEC)?);
    ftruncate(&file, LEN as u64)?;
    let mut side = Side::map(&file, 0)?;
    parts::say(&format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))?;
    let mut value = vec![1; LONGEST];
    while !ended.load(Ordering::Relaxed) {
        if side.has(side.turn + 1) {
            let len = (length(&side).load(Ordering::Relaxed) as usize).min(LONGEST);
            side.copy(side.turn + 1, &mut value[..len]);
            side.show(&value[..len]);
            side.take_back(len);
        }
    }
    Ok(())
}

/// The client: the server's address.
pub fn call(arguments: &[String]) -> Result<(), Failure> {
    let [address] = arguments else { return Err("exchange-client: bad arguments".into()) };
    let mut side = Side::map(&OpenOptions::new().read(true).write(true).open(address)?, 1)?;
    let mut value = vec![2; LONGEST];
    parts::rounds(|round| {
        let value = &mut value[..round.bytes.min(LONGEST)];
        length(&side).store(value.len() as u64, Ordering::Relaxed);
        let mut times = Vec::with_capacity(round.count);
        for n in 0..round.count {
            value[0] = n as u8;
            let since = Instant::now();
            side.show(value);
            side.take_back(value.len());
            while !side.has(side.turn) {}
            side.copy(side.turn, value);
            times.push(since.elapsed().as_nanos() as u64);
            if value[0] != n as u8 {
                return Err("another value came back".into());
            }
        }
        Ok(times)
    })
}

/// How long values are.
fn length(side: &Side) -> &AtomicU64 {
    // SAFETY: in the first page, aligned, and used as an atomic only.
    unsafe { AtomicU64::from_ptr(side.base.add(PAGE / 2).cast().as_ptr()) }
}
