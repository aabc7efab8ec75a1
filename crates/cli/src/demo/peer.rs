//! The server process, as the client has it.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use throughline::{Address, Orb, OrbConfig};

use super::idl::bank::OfficeRef;
use super::idl::lookup::ShowroomRef;
use crate::failure::{Failure, Result};

/// The server, and what a client needs of it. The process ends with this.
pub struct Peer {
    child: Child,
    /// The server ends when this is closed.
    input: Option<ChildStdin>,
    pub office: OfficeRef,
    pub showroom: ShowroomRef,
    /// The client's ORB, which speaks IIOP only.
    pub orb: Orb,
}

impl Peer {
    /// Starts this program again, as the server.
    pub fn start(listen: &Address) -> Result<Self> {
        let program = std::env::current_exe()
            .map_err(|e| Failure::new("cannot find this program to start it again").because(e))?;
        let mut child = Command::new(program)
            .args(["demo-server", "--listen", &listen.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| Failure::new("cannot start the server process").because(e))?;
        let input = child.stdin.take();
        let mut lines = BufReader::new(child.stdout.take().ok_or_else(Failure::told)?).lines();
        // A server that cannot start says why itself.
        let mut line = || lines.next().and_then(std::result::Result::ok).ok_or_else(Failure::told);
        let (office, showroom) = (line()?, line()?);
        let timeout = Some(Duration::from_secs(10));
        let config = OrbConfig { call_timeout: timeout, native: false, ..OrbConfig::default() };
        let orb = Orb::start(config).map_err(|e| Failure::new("cannot start the client's ORB").because(e))?;
        let (office, showroom) = (narrow(&orb, &office)?, narrow(&orb, &showroom)?);
        Ok(Self { child, input, office, showroom, orb })
    }

    /// A further client's ORB, with several connections to the server.
    pub fn wide_orb(&self, connections: usize) -> Result<Orb> {
        let config = OrbConfig { connections_per_server: connections, ..self.orb.config().clone() };
        Orb::start(config).map_err(|e| Failure::new("cannot start an ORB").because(e))
    }

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

fn narrow<R: throughline::TypedReference>(orb: &Orb, text: &str) -> Result<R> {
    let failed = || Failure::new(format!("the server's {} cannot be used", R::REPOSITORY_ID));
    let object = orb.string_to_object(text).map_err(|e| failed().because(e))?;
    object.narrow().map_err(|e| failed().because(e))?.ok_or_else(|| failed().because("it is something else"))
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}
