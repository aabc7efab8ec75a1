//! Packets of IPv6, with further headers and in pieces, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{IPV6, agree};

fuzz_target!(|input: &[u8]| agree(&IPV6, input));
