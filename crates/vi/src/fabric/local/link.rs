//! A VI's end of a connection within the process.

use super::{Network, lane::Lane, listen};
use crate::{
    CompletionError, ConnectError, ProtectionTag, Reliability, ViAttributes,
    descriptor::{Operation, ReceiveDescriptor, RemoteAddress, SendDescriptor},
    fabric::{Arrival, Destination, Doorbell, Link, Posted, Sent},
    memory::{Memory, Spare, WindowMemory},
};
use std::{
    any::Any,
    io,
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

pub(crate) struct LocalLink {
    pub(crate) network: Arc<Network>,
    pub(crate) address: String,
    pub(crate) reliability: Reliability,
    pub(crate) tag: ProtectionTag,
    pools: [Arc<Memory>; 2],
    spare: Spare,
    connected: Option<Connected>,
}

struct Connected {
    end: Arc<End>,
    peer_tag: ProtectionTag,
    /// Messages sent.
    sent: u64,
}

/// Both lanes, as one side sees them.
struct End {
    incoming: Arc<Lane>,
    outgoing: Arc<Lane>,
    /// One more than how many messages the peer had taken when it was looked last, while more is expected; else 0.
    expected: AtomicU64,
}

impl LocalLink {
    pub(crate) fn new(network: Arc<Network>, address: &str, attributes: &ViAttributes) -> io::Result<Self> {
        let tag = attributes.tag;
        let pools = [
            Memory::on_heap(attributes.send_buffers, attributes.send_buffer_size, tag)?,
            Memory::on_heap(attributes.receive_buffers, attributes.receive_buffer_size, tag)?,
        ];
        let (address, reliability) = (address.to_owned(), attributes.reliability);
        let spare = Spare::new(1, attributes.receive_longer, tag);
        Ok(Self { network, address, reliability, tag, pools, spare, connected: None })
    }

    pub(crate) fn connected(&mut self, [incoming, outgoing]: [Arc<Lane>; 2], peer_tag: ProtectionTag) {
        let end = Arc::new(End { incoming, outgoing, expected: AtomicU64::new(0) });
        self.connected = Some(Connected { end, peer_tag, sent: 0 });
    }

    fn up(&mut self) -> &mut Connected {
        self.connected.as_mut().expect("the VI asks connected links only")
    }

    fn message(&mut self, descriptor: &SendDescriptor) -> Sent {
        let len = descriptor.len();
        if len > crate::MAX_MESSAGE {
            return Sent::Failed(CompletionError::TooLong);
        }
        let parts = std::iter::once(&descriptor.buffer).chain(descriptor.more.iter());
        self.packet(parts.map(|buffer| &**buffer), descriptor.immediate, len)
    }

    fn packet<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a [u8]>,
        immediate: Option<u32>,
        len: usize,
    ) -> Sent {
        let reliability = self.reliability;
        let up = self.connected.as_mut().expect("the VI asks connected links only");
        if let Some(end) = up.end.incoming.end() {
            return Sent::Broken(end);
        }
        if !up.end.outgoing.has_room() {
            return if reliability == Reliability::Unreliable { Sent::Done(len) } else { Sent::Blocked };
        }
        let mut packet = up.end.outgoing.blank();
        parts.for_each(|part| packet.bytes.extend_from_slice(part));
        packet.immediate = immediate;
        packet.seal();
        self.network.send(&up.end.outgoing, packet);
        up.sent += 1;
        if reliability == Reliability::ReliableReception { Sent::Until(up.sent) } else { Sent::Done(len) }
    }

    fn remote_dma(&mut self, descriptor: &mut SendDescriptor) -> Result<Sent, CompletionError> {
        let len = descriptor.len();
        let buffers = std::iter::once(&mut descriptor.buffer).chain(descriptor.more.iter_mut());
        match descriptor.operation {
            Operation::Write(to) => {
                let window = self.window(to, len, |window| window.rights.remote_write)?;
                let mut offset = to.offset;
                for buffer in buffers {
                    window.write(offset, buffer).map_err(|_| CompletionError::RemoteProtection)?;
                    offset += buffer.len() as u64;
                }
                if descriptor.immediate.is_some() {
                    return Ok(match self.packet(std::iter::empty(), descriptor.immediate, 0) {
                        Sent::Done(_) => Sent::Done(len),
                        other => other,
                    });
                }
            }
            Operation::Read(from) => {
                let window = self.window(from, len, |window| window.rights.remote_read)?;
                let mut offset = from.offset;
                for buffer in buffers {
                    window.read(offset, buffer).map_err(|_| CompletionError::RemoteProtection)?;
                    offset += buffer.len() as u64;
                }
            }
            Operation::Send | Operation::Receive => {}
        }
        Ok(Sent::Done(len))
    }

    /// The peer's window, if all the bytes are inside and the right is there.
    fn window(
        &mut self,
        at: RemoteAddress,
        len: usize,
        right: impl Fn(&WindowMemory) -> bool,
    ) -> Result<Arc<WindowMemory>, CompletionError> {
        let tag = self.up().peer_tag;
        let window = self.network.window(at.handle).filter(|window| window.tag == tag && right(window));
        let inside = |window: &Arc<WindowMemory>| {
            at.offset.checked_add(len as u64).is_some_and(|end| end <= window.len() as u64)
        };
        window.filter(inside).ok_or(CompletionError::RemoteProtection)
    }
}

impl Link for LocalLink {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn pools(&self) -> [Arc<Memory>; 2] {
        self.pools.clone()
    }

    fn connect(&mut self, to: &Destination<'_>, _: &mut Posted) -> Result<(), ConnectError> {
        listen::connect(self, to.address, to.discriminator, to.deadline)
    }

    fn doorbell(&self) -> Arc<dyn Doorbell> {
        self.connected.as_ref().expect("the VI asks connected links only").end.clone()
    }

    fn send(&mut self, descriptor: &mut SendDescriptor) -> Sent {
        if descriptor.operation == Operation::Send {
            return self.message(descriptor);
        }
        self.remote_dma(descriptor).unwrap_or_else(Sent::Failed)
    }

    fn acknowledged(&mut self) -> u64 {
        self.up().end.outgoing.consumed()
    }

    fn expect_progress(&mut self, expected: bool) {
        let end = &self.up().end;
        let progress = if expected { end.outgoing.consumed() + 1 } else { 0 };
        end.expected.store(progress, Ordering::Relaxed);
    }

    fn receive(&mut self, posted: &mut Posted) -> Arrival {
        let reception = self.reliability == Reliability::ReliableReception;
        let Self { connected, spare, .. } = self;
        let end = &connected.as_ref().expect("the VI asks connected links only").end;
        let packet = match end.incoming.take() {
            Ok(Some(packet)) => packet,
            Ok(None) => return Arrival::Nothing,
            Err(why) => return Arrival::Broken(why),
        };
        let arrival = match posted.first() {
            _ if !packet.intact() => Arrival::Nothing,
            None => Arrival::Overrun,
            Some(descriptor) => match spare.make_room(packet.bytes.len(), descriptor) {
                true => {
                    scatter(&packet.bytes, descriptor);
                    Arrival::Message { len: packet.bytes.len(), immediate: packet.immediate }
                }
                false => Arrival::TooLong,
            },
        };
        // A VI that stops for this message does not claim to have taken it.
        if !reception || matches!(arrival, Arrival::Message { .. }) {
            end.incoming.taken(packet);
            end.outgoing.ring();
        }
        arrival
    }

    fn gone(&mut self) -> Option<CompletionError> {
        self.up().end.incoming.gone()
    }

    fn over(&mut self) -> Option<CompletionError> {
        self.up().end.incoming.end()
    }

    fn close(&mut self, why: CompletionError, _: &mut Posted) {
        if let Some(up) = &self.connected {
            up.end.outgoing.finish(why.as_told_to_the_peer());
        }
    }
}

fn scatter(bytes: &[u8], descriptor: &mut ReceiveDescriptor) {
    descriptor.set_len(bytes.len());
    let mut rest = bytes;
    for buffer in std::iter::once(&mut descriptor.buffer).chain(descriptor.more.iter_mut()) {
        let (now, later) = rest.split_at(buffer.len());
        buffer.copy_from_slice(now);
        rest = later;
    }
}

impl End {
    fn has_progress(&self) -> bool {
        let expected = self.expected.load(Ordering::Relaxed);
        expected != 0 && self.outgoing.consumed() + 1 != expected
    }
}

impl Doorbell for End {
    fn ready(&self) -> bool {
        self.incoming.ready() || self.has_progress()
    }

    fn ready_for_sends(&self) -> bool {
        self.has_progress() || self.incoming.end().is_some()
    }

    fn arm(&self) {
        self.incoming.arm();
    }

    fn disarm(&self) {
        self.incoming.disarm();
    }

    fn drain(&self) {
        self.incoming.drain();
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.incoming.fd()
    }
}
