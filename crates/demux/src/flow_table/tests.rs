//! The counts kept beside the records, against the records themselves.

use alloc::{vec, vec::Vec};

use super::{
    access::Alone,
    bits::ones,
    elsewhere::KINDS,
    place::{Group, Place},
    table::Table,
    tags::GROUPS,
};

type Flows = Table<(u64, u64), Alone>;

fn table(limit: usize) -> Flows {
    Table::new(limit, 0x5eed, |_, _| Alone)
}

/// The share of records that are not in the group they prefer, after checking that everything is where it is said to be.
fn elsewhere(table: &Flows) -> f64 {
    let blocks = table.extent.count();
    let mut counts = vec![[0; KINDS as usize]; (GROUPS * table.store.most_blocks()) as usize];
    let mut all = 0;
    for block in 0..table.store.most_blocks() {
        let full = table.full(block);
        assert!(block < blocks || full == 0, "a block that is not in use holds records");
        assert_eq!(table.strangers(block) & !full, 0, "an empty place has a stranger");
        for at in ones(full) {
            let place = Place::new(block, at);
            let hash = table.hash_at(place);
            let (first, second) = (table.extent.first(hash), table.extent.second(hash));
            assert!(block == first.block() || block == second.block());
            assert_eq!(table.strangers(block) & place.bit() != 0, place.group() != first);
            counts[first.index()][hash.tag().kind(KINDS) as usize] += u32::from(place.group() != first);
            all += 1;
        }
    }
    assert_eq!(all, table.len());
    for (group, counts) in (0..blocks).flat_map(Group::of_block).zip(&counts) {
        let counted = (0..KINDS).map(|kind| table.store.elsewhere(group).count(kind));
        assert!(counted.eq(counts.iter().copied()));
    }
    f64::from(counts.iter().flatten().sum::<u32>()) / all.max(1) as f64
}

const MANY: u64 = 40_000;
/// Under Miri a table for 400 doubles its blocks.
const LIMITS: &[u64] = if cfg!(miri) { &[1, 400] } else { &[1, 7, 200, 300, 5_000, MANY] };

#[test]
fn all_is_counted_while_the_table_grows_and_shrinks() {
    for &limit in LIMITS {
        let mut table = table(limit as usize);
        for key in 0..limit {
            table.insert_new((key, 0)).expect("below the limit");
            if key % (limit / 8 + 1) == 0 {
                elsewhere(&table);
            }
        }
        for key in 0..limit {
            assert_eq!(table.remove(&key), Some((key, 0)));
            if key % (limit / 8 + 1) == 0 {
                elsewhere(&table);
            }
        }
        assert_eq!(elsewhere(&table), 0.0);
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn churn_moves_a_share_of_the_records_elsewhere_that_soon_grows_no_more() {
    let mut table = table(MANY as usize);
    (0..MANY).for_each(|key| table.insert_new((key, 0)).expect("below the limit"));
    let filled = elsewhere(&table);
    assert!(filled < 0.06, "{filled}");
    let mut shares = vec![];
    for round in 0..12 {
        for key in round * MANY..(round + 1) * MANY {
            table.remove(&key).expect("inserted a round ago");
            table.insert_new((key + MANY, 0)).expect("below the limit");
        }
        shares.push(elsewhere(&table));
    }
    let (early, late) = (shares[2], shares[11]);
    assert!(late < 0.1 && late < early * 1.2 + 0.01, "{shares:?}");
}

#[test]
fn records_of_full_blocks_make_room_for_others() {
    let mut table = table(200);
    let first = |key: &u64| table.extent.first(table.hash_of(key)).block();
    let keys: Vec<u64> = (0..).filter(|key| first(key) == 0).take(200).collect();
    keys.iter().for_each(|&key| table.insert_new((key, 0)).expect("other blocks have room"));
    assert!(table.moved() > 0);
    elsewhere(&table);
    assert!(keys.iter().all(|key| table.get(key, || ()) == Some(&(*key, 0))));
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn a_table_between_two_sizes_keeps_most_records_where_they_prefer_to_be() {
    let mut table = table(MANY as usize);
    let mut worst: f64 = 0.0;
    for key in 0..MANY {
        table.insert_new((key, 0)).expect("below the limit");
        if key % (MANY / 32) == 0 {
            worst = worst.max(elsewhere(&table));
        }
    }
    assert!(worst < 0.25, "{worst}");
}
