//! Network namespaces with wires between them, and `throughline forward` in them.
#![allow(dead_code, missing_docs, reason = "each test program uses some of it")]

pub mod ends;

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A network namespace, which lives as long as a process that sleeps in it.
pub struct Namespace(Child);

impl Namespace {
    /// A new one; where that is not allowed, this is said aloud.
    pub fn new() -> Option<Self> {
        let skipped =
            || eprintln!("SKIPPED: no network namespaces (root has them, and `unshare` makes them)");
        let sleeper = Command::new("unshare").args(["-n", "sleep", "300"]).stderr(Stdio::null()).spawn();
        let mut namespace = Self(sleeper.inspect_err(|_| skipped()).ok()?);
        let (begun, ours) = (Instant::now(), fs::read_link("/proc/self/ns/net").ok());
        // Until it is in its own.
        while namespace.link().is_none_or(|link| Some(link) == ours) {
            let refused = namespace.0.try_wait().ok()?.is_some();
            if refused || begun.elapsed() > Duration::from_secs(5) {
                skipped();
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

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.0.id().to_string(), "-n", program]);
        command
    }

    pub fn ip(&self, arguments: &str) {
        let output = self.command("ip").args(arguments.split(' ')).output().unwrap();
        assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// What ping says, on both ways of output, and whether all answers came.
    pub fn ping(&self, arguments: &str) -> (bool, String) {
        let Output { status, stdout, stderr } = self
            .command("ping")
            .args("-n -W 2 -i 0.2".split(' '))
            .args(arguments.split(' '))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        (status.success(), text)
    }

    pub fn pings(&self, arguments: &str) {
        let (all, text) = self.ping(arguments);
        assert!(all, "ping {arguments}\n{text}");
    }

    /// A wire to another namespace, with these names at its ends.
    pub fn wire(&self, here: &str, other: &Self, there: &str) {
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
    pub fn call(&self, v4: &str, v6: &str) -> bool {
        self.ip(&format!("addr add {v4} dev eth0"));
        let added =
            self.command("ip").args(["-6", "addr", "add", v6, "dev", "eth0", "nodad"]).output().unwrap();
        if !added.status.success() {
            eprintln!("SKIPPED: IPv6 is not in this kernel");
        }
        added.status.success()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A host, three routers and a host in a row, without routes but those of the hosts. The routers' ports are `left` and `right`; the
/// wires between them carry so many bytes. And whether there is IPv6.
pub fn line(inner_mtu: usize) -> Option<([Namespace; 5], bool)> {
    let spaces: Vec<Namespace> = (0..5).map_while(|_| Namespace::new()).collect();
    let spaces: [Namespace; 5] = spaces.try_into().ok()?;
    let [left, one, two, three, right] = &spaces;
    one.wire("left", left, "eth0");
    one.wire("right", two, "left");
    two.wire("right", three, "left");
    three.wire("right", right, "eth0");
    for (space, name) in [(one, "right"), (two, "left"), (two, "right"), (three, "left")] {
        space.ip(&format!("link set {name} mtu {inner_mtu}"));
    }
    let v6 = left.call("10.0.0.9/24", "fd00:0::9/64") & right.call("10.0.3.9/24", "fd00:3::9/64");
    left.ip("route add default via 10.0.0.1");
    right.ip("route add default via 10.0.3.1");
    Some((spaces, v6))
}

/// The forwarder at work in a namespace.
pub struct Forwarder(Option<Child>);

impl Forwarder {
    pub fn start(namespace: &Namespace, name: &str, config: &str) -> Self {
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

    /// Where consumers of the frames of its port connect that has filters.
    pub fn filters(&mut self) -> String {
        let out = self.0.as_mut().unwrap().stderr.as_mut().unwrap();
        let mut said = Vec::new();
        let mut octet = [0];
        while !said.ends_with(b", by that name\n") {
            out.read_exact(&mut octet).unwrap();
            said.push(octet[0]);
        }
        let said = String::from_utf8(said).unwrap();
        said.split_once(": at ").unwrap().1.trim_end().trim_end_matches(", by that name").to_owned()
    }

    /// Ends it, and returns the number of this name: of the node, or of a port.
    pub fn counts(mut self) -> impl Fn(Option<&str>, &str) -> u64 {
        let child = self.0.take().unwrap();
        let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(told.success());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        let rows: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for row in rows.iter().filter(|row| row["metric"] == "routes" || row["metric"] == "addresses") {
            assert_eq!(row["unit"], row["metric"], "frames are something else");
        }
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
