//! Byte order.

/// The byte order of a message or encapsulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// Most significant octet first.
    Big = 0,
    /// Least significant octet first.
    Little = 1,
}

impl ByteOrder {
    /// The byte order of this machine, in which nothing needs swapping.
    pub const NATIVE: Self = if cfg!(target_endian = "big") { Self::Big } else { Self::Little };

    /// The order that a flag stands for: bit 0 of GIOP's flags, or an encapsulation's first octet (section 9.3.3).
    #[inline]
    pub const fn from_flag(little: bool) -> Self {
        if little { Self::Little } else { Self::Big }
    }

    /// The flag that stands for this order: 0 or 1.
    #[inline]
    pub const fn flag(self) -> u8 {
        self as u8
    }

    /// Whether values in this order need swapping on this machine.
    #[inline]
    pub const fn is_foreign(self) -> bool {
        self as u8 != Self::NATIVE as u8
    }
}
