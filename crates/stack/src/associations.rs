//! What is known under each key: IPsec's security associations, in pairs, and how messages are opened and sealed by them.

use crate::{
    Discard, Keys, Message, SendError,
    manipulate::{Opener, Sealer, Stage, TAG, in_place},
    message::Seal,
    window::Window,
};

/// Bytes of the header: the key's id and the sequence number, big-endian.
pub(crate) const HEADER: usize = 12;

/// All of a graph's. They are made by users, who tell us keys; strangers make none.
#[derive(Default)]
pub(crate) struct Associations {
    places: Vec<Option<Box<Association>>>,
}

/// The keys of a session or a listener, and how far both ends have come.
struct Association {
    keys: Keys,
    opener: Opener,
    came: Window,
    sealer: Sealer,
    /// The listener, if it is one's, and the sessions.
    uses: u32,
}

impl Associations {
    /// Adds one, with one use.
    pub fn insert(&mut self, keys: Keys) -> u32 {
        let ((receive, first), (send, first_sent)) = (keys.receive().ready(), keys.send().ready());
        let (opener, sealer) = (Opener::new(receive, first), Sealer::new(send, first_sent));
        let association = Association { keys, opener, came: Window::default(), sealer, uses: 1 };
        let free = self.places.iter().position(Option::is_none).unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[free] = Some(Box::new(association));
        free as u32
    }

    /// One more use.
    pub fn hold(&mut self, index: u32) {
        if let Ok(association) = self.get(index) {
            association.uses += 1;
        }
    }

    /// One use less. If there is none left it is gone; then the id of the key that it received by.
    pub fn release(&mut self, index: u32) -> Option<u32> {
        let association = self.get(index).ok()?;
        association.uses -= 1;
        let id = association.keys.receive().id();
        (association.uses == 0).then(|| {
            self.places[index as usize] = None;
            id
        })
    }

    #[inline]
    fn get(&mut self, index: u32) -> Result<&mut Association, Discard> {
        self.places.get_mut(index as usize).and_then(Option::as_deref_mut).ok_or(Discard::UnknownKey)
    }

    /// Whether a message of this number may come yet.
    #[inline]
    pub fn expects(&mut self, index: u32, number: u64) -> Result<(), Discard> {
        if self.get(index)?.came.allows(number) { Ok(()) } else { Err(Discard::Duplicate) }
    }

    /// Notes that an opened message of this number goes to its user.
    #[inline]
    pub fn note(&mut self, index: u32, number: u64) -> Result<(), Discard> {
        let association = self.get(index)?;
        if !association.came.allows(number) {
            return Err(Discard::Duplicate);
        }
        association.came.note(number);
        Ok(())
    }

    /// Opens a whole record where it lies: header, data, tag. That it came is not [noted](Self::note).
    pub fn open_whole(&mut self, index: u32, record: &mut [u8]) -> Result<(), Discard> {
        let Some((header, rest)) = record.split_first_chunk_mut() else { return Err(Discard::Truncated) };
        let Some((data, tag)) = rest.split_last_chunk_mut() else { return Err(Discard::Truncated) };
        self.get(index)?.open(header, data, *tag)
    }

    /// Opens a message that was [left sealed](Message::leave_sealed) where it lies.
    pub fn open(&mut self, index: u32, message: &mut Message) -> Result<(), Discard> {
        let association = self.get(index)?;
        let (header, data, tag) = message.sealed_parts();
        association.open(&header, data, tag)?;
        association.came.note(number(&header));
        message.seal = Seal::None;
        Ok(())
    }

    /// Opens a message that was [left sealed](Message::leave_sealed) on its way to another place, and runs the stages over it there
    /// once it is known to be what was sealed. Otherwise the place is zeros.
    pub fn open_into<S: Stage>(
        &mut self,
        index: u32,
        message: &mut Message,
        stages: &mut S,
        to: &mut [u8],
    ) -> Result<(), Discard> {
        let association = self.get(index)?;
        let intact = message.copy_to(&mut (), to);
        let (header, _, tag) = message.sealed_parts();
        let opened = if intact { association.open(&header, to, tag) } else { Err(Discard::Checksum) };
        opened.inspect_err(|_| to.fill(0))?;
        association.came.note(number(&header));
        in_place(stages, to);
        Ok(())
    }

    /// Seals a message: encrypts it and puts the header in front and the tag behind.
    pub fn seal(&mut self, index: u32, message: &mut Message) -> Result<(), SendError> {
        let Ok(association) = self.get(index) else { return Err(SendError::NoPath) };
        let number = association.sealer.next().ok_or(SendError::KeyUsedUp)?;
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&association.keys.send().id().to_be_bytes());
        header[4..].copy_from_slice(&number.to_be_bytes());
        let tag = association.sealer.record_behind(&header, message.bytes_mut()).ok_or(SendError::TooLong)?;
        message.make_room(TAG);
        message.append(&tag).map_err(|_| SendError::TooLong)?;
        message.push(HEADER).map_err(|_| SendError::TooLong)?.copy_from_slice(&header);
        Ok(())
    }
}

impl Association {
    /// Opens a record that has not come before.
    fn open(&mut self, header: &[u8; HEADER], data: &mut [u8], tag: [u8; TAG]) -> Result<(), Discard> {
        let number = number(header);
        if !self.came.allows(number) {
            return Err(Discard::Duplicate);
        }
        self.opener.seek(number);
        self.opener.record_behind(header, data, tag).map_err(|_| Discard::Forged)
    }
}

/// The sequence number in a header.
#[inline]
pub(crate) fn number(header: &[u8; HEADER]) -> u64 {
    let [_, _, _, _, number @ ..] = *header;
    u64::from_be_bytes(number)
}
