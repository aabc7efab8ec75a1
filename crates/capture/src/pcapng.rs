//! Blocks of pcapng files.

use crate::capture::{Frame, LARGEST, Next, word};

/// Types of blocks. Packets were in Packet Blocks in the first versions of the format.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// Interfaces of one section; what goes beyond is damage.
const INTERFACES: usize = 1 << 16;

/// The section that is being read: its byte order, and who captured.
#[derive(Default)]
pub(crate) struct Section {
    big: bool,
    interfaces: Vec<Interface>,
    /// Time of the last packet that had one.
    last_time: Option<u64>,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// Octets that are captured of a packet, at most.
    most: usize,
    /// Time units in a second.
    resolution: u64,
    /// Seconds to add.
    offset: i64,
}

impl Interface {
    /// Of the body of its description.
    fn of(body: &[u8], big: bool) -> Result<Self, &'static str> {
        /// Microseconds, where no option tells anything else.
        const USUAL: u8 = 6;
        let Some((head, rest)) = body.split_first_chunk::<8>() else {
            return Err("an interface has no description");
        };
        let (mut clock, mut offset) = (USUAL, 0);
        for option in options(rest, big) {
            match option {
                (9, [value]) => clock = *value,
                (14, value) if value.len() == 8 => offset = long_word(value, big),
                _ => {}
            }
        }
        let resolution = resolution(clock).ok_or("an interface has an impossible clock")?;
        let most = match word(&head[4..], big) {
            0 => usize::MAX,
            most => most as usize,
        };
        Ok(Self { link: half_word(head, big).into(), most, resolution, offset })
    }

    fn nanoseconds(self, ticks: u64) -> u64 {
        let nanoseconds = match self.resolution {
            1_000_000_000 => i128::from(ticks),
            1_000_000 => i128::from(ticks) * 1000,
            resolution => i128::from(ticks) * 1_000_000_000 / i128::from(resolution),
        };
        let nanoseconds = nanoseconds + i128::from(self.offset) * 1_000_000_000;
        u64::try_from(nanoseconds.max(0)).unwrap_or(u64::MAX)
    }
}

/// Time units in a second, as the option says: a power of ten or, with the highest bit set, of two. None if there are
/// more than 64 bits can tell.
fn resolution(option: u8) -> Option<u64> {
    let exponent = u32::from(option & 0x7f);
    if option & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}

impl Section {
    /// What every pcapng file begins with, in both byte orders.
    pub(crate) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

    /// Whether these octets are the beginning of a section, with its byte order.
    pub(crate) fn begins(data: &[u8]) -> bool {
        data.starts_with(&Self::MAGIC) && data.get(8..12).is_some_and(|order| byte_order(order).is_some())
    }

    /// Takes the block that `data` begins with.
    pub(crate) fn block<'a>(&mut self, data: &'a [u8]) -> Next<'a> {
        let Some((head, _)) = data.split_first_chunk::<12>() else {
            return Next::Head(12);
        };
        // A section may have another byte order than the one before.
        let starts = head.starts_with(&Self::MAGIC);
        if starts {
            match byte_order(&head[8..]) {
                Some(big) => self.big = big,
                None => return Next::Damage("a section has no byte order".to_owned()),
            }
        }
        let length = word(&head[4..], self.big) as usize;
        if !(12..=LARGEST).contains(&length) || !length.is_multiple_of(4) {
            return Next::Damage(format!("a block claims to have {length} octets"));
        }
        if data.len() < length {
            return Next::Part(length);
        }
        let (body, again) = data[8..length].split_at(length - 12);
        let (kind, again) = (word(head, self.big), word(again, self.big));
        if again as usize != length {
            return Next::Damage(format!(
                "a block of type {kind} has {length} octets by its beginning, {again} by its end"
            ));
        }
        match self.take(kind, body) {
            Ok(frame) => Next::Record(length, frame),
            Err(cause) => Next::Damage(format!("a block of type {kind} is damaged: {cause}")),
        }
    }

    /// Blocks of other types than these are passed over, whatever is in them: names, statistics, secrets.
    fn take<'a>(&mut self, kind: u32, body: &'a [u8]) -> Result<Option<Frame<'a>>, &'static str> {
        match kind {
            ENHANCED_PACKET => return self.packet(body, word).map(Some),
            PACKET => return self.packet(body, |head, big| half_word(head, big).into()).map(Some),
            SIMPLE_PACKET => return self.simple_packet(body).map(Some),
            INTERFACE_DESCRIPTION if self.interfaces.len() == INTERFACES => {
                return Err("too many interfaces");
            }
            INTERFACE_DESCRIPTION => self.interfaces.push(Interface::of(body, self.big)?),
            SECTION_HEADER if body.len() < 16 => return Err("a section's header is cut off"),
            SECTION_HEADER => self.interfaces.clear(),
            _ => {}
        }
        Ok(None)
    }

    /// A packet with its time, and the number of its interface.
    #[inline]
    fn packet<'a>(
        &mut self,
        body: &'a [u8],
        interface: impl Fn(&[u8], bool) -> u32,
    ) -> Result<Frame<'a>, &'static str> {
        let Some((head, data)) = body.split_first_chunk::<20>() else {
            return Err("a packet has no header");
        };
        let number = |at: usize| word(&head[at..], self.big);
        let interface = self.interface(interface(head, self.big))?;
        let (captured, length) = (number(12), number(16));
        // Padding and options follow.
        let data = data.get(..captured as usize).ok_or("a packet is longer than its block")?;
        self.last_time = Some(interface.nanoseconds(u64::from(number(4)) << 32 | u64::from(number(8))));
        Ok(self.frame(interface, length, data))
    }

    /// A packet without either. How much of it was captured, its interface tells.
    fn simple_packet<'a>(&self, body: &'a [u8]) -> Result<Frame<'a>, &'static str> {
        let Some((length, data)) = body.split_first_chunk::<4>() else {
            return Err("a packet has no header");
        };
        let (interface, length) = (self.interface(0)?, word(length, self.big));
        let captured = interface.most.min(length as usize).min(data.len());
        Ok(self.frame(interface, length, &data[..captured]))
    }

    fn interface(&self, number: u32) -> Result<Interface, &'static str> {
        self.interfaces
            .get(number as usize)
            .copied()
            .ok_or("a packet is of an interface that was not described")
    }

    fn frame<'a>(&self, interface: Interface, length: u32, data: &'a [u8]) -> Frame<'a> {
        let (time, timed) = (self.last_time.unwrap_or(0), self.last_time.is_some());
        Frame { time, timed, link: interface.link, length, data }
    }
}

/// Whether numbers have their high octet first, as the mark of it says.
fn byte_order(mark: &[u8]) -> Option<bool> {
    match mark {
        [0x1a, 0x2b, 0x3c, 0x4d] => Some(true),
        [0x4d, 0x3c, 0x2b, 0x1a] => Some(false),
        _ => None,
    }
}

/// Two octets as a number.
fn half_word(octets: &[u8], big: bool) -> u16 {
    let octets = octets.first_chunk().copied().unwrap_or_default();
    if big { u16::from_be_bytes(octets) } else { u16::from_le_bytes(octets) }
}

/// Eight octets as a number that may be negative.
fn long_word(octets: &[u8], big: bool) -> i64 {
    let octets = octets.first_chunk().copied().unwrap_or_default();
    if big { i64::from_be_bytes(octets) } else { i64::from_le_bytes(octets) }
}

/// Numbers and values of options, up to the one that is the end of them.
fn options(mut octets: &[u8], big: bool) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = octets.split_first_chunk::<4>()?;
        let (number, length) = (half_word(head, big), usize::from(half_word(&head[2..], big)));
        let value = rest.get(..length).filter(|_| number != 0)?;
        octets = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((number, value))
    })
}
