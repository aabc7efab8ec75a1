//! Where servers can be reached.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raw::{GRACE, LONG, Probe, ProbeRef, client, port_of, seen_by, server_with};
use throughline::{Address, Kind, Orb, OrbConfig};

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("throughline-listen-{}-{name}.sock", std::process::id()))
}

fn serves(server: &Orb) {
    let client = client();
    let probe = seen_by(&client, &server.root().activate(Probe::default()).unwrap());
    probe.within(LONG).ping().unwrap();
    client.shutdown(GRACE);
}

#[test]
fn ipv6() {
    if TcpListener::bind("[::1]:0").is_err() {
        eprintln!("SKIPPED: this machine has no ::1");
        return;
    }
    let server = server_with(|c| c.listen = vec!["[::1]:0".parse().unwrap()]);
    assert!(server.addresses()[0].to_string().starts_with("iiop://[::1]:"), "{:?}", server.addresses());
    serves(&server);
    server.root().activate_with_id("six", Probe::default()).unwrap();
    let client = client();
    let text = format!("corbaloc::[::1]:{}/six", port_of(&server));
    ProbeRef(client.string_to_object(&text).unwrap()).ping().unwrap();
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

#[test]
fn several_addresses_at_once() {
    let unix = path("several");
    let server =
        server_with(|c| c.listen.extend([Address::tcp("127.0.0.1", 0), Address::Unix(unix.clone())]));
    assert_eq!(server.addresses().len(), 3);
    serves(&server);
    server.root().activate_with_id("x", Probe::default()).unwrap();
    let client = client();
    for address in server.addresses() {
        let Address::Tcp { port, .. } = address else { continue };
        let text = format!("corbaloc::127.0.0.1:{port}/x");
        ProbeRef(client.string_to_object(&text).unwrap()).ping().unwrap();
    }
    // A reference whose first addresses are dead leads there all the same.
    let dead = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = format!("corbaloc::127.0.0.1:{dead},:127.0.0.1:{}/x", port_of(&server));
    ProbeRef(client.string_to_object(&text).unwrap()).ping().unwrap();
    client.shutdown(GRACE);
    server.shutdown(GRACE);
    assert!(!unix.exists());
}

#[test]
fn an_address_in_use_is_named() {
    let first = server_with(|_| {});
    let port = port_of(&first);
    let unix = path("unbound");
    let listen = vec![Address::Unix(unix.clone()), Address::tcp("127.0.0.1", port)];
    let error = Orb::start(OrbConfig { listen, ..OrbConfig::default() }).unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{port}")) && error.contains("in use"), "{error}");
    assert!(!unix.exists(), "a socket file is left of the ORB that did not start");
    first.shutdown(GRACE);
    // And free again at once.
    server_with(|c| c.listen = vec![Address::tcp("127.0.0.1", port)]).shutdown(GRACE);
}

#[test]
fn a_unix_socket_left_by_a_dead_server_is_replaced() {
    let path = path("left");
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let server = server_with(|c| c.listen = vec![Address::Unix(path.clone())]);
    serves(&server);
    // One in use is not.
    let second = Orb::start(OrbConfig { listen: vec![Address::Unix(path.clone())], ..OrbConfig::default() });
    let error = second.unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()) && error.contains("in use"), "{error}");
    serves(&server);
    server.shutdown(GRACE);
    assert!(!path.exists());
}

#[test]
fn a_unix_socket_is_found_from_every_folder() {
    let name = format!("throughline-here-{}.sock", std::process::id());
    let server = server_with(|c| c.listen = vec![Address::Unix(name.clone().into())]);
    let whole = std::env::current_dir().unwrap().join(&name);
    assert_eq!(server.addresses(), [Address::Unix(whole.clone())]);
    let own = server.root().activate(Probe::default()).unwrap();
    let profile = &own.0.ior().profiles[0].data;
    let told = whole.to_str().unwrap().as_bytes();
    assert!(
        profile.windows(told.len()).any(|part| part == told),
        "the reference does not tell the whole path"
    );
    serves(&server);
    server.shutdown(GRACE);
    assert!(!whole.exists());
}

#[test]
fn a_unix_socket_below_a_long_path_is_found_from_its_folder() {
    let name = format!("{:x>100}.sock", std::process::id());
    let server = server_with(|c| c.listen = vec![Address::Unix(name.clone().into())]);
    assert_eq!(server.addresses(), [Address::Unix(name.clone().into())]);
    serves(&server);
    server.shutdown(GRACE);
    assert!(!std::path::Path::new(&name).exists());
}

#[test]
fn a_server_may_begin_where_another_is_still_ending() {
    let path = path("next");
    let begin = || server_with(|c| c.listen = vec![Address::Unix(path.clone())]);
    let (first, client, servant) = (begin(), client(), Probe::default());
    let probe = seen_by(&client, &first.root().activate(servant.clone()).unwrap());
    let slow = std::thread::spawn(move || probe.sleep(500));
    raw::eventually("the call", || servant.runs() == 1);
    let ends = std::thread::spawn(move || first.shutdown(LONG));
    raw::eventually("nobody listens", || std::os::unix::net::UnixStream::connect(&path).is_err());
    let second = begin();
    ends.join().unwrap();
    slow.join().unwrap().unwrap();
    serves(&second);
    second.shutdown(GRACE);
    assert!(!path.exists());
    client.shutdown(GRACE);
}

#[test]
fn a_server_that_ends_leaves_the_file_of_another_alone() {
    let path = path("replaced");
    let begin = || server_with(|c| c.listen = vec![Address::Unix(path.clone())]);
    let first = begin();
    std::fs::remove_file(&path).unwrap();
    let second = begin();
    first.shutdown(GRACE);
    serves(&second);
    second.shutdown(GRACE);
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let path = path("precious");
    std::fs::write(&path, "precious").unwrap();
    let config = OrbConfig { listen: vec![Address::Unix(path.clone())], ..OrbConfig::default() };
    let error = Orb::start(config).unwrap_err().to_string();
    assert!(error.contains("in use"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_unix_socket_whose_server_accepts_nobody() {
    let path = path("full");
    let listener = UnixListener::bind(&path).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let mut held = Vec::new();
    let client = client();
    let text = throughline_reference(&path);
    let probe = ProbeRef(client.string_to_object(&text).unwrap());
    // Fill the queue without waiting for it.
    for _ in 0..4 {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        let _ = connect(&fd, &SocketAddrUnix::new(&path).unwrap());
        held.push(fd);
    }
    let started = Instant::now();
    let e = probe.within(Duration::from_millis(300)).ping().unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert_eq!(e.kind, Kind::Transient, "{e}");
    // Nor does a server that wants the same place wait for an answer.
    let config = OrbConfig { listen: vec![Address::Unix(path.clone())], ..OrbConfig::default() };
    assert!(raw::within(Duration::from_secs(5), move || Orb::start(config).is_err()));
    std::fs::remove_file(&path).unwrap();
    client.shutdown(GRACE);
}

/// A reference to an object at a Unix socket, as a server there would give it out.
fn throughline_reference(at: &std::path::Path) -> String {
    let elsewhere = path("template");
    let server = server_with(|c| c.listen = vec![Address::Unix(elsewhere.clone())]);
    let own = server.root().activate_with_id("x", Probe::default()).unwrap();
    let mut ior = own.0.ior().clone();
    server.shutdown(GRACE);
    let (from, to) = (elsewhere.display().to_string(), at.display().to_string());
    // Names of the same length, so that the lengths around them stay right.
    let pad = from.len().checked_sub(to.len()).expect("the template's path is the longer one");
    let to = to.replacen('/', &"/".repeat(pad + 1), 1);
    for profile in &mut ior.profiles {
        let data = std::mem::take(&mut profile.data);
        let at = data.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        profile.data = [&data[..at], to.as_bytes(), &data[at + from.len()..]].concat();
    }
    ior.to_string()
}

#[test]
fn references_publish_the_host_that_was_configured() {
    let server = server_with(|c| {
        c.listen = vec![Address::tcp("0.0.0.0", 0)];
        c.publish_host = Some("localhost".to_owned());
    });
    let own = server.root().activate(Probe::default()).unwrap();
    assert_eq!(server.addresses(), [Address::tcp("localhost", port_of(&server))]);
    let profile = own.0.ior().iiop_profiles().next().unwrap().unwrap();
    assert_eq!((profile.host.as_str(), profile.port), ("localhost", port_of(&server)));
    serves(&server);
    server.shutdown(GRACE);
}

#[test]
fn a_burst_of_connections_finds_room_in_the_queue() {
    let server = server_with(|_| {});
    let port = port_of(&server);
    let started = Instant::now();
    let all: Vec<_> = (0..1000).map(|_| std::net::TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    // Where the queue overflows, the kernel lets clients try again after a second.
    assert!(started.elapsed() < Duration::from_millis(900), "{:?}", started.elapsed());
    raw::eventually("all accepted", || server.connection_count() == 1000);
    drop(all);
    server.shutdown(GRACE);
}
