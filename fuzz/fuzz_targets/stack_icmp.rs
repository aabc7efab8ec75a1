//! Messages of ICMP, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{ICMP, agree};

fuzz_target!(|input: &[u8]| agree(&ICMP, input));
