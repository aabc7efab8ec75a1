//! Objects that live no longer than the client for whom they were made.
//!
//! A client that calls over shared memory is a process of this machine, and the system tells when it has ended, however it
//! ended. What was activated for it is deactivated then.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock};

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use throughline_demux::Handle;

use crate::adapter::Adapter;
use crate::orb::{Orb, WeakOrb};
use crate::transport::poller::{Event, Interest};
use crate::transport::reactor::{Reactor, Source, Worker, lock};

/// So many objects are held for a client before those are looked for that are gone already.
const FEW: usize = 64;

/// The clients that objects live for.
#[derive(Debug, Default)]
pub(crate) struct Clients(Mutex<HashMap<u32, Arc<Client>>>);

/// An object that a client holds.
#[derive(Debug)]
pub(crate) struct Held {
    /// Does not keep the ORB alive.
    pub(crate) adapter: Adapter,
    pub(crate) key: Vec<u8>,
}

impl Held {
    fn release(self) {
        // It may have been deactivated before.
        let _ = self.adapter.deactivate_key(&self.key);
    }
}

/// A process.
#[derive(Debug)]
struct Client {
    id: u32,
    /// Readable once it has ended.
    process: OwnedFd,
    orb: WeakOrb,
    held: Mutex<Objects>,
    handle: OnceLock<Handle>,
}

#[derive(Debug, Default)]
struct Objects {
    all: Vec<Held>,
    /// How many there may be until they are looked through.
    patience: usize,
    /// The client is gone: nothing is held for it any more.
    over: bool,
}

impl Clients {
    /// Releases an object when the process ends; at once if it has.
    ///
    /// # Errors
    /// Of the system, when it cannot tell that.
    pub(crate) fn hold(&self, orb: &Orb, process: u32, object: Held) -> io::Result<()> {
        let client = {
            let mut clients = lock(&self.0);
            match clients.get(&process) {
                Some(client) => Arc::clone(client),
                None => {
                    let client = Client::watched(orb, process)?;
                    clients.insert(process, Arc::clone(&client));
                    client
                }
            }
        };
        client.hold(orb, object);
        Ok(())
    }

    fn forget(&self, client: &Arc<Client>) {
        let mut clients = lock(&self.0);
        if clients.get(&client.id).is_some_and(|known| Arc::ptr_eq(known, client)) {
            clients.remove(&client.id);
        }
    }
}

impl Client {
    /// A worker of the ORB is called when it ends.
    fn watched(orb: &Orb, id: u32) -> io::Result<Arc<Self>> {
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        let orb_of = orb.downgrade();
        let client =
            Arc::new(Self { id, process, orb: orb_of, held: Mutex::default(), handle: OnceLock::new() });
        let reactor = orb.reactor();
        let handle = reactor.register(&client.process, Arc::clone(&client) as Arc<dyn Source>)?;
        let _ = client.handle.set(handle);
        reactor.arm(&client.process, handle, Interest { read: true, write: false });
        Ok(client)
    }

    fn hold(&self, orb: &Orb, object: Held) {
        let mut held = lock(&self.held);
        if held.over {
            drop(held);
            return object.release();
        }
        if held.all.len() >= held.patience {
            held.all.retain(|object| orb.find_object(&object.key).is_some());
            held.patience = FEW.max(2 * held.all.len());
        }
        held.all.push(object);
    }

    /// The process has ended.
    fn release(self: &Arc<Self>, reactor: &Reactor) {
        if let Some(orb) = self.orb.upgrade() {
            orb.clients().forget(self);
        }
        if let Some(handle) = self.handle.get() {
            reactor.remove(&self.process, *handle);
        }
        let held = {
            let mut held = lock(&self.held);
            held.over = true;
            std::mem::take(&mut held.all)
        };
        tracing::debug!(
            process = self.id,
            objects = held.len(),
            "a client has ended; what it held is released"
        );
        held.into_iter().for_each(Held::release);
    }
}

impl Source for Client {
    fn ready(self: Arc<Self>, _: Event, worker: &mut Worker) {
        self.release(&worker.reactor);
    }

    fn close(&self) {}
}
