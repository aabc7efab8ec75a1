//! The part that runs under callgrind: builds one world and counts its steps.

use std::hint::black_box;

use throughline::rt::{Dispatched, Interface, Reader, ServerCall, Skeleton, TypedSkeleton};
use throughline::{Orb, Strategy};
use throughline_cdr::ByteOrder;

use super::shapes::{Shape, shapes};
use super::steps::invoke;
use super::world::{Invocation, Requests, Strategies, World};
use crate::LabError;
use crate::callgrind::{counted, counted_cold, dump, start, toggle};

/// Repetitions of calls that are all the same.
const SAME: usize = 8;
/// Random calls counted.
pub(crate) const SAMPLE: u32 = 512;

/// What to build and count: the arguments of the part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    pub(crate) strategies: Strategies,
    pub(crate) objects: u32,
    pub(crate) operations: u32,
    pub(crate) seed: u64,
}

impl Probe {
    pub(crate) fn arguments(&self) -> Vec<String> {
        let Self { strategies, objects, operations, seed } = self;
        let names = [strategies.objects, strategies.operations].map(|s| s.name().to_owned());
        let numbers = [u64::from(*objects), u64::from(*operations), *seed].map(|n| n.to_string());
        names.into_iter().chain(numbers).collect()
    }

    fn parse(arguments: &[String]) -> Option<Self> {
        let [objects_by, operations_by, objects, operations, seed] = arguments else { return None };
        let strategies =
            Strategies { objects: objects_by.parse().ok()?, operations: operations_by.parse().ok()? };
        let (objects, operations) = (objects.parse().ok()?, operations.parse().ok()?);
        Some(Self { strategies, objects, operations, seed: seed.parse().ok()? })
    }
}

/// The part's entry.
///
/// # Errors
/// When the arguments are not those of a [`Probe`], or the world cannot be built.
pub(crate) fn play(arguments: &[String]) -> Result<(), LabError> {
    let bad = || LabError::Child { who: "dispatch-probe".to_owned(), what: "bad arguments".to_owned() };
    let probe = Probe::parse(arguments).ok_or_else(bad)?;
    let shape = Shape::of(probe.operations);
    let world = World::new(probe.strategies, probe.objects, shape, (probe.seed, SAMPLE))?;
    for invocation in [Invocation::First, Invocation::WorstCase, Invocation::Random] {
        count_steps(&world, invocation);
    }
    if probe.strategies.operations != Strategy::Linear {
        count_names(&world);
    }
    drop(world);
    count_way(&World::with_servants(probe.strategies, probe.objects, shape, || Arrival(shape.interface))?);
    Ok(())
}

/// Counts `work` over the requests: once to warm up, then for good.
fn count(label: &str, requests: &Requests, mut work: impl FnMut(&Requests, usize)) {
    let repeat = if requests.each.len() == 1 { SAME } else { 1 };
    (0..requests.each.len()).for_each(|at| work(requests, at));
    start();
    for at in 0..requests.each.len() * repeat {
        work(requests, at % requests.each.len());
    }
    dump(&format!("{label}/{}", requests.each.len() * repeat));
}

fn count_steps(world: &World, invocation: Invocation) {
    let requests = world.requests(invocation);
    let label = |step: &str| format!("{}/{step}", invocation.name());
    count(&label("nothing"), requests, |requests, at| {
        black_box(&requests.bytes[requests.each[at].key.clone()]);
        counted(|| black_box(()));
    });
    count(&label("find-object"), requests, |requests, at| {
        let key = black_box(&requests.bytes[requests.each[at].key.clone()]);
        counted(|| find_object(&world.orb, key));
    });
    let first = world.requests(Invocation::First);
    if let Some(object) = world.orb.find_object(&first.bytes[first.each[0].key.clone()]) {
        let mut predicted = 0;
        count(&label("find-operation"), requests, |requests, at| {
            let name = black_box(&requests.bytes[requests.each[at].name.clone()]);
            predicted = counted(|| black_box(object.find_operation(name, predicted))).unwrap_or(0);
        });
    }
    count(&label("plain-match"), requests, |requests, at| {
        let name = black_box(&requests.bytes[requests.each[at].name.clone()]);
        counted(|| black_box((world.shape.plain_match)(name)));
    });
    let (skeleton, mut out) = ((world.shape.skeleton)(), Vec::with_capacity(256));
    count(&label("skeleton"), requests, |requests, at| {
        let operation = requests.each[at].operation;
        counted(|| invoke(&*skeleton, operation, &mut out));
    });
    count(&label("message"), requests, |requests, at| {
        let message = black_box(&requests.bytes[requests.each[at].message.clone()]);
        out.clear();
        let _ = counted(|| black_box(world.orb.handle_message(message, &mut out)));
    });
    count_lines(world, invocation);
}

/// Cache lines: the same with and without the lookup, from empty caches; for one request and for all.
fn count_lines(world: &World, invocation: Invocation) {
    let requests = world.requests(invocation);
    let keys = |take| requests.each[..take].iter().map(|request| &requests.bytes[request.key.clone()]);
    let all = [1, requests.each.len()];
    for take in &all[..if all[1] == 1 { 1 } else { 2 }] {
        counted_cold(|| keys(*take).for_each(|key| nothing(black_box(key))));
        dump(&format!("{}/cold-nothing/{take}", invocation.name()));
        counted_cold(|| keys(*take).for_each(|key| find_object(&world.orb, black_box(key))));
        dump(&format!("{}/cold-find-object/{take}", invocation.name()));
    }
}

/// Finds an object and lets it go.
#[inline(never)]
fn find_object(orb: &Orb, key: &[u8]) {
    black_box(&orb.find_object(key));
}

/// Reads all of a key.
#[inline(never)]
fn nothing(key: &[u8]) {
    black_box(key.first().map(|first| (*first, key[key.len() - 1])));
}

/// Every name of the interface by itself, never predicted.
fn count_names(world: &World) {
    let first = world.requests(Invocation::First);
    let Some(object) = world.orb.find_object(&first.bytes[first.each[0].key.clone()]) else { return };
    for (index, name) in world.shape.names().iter().enumerate() {
        let name = black_box(name.as_bytes());
        let other = (index as u32 + 1) % world.shape.operations.max(2);
        black_box(object.find_operation(name, other));
        start();
        counted(|| black_box(object.find_operation(name, black_box(other))));
        dump(&format!("name-{}/find-operation/1", name.len()));
    }
}

/// Stands where a generated skeleton would: the counting ends where it begins.
struct Arrival(&'static Interface);

impl Skeleton for Arrival {
    fn interface(&self) -> &'static Interface {
        self.0
    }

    #[inline(never)]
    fn invoke(&self, _operation: u32, _call: &mut ServerCall<'_>) -> Dispatched {
        toggle();
        Ok(())
    }
}

impl TypedSkeleton for Arrival {
    type Reference = shapes::Paper1Ref;
}

/// The way from object key and operation to the skeleton's first instruction, beside a call of a skeleton at hand.
fn count_way(world: &World) {
    let (mut out, skeleton) = (Vec::with_capacity(256), Arrival(world.shape.interface));
    let mut call = ServerCall::new(Reader::new(&[], ByteOrder::NATIVE), &mut out, 0, true);
    for invocation in [Invocation::First, Invocation::WorstCase] {
        let requests = world.requests(invocation);
        let label = |step: &str| format!("{}/{step}", invocation.name());
        count(&label("at-hand"), requests, |requests, at| {
            let operation = black_box(requests.each[at].operation);
            let skeleton: &dyn Skeleton = black_box(&skeleton);
            toggle();
            let _ = black_box(skeleton.invoke(operation, &mut call));
        });
        count(&label("to-skeleton"), requests, |requests, at| {
            let key = black_box(&requests.bytes[requests.each[at].key.clone()]);
            let operation = black_box(requests.each[at].operation);
            let orb = black_box(&world.orb);
            toggle();
            if let Some(object) = orb.find_object(key) {
                let _ = black_box(object.invoke(operation, &mut call));
            }
        });
        count(&label("to-skeleton-by-name"), requests, |requests, at| {
            let key = black_box(&requests.bytes[requests.each[at].key.clone()]);
            let name = black_box(&requests.bytes[requests.each[at].name.clone()]);
            let (orb, predicted) = (black_box(&world.orb), black_box(requests.each[at].operation + 1));
            toggle();
            if let Some(object) = orb.find_object(key)
                && let Some(operation) = object.find_operation(name, predicted)
            {
                let _ = black_box(object.invoke(operation, &mut call));
            }
        });
    }
}
