//! omniORB's client judges our server, in every mode that the two can meet in.

mod common;

use std::process::Command;
use std::time::Duration;

use common::Reference::{Corbaloc, Printed};
use common::{OUR_SERVER, Reference, WIDE, judge, scratch};
use throughline::{AdapterConfig, LaneConfig, Orb, Priority, PriorityCounts, TypedReference as _};
use throughline_interop_tests::peers::{Report, Server, has_ipv6, run};
use throughline_interop_tests::skip;
use throughline_interop_tests::suite::SuiteServant;

/// A client whose strings are ISO 8859-1, as omniORB's are by default, has no others to send.
const LATIN: &[&str] = &["text.unicode"];
/// One whose strings are Unicode can represent everything.
const UTF8: &[&str] = &["text.not_in_ours"];

fn mode(server: &[&str], client: &[&str], skipped: &[&[&str]], at: Reference) {
    let peers = peers_or_skip!();
    let client_program = peers.join("interop_client").display().to_string();
    judge(&client_program, client, &[], skipped, Server::start(OUR_SERVER, server), at);
}

#[test]
fn giop_1_2() {
    mode(&[], &[], &[LATIN], Printed);
}

#[test]
fn giop_1_1() {
    mode(&["--max-version", "1.1"], &["-ORBmaxGIOPVersion", "1.1"], &[LATIN, &WIDE], Printed);
}

#[test]
fn giop_1_0() {
    mode(&["--max-version", "1.0"], &["-ORBmaxGIOPVersion", "1.0"], &[LATIN, UTF8, &WIDE], Printed);
}

#[test]
fn giop_1_1_client() {
    mode(&[], &["-ORBmaxGIOPVersion", "1.1"], &[LATIN, &WIDE], Printed);
}

#[test]
fn giop_1_0_client() {
    mode(&[], &["-ORBmaxGIOPVersion", "1.0"], &[LATIN, UTF8, &WIDE], Printed);
}

#[test]
fn giop_1_1_server() {
    mode(&["--max-version", "1.1"], &[], &[LATIN, &WIDE], Printed);
}

#[test]
fn giop_1_0_server() {
    mode(&["--max-version", "1.0"], &[], &[LATIN, UTF8, &WIDE], Printed);
}

#[test]
fn utf_8() {
    mode(&[], &["-ORBnativeCharCodeSet", "UTF-8"], &[UTF8], Printed);
}

#[test]
fn utf_8_in_giop_1_1() {
    let client = ["-ORBnativeCharCodeSet", "UTF-8", "-ORBmaxGIOPVersion", "1.1"];
    mode(&[], &client, &[UTF8, &WIDE], Printed);
}

#[test]
fn utf_8_in_giop_1_0() {
    let client = ["-ORBnativeCharCodeSet", "UTF-8", "-ORBmaxGIOPVersion", "1.0"];
    mode(&[], &client, &[LATIN, UTF8, &WIDE], Printed);
}

#[test]
fn unix_sockets() {
    let (ours, theirs) = (format!("unix:{}", scratch("s")), format!("giop:unix:{}", scratch("c")));
    mode(&["--listen", &ours], &["-ORBendPoint", &theirs], &[LATIN], Printed);
}

#[test]
fn ipv6() {
    if !has_ipv6() {
        skip!("no IPv6 on this machine");
    }
    mode(&["--listen", "[::1]:0"], &["-ORBendPoint", "giop:tcp:[::1]:"], &[LATIN], Printed);
}

/// A corbaloc tells no code sets; omniORB has to be told what wide characters are.
const WIDE_UNTOLD: [&str; 2] = ["-ORBdefaultWCharCodeSet", "UTF-16"];

#[test]
fn corbaloc_without_a_version() {
    mode(&[], &WIDE_UNTOLD, &[LATIN, UTF8, &WIDE], Corbaloc(""));
}

#[test]
fn corbaloc_1_1() {
    mode(&[], &WIDE_UNTOLD, &[LATIN, &WIDE], Corbaloc("1.1@"));
}

#[test]
fn corbaloc_1_2() {
    mode(&[], &WIDE_UNTOLD, &[LATIN], Corbaloc("1.2@"));
}

#[test]
fn calls_interleaved_on_one_connection() {
    let client = ["-ORBoneCallPerConnection", "0", "-ORBmaxInterleavedCallsPerConnection", "32"];
    mode(&[], &client, &[LATIN], Printed);
}

#[test]
fn reads_and_writes_of_1_kib() {
    mode(&[], &["-ORBmaxSocketSend", "1024", "-ORBmaxSocketRecv", "1024"], &[LATIN], Printed);
}

#[test]
fn no_locate_requests() {
    mode(&[], &["-ORBverifyObjectExistsAndType", "0"], &[LATIN], Printed);
}

#[test]
fn a_pool_of_threads_for_calls_back() {
    mode(&[], &["-ORBthreadPerConnectionPolicy", "0"], &[LATIN], Printed);
}

#[test]
fn objects_and_operations_by_dynamic_hash() {
    mode(&["--objects", "dynamic-hash", "--operations", "dynamic-hash"], &[], &[LATIN], Printed);
}

#[test]
fn objects_and_operations_by_linear_search() {
    mode(&["--objects", "linear", "--operations", "linear"], &[], &[LATIN], Printed);
}

#[test]
fn operations_by_perfect_hash_and_spinning() {
    mode(&["--operations", "perfect-hash", "--spin", "100"], &[], &[LATIN], Printed);
}

#[test]
fn the_program_of_the_speed_comparisons() {
    let peers = peers_or_skip!();
    let server = Server::start(OUR_SERVER, &[]);
    let reference = format!("corbaloc:iiop:1.2@127.0.0.1:{}/bench", server.port());
    for (operation, bytes) in [("ping", "0"), ("move", "65536"), ("post", "0")] {
        let mut command = Command::new(peers.join("bench_client"));
        let (status, output) = run(command.args([&reference, operation, bytes, "200", "10", "2"]));
        assert!(status.success() && output.contains("median_ns"), "{operation}: {status}, {output}");
    }
    server.end();
}

/// Our server has lanes: omniORB's ordinary requests take the lower one, and those to which it gives a priority, the upper one.
/// Requests of a connection that are served by several threads keep no order.
#[test]
fn lanes() {
    let client = peers_or_skip!().join("interop_client").display().to_string();
    let priority = |n| Priority::new(n).expect("a priority");
    for (options, lane) in [(&[][..], 0), (&["--priority", "999"], 0), (&["--priority", "1000"], 1)] {
        let orb = Orb::listening_at(&["127.0.0.1:0".parse().expect("an address")]).expect("an ORB");
        let lanes = [LaneConfig::new(Priority::LOWEST, 16), LaneConfig::new(priority(1000), 16)];
        let lanes = orb.create_lanes(&lanes).expect("threads");
        orb.root().serve_in(&lanes).expect("it has none");
        let suite = SuiteServant::activate(&orb, AdapterConfig::default()).expect("the suite");
        let (status, output) = run(Command::new(&client)
            .args(["--except", "oneway.order"])
            .args(options)
            .arg(suite.as_object().to_string()));
        assert_eq!(Report::read(&output).failures(), "", "{options:?}");
        assert!(status.success(), "status {status}, having said:\n{output}");
        let served: Vec<_> = lanes.counts().iter().map(|lane| lane.served).collect();
        assert!(served[lane] > 1000 && served[1 - lane] == 0, "{options:?}: {served:?}");
        assert_eq!(orb.priority_counts(), PriorityCounts::default());
        orb.shutdown(Duration::from_secs(2));
    }
}
