//! What TCP and UDP have in common: ports, and the versions of IP below.

use std::collections::HashMap;

use smoltcp::wire::{IpAddress, IpVersion};
use throughline_demux::Slot;

use crate::{
    Enabled, Layer, Lower, OpenError, Participants, Protocol, ProtocolId, Report, Upper, ports::Ports,
};

/// An address and a port.
pub(super) type End = (IpAddress, u16);

/// The ports of a protocol, and what it stands on.
pub(super) struct Transport {
    own: ProtocolId,
    /// Its number above IP.
    number: u8,
    below: Vec<(ProtocolId, Option<IpVersion>)>,
    enabled: HashMap<u16, Enabled>,
    ports: Ports,
}

/// What a session that was asked for stands on.
pub(super) struct Opened {
    pub below: Layer,
    pub local: End,
    pub remote: End,
}

/// The session below and both ports in one word. Protocols have fewer than 2^24 sessions.
pub(super) fn key(below: Layer, remote_port: u16, local_port: u16) -> u64 {
    u64::from(below.protocol.0) << 56
        | u64::from(below.session.0) << 32
        | u64::from(remote_port) << 16
        | u64::from(local_port)
}

/// Whether a key is of these ports.
#[inline]
pub(super) fn of_ports(key: u64, remote_port: u16, local_port: u16) -> bool {
    key as u32 == u32::from(remote_port) << 16 | u32::from(local_port)
}

/// The key of the session that a datagram or segment was sent by.
pub(super) fn key_of_sent(below: Layer, report: &Report) -> u64 {
    let [a, b, c, d, ..] = report.first;
    key(below, u16::from_be_bytes([c, d]), u16::from_be_bytes([a, b]))
}

impl Transport {
    pub fn new(own: ProtocolId, number: u8, below: &[(ProtocolId, &dyn Protocol)], random: u64) -> Self {
        Self {
            own,
            number,
            below: below.iter().map(|(id, below)| (*id, below.version())).collect(),
            enabled: HashMap::new(),
            ports: Ports::new(random),
        }
    }

    /// Has sessions made below, for the segments of anybody.
    pub fn start(&self, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        self.enable_below(&Participants::default(), lower)
    }

    /// For whom sessions are made at a port.
    pub fn enabled(&self, port: u16) -> Option<Enabled> {
        self.enabled.get(&port).copied()
    }

    /// Who listens at a port.
    #[inline]
    pub fn listener(&self, port: u16) -> Option<Slot> {
        match self.enabled.get(&port)? {
            Enabled::Listener(listener) => Some(*listener),
            Enabled::Protocol(_) => None,
        }
    }

    pub fn enable(
        &mut self,
        user: Enabled,
        participants: &Participants,
        lower: &mut Lower<'_>,
    ) -> Result<(), OpenError> {
        let port = participants.local_port.filter(|port| *port != 0);
        let port = port.ok_or(OpenError::Missing("a local port"))?;
        // A protocol above has users of its own at the port.
        let shared = |other: &Enabled| *other == user && matches!(user, Enabled::Protocol(_));
        if self.enabled.get(&port).is_some_and(|other| !shared(other)) {
            return Err(OpenError::Taken);
        }
        self.enable_below(participants, lower)?;
        self.enabled.insert(port, user);
        Ok(())
    }

    pub fn disable(&mut self, user: Enabled, participants: &Participants, lower: &mut Lower<'_>) {
        if let Some(port) = participants.local_port {
            self.enabled.retain(|other, enabled| *other != port || *enabled != user);
        }
        for (id, _) in &self.below {
            lower.disable(*id, Enabled::Protocol(self.own), participants);
        }
    }

    /// Takes a port and opens a session below; the participants are told which.
    pub fn open(
        &mut self,
        participants: &mut Participants,
        lower: &mut Lower<'_>,
    ) -> Result<Opened, OpenError> {
        let remote = participants.remote_address.ok_or(OpenError::Missing("the remote address"))?;
        let remote_port = participants.remote_port.filter(|port| *port != 0);
        let remote_port = remote_port.ok_or(OpenError::Missing("the remote port"))?;
        let below = self.below_for(remote)?;
        let local_port = self.ports.take(participants.local_port)?;
        participants.protocol = Some(self.number);
        let opened = lower.open(below, Upper::Protocol(self.own), participants);
        let below = opened.inspect_err(|_| self.ports.give(local_port))?;
        participants.local_port = Some(local_port);
        let local = (participants.local_address.unwrap_or(remote), local_port);
        Ok(Opened { below, local, remote: (remote, remote_port) })
    }

    /// Gives back what a session stood on; its port only if it was taken for it.
    pub fn close(&mut self, below: Option<Layer>, opened_at: Option<u16>, lower: &mut Lower<'_>) {
        if let Some(port) = opened_at {
            self.ports.give(port);
        }
        if let Some(below) = below {
            lower.close(below);
        }
    }

    fn enable_below(&self, participants: &Participants, lower: &mut Lower<'_>) -> Result<(), OpenError> {
        let participants = Participants { protocol: Some(self.number), ..*participants };
        let user = Enabled::Protocol(self.own);
        self.below.iter().try_for_each(|(id, _)| lower.enable(*id, user, &participants))
    }

    fn below_for(&self, address: IpAddress) -> Result<ProtocolId, OpenError> {
        let fits = |version: Option<IpVersion>| version.is_none_or(|version| version == address.version());
        self.below.iter().find(|(_, version)| fits(*version)).map(|(id, _)| *id).ok_or(OpenError::NoRoute)
    }
}
