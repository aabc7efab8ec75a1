//! A link's beginning and its end.

use std::time::{Duration, Instant};

use throughline_giop::NativeAddress;
use throughline_vi::{
    Buffer, ConnectionRequest, Nic, Reliability, ResourceError, SMALL_MESSAGE, ViAttributes,
};

use super::super::{
    bulk::{Bulk, WHOLE},
    nics,
};
use super::foresight::Foresight;
use super::receive::Arrived;
use super::{COPIED, Link, LinkError, LinkOptions};
use crate::transport::address::share;
use crate::transport::resolver::{self, Resolver};

/// What the listeners of the native protocol listen to.
pub(crate) const DISCRIMINATOR: &[u8] = b"throughline 1";

/// Registered memory of a link, in each direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkMemory {
    /// How many buffers.
    buffers: u32,
    /// Octets in each.
    size: u32,
    /// The most that are posted at a time for messages to come. On a fabric where nothing arrives that is not looked for, few
    /// are enough, and are in the caches.
    posted: u32,
    /// The receiver copies long messages from where they lie.
    left: bool,
    /// So often a message is looked for before the clock is looked at,
    looks: u32,
    /// and so often at once, mostly for a small one only.
    eager: u32,
}

impl LinkMemory {
    /// Buffers sent are free as soon as the receiver has looked.
    pub(crate) const SHM: Self =
        Self { buffers: 16, size: 64 << 10, posted: 2, left: true, looks: 512, eager: 512 };
    /// Buffers sent are free only once the receiver has said so.
    pub(crate) const UDP: Self =
        Self { buffers: 128, size: 16 << 10, posted: 128, left: false, looks: 50, eager: 0 };
}

/// The longest message that is received whole if none may be longer than this.
fn whole(max_message: usize) -> u32 {
    u32::try_from(max_message).unwrap_or(u32::MAX).min(WHOLE)
}

/// The most that a peer may show, in octets. A link's own buffers have 2 MiB, and those for long messages 3.
const SHOWN: u64 = 64 << 20;
/// The most pieces of that beside the buffers. Links show one, once they send long messages, and no windows.
const PIECES: u32 = 2;

/// How long a link over UDP that is closed waits for the peer to have everything.
pub(crate) const SETTLE: Duration = Duration::from_millis(300);

impl Link {
    /// One that is not connected.
    pub(crate) fn new(nic: &Nic, memory: LinkMemory, options: &LinkOptions) -> Result<Self, ResourceError> {
        let attributes = ViAttributes {
            send_buffers: memory.buffers,
            send_buffer_size: memory.size,
            receive_buffers: memory.buffers,
            receive_buffer_size: memory.size,
            spin: options.spin,
            receive_longer: whole(options.max_message),
            trusted: options.trusted,
            leave: memory.left,
            peer_memory: SHOWN,
            peer_pieces: PIECES,
            ..ViAttributes::new(Reliability::ReliableDelivery)
        };
        let mut vi = nic.create_vi(&attributes)?;
        let size = vi.receive_buffer().map_or(0, |buffer| buffer.capacity());
        for _ in 0..memory.posted {
            let buffer = vi.receive_buffer();
            // There is room in the queue.
            let _ = buffer.map(|buffer| vi.post_receive(buffer));
        }
        let arrived = Arrived::Nothing;
        Ok(Self {
            vi,
            out: None,
            bulk: Bulk::new(nic.clone()),
            left: memory.left,
            lends: options.trusted,
            on_loan: false,
            long: 0,
            claims: 0,
            arrived,
            small: [0; SMALL_MESSAGE],
            copied: Box::new([0; COPIED]),
            looks: if options.spin.is_zero() { 0 } else { memory.looks },
            eager: memory.eager,
            foresight: Foresight::default(),
            patience: options.spin.max(Duration::from_micros(100)),
            many: false,
            away: 0,
            lent: 0,
            long_answers: 0,
            buffers: memory.buffers,
            spare: memory.buffers.saturating_sub(memory.posted) as usize,
            size,
            max_message: options.max_message,
            settles: false,
            process: None,
            until: None,
            crowd: options.crowd.clone(),
        })
    }

    /// Connects. `early`: without waiting for an answer, where the fabric can do without; then it may turn out later that nobody
    /// is there, and nobody can tell what became of what was sent.
    pub(crate) fn connect(
        address: &NativeAddress,
        timeout: Duration,
        options: &LinkOptions,
        early: bool,
    ) -> Result<Self, LinkError> {
        match (address, &options.datagrams) {
            (NativeAddress::Shm { name, .. }, _) => {
                let mut link = Self::new(nics::shm()?, LinkMemory::SHM, options)?;
                link.vi.connect(name, DISCRIMINATOR, Some(timeout))?;
                link.knows_peer();
                Ok(link)
            }
            (NativeAddress::Udp { host, port }, Some(network)) => {
                let link = Self::new(&nics::local(network), LinkMemory::UDP, options)?;
                link.connected_to(&nics::local_name(host, *port), timeout, early)
            }
            (NativeAddress::Udp { host, port }, None) => {
                Self::connect_udp(&resolver::SYSTEM, (host, *port), (timeout, early), options)
            }
        }
    }

    /// Tries every address that the name stands for. Early only where there is one: what was sent to one of several may not be
    /// sent to another.
    fn connect_udp(
        resolver: &'static Resolver,
        (host, port): (&str, u16),
        (timeout, early): (Duration, bool),
        options: &LinkOptions,
    ) -> Result<Self, LinkError> {
        let deadline = Instant::now() + timeout;
        let mut last = LinkError::Unknown;
        let addresses = resolver.resolve(host, port, timeout).map_err(LinkError::Name)?;
        let early = early && addresses.len() == 1;
        for (tried, address) in addresses.iter().enumerate() {
            let link = Self::new(nics::udp(address.is_ipv6())?, LinkMemory::UDP, options)?;
            let left = deadline.saturating_duration_since(Instant::now());
            match link.connected_to(&address.to_string(), share(left, addresses.len() - tried), early) {
                Ok(link) => return Ok(link),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Connected by datagrams.
    fn connected_to(mut self, address: &str, timeout: Duration, early: bool) -> Result<Self, LinkError> {
        match early {
            true => self.vi.connect_early(address, DISCRIMINATOR, Some(timeout))?,
            false => self.vi.connect(address, DISCRIMINATOR, Some(timeout))?,
        }
        self.settles = true;
        Ok(self)
    }

    /// It is connected.
    fn knows_peer(&mut self) {
        self.lends = self.lends.filter(|_| self.vi.lends());
    }

    /// Connects it with a client.
    pub(crate) fn accept(&mut self, request: ConnectionRequest) -> Result<(), LinkError> {
        self.process = request.process();
        request.accept(&mut self.vi)?;
        self.knows_peer();
        Ok(())
    }
}

impl Drop for Link {
    /// Oneways over UDP, sent just before the process ends, would be lost with it.
    fn drop(&mut self) {
        if self.settles && self.is_open() {
            self.settle();
        }
    }
}

impl Link {
    /// Whether the peer has yet to say that it has everything, for which who closes the link waits.
    pub(crate) fn is_unsettled(&mut self) -> bool {
        self.settles && !self.vi.has_settled()
    }

    /// Closes it at once: the peer has had the time to take what was sent.
    pub(crate) fn forsake(self) {
        drop(self.without_oneways());
    }

    /// As one whose messages are all answered: who closes it has the answers, or wants them no more.
    pub(crate) fn without_oneways(mut self) -> Self {
        self.settles = false;
        self
    }

    /// Waits until all buffers are back and small messages are acknowledged, which is when the peer has everything that was sent; for
    /// a moment only.
    #[cold]
    fn settle(&mut self) {
        let started = Instant::now();
        let mut back: Vec<Buffer> = self.out.take().into_iter().collect();
        while started.elapsed() < SETTLE && self.is_open() {
            if back.len() < self.buffers as usize
                && let Some(buffer) = self.vi.send_buffer()
            {
                back.push(buffer);
                continue;
            }
            if back.len() == self.buffers as usize && self.vi.has_settled() {
                return;
            }
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::orb::Orb;
    use crate::transport::address::Address;

    #[test]
    fn a_name_of_several_addresses_leads_to_the_one_that_is_listened_at() {
        let server = Orb::listening_at(&["udp://127.0.0.1:0".parse().unwrap()]).unwrap();
        let Some(Address::Udp { port, .. }) = server.addresses().pop() else { panic!("no address") };
        let both: &'static Resolver = Box::leak(Box::new(Resolver::new(|_| {
            Ok([[127, 0, 0, 2], [127, 0, 0, 1]].map(|ip| SocketAddr::from((ip, 0))).into())
        })));
        for early in [false, true] {
            let within = (Duration::from_secs(5), early);
            let link = Link::connect_udp(both, ("both", port), within, &server.link_options());
            let until = Instant::now().checked_add(Duration::from_millis(100));
            // Nobody says anything; but somebody is there.
            let error = link.unwrap().receive(until).unwrap_err();
            assert!(error.is_timeout(), "early: {early}, {error}");
        }
        server.shutdown(Duration::ZERO);
    }
}
