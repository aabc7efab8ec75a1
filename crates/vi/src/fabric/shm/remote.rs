//! What the peer shows us: memory to fetch messages from, and windows for remote DMA.

use super::{hello::Control, socket::Message};
use crate::{
    CompletionError, MemoryHandle,
    descriptor::RemoteAddress,
    memory::{Mapping, Rights},
};
use std::{os::fd::AsFd, ptr::NonNull, sync::Arc};

/// More memories than this are not taken from a peer at a time.
pub(crate) const MAX_MEMORIES: usize = 64;
/// Bits of a memory's number.
pub(crate) const NUMBER_BITS: u32 = 24;
/// How much larger the number of a memory is than that of the one whose place it takes.
const NEXT: u32 = MAX_MEMORIES as u32;
/// More windows than this are not taken from a peer.
const MAX_WINDOWS: usize = 1024;
/// The longest file that is mapped, in bytes.
const MAX_FILE: u64 = 1 << 33;

/// The peer's memory files.
#[derive(Default)]
pub(crate) struct Remote {
    /// Each in its [place](place_of).
    pub(crate) memories: Vec<RemoteMemory>,
    pub(crate) windows: Vec<RemoteWindow>,
    /// We promised that it leaves alone what is lent to us, or by us.
    pub(crate) trusting: bool,
    pub(crate) limits: Limits,
}

/// What a peer may show beside its pools, or may show yet: see [`ViAttributes::peer_memory`](crate::ViAttributes::peer_memory).
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) bytes: u64,
    pub(crate) pieces: u32,
}

impl Limits {
    fn take(&mut self, bytes: u64) -> Result<(), CompletionError> {
        let left = self.bytes.checked_sub(bytes).zip(self.pieces.checked_sub(1));
        (self.bytes, self.pieces) = left.ok_or(CompletionError::TooMuchMemory)?;
        Ok(())
    }

    fn give_back(&mut self, bytes: u64) {
        (self.bytes, self.pieces) = (self.bytes + bytes, self.pieces + 1);
    }
}

/// A part of a file to fetch messages from.
#[derive(Clone)]
pub(crate) struct RemoteMemory {
    number: u32,
    mapping: Arc<Mapping>,
    offset: u64,
    len: u64,
    lent: bool,
}

/// A window of the peer.
#[derive(Clone)]
pub(crate) struct RemoteWindow {
    handle: MemoryHandle,
    mapping: Arc<Mapping>,
    len: u64,
    rights: Rights,
}

impl Remote {
    /// Takes note of what the peer shows or withdraws, or says why not.
    pub(crate) fn hear(&mut self, control: Control, message: &Message) -> Result<(), CompletionError> {
        use CompletionError::{Protocol, TooMuchMemory};
        match control {
            Control::Memory { number, offset, len, lent } => {
                let end = offset.checked_add(len).filter(|end| *end <= MAX_FILE).ok_or(TooMuchMemory)?;
                let place = place_of(number).ok_or(Protocol)?;
                let before = self.memories.get(place);
                let due = next_number(place, before.map(|memory| memory.number));
                if place > self.memories.len() || due != Some(number) || lent && !self.trusting {
                    return Err(Protocol);
                }
                // The one before stays mapped unless this one comes in its place.
                let mut limits = self.limits;
                before.into_iter().for_each(|memory| limits.give_back(memory.offset + memory.len));
                limits.take(end)?;
                let memory = RemoteMemory { number, mapping: map(message, end, lent)?, offset, len, lent };
                self.limits = limits;
                match self.memories.get_mut(place) {
                    Some(before) => *before = memory,
                    None => self.memories.push(memory),
                }
            }
            Control::Window { handle, len, rights } => {
                if len > MAX_FILE || self.windows.len() == MAX_WINDOWS {
                    return Err(TooMuchMemory);
                }
                self.limits.take(len)?;
                let mapping = map(message, len, rights.remote_write)?;
                self.windows.push(RemoteWindow { handle, mapping, len, rights });
            }
            Control::Withdraw { handle } => {
                for window in self.windows.extract_if(.., |window| window.handle == handle) {
                    self.limits.give_back(window.len);
                }
            }
            _ => return Err(Protocol),
        }
        Ok(())
    }
}

/// Where a memory of this number is. Numbers begin with 1 and do not come again: one that takes the place of another, which is no
/// more, has the [next number](next_number) of that place.
fn place_of(number: u32) -> Option<usize> {
    number.checked_sub(1).map(|number| number as usize % MAX_MEMORIES)
}

/// The number of the memory to be shown next in this place, after the one with that number, unless there is none.
pub(crate) fn next_number(place: usize, before: Option<u32>) -> Option<u32> {
    let number = before.map_or(place as u32 + 1, |before| before.saturating_add(NEXT));
    (number >> NUMBER_BITS == 0).then_some(number)
}

/// The memory of this number.
#[inline]
pub(crate) fn numbered(memories: &[RemoteMemory], number: u32) -> Option<&RemoteMemory> {
    memories.get(place_of(number)?).filter(|memory| memory.number == number)
}

fn map(message: &Message, len: u64, writable: bool) -> Result<Arc<Mapping>, CompletionError> {
    let without = if message.cut { CompletionError::NotMapped } else { CompletionError::Protocol };
    let file = message.file.as_ref().ok_or(without)?;
    let len = usize::try_from(len).map_err(|_| CompletionError::NotMapped)?;
    let mapping = Mapping::of_peer(file.as_fd(), len.max(1), writable).map_err(|untrusted| {
        tracing::debug!(why = untrusted.0, "a peer's memory is refused");
        if untrusted.is_for_lack_of_room() { CompletionError::NotMapped } else { CompletionError::Protocol }
    })?;
    Ok(Arc::new(mapping))
}

impl RemoteMemory {
    pub(crate) fn into_mapping(self) -> Arc<Mapping> {
        self.mapping
    }

    /// Whether messages in it may be changed while we have them.
    pub(crate) fn is_lent(&self) -> bool {
        self.lent
    }

    /// A part of it, if it is one.
    pub(crate) fn part(&self, offset: u64, len: usize) -> Option<NonNull<u8>> {
        if offset.checked_add(len as u64)? > self.len {
            return None;
        }
        self.mapping.range(self.offset + offset, len)
    }
}

impl RemoteWindow {
    pub(crate) fn handle(&self) -> MemoryHandle {
        self.handle
    }

    /// Where to write.
    pub(crate) fn for_writing(&self, at: RemoteAddress, len: usize) -> Result<NonNull<u8>, CompletionError> {
        self.place(self.rights.remote_write, at, len)
    }

    /// Where to read.
    pub(crate) fn for_reading(&self, at: RemoteAddress, len: usize) -> Result<NonNull<u8>, CompletionError> {
        self.place(self.rights.remote_read, at, len)
    }

    fn place(&self, right: bool, at: RemoteAddress, len: usize) -> Result<NonNull<u8>, CompletionError> {
        let inside = at.offset.checked_add(len as u64).is_some_and(|end| end <= self.len);
        let place = self.mapping.range(at.offset, len).filter(|_| right && inside);
        place.ok_or(CompletionError::RemoteProtection)
    }
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::fabric::shm::socket::MESSAGE;

    #[test]
    fn memory_that_is_refused_does_not_free_what_is_mapped_in_its_place() {
        let limits = Limits { bytes: 100, pieces: 3 };
        let mut remote = Remote { limits, ..Remote::default() };
        let (_mapping, file) = Mapping::create("long", 4096, false).expect("a file");
        let mut shows = |number, len| {
            let file = Some(file.try_clone().expect("a file"));
            let message = Message { bytes: [0; MESSAGE], len: MESSAGE, file, waker: None, cut: false };
            remote.hear(Control::Memory { number, offset: 0, len, lent: false }, &message)
        };
        assert_eq!(shows(1, 60), Ok(()));
        for _ in 0..5 {
            assert_eq!(shows(65, 101), Err(CompletionError::TooMuchMemory));
        }
        assert_eq!(shows(2, 41), Err(CompletionError::TooMuchMemory), "60 are mapped");
        assert_eq!(shows(65, 60), Ok(()));
        assert_eq!(shows(2, 40), Ok(()));
    }
}
