//! Questions for neighbours of IPv4 and answers, to a host with users: see `src/stack.rs`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throughline_fuzz::stack::{ARP, agree};

fuzz_target!(|input: &[u8]| agree(&ARP, input));
