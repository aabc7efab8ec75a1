//! What every fabric must do, at every reliability level. A new fabric is tested by being listed in [`fabrics`].
#![cfg(not(loom))]

mod connecting;
mod messages;
mod queues;
mod remote_dma;
mod small;
mod stopping;

use std::{
    error::Error,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    time::Duration,
};
use throughline_vi::{
    Buffer, Completion, Faults, LocalNetwork, MAX_MESSAGE, Nic, Reliability, SendDescriptor, Vi, ViAttributes,
};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// Longer than anything takes.
const LONG: Option<Duration> = Some(Duration::from_secs(20));

const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// A way to make two NICs that can reach each other.
struct Fabric {
    name: &'static str,
    nics: fn() -> Result<[Nic; 2]>,
    levels: &'static [Reliability],
    /// Whether messages of the reliable levels go where receives are posted even if nobody polls, and wait until there are
    /// any. On other fabrics who polls finds them, and without a receive they break the VI.
    places_itself: bool,
    /// The longest message at the level `Unreliable`, and at the others; less where it would take long.
    longest: [usize; 2],
}

fn fabrics() -> [Fabric; 4] {
    [
        Fabric {
            name: "local",
            nics: || Ok(local_nics()),
            levels: &LEVELS,
            places_itself: false,
            longest: [MAX_MESSAGE; 2],
        },
        Fabric {
            name: "shm",
            nics: || Ok([Nic::shm()?, Nic::shm()?]),
            levels: &LEVELS,
            places_itself: false,
            longest: [MAX_MESSAGE; 2],
        },
        Fabric {
            name: "local with faults",
            nics: || Ok(local_nics_with(FAULTS)),
            levels: &LEVELS[1..],
            places_itself: true,
            longest: [0, 1 << 20],
        },
        Fabric {
            name: "udp",
            nics: || Ok([Nic::udp(LOOPBACK)?, Nic::udp(LOOPBACK)?]),
            levels: &LEVELS,
            places_itself: true,
            longest: [64_000, MAX_MESSAGE],
        },
    ]
}

/// A tenth of the datagrams is lost, a tenth comes twice, a tenth overtakes others, and some are damaged.
const FAULTS: Faults =
    Faults { seed: 7, loss: 0.1, duplication: 0.1, reordering: 0.1, corruption: 0.01, ..Faults::NONE };

fn local_nics() -> [Nic; 2] {
    local_nics_with(Faults::NONE)
}

fn local_nics_with(faults: Faults) -> [Nic; 2] {
    let network = LocalNetwork::new(faults);
    [Nic::local(&network, "a"), Nic::local(&network, "b")]
}

const LEVELS: [Reliability; 3] =
    [Reliability::Unreliable, Reliability::ReliableDelivery, Reliability::ReliableReception];

/// Two connected VIs and their NICs.
struct Pair {
    vis: [Vi; 2],
    nics: [Nic; 2],
    places_itself: bool,
    longest: usize,
}

impl Pair {
    fn new(fabric: &Fabric, attributes: &ViAttributes) -> Result<Self> {
        let nics = (fabric.nics)()?;
        let mut vis = [nics[0].create_vi(attributes)?, nics[1].create_vi(attributes)?];
        for vi in &mut vis {
            vi.post_own_receives();
        }
        connect(&nics, &mut vis)?;
        let longest = match attributes.reliability {
            Reliability::Unreliable => fabric.longest[0],
            _ => fabric.longest[1],
        };
        Ok(Self { vis, nics, places_itself: fabric.places_itself, longest })
    }

    fn both(&mut self) -> (&mut Vi, &mut Vi) {
        let [a, b] = &mut self.vis;
        (a, b)
    }
}

/// Connects the first VI to the second.
fn connect(nics: &[Nic; 2], [a, b]: &mut [Vi; 2]) -> Result {
    let mut listener = nics[1].listen(b"conformance")?;
    let address = nics[1].address();
    std::thread::scope(|scope| {
        let active = scope.spawn(|| a.connect(address, b"conformance", LONG));
        listener.wait(LONG)?.accept(b)?;
        active.join().expect("no panic")?;
        Ok(())
    })
}

/// Runs a test on every fabric at every level.
fn everywhere(test: impl Fn(&Fabric, Reliability) -> Result) -> Result {
    for fabric in fabrics() {
        for &level in fabric.levels {
            test(&fabric, level).map_err(|error| format!("{}, {level:?}: {error}", fabric.name))?;
        }
    }
    Ok(())
}

/// Runs a test on a connected pair of every fabric and level.
fn on_pairs(test: impl Fn(&mut Pair) -> Result) -> Result {
    on_pairs_with(|_| {}, test)
}

fn on_pairs_with(change: impl Fn(&mut ViAttributes), test: impl Fn(&mut Pair) -> Result) -> Result {
    everywhere(|fabric, level| {
        let mut attributes = ViAttributes::new(level);
        change(&mut attributes);
        test(&mut Pair::new(fabric, &attributes)?)
    })
}

fn filled(vi: &mut Vi, bytes: &[u8]) -> Result<Buffer> {
    let mut buffer = vi.send_buffer().ok_or("no send buffer")?;
    buffer.set_len(bytes.len());
    buffer.copy_from_slice(bytes);
    Ok(buffer)
}

/// Sends without a completion.
fn send(vi: &mut Vi, bytes: &[u8]) -> Result {
    let buffer = filled(vi, bytes)?;
    Ok(vi.post_send(SendDescriptor::new(buffer).unsignaled())?)
}

/// Receives a message and posts its buffer again.
fn receive(vi: &mut Vi) -> Result<Vec<u8>> {
    let completion = vi.receive_wait(LONG)?;
    completion.result?;
    let bytes = bytes_of(&completion);
    vi.post_receive(completion.buffer)?;
    Ok(bytes)
}

fn bytes_of(completion: &Completion) -> Vec<u8> {
    let mut bytes = completion.buffer.to_vec();
    completion.more.iter().for_each(|buffer| bytes.extend_from_slice(buffer));
    bytes
}

/// Bytes that differ from place to place.
fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 + at / 256 + seed * 7 + 1) as u8).collect()
}
