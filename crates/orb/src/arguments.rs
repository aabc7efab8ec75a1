//! Marshaled arguments that wait to be sent.

use throughline_cdr::{ByteOrder, CodeSets, Decode, Encode, EncodeError, Output, Reader, Writer};

/// Arguments of so many octets need no allocation.
const SMALL: usize = 64;

/// Arguments as they will be in a request, counted from a multiple of 8.
#[derive(Debug)]
pub(crate) struct Arguments {
    small: [u8; SMALL],
    used: usize,
    /// All of them, if they are more.
    large: Vec<u8>,
}

impl Arguments {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { small: [0; SMALL], used: 0, large: Vec::new() }
    }

    /// None, with the memory for small ones.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        if self.large.capacity() != 0 {
            self.large = Vec::new();
        }
    }

    /// Writes them, in this machine's order of octets.
    #[inline]
    pub(crate) fn writer(&mut self, code_sets: CodeSets) -> Writer<'_> {
        let output = Output::memory(&mut self.small, &mut self.used, &mut self.large);
        let mut writer = Writer::to(output, ByteOrder::NATIVE, 0);
        writer.set_codesets(code_sets);
        writer
    }

    #[inline]
    pub(crate) fn octets(&self) -> &[u8] {
        if self.large.is_empty() { &self.small[..self.used] } else { &self.large }
    }
}

/// Reads arguments as they were marshaled and marshals them anew, in the code sets of the writer.
pub type Rewrite = fn(&mut Reader<'_>, &mut Writer<'_>) -> Result<(), EncodeError>;

/// One argument of a [`Rewrite`].
///
/// # Errors
/// What `T` fails with where the code sets of the writer cannot represent its text.
pub fn rewrite<T: Encode + for<'a> Decode<'a>>(
    r: &mut Reader<'_>,
    w: &mut Writer<'_>,
) -> Result<(), EncodeError> {
    let argument = T::decode(r).map_err(|_| EncodeError::Invalid("an argument cannot be read back"))?;
    argument.encode(w)
}
