//! Locators of any type, driven by packets.

use std::hint::black_box;

use throughline_demux::{
    AnyLocator, ConfigError, Examined, InsertError, Key, Locator, LocatorConfig, Slot, Strategy,
};

/// A packet to be looked up, and its flow to be put in if it is new.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation<K> {
    pub(super) key: K,
    pub(super) slot: u32,
    pub(super) new: bool,
}

/// What a lookup examined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) entries: u32,
    pub(super) cache_hit: bool,
}

/// A locator of any type that is asked for many packets at a time.
pub(super) trait Driven<K>: Locator<K> + Send {
    /// Looks packets up one after another, puts in those that are new, and appends what each examined. The processor
    /// begins with the next while it waits for the one before.
    fn drive(&mut self, operations: &[Operation<K>], looked: &mut Vec<Looked>);

    /// As [`drive`](Self::drive); each lookup waits for what the one before has found, as it does where much is done with a
    /// packet before the next is looked up.
    fn drive_in_turn(&mut self, operations: &[Operation<K>], looked: &mut Vec<Looked>);
}

impl<K: Key, L: Locator<K> + Send> Driven<K> for L {
    fn drive(&mut self, operations: &[Operation<K>], looked: &mut Vec<Looked>) {
        operations.iter().for_each(|operation| _ = look_up(self, operation, looked));
    }

    fn drive_in_turn(&mut self, operations: &[Operation<K>], looked: &mut Vec<Looked>) {
        // Zero, which neither the compiler knows nor the processor, before the slot is there.
        let (nothing, mut waited) = (black_box(0), 0);
        for at in 0..operations.len() {
            let slot = look_up(self, &operations[at + waited as usize], looked);
            waited = slot.map_or(0, |slot| slot.0 & nothing);
        }
    }
}

/// Looks a packet up, and puts its flow in if that is new.
#[inline(always)]
fn look_up<K: Key>(
    locator: &mut impl Locator<K>,
    operation: &Operation<K>,
    looked: &mut Vec<Looked>,
) -> Option<Slot> {
    let mut examined = Examined::default();
    let slot = locator.find_probed(&operation.key, &mut examined);
    looked.push(Looked { entries: examined.entries as u32, cache_hit: examined.cache_hit });
    debug_assert_eq!(slot, (!operation.new).then_some(Slot(operation.slot)));
    if slot.is_none() {
        let done = locator.insert_new(operation.key.clone(), Slot(operation.slot));
        debug_assert!(matches!(done, Ok(()) | Err(InsertError::Occupied)), "{done:?}");
    }
    slot
}

/// An empty locator. Which one it is must not be asked for every packet, so each is driven as what it is.
///
/// # Errors
/// When it cannot be configured so.
pub(super) fn locator<K: Key + Send + 'static>(
    strategy: Strategy,
    config: LocatorConfig,
) -> Result<Box<dyn Driven<K>>, ConfigError> {
    Ok(match strategy.locator(config)? {
        AnyLocator::Linear(locator) => Box::new(locator),
        AnyLocator::Bsd(locator) => Box::new(locator),
        AnyLocator::MoveToFront(locator) => Box::new(locator),
        AnyLocator::Sequent(locator) => Box::new(locator),
        AnyLocator::ChainsMoveToFront(locator) => Box::new(locator),
        AnyLocator::DynamicHash(locator) => Box::new(locator),
        AnyLocator::Swiss(locator) => Box::new(locator),
        AnyLocator::FlowTable(locator) => Box::new(locator),
        AnyLocator::PerfectHash(locator) => Box::new(locator),
        AnyLocator::SourceHash(locator) => Box::new(locator),
        AnyLocator::Direct(locator) => Box::new(locator),
    })
}

/// The keys in a locator, with their slots.
pub(super) fn entries<K: Key>(locator: &dyn Driven<K>) -> Vec<(K, u32)> {
    let mut all = Vec::with_capacity(locator.len());
    locator.for_each(&mut |key, slot| all.push((key.clone(), slot.0)));
    all
}
