//! `throughline call --priority`: which lane of a server the calls come to.

mod common;

use common::{failure_of, run, stdout_of};
use throughline::{AdapterConfig, LaneConfig, Lanes, ObjectRef, Orb, Priority};
use throughline_interop_tests::peers::folder;
use throughline_interop_tests::suite::SuiteServant;

const URGENT: i16 = 10_000;

/// Requests that each lane has served.
fn served(lanes: &Lanes) -> (u64, u64) {
    let counts = lanes.counts();
    assert_eq!(counts[1].priority.get(), URGENT);
    (counts[0].served, counts[1].served)
}

#[test]
fn a_priority_leads_to_its_lane() {
    let listen = ["127.0.0.1:0", "shm:", "udp://127.0.0.1:0"].map(|it| it.parse().unwrap());
    let orb = Orb::listening_at(&listen).unwrap();
    let urgent = Priority::new(URGENT).unwrap();
    let lanes =
        orb.create_lanes(&[LaneConfig::new(Priority::LOWEST, 1), LaneConfig::new(urgent, 1)]).unwrap();
    orb.root().serve_in(&lanes).unwrap();
    let suite = ObjectRef::from(SuiteServant::activate(&orb, AdapterConfig::default()).unwrap()).to_string();
    let idl = folder().join("idl/interop.idl").to_str().unwrap().to_owned();
    for ways in ["iiop", "shm", "udp"] {
        let clear = ["call", &suite, "--idl", &idl, "clear", "--transport", ways];
        for (priority, is_urgent) in [
            (None, false),
            (Some("0"), false),
            (Some("5000"), false),
            (Some("10000"), true),
            (Some("32767"), true),
        ] {
            let before = served(&lanes);
            let more = priority.map_or(vec![], |priority| vec!["--priority", priority]);
            stdout_of(&[&clear, &["--count", "3"][..], &more].concat());
            let after = served(&lanes);
            let came = (after.0 - before.0, after.1 - before.1);
            // Others may have been asked with no priority which way works.
            let expected = if is_urgent { came.1 == 3 } else { came.1 == 0 && came.0 >= 3 };
            assert!(expected, "{priority:?} over {ways}: {came:?}");
        }
        let told = run(&[&clear[..], &["--priority", "7", "-v"]].concat()).stderr;
        let told = String::from_utf8_lossy(&told);
        assert!(told.contains("with priority 7"), "{told}");
    }
    for wrong in ["-1", "32768", "high"] {
        let (status, message) = failure_of(&["call", &suite, "--idl", &idl, "clear", "--priority", wrong]);
        assert!(status == 2 && message.contains("--priority"), "{message}");
    }
    orb.shutdown(std::time::Duration::from_secs(1));
}
