//! Threads that connect for futures. Servers that do not answer keep none of the workers, however many there are: those have
//! requests to serve, and replies to receive.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::transport::reactor::{Reactor, lock};

/// Servers connected to at a time. Further ones wait for their turn.
const MOST: usize = 1024;

type Job = Box<dyn FnOnce() + Send>;

/// The threads of a reactor that connect: one for each server that is being connected to, none when there are no such.
#[derive(Default)]
pub(crate) struct Connectors(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    threads: usize,
    handles: Vec<JoinHandle<()>>,
    /// Nobody connects any more.
    closed: bool,
}

impl std::fmt::Debug for Connectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} connecting", lock(&self.0).threads)
    }
}

impl Reactor {
    /// Runs `job`, which connects, on a thread beside the workers; drops it when there will be none any more.
    pub(crate) fn connect_apart(self: &Arc<Self>, job: Job) {
        let Connectors(state) = &self.connectors;
        let mut state = lock(state);
        if state.closed {
            drop(state);
            return drop(job);
        }
        state.waiting.push_back(job);
        if state.threads >= MOST {
            return;
        }
        let reactor = Arc::clone(self);
        let started = std::thread::Builder::new()
            .name("throughline-connect".to_owned())
            .spawn(move || reactor.connectors.work());
        match started {
            Ok(handle) => {
                state.threads += 1;
                state.handles.retain(|h| !h.is_finished());
                state.handles.push(handle);
            }
            Err(e) => {
                tracing::error!(error = %e, "cannot start a thread that connects; a worker does it");
                let job = state.waiting.pop_back();
                drop(state);
                job.into_iter().for_each(|job| self.spawn(Box::new(|_| job())));
            }
        }
    }
}

impl Connectors {
    /// Does what waits, then ends.
    fn work(&self) {
        loop {
            let job = {
                let mut state = lock(&self.0);
                let Some(job) = state.waiting.pop_front() else {
                    state.threads -= 1;
                    return;
                };
                job
            };
            // What wakes a future is not ours.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                tracing::error!("a thread that connects panicked");
            }
        }
    }

    /// Drops what waits, and all that would come. The threads that still connect.
    pub(crate) fn close(&self) -> Vec<JoinHandle<()>> {
        let (waiting, handles) = {
            let mut state = lock(&self.0);
            state.closed = true;
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.handles))
        };
        drop(waiting);
        handles
    }
}
