//! The ring and the handshake of sleepers, under loom: all interleavings of two threads.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release -p throughline-vi --lib`

#[path = "frame.rs"]
mod frame;
#[path = "lines.rs"]
mod lines;
#[path = "parking.rs"]
mod parking;
#[path = "ring.rs"]
mod ring;

use crate::sync::{AtomicU64, Ordering, raise_before_loads};
use frame::{Head, Kind};
use lines::Lines;
use loom::{
    sync::{Arc, Notify},
    thread,
};
use ring::{Consumer, Producer};

fn message() -> Head {
    Head::new(Kind::Message, 8)
}

/// The ring's smallest model: four lines, so three frames under way.
fn ring() -> (Producer, Consumer) {
    let lines = Lines::on_heap(4);
    (Producer::new(lines.clone()), Consumer::new(lines))
}

fn take(consumer: &mut Consumer) -> Option<u64> {
    let head = consumer.peek().expect("an honest ring")?;
    let mut body = [0; 8];
    consumer.copy(head, 0, &mut body);
    consumer.advance(head);
    Some(u64::from_ne_bytes(body))
}

/// What both sides share beside the ring: progress, and a sleeper's word with what wakes it.
struct Shared {
    progress: AtomicU64,
    parked: AtomicU64,
    socket: Notify,
}

fn shared() -> Arc<Shared> {
    Arc::new(Shared { progress: AtomicU64::new(0), parked: AtomicU64::new(0), socket: Notify::new() })
}

impl Shared {
    /// Sleeps until something is found. Loom wakes sleepers for no reason as well.
    fn sleep_until<T>(&self, mut find: impl FnMut() -> Option<T>) -> T {
        loop {
            parking::announce(&self.parked);
            let found = find();
            if found.is_none() {
                self.socket.wait();
            }
            parking::awake(&self.parked);
            if let Some(found) = found.or_else(&mut find) {
                return found;
            }
        }
    }

    fn wake(&self) {
        if parking::must_wake(&self.parked, 0, || 0).is_some() {
            self.socket.notify();
        }
    }
}

#[test]
fn frames_arrive_whole_and_in_order_while_the_ring_goes_round() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring();
        let shared = shared();
        let other = shared.clone();
        let sender = thread::spawn(move || {
            for number in 0..5_u64 {
                while !producer.has_room(message()) {
                    producer.grant(other.progress.load(Ordering::Acquire)).expect("honest");
                    thread::yield_now();
                }
                producer.push(message(), 0, [&(number + 100).to_ne_bytes()[..]]);
            }
        });
        for number in 0..5 {
            let body = loop {
                match take(&mut consumer) {
                    Some(body) => break body,
                    None => thread::yield_now(),
                }
            };
            assert_eq!(body, number + 100);
            raise_before_loads(&shared.progress, consumer.position());
        }
        sender.join().expect("no panic");
    });
}

/// A lost wake-up is a deadlock, which loom reports.
#[test]
fn a_consumer_that_sleeps_misses_no_frame() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring();
        let shared = shared();
        let other = shared.clone();
        let sender = thread::spawn(move || {
            producer.push(message(), 0, [&7_u64.to_ne_bytes()[..]]);
            other.wake();
        });
        let body = shared.sleep_until(|| take(&mut consumer));
        assert_eq!(body, 7);
        sender.join().expect("no panic");
    });
}

#[test]
fn a_producer_that_sleeps_misses_no_progress() {
    loom::model(|| {
        let (mut producer, mut consumer) = ring();
        let shared = shared();
        while producer.has_room(message()) {
            producer.push(message(), 0, [&1_u64.to_ne_bytes()[..]]);
        }
        let other = shared.clone();
        let receiver = thread::spawn(move || {
            assert_eq!(take(&mut consumer), Some(1));
            raise_before_loads(&other.progress, consumer.position());
            other.wake();
        });
        let told = || Some(shared.progress.load(Ordering::Acquire)).filter(|progress| *progress != 0);
        producer.grant(shared.sleep_until(told)).expect("honest");
        assert!(producer.has_room(message()));
        receiver.join().expect("no panic");
    });
}
