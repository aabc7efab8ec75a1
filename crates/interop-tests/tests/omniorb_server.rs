//! Our client judges omniORB's server, in every mode that the two can meet in.

mod common;

use common::Reference::{Corbaloc, Printed};
use common::{OUR_CLIENT, Reference, WIDE, judge, scratch};
use throughline::{Orb, TypedReference as _};
use throughline_interop_tests::bench::TargetRef;
use throughline_interop_tests::peers::{Server, has_ipv6};
use throughline_interop_tests::skip;

// What cannot be checked of a server with Unicode strings, one with ISO 8859-1, and one told nothing of code sets.
const UTF8: &[&str] = &["text.not_in_theirs", "text.not_on_the_wire"];
const LATIN: &[&str] = &["text.not_on_the_wire", "text.unicode"];
const UNTOLD: &[&str] = &["text.not_in_theirs", "text.unicode"];

/// omniORB hands requests of one connection to several threads, which are not in order.
const DISORDER: [&str; 1] = ["oneway.order"];

const LATIN_PEER: [&str; 2] = ["--wide-in-12-only", "--latin-peer"];
const UTF8_PEER: [&str; 1] = ["--wide-in-12-only"];

fn mode(server: &[&str], client: &[&str], skipped: &[&[&str]], at: Reference) {
    let peers = peers_or_skip!();
    // By default omniORB looks for a second request on a connection every 50 ms only, while the first is carried out.
    let options = [&["-ORBconnectionWatchImmediate", "1"], server].concat();
    judge(OUR_CLIENT, client, &DISORDER, skipped, Server::start(peers.join("interop_server"), &options), at);
}

#[test]
fn giop_1_2() {
    mode(&[], &LATIN_PEER, &[LATIN], Printed);
}

#[test]
fn giop_1_1() {
    let client = [&LATIN_PEER[..], &["--max-version", "1.1"]].concat();
    mode(&["-ORBmaxGIOPVersion", "1.1"], &client, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_0() {
    let client = [&LATIN_PEER[..], &["--max-version", "1.0"]].concat();
    mode(&["-ORBmaxGIOPVersion", "1.0"], &client, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_1_client() {
    let client = [&LATIN_PEER[..], &["--max-version", "1.1"]].concat();
    mode(&[], &client, &[LATIN, &WIDE], Printed);
}

#[test]
fn giop_1_0_client() {
    let client = [&LATIN_PEER[..], &["--max-version", "1.0"]].concat();
    mode(&[], &client, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_1_server() {
    mode(&["-ORBmaxGIOPVersion", "1.1"], &LATIN_PEER, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_0_server() {
    mode(&["-ORBmaxGIOPVersion", "1.0"], &LATIN_PEER, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn utf_8() {
    mode(&["-ORBnativeCharCodeSet", "UTF-8"], &UTF8_PEER, &[UTF8], Printed);
}

#[test]
fn utf_8_in_giop_1_1() {
    let client = [&UTF8_PEER[..], &["--max-version", "1.1"]].concat();
    mode(&["-ORBnativeCharCodeSet", "UTF-8"], &client, &[UTF8, &WIDE], Printed);
}

#[test]
fn utf_8_in_giop_1_0() {
    let server = ["-ORBnativeCharCodeSet", "UTF-8", "-ORBmaxGIOPVersion", "1.0"];
    mode(&server, &UTF8_PEER, &[UNTOLD, &WIDE], Printed);
}

#[test]
fn unix_sockets() {
    let (theirs, ours) = (format!("giop:unix:{}", scratch("s")), format!("unix:{}", scratch("c")));
    let client = [&LATIN_PEER[..], &["--listen", &ours]].concat();
    mode(&["-ORBendPoint", &theirs], &client, &[LATIN], Printed);
}

#[test]
fn ipv6() {
    if !has_ipv6() {
        skip!("no IPv6 on this machine");
    }
    let client = [&LATIN_PEER[..], &["--listen", "[::1]:0"]].concat();
    mode(&["-ORBendPoint", "giop:tcp:[::1]:"], &client, &[LATIN], Printed);
}

// A corbaloc tells no code sets, so strings are ISO 8859-1; wide characters, which GIOP 1.0 lacks, are taken to be UTF-16.

#[test]
fn corbaloc_without_a_version() {
    mode(&[], &LATIN_PEER, &[UNTOLD, &WIDE], Corbaloc(""));
}

#[test]
fn corbaloc_1_1() {
    mode(&[], &LATIN_PEER, &[UNTOLD, &WIDE], Corbaloc("1.1@"));
}

#[test]
fn corbaloc_1_2() {
    mode(&[], &LATIN_PEER, &[UNTOLD], Corbaloc("1.2@"));
}

#[test]
fn reads_and_writes_of_1_kib() {
    mode(&["-ORBmaxSocketSend", "1024", "-ORBmaxSocketRecv", "1024"], &LATIN_PEER, &[LATIN], Printed);
}

#[test]
fn a_pool_of_threads() {
    mode(&["-ORBthreadPerConnectionPolicy", "0"], &LATIN_PEER, &[LATIN], Printed);
}

#[test]
fn several_connections_and_spinning() {
    let client = [&LATIN_PEER[..], &["--connections", "4", "--spin", "100"]].concat();
    mode(&[], &client, &[LATIN], Printed);
}

/// Requests with a service context for real-time CORBA's priority, which omniORB does not know.
#[test]
fn priorities() {
    for version in ["1.2", "1.0"] {
        let client = [&LATIN_PEER[..], &["--priority", "20000", "--max-version", version]].concat();
        let skipped: &[&[&str]] = if version == "1.2" { &[LATIN] } else { &[UNTOLD, &WIDE] };
        mode(&[], &client, skipped, Printed);
    }
}

#[test]
fn oneways_in_order() {
    let peers = peers_or_skip!();
    let server = Server::start(peers.join("interop_server"), &["-ORBmaxServerThreadPerConnection", "1"]);
    let groups = [
        "async",
        "attribute",
        "array",
        "awkward",
        "basics",
        "bulk",
        "callback",
        "concurrent",
        "connection",
        "exception",
        "forward",
        "hundred",
        "inheritance",
        "reference",
        "sequence",
        "struct",
        "system",
        "text",
        "timeout",
        "union",
        "wide",
    ];
    judge(OUR_CLIENT, &LATIN_PEER, &groups, &[], server, Printed);
}

#[test]
fn the_program_of_the_speed_comparisons() {
    let peers = peers_or_skip!();
    let server = Server::start(peers.join("bench_server"), &[]);
    let orb = Orb::client().expect("an ORB");
    let object = orb.string_to_object(&server.reference).expect("its reference");
    let target = TargetRef::from_object(object.with_timeout(std::time::Duration::from_secs(10)));
    target.ping().expect("an answer");
    let mut words: Vec<u32> = (0..16384).collect();
    target.move_data(&mut words).expect("the words");
    assert!(words.iter().copied().eq(0..16384));
    (0..100).try_for_each(|n| target.post(n)).expect("oneways are sent");
    // omniORB takes oneways of one connection in any order, also beside the next call.
    let mut looks = 0;
    while target.posted().expect("the sum") != 4950 {
        looks += 1;
        assert!(looks < 1000, "not everything arrived");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    orb.shutdown(std::time::Duration::from_secs(1));
    server.end();
}
