//! A bank of filters finds whom running all of them finds: whatever comes, whatever labels say.

use std::sync::OnceLock;

use proptest::prelude::*;
use throughline_forward::{
    FilterBank, FilterBankConfig, FlowCacheConfig, FlowIndex, Packet,
    filter::{Consumer, FilterId, Program, View},
};
use throughline_stack::smoltcp::time::{Duration, Instant};

use crate::expressions;
use crate::frames::{Sent, sent};
use crate::libpcap;
use crate::programs::program;

/// Bytes of the Ethernet header.
const HEADER: usize = 14;

/// What happens to a bank.
#[derive(Clone, Debug)]
enum Event {
    /// A frame comes: one of those drawn, so that most come again.
    Frame(prop::sample::Index),
    Add(prop::sample::Index, u16),
    Remove(prop::sample::Index),
    RemoveConsumer(u16),
    Wait(u64),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        12 => any::<prop::sample::Index>().prop_map(Event::Frame),
        2 => (any::<prop::sample::Index>(), 0..130_u16).prop_map(|(program, consumer)| Event::Add(program, consumer)),
        1 => any::<prop::sample::Index>().prop_map(Event::Remove),
        1 => (0..130_u16).prop_map(Event::RemoveConsumer),
        1 => (0..3_u64).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 1..120)
}

fn index() -> impl Strategy<Value = FlowIndex> {
    prop::sample::select(vec![FlowIndex::Never, FlowIndex::Computed, FlowIndex::Carried, FlowIndex::Either])
}

/// A bank with few places, and all filters beside it.
struct Both {
    bank: FilterBank,
    all: Vec<(FilterId, Program, Consumer)>,
    now: Instant,
}

impl Both {
    fn new(index: FlowIndex) -> Self {
        let cache = FlowCacheConfig { places: 4, lifetime: Duration::from_secs(4) };
        let bank = FilterBank::new(FilterBankConfig { cache, index }).unwrap();
        Self { bank, all: Vec::new(), now: Instant::ZERO }
    }

    fn add(&mut self, program: &Program, consumer: Consumer) {
        let id = self.bank.add(program.clone(), consumer);
        self.all.push((id, program.clone(), consumer));
    }

    fn see(&mut self, sent: &Sent) {
        let view = View::of(&sent.frame).unwrap();
        let matching = self.all.iter().filter(|(_, program, _)| program.matches(&view));
        let mut wanted: Vec<Consumer> = matching.map(|(_, _, consumer)| *consumer).collect();
        wanted.sort();
        wanted.dedup();
        let bytes = sent.bytes();
        let found = self.bank.consumers(&Packet::of(&bytes).unwrap(), self.now);
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{sent:?}");
    }

    fn happen(&mut self, event: &Event, programs: &[Program], sent: &[Sent]) {
        match event {
            Event::Frame(at) => self.see(at.get(sent)),
            Event::Add(at, consumer) => self.add(at.get(programs), Consumer(*consumer)),
            Event::Remove(at) if !self.all.is_empty() => {
                let (id, _, consumer) = self.all.remove(at.index(self.all.len()));
                assert_eq!((self.bank.remove(id), self.bank.remove(id)), (Some(consumer), None));
            }
            Event::Remove(_) => {}
            Event::RemoveConsumer(consumer) => {
                let before = self.all.len();
                self.all.retain(|(_, _, other)| other.0 != *consumer);
                assert_eq!(self.bank.remove_consumer(Consumer(*consumer)), before - self.all.len());
            }
            Event::Wait(seconds) => self.now += Duration::from_secs(*seconds),
        }
        assert_eq!(self.bank.len(), self.all.len());
    }
}

/// All expressions, compiled once.
fn compiled() -> Option<&'static [Program]> {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    let libpcap = libpcap()?;
    Some(PROGRAMS.get_or_init(|| expressions::all().map(|text| libpcap.compile(text).unwrap()).collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(
        index in index(),
        programs in prop::collection::vec(program(), 1..12),
        sent in prop::collection::vec(sent(), 1..12),
        events in events(),
    ) {
        let mut both = Both::new(index);
        programs.iter().zip(0..).for_each(|(program, n)| both.add(program, Consumer(n)));
        events.iter().for_each(|event| both.happen(event, &programs, &sent));
    }

    #[test]
    fn expressions_of_tcpdump(
        index in index(),
        sent in prop::collection::vec(sent(), 1..12),
        events in events(),
    ) {
        let Some(programs) = compiled() else { return Ok(()) };
        let mut both = Both::new(index);
        programs.iter().zip(0..).for_each(|(program, n)| both.add(program, Consumer(n)));
        events.iter().for_each(|event| both.happen(event, programs, &sent));
    }

    /// Frames of a flow that differ in what is not in its key find the answer that was kept, and it is theirs.
    #[test]
    fn other_frames_of_a_flow(
        index in index(),
        sent in sent(),
        random in prop::collection::vec(program(), 20),
        changes in prop::collection::vec((0..70_usize, any::<u8>(), any::<bool>()), 1..60),
    ) {
        let Some(compiled) = compiled() else { return Ok(()) };
        let mut both = Both::new(index);
        compiled.iter().chain(&random).zip(0..).for_each(|(program, n)| both.add(program, Consumer(n)));
        for (at, byte, cut) in changes {
            let mut changed = sent.clone();
            if cut {
                changed.frame.resize(sent.frame.len().min(HEADER + at) + usize::from(byte & 1), byte);
            } else if let Some(place) = changed.frame.get_mut(at) {
                *place = byte;
            }
            // A label behind a label is refused.
            if changed.frame[12..HEADER] != [0x88, 0xb6] {
                both.see(&changed);
                both.see(&sent);
            }
        }
    }
}

/// A frame of UDP from 10.0.0.1 to 10.0.1.3.
fn datagram(id: u8, to: u16) -> Sent {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    frame.extend_from_slice(&[0x45, 0, 0, 28, id, id, 0x40, 0, 64, 17, id, id, 10, 0, 0, 1, 10, 0, 1, 3]);
    frame.extend_from_slice(&[&5000_u16.to_be_bytes()[..], &to.to_be_bytes(), &[0, 8, id, id]].concat());
    Sent { frame, label: None }
}

#[test]
fn what_a_flow_decides_is_run_once_for_it() {
    let Some(libpcap) = libpcap() else { return };
    let mut both = Both::new(FlowIndex::Computed);
    for (text, n) in expressions::BY_FLOW.into_iter().zip(0..) {
        both.add(&libpcap.compile(text).unwrap(), Consumer(n));
    }
    for id in 0..100 {
        both.see(&datagram(id, 53));
    }
    let counts = both.bank.counts();
    assert_eq!((counts.flows.hits, counts.filtered), (99, 1));
    assert_eq!(counts.runs, expressions::BY_FLOW.len() as u64, "{counts:?}");
    // Another program is run for each frame, and no other is.
    both.add(&libpcap.compile("udp[6:2] = 0x0505").unwrap(), Consumer(99));
    for id in 0..100 {
        both.see(&datagram(id, 53));
    }
    let more = both.bank.counts();
    assert_eq!(more.runs - counts.runs, expressions::BY_FLOW.len() as u64 + 100, "{more:?}");
}

/// Which expressions are kept, so that none is run in vain.
#[test]
fn what_is_decided_by_the_frame_is_run_for_each() {
    let Some(libpcap) = libpcap() else { return };
    for text in expressions::BY_FRAME {
        let mut both = Both::new(FlowIndex::Computed);
        both.add(&libpcap.compile(text).unwrap(), Consumer(0));
        let frames = 10;
        (0..frames).for_each(|id| both.see(&datagram(id, 53)));
        // Nothing about TCP or ICMP is asked of a frame of UDP but the protocol, nor what is in a tag that is not there.
        let decided =
            ["tcp", "icmp", "vlan", "ether[12:2]", "ip6"].iter().any(|start| text.starts_with(start));
        // The kind says that there are no options, and that it is no fragment but the first.
        let decided = decided || text.starts_with("ip[6") || text.starts_with("ip[0]");
        let expected = if decided { 1 } else { u64::from(frames) };
        assert_eq!(both.bank.counts().runs, expected, "{text}");
    }
}

/// A hash that lies costs the liar's own frames a lookup, and nobody gets anything else.
#[test]
fn flows_under_one_hash_are_told_apart() {
    let Some(libpcap) = libpcap() else { return };
    let mut both = Both::new(FlowIndex::Carried);
    both.add(&libpcap.compile("udp port 53").unwrap(), Consumer(0));
    both.add(&libpcap.compile("udp port 80").unwrap(), Consumer(1));
    let label = throughline_forward::Label {
        flow: throughline_wire::Flow { id: 7, source_hash: 7 },
        threaded: false,
    };
    for n in 0..99 {
        both.see(&Sent { label: Some(label), ..datagram(n, [53, 80, 99][usize::from(n) % 3]) });
    }
    let hits = both.bank.counts().flows.hits;
    assert!(hits <= 66, "there are two places for the three of them: {hits}");
}

#[test]
fn frames_take_no_memory() {
    let Some(libpcap) = libpcap() else { return };
    let mut both = Both::new(FlowIndex::Computed);
    both.add(&libpcap.compile("udp").unwrap(), Consumer(1000));
    let bytes = both.bank.cache_bytes();
    for port in 0..1000 {
        both.see(&datagram(0, port));
    }
    assert_eq!(both.bank.cache_bytes(), bytes);
}
