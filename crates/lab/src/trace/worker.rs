//! Lookups on a thread of their own, beside the reading of the capture.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use throughline_demux::Key;

use super::lookups::{Lookups, Work};
use super::summary::Summary;

/// Batches that wait to be looked up, at most.
const WAITING: usize = 4;

/// A thread that looks packets up.
pub(super) struct Worker<K: Key> {
    work: SyncSender<Work<K>>,
    /// What is done comes back, to be used again.
    done: Receiver<Work<K>>,
    thread: JoinHandle<Vec<Summary>>,
}

impl<K: Key + Copy + Send + 'static> Worker<K> {
    /// Begins with lookups that nobody has used.
    ///
    /// # Panics
    /// When the system gives us no thread.
    pub(super) fn new(lookups: Lookups<K>) -> Self {
        let (work, waiting) = sync_channel(WAITING);
        let (finished, done) = channel();
        let look_up = move || look_up(lookups, &waiting, &finished);
        let thread = thread::Builder::new().name("lookups".into()).spawn(look_up).expect("a thread");
        Self { work, done, thread }
    }

    /// Hands a batch over; it is empty again afterwards.
    pub(super) fn take(&self, work: &mut Work<K>) {
        let full = std::mem::replace(work, self.done.try_recv().unwrap_or_default());
        // If the thread has broken down, `finish` tells.
        let _ = self.work.send(full);
    }

    /// What the lookups cost, when all is done.
    pub(super) fn finish(self) -> Vec<Summary> {
        drop(self.work);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn look_up<K: Key + Copy + Send + 'static>(
    mut lookups: Lookups<K>,
    waiting: &Receiver<Work<K>>,
    finished: &Sender<Work<K>>,
) -> Vec<Summary> {
    for mut work in waiting {
        lookups.run(&work);
        work.clear();
        // Nobody needs it any more when the last batch is on its way.
        let _ = finished.send(work);
    }
    lookups.finish()
}
