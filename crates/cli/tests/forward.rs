//! `throughline forward` between hosts whose stack is the kernel's, each in a network namespace of its own.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::{failure_of, has, stdout_of};

/// Bytes sent each way through the forwarder.
const BULK: usize = 8 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

/// A network namespace, which lives as long as a process that sleeps in it.
struct Namespace(Child);

impl Namespace {
    /// A new one; where that is not allowed, this is said aloud.
    fn new() -> Option<Self> {
        let sleeper = Command::new("unshare").args(["-n", "sleep", "300"]).stderr(Stdio::null()).spawn();
        let namespace = Self(sleeper.ok()?);
        let begun = Instant::now();
        // Until it is in its own.
        while namespace.link() == fs::read_link("/proc/self/ns/net").ok() {
            if begun.elapsed() > Duration::from_secs(5) {
                eprintln!("SKIPPED: no network namespaces (root has them)");
                return None;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        namespace.ip("link set lo up");
        Some(namespace)
    }

    fn link(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/ns/net", self.0.id())).ok()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.0.id().to_string(), "-n", program]);
        command
    }

    fn ip(&self, arguments: &str) {
        let output = self.command("ip").args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What ping says, on both ways of output, and whether all answers came.
    fn ping(&self, arguments: &str) -> (bool, String) {
        let Output { status, stdout, stderr } = self
            .command("ping")
            .args("-n -W 2 -i 0.2".split(' '))
            .args(arguments.split(' '))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        (status.success(), text)
    }

    fn pings(&self, arguments: &str) {
        let (all, text) = self.ping(arguments);
        assert!(all, "ping {arguments}\n{text}");
    }

    /// A wire to another namespace, with these names at its ends.
    fn wire(&self, here: &str, other: &Self, there: &str) {
        self.ip(&format!("link add {here} type veth peer name {there} netns {}", other.0.id()));
        self.up(here);
        other.up(there);
    }

    /// Nothing that the kernel says on its own.
    fn up(&self, name: &str) {
        let _ = self.command("ip").args(["link", "set", name, "addrgenmode", "none"]).output();
        self.ip(&format!("link set {name} up"));
    }

    /// Gives the interface `eth0` an address of each version of IP. Whether there is IPv6.
    fn call(&self, v4: &str, v6: &str) -> bool {
        self.ip(&format!("addr add {v4} dev eth0"));
        let added =
            self.command("ip").args(["-6", "addr", "add", v6, "dev", "eth0", "nodad"]).output().unwrap();
        if !added.status.success() {
            eprintln!("SKIPPED: IPv6 is not in this kernel");
        }
        added.status.success()
    }

    /// This test program again, as one end of a stream.
    fn end(&self, role: &str, address: &str) -> Child {
        let this = std::env::current_exe().unwrap();
        self.command(this.to_str().unwrap())
            .args(["--exact", "end_of_a_stream", "--ignored", "--nocapture"])
            .env("END_ROLE", role)
            .env("END_ADDRESS", address)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The forwarder at work in a namespace.
struct Forwarder(Option<Child>);

impl Forwarder {
    fn start(namespace: &Namespace, name: &str, config: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.toml"));
        fs::write(&path, config).unwrap();
        let mut command = namespace.command(env!("CARGO_BIN_EXE_throughline"));
        command.args(["forward", "--json", "--for", "120"]).arg(&path);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // It says what it is once its devices are open.
        let mut said = [0];
        child.stderr.as_mut().unwrap().read_exact(&mut said).unwrap();
        Self(Some(child))
    }

    /// Ends it, and returns the number of this name: of the node, or of a port.
    fn counts(mut self) -> impl Fn(Option<&str>, &str) -> u64 {
        let child = self.0.take().unwrap();
        let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        move |port, metric| {
            let row = rows.iter().find(|row| row["metric"] == metric && row["port"].as_str() == port);
            row.map_or(0, |row| row["value"].as_u64().unwrap())
        }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
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
    let mut server = to.end("server", address);
    let client = from.end("client", address).wait().unwrap();
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
    fs::write(path, ROUTER).unwrap();
    assert!(stdout_of(&["forward", "--check", path]).contains("router between left, right"));
    // No such interfaces here, or no right to them.
    let (status, said) = failure_of(&["forward", path]);
    assert!(status == 1 && said.contains("left:"), "{said}");
}
