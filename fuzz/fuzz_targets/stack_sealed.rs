//! Sealed datagrams, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{SEALED, agree};

fuzz_target!(|input: &[u8]| agree(&SEALED, input));
