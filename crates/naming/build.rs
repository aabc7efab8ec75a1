//! Compiles the IDL of the name service.

fn main() -> Result<(), throughline_idl::CompileError> {
    throughline_idl::compile("idl/CosNaming.idl")
}
