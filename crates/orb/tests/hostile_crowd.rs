//! Ten thousand connections: those that are silent cost neither threads nor anybody's time.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::net::TcpStream;
use std::time::{Duration, Instant};

use raw::{Scene, ping, port_of, threads};

const WANTED: u64 = 10_000;
/// Descriptors for everything else.
const OTHERS: u64 = 300;

/// How many connections the limit of descriptors allows; both ends are in this process.
fn allowed() -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let allowed = now.saturating_sub(OTHERS) / 2;
    if allowed < WANTED {
        eprintln!("SKIPPED IN PART: the limit of {now} descriptors allows {allowed} connections of {WANTED}");
    }
    allowed.min(WANTED)
}

/// The median and the slowest of many calls.
fn pings(scene: &Scene) -> (Duration, Duration) {
    let mut times: Vec<_> = (0..500)
        .map(|_| {
            let started = Instant::now();
            scene.probe.within(raw::LONG).ping().unwrap();
            started.elapsed()
        })
        .collect();
    times.sort();
    (times[times.len() / 2], times[times.len() - 1])
}

#[test]
fn ten_thousand_connections() {
    let scene = Scene::with(|c| c.idle_timeout = None);
    pings(&scene);
    let (alone, _) = pings(&scene);
    let many = allowed();
    let started = Instant::now();
    let mut crowd: Vec<_> =
        (0..many).map(|_| TcpStream::connect(("127.0.0.1", port_of(&scene.server))).unwrap()).collect();
    raw::eventually("all are accepted", || scene.server.connection_count() as u64 > many);
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let workers = threads("throughline-");
    assert!(workers <= 12, "{workers} threads for {many} silent connections");
    let (median, slowest) = pings(&scene);
    assert!(median < 4 * alone + Duration::from_millis(1), "{median:?}; alone {alone:?}");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    // A tenth of them begin messages that they do not finish.
    for stream in crowd.iter_mut().step_by(10) {
        std::io::Write::write_all(stream, b"GIOP\x01\x02").unwrap();
    }
    let (median, slowest) = pings(&scene);
    assert!(median < 10 * alone + Duration::from_millis(5), "{median:?}; alone {alone:?}");
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    // The rest are served like everybody.
    for (n, stream) in (0..).zip(&mut crowd).skip(1).step_by(50) {
        let mut wire = raw::Wire::of(stream.try_clone().unwrap());
        wire.send(&ping(&scene.key, n));
        assert_eq!(wire.reply().unwrap().id, n);
    }
    // All leave at once.
    drop(crowd);
    raw::eventually("all are gone", || scene.server.connection_count() <= 1);
    scene.assert_alive();
}
