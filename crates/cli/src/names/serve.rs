//! `throughline names serve`.

use std::net::Ipv6Addr;
use std::path::PathBuf;

use throughline::{Address, Orb, OrbConfig, OrbError, TypedReference};
use throughline_naming::{NameServer, NamingConfig, NamingError, ROOT_KEY};

use crate::failure::{Failure, Result};
use crate::output;
use crate::signals;

/// Serve names until ctrl-c
///
/// Any CORBA client can use it; those of this ORB on the same machine take shared memory, if they have the reference that
/// --write keeps, as a corbaloc tells of IIOP only. Without --store, names last as long as the process; with it they are on the disk before
/// a client is told that they are bound.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline names serve
  throughline names serve --write names.ior                     # until ctrl-c; beside it:
  throughline names list --service @names.ior --verbose
  throughline names serve --listen 0.0.0.0:2809 --publish names.example.org --store /var/lib/names.redb")]
pub struct Arguments {
    /// Where to listen: host:port, `[ipv6]:port`, unix:/path, shm: or udp://host:port; may be repeated
    #[arg(long, value_name = "ADDR", default_values = ["127.0.0.1:2809", "shm:"])]
    listen: Vec<Address>,
    /// The host name or address that references give
    #[arg(long, value_name = "HOST", value_parser = host)]
    publish: Option<String>,
    /// The file that keeps the names; made if it is not there
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Write the reference to a file
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

/// A host as references give it: without brackets, and without a port, which every address has of its own.
fn host(text: &str) -> std::result::Result<String, String> {
    let host = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_v6 =
        |text: &str| text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !":/,@#[]".contains(c);
    match host.unwrap_or(text) {
        address if is_v6(address) => Ok(address.to_owned()),
        name if host.is_none() && !name.is_empty() && name.chars().all(plain) => Ok(name.to_owned()),
        _ => Err("no host name or address".to_owned()),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let config = OrbConfig {
        listen: arguments.listen.clone(),
        publish_host: arguments.publish.clone(),
        // Names and references are small.
        max_message: 4 * 1024 * 1024,
        ..OrbConfig::default()
    };
    let orb = Orb::start(config).map_err(not_started)?;
    let config = NamingConfig { store: arguments.store.clone(), ..NamingConfig::default() };
    let server = NameServer::start(&orb, config).map_err(no_names)?;
    let reference = server.root().as_object().to_string();
    if let Some(file) = &arguments.write {
        std::fs::write(file, format!("{reference}\n")).map_err(|e| {
            Failure::new(format!("cannot write {}", file.display()))
                .because(e)
                .next("choose another file with --write")
        })?;
    }
    for address in orb.addresses() {
        let text = match address {
            Address::Tcp { host, port } if host.contains(':') => {
                format!("corbaloc::1.2@[{host}]:{port}/{ROOT_KEY}")
            }
            Address::Tcp { host, port } => format!("corbaloc::1.2@{host}:{port}/{ROOT_KEY}"),
            Address::Unix(path) if !path.to_string_lossy().contains([':', ',']) => {
                format!("corbaloc:omniunix:{}:/{ROOT_KEY}", path.display())
            }
            // There is no short form, or none that could be read again; the reference printed below has it.
            _ => continue,
        };
        output::line(&text);
    }
    output::line(&reference);
    signals::serve_until_told(&orb)
}

fn not_started(error: OrbError) -> Failure {
    let next = match &error {
        OrbError::Listen { .. } => "choose another address with --listen, or stop what uses this one",
        _ => "see what the system says",
    };
    Failure::new("the name service cannot be started").because(error).next(next)
}

fn no_names(error: NamingError) -> Failure {
    Failure::new("the name service cannot be started")
        .because(error)
        .next("check that the file is a store of this program, writable, and not in use by another process")
}
