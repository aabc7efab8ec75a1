//! Remote DMA over datagrams: requests to the peer's provider, and its answers, on a connection of their own.
//!
//! ```text
//! request:
//!  0        1                 4                                   8
//! +--------+-----------------+-----------------------------------+
//! | 1 write, 2 read          | octets of the whole operation     |
//! +--------+-----------------+-----------------------------------+
//! | handle of the memory                                         |
//! +--------------------------------------------------------------+
//! | where in it the operation begins                             |
//! +-----------------------------------+--------------------------+
//! | where in the operation this part is | octets to be read      |   to be written: the octets follow
//! +-----------------------------------+--------------------------+
//!
//! answer: 1 done (what was read follows), 0 refused
//! ```

use super::message::{Outgoing, Place};
use crate::{
    MemoryHandle, ProtectionTag,
    descriptor::{Operation, RemoteAddress, SendDescriptor},
    memory::WindowMemory,
    reliable::{Arrived, Connection},
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Octets that are moved at a time.
const PART: usize = 32 << 10;
const HEADER: usize = 32;
/// Parts under way.
pub(super) const PARTS: usize = 4;
/// Octets of the longest message.
pub(super) const LONGEST: usize = HEADER + PART;

const WRITE: u8 = 1;
const READ: u8 = 2;
const DONE: u8 = 1;
const REFUSED: u8 = 0;

/// The windows of a NIC.
#[derive(Default)]
pub(crate) struct Windows(Mutex<Vec<Arc<WindowMemory>>>);

impl Windows {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<WindowMemory>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn show(&self, window: Arc<WindowMemory>) {
        self.lock().push(window);
    }

    pub(crate) fn withdraw(&self, handle: MemoryHandle) {
        self.lock().retain(|window| window.handle != handle);
    }

    fn find(&self, handle: MemoryHandle, tag: ProtectionTag) -> Option<Arc<WindowMemory>> {
        self.lock().iter().find(|window| window.handle == handle && window.tag == tag).cloned()
    }
}

/// Carries out a request with the rights of VIs of this tag, and turns it into the answer.
pub(super) fn serve(message: &mut Vec<u8>, windows: &Windows, tag: ProtectionTag) {
    if carry_out(message, windows, tag).is_none() {
        message.clear();
        message.push(REFUSED);
    }
}

fn carry_out(message: &mut Vec<u8>, windows: &Windows, tag: ProtectionTag) -> Option<()> {
    let (header, octets) = message.split_first_chunk::<HEADER>()?;
    let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four octets"));
    let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight octets"));
    let (total, at, length) = (u64::from(number(4)), u64::from(number(24)), number(28) as usize);
    let window = windows.find(MemoryHandle(long(8)), tag)?;
    let start = long(16);
    // The operation is carried out as a whole or not at all.
    let inside = start.checked_add(total).is_some_and(|end| end <= window.len() as u64);
    let part = if header[0] == WRITE { octets.len() } else { length };
    if !inside || at + part as u64 > total || part > PART {
        return None;
    }
    match header[0] {
        WRITE if window.rights.remote_write => {
            window.write(start + at, octets).ok()?;
            message.clear();
            message.push(DONE);
        }
        READ if window.rights.remote_read => {
            message.clear();
            message.resize(1 + part, 0);
            message[0] = DONE;
            window.read(start + at, &mut message[1..]).ok()?;
        }
        _ => return None,
    }
    Some(())
}

/// An operation under way.
pub(super) struct Running {
    descriptor: SendDescriptor,
    code: u8,
    to: RemoteAddress,
    len: usize,
    /// What has been asked for, and answered.
    asked: usize,
    done: usize,
    under_way: usize,
    begun: bool,
    refused: bool,
    restarted: bool,
}

impl Running {
    pub(super) fn new(descriptor: SendDescriptor) -> Self {
        let (code, to) = match descriptor.operation {
            Operation::Read(from) => (READ, from),
            Operation::Write(to) => (WRITE, to),
            Operation::Send | Operation::Receive => unreachable!("no remote DMA"),
        };
        let len = descriptor.len();
        let (begun, refused, restarted) = (false, false, false);
        Self { descriptor, code, to, len, asked: 0, done: 0, under_way: 0, begun, refused, restarted }
    }

    /// Asks for as much as may be under way. `spare` are buffers to ask with.
    pub(super) fn ask(&mut self, connection: &mut Connection<Outgoing, Place>, spare: &mut Vec<Vec<u8>>) {
        while self.under_way < PARTS && !self.refused && (self.asked < self.len || !self.begun) {
            let part = (self.len - self.asked).min(PART);
            let mut message = spare.pop().unwrap_or_default();
            self.write_request(&mut message, part);
            if connection.post_send(Outgoing::Own(message), None).is_err() {
                return;
            }
            self.begun = true;
            self.asked += part;
            self.under_way += 1;
        }
    }

    /// Whatever was not answered is to be asked for by another connection, which changes nothing where it was carried out; once.
    pub(super) fn restart(&mut self) -> bool {
        (self.asked, self.under_way, self.begun) = (self.done, 0, self.done > 0);
        !std::mem::replace(&mut self.restarted, true)
    }

    fn write_request(&mut self, message: &mut Vec<u8>, part: usize) {
        message.clear();
        message.extend_from_slice(&[self.code, 0, 0, 0]);
        message.extend_from_slice(&(self.len as u32).to_le_bytes());
        message.extend_from_slice(&self.to.handle.to_bytes());
        message.extend_from_slice(&self.to.offset.to_le_bytes());
        message.extend_from_slice(&(self.asked as u32).to_le_bytes());
        message.extend_from_slice(&(part as u32).to_le_bytes());
        if self.code == WRITE {
            message.resize(HEADER + part, 0);
            super::message::gather(&self.descriptor, self.asked, &mut message[HEADER..]);
        }
    }

    /// Takes an answer in; `false` if it is none.
    pub(super) fn answered(&mut self, answer: &[u8]) -> bool {
        let Some((code, octets)) = answer.split_first() else { return false };
        let Some(left) = self.under_way.checked_sub(1) else { return false };
        self.under_way = left;
        let part = (self.len - self.done).min(PART);
        self.done += part;
        self.refused |= *code != DONE;
        if self.refused {
            return true;
        }
        let expected = if self.code == READ { part } else { 0 };
        if octets.len() != expected {
            return false;
        }
        if expected > 0 {
            super::message::scatter(&mut self.descriptor, self.done - part, octets);
        }
        true
    }

    /// Whether all of it was answered.
    pub(super) fn is_over(&self) -> bool {
        self.begun && self.under_way == 0 && (self.refused || self.asked == self.len)
    }

    /// The descriptor, and whether the operation was carried out.
    pub(super) fn end(self) -> (SendDescriptor, bool) {
        (self.descriptor, !self.refused)
    }
}

/// A message of the provider's own.
impl Outgoing {
    pub(super) fn own(self) -> Option<Vec<u8>> {
        match self {
            Self::Own(message) => Some(message),
            _ => None,
        }
    }
}

impl Place {
    /// For a request, or an answer.
    pub(super) fn for_provider() -> Self {
        Self::Own(vec![0; LONGEST])
    }

    /// The message that arrived in the provider's buffer.
    pub(super) fn own(self, arrived: Arrived) -> Option<Vec<u8>> {
        match self {
            Self::Own(mut message) => {
                message.truncate(arrived.length);
                Some(message)
            }
            Self::Lent(_) => None,
        }
    }

    /// The buffer again, for another message.
    pub(super) fn again(mut buffer: Vec<u8>) -> Self {
        buffer.resize(LONGEST, 0);
        Self::Own(buffer)
    }
}
