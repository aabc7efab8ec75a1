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
    match result {
        Ok(ended) => {
            if let Some(verdict) = ended.verdict() {
                eprintln!(
                    "{name}: {verdict}{}",
                    if ended.judged { "" } else { " (quick runs are not judged)" }
                );
            }
            exit(if ended.is_good() { 0 } else { 3 });
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            exit(1);
        }
    }
}
