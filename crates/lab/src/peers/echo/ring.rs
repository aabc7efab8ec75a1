//! The floor: a ring in shared memory for each direction, with one producer and one consumer, and nothing else.
//!
//! A message of up to 56 bytes is one cache line: the head, which says how long it is and is written last, and the bytes.
//! A longer one follows its head in the next lines. Nothing is checked that a peer who means well gets right, and there is
//! no flow control: no more messages may be on their way than the ring has room for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;

use super::{Filled, LONGEST, Pipe, Waiting};

const LINE: usize = 64;
/// Lines of a direction's ring: room for the longest message, twice.
const LINES: usize = 4 * LONGEST / LINE;
/// A line for what a sleeper waits for, then the ring.
const WAY: usize = (LINES + 1) * LINE;
/// Bytes beside the head.
const INLINE: usize = LINE - 8;
/// In place of a length: go on at the beginning.
const WRAP: u32 = u32::MAX;
/// The first lap around the ring. Bytes of messages are less than 128, so that none looks like the head of a lap.
const FIRST_LAP: u32 = 1 << 31;

/// Both directions.
pub(super) struct Ring {
    out: Way,
    back: Way,
    wait: Waiting,
    spare: Option<Filled>,
}

/// One end of a direction.
struct Way {
    base: NonNull<u8>,
    at: usize,
    lap: u32,
}

impl Ring {
    /// Makes the memory, which others reach as a file of this process.
    pub(super) fn listen(wait: Waiting, say: impl Fn(&str) -> io::Result<()>) -> io::Result<Self> {
        let file = File::from(memfd_create("echo-ring", MemfdFlags::CLOEXEC)?);
        ftruncate(&file, 2 * WAY as u64)?;
        let [there, back] = map(&file)?;
        say(&format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd()))?;
        // Open for as long as the process lives: the client opens it by its number.
        std::mem::forget(file);
        Ok(Self { out: back, back: there, wait, spare: None })
    }

    pub(super) fn connect(wait: Waiting, path: &str) -> io::Result<Self> {
        let [out, back] = map(&OpenOptions::new().read(true).write(true).open(path)?)?;
        Ok(Self { out, back, wait, spare: None })
    }
}

fn map(file: &File) -> io::Result<[Way; 2]> {
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping, which stays as long as the process.
    let base = unsafe {
        mmap(std::ptr::null_mut(), 2 * WAY, access, MapFlags::SHARED | MapFlags::POPULATE, file, 0)?
    };
    let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
    // SAFETY: the mapping holds two.
    let second = unsafe { base.add(WAY) };
    Ok([base, second].map(|base| Way { base, at: 0, lap: FIRST_LAP }))
}

impl Way {
    /// The line at which this end is; offset 0 is the sleeper's.
    fn line(&self) -> NonNull<u8> {
        // SAFETY: `at` is less than `LINES`.
        unsafe { self.base.add((1 + self.at) * LINE) }
    }

    fn head(&self) -> &AtomicU64 {
        // SAFETY: inside the mapping, aligned, and used as an atomic only wherever a message can begin.
        unsafe { self.line().cast().as_ref() }
    }

    fn bell(&self) -> &AtomicU32 {
        // SAFETY: as above.
        unsafe { self.base.cast().as_ref() }
    }

    fn advance(&mut self, lines: usize) {
        self.at += lines;
        if self.at == LINES {
            (self.at, self.lap) = (0, self.lap + 1);
        }
    }

    fn publish(&self, length: u32) {
        self.head().store(u64::from(self.lap) << 32 | u64::from(length), Ordering::Release);
    }

    fn put(&mut self, message: &[u8]) {
        let lines = lines(message.len());
        if self.at + lines > LINES {
            self.publish(WRAP);
            self.advance(LINES - self.at);
        }
        let start = if message.len() <= INLINE { 8 } else { LINE };
        // SAFETY: the lines are inside the ring, and the other end does not read them before the head is published.
        unsafe {
            self.line().add(start).copy_from_nonoverlapping(NonNull::from(message).cast(), message.len())
        };
        self.publish(message.len() as u32);
        self.advance(lines);
    }

    fn look(&self) -> Option<u32> {
        let head = self.head().load(Ordering::Acquire);
        (head >> 32 == u64::from(self.lap)).then_some(head as u32)
    }

    /// Takes the message out whose head was seen.
    fn take(&mut self, length: usize, into: &mut [u8]) {
        let into = &mut into[..length];
        let start = if length <= INLINE { 8 } else { LINE };
        // SAFETY: a message lies in one piece inside the ring, published by its head.
        unsafe { self.line().add(start).copy_to_nonoverlapping(NonNull::from(into).cast(), length) };
        self.advance(lines(length));
    }
}

fn lines(length: usize) -> usize {
    if length <= INLINE { 1 } else { 1 + length.div_ceil(LINE) }
}

impl Pipe for Ring {
    type Message = Filled;

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.out.put(message);
        if self.wait == Waiting::Block {
            self.out.bell().fetch_add(1, Ordering::Release);
            futex::wake(self.out.bell(), futex::Flags::empty(), 1)?;
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Filled> {
        loop {
            let seen = self.back.bell().load(Ordering::Acquire);
            match self.back.look() {
                Some(WRAP) => self.back.advance(LINES - self.back.at),
                Some(length) => {
                    let mut message = Filled::from_spare(&mut self.spare);
                    message.length = length as usize;
                    self.back.take(length as usize, &mut message.bytes);
                    return Ok(message);
                }
                None if self.wait == Waiting::Block => sleep(self.back.bell(), seen)?,
                None => {}
            }
        }
    }

    fn release(&mut self, message: Filled) {
        self.spare = Some(message);
    }
}

/// Until the word is no longer what it was.
fn sleep(word: &AtomicU32, seen: u32) -> io::Result<()> {
    use rustix::io::Errno;
    match futex::wait(word, futex::Flags::empty(), seen, None) {
        Ok(()) | Err(Errno::AGAIN | Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_all_lengths_come_around_the_ring() {
        let path = std::cell::RefCell::new(String::new());
        let say = |address: &str| {
            path.replace(address.to_owned());
            Ok(())
        };
        let mut server = Ring::listen(Waiting::Poll, say).unwrap();
        let mut client = Ring::connect(Waiting::Poll, &path.borrow()).unwrap();
        let lengths = [4, 56, 57, 64, 65, 8192, LONGEST - 1, LONGEST];
        for (round, length) in (0..40).flat_map(|round| lengths.map(|length| (round, length))) {
            let message: Vec<u8> = (0..length).map(|i| (i + round) as u8 % 128).collect();
            client.send(&message).unwrap();
            let there = server.receive().unwrap();
            server.send(&there).unwrap();
            let back = client.receive().unwrap();
            assert_eq!((&*there, &*back), (message.as_slice(), message.as_slice()));
            server.release(there);
            client.release(back);
        }
    }
}
