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

/// So often it is tried to capture all frames: a machine that is busy drops some.
const TRIES: usize = 3;

/// Lets a client judge a server while both their ports are captured, and tshark judge the capture. The client gets the options
/// for a port of its own.
fn captured(server: impl Fn() -> Server, client: &Path, version: &str, options: impl Fn(u16) -> Vec<String>) {
    if !is_installed("tshark") {
        missing!("no tshark; apt-get install tshark");
    }
    for _ in 0..TRIES {
        let (server, own_port, file) = (server(), free_port(), scratch("pcap"));
        let ports = [server.port(), own_port];
        let mut command = Command::new(folder().join("capture.sh"));
        command.args([&file, &format!("{},{own_port}", server.port())]).arg(client).args(options(own_port));
        command.args(LARGE.iter().filter(|_| version != "1.2"));
        command.args(EXCEPT.iter().flat_map(|prefix| ["--except", prefix])).arg(&server.reference);
        let (status, output) = run(&mut command);
        if status.code() == Some(77) {
            skip!("tshark may not capture here");
        }
        assert_eq!(Report::read(&output).failures(), "");
        assert!(status.success(), "status {status}, having said:\n{output}");
        server.end();
        let whole = !has_gaps(&file);
        if whole {
            check(&file, version, ports);
        }
        std::fs::remove_file(file).expect("the capture can be removed");
        if whole {
            return;
        }
    }
    panic!("{TRIES} captures in a row lack frames");
}

/// Whether frames are missing in a capture that the peers had: then messages cannot be put together.
fn has_gaps(file: &str) -> bool {
    let missing = "tcp.analysis.lost_segment || tcp.analysis.ack_lost_segment";
    let (status, said) = run(Command::new("tshark").args([
        "-n",
        "-r",
        file,
        "-Y",
        missing,
        "-T",
        "fields",
        "-e",
        "frame.number",
    ]));
    assert!(status.success(), "tshark: {status}");
    !said.trim().is_empty()
}

fn check(file: &str, version: &str, ports: [u16; 2]) {
    for port in ports {
        let (status, said) =
            run(Command::new(folder().join("tshark-check.sh")).args([file, &port.to_string()]));
        assert!(status.success(), "port {port}: {said}");
        // Large values of omniORB's come in pieces.
        let pieces = version == "1.2" && port == ports[0];
        for kind in ["Request", "Reply"].into_iter().chain(pieces.then_some("Fragment")) {
            assert!(said.lines().any(|line| line.starts_with(kind)), "no {kind}: {said}");
        }
    }
}

fn texts(options: &[&str]) -> Vec<String> {
    options.iter().map(ToString::to_string).collect()
}

fn omniorb_client(version: &str) {
    let peers = peers_or_skip!();
    let server = || Server::start(OUR_SERVER, &["--max-version", version]);
    captured(server, &peers.join("interop_client"), version, |port| {
        let end_point = format!("giop:tcp:127.0.0.1:{port}");
        texts(&["-ORBnativeCharCodeSet", "UTF-8", "-ORBmaxGIOPVersion", version, "-ORBendPoint", &end_point])
    });
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
    let server = || Server::start(peers.join("interop_server"), &options);
    captured(server, Path::new(OUR_CLIENT), version, |port| {
        let listen = format!("127.0.0.1:{port}");
        texts(&["--wide-in-12-only", "--max-version", version, "--listen", &listen])
    });
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
    let server = || Server::start(OUR_SERVER, &["--max-version", "1.1"]);
    captured(server, Path::new(OUR_CLIENT), "1.1", |port| texts(&["--listen", &format!("127.0.0.1:{port}")]));
}
