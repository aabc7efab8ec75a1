//! Frames of strangers, of all protocols, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{ALL, agree};

fuzz_target!(|input: &[u8]| agree(&ALL, input));
