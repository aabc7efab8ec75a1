//! `throughline ior`: what is in a reference.

mod describe;
mod names;

pub use describe::{address_text, corbaloc, native_text};

use serde_json::{Value, json};
use throughline::{Ior, Orb, OrbConfig};
use throughline_giop::corbaloc::Corbaloc;
use throughline_giop::corbaname::Corbaname;

use crate::failure::{Failure, Result};
use crate::output::{self, line, one_line};
use crate::reference;
use crate::ways::{self, Tried};

/// Show what is in an object reference
///
/// Reads every textual form: IOR:, corbaloc: and corbaname:. Nobody is asked anything unless --resolve or --ping says so.
///
/// Shared memory and UDP are told of by an IOR only: their servers find objects by a handle, a corbaloc has a key.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline ior IOR:010000001500000049444c3a42616e6b...
  throughline ior corbaloc:iiop:1.2@bank.example.org:2809/NameService
  throughline ior --resolve --json corbaname::localhost#bank/accounts
  throughline ior --ping @teller.ior
  my-server | throughline ior -")]
pub struct Arguments {
    /// The reference, @FILE for the first one in a file, or - for the first one that comes from standard input
    #[arg(value_name = "REF")]
    reference: String,
    /// Ask the name service for the object of a corbaname, and show that object's reference
    #[arg(long)]
    resolve: bool,
    /// Ask the server whether the object exists, by each way that the reference offers
    #[arg(long)]
    ping: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Seconds that --resolve and --ping wait for an answer.
const PATIENCE: u64 = 5;

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let text = match arguments.reference.as_str() {
        "-" => reference::from_standard_input()?,
        text => reference::told(text)?.into_owned(),
    };
    let text = text.trim();
    let read = if arguments.resolve { resolve(text)? } else { read(text)? };
    let ping = if arguments.ping { Some(ping(&read)?) } else { None };
    if arguments.json {
        let mut object = json!({"form": read.form, "name": read.name, "initial_reference": read.initial});
        if let (Some(ior), Value::Object(fields)) = (&read.ior, &mut object) {
            fields.extend(describe::as_json(ior));
        }
        if let Some((exists, ways)) = ping {
            object["exists"] = exists.into();
            let way = |it: &Tried| json!({"address": it.address, "answers": it.answers, "said": it.said});
            object["ways"] = ways.iter().map(way).collect();
        }
        output::json_line(&object);
        return Ok(());
    }
    read.print();
    if let Some((exists, ways)) = ping {
        line(if exists {
            "the server says that the object exists"
        } else {
            "the server says that there is no such object"
        });
        ways.iter().for_each(|way| line(&format!("  {}: {}", way.address, way.said)));
    }
    Ok(())
}

/// A reference as far as its text tells.
struct Read {
    form: &'static str,
    /// None for `rir:`.
    ior: Option<Ior>,
    /// The name after the `#` of a corbaname.
    name: Option<String>,
    /// The name after `rir:`.
    initial: Option<String>,
}

impl Read {
    fn print(&self) {
        if let Some(name) = &self.initial {
            one_line(&format!(
                "the initial reference {name}: every program has its own configuration for it"
            ));
        }
        if let Some(name) = &self.name {
            one_line(&format!("name       {name}"));
            line("in the naming context:");
        }
        if let Some(ior) = &self.ior {
            describe::print(ior);
        }
    }
}

fn read(text: &str) -> Result<Read> {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        Some("ior") => {
            let ior = text.parse::<Ior>().map_err(|e| malformed(text, &e))?;
            Ok(Read { form: "IOR", ior: Some(ior), name: None, initial: None })
        }
        Some("corbaloc") => located("corbaloc", &text.parse().map_err(|e| malformed(text, &e))?),
        Some("corbaname") => {
            let Corbaname { context, name } = text.parse().map_err(|e| malformed(text, &e))?;
            Ok(Read { name: Some(name), ..located("corbaname", &context)? })
        }
        _ => Err(malformed(text, &"it begins with none of IOR:, corbaloc:, corbaname:")),
    }
}

fn located(form: &'static str, location: &Corbaloc) -> Result<Read> {
    let this_host = "this host";
    let ior = location.to_ior(this_host).map_err(|e| malformed(&location.to_string(), &e))?;
    let initial = match location {
        Corbaloc::Rir(name) => Some(name.clone()),
        Corbaloc::Addresses { .. } => None,
    };
    Ok(Read { form, ior, name: None, initial })
}

fn malformed(text: &str, cause: &dyn std::fmt::Display) -> Failure {
    let shown: String = text.chars().take(60).collect();
    let dots = if shown.len() < text.len() { "..." } else { "" };
    Failure::usage(format!("`{shown}{dots}` is not a reference"))
        .because(cause)
        .next("pass the whole text that the server printed, in quotes if it has # or & in it")
}

fn orb() -> Result<Orb> {
    let call_timeout = Some(std::time::Duration::from_secs(PATIENCE));
    // It has no objects of its own.
    Orb::start(OrbConfig { max_objects: 16, call_timeout, ..OrbConfig::default() })
        .map_err(|e| Failure::new("cannot start an ORB").because(e))
}

fn resolve(text: &str) -> Result<Read> {
    let form = read(text)?.form;
    let object = orb()?.string_to_object(text).map_err(|e| {
        let next = "check the address and that the name service runs: throughline names list";
        Failure::new("the reference cannot be resolved").because(e).next(next)
    })?;
    Ok(Read { form, ior: Some(object.ior().clone()), name: None, initial: None })
}

/// Whether the object exists, and what each way led to.
fn ping(read: &Read) -> Result<(bool, Vec<Tried>)> {
    let Some(ior) = read.ior.clone().filter(|_| read.name.is_none()) else {
        return Err(Failure::usage("--ping needs the object's own reference")
            .because("the text names a place where to ask for it")
            .next("add --resolve"));
    };
    let object = orb()?.reference(ior);
    let gone = object.non_existent().map_err(|e| {
        Failure::new("the server does not answer")
            .because(format!("{e}{}", ways::tried(&object)))
            .next("check the address, and that the server runs")
    })?;
    Ok((!gone, ways::each(&object)))
}
