//! Generates the modules under test: those whose text is compared in the compiler's own tests.

use throughline_idl::{CompileError, Config};

const FILES: [&str; 7] = ["bank", "inheritance", "names", "naming", "root", "types", "unions"];

fn main() -> Result<(), CompileError> {
    for file in FILES {
        Config::new().compile(format!("../idl/tests/generate/{file}.idl"))?;
    }
    Config::new().compile("idl/large.idl")?;
    // Takes what another file defines from the Rust code that was generated for that.
    Config::new()
        .include_dir("../idl/tests/generate")
        .define("STEPS=3")
        .extern_path("::CosNaming", "crate::naming::cos_naming")
        .compile("idl/second.idl")
}
