//! Ports of this host: demanded, or any that is free.

use std::collections::HashMap;

use crate::OpenError;

/// Ports given out when none is demanded (RFC 6335).
const DYNAMIC: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// Which ports are in use by sessions that were opened here, and how often.
#[derive(Debug)]
pub(crate) struct Ports {
    taken: HashMap<u16, u32>,
    next: u16,
}

impl Ports {
    /// The first port given out is chosen at random, so that strangers can't foresee it.
    pub fn new(random: u64) -> Self {
        let count = u64::from(DYNAMIC.end() - DYNAMIC.start()) + 1;
        Self { taken: HashMap::new(), next: DYNAMIC.start() + (random % count) as u16 }
    }

    /// The port demanded, which others may have too as long as they talk to others, or one that nobody has. 0 demands none: it is
    /// no port to send an answer to.
    pub fn take(&mut self, demanded: Option<u16>) -> Result<u16, OpenError> {
        let port = match demanded.filter(|port| *port != 0) {
            Some(port) => port,
            None => self.free().ok_or(OpenError::TooMany)?,
        };
        *self.taken.entry(port).or_default() += 1;
        Ok(port)
    }

    /// Gives a port back.
    pub fn give(&mut self, port: u16) {
        if let Some(uses) = self.taken.get_mut(&port) {
            *uses -= 1;
            if *uses == 0 {
                self.taken.remove(&port);
            }
        }
    }

    fn free(&mut self) -> Option<u16> {
        let port = (self.next..=*DYNAMIC.end())
            .chain(*DYNAMIC.start()..self.next)
            .find(|port| !self.taken.contains_key(port))?;
        self.next = if port == *DYNAMIC.end() { *DYNAMIC.start() } else { port + 1 };
        Some(port)
    }
}
