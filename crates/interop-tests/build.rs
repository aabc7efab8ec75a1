//! Compiles the IDL that the peers of other ORBs are built from as well.

use throughline_idl::CompileError;

fn main() -> Result<(), CompileError> {
    for file in ["interop", "hundred", "awkward"] {
        throughline_idl::compile(format!("../../interop/idl/{file}.idl"))?;
    }
    throughline_idl::compile("../lab/idl/bench.idl")
}
