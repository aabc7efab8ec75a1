//! Hardware addresses of neighbours, and messages that wait for them.

use std::collections::{HashMap, VecDeque};

use smoltcp::{
    time::{Duration, Instant},
    wire::{EthernetAddress, IpAddress, IpVersion},
};

use crate::{Layer, Message};

/// Neighbours remembered; the one confirmed longest ago is forgotten for a new one.
const MOST: usize = 1024;
/// Messages that wait for one address: where frames take 1,500 octets the pieces of one datagram, at least.
const WAITING: usize = 64;
/// Addresses asked for at a time.
const ASKED: usize = 64;
/// How long an answer holds.
const LIFETIME: Duration = Duration::from_secs(60);
/// Between two questions for the same address.
const INTERVAL: Duration = Duration::from_secs(1);
/// Until a question is tried again for which there was no place.
const LATER: Duration = Duration::from_millis(100);
/// Questions before the messages that wait are given up.
const TRIES: u8 = 3;

/// The table that address resolution (ARP, neighbour discovery) fills and IP reads.
#[derive(Debug, Default)]
pub struct Neighbors {
    known: HashMap<IpAddress, Known>,
    asked: HashMap<IpAddress, Asked>,
    /// Another whenever an answer changes or may have expired: what was read before is to be read again.
    generation: u32,
    next_expiry: Option<Instant>,
    /// Whether neighbours are asked once more before they are forgotten.
    keep: bool,
    guest: Option<(IpAddress, EthernetAddress)>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    hardware: EthernetAddress,
    until: Instant,
    /// When it is to be asked whether it is still there, if that is before its time is over.
    due: Instant,
}

#[derive(Debug)]
struct Asked {
    waiting: VecDeque<(Layer, Message)>,
    tries: u8,
    again: Instant,
}

impl Neighbors {
    /// Another whenever an address read earlier may be wrong by now, and never [`u32::MAX`].
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Who changes his address time and again, as a stranger may, has it begin anew.
    fn change(&mut self) {
        self.generation = (self.generation + 1) % u32::MAX;
    }

    /// From now on neighbours are asked whether they are still there before their time is over.
    pub fn keep(&mut self) {
        self.keep = true;
    }

    /// Forgets all who are known: the link has failed, and others may be there when it works again.
    pub fn forget(&mut self) {
        self.known.clear();
        self.next_expiry = None;
        self.change();
    }

    /// The hardware address of a neighbour.
    pub fn find(&self, address: IpAddress, now: Instant) -> Option<EthernetAddress> {
        let known = self.known.get(&address).filter(|known| now < known.until).map(|known| known.hardware);
        known.or_else(|| self.guest.filter(|guest| guest.0 == address).map(|guest| guest.1))
    }

    /// Who is being answered is where he says, until there is another one or nobody: he need not be remembered or asked for, as
    /// many as there may be.
    pub fn receive_guest(&mut self, guest: Option<(IpAddress, EthernetAddress)>) {
        let before = std::mem::replace(&mut self.guest, guest);
        // What leads to him must not lead there once he may be elsewhere.
        let unknown = before.is_some_and(|(address, _)| !self.known.contains_key(&address));
        if unknown {
            self.change();
        }
    }

    /// Takes note of a neighbour who asked for us. Who says so may be many that are not there: they take nobody's place, and are asked
    /// for when there is something for them.
    pub fn meet(
        &mut self,
        address: IpAddress,
        hardware: EthernetAddress,
        now: Instant,
    ) -> VecDeque<(Layer, Message)> {
        if self.known.len() < MOST {
            return self.learn(address, hardware, now);
        }
        self.confirm(address, hardware, now)
    }

    /// Takes note of an answer to a question of ours. Returns the messages that waited for it.
    fn learn(
        &mut self,
        address: IpAddress,
        hardware: EthernetAddress,
        now: Instant,
    ) -> VecDeque<(Layer, Message)> {
        let until = now + LIFETIME;
        let due = if self.keep { until - INTERVAL * u32::from(TRIES) } else { until };
        let before = self.known.insert(address, Known { hardware, until, due });
        if before.is_some_and(|before| before.hardware != hardware) {
            self.change();
        }
        if self.known.len() > MOST {
            self.forget_oldest(address);
        }
        let next = self.next_expiry.map_or(due, |next| next.min(due));
        self.next_expiry = Some(next);
        self.asked.remove(&address).map(|asked| asked.waiting).unwrap_or_default()
    }

    /// Confirms a neighbour that is known or asked for, and no other: for news nobody asked for.
    pub fn confirm(
        &mut self,
        address: IpAddress,
        hardware: EthernetAddress,
        now: Instant,
    ) -> VecDeque<(Layer, Message)> {
        if self.known.contains_key(&address) || self.asked.contains_key(&address) {
            return self.learn(address, hardware, now);
        }
        VecDeque::new()
    }

    /// Lets a message wait for an address. Whether it is to be asked for now; the message comes back if there is no room. One that
    /// answers a stranger, who may not be where he says, has half of the places.
    pub fn wait(
        &mut self,
        address: IpAddress,
        now: Instant,
        layer: Layer,
        message: Message,
        for_stranger: bool,
    ) -> Result<bool, Message> {
        if let Some(asked) = self.asked.get_mut(&address) {
            if asked.waiting.len() >= WAITING {
                return Err(message);
            }
            asked.waiting.push_back((layer, message));
            return Ok(false);
        }
        if self.asked.len() >= ASKED || (for_stranger && !self.has_places_for_strangers()) {
            return Err(message);
        }
        let waiting = VecDeque::from([(layer, message)]);
        self.asked.insert(address, Asked { waiting, tries: 1, again: now + INTERVAL });
        Ok(true)
    }

    /// Has an address asked for, though no message waits here for it. Whether it is to be asked for now; not if that is under way.
    /// What a stranger wants to be asked for has half of the places.
    ///
    /// # Errors
    /// When there is no room.
    pub fn want(&mut self, address: IpAddress, now: Instant, for_stranger: bool) -> Result<bool, ()> {
        if self.asked.contains_key(&address) {
            return Ok(false);
        }
        if self.asked.len() >= ASKED || (for_stranger && !self.has_places_for_strangers()) {
            return Err(());
        }
        self.asked.insert(address, Asked { waiting: VecDeque::new(), tries: 1, again: now + INTERVAL });
        Ok(true)
    }

    /// Whether an address is being asked for.
    pub fn is_asked(&self, address: IpAddress) -> bool {
        self.asked.contains_key(&address)
    }

    /// Whether neighbours may be asked for on behalf of strangers: half of the places are for our own messages.
    pub fn has_places_for_strangers(&self) -> bool {
        self.asked.len() < ASKED / 2
    }

    /// Addresses of this version to be asked for again, and how many messages were given up since nobody answered.
    pub fn due(&mut self, now: Instant, version: IpVersion) -> (Vec<IpAddress>, usize) {
        let (mut again, mut given_up) = (Vec::new(), 0);
        // Nearly always, and this is asked after every message.
        if self.asked.is_empty() && self.next_expiry.is_none_or(|expiry| now < expiry) {
            return (again, given_up);
        }
        if self.next_expiry.is_some_and(|expiry| expiry <= now) {
            self.forget_expired(now);
        }
        self.asked.retain(|address, asked| {
            if now < asked.again || address.version() != version {
                return true;
            }
            asked.tries += 1;
            asked.again = now + INTERVAL;
            if asked.tries > TRIES {
                given_up += asked.waiting.len();
                return false;
            }
            again.push(*address);
            true
        });
        // Not in the order of the table, which is another in each graph.
        again.sort_unstable();
        (again, given_up)
    }

    fn forget_expired(&mut self, now: Instant) {
        let before = self.known.len();
        self.known.retain(|_, known| now < known.until);
        if self.known.len() != before {
            self.change();
        }
        self.doubt(now);
        self.next_expiry = self.known.values().map(|known| known.due).min();
    }

    /// Has those asked for whose time is nearly over, as far as strangers leave places for that; the others have their turn
    /// when some have answered.
    fn doubt(&mut self, now: Instant) {
        let mut due: Vec<_> = self.known.iter_mut().filter(|(_, known)| known.due <= now).collect();
        // Not in the order of the table, which is another in each graph.
        due.sort_unstable_by_key(|(address, _)| **address);
        for (address, known) in due {
            if self.asked.len() < ASKED / 2 {
                known.due = known.until;
                self.asked.insert(*address, Asked { waiting: VecDeque::new(), tries: 0, again: now });
            } else {
                known.due = known.until.min(now + LATER);
            }
        }
    }

    /// When [`due`](Self::due) has something to do.
    pub fn next_due(&self) -> Option<Instant> {
        self.asked.values().map(|asked| asked.again).chain(self.next_expiry).min()
    }

    fn forget_oldest(&mut self, but: IpAddress) {
        let others = self.known.iter().filter(|(address, _)| **address != but);
        if let Some(oldest) = others.min_by_key(|(_, known)| known.until).map(|(address, _)| *address) {
            self.known.remove(&oldest);
            self.change();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn address(n: u32) -> IpAddress {
        IpAddress::Ipv4((0x0a00_0000 + n).into())
    }

    fn hardware(n: u32) -> EthernetAddress {
        let [a, b, c, d] = n.to_be_bytes();
        EthernetAddress([2, 0, a, b, c, d])
    }

    #[test]
    fn who_only_asks_displaces_nobody_and_who_answers_does() {
        let mut neighbors = Neighbors::default();
        let most = MOST as u32;
        for n in 0..most {
            neighbors.meet(address(n), hardware(n), NOW);
        }
        for n in most..5 * most {
            neighbors.meet(address(n), hardware(n), NOW);
        }
        let known = |neighbors: &Neighbors, n| neighbors.find(address(n), NOW) == Some(hardware(n));
        assert!((0..most).all(|n| known(&neighbors, n)));
        assert_eq!((neighbors.known.len(), neighbors.generation()), (MOST, 0));
        // One who is known may have got another card.
        neighbors.meet(address(7), hardware(most), NOW);
        assert_eq!(neighbors.find(address(7), NOW), Some(hardware(most)));
        assert_eq!(neighbors.want(address(most), NOW, false), Ok(true));
        neighbors.confirm(address(most), hardware(most), NOW);
        assert!(known(&neighbors, most));
        assert_eq!(neighbors.known.len(), MOST);
    }

    #[test]
    fn generations_begin_anew() {
        let mut neighbors = Neighbors { generation: u32::MAX - 2, ..Neighbors::default() };
        let generations = [0, 1, 2, 3].map(|n| {
            neighbors.meet(address(0), hardware(n), NOW);
            neighbors.generation()
        });
        assert_eq!(
            generations,
            [u32::MAX - 2, u32::MAX - 1, 0, 1],
            "u32::MAX is of ways that were not found"
        );
    }
}
