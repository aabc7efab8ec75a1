//! What the IDL compiler tells the runtime about an interface: its repository ids and its operation table.

use std::sync::OnceLock;

use throughline_demux::{HashedNames, LinearNames, NameTable, shared::Strategy};
use throughline_wire::operation_check;

/// An IDL interface as its skeletons and the object adapter know it. Generated code holds one static per
/// interface.
#[derive(Debug)]
pub struct Interface {
    /// `IDL:Module/Name:1.0`.
    pub repository_id: &'static str,
    /// The repository ids for which `_is_a` answers yes: the interface's own and those of all its bases.
    pub ancestors: &'static [&'static str],
    /// Operation names as they travel, and the ways to find one.
    pub operations: OperationTable,
}

impl Interface {
    /// Whether an object of this interface is one of `repository_id` (`CORBA::Object` is every object's base).
    pub fn is_a(&self, repository_id: &str) -> bool {
        self.ancestors.contains(&repository_id) || repository_id == crate::reference::OBJECT_ID
    }
}

/// Operations that every object has; they end every operation table, in this order.
/// `_not_existent` is what GIOP 1.0 clients may call `_non_existent`.
pub const IMPLICIT_OPERATIONS: [&str; 6] =
    ["_is_a", "_non_existent", "_interface", "_component", "_repository_id", "_not_existent"];

/// An operation as a stub calls it: its name for GIOP, its index for a peer that dispatches by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The name on the wire (`_get_x` and `_set_x` for attributes).
    pub name: &'static str,
    /// The position in the interface's operation table.
    pub index: u32,
    /// Says which operation the index means, to a peer whose table may be another interface's.
    check: u32,
}

impl Operation {
    /// An operation of the given wire name and index.
    pub const fn new(name: &'static str, index: u32) -> Self {
        Self { name, index, check: operation_check(name) }
    }

    /// What the native protocol sends beside the index.
    pub(crate) const fn check(&self) -> u32 {
        self.check
    }
}

/// The operations of one interface, inherited and implicit ones included, found by name in one of the ways of
/// the TAO paper, section 2.2.
///
/// The perfect hash was computed by the IDL compiler. The tables of the other two strategies are made the first
/// time an adapter that uses them activates an object of the interface.
pub struct OperationTable {
    perfect: NameTable,
    dynamic: OnceLock<HashedNames>,
    /// By index: [`Operation::check`].
    checks: OnceLock<Box<[u32]>>,
}

impl std::fmt::Debug for OperationTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl OperationTable {
    /// A table over a perfect hash made by the IDL compiler.
    pub const fn new(perfect: NameTable) -> Self {
        Self { perfect, dynamic: OnceLock::new(), checks: OnceLock::new() }
    }

    /// The names on the wire, in the order of their indices.
    pub fn names(&self) -> &'static [&'static str] {
        self.perfect.names()
    }

    /// The index of the first of [`IMPLICIT_OPERATIONS`].
    pub fn implicit_base(&self) -> u32 {
        (self.perfect.names().len() - IMPLICIT_OPERATIONS.len()) as u32
    }

    /// Makes the tables that `strategy` needs, so that no call pays for it.
    pub(crate) fn prepare(&self, strategy: Strategy) {
        self.checks();
        if strategy == Strategy::DynamicHash {
            self.hashed();
        }
    }

    fn hashed(&self) -> &HashedNames {
        self.dynamic.get_or_init(|| HashedNames::new(self.perfect.names(), crate::random::seed()))
    }

    fn checks(&self) -> &[u32] {
        self.checks.get_or_init(|| self.names().iter().map(|name| operation_check(name)).collect())
    }

    /// Finds an operation by its index in the caller's table, and the check that says which operation was meant.
    #[inline(always)]
    pub(crate) fn find_checked(&self, index: u32, check: u32) -> Option<u32> {
        let checks = self.checks();
        if checks.get(index as usize) == Some(&check) { Some(index) } else { find_check(checks, check) }
    }

    /// Finds an operation by its name on the wire, without the terminating NUL.
    ///
    /// `predicted` is the index found by the last call that came the same way. Under [`Strategy::Active`] it is
    /// verified with one comparison of the name; only a wrong prediction costs the perfect hash.
    #[inline]
    pub fn find(&self, strategy: Strategy, name: &[u8], predicted: u32) -> Option<u32> {
        match strategy {
            Strategy::Active if self.is(predicted, name) => Some(predicted),
            Strategy::Active | Strategy::PerfectHash => self.perfect.find(name),
            Strategy::DynamicHash | Strategy::Linear => self.find_slowly(strategy, name),
        }
    }

    /// Whether `name` has this index.
    #[inline(always)]
    pub(crate) fn is(&self, index: u32, name: &[u8]) -> bool {
        self.perfect.is(index, name)
    }

    /// As [`find`](Self::find) by [`Strategy::PerfectHash`].
    #[inline(always)]
    pub(crate) fn find_perfectly(&self, name: &[u8]) -> Option<u32> {
        self.perfect.find(name)
    }

    /// The strategies that are there to be compared with.
    #[cold]
    #[inline(never)]
    pub(crate) fn find_slowly(&self, strategy: Strategy, name: &[u8]) -> Option<u32> {
        match strategy {
            Strategy::DynamicHash => self.hashed().find(name),
            _ => LinearNames::new(self.perfect.names()).find(name),
        }
    }
}

/// The caller's table is that of a base interface, or has no such operation. A check that two operations share means
/// neither.
#[cold]
#[inline(never)]
fn find_check(checks: &[u32], check: u32) -> Option<u32> {
    let mut found = (0u32..).zip(checks).filter(|&(_, other)| *other == check).map(|(index, _)| index);
    found.next().filter(|_| found.next().is_none())
}

/// `CORBA::Object`: the operations that every object has, and no others.
pub(crate) fn object() -> &'static Interface {
    static OBJECT: OnceLock<Interface> = OnceLock::new();
    OBJECT.get_or_init(|| {
        let built = throughline_demux::build_names(&IMPLICIT_OPERATIONS);
        let built = built.expect("six names that differ have a perfect hash");
        // Once per process: an interface lives as long as that.
        let (displacements, slots) = (built.displacements.leak(), built.slots.leak());
        let names = NameTable::new(&IMPLICIT_OPERATIONS, built.seed, displacements, slots);
        Interface {
            repository_id: crate::reference::OBJECT_ID,
            ancestors: &[crate::reference::OBJECT_ID],
            operations: OperationTable::new(names),
        }
    })
}
