//! Packet filters: which consumers want a frame.
//!
//! A filter is a [`Program`] of the classic BSD Packet Filter, as [libpcap](Libpcap) compiles it from an expression of
//! tcpdump, or as `tcpdump -ddd` prints it. A [`FilterBank`] has the filters of one port, and keeps for each flow who its
//! consumers are.
//!
//! ```
//! use throughline_forward::{FilterBank, FilterBankConfig, Packet, filter::Consumer};
//! use throughline_stack::smoltcp::time::Instant;
//!
//! // Printed by `tcpdump -ddd arp`.
//! let arp = "4\n40 0 0 12\n21 0 1 2054\n6 0 0 262144\n6 0 0 0\n".parse()?;
//! let mut bank = FilterBank::new(FilterBankConfig::default())?;
//! bank.add(arp, Consumer(7));
//! let mut frame = [0; 42];
//! frame[12..14].copy_from_slice(&[0x08, 0x06]);
//! let consumers = bank.consumers(&Packet::of(&frame)?, Instant::ZERO);
//! assert_eq!(consumers.iter().collect::<Vec<_>>(), [Consumer(7)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod analysis;
mod bank;
mod consumers;
mod deliver;
mod kind;
mod op;
mod pcap;
mod program;
mod run;
mod view;

pub use {
    bank::{FilterBank, FilterBankConfig, FilterCounts, FilterId},
    consumers::{Consumer, Consumers},
    deliver::{Delivery, DeliveryConfig, DeliveryCounts, SubscribeError, Subscriber},
    pcap::{CompileError, Libpcap, Reference},
    program::{Instruction, MAX_INSTRUCTIONS, Program, ProgramError},
    view::View,
};
