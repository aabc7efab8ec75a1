//! Our client judges our server.

mod common;

use common::Reference::{Corbaloc, Printed};
use common::{OUR_CLIENT, OUR_SERVER, Reference, WIDE, judge, scratch};
use throughline::rt::IMPLICIT_OPERATIONS;
use throughline_interop_tests::interop::{ANSWER, GREETING, HALF, NEWLINE, SUITE, WIDEST, YES};
use throughline_interop_tests::peers::{Server, has_ipv6};
use throughline_interop_tests::skip;

const TOLD: &[&str] = &["text.not_in_theirs", "text.not_on_the_wire"];
const UNTOLD: &[&str] = &["text.not_in_theirs", "text.unicode"];

fn mode(server: &[&str], client: &[&str], skipped: &[&[&str]], at: Reference) {
    judge(OUR_CLIENT, client, &[], skipped, Server::start(OUR_SERVER, server), at);
}

#[test]
fn giop_1_2() {
    mode(&[], &[], &[TOLD], Printed);
}

// GIOP 1.1 has wide characters, if not omniORB's.
#[test]
fn giop_1_1() {
    mode(&["--max-version", "1.1"], &["--max-version", "1.1"], &[TOLD], Printed);
}

#[test]
fn giop_1_0() {
    mode(&["--max-version", "1.0"], &["--max-version", "1.0"], &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_1_client() {
    mode(&[], &["--max-version", "1.1"], &[TOLD], Printed);
}

#[test]
fn giop_1_0_client() {
    mode(&[], &["--max-version", "1.0"], &[UNTOLD, &WIDE], Printed);
}

#[test]
fn giop_1_1_server() {
    mode(&["--max-version", "1.1"], &[], &[TOLD], Printed);
}

#[test]
fn giop_1_0_server() {
    mode(&["--max-version", "1.0"], &[], &[UNTOLD, &WIDE], Printed);
}

#[test]
fn unix_sockets() {
    let [server, client] = ["s", "c"].map(|name| format!("unix:{}", scratch(name)));
    mode(&["--listen", &server], &["--listen", &client], &[TOLD], Printed);
}

#[test]
fn ipv6() {
    if !has_ipv6() {
        skip!("no IPv6 on this machine");
    }
    mode(&["--listen", "[::1]:0"], &["--listen", "[::1]:0"], &[TOLD], Printed);
}

#[test]
fn corbaloc_without_a_version() {
    mode(&[], &[], &[UNTOLD, &WIDE], Corbaloc(""));
}

#[test]
fn corbaloc_1_2() {
    mode(&[], &[], &[UNTOLD], Corbaloc("1.2@"));
}

#[test]
fn objects_and_operations_by_dynamic_hash() {
    mode(&["--objects", "dynamic-hash", "--operations", "dynamic-hash"], &[], &[TOLD], Printed);
}

#[test]
fn objects_and_operations_by_linear_search() {
    mode(&["--objects", "linear", "--operations", "linear"], &[], &[TOLD], Printed);
}

#[test]
fn several_connections_and_spinning() {
    mode(&["--spin", "100"], &["--connections", "4", "--spin", "100"], &[TOLD], Printed);
}

#[test]
fn constants() {
    assert_eq!((ANSWER, WIDEST, GREETING), (42, u64::MAX, "hello\t\"quoted\""));
    assert_eq!((NEWLINE, YES, HALF.to_bits()), ('\n', true, 0.5_f64.to_bits()));
}

// The runtime finds the operations of every object by their place at the end of the table.
#[test]
fn operation_tables_end_as_the_runtime_expects() {
    let names = SUITE.operations.names();
    assert_eq!(names[names.len() - IMPLICIT_OPERATIONS.len()..], IMPLICIT_OPERATIONS);
}
