//! `throughline forward` between hosts whose stack is the kernel's, each in a network namespace of its own.

mod common;
mod wires;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{failure_of, has, stdout_of};
use serde_json::json;
use wires::{Forwarder, Namespace};

/// Bytes sent each way through the forwarder.
const BULK: usize = 8 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// This test program again, as one end of a stream.
fn end(at: &Namespace, role: &str, address: &str) -> Child {
    let this = std::env::current_exe().unwrap();
    at.command(this.to_str().unwrap())
        .args(["--exact", "end_of_a_stream", "--ignored", "--nocapture"])
        .env("END_ROLE", role)
        .env("END_ADDRESS", address)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn bulk() -> Vec<u8> {
    (0..BULK).map(|n| (n * 31 % 251) as u8).collect()
}

/// Serves what comes back, or sends and compares.
#[test]
#[ignore = "the other end of a stream, which another test starts"]
fn end_of_a_stream() {
    let (role, address) = (std::env::var("END_ROLE").unwrap(), std::env::var("END_ADDRESS").unwrap());
    let mut stream = if role == "server" {
        TcpListener::bind(&address).unwrap().accept().unwrap().0
    } else {
        let begun = Instant::now();
        loop {
            match TcpStream::connect(&address) {
                Ok(stream) => break stream,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{address}: {error}"),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    if role == "server" {
        let mut data = vec![0; BULK];
        stream.read_exact(&mut data).unwrap();
        stream.write_all(&data).unwrap();
        return;
    }
    stream.write_all(&bulk()).unwrap();
    let mut back = vec![0; BULK];
    stream.read_exact(&mut back).unwrap();
    assert!(back == bulk(), "what comes back is what was sent");
}

fn stream(from: &Namespace, to: &Namespace, address: &str) {
    let mut server = end(to, "server", address);
    let client = end(from, "client", address).wait().unwrap();
    assert!(client.success(), "the client of {address}");
    assert!(server.wait().unwrap().success(), "the server of {address}");
}

const ROUTER: &str = r#"
role = "router"
[[port]]
interface = "left"
addresses = ["10.0.1.1/24", "fd00:1::1/64"]
[[port]]
interface = "right"
addresses = ["10.0.2.1/24", "fd00:2::1/64"]
[[route]]
to = "10.9.0.0/16"
via = "10.0.2.2"
"#;

#[test]
fn routes_between_hosts_of_the_kernel() {
    if !has("ping") || !has("nsenter") {
        return;
    }
    let (Some(router), Some(left), Some(right)) = (Namespace::new(), Namespace::new(), Namespace::new())
    else {
        return;
    };
    router.wire("left", &left, "eth0");
    router.wire("right", &right, "eth0");
    // The network on the right carries less.
    router.ip("link set right mtu 1300");
    right.ip("link set eth0 mtu 1300");
    let v6 = left.call("10.0.1.2/24", "fd00:1::2/64") & right.call("10.0.2.2/24", "fd00:2::2/64");
    left.ip("route add default via 10.0.1.1");
    right.ip("route add default via 10.0.2.1");
    right.ip("addr add 10.9.0.1/32 dev lo");
    let forwarder = Forwarder::start(&router, "router", ROUTER);

    left.pings("-c 5 10.0.2.2");
    left.pings("-c 2 10.9.0.1");
    left.pings("-c 2 10.0.1.1");
    left.pings("-c 2 10.0.2.1");
    left.pings("-c 2 -s 1400 -M dont 10.0.2.2");
    // In pieces, there and back.
    left.pings("-c 2 -s 3000 -M dont 10.0.1.1");
    right.pings("-c 2 -s 65507 -M dont 10.0.1.1");
    for (arguments, said) in [
        ("-c 1 -t 1 10.0.2.2", "Time to live exceeded"),
        ("-c 1 10.7.7.7", "Destination Net Unreachable"),
        ("-c 1 -W 5 10.0.2.77", "Destination Host Unreachable"),
        ("-c 1 -s 1400 -M do 10.0.2.2", "(mtu = 1300)"),
    ] {
        let (all, text) = left.ping(arguments);
        assert!(!all && text.contains(said), "ping {arguments}\n{text}");
    }
    if v6 {
        left.ip("-6 route add default via fd00:1::1");
        right.ip("-6 route add default via fd00:2::1");
        left.pings("-c 5 fd00:2::2");
        left.pings("-c 2 fd00:2::1");
        left.pings("-c 2 -s 3000 -M dont fd00:2::1");
        right.pings("-c 2 -s 8000 -M dont fd00:1::1");
        for (arguments, said) in [
            ("-c 1 -t 1 fd00:2::2", "Time exceeded: Hop limit"),
            ("-c 1 fd00:7::7", "No route"),
            ("-c 1 -W 5 fd00:2::77", "Address unreachable"),
            ("-c 1 -s 1400 -M do fd00:2::2", "mtu=1300"),
        ] {
            let (all, text) = left.ping(arguments);
            assert!(!all && text.replace("mtu = ", "mtu=").contains(said), "ping {arguments}\n{text}");
        }
        stream(&left, &right, "[fd00:2::2]:5001");
    }
    stream(&left, &right, "10.0.2.2:5001");
    stream(&right, &left, "10.0.1.2:5001");

    let counts = forwarder.counts();
    assert!(counts(None, "forwarded") > 4 * BULK as u64 / 1448);
    assert_eq!(counts(None, "wrong checksum"), 0);
    assert_eq!(counts(None, "time exceeded"), 1 + u64::from(v6));
    assert!(counts(Some("left"), "flows found") > counts(Some("left"), "flows looked up"));
}

/// What a router between two networks is told that learns the others by RIP, and tells others its indices.
fn learning(left: u8, right: u8, number: u8) -> String {
    format!(
        "role = \"router\"
         flows = {{ threaded = true }}
         [[port]]
         interface = \"left\"
         addresses = [\"10.0.{left}.{number}/24\"]
         [[port]]
         interface = \"right\"
         addresses = [\"10.0.{right}.1/24\"]
         [[routing]]
         protocol = \"rip\"
         key = {{ id = 1, algorithm = \"md5\", secret = \"not told\" }}"
    )
}

#[test]
fn routers_learn_their_routes_from_each_other() {
    if !has("ping") || !has("nsenter") {
        return;
    }
    let spaces: Vec<Namespace> = (0..4).map_while(|_| Namespace::new()).collect();
    let [left, one, two, right] = &spaces[..] else { return };
    one.wire("left", left, "eth0");
    one.wire("right", two, "left");
    two.wire("right", right, "eth0");
    left.call("10.0.1.2/24", "fd00:1::2/64");
    right.call("10.0.3.2/24", "fd00:3::2/64");
    left.ip("route add default via 10.0.1.1");
    right.ip("route add default via 10.0.3.1");
    let forwarders = [
        Forwarder::start(one, "rip-one", &learning(1, 2, 1)),
        Forwarder::start(two, "rip-two", &learning(2, 3, 2)),
    ];
    let begun = Instant::now();
    while !left.ping("-c 1 10.0.3.2").0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no way after a minute");
    }
    left.pings("-c 5 10.0.3.2");
    right.pings("-c 5 10.0.1.2");
    stream(left, right, "10.0.3.2:5001");
    for forwarder in forwarders {
        let counts = forwarder.counts();
        // Three networks, two addresses of its own and their networks' broadcast addresses.
        assert_eq!(counts(None, "routes"), 7);
        assert_eq!(counts(None, "next hop does not answer"), 0);
    }
}

#[test]
fn bridges_between_hosts_of_the_kernel() {
    if !has("ping") || !has("nsenter") {
        return;
    }
    let Some(bridge) = Namespace::new() else { return };
    let hosts: Vec<Namespace> = (0..3).map_while(|_| Namespace::new()).collect();
    for (number, host) in (1..).zip(&hosts) {
        bridge.wire(&format!("port{number}"), host, "eth0");
        host.call(&format!("10.0.1.{number}/24"), &format!("fd00:1::{number}/64"));
    }
    let config = "role = \"bridge\"\nport = [{ interface = \"port1\" }, { interface = \"port2\" }, { interface = \"port3\" }]";
    let forwarder = Forwarder::start(&bridge, "bridge", config);
    for (number, host) in (1..).zip(&hosts) {
        for other in (1..=3).filter(|other| *other != number) {
            host.pings(&format!("-c 3 10.0.1.{other}"));
        }
    }
    stream(&hosts[0], &hosts[1], "10.0.1.2:5001");
    let counts = forwarder.counts();
    assert!(counts(None, "forwarded") > 2 * BULK as u64 / 1448);
    assert_eq!(counts(None, "addresses"), 3);
    // The third host got what was for all, and no more.
    let third = counts(Some("port3"), "sent");
    assert!(third < 60, "{third} frames for the third host");
}

#[test]
fn what_is_wrong_with_a_file_is_told() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("wrong.toml");
    let path = path.to_str().unwrap();
    fs::write(path, ROUTER.replace("via = \"10.0.2.2\"", "via = \"10.0.3.2\"")).unwrap();
    let (status, said) = failure_of(&["forward", path]);
    assert_eq!(status, 2);
    assert!(said.contains("line 9, column") && said.contains("on no network of a port"), "{said}");
    let (status, said) = failure_of(&["forward", "no-such-file.toml"]);
    assert!(status == 2 && said.contains("no-such-file.toml cannot be read"), "{said}");
    assert!(said.contains("next:  check the name"), "{said}");
    fs::write(path, ROUTER).unwrap();
    assert!(stdout_of(&["forward", "--check", path]).contains("router between left, right"));
    let told = |path: &str| -> serde_json::Value {
        serde_json::from_str(&stdout_of(&["forward", "--check", "--json", path])).unwrap()
    };
    let router =
        json!({"config": path, "role": "router", "ports": ["left", "right"], "routes": 1, "protocols": 0});
    assert_eq!(told(path), router);
    // No such interfaces here, or no right to them.
    let (status, said) = failure_of(&["forward", path]);
    assert!(status == 1 && said.contains("left:"), "{said}");
}
