//! Regions as layers pass them down, deadlines, flow ids, operation checks.

use std::{collections::HashSet, time::Duration};

use proptest::prelude::*;
use throughline_wire::{
    FlowIds, MAX_REGIONS, RegionError, RegionKind, RegionList, TimeLeft, operation_check, precomputed_hash,
};

proptest! {
    /// Layers with headers of any size, each marking a piece of what it has seen: in the finished message, every region
    /// has the bytes that its layer meant.
    #[test]
    fn offsets_accumulate(layers in prop::collection::vec((0..40_usize, 0.0..1.0_f64, 0.0..1.0_f64), 1..=MAX_REGIONS)) {
        let mut list = RegionList::new();
        let mut message: Vec<u8> = (0..100).collect();
        let mut meant = Vec::new();
        for (n, (header, from, to)) in layers.into_iter().enumerate() {
            message.splice(0..0, vec![100 + n as u8; header]);
            list.add_header(header as u32).expect("far from 4 GiB");
            let [from, to] = [from, to].map(|part| (part * message.len() as f64) as usize);
            let range = from.min(to)..from.max(to);
            list.push(RegionKind::Integrity, n as u32, range.start as u32, range.len() as u32).expect("room");
            meant.push(message[range].to_vec());
        }
        prop_assert_eq!(list.as_slice().len(), meant.len());
        for (region, meant) in list.as_slice().iter().zip(&meant) {
            prop_assert_eq!(region.of(&message).expect("inside"), meant);
        }
    }

    #[test]
    fn time_is_rounded_up_by_a_thousandth_at_most(micros in prop_oneof![0..10_000_u64, any::<u64>()]) {
        let time = Duration::from_micros(micros);
        let told = TimeLeft::new(time);
        let read = TimeLeft::from_bits(told.bits()).duration().expect("never without a deadline");
        if told == TimeLeft::MAX {
            prop_assert!(time > Duration::from_secs(50 * 86_400));
        } else {
            prop_assert!(read >= time);
            prop_assert!(read.as_micros() <= u128::from(micros.max(1)) * 1_025 / 1_024);
        }
    }

    #[test]
    fn every_time_is_told_as_itself(bits in any::<u16>()) {
        let Some(time) = TimeLeft::from_bits(bits).duration() else { return Ok(()) };
        prop_assert_eq!(TimeLeft::new(time).duration(), Some(time));
    }
}

#[test]
fn times() {
    assert_eq!(TimeLeft::FOREVER.duration(), None);
    assert_eq!(TimeLeft::new(Duration::ZERO).duration(), Some(Duration::from_micros(1)));
    assert_eq!(TimeLeft::new(Duration::from_nanos(1_001)).duration(), Some(Duration::from_micros(2)));
    assert_eq!(TimeLeft::new(Duration::MAX), TimeLeft::MAX);
    // The carry of rounding up: 2047.5 of the second exponent's steps.
    assert_eq!(TimeLeft::new(Duration::from_micros(4_095)).duration(), Some(Duration::from_micros(4_096)));
    let longest = TimeLeft::MAX.duration().expect("a deadline");
    assert_eq!(TimeLeft::new(longest), TimeLeft::MAX);
    assert_eq!(longest, Duration::from_micros(2_047 << 31));
}

#[test]
fn lists_have_limits() {
    let mut list = RegionList::new();
    for _ in 0..MAX_REGIONS {
        list.push(RegionKind::Payload, 0, 10, 10).expect("room");
    }
    assert_eq!(list.push(RegionKind::Payload, 0, 0, 0), Err(RegionError::TooMany));
    assert_eq!(list.add_header(u32::MAX - 20), Ok(()));
    assert_eq!(list.add_header(1), Err(RegionError::TooFar));
    assert!(list.as_slice().iter().all(|region| region.offset == u32::MAX - 10));
    assert_eq!(RegionList::new().push(RegionKind::Payload, 0, u32::MAX, 1), Err(RegionError::TooFar));
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn flows_are_unique_and_their_hashes_spread() {
    let ids = FlowIds::new([u64::MAX - 1_000, 1]);
    let flows: Vec<_> = (0..65_536).map(|_| ids.next()).collect();
    assert_eq!(flows.iter().map(|flow| flow.id).collect::<HashSet<_>>().len(), flows.len());
    // Thrown at as many places at random, 1 / e of the places remain empty: 24,109 on average, deviation 121.
    for hashes in [
        flows.iter().map(|flow| flow.source_hash & 0xffff).collect::<HashSet<_>>(),
        flows.iter().map(|flow| precomputed_hash(flow.id) & 0xffff).collect(),
    ] {
        let empty = 65_536 - hashes.len();
        assert!((23_600..24_600).contains(&empty), "{empty} places empty");
    }
    // Other seeds, other hashes.
    let other = FlowIds::new([u64::MAX - 1_000, 2]);
    let same = flows.iter().filter(|flow| other.next().source_hash == flow.source_hash).count();
    assert!(same < 3, "{same} hashes the same");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn flows_of_many_threads_differ() {
    let ids = FlowIds::new([7, 7]);
    let flows: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..1_000).map(|_| ids.next().id).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(flows.iter().collect::<HashSet<_>>().len(), 4_000);
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn checks_tell_operations_apart() {
    const ACCOUNT: u32 = operation_check("balance");
    assert_ne!(ACCOUNT, operation_check("balances"));
    let many: HashSet<u32> = (0..10_000).map(|n| operation_check(&format!("operation_{n}"))).collect();
    assert!(many.len() > 9_998 && !many.contains(&0));
    // What other machines compute, too.
    assert_eq!(ACCOUNT, 4_028_238_355);
}
