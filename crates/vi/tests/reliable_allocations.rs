//! Messages in a steady state allocate nothing.
//!
//! The tests of this crate forbid no unsafe code: counting allocations takes an allocator.
#![cfg(not(loom))]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use throughline_vi::reliable::{Config, Ecn, Endpoint, EndpointConfig, Event, Handled, Level};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: likewise.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static GLOBAL: Counting = Counting;

type Ends = [Endpoint<usize, Vec<u8>, Vec<u8>>; 2];

const MESSAGES: usize = 8;
const LENGTH: usize = 20_000;

/// Two endpoints, and what has happened.
struct World {
    ends: Ends,
    config: Config,
    now: Duration,
    datagrams: usize,
    returned: usize,
    buffer: [u8; 1_500],
}

impl World {
    /// Hands a datagram over, or lets time pass; every eighth is lost. Messages that arrived are sent back.
    fn step(&mut self) {
        let side = self.datagrams % 2;
        let sent = [side, 1 - side].into_iter().find_map(|side| {
            self.ends[side]
                .transmit(self.now, &mut self.buffer)
                .map(|(to, transmit)| (side, to, transmit.length))
        });
        let Some((from, to, length)) = sent else { return self.wait() };
        self.datagrams += 1;
        self.now += Duration::from_micros(2);
        if self.datagrams % 8 != 7 {
            deliver(&mut self.ends, &self.config, self.now, to, from, &self.buffer[..length]);
        }
        answer(&mut self.ends[to], self.now, &mut self.returned);
    }

    fn wait(&mut self) {
        let next = self.ends.iter().filter_map(|end| end.timeout()).min();
        self.now = self.now.max(next.expect("something is under way"));
        self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now));
    }
}

fn deliver(ends: &mut Ends, config: &Config, now: Duration, to: usize, from: usize, octets: &[u8]) {
    let Handled::Incoming(incoming) = ends[to].handle(now, from, Ecn::NotCapable, octets) else { return };
    let slot = ends[to].accept(config, &incoming, now).unwrap();
    let connection = ends[to].connection(slot).unwrap();
    (0..2 * MESSAGES).for_each(|_| connection.post_receive(vec![0; LENGTH]).unwrap());
    ends[to].handle(now, from, Ecn::NotCapable, octets);
}

fn answer(end: &mut Endpoint<usize, Vec<u8>, Vec<u8>>, now: Duration, returned: &mut usize) {
    while let Some((slot, event)) = end.event(now) {
        let connection = end.connection(slot).unwrap();
        match event {
            // Every message goes back from the buffer that it came in, and the one sent becomes a buffer.
            Event::Received(message, result) => {
                result.unwrap();
                connection.post_send(message, None).unwrap();
                *returned += 1;
            }
            Event::Sent(message, result) => {
                result.unwrap();
                connection.post_receive(message).unwrap();
            }
            Event::Connected => {}
            Event::Broken(broken) => panic!("{broken}"),
        }
    }
}

#[test]
fn messages_allocate_nothing() {
    let config = Config { max_frame: 1_472, ..Config::data_center() };
    let mut seed = 0u64;
    let random = move || {
        seed += 0x9e37_79b9_7f4a_7c15 / 3;
        seed
    };
    let mut ends: Ends =
        [Endpoint::new(EndpointConfig::default(), random), Endpoint::new(EndpointConfig::default(), random)];
    let now = Duration::from_secs(1);
    let slot = ends[0].open(&config, 1, Level::Reception, b"", now).unwrap();
    let connection = ends[0].connection(slot).unwrap();
    (0..2 * MESSAGES).for_each(|_| connection.post_receive(vec![0; LENGTH]).unwrap());
    (0..MESSAGES).for_each(|_| connection.post_send(vec![1; LENGTH], None).unwrap());

    let mut world = World { ends, config, now, datagrams: 0, returned: 0, buffer: [0; 1_500] };
    while world.returned < 8_000 {
        world.step();
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    while world.returned < 12_000 {
        world.step();
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed) - before, 0, "allocations in 4,000 messages");
}
