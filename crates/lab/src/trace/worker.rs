//! Lookups on a thread of their own, beside the reading of the capture.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use throughline_demux::Key;

use super::lookups::{Lookups, Work};
use super::summary::Summary;

/// Batches that wait to be looked up, at most: while a table grows, or a perfect hash is sought, reading goes on.
const WAITING: usize = 64;

/// A thread that looks packets up.
pub(super) struct Worker<K> {
    work: SyncSender<Arc<Work<K>>>,
    thread: JoinHandle<Vec<Summary>>,
}

impl<K: Key + Copy + Send + Sync + 'static> Worker<K> {
    /// Begins with lookups that nobody has used.
    ///
    /// # Panics
    /// When the system gives us no thread.
    pub(super) fn new(lookups: Lookups<K>) -> Self {
        let (work, waiting) = sync_channel(WAITING);
        let look_up = move || look_up(lookups, &waiting);
        let thread = thread::Builder::new().name("lookups".into()).spawn(look_up).expect("a thread");
        Self { work, thread }
    }

    /// Hands a batch over.
    pub(super) fn take(&self, work: Arc<Work<K>>) {
        // If the thread has broken down, `finish` tells.
        let _ = self.work.send(work);
    }

    /// What the lookups cost, when all is done.
    pub(super) fn finish(self) -> Vec<Summary> {
        drop(self.work);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn look_up<K: Key + Copy + Send + Sync + 'static>(
    mut lookups: Lookups<K>,
    waiting: &Receiver<Arc<Work<K>>>,
) -> Vec<Summary> {
    waiting.iter().for_each(|work| lookups.run(&work));
    lookups.finish()
}
