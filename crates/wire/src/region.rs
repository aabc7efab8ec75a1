//! Regions: where in a message the things lie that a receiver works on, told ahead.
//!
//! Each layer marks what it knows relative to its own first byte and hands its regions down; the layer below adds the
//! length of its header to all of them ([`RegionList::add_header`]). So headers may vary in size, and layers know nothing
//! of each other.

use crate::ReadError;

/// The most regions that a header can have.
pub const MAX_REGIONS: usize = 15;

/// Size of a region in the header.
pub const REGION_BYTES: usize = 16;

macro_rules! region_kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)+) => {
        /// What the bytes of a region are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum RegionKind {
            $($(#[$doc])* $name = $number,)+
        }

        impl RegionKind {
            /// All kinds there are.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The kind of this number.
            pub const fn from_number(number: u32) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

region_kinds! {
    /// The user's data.
    Payload = 1,
    /// A field that says where in the receiver's memory the data goes.
    Destination = 2,
    /// What a check value is computed over. The detail names the algorithm, as the two sides agreed.
    Integrity = 3,
    /// The check value itself. The detail as with `Integrity`.
    Check = 4,
    /// What is encrypted. The detail names the cipher.
    Encrypted = 5,
    /// A field by which the key is found.
    Key = 6,
    /// A field that says who handles the message.
    Dispatch = 7,
}

/// Some bytes of a message, and what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// What the bytes are.
    pub kind: RegionKind,
    /// More of it, depending on the kind; otherwise 0.
    pub detail: u32,
    /// The first byte, counted from the header's first when the region was read from a message, and from the first of
    /// the layer in a [`RegionList`].
    pub offset: u32,
    /// How many bytes.
    pub length: u32,
}

impl Region {
    /// These bytes of the message that the region was read from; `None` if it is another, shorter one.
    pub fn of(self, message: &[u8]) -> Option<&[u8]> {
        message.get(self.offset as usize..)?.get(..self.length as usize)
    }

    /// Where it ends.
    pub(crate) fn end(self) -> usize {
        self.offset as usize + self.length as usize
    }

    /// As on the wire, with `shift` added to the offset.
    pub(crate) fn to_bytes(self, shift: u32) -> Option<[u8; REGION_BYTES]> {
        let words = [self.kind as u32, self.detail, self.offset.checked_add(shift)?, self.length];
        let mut bytes = [0; REGION_BYTES];
        for (place, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *place = word.to_le_bytes();
        }
        Some(bytes)
    }

    /// The inverse. `size` is the message's, which the region must not leave.
    pub(crate) fn from_bytes(bytes: &[u8; REGION_BYTES], size: usize) -> Result<Self, ReadError> {
        let (words, _) = bytes.as_chunks::<4>();
        let [kind, detail, offset, length] = [0, 1, 2, 3].map(|n| u32::from_le_bytes(words[n]));
        let kind = RegionKind::from_number(kind).ok_or(ReadError::RegionKind(kind))?;
        if u64::from(offset) + u64::from(length) > size as u64 {
            return Err(ReadError::RegionOutside { offset, length });
        }
        Ok(Self { kind, detail, offset, length })
    }
}

/// Why a region can't be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// A header has as many as it can have.
    #[error("more than {MAX_REGIONS} regions")]
    TooMany,
    /// Its end is beyond what 32 bits can tell.
    #[error("a region ends more than 4 GiB from the message's start")]
    TooFar,
}

/// The regions of a message being built, from the uppermost layer down.
///
/// ```
/// use throughline_wire::{RegionKind, RegionList};
///
/// let mut regions = RegionList::new();
/// // The application: 1,000 bytes of data.
/// regions.push(RegionKind::Payload, 0, 0, 1_000)?;
/// // The layer below has a header of 12 bytes, of which the last 4 name the key.
/// regions.add_header(12)?;
/// regions.push(RegionKind::Key, 0, 8, 4)?;
/// // And one more, which knows nothing of the others.
/// regions.add_header(20)?;
/// assert_eq!(regions.as_slice()[0].offset, 32);
/// assert_eq!(regions.as_slice()[1].offset, 28);
/// # Ok::<(), throughline_wire::RegionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RegionList {
    regions: [Region; MAX_REGIONS],
    count: usize,
}

impl RegionList {
    /// No regions.
    pub const fn new() -> Self {
        let none = Region { kind: RegionKind::Payload, detail: 0, offset: 0, length: 0 };
        Self { regions: [none; MAX_REGIONS], count: 0 }
    }

    /// A region, counted from the first byte of the layer that knows of it: of its header, when
    /// [`add_header`](Self::add_header) has made room for that.
    ///
    /// # Errors
    /// [`RegionError::TooMany`], [`RegionError::TooFar`]; the list is as before.
    pub fn push(
        &mut self,
        kind: RegionKind,
        detail: u32,
        offset: u32,
        length: u32,
    ) -> Result<(), RegionError> {
        offset.checked_add(length).ok_or(RegionError::TooFar)?;
        let place = self.regions.get_mut(self.count).ok_or(RegionError::TooMany)?;
        *place = Region { kind, detail, offset, length };
        self.count += 1;
        Ok(())
    }

    /// A layer puts its header of so many bytes in front: everything known so far moves back by as much.
    ///
    /// # Errors
    /// [`RegionError::TooFar`]; the list is as before.
    pub fn add_header(&mut self, bytes: u32) -> Result<(), RegionError> {
        let fits = |region: &Region| (region.offset + region.length).checked_add(bytes).is_some();
        if !self.as_slice().iter().all(fits) {
            return Err(RegionError::TooFar);
        }
        self.regions[..self.count].iter_mut().for_each(|region| region.offset += bytes);
        Ok(())
    }

    /// The regions so far, in the order they were pushed.
    pub fn as_slice(&self) -> &[Region] {
        &self.regions[..self.count]
    }
}

impl Default for RegionList {
    fn default() -> Self {
        Self::new()
    }
}

/// The regions of a message that was read, all known to lie within it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regions<'a> {
    table: &'a [[u8; REGION_BYTES]],
}

impl<'a> Regions<'a> {
    /// None.
    pub const NONE: Self = Self { table: &[] };

    /// Reads `count` regions of a message of `size` bytes, checks them all, and returns what follows.
    #[cold]
    pub(crate) fn read(
        count: u8,
        rest: &'a [u8],
        size: usize,
        too_short: ReadError,
    ) -> Result<(Self, &'a [u8]), ReadError> {
        let table = rest.split_at_checked(usize::from(count) * REGION_BYTES);
        let (table, body) = table.ok_or(too_short)?;
        let (table, _) = table.as_chunks();
        table.iter().try_for_each(|bytes| Region::from_bytes(bytes, size).map(drop))?;
        Ok((Self { table }, body))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are none, as in most messages.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The regions, in the order they were pushed.
    pub fn iter(&self) -> impl Iterator<Item = Region> + 'a {
        // All have been read once, so none is left out.
        self.table.iter().filter_map(|bytes| Region::from_bytes(bytes, usize::MAX).ok())
    }

    /// The first region of a kind.
    pub fn find(&self, kind: RegionKind) -> Option<Region> {
        self.iter().find(|region| region.kind == kind)
    }
}
