//! Parts of experiments that run in processes of their own: this binary, started again.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::{LabError, experiments, peers};

/// Set in a process that is to play a part: its name. The arguments are the part's own.
const PART: &str = "THROUGHLINE_LAB_PART";

/// A part: takes its arguments, speaks through standard input and output.
type Part = fn(&[String]) -> Result<(), LabError>;

const PARTS: &[(&str, Part)] = &[
    ("dispatch-probe", experiments::dispatch::probe::play),
    ("dispatch-bytes", experiments::dispatch::bytes::play),
    ("filter-probe", experiments::filter::play),
    ("forwarding-probe", experiments::forwarding::probe::play),
    ("hash-cost-probe", experiments::hash_cost::play),
    ("lookup-instructions-probe", experiments::lookup_instructions::play),
    ("paths-probe", experiments::paths::probe::play),
    ("tcp-scale-memory", experiments::tcp_scale::weigh),
    ("tcp-scale-probe", experiments::tcp_scale::play),
    ("bench-server", peers::bench::serve),
    ("bench-client", peers::bench::call),
    ("echo-server", peers::echo::serve),
    ("echo-client", peers::echo::call),
    ("floor-server", peers::floor::serve),
    ("floor-client", peers::floor::call),
];

/// To be called first in `main`: when this process was started to play a part in an experiment, plays it and returns
/// the status to exit with.
pub fn child() -> Option<i32> {
    let name = std::env::var(PART).ok()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = PARTS.iter().find(|(part, _)| *part == name);
    let result = match part {
        Some((_, play)) => play(&arguments),
        None => Err(LabError::Child { who: name.clone(), what: "no such part".to_owned() }),
    };
    if let Err(error) = &result {
        eprintln!("{name}: {error}");
    }
    Some(i32::from(result.is_err()))
}

/// A command that starts this binary again in the part given, behind `prefix` (a tool and its arguments) if any.
pub(crate) fn command(part: &str, prefix: &[&str]) -> io::Result<Command> {
    let own: PathBuf = std::env::current_exe()?;
    let mut command = match prefix {
        [] => Command::new(own),
        [tool, arguments @ ..] => {
            let mut command = Command::new(tool);
            command.args(arguments).arg(own);
            command
        }
    };
    command.env(PART, part);
    Ok(command)
}
