//! The ports that the keeper looks after, found by their berths.

use super::{Berth, Kept};
use crate::deadlines::Deadlines;
use std::{
    sync::{Arc, Weak},
    time::Duration,
};

#[derive(Default)]
pub(super) struct Ports {
    slots: Vec<Slot>,
    vacant: Vec<u32>,
    /// Those to be looked at in the next round.
    awake: Vec<Berth>,
    /// Those to be looked at later, by the slots of their berths.
    due: Deadlines,
}

#[derive(Default)]
struct Slot {
    /// How often it was given away.
    count: u32,
    entry: Option<Entry>,
}

pub(super) struct Entry {
    pub(super) port: Weak<dyn Kept>,
    /// Until its connections have ended.
    pub(super) lingering: Option<Arc<dyn Kept>>,
    pub(super) activity: u64,
    /// Whether `epoll` tells of it.
    pub(super) armed: bool,
    is_awake: bool,
}

impl Ports {
    pub(super) fn insert(&mut self, port: &Arc<dyn Kept>) -> Berth {
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() as u32 - 1
        });
        self.due.make_room(at);
        let slot = &mut self.slots[at as usize];
        slot.count = slot.count.wrapping_add(1);
        slot.entry = Some(Entry {
            port: Arc::downgrade(port),
            lingering: None,
            activity: u64::MAX,
            armed: false,
            is_awake: false,
        });
        Berth::new(at, slot.count)
    }

    fn slot(&mut self, berth: Berth) -> Option<&mut Slot> {
        let slot = self.slots.get_mut(berth.0 as u32 as usize)?;
        (slot.count == (berth.0 >> 32) as u32).then_some(slot)
    }

    pub(super) fn entry(&mut self, berth: Berth) -> Option<&mut Entry> {
        self.slot(berth)?.entry.as_mut()
    }

    pub(super) fn remove(&mut self, berth: Berth) {
        if self.slot(berth).is_some_and(|slot| slot.entry.take().is_some()) {
            self.due.remove(berth.0 as u32);
            self.vacant.push(berth.0 as u32);
        }
    }

    /// It is looked at in the next round.
    pub(super) fn wake(&mut self, berth: Berth) {
        if let Some(entry) = self.entry(berth)
            && !std::mem::replace(&mut entry.is_awake, true)
        {
            self.awake.push(berth);
        }
    }

    /// It is looked at then, or earlier.
    pub(super) fn wake_at(&mut self, berth: Berth, at: Duration) {
        if self.entry(berth).is_some() {
            self.due.bring_forward(berth.0 as u32, at);
        }
    }

    /// Those to be looked at now.
    pub(super) fn take_awake(&mut self, now: Duration, into: &mut Vec<Berth>) {
        while let Some(at) = self.due.pop_due(now) {
            let count = self.slots[at as usize].count;
            self.wake(Berth::new(at, count));
        }
        into.append(&mut self.awake);
        for berth in into.iter() {
            if let Some(entry) = self.entry(*berth) {
                entry.is_awake = false;
            }
        }
    }

    pub(super) fn any_awake(&self) -> bool {
        !self.awake.is_empty()
    }

    /// When one is due.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.next()
    }
}
