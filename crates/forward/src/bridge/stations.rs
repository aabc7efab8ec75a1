//! Who is behind which port: learnt from what stations send, forgotten when they are silent.

use throughline_demux::{EthernetAddress as Key, Locator, Slot};
use throughline_stack::smoltcp::{time::Instant, wire::EthernetAddress};

use super::{AddressIndices, Bridge};
use crate::{Label, PortId};

/// Where an address was heard from last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Station {
    address: EthernetAddress,
    port: PortId,
    heard: Instant,
}

/// How many stations are looked at for their age with each frame.
const LOOKED_AT: usize = 2;

impl Bridge {
    /// How many addresses are known.
    pub fn known(&self) -> usize {
        self.table.len()
    }

    /// The port that an address was last heard from, if that was not too long ago.
    pub fn port_of(&mut self, address: EthernetAddress, now: Instant) -> Option<PortId> {
        let slot = self.table.find(&Key::new(address.0))?;
        self.fresh(slot, now)
    }

    #[inline]
    pub(super) fn find(
        &mut self,
        from: PortId,
        address: EthernetAddress,
        label: Option<Label>,
        now: Instant,
    ) -> Option<PortId> {
        let index = label.map(|label| AddressIndices::of(label).destination.into());
        let slot = self.look_up(from, address, index, now)?;
        self.fresh(slot, now)
    }

    /// Where a station is in the list: by index, otherwise by its address.
    #[inline]
    fn look_up(
        &mut self,
        from: PortId,
        address: EthernetAddress,
        index: Option<u32>,
        now: Instant,
    ) -> Option<Slot> {
        let key = Key::new(address.0);
        let Some(index) = index else { return self.table.find(&key) };
        let cache = &mut self.ports[from.index()].cache;
        if let Some(slot) = cache.find(index, &address.0, now) {
            return Some(Slot(slot));
        }
        let slot = self.table.find(&key)?;
        cache.put(index, address.0, slot.0, now);
        Some(slot)
    }

    /// The port of a station that was heard from lately.
    #[inline]
    fn fresh(&self, slot: Slot, now: Instant) -> Option<PortId> {
        let station = self.stations.get(slot.0 as usize)?;
        (now < station.heard + self.ageing).then_some(station.port)
    }

    #[inline]
    pub(super) fn learn(
        &mut self,
        port: PortId,
        address: EthernetAddress,
        label: Option<Label>,
        now: Instant,
    ) {
        let index = label.map(|label| AddressIndices::of(label).source.into());
        let Some(slot) = self.look_up(port, address, index, now) else {
            return self.add(address, port, now);
        };
        let station = &mut self.stations[slot.0 as usize];
        self.counts.moved += u64::from(station.port != port);
        (station.port, station.heard) = (port, now);
    }

    #[cold]
    fn add(&mut self, address: EthernetAddress, port: PortId, now: Instant) {
        let station = Station { address, port, heard: now };
        let slot = self.unused.pop().unwrap_or(Slot(self.stations.len() as u32));
        if self.table.insert_new(Key::new(address.0), slot).is_err() {
            // There are as many as may be.
            self.counts.full += 1;
            return;
        }
        match self.stations.get_mut(slot.0 as usize) {
            Some(place) => *place = station,
            None => self.stations.push(station),
        }
    }

    /// Forgets who was silent for too long; a few are looked at each time.
    #[inline]
    pub(super) fn age(&mut self, now: Instant) {
        for _ in 0..LOOKED_AT {
            let Some(station) = self.stations.get(self.hand) else {
                self.hand = 0;
                return;
            };
            if now >= station.heard + self.ageing {
                self.forget(Slot(self.hand as u32));
            }
            self.hand += 1;
        }
    }

    #[cold]
    fn forget(&mut self, slot: Slot) {
        let key = Key::new(self.stations[slot.0 as usize].address.0);
        // Not one whose place is empty already.
        if self.table.find(&key) != Some(slot) {
            return;
        }
        self.table.remove(&key);
        self.unused.push(slot);
        // The slot will be another's.
        self.ports.iter_mut().for_each(|port| port.cache.invalidate());
    }
}
