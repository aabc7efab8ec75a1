//! What an adapter knows of its objects beside what their lookup needs.

use std::collections::HashMap;

use throughline_demux::Slot;

/// How many there are, and what those are called that references may tell by a handle alone.
#[derive(Debug, Default)]
pub(crate) struct Members {
    count: usize,
    ids: HashMap<u32, Box<[u8]>>,
    id_bytes: usize,
}

impl Members {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Counts an object, and remembers the id of one in this slot.
    pub(crate) fn add(&mut self, named: Option<(Slot, &[u8])>) {
        self.count += 1;
        if let Some((slot, id)) = named {
            self.id_bytes += id.len();
            self.ids.insert(slot.0, id.into());
        }
    }

    pub(crate) fn id_of(&self, slot: Slot) -> Option<&[u8]> {
        self.ids.get(&slot.0).map(|id| &**id)
    }

    /// The object in this slot is no more.
    pub(crate) fn remove(&mut self, slot: Slot) {
        self.count -= 1;
        self.id_bytes -= self.ids.remove(&slot.0).map_or(0, |id| id.len());
    }

    /// Bytes that the ids take.
    pub(crate) fn bytes(&self) -> usize {
        self.ids.capacity() * (size_of::<(u32, Box<[u8]>)>() + 1) + self.id_bytes
    }
}
