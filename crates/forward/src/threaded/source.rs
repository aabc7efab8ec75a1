//! A source asks its first router for the index of a destination, and remembers it.
//!
//! Until the answer is there, and for destinations outside the area, packets carry a source hash instead: nothing waits.

use std::{collections::BTreeMap, net::IpAddr};

use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::{IpAddress, IpCidr},
};

use super::{
    NO_INDEX,
    message::{self, Header, INDEX_PORT, Kind, Told},
};
use crate::routing::{Reason, authentication::Authentication};

/// What a [`Source`] is made with.
#[derive(Clone, Debug)]
pub struct SourceConfig {
    /// The first router.
    pub router: IpAddress,
    /// How it and we know each other.
    pub authentication: Authentication,
    /// Destinations that are remembered at a time.
    pub destinations: usize,
    /// How long an answer holds.
    pub lifetime: Duration,
    /// From one question to its repetition. There are three.
    pub again: Duration,
    /// Random: who can't know it, nor hear the questions, can give no answers.
    pub seed: u64,
}

impl SourceConfig {
    /// For 1,024 destinations, a minute each, asked for once a second.
    pub fn new(router: IpAddress, seed: u64) -> Self {
        Self {
            router,
            authentication: Authentication::None,
            destinations: 1_024,
            lifetime: Duration::from_secs(60),
            again: Duration::from_secs(1),
            seed,
        }
    }
}

/// The indices that a source has been told.
#[derive(Debug)]
pub struct Source {
    config: SourceConfig,
    known: BTreeMap<IpAddress, Known>,
    number: u64,
    /// Until then all that is remembered still holds, if there was no room for more.
    full_until: Instant,
}

#[derive(Debug)]
enum Known {
    Asked { number: u64, left: u8, again: Instant },
    Told { index: u32, until: Instant },
}

impl Source {
    /// One that knows nothing.
    pub fn new(config: SourceConfig) -> Self {
        Self { known: BTreeMap::new(), number: config.seed, full_until: Instant::ZERO, config }
    }

    /// The index for packets to a destination, or `None` if they are to carry a source hash. [`poll`](Self::poll) asks for what is
    /// not known, if there is room for it.
    pub fn index(&mut self, destination: IpAddress, now: Instant) -> Option<u32> {
        match self.known.get(&destination) {
            Some(Known::Told { index, until }) if now < *until => {
                return (*index != NO_INDEX).then_some(*index);
            }
            Some(Known::Asked { .. }) => return None,
            _ => {}
        }
        if self.known.len() >= self.config.destinations && now >= self.full_until {
            self.forget(now);
        }
        if self.known.len() < self.config.destinations || self.known.contains_key(&destination) {
            // Splitmix (Steele et al. 2014): a number for each question.
            self.number = self.number.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.number ^ self.number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let number = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            self.known.insert(destination, Known::Asked { number, left: 3, again: now });
        }
        None
    }

    /// Forgets answers that no longer hold.
    #[cold]
    fn forget(&mut self, now: Instant) {
        // What is told from now on holds for as long at least.
        let mut first = now + self.config.lifetime;
        self.known.retain(|_, known| match known {
            Known::Told { until, .. } if *until <= now => false,
            Known::Told { until, .. } => {
                first = first.min(*until);
                true
            }
            Known::Asked { .. } => true,
        });
        self.full_until = first;
    }

    /// The questions to be sent to the router by now, from and to [`INDEX_PORT`]. Who gets no answer is not asked again for a while.
    pub fn poll(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut questions = Vec::new();
        for (destination, known) in &mut self.known {
            let Known::Asked { number, left, again } = known else { continue };
            if *again > now {
                continue;
            }
            let Some(fewer) = left.checked_sub(1) else {
                *known = Known::Told { index: NO_INDEX, until: now + self.config.lifetime };
                continue;
            };
            (*left, *again) = (fewer, now + self.config.again);
            let header = Header { kind: Kind::Query, sender: 0, sequence: *number, count: 1 };
            let asked = [Told { prefix: whole(*destination), index: NO_INDEX }];
            questions.push(message::write(
                header,
                &message::write_indices(&asked),
                &self.config.authentication,
            ));
        }
        questions
    }

    /// When there may be something to send.
    pub fn poll_at(&self) -> Option<Instant> {
        let again = |known: &Known| match known {
            Known::Asked { again, .. } => Some(*again),
            Known::Told { .. } => None,
        };
        self.known.values().filter_map(again).min()
    }

    /// Takes in an answer.
    ///
    /// # Errors
    /// [`Reason`], if it is none to a question of ours.
    pub fn receive(
        &mut self,
        from: IpAddress,
        from_port: u16,
        bytes: &[u8],
        now: Instant,
    ) -> Result<(), Reason> {
        if from != self.config.router || from_port != INDEX_PORT {
            return Err(Reason::NotANeighbor);
        }
        let (header, body) = message::read(bytes, &self.config.authentication)?;
        let [told] = message::read_indices(&header, body)?[..] else { return Err(Reason::Length) };
        if header.kind != Kind::Answer {
            return Err(Reason::Command);
        }
        match self.known.get_mut(&told.prefix.address()) {
            Some(known @ Known::Asked { .. }) => {
                if !matches!(known, Known::Asked { number, .. } if *number == header.sequence) {
                    return Err(Reason::Replay);
                }
                *known = Known::Told { index: told.index, until: now + self.config.lifetime };
                Ok(())
            }
            _ => Err(Reason::Replay),
        }
    }
}

/// A router's answer to a question, which is no longer than the question. `find` is asked for the index of the longest prefix that
/// a destination lies in: [`NO_INDEX`] if it is outside the area.
///
/// # Errors
/// [`Reason`], if it is no question.
pub fn answer(
    bytes: &[u8],
    router: u32,
    authentication: &Authentication,
    find: impl FnOnce(IpAddr) -> u32,
) -> Result<Vec<u8>, Reason> {
    let (header, body) = message::read(bytes, authentication)?;
    let [told] = message::read_indices(&header, body)?[..] else { return Err(Reason::Length) };
    if header.kind != Kind::Query {
        return Err(Reason::Command);
    }
    let destination = told.prefix.address();
    if told.prefix != whole(destination) {
        return Err(Reason::Prefix);
    }
    let told = Told { index: find(destination.into()), ..told };
    let header = Header { kind: Kind::Answer, sender: router, ..header };
    Ok(message::write(header, &message::write_indices(&[told]), authentication))
}

/// One address as a prefix.
pub(crate) fn whole(address: IpAddress) -> IpCidr {
    let length = match address {
        IpAddress::Ipv4(_) => 32,
        IpAddress::Ipv6(_) => 128,
    };
    IpCidr::new(address, length)
}
