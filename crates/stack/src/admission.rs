//! Whether there is room for a message: asked once its path is known, before anything else is spent on it.

use throughline_demux::Slot;

use crate::{Discard, ListenerId, PathId, Rate, context::Context, path::Path, rate::Bucket};

impl Context {
    /// Whether a message may go on to a path's user: there is room for it, and it is within the rates, of which it takes its
    /// share. Asked once for each message.
    #[inline]
    pub fn admit(&mut self, slot: Slot) -> Result<(), Discard> {
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return Err(Discard::NoPort) };
        let rated = path.rated;
        if !path.has_room() && !self.weed(slot) {
            return Err(Discard::QueueFull);
        }
        if rated { self.charge(slot) } else { Ok(()) }
    }

    /// Whether a path has its sessions, there is room for a message, and nobody counts them: then it may go on.
    #[inline]
    pub fn is_open(&mut self, slot: Slot) -> bool {
        let path = self.paths.exclusive().into_slot(slot);
        path.is_some_and(|path| path.is_complete() && !path.rated && path.has_room())
    }

    #[cold]
    fn charge(&mut self, slot: Slot) -> Result<(), Discard> {
        let now = self.micros();
        let (own, listeners) = self.buckets(slot);
        let mut taken = own;
        if taken.as_mut().is_some_and(|bucket| !bucket.take(now)) {
            return Err(Discard::Rate);
        }
        if listeners.is_some_and(|bucket| !bucket.take(now)) {
            taken.into_iter().for_each(Bucket::give);
            return Err(Discard::Rate);
        }
        Ok(())
    }

    /// Takes back that a message was admitted: its headers are not those of the path, or it is a part of one.
    #[cold]
    pub fn refund(&mut self, slot: Slot) {
        let (own, listeners) = self.buckets(slot);
        own.into_iter().chain(listeners).for_each(Bucket::give);
    }

    /// What is left of the rates of a path and of the listener that it was made for.
    fn buckets(&mut self, slot: Slot) -> (Option<&mut Bucket>, Option<&mut Bucket>) {
        let Some(path) = self.paths.exclusive().into_slot(slot) else { return (None, None) };
        let listener = path.listener.and_then(|listener| self.listeners.exclusive().into_record(listener));
        (path.bucket.as_mut(), listener.and_then(|listener| listener.bucket.as_mut()))
    }

    /// See [`Graph::set_rate`](crate::Graph::set_rate).
    pub fn set_rate(&mut self, id: PathId, rate: Option<Rate>) {
        let now = self.micros();
        let Some(path) = self.path_of(id) else { return };
        path.bucket = rate.map(|rate| Bucket::new(rate, now));
        self.mark_rated(id);
    }

    /// See [`Graph::set_listener_rate`](crate::Graph::set_listener_rate).
    pub fn set_listener_rate(&mut self, id: ListenerId, rate: Option<Rate>) {
        let now = self.micros();
        let Some(listener) = self.listeners.exclusive().into_record(id.0) else { return };
        listener.bucket = rate.map(|rate| Bucket::new(rate, now));
        let mut paths = Vec::new();
        self.paths.visit(|handle, _, path: &Path| {
            if path.listener == Some(id.0) {
                paths.push(PathId(handle));
            }
        });
        paths.into_iter().for_each(|path| self.mark_rated(path));
    }

    /// Notes whether any rate is for this path, so that messages of all others need not ask.
    pub fn mark_rated(&mut self, id: PathId) {
        let (own, listeners) = self.buckets(id.0.slot);
        let rated = own.is_some() || listeners.is_some();
        if let Some(path) = self.path_of(id) {
            path.rated = rated;
        }
    }

    /// The time in microseconds.
    #[inline]
    pub fn micros(&self) -> u64 {
        self.now.total_micros() as u64
    }
}
