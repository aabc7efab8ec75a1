//! Datagrams that leave by one system call (GSO): to one address, of one length but for the last.

use std::{
    io,
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

use quinn_udp::{EcnCodepoint, Transmit, UdpSocketState};

use crate::reliable::{Endpoint, Sink, Source};

/// The most octets that the system takes at once.
const MOST: usize = 65_507;

/// Datagrams to leave next.
pub struct Batch {
    buffer: Box<[u8]>,
    run: Option<Run>,
    /// A datagram that did not fit into the run, where it is, and how long.
    next: Option<(Run, usize)>,
    most_segments: usize,
}

#[derive(Clone, Copy)]
struct Run {
    to: SocketAddr,
    ect: bool,
    /// Octets of each datagram but the last.
    segment: usize,
    octets: usize,
}

impl Batch {
    /// Empty, for so many datagrams.
    pub fn new(most_segments: usize) -> Self {
        let buffer = vec![0; 2 * MOST].into();
        Self { buffer, run: None, next: None, most_segments }
    }

    /// Whether nothing waits to leave.
    pub fn is_empty(&self) -> bool {
        self.run.is_none() && self.next.is_none()
    }

    /// Takes datagrams from an endpoint. Returns whether there are any. What was there before must have left.
    pub fn fill<S: Source, R: Sink>(
        &mut self,
        now: Duration,
        endpoint: &mut Endpoint<SocketAddr, S, R>,
    ) -> bool {
        let mut run = match self.next.take() {
            Some((run, at)) => {
                self.buffer.copy_within(at..at + run.octets, 0);
                run
            }
            None => match transmit(now, endpoint, &mut self.buffer[..MOST]) {
                Some(run) => run,
                None => return false,
            },
        };
        while run.octets % run.segment == 0
            && run.octets / run.segment < self.most_segments
            && run.octets + run.segment <= MOST
        {
            let at = run.octets;
            let Some(next) = transmit(now, endpoint, &mut self.buffer[at..at + MOST]) else { break };
            let joins = next.to == run.to && next.ect == run.ect && next.octets <= run.segment;
            if !joins {
                self.next = Some((next, at));
                break;
            }
            run.octets += next.octets;
        }
        self.run = Some(run);
        true
    }

    /// Sends what is there. Returns `false` if the socket has no room for it.
    pub fn leave(&mut self, socket: &UdpSocket, state: &UdpSocketState) -> io::Result<bool> {
        let Some(run) = self.run else { return Ok(true) };
        let transmit = Transmit {
            destination: run.to,
            ecn: run.ect.then_some(EcnCodepoint::Ect0),
            contents: &self.buffer[..run.octets],
            segment_size: (run.octets > run.segment).then_some(run.segment),
            src_ip: None,
        };
        match state.try_send(socket.into(), &transmit) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            // Whatever else is wrong with these datagrams, they are lost.
            Ok(()) | Err(_) => self.run = None,
        }
        Ok(true)
    }
}

fn transmit<S: Source, R: Sink>(
    now: Duration,
    endpoint: &mut Endpoint<SocketAddr, S, R>,
    buffer: &mut [u8],
) -> Option<Run> {
    let (to, transmit) = endpoint.transmit(now, buffer)?;
    Some(Run { to, ect: transmit.ect, segment: transmit.length, octets: transmit.length })
}
