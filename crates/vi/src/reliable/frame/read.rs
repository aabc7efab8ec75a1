//! Reading frames. Everything is checked once, here; what is handed out needs no more checks.

use std::ops::Range;

use super::{
    ACKNOWLEDGEMENT, AckHeader, Acknowledgement, Datagram, ECN, Frame, FrameError, HEADER, Header, IMMEDIATE,
    Level, MAGIC, MAX_MESSAGE, MAX_NAME, MAX_NUMBER, MAX_RANGES, Opening, RESET, Reason, Reset, Retry, Route,
    SEGMENT, Segment, flag, sum, tag,
};

/// Octets that all datagrams begin with.
const START: usize = 16;
/// The flags of frames that are no resets.
const KNOWN: u16 = flag::FROM_OPENER
    | flag::ELICITS
    | flag::ACKNOWLEDGEMENT
    | flag::OPENING
    | flag::UNRELIABLE
    | flag::AT_ONCE
    | flag::COOKIE
    | flag::REFUSED;

impl<'a> Datagram<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// [`FrameError`]. Whatever the error, the datagram is to be treated as if it had been lost.
    pub fn parse(octets: &'a [u8]) -> Result<Self, FrameError> {
        let Some((start, rest)) = octets.split_first_chunk::<START>() else {
            let foreign = octets.first_chunk().is_none_or(|magic| *magic != MAGIC);
            return Err(if foreign { FrameError::Foreign } else { FrameError::Truncated });
        };
        if start[..2] != MAGIC {
            return Err(FrameError::Foreign);
        }
        let (flags, expected) = (u16_at(start, 2), u32_at(start, 4));
        if sum(octets) != expected {
            return Err(FrameError::Damaged);
        }
        let route = Route { connection: u64_at(start, 8), from_opener: flags & flag::FROM_OPENER != 0 };
        if flags & flag::RESET != 0 {
            return reset(rest, flags, route).map(Self::Reset);
        }
        if flags & flag::RETRY != 0 {
            return retry(rest, flags, route).map(Self::Retry);
        }
        frame(rest, flags, route).map(Self::Frame)
    }

    /// Whose datagram it is.
    pub fn route(&self) -> Route {
        match self {
            Self::Frame(frame) => frame.header.route,
            Self::Reset(reset) => reset.route,
            Self::Retry(retry) => retry.route,
        }
    }
}

fn reset(rest: &[u8], flags: u16, route: Route) -> Result<Reset, FrameError> {
    let rest = last_line(rest)?;
    let reason = Reason::from_code(u32_at(rest, 0)).ok_or(FrameError::Malformed)?;
    let alone = flags & !(flag::FROM_OPENER | flag::RESET) == 0;
    alone.then_some(Reset { route, reason, messages: u32_at(rest, 4) }).ok_or(FrameError::Malformed)
}

fn retry(rest: &[u8], flags: u16, route: Route) -> Result<Retry, FrameError> {
    let rest = last_line(rest)?;
    let alone = flags == flag::RETRY;
    alone.then_some(Retry { route, cookie: u64_at(rest, 0) }).ok_or(FrameError::Malformed)
}

/// All there is in datagrams of this length.
fn last_line(rest: &[u8]) -> Result<&[u8; RESET - START], FrameError> {
    let line = rest.first_chunk().ok_or(FrameError::Truncated)?;
    (rest.len() == line.len()).then_some(line).ok_or(FrameError::Malformed)
}

#[inline]
fn frame(rest: &[u8], flags: u16, route: Route) -> Result<Frame<'_>, FrameError> {
    let (unreliable, at_once) = (flags & flag::UNRELIABLE != 0, flags & flag::AT_ONCE != 0);
    let refused = flags & flag::REFUSED != 0;
    let (fixed, rest) = rest.split_first_chunk::<{ HEADER - START }>().ok_or(FrameError::Truncated)?;
    let mut reader = Reader(rest);
    let header = Header {
        route,
        elicits: flags & flag::ELICITS != 0,
        number: u64_at(fixed, 0),
        credit: u32_at(fixed, 8),
        completed: u32_at(fixed, 12),
        floor: u16_at(fixed, 16),
        promise: u16_at(fixed, 18),
    };
    if header.number >= MAX_NUMBER || flags & !KNOWN != 0 {
        return Err(FrameError::Malformed);
    }
    let acked = flags & flag::ACKNOWLEDGEMENT != 0;
    let acknowledgement = acked.then(|| acknowledgement(&mut reader)).transpose()?;
    let opening = (flags & flag::OPENING != 0).then(|| opening(&mut reader)).transpose()?;
    let cookie = match flags & flag::COOKIE {
        0 => None,
        _ => Some(u64_at(reader.array::<8>()?, 0)),
    };
    let mut check = Reader(reader.0);
    while segment(&mut check)?.is_some() {}
    // A segment that nobody acknowledges is lost without anyone noticing.
    let segments = reader.0;
    let frame = Frame { header, acknowledgement, opening, cookie, unreliable, at_once, refused, segments };
    let lost = !header.elicits && !unreliable && frame.segments().next().is_some();
    let strange = frame.opening.is_some() && !route.from_opener
        || unreliable && header.elicits
        || at_once && !header.elicits
        || cookie.is_some() && frame.opening.is_none();
    if lost || strange { Err(FrameError::Malformed) } else { Ok(frame) }
}

fn acknowledgement<'a>(reader: &mut Reader<'a>) -> Result<Acknowledgement<'a>, FrameError> {
    let fixed: &[u8; ACKNOWLEDGEMENT] = reader.array()?;
    let (largest, delay, marks) = (u64_at(fixed, 0), u32_at(fixed, 8), u32_at(fixed, 12));
    let (first, count) = (u16_at(fixed, 16), usize::from(u16_at(fixed, 18)));
    if largest >= MAX_NUMBER || first == 0 || count > MAX_RANGES {
        return Err(FrameError::Malformed);
    }
    let ranges: &[[u8; 4]] = reader.take(4 * count)?.as_chunks().0;
    let header = AckHeader { largest, delay, marked: marks & !ECN, ecn: marks & ECN != 0, first };
    let acknowledgement = Acknowledgement { header, ranges };
    // Every range ends where the next one begins to be missing; the last must not begin before 0.
    let span: u64 = acknowledgement.pairs().map(|(missing, received)| missing + received).sum();
    let all_full = acknowledgement.pairs().all(|(missing, received)| missing > 0 && received > 0);
    let possible = all_full && span + u64::from(first) <= largest + 1;
    possible.then_some(acknowledgement).ok_or(FrameError::Malformed)
}

fn opening<'a>(reader: &mut Reader<'a>) -> Result<Opening<'a>, FrameError> {
    let &[level, length, zero, zero_too] = reader.array()?;
    let level = Level::from_code(level).ok_or(FrameError::Malformed)?;
    if length as usize > MAX_NAME || zero | zero_too != 0 {
        return Err(FrameError::Malformed);
    }
    Ok(Opening { level, name: reader.take(length.into())? })
}

/// The next segment, if the frame doesn't end here.
#[inline]
fn segment<'a>(reader: &mut Reader<'a>) -> Result<Option<Segment<'a>>, FrameError> {
    let with_immediate = match reader.0.first() {
        None | Some(&tag::PADDING) => return Ok(None),
        Some(&tag::SEGMENT) => false,
        Some(&tag::WITH_IMMEDIATE) => true,
        Some(_) => return Err(FrameError::Malformed),
    };
    let fixed: &[u8; SEGMENT] = reader.array()?;
    let length = u16_at(fixed, 2);
    let (message, offset, total) = (u32_at(fixed, 4), u32_at(fixed, 8), u32_at(fixed, 12));
    let immediate = match with_immediate {
        true => Some(u32_at(reader.array::<IMMEDIATE>()?, 0)),
        false => None,
    };
    let octets = reader.take(length.into())?;
    let end = u64::from(offset) + u64::from(length);
    // Of an empty message there is one segment; all others bring something.
    let progress = length > 0 || total == 0;
    if fixed[1] != 0 || total as usize > MAX_MESSAGE || end > total.into() || !progress {
        return Err(FrameError::Malformed);
    }
    Ok(Some(Segment { message, offset, total, immediate, octets }))
}

impl<'a> Frame<'a> {
    /// The segments in the frame.
    pub fn segments(&self) -> Segments<'a> {
        Segments(Reader(self.segments))
    }
}

/// The segments of a checked frame.
#[derive(Clone, Debug)]
pub struct Segments<'a>(Reader<'a>);

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    #[inline]
    fn next(&mut self) -> Option<Segment<'a>> {
        segment(&mut self.0).ok().flatten()
    }
}

impl<'a> Acknowledgement<'a> {
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + 'a {
        let number = |low, high| u64::from(u16::from_le_bytes([low, high]));
        self.ranges.iter().map(move |&[a, b, c, d]| (number(a, b), number(c, d)))
    }

    /// Whether nothing is missing between the numbers that it tells of.
    pub fn is_whole(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The numbers received, the largest first.
    pub fn ranges(&self) -> Ranges<'a> {
        let end = self.header.largest + 1;
        Ranges { first: Some(end - u64::from(self.header.first)..end), before: end, ranges: *self, at: 0 }
    }
}

/// The ranges of a checked acknowledgement, the latest first.
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    first: Option<Range<u64>>,
    before: u64,
    ranges: Acknowledgement<'a>,
    at: usize,
}

impl Iterator for Ranges<'_> {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        let range = match self.first.take() {
            Some(first) => first,
            None => {
                let (missing, received) = self.ranges.pairs().nth(self.at)?;
                self.at += 1;
                let end = self.before - missing;
                end - received..end
            }
        };
        self.before = range.start;
        Some(range)
    }
}

impl Level {
    fn from_code(code: u8) -> Option<Self> {
        [Self::Unreliable, Self::Delivery, Self::Reception, Self::Remote]
            .into_iter()
            .find(|level| level.code() == code)
    }

    pub(super) fn code(self) -> u8 {
        match self {
            Self::Unreliable => 0,
            Self::Delivery => 1,
            Self::Reception => 2,
            Self::Remote => 3,
        }
    }
}

impl Reason {
    const ALL: [Self; 8] = [
        Self::Closed,
        Self::Unknown,
        Self::Refused,
        Self::TooLong,
        Self::Violation,
        Self::TimedOut,
        Self::NobodyListens,
        Self::OtherLevel,
    ];

    fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

/// What is left to be read.
#[derive(Clone, Copy, Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    fn take(&mut self, octets: usize) -> Result<&'a [u8], FrameError> {
        let (taken, rest) = self.0.split_at_checked(octets).ok_or(FrameError::Truncated)?;
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], FrameError> {
        let (array, rest) = self.0.split_first_chunk().ok_or(FrameError::Truncated)?;
        self.0 = rest;
        Ok(array)
    }
}

/// The number at this place, which is known to be there.
#[inline(always)]
fn u16_at<const N: usize>(octets: &[u8; N], at: usize) -> u16 {
    u16::from_le_bytes([octets[at], octets[at + 1]])
}

#[inline(always)]
fn u32_at<const N: usize>(octets: &[u8; N], at: usize) -> u32 {
    u32::from(u16_at(octets, at)) | u32::from(u16_at(octets, at + 2)) << 16
}

#[inline(always)]
fn u64_at<const N: usize>(octets: &[u8; N], at: usize) -> u64 {
    u64::from(u32_at(octets, at)) | u64::from(u32_at(octets, at + 4)) << 32
}
