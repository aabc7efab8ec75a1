//! Names found by each of the ways that know them at compile or start time.
#![cfg(not(loom))]

use proptest::prelude::*;
use throughline_demux::{
    BuildNamesError, CountExamined, HashedNames, LinearNames, MAX_NAMES, NameTable, build_names,
};

/// What a generated table does, from names made at run time.
fn table(names: &[String]) -> NameTable {
    let names: Vec<&'static str> = names.iter().map(|name| &*name.clone().leak()).collect();
    let names: &'static [&'static str] = names.leak();
    let built = build_names(names).unwrap();
    NameTable::new(names, built.seed, built.displacements.leak(), built.slots.leak())
}

fn check(names: &[String], others: &[String]) {
    let table = table(names);
    let linear = LinearNames::new(table.names());
    let hashed = HashedNames::new(table.names(), 7);
    for (index, name) in names.iter().enumerate() {
        let index = index as u32;
        assert_eq!(table.find(name.as_bytes()), Some(index), "{name}");
        assert_eq!(linear.find(name.as_bytes()), Some(index), "{name}");
        assert_eq!(hashed.find(name.as_bytes()), Some(index), "{name}");
        assert!(table.is(index, name.as_bytes()));
        assert!(!table.is(index + 1, name.as_bytes()));
    }
    for name in others.iter().filter(|name| !names.contains(name)) {
        assert_eq!(table.find(name.as_bytes()), None, "{name}");
        assert_eq!(linear.find(name.as_bytes()), None, "{name}");
        assert_eq!(hashed.find(name.as_bytes()), None, "{name}");
        assert!((0..names.len() as u32).all(|index| !table.is(index, name.as_bytes())));
    }
}

proptest! {
    #[test]
    fn every_name_and_no_other(
        names in prop::collection::btree_set("[a-z_]{0,60}", 1..if cfg!(miri) { 5 } else { 200 }),
        others in prop::collection::vec("[a-z_]{0,60}", 0..if cfg!(miri) { 5 } else { 50 }),
    ) {
        let names: Vec<String> = names.into_iter().collect();
        // Names that differ from present ones in one place are the hard ones.
        let mut near = Vec::new();
        for name in names.iter().filter(|name| !name.is_empty()) {
            near.push(name[1..].to_owned());
            near.push(name[..name.len() - 1].to_owned());
            near.push(format!("{name}x"));
            let middle = name.len() / 2;
            near.push(format!("{}X{}", &name[..middle], &name[middle + 1..]));
        }
        check(&names, &others);
        check(&names, &near);
    }
}

#[test]
fn sizes_at_the_edges() {
    check(&["only".into()], &["other".into(), String::new()]);
    check(&[String::new()], &["a".into()]);
    let all_lengths: Vec<String> = (0..100).map(|n| "a".repeat(n)).collect();
    check(&all_lengths, &["a".repeat(100), "b".into()]);
}

/// Names that differ in one letter of few, where a weak hash has the same upper half for both.
#[test]
fn close_short_names() {
    for length in 1..=8 {
        let names = (0..26u8).map(|i| char::from(b'a' + i).to_string() + &"_".repeat(length - 1));
        check(&names.collect::<Vec<_>>(), &["_".repeat(length)]);
    }
}

/// Names whose overlapping words differ as little as their lengths do.
#[test]
#[cfg_attr(miri, ignore = "slow")]
fn runs_of_a_letter() {
    for run in 1..30 {
        let names = [*b"bc", *b"bd", *b"no", *b"hi"].map(|[first, second]| {
            let name = |more| {
                let run = (0..run + more).map(|_| char::from(second));
                char::from(first).to_string() + &run.collect::<String>()
            };
            [name(0), name(1), name(2), name(3)]
        });
        check(names.as_flattened(), &[]);
    }
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn as_many_names_as_a_table_holds() {
    let names: Vec<String> = (0..MAX_NAMES).map(|n| format!("operation_{n}")).collect();
    let table = table(&names);
    for (index, name) in names.iter().enumerate() {
        assert_eq!(table.find(name.as_bytes()), Some(index as u32));
    }
    assert_eq!(table.find(b"operation_65535"), None);
}

#[test]
#[cfg_attr(miri, ignore = "slow")]
fn refused_names() {
    let names: Vec<String> = (0..=MAX_NAMES).map(|n| n.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(build_names(&names), Err(BuildNamesError::TooMany(65_536)));
    assert_eq!(build_names(&[]), Err(BuildNamesError::Empty));
    assert_eq!(build_names(&["a", "b", "a"]), Err(BuildNamesError::Duplicate("a".into())));
}

#[test]
#[should_panic]
fn a_slot_that_is_no_name_is_refused() {
    NameTable::new(&["a", "b"], 0, &[1], &[0, 2]);
}

#[test]
fn the_same_names_give_the_same_table() {
    let names = ["deposit", "withdraw", "balance"];
    assert_eq!(build_names(&names), build_names(&names));
}

#[test]
fn entries_examined() {
    let names: &'static [&'static str] = &["a", "b", "c", "d"];
    let mut count = CountExamined::default();
    assert_eq!(LinearNames::new(names).find_probed(b"d", &mut count), Some(3));
    assert_eq!(count.0, 4);
    assert_eq!(LinearNames::new(names).find_probed(b"x", &mut count), None);
    assert_eq!(count.0, 8);
    let mut count = CountExamined::default();
    let hashed = HashedNames::new(names, 1);
    let found = names.iter().filter(|name| hashed.find_probed(name.as_bytes(), &mut count).is_some()).count();
    assert_eq!(found, 4);
    assert!((4..=8).contains(&count.0), "{}", count.0);
}
