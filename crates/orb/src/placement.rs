//! Which thread carries a request out: the one that received it, or one of a lane.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use throughline_cdr::Output;
use throughline_demux::{Handle, Slot};
use throughline_giop::request::RequestHeader;
use throughline_giop::{MessageHeader, MessageType, service_context};
use throughline_wire::{Kind as WireKind, Message};

use crate::dispatch::{Dispatcher, Session, raise};
use crate::exception::{Kind, SystemException, minor};
use crate::lane_pool::Origin;
use crate::lanes::Lanes;
use crate::native::refuse;
use crate::object_table::ActiveObject;
use crate::priority::{Priority, readable};

/// What is done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It is for whoever received it.
    Here,
    /// A lane has it.
    Taken,
    /// Its lane is full. What is to be said about it, if anything, is written.
    Refused,
}

impl Dispatcher {
    /// Some adapter serves in lanes.
    pub(crate) fn use_lanes(&self) {
        self.lanes.store(true, Ordering::Relaxed);
    }

    /// Whether some adapter does: otherwise nobody asks further. Requests that are read before this is seen are served where they
    /// are.
    #[inline(always)]
    pub(crate) fn has_lanes(&self) -> bool {
        self.lanes.load(Ordering::Relaxed)
    }

    /// Hands a GIOP request to the lane that it belongs to, if there is one.
    pub(crate) fn place(
        &self,
        (header, message): (&MessageHeader, &[u8]),
        session: &Session,
        origin: impl FnOnce() -> Arc<dyn Origin>,
        out: &mut Vec<u8>,
    ) -> Placed {
        if header.kind != MessageType::Request {
            return Placed::Here;
        }
        // What cannot be read or found is answered by whoever received it.
        let Ok(request) = RequestHeader::read(header, message) else { return Placed::Here };
        let object = request.target.object_key().ok().and_then(|key| self.table().find(key));
        let Some(lanes) = object.and_then(|object| self.lanes_of(&object)) else { return Placed::Here };
        // Requests behind this one may be carried out before it.
        session.learn_code_sets(&request);
        let said = request.service_contexts.find(service_context::RT_CORBA_PRIORITY).and_then(readable);
        let lane = lanes.0.lane_of(said.unwrap_or(Priority::LOWEST).min(session.limit()));
        if lanes.0.submit(lane, (Some(*header), message), origin) {
            return Placed::Taken;
        }
        if request.response.is_expected() {
            raise(out, header.version, request.request_id, &full());
        }
        Placed::Refused
    }

    /// As [`place`](Self::place), for a message by the native protocol of a client that may be as urgent as `limit`.
    pub(crate) fn place_native(
        &self,
        bytes: &[u8],
        limit: Priority,
        origin: impl FnOnce() -> Arc<dyn Origin>,
        out: &mut Vec<u8>,
    ) -> Placed {
        let Ok(Message { header, .. }) = Message::read(bytes) else { return Placed::Here };
        if !matches!(header.kind, WireKind::Request | WireKind::Oneway) {
            return Placed::Here;
        }
        let handle = Handle { slot: Slot(header.slot), nonce: header.nonce };
        let object = self.table().objects.get_any(handle).map(ActiveObject::new);
        let Some(lanes) = object.and_then(|object| self.lanes_of(&object)) else { return Placed::Here };
        let lane = lanes.0.lane_of_code(header.priority, limit);
        if lanes.0.submit(lane, (None, bytes), origin) {
            return Placed::Taken;
        }
        if header.wants_reply() {
            refuse(&header, &full(), Output::vector(out));
        }
        Placed::Refused
    }

    /// The lanes that requests of an object take. What has only moved needs none.
    fn lanes_of(&self, object: &ActiveObject<'_>) -> Option<Lanes> {
        let adapter = self.table().adapters.get_slot(Slot(object.adapter()))?;
        adapter.lanes().filter(|_| object.forward().is_none()).cloned()
    }
}

fn full() -> SystemException {
    SystemException::new(Kind::Transient, minor::LANE_FULL)
}
