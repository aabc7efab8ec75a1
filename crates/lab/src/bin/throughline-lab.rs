//! The experiments alone, without the rest of the command: for work on them.

use std::process::exit;

use clap::Parser;
use throughline_lab::{CountingAllocator, Options, find, registry, run};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Runs experiments
#[derive(Parser)]
struct Arguments {
    /// Which one; without a name they are listed
    name: Option<String>,
    #[command(flatten)]
    options: Options,
}

fn main() {
    if let Some(status) = throughline_lab::child() {
        exit(status);
    }
    let arguments = Arguments::parse();
    let Some(name) = arguments.name else {
        for experiment in registry() {
            println!(
                "{:12} {} ({})",
                experiment.name(),
                experiment.purpose(),
                experiment.claims().join(", ")
            );
        }
        return;
    };
    let result = match find(&name) {
        Some(experiment) => run(experiment, &arguments.options),
        None => {
            eprintln!("no experiment `{name}`");
            exit(2);
        }
    };
    if let Err(error) = result {
        eprintln!("{name}: {error}");
        exit(1);
    }
}
