//! What a call costs under each strategy: over IIOP, and in process where nothing but the dispatch is left.

use std::hint::black_box;
use std::time::Instant;

use indicatif::ProgressBar;
use throughline::{Address, ObjectRef, Orb, Strategy, TypedReference};
use throughline_cdr::ByteOrder;
use throughline_giop::request::{NewRequest, Response, begin_request};
use throughline_giop::{NewTarget, Version, finish};

use super::hundred::{self, CALLS, NAMES, Place, Random};
use super::idl::lookup::HundredRef;
use super::peer::Peer;
use crate::failure::{Failure, Result};
use crate::statistics::Samples;

/// What was measured of one strategy at one place.
pub struct Row {
    pub strategy: Strategy,
    pub place: Place,
    /// A call from process to process.
    pub call: Samples,
    /// From object key to object.
    pub object: Samples,
    /// From operation name to skeleton.
    pub operation: Samples,
    /// From request message to reply message.
    pub dispatch: Samples,
}

/// Rows of every strategy and place, none measured yet.
pub fn rows() -> Vec<Row> {
    let samples = Samples::default;
    let row = |strategy, place| Row {
        strategy,
        place,
        call: samples(),
        object: samples(),
        operation: samples(),
        dispatch: samples(),
    };
    Strategy::ALL.iter().flat_map(|s| Place::ALL.map(|p| row(*s, p))).collect()
}

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::new("a call failed").because(e)
}

/// Calls in one turn of a row.
const TURN: usize = 50;

/// Calls the server's objects; rows take turns, so that whatever else the machine does falls on all of them.
pub fn over_iiop(peer: &Peer, rows: &mut [Row], calls: usize, progress: &ProgressBar) -> Result {
    let mut random = Random(1);
    let mut objects: Vec<(Strategy, Vec<HundredRef>)> = Vec::new();
    for strategy in Strategy::ALL {
        let fetched = peer.showroom.objects(strategy.name()).map_err(failed)?;
        objects.push((strategy, fetched.into_iter().flatten().collect()));
    }
    for turn in 0..=calls.div_ceil(TURN) {
        for row in &mut *rows {
            let found = objects.iter().find(|(strategy, _)| *strategy == row.strategy);
            let objects = found.map_or(&[][..], |(_, objects)| objects);
            for _ in 0..TURN {
                let (object, operation) = row.place.draw(&mut random);
                let target = &objects[object];
                let started = Instant::now();
                let answer = CALLS[operation](target);
                let took = started.elapsed();
                let answer = answer.map_err(failed)?;
                if answer as usize != object * 100 + operation {
                    return Err(failed(format!("object {object}, operation {operation} answered {answer}")));
                }
                // The first turn warms up.
                if turn > 0 {
                    row.call.add(took.as_nanos() as f64);
                }
            }
            progress.inc(TURN as u64);
        }
    }
    Ok(())
}

/// One thing to look up: the key and the name, and a whole request with both.
struct Target {
    key: Vec<u8>,
    operation: usize,
    message: Vec<u8>,
}

impl Target {
    fn new(object: &ObjectRef, operation: usize) -> std::result::Result<Self, throughline_giop::TooLarge> {
        let (key, mut message) = (object.object_key(), Vec::new());
        let request = NewRequest {
            request_id: 1,
            response: Response::Target,
            target: NewTarget::Key(&key),
            operation: NAMES[operation],
            service_contexts: &[],
        };
        // A fresh buffer and a short name: writing the head cannot fail for another reason than size.
        let open = begin_request(&mut message, Version::V1_2, ByteOrder::NATIVE, &request);
        let open = open.map_err(|_| throughline_giop::TooLarge)?;
        finish(&mut message, open)?;
        Ok(Self { key, operation, message })
    }
}

/// Different requests that a random row draws from: more than caches and predictors know by heart.
const TARGETS: usize = 4096;
/// Lookups timed together.
const BATCH: usize = 256;

/// Does the same in this process, step by step.
pub fn in_process(rows: &mut [Row], batches: usize, progress: &ProgressBar) -> Result {
    let cannot = |e: &dyn std::fmt::Display| Failure::new("cannot serve in process").because(e);
    // It listens so that its references have keys; nobody connects.
    let orb = Orb::listening_at(&[Address::tcp("127.0.0.1", 0)]).map_err(|e| cannot(&e))?;
    let mut random = Random(2);
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        let objects = hundred::serve(orb.root(), strategy).map_err(|e| cannot(&e))?;
        for place in Place::ALL {
            let target = |_| {
                let (object, operation) = place.draw(&mut random);
                Target::new(objects[object].as_object(), operation)
            };
            let count = if place == Place::Random { TARGETS } else { 1 };
            let targets = (0..count).map(target).collect::<std::result::Result<Vec<_>, _>>();
            all.push(targets.map_err(|e| cannot(&e))?);
        }
    }
    for turn in 0..=batches {
        for (row, targets) in rows.iter_mut().zip(&all) {
            let batch: Vec<&Target> =
                targets.iter().cycle().skip(turn * BATCH % TARGETS).take(BATCH).collect();
            let measured = [objects(&orb, &batch), operations(&orb, &batch)?, dispatches(&orb, &batch)?];
            if turn > 0 {
                row.object.add(measured[0]);
                row.operation.add(measured[1]);
                row.dispatch.add(measured[2]);
            }
        }
        progress.inc(rows.len() as u64);
    }
    orb.shutdown(std::time::Duration::ZERO);
    Ok(())
}

/// Nanoseconds for one of the things that `each` does for all of a batch.
fn timed(batch: &[&Target], mut each: impl FnMut(&Target)) -> f64 {
    let started = Instant::now();
    batch.iter().for_each(|target| each(target));
    started.elapsed().as_nanos() as f64 / batch.len() as f64
}

fn objects(orb: &Orb, batch: &[&Target]) -> f64 {
    timed(batch, |target| {
        black_box(orb.find_object(black_box(&target.key)).is_some());
    })
}

fn operations(orb: &Orb, batch: &[&Target]) -> Result<f64> {
    let object = batch.first().and_then(|t| orb.find_object(&t.key));
    let object = object.ok_or_else(|| Failure::new("an object was not found in process"))?;
    let mut predicted = 0;
    Ok(timed(batch, |target| {
        let name = NAMES[target.operation].as_bytes();
        predicted = black_box(object.find_operation(black_box(name), predicted)).unwrap_or(0);
    }))
}

fn dispatches(orb: &Orb, batch: &[&Target]) -> Result<f64> {
    let mut out = Vec::with_capacity(256);
    let mut failures = 0;
    let each = timed(batch, |target| {
        out.clear();
        failures += usize::from(orb.handle_message(black_box(&target.message), &mut out).is_err());
        black_box(&out);
    });
    if failures > 0 || out.is_empty() {
        return Err(Failure::new("a request was not answered in process"));
    }
    Ok(each)
}
