//! FRR's ripngd is the neighbour of our router, which is at work as `throughline forward` would have it: on an interface of the
//! kernel, with address resolution, hop limits and indices beside RIPng.

mod frr;

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use frr::{Frr, PATIENCE, inside, run};
use throughline_forward::{ForwardConfig, Forwarder, Node, Route, Router};

const CONFIG: &str = r#"
role = "router"
flows = { threaded = true }
[[port]]
interface = "v0"
addresses = ["fd00:200::1/64"]
[[port]]
interface = "s0"
addresses = ["fd00:70::1/64"]
[[route]]
to = "fd00:60::/48"
via = "fd00:70::9"
[[routing]]
protocol = "ripng"
ports = ["v0"]
periods = { update_s = 2.0, timeout_s = 12.0, garbage_s = 6.0, triggered_s = 1.0 }
"#;

struct Ours(Node);

impl Ours {
    fn router(&mut self) -> &mut Router {
        match self.0.forwarder() {
            Forwarder::Router(router) => router,
            Forwarder::Bridge(_) => panic!("it is a router"),
        }
    }

    fn route(&mut self, to: &str) -> Option<Route> {
        self.router().route_to(to.parse().unwrap())
    }

    /// Works until something is so.
    fn until(&mut self, what: &str, frr: &Frr, mut done: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        let mut looked = begun;
        loop {
            while self.0.poll().unwrap() {}
            self.0.wait(Duration::from_millis(20)).unwrap();
            // Others are asked by starting programs, which takes a while.
            if looked.elapsed() > Duration::from_millis(100) {
                if done(self) {
                    return;
                }
                looked = Instant::now();
            }
            let logs = || frr.logs("show ipv6 ripng status");
            assert!(begun.elapsed() < PATIENCE, "{what}\n{:?}\n{}", self.refusals(), logs());
        }
    }

    fn refusals(&mut self) -> Vec<String> {
        let refusals = |routing: &dyn throughline_forward::routing::Routing| {
            routing.refusals().iter().map(|(reason, count)| format!("{reason}: {count}")).collect::<Vec<_>>()
        };
        self.router().protocols().flat_map(refusals).collect()
    }
}

#[test]
fn ripngd_is_a_neighbour() {
    if !inside("ripngd_is_a_neighbour", "ripngd") {
        return;
    }
    if !std::path::Path::new("/proc/net/if_inet6").exists() {
        eprintln!("SKIPPED: IPv6 is not in this kernel");
        return;
    }
    let mut frr = Frr::new("ripngd_is_a_neighbour", "ripngd");
    run("ip", "link add s0 type veth peer name s1");
    for device in ["v0", "s0", "s1"] {
        run("ip", &format!("link set {device} addrgenmode none"));
        run("ip", &format!("link set {device} up"));
    }
    frr.inside("ip", "address add fd00:50::1/64 dev d0 nodad");
    frr.start("router ripng\n timers basic 5 15 5\n network v1\n network d0\n");
    let mut ours = Ours(Node::open(&ForwardConfig::parse(CONFIG).unwrap()).unwrap());

    ours.until("we learn theirs", &frr, |ours| ours.route("fd00:50::9").is_some());
    let Some(Route::Out { port, via: Some(via) }) = ours.route("fd00:50::9") else {
        panic!("no next router")
    };
    let theirs = frr.inside("ip", "-6 address show dev v1 scope link");
    assert!(port.0 == 0 && theirs.contains(&format!("{via}/")), "{via}, {theirs}");
    ours.until("they learn ours", &frr, |_| frr.show("show ipv6 ripng").contains("fd00:60::/48"));
    ours.until("their kernel has it", &frr, |_| frr.inside("ip", "-6 route").contains("fd00:60::/48"));

    // Packets go both ways by these routes.
    let ping = ["-n", "-c", "3", "-i", "0.2", "-I", "fd00:50::1", "fd00:70::1"];
    let mut ping = frr.command("ping").args(ping).stdout(Stdio::null()).spawn().unwrap();
    ours.until("answers", &frr, |_| ping.try_wait().unwrap().is_some());
    assert!(ping.wait().unwrap().success());

    // It goes on undisturbed: of ours it counts no bad packet and no bad route, nor do we of theirs.
    let later = Instant::now() + Duration::from_secs(6);
    ours.until("time passes", &frr, |_| Instant::now() > later);
    let status = frr.show("show ipv6 ripng status");
    let (_, peers) = status.split_once("Gateway").unwrap_or_else(|| panic!("{status}"));
    let counts: Vec<&str> = peers.lines().skip(1).flat_map(str::split_whitespace).collect();
    assert_eq!(counts.get(1..3), Some(&["0", "0"][..]), "{status}");
    assert_eq!(ours.refusals(), Vec::<String>::new());

    assert!(ours.router().remove_route("fd00:60::/48".parse().unwrap()).is_some());
    ours.until("they forget ours", &frr, |_| !frr.inside("ip", "-6 route").contains("fd00:60::/48"));
    frr.inside("ip", "link set d0 down");
    ours.until("we forget theirs", &frr, |ours| ours.route("fd00:50::9").is_none());
}
