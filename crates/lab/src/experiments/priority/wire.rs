//! What lies between the two hosts: memory, or a pair of virtual Ethernet interfaces.

use std::process::Command;
use std::thread;

use rustix::thread::{UnshareFlags, unshare_unsafe};
use throughline_stack::smoltcp::wire::EthernetAddress;
use throughline_stack::{Packet, PacketConfig};

use crate::LabError;

/// The interfaces' names, in a network namespace of their own.
const NAMES: [&str; 2] = ["tlp0", "tlp1"];

/// Both ends of the pair that [`in_namespace`] made, with addresses of their own: the kernel's IP is not to look at packets that
/// are none of its business.
pub(crate) fn veth() -> Result<[Packet; 2], LabError> {
    let open = |name, last| {
        let hardware = Some(EthernetAddress([2, 0, 0, 0, 0, last]));
        Packet::open(name, &PacketConfig { hardware, ..PacketConfig::default() })
    };
    Ok([open(NAMES[0], 1)?, open(NAMES[1], 2)?])
}

/// Runs something on a thread whose network namespace has a pair of interfaces and nothing else, and which ends with it. The
/// text says what is missing where that can't be done.
pub(crate) fn in_namespace<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // SAFETY: the namespace of this thread alone is changed, and it has no descriptor of the former one.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
                .map_err(|error| format!("no network namespace ({error}); root has them"))?;
            let [one, other] = NAMES;
            ip(&["link", "add", one, "type", "veth", "peer", "name", other])?;
            for name in NAMES {
                // The kernel may be unable to speak IPv6 anyway.
                let _ = ip(&["link", "set", name, "addrgenmode", "none"]);
                ip(&["link", "set", name, "up"])?;
            }
            Ok(work())
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn ip(arguments: &[&str]) -> Result<(), String> {
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|error| format!("no command `ip` (Debian package `iproute2`): {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {}: {}", arguments.join(" "), said.trim()))
}
