//! Routers and bridges of `throughline forward` that label the packets of hosts whose stack is the kernel's, and take the labels off.

mod common;
mod wires;

use std::io::Read;
use std::process::{Child, Command, Stdio};

use common::has;
use wires::{Forwarder, Namespace, ends::exchange};

#[test]
#[ignore = "one end of an exchange, which another test starts"]
fn one_end() {
    wires::ends::run();
}

/// Looks out for labels on the network of a host.
struct Watch(Option<Child>);

impl Watch {
    fn begin(host: &Namespace) -> Self {
        if !has("tcpdump") {
            return Self(None);
        }
        let mut command = host.command("tcpdump");
        command.args(["-n", "-i", "eth0", "ether", "proto", "0x88b6"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // It says that it listens.
        let mut said = [0; 8];
        child.stderr.as_mut().unwrap().read_exact(&mut said).unwrap();
        Self(Some(child))
    }

    fn has_seen_none(mut self) {
        let Some(child) = self.0.take() else { return };
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        assert!(said.contains("0 packets captured"), "labels at a host: {said}");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Router `n` of three: network n is left of it, network n + 1 right. Routers give labels to what comes from hosts, and
/// know each other's.
fn router(n: u8) -> String {
    let (left, right) = if n == 0 { (1, 1) } else { (2, 1) };
    let of_port = |outer| if outer { "new_labels = \"random\"" } else { "labels = true" };
    let mut text = format!(
        "role = \"router\"
         [[port]]
         interface = \"left\"
         addresses = [\"10.0.{n}.{left}/24\", \"fd00:{n}::{left}/64\"]
         {}
         [[port]]
         interface = \"right\"
         addresses = [\"10.0.{}.{right}/24\", \"fd00:{}::{right}/64\"]
         {}\n",
        of_port(n == 0),
        n + 1,
        n + 1,
        of_port(n == 2),
    );
    for network in (0..=3).filter(|network| *network != n && *network != n + 1) {
        let (near, number) = if network > n { (n + 1, 2) } else { (n, 1) };
        text += &format!("[[route]]\nto = \"10.0.{network}.0/24\"\nvia = \"10.0.{near}.{number}\"\n");
        text += &format!("[[route]]\nto = \"fd00:{network}::/64\"\nvia = \"fd00:{near}::{number}\"\n");
    }
    text
}

fn labelled_between_routers(inner_mtu: usize) {
    if !has("ping") || !has("nsenter") {
        return;
    }
    let Some((spaces, v6)) = wires::line(inner_mtu) else { return };
    let [left, one, two, three, right] = &spaces;
    let forwarders: Vec<Forwarder> = (0..)
        .zip([one, two, three])
        .map(|(n, space)| Forwarder::start(space, &format!("edge-{inner_mtu}-{n}"), &router(n)))
        .collect();
    let watches = [Watch::begin(left), Watch::begin(right)];

    left.pings("-c 5 10.0.3.9");
    right.pings("-c 5 10.0.0.9");
    // As long as the hosts' networks carry, and it may not be cut.
    left.pings("-c 5 -s 1472 -M do 10.0.3.9");
    // In three pieces.
    left.pings("-c 3 -s 4000 10.0.3.9");
    if v6 {
        left.ip("-6 route add default via fd00:0::1");
        right.ip("-6 route add default via fd00:3::1");
        left.pings("-c 5 fd00:3::9");
        left.pings("-c 5 -s 1452 -M do fd00:3::9");
        exchange("stream", left, right, "[fd00:3::9]:5001");
    }
    exchange("datagram", left, right, "10.0.3.9:5002");
    exchange("stream", left, right, "10.0.3.9:5001");
    exchange("stream", right, left, "10.0.0.9:5001");

    watches.into_iter().for_each(Watch::has_seen_none);
    let counts: Vec<_> = forwarders.into_iter().map(Forwarder::counts).collect();
    let of = |metric: &str| counts.iter().map(|count| count(None, metric)).collect::<Vec<_>>();
    let (given, taken) = (of("labels given"), of("labels taken off"));
    assert!(given[0] > 0 && given[2] > 0 && given[1] == 0 && taken[1] == 0, "{given:?}, {taken:?}");
    assert!(taken[0] <= given[2] && taken[2] <= given[0], "{given:?}, {taken:?}");
    let forwarded = of("forwarded");
    if inner_mtu > 1500 {
        // All but what is for the routers: everything has room for its label.
        assert!(given[0] + taken[0] >= forwarded[0], "{given:?}, {taken:?} of {forwarded:?}");
    } else {
        // Streams are mostly of packets as long as may be.
        assert!(given[0] + taken[0] < forwarded[0], "{given:?}, {taken:?} of {forwarded:?}");
    }
    for metric in ["labels not believed", "too big", "bad label", "malformed header", "wrong checksum"] {
        assert_eq!(of(metric), [0, 0, 0], "{metric}");
    }
}

#[test]
fn hosts_notice_nothing_where_links_between_routers_have_room() {
    labelled_between_routers(1600);
}

#[test]
fn hosts_notice_nothing_where_full_packets_go_without_label() {
    labelled_between_routers(1500);
}

#[test]
fn hosts_notice_nothing_of_bridges_that_label() {
    if !has("ping") || !has("nsenter") {
        return;
    }
    let spaces: Vec<Namespace> = (0..4).map_while(|_| Namespace::new()).collect();
    let [left, one, two, right] = &spaces[..] else { return };
    one.wire("outer", left, "eth0");
    one.wire("inner", two, "inner");
    two.wire("outer", right, "eth0");
    left.ip("link set eth0 address 02:00:00:00:00:01");
    right.ip("link set eth0 address 02:00:00:00:00:02");
    left.call("10.0.1.1/24", "fd00:1::1/64");
    right.call("10.0.1.2/24", "fd00:1::2/64");
    let config = "role = \"bridge\"
        bridge = { indices = { \"02:00:00:00:00:01\" = 4711, \"02:00:00:00:00:02\" = 815 } }
        [[port]]
        interface = \"outer\"
        new_labels = \"assigned\"
        [[port]]
        interface = \"inner\"
        labels = true";
    let forwarders =
        [(one, "edge-one"), (two, "edge-two")].map(|(space, name)| Forwarder::start(space, name, config));
    let watches = [Watch::begin(left), Watch::begin(right)];
    left.pings("-c 5 10.0.1.2");
    left.pings("-c 5 -s 1472 -M do 10.0.1.2");
    exchange("datagram", left, right, "10.0.1.2:5002");
    exchange("stream", left, right, "10.0.1.2:5001");
    watches.into_iter().for_each(Watch::has_seen_none);
    let counts = forwarders.map(Forwarder::counts);
    let of = |metric: &str| [&counts[0], &counts[1]].map(|count| count(None, metric));
    let (given, taken) = (of("labels given"), of("labels taken off"));
    assert!(given[0] > 0 && given[1] > 0);
    assert!(taken[0] <= given[1] && taken[1] <= given[0] && taken[0] > 0, "{given:?}, {taken:?}");
    // Every frame with a label is two lookups that an index spares, but for each address's first.
    let found = [&counts[0], &counts[1]].map(|count| count(Some("inner"), "flows found"));
    assert!(found[0] + 8 >= 2 * given[1] && found[1] + 8 >= 2 * given[0], "{found:?} of {given:?}");
}
