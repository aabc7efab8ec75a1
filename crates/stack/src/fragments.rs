//! Datagrams in pieces, put together in bounded memory.

use std::{collections::HashMap, hash::Hash, ops::Range};

use smoltcp::time::{Duration, Instant};

use crate::Discard;

/// Datagrams put together at a time; a new one takes the place of the oldest.
const DATAGRAMS: usize = 64;
/// Bytes of all of them.
const BYTES: usize = 1 << 20;
/// Gaps within one datagram.
const GAPS: usize = 64;
/// How long after its first piece a datagram is given up (RFC 1122 says 60 to 120 s; shorter costs a liar less).
const LIFETIME: Duration = Duration::from_secs(30);

/// Datagrams that are being put together, by what their pieces have in common.
#[derive(Debug)]
pub struct Fragments<K> {
    datagrams: HashMap<K, Datagram>,
    bytes: usize,
    /// The most bytes of a datagram behind its header.
    most: usize,
}

#[derive(Debug)]
struct Datagram {
    data: Vec<u8>,
    /// What is there, in order and apart from one another.
    pieces: Vec<Range<usize>>,
    /// How long it is, once its last piece has come.
    len: Option<usize>,
    begun: Instant,
}

impl<K: Eq + Hash + Copy> Fragments<K> {
    /// For datagrams of at most `most` bytes behind their headers.
    pub fn new(most: usize) -> Self {
        Self { datagrams: HashMap::new(), bytes: 0, most }
    }

    /// Adds a piece that begins at `at`; `last` says that nothing comes behind it. Returns the datagram if it is complete.
    ///
    /// A piece that was there before is let be. One that overlaps others, says something else in their place, or lies beyond the
    /// end, spoils the datagram, since nobody honest sends such (RFC 5722).
    ///
    /// # Errors
    /// [`Discard::Fragment`]; the datagram is forgotten.
    pub fn add(
        &mut self,
        key: K,
        at: usize,
        data: &[u8],
        last: bool,
        now: Instant,
    ) -> Result<Option<Vec<u8>>, Discard> {
        let piece = at..at + data.len();
        let sane = piece.end <= self.most && !data.is_empty() && (last || data.len().is_multiple_of(8));
        if !sane {
            self.remove(&key);
            return Err(Discard::Fragment);
        }
        self.make_room(&key, piece.end);
        let datagram = self.datagrams.entry(key).or_insert_with(|| Datagram::new(now));
        let before = datagram.data.len();
        let added = datagram.add(piece, data, last);
        self.bytes += datagram.data.len() - before;
        match added {
            Ok(true) => Ok(self.remove(&key)),
            Ok(false) => Ok(None),
            Err(why) => {
                self.remove(&key);
                Err(why)
            }
        }
    }

    /// Takes out what was begun too long ago, oldest first: of each, the first bytes, if its first piece came.
    pub fn expire(&mut self, now: Instant) -> Vec<(K, Vec<u8>)> {
        // Nearly always, and this is asked after every message.
        if self.datagrams.is_empty() {
            return Vec::new();
        }
        let is_old = |_: &K, datagram: &mut Datagram| datagram.begun + LIFETIME <= now;
        let mut old: Vec<_> = self.datagrams.extract_if(is_old).collect();
        old.sort_by_key(|(_, datagram)| datagram.begun);
        self.bytes -= old.iter().map(|(_, datagram)| datagram.data.len()).sum::<usize>();
        old.into_iter().map(|(key, datagram)| (key, datagram.into_beginning())).collect()
    }

    /// When [`expire`](Self::expire) has something to do.
    pub fn next_expiry(&self) -> Option<Instant> {
        self.datagrams.values().map(|datagram| datagram.begun + LIFETIME).min()
    }

    fn make_room(&mut self, key: &K, end: usize) {
        let grows = end.saturating_sub(self.datagrams.get(key).map_or(0, |datagram| datagram.data.len()));
        let is_new = !self.datagrams.contains_key(key);
        while (is_new && self.datagrams.len() >= DATAGRAMS) || self.bytes + grows > BYTES {
            let others = self.datagrams.iter().filter(|(other, _)| *other != key);
            let Some(oldest) = others.min_by_key(|(_, datagram)| datagram.begun).map(|(key, _)| *key) else {
                return;
            };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &K) -> Option<Vec<u8>> {
        let datagram = self.datagrams.remove(key)?;
        self.bytes -= datagram.data.len();
        Some(datagram.data)
    }
}

impl Datagram {
    fn new(begun: Instant) -> Self {
        Self { data: Vec::new(), pieces: Vec::new(), len: None, begun }
    }

    /// Whether that completes it.
    fn add(&mut self, piece: Range<usize>, data: &[u8], last: bool) -> Result<bool, Discard> {
        let beyond = self.len.is_some_and(|len| piece.end > len || (last && piece.end != len));
        let shortened = last && self.data.len() > piece.end;
        if beyond || shortened {
            return Err(Discard::Fragment);
        }
        let place = self.pieces.partition_point(|there| there.end <= piece.start);
        match self.pieces.get(place) {
            Some(there) if there.start <= piece.start && piece.end <= there.end => {
                return if self.data[piece] == *data {
                    Ok(self.is_complete())
                } else {
                    Err(Discard::Fragment)
                };
            }
            Some(there) if there.start < piece.end => return Err(Discard::Fragment),
            _ if self.pieces.len() > GAPS => return Err(Discard::Fragment),
            _ => {}
        }
        if self.data.len() < piece.end {
            self.data.resize(piece.end, 0);
        }
        self.data[piece.clone()].copy_from_slice(data);
        if last {
            self.len = Some(piece.end);
        }
        self.join(place, piece);
        Ok(self.is_complete())
    }

    fn join(&mut self, place: usize, piece: Range<usize>) {
        let touches = |range: Option<&Range<usize>>, at: usize| range.is_some_and(|range| range.start == at);
        let before = place.checked_sub(1).filter(|before| self.pieces[*before].end == piece.start);
        match (before, touches(self.pieces.get(place), piece.end)) {
            (Some(before), true) => self.pieces[before].end = self.pieces.remove(place).end,
            (Some(before), false) => self.pieces[before].end = piece.end,
            (None, true) => self.pieces[place].start = piece.start,
            (None, false) => self.pieces.insert(place, piece),
        }
    }

    /// What is there without a gap.
    fn into_beginning(mut self) -> Vec<u8> {
        let len = self.pieces.first().filter(|piece| piece.start == 0).map_or(0, |piece| piece.end);
        self.data.truncate(len);
        self.data
    }

    fn is_complete(&self) -> bool {
        matches!((&self.pieces[..], self.len), ([all], Some(len)) if *all == (0..len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(
        fragments: &mut Fragments<u32>,
        key: u32,
        piece: Range<usize>,
        last: bool,
    ) -> Result<Option<Vec<u8>>, Discard> {
        let data: Vec<u8> = piece.clone().map(|at| at as u8).collect();
        fragments.add(key, piece.start, &data, last, Instant::ZERO)
    }

    #[test]
    fn in_any_order() {
        let mut fragments = Fragments::new(65_515);
        let all = [(0..16, false), (16..24, false), (24..40, false), (40..43, true)];
        let expected: Vec<u8> = (0..43).collect();
        for first in 0..4 {
            for second in (0..4).filter(|second| *second != first) {
                let rest = (0..4).filter(|other| *other != first && *other != second);
                let order: Vec<usize> = [first, second].into_iter().chain(rest).collect();
                let mut complete = None;
                for place in order {
                    assert_eq!(complete, None);
                    let (piece, last) = all[place].clone();
                    complete = add(&mut fragments, 1, piece, last).unwrap();
                }
                assert_eq!(complete.as_ref(), Some(&expected));
            }
        }
        assert_eq!((fragments.bytes, fragments.datagrams.len()), (0, 0));
    }

    #[test]
    fn duplicates_are_harmless_overlaps_are_not() {
        let mut fragments = Fragments::new(65_515);
        for _ in 0..2 {
            assert_eq!(add(&mut fragments, 1, 8..24, false), Ok(None));
        }
        assert_eq!(add(&mut fragments, 1, 0..16, false), Err(Discard::Fragment));
        assert!(fragments.datagrams.is_empty());
        for bad in [(16..16, false), (0..7, false), (65_528..65_536, true)] {
            assert_eq!(add(&mut fragments, 1, bad.0, bad.1), Err(Discard::Fragment));
        }
        // Beyond the end that was announced, and an end before what is there.
        assert_eq!(add(&mut fragments, 1, 8..16, true), Ok(None));
        assert_eq!(add(&mut fragments, 1, 16..24, false), Err(Discard::Fragment));
        assert_eq!(add(&mut fragments, 1, 16..24, false), Ok(None));
        assert_eq!(add(&mut fragments, 1, 8..16, true), Err(Discard::Fragment));
    }

    #[test]
    fn another_text_in_the_place_of_one_that_came_spoils_both() {
        let mut fragments = Fragments::new(65_515);
        let mut add = |at: usize, text: &[u8], last| fragments.add(1, at, text, last, Instant::ZERO);
        for (at, text) in [(0, b"cursed.."), (8, b"..cursed")] {
            assert_eq!(add(0, b"honest..", false), Ok(None));
            assert_eq!(add(8, b"..honest", false), Ok(None));
            assert_eq!(add(at, text, false), Err(Discard::Fragment));
            assert_eq!(add(16, b".", true), Ok(None));
            assert_eq!(add(16, b"!", true), Err(Discard::Fragment));
        }
        assert_eq!((fragments.bytes, fragments.datagrams.len()), (0, 0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut fragments = Fragments::new(65_515);
        for key in 0..1000 {
            assert_eq!(add(&mut fragments, key, 65_000..65_008, false), Ok(None));
            assert!(fragments.bytes <= BYTES && fragments.datagrams.len() <= DATAGRAMS);
        }
        assert_eq!(add(&mut fragments, 3000, 0..8, false), Ok(None));
        assert_eq!(add(&mut fragments, 3000, 16..24, false), Ok(None));
        let old = fragments.expire(Instant::ZERO + LIFETIME);
        let begun: Vec<_> = old.into_iter().filter(|(_, data)| !data.is_empty()).collect();
        assert_eq!(begun, [(3000, (0..8).collect())]);
        assert_eq!((fragments.bytes, fragments.datagrams.len()), (0, 0));
        // Every other piece of one datagram.
        let gaps = (0..1000).map(|n| add(&mut fragments, 1, 16 * n..16 * n + 8, false)).find(Result::is_err);
        assert_eq!(gaps, Some(Err(Discard::Fragment)));
    }
}
