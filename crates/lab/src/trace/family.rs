//! The flows of one version of IP, and what lookups cost there: each version has tables of its own.

use throughline_demux::Key;

use super::analysis::BATCH;
use super::live::{Arrival, End, Found, Limits, Live};
use super::lookups::{LookupError, Lookups};
use super::options::Options;
use super::summary::Summary;

/// Flows and lookups.
pub(super) struct Family<K: Key> {
    pub(super) live: Live<K>,
    /// None before the first packet.
    lookups: Option<Lookups<K>>,
    options: Options,
    /// Packets that have come since the last batch, and what was found for them.
    waiting: Vec<Arrival<K>>,
    found: Vec<Found>,
    /// Flows that have left since the last batch.
    gone: Vec<(K, u32)>,
}

impl<K: Key + Copy + 'static> Family<K> {
    pub(super) fn new(options: &Options) -> Self {
        let limits =
            Limits { flows: options.flows, idle: options.idle, both_directions: options.both_directions };
        Self {
            live: Live::new(limits),
            lookups: None,
            options: options.clone(),
            waiting: Vec::new(),
            found: Vec::new(),
            gone: Vec::new(),
        }
    }

    /// A packet has come.
    #[inline]
    pub(super) fn arrive(&mut self, packet: Arrival<K>) {
        self.waiting.push(packet);
    }

    /// Finds the flows of the packets that have come, in their order.
    ///
    /// # Errors
    /// When the lookups cannot be made.
    pub(super) fn track(&mut self) -> Result<&[Found], LookupError> {
        self.found.clear();
        if !self.waiting.is_empty() {
            self.live.arrive(&self.waiting, &mut self.found);
            let lookups = match &mut self.lookups {
                Some(lookups) => lookups,
                none => none.insert(Lookups::new(&self.options)?),
            };
            lookups.push(&self.waiting, &self.found);
            self.waiting.clear();
        }
        Ok(&self.found)
    }

    /// What each lookup cost; none before the first packet.
    pub(super) fn summaries(&self) -> Vec<Summary> {
        self.lookups.as_ref().map(Lookups::summaries).unwrap_or_default()
    }

    /// Looks up what has come.
    pub(super) fn look_up(&mut self) {
        if let Some(lookups) = &mut self.lookups {
            lookups.run(&self.live);
        }
    }

    /// Lets flows go that are over at `now`; `gone` is told the numbers of their last packets.
    pub(super) fn expire(&mut self, now: u64, gone: &mut impl FnMut(u64, End)) {
        self.live.expire(now, BATCH, |key, slot, number, end| {
            self.gone.push((key, slot));
            gone(number, end);
        });
        if let Some(lookups) = &mut self.lookups {
            lookups.forget(&self.gone);
        }
        self.gone.clear();
    }
}
