//! The ways in which words go there and back, and the processes that take part.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use throughline_lab::peers::{Cores, Peer, part};

use crate::{Failure, exchange, iceoryx, parts};

/// Bytes there, and back.
pub const SIZES: [u32; 4] = [4, 256, 8_192, 65_536];
/// Calls under way at a time, where throughput is measured.
pub const MANY: u32 = 64;

/// How both ends wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Poll,
    /// Look for a while, then sleep, as is our default.
    Adapt,
    Block,
}

impl Wait {
    pub fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Adapt => "adapt",
            Self::Block => "block",
        }
    }
}

/// Whose programs take part, and over what.
#[derive(Clone, Copy)]
enum Peers {
    Line,
    Exchange,
    /// The lab's, for bytes without objects.
    Bare(&'static str),
    /// Our ORB, listening there.
    Ours(&'static str),
    /// The same by shared memory, where both sides promise that the other can be trusted with its memory.
    Trusting,
    Iceoryx,
    /// omniORB, listening there.
    Omni(&'static str),
}

/// One way.
#[derive(Clone, Copy)]
pub struct Way {
    pub name: &'static str,
    pub wait: Wait,
    /// Calls under way at a time: 1, or [`MANY`].
    pub outstanding: u32,
    /// The longest message it takes.
    longest: u32,
    peers: Peers,
    op: &'static str,
}

const fn alone(name: &'static str, wait: Wait, peers: Peers) -> Way {
    Way { name, wait, outstanding: 1, longest: u32::MAX, peers, op: "echo" }
}

const fn many(name: &'static str, wait: Wait, peers: Peers, op: &'static str) -> Way {
    Way { name, wait, outstanding: MANY, longest: 4, peers, op }
}

pub const LINE: &str = "cache line";
pub const EXCHANGE: &str = "plain copies";
pub const RING: &str = "ring";
pub const SHM: &str = "call, shm";
pub const UDP: &str = "call, UDP";
pub const BARE_UDP: &str = "UDP";
pub const ICEORYX: &str = "iceoryx2";
pub const OMNI_TCP: &str = "omniORB, TCP";
pub const SHM_TRUSTING: &str = "call, shm, trusting";
pub const SHM_MOVE: &str = "call, shm, as a sequence";
pub const SHM_FUTURES: &str = "call, shm, futures";

use Wait::{Adapt, Block, Poll};

const TCP: &str = "iiop://127.0.0.1:0";

/// All of them, in the order of the table.
pub const ALL: [Way; 29] = [
    Way { longest: 4, ..alone(LINE, Poll, Peers::Line) },
    Way { longest: exchange::LONGEST as u32, ..alone(EXCHANGE, Poll, Peers::Exchange) },
    alone(RING, Poll, Peers::Bare("floor")),
    alone("VI, shm", Poll, Peers::Bare("shm")),
    alone(SHM, Poll, Peers::Ours("shm:")),
    alone(SHM_TRUSTING, Poll, Peers::Trusting),
    Way { longest: 4, op: "move", ..alone(SHM_MOVE, Poll, Peers::Ours("shm:")) },
    alone(ICEORYX, Poll, Peers::Iceoryx),
    // A datagram has room for 65,507 bytes.
    Way { longest: 65_507, ..alone(BARE_UDP, Poll, Peers::Bare("udp")) },
    alone(UDP, Poll, Peers::Ours("udp://127.0.0.1:0")),
    alone("call, Unix socket", Poll, Peers::Ours("unix:")),
    alone("call, TCP", Poll, Peers::Ours(TCP)),
    alone(SHM, Adapt, Peers::Ours("shm:")),
    alone("call, TCP", Adapt, Peers::Ours(TCP)),
    alone(RING, Block, Peers::Bare("floor")),
    alone(SHM, Block, Peers::Ours("shm:")),
    alone(ICEORYX, Block, Peers::Iceoryx),
    alone("call, Unix socket", Block, Peers::Ours("unix:")),
    alone("omniORB, Unix socket", Block, Peers::Omni("giop:unix:")),
    alone("call, TCP", Block, Peers::Ours(TCP)),
    alone(OMNI_TCP, Block, Peers::Omni("giop:tcp:127.0.0.1:")),
    many(RING, Poll, Peers::Bare("floor"), "pipe"),
    many(ICEORYX, Poll, Peers::Iceoryx, "pipe"),
    many(SHM_FUTURES, Poll, Peers::Ours("shm:"), "ping-begun"),
    many("call, shm, threads", Block, Peers::Ours("shm:"), "ping"),
    many("call, TCP, futures", Adapt, Peers::Ours(TCP), "ping-begun"),
    many("call, TCP, threads", Block, Peers::Ours(TCP), "ping"),
    many("omniORB, Unix socket, threads", Block, Peers::Omni("giop:unix:"), "ping"),
    many("omniORB, TCP, threads", Block, Peers::Omni("giop:tcp:127.0.0.1:"), "ping"),
];

/// A server and its client, while they live.
pub struct Pair {
    pub client: Peer,
    server: Peer,
    _scratch: Scratch,
}

/// What a server may leave behind, removed in the end: the file of a Unix socket, or iceoryx2's.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        if let Err(error) = iceoryx::clean(&self.0) {
            eprintln!("{}: {error}", self.0.display());
        }
    }
}

impl Way {
    pub fn takes(&self, bytes: u32) -> bool {
        bytes <= self.longest
    }

    pub fn full_name(&self) -> String {
        let many =
            if self.outstanding > 1 { format!(", {} outstanding", self.outstanding) } else { String::new() };
        format!("{}, {}{many}", self.name, self.wait.name())
    }

    /// What the client is asked for: four bytes are a number, more are a sequence of them.
    pub fn op(&self, bytes: u32) -> &'static str {
        let objects = matches!(self.peers, Peers::Ours(_) | Peers::Trusting | Peers::Omni(_));
        if objects && self.op == "echo" && bytes > 4 { "move" } else { self.op }
    }

    /// Starts both processes.
    pub fn start(&self, on_server: Cores, on_client: Cores) -> Result<Pair, Failure> {
        let scratch = Scratch(std::env::temp_dir().join(format!("calls-bench-{}", std::process::id())));
        let mut server = Peer::start("server", self.server(&scratch.0)?, on_server)?;
        let client = Peer::start("client", self.client(&server.line()?)?, on_client)?;
        Ok(Pair { client, server, _scratch: scratch })
    }

    fn server(&self, scratch: &Path) -> Result<Command, Failure> {
        Ok(match self.peers {
            Peers::Line => parts::command("line-server")?,
            Peers::Exchange => parts::command("exchange-server")?,
            Peers::Bare(transport) => with(part("echo-server")?, &[transport, self.wait.name()]),
            Peers::Ours(address) => {
                let address = with_path(address, scratch);
                with(part("bench-server")?, &["1", self.orb_wait(true), &address])
            }
            Peers::Trusting => with(part("bench-server")?, &["1", "trusted", "shm:"]),
            Peers::Iceoryx => {
                let (folder, outstanding) = (scratch.display().to_string(), self.outstanding.to_string());
                with(parts::command("iceoryx-server")?, &[&folder, self.wait.name(), &outstanding])
            }
            Peers::Omni(address) => {
                with(omni("bench_server")?, &["-ORBendPoint", &with_path(address, scratch)])
            }
        })
    }

    fn client(&self, address_of: &str) -> Result<Command, Failure> {
        Ok(match self.peers {
            Peers::Line => with(parts::command("line-client")?, &[address_of]),
            Peers::Exchange => with(parts::command("exchange-client")?, &[address_of]),
            Peers::Bare(transport) => with(part("echo-client")?, &[transport, self.wait.name(), address_of]),
            Peers::Ours(_) => with(part("bench-client")?, &[address_of, "1", self.orb_wait(false)]),
            Peers::Trusting => with(part("bench-client")?, &[address_of, "1", "trusted"]),
            Peers::Iceoryx => {
                let outstanding = self.outstanding.to_string();
                with(parts::command("iceoryx-client")?, &[address_of, self.wait.name(), &outstanding])
            }
            Peers::Omni(address) => {
                // One for each thread is fastest, but not all get through to a Unix socket; five is omniORB's default.
                let connections = if address.ends_with("unix:") { "5" } else { "64" };
                let most = "-ORBmaxGIOPConnectionPerServer";
                with(omni("bench_client")?, &[most, connections, address_of, "--rounds"])
            }
        })
    }

    /// As the lab's programs call it. A server with many callers polls all the same.
    fn orb_wait(&self, server: bool) -> &'static str {
        match self.wait {
            Poll => "spin",
            _ if server && self.outstanding > 1 => "spin",
            wait => wait.name(),
        }
    }
}

impl Pair {
    /// Ends both in order, so that neither disturbs what comes next.
    pub fn end(self) -> Result<(), Failure> {
        self.server.end()?;
        self.client.end()?;
        Ok(())
    }
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}

/// A Unix socket needs a file.
fn with_path(address: &str, path: &Path) -> String {
    if address.ends_with("unix:") { format!("{address}{}", path.display()) } else { address.to_owned() }
}

fn omni(program: &str) -> Result<Command, Failure> {
    let built = option_env!("OMNIORB_PEERS").ok_or("omniORB was missing when this was built")?;
    Ok(Command::new(Path::new(built).join(program)))
}
