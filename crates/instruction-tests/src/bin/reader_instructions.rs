//! Lookups of a `FlowTable`'s reader in a loop, to be counted by callgrind: `reader_instructions batch:FLOWS ITERATIONS`.
//!
//! Apart from `lookup_instructions`, whose loops would otherwise be compiled into other instructions.

use std::hint::black_box;

use bytemuck::NoUninit;
use throughline_demux::{FlowRecord, Ipv4Flow, flow_table};

#[derive(Clone, Copy, NoUninit)]
#[repr(C, align(64))]
struct Connection {
    key: Ipv4Flow,
    state: [u64; 6],
}

impl FlowRecord for Connection {
    type Key = Ipv4Flow;

    fn key(&self) -> &Ipv4Flow {
        &self.key
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let flows = arguments.next().and_then(|what| what.strip_prefix("batch:")?.parse().ok());
    let iterations = arguments.next().and_then(|n| n.parse().ok());
    let (Some(flows), Some(iterations)) = (flows, iterations) else {
        eprintln!("usage: reader_instructions batch:FLOWS ITERATIONS");
        std::process::exit(2);
    };
    find(flows, iterations);
}

/// Has 32 flows found together, one after the other of a table that has as many as it may.
fn find(flows: usize, iterations: usize) {
    let (mut writer, reader) = flow_table(flows, 0x5eed);
    for flow in 0..flows {
        let connection = Connection { key: key(flow), state: [flow as u64; 6] };
        writer.insert(connection).ok().expect("there is room");
    }
    let (mut keys, mut found) = ([key(0); 32], [None; 32]);
    for i in 0..iterations {
        keys[i % 32] = black_box(key(i % flows));
        if i % 32 == 31 {
            reader.get_batch(&keys, &mut found);
            black_box(&found);
        }
    }
}

fn key(flow: usize) -> Ipv4Flow {
    let client = 0x0a00_0000 | (flow as u32).wrapping_mul(0x9e37_79b9) >> 8;
    Ipv4Flow::new(client.into(), flow as u16 | 0x8000, [192, 0, 2, 1].into(), 443, 6)
}
