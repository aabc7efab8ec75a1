//! What passes between omniORB and us, in the eyes of tshark's GIOP dissector.

mod common;

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use common::{OUR_CLIENT, OUR_SERVER, scratch};
use throughline_interop_tests::peers::{Report, Server, folder, is_installed, run};
use throughline_interop_tests::{missing, skip};

/// Everything but what would only make the capture large.
const EXCEPT: [&str; 9] = [
    "bulk.10mb",
    "bulk.every_size",
    "bulk.many",
    "bulk.million",
    "concurrent",
    "connection",
    "oneway.order",
    "timeout",
    "async.timeout",
];

/// A port that was free a moment ago: a capture must know it beforehand.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// In one version only: the others have nothing new to say of large values.
const LARGE: [&str; 2] = ["--except", "bulk"];

/// Lets a client judge a server while both their ports are captured, and tshark judge the capture.
fn captured(server: Server, client: &Path, version: &str, options: &[&str], own_port: u16) {
    if !is_installed("tshark") {
        missing!("no tshark; apt-get install tshark");
    }
    let file = scratch("pcap");
    let ports = [server.port(), own_port];
    let mut command = Command::new(folder().join("capture.sh"));
    command.args([&file, &format!("{},{own_port}", server.port())]).arg(client).args(options);
    command.args(LARGE.iter().filter(|_| version != "1.2"));
    command.args(EXCEPT.iter().flat_map(|prefix| ["--except", prefix])).arg(&server.reference);
    let (status, output) = run(&mut command);
    if status.code() == Some(77) {
        skip!("tshark may not capture here");
    }
    assert_eq!(Report::read(&output).failures(), "");
    assert!(status.success(), "status {status}, having said:\n{output}");
    server.end();
    for port in ports {
        let (status, said) =
            run(Command::new(folder().join("tshark-check.sh")).args([&file, &port.to_string()]));
        assert!(status.success(), "port {port}: {said}");
        // Large values of omniORB's come in pieces.
        let pieces = version == "1.2" && port == ports[0];
        for kind in ["Request", "Reply"].into_iter().chain(pieces.then_some("Fragment")) {
            assert!(said.lines().any(|line| line.starts_with(kind)), "no {kind}: {said}");
        }
    }
    std::fs::remove_file(file).expect("the capture can be removed");
}

fn omniorb_client(version: &str) {
    let peers = peers_or_skip!();
    let (server, port) = (Server::start(OUR_SERVER, &["--max-version", version]), free_port());
    let end_point = format!("giop:tcp:127.0.0.1:{port}");
    let options =
        ["-ORBnativeCharCodeSet", "UTF-8", "-ORBmaxGIOPVersion", version, "-ORBendPoint", &end_point];
    captured(server, &peers.join("interop_client"), version, &options, port);
}

fn omniorb_server(version: &str) {
    let peers = peers_or_skip!();
    let options = [
        "-ORBnativeCharCodeSet",
        "UTF-8",
        "-ORBmaxGIOPVersion",
        version,
        "-ORBconnectionWatchImmediate",
        "1",
    ];
    let (server, port) = (Server::start(peers.join("interop_server"), &options), free_port());
    let listen = format!("127.0.0.1:{port}");
    let options = ["--wide-in-12-only", "--max-version", version, "--listen", &listen];
    captured(server, Path::new(OUR_CLIENT), version, &options, port);
}

#[test]
fn omniorbs_client_in_giop_1_2() {
    omniorb_client("1.2");
}

#[test]
fn omniorbs_client_in_giop_1_0() {
    omniorb_client("1.0");
}

#[test]
fn omniorbs_server_in_giop_1_2() {
    omniorb_server("1.2");
}

#[test]
fn omniorbs_server_in_giop_1_0() {
    omniorb_server("1.0");
}

#[test]
fn ours_in_giop_1_1() {
    let (server, port) = (Server::start(OUR_SERVER, &["--max-version", "1.1"]), free_port());
    captured(server, Path::new(OUR_CLIENT), "1.1", &["--listen", &format!("127.0.0.1:{port}")], port);
}
