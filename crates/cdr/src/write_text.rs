//! Writing text in the transmission code sets.

use crate::{ByteOrder, CharSet, EncodeError, WChar, WideCharSet, WideEncoding, Writer};

impl Writer<'_> {
    /// Writes a `char`, which must be a single octet in the code set.
    #[inline]
    pub fn write_char(&mut self, value: char) -> Result<(), EncodeError> {
        match (self.codesets().narrow, u8::try_from(value)) {
            (CharSet::Latin1, Ok(octet)) | (CharSet::Utf8, Ok(octet @ ..0x80)) => {
                self.write_u8(octet);
                Ok(())
            }
            _ => Err(EncodeError::Unrepresentable(value)),
        }
    }

    /// Writes a `string`: its length with the final NUL, its octets, the NUL.
    #[inline]
    pub fn write_string(&mut self, text: &str) -> Result<(), EncodeError> {
        if text.as_bytes().contains(&0) {
            return Err(EncodeError::EmbeddedNul);
        }
        if self.codesets().narrow == CharSet::Latin1 && !text.is_ascii() {
            return self.write_latin1(text);
        }
        self.write_length(text.len() + 1)?;
        self.reserve(text.len() + 1);
        self.write_bytes(text.as_bytes());
        self.write_u8(0);
        Ok(())
    }

    #[cold]
    fn write_latin1(&mut self, text: &str) -> Result<(), EncodeError> {
        self.write_length(text.chars().count() + 1)?;
        for c in text.chars() {
            self.write_u8(u8::try_from(c).map_err(|_| EncodeError::Unrepresentable(c))?);
        }
        self.write_u8(0);
        Ok(())
    }

    fn wide_encoding(&self) -> Result<WideEncoding, EncodeError> {
        match self.codesets().wide {
            Some(WideCharSet::Utf16) => Ok(self.codesets().wide_encoding),
            None => Err(EncodeError::NoWideCharSet),
        }
    }

    /// Writes a `wchar`. GIOP 1.1 has room for one UTF-16 unit only.
    pub fn write_wchar(&mut self, value: WChar) -> Result<(), EncodeError> {
        let mut pair = [0; 2];
        let units = value.0.encode_utf16(&mut pair);
        match (self.wide_encoding()?, &*units) {
            (WideEncoding::Giop11, &[unit]) => self.write_u16(unit),
            (WideEncoding::Giop11, _) => return Err(EncodeError::Unrepresentable(value.0)),
            (WideEncoding::Giop12, units) => {
                self.write_u8(if units.len() == 1 { 2 } else { 4 });
                units.iter().for_each(|unit| self.write_bytes(&unit.to_be_bytes()));
            }
        }
        Ok(())
    }

    /// Writes a `wstring`. In GIOP 1.2 form it is big-endian and has no byte order mark, as the standard says, and as
    /// ORBs read it that mark theirs.
    pub fn write_wstring(&mut self, text: &str) -> Result<(), EncodeError> {
        if text.as_bytes().contains(&0) {
            return Err(EncodeError::EmbeddedNul);
        }
        let units = text.encode_utf16().count();
        self.reserve(units * 2 + 6);
        match self.wide_encoding()? {
            WideEncoding::Giop11 => {
                self.write_length(units + 1)?;
                self.write_units(text);
                self.write_u16(0);
            }
            WideEncoding::Giop12 => {
                // What would pass for a byte order mark needs a real one in front of it.
                let marked = text.starts_with(['\u{FEFF}', '\u{FFFE}']);
                self.write_length((units + usize::from(marked)) * 2)?;
                if marked {
                    self.write_bytes(&[0xFE, 0xFF]);
                }
                text.encode_utf16().for_each(|unit| self.write_bytes(&unit.to_be_bytes()));
            }
        }
        Ok(())
    }

    fn write_units(&mut self, text: &str) {
        let order = self.order();
        for unit in text.encode_utf16() {
            self.write_bytes(&match order {
                ByteOrder::Big => unit.to_be_bytes(),
                ByteOrder::Little => unit.to_le_bytes(),
            });
        }
    }
}
