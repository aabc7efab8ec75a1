//! The `throughline` command.
#![forbid(unsafe_code)]

mod call;
mod demo;
mod dynamic;
mod failure;
mod forward;
mod idl;
mod ior;
mod lab;
mod log;
mod names;
mod new;
mod output;
mod reference;
mod signals;
mod simulate;
mod statistics;
mod trace;
mod ways;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// CORBA objects in Rust: from the wire to the method in one step.
///
/// Exit status: 0 when all went well, 1 when what was asked for failed, 2 when it was asked for wrongly, 3 when part of it was
/// done and 4 when an object raised an exception of its own (see the commands that say so).
#[derive(Parser)]
#[command(name = "throughline", version, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    log: log::Log,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Call(call::Arguments),
    Demo(demo::Arguments),
    #[command(hide = true)]
    DemoServer(demo::serve::Arguments),
    Forward(forward::Arguments),
    Idl(idl::Arguments),
    Ior(ior::Arguments),
    Lab(lab::Arguments),
    Names(names::Arguments),
    New(new::Arguments),
    Simulate(simulate::Arguments),
    Trace(trace::Arguments),
}

/// Counts what each thread allocates: experiments tell how much memory objects take.
#[global_allocator]
static ALLOCATOR: throughline_lab::CountingAllocator = throughline_lab::CountingAllocator;

fn main() -> ExitCode {
    signals::keep_ignoring_hangups();
    // Experiments start this program again for parts of themselves.
    if let Some(status) = throughline_lab::child() {
        return ExitCode::from(u8::try_from(status).unwrap_or(1));
    }
    let command = match Arguments::try_parse() {
        Ok(Arguments { log, command }) => {
            log.begin();
            command
        }
        Err(other) => return instead(&other),
    };
    let result = match command {
        Command::Call(arguments) => call::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::DemoServer(arguments) => demo::serve::run(&arguments),
        Command::Forward(arguments) => forward::run(&arguments),
        Command::Idl(arguments) => idl::run(&arguments),
        Command::Ior(arguments) => ior::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::Names(arguments) => names::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn instead(told: &clap::Error) -> ExitCode {
    let printed = told.print();
    if !told.use_stderr() {
        output::written(printed);
    }
    ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2))
}
