//! The numbers that connections begin with.

use smoltcp::{
    iface::{Config, Interface},
    time::Instant,
    wire::HardwareAddress,
};

use super::link;
use crate::secret::Secret;

/// An interface that draws a number of which those of others tell nothing (RFC 9293, 3.4.1).
///
/// smoltcp draws numbers from a generator that hides little: who knows a few, since he has connected, can work out its state, and so
/// what others were and will be given. So it draws one only, and is seeded anew for the next.
pub(super) fn interface(secret: &mut Secret, mtu: usize) -> Interface {
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = secret.draw();
    Interface::new(config, &mut link::capabilities(mtu), Instant::ZERO)
}

#[cfg(test)]
mod tests {
    use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, IpProtocol, IpRepr, TcpPacket, TcpSeqNumber};
    use throughline_demux::{LocatorConfig, Strategy};

    use super::super::{Buffers, Tcp};
    use crate::{Config, Graph, Host, Lookup, Message, Participants, ProtocolId};

    const OURS: IpAddress = IpAddress::v4(10, 0, 0, 1);
    const THEIRS: IpAddress = IpAddress::v4(10, 0, 0, 2);

    /// A graph whose TCP finds its sessions by this seed.
    fn graph(seed: u64) -> Graph {
        let host = Host::new(EthernetAddress([2, 0, 0, 0, 0, 1]), IpCidr::new(OURS, 24));
        let mut graph = Graph::compose("tcp > ipv4 > eth; arp > eth", host, Config::default()).unwrap();
        let at = |graph: &Graph, name| graph.protocols.iter().position(|protocol| protocol.name() == name);
        let (tcp, ip) = (at(&graph, "tcp").unwrap(), at(&graph, "ipv4").unwrap());
        let lookup = Lookup {
            strategy: Strategy::DynamicHash,
            config: LocatorConfig { limit: 100, ..LocatorConfig::seeded(seed) },
        };
        let below = [(ProtocolId(ip as u8), &*graph.protocols[ip])];
        let buffers = Buffers { receive: 1000, send: 1000 };
        let made = Tcp::new(ProtocolId(tcp as u8), &below, &graph.host().addresses, buffers, lookup).unwrap();
        graph.protocols[tcp] = Box::new(made);
        graph.cx.neighbors.meet(THEIRS, EthernetAddress([2, 0, 0, 0, 0, 2]), super::Instant::ZERO);
        graph
    }

    /// The number of the segment that is sent next.
    fn number(graph: &mut Graph) -> TcpSeqNumber {
        let frame = graph.transmit().expect("a segment");
        let packet = TcpPacket::new_checked(&frame.bytes()[34..]).unwrap();
        assert!(packet.syn());
        packet.seq_number()
    }

    /// A frame of somebody who asks for a connection.
    fn asks(port: u16) -> Message {
        let ip = IpRepr::new(THEIRS, OURS, IpProtocol::Tcp, 20, 64);
        let mut frame = [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &[0; 40]].concat();
        ip.emit(&mut frame[14..], &Default::default());
        let mut packet = TcpPacket::new_unchecked(&mut frame[34..]);
        packet.set_src_port(port);
        packet.set_dst_port(80);
        packet.set_header_len(20);
        packet.set_syn(true);
        packet.set_window_len(1000);
        packet.fill_checksum(&THEIRS, &OURS);
        Message::copied(0, &frame)
    }

    /// Numbers that connections begin with are told to everybody; those by which they are found are nobody's business.
    #[test]
    fn numbers_tell_nothing_of_one_another_or_of_what_connections_are_found_by() {
        let numbers = |seed| {
            let mut graph = graph(seed);
            graph.enable("tcp", Participants::at(80)).unwrap();
            let opened: Vec<_> = (0..4)
                .map(|n| {
                    graph.open("tcp", Participants::to(THEIRS, 80 + n)).unwrap();
                    number(&mut graph)
                })
                .collect();
            let accepted = (0..4).map(|n| {
                graph.arrive(asks(5000 + n), super::Instant::ZERO);
                number(&mut graph)
            });
            opened.into_iter().chain(accepted).collect::<Vec<_>>()
        };
        let (one, other) = (numbers(7), numbers(7));
        assert!(one.iter().all(|number| !other.contains(number)), "{one:?} {other:?}");
    }
}
