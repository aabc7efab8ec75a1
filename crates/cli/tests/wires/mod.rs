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
