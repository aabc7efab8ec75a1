//! Checks an `Interop::Suite`, as omniORB's program of the same name does, with the checks of the same names.
//!
//!     interop_client [--only PREFIX]... [--except PREFIX]... [--listen ADDRESS] [--max-version 1.N]
//!                    [--connections N] [--spin MICROSECONDS] [--priority N] [--latin-peer] [--wide-in-12-only]
//!                    [--tap NAME=ADDRESS/LENGTH] REFERENCE
//!     interop_client --list
//!
//! One line per check: `ok NAME`, `FAIL NAME: why` or `skip NAME: why`; then a line with the three counts. Ends with 0
//! when none failed, 1 when one did, 2 when the suite could not be reached. Every call ends within 20 seconds.
//! With `--tap`, TCP to and at that address is this process's own, on a TAP interface.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use throughline::{Orb, OrbConfig, Priority, Version, Wait, priority};
use throughline_interop_tests::checks::{self, Check, Context, Verdict};
use throughline_interop_tests::interop::SuiteRef;
use throughline_interop_tests::{tap, version};

/// The registry's number.
const UTF8: u32 = 0x0501_0001;

#[derive(Default)]
struct Wanted {
    only: Vec<String>,
    except: Vec<String>,
    list: bool,
    reference: String,
    latin_peer: bool,
    wide_in_12_only: bool,
    priority: Option<Priority>,
    config: OrbConfig,
}

fn main() -> ExitCode {
    match wanted(std::env::args().skip(1)).and_then(run_urgently) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("interop_client: {error}");
            ExitCode::from(2)
        }
    }
}

fn wanted(mut words: impl Iterator<Item = String>) -> Result<Wanted, Box<dyn Error>> {
    let mut wanted = Wanted::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} has no value"));
        match word.as_str() {
            "--only" => wanted.only.push(value()?),
            "--except" => wanted.except.push(value()?),
            "--listen" => wanted.config.listen.push(value()?.parse()?),
            "--max-version" => wanted.config.max_version = version(&value()?)?,
            "--connections" => wanted.config.connections_per_server = value()?.parse()?,
            "--tap" => wanted.config.network = Some(tap::network(&value()?)?),
            "--spin" => wanted.config.wait = Wait::Spin(Duration::from_micros(value()?.parse()?)),
            "--priority" => wanted.priority = Some(Priority::new(value()?.parse()?).ok_or("no priority")?),
            "--latin-peer" => wanted.latin_peer = true,
            "--wide-in-12-only" => wanted.wide_in_12_only = true,
            "--list" => wanted.list = true,
            _ if wanted.reference.is_empty() && !word.starts_with('-') => wanted.reference = word,
            _ => return Err(format!("{word} is no option").into()),
        }
    }
    if wanted.config.listen.is_empty() {
        wanted.config.listen.push("127.0.0.1:0".parse()?);
    }
    wanted.config.call_timeout = Some(Duration::from_secs(20));
    Ok(wanted)
}

/// With the priority that is wanted, as [`run`].
fn run_urgently(wanted: Wanted) -> Result<bool, Box<dyn Error>> {
    match wanted.priority {
        Some(priority) => priority::during(priority, || run(wanted)),
        None => run(wanted),
    }
}

/// Whether no check failed.
fn run(wanted: Wanted) -> Result<bool, Box<dyn Error>> {
    if wanted.list {
        for check in checks::all() {
            writeln!(io::stdout(), "{}", check.name)?;
        }
        return Ok(true);
    }
    let begins = |check: &Check, with: &[String]| with.iter().any(|prefix| check.name.starts_with(prefix));
    let chosen = |check: &&Check| {
        (wanted.only.is_empty() || begins(check, &wanted.only)) && !begins(check, &wanted.except)
    };
    let context = context(&wanted)?;
    let (mut ok, mut failed, mut skipped) = (0, 0, 0);
    for check in checks::all().filter(chosen) {
        let line = match check.run(&context) {
            Verdict::Ok => (ok += 1, format!("ok {}", check.name)).1,
            Verdict::Failed(why) => (failed += 1, format!("FAIL {}: {why}", check.name)).1,
            Verdict::Skipped(why) => (skipped += 1, format!("skip {}: {why}", check.name)).1,
        };
        writeln!(io::stdout(), "{line}")?;
        io::stdout().flush()?;
    }
    writeln!(io::stdout(), "{ok} ok, {failed} failed, {skipped} skipped")?;
    context.orb.shutdown(Duration::from_secs(2));
    Ok(failed == 0 && ok > 0)
}

fn context(wanted: &Wanted) -> Result<Context, Box<dyn Error>> {
    let orb = Orb::start(wanted.config.clone())?;
    let object = orb.string_to_object(&wanted.reference)?;
    let profile = object.ior().iiop_profiles().next().ok_or("the reference has no IIOP profile")??;
    let version = profile.version.min(wanted.config.max_version);
    let offered = profile.code_sets().transpose()?.filter(|_| version > Version::V1_0);
    Ok(Context {
        suite: SuiteRef::narrow(&object)?.ok_or("not an Interop::Suite")?,
        orb,
        version,
        negotiated: offered.as_ref().is_some_and(|offered| offered.for_char.supports(UTF8)),
        wide: offered.is_some(),
        latin_peer: wanted.latin_peer,
        wide_in_12_only: wanted.wide_in_12_only,
    })
}
