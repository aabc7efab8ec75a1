//! Frames of real captures, where there are any: in the folder that `THROUGHLINE_DATA` names, and those of Debian's source
//! packages that the tests of the command have fetched.

use std::fs;
use std::path::{Path, PathBuf};

use throughline_capture::{Capture, Source};
use throughline_forward::{
    FilterBank, FilterBankConfig, FlowIndex, Packet,
    filter::{Consumer, Libpcap, Program, Reference, View},
};
use throughline_stack::smoltcp::time::Instant;

use crate::expressions;
use crate::{libpcap, skipped};

/// Frames of Ethernet in the registry of link types.
const ETHERNET: u32 = 1;
/// More tell nothing new.
const MOST: usize = 2000;

#[test]
fn captured_frames() {
    let Some(libpcap) = libpcap() else { return };
    let data = std::env::var_os("THROUGHLINE_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let debian = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debian-captures");
    let captures = [files(&data), files(&debian)].concat();
    if captures.is_empty() {
        return skipped("no captures (set THROUGHLINE_DATA to a folder)");
    }
    let mut frames = 0;
    for capture in &captures {
        frames += check(libpcap, capture);
    }
    println!("{frames} frames of {} captures", captures.len());
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(files(&path)),
            Ok(_) if path.extension().is_some_and(|end| end == "pcap" || end == "pcapng") => all.push(path),
            _ => {}
        }
    }
    all
}

/// All filters over a capture: alone, in libpcap, and in a bank of each kind. How many frames there were.
fn check(libpcap: &Libpcap, capture: &Path) -> usize {
    let frames = frames(capture);
    let programs: Vec<Program> = expressions::all().map(|text| libpcap.compile(text).unwrap()).collect();
    let references: Vec<Reference<'_>> = programs.iter().map(|program| libpcap.reference(program)).collect();
    let mut banks = [FlowIndex::Never, FlowIndex::Computed, FlowIndex::Either].map(|index| {
        let mut bank = FilterBank::new(FilterBankConfig { index, ..FilterBankConfig::default() }).unwrap();
        for (program, n) in programs.iter().zip(0..) {
            bank.add(program.clone(), Consumer(n));
        }
        bank
    });
    for frame in &frames {
        let Some(view) = View::of(frame) else { continue };
        let mut wanted = Vec::new();
        for ((program, reference), n) in programs.iter().zip(&references).zip(0..) {
            let result = reference.run(frame);
            assert_eq!(program.run(&view), result);
            wanted.extend((result != 0).then_some(Consumer(n)));
        }
        for bank in &mut banks {
            let Ok(packet) = Packet::of(frame) else { continue };
            assert_eq!(bank.consumers(&packet, Instant::ZERO).iter().collect::<Vec<_>>(), wanted);
        }
    }
    frames.len()
}

fn frames(capture: &Path) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let Ok(source) = Source::open(capture) else { return frames };
    let Ok(capture) = Capture::open(source) else { return frames };
    // Some are damaged on purpose: what is before the damage counts.
    let _ = capture.read(|frame| {
        if frame.link == ETHERNET && frames.len() < MOST {
            frames.push(frame.data.to_vec());
        }
    });
    frames
}
