//! `throughline lab`: the papers' claims beside what this system does.

use std::io::{self, ErrorKind, Write};

use clap::Subcommand;
use serde_json::json;
use throughline_lab::{Ended, Experiment, LabError, Options, find, registry};

use crate::failure::{Failure, Result};
use crate::output::{self, Table};

/// List experiments, or run one
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:
  throughline lab list
  throughline lab run dispatch --quick
  throughline lab run priority --plots figures
  throughline lab run dispatch --json > dispatch.jsonl

Exit status: 0, 1 when an experiment failed or nothing of it could be measured, 2 for what makes no sense, 3 when it ran
but does not meet all its targets. With --quick missed targets are told, and the status is 0: the figures of so short a
run are not what the targets are for.")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments, and the claims that each covers
    #[command(after_help = "Examples:
  throughline lab list
  throughline lab list --json")]
    List {
        /// One JSON object per experiment
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment
    ///
    /// Exit status: 0, 1 when it failed or nothing could be measured, 2 for what makes no sense, 3 when it ran but does not
    /// meet all its targets (with --quick that is told only).
    #[command(after_help = "Examples:
  throughline lab run pcb --quick
  throughline lab run collisions --plots figures
  throughline lab run pcb --json > pcb.jsonl")]
    Run {
        /// Its name, one of those that `throughline lab list` shows
        name: String,
        #[command(flatten)]
        options: Options,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    match &arguments.command {
        Command::List { json } => {
            list(*json);
            Ok(())
        }
        Command::Run { name, options } => {
            let experiment = find(name).ok_or_else(|| unknown(name))?;
            match throughline_lab::run(experiment, options) {
                Ok(ended) => judge(name, ended),
                // The reader has seen enough.
                Err(LabError::Output(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
                Err(e) => Err(failed(name, &e)),
            }
        }
    }
}

/// Missed targets are a failure where there is enough to judge by.
fn judge(name: &str, ended: Ended) -> Result {
    let Some(verdict) = ended.verdict() else { return Ok(()) };
    if ended.is_good() {
        let _ = writeln!(io::stderr(), "Note: {verdict}; quick runs are not judged by that");
        return Ok(());
    }
    let next = "see the lines NOT OK of its table of targets, or the rows with \"ok\":false; times want a machine without other work";
    Err(Failure::partly(format!("the experiment {name} ran, but {verdict}")).next(next))
}

fn failed(name: &str, error: &LabError) -> Failure {
    let failure = Failure::new(format!("the experiment {name} did not finish")).because(error);
    match error.next() {
        Some(next) => failure.next(next),
        None => failure,
    }
}

fn list(json: bool) {
    if json {
        let row =
            |e: &dyn Experiment| json!({"name": e.name(), "purpose": e.purpose(), "claims": e.claims()});
        return registry().iter().for_each(|e| output::json_line(&row(*e)));
    }
    let mut table = Table::new(["experiment", "claims", "finds out"]);
    for experiment in registry() {
        let claims = experiment.claims().join(", ");
        table.row([experiment.name().to_owned(), claims, experiment.purpose().to_owned()]);
    }
    table.print();
}

fn unknown(name: &str) -> Failure {
    let names: Vec<_> = registry().iter().map(|e| e.name()).collect();
    Failure::usage(format!("there is no experiment `{name}`"))
        .next(format!("choose one of: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use super::*;

    #[test]
    fn missed_targets_are_the_exit_status() {
        let status = |missed, judged| judge("pcb", Ended { missed, judged }).map_err(Failure::report);
        assert_eq!(status(0, true), Ok(()));
        assert_eq!(status(2, true), Err(ExitCode::from(3)));
        assert_eq!(status(2, false), Ok(()), "quick runs are not judged");
    }
}
