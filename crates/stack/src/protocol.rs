//! The uniform protocol interface: what every protocol does, so that none needs to know its neighbours.
//!
//! After the x-kernel's interface (open, openEnable, demux, pop, push, close, control). What differs: finding a session
//! ([`Protocol::demux`]) changes nothing, so that all layers can do it before any layer's state changes; and where a
//! message's session is known already, [`Protocol::check`] confirms it without a lookup.

use smoltcp::{
    time::Instant,
    wire::{EthernetAddress, IpAddress, IpVersion},
};
use throughline_demux::Slot;

use crate::{Discard, Lower, Message, OpenError, Participants, Refused, Report, SendError, StreamError};

/// A protocol of a graph; the lowest are numbered first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProtocolId(pub u8);

impl ProtocolId {
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A session, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    /// The protocol.
    pub protocol: ProtocolId,
    /// The session's slot among those of the protocol.
    pub session: Slot,
}

/// Where a message goes above a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Upper {
    /// To another protocol's demultiplexing.
    Protocol(ProtocolId),
    /// To the user: the boundary between protocols and users (the paper's `upBoundary`) has been reached. The slot is the
    /// path's.
    User(Slot),
    /// To the next session of a path, of which the session below is one: the slot is the path's.
    Path(Slot),
    /// Nowhere: the protocol is itself the user of its messages, as those of control messages are.
    Itself,
    /// Not known before this layer has changed its state: the message is a fragment.
    AfterPop,
}

/// What the header of a message leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demux {
    /// A session has the message, and says what is above.
    Found(Slot, Upper),
    /// No session has it, but the protocol would [accept](Protocol::accept) one.
    Passive,
}

// What is handed from layer to layer fits into two registers.
const _: () = assert!(size_of::<Result<Demux, Discard>>() <= 16);

/// What became of a message in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pop {
    /// It goes on to where [`Protocol::demux`] said.
    Up,
    /// The message was exchanged for the one that it completes, which goes on to this.
    Exchanged(Upper),
    /// It is used up. What is left of it is memory.
    Consumed,
}

/// How much of what belongs to a session is to be fetched: each leads to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its record.
    Session,
    /// Where what the record has elsewhere begins: then the processor knows the page.
    Beginning,
    /// Where the data is, or will be.
    Data,
}

/// Where a session leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    /// Where its messages go.
    pub upper: Upper,
    /// The address of what its record has elsewhere, to be fetched before [`Reach::Data`].
    pub parts: usize,
    /// How many bytes that is.
    pub len: usize,
}

/// What a protocol is asked or told besides messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The addresses of both ends.
    Addresses,
    /// Our port.
    Port,
    /// The remote end's hardware address is known now.
    Remote(EthernetAddress),
    /// The path that the session belongs to; none any more.
    Path(Option<Slot>),
}

/// The answer to a [`Control`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// To [`Control::Addresses`].
    Addresses {
        /// Ours.
        local: IpAddress,
        /// The other's.
        remote: IpAddress,
        /// What the other sends to: ours, or an address of many hosts.
        group: IpAddress,
    },
    /// To [`Control::Port`].
    Port(u16),
    /// Nothing to say.
    Done,
    /// The protocol does not know what was asked.
    Unknown,
}

/// A protocol: finds and makes sessions, and carries messages through them.
///
/// All methods that take a session are called with slots that the protocol gave out and that are not closed, but must
/// survive others. What a protocol without users, such as ARP, does not do it need not write.
pub trait Protocol: Send {
    /// The protocol's name in descriptions of graphs.
    fn name(&self) -> &'static str;

    /// Whether [`pop`](Self::pop) has nothing to do, in any session. Then nobody calls it.
    fn stateless(&self) -> bool {
        false
    }

    /// Whether each session here is of one path alone, so that its header names the path.
    fn identifies(&self) -> bool {
        false
    }

    /// The version of IP that this is, for those above that carry either.
    fn version(&self) -> Option<IpVersion> {
        None
    }

    /// Has sessions made below for what this protocol serves without being asked.
    ///
    /// # Errors
    /// When another protocol of the graph does so already.
    fn start(&mut self, _lower: &mut Lower<'_>) -> Result<(), OpenError> {
        Ok(())
    }

    /// Reads the header at the front of a message that came from session `below`, takes it off, and says who has the
    /// message. Changes nothing, but for what a lookup rearranges: it may be called twice for a message.
    ///
    /// # Errors
    /// Whatever is wrong with the header itself.
    fn demux(&mut self, below: Layer, message: &mut Message) -> Result<Demux, Discard>;

    /// Whether it has so many sessions that [`foresee`](Self::foresee) gains something: of few, what is needed is in the
    /// caches.
    fn foresees(&self) -> bool {
        false
    }

    /// Looks for the sessions that [`demux`](Self::demux) will find for these messages, which came from the sessions named with
    /// them, and starts to fetch those into the caches. `found` has a place for each message.
    fn foresee(&mut self, _messages: &[(Layer, &Message)], _found: &mut [Option<Slot>]) {}

    /// As [`demux`](Self::demux), of a message for which [`foresee`](Self::foresee) found a session: it is not looked for again
    /// if it still is the message's.
    fn demux_foreseen(
        &mut self,
        below: Layer,
        message: &mut Message,
        _session: Slot,
    ) -> Result<Demux, Discard> {
        self.demux(below, message)
    }

    /// Starts to fetch what messages of a session will need, and waits for nothing that was fetched as far as the step before.
    /// Of what has been fetched, where it leads: only [`Reach::Beginning`] asks.
    fn fetch(&mut self, _session: Slot, _reach: Reach) -> Option<Lead> {
        None
    }

    /// Reads the header at the front of a message that is said to be for `session`, takes it off, and says whether
    /// [`demux`](Self::demux) would have found that session.
    ///
    /// # Errors
    /// As `demux`, or [`Discard::WrongPath`].
    fn check(&mut self, session: Slot, message: &mut Message) -> Result<Upper, Discard>;

    /// Changes the session's state as the message demands; `header` is where the header begins that was taken off.
    ///
    /// # Errors
    /// When the message is not to go on.
    fn pop(
        &mut self,
        session: Slot,
        header: usize,
        message: &mut Message,
        lower: &mut Lower<'_>,
    ) -> Result<Pop, Discard>;

    /// Makes a session for a message that [`demux`](Self::demux) found nobody for. The message is unchanged: its header is
    /// at the front, and `demux` finds the session from now on.
    ///
    /// # Errors
    /// When nobody accepts it, or the message does not hold what its check sum says.
    fn accept(
        &mut self,
        _below: Layer,
        _message: &mut Message,
        _lower: &mut Lower<'_>,
    ) -> Result<(), Discard> {
        Err(Discard::UnknownProtocol)
    }

    /// Makes a session for messages to and from the participants, which go up to `upper`; opens what it needs below.
    ///
    /// # Errors
    /// See [`OpenError`].
    fn open(
        &mut self,
        _upper: Upper,
        _participants: &mut Participants,
        _lower: &mut Lower<'_>,
    ) -> Result<Slot, OpenError> {
        Err(OpenError::NotForUsers)
    }

    /// From now on sessions are made for those who send first: for `user`, or for the protocol above.
    ///
    /// # Errors
    /// See [`OpenError`].
    fn enable(
        &mut self,
        _user: Enabled,
        _participants: &Participants,
        _lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        Err(OpenError::NotForUsers)
    }

    /// Ends what [`enable`](Self::enable) began, for this user. Sessions that were made stay.
    fn disable(&mut self, _user: Enabled, _participants: &Participants, _lower: &mut Lower<'_>) {}

    /// Gives back a session that was opened, or accepted for a path. It ends when its last user did so.
    fn close(&mut self, _session: Slot, _lower: &mut Lower<'_>) {}

    /// Sends what there is room for of a stream's data, and says how much that was. Whoever could not send all is told when
    /// there is room.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn write(&mut self, _session: Slot, _data: &[u8], _lower: &mut Lower<'_>) -> Result<usize, StreamError> {
        Err(StreamError::NoStream)
    }

    /// Takes what has arrived of a stream's data, and says how much that was; 0 when there is nothing now.
    ///
    /// # Errors
    /// See [`StreamError`].
    fn read(
        &mut self,
        _session: Slot,
        _into: &mut [u8],
        _lower: &mut Lower<'_>,
    ) -> Result<usize, StreamError> {
        Err(StreamError::NoStream)
    }

    /// Tells the other end of a stream that nothing more will be sent.
    fn shutdown(&mut self, _session: Slot, _lower: &mut Lower<'_>) {}

    /// One more user of a session, who will [`close`](Self::close) it.
    fn hold(&mut self, _session: Slot) {}

    /// Sends a message: puts a header in front and hands it down.
    ///
    /// # Errors
    /// See [`SendError`]. The message is lost then.
    fn push(&mut self, _session: Slot, _message: Message, _lower: &mut Lower<'_>) -> Result<(), SendError> {
        Err(SendError::NotForUsers)
    }

    /// Bytes that a frame or packet of this protocol carries at most, if it is not to be sent in pieces.
    fn room(&self) -> usize {
        0
    }

    /// The session below, if it is always the same one.
    fn below(&mut self, _session: Slot) -> Option<Layer> {
        None
    }

    /// Sends again what had to wait for the next hop's address; its header is in front already.
    fn resume(&mut self, _session: Slot, _message: Message, _lower: &mut Lower<'_>) {}

    /// Asks for a neighbour's hardware address, if that is what this protocol does; sessions that wait are resumed when the
    /// answer comes.
    fn ask(&mut self, _neighbor: IpAddress, _lower: &mut Lower<'_>) {}

    /// The protocol of IP whose senders this one tells why their packets went no further, if it does.
    fn explains(&self) -> Option<ProtocolId> {
        None
    }

    /// Tells a sender why his packet went no further.
    fn explain(&mut self, refused: Refused, lower: &mut Lower<'_>) {
        lower.give(refused.quote);
    }

    /// The session that a packet was sent by, if this is IP, and where that session's messages go.
    fn between(&mut self, _report: &Report) -> Option<(Slot, Upper)> {
        None
    }

    /// Takes notice of what was said of a packet that was sent by the session `below`.
    fn trouble(&mut self, _below: Layer, _report: &Report, _lower: &mut Lower<'_>) {}

    /// Answers questions, takes notice of what is known elsewhere.
    fn control(&mut self, _session: Slot, _control: Control) -> Answer {
        Answer::Unknown
    }

    /// What is due by now, and when to call again.
    fn tick(&mut self, _now: Instant, _lower: &mut Lower<'_>) -> Option<Instant> {
        None
    }
}

/// For whom sessions are made when others send first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    /// For the protocol above.
    Protocol(ProtocolId),
    /// For a user: the slot of his listener.
    Listener(Slot),
}
