//! The lookups of a run again, against the clock.

use std::hint::black_box;
use std::time::{Duration, Instant};

use throughline_demux::{Locator, Slot};

use super::machines::{End, Setup};
use crate::LabError;
use crate::traffic::{Event, Kind, keys};

/// The time for all lookups, and the server's insertions, in the order of the packets; so many times, one after another.
pub(crate) fn times(setup: Setup, packets: &[(End, Event)], count: usize) -> Result<Vec<Duration>, LabError> {
    let packets: Vec<_> =
        packets.iter().map(|(end, event)| (*end, *event, keys::one_client(event.flow))).collect();
    let mut times = Vec::new();
    for _ in 0..count {
        let (mut server, mut client) = (setup.locator()?, setup.locator()?);
        for connection in 0..setup.connections {
            client.insert_new(keys::one_client(connection), Slot(connection))?;
        }
        let started = Instant::now();
        for (end, event, key) in &packets {
            match end {
                End::Client => black_box(client.find(key)),
                End::Server => black_box(server.find(key)),
            };
            if event.kind == Kind::Open {
                server.insert_new(*key, Slot(event.flow))?;
            }
        }
        times.push(started.elapsed());
    }
    Ok(times)
}
