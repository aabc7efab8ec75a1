//! Frames that wait for the hardware address of their next hop.

use std::{collections::HashMap, net::IpAddr};

use throughline_stack::Message;

use super::counts::Leaves;
use crate::PortId;

/// Next hops of a port that frames wait for, at most: as many as are asked for there.
const HOPS: usize = 64;
/// Frames that wait for one of them.
const FRAMES: usize = 16;

/// Frames, and what each is counted as when it leaves.
type Frames = Vec<(Message, Leaves)>;

/// Next hops that don't answer yet, and the frames for them.
#[derive(Default)]
pub(super) struct Pending {
    /// None is empty.
    ports: HashMap<PortId, HashMap<IpAddr, Frames>>,
}

impl Pending {
    /// Lets a frame wait; it comes back if there is no room.
    pub fn wait(&mut self, port: PortId, hop: IpAddr, frame: Message, what: Leaves) -> Result<(), Message> {
        let hops = self.ports.entry(port).or_default();
        if hops.len() >= HOPS && !hops.contains_key(&hop) {
            return Err(frame);
        }
        let frames = hops.entry(hop).or_default();
        if frames.len() >= FRAMES {
            return Err(frame);
        }
        frames.push((frame, what));
        Ok(())
    }

    /// Takes out the frames that have waited for a hop for the least time, so many of them.
    pub fn take_back(&mut self, port: PortId, hop: IpAddr, count: usize) -> Vec<Message> {
        let Some(hops) = self.ports.get_mut(&port) else { return Vec::new() };
        let Some(frames) = hops.get_mut(&hop) else { return Vec::new() };
        let last = frames.split_off(frames.len().saturating_sub(count));
        if frames.is_empty() {
            hops.remove(&hop);
        }
        if hops.is_empty() {
            self.ports.remove(&port);
        }
        last.into_iter().map(|(frame, _)| frame).collect()
    }

    /// Takes the frames for the hops of which something is known now, which is what `known` says: those of a port, or all.
    pub fn settle<T>(
        &mut self,
        of: Option<PortId>,
        mut known: impl FnMut(PortId, IpAddr) -> Option<T>,
    ) -> Vec<(PortId, T, Frames)> {
        let mut settled = Vec::new();
        self.ports.retain(|port, hops| {
            if of.is_some_and(|of| of != *port) {
                return true;
            }
            hops.retain(|hop, frames| match known(*port, *hop) {
                Some(what) => {
                    settled.push((*port, what, std::mem::take(frames)));
                    false
                }
                None => true,
            });
            !hops.is_empty()
        });
        settled
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_for_which_nothing_waits_any_more_takes_no_room() {
        let (port, hop) = (PortId(7), [10, 0, 0, 2].into());
        let mut pending = Pending::default();
        let wait = |pending: &mut Pending, frame| {
            pending.wait(port, hop, Message::copied(0, &[frame]), Leaves::Forwarded).unwrap();
        };
        (0..4).for_each(|frame| wait(&mut pending, frame));
        let taken = pending.take_back(port, hop, 1);
        assert!(taken.len() == 1 && taken[0].bytes() == [3]);
        assert!(pending.take_back(PortId(8), hop, 1).is_empty());
        assert_eq!(pending.take_back(port, hop, 3).len(), 3);
        assert!(pending.is_empty());
    }

    #[test]
    fn news_of_a_port_has_nobody_of_others_looked_at() {
        let mut pending = Pending::default();
        for (port, host) in (0..64).flat_map(|port| (0..32).map(move |host| (port, host))) {
            let frame = Message::copied(0, &[host]);
            pending.wait(PortId(port), [10, 0, 0, host].into(), frame, Leaves::Forwarded).unwrap();
        }
        let mut looked = 0;
        let settled = pending.settle(Some(PortId(7)), |port, hop| {
            assert_eq!(port, PortId(7));
            looked += 1;
            (hop == IpAddr::from([10, 0, 0, 3])).then_some(())
        });
        assert_eq!((looked, settled.len(), settled[0].2[0].0.bytes()), (32, 1, &[3][..]));
        assert_eq!(pending.settle(None, |_, _| Some(())).len(), 64 * 32 - 1);
        assert!(pending.is_empty());
    }
}
