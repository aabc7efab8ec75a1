//! What bridges tell one another (IEEE 802.1D-1998, clause 9), between the header of Ethernet and its check sequence.
//!
//! ```text
//!   0       3        5       6      7       8      16     20       28     30            32        34      36       38
//!   +-------+--------+-------+------+-------+------+------+--------+------+-------------+---------+-------+--------+
//!   | LLC   | 0, 0   | ver.  | type | flags | root | cost | bridge | port | message age | max age | hello | delay  |
//!   +-------+--------+-------+------+-------+------+------+--------+------+-------------+---------+-------+--------+
//! ```

use throughline_stack::smoltcp::wire::EthernetAddress;

use super::{BridgeId, Claim, Seconds, Times};

/// All bridges of a network (table 7-10).
pub(crate) const BRIDGES: EthernetAddress = EthernetAddress([1, 0x80, 0xc2, 0, 0, 0]);

/// Who bridges are to LLC, and that this is no more than information.
const LLC: [u8; 3] = [0x42, 0x42, 3];
/// Of the spanning tree, of whatever version.
const PROTOCOL: [u8; 2] = [0, 0];
const CONFIGURATION: u8 = 0;
const TOPOLOGY_CHANGE: u8 = 0x80;
const CHANGING: u8 = 0x01;
const ACKNOWLEDGED: u8 = 0x80;
/// Bytes of the two kinds, with LLC.
const SHORT: usize = 7;
const LONG: usize = 38;

/// A bridge protocol data unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bpdu {
    Configuration(Configuration),
    /// Somebody's neighbours are others now.
    TopologyChange,
}

/// Where the sender thinks the root is, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Configuration {
    /// The neighbours of some are others now, the root says.
    pub changing: bool,
    /// The root will know of the change that was told.
    pub acknowledged: bool,
    pub claim: Claim,
    /// How long ago the root said so.
    pub age: Seconds,
    /// What the root wants everybody to use.
    pub times: Times,
}

/// Whether a bridge has sent this, though it need not be what is read here.
pub(super) fn is_of_a_bridge(bytes: &[u8]) -> bool {
    bytes.strip_prefix(&LLC).is_some_and(|rest| rest.starts_with(&PROTOCOL))
}

impl Bpdu {
    /// Reads what follows the header of Ethernet.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (llc, rest) = bytes.split_first_chunk::<3>()?;
        // The version is not looked at: what later ones add is behind what is read (9.3.4).
        let &[0, 0, _, kind, ref rest @ ..] = rest else { return None };
        match kind {
            _ if *llc != LLC => None,
            TOPOLOGY_CHANGE => Some(Self::TopologyChange),
            CONFIGURATION => Configuration::read(rest.first_chunk()?).map(Self::Configuration),
            _ => None,
        }
    }

    /// As it follows the header of Ethernet.
    pub fn bytes(&self) -> Vec<u8> {
        let (kind, length) = match self {
            Self::TopologyChange => (TOPOLOGY_CHANGE, SHORT),
            Self::Configuration(_) => (CONFIGURATION, LONG),
        };
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(LLC);
        bytes.extend([0, 0, 0, kind]);
        if let Self::Configuration(configuration) = self {
            configuration.write(&mut bytes);
        }
        bytes
    }
}

impl Configuration {
    fn read(bytes: &[u8; LONG - SHORT]) -> Option<Self> {
        let [flags, rest @ ..] = bytes;
        let word = |at: usize| u16::from_be_bytes([rest[at], rest[at + 1]]);
        let cost = u32::from_be_bytes([rest[8], rest[9], rest[10], rest[11]]);
        let id = |at: usize| {
            let mut octets = [0; 8];
            octets.copy_from_slice(&rest[at..at + 8]);
            BridgeId::from_bits(u64::from_be_bytes(octets))
        };
        let read = Self {
            changing: flags & CHANGING != 0,
            acknowledged: flags & ACKNOWLEDGED != 0,
            claim: Claim { root: id(0), cost, bridge: id(12), port: word(20) },
            age: Seconds(word(22)),
            times: Times {
                max_age: Seconds(word(24)),
                hello: Seconds(word(26)),
                forward_delay: Seconds(word(28)),
            },
        };
        (read.age < read.times.max_age && read.times.are_possible()).then_some(read)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        let flag = |is: bool, bit: u8| if is { bit } else { 0 };
        bytes.push(flag(self.changing, CHANGING) | flag(self.acknowledged, ACKNOWLEDGED));
        let Claim { root, cost, bridge, port } = self.claim;
        bytes.extend(root.bits().to_be_bytes());
        bytes.extend(cost.to_be_bytes());
        bytes.extend(bridge.bits().to_be_bytes());
        bytes.extend(port.to_be_bytes());
        let Times { max_age, hello, forward_delay } = self.times;
        [self.age, max_age, hello, forward_delay].iter().for_each(|time| bytes.extend(time.0.to_be_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel's bridge writes it, which tcpdump reads as: root 8000.02:00:00:00:00:01, cost 2, port 8002, age 1.00 s,
    /// max age 20 s, hello 2 s, delay 15 s, with the flag of a change.
    const EXAMPLE: [u8; LONG] = [
        0x42, 0x42, 3, 0, 0, 0, 0, 1, 0x80, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x80, 0, 2, 0, 0, 0, 0, 9, 0x80,
        2, 1, 0, 20, 0, 2, 0, 15, 0,
    ];

    #[test]
    fn what_is_read_is_written_again() {
        let Some(Bpdu::Configuration(read)) = Bpdu::read(&EXAMPLE) else { panic!("unread") };
        assert_eq!(read.claim.root, BridgeId::new(0x8000, EthernetAddress([2, 0, 0, 0, 0, 1])));
        assert_eq!((read.claim.cost, read.claim.port, read.age), (2, 0x8002, Seconds::whole(1)));
        assert_eq!((read.changing, read.acknowledged, read.times), (true, false, Times::default()));
        assert_eq!(Bpdu::Configuration(read).bytes(), EXAMPLE);
        assert_eq!(Bpdu::read(&Bpdu::TopologyChange.bytes()), Some(Bpdu::TopologyChange));
    }

    #[test]
    fn what_is_none_is_not_read() {
        assert!((0..LONG).all(|length| Bpdu::read(&EXAMPLE[..length]).is_none()));
        let wrong = |at: usize, value: u8| {
            let mut bytes = EXAMPLE;
            bytes[at] = value;
            Bpdu::read(&bytes)
        };
        // LLC, protocol, a rapid one's type; older than allowed; no time to live, to greet, or to wait.
        for (at, value) in
            [(0, 0x43), (4, 1), (6, 2), (30, 20), (32, 1), (32, 200), (34, 0), (36, 1), (36, 31)]
        {
            assert_eq!(wrong(at, value), None, "{at}: {value}");
        }
        assert!(wrong(5, 3).is_some(), "a later version");
    }
}
