//! Values of fixed size, one by one and in bulk.

use std::borrow::Cow;

use crate::error::saturate;
use crate::{Decode, DecodeError, Encode, EncodeError, Reader, Writer};

/// A type whose sequences are read and written in bulk: numbers, `boolean` and `char`.
pub trait Primitive: Copy + Encode + for<'a> Decode<'a> + sealed::Sealed + 'static {
    /// The octets that a value takes on the wire.
    const WIDTH: usize;

    /// Reads `count` elements, borrowing them if byte order, memory alignment and representation allow.
    fn read_many<'a>(r: &mut Reader<'a>, count: usize) -> Result<Cow<'a, [Self]>, DecodeError>;

    /// Writes elements without a length.
    fn write_many(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError>;
}

/// A number of any kind, or an octet: any octets are a value.
pub trait Number: Primitive + sealed::Swap {
    /// Reads as many elements as there are, in place of them. After an error they may be any.
    fn read_into(r: &mut Reader<'_>, items: &mut [Self]) -> Result<(), DecodeError>;
}

mod sealed {
    pub trait Sealed {}
    pub trait Swap: bytemuck::Pod {
        fn swapped(self) -> Self;
    }
}

macro_rules! number {
    ($($type:ty: $read:ident $write:ident;)*) => {
        $(
            impl sealed::Sealed for $type {}

            impl Encode for $type {
                #[inline]
                fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
                    w.$write(*self);
                    Ok(())
                }
                #[inline]
                fn encode_slice(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
                    Self::write_many(items, w)
                }
            }

            impl<'a> Decode<'a> for $type {
                const MIN_SIZE: usize = size_of::<Self>();
                #[inline]
                fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
                    r.$read()
                }
                #[inline]
                fn decode_append(
                    items: &mut Vec<Self>,
                    r: &mut Reader<'a>,
                    count: usize,
                ) -> Result<(), DecodeError> {
                    let (first, foreign) = (items.len(), r.order().is_foreign());
                    if r.copy_block(items, first, count)? {
                        swap_all(&mut items[first..], foreign);
                    } else {
                        append(items, r.read_block(count, size_of::<Self>())?, foreign);
                    }
                    Ok(())
                }
                #[inline]
                fn decode_instead(
                    items: &mut Vec<Self>,
                    r: &mut Reader<'a>,
                    count: usize,
                ) -> Result<(), DecodeError> {
                    if r.copy_block(items, 0, count)? {
                        swap_all(items, r.order().is_foreign());
                        return Ok(());
                    }
                    items.clear();
                    Self::decode_append(items, r, count)
                }
                #[inline]
                fn decode_array<const N: usize>(r: &mut Reader<'a>) -> Result<[Self; N], DecodeError> {
                    let mut items = [Self::default(); N];
                    fill(&mut items, r.read_block(N, size_of::<Self>())?, r.order().is_foreign());
                    Ok(items)
                }
            }

            impl Primitive for $type {
                const WIDTH: usize = size_of::<Self>();
                #[inline]
                fn read_many<'a>(r: &mut Reader<'a>, count: usize) -> Result<Cow<'a, [Self]>, DecodeError> {
                    let octets = r.read_block(count, size_of::<Self>())?;
                    let foreign = r.order().is_foreign() && size_of::<Self>() > 1;
                    match bytemuck::try_cast_slice(octets) {
                        Ok(items) if !foreign => Ok(Cow::Borrowed(items)),
                        _ => {
                            let mut items = Vec::new();
                            append(&mut items, octets, foreign);
                            Ok(Cow::Owned(items))
                        }
                    }
                }
                #[inline]
                fn write_many(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
                    if let Some(octets) = w.write_block(bytemuck::cast_slice(items), size_of::<Self>()) {
                        swap_in_place::<Self>(octets);
                    }
                    Ok(())
                }
            }

            impl Number for $type {
                #[inline]
                fn read_into(r: &mut Reader<'_>, items: &mut [Self]) -> Result<(), DecodeError> {
                    let foreign = r.order().is_foreign();
                    if r.copy_block_over(items)? {
                        swap_all(items, foreign);
                    } else {
                        fill(items, r.read_block(items.len(), size_of::<Self>())?, foreign);
                    }
                    Ok(())
                }
            }

            impl sealed::Swap for $type {
                #[inline]
                fn swapped(self) -> Self {
                    Self::from_be_bytes(self.to_le_bytes())
                }
            }
        )*
    };
}

number! {
    u8: read_u8 write_u8;
    i8: read_i8 write_i8;
    i16: read_i16 write_i16;
    u16: read_u16 write_u16;
    i32: read_i32 write_i32;
    u32: read_u32 write_u32;
    i64: read_i64 write_i64;
    u64: read_u64 write_u64;
    f32: read_f32 write_f32;
    f64: read_f64 write_f64;
}

/// Swaps these values if they are of another machine's order.
#[inline]
fn swap_all<T: sealed::Swap>(items: &mut [T], foreign: bool) {
    if foreign {
        items.iter_mut().for_each(|item| *item = item.swapped());
    }
}

/// Makes these the values whose octets these are, as many.
#[inline]
fn fill<T: sealed::Swap>(items: &mut [T], octets: &[u8], foreign: bool) {
    bytemuck::cast_slice_mut(items).copy_from_slice(octets);
    swap_all(items, foreign);
}

/// Swaps the values whose octets these are, wherever they lie.
#[inline]
fn swap_in_place<T: sealed::Swap>(octets: &mut [u8]) {
    for chunk in octets.chunks_exact_mut(size_of::<T>()) {
        let value = bytemuck::pod_read_unaligned::<T>(chunk).swapped();
        chunk.copy_from_slice(bytemuck::bytes_of(&value));
    }
}

/// Appends the values whose octets these are: one copy where they lie well, else one pass.
#[inline]
fn append<T: sealed::Swap>(items: &mut Vec<T>, octets: &[u8], foreign: bool) {
    let read = bytemuck::pod_read_unaligned::<T>;
    match bytemuck::try_cast_slice(octets) {
        Ok(lying) if !foreign => items.extend_from_slice(lying),
        _ if foreign => items.extend(octets.chunks_exact(size_of::<T>()).map(|chunk| read(chunk).swapped())),
        _ => items.extend(octets.chunks_exact(size_of::<T>()).map(read)),
    }
}

impl sealed::Sealed for bool {}

impl Encode for bool {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_bool(*self);
        Ok(())
    }
    #[inline]
    fn encode_slice(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
        Self::write_many(items, w)
    }
}

impl<'a> Decode<'a> for bool {
    const MIN_SIZE: usize = 1;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        r.read_bool()
    }
    fn decode_append(items: &mut Vec<Self>, r: &mut Reader<'a>, count: usize) -> Result<(), DecodeError> {
        items.extend_from_slice(&Self::read_many(r, count)?);
        Ok(())
    }
}

impl Primitive for bool {
    const WIDTH: usize = 1;
    fn read_many<'a>(r: &mut Reader<'a>, count: usize) -> Result<Cow<'a, [Self]>, DecodeError> {
        let start = r.position();
        let octets = r.read_bytes(count)?;
        bytemuck::checked::try_cast_slice(octets).map(Cow::Borrowed).map_err(|_| {
            let wrong = octets.iter().position(|&octet| octet > 1).unwrap_or(0);
            DecodeError::InvalidBoolean { offset: saturate(start + wrong) }
        })
    }
    fn write_many(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_bytes(bytemuck::cast_slice(items));
        Ok(())
    }
}

impl sealed::Sealed for char {}

impl Encode for char {
    #[inline]
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_char(*self)
    }
}

impl<'a> Decode<'a> for char {
    const MIN_SIZE: usize = 1;
    #[inline]
    fn decode(r: &mut Reader<'a>) -> Result<Self, DecodeError> {
        r.read_char()
    }
}

impl Primitive for char {
    const WIDTH: usize = 1;
    fn read_many<'a>(r: &mut Reader<'a>, count: usize) -> Result<Cow<'a, [Self]>, DecodeError> {
        Self::decode_vec(r, count).map(Cow::Owned)
    }
    fn write_many(items: &[Self], w: &mut Writer<'_>) -> Result<(), EncodeError> {
        Self::encode_slice(items, w)
    }
}
