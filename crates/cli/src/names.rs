//! `throughline names`: run a name service, or ask one.

mod ask;
mod serve;
mod told;

use clap::Subcommand;

use crate::failure::Result;

/// Run a CORBA name service, or ask one
#[derive(clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Examples:
  throughline names serve --store names.redb
  throughline names new-context bank
  throughline names bind bank/teller.object \"$(cat teller.ior)\"
  throughline names list bank
  throughline names resolve bank/teller.object --service corbaloc::names.example.org/NameService

Names are written as bank/teller.object: components divided by `/`, the kind of a component after a `.`; `\\` before a
`/`, `.` or `\\` that is part of a name.")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Serve(serve::Arguments),
    List(ask::List),
    Resolve(ask::Resolve),
    Bind(ask::Bind),
    Rebind(ask::Rebind),
    Unbind(ask::Unbind),
    NewContext(ask::NewContext),
    Destroy(ask::Destroy),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result {
    match &arguments.command {
        Command::Serve(arguments) => serve::run(arguments),
        Command::List(arguments) => ask::list(arguments),
        Command::Resolve(arguments) => ask::resolve(arguments),
        Command::Bind(arguments) => ask::bind(arguments),
        Command::Rebind(arguments) => ask::rebind(arguments),
        Command::Unbind(arguments) => ask::unbind(arguments),
        Command::NewContext(arguments) => ask::new_context(arguments),
        Command::Destroy(arguments) => ask::destroy(arguments),
    }
}
