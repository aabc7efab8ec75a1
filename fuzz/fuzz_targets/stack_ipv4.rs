//! Packets of IPv4, in pieces too, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{IPV4, agree};

fuzz_target!(|input: &[u8]| agree(&IPV4, input));
