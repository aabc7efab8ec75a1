//! Agreeing on code sets (section 7.10.2).
//!
//! A server lists its code sets in its references; the client chooses and tells its choice in a service context of
//! its first request on a connection. Rust's strings are Unicode, so our native code sets are UTF-8 and UTF-16.

use thiserror::Error;
use throughline_cdr::{
    ByteOrder, CharSet, CodeSets, Decode, DecodeError, Encode, EncodeError, Reader, WideCharSet,
    WideEncoding, Writer,
};

use crate::component::{self, TaggedComponent};
use crate::header::Version;
use crate::ior::encapsulate;

/// The code sets of one character type that a peer understands: `CONV_FRAME::CodeSetComponent`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeSetComponent {
    /// What it uses inside, as a registry id; 0 for none.
    pub native: u32,
    /// What it can convert from and to.
    pub conversion: Vec<u32>,
}

impl CodeSetComponent {
    /// Whether the peer understands the code set with this registry id.
    pub fn supports(&self, id: u32) -> bool {
        self.native == id || self.conversion.contains(&id)
    }

    fn supports_any(&self, is_ours: impl Fn(u32) -> bool) -> bool {
        is_ours(self.native) || self.conversion.iter().any(|&id| is_ours(id))
    }
}

impl Encode for CodeSetComponent {
    fn encode(&self, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        w.write_u32(self.native);
        self.conversion.encode(w)
    }
}

impl Decode<'_> for CodeSetComponent {
    const MIN_SIZE: usize = 8;
    fn decode(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { native: r.read_u32()?, conversion: Vec::decode(r)? })
    }
}

/// What a server says of its code sets: the component `TAG_CODE_SETS`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeSetComponentInfo {
    /// For `char` and `string`.
    pub for_char: CodeSetComponent,
    /// For `wchar` and `wstring`.
    pub for_wchar: CodeSetComponent,
}

impl CodeSetComponentInfo {
    /// What we say as a server: UTF-8 by preference, or ISO 8859-1; UTF-16.
    pub fn ours() -> Self {
        let [utf8, latin1] = [CharSet::Utf8.id(), CharSet::Latin1.id()];
        Self {
            for_char: CodeSetComponent { native: utf8, conversion: vec![latin1] },
            for_wchar: CodeSetComponent { native: WideCharSet::Utf16.id(), conversion: Vec::new() },
        }
    }

    /// What is taken for granted of a server whose reference could not say: ISO 8859-1, which holds for text without any
    /// agreement, and UTF-16, to which every ORB with wide text must convert (section 7.10.2.6).
    pub fn assumed() -> Self {
        let only = |native| CodeSetComponent { native, conversion: Vec::new() };
        Self { for_char: only(CharSet::Latin1.id()), for_wchar: only(WideCharSet::Utf16.id()) }
    }

    /// Reads the data of the component.
    pub fn from_octets(octets: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::encapsulation(octets)?;
        Ok(Self { for_char: Decode::decode(&mut r)?, for_wchar: Decode::decode(&mut r)? })
    }

    /// The component.
    pub fn to_component(&self) -> Result<TaggedComponent, EncodeError> {
        component::of(component::CODE_SETS, |w| {
            self.for_char.encode(w)?;
            self.for_wchar.encode(w)
        })
    }
}

/// No code set serves both peers (`CODESET_INCOMPATIBLE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no code set in common: 0x{char_data:08x} for char, 0x{wchar_data:08x} for wchar")]
pub struct Incompatible {
    /// The other's code set for `char`.
    pub char_data: u32,
    /// The other's code set for `wchar`.
    pub wchar_data: u32,
}

/// A client's choice: `CONV_FRAME::CodeSetContext`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSetContext {
    /// The registry id for `char` and `string`.
    pub char_data: u32,
    /// The registry id for `wchar` and `wstring`; 0 for none.
    pub wchar_data: u32,
}

impl CodeSetContext {
    /// Reads the data of a service context with id [`CODE_SETS`](crate::service_context::CODE_SETS).
    pub fn from_octets(octets: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::encapsulation(octets)?;
        Ok(Self { char_data: r.read_u32()?, wchar_data: r.read_u32()? })
    }

    /// The data of the service context, in this byte order.
    pub fn to_octets(&self, order: ByteOrder) -> Vec<u8> {
        let octets = encapsulate(order, |w| {
            w.write_u32(self.char_data);
            w.write_u32(self.wchar_data);
            Ok(())
        });
        // Numbers always have an encoding.
        octets.unwrap_or_default()
    }

    /// What this choice means for reading and writing messages of a GIOP version, if we have those code sets.
    pub fn code_sets(&self, version: Version) -> Result<CodeSets, Incompatible> {
        let incompatible = Incompatible { char_data: self.char_data, wchar_data: self.wchar_data };
        let narrow = match self.char_data {
            0 => CharSet::Latin1,
            id => CharSet::from_id(id).ok_or(incompatible)?,
        };
        let wide = match self.wchar_data {
            0 => None,
            id => Some(WideCharSet::from_id(id).ok_or(incompatible)?),
        };
        Ok(for_version(narrow, wide, version))
    }
}

/// Code sets in a GIOP version: wide text looks different in 1.1, and does not exist in 1.0.
pub fn for_version(narrow: CharSet, wide: Option<WideCharSet>, version: Version) -> CodeSets {
    let wide_encoding = match version {
        Version::V1_2 => WideEncoding::Giop12,
        _ => WideEncoding::Giop11,
    };
    CodeSets { narrow, wide: wide.filter(|_| version > Version::V1_0), wide_encoding }
}

/// Chooses for a client of ours: a code set that the server understands and that loses nothing, if there is one.
///
/// By the standard's rules the native sets come first, then those that one side converts to, then the fallbacks
/// UTF-8 and UTF-16, which every ORB must convert to (section 7.10.2.6). We have UTF-8 as our native set and say so
/// even where the server has ISO 8859-1 and could have made us convert: not every string survives that.
pub fn negotiate(server: &CodeSetComponentInfo) -> CodeSetContext {
    let utf8 = CharSet::Utf8.id();
    let latin1 = |id| CharSet::from_id(id) == Some(CharSet::Latin1);
    let char_data = match &server.for_char {
        set if set.supports(utf8) => utf8,
        set if set.supports_any(latin1) => CharSet::Latin1.id(),
        _ => utf8,
    };
    let wchar_data = match &server.for_wchar {
        CodeSetComponent { native: 0, conversion } if conversion.is_empty() => 0,
        _ => WideCharSet::Utf16.id(),
    };
    CodeSetContext { char_data, wchar_data }
}
