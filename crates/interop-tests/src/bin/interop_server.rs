//! Serves `Interop::Suite`, as omniORB's program of the same name does.
//!
//!     interop_server [--listen ADDRESS]... [--max-version 1.N] [--objects STRATEGY] [--operations STRATEGY]
//!                    [--spin MICROSECONDS] [--tap NAME=ADDRESS/LENGTH]
//!
//! Prints the suite's reference on one line; it is also served under the plain key `suite`, and a `Bench::Target` under
//! `bench`. Ends when standard input does. ADDRESS is such as `127.0.0.1:0` (the default), `[::1]:0` or `unix:/path`.
//! With `--tap`, TCP to and at that address is this process's own, on a TAP interface.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use throughline::{AdapterConfig, Orb, OrbConfig, Strategy, Wait};
use throughline_interop_tests::bench::TargetSkeleton;
use throughline_interop_tests::bench_target::Bench;
use throughline_interop_tests::suite::SuiteServant;
use throughline_interop_tests::{tap, version};

fn main() -> Result<(), Box<dyn Error>> {
    let (config, objects) = configuration(std::env::args().skip(1))?;
    let orb = Orb::start(config)?;
    let suite = SuiteServant::activate(&orb, objects)?;
    orb.root().activate_with_id("bench", TargetSkeleton(Bench::default()))?;
    writeln!(io::stdout(), "{}", throughline::ObjectRef::from(suite))?;
    io::stdout().flush()?;

    io::stdin().read_to_end(&mut Vec::new())?;
    orb.shutdown(Duration::from_secs(2));
    Ok(())
}

fn configuration(
    mut words: impl Iterator<Item = String>,
) -> Result<(OrbConfig, AdapterConfig), Box<dyn Error>> {
    let mut config = OrbConfig::default();
    let mut objects = AdapterConfig::default();
    while let Some(option) = words.next() {
        let value = words.next().ok_or_else(|| format!("{option} has no value"))?;
        match option.as_str() {
            "--listen" => config.listen.push(value.parse()?),
            "--max-version" => config.max_version = version(&value)?,
            "--objects" => objects.objects = value.parse::<Strategy>()?,
            "--operations" => {
                objects.operations = value.parse::<Strategy>()?;
                config.root.operations = objects.operations;
            }
            "--tap" => config.network = Some(tap::network(&value)?),
            "--spin" => config.wait = Wait::Spin(Duration::from_micros(value.parse()?)),
            _ => return Err(format!("{option} is no option").into()),
        }
    }
    if config.listen.is_empty() {
        config.listen.push("127.0.0.1:0".parse()?);
    }
    Ok((config, objects))
}
