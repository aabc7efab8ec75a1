//! A node whose devices refuse what they are to send, or have no room for it yet.

use std::{
    io,
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use throughline_forward::{ForwardConfig, HEADROOM, Node, PortId};
use throughline_stack::{
    Device, DeviceCounts, End, Message, PairConfig, Pool, pair, smoltcp::wire::EthernetAddress,
};

/// A wire in memory, of which the system says this when frames are sent.
struct Refusing(End, i32);

impl Device for Refusing {
    fn hardware(&self) -> EthernetAddress {
        self.0.hardware()
    }

    fn mtu(&self) -> usize {
        self.0.mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        self.0.receive(pool)
    }

    fn send(&mut self, frame: Message, pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        pool.give(frame);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(self.1))
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counts(&mut self) -> DeviceCounts {
        self.0.counts()
    }
}

const NO_MEMORY: i32 = 12;
const NO_DEVICE: i32 = 19;
const TOO_LONG: i32 = 90;
const NETWORK_DOWN: i32 = 100;

/// An interface can be told to carry less while the node runs.
#[test]
fn a_frame_that_is_refused_ends_no_node() {
    let text = "role = \"bridge\"\nport = [{ interface = \"one\" }, { interface = \"other\" }]";
    let config = ForwardConfig::parse(text).unwrap();
    for (error, ends) in [(TOO_LONG, false), (NO_MEMORY, false), (NETWORK_DOWN, false), (NO_DEVICE, true)] {
        let ((mut one, near), (_other, far)) = (pair(&PairConfig::default()), pair(&PairConfig::default()));
        let mut node = Node::new(&config, vec![Box::new(near), Box::new(Refusing(far, error))]).unwrap();
        let mut pool = Pool::new(2048, HEADROOM, 64);
        let mut frame = vec![2; 60];
        frame[6] = 4;
        one.send(Message::copied(HEADROOM, &frame), &mut pool).unwrap();
        match node.poll() {
            Ok(busy) => assert!(busy && !ends, "{error}"),
            Err((port, why)) => assert!(ends && port == PortId(1), "{error}: {why}"),
        }
    }
}

/// A wire in memory that has no room for what it has collected until it is told.
struct Full(End, Vec<Message>, Arc<AtomicBool>);

impl Device for Full {
    fn hardware(&self) -> EthernetAddress {
        self.0.hardware()
    }

    fn mtu(&self) -> usize {
        self.0.mtu()
    }

    fn receive(&mut self, pool: &mut Pool) -> io::Result<Option<Message>> {
        self.0.receive(pool)
    }

    fn send(&mut self, frame: Message, _pool: &mut Pool) -> Result<(), (Message, io::Error)> {
        self.1.push(frame);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.2.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut pool = Pool::new(2048, HEADROOM, 64);
        self.1.drain(..).for_each(|frame| self.0.send(frame, &mut pool).unwrap());
        Ok(())
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counts(&mut self) -> DeviceCounts {
        self.0.counts()
    }
}

#[test]
fn what_a_device_had_no_room_for_leaves_though_nothing_comes_behind_it() {
    let text = "role = \"bridge\"\nport = [{ interface = \"one\" }, { interface = \"other\" }]";
    let config = ForwardConfig::parse(text).unwrap();
    let ((mut one, near), (mut other, far)) = (pair(&PairConfig::default()), pair(&PairConfig::default()));
    let full = Arc::new(AtomicBool::new(true));
    let far = Full(far, Vec::new(), Arc::clone(&full));
    let mut node = Node::new(&config, vec![Box::new(near), Box::new(far)]).unwrap();
    let mut pool = Pool::new(2048, HEADROOM, 64);
    let mut frame = vec![2; 60];
    frame[6] = 4;
    one.send(Message::copied(HEADROOM, &frame), &mut pool).unwrap();
    for _ in 0..3 {
        node.poll().unwrap();
        assert!(other.receive(&mut pool).unwrap().is_none());
    }
    full.store(false, Ordering::Relaxed);
    node.poll().unwrap();
    assert!(other.receive(&mut pool).unwrap().is_some());
}
