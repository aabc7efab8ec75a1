//! Checks IDL files and prints what is wrong with them: `check [-Idir].. [-Dname[=text]].. file..`
use throughline_idl::{Options, compile_to_model};

fn main() {
    let mut options = Options::default();
    let mut failed = false;
    for argument in std::env::args().skip(1) {
        if let Some(folder) = argument.strip_prefix("-I") {
            options.include_dirs.push(folder.into());
        } else if let Some(define) = argument.strip_prefix("-D") {
            options.defines.push(define.to_owned());
        } else {
            match compile_to_model(&argument, &options) {
                Ok(checked) => eprint!("{}", checked.warnings.render(false)),
                Err(diagnostics) => {
                    failed = true;
                    eprint!("{}", diagnostics.render(false));
                }
            }
        }
    }
    std::process::exit(i32::from(failed));
}
