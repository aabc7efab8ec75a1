//! Shared strategies as configuration values.
#![cfg(not(loom))]

use throughline_demux::{
    LocatorConfig, SharedLocator, Slot,
    shared::{Strategy, UnknownStrategy},
};

#[test]
fn names_are_read_as_they_are_written() {
    let names = Strategy::ALL.map(|strategy| strategy.to_string());
    assert_eq!(names, ["linear", "dynamic-hash", "perfect-hash", "active"]);
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }
    assert_eq!(format!("{:>8}|", Strategy::Linear), "  linear|");
}

#[test]
fn an_unknown_name_is_told_the_known_ones() {
    for wrong in ["", "Linear", "hash", "active "] {
        assert_eq!(wrong.parse::<Strategy>(), Err(UnknownStrategy));
    }
    let message = "x".parse::<Strategy>().unwrap_err().to_string();
    assert_eq!(
        message,
        "unknown strategy; expected one of `linear`, `dynamic-hash`, `perfect-hash`, `active`"
    );
}

#[test]
fn a_strategy_makes_its_own_locator() {
    for strategy in Strategy::ALL {
        let Some(locator) = strategy.locator(LocatorConfig::random()) else {
            assert_eq!(strategy, Strategy::Active);
            continue;
        };
        assert_eq!(locator.strategy(), strategy);
        locator.insert(b"key", Slot(1)).unwrap();
        assert_eq!(locator.len(), 1);
    }
}
