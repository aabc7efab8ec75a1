//! The part that runs under callgrind.

use std::hint::black_box;

use super::{SIZES, Talk, Talks, Way, ways};
use crate::LabError;
use crate::callgrind::{counted, dump, start};

/// Messages counted for each way; every one costs the same.
pub(super) const MESSAGES: usize = 16;

/// The label of what is counted.
pub(super) fn label(what: &str, way: Way, bytes: usize) -> String {
    let Way { stack, architecture, lowest, checksums } = way;
    format!("{what} {} {} {lowest} {checksums} {bytes}", stack.name(), architecture.name())
}

/// See the module.
///
/// # Errors
/// When a message does not arrive.
pub(crate) fn play(_arguments: &[String]) -> Result<(), LabError> {
    for way in ways() {
        let mut talk = Talk::new(way)?;
        let mut apart = if way.has_data_checked() { Some(Talk::apart(way)?) } else { None };
        for bytes in SIZES {
            let data = vec![7; bytes];
            if let Some(apart) = &mut apart {
                counted_places("place-apart", apart, way, &data)?;
                counted_places("place", &mut talk, way, &data)?;
            }
            receive(&mut talk, &data)?;
            start();
            receive(&mut talk, &data)?;
            dump(&label("receive", way, bytes));
            round_trips(&mut talk, &data)?;
            start();
            round_trips(&mut talk, &data)?;
            dump(&label("round-trip", way, bytes));
        }
    }
    Ok(())
}

/// Counts what the server spends from a frame to the data in its user's hands.
fn receive(talk: &mut Talk, data: &[u8]) -> Result<(), LabError> {
    for _ in 0..MESSAGES {
        let frame = talk.request(data)?;
        let now = talk.now;
        let came = counted(|| {
            talk.server.arrive(frame, now);
            talk.received()
        })?;
        // A stream's sender has to be told what came before it sends much more.
        talk.answered(black_box(came))?;
    }
    Ok(())
}

fn counted_places(what: &str, talk: &mut Talk, way: Way, data: &[u8]) -> Result<(), LabError> {
    place(talk, data)?;
    start();
    place(talk, data)?;
    dump(&label(what, way, data.len()));
    Ok(())
}

/// Counts what the server spends from a frame to the data where its user wants it.
fn place(talk: &mut Talk, data: &[u8]) -> Result<(), LabError> {
    let mut place = vec![0; data.len()];
    for _ in 0..MESSAGES {
        let frame = talk.request(data)?;
        let now = talk.now;
        counted(|| {
            talk.server.arrive(frame, now);
            talk.received_into(black_box(&mut place))
        })?;
    }
    Ok(())
}

fn round_trips(talk: &mut Talk, data: &[u8]) -> Result<(), LabError> {
    for _ in 0..MESSAGES {
        counted(|| talk.round_trip(data))?;
    }
    Ok(())
}
