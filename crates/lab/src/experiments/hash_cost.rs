//! Instructions to get a table index from a packet: carried in it, or computed from its flow id.

use std::hint::black_box;
use std::sync::LazyLock;

use throughline_demux::{Carried, Crc32, FlowId, Fnv1a, Key, KeyHash, Keyed, Multiplicative, XorFold};

use crate::callgrind::{self, Labelled, counted, dump, start};
use crate::table::{figure, targets};
use crate::{Experiment, LabError, Options, Row, Sink, Table};

/// The paper's cache has 65,536 entries.
const MASK: u32 = 0xffff;
/// Packets counted for each scheme; every one costs the same.
const PACKETS: usize = 64;
/// To take the index out of the packet: a load and the mask.
const SOURCE_HASH: f64 = 2.0;

/// See the module.
pub(crate) struct HashCost;

/// A way to an index, by its name in rows, with the paper's count where it has one (table 4).
struct Scheme {
    name: &'static str,
    paper: Option<f64>,
    index: fn(&Packet) -> u32,
}

/// What a header carries: a flow id of 12 bytes, and at a word boundary the source hash.
type Packet = Carried<FlowId>;

const SCHEMES: [Scheme; 6] = [
    Scheme { name: "source-hash", paper: Some(2.0), index: carried },
    Scheme { name: "xor", paper: Some(15.0), index: |packet| masked(&XorFold, packet) },
    Scheme { name: "crc32", paper: Some(100.0), index: |packet| masked(&Crc32, packet) },
    Scheme { name: "fnv", paper: None, index: |packet| masked(&Fnv1a, packet) },
    Scheme { name: "multiplicative", paper: None, index: |packet| masked(&Multiplicative, packet) },
    Scheme { name: "keyed", paper: None, index: keyed },
];

/// A call that returns 0, to be taken off; the instruction that makes the 0 is not the call's.
const NOTHING: &str = "nothing";
const OF_NOTHING: f64 = 1.0;

impl Experiment for HashCost {
    fn name(&self) -> &'static str {
        "hash-cost"
    }

    fn purpose(&self) -> &'static str {
        "instructions to get a table index from a packet: carried in it, or computed from its flow id"
    }

    fn claims(&self) -> &'static [&'static str] {
        &["HDR-2"]
    }

    fn run(&self, _options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
        if let Some(missing) = callgrind::missing() {
            sink.note(missing);
            return Ok(());
        }
        sink.ahead(1);
        sink.step("counting instructions");
        for Counted { scheme, paper, instructions } in count_all()? {
            let row = Row::new("hash-cost", "instructions", "instructions", instructions)
                .claim("HDR-2")
                .with("scheme", scheme);
            let row = if let Some(paper) = paper { row.paper(paper) } else { row };
            sink.row(if scheme == "source-hash" { row.at_most(SOURCE_HASH) } else { row })?;
        }
        Ok(())
    }

    fn tables(&self, rows: &[Row]) -> Vec<Table> {
        let mut table = Table::new(
            "Instructions from a packet's flow id of 12 bytes to the index into 65,536 entries",
            ["scheme", "ours", "paper"],
        )
        .remark(
            "The paper's CRC is two of 8 bits, by table or not it does not say; ours is one of 32, by table.",
        )
        .remark("keyed: the default of the library's tables, which a stranger cannot make collide.");
        for row in rows.iter().filter(|row| row.text("metric") == "instructions") {
            let paper = row.number("paper").map(figure).unwrap_or_default();
            table.line([row.text("scheme").to_owned(), figure(row.value()), paper]);
        }
        vec![table, targets(rows, |row| format!("index by {}", row.text("scheme")))]
    }
}

/// What a scheme takes, beside the paper's count where it has one.
pub(crate) struct Counted {
    pub(crate) scheme: &'static str,
    pub(crate) paper: Option<f64>,
    pub(crate) instructions: f64,
}

/// Counts all schemes.
///
/// # Errors
/// As [`callgrind::run`].
pub(crate) fn count_all() -> Result<Vec<Counted>, LabError> {
    let counts = callgrind::run("hash-cost-probe", &[])?;
    let nothing = per_packet(&counts, NOTHING) - OF_NOTHING;
    let one = |scheme: &Scheme| Counted {
        scheme: scheme.name,
        paper: scheme.paper,
        instructions: per_packet(&counts, scheme.name) - nothing,
    };
    Ok(SCHEMES.iter().map(one).collect())
}

fn per_packet(counts: &Labelled, label: &str) -> f64 {
    let found = counts.iter().find(|(name, _)| name == label);
    found.map_or(f64::NAN, |(_, counts)| counts.instructions / PACKETS as f64)
}

/// The part that runs under callgrind.
///
/// # Errors
/// None; a part may have some.
pub(crate) fn play(_arguments: &[String]) -> Result<(), LabError> {
    let packets: Vec<Packet> = (0..PACKETS as u32).map(packet).collect();
    count(NOTHING, &packets, |_| 0);
    for scheme in &SCHEMES {
        count(scheme.name, &packets, scheme.index);
    }
    Ok(())
}

/// Once to warm up: what is resolved at the first call does not count.
fn count(label: &str, packets: &[Packet], index: fn(&Packet) -> u32) {
    // A call through a pointer, so that nothing is computed before the counting begins.
    let index = black_box(index);
    black_box(index(&packets[0]));
    start();
    for packet in packets {
        counted(|| black_box(index(packet)));
    }
    dump(label);
}

/// A packet from one host of a subnet to another.
fn packet(n: u32) -> Packet {
    let mut id = [0; 12];
    id[..4].copy_from_slice(&(0xc0a8_0001 + n).to_be_bytes());
    id[4..8].copy_from_slice(&0x0a00_0007_u32.to_be_bytes());
    id[8..].copy_from_slice(&n.to_be_bytes());
    Carried { index: n.wrapping_mul(0x9e37_79b9), key: FlowId::new(id) }
}

fn carried(packet: &Packet) -> u32 {
    packet.index().unwrap_or(0) & MASK
}

#[inline(always)]
fn masked(hash: &impl KeyHash, packet: &Packet) -> u32 {
    hash.hash(&packet.key) as u32 & MASK
}

fn keyed(packet: &Packet) -> u32 {
    static HASH: LazyLock<Keyed> = LazyLock::new(|| Keyed::new(7));
    masked(&*HASH, packet)
}
