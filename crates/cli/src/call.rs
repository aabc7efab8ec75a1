//! `throughline call`: calls an operation of any object.

mod given;
mod interface;
mod invocation;
mod latency;
mod layout;
mod report;
#[cfg(test)]
mod round_trip;

use std::path::PathBuf;
use std::time::Duration;

use throughline::{Priority, priority};

use self::given::Given;
use self::interface::Interfaces;
use self::invocation::{Ended, Invocation};
use crate::failure::{Failure, Result};
use crate::output;
use crate::reference;
use crate::ways::Ways;

/// Call an operation of any object
///
/// The IDL says what the arguments are; nothing is generated or compiled. Each argument of an in or inout parameter is a JSON
/// value; text, enumerators and references may be given as they are. An attribute is read by its name, and set with one
/// argument. What is printed can be passed on as an argument. _is_a, _non_existent, _repository_id, _interface and _component
/// need no IDL.
///
/// Exit status: 0, 1 when the call failed, 2 when it cannot be made as asked for, 4 when the operation raised one of its
/// exceptions.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  throughline demo --idl > bank.idl; throughline demo --serve        # prints a reference; beside it:
  throughline call REF --idl bank.idl                                # what can be called
  throughline call REF --idl bank.idl find_account 17                # prints the account's reference
  throughline call REF --idl bank.idl accounts
  throughline call REF --idl bank.idl history 2 --json
  throughline call @server.ior --idl shop.idl sell '{\"name\": \"tea\", \"price\": 3}' 10
  throughline call REF --idl bank.idl accounts --count 10000 --transport shm
  throughline call REF --idl bank.idl accounts --priority 10000      # more urgent than calls without
  throughline call corbaloc::localhost:2809/NameService _is_a IDL:omg.org/CosNaming/NamingContext:1.0

Values:
  struct             {\"name\": \"tea\", \"price\": 3}
  union              {\"member\": VALUE}, with \"_d\": DISCRIMINATOR where the member alone does not tell it
  sequence, array    [VALUE, ...]; of octets also \"0x00ff\"
  enum               the enumerator's name
  object reference   its text in any form, or null
  fixed              \"12.50\"
  float, double      a number, or \"NaN\", \"Infinity\", \"-Infinity\"")]
pub struct Arguments {
    /// The object: IOR:, corbaloc: (which leads by IIOP or a Unix socket only), corbaname:, or @FILE for the first
    /// reference in a file
    #[arg(value_name = "REF")]
    reference: String,
    /// The operation or attribute; without one, what can be called is listed
    operation: Option<String>,
    /// The arguments, in the order of the IDL; after -- if one begins with - and is no number
    #[arg(value_name = "ARG", allow_negative_numbers = true)]
    arguments: Vec<String>,
    /// The IDL that defines the interface
    #[arg(long, value_name = "F.idl")]
    idl: Option<PathBuf>,
    /// Search this folder for included files; may be repeated
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Predefine a macro: NAME, which means 1, or NAME=TEXT
    #[arg(short = 'D', value_name = "MACRO")]
    define: Vec<String>,
    /// The interface, if the reference does not tell: Bank::Account, or a repository id
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
    /// Read the arguments from a file, or - for standard input: a JSON array of them, or an object with their names
    #[arg(long, value_name = "FILE", conflicts_with = "arguments")]
    arguments_from: Option<PathBuf>,
    #[command(flatten)]
    ways: Ways,
    /// Seconds that a call may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    timeout: f64,
    /// How urgent the call is: 0 to 32767, as in real-time CORBA. Servers with lanes take urgent calls first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i16).range(0..))]
    priority: Option<i16>,
    /// Call so many times, and tell how long it took
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    count: Option<u32>,
    /// Tell on standard error what was called, and which way
    #[arg(short, long)]
    verbose: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    let timeout = Duration::try_from_secs_f64(arguments.timeout).ok().filter(|it| !it.is_zero());
    let timeout = timeout.ok_or_else(|| {
        let what =
            format!("--timeout wants seconds, more than 0 and less than 2^64, not {}", arguments.timeout);
        Failure::usage(what)
    })?;
    refuse_infinity(arguments)?;
    let given = Given::read(&arguments.arguments, arguments.arguments_from.as_deref())?;
    let interfaces = Interfaces::read(arguments)?;
    let orb = arguments.ways.orb(timeout)?;
    let told = reference::object(&orb, &arguments.reference)?;
    let object = arguments.ways.keep(&told)?;
    let Some(operation) = &arguments.operation else {
        return interfaces.list(arguments.interface.as_deref(), &object, arguments.json);
    };
    let called = interfaces.find(arguments.interface.as_deref(), &object, operation, given.len())?;
    let resolve = |text: &str| match reference::object(&orb, text) {
        Ok(object) => Ok(object.ior().clone()),
        Err(failure) => Err(failure.cause().to_owned()),
    };
    let invocation = Invocation::new(interfaces.types(), called, &given, &resolve)?;
    if arguments.verbose {
        let urgency =
            arguments.priority.map_or(String::new(), |priority| format!(" with priority {priority}"));
        let offered = crate::ways::offered(told.ior());
        output::tell(&format!("calling {}{urgency}; the reference offers {offered}", invocation.about()));
    }
    let call = || match arguments.count {
        None => invocation.call(&object).map(|results| (results, None)),
        Some(count) => {
            latency::calls(&invocation, &object, count).map(|(results, took)| (results, Some(took)))
        }
    };
    let outcome = match arguments.priority.and_then(Priority::new) {
        Some(priority) => priority::during(priority, call),
        None => call(),
    };
    invocation.settle(&object);
    if arguments.verbose
        && let Some(way) = object.way()
    {
        output::tell(&format!("called over {way}"));
    }
    match outcome {
        Ok((results, took)) => {
            report::results(&invocation, &object, results, took.as_ref(), arguments.json);
            Ok(())
        }
        Err(Ended::Raised(raised)) => Err(report::raised(&invocation, &object, &raised, arguments.json)),
        Err(Ended::System(exception)) => {
            Err(report::failed(&invocation, &object, &exception, arguments.json))
        }
    }
}

/// `-Infinity` begins as `-I` does. Without it, an attribute that was to be set would be read.
fn refuse_infinity(arguments: &Arguments) -> Result {
    if arguments.include.iter().all(|dir| dir.as_os_str() != "nfinity") {
        return Ok(());
    }
    Err(Failure::usage("-Infinity is taken for -I with the folder `nfinity`")
        .next("put -- before the arguments; if the folder is meant, write -I ./nfinity"))
}
