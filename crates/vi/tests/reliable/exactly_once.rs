//! Messages arrive exactly once and in order, whatever the network does.

use std::time::Duration;

use throughline_vi::reliable::{Arrived, Config, Connection, Event, Level, Longer};

use crate::{
    link::{Conditions, Random},
    world::{CLIENT, Message, SERVER, Side, World, message},
};

/// Messages of both sides, and how far they are.
struct Talk {
    seed: u64,
    lengths: [Vec<usize>; 2],
    posted: [usize; 2],
    sent: [usize; 2],
    received: [usize; 2],
    buffers: Buffers,
}

/// How buffers are posted: for all messages, or short ones that are lengthened as long as there are not too many octets.
#[derive(Clone, Copy)]
enum Buffers {
    Long,
    Lengthened,
}

impl Buffers {
    fn post(self, count: usize, to: &mut Connection<Message, Message>) {
        if matches!(self, Self::Lengthened) {
            to.lengthen_by(Box::new(|buffer, Longer { octets, untaken, next }| {
                let found = next || untaken + octets <= BUFFER;
                if found {
                    buffer.resize(octets, 0);
                }
                found
            }));
        }
        (0..count).for_each(|_| self.post_one(to));
    }

    fn post_one(self, to: &mut Connection<Message, Message>) {
        let length = if matches!(self, Self::Long) { BUFFER } else { 1_000 };
        to.post_receive(vec![0; length]).unwrap();
    }
}

const BUFFER: usize = 300_000;

impl Talk {
    fn new(seed: u64, random: &mut Random, messages: usize, buffers: Buffers) -> Self {
        let mut length = |_| match random.below(20) {
            0 => 0,
            1 => random.below(BUFFER as u64) as usize + 1,
            2..7 => random.below(10_000) as usize,
            _ => random.below(200) as usize,
        };
        let lengths = [(0..messages).map(&mut length).collect(), (0..messages).map(&mut length).collect()];
        Self { seed, lengths, posted: [0; 2], sent: [0; 2], received: [0; 2], buffers }
    }

    fn expected(&self, from: Side, number: usize) -> Message {
        message(self.seed ^ from as u64, number as u64, self.lengths[from][number])
    }

    fn immediate(number: usize) -> Option<u32> {
        (!number.is_multiple_of(3)).then_some(number as u32)
    }

    /// Keeps up to 16 sends outstanding.
    fn post(&mut self, world: &mut World, side: Side, slot: throughline_demux::Slot) {
        while self.posted[side] < self.lengths[side].len() && self.posted[side] < self.sent[side] + 16 {
            let number = self.posted[side];
            let message = self.expected(side, number);
            world.connection(side, slot).post_send(message, Self::immediate(number)).unwrap();
            self.posted[side] += 1;
        }
    }

    fn is_done(&self) -> bool {
        let all = |counts: &[usize; 2]| (0..2).all(|side| counts[side] == self.lengths[side].len());
        all(&self.sent)
            && self.received[0] == self.lengths[1].len()
            && self.received[1] == self.lengths[0].len()
    }

    fn handle(
        &mut self,
        world: &mut World,
        side: Side,
        slot: throughline_demux::Slot,
        event: Event<Message, Message>,
    ) -> bool {
        match event {
            Event::Connected => assert_eq!(side, CLIENT),
            Event::Sent(message, result) => {
                result.unwrap();
                assert_eq!(message, self.expected(side, self.sent[side]), "sends complete in order");
                // What is complete was received: at this level, the peer has it already, and has taken it unless it is busy.
                assert!(self.sent[side] < self.received[1 - side] || world.busy[1 - side] > 0.0);
                self.sent[side] += 1;
            }
            Event::Received(buffer, result) => {
                let Arrived { length, immediate } = result.unwrap();
                let number = self.received[side];
                assert_eq!(immediate, Self::immediate(number));
                assert!(buffer[..length] == self.expected(1 - side, number), "message {number} of {length}");
                self.received[side] += 1;
                self.buffers.post_one(world.connection(side, slot));
            }
            Event::Broken(broken) => panic!("{broken}"),
        }
        self.post(world, side, slot);
        self.is_done()
    }
}

fn talk(config: Config, conditions: Conditions, seed: u64, level: Level, messages: usize) -> World {
    let world = World::new(config, conditions, seed);
    talk_with(world, Buffers::Long, seed, level, messages)
}

fn talk_with(mut world: World, buffers: Buffers, seed: u64, level: Level, messages: usize) -> World {
    let mut random = Random(seed);
    let mut talk = Talk::new(seed, &mut random, messages, buffers);
    let count = 1 + random.below(20) as usize;
    world.on_accept = Box::new(move |server| buffers.post(count, server));
    let client = world.open(level);
    buffers.post(count, world.connection(CLIENT, client));
    talk.post(&mut world, CLIENT, client);
    let mut started = false;
    let done = world.run(|world, side, slot, event| {
        let done = talk.handle(world, side, slot, event);
        if !started && let Some(server) = world.accepted.first().copied() {
            started = true;
            talk.post(world, SERVER, server);
            world.flush(SERVER);
        }
        done
    });
    assert!(done, "seed {seed}: nothing happens any more: {:?} {:?}", talk.sent, talk.received);
    assert_eq!(world.accepted.len(), 1);
    world
}

fn configs() -> [Config; 2] {
    [Config::data_center(), Config::internet()]
}

#[test]
fn a_tenth_lost_a_tenth_twice_and_reordered() {
    for seed in 0..60 {
        let config = configs()[seed as usize % 2].clone();
        let level = if seed % 4 < 2 { Level::Delivery } else { Level::Reception };
        talk(config, Conditions::BAD, seed, level, 150);
    }
}

#[test]
fn any_conditions() {
    for seed in 0..120 {
        let mut random = Random(seed ^ 0x5eed);
        let mut share = |most: f64| most * random.below(1_000) as f64 / 1_000.0;
        let conditions = Conditions {
            loss: share(0.25),
            duplication: share(0.3),
            reordering: share(0.5),
            corruption: share(0.05),
            reordering_delay: Duration::from_micros(1 + random.below(30_000)),
            delay: Duration::from_micros(10 + random.below(50_000)),
            rate: (random.below(2) == 0).then(|| 500_000 + random.below(50_000_000)),
            queue: 10_000 + random.below(200_000),
            mark_from: 5_000 + random.below(100_000),
            mtu: 1_200 + random.below(8_000) as usize,
        };
        let config = Config {
            max_frame: 9_000,
            death: Duration::from_secs(600),
            ..configs()[seed as usize % 2].clone()
        };
        talk(config, conditions, seed, Level::Reception, 40);
    }
}

#[test]
fn by_those_who_are_busy_and_have_little_memory() {
    for seed in 0..60 {
        let conditions =
            [Conditions::BAD, Conditions { delay: Duration::from_micros(50), ..Conditions::PERFECT }];
        let mut world =
            World::new(configs()[seed as usize % 2].clone(), conditions[seed as usize / 2 % 2], seed);
        world.busy = [0.9, 0.99];
        talk_with(world, Buffers::Lengthened, seed, Level::Reception, 100);
    }
}

#[test]
fn nothing_is_lost_in_a_perfect_network() {
    let config = Config { max_frame: 1_472, initial_credit: 1, ..Config::data_center() };
    let mut world = talk(config, Conditions::PERFECT, 1, Level::Reception, 1_000);
    let server = world.accepted[0];
    let stats = world.connection(SERVER, server).stats();
    assert_eq!((stats.lost, stats.duplicates, stats.refused, stats.probes), (0, 0, 0, 0));
}

#[test]
fn messages_of_16_mb() {
    let conditions = Conditions { loss: 0.01, mtu: 9_000, ..Conditions::PERFECT };
    let config = Config { max_frame: 9_000, ..Config::data_center() };
    let mut world = World::new(config, conditions, 7);
    world.on_accept = Box::new(|server| {
        (0..2).for_each(|_| server.post_receive(vec![0; 16 << 20]).unwrap());
    });
    let client = world.open(Level::Reception);
    let whole = message(3, 3, 16 << 20);
    for _ in 0..2 {
        world.connection(CLIENT, client).post_send(whole.clone(), None).unwrap();
    }
    assert!(world.connection(CLIENT, client).post_send(vec![0; (16 << 20) + 1], None).is_err());
    let mut arrived = 0;
    assert!(world.run(|_, _, _, event| {
        if let Event::Received(buffer, result) = event {
            assert_eq!(result.unwrap().length, 16 << 20);
            assert!(buffer == whole);
            arrived += 1;
        }
        arrived == 2
    }));
}
