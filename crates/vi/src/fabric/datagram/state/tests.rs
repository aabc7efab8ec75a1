//! What is due is done, whatever else is done with a port; and what ends for one VI ends for no other. No keeper helps: these states
//! are no port's.

use super::super::{Port, bell::Bell, link::provider_config, roles::Member, watch::Watch};
use super::*;
use crate::fabric::Doorbell;
use crate::reliable::{Config, Ecn, Handled, Transmit, batch::Run};
use crate::{MemoryHandle, RemoteAddress, SendDescriptor, memory::Memory};
use rustix::event::{EventfdFlags, eventfd};
use std::{
    collections::VecDeque,
    io,
    os::fd::BorrowedFd,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

type Datagrams = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// To one peer, whose datagrams are handled by the test.
struct Line {
    there: Datagrams,
    back: Datagrams,
}

impl Wire for Line {
    type Address = u8;

    fn receive(&mut self, into: &mut [u8], _: bool) -> Option<Reception<u8>> {
        let datagram = self.back.lock().unwrap().pop_front()?;
        into[..datagram.len()].copy_from_slice(&datagram);
        Some(Reception { from: 0, ecn: Ecn::NotCapable, len: datagram.len(), each: datagram.len() })
    }

    fn send(&mut self, _: &Run<u8>, octets: &[u8]) -> bool {
        self.there.lock().unwrap().push_back(octets.to_vec());
        true
    }

    fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        std::iter::empty()
    }
}

/// A state with a connection, whose messages were lost.
struct Lossy {
    state: State<Line>,
    sleepers: Sleepers,
    slot: Slot,
    there: Datagrams,
    back: Datagrams,
}

impl Lossy {
    fn new() -> io::Result<Self> {
        let (config, now) = (Config::data_center(), now());
        let (there, back) = (Datagrams::default(), Datagrams::default());
        let mut state = State::new(Line { there: there.clone(), back: back.clone() }, Arc::default())?;
        let sleepers = Sleepers::new(eventfd(0, EventfdFlags::CLOEXEC)?)?;
        let slot = state.endpoint.open(&config, 0, Level::Delivery, b"line", now).unwrap();
        state.flush(&sleepers, None);
        let mut peer: Endpoint<u8, Outgoing, Place> =
            Endpoint::new(EndpointConfig::default(), OsNonces::default());
        let opening = there.lock().unwrap().pop_front().unwrap();
        let handled = peer.handle(now, 0, Ecn::NotCapable, &opening);
        let Handled::Incoming(incoming) = handled else { panic!("{handled:?}") };
        let accepted = peer.accept(&config, &incoming, now).unwrap();
        let connection = peer.connection(accepted).unwrap();
        assert!((0..4).all(|_| connection.post_receive(Place::for_provider()).is_ok()));
        peer.handle(now, 0, Ecn::NotCapable, &opening);
        let mut buffer = [0; 2000];
        let (_, answer) = peer.transmit(now, &mut buffer).unwrap();
        back.lock().unwrap().push_back(buffer[..answer.length].to_vec());
        assert!(state.take_in(&sleepers, None));
        state.flush(&sleepers, None);
        let mut lossy = Self { state, sleepers, slot, there, back };
        assert!((0..4).all(|_| lossy.send_small()), "the peer has buffers for as many");
        lossy.there.lock().unwrap().clear();
        Ok(lossy)
    }

    fn send_small(&mut self) -> bool {
        self.state.send_small(self.slot, b"small", &self.sleepers)
    }

    /// Polls; `true` if something had arrived.
    fn poll(&mut self) -> bool {
        let arrived = self.state.take_in(&self.sleepers, None);
        if !arrived {
            self.state.pause(&self.sleepers);
        }
        arrived
    }

    /// A datagram arrives that is not for this connection.
    fn other_arrives(&mut self) {
        self.back.lock().unwrap().push_back(vec![0; 64]);
        assert!(self.poll());
    }

    /// Does this until something is repeated.
    fn repeats_during(&mut self, mut work: impl FnMut(&mut Self)) {
        let began = Instant::now();
        while self.there.lock().unwrap().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(4), "nothing is repeated");
            work(self);
        }
    }
}

#[test]
fn what_was_lost_is_repeated_while_its_sender_tries_to_send_more_in_vain() -> io::Result<()> {
    Lossy::new()?.repeats_during(|lossy| assert!(!lossy.send_small() && !lossy.poll()));
    Ok(())
}

#[test]
fn what_was_lost_is_repeated_while_others_talk() -> io::Result<()> {
    Lossy::new()?.repeats_during(|lossy| {
        lossy.other_arrives();
        assert!((0..9).all(|_| !lossy.poll()));
    });
    Ok(())
}

#[test]
fn what_was_lost_is_repeated_while_others_are_answered_without_a_pause() -> io::Result<()> {
    Lossy::new()?.repeats_during(|lossy| {
        lossy.other_arrives();
        lossy.state.send();
    });
    Ok(())
}

#[test]
fn what_was_lost_is_repeated_while_others_never_pause() -> io::Result<()> {
    Lossy::new()?.repeats_during(Lossy::other_arrives);
    Ok(())
}

/// Of what comes while others hold the port, a file that is told of news once only, as those of completion queues are, tells no more.
#[test]
fn nobody_falls_asleep_before_all_that_has_come_is_taken_in() -> io::Result<()> {
    let back = Datagrams::default();
    let port = Port::new(Line { there: Datagrams::default(), back: back.clone() }, Arc::default())?;
    let bell = Bell { port: port.clone(), watch: Arc::new(Watch::new()?) };
    bell.arm();
    back.lock().unwrap().extend(std::iter::repeat_n(vec![0; 64], 1_000));
    for _ in 0..1_000 {
        if !bell.ready() {
            break;
        }
    }
    assert!(back.lock().unwrap().is_empty(), "{} are left", back.lock().unwrap().len());
    assert!(!bell.ready());
    bell.disarm();
    Ok(())
}

/// Otherwise who sends much keeps all others of his NIC waiting: he has the port again before they are awake.
#[test]
fn who_has_waited_for_a_port_has_it_before_who_had_it() -> io::Result<()> {
    let line = Line { there: Datagrams::default(), back: Datagrams::default() };
    let port = Port::new(line, Arc::default())?;
    for round in 0..10 {
        let had = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let first = port.lock();
            scope.spawn(|| {
                let second = port.lock();
                had.store(true, Ordering::Relaxed);
                drop(second);
            });
            while !port.is_overdue() {
                std::thread::yield_now();
            }
            drop(first);
            drop(port.lock());
            assert!(had.load(Ordering::Relaxed), "round {round}");
        });
    }
    Ok(())
}

/// A state that accepts what a peer opens.
struct Accepting {
    state: State<Line>,
    sleepers: Sleepers,
    there: Datagrams,
    back: Datagrams,
    peer: Endpoint<u8, Outgoing, Place>,
}

impl Accepting {
    fn new() -> io::Result<Self> {
        let (there, back) = (Datagrams::default(), Datagrams::default());
        Ok(Self {
            state: State::new(Line { there: there.clone(), back: back.clone() }, Arc::default())?,
            sleepers: Sleepers::new(eventfd(0, EventfdFlags::CLOEXEC)?)?,
            there,
            back,
            peer: Endpoint::new(EndpointConfig::default(), OsNonces::default()),
        })
    }

    /// Carries datagrams to and fro until there are none.
    fn run(&mut self) {
        let mut buffer = [0; 2000];
        loop {
            while let Some((_, transmit)) = self.peer.transmit(now(), &mut buffer) {
                self.back.lock().unwrap().push_back(buffer[..transmit.length].to_vec());
            }
            while self.state.take_in(&self.sleepers, None) {}
            self.state.flush(&self.sleepers, None);
            let arrived: Vec<_> = self.there.lock().unwrap().drain(..).collect();
            if arrived.is_empty() {
                return;
            }
            for datagram in arrived {
                self.peer.handle(now(), 0, Ecn::NotCapable, &datagram);
            }
            while self.peer.event(now()).is_some() {}
        }
    }

    /// The peer opens a connection, which a VI accepts: where both have it.
    fn vi(&mut self) -> (Slot, Slot) {
        let config = Config::data_center();
        let theirs = self.peer.open(&config, 0, Level::Delivery, b"vi", now()).unwrap();
        let mut opening = [0; 2000];
        let (_, Transmit { length, .. }) = self.peer.transmit(now(), &mut opening).unwrap();
        let handled = self.state.endpoint.handle(now(), 0, Ecn::NotCapable, &opening[..length]);
        let Handled::Incoming(incoming) = handled else { panic!("{handled:?}") };
        let ours = self.state.endpoint.accept(&config, &incoming, now()).unwrap();
        let member = Member::new(Arc::new(Watch::new().unwrap()), ProtectionTag::new(), 0);
        self.state.set_role(ours, Role::Vi(Box::new(member)));
        self.state.endpoint.handle(now(), 0, Ecn::NotCapable, &opening[..length]);
        self.run();
        (ours, theirs)
    }

    /// The peer ends a connection, and everything that happened is taken.
    fn break_off(&mut self, theirs: Slot, ours: Option<Slot>) {
        self.peer.connection(theirs).unwrap().reset(Reason::Violation);
        for _ in 0..8 {
            self.run();
            ours.into_iter()
                .for_each(|slot| while self.state.endpoint.event_of(slot, now(), true).is_some() {});
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The peer opens a connection to the memory of a VI.
    fn reach(&mut self, vi: u64) -> Slot {
        let name = vi.to_le_bytes();
        let slot = self.peer.open(&provider_config(), 0, Level::Remote, &name, now()).unwrap();
        self.run();
        slot
    }

    /// Whether the peer's connection was answered, and is not over.
    fn is_reached(&self, theirs: Slot) -> bool {
        let connection = self.peer.peek(theirs);
        connection.is_some_and(|it| it.broken().is_none() && it.stats().received > 0)
    }

    /// Carries what there is to and fro; what is asked of the peer's memory is done. The connection that it accepts for that, if any.
    fn serve(&mut self) -> Option<Slot> {
        let (mut buffer, mut accepted) = ([0; 2000], None);
        let arrived: Vec<_> = self.there.lock().unwrap().drain(..).collect();
        for datagram in arrived {
            let handled = self.peer.handle(now(), 0, Ecn::NotCapable, &datagram);
            let Handled::Incoming(incoming) = handled else { continue };
            let slot = self.peer.accept(&provider_config(), &incoming, now()).unwrap();
            let _ = self.peer.connection(slot).unwrap().post_receive(Place::for_provider());
            self.peer.handle(now(), 0, Ecn::NotCapable, &datagram);
            accepted = Some(slot);
        }
        while let Some((slot, event)) = self.peer.event(now()) {
            if let (Event::Received(..), Some(connection)) = (event, self.peer.connection(slot)) {
                let _ = connection.post_send(Outgoing::Own(vec![1]), None);
            }
        }
        self.peer.handle_timeout(now());
        while let Some((_, transmit)) = self.peer.transmit(now(), &mut buffer) {
            self.back.lock().unwrap().push_back(buffer[..transmit.length].to_vec());
        }
        while self.state.take_in(&self.sleepers, None) {}
        self.state.do_what_is_due(&self.sleepers);
        accepted
    }

    /// The peer ends a connection, and all that it says of that is lost.
    fn forget(&mut self, theirs: Slot) {
        self.peer.connection(theirs).unwrap().close();
        let (mut lost, began) = ([0; 2000], Instant::now());
        while self.peer.peek(theirs).is_some() {
            assert!(began.elapsed() < Duration::from_secs(20), "it is told again and again");
            self.peer.handle_timeout(now());
            while self.peer.transmit(now(), &mut lost).is_some() {}
            while self.peer.event(now()).is_some() {}
        }
    }

    /// So long that nothing of a connection that has ended is remembered.
    fn forget_ended(&mut self) {
        let later = now() + EndpointConfig::default().linger + Duration::from_secs(1);
        self.state.endpoint.handle_timeout(later);
    }

    fn is_well(&self, slot: Slot) -> bool {
        let connection = self.state.endpoint.peek(slot);
        connection.is_some_and(|it| it.broken().is_none())
            && matches!(self.state.roles[slot.0 as usize], Role::Vi(_))
    }
}

#[test]
fn a_vi_that_leaves_ends_nobody_elses_connection() -> io::Result<()> {
    let mut accepting = Accepting::new()?;
    let (first, theirs) = accepting.vi();
    // The peer reaches for the first one's memory, and ends that before it ends.
    let id = accepting.peer.peek(theirs).unwrap().route().connection;
    let reach = accepting.peer.open(&provider_config(), 0, Level::Remote, &id.to_le_bytes(), now()).unwrap();
    accepting.run();
    accepting.break_off(reach, None);
    accepting.forget_ended();
    let (second, _) = accepting.vi();
    accepting.state.leave(first);
    assert!(accepting.is_well(second), "it was ended with the first one");
    Ok(())
}

#[test]
fn a_vi_whose_connection_is_over_keeps_its_place_until_it_leaves() -> io::Result<()> {
    let mut accepting = Accepting::new()?;
    let (first, theirs) = accepting.vi();
    accepting.break_off(theirs, Some(first));
    accepting.forget_ended();
    let (second, _) = accepting.vi();
    assert_ne!(second, first);
    accepting.state.leave(first);
    accepting.run();
    assert!(accepting.is_well(second));
    accepting.forget_ended();
    let (third, _) = accepting.vi();
    assert_eq!(third, first, "the place is another's in the end");
    Ok(())
}

/// The connection for remote DMA may die by itself, where the network was away while that was asked whether it lives, and not the VI.
#[test]
fn a_peer_reaches_memory_by_another_connection_when_the_one_before_is_dead() -> io::Result<()> {
    for told in [true, false] {
        let mut accepting = Accepting::new()?;
        let (vi, theirs) = accepting.vi();
        let id = accepting.peer.peek(theirs).unwrap().route().connection;
        let reach = accepting.reach(id);
        assert!(accepting.is_reached(reach));
        if told {
            accepting.break_off(reach, None);
        } else {
            accepting.peer.connection(reach).unwrap().close();
            let mut lost = [0; 2000];
            while accepting.peer.transmit(now(), &mut lost).is_some() {}
        }
        let again = accepting.reach(id);
        if !told {
            assert!(!accepting.is_reached(again), "the one before may be alive");
            std::thread::sleep(LONE + Duration::from_millis(10));
            accepting.peer.handle_timeout(now());
            accepting.run();
        }
        assert!(accepting.is_reached(again), "told: {told}");
        assert!(accepting.is_well(vi));
        accepting.state.leave(vi);
        accepting.run();
        assert!(!accepting.is_reached(again));
    }
    Ok(())
}

/// It may have died there, where the network was away while that was asked whether it lives, and neither here nor the VI.
#[test]
fn remote_dma_goes_on_by_another_connection_when_the_peer_has_forgotten_the_one_before() -> io::Result<()> {
    let mut accepting = Accepting::new()?;
    let (vi, _) = accepting.vi();
    let memory = Memory::on_heap(3, 8, ProtectionTag::new())?;
    for ticket in 0..3 {
        let window = RemoteAddress { handle: MemoryHandle(1), offset: 0 };
        let write = SendDescriptor::write(memory.take().unwrap(), window);
        assert!(accepting.state.post(vi, ticket, write).is_none());
        accepting.state.flush(&accepting.sleepers, None);
        let began = Instant::now();
        let mut servants = Vec::new();
        let done = loop {
            servants.extend(accepting.serve());
            if let Some((_, done)) = accepting.state.finished(vi, ticket) {
                break done;
            }
            assert!(!accepting.state.is_remote_broken(vi));
            assert!(began.elapsed() < Duration::from_secs(20), "write {ticket} waits for ever");
        };
        assert!(done && accepting.is_well(vi));
        assert_eq!(servants.len(), 1, "write {ticket}");
        accepting.forget(servants[0]);
    }
    Ok(())
}
