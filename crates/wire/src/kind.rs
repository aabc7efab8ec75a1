//! Kinds of messages, and the flags that every kind has.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)+) => {
        /// What a message is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $name = $number,)+
        }

        impl Kind {
            /// All kinds there are.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The kind of this number. Memory that was never written, all 0, is none.
            #[inline(always)]
            pub const fn from_number(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$name),)+
                    _ => None,
                }
            }
        }
    };
}

kinds! {
    /// Call an operation; a reply is expected.
    Request = 1,
    /// Call an operation; nothing comes back, unless [`Flags::ACKNOWLEDGE`] asks how it ended.
    Oneway = 2,
    /// The sender gives a reference to the object up.
    Release = 3,
    /// The result of a call, or the sign that a oneway was carried out.
    Reply = 4,
    /// The operation raised an exception that its interface declares: it is in the body.
    UserException = 5,
    /// The call failed; the body says how. The detail is [`UNKNOWN_OBJECT`], or 0.
    SystemException = 6,
    /// The object is elsewhere: a reference to it is in the body.
    Forward = 7,
    /// The caller no longer waits for the reply to the call of this sequence number.
    Cancel = 8,
    /// Answer with a pong of the same sequence number.
    Ping = 9,
    /// The answer to a ping.
    Pong = 10,
    /// The sender sends nothing more in this flow; the detail says why.
    Close = 11,
    /// A packet of another protocol is in the body, and the header in front is for the nodes that it passes through: its
    /// flow, or an index, and where its regions lie. The detail is the EtherType of the body.
    Packet = 12,
    /// A [`Reply`](Self::Reply) whose body goes on in the request that it answers, which lies in memory that the two sides share and
    /// trust each other with: from the octet that the detail says to the end of the request.
    Returned = 13,
}

impl Kind {
    /// The kind of a message that was not read yet, without looking at anything else. None if version 1 has no such.
    #[inline(always)]
    pub fn peek(message: &[u8]) -> Option<Self> {
        message.get(1).and_then(|number| Self::from_number(*number))
    }

    /// Whether messages of this kind go to an object and say which: their fixed part is the longer one.
    #[inline(always)]
    pub const fn is_addressed(self) -> bool {
        self as u8 <= Self::Release as u8
    }

    /// Whether a message of this kind answers a call, and has all of the answer.
    #[inline(always)]
    pub const fn is_reply(self) -> bool {
        Self::Reply as u8 <= self as u8 && self as u8 <= Self::Forward as u8
    }
}

/// The detail of a [`Kind::SystemException`] of a server that does not know the handle, whatever servants say of other objects.
pub const UNKNOWN_OBJECT: u32 = 1;

/// Properties of a message, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// None.
    pub const NONE: Self = Self(0);
    /// The body is in CDR's little-endian byte order, otherwise big-endian: the bit that GIOP has.
    pub const LITTLE_ENDIAN: Self = Self(1);
    /// Of a [`Kind::Oneway`]: reply when it was carried out, without results, or say why it was not, for instance that there is
    /// no such object (CORBA's `SYNC_WITH_TARGET`). It is carried out in its turn all the same.
    pub const ACKNOWLEDGE: Self = Self(2);
    /// Sequences of numbers lie in the body at multiples of their elements' size, counted from the header's first
    /// byte: a receiver whose buffer is aligned need not copy them. It still has to look.
    pub const IN_PLACE: Self = Self(4);
    /// The body was written by this process's own stubs and need not be checked again. Only the local fabric, which
    /// hands messages on within one process, may believe this; anyone else can set a bit.
    pub const TRUSTED: Self = Self(8);
    /// The receiver need not be woken for this message: more follow at once, and the last one wakes it.
    pub const QUIET: Self = Self(16);

    /// Of requests: the sender does not wait for the answer before it sends the next one, and wants those that follow carried out
    /// even while this one takes long.
    pub const CONCURRENT: Self = Self(32);

    /// Of a [`Kind::Packet`]: the word of the source hash is a threaded index, the place of the destination in the table of
    /// the node that the packet goes to next, which puts another in its place.
    pub const THREADED: Self = Self(64);

    pub(crate) const ALL: Self = Self(127);

    /// The flags of a message that was not read yet, without looking at anything else. None if it has none that version 1
    /// has.
    #[inline(always)]
    pub fn peek(message: &[u8]) -> Self {
        message.get(2).and_then(|bits| Self::from_bits(*bits)).unwrap_or_default()
    }

    /// These flags as they are on the wire.
    #[inline(always)]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Flags from the wire; `None` when there are some that version 1 does not have.
    #[inline(always)]
    pub const fn from_bits(bits: u8) -> Option<Self> {
        if bits & !Self::ALL.0 == 0 { Some(Self(bits)) } else { None }
    }

    /// Whether all of `flags` are set.
    #[inline(always)]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These and `flags`.
    #[inline(always)]
    #[must_use]
    pub const fn with(self, flags: Self) -> Self {
        Self(self.0 | flags.0)
    }
}
