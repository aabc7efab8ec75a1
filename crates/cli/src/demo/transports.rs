//! One call over every transport that the server offers.

use std::time::Instant;

use throughline::{Orb, OrbConfig, Strategy, TypedReference};

use super::hundred::CALLS;
use super::idl::lookup::HundredRef;
use super::peer::Peer;
use crate::failure::{Failure, Result};
use crate::statistics::Samples;

/// Calls in one turn of a transport: long enough for the system to give each process a core of its own.
const TURN: usize = 5_000;

/// What a call costs over one transport.
pub struct Transport {
    pub name: &'static str,
    pub call: Samples,
}

/// Calls the same object over each transport, in turns.
pub fn measure(peer: &Peer, calls: usize) -> Result<Vec<Transport>> {
    let failed = |e: &dyn std::fmt::Display| Failure::new("a call failed").because(e);
    let objects = peer.showroom.objects(Strategy::Active.name()).map_err(|e| failed(&e))?;
    let first = objects.into_iter().flatten().next().ok_or_else(|| failed(&"there are no objects"))?;
    let reference = first.as_object().to_string();
    let orb = Orb::start(OrbConfig { native: true, ..peer.orb.config().clone() });
    let orb = orb.map_err(|e| Failure::new("cannot start an ORB").because(e))?;
    let native = HundredRef::from_object(orb.string_to_object(&reference).map_err(|e| failed(&e))?);
    let mut transports = [("shared memory", native), ("TCP", first)]
        .map(|(name, target)| (Transport { name, call: Samples::default() }, target));
    for turn in 0..=calls.div_ceil(TURN) {
        for (transport, target) in &mut transports {
            for _ in 0..TURN {
                let started = Instant::now();
                CALLS[0](target).map_err(|e| failed(&e))?;
                let took = started.elapsed();
                // The first turn connects and warms up.
                if turn > 0 {
                    transport.call.add(took.as_nanos() as f64);
                }
            }
        }
    }
    Ok(transports.into_iter().map(|(transport, _)| transport).collect())
}
