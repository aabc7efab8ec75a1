//! The peers: ours, and omniORB's where it can be built.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::peers::{Cores, Peer};
use crate::{LabError, Options, children};

/// Whose program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    Omniorb,
}

impl Side {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Omniorb => "omniorb",
        }
    }
}

/// Where omniORB's programs are.
#[derive(Clone, Debug)]
pub(super) struct Programs(PathBuf);

/// Builds omniORB's programs, or says what is missing.
pub(super) fn build(options: &Options) -> Result<Programs, String> {
    let sources = sources(options);
    if !sources.join("Makefile").exists() {
        return Err(format!(
            "no comparison with omniORB: its peers are built from the source checkout's folder `interop`, which is not \
             at {} (give --interop DIR or set THROUGHLINE_INTEROP)",
            sources.display()
        ));
    }
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let out = own.parent().unwrap_or(Path::new(".")).join("omniorb-peers");
    let made = Command::new("make")
        .arg("-C")
        .arg(&sources)
        .arg(format!("OUT={}", out.display()))
        .arg("bench")
        .output();
    match made {
        Ok(output) if output.status.success() => Ok(Programs(out)),
        Ok(output) => Err(format!(
            "no comparison with omniORB: its peers were not built; install Debian's g++, make, omniidl and \
             libomniorb4-dev ({})",
            String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default()
        )),
        Err(_) => {
            Err("no comparison with omniORB: install Debian's make, g++, omniidl and libomniorb4-dev"
                .to_owned())
        }
    }
}

fn sources(options: &Options) -> PathBuf {
    let given =
        options.interop.clone().or_else(|| std::env::var_os("THROUGHLINE_INTEROP").map(PathBuf::from));
    given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../interop"))
}

/// How processes are started.
#[derive(Clone, Copy, Debug)]
pub(super) struct How<'a> {
    pub(super) theirs: Option<&'a Programs>,
    /// `block` or `spin`; omniORB's always block.
    pub(super) wait: &'static str,
    /// A tool and its arguments in front of the command.
    pub(super) prefix: &'a [&'a str],
}

impl How<'_> {
    fn command(&self, side: Side, program: &str) -> Result<Command, LabError> {
        if side == Side::Ours {
            return Ok(children::command(&program.replace('_', "-"), self.prefix)?);
        }
        let missing = || crate::peers::failure(program, "omniORB's programs are not built");
        let path = self.theirs.ok_or_else(missing)?.0.join(program);
        let mut command = match self.prefix {
            [] => Command::new(path),
            [tool, arguments @ ..] => {
                let mut command = Command::new(tool);
                command.args(arguments).arg(path);
                command
            }
        };
        command.stderr(Stdio::inherit());
        Ok(command)
    }

    /// Starts a server of one object; returns its reference too.
    pub(super) fn server(&self, side: Side, cores: Cores) -> Result<(Peer, String), LabError> {
        let mut command = self.command(side, "bench_server")?;
        if side == Side::Ours {
            command.args(["1", self.wait]);
        }
        let mut peer = Peer::start(&format!("{}'s server", side.name()), command, cores)?;
        let reference = peer.line()?;
        Ok((peer, reference))
    }

    /// Starts a client that takes rounds.
    pub(super) fn client(
        &self,
        side: Side,
        reference: &str,
        connections: u32,
        cores: Cores,
    ) -> Result<Peer, LabError> {
        let mut command = self.command(side, "bench_client")?;
        match side {
            Side::Ours => command.args([reference, &connections.to_string(), self.wait]),
            Side::Omniorb => {
                let most = connections.to_string();
                command.args(["-ORBmaxGIOPConnectionPerServer", &most, reference, "--rounds"])
            }
        };
        Peer::start(&format!("{}'s client", side.name()), command, cores)
    }
}
