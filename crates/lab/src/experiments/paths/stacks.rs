//! What is talked through, and who talks to whom.

use throughline_stack::smoltcp::wire::{
    EthernetAddress, IpAddress, IpCidr, Ipv4Address, Ipv4Cidr, Ipv6Address, Ipv6Cidr,
};
use throughline_stack::{Aead, Architecture, Host, Key, Keys, Participants};

/// What is above the lowest protocol, in the paper's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    Eth,
    Ip,
    Udp,
    Tcp,
    Udp6,
    Tcp6,
    Sealed,
}

impl Stack {
    /// The paper's.
    pub(crate) const PAPERS: [Self; 4] = [Self::Eth, Self::Ip, Self::Udp, Self::Tcp];
    /// What the paper does not have.
    pub(crate) const OTHERS: [Self; 3] = [Self::Udp6, Self::Tcp6, Self::Sealed];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Eth => "ETH",
            Self::Ip => "IP-ETH",
            Self::Udp => "UDP-IP-ETH",
            Self::Tcp => "TCP-IP-ETH",
            Self::Udp6 => "UDP-IPv6-ETH",
            Self::Tcp6 => "TCP-IPv6-ETH",
            Self::Sealed => "sealed-UDP-IP-ETH",
        }
    }

    /// The protocol that the user is above.
    pub(crate) fn top(self, lowest: &'static str) -> &'static str {
        match self {
            Self::Eth => lowest,
            Self::Ip => "ipv4",
            Self::Udp | Self::Udp6 => "udp",
            Self::Tcp | Self::Tcp6 => "tcp",
            Self::Sealed => "sealed",
        }
    }

    pub(crate) fn description(self, lowest: &str, checksums: bool) -> String {
        let switch = if checksums { "on" } else { "off" };
        match self {
            Self::Eth => lowest.to_owned(),
            Self::Ip => format!("ipv4 > {lowest}; arp > eth"),
            Self::Udp => format!("udp(checksum={switch}) > ipv4 > {lowest}; arp > eth"),
            Self::Tcp => format!("tcp > ipv4 > {lowest}; arp > eth"),
            Self::Udp6 => format!("udp > ipv6 > {lowest}; icmp6 > ipv6 > eth"),
            Self::Tcp6 => format!("tcp > ipv6 > {lowest}; icmp6 > ipv6 > eth"),
            Self::Sealed => format!("sealed > udp > ipv4 > {lowest}; arp > eth"),
        }
    }

    /// Whether there are check sums of the transport unless it is said otherwise: the paper's UDP has none, every TCP has them.
    pub(crate) fn checksums(self) -> bool {
        !matches!(self, Self::Eth | Self::Ip | Self::Udp)
    }

    pub(crate) fn is_stream(self) -> bool {
        matches!(self, Self::Tcp | Self::Tcp6)
    }

    fn is_v6(self) -> bool {
        matches!(self, Self::Udp6 | Self::Tcp6)
    }
}

/// How two hosts talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) stack: Stack,
    pub(crate) architecture: Architecture,
    /// `eth`, or `ethdaa` whose frames name paths.
    pub(crate) lowest: &'static str,
    /// Whether the transport computes and verifies check sums.
    pub(crate) checksums: bool,
}

impl Way {
    /// An architecture as the paper has it.
    pub(crate) fn usual(stack: Stack, architecture: Architecture) -> Self {
        Self { stack, architecture, lowest: lowest(architecture), checksums: stack.checksums() }
    }

    /// Whether the graph's own code checks, or opens, users' data, which it can do while it moves it.
    pub(crate) fn has_data_checked(self) -> bool {
        self.checksums && !self.stack.is_stream()
    }

    /// Whether it is as the paper has it, but for the protocols.
    pub(crate) fn is_usual(self) -> bool {
        self == Self::usual(self.stack, self.architecture)
    }

    /// Whether the paper has it.
    pub(crate) fn is_papers(self) -> bool {
        self.is_usual() && Stack::PAPERS.contains(&self.stack)
    }
}

/// The paper's lowest layer for an architecture.
fn lowest(architecture: Architecture) -> &'static str {
    if architecture == Architecture::Direct { "ethdaa" } else { "eth" }
}

/// One of two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client = 1,
    Server = 2,
}

impl Side {
    /// Its address in graphs of this kind.
    pub(crate) fn address(self, stack: Stack) -> IpAddress {
        match stack.is_v6() {
            true => Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, self as u16).into(),
            false => Ipv4Address::new(10, 0, 0, self as u8).into(),
        }
    }

    pub(crate) fn network(self, stack: Stack) -> IpCidr {
        match self.address(stack) {
            IpAddress::Ipv4(address) => IpCidr::Ipv4(Ipv4Cidr::new(address, 24)),
            IpAddress::Ipv6(address) => IpCidr::Ipv6(Ipv6Cidr::new(address, 64)),
        }
    }

    pub(super) fn host(self, stack: Stack) -> Host {
        Host::new(self.hardware(), self.network(stack))
    }

    pub(super) fn hardware(self) -> EthernetAddress {
        EthernetAddress([2, 0, 0, 0, 0, self as u8])
    }
}

/// Whom path number `n` leads to, seen from the client of a server with this hardware address.
pub(crate) fn participants(stack: Stack, server: EthernetAddress, n: u16) -> Participants {
    let id = Participants::default().application(1 + u32::from(n));
    let remote = Side::Server.address(stack);
    match stack {
        Stack::Eth => Participants { remote_hardware: Some(server), ethertype: Some(0x8900 + n), ..id },
        Stack::Ip => Participants { remote_address: Some(remote), protocol: Some(100 + n as u8), ..id },
        _ => {
            let to = Participants::to(remote, 6000 + n).from_port(5000 + n).application(1 + u32::from(n));
            if stack == Stack::Sealed { to.sealed(keys(n)) } else { to }
        }
    }
}

/// The same, seen from the server before anything has come.
pub(crate) fn listening(stack: Stack, server: EthernetAddress, n: u16) -> Participants {
    let client = participants(stack, server, n);
    Participants {
        local_port: client.remote_port,
        remote_port: None,
        keys: client.keys.map(Keys::reversed),
        ..client
    }
}

/// The client's keys of a path.
fn keys(n: u16) -> Keys {
    let key = |direction: u8| {
        let material = [[n as u8, direction]; Aead::Aes128Gcm.material() / 2];
        let id = 0x1000 + 2 * u32::from(n) + u32::from(direction);
        Key::new(id, Aead::Aes128Gcm, material.as_flattened()).expect("keys are as long as they must be")
    };
    Keys::new(key(0), key(1)).expect("they differ")
}
