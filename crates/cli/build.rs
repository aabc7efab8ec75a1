//! Compiles the IDL of the demonstration.

fn main() -> Result<(), throughline_idl::CompileError> {
    throughline_idl::compile("idl/bank.idl")?;
    throughline_idl::compile("idl/hundred.idl")
}
