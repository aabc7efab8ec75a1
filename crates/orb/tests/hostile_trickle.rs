//! Clients that send a byte now and then.
#![allow(missing_docs)]

#[path = "common/raw.rs"]
mod raw;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use raw::{Asked, LONG, Scene, Wire, ping};

const DRIPPERS: usize = 24;
const PACE: Duration = Duration::from_millis(4);

/// The number of the system call that waits for bytes, as `/proc` tells it.
const RECEIVING: &str = if cfg!(target_arch = "x86_64") { "45 " } else { "207 " };

/// Workers of this process that sit on a connection and wait for it, at the quietest of many moments.
fn workers_that_wait() -> usize {
    let count = || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
        let is_worker = |task: &std::fs::DirEntry| {
            std::fs::read_to_string(task.path().join("comm"))
                .is_ok_and(|name| name.starts_with("throughline"))
        };
        let receives = |task: &std::fs::DirEntry| {
            std::fs::read_to_string(task.path().join("syscall")).is_ok_and(|call| call.starts_with(RECEIVING))
        };
        tasks.filter(|task| is_worker(task) && receives(task)).count()
    };
    let moments = (0..40).map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        count()
    });
    moments.min().unwrap_or(0)
}

/// Workers of the whole process are counted: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// The beginning of a request whose end never comes, one byte at a time.
fn drip(mut wire: Wire, beginning: &[u8], stop: &AtomicBool) {
    for byte in beginning.iter().copied().chain(std::iter::repeat(0)) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        wire.send(&[byte]);
        std::thread::sleep(PACE);
    }
}

#[test]
fn drippers_keep_no_worker() {
    let _alone = ALONE.lock();
    let scene = Scene::with(|c| c.max_threads = 64);
    let mut beginning = ping(&scene.key, 1);
    beginning[8..12].copy_from_slice(&(1_u32 << 16).to_ne_bytes());
    scene.probe.ping().unwrap();
    let (stop, mut slowest) = (AtomicBool::new(false), Duration::ZERO);
    let workers = std::thread::scope(|s| {
        // They begin one by one: each may have a worker's patience, but once only.
        for _ in 0..DRIPPERS {
            let wire = scene.wire();
            s.spawn(|| drip(wire, &beginning, &stop));
            std::thread::sleep(Duration::from_millis(150));
        }
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until {
            let started = Instant::now();
            scene.probe.within(LONG).ping().unwrap();
            slowest = slowest.max(started.elapsed());
            std::thread::sleep(Duration::from_millis(1));
        }
        let workers = workers_that_wait();
        stop.store(true, Ordering::Relaxed);
        workers
    });
    assert!(workers < DRIPPERS / 4, "{DRIPPERS} drippers keep {workers} workers");
    assert!(slowest < Duration::from_millis(500), "a call took {slowest:?}");
    scene.assert_alive();
}

#[test]
fn large_requests_arrive_whether_they_flow_or_drip() {
    let _alone = ALONE.lock();
    let scene = Scene::new();
    let mut wire = scene.wire();
    for (id, pause) in [(1, 0), (2, 30), (3, 0)] {
        let mut requests = Asked::new(&scene.key, "take", id).bytes(|w| {
            w.write_u32(300_000);
            w.write_bytes(&vec![7; 300_000]);
        });
        // The last piece has another request at its end.
        requests.extend(ping(&scene.key, 10 + id));
        for piece in requests.chunks(30_000) {
            wire.send(piece);
            std::thread::sleep(Duration::from_millis(pause));
        }
        let mut answers = [(); 2].map(|()| wire.reply().unwrap());
        // Another worker may have been faster with the second.
        answers.sort_by_key(|answer| answer.id);
        assert_eq!(answers.each_ref().map(|answer| answer.id), [id, 10 + id]);
        assert_eq!(answers[0].reader().read_u32(), Ok(300_000));
    }
}
