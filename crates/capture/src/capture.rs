//! From octets to frames: pcap and pcapng files, read as a stream.

use std::io::Read;
use std::ops::Range;

use pcap_parser::PcapHeader;

use crate::pcapng::Section;
use crate::source::{Refusal, Source};

/// Octets buffered at first.
const BUFFER: usize = 1 << 20;
/// A record that claims to be larger is damage; libpcap's own limit is lower for most link types.
pub(crate) const LARGEST: usize = 16 << 20;
/// Zeros that are no records without octets, which some files have, but what was never written to.
const NEVER_WRITTEN: [u8; 256] = [0; 256];
/// Octets of a pcap file's header.
const HEADER: usize = 24;
/// Octets before those of a packet in such a file that tell when it was and how long it is.
const RECORD_HEAD: usize = 16;
/// The same in files of the modified format, where the packet's interface, protocol and direction follow.
const MODIFIED_HEAD: usize = 24;
/// What files of that format begin with if numbers have their high octet first, as `pcap_parser` does not know.
const MODIFIED_BIG: [u8; 4] = [0xa1, 0xb2, 0xcd, 0x34];

/// One captured frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970. Those of pcapng's Simple Packets, which tell none, are those of the packet before, and 0 before any
    /// that tells it.
    pub time: u64,
    /// Whether this frame has told the time, or one before it.
    pub timed: bool,
    /// What the frame begins with: a number of the `LINKTYPE` registry.
    pub link: u32,
    /// Its length on the wire.
    pub length: u32,
    /// As much of it as was captured.
    pub data: &'a [u8],
}

/// Where and why a capture cannot be read any further.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at octet {offset} of the capture, after {frames} frame{}: {cause}", if *.frames == 1 { "" } else { "s" })]
pub struct Fault {
    /// Octets of the capture, decompressed, before the record that is at fault.
    pub offset: u64,
    /// Frames before it.
    pub frames: u64,
    /// What is wrong.
    pub cause: String,
    /// A command that may decompress more of it to its standard output, where that is what was in the way.
    pub command: Option<&'static str>,
}

/// The two file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The classic one.
    Pcap,
    /// Its successor, of blocks.
    PcapNg,
}

impl Format {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcap => "pcap",
            Self::PcapNg => "pcapng",
        }
    }
}

/// A capture to be read.
pub struct Capture {
    octets: Octets,
    kind: Kind,
    frames: u64,
}

enum Kind {
    Pcap(PcapHeader),
    PcapNg(Section),
}

/// What begins the octets at hand.
pub(crate) enum Next<'a> {
    /// A record of this many octets, with the frame in it if it is of that kind.
    Record(usize, Option<Frame<'a>>),
    /// Part of a record of this many octets.
    Part(usize),
    /// Part of what a record begins with, of this many octets; how long the record is, is not known.
    Head(usize),
    /// What looks like a record; whether it is one shows within this many octets, if there are so many.
    Likely(usize),
    /// Nothing that makes sense.
    Damage(String),
}

impl Capture {
    /// Begins to read.
    ///
    /// # Errors
    /// When the octets are no capture, or too few of them can be read to tell.
    pub fn open(source: Source) -> Result<Self, Fault> {
        let mut octets = Octets { source, buffer: vec![0; BUFFER], start: 0, end: 0, before: 0 };
        octets.more(BUFFER);
        let kind = Kind::of(&mut octets).map_err(|cause| {
            let refusal = octets.source.refusal(octets.data());
            let Refusal { cause, command } = refusal.unwrap_or(Refusal { cause, command: None });
            Fault { offset: 0, frames: 0, cause, command }
        })?;
        Ok(Self { octets, kind, frames: 0 })
    }

    /// Which format it has.
    pub fn format(&self) -> Format {
        match self.kind {
            Kind::Pcap(_) => Format::Pcap,
            Kind::PcapNg(_) => Format::PcapNg,
        }
    }

    /// Shows all frames to `visit`.
    ///
    /// # Errors
    /// What is wrong with the capture; all frames before the fault have been shown.
    pub fn read(mut self, mut visit: impl FnMut(Frame<'_>)) -> Result<(), Fault> {
        // Whether no octets follow those at hand.
        let mut last = false;
        loop {
            let (wanted, exactly) = match self.kind.next(self.octets.data(), last) {
                Next::Record(length, frame) => {
                    if let Some(frame) = frame {
                        self.frames += 1;
                        visit(frame);
                    }
                    self.octets.start += length;
                    continue;
                }
                Next::Part(length) => (length, ""),
                Next::Head(length) => (length, "at least "),
                Next::Likely(length) => {
                    last = !self.octets.more(length);
                    continue;
                }
                Next::Damage(cause) => return Err(self.fault(cause)),
            };
            if !self.octets.more(wanted) {
                return self.end(&format!("{exactly}{wanted}"));
            }
        }
    }

    fn end(&self, wanted: &str) -> Result<(), Fault> {
        let left = self.octets.data().len();
        match self.octets.source.progress().fault() {
            Some(cause) => Err(Fault { command: self.octets.source.command(), ..self.fault(cause) }),
            None if left > 0 => {
                let text = "it is truncated: the last record should have";
                Err(self.fault(format!("{text} {wanted} octets with its header, and has {left}")))
            }
            None => Ok(()),
        }
    }

    fn fault(&self, cause: String) -> Fault {
        let offset = self.octets.before + self.octets.start as u64;
        Fault { offset, frames: self.frames, cause, command: None }
    }
}

impl Kind {
    /// Takes the header of a pcap file; a section's header is a block like others.
    fn of(octets: &mut Octets) -> Result<Self, String> {
        let data = octets.data();
        if data.starts_with(&Section::MAGIC) {
            return Ok(Self::PcapNg(Section::default()));
        }
        match file_header(data) {
            Ok(header) => {
                octets.start += header.size();
                Ok(Self::Pcap(header))
            }
            Err(_) if data.is_empty() => Err("it is empty".to_owned()),
            Err(TooFew(true)) if may_begin(data) => Err("it ends within the file's header".to_owned()),
            Err(_) => {
                Err("it is neither pcap nor pcapng, nor one of them compressed by gzip, zstd or xz"
                    .to_owned())
            }
        }
    }

    /// `last` if no octets follow.
    fn next<'a>(&mut self, data: &'a [u8], last: bool) -> Next<'a> {
        if let Some(next) = self.file_after_file(data) {
            return next;
        }
        match self {
            Self::Pcap(header) => pcap_record(header, data, last),
            Self::PcapNg(section) => section.block(data),
        }
    }

    /// Files follow one another when they are decompressed by one command. What looks like a file's header would, as a
    /// record, be an empty packet of 1998, or of the year 2055 or later, or one of 400 MB.
    fn file_after_file<'a>(&mut self, data: &'a [u8]) -> Option<Next<'a>> {
        if matches!(self, Self::Pcap(_)) && Section::begins(data) {
            *self = Self::PcapNg(Section::default());
            return None;
        }
        match file_header(data) {
            Ok(header) if is_plausible(&header) => {
                let length = header.size();
                *self = Self::Pcap(header);
                Some(Next::Record(length, None))
            }
            Err(TooFew(true)) if data.len() >= 4 => Some(Next::Head(HEADER)),
            _ => None,
        }
    }
}

/// Why there is no header: whether it is but cut off.
struct TooFew(bool);

/// The header of a pcap file, if it is one.
fn file_header(data: &[u8]) -> Result<PcapHeader, TooFew> {
    let parsed = |data: &[u8]| match pcap_parser::parse_pcap_header(data) {
        Ok((_, header)) => Ok(header),
        Err(e) => Err(TooFew(e.is_incomplete())),
    };
    if !data.starts_with(&MODIFIED_BIG) {
        return parsed(data);
    }
    let mut head = *data.first_chunk::<HEADER>().ok_or(TooFew(true))?;
    // Behind the magic number it is as any other's.
    head[..4].copy_from_slice(&0xa1b2_c3d4_u32.to_be_bytes());
    parsed(&head).map(|header| PcapHeader { magic_number: u32::from_le_bytes(MODIFIED_BIG), ..header })
}

fn is_modified(header: &PcapHeader) -> bool {
    header.is_modified_format() || header.magic_number == u32::from_le_bytes(MODIFIED_BIG)
}

/// Whether octets, be they fewer than a magic number has, are what a file may begin with.
fn may_begin(data: &[u8]) -> bool {
    let pcap = [0xa1b2_c3d4_u32, 0xa1b2_3c4d, 0xa1b2_cd34];
    let magic = pcap.into_iter().flat_map(|magic| [magic.to_le_bytes(), magic.to_be_bytes()]);
    let mut all = magic.chain([Section::MAGIC]);
    all.any(|magic| magic.iter().zip(data).all(|(one, other)| one == other))
}

/// Whether a header is that of a file, and not octets that look like one: of the only version there is, and with nothing
/// where link types have nothing. The modified format's magic number is a second of 1998; what has octets then is a packet.
fn is_plausible(header: &PcapHeader) -> bool {
    header.version_major == 2
        && header.network.0 & 0x03ff_0000 == 0
        && (header.thiszone == 0 || !is_modified(header))
}

fn pcap_record<'a>(header: &PcapHeader, data: &'a [u8], last: bool) -> Next<'a> {
    let big = header.is_bigendian();
    let head = if is_modified(header) { MODIFIED_HEAD } else { RECORD_HEAD };
    let Some(captured) = data.get(8..12).filter(|_| data.len() >= head) else {
        return Next::Head(head);
    };
    let captured = word(captured, big) as usize;
    if captured > largest(header) {
        return Next::Damage(format!("a record claims to have {captured} octets"));
    }
    let length = head + captured;
    // Or else what is damage would depend on where the buffer happens to end.
    let enough = (length + RECORD_HEAD).max(NEVER_WRITTEN.len());
    if data.len() < enough && !last {
        return Next::Likely(enough);
    }
    if data.starts_with(&NEVER_WRITTEN) {
        return Next::Damage("there are zeros in place of records".to_owned());
    }
    if data.len() < length {
        return Next::Part(length);
    }
    let sent = word(&data[12..], big) as usize;
    // Some programs write too small a length of what was sent.
    if captured > sent && follows(header, data, head + sent) && !follows(header, data, length) {
        return Next::Damage(format!(
            "a record claims to have {captured} octets of {sent}, and the next begins behind those"
        ));
    }
    Next::Record(length, Some(frame(header, data, head..length)))
}

/// Octets that a record of such a file has at most: as many as were to be captured of a packet or, since that is not always what
/// was, as libpcap allows.
fn largest(header: &PcapHeader) -> usize {
    const MAXIMUM_SNAPLEN: usize = 262_144;
    (header.snaplen as usize).clamp(MAXIMUM_SNAPLEN, LARGEST)
}

/// Parts of a second that the clock of such a file counts.
fn resolution(header: &PcapHeader) -> u32 {
    if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 }
}

/// Whether the next record begins so many octets from the beginning of one: of about the same time, and with a clock and lengths
/// that make sense. Not if there are too few octets to tell.
fn follows(header: &PcapHeader, record: &[u8], after: usize) -> bool {
    const DAYS: u32 = 30 * 24 * 3600;
    let number = |octets: &[u8], at: usize| word(&octets[at..], header.is_bigendian());
    let Some(next) = record.get(after..).and_then(|next| next.first_chunk::<RECORD_HEAD>()) else {
        return false;
    };
    let (captured, sent) = (number(next, 8), number(next, 12));
    number(next, 0).abs_diff(number(record, 0)) < DAYS
        && number(next, 4) < resolution(header)
        && captured <= sent
        && captured as usize <= largest(header)
}

/// What a record has, whose packet lies at `octets`.
fn frame<'a>(header: &PcapHeader, record: &'a [u8], octets: Range<usize>) -> Frame<'a> {
    let number = |at: usize| word(&record[at..], header.is_bigendian());
    let fraction = number(4).min(resolution(header) - 1);
    let fraction = u64::from(fraction) * u64::from(1_000_000_000 / resolution(header));
    Frame {
        time: u64::from(number(0)) * 1_000_000_000 + fraction,
        timed: true,
        // The upper half tells of checksums behind the frame.
        link: header.network.0 as u32 & 0xffff,
        length: number(12),
        data: &record[octets],
    }
}

/// Four octets as a number.
pub(crate) fn word(octets: &[u8], big: bool) -> u32 {
    let octets = octets.first_chunk().copied().unwrap_or_default();
    if big { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
}

/// A window on the source.
struct Octets {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Octets that have left the buffer.
    before: u64,
}

impl Octets {
    fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Reads on, with room for `wanted` octets; whether there were any more.
    fn more(&mut self, wanted: usize) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.before += self.start as u64;
        (self.start, self.end) = (0, self.end - self.start);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        let count = self.source.read(&mut self.buffer[self.end..]).unwrap_or(0);
        self.end += count;
        count > 0
    }
}
