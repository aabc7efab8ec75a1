//! Table 2: which proposals put what into headers. Ours is read back from a label; the others are as the paper has them.

use throughline_forward::{Label, Packet, insert_label};
use throughline_stack::Message;
use throughline_wire::{Flow, RegionKind, RegionList};

use super::{Test, cell, measured, shown};
use crate::experiments::paths::failed;
use crate::{LabError, Row};

const HEADER: &str = "crates/wire/tests/header.rs";
const LABELS: Test = Test("crates/forward/tests/labels.rs", "a_label_goes_on_and_comes_off");
const STRANGERS: Test = Test(HEADER, "regions_of_strangers_are_judged");
const LAYOUT: Test = Test(HEADER, "the_layout");
const LISTS: Test = Test("crates/wire/tests/parts.rs", "lists_have_limits");

/// The paper's columns, and which regions of a label are theirs.
const COLUMNS: [(&str, &[RegionKind]); 5] = [
    ("memory destination", &[RegionKind::Destination]),
    ("dispatch", &[RegionKind::Dispatch]),
    ("pointer to data", &[RegionKind::Payload]),
    ("self-describing fragments", &[]),
    (
        "encryption, integrity",
        &[RegionKind::Encrypted, RegionKind::Key, RegionKind::Integrity, RegionKind::Check],
    ),
];

/// The paper's lines, each with its columns.
const PROPOSALS: [(&str, [bool; 5]); 7] = [
    ("VAX Clusters", [true, false, false, false, false]),
    ("Axon", [true, false, false, false, false]),
    ("Active Messages", [true, true, false, false, false]),
    ("Abbott and Peterson", [false, false, true, false, false]),
    ("Birrell and Nelson", [false, true, false, false, false]),
    ("Chunks", [false, false, false, true, false]),
    ("DML", [true, true, true, false, true]),
];
const OURS: &str = "ours";
const ETHERNET: usize = 14;
const BYTES: u32 = 8;

pub(super) fn rows() -> Result<Vec<Row>, LabError> {
    let mut rows = Vec::new();
    for (line, columns) in PROPOSALS {
        for ((column, _), has) in COLUMNS.into_iter().zip(columns) {
            let row = cell(2, line, column, says(has), "carried", has.into());
            rows.push(row.with("backed_by", "the paper, table 2"));
        }
    }
    let read = read_back()?;
    for (column, kinds) in COLUMNS {
        let found = kinds.iter().filter(|kind| read.contains(kind)).count();
        let has = !kinds.is_empty() && found == kinds.len();
        let expected = PROPOSALS[PROPOSALS.len() - 1].1[rows.len() % COLUMNS.len()];
        let row = cell(2, OURS, column, says(has), "carried", has.into()).paper(expected.into());
        rows.push(measured(row, "regions of a label, read from a frame"));
    }
    for (column, says, test) in [
        ("regions", "put on, and marked from the packet's first byte", LABELS),
        ("regions", "refused if they leave the message or are unknown", STRANGERS),
        ("regions", "where they lie", LAYOUT),
        ("regions", "moved by headers in front, and limited", LISTS),
    ] {
        rows.push(shown(cell(2, OURS, column, says, "shown", 1.0), test));
    }
    Ok(rows)
}

fn says(has: bool) -> &'static str {
    if has { "yes" } else { "" }
}

/// The kinds of regions whose bytes were found through a label where they lie.
fn read_back() -> Result<Vec<RegionKind>, LabError> {
    let mut regions = RegionList::new();
    let mut frame = vec![0; ETHERNET];
    for (n, kind) in (0..).zip(RegionKind::ALL) {
        regions.push(*kind, 0, n * BYTES, BYTES).map_err(failed)?;
        frame.extend([*kind as u8; BYTES as usize]);
    }
    let mut frame = Message::copied(1024, &frame);
    let label = Label { flow: Flow { id: 1, source_hash: 2 }, threaded: false };
    insert_label(&mut frame, label, &regions).map_err(failed)?;
    let packet = Packet::of(frame.bytes()).map_err(failed)?;
    let own = |kind: &&RegionKind| {
        let region = packet.regions.find(**kind);
        let bytes = region.and_then(|region| region.of(&frame.bytes()[ETHERNET..]));
        bytes == Some(&[**kind as u8; BYTES as usize])
    };
    Ok(RegionKind::ALL.iter().filter(own).copied().collect())
}
