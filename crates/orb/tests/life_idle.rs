//! Connections that nobody uses are closed, and nobody notices.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::time::{Duration, Instant};

use raw::{Scene, Wire, block_on, eventually, number, ping};
use throughline_giop::header::MessageType;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_idle_connection_is_closed_by_the_server_and_made_anew_by_the_client() {
    let scene = Scene::with(|c| c.idle_timeout = Some(SECOND / 2));
    {
        scene.probe.ping().unwrap();
        assert_eq!(scene.server.connection_count(), 1);
        eventually("the connection closed", || scene.server.connection_count() == 0);
        scene.probe.post(1, 0).unwrap();
        eventually("a new connection", || scene.server.connection_count() == 1);
        eventually("the connection closed", || scene.server.connection_count() == 0);
        block_on(scene.probe.ping_async()).unwrap();
        eventually("the connection closed", || scene.server.connection_count() == 0);
    }
    assert_eq!(scene.probe.posted().unwrap(), [1]);
}

#[test]
fn an_idle_client_is_told() {
    let scene = Scene::with(|c| c.idle_timeout = Some(SECOND / 2));
    let (mut silent, mut used) = (scene.wire(), scene.wire());
    used.send(&ping(&scene.key, 1));
    used.reply().unwrap();
    for wire in [&mut silent, &mut used] {
        assert_eq!(wire.other().unwrap().0.kind, MessageType::CloseConnection);
        wire.expect_closed();
    }
}

#[test]
fn a_connection_with_a_call_under_way_is_not_idle() {
    let scene = Scene::with(|c| c.idle_timeout = Some(SECOND / 2));
    let started = Instant::now();
    scene.probe.sleep(3500).unwrap();
    assert!(started.elapsed() < 5 * SECOND);
    // A CloseConnection would have made the client send the request again.
    assert_eq!(scene.servant.runs(), 1);
    let mut wire = scene.wire();
    wire.send(&[number(&scene.key, "sleep", 1, 2500), ping(&scene.key, 2)].concat());
    assert_eq!(wire.reply().unwrap().id, 2);
    assert_eq!(wire.reply().unwrap().id, 1);
}

#[test]
fn an_idle_connection_is_closed_by_the_client() {
    let scene = Scene::new();
    let client = raw::client_with(|c| c.idle_timeout = Some(SECOND / 2));
    let probe = raw::seen_by(&client, &scene.own);
    {
        block_on(probe.ping_async()).unwrap();
        assert_eq!(scene.server.connection_count(), 1);
        eventually("the connection closed", || scene.server.connection_count() == 0);
        // Blocking callers use the same connection.
        probe.ping().unwrap();
        eventually("the connection closed", || scene.server.connection_count() == 0);
    }
    client.shutdown(raw::GRACE);
}

#[test]
fn a_client_that_serves_too_closes_the_idle_connections_of_its_blocking_callers() {
    let scene = Scene::new();
    let both = raw::server_with(|c| c.idle_timeout = Some(SECOND / 2));
    let probe = raw::seen_by(&both, &scene.own);
    probe.ping().unwrap();
    assert_eq!(scene.server.connection_count(), 1);
    eventually("the connection closed", || scene.server.connection_count() == 0);
    probe.ping().unwrap();
    both.shutdown(raw::GRACE);
}

#[test]
fn no_limit_means_no_limit() {
    let scene = Scene::with(|c| c.idle_timeout = None);
    let mut wire: Wire = scene.wire();
    std::thread::sleep(Duration::from_millis(2500));
    wire.send(&ping(&scene.key, 1));
    assert_eq!(wire.reply().unwrap().id, 1);
}

#[test]
fn many_threads_may_come_back_to_an_idle_connection_at_once() {
    let scene = Scene::new();
    for _ in 0..5 {
        scene.probe.ping().unwrap();
        std::thread::sleep(Duration::from_millis(130));
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| {
                    barrier.wait();
                    scene.probe.ping().unwrap();
                });
            }
        });
    }
    scene.probe.ping().unwrap();
}

/// What the system waits for at each end of the TCP connections to a port, as it tells: 2 is for the time to ask whether the other
/// end is there.
fn timers(port: u16) -> Vec<String> {
    let port = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let open = lines.filter(|line| line[3] == "01" && (line[1].ends_with(&port) || line[2].ends_with(&port)));
    open.map(|line| line[5].split(':').next().unwrap().to_owned()).collect()
}

#[test]
fn both_ends_ask_whether_the_other_machine_is_still_there() {
    let scene = Scene::new();
    scene.probe.ping().unwrap();
    eventually("both ask", || timers(raw::port_of(&scene.server)) == ["02", "02"]);
    // Whoever does not want that leaves it.
    let scene = Scene::with(|c| c.keep_alive = None);
    let client = raw::client_with(|c| c.keep_alive = None);
    raw::seen_by(&client, &scene.own).ping().unwrap();
    eventually("nobody asks", || timers(raw::port_of(&scene.server)) == ["00", "00"]);
    client.shutdown(raw::GRACE);
}
