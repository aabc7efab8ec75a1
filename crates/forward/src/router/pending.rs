//! Frames that wait for the hardware address of their next hop.

use std::{collections::HashMap, net::IpAddr};

use throughline_stack::Message;

use crate::PortId;

/// Next hops that frames wait for, at most.
const HOPS: usize = 64;
/// Frames that wait for one of them.
const FRAMES: usize = 16;

/// Next hops that don't answer yet, and the frames for them.
#[derive(Default)]
pub(super) struct Pending {
    hops: HashMap<(PortId, IpAddr), Vec<Message>>,
}

impl Pending {
    /// Lets a frame wait; it comes back if there is no room.
    pub fn wait(&mut self, port: PortId, hop: IpAddr, frame: Message) -> Result<(), Message> {
        if self.hops.len() >= HOPS && !self.hops.contains_key(&(port, hop)) {
            return Err(frame);
        }
        let frames = self.hops.entry((port, hop)).or_default();
        if frames.len() >= FRAMES {
            return Err(frame);
        }
        frames.push(frame);
        Ok(())
    }

    /// Takes the frames for the hops of which something is known now, which is what `known` says.
    pub fn settle<T>(
        &mut self,
        mut known: impl FnMut(PortId, IpAddr) -> Option<T>,
    ) -> Vec<(PortId, T, Vec<Message>)> {
        let mut settled = Vec::new();
        self.hops.retain(|&(port, hop), frames| match known(port, hop) {
            Some(what) => {
                settled.push((port, what, std::mem::take(frames)));
                false
            }
            None => true,
        });
        settled
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.hops.is_empty()
    }
}
