//! Strategies and hash functions as configuration values.
#![cfg(not(loom))]

use throughline_demux::{
    AnyLocator, HashKind, Locator, LocatorConfig, Slot, Strategy, UnknownHash, UnknownStrategy,
};

#[test]
fn names_are_read_as_they_are_written() {
    for strategy in Strategy::ALL {
        assert_eq!(strategy.to_string().parse(), Ok(strategy));
    }
    for hash in HashKind::ALL {
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }
    assert_eq!(format!("{:>8}|", Strategy::Linear), "  linear|");
}

#[test]
fn an_unknown_name_is_told_the_known_ones() {
    for wrong in ["", "Linear", "hash", "bsd "] {
        assert_eq!(wrong.parse::<Strategy>(), Err(UnknownStrategy));
        assert_eq!(wrong.parse::<HashKind>(), Err(UnknownHash));
    }
    for strategy in Strategy::ALL {
        assert!(UnknownStrategy.to_string().contains(&format!("`{strategy}`")));
    }
    for hash in HashKind::ALL {
        assert!(UnknownHash.to_string().contains(&format!("`{hash}`")));
    }
}

#[test]
fn a_strategy_makes_its_own_locator() {
    for strategy in Strategy::ALL {
        let mut locator: AnyLocator<u32> = strategy.locator(LocatorConfig::random()).unwrap();
        assert_eq!(locator.strategy(), strategy);
        locator.insert(1, Slot(1)).unwrap();
        assert_eq!(locator.len(), 1);
    }
}

#[test]
fn what_is_not_configured_is_as_documented() {
    let config = LocatorConfig::seeded(1);
    assert_eq!((config.limit, config.chains, config.places), (usize::MAX, 19, 1 << 16));
    assert_eq!(config.hash, HashKind::Keyed);
    let Ok(AnyLocator::<u32>::FlowTable(flows)) = Strategy::FlowTable.locator(config) else {
        panic!("a flow table");
    };
    assert_eq!(flows.limit(), 1 << 24);
}

/// What gets into a log must not tell anyone which keys collide.
#[test]
fn a_seed_is_not_shown() {
    let config = LocatorConfig::seeded(0xdead_beef);
    let shown = format!("{config:?}");
    assert!(shown.contains("chains: 19") && !shown.contains(&0xdead_beef_u64.to_string()), "{shown}");
    let locator: AnyLocator<u32> = Strategy::Bsd.locator(config).unwrap();
    assert_eq!(format!("{locator:?}"), "AnyLocator { strategy: Bsd, len: 0, .. }");
}
