//! Where written octets go: a vector that grows, or memory of a fixed size.

/// The target of a [`Writer`](crate::Writer).
#[derive(Debug)]
pub struct Output<'b>(Target<'b>);

#[derive(Debug)]
enum Target<'b> {
    Vector(&'b mut Vec<u8>),
    /// Either all that was written is in `memory`, up to `used`; or it is in `overflow`, and `used` is all of the memory, so
    /// that nothing seems to fit.
    Memory {
        memory: &'b mut [u8],
        used: &'b mut usize,
        overflow: &'b mut Vec<u8>,
    },
}

impl<'b> Output<'b> {
    /// Octets are appended to a vector.
    #[inline]
    pub fn vector(vector: &'b mut Vec<u8>) -> Self {
        Self(Target::Vector(vector))
    }

    /// Octets go straight into `memory`, after those that are `used` already, which is brought up to date. What does not fit goes
    /// to `overflow`, which was empty, with all that was before it: if there is anything in `overflow`, everything is.
    #[inline]
    pub fn memory(memory: &'b mut [u8], used: &'b mut usize, overflow: &'b mut Vec<u8>) -> Self {
        Self(Target::Memory { memory, used, overflow })
    }

    /// The same target for a shorter time.
    #[inline]
    pub fn reborrow(&mut self) -> Output<'_> {
        Output(match &mut self.0 {
            Target::Vector(vector) => Target::Vector(vector),
            Target::Memory { memory, used, overflow } => Target::Memory { memory, used, overflow },
        })
    }

    /// The vector, if it is one.
    #[inline]
    pub fn as_vector(&mut self) -> Option<&mut Vec<u8>> {
        match &mut self.0 {
            Target::Vector(vector) => Some(vector),
            Target::Memory { .. } => None,
        }
    }

    /// The memory, up to its end, if it is some and has all that was written.
    #[inline]
    pub(crate) fn into_memory(self) -> Option<&'b mut [u8]> {
        match self.0 {
            Target::Memory { memory, overflow, .. } if overflow.is_empty() => Some(memory),
            _ => None,
        }
    }

    /// What lies in the memory from `start`, the end of what was written, up to `end` counts as written.
    #[inline]
    pub(crate) fn keep(&mut self, start: usize, end: usize) {
        match &mut self.0 {
            Target::Memory { memory, used, overflow }
                if overflow.is_empty() && **used == start && (start..=memory.len()).contains(&end) =>
            {
                **used = end;
            }
            _ => panic!("what is kept lies behind what was written"),
        }
    }

    /// How many octets there are.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Target::Vector(vector) => vector.len(),
            Target::Memory { used, overflow, .. } if overflow.is_empty() => **used,
            Target::Memory { overflow, .. } => overflow.len(),
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All that was written.
    #[inline]
    pub fn octets(&self) -> &[u8] {
        match &self.0 {
            Target::Vector(vector) => vector,
            Target::Memory { memory, used, overflow } if overflow.is_empty() => &memory[..**used],
            Target::Memory { overflow, .. } => overflow,
        }
    }

    /// As [`octets`](Self::octets), to be changed.
    #[inline]
    pub fn octets_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Target::Vector(vector) => vector,
            Target::Memory { memory, used, overflow } if overflow.is_empty() => &mut memory[..**used],
            Target::Memory { overflow, .. } => overflow,
        }
    }

    /// Takes back what was written after the first `length` octets.
    #[inline]
    pub fn truncate(&mut self, length: usize) {
        match &mut self.0 {
            Target::Vector(vector) => vector.truncate(length),
            Target::Memory { used, overflow, .. } if overflow.is_empty() => **used = length.min(**used),
            Target::Memory { memory, used, overflow } => {
                overflow.truncate(length);
                // What is left may fit, and then it must not be in the overflow.
                if let Some(front) = memory.get_mut(..overflow.len()) {
                    front.copy_from_slice(overflow);
                    **used = overflow.len();
                    overflow.clear();
                }
            }
        }
    }

    /// The place of `N` octets more, which count as written, if that is memory of a fixed size and they fit. What was put together
    /// elsewhere would have to be fetched before it has left the processor's store buffer.
    #[inline(always)]
    pub fn claim<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        let Target::Memory { memory, used, .. } = &mut self.0 else { return None };
        let place = memory.get_mut(**used..)?.first_chunk_mut()?;
        **used += N;
        Some(place)
    }

    /// Makes room for so many octets more, if that is possible.
    #[inline]
    pub fn reserve(&mut self, octets: usize) {
        if let Target::Vector(vector) = &mut self.0 {
            vector.reserve(octets);
        }
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, octet: u8) {
        match &mut self.0 {
            Target::Vector(vector) => vector.push(octet),
            Target::Memory { .. } => self.extend(&[octet]),
        }
    }

    #[inline(always)]
    pub(crate) fn extend(&mut self, octets: &[u8]) {
        match &mut self.0 {
            Target::Vector(vector) => vector.extend_from_slice(octets),
            Target::Memory { memory, used, .. } => {
                let free = memory.get_mut(**used..).unwrap_or_default();
                match free.get_mut(..octets.len()) {
                    Some(place) => {
                        place.copy_from_slice(octets);
                        **used += octets.len();
                    }
                    None => self.spill(octets),
                }
            }
        }
    }

    /// Up to seven zeros.
    #[inline(always)]
    pub(crate) fn pad(&mut self, count: usize) {
        match &mut self.0 {
            Target::Vector(vector) => {
                // A fixed number of zeros is a single store; what was too much is dropped again.
                let end = vector.len() + count;
                vector.extend_from_slice(&[0; 8]);
                vector.truncate(end);
            }
            Target::Memory { memory, used, .. } => match memory.get_mut(**used..**used + 8) {
                Some(place) => {
                    place.copy_from_slice(&[0; 8]);
                    **used += count;
                }
                None => self.extend(&[0; 8][..count]),
            },
        }
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self, octets: &[u8]) {
        if let Target::Memory { memory, used, overflow } = &mut self.0 {
            if overflow.is_empty() {
                overflow.extend_from_slice(&memory[..**used]);
                **used = memory.len();
            }
            overflow.extend_from_slice(octets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ByteOrder, Writer};

    fn write(w: &mut Writer<'_>) {
        w.write_u8(1);
        w.write_u32(2);
        w.write_string("three").expect("it is short");
        w.write_slice(&[4.0f64, 5.0]).expect("it is short");
        w.write_encapsulation(|w| w.write_slice(&[6u16, 7])).expect("it is short");
        w.write_bool(true);
    }

    #[test]
    fn what_is_claimed_lies_behind_what_was_written_or_does_not_fit() {
        for size in 0..16 {
            let (mut memory, mut used, mut overflow) = (vec![0xee; size], 0, Vec::new());
            let mut output = Output::memory(&mut memory, &mut used, &mut overflow);
            output.extend(&[1, 2]);
            let claimed = output.claim().map(|place: &mut [u8; 8]| *place = [3; 8]).is_some();
            assert_eq!(claimed, size >= 10);
            output.extend(&[4]);
            let expected: &[u8] = if claimed { &[1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 4] } else { &[1, 2, 4] };
            assert_eq!(output.octets(), expected, "{size} octets");
        }
        assert!(Output::vector(&mut Vec::new()).claim::<1>().is_none());
    }

    #[test]
    fn memory_of_every_size_gets_what_a_vector_gets() {
        let mut expected = Vec::new();
        write(&mut Writer::new(&mut expected, ByteOrder::NATIVE));
        for size in 0..expected.len() + 20 {
            let (mut memory, mut used, mut overflow) = (vec![0xee; size], 0, Vec::new());
            let mut output = Output::memory(&mut memory, &mut used, &mut overflow);
            write(&mut Writer::to(output.reborrow(), ByteOrder::NATIVE, 0));
            assert_eq!(output.octets(), expected, "{size} octets");
            assert_eq!(output.len(), expected.len());
            output.truncate(5);
            assert_eq!(output.octets(), &expected[..5]);
            write(&mut Writer::to(output.reborrow(), ByteOrder::NATIVE, 5));
            assert_eq!(&output.octets()[5..], expected);
            assert_eq!(overflow.is_empty(), size >= expected.len() + 5);
            assert!(overflow.is_empty() || used == size);
        }
    }
}
