//! The interfaces that the experiment dispatches to: generated from IDL that the build script writes.

use std::hint::black_box;

use throughline::rt::{Interface, Skeleton};
use throughline::{Adapter, AdapterError, ObjectRef, SystemException, TypedReference};

#[allow(missing_docs)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/shapes.rs"));
}
pub(crate) use generated::shapes;

/// An interface of so many operations, and everything that is made of it.
pub(crate) struct Shape {
    /// `paper`, `census` or `lengths`.
    pub(crate) family: &'static str,
    /// Own operations; the implicit ones come on top.
    pub(crate) operations: u32,
    /// The generated operation table and its company.
    pub(crate) interface: &'static Interface,
    /// Activates a servant that does nothing.
    pub(crate) activate: fn(&Adapter) -> Result<ObjectRef, AdapterError>,
    /// The generated skeleton over such a servant.
    pub(crate) skeleton: fn() -> Box<dyn Skeleton>,
    /// What one would write by hand: a `match` over the names.
    pub(crate) plain_match: fn(&[u8]) -> Option<u32>,
}

impl Shape {
    /// The shape of that many operations.
    pub(crate) fn of(operations: u32) -> &'static Self {
        let shape = SHAPES.iter().find(|shape| shape.operations == operations);
        shape.expect("shapes are chosen among those that the build script wrote")
    }

    /// The names of the shape's own operations.
    pub(crate) fn names(&self) -> &'static [&'static str] {
        &self.interface.operations.names()[..self.operations as usize]
    }
}

/// A servant whose operations do nothing. It has no size, so that all memory measured is the adapter's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing;

/// Each operation is a function of its own, as real ones are: otherwise the compiler would fold them into one and
/// the skeleton's `match` with it.
#[inline(always)]
fn done(operation: u32) -> Result<(), SystemException> {
    black_box(operation);
    Ok(())
}

include!(concat!(env!("OUT_DIR"), "/shape_servants.rs"));
