//! The ways in which bytes go there and back, and the processes that take part.

use std::path::PathBuf;

use crate::peers::{Cores, Peer};
use crate::{LabError, children};

/// Bytes over the transport alone, over a VI on it, or as an argument of a typed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    Raw,
    /// Told apart from `Raw` only where there is something barer.
    Vi,
    Object,
}

impl Layer {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Vi => "vi",
            Self::Object => "object",
        }
    }
}

/// A transport: as rows name it, what the bare bytes go over, and where an ORB listens whose calls go over it.
struct Transport {
    name: &'static str,
    raw: &'static str,
    vi: Option<&'static str>,
    address: Option<&'static str>,
    /// The longest message that goes over it in one piece, if there is a limit.
    longest: u32,
}

/// What no ORB listens at has no address.
const TRANSPORTS: [Transport; 5] = [
    Transport { name: "floor", raw: "floor", vi: None, address: None, longest: u32::MAX },
    Transport { name: "shm", raw: "shm", vi: None, address: Some("shm:"), longest: u32::MAX },
    Transport { name: "iiop", raw: "tcp", vi: None, address: Some("iiop://127.0.0.1:0"), longest: u32::MAX },
    Transport { name: "unix", raw: "unix", vi: None, address: Some("unix:"), longest: u32::MAX },
    // A datagram of 65,535 bytes less the headers of IP and UDP.
    Transport {
        name: "udp",
        raw: "udp",
        vi: Some("vi-udp"),
        address: Some("udp://127.0.0.1:0"),
        longest: 65_507,
    },
];

/// How both sides wait.
pub(super) const WAITS: [&str; 2] = ["poll", "block"];

/// One way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) transport: &'static str,
    pub(super) layer: Layer,
    pub(super) wait: &'static str,
    raw: &'static str,
    address: Option<&'static str>,
    longest: u32,
}

/// All of them.
pub(super) fn all() -> Vec<Way> {
    let mut ways = Vec::new();
    for (wait, transport) in WAITS.iter().flat_map(|wait| TRANSPORTS.iter().map(move |t| (wait, t))) {
        let Transport { name, raw, vi, address, longest } = *transport;
        let way = |layer, raw, longest| Way { transport: name, layer, wait, raw, address, longest };
        ways.push(way(Layer::Raw, raw, longest));
        ways.extend(vi.map(|vi| way(Layer::Vi, vi, u32::MAX)));
        if address.is_some() {
            ways.push(way(Layer::Object, raw, u32::MAX));
        }
    }
    ways
}

/// A server and its client, while they live.
pub(super) struct Pair {
    pub(super) client: Peer,
    pub(super) op: &'static str,
    server: Peer,
    /// A socket's file, which a server that is ended by force leaves behind.
    file: Option<PathBuf>,
}

impl Way {
    /// Whether it takes messages of that many bytes.
    pub(super) fn takes(&self, bytes: u32) -> bool {
        bytes <= self.longest
    }

    pub(super) fn name(&self) -> String {
        format!("{} {} {}", self.transport, self.layer.name(), self.wait)
    }

    /// Starts both processes.
    pub(super) fn start(&self, server: Cores, client: Cores) -> Result<Pair, LabError> {
        match self.layer {
            Layer::Raw | Layer::Vi => self.start_raw(server, client),
            Layer::Object => self.start_object(server, client),
        }
    }

    fn start_raw(&self, on_server: Cores, on_client: Cores) -> Result<Pair, LabError> {
        let mut command = children::command("echo-server", &[])?;
        command.args([self.raw, self.wait]);
        let mut server = Peer::start("echo-server", command, on_server)?;
        let mut command = children::command("echo-client", &[])?;
        command.args([self.raw, self.wait, &server.line()?]);
        let client = Peer::start("echo-client", command, on_client)?;
        Ok(Pair { client, op: "echo", server, file: None })
    }

    fn start_object(&self, on_server: Cores, on_client: Cores) -> Result<Pair, LabError> {
        let wait = if self.wait == "poll" { "spin" } else { self.wait };
        let mut address = self.address.unwrap_or_default().to_owned();
        let mut file = None;
        if address == "unix:" {
            let path = std::env::temp_dir().join(format!("throughline-lab-{}.socket", std::process::id()));
            address += &path.display().to_string();
            file = Some(path);
        }
        let mut command = children::command("bench-server", &[])?;
        command.args(["1", wait, &address]);
        let mut server = Peer::start("bench-server", command, on_server)?;
        let mut command = children::command("bench-client", &[])?;
        command.args([&server.line()?, "1", wait]);
        let client = Peer::start("bench-client", command, on_client)?;
        Ok(Pair { client, op: "move", server, file })
    }
}

impl Pair {
    /// Ends both, so that neither disturbs what comes next.
    pub(super) fn end(self) {
        let Self { client, server, file, .. } = self;
        // In this order: a server whose client is gone would complain.
        drop(server);
        drop(client);
        file.into_iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
}
