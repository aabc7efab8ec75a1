//! The flows of one version of IP, and what lookups cost there: each version has tables of its own.

use throughline_demux::{Key, Strategy};

use super::analysis::BATCH;
use super::driven::Operation;
use super::live::{Arrival, End, Found, Live};
use super::lookups::{LookupError, Lookups, Needs, Work};
use super::options::Options;
use super::summary::Summary;
use super::team::Team;
use super::walks::Walks;

/// Flows and lookups.
pub(super) struct Family<K: Key> {
    pub(super) live: Live<K>,
    options: Options,
    walks: Walks,
    /// The lookups of each kind; none before the first packet.
    lookups: Option<Team<Work<K>, Lookups<K>>>,
    /// Packets that have come since the last batch, and what was found for them.
    waiting: Vec<Arrival<K>>,
    found: Vec<Found>,
    /// What the workers are given next.
    work: Work<K>,
}

impl<K: Key + Copy + Send + Sync + 'static> Family<K> {
    pub(super) fn new(options: &Options) -> Result<Self, LookupError> {
        let live = Live::new(options);
        let live = live.map_err(|error| LookupError { strategy: Strategy::ChainsMoveToFront, error })?;
        Ok(Self {
            walks: Walks::new(live.counts_chains()),
            live,
            options: options.clone(),
            lookups: None,
            waiting: Vec::new(),
            found: Vec::new(),
            work: Work::default(),
        })
    }

    /// A packet has come.
    #[inline]
    pub(super) fn arrive(&mut self, packet: Arrival<K>) {
        self.waiting.push(packet);
    }

    /// Finds the flows of the packets that have come, in their order.
    pub(super) fn track(&mut self) -> &[Found] {
        self.found.clear();
        self.live.arrive(&self.waiting, &mut self.found);
        for (packet, found) in self.waiting.drain(..).zip(&self.found) {
            self.walks.add(found);
            self.work.operations.push(Operation { key: packet.key, slot: found.slot, new: found.new });
        }
        &self.found
    }

    /// Lets flows go that are over at `now`; `gone` is told the numbers of their last packets.
    pub(super) fn expire(&mut self, now: u64, gone: &mut impl FnMut(u64, End)) {
        self.work.live = self.live.len();
        self.live.expire(now, |key, slot, number, end| {
            self.work.gone.push((key, slot));
            gone(number, end);
        });
    }

    /// Takes out flows unused longest, as many at most, whose last packets came before one; `gone` is told as of
    /// [`expire`](Self::expire), after which this is.
    pub(super) fn evict(&mut self, most: usize, before: u64, gone: &mut impl FnMut(u64, End)) {
        self.live.evict(most, before, |key, slot, number, end| {
            self.work.gone.push((key, slot));
            gone(number, end);
        });
    }

    /// Hands the packets over that are to be looked up, if they are enough for a batch, or if flows leave after them.
    ///
    /// # Errors
    /// When the lookups cannot be made.
    pub(super) fn look_up(&mut self) -> Result<(), LookupError> {
        if self.work.operations.len() >= BATCH || !self.work.gone.is_empty() {
            self.hand_over(self.options.flows)?;
        }
        Ok(())
    }

    /// The first time, the lookups are given room for so many flows.
    fn hand_over(&mut self, flows: usize) -> Result<(), LookupError> {
        let lookups = match self.lookups.take() {
            Some(lookups) => lookups,
            None => self.first_lookups(flows)?,
        };
        lookups.hand_over(std::mem::take(&mut self.work));
        self.lookups = Some(lookups);
        Ok(())
    }

    fn first_lookups(&self, flows: usize) -> Result<Team<Work<K>, Lookups<K>>, LookupError> {
        let options = Options { flows, ..self.options.clone() };
        let of = |needs| Lookups::new(needs, &options, self.live.counts_chains());
        Ok(Team::new(vec![of(Needs::Addresses)?, of(Needs::Index)?]))
    }

    /// What each lookup cost; none if there was no packet.
    ///
    /// # Errors
    /// When the lookups cannot be made.
    pub(super) fn finish(mut self) -> Result<Vec<Summary>, LookupError> {
        self.work.live = self.live.len();
        if !self.work.operations.is_empty() {
            // A capture that ends here has no more flows than packets.
            self.hand_over(self.options.flows.min(self.work.operations.len()))?;
        }
        // One after the other: what they may have to time again is timed without the other.
        let lookups = self.lookups.map(Team::finish).unwrap_or_default();
        let mut summaries: Vec<_> = lookups.into_iter().flat_map(Lookups::finish).collect();
        self.walks.complete(&mut summaries);
        Ok(summaries)
    }
}
