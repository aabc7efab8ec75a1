//! A ring of bridges, of which one is the kernel's: the spanning tree opens it, and closes it where a link has failed.

mod common;
mod wires;

use std::time::{Duration, Instant};

use common::has;
use wires::{Forwarder, Namespace};

/// Until a claim is too old, and a port has listened and learnt; and some seconds more.
const CONVERGED: Duration = Duration::from_secs(6 + 2 * 4 + 6);

fn bridge(priority: u16, ports: &str) -> String {
    format!(
        "role = \"bridge\"
         port = [{ports}]
         [bridge.spanning_tree]
         priority = {priority}
         max_age_s = 6
         hello_s = 1
         forward_delay_s = 4"
    )
}

/// What the kernel's bridge says of its ports.
fn states(kernel: &Namespace) -> String {
    let output = kernel.command("bridge").args(["link", "show"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Waits until a host answers another. It is the one at our bridge that asks: the kernel's sends to where it has heard a host last,
/// however the tree changes, until it hears him elsewhere.
fn reached(from: &Namespace, address: &str, kernel: &Namespace) {
    let begun = Instant::now();
    while !from.ping(&format!("-c 1 {address}")).0 {
        assert!(
            begun.elapsed() < CONVERGED,
            "{address} is not reached after {CONVERGED:?}\n{}",
            states(kernel)
        );
    }
}

/// The kernel's bridge and two of ours in a ring, and a host at the kernel's and at one of ours.
fn ring(name: &str, kernel_priority: u16) {
    if !has("ping") || !has("nsenter") || !has("bridge") {
        return;
    }
    let spaces: Vec<Namespace> = (0..5).map_while(|_| Namespace::new()).collect();
    let [kernel, one, two, left, right] = &spaces[..] else { return };
    let make = format!(
        "link add br0 type bridge stp_state 1 priority {kernel_priority} forward_delay 400 hello_time 100 max_age 600"
    );
    let made = kernel.command("ip").args(make.split(' ')).output().unwrap();
    if !made.status.success() {
        eprintln!("SKIPPED: the kernel has no bridges: {}", String::from_utf8_lossy(&made.stderr));
        return;
    }
    kernel.wire("one", one, "kernel");
    kernel.wire("two", two, "kernel");
    one.wire("two", two, "one");
    kernel.wire("left", left, "eth0");
    one.wire("right", right, "eth0");
    ["one", "two", "left"].iter().for_each(|port| kernel.ip(&format!("link set {port} master br0")));
    left.call("10.0.1.1/24", "fd00:1::1/64");
    right.call("10.0.1.2/24", "fd00:1::2/64");
    let hosts = "{ interface = \"right\", hosts_only = true }";
    let ports = format!("{{ interface = \"kernel\" }}, {{ interface = \"two\" }}, {hosts}");
    let forwarders = [
        Forwarder::start(one, &format!("{name}-one"), &bridge(0x2000, &ports)),
        Forwarder::start(
            two,
            &format!("{name}-two"),
            &bridge(0x9000, "{ interface = \"kernel\" }, { interface = \"one\" }"),
        ),
    ];
    kernel.ip("link set br0 up");
    reached(right, "10.0.1.1", kernel);
    left.pings("-c 10 10.0.1.2");
    right.pings("-c 10 10.0.1.1");
    // The second of ours is farthest from being the root: the ring is open at the link between the other two and it.
    let before = states(kernel);
    assert_eq!(before.matches("state forwarding").count(), 3, "{before}");

    // By the short way no longer.
    kernel.ip("link set one down");
    reached(right, "10.0.1.1", kernel);
    left.pings("-c 10 10.0.1.2");
    // And again.
    kernel.ip("link set one up");
    std::thread::sleep(Duration::from_secs(10));
    reached(right, "10.0.1.1", kernel);
    left.pings("-c 10 10.0.1.2");
    for forwarder in forwarders {
        let counts = forwarder.counts();
        assert!(counts(None, "heard of the tree") > 5 && counts(None, "said of the tree") > 5);
        assert_eq!((counts(None, "refused of the tree"), counts(None, "storm")), (0, 0));
        assert!(counts(None, "changes of the tree") > 0);
        // Nothing has gone round.
        assert!(counts(None, "arrived") < 2_000, "{} frames", counts(None, "arrived"));
    }
}

#[test]
fn the_kernels_bridge_is_the_root() {
    ring("tree-kernel", 0x1000);
}

#[test]
fn ours_is_the_root_of_the_kernels() {
    ring("tree-ours", 0x3000);
}
