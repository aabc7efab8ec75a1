//! Flows, and the order in which packets ask for them.

use bytemuck::NoUninit;
use throughline_demux::FlowRecord;

/// A 5-tuple in 16 bytes: two addresses; two ports, protocol, zeroes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, NoUninit)]
#[repr(C)]
pub struct Tuple {
    addresses: u64,
    ports: u64,
}

impl Tuple {
    /// The tuple of a flow's number: a client's address and port before one of four servers.
    pub fn of(flow: u64) -> Self {
        let mixed = flow.wrapping_mul(0x9e37_79b9_7f4b) & 0xffff_ffff_ffff;
        let server = 0x0a00_0001 + (mixed & 3);
        Self { addresses: (mixed >> 16) << 32 | server, ports: (mixed & 0xffff) << 16 | 443 | 6 << 32 }
    }
}

/// A record of one cache line, its key included.
#[derive(Clone, Copy, Default, NoUninit)]
#[repr(C, align(64))]
pub struct Record {
    pub key: Tuple,
    pub value: u64,
    /// Makes the next lookup wait for this one.
    pub zero: u64,
    pub more: [u64; 4],
}

impl Record {
    pub fn of(flow: u64) -> Self {
        Self::with(Tuple::of(flow), flow)
    }

    /// That of a flow whose key is known.
    pub fn with(key: Tuple, flow: u64) -> Self {
        Self { key, value: flow, zero: 0, more: [0; 4] }
    }
}

impl FlowRecord for Record {
    type Key = Tuple;

    #[inline(always)]
    fn key(&self) -> &Tuple {
        &self.key
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    Uniform,
    Zipf,
    Trains,
    Misses,
}

impl Traffic {
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Zipf, Self::Trains, Self::Misses];

    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipf => "Zipf",
            Self::Trains => "trains of 8",
            Self::Misses => "10 % misses",
        }
    }

    /// Which flows `packets` packets belong to; flows from `first` on exist, `flows` of them.
    pub fn packets(self, first: u64, flows: u64, packets: usize) -> Vec<u64> {
        let mut random = Random(0x1234_5678 ^ first ^ flows);
        let mut last = first;
        (0..packets)
            .map(|_| match self {
                Self::Uniform => first + random.below(flows),
                Self::Zipf => first + ((flows as f64).powf(random.unit()) as u64 - 1).min(flows - 1),
                Self::Trains => {
                    if random.below(8) == 0 {
                        last = first + random.below(flows);
                    }
                    last
                }
                Self::Misses if random.below(10) == 0 => first + flows + (1 << 32) + random.below(flows),
                Self::Misses => first + random.below(flows),
            })
            .collect()
    }
}

/// splitmix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
