//! The steps from a request to a reply, one at a time and all together.

use std::hint::black_box;

use throughline::rt::{Reader, ServerCall, Skeleton};
use throughline_cdr::ByteOrder;

use super::world::{Requests, World};

/// A step as the paper's table 1 has them, or the whole way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// From object key to object (`OA::find`).
    FindObject,
    /// From operation name to index (`Object::find`).
    FindOperation,
    /// From operation index through the generated code to the servant and back.
    Skeleton,
    /// The server without a network: from a GIOP request to a GIOP reply.
    Message,
}

impl Step {
    pub(crate) const ALL: [Self; 4] = [Self::FindObject, Self::FindOperation, Self::Skeleton, Self::Message];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::FindObject => "find-object",
            Self::FindOperation => "find-operation",
            Self::Skeleton => "skeleton",
            Self::Message => "message",
        }
    }
}

/// Repeats a step over the requests, again and again in their order.
pub(crate) struct Repeat<'w> {
    pub(crate) world: &'w World,
    pub(crate) requests: &'w Requests,
    pub(crate) step: Step,
    at: usize,
    predicted: u32,
    out: Vec<u8>,
    skeleton: Box<dyn Skeleton>,
}

impl<'w> Repeat<'w> {
    pub(crate) fn new(world: &'w World, requests: &'w Requests, step: Step) -> Self {
        let (out, skeleton) = (Vec::with_capacity(256), (world.shape.skeleton)());
        Self { world, requests, step, at: 0, predicted: 0, out, skeleton }
    }

    /// Does the step `count` times.
    pub(crate) fn run(&mut self, count: u64) {
        match self.step {
            Step::FindObject => self.find_objects(count),
            Step::FindOperation => self.find_operations(count),
            Step::Skeleton => self.skeletons(count),
            Step::Message => self.messages(count),
        }
    }

    #[inline(always)]
    fn next(&mut self) -> usize {
        let at = self.at;
        self.at = if at + 1 == self.requests.each.len() { 0 } else { at + 1 };
        at
    }

    #[inline(never)]
    fn find_objects(&mut self, count: u64) {
        for _ in 0..count {
            let at = self.next();
            let key = &self.requests.bytes[self.requests.each[at].key.clone()];
            black_box(&self.world.orb.find_object(key));
        }
    }

    #[inline(never)]
    fn find_operations(&mut self, count: u64) {
        let key = self.requests.bytes[self.requests.each[0].key.clone()].to_vec();
        let Some(object) = self.world.orb.find_object(&key) else { return };
        for _ in 0..count {
            let at = self.next();
            let name = &self.requests.bytes[self.requests.each[at].name.clone()];
            let found = object.find_operation(name, self.predicted);
            // As a connection does it: the operation found is the next prediction.
            self.predicted = black_box(found).unwrap_or(0);
        }
    }

    #[inline(never)]
    fn skeletons(&mut self, count: u64) {
        for _ in 0..count {
            let at = self.next();
            let operation = self.requests.each[at].operation;
            invoke(&*self.skeleton, operation, &mut self.out);
        }
    }

    #[inline(never)]
    fn messages(&mut self, count: u64) {
        for _ in 0..count {
            let at = self.next();
            let message = &self.requests.bytes[self.requests.each[at].message.clone()];
            self.out.clear();
            let handled = self.world.orb.handle_message(message, &mut self.out);
            let _ = black_box(handled);
        }
    }
}

/// Calls a skeleton without arguments, into a buffer emptied first.
#[inline(always)]
pub(crate) fn invoke(skeleton: &dyn Skeleton, operation: u32, out: &mut Vec<u8>) {
    out.clear();
    let mut call = ServerCall::new(Reader::new(&[], ByteOrder::NATIVE), out, 0, true);
    let _ = black_box(skeleton.invoke(black_box(operation), &mut call));
}
