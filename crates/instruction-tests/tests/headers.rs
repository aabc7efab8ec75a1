//! Headers of the native protocol, written and read.

mod common;

use common::Program;

static PROGRAM: Program = Program::new("header_instructions");

#[test]
fn written_and_read() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    // With the handing over of what is written and read, some 10 instructions.
    let base = PROGRAM.per_iteration("nothing");
    PROGRAM.check("write-request", base, 25.0);
    PROGRAM.check("write-reply", base, 25.0);
    PROGRAM.check("read-request", base, 52.0);
    PROGRAM.check("read-reply", base, 36.0);
    PROGRAM.check("read-region", base, 90.0);
}
