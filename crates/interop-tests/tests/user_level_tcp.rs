//! CORBA over TCP in the process: the kernel's TCP, and omniORB, are at the other end of a TAP interface.

mod common;

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::{OUR_CLIENT, OUR_SERVER, Reference, judge};
use throughline_interop_tests::peers::{Server, is_installed, skipped};

const KERNEL: &str = "10.78.0.1";
const OURS: &str = "10.78.0.2";
/// Both ends know the same code sets.
const OURS_KNOW_NO_OTHER_CODE_SETS: [&str; 2] = ["text.not_in_theirs", "text.not_on_the_wire"];
const TAP: &str = "tl0=10.78.0.2/24";

/// Runs a test in a network namespace of its own, where that is allowed; otherwise this is said aloud.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(|| {
        // SAFETY: the namespace of this thread, and of what it starts, is changed; it has no descriptor of the former one.
        if let Err(error) = unsafe { rustix::thread::unshare_unsafe(rustix::thread::UnshareFlags::NEWNET) } {
            return skipped(&format!("no network namespace ({error}); root has them"));
        }
        if !is_installed("ip") {
            return skipped("no command `ip` (Debian package `iproute2`)");
        }
        ip("link set lo up");
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// The kernel's end of the interface, once a program has made it.
fn kernels_end() {
    let begun = Instant::now();
    while !std::path::Path::new("/proc/thread-self/net/dev_snmp6/tl0").exists()
        && !std::fs::read_to_string("/proc/thread-self/net/dev").unwrap().contains("tl0:")
    {
        assert!(begun.elapsed() < Duration::from_secs(20), "no interface was made");
        thread::sleep(Duration::from_millis(10));
    }
    ip("link set tl0 up");
    ip(&format!("addr add {KERNEL}/24 dev tl0"));
}

#[test]
fn our_client_and_the_kernels_tcp() {
    in_namespace(|| {
        let server = Server::start(OUR_SERVER, &["--tap", TAP, "--listen", &format!("{OURS}:0")]);
        kernels_end();
        let client = ["--listen", &format!("{KERNEL}:0")];
        judge(OUR_CLIENT, &client, &[], &[&OURS_KNOW_NO_OTHER_CODE_SETS], server, Reference::Printed);
    });
}

#[test]
fn omniorbs_client() {
    let peers = peers_or_skip!();
    in_namespace(move || {
        let server = Server::start(OUR_SERVER, &["--tap", TAP, "--listen", &format!("{OURS}:0")]);
        kernels_end();
        let client_program = peers.join("interop_client").display().to_string();
        let client = ["-ORBendPoint", &format!("giop:tcp:{KERNEL}:")];
        judge(&client_program, &client, &[], &[&["text.unicode"]], server, Reference::Printed);
    });
}

#[test]
fn our_client_has_its_own_tcp() {
    in_namespace(|| {
        // The address that the server listens at is there before the interface is.
        ip(&format!("addr add {KERNEL}/32 dev lo"));
        let server = Server::start(OUR_SERVER, &["--listen", &format!("{KERNEL}:0")]);
        let configuring = thread::spawn(kernels_end);
        let client = ["--tap", TAP, "--listen", &format!("{OURS}:0")];
        judge(OUR_CLIENT, &client, &[], &[&OURS_KNOW_NO_OTHER_CODE_SETS], server, Reference::Printed);
        configuring.join().unwrap();
    });
}
