//! Routers of `throughline forward` that learn their routes from each other, between hosts whose stack is the kernel's.

mod common;
mod wires;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use common::has;
use wires::{Forwarder, Namespace};

fn spaces<const N: usize>() -> Option<[Namespace; N]> {
    if !has("ping") || !has("nsenter") {
        return None;
    }
    let spaces: Vec<Namespace> = (0..N).map_while(|_| Namespace::new()).collect();
    spaces.try_into().ok()
}

fn until(what: &str, seconds: u64, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < Duration::from_secs(seconds), "{what}: not after {seconds} s");
    }
}

/// A router between two networks of IPv6 that learns the others by RIPng.
fn ripng(left: u8, right: u8, number: u8) -> String {
    format!(
        "role = \"router\"
         flows = {{ threaded = true }}
         [[port]]
         interface = \"left\"
         addresses = [\"fd00:{left}::{number}/64\"]
         [[port]]
         interface = \"right\"
         addresses = [\"fd00:{right}::1/64\"]
         [[routing]]
         protocol = \"ripng\"
         periods = {{ update_s = 2.0, timeout_s = 12.0, garbage_s = 8.0, triggered_s = 0.5 }}"
    )
}

#[test]
fn routers_of_ipv6_learn_their_routes_from_each_other() {
    let Some([left, one, two, right]) = spaces() else { return };
    one.wire("left", &left, "eth0");
    one.wire("right", &two, "left");
    two.wire("right", &right, "eth0");
    if !left.call("10.0.1.2/24", "fd00:1::2/64") || !right.call("10.0.3.2/24", "fd00:3::2/64") {
        return;
    }
    left.ip("-6 route add default via fd00:1::1");
    right.ip("-6 route add default via fd00:3::1");
    let forwarders = [
        Forwarder::start(&one, "ripng-one", &ripng(1, 2, 1)),
        Forwarder::start(&two, "ripng-two", &ripng(2, 3, 2)),
    ];
    until("a way", 30, || left.ping("-c 1 fd00:3::2").0);
    left.pings("-c 5 fd00:3::2");
    right.pings("-c 5 fd00:1::2");
    let (all, text) = left.ping("-c 1 -t 2 fd00:3::2");
    assert!(!all && text.contains("From fd00:2::2") && text.contains("Time exceeded"), "{text}");
    for forwarder in forwarders {
        let counts = forwarder.counts();
        // Three networks, and of each port its address, that of all routers and that on the link.
        assert_eq!(counts(None, "routes"), 3 + 2 * 3);
        assert_eq!(counts(None, "next hop does not answer"), 0);
    }
}

/// Hellos, and after which time without one a router is none.
const HELLO: f64 = 0.5;
const DEAD: f64 = 2.0;
/// What is not configured: the least time between two advertisements of a router, and from a change to the computation of
/// ways.
const ORIGINATE: f64 = 1.0;
const PATHS: f64 = 0.2;
/// That links are looked at ten times a second, and what a busy machine adds.
const MARGIN: f64 = 1.0;

/// Routers 0 to 3 are a ring: link n is 10.1.n.0/24 and fd01:n::/64 between routers n, which has port `next` there and the
/// address that ends in 1, and n + 1, which has port `back` and 2. Behind routers 0 and 1 are hosts: 10.0.n.2.
fn link_state(n: u8) -> String {
    let back = (n + 3) % 4;
    let host = if n < 2 {
        format!("[[port]]\ninterface = \"host\"\naddresses = [\"10.0.{n}.1/24\", \"fd00:{n}::1/64\"]\n")
    } else {
        String::new()
    };
    let ports = "ports = [\"back\", \"next\"]";
    let periods = format!("periods = {{ update_s = {HELLO:.1}, timeout_s = {DEAD:.1} }}");
    format!(
        "role = \"router\"
         flows = {{ threaded = true }}
         [[port]]
         interface = \"next\"
         addresses = [\"10.1.{n}.1/24\", \"fd01:{n}::1/64\"]
         [[port]]
         interface = \"back\"
         addresses = [\"10.1.{back}.2/24\", \"fd01:{back}::2/64\"]
         {host}
         [[routing]]
         protocol = \"link-state\"
         key = {{ id = 1, algorithm = \"hmac-sha256\", secret = \"not told\" }}
         {ports}
         {periods}
         [[routing]]
         protocol = \"link-state6\"
         {ports}
         {periods}"
    )
}

/// An answer: when it came, its number and the hop limit it had left.
struct Answer {
    at: Instant,
    number: u64,
    hops: u8,
}

/// A ping that goes on until it is told to end.
struct Pings {
    child: Child,
    answers: Receiver<Answer>,
    all: Vec<Answer>,
}

/// Seconds between its packets, and routers that each may pass.
const EVERY: f64 = 0.01;
const HOPS: u8 = 16;

impl Pings {
    fn start(from: &Namespace, to: &str) -> Self {
        let mut command = from.command("ping");
        command.args(["-n", "-i", &EVERY.to_string(), "-t", &HOPS.to_string(), "-c", "10000", to]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, answers) = channel();
        thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
        let answers: Receiver<String> = answers;
        let (tell, told) = channel();
        thread::spawn(move || {
            for line in answers {
                let field = |name: &str| line.split_once(name)?.1.split(' ').next()?.parse::<u64>().ok();
                if let (Some(number), Some(hops)) = (field("icmp_seq="), field("ttl=")) {
                    assert!(!line.contains("DUP"), "{line}");
                    let _ = tell.send(Answer { at: Instant::now(), number, hops: hops as u8 });
                }
            }
        });
        Self { child, answers: told, all: Vec::new() }
    }

    /// Until answers that passed so many routers come; how long that took.
    fn until(&mut self, routers: u8, at_most: f64) -> f64 {
        let begun = Instant::now();
        loop {
            let left = Duration::from_secs_f64(at_most).saturating_sub(begun.elapsed());
            let answer = self.answers.recv_timeout(left);
            let answer =
                answer.unwrap_or_else(|_| panic!("no answer by {routers} routers after {at_most} s"));
            let (at, right) = (answer.at, answer.hops == 64 - routers);
            self.all.push(answer);
            if right && at > begun {
                return (at - begun).as_secs_f64();
            }
        }
    }

    /// Ends it. The number of the last packet that was answered, and those before it that were not.
    fn end(mut self) -> (u64, Vec<u64>) {
        assert!(
            Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap().success()
        );
        self.child.wait().unwrap();
        self.all.extend(self.answers.iter());
        let numbers: BTreeMap<u64, ()> = self.all.iter().map(|answer| (answer.number, ())).collect();
        let last = numbers.keys().copied().max().unwrap_or(0);
        (last, (1..=last).filter(|number| !numbers.contains_key(number)).collect())
    }
}

impl Drop for Pings {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Packets of IP that came to a host and were for another.
fn misdelivered(at: &Namespace) -> u64 {
    let output = at.command("nstat").args(["-asz", "IpInAddrErrors"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line =
        text.lines().find(|line| line.starts_with("IpInAddrErrors")).unwrap_or_else(|| panic!("{text}"));
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn link_states_find_other_ways_when_links_fail() {
    // Four routers, two hosts, and the wire between routers 0 and 1.
    let Some([zero, one, two, three, left, right, wire]) = spaces() else { return };
    if !has("nstat") {
        return;
    }
    zero.wire("next", &wire, "west");
    wire.wire("east", &one, "back");
    one.wire("next", &two, "back");
    two.wire("next", &three, "back");
    three.wire("next", &zero, "back");
    zero.wire("host", &left, "eth0");
    one.wire("host", &right, "eth0");
    let v6 = left.call("10.0.0.2/24", "fd00:0::2/64") & right.call("10.0.1.2/24", "fd00:1::2/64");
    left.ip("route add default via 10.0.0.1");
    right.ip("route add default via 10.0.1.1");
    if v6 {
        left.ip("-6 route add default via fd00::1");
        right.ip("-6 route add default via fd00:1::1");
    }
    let bridge = "role = \"bridge\"\nport = [{ interface = \"west\" }, { interface = \"east\" }]";
    let mut carries = Some(Forwarder::start(&wire, "link-state-wire", bridge));
    let routers: Vec<Forwarder> = (0..)
        .zip([&zero, &one, &two, &three])
        .map(|(n, space)| Forwarder::start(space, &format!("link-state-{n}"), &link_state(n)))
        .collect();
    let mut pings = Pings::start(&left, "10.0.1.2");
    let begun = pings.until(2, 15.0);
    let mut told = Vec::new();

    // After that time all know of a link that fails or works again, from when one end of it knows.
    let known = ORIGINATE + PATHS + MARGIN;
    // Its other end fails: router 0 sees that, router 1 does not.
    wire.ip("link set west down");
    told.push(("other end down", pings.until(4, known)));
    wire.ip("link set west up");
    told.push(("back", pings.until(2, 2.0 * HELLO + known)));
    zero.ip("link set next down");
    told.push(("interface down", pings.until(4, known)));
    zero.ip("link set next up");
    told.push(("back", pings.until(2, 2.0 * HELLO + known)));
    // Silently: whoever carries the frames is gone.
    drop(carries.take());
    told.push(("silent", pings.until(4, DEAD + HELLO + known)));
    carries = Some(Forwarder::start(&wire, "link-state-wire", bridge));
    told.push(("back", pings.until(2, 2.0 * HELLO + known)));
    if v6 {
        left.pings("-c 3 fd00:1::2");
    }
    let (sent, missing) = pings.end();
    println!("begun in {begun:.1} s; {told:.1?}; {} of {sent} packets without an answer", missing.len());
    assert_eq!([misdelivered(&left), misdelivered(&right)], [0; 2]);
    let mut exceeded = 0;
    for router in routers {
        let counts = router.counts();
        exceeded += counts(None, "time exceeded");
    }
    println!("{exceeded} with no hops left");
    // None went round longer than it may: requests pass 16 routers at most, answers 64. Those that did are not answered.
    assert!(exceeded <= missing.len() as u64, "{exceeded} of {}", missing.len());
    // What is lost is lost while a link is broken that nobody knows to be.
    let outages: f64 = told.iter().filter(|(what, _)| *what != "back").map(|(_, time)| time).sum();
    assert!(missing.len() as f64 * EVERY <= begun + outages + MARGIN, "{missing:?}");
    drop(carries);
}
