//! Writing straight into a buffer.

use crate::{ByteOrder, CodeSets, EncodeError, LongDouble, Output, Primitive};

/// Blocks of octets of at least this length are offered to [`LargeBlocks`].
pub const LARGE_BLOCK: usize = 16 * 1024;

/// Takes large blocks of octets, the elements of long sequences of numbers, in place of the buffer, so that they need
/// not be copied into it.
pub trait LargeBlocks: std::fmt::Debug {
    /// `block` comes right after what is in the buffer now and after the blocks before it.
    fn take(&mut self, buffer: &[u8], block: &[u8]);
}

/// Appends CDR to a vector, or writes it into memory of a fixed size.
///
/// Alignment counts from a base within the buffer, so that messages can follow one another in it. Padding is zero.
#[derive(Debug)]
pub struct Writer<'b> {
    buffer: Output<'b>,
    base: usize,
    order: ByteOrder,
    codesets: CodeSets,
    large: Option<&'b mut dyn LargeBlocks>,
}

impl<'b> Writer<'b> {
    /// Appends to `buffer`, with alignment counting from its present end.
    #[inline]
    pub fn new(buffer: &'b mut Vec<u8>, order: ByteOrder) -> Self {
        let base = buffer.len();
        Self::with_base(buffer, order, base)
    }

    /// Appends to `buffer`, with alignment counting from the index `base`.
    #[inline]
    pub fn with_base(buffer: &'b mut Vec<u8>, order: ByteOrder, base: usize) -> Self {
        Self::to(Output::vector(buffer), order, base)
    }

    /// Appends to `output`, with alignment counting from the index `base`.
    #[inline]
    pub fn to(output: Output<'b>, order: ByteOrder, base: usize) -> Self {
        Self { buffer: output, base, order, codesets: CodeSets::DEFAULT, large: None }
    }

    /// The byte order being written.
    #[inline]
    pub const fn order(&self) -> ByteOrder {
        self.order
    }

    /// The code sets that text is written in.
    #[inline]
    pub const fn codesets(&self) -> CodeSets {
        self.codesets
    }

    /// Changes the code sets that text is written in.
    #[inline]
    pub fn set_codesets(&mut self, codesets: CodeSets) {
        self.codesets = codesets;
    }

    /// From now on large blocks go to `large`. What is in the buffer before such a block cannot be
    /// [patched](Self::patch_u32) any more as soon as `large` has passed it on.
    #[inline]
    pub fn divert_large(&mut self, large: &'b mut dyn LargeBlocks) {
        self.large = Some(large);
    }

    /// As [`Output::keep`].
    #[inline]
    pub(crate) fn keep(&mut self, start: usize, end: usize) {
        self.buffer.keep(start, end);
    }

    /// Where the next octet goes, as an index into the buffer.
    #[inline]
    pub fn position(&self) -> usize {
        self.buffer.len()
    }

    /// Makes room for `octets` more.
    #[inline]
    pub fn reserve(&mut self, octets: usize) {
        self.buffer.reserve(octets);
    }

    /// Pads with zeros up to a multiple of `alignment`, a power of two of at most 8.
    #[inline]
    pub fn align(&mut self, alignment: usize) {
        debug_assert!(alignment.is_power_of_two() && alignment <= 8);
        let over = self.buffer.len().wrapping_sub(self.base) & (alignment - 1);
        if over != 0 {
            self.buffer.pad(alignment - over);
        }
    }

    /// Appends octets as they are.
    #[inline]
    pub fn write_bytes(&mut self, octets: &[u8]) {
        self.buffer.extend(octets);
    }

    /// Writes an `octet`.
    #[inline]
    pub fn write_u8(&mut self, value: u8) {
        self.buffer.push(value);
    }

    /// Writes a `boolean`.
    #[inline]
    pub fn write_bool(&mut self, value: bool) {
        self.buffer.push(u8::from(value));
    }

    /// Writes a `long double`.
    pub fn write_long_double(&mut self, value: LongDouble) {
        let mut octets = value.0;
        if self.order == ByteOrder::Little {
            octets.reverse();
        }
        self.align(8);
        self.buffer.extend(&octets);
    }

    /// Writes the length of a string or sequence.
    #[inline]
    pub fn write_length(&mut self, length: usize) -> Result<(), EncodeError> {
        self.write_u32(u32::try_from(length).map_err(|_| EncodeError::LengthOverflow)?);
        Ok(())
    }

    /// Writes a sequence of primitives: its length, then all elements at once.
    #[inline]
    pub fn write_slice<T: Primitive>(&mut self, items: &[T]) -> Result<(), EncodeError> {
        self.write_length(items.len())?;
        T::write_many(items, self)
    }

    /// Writes `sequence<octet>`.
    #[inline]
    pub fn write_octets(&mut self, octets: &[u8]) -> Result<(), EncodeError> {
        self.write_length(octets.len())?;
        self.write_bytes(octets);
        Ok(())
    }

    /// Appends the octets of values of `size` octets each, given in native order, after alignment to `size`. Yields
    /// those octets if they still have to be swapped.
    #[inline]
    pub(crate) fn write_block(&mut self, octets: &[u8], size: usize) -> Option<&mut [u8]> {
        if octets.is_empty() {
            // An empty sequence brings no padding for elements it does not have.
            return None;
        }
        self.align(size);
        if octets.len() >= LARGE_BLOCK && !self.order.is_foreign() && self.divert(octets) {
            return None;
        }
        let start = self.buffer.len();
        self.buffer.extend(octets);
        if self.order.is_foreign() { self.buffer.octets_mut().get_mut(start..) } else { None }
    }

    /// Gives a block to whoever takes large ones; false when nobody does.
    #[cold]
    fn divert(&mut self, octets: &[u8]) -> bool {
        let Some(large) = &mut self.large else { return false };
        large.take(self.buffer.octets(), octets);
        // Alignment goes on as if the block were in the buffer.
        self.base = self.base.wrapping_sub(octets.len());
        true
    }

    /// Writes an encapsulation: its length, its byte order octet, then whatever `write` writes, aligned from that
    /// octet on (section 9.3.3).
    pub fn write_encapsulation(
        &mut self,
        write: impl FnOnce(&mut Writer<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.write_u32(0);
        let start = self.buffer.len();
        // Its length is known at its end only, so that nothing of it may leave before.
        let mut inner = Writer {
            base: start,
            buffer: self.buffer.reborrow(),
            order: self.order,
            codesets: self.codesets,
            large: None,
        };
        inner.write_u8(inner.order.flag());
        write(&mut inner)?;
        let length = u32::try_from(self.buffer.len() - start).map_err(|_| EncodeError::LengthOverflow)?;
        self.patch_u32(start - 4, length);
        Ok(())
    }

    /// Overwrites the unsigned long at `position`, an index that [`position`](Self::position) returned earlier.
    ///
    /// # Panics
    /// If four octets have not been written there.
    pub fn patch_u32(&mut self, position: usize, value: u32) {
        let octets = match self.order {
            ByteOrder::Big => value.to_be_bytes(),
            ByteOrder::Little => value.to_le_bytes(),
        };
        self.buffer.octets_mut()[position..position + 4].copy_from_slice(&octets);
    }
}

macro_rules! write_number {
    ($($name:ident: $type:ty, $idl:literal;)*) => {
        impl Writer<'_> {
            $(
                #[doc = concat!("Writes ", $idl, ".")]
                #[inline]
                pub fn $name(&mut self, value: $type) {
                    let octets = match self.order {
                        ByteOrder::Big => value.to_be_bytes(),
                        ByteOrder::Little => value.to_le_bytes(),
                    };
                    self.align(size_of::<$type>());
                    self.buffer.extend(&octets);
                }
            )*
        }
    };
}

write_number! {
    write_i8: i8, "an `int8`";
    write_i16: i16, "a `short`";
    write_u16: u16, "an `unsigned short`";
    write_i32: i32, "a `long`";
    write_u32: u32, "an `unsigned long`";
    write_i64: i64, "a `long long`";
    write_u64: u64, "an `unsigned long long`";
    write_f32: f32, "a `float`";
    write_f64: f64, "a `double`";
}
