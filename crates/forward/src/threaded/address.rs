//! Addresses of both families, and prefixes of them.

use std::{
    fmt,
    net::{Ipv4Addr, Ipv6Addr},
};

use throughline_stack::smoltcp::wire::{IpAddress, IpCidr};

/// An IPv4 or IPv6 address.
pub trait Address: Copy + Ord + fmt::Debug + fmt::Display + Into<IpAddress> + 'static {
    /// The address as a number, in whichever order of octets.
    type Bits: Copy + Eq + std::ops::BitOr<Output = Self::Bits> + fmt::Debug;

    /// Bits of an address.
    const BITS: u8;
    /// All bits 0.
    const UNSPECIFIED: Self;
    /// No bit set, all bits set.
    const NONE_AND_ALL: [Self::Bits; 2];

    /// The octets as they lie in the packet, read as a number of the machine.
    fn as_they_lie(self) -> Self::Bits;
    /// This address with all bits behind the first `length` cleared.
    fn first_of(self, length: u8) -> Self;
    /// This address with all bits behind the first `length` set.
    fn last_of(self, length: u8) -> Self;
    /// The address, if it is of this family.
    fn of(address: IpAddress) -> Option<Self>;
}

macro_rules! address {
    ($address:ty, $bits:ty, $variant:ident) => {
        impl Address for $address {
            type Bits = $bits;
            const BITS: u8 = <$bits>::BITS as u8;
            const UNSPECIFIED: Self = <$address>::UNSPECIFIED;
            const NONE_AND_ALL: [$bits; 2] = [0, <$bits>::MAX];

            #[inline(always)]
            fn as_they_lie(self) -> $bits {
                <$bits>::from_ne_bytes(self.octets())
            }

            fn first_of(self, length: u8) -> Self {
                Self::from_bits(self.to_bits() & !behind::<$address>(length))
            }

            fn last_of(self, length: u8) -> Self {
                Self::from_bits(self.to_bits() | behind::<$address>(length))
            }

            fn of(address: IpAddress) -> Option<Self> {
                match address {
                    IpAddress::$variant(address) => Some(address),
                    _ => None,
                }
            }
        }

        impl Behind for $address {
            type Number = $bits;
            fn behind(length: u8) -> $bits {
                <$bits>::MAX.checked_shr(length.into()).unwrap_or(0)
            }
        }
    };
}

trait Behind {
    type Number;
    fn behind(length: u8) -> Self::Number;
}

/// The bits behind the first `length`.
fn behind<A: Behind>(length: u8) -> A::Number {
    A::behind(length)
}

address!(Ipv4Addr, u32, Ipv4);
address!(Ipv6Addr, u128, Ipv6);

/// All addresses that begin with the same bits. In order, each is followed by those within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix<A> {
    address: A,
    length: u8,
}

impl<A: Address> Prefix<A> {
    /// The prefix of so many bits in which an address lies; `None` if addresses are not so long.
    pub fn around(address: A, length: u8) -> Option<Self> {
        (length <= A::BITS).then(|| Self { address: address.first_of(length), length })
    }

    /// The same of smoltcp, if it is of this family.
    pub fn of(cidr: IpCidr) -> Option<Self> {
        Self::around(A::of(cidr.address())?, cidr.prefix_len())
    }

    /// The first address.
    pub fn address(self) -> A {
        self.address
    }

    /// Bits that all addresses begin with.
    pub fn length(self) -> u8 {
        self.length
    }

    /// Whether an address begins with these bits.
    pub fn contains(self, address: A) -> bool {
        address.first_of(self.length) == self.address
    }

    /// Whether all addresses of another prefix are in this one.
    pub fn covers(self, other: Self) -> bool {
        self.length <= other.length && self.contains(other.address)
    }
}

impl<A: Address> From<Prefix<A>> for IpCidr {
    fn from(prefix: Prefix<A>) -> Self {
        Self::new(prefix.address.into(), prefix.length)
    }
}

impl<A: Address> fmt::Display for Prefix<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}
