//! What the libraries tell of what they do, on standard error.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Which of it.
#[derive(clap::Args)]
pub struct Log {
    /// What to tell of what goes on, on standard error: a level, or one for each part that is to have its own [off, error, warn,
    /// info, debug, trace; warn,throughline_vi=debug]
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn", value_parser = filter, hide_default_value = true)]
    log: Targets,
}

/// Reads what was asked for: without a level, a part would be told of whatever it is.
fn filter(text: &str) -> Result<Targets, String> {
    let is_level = |text: &str| !text.is_empty() && text.parse::<LevelFilter>().is_ok();
    let unknown = |part: &&str| !is_level(part.rsplit_once('=').map_or(part, |(_, level)| level));
    match text.split(',').find(unknown) {
        Some(part) => Err(format!("`{part}` is no level: off, error, warn, info, debug or trace")),
        None => text.parse().map_err(|error| format!("{error}")),
    }
}

impl Log {
    /// From now on. Where standard error can't be written, nothing is told.
    pub fn begin(self) {
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(io::stderr)
            .with_ansi(false)
            .log_internal_errors(false);
        tracing_subscriber::registry().with(self.log).with(lines).init();
    }
}
