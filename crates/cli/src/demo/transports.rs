//! One call over every transport that the server offers.

use std::time::Instant;

use throughline::{Ior, Orb, OrbConfig, Strategy, Transport as Carrier, TypedReference};
use throughline_giop::TaggedProfile;

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

/// Calls the same object over each transport that its reference offers, in turns.
pub fn measure(peer: &Peer, calls: usize) -> Result<Vec<Transport>> {
    let failed = |e: &dyn std::fmt::Display| Failure::new("a call failed").because(e);
    let objects = peer.showroom.objects(Strategy::Active.name()).map_err(|e| failed(&e))?;
    let first = objects.into_iter().flatten().next().ok_or_else(|| failed(&"there are no objects"))?;
    let ior = first.as_object().ior();
    let orb = Orb::start(OrbConfig { native: true, ..peer.orb.config().clone() });
    let orb = orb.map_err(|e| Failure::new("cannot start an ORB").because(e))?;
    let alone = |profile: &TaggedProfile| {
        let ior = Ior { type_id: ior.type_id.clone(), profiles: vec![profile.clone()] };
        let target = HundredRef::from_object(orb.reference(ior));
        let name = name(target.as_object().way()?.transport)?;
        Some((Transport { name, call: Samples::default() }, target))
    };
    let mut transports: Vec<_> = ior.profiles.iter().filter_map(alone).collect();
    transports.sort_by_key(|(transport, _)| ORDER.iter().position(|(_, name)| *name == transport.name));
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

/// Transports as they are shown, the fastest first.
const ORDER: [(Carrier, &str); 4] = [
    (Carrier::Shm, "shared memory"),
    (Carrier::Udp, "UDP"),
    (Carrier::Unix, "Unix sockets"),
    (Carrier::Iiop, "TCP"),
];

fn name(carrier: Carrier) -> Option<&'static str> {
    ORDER.iter().find(|(other, _)| *other == carrier).map(|(_, name)| *name)
}
