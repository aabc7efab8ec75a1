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

/// A wire in memory that collects frames, and of which the system says this when they are to leave.
struct Collecting<F>(End, Vec<Message>, F);

impl<F: FnMut() -> io::Result<()> + Send> Device for Collecting<F> {
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
        self.2()?;
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
        let refusing = Collecting(far, Vec::new(), move || Err(io::Error::from_raw_os_error(error)));
        let mut node = Node::new(&config, vec![Box::new(near), Box::new(refusing)]).unwrap();
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

#[test]
fn what_a_device_had_no_room_for_leaves_though_nothing_comes_behind_it() {
    let text = "role = \"bridge\"\nport = [{ interface = \"one\" }, { interface = \"other\" }]";
    let config = ForwardConfig::parse(text).unwrap();
    let ((mut one, near), (mut other, far)) = (pair(&PairConfig::default()), pair(&PairConfig::default()));
    let full = Arc::new(AtomicBool::new(true));
    let is_full = Arc::clone(&full);
    let has_room = move || match is_full.load(Ordering::Relaxed) {
        true => Err(io::ErrorKind::WouldBlock.into()),
        false => Ok(()),
    };
    let far = Collecting(far, Vec::new(), has_room);
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
