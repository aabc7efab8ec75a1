//! IDL text: accepted, or refused with a message; never a panic, a hang, or a refusal without a reason.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_idl::{Memory, Options, compile_files_to_model};

fuzz_target!(|bytes: &[u8]| {
    // After a NUL comes the text of a file that the first can include.
    let (main, included) = bytes.split_at(bytes.iter().position(|it| *it == 0).unwrap_or(bytes.len()));
    let mut files = Memory::default();
    files.insert("main.idl", main).insert("other.idl", included.get(1..).unwrap_or_default());
    match compile_files_to_model("main.idl", &Options::default(), &files) {
        Ok(checked) => {
            for (id, _) in checked.model.iter() {
                assert_eq!(checked.model.find(&checked.model.scoped_name(id)), Some(id));
                let _ = checked.model.features(id).count();
            }
        }
        Err(diagnostics) => {
            assert!(diagnostics.errors() > 0);
            for it in diagnostics.iter() {
                let _ = it.to_json();
            }
        }
    }
});
