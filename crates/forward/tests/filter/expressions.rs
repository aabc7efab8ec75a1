//! Expressions of tcpdump, as people write them, about the addresses and ports of [`crate::frames`].

/// What the headers of a flow decide, at least for frames of TCP and UDP.
pub const BY_FLOW: [&str; 34] = [
    "ip",
    "ip6",
    "arp",
    "not arp",
    "tcp",
    "udp",
    "icmp",
    "icmp6",
    "ip or ip6",
    "ether host 02:00:00:00:00:01",
    "ether dst 02:00:00:00:00:02",
    "ether multicast",
    "host 10.0.0.1",
    "src host 10.0.0.2",
    "dst host 10.0.1.3",
    "host 10.0.0.1 and host 10.0.1.3",
    "net 10.0.1.0/24",
    "src net 10.0.0.0/30",
    "host 2001:db8::1",
    "net 2001:db8::/64",
    "port 80",
    "tcp port 80",
    "udp port 53",
    "src port 53",
    "tcp dst port 22 or tcp dst port 80",
    "portrange 20-25",
    "tcp portrange 80-443 and src host 10.0.0.1",
    "not port 22",
    "tcp port 80 and not host 10.0.0.2",
    "(udp or tcp) and port 53 and net 10.0.0.0/16",
    "ip host 10.0.0.1 or arp host 10.0.0.2",
    "ip proto 47",
    "ip[12:4] > ip[16:4]",
    "ip and ether[26:2] = 0x0a00",
];

/// What other bytes of the frame decide, or its length.
pub const BY_FRAME: [&str; 22] = [
    "less 100",
    "greater 100",
    "len = 60",
    "ip[2:2] > 80",
    "ip[8] < 5",
    "ip[6:2] & 0x1fff != 0",
    "ip[6] & 0x20 != 0",
    "ip[0] & 0xf > 5",
    "ip[1] & 0xfc = 0xb8",
    "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0",
    "tcp[tcpflags] & tcp-syn != 0 and port 80",
    "tcp[((tcp[12:1] & 0xf0) >> 2):4] = 0x47455420",
    "tcp port 80 and (((ip[2:2] - ((ip[0]&0xf)<<2)) - ((tcp[12]&0xf0)>>2)) != 0)",
    "icmp[icmptype] = icmp-echo",
    "icmp6 and ip6[40] = 128",
    "udp[8:2] = 0x1234",
    "udp[4:2] * 2 / ip[8] > 10",
    "ip6[4:2] > 20",
    "vlan",
    "vlan 5 and tcp port 80",
    "vlan and vlan and ip",
    "ether[12:2] = 0x88b6",
];

/// All of them.
pub fn all() -> impl Iterator<Item = &'static str> {
    BY_FLOW.into_iter().chain(BY_FRAME)
}
