//! Octets read by a thread of its own, ahead of those who take them: whoever analyses a capture need not wait for the
//! disk or for a decompressor.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

/// Octets handed over at once.
const PIECE: usize = 256 << 10;
/// Pieces that wait to be taken, at most.
const WAITING: usize = 4;

/// Octets, as a thread reads them.
pub(crate) struct Ahead {
    /// None after the end.
    pieces: Option<Receiver<Piece>>,
    /// Pieces that were taken go back, to be filled again.
    taken: Sender<Vec<u8>>,
    /// Goes with the thread, so that its breaking down is seen.
    filled: Weak<SyncSender<Piece>>,
    piece: Vec<u8>,
    at: usize,
    /// Where the octets in the piece end.
    end: usize,
}

enum Piece {
    /// As many octets, in room for more.
    Octets(Vec<u8>, usize),
    End(io::Result<()>),
}

/// Ends the reading of a capture from another thread: what has come is its contents, and that it was ended its fault.
#[derive(Clone, Debug)]
pub struct Stopper(Weak<SyncSender<Piece>>);

impl Stopper {
    /// Ends the reading, even where it waits for octets. Nothing happens if all is read.
    pub fn stop(&self) {
        if let Some(filled) = self.0.upgrade() {
            // Nobody takes pieces any more when the capture is given up.
            let _ = filled.send(Piece::End(Err(io::ErrorKind::Interrupted.into())));
        }
    }
}

impl Ahead {
    /// Begins to read, `step` octets at most at once. What was read before a failure is handed out.
    ///
    /// # Errors
    /// When the system gives us no thread.
    pub(crate) fn new(octets: Box<dyn Read + Send>, step: usize) -> io::Result<Self> {
        let (filled, pieces) = sync_channel(WAITING);
        let filled = Arc::new(filled);
        let (taken, empty) = channel();
        let stops = Arc::downgrade(&filled);
        let work = move || read_all(octets, step, &filled, &empty);
        thread::Builder::new().name("capture".into()).spawn(work)?;
        Ok(Self { pieces: Some(pieces), taken, filled: stops, piece: Vec::new(), at: 0, end: 0 })
    }

    pub(crate) fn stopper(&self) -> Stopper {
        Stopper(self.filled.clone())
    }

    fn take(&mut self, piece: Vec<u8>, end: usize) {
        // Once all is read, nobody fills pieces any more.
        let _ = self.taken.send(std::mem::replace(&mut self.piece, piece));
        (self.at, self.end) = (0, end);
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.end
            && let Some(pieces) = &self.pieces
        {
            match pieces.recv() {
                Ok(Piece::Octets(piece, end)) => self.take(piece, end),
                Ok(Piece::End(end)) => {
                    self.pieces = None;
                    end?;
                }
                Err(_) => return Err(io::Error::other("the thread that reads it has broken down")),
            }
        }
        let count = (&self.piece[self.at..self.end]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

fn read_all(
    mut octets: Box<dyn Read + Send>,
    step: usize,
    filled: &SyncSender<Piece>,
    empty: &Receiver<Vec<u8>>,
) {
    loop {
        let mut piece = empty.try_recv().unwrap_or_default();
        piece.resize(PIECE, 0);
        let (count, end) = fill(&mut octets, step, &mut piece);
        // Nobody takes pieces any more when the capture is given up.
        if count > 0 && filled.send(Piece::Octets(piece, count)).is_err() {
            return;
        }
        if let Some(end) = end {
            let _ = filled.send(Piece::End(end));
            return;
        }
    }
}

/// Fills a piece, as far as octets come without waiting: how many came, and how they ended if they did. Where a read has
/// less than asked for, the next may wait for long, and what came is not to wait with it.
fn fill(octets: &mut impl Read, step: usize, piece: &mut [u8]) -> (usize, Option<io::Result<()>>) {
    let mut count = 0;
    while count < piece.len() {
        let end = piece.len().min(count.saturating_add(step));
        match octets.read(&mut piece[count..end]) {
            Ok(0) => return (count, Some(Ok(()))),
            Ok(some) if some < end - count => return (count + some, None),
            Ok(some) => count += some,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (count, Some(Err(e))),
        }
    }
    (count, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts up, a few octets at a time, and then fails, or breaks down.
    struct Counting {
        left: usize,
        breaks_down: bool,
    }

    impl Read for Counting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(1 + self.left % 1000).min(self.left);
            for octet in &mut buffer[..count] {
                *octet = self.left as u8;
                self.left -= 1;
            }
            match count {
                0 if self.breaks_down => panic!("on purpose"),
                0 => Err(io::ErrorKind::ConnectionReset.into()),
                _ => Ok(count),
            }
        }
    }

    #[test]
    fn all_octets_in_order_then_the_failure() {
        for (breaks_down, kind) in [(false, io::ErrorKind::ConnectionReset), (true, io::ErrorKind::Other)] {
            let length = 10 * PIECE + 77;
            let mut ahead = Ahead::new(Box::new(Counting { left: length, breaks_down }), 4096).unwrap();
            let mut read = Vec::new();
            assert_eq!(ahead.read_to_end(&mut read).unwrap_err().kind(), kind);
            assert_eq!(read.len(), length);
            assert!(read.iter().enumerate().all(|(at, octet)| *octet == (length - at) as u8));
        }
    }

    /// Has some octets, and then nothing for ever.
    struct Waiting(usize);

    impl Read for Waiting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                thread::park();
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = buffer.len().min(self.0);
            self.0 -= count;
            Ok(count)
        }
    }

    #[test]
    fn stopped_while_it_waits() {
        for length in [100, 2 * PIECE + 100] {
            let mut ahead = Ahead::new(Box::new(Waiting(length)), usize::MAX).unwrap();
            ahead.read_exact(&mut vec![0; length]).unwrap();
            ahead.stopper().stop();
            assert_eq!(ahead.read(&mut [0; 10]).unwrap_err().kind(), io::ErrorKind::Interrupted);
            assert_eq!(ahead.read(&mut [0; 10]).unwrap(), 0);
        }
    }

    #[test]
    fn nobody_takes_the_rest() {
        let ahead = Ahead::new(Box::new(io::repeat(1)), usize::MAX).unwrap();
        let taken = ahead.taken.clone();
        drop(ahead);
        // The thread ends when it can hand over no more.
        while taken.send(Vec::new()).is_ok() {
            thread::yield_now();
        }
    }
}
