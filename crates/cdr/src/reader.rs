//! A checked cursor over octets.

use std::any::Any;
use std::borrow::Cow;

use crate::error::saturate;
use crate::{ByteOrder, CodeSets, DecodeError, LongDouble, Primitive, Tail};

/// How deep values may nest unless the reader is told otherwise.
pub const DEFAULT_DEPTH: u16 = 64;

/// Reads CDR from borrowed octets.
///
/// Alignment counts from the first octet given: for a message that is the start of its GIOP header, for an
/// encapsulation its byte order octet. What borrows from the octets lives as long as they do, not as the reader.
pub struct Reader<'a> {
    /// Those at hand, from the beginning.
    pub(crate) octets: &'a [u8],
    /// Where the others are, if there are any.
    pub(crate) tail: Option<&'a dyn Tail>,
    pub(crate) position: usize,
    order: ByteOrder,
    codesets: CodeSets,
    /// How many more levels values may nest.
    depth: u16,
    context: Option<&'a (dyn Any + Send + Sync)>,
}

/// Two readers of one message may be at different places: what they will read is fetched before they part.
impl Clone for Reader<'_> {
    #[inline]
    fn clone(&self) -> Self {
        let octets = self.tail.map_or(self.octets, |tail| tail.all(self.position));
        Self { octets, tail: None, ..*self }
    }
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader")
            .field("position", &self.position)
            .field("remaining", &self.remaining())
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

impl<'a> Reader<'a> {
    /// Reads `octets` from their start.
    #[inline]
    pub const fn new(octets: &'a [u8], order: ByteOrder) -> Self {
        Self::starting_at(octets, order, 0)
    }

    /// Reads a message from `offset` on, with alignment counting from the message's first octet. An offset past
    /// the end leaves nothing to read.
    #[inline]
    pub const fn starting_at(message: &'a [u8], order: ByteOrder, offset: usize) -> Self {
        let position = if offset < message.len() { offset } else { message.len() };
        Self {
            octets: message,
            tail: None,
            position,
            order,
            codesets: CodeSets::DEFAULT,
            depth: DEFAULT_DEPTH,
            context: None,
        }
    }

    /// Reads an encapsulation: its byte order octet, then what follows in that order (section 9.3.3).
    pub fn encapsulation(octets: &'a [u8]) -> Result<Self, DecodeError> {
        match octets.first() {
            Some(&flag @ (0 | 1)) => Ok(Self::starting_at(octets, ByteOrder::from_flag(flag == 1), 1)),
            _ => Err(DecodeError::InvalidEncapsulation { offset: 0 }),
        }
    }

    /// Lets decoders reach something of the caller's: for object references, the ORB they will belong to.
    #[inline]
    pub fn with_context(mut self, context: &'a (dyn Any + Send + Sync)) -> Self {
        self.context = Some(context);
        self
    }

    /// The caller's context, if there is one of this type.
    #[inline]
    pub fn context<T: Any>(&self) -> Option<&'a T> {
        self.context?.downcast_ref()
    }

    /// Sets how many levels deep values may nest from here on.
    #[inline]
    pub fn set_depth_limit(&mut self, levels: u16) {
        self.depth = levels;
    }

    /// The code sets that text is read in.
    #[inline]
    pub const fn codesets(&self) -> CodeSets {
        self.codesets
    }

    /// Changes the code sets that text is read in.
    #[inline]
    pub fn set_codesets(&mut self, codesets: CodeSets) {
        self.codesets = codesets;
    }

    /// The byte order being read.
    #[inline]
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Octets between the alignment base and the next octet to read.
    #[inline]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Octets not read yet.
    #[inline]
    pub fn remaining(&self) -> usize {
        // Behind what was lent there is nothing, and nobody has its octets.
        self.tail.map_or(self.octets.len(), Tail::message_len).saturating_sub(self.position)
    }

    /// The octets not read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        let octets = self.tail.map_or(self.octets, |tail| tail.all(self.position));
        octets.get(self.position..).unwrap_or_default()
    }

    /// Skips padding up to a multiple of `alignment`, a power of two.
    #[inline]
    pub fn align(&mut self, alignment: usize) -> Result<(), DecodeError> {
        let position = align_up(self.position, alignment);
        while position > self.octets.len() {
            if !self.fetch() {
                return Err(DecodeError::truncated(self.position));
            }
        }
        self.position = position;
        Ok(())
    }

    /// Takes the next `count` octets as they are.
    #[inline]
    pub fn read_bytes(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        match self.octets.get(self.position..).and_then(|rest| rest.get(..count)) {
            Some(taken) => {
                self.position += count;
                Ok(taken)
            }
            None if self.fetch() => self.read_bytes(count),
            None => Err(DecodeError::truncated(self.position)),
        }
    }

    #[inline]
    fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let start = align_up(self.position, N);
        match self.octets.get(start..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(chunk) => {
                self.position = start + N;
                Ok(*chunk)
            }
            None if self.fetch() => self.take(),
            None => Err(DecodeError::truncated(self.position)),
        }
    }

    /// Reads an `octet`.
    #[inline]
    pub fn read_u8(&mut self) -> Result<u8, DecodeError> {
        self.take::<1>().map(|[octet]| octet)
    }

    /// Reads a `boolean`, which must be 0 or 1.
    #[inline]
    pub fn read_bool(&mut self) -> Result<bool, DecodeError> {
        match self.read_u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError::InvalidBoolean { offset: saturate(self.position - 1) }),
        }
    }

    /// Reads a `long double`: 16 octets, aligned to 8.
    pub fn read_long_double(&mut self) -> Result<LongDouble, DecodeError> {
        self.align(8)?;
        let mut octets = [0; 16];
        octets.copy_from_slice(self.read_bytes(16)?);
        if self.order == ByteOrder::Little {
            octets.reverse();
        }
        Ok(LongDouble(octets))
    }

    /// Reads the length of a sequence whose elements take at least `min_element_size` octets each, and refuses one
    /// that the rest of the octets cannot hold. A size of 0 counts as 1: no IDL type takes no octets at all.
    #[inline]
    pub fn read_length(&mut self, min_element_size: usize) -> Result<usize, DecodeError> {
        let length = self.read_u32()?;
        let needed = u64::from(length).saturating_mul(min_element_size.max(1) as u64);
        if needed > self.remaining() as u64 {
            return Err(self.length_error(length));
        }
        Ok(length as usize)
    }

    #[cold]
    pub(crate) fn length_error(&self, length: u32) -> DecodeError {
        DecodeError::LengthTooLarge { offset: saturate(self.position.saturating_sub(4)), length }
    }

    /// Reads a sequence of primitives: borrowed where byte order and memory alignment allow, else copied.
    #[inline]
    pub fn read_slice<T: Primitive>(&mut self) -> Result<Cow<'a, [T]>, DecodeError> {
        let count = self.read_length(T::WIDTH)?;
        T::read_many(self, count)
    }

    /// Reads `sequence<octet>`, always borrowed.
    #[inline]
    pub fn read_octets(&mut self) -> Result<&'a [u8], DecodeError> {
        let count = self.read_length(1)?;
        self.read_bytes(count)
    }

    /// The octets of `count` values of `size` octets each, after alignment to `size`.
    #[inline]
    pub(crate) fn read_block(&mut self, count: usize, size: usize) -> Result<&'a [u8], DecodeError> {
        if count == 0 {
            // An empty sequence brings no padding for elements it does not have.
            return Ok(&[]);
        }
        self.align(size)?;
        let octets = count.checked_mul(size).ok_or_else(|| DecodeError::truncated(self.position))?;
        self.read_bytes(octets)
    }

    /// Reads an encapsulation, a sequence of octets with its own byte order and alignment (section 9.3.3). Counts
    /// as one level of nesting; code sets and context carry over.
    pub fn read_encapsulation(&mut self) -> Result<Self, DecodeError> {
        let offset = saturate(self.position);
        let depth = self.depth.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        let inner = Self::encapsulation(self.read_octets()?)
            .map_err(|_| DecodeError::InvalidEncapsulation { offset })?;
        Ok(Self { codesets: self.codesets, depth, context: self.context, ..inner })
    }

    /// Reads a value one level deeper, unless that is deeper than the limit.
    #[inline]
    pub fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        self.depth = self.depth.checked_sub(1).ok_or(DecodeError::TooDeep)?;
        let result = read(self);
        self.depth += 1;
        result
    }
}

macro_rules! read_number {
    ($($name:ident: $type:ty, $idl:literal;)*) => {
        impl Reader<'_> {
            $(
                #[doc = concat!("Reads ", $idl, ".")]
                #[inline]
                pub fn $name(&mut self) -> Result<$type, DecodeError> {
                    let octets = self.take()?;
                    Ok(match self.order {
                        ByteOrder::Big => <$type>::from_be_bytes(octets),
                        ByteOrder::Little => <$type>::from_le_bytes(octets),
                    })
                }
            )*
        }
    };
}

read_number! {
    read_i8: i8, "an `int8`";
    read_i16: i16, "a `short`";
    read_u16: u16, "an `unsigned short`";
    read_i32: i32, "a `long`";
    read_u32: u32, "an `unsigned long`";
    read_i64: i64, "a `long long`";
    read_u64: u64, "an `unsigned long long`";
    read_f32: f32, "a `float`";
    read_f64: f64, "a `double`";
}

#[inline]
const fn align_up(position: usize, alignment: usize) -> usize {
    // Positions are at most a slice's length, which leaves room above.
    (position + (alignment - 1)) & !(alignment - 1)
}
