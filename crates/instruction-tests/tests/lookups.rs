//! Lookups by handle, flow and name.

mod common;

use common::Program;

static PROGRAM: Program = Program::new("lookup_instructions");
static BATCHES: Program = Program::new("batch_instructions");

#[test]
fn handle_to_record() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    let base = PROGRAM.per_iteration("no-object:2");
    let one = PROGRAM.check("get:2", base, 13.5);
    // The same for the first and the last of few and of many.
    for what in ["get-first:1000000", "get:1000000"] {
        // Start-up may differ by an instruction or two between runs, which is nothing per iteration.
        let count = PROGRAM.check(what, base, 13.5);
        assert!((count - one).abs() < 0.01, "{what}: {count}, not {one}");
    }
    PROGRAM.check("get-slot:1000", base, 9.0);
    PROGRAM.check("release:1000", base, 18.0);
    PROGRAM.check("stale:1000", base, 12.0);
    // From the handle in registers.
    let base = PROGRAM.per_iteration("no-handle:1000");
    PROGRAM.check("exclusive:1000", base, 8.0);
    PROGRAM.check("reader:1000", base, 9.0);
}

#[test]
fn flow_to_slot() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    let base = PROGRAM.per_iteration("no-flow:1000");
    PROGRAM.check("direct:1000", base, 8.0);
    PROGRAM.check("source-cache:1000", base, 20.0);
    PROGRAM.check("source-hash:1000", base, 20.0);
}

#[test]
fn flow_to_record() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    // With the making of keys, some 25 for each: how many of them a loop that does nothing else needs depends on what is built
    // with it.
    for (few, change) in [(2_000, 214.0), (12_000, 193.0)] {
        PROGRAM.check(&format!("flow-get:{few}"), 0.0, 74.0);
        PROGRAM.check(&format!("flow-change:{few}"), 0.0, change);
    }
    PROGRAM.check("flow-get:100000", 0.0, 89.0);
    PROGRAM.check("flow-change:100000", 0.0, 225.0);
    for flows in [2_000, 100_000] {
        BATCHES.check(&format!("reader:{flows}"), 0.0, 184.0);
    }
    for flows in [20_000, 100_000] {
        BATCHES.check(&format!("owner:{flows}"), 0.0, 93.0);
    }
    for (flows, most) in [(2_000, 86.0), (20_000, 98.0), (100_000, 98.0)] {
        BATCHES.check(&format!("fours:{flows}"), 0.0, most);
    }
}

#[test]
fn name_to_index() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    let base = PROGRAM.per_iteration("no-name:8");
    for length in 0..=24 {
        PROGRAM.check(&format!("perfect:{length}"), base, 60.0);
    }
    PROGRAM.check("perfect:54", base, 120.0);
    PROGRAM.check("predicted:16", base, 25.0);
}
