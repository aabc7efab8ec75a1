//! What a host is called, and where its packets go first.

use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpVersion, Ipv4Address, Ipv6Address};

/// Addresses of the host at one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The device's address.
    pub hardware: EthernetAddress,
    /// Bytes that a frame carries behind its Ethernet header.
    pub mtu: usize,
    /// Our addresses, with the lengths of their networks' prefixes.
    pub addresses: Vec<IpCidr>,
    /// Who takes packets to other networks.
    pub gateway: Option<IpAddress>,
    /// The same for IPv6.
    pub gateway6: Option<IpAddress>,
}

/// Bytes that an Ethernet frame carries.
pub const ETHERNET_MTU: usize = 1500;

impl Host {
    /// A host with one address at a device of Ethernet's usual size.
    pub fn new(hardware: EthernetAddress, address: impl Into<IpCidr>) -> Self {
        Self { hardware, mtu: ETHERNET_MTU, addresses: vec![address.into()], gateway: None, gateway6: None }
    }

    /// Whether an address is one of ours.
    pub fn has(&self, address: IpAddress) -> bool {
        self.addresses.iter().any(|cidr| cidr.address() == address)
    }

    /// Whether we have an address of this version of IP.
    pub(crate) fn speaks(&self, version: IpVersion) -> bool {
        self.addresses.iter().any(|cidr| cidr.address().version() == version)
    }

    /// Our address to talk to `remote` with, and the neighbour that its packets go to first. None leads to ourselves, since a device
    /// brings nothing back.
    pub fn route(&self, remote: IpAddress) -> Option<(IpAddress, IpAddress)> {
        if self.has(remote) {
            return None;
        }
        let same = |cidr: &&IpCidr| {
            matches!(
                (cidr.address(), remote),
                (IpAddress::Ipv4(_), IpAddress::Ipv4(_)) | (IpAddress::Ipv6(_), IpAddress::Ipv6(_))
            )
        };
        if let Some(near) = self.addresses.iter().filter(same).find(|cidr| cidr.contains_addr(&remote)) {
            return Some((near.address(), remote));
        }
        let gateway = match remote {
            IpAddress::Ipv4(_) => self.gateway,
            IpAddress::Ipv6(_) => self.gateway6,
        }?;
        let near = self.addresses.iter().filter(same).find(|cidr| cidr.contains_addr(&gateway))?;
        Some((near.address(), gateway))
    }

    /// Our address to ask for the hardware address of a neighbour from. He need not be on a network of ours: routers may know that
    /// he is on the link.
    pub(crate) fn asks_from(&self, neighbor: IpAddress) -> Option<IpAddress> {
        let any = || match neighbor {
            IpAddress::Ipv4(_) => self.v4().next().map(|own| own.address().into()),
            IpAddress::Ipv6(neighbor) => self.for_group(solicited_node(neighbor)).map(IpAddress::from),
        };
        let near = self.route(neighbor).map(|(own, _)| own);
        near.or_else(|| any().filter(|_| !self.has(neighbor)))
    }

    /// Whether an IPv4 packet to this address is for us too, though it is nobody's own: a broadcast.
    pub fn is_broadcast(&self, address: Ipv4Address) -> bool {
        address.is_broadcast() || self.v4().any(|cidr| cidr.broadcast() == Some(address))
    }

    /// Whether a packet to this IPv6 group is for us: that of all nodes, or that which asks for one of our addresses.
    pub fn is_group(&self, address: Ipv6Address) -> bool {
        address == smoltcp::wire::IPV6_LINK_LOCAL_ALL_NODES
            || (address.is_multicast() && self.v6().any(|own| solicited_node(own) == address))
    }

    /// Our address to talk to an IPv6 group with: the link-local one, unless the group reaches further and we have another.
    pub fn for_group(&self, group: Ipv6Address) -> Option<Ipv6Address> {
        let beyond_the_link = group.octets()[1] & 0xf > 2;
        let suits = |own: &Ipv6Address| own.is_unicast_link_local() != beyond_the_link;
        self.v6().find(suits).or_else(|| self.v6().next())
    }

    /// With the link-local address that every host of IPv6 has, made of the device's (RFC 4291, appendix A), unless there is
    /// one.
    pub fn with_link_local(mut self) -> Self {
        if !self.v6().any(|own| own.is_unicast_link_local()) {
            let [a, b, c, d, e, f] = self.hardware.0;
            let word = |high, low| u16::from_be_bytes([high, low]);
            let address =
                Ipv6Address::new(0xfe80, 0, 0, 0, word(a ^ 2, b), word(c, 0xff), word(0xfe, d), word(e, f));
            self.addresses.push(IpCidr::new(address.into(), 64));
        }
        self
    }

    fn v6(&self) -> impl Iterator<Item = Ipv6Address> {
        self.addresses.iter().filter_map(|cidr| match cidr.address() {
            IpAddress::Ipv6(own) => Some(own),
            IpAddress::Ipv4(_) => None,
        })
    }

    fn v4(&self) -> impl Iterator<Item = &smoltcp::wire::Ipv4Cidr> {
        self.addresses.iter().filter_map(|cidr| match cidr {
            IpCidr::Ipv4(cidr) => Some(cidr),
            IpCidr::Ipv6(_) => None,
        })
    }
}

/// The group that hears questions for an address (RFC 4291, 2.7.1).
pub fn solicited_node(address: Ipv6Address) -> Ipv6Address {
    let [.., a, b, c] = address.octets();
    Ipv6Address::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]))
}
