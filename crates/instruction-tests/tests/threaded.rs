//! Steps by threaded index.

mod common;

use common::Program;

static PROGRAM: Program = Program::new("threaded_instructions");

#[test]
fn index_to_route() {
    if !PROGRAM.can_be_counted() {
        return;
    }
    let base = PROGRAM.per_iteration("no-step");
    // As the paper's, which did not compare the entry with the destination.
    PROGRAM.check("step", base, 8.0);
    // The index is masked in one register and copied to another; the usual number of places takes neither mask nor copy.
    PROGRAM.check("step-of-large", base, 9.0);
    // Addresses are compared in halves.
    PROGRAM.check("step-6", base, 16.0);
}
