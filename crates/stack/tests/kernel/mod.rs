//! The kernel on the other end of a device, in a network namespace of the test's own.
#![allow(dead_code, reason = "each test program uses some of it")]

pub mod host;
pub mod tcp;

use std::io::{self, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use throughline_stack::{Device, Pool};

use self::host::Host;

/// The kernel's address, on a network of 24 bits.
pub const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// Ours.
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// The kernel's address, on a network of 64 bits.
pub const KERNEL6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
/// Ours.
pub const OURS6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a test on a thread with a network namespace of its own, which ends with the thread and takes all its interfaces with
/// it. Where that is not allowed, this is said aloud.
pub fn in_namespace(test: impl FnOnce() + Send + 'static) {
    let thread = thread::spawn(|| {
        // SAFETY: the namespace of this thread alone is changed, and it has no descriptor of the former one.
        if let Err(error) = unsafe { unshare_unsafe(UnshareFlags::NEWNET) } {
            return skipped(&format!("no network namespace ({error}); root has them"));
        }
        if Command::new("ip").arg("-V").output().is_err() {
            return skipped("no command `ip` (Debian package `iproute2`)");
        }
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Says why a test is not made; straight to stderr, where the test harness does not swallow it.
pub fn skipped(why: &str) {
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
}

/// Runs `ip` in the thread's namespace.
pub fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// Has the kernel say nothing by IPv6 on its own; it may be unable to anyway.
pub fn without_ipv6(name: &str) {
    let _ = Command::new("ip").args(["link", "set", name, "addrgenmode", "none"]).output().unwrap();
}

/// Gives the kernel an address of each version of IP. Whether it has IPv6; if not, this is said aloud.
pub fn addresses(name: &str) -> bool {
    ip(&format!("addr add {KERNEL}/24 dev {name}"));
    let arguments = format!("-6 addr add {KERNEL6}/64 dev {name} nodad");
    let has = Command::new("ip").args(arguments.split(' ')).output().unwrap().status.success();
    if !has {
        skipped("no IPv6 in this kernel");
    }
    has
}

/// Works until `done`, and panics when that takes too long.
pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::yield_now();
    }
}

/// Lets the host answer all frames that have arrived.
pub fn answer(device: &mut dyn Device, host: &mut Host, pool: &mut Pool) {
    while let Some(frame) = device.receive(pool).unwrap() {
        if let Some(answer) = host.answer(frame.bytes()) {
            let mut message = pool.take();
            message.append(&answer).unwrap();
            device.send(message, pool).unwrap();
        }
        pool.give(frame);
    }
    device.flush().unwrap();
}

/// What every device that ends at the kernel must do.
pub fn conformance(device: &mut dyn Device) {
    let mut host = Host::new(OURS, device.hardware());
    let mut pool = Pool::new(2048, 32, 256);
    assert!(device.receive(&mut Pool::new(2048, 32, 1)).is_ok());
    kernel_pings_us(device, &mut host, &mut pool);
    we_ping_the_kernel(device, &mut host, &mut pool);
    datagrams_of_all_lengths(device, &mut host, &mut pool);
    too_large_for_the_pool(device, &mut host);
    too_large_for_the_wire(device, &mut pool);
    assert_eq!(host.wrong, 0, "frames with wrong checksums");
}

fn kernel_pings_us(device: &mut dyn Device, host: &mut Host, pool: &mut Pool) {
    let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP)).unwrap();
    let request = host::echo(true, 77, 5, b"from the kernel");
    sendto(&raw, &request, SendFlags::empty(), &SocketAddr::from((OURS, 0))).unwrap();
    let mut reply = [0; 256];
    let mut came = 0;
    until("no reply from our host", || {
        answer(device, host, pool);
        came = recv(&raw, &mut reply, RecvFlags::DONTWAIT).map_or(0, |(_, came)| came);
        came > 0
    });
    assert_eq!(reply[20..came], host::echo(false, 77, 5, b"from the kernel"));
}

fn we_ping_the_kernel(device: &mut dyn Device, host: &mut Host, pool: &mut Pool) {
    for frame in [host.who_has(KERNEL), host.ping(KERNEL, b"from us")] {
        until("the kernel does not answer", || {
            let mut message = pool.take();
            message.append(&frame).unwrap();
            device.send(message, pool).unwrap();
            device.flush().unwrap();
            thread::sleep(Duration::from_millis(5));
            answer(device, host, pool);
            host.kernel.is_some() && (frame.len() < 48 || host.replies > 0)
        });
    }
}

/// From none to all that fits, and they come back; the host has looked at their checksums.
fn datagrams_of_all_lengths(device: &mut dyn Device, host: &mut Host, pool: &mut Pool) {
    let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
    socket.connect((OURS, 7)).unwrap();
    socket.set_nonblocking(true).unwrap();
    let data: Vec<u8> = (0..=255).cycle().take(2000).collect();
    for len in (0..64).chain([1399, 1400, 1471, device.mtu() - 28]) {
        socket.send(&data[..len]).unwrap();
        let mut echo = [0; 2000];
        until(&format!("no echo of {len} bytes"), || {
            answer(device, host, pool);
            matches!(socket.recv(&mut echo), Ok(came) if came == len)
        });
        assert_eq!(echo[..len], data[..len]);
    }
}

fn too_large_for_the_pool(device: &mut dyn Device, host: &mut Host) {
    let before = device.counts().oversized;
    let socket = UdpSocket::bind((KERNEL, 0)).unwrap();
    let mut small = Pool::new(256, 32, 16);
    for len in [1000, 300, 20] {
        socket.send_to(&vec![1; len], (OURS, 7)).unwrap();
    }
    let mut echo = [0; 64];
    socket.set_nonblocking(true).unwrap();
    until("no echo of what fits", || {
        answer(device, host, &mut small);
        socket.recv(&mut echo).is_ok_and(|came| came == 20)
    });
    assert_eq!(device.counts().oversized - before, 2);
}

fn too_large_for_the_wire(device: &mut dyn Device, pool: &mut Pool) {
    let mut message = pool.take();
    message.append(&vec![0; device.mtu() + 15]).unwrap();
    let (message, error) = device.send(message, pool).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
    pool.give(message);
}
