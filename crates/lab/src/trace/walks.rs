//! What the lists examine, without walking them.
//!
//! With n flows in a list, the flow at place p is found after p entries; a flow that is not there costs n. The linear
//! list and BSD's have the newest flow first; move-to-front has the one used last first, so p is the stack distance. BSD
//! looks into its cache before. Sequent's chains are such lists of their own, and so are those that move to the front.

use throughline_demux::Strategy;

use super::by_size::{BySize, Cost, step};
use super::list::{Cached, Walk};
use super::live::Found;
use super::summary::Summary;
use super::tally::Tally;

/// One lookup's walks.
#[derive(Clone, Debug)]
pub(super) struct Walked {
    pub(super) strategy: Strategy,
    pub(super) examined: Tally,
    pub(super) cache_hits: u64,
    pub(super) by_size: BySize,
    /// Entries when that was last brought up to date.
    marked: u128,
}

impl Walked {
    fn new(strategy: Strategy) -> Self {
        let (examined, by_size) = (Tally::default(), BySize::default());
        Self { strategy, examined, cache_hits: 0, by_size, marked: 0 }
    }

    /// A cache is looked into before the list, which has the newest flow first.
    #[inline]
    fn remembering(&mut self, walk: Walk) {
        let entries = match walk.cached {
            Cached::This => 1,
            Cached::Another => u64::from(walk.by_age) + 1,
            Cached::Nothing => walk.by_age.into(),
        };
        self.cache_hits += u64::from(walk.cached == Cached::This);
        self.examined.add(entries);
    }

    fn mark(&mut self, step: usize, packets: u64) {
        let entries = (self.examined.sum() - self.marked) as u64;
        self.by_size.add(step, Cost { packets, entries, ..Cost::default() });
        self.marked = self.examined.sum();
    }
}

/// The walks of all lookups that have lists.
#[derive(Clone, Debug)]
pub(super) struct Walks {
    all: [Walked; 3],
    chains: Option<[Walked; 2]>,
    /// How many flows there were at the last packet, the step of that, and packets in it since the last mark.
    flows: usize,
    step: usize,
    packets: u64,
}

impl Walks {
    /// Nothing yet; chains are counted or not.
    pub(super) fn new(chains: bool) -> Self {
        let all = [Strategy::Linear, Strategy::Bsd, Strategy::MoveToFront].map(Walked::new);
        let chains = chains.then(|| [Strategy::Sequent, Strategy::ChainsMoveToFront].map(Walked::new));
        Self { all, chains, flows: 0, step: step(0), packets: 0 }
    }

    /// A packet.
    #[inline]
    pub(super) fn add(&mut self, found: &Found) {
        let flows = found.flows as usize;
        if flows != self.flows {
            self.flows_are(flows);
        }
        self.packets += 1;
        let [linear, bsd, move_to_front] = &mut self.all;
        linear.examined.add(found.whole.by_age.into());
        bsd.remembering(found.whole);
        move_to_front.examined.add(found.whole.by_use.into());
        if let Some([sequent, move_to_front]) = &mut self.chains {
            sequent.remembering(found.chain);
            move_to_front.examined.add(found.chain.by_use.into());
        }
    }

    fn flows_are(&mut self, flows: usize) {
        self.flows = flows;
        if step(flows) != self.step {
            self.mark();
            self.step = step(flows);
        }
    }

    fn mark(&mut self) {
        let (step, packets) = (self.step, std::mem::take(&mut self.packets));
        let chains = self.chains.iter_mut().flatten();
        self.all.iter_mut().chain(chains).for_each(|walked| walked.mark(step, packets));
    }

    /// Completes what the lookups themselves found.
    pub(super) fn complete(mut self, summaries: &mut [Summary]) {
        self.mark();
        for walked in self.walked() {
            let same = summaries.iter_mut().filter(|summary| summary.strategy == walked.strategy);
            same.for_each(|summary| summary.counted(walked));
        }
    }

    /// Every lookup's walks.
    pub(super) fn walked(&self) -> impl Iterator<Item = &Walked> {
        self.all.iter().chain(self.chains.iter().flatten())
    }
}
