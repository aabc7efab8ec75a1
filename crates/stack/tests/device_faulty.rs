//! Faults, each alone and as many as the seed says.

use smoltcp::time::{Duration, Instant};
use throughline_stack::{Device, End, FaultCounts, Faults, Faulty, Message, PairConfig, Pool, pair};

const FRAMES: u32 = 10_000;

struct World {
    sender: Faulty<End>,
    receiver: End,
    pool: Pool,
}

impl World {
    fn new(faults: Faults, seed: u64) -> Self {
        let (a, receiver) = pair(&PairConfig::default());
        Self {
            sender: Faulty::new(a, faults, Faults::default(), seed),
            receiver,
            pool: Pool::new(1600, 16, 2048),
        }
    }

    fn frame(&mut self, number: u32, len: usize) -> Message {
        let mut message = self.pool.take();
        message.append(&vec![0; len]).unwrap();
        message.bytes_mut()[..4].copy_from_slice(&number.to_be_bytes());
        message
    }

    fn send(&mut self, number: u32, len: usize) {
        let frame = self.frame(number, len);
        self.sender.send(frame, &mut self.pool).unwrap();
    }

    /// Sets the time, lets go what is due, and says what came.
    fn at(&mut self, now: Instant) -> Vec<Vec<u8>> {
        self.sender.clock(now);
        assert!(self.sender.receive(&mut self.pool).unwrap().is_none());
        let mut came = Vec::new();
        while let Some(message) = self.receiver.receive(&mut self.pool).unwrap() {
            came.push(message.bytes().to_vec());
            self.pool.give(message);
        }
        came
    }

    /// Sends a frame every 10 us, and says what came, and when.
    fn stream(&mut self) -> Vec<(Instant, Vec<u8>)> {
        let mut all = Vec::new();
        for number in 0..FRAMES {
            let now = Instant::from_micros(number * 10);
            self.sender.clock(now);
            self.send(number, 60);
            all.extend(self.at(now).into_iter().map(|frame| (now, frame)));
        }
        while let Some(now) = self.sender.poll_at() {
            all.extend(self.at(now).into_iter().map(|frame| (now, frame)));
        }
        all
    }

    fn faults(&self) -> FaultCounts {
        self.sender.faults()[0]
    }
}

fn number(frame: &[u8]) -> u32 {
    u32::from_be_bytes(*frame.first_chunk().unwrap())
}

/// About one in a hundred: 10,000 frames, so within 70 to 130 for all but one seed in 400; these do not change.
fn about_one_percent(count: u64) {
    assert!((70..=130).contains(&count), "{count} of 10,000");
}

#[test]
fn nothing_happens_by_default() {
    let mut world = World::new(Faults::default(), 1);
    let came = world.stream();
    assert_eq!(came.len(), FRAMES as usize);
    assert!(came.iter().zip(0..).all(|((time, frame), n)| {
        number(frame) == n && frame[4..].iter().all(|b| *b == 0) && *time == Instant::from_micros(n * 10)
    }));
    assert_eq!(world.faults(), FaultCounts { entered: u64::from(FRAMES), ..Default::default() });
}

#[test]
fn the_same_seed_gives_the_same_faults() {
    let faults = Faults {
        loss: 0.1,
        duplication: 0.1,
        corruption: 0.1,
        reordering: 0.1,
        jitter: Duration::from_micros(100),
        ..Faults::default()
    };
    let [first, again, other] = [7, 7, 8].map(|seed| World::new(faults, seed).stream());
    assert!(first == again);
    assert!(first != other);
}

#[test]
fn loss() {
    let mut world = World::new(Faults { loss: 0.01, ..Faults::default() }, 1);
    let came = world.stream();
    about_one_percent(world.faults().lost);
    assert_eq!(came.len() as u64 + world.faults().lost, u64::from(FRAMES));
    assert!(came.is_sorted_by_key(|(_, frame)| number(frame)));
}

#[test]
fn duplication() {
    let mut world = World::new(Faults { duplication: 0.01, ..Faults::default() }, 1);
    let came = world.stream();
    about_one_percent(world.faults().duplicated);
    let twice = came.windows(2).filter(|pair| pair[0].1 == pair[1].1).count();
    assert_eq!(twice as u64, world.faults().duplicated);
    assert_eq!(came.len(), FRAMES as usize + twice);
}

#[test]
fn corruption_changes_one_bit() {
    let mut world = World::new(Faults { corruption: 0.01, ..Faults::default() }, 1);
    let came = world.stream();
    about_one_percent(world.faults().corrupted);
    let mut wrong = 0;
    for ((_, frame), n) in came.iter().zip(0_u32..) {
        let mut sent = vec![0; 60];
        sent[..4].copy_from_slice(&n.to_be_bytes());
        let bits: u32 = frame.iter().zip(&sent).map(|(a, b)| (a ^ b).count_ones()).sum();
        assert!(bits <= 1);
        wrong += u64::from(bits);
    }
    assert_eq!(wrong, world.faults().corrupted);
}

#[test]
fn reordering_holds_frames_back() {
    let faults = Faults { reordering: 0.01, hold: Duration::from_micros(50), ..Faults::default() };
    let mut world = World::new(faults, 1);
    let came = world.stream();
    about_one_percent(world.faults().reordered);
    let late = |(time, frame): &&(Instant, Vec<u8>)| *time > Instant::from_micros(number(frame) * 10);
    for (time, frame) in came.iter().filter(late) {
        assert_eq!(*time, Instant::from_micros(number(frame) * 10 + 50));
    }
    assert_eq!(came.iter().filter(late).count() as u64, world.faults().reordered);
    assert!(!came.is_sorted_by_key(|(_, frame)| number(frame)));
    assert_eq!(came.len(), FRAMES as usize);
}

#[test]
fn latency_and_jitter() {
    let latency = Duration::from_millis(3);
    let mut world =
        World::new(Faults { latency, jitter: Duration::from_micros(100), ..Faults::default() }, 1);
    let came = world.stream();
    let took =
        came.iter().map(|(time, frame)| (*time - Instant::from_micros(number(frame) * 10)).total_micros());
    let (least, most) = took.fold((u64::MAX, 0), |(least, most), took| (least.min(took), most.max(took)));
    assert!((3000..=3010).contains(&least) && (3100..=3110).contains(&most), "{least} to {most}");
    assert_eq!(came.len(), FRAMES as usize);
}

#[test]
fn bandwidth_and_queue() {
    // 1,226 bytes and 24 around them are 10,000 bits: a millisecond each at 10 Mbit/s.
    let faults = Faults { bandwidth: Some(10_000_000), queue: 5, ..Faults::default() };
    let mut world = World::new(faults, 1);
    for n in 0..8 {
        world.send(n, 1226);
    }
    let times = [1, 2, 3, 4, 5].map(Instant::from_millis);
    for (n, time) in times.into_iter().enumerate() {
        assert_eq!(world.sender.poll_at(), Some(time));
        assert!(world.at(time - Duration::from_micros(1)).is_empty());
        let came: Vec<u32> = world.at(time).iter().map(|frame| number(frame)).collect();
        assert_eq!(came, [n as u32]);
    }
    assert_eq!(world.sender.poll_at(), None);
    assert_eq!(world.faults().overflowed, 3);
    // Those that found no place took no time either.
    world.send(9, 1226);
    assert_eq!(world.sender.poll_at(), Some(Instant::from_millis(6)));
}

#[test]
fn faults_of_what_is_received() {
    let (a, mut b) = pair(&PairConfig::default());
    let all = Faults { loss: 1.0, ..Faults::default() };
    let mut faulty = Faulty::new(a, Faults::default(), all, 1);
    let mut pool = Pool::new(256, 16, 4);
    for _ in 0..2 {
        b.send(Message::copied(16, &[0; 60]), &mut pool).unwrap();
    }
    assert!(faulty.receive(&mut pool).unwrap().is_none());
    assert_eq!((faulty.faults()[1].lost, faulty.counts().received), (2, 0));
    faulty.set_faults(Faults::default(), Faults::default());
    b.send(Message::copied(16, &[0; 60]), &mut pool).unwrap();
    assert!(faulty.receive(&mut pool).unwrap().is_some());
    assert_eq!((faulty.faults()[1].lost, faulty.counts().received), (2, 1));
}

#[test]
fn a_wire_without_room_gets_the_frame_later() {
    let (a, mut b) = pair(&PairConfig { queue: 1, ..Default::default() });
    let mut faulty = Faulty::new(a, Faults::default(), Faults::default(), 1);
    let mut pool = Pool::new(256, 16, 4);
    for n in 0..3_u8 {
        faulty.send(Message::copied(16, &[n; 60]), &mut pool).unwrap();
    }
    for n in 0..3 {
        assert_eq!(faulty.poll_at().is_some(), n < 2);
        assert_eq!(b.receive(&mut pool).unwrap().unwrap().bytes()[0], n);
        assert!(faulty.receive(&mut pool).unwrap().is_none());
    }
    assert_eq!((faulty.counts().sent, faulty.counts().unsent), (3, 0));
}
