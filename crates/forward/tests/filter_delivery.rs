//! Frames to consumers in other processes.
//!
//! The other process is this program again, told by environment variables what to be.

use std::{
    error::Error,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use throughline_forward::{
    FilterBank, FilterBankConfig, Packet,
    filter::{Delivery, DeliveryConfig, Program, SubscribeError, Subscriber, View},
};
use throughline_stack::smoltcp::time::Instant as Moment;
use throughline_vi::{Nic, Reliability, SendDescriptor, ViAttributes};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const ROLE: &str = "THROUGHLINE_FILTER_ROLE";
const ADDRESS: &str = "THROUGHLINE_FILTER_ADDRESS";
const LONG: Duration = Duration::from_secs(20);
const NAME: &[u8] = b"port 1";
/// Frames that the port sees.
const FRAMES: u32 = 20_000;

/// `tcpdump -ddd 'ether[14] = 7'`, and of 8.
fn wants(byte: u8) -> Program {
    format!("4\n48 0 0 14\n21 0 1 {byte}\n6 0 0 262144\n6 0 0 0\n").parse().unwrap()
}

/// A frame of a kind, with a number in it.
fn frame(kind: u8, number: u32) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5, kind];
    frame.extend_from_slice(&number.to_be_bytes());
    frame.resize(60 + number as usize % 1400, kind);
    frame
}

/// The other process. Without a role a test that has nothing to do.
#[test]
fn other_process() -> Result {
    let (Ok(role), Ok(address)) = (std::env::var(ROLE), std::env::var(ADDRESS)) else { return Ok(()) };
    let mut subscriber = Subscriber::new(&Nic::shm()?, &address, NAME, &wants(7), LONG)?;
    let mut next = 0;
    match role.as_str() {
        "all" => take_all(&mut subscriber, &mut next),
        // Sleeps long enough to lose frames, and then takes what there is.
        "late" => {
            std::thread::sleep(Duration::from_millis(700));
            take_all(&mut subscriber, &mut next)
        }
        "leave" => Ok(()),
        role => Err(format!("no role {role}").into()),
    }
}

/// All frames in their order, and as many lost as are missing. The last one says so: its number is the greatest.
fn take_all(subscriber: &mut Subscriber, next: &mut u32) -> Result {
    let mut lost = 0;
    loop {
        let received = subscriber.receive(Some(LONG), <[u8]>::to_vec)?;
        let number = u32::from_be_bytes(received[15..19].try_into()?);
        if number == u32::MAX {
            return Ok(());
        }
        assert_eq!(received, frame(7, number));
        lost += number - *next;
        assert_eq!(subscriber.lost(), lost);
        *next = number + 1;
    }
}

/// A process that ends with us.
struct Other(Child);

impl Other {
    fn start(role: &str, address: &str) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .args(["--exact", "other_process", "--nocapture"])
            .envs([(ROLE, role), (ADDRESS, address)])
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Self(child))
    }

    /// Meanwhile the port is looked at, as a forwarder does: what waits for this process goes on so.
    fn succeeds(&mut self, port: &mut Port) -> Result<bool> {
        let begun = Instant::now();
        while begun.elapsed() < LONG {
            port.delivery.poll(&mut port.bank)?;
            if let Some(status) = self.0.try_wait()? {
                return Ok(status.success());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err("the other process does not end".into())
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port with its filters and consumers.
struct Port {
    bank: FilterBank,
    delivery: Delivery,
    nic: Nic,
}

impl Port {
    fn new(config: DeliveryConfig) -> Result<Self> {
        let nic = Nic::shm()?;
        let delivery = Delivery::listen(&nic, NAME, config)?;
        Ok(Self { bank: FilterBank::new(FilterBankConfig::default())?, delivery, nic })
    }

    fn until(&mut self, what: &str, done: impl Fn(&Delivery) -> bool) -> Result {
        let begun = Instant::now();
        while !done(&self.delivery) {
            self.delivery.poll(&mut self.bank)?;
            if begun.elapsed() > LONG {
                return Err(what.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn see(&mut self, frame: &[u8]) -> Result {
        let packet = Packet::of(frame)?;
        let consumers = self.bank.consumers(&packet, Moment::ZERO);
        self.delivery.deliver(consumers, &View::from(&packet));
        Ok(())
    }

    /// Sends the last frame until it could be sent to all.
    fn last(&mut self) -> Result {
        let last = [&frame(7, 0)[..15], &u32::MAX.to_be_bytes()].concat();
        let begun = Instant::now();
        loop {
            let before = self.delivery.counts().lost;
            self.see(&last)?;
            self.delivery.poll(&mut self.bank)?;
            if self.delivery.counts().lost == before {
                return Ok(());
            }
            assert!(begun.elapsed() < LONG, "a consumer does not catch up");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// One keeps up and the other sleeps: each gets its frames in their order and is told how many it has lost.
#[test]
fn consumers_get_what_their_filters_want() -> Result {
    let mut port = Port::new(DeliveryConfig::default())?;
    let mut others = [Other::start("all", port.nic.address())?, Other::start("late", port.nic.address())?];
    port.until("nobody came", |delivery| delivery.consumers() == 2)?;
    for number in 0..FRAMES {
        port.see(&frame(8, number))?;
        port.see(&frame(7, number))?;
        if number % 50 == 0 {
            port.delivery.poll(&mut port.bank)?;
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let counts = port.delivery.counts();
    assert_eq!(counts.sent + counts.lost, 2 * u64::from(FRAMES), "{counts:?}");
    assert!(counts.lost > 0, "the one that sleeps holds nobody up: {counts:?}");
    port.last()?;
    for other in &mut others {
        assert!(other.succeeds(&mut port)?);
    }
    port.until("they are still there", |delivery| delivery.consumers() == 0)?;
    assert!(port.bank.is_empty());
    Ok(())
}

/// What was lost is known, and what had been sent before comes: the ring and the buffers that wait.
#[test]
fn who_sleeps_loses_frames() -> Result {
    let mut port = Port::new(DeliveryConfig::default())?;
    let (address, nic) = (port.nic.address().to_owned(), Nic::shm()?);
    let thread = std::thread::spawn(move || Subscriber::new(&nic, &address, NAME, &wants(7), LONG));
    port.until("nobody came", |delivery| delivery.consumers() == 1)?;
    let mut subscriber = thread.join().expect("a thread")?;
    (0..1000).try_for_each(|number| port.see(&frame(7, number)))?;
    let counts = port.delivery.counts();
    assert!(counts.lost > 0 && counts.sent > 64, "{counts:?}");
    let mut received = 0;
    while received < counts.sent {
        port.delivery.poll(&mut port.bank)?;
        match subscriber.receive(Some(Duration::from_millis(10)), |bytes| bytes.len()) {
            Ok(_) => received += 1,
            Err(SubscribeError::Wait(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    port.see(&frame(7, 7))?;
    subscriber.receive(Some(LONG), |bytes| assert_eq!(bytes, frame(7, 7)))?;
    assert_eq!(u64::from(subscriber.lost()), counts.lost);
    Ok(())
}

#[test]
fn long_frames_are_cut() -> Result {
    let mut port = Port::new(DeliveryConfig { snapshot: 64, ..DeliveryConfig::default() })?;
    let (address, nic) = (port.nic.address().to_owned(), Nic::shm()?);
    let thread = std::thread::spawn(move || Subscriber::new(&nic, &address, NAME, &wants(7), LONG));
    port.until("nobody came", |delivery| delivery.consumers() == 1)?;
    let mut subscriber = thread.join().expect("a thread")?;
    port.see(&frame(7, 1000))?;
    subscriber.receive(Some(LONG), |bytes| assert_eq!(bytes, &frame(7, 1000)[..64]))?;
    Ok(())
}

/// Those who send no program, or none that is one, or are too many.
#[test]
fn bad_consumers_are_refused() -> Result {
    let mut port = Port::new(DeliveryConfig { consumers: 2, ..DeliveryConfig::default() })?;
    let (address, nic) = (port.nic.address().to_owned(), Nic::shm()?);
    let thread = std::thread::spawn(move || -> std::result::Result<_, String> {
        let connect = |text: Option<&str>| -> Result<_> {
            let mut vi = nic.create_vi(&ViAttributes::new(Reliability::Unreliable))?;
            vi.post_own_receives();
            vi.connect(&address, NAME, Some(LONG))?;
            if let Some(text) = text {
                let mut buffer = vi.send_buffer().ok_or("no buffer")?;
                buffer.set_len(text.len());
                buffer.copy_from_slice(text.as_bytes());
                vi.post_send(SendDescriptor::new(buffer).unsignaled())?;
            }
            Ok(vi)
        };
        let run = || -> Result {
            for text in ["", "1\n5 0 0 0\n", "no program", "\u{0}"] {
                let mut vi = connect(Some(text))?;
                assert!(vi.receive_wait(Some(LONG))?.result.is_err(), "{text:?}");
            }
            let mut silent = [connect(None)?, connect(None)?];
            assert!(Subscriber::new(&nic, &address, NAME, &wants(7), LONG).is_err(), "a third one");
            for vi in &mut silent {
                assert!(vi.receive_wait(Some(LONG))?.result.is_err());
            }
            Subscriber::new(&nic, &address, NAME, &wants(7), LONG)?;
            Ok(())
        };
        run().map_err(|error| error.to_string())
    });
    let done = || thread.is_finished();
    port.until("they are not refused", |_| done())?;
    thread.join().expect("a thread")?;
    assert_eq!(port.delivery.counts().refused, 7);
    Ok(())
}

/// Frames wait while callers are taken in.
#[test]
fn however_many_call_at_once_few_are_taken_in_at_a_time() -> Result {
    const CALLERS: u64 = 40;
    let nobody = DeliveryConfig { consumers: 0, ..DeliveryConfig::default() };
    let mut bank = FilterBank::new(FilterBankConfig::default())?;
    let mut delivery = Delivery::listen(&Nic::shm()?, NAME, nobody)?;
    let address = delivery.address().to_owned();
    std::thread::scope(|scope| -> Result {
        let call = || Nic::shm().map(|nic| Subscriber::new(&nic, &address, NAME, &wants(7), LONG).is_err());
        let callers: Vec<_> = (0..CALLERS).map(|_| scope.spawn(call)).collect();
        std::thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        while delivery.counts().refused < CALLERS && began.elapsed() < LONG {
            let before = delivery.counts().refused;
            delivery.poll(&mut bank)?;
            assert!(delivery.counts().refused <= before + 16, "{:?} after {before}", delivery.counts());
        }
        for caller in callers {
            assert!(caller.join().expect("no panic")?, "nobody may be a consumer");
        }
        Ok(())
    })
}

#[test]
fn who_leaves_is_forgotten() -> Result {
    let mut port = Port::new(DeliveryConfig::default())?;
    let mut other = Other::start("leave", port.nic.address())?;
    port.until("nobody came", |delivery| delivery.consumers() == 1)?;
    assert!(other.succeeds(&mut port)?);
    port.until("it is still there", |delivery| delivery.consumers() == 0)?;
    assert!(port.bank.is_empty());
    port.see(&frame(7, 1))
}

/// A node's port hands copies of what comes in to whoever asks.
#[test]
fn consumers_of_a_node() -> Result {
    use throughline_forward::{ForwardConfig, HEADROOM, Node, PortId};
    use throughline_stack::{Device, Message, PairConfig, Pool, pair};
    let config = ForwardConfig::parse(
        "role = \"bridge\"\nport = [{ interface = \"one\", filters = true }, { interface = \"other\" }]",
    )?;
    let ((mut one, near), (_other, far)) = (pair(&PairConfig::default()), pair(&PairConfig::default()));
    let mut node = Node::new(&config, vec![Box::new(near), Box::new(far)])?;
    assert_eq!(node.filters(PortId(1)), None);
    let address = node.filters(PortId(0)).map(str::to_owned).ok_or("no filters")?;
    let consumer = std::thread::spawn(move || -> std::result::Result<Vec<u8>, String> {
        let nic = Nic::shm().map_err(|error| error.to_string())?;
        let mut subscriber =
            Subscriber::new(&nic, &address, b"one", &wants(7), LONG).map_err(|error| error.to_string())?;
        subscriber.receive(Some(LONG), <[u8]>::to_vec).map_err(|error| error.to_string())
    });
    let mut pool = Pool::new(2048, HEADROOM, 64);
    while !consumer.is_finished() {
        node.poll().map_err(|(_, error)| error)?;
        for wanted in [6, 7] {
            let mut frame = vec![2; 60];
            frame[6] = 4;
            frame[12..14].copy_from_slice(&[8, 0]);
            frame[14] = wanted;
            let _ = one.send(Message::copied(HEADROOM, &frame), &mut pool);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let frame = consumer.join().map_err(|_| "the consumer panicked")??;
    assert_eq!(frame.len(), 60);
    Ok(())
}
