//! Whose the connections of a port are, and the order of a VI's sends where remote DMA is among them.
//!
//! Remote DMA has a connection of its own to the peer's provider. So that sends are carried out in the order posted, it
//! begins when the peer has all messages posted before, and what is posted after it is held until it is over.

use super::{
    Wire,
    message::{Outgoing, Place},
    remote::{PARTS, Running},
    state::State,
    watch::{Sleepers, Watch},
};
use crate::{
    ProtectionTag,
    descriptor::{Operation, SendDescriptor},
    reliable::{Arrived, Broken, Connection, Event, Level, Reason},
};
use std::{collections::VecDeque, sync::Arc};
use throughline_demux::Slot;

/// Whose a connection is.
#[derive(Default)]
pub(super) enum Role<A> {
    /// Of a VI that is no more.
    #[default]
    Gone,
    Vi(Box<Member<A>>),
    /// For the remote DMA of the VI of this slot.
    Remote(Slot),
    /// Of the provider, for remote DMA of the peer of a VI of this tag.
    Servant(ProtectionTag),
}

/// A VI, as its port sees it.
pub(super) struct Member<A> {
    pub(super) watch: Arc<Watch>,
    pub(super) tag: ProtectionTag,
    pub(super) peer: A,
    /// The connection by which its peer reaches our memory.
    pub(super) servant: Option<Slot>,
    dma: Dma,
}

#[derive(Default)]
struct Dma {
    slot: Option<Slot>,
    running: Option<(u64, Running)>,
    /// What was posted after it.
    held: VecDeque<(u64, SendDescriptor)>,
    /// What is over, and whether it was carried out.
    finished: VecDeque<(u64, SendDescriptor, bool)>,
    spare: Vec<Vec<u8>>,
    broken: bool,
}

impl<A> Member<A> {
    pub(super) fn new(watch: Arc<Watch>, tag: ProtectionTag, peer: A) -> Self {
        Self { watch, tag, peer, servant: None, dma: Dma::default() }
    }

    /// Whether no remote DMA has been asked for, so that there is nothing to be put in order.
    #[inline]
    fn is_plain(&self) -> bool {
        self.dma.slot.is_none() && !self.dma.broken && self.dma.finished.is_empty() && !self.holds_any()
    }

    /// Whether sends wait for others of this VI.
    pub(super) fn holds_any(&self) -> bool {
        self.dma.running.is_some() || !self.dma.held.is_empty()
    }
}

impl<W: Wire> State<W> {
    fn member(&mut self, slot: Slot) -> Option<&mut Member<W::Address>> {
        match self.roles.get_mut(slot.0 as usize) {
            Some(Role::Vi(member)) => Some(member),
            _ => None,
        }
    }

    /// Says whose a connection is, which keeps its slot as long as it is somebody's.
    pub(super) fn set_role(&mut self, slot: Slot, role: Role<W::Address>) {
        match role {
            Role::Gone => self.endpoint.let_go(slot, self.now),
            _ => self.endpoint.hold(slot),
        }
        let at = slot.0 as usize;
        if self.roles.len() <= at {
            self.roles.resize_with(at + 1, Role::default);
        }
        self.roles[at] = role;
    }

    /// Carries out a send of a VI, or holds it; gives it back if the connection is broken.
    pub(super) fn post(
        &mut self,
        slot: Slot,
        ticket: u64,
        descriptor: SendDescriptor,
    ) -> Option<SendDescriptor> {
        let Some(member) = self.member(slot) else { return Some(descriptor) };
        if descriptor.operation == Operation::Send && !member.holds_any() {
            let immediate = descriptor.immediate;
            let Some(connection) = self.endpoint.posting(slot) else { return Some(descriptor) };
            let refused = connection.post_send(Outgoing::Lent(descriptor), immediate).err();
            return refused.and_then(Outgoing::descriptor);
        }
        member.dma.held.push_back((ticket, descriptor));
        self.advance(slot);
        None
    }

    /// Whether this VI's sends are messages only.
    #[inline]
    pub(super) fn is_plain(&mut self, slot: Slot) -> bool {
        self.member(slot).is_none_or(|member| member.is_plain())
    }

    /// Remote DMA with this ticket that is over, and whether it was carried out.
    pub(super) fn finished(&mut self, slot: Slot, ticket: u64) -> Option<(SendDescriptor, bool)> {
        let finished = &mut self.member(slot)?.dma.finished;
        finished.front().filter(|first| first.0 == ticket)?;
        finished.pop_front().map(|(_, descriptor, done)| (descriptor, done))
    }

    /// Whether the connection for remote DMA ended while it was needed.
    pub(super) fn is_remote_broken(&mut self, slot: Slot) -> bool {
        self.member(slot).is_some_and(|member| member.dma.broken)
    }

    /// The VI leaves its connection, which may go on to its end; nobody reaches its memory any more. What was not carried
    /// out is given back.
    pub(super) fn leave(&mut self, slot: Slot) -> Vec<SendDescriptor> {
        let Role::Vi(member) = std::mem::take(&mut self.roles[slot.0 as usize]) else { return Vec::new() };
        self.endpoint.let_go(slot, self.now);
        let Member { servant, dma, .. } = *member;
        for other in [servant, dma.slot].into_iter().flatten() {
            if let Some(connection) = self.endpoint.connection(other) {
                connection.close();
            }
            self.set_role(other, Role::Gone);
        }
        let finished = dma.finished.into_iter().map(|(_, descriptor, _)| descriptor);
        let running = dma.running.into_iter().map(|(_, running)| running.end().0);
        finished.chain(running).chain(dma.held.into_iter().map(|(_, descriptor)| descriptor)).collect()
    }

    /// Goes on with what is held, as far as it can be.
    #[cold]
    pub(super) fn advance(&mut self, slot: Slot) {
        while self.finish(slot) && self.begin(slot) {}
    }

    /// Whether no remote DMA is under way, or it is over now.
    fn finish(&mut self, slot: Slot) -> bool {
        let Some(member) = self.member(slot) else { return false };
        let Some((ticket, running)) = member.dma.running.take_if(|(_, running)| running.is_over()) else {
            return member.dma.running.is_none();
        };
        let (descriptor, done) = running.end();
        if !done || descriptor.immediate.is_none() {
            member.dma.finished.push_back((ticket, descriptor, done));
            return true;
        }
        let immediate = descriptor.immediate;
        if let Some(connection) = self.endpoint.connection(slot)
            && let Err(Outgoing::Notice(descriptor)) =
                connection.post_send(Outgoing::Notice(descriptor), immediate)
            && let Some(member) = self.member(slot)
        {
            member.dma.held.push_front((ticket, descriptor));
            return false;
        }
        true
    }

    /// Begins with the first that is held; whether there may be another one.
    fn begin(&mut self, slot: Slot) -> bool {
        let Self { endpoint, roles, .. } = self;
        let Some(Role::Vi(member)) = roles.get_mut(slot.0 as usize) else { return false };
        let Some((_, first)) = member.dma.held.front() else { return false };
        let is_message = first.operation == Operation::Send;
        // Only looked at: whoever is touched is told of again.
        let can = |connection: &Connection<Outgoing, Place>| {
            connection.broken().is_none() && (is_message || connection.all_sent())
        };
        if !endpoint.peek(slot).is_some_and(can) {
            // The last messages may be such that nobody wants back.
            endpoint.await_sent(slot);
            return false;
        }
        let (Some((ticket, first)), Some(connection)) =
            (member.dma.held.pop_front(), endpoint.connection(slot))
        else {
            return false;
        };
        if is_message {
            let immediate = first.immediate;
            let refused = connection.post_send(Outgoing::Lent(first), immediate).err();
            let refused = refused.and_then(Outgoing::descriptor);
            let fits = refused.is_none();
            if let Some(descriptor) = refused {
                member.dma.held.push_front((ticket, descriptor));
            }
            return fits;
        }
        member.dma.running = Some((ticket, Running::new(first)));
        if member.dma.slot.is_none() {
            self.open_remote(slot);
        }
        self.ask(slot);
        false
    }

    fn open_remote(&mut self, vi: Slot) {
        let now = self.look_at_clock();
        let Some(peer) = self.member(vi).map(|member| member.peer) else { return };
        let Some(id) = self.endpoint.connection(vi).map(|it| it.route().connection) else { return };
        let config = super::link::provider_config();
        let opened = self.endpoint.open(&config, peer, Level::Remote, &id.to_le_bytes(), now).ok();
        if let Some(slot) = opened {
            self.set_role(slot, Role::Remote(vi));
            if let Some(connection) = self.endpoint.connection(slot) {
                (0..PARTS).for_each(|_| drop(connection.post_receive(Place::for_provider())));
            }
        }
        if let Some(member) = self.member(vi) {
            member.dma.slot = opened;
            member.dma.broken = opened.is_none();
        }
    }

    fn ask(&mut self, vi: Slot) {
        let Self { endpoint, roles, .. } = self;
        let Some(Role::Vi(member)) = roles.get_mut(vi.0 as usize) else { return };
        let Dma { slot: Some(slot), running: Some((_, running)), spare, .. } = &mut member.dma else {
            return;
        };
        if let Some(connection) = endpoint.connection(*slot) {
            running.ask(connection, spare);
        }
    }

    /// Something happened to the connection for the remote DMA of this VI.
    pub(super) fn hear_remote(&mut self, slot: Slot, vi: Slot, sleepers: &Sleepers) {
        let now = self.now;
        while let Some(event) = self.endpoint.event_of(slot, now, true) {
            let Some(member) = self.member(vi) else { continue };
            match event {
                Event::Sent(message, Ok(())) => member.dma.spare.extend(message.own()),
                Event::Received(place, Ok(arrived)) => self.answered(slot, vi, place, arrived),
                Event::Broken(broken) => self.remote_ended(slot, vi, broken),
                Event::Connected | Event::Sent(..) | Event::Received(..) => {}
            }
        }
        self.advance(vi);
        if let Some(Role::Vi(member)) = self.roles.get(vi.0 as usize)
            && (member.dma.broken || !member.dma.finished.is_empty())
        {
            sleepers.ring(&member.watch);
        }
        self.send();
    }

    fn remote_ended(&mut self, slot: Slot, vi: Slot, broken: Broken) {
        // It died by itself at the peer, or its end was not heard of: another one is refused if the peer's VI is no more.
        let forgotten = broken == Broken::Reset(Reason::Unknown)
            && self.endpoint.peek(slot).is_some_and(Connection::has_heard);
        self.set_role(slot, Role::Gone);
        let Some(member) = self.member(vi) else { return };
        member.dma.slot = None;
        let needed = member.holds_any();
        if forgotten && let Some((_, running)) = &mut member.dma.running {
            if running.restart() {
                self.open_remote(vi);
                return self.ask(vi);
            }
            member.dma.broken = true;
        }
        // Whose VI is no more. It tells of its end there, once all has come that it sent before, or is asked for it.
        let leaves = matches!(broken, Broken::Reset(Reason::Closed | Reason::Unknown));
        member.dma.broken |= needed && !leaves;
        if needed && let Some(connection) = self.endpoint.connection(vi) {
            connection.ask();
        }
    }

    fn answered(&mut self, slot: Slot, vi: Slot, place: Place, arrived: Arrived) {
        let Self { endpoint, roles, .. } = self;
        let Some(connection) = endpoint.connection(slot) else { return };
        let (Some(message), Some(Role::Vi(member))) = (place.own(arrived), roles.get_mut(vi.0 as usize))
        else {
            return;
        };
        let expected = member.dma.running.as_mut().is_some_and(|(_, running)| running.answered(&message));
        if !expected {
            return connection.reset(Reason::Violation);
        }
        let _ = connection.post_receive(Place::again(message));
        self.ask(vi);
    }
}
