//! A server without a network: an adapter full of objects, and requests to some of them.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use throughline::rt::TypedSkeleton;
use throughline::{Adapter, AdapterConfig, AdapterError, Address, ObjectRef, Orb, OrbConfig, Strategy};
use throughline_cdr::ByteOrder;
use throughline_giop::request::{NewRequest, RequestHeader, Response, begin_request};
use throughline_giop::{MessageHeader, NewTarget, Version, finish};

use super::shapes::Shape;
use crate::LabError;
use crate::random::Random;

/// How objects, and how operations, are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strategies {
    pub(crate) objects: Strategy,
    pub(crate) operations: Strategy,
}

impl Strategies {
    /// The paper's four: the same way for both.
    pub(crate) const PAPER: [Self; 4] = [
        Self::both(Strategy::Linear),
        Self::both(Strategy::DynamicHash),
        Self::both(Strategy::PerfectHash),
        Self::both(Strategy::Active),
    ];

    /// What users would choose or have beyond them: an IIOP client knows no operation index, so the first; the last is
    /// what a conventional ORB does (a hash table of objects, names compared one after another).
    pub(crate) const MIXED: [Self; 3] = [
        Self { objects: Strategy::Active, operations: Strategy::PerfectHash },
        Self { objects: Strategy::DynamicHash, operations: Strategy::PerfectHash },
        CONVENTIONAL,
    ];

    const fn both(strategy: Strategy) -> Self {
        Self { objects: strategy, operations: strategy }
    }
}

/// A hash table of objects, names compared one after another.
pub(crate) const CONVENTIONAL: Strategies =
    Strategies { objects: Strategy::DynamicHash, operations: Strategy::Linear };

impl fmt::Display for Strategies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match (self.objects, self.operations) {
            (objects, operations) if objects == operations => objects.to_string(),
            (objects, operations) => format!("{objects}+{operations}"),
        };
        f.pad(&name)
    }
}

/// Which object and operation are called (paper, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Invocation {
    /// Any object, any operation.
    Random,
    /// The last operation of the last object.
    WorstCase,
    /// The first operation of the first object.
    First,
}

impl Invocation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::WorstCase => "worst-case",
            Self::First => "first",
        }
    }
}

/// One request as it was received. Ranges are into the buffer of all requests.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) message: Range<usize>,
    pub(crate) key: Range<usize>,
    pub(crate) name: Range<usize>,
    pub(crate) operation: u32,
}

/// Requests one after another in memory, as a receive buffer has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    pub(crate) bytes: Vec<u8>,
    pub(crate) each: Vec<Request>,
}

impl Requests {
    fn add(&mut self, key: &[u8], name: &str, operation: u32) {
        let start = self.bytes.len();
        let request = NewRequest {
            request_id: self.each.len() as u32,
            response: Response::Target,
            target: NewTarget::Key(key),
            operation: name,
            service_contexts: &[],
        };
        let open = begin_request(&mut self.bytes, Version::V1_2, ByteOrder::NATIVE, &request);
        let open = open.expect("a short key and name make a request");
        finish(&mut self.bytes, open).expect("a short request fits a message");
        let message = &self.bytes[start..];
        let header = MessageHeader::of(message, usize::MAX).expect("just written");
        let read = RequestHeader::read(&header, message).expect("just written");
        let key = read.target.object_key().expect("the target is a key");
        let (key, name) = (range_in(&self.bytes, key), range_in(&self.bytes, read.operation));
        self.each.push(Request { message: start..self.bytes.len(), key, name, operation });
    }
}

fn range_in(all: &[u8], part: &[u8]) -> Range<usize> {
    let start = part.as_ptr().addr() - all.as_ptr().addr();
    start..start + part.len()
}

/// An ORB with one adapter of so many objects of one interface.
pub(crate) struct World {
    pub(crate) orb: Orb,
    pub(crate) shape: &'static Shape,
    pub(crate) strategies: Strategies,
    random: Requests,
    worst_case: Requests,
    first: Requests,
}

impl World {
    /// Activates the objects and makes up requests: `sample` random ones.
    pub(crate) fn new(
        strategies: Strategies,
        objects: u32,
        shape: &'static Shape,
        (seed, sample): (u64, u32),
    ) -> Result<Self, LabError> {
        Self::of(strategies, objects, shape, (seed, sample), shape.activate)
    }

    /// As [`new`](Self::new), with servants of the caller's.
    pub(crate) fn with_servants<S: TypedSkeleton>(
        strategies: Strategies,
        objects: u32,
        shape: &'static Shape,
        servant: impl Fn() -> S,
    ) -> Result<Self, LabError> {
        use throughline::TypedReference;
        Self::of(strategies, objects, shape, (1, 1), |adapter| {
            Ok(adapter.activate(servant())?.as_object().clone())
        })
    }

    fn of(
        strategies: Strategies,
        objects: u32,
        shape: &'static Shape,
        (seed, sample): (u64, u32),
        activate: impl Fn(&Adapter) -> Result<ObjectRef, AdapterError>,
    ) -> Result<Self, LabError> {
        let (orb, adapter) = empty(strategies)?;
        let mut random = Random::new(seed);
        let chosen: Vec<(u32, u32)> =
            (0..sample).map(|_| (random.below(objects), random.below(shape.operations))).collect();
        let mut keys: HashMap<u32, Vec<u8>> =
            chosen.iter().map(|(object, _)| (*object, Vec::new())).collect();
        keys.extend([0, objects - 1].map(|object| (object, Vec::new())));
        for object in 0..objects {
            let reference = activate(&adapter)?;
            if let Some(key) = keys.get_mut(&object) {
                *key = reference.object_key();
            }
        }
        if strategies.objects == Strategy::PerfectHash {
            adapter.freeze()?;
        }
        let requests = |calls: &[(u32, u32)]| {
            let mut requests = Requests::default();
            for (object, operation) in calls {
                requests.add(&keys[object], shape.names()[*operation as usize], *operation);
            }
            requests
        };
        let worst_case = requests(&[(objects - 1, shape.operations - 1)]);
        let (random, first) = (requests(&chosen), requests(&[(0, 0)]));
        Ok(Self { orb, shape, strategies, random, worst_case, first })
    }

    /// The requests of one kind.
    pub(crate) fn requests(&self, invocation: Invocation) -> &Requests {
        match invocation {
            Invocation::Random => &self.random,
            Invocation::WorstCase => &self.worst_case,
            Invocation::First => &self.first,
        }
    }
}

/// An ORB that listens (references need an address) with an adapter that has no objects yet.
pub(crate) fn empty(strategies: Strategies) -> Result<(Orb, Adapter), LabError> {
    let listen = vec![Address::tcp("127.0.0.1", 0)];
    let orb = Orb::start(OrbConfig { listen, ..OrbConfig::default() })?;
    let Strategies { objects, operations } = strategies;
    let config = AdapterConfig { objects, operations, stable_keys: false };
    let adapter = orb.root().create_child("lab", config)?;
    Ok((orb, adapter))
}
