//! Messages of ICMPv6, those of neighbour discovery among them, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{ICMP6, agree};

fuzz_target!(|input: &[u8]| agree(&ICMP6, input));
