//! `throughline lab`: the papers' claims beside what this system does.

use std::io::ErrorKind;

use clap::Subcommand;
use serde_json::json;
use throughline_lab::{Experiment, LabError, Options, find, registry};

use crate::failure::{Failure, Result};
use crate::output::{self, Table};

/// List experiments, or run one
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:
  throughline lab list
  throughline lab run dispatch --quick
  throughline lab run priority --plots figures
  throughline lab run dispatch --json > dispatch.jsonl")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the experiments, and the claims that each covers
    List {
        /// One JSON object per experiment
        #[arg(long)]
        json: bool,
    },
    /// Run an experiment
    Run {
        /// Its name
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
                Ok(()) => Ok(()),
                // The reader has seen enough.
                Err(LabError::Io(e)) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
                Err(e) => Err(Failure::new(format!("the experiment {name} did not finish")).because(e)),
            }
        }
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
