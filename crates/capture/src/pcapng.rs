//! Blocks of pcapng files.

use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock;

use crate::capture::{Frame, Next, word};

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
    fn of(block: &InterfaceDescriptionBlock<'_>) -> Option<Self> {
        let resolution = block.ts_resolution().filter(|resolution| *resolution > 0)?;
        Some(Self { link: block.linktype.0 as u32, resolution, offset: block.ts_offset() })
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

impl Section {
    /// What every pcapng file begins with, in both byte orders.
    pub(crate) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

    /// Takes the block that `data` begins with.
    pub(crate) fn block<'a>(&mut self, data: &'a [u8]) -> Next<'a> {
        let Some((head, _)) = data.split_first_chunk::<12>() else {
            return Next::Part(12);
        };
        // A section may have another byte order than the one before.
        let starts = head.starts_with(&Self::MAGIC);
        if starts {
            match head[8..] {
                [0x1a, 0x2b, 0x3c, 0x4d] => self.big = true,
                [0x4d, 0x3c, 0x2b, 0x1a] => self.big = false,
                _ => return Next::Damage("a section has no byte order".to_owned()),
            }
        }
        let length = word(&head[4..], self.big) as usize;
        if length < 12 || !length.is_multiple_of(4) {
            return Next::Damage(format!("a block claims to have {length} octets"));
        }
        if data.len() < length {
            return Next::Part(length);
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

    fn take<'a>(&mut self, block: Block<'a>) -> Result<Option<Frame<'a>>, &'static str> {
        match block {
            Block::SectionHeader(_) => self.interfaces.clear(),
            Block::InterfaceDescription(block) => {
                if self.interfaces.len() == INTERFACES {
                    return Err("too many interfaces");
                }
                let interface = Interface::of(&block).ok_or("an interface has an impossible clock")?;
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
            _ => {}
        }
        Ok(None)
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

fn unpadded(data: &[u8], captured: u32) -> &[u8] {
    &data[..data.len().min(captured as usize)]
}
