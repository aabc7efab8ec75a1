//! Keys of network stacks, packed: as many bytes as the header fields have, compared as words.

use core::{
    fmt,
    hash::{Hash, Hasher},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6},
};

/// What [`AnyLocator`](crate::AnyLocator) finds slots by. One line makes any type a key: `impl Key for MyKey {}`.
///
/// The locators themselves ask for less: lists for [`Eq`], hash tables for [`Hash`] besides.
pub trait Key: Eq + Hash + Clone {
    /// The index that came with the key: a label the sender chose, or one we gave out. Lookups that compute nothing
    /// need it (`source-hash`, `direct`); [`Carried`] adds one to any key.
    #[inline(always)]
    fn index(&self) -> Option<u32> {
        None
    }
}

macro_rules! plain_keys {
    ($($key:ty),+) => { $(impl Key for $key {})+ };
}

macro_rules! index_keys {
    ($($key:ty),+) => { $(
        /// The number is the index.
        impl Key for $key {
            #[inline(always)]
            fn index(&self) -> Option<u32> {
                Some((*self).into())
            }
        }
    )+ };
}

plain_keys!(u64, u128, alloc::string::String, alloc::boxed::Box<[u8]>, alloc::vec::Vec<u8>);
plain_keys!(IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6);
index_keys!(u8, u16, u32);

impl<const N: usize> Key for [u8; N] {}
impl<A: Key, B: Key> Key for (A, B) {}

/// A key and the index that came in the same packet. Two of them are equal when the keys are; a locator that goes by the
/// index, such as [`SourceHash`](crate::SourceHash), finds a key under the index it was inserted with only.
#[derive(Clone, Copy, Debug)]
pub struct Carried<K> {
    /// Chosen by the sender, or given out by us: not to be trusted beyond a first guess.
    pub index: u32,
    /// What decides.
    pub key: K,
}

impl<K: PartialEq> PartialEq for Carried<K> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: Eq> Eq for Carried<K> {}

impl<K: Hash> Hash for Carried<K> {
    #[inline(always)]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl<K: Eq + Hash + Clone> Key for Carried<K> {
    #[inline(always)]
    fn index(&self) -> Option<u32> {
        Some(self.index)
    }
}

/// Feeds bytes to a hash function as words, in memory's order: no length, no byte-wise loop.
#[inline(always)]
fn hash_words<H: Hasher>(bytes: &[u8], state: &mut H) {
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|word| state.write_u64(u64::from_ne_bytes(*word)));
    let (halves, rest) = rest.as_chunks::<4>();
    halves.iter().for_each(|half| state.write_u32(u32::from_ne_bytes(*half)));
    let (pairs, rest) = rest.as_chunks::<2>();
    pairs.iter().for_each(|pair| state.write_u16(u16::from_ne_bytes(*pair)));
    rest.iter().for_each(|byte| state.write_u8(*byte));
}

/// Whether the bytes are the same. Those that are more than a word and less than two are compared as two words that overlap,
/// which takes fewer instructions than three parts of different lengths.
#[inline(always)]
fn same<const N: usize>(a: &[u8; N], b: &[u8; N]) -> bool {
    match (a.first_chunk(), a.last_chunk(), b.first_chunk(), b.last_chunk()) {
        (Some(first), Some(last), Some(other_first), Some(other_last)) if N < 16 => {
            let differ = |a: &[u8; 8], b: &[u8; 8]| u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b);
            differ(first, other_first) | differ(last, other_last) == 0
        }
        _ => a == b,
    }
}

/// A key of `$bytes` bytes in network order.
macro_rules! packed {
    ($(#[$doc:meta])* $name:ident, $bytes:literal, align $align:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Eq, PartialOrd, Ord)]
        #[repr(align($align))]
        pub struct $name([u8; $bytes]);

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &Self) -> bool {
                same(&self.0, &other.0)
            }
        }

        impl $name {
            /// The fields in the order of the header, big-endian, padded with zeroes.
            #[inline(always)]
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
        }

        impl Hash for $name {
            #[inline(always)]
            fn hash<H: Hasher>(&self, state: &mut H) {
                hash_words(&self.0, state);
            }
        }

        impl Key for $name {}

        // SAFETY: bytes, as many as it has, so there is no padding.
        unsafe impl bytemuck::NoUninit for $name {}
        const _: () = assert!(size_of::<$name>() == $bytes);
    };
}

/// Addresses and ports of `$address`, with or without the protocol.
macro_rules! endpoints {
    ($name:ident, $address:ty, $bytes:literal, $socket:ty, ($($protocol:ident)?)) => {
        impl $name {
            const ADDRESS: usize = size_of::<$address>();

            /// The key of packets from `source` to `destination`.
            #[inline]
            pub fn new(
                source: $address,
                source_port: u16,
                destination: $address,
                destination_port: u16,
                $($protocol: u8)?
            ) -> Self {
                let mut bytes = [0; $bytes];
                bytes[..Self::ADDRESS].copy_from_slice(&source.octets());
                bytes[Self::ADDRESS..2 * Self::ADDRESS].copy_from_slice(&destination.octets());
                let ports = 2 * Self::ADDRESS;
                bytes[ports..ports + 2].copy_from_slice(&source_port.to_be_bytes());
                bytes[ports + 2..ports + 4].copy_from_slice(&destination_port.to_be_bytes());
                $(bytes[ports + 4] = $protocol;)?
                Self(bytes)
            }

            fn address(&self, at: usize) -> $address {
                let mut octets = [0; Self::ADDRESS];
                octets.copy_from_slice(&self.0[at..at + Self::ADDRESS]);
                octets.into()
            }

            fn port(&self, at: usize) -> u16 {
                u16::from_be_bytes([self.0[2 * Self::ADDRESS + at], self.0[2 * Self::ADDRESS + at + 1]])
            }

            /// Who sends.
            pub fn source(&self) -> $address {
                self.address(0)
            }

            /// Who receives.
            pub fn destination(&self) -> $address {
                self.address(Self::ADDRESS)
            }

            /// The sender's port.
            pub fn source_port(&self) -> u16 {
                self.port(0)
            }

            /// The receiver's port.
            pub fn destination_port(&self) -> u16 {
                self.port(2)
            }

            $(
                /// The number of the transport protocol: 6 is TCP, 17 is UDP.
                pub fn $protocol(&self) -> u8 {
                    self.0[2 * Self::ADDRESS + 4]
                }
            )?

            /// The key of the packets that answer.
            #[must_use]
            pub fn reversed(&self) -> Self {
                Self::new(
                    self.destination(), self.destination_port(), self.source(), self.source_port(),
                    $(self.$protocol())?
                )
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let from = <$socket>::from((self.source(), self.source_port()));
                let to = <$socket>::from((self.destination(), self.destination_port()));
                write!(f, "{from} > {to}")?;
                $(write!(f, " {} {}", stringify!($protocol), self.$protocol())?;)?
                Ok(())
            }
        }
    };
}

packed! {
    /// Addresses and ports of IPv4, for tables of one transport protocol: 12 bytes.
    Ipv4Connection, 12, align 4
}
packed! {
    /// Addresses, ports and protocol of IPv4: 16 bytes.
    Ipv4Flow, 16, align 8
}
packed! {
    /// Addresses and ports of IPv6, for tables of one transport protocol: 36 bytes.
    Ipv6Connection, 36, align 4
}
packed! {
    /// Addresses, ports and protocol of IPv6: 40 bytes.
    Ipv6Flow, 40, align 8
}
packed! {
    /// An address of Ethernet: 6 bytes.
    EthernetAddress, 6, align 2
}
packed! {
    /// A flow id of 12 bytes: source, destination, and a number unique at the source.
    FlowId, 12, align 4
}

endpoints!(Ipv4Connection, Ipv4Addr, 12, SocketAddr, ());
endpoints!(Ipv4Flow, Ipv4Addr, 16, SocketAddr, (protocol));
endpoints!(Ipv6Connection, Ipv6Addr, 36, SocketAddr, ());
endpoints!(Ipv6Flow, Ipv6Addr, 40, SocketAddr, (protocol));

impl EthernetAddress {
    /// The address with these octets.
    pub const fn new(octets: [u8; 6]) -> Self {
        Self(octets)
    }

    /// Whether it names a group of stations.
    pub const fn is_multicast(&self) -> bool {
        self.0[0] & 1 != 0
    }
}

impl fmt::Debug for EthernetAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl FlowId {
    /// The flow id with these bytes.
    pub const fn new(bytes: [u8; 12]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A byte string of at most `N` bytes, kept in place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bytes<const N: usize> {
    len: u16,
    bytes: [u8; N],
}

/// The byte string is longer than its key type allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the byte string is longer than its key")]
pub struct TooLong;

impl<const N: usize> Bytes<N> {
    /// A copy of `bytes`.
    ///
    /// # Errors
    /// [`TooLong`] for more than `N` bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, TooLong> {
        const { assert!(N <= u16::MAX as usize) };
        let mut kept = [0; N];
        kept.get_mut(..bytes.len()).ok_or(TooLong)?.copy_from_slice(bytes);
        Ok(Self { len: bytes.len() as u16, bytes: kept })
    }

    /// The byte string.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl<const N: usize> Hash for Bytes<N> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write(self.as_bytes());
        state.write_u16(self.len);
    }
}

impl<const N: usize> Key for Bytes<N> {}

impl<const N: usize> fmt::Debug for Bytes<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.as_bytes().escape_ascii())
    }
}
