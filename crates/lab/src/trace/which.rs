//! All lookups that packets are looked up with.

use std::fmt;

use throughline_demux::{
    AnyLocator, ConfigError, Examined, FlowTable, InsertError, Key, Locator, LocatorConfig, Slot, Strategy,
};

use super::lookups::Operation;

/// A lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// One that is chosen by configuration.
    Strategy(Strategy),
    /// The table for millions of flows.
    FlowTable,
}

impl Which {
    /// All, from the simplest to the most elaborate, those that need more than the packet's addresses last.
    pub fn all() -> Vec<Self> {
        let (special, plain): (Vec<_>, Vec<_>) =
            Strategy::ALL.into_iter().partition(|s| s.needs_index() || s.must_freeze());
        let flow_table = Some(Self::FlowTable).filter(|f| Strategy::ALL.iter().all(|s| s.name() != f.name()));
        let plain = plain.into_iter().map(Self::Strategy);
        plain.chain(flow_table).chain(special.into_iter().map(Self::Strategy)).collect()
    }

    /// Its name in configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strategy(strategy) => strategy.name(),
            Self::FlowTable => "flow-table",
        }
    }

    /// Whether a lookup examines more entries the more there are.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Strategy(strategy) if strategy.is_list())
    }

    /// Whether packets must carry an index.
    pub const fn needs_index(self) -> bool {
        matches!(self, Self::Strategy(strategy) if strategy.needs_index())
    }

    /// Whether the flows must be known beforehand.
    pub const fn must_freeze(self) -> bool {
        matches!(self, Self::Strategy(strategy) if strategy.must_freeze())
    }

    pub(super) fn locator<K: Key + 'static>(
        self,
        config: LocatorConfig,
    ) -> Result<Box<dyn Driven<K>>, ConfigError> {
        Ok(match self {
            Self::FlowTable => Box::new(FlowTable::<(K, Slot)>::new(config.limit, config.seed)),
            // Which locator it is must not be asked for every packet.
            Self::Strategy(strategy) => match strategy.locator(config)? {
                AnyLocator::Sequent(locator) => Box::new(locator),
                AnyLocator::ChainsMoveToFront(locator) => Box::new(locator),
                AnyLocator::DynamicHash(locator) => Box::new(locator),
                AnyLocator::Swiss(locator) => Box::new(locator),
                AnyLocator::PerfectHash(locator) => Box::new(locator),
                AnyLocator::SourceHash(locator) => Box::new(locator),
                AnyLocator::Direct(locator) => Box::new(locator),
                other => Box::new(other),
            },
        })
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A locator of any type that is asked for many packets at a time.
pub(super) trait Driven<K>: Locator<K> {
    /// Looks packets up one after another, puts in those that are new, and appends what each examined.
    fn drive(&mut self, operations: &[Operation<K>], examined: &mut Vec<Examined>);
}

impl<K: Key, L: Locator<K>> Driven<K> for L {
    fn drive(&mut self, operations: &[Operation<K>], counts: &mut Vec<Examined>) {
        for operation in operations {
            let mut examined = Examined::default();
            let slot = self.find_probed(&operation.key, &mut examined);
            counts.push(examined);
            debug_assert_eq!(slot, (!operation.new).then_some(Slot(operation.slot)));
            if slot.is_none() {
                let done = self.insert_new(operation.key.clone(), Slot(operation.slot));
                debug_assert!(matches!(done, Ok(()) | Err(InsertError::Occupied)), "{done:?}");
            }
        }
    }
}
