//! Blocks of pcapng files.

use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock;

use crate::capture::{Frame, LARGEST, Next, word};

/// The type of blocks that the first versions of the format had for packets.
const PACKET_BLOCK: u32 = 2;

/// Interfaces of one section; what goes beyond is damage.
const INTERFACES: usize = 1 << 16;

/// The section that is being read: its byte order, and who captured.
#[derive(Default)]
pub(crate) struct Section {
    big: bool,
    interfaces: Vec<Interface>,
    /// Time of the last packet that had one.
    last_time: u64,
}

#[derive(Clone, Copy)]
struct Interface {
    link: u32,
    /// Time units in a second.
    resolution: u64,
    /// Seconds to add.
    offset: i64,
}

impl Interface {
    fn of(block: &InterfaceDescriptionBlock<'_>, big: bool) -> Option<Self> {
        // The parser takes this number for little-endian in all files.
        let offset = if big { block.if_tsoffset.swap_bytes() } else { block.if_tsoffset };
        Some(Self { link: block.linktype.0 as u32, resolution: resolution(block.if_tsresol)?, offset })
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
        if !starts && !self.is_of_packets(head) {
            return self.passed_over(&data[..length]);
        }
        let parse = if self.big { parse_block_be } else { parse_block_le };
        match parse(&data[..length]) {
            Ok((_, block)) => match self.take(block) {
                Ok(frame) => Next::Record(length, frame),
                Err(cause) => Next::Damage(cause.to_owned()),
            },
            Err(_) => Next::Damage(format!("a block of type {} is damaged", word(head, self.big))),
        }
    }

    /// Whether a block tells of packets, and of where they were captured.
    fn is_of_packets(&self, head: &[u8]) -> bool {
        /// Interface Description, Packet, Simple Packet, Enhanced Packet.
        const TYPES: [u32; 4] = [1, PACKET_BLOCK, 3, 6];
        TYPES.contains(&word(head, self.big))
    }

    /// A block of another type, whatever is in it: names, statistics, secrets.
    fn passed_over<'a>(&self, block: &[u8]) -> Next<'a> {
        let length = block.len();
        let again = word(&block[length - 4..], self.big);
        if again as usize != length {
            let kind = word(block, self.big);
            return Next::Damage(format!(
                "a block of type {kind} has {length} octets by its beginning, {again} by its end"
            ));
        }
        Next::Record(length, None)
    }

    fn take<'a>(&mut self, block: Block<'a>) -> Result<Option<Frame<'a>>, &'static str> {
        match block {
            Block::SectionHeader(_) => self.interfaces.clear(),
            Block::InterfaceDescription(block) => {
                if self.interfaces.len() == INTERFACES {
                    return Err("too many interfaces");
                }
                let interface =
                    Interface::of(&block, self.big).ok_or("an interface has an impossible clock")?;
                self.interfaces.push(interface);
            }
            Block::EnhancedPacket(block) => {
                let interface = self.interface(block.if_id)?;
                let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                self.last_time = interface.nanoseconds(ticks);
                let data = unpadded(block.data, block.caplen);
                return Ok(Some(self.frame(interface, block.origlen, data)));
            }
            Block::SimplePacket(block) => {
                let interface = self.interface(0)?;
                let length = block.orig_len();
                return Ok(Some(self.frame(interface, length, unpadded(block.data, length))));
            }
            // The parser takes this number for little-endian too.
            Block::Unknown(block) if block.block_type.to_le_bytes() == self.octets(PACKET_BLOCK) => {
                return self.packet_block(block.data).map(Some);
            }
            _ => {}
        }
        Ok(None)
    }

    /// The body of a Packet Block, by which the Enhanced Packet Block's was preceded: its interface's number has half the octets.
    fn packet_block<'a>(&mut self, body: &'a [u8]) -> Result<Frame<'a>, &'static str> {
        let Some((head, data)) = body.split_first_chunk::<20>() else {
            return Err("a packet has no header");
        };
        let number = |at: usize| word(&head[at..], self.big);
        let interface = self.interface(half_word(head, self.big).into())?;
        let (captured, length) = (number(12), number(16));
        if captured as usize > data.len() {
            return Err("a packet is longer than its block");
        }
        self.last_time = interface.nanoseconds(u64::from(number(4)) << 32 | u64::from(number(8)));
        Ok(self.frame(interface, length, unpadded(data, captured)))
    }

    /// A number as the section has it.
    fn octets(&self, number: u32) -> [u8; 4] {
        if self.big { number.to_be_bytes() } else { number.to_le_bytes() }
    }

    fn interface(&self, number: u32) -> Result<Interface, &'static str> {
        self.interfaces
            .get(number as usize)
            .copied()
            .ok_or("a packet is of an interface that was not described")
    }

    fn frame<'a>(&self, interface: Interface, length: u32, data: &'a [u8]) -> Frame<'a> {
        Frame { time: self.last_time, link: interface.link, length, data }
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

fn unpadded(data: &[u8], captured: u32) -> &[u8] {
    &data[..data.len().min(captured as usize)]
}
