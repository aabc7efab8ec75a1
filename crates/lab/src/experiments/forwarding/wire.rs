//! Frames from a generator through a forwarder to a sink, over two veth pairs: by the kernel's own bridge and router, and by
//! ours.

use std::{
    net::Ipv4Addr,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::thread::{CpuSet, UnshareFlags, sched_setaffinity, unshare_unsafe};
use throughline_forward::{ForwardConfig, HEADROOM, Node};
use throughline_stack::{Device, Packet, PacketConfig, Pool, smoltcp::wire::EthernetAddress};

use super::network::{failed, frame};
use crate::LabError;

/// Frames of the generator that are under way in one system call.
const BATCH: usize = 32;
/// Where frames go; nobody has this address, so the kernel behind the sink has nothing to do with them.
const NOBODY: EthernetAddress = EthernetAddress([2, 0, 0, 99, 0, 99]);
const DESTINATION: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 9);
/// How long the forwarder may still be at work after the last frame was sent.
const REST: Duration = Duration::from_millis(200);

/// What is between the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    KernelBridge,
    KernelRouter,
    OurBridge,
    OurRouter,
}

impl Between {
    pub(super) const ALL: [Self; 4] =
        [Self::KernelBridge, Self::OurBridge, Self::KernelRouter, Self::OurRouter];

    pub(super) fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::KernelBridge => ("kernel", "bridge"),
            Self::KernelRouter => ("kernel", "router"),
            Self::OurBridge => ("throughline", "bridge"),
            Self::OurRouter => ("throughline", "router"),
        }
    }
}

/// Frames that arrived at the sink, of so many sent, and the time that took.
pub(super) struct Carried {
    pub(super) sent: u64,
    pub(super) arrived: u64,
    pub(super) seconds: f64,
}

/// Sends as fast as the generator can for a time. The text says what is missing where that can't be done.
pub(super) fn carry(between: Between, time: Duration) -> Result<Result<Carried, LabError>, String> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the namespace of this thread alone is changed, and it has no descriptor of the former one.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
                .map_err(|error| format!("no network namespace ({error}); root has them"))?;
            set_up(between)?;
            Ok(run(between, time))
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn set_up(between: Between) -> Result<(), String> {
    for (one, other) in [("gen", "in"), ("out", "sink")] {
        ip(&format!("link add {one} type veth peer name {other}"))?;
        for name in [one, other] {
            // The kernel may be unable to speak IPv6 anyway.
            let _ = ip(&format!("link set {name} addrgenmode none"));
            ip(&format!("link set {name} up"))?;
        }
    }
    match between {
        Between::KernelBridge => {
            ip("link add name bridge0 type bridge")?;
            ip("link set bridge0 up")?;
            ip("link set in master bridge0")?;
            ip("link set out master bridge0")?;
            // The destination is behind the second port.
            command("bridge", &format!("fdb add {} dev out master static", text(NOBODY)))
        }
        Between::KernelRouter => {
            ip("addr add 10.0.1.1/24 dev in")?;
            ip("addr add 10.0.2.1/24 dev out")?;
            ip(&format!("neigh add {DESTINATION} lladdr {} dev out", text(NOBODY)))?;
            std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").map_err(|error| error.to_string())?;
            // What arrives at the sink is for nobody there, and what comes in has a source on another interface.
            for name in ["all", "in", "sink"] {
                std::fs::write(format!("/proc/sys/net/ipv4/conf/{name}/rp_filter"), "0")
                    .map_err(|error| error.to_string())?;
            }
            Ok(())
        }
        Between::OurBridge | Between::OurRouter => Ok(()),
    }
}

fn run(between: Between, time: Duration) -> Result<Carried, LabError> {
    // One processor sends; ours forwards on the other, the kernel where it likes.
    pin(0)?;
    let config = match between {
        Between::OurBridge => {
            Some("role = \"bridge\"\nport = [{ interface = \"in\" }, { interface = \"out\" }]")
        }
        Between::OurRouter => Some(
            "role = \"router\"\nport = [{ interface = \"in\", addresses = [\"10.0.1.1/24\"] }, \
             { interface = \"out\", addresses = [\"10.0.2.1/24\"] }]",
        ),
        Between::KernelBridge | Between::KernelRouter => None,
    };
    let node = match config {
        Some(config) => Some(Node::open(&ForwardConfig::parse(config).map_err(failed)?).map_err(failed)?),
        None => None,
    };
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let forwarder = node.map(|mut node| {
            let over = &over;
            scope.spawn(move || -> Result<(), LabError> {
                pin(1)?;
                while !over.load(Ordering::Relaxed) {
                    node.poll().map_err(|(_, error)| LabError::Io(error))?;
                }
                Ok(())
            })
        });
        let carried = introduce(between).and_then(|()| generate(between, time));
        over.store(true, Ordering::Relaxed);
        if let Some(forwarder) = forwarder {
            forwarder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        carried
    })
}

/// Has ours know whom the frames are for: he says something.
fn introduce(between: Between) -> Result<(), LabError> {
    let mut sink = Packet::open("sink", &PacketConfig::default())?;
    let mut pool = Pool::new(2048, HEADROOM, 64);
    let own = DESTINATION.octets();
    let mut hello = vec![0; 60];
    hello[..6].fill(0xff);
    hello[6..12].copy_from_slice(&NOBODY.0);
    // A question by ARP for the router's address.
    hello[12..22].copy_from_slice(&[8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    hello[22..28].copy_from_slice(&NOBODY.0);
    hello[28..32].copy_from_slice(&own);
    hello[38..42].copy_from_slice(&[10, 0, 2, 1]);
    if matches!(between, Between::OurBridge | Between::OurRouter) {
        let mut message = pool.take();
        message.append(&hello).map_err(failed)?;
        sink.send(message, &mut pool).map_err(|(_, error)| error)?;
        sink.flush()?;
        thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn generate(between: Between, time: Duration) -> Result<Carried, LabError> {
    let mut generator = Packet::open("gen", &PacketConfig { batch: BATCH, ..PacketConfig::default() })?;
    let mut pool = Pool::new(2048, HEADROOM, 256);
    let mut bytes = frame(DESTINATION);
    let to = match between {
        Between::KernelBridge | Between::OurBridge => NOBODY.0,
        Between::KernelRouter | Between::OurRouter => address_of("in")?,
    };
    bytes[..6].copy_from_slice(&to);
    // A source on the network of the first port.
    let mut packet = throughline_stack::smoltcp::wire::Ipv4Packet::new_unchecked(&mut bytes[14..]);
    packet.set_src_addr(Ipv4Addr::new(10, 0, 1, 2));
    packet.fill_checksum();
    let before = received("sink")?;
    let begun = Instant::now();
    let mut sent = 0;
    while begun.elapsed() < time {
        for _ in 0..BATCH {
            let mut message = pool.take();
            message.append(&bytes).map_err(failed)?;
            match generator.send(message, &mut pool) {
                Ok(()) => sent += 1,
                Err((message, _)) => pool.give(message),
            }
        }
        generator.flush()?;
    }
    let seconds = begun.elapsed().as_secs_f64();
    thread::sleep(REST);
    Ok(Carried { sent, arrived: received("sink")? - before, seconds })
}

/// An address as the kernel's tools read it.
fn text(EthernetAddress(octets): EthernetAddress) -> String {
    octets.map(|octet| format!("{octet:02x}")).join(":")
}

fn pin(processor: usize) -> Result<(), LabError> {
    let mut set = CpuSet::new();
    set.set(processor);
    Ok(sched_setaffinity(None, &set).map_err(std::io::Error::from)?)
}

fn address_of(name: &str) -> Result<[u8; 6], LabError> {
    Ok(Packet::open(name, &PacketConfig::default())?.hardware().0)
}

/// Frames that an interface has received.
fn received(name: &str) -> Result<u64, LabError> {
    let output = Command::new("ip").args(["-j", "-s", "link", "show", "dev", name]).output()?;
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(failed)?;
    rows[0]["stats64"]["rx"]["packets"].as_u64().ok_or_else(|| failed("`ip -j -s link` tells no packets"))
}

fn ip(arguments: &str) -> Result<(), String> {
    command("ip", arguments)
}

fn command(program: &str, arguments: &str) -> Result<(), String> {
    let output = Command::new(program)
        .args(arguments.split(' '))
        .output()
        .map_err(|error| format!("no command `{program}` (Debian package `iproute2`): {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program} {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
