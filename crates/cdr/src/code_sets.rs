//! Transmission code sets: how text looks on the wire (section 7.10).

/// The transmission code set of `char` and `string` (TCS-C).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CharSet {
    /// UTF-8, registry id 0x05010001. A `char` is a single octet and therefore ASCII.
    Utf8,
    /// ISO 8859-1, registry id 0x00010001.
    Latin1,
}

impl CharSet {
    /// The OSF code set registry's id.
    pub const fn id(self) -> u32 {
        match self {
            Self::Utf8 => 0x0501_0001,
            Self::Latin1 => 0x0001_0001,
        }
    }

    /// The code set with this registry id, if it is one of ours. US-ASCII (ISO 646) counts as ISO 8859-1.
    pub const fn from_id(id: u32) -> Option<Self> {
        match id {
            0x0501_0001 => Some(Self::Utf8),
            0x0001_0001 | 0x0001_0020 => Some(Self::Latin1),
            _ => None,
        }
    }
}

/// The transmission code set of `wchar` and `wstring` (TCS-W).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideCharSet {
    /// UTF-16, registry id 0x00010109.
    Utf16,
}

impl WideCharSet {
    /// The OSF code set registry's id.
    pub const fn id(self) -> u32 {
        match self {
            Self::Utf16 => 0x0001_0109,
        }
    }

    /// The code set with this registry id, if it is one of ours. UCS-2 (level 1) counts as UTF-16.
    pub const fn from_id(id: u32) -> Option<Self> {
        match id {
            0x0001_0109 | 0x0001_0100 => Some(Self::Utf16),
            _ => None,
        }
    }
}

/// How wide text is laid out, which depends on the version of GIOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WideEncoding {
    /// GIOP 1.1: two-octet units in the message's byte order; lengths count units, the final NUL included.
    Giop11,
    /// GIOP 1.2: counted octets, big-endian unless a byte order mark says otherwise, no NUL.
    Giop12,
}

/// The code sets in force on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeSets {
    /// For `char` and `string`.
    pub narrow: CharSet,
    /// For `wchar` and `wstring`; `None` where none was agreed upon, and in GIOP 1.0.
    pub wide: Option<WideCharSet>,
    /// The layout of wide text.
    pub wide_encoding: WideEncoding,
}

impl CodeSets {
    /// What holds when nothing was negotiated: ISO 8859-1, and no wide text (section 7.10.2.6).
    pub const DEFAULT: Self =
        Self { narrow: CharSet::Latin1, wide: None, wide_encoding: WideEncoding::Giop12 };

    /// UTF-8 and UTF-16 in the layout of GIOP 1.2.
    pub const UNICODE: Self =
        Self { narrow: CharSet::Utf8, wide: Some(WideCharSet::Utf16), wide_encoding: WideEncoding::Giop12 };
}

impl Default for CodeSets {
    fn default() -> Self {
        Self::DEFAULT
    }
}
