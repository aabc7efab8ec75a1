//! Routers of `throughline forward` in two areas, and the groups that they send on, between hosts whose stack is the kernel's.

mod common;
mod wires;

use std::time::{Duration, Instant};

use common::has;
use wires::{
    Forwarder,
    ends::{BULK, GROUP_PACKETS, exchange},
};

#[test]
#[ignore = "one end of an exchange, which another test starts"]
fn one_end() {
    wires::ends::run();
}

/// Router `n` of three: network n is left of it, network n + 1 right. The first three networks are the area of the first two routers,
/// the last one is the last router's.
fn router(n: u8) -> String {
    let (left, right) = if n == 0 { (1, 1) } else { (2, 1) };
    let of_port = |outer| if outer { "new_labels = \"random\"" } else { "labels = true" };
    let area = if n == 2 { 3..4 } else { 0..3 };
    let area: Vec<String> = area.map(|n| format!("\"10.0.{n}.0/24\"")).collect();
    format!(
        "role = \"router\"
         [[port]]
         interface = \"left\"
         addresses = [\"10.0.{n}.{left}/24\"]
         {}
         [[port]]
         interface = \"right\"
         addresses = [\"10.0.{}.{right}/24\"]
         {}
         [flows]
         threaded = true
         area = [{}]
         [[routing]]
         protocol = \"rip\"
         periods = {{ update_s = 0.5, timeout_s = 3, garbage_s = 2, triggered_s = 0.2 }}
         [[group]]
         address = \"239.1.1.1\"
         ports = [\"left\", \"right\"]
         [multicast]
         priority = {}
         period_s = 0.3
         key = {{ id = 1, algorithm = \"hmac-sha256\", secret = \"not told\" }}",
        of_port(n == 0),
        n + 1,
        of_port(n == 2),
        area.join(", "),
        n + 1,
    )
}

#[test]
fn indices_inside_an_area_hashes_between_areas_and_groups_by_index() {
    if !has("ping") || !has("nsenter") {
        return;
    }
    // With room for labels.
    let Some((spaces, _)) = wires::line(1600) else { return };
    let [left, one, two, three, right] = &spaces;
    let forwarders: Vec<Forwarder> = (0..)
        .zip([one, two, three])
        .map(|(n, space)| Forwarder::start(space, &format!("areas-{n}"), &router(n)))
        .collect();
    let begun = Instant::now();
    while !left.ping("-c 1 10.0.3.9").0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "no way after 20 s");
    }
    // To the other area, a packet in each direction for some 1,448 bytes.
    exchange("stream", left, right, "10.0.3.9:5001");
    exchange("datagram", left, right, "10.0.3.9:5002");
    // Within the area: to the last router's address there.
    left.pings("-c 10 10.0.2.2");
    exchange("group", left, right, "239.1.1.1:5003");

    let counts: Vec<_> = forwarders.into_iter().map(Forwarder::counts).collect();
    let of = |metric: &str| counts.iter().map(|count| count(None, metric)).collect::<Vec<_>>();
    let (threaded, forwarded) = (of("by threaded index"), of("forwarded"));
    // The middle router was led by the index of the ten, and of those to the group.
    let expected = 10 + u64::from(GROUP_PACKETS);
    assert!((expected..2 * expected).contains(&threaded[1]), "{threaded:?}");
    // Nothing from the other area has an index.
    assert!(threaded[0] == 0 && threaded[2] >= u64::from(GROUP_PACKETS), "{threaded:?}");
    assert!(forwarded[1] > 2 * BULK as u64 / 1448, "{forwarded:?}");
    // Both ways, by the hashes that the others gave.
    for port in ["left", "right"] {
        assert!(counts[1](Some(port), "flows found") > BULK as u64 / 1448);
    }
    for metric in [
        "useless indices",
        "useless indices of groups",
        "refused messages about groups",
        "labels not believed",
    ] {
        assert_eq!(of(metric), [0, 0, 0], "{metric}");
    }
}
