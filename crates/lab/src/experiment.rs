//! What an experiment is, and the list of all.

use std::path::PathBuf;

use crate::{Options, Row, Sink, Table, experiments};

/// An experiment: it takes its options, runs, and hands over rows as they come.
pub trait Experiment: Sync {
    /// The name by which it is asked for.
    fn name(&self) -> &'static str;

    /// What it finds out, in one line.
    fn purpose(&self) -> &'static str;

    /// The papers' claims that it covers.
    fn claims(&self) -> &'static [&'static str];

    /// The options that change something in it, as they are written; `--quick` and `--json` do in all.
    fn uses(&self) -> &'static [&'static str] {
        &[]
    }

    /// Runs it.
    ///
    /// # Errors
    /// What kept it from going on. What the machine lacks for a part of it is a note, not an error. An experiment without
    /// any rows has failed: [`run`](crate::run) makes an error of its notes.
    fn run(&self, options: &Options, sink: &mut dyn Sink) -> Result<(), LabError>;

    /// Its rows as tables for people.
    fn tables(&self, rows: &[Row]) -> Vec<Table>;
}

/// Why an experiment ended early.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The ORB could not be started.
    #[error(transparent)]
    Orb(#[from] throughline::OrbError),
    /// An object adapter refused.
    #[error(transparent)]
    Adapter(#[from] throughline::AdapterError),
    /// A call failed.
    #[error("a call failed: {0}")]
    Call(#[from] throughline::SystemException),
    /// There is no such locator.
    #[error(transparent)]
    Locator(#[from] throughline_demux::ConfigError),
    /// A locator did not take a key.
    #[error(transparent)]
    Insert(#[from] throughline_demux::InsertError),
    /// The system refused something.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Rows or tables could not be written.
    #[error("standard output cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// A figure, or its folder, could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Plots {
        /// The folder or the file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A capture could not be read, or has nothing that is of use.
    #[error("the capture {}: {cause}", path.display())]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: String,
    },
    /// The machine lacks what the whole experiment needs; the text says what.
    #[error("nothing was measured: {0}")]
    Nothing(String),
    /// A process that takes part ended early or said something unexpected.
    #[error("{who}: {what}")]
    Child {
        /// The process.
        who: String,
        /// What happened.
        what: String,
    },
}

impl LabError {
    /// What whoever started the experiment can do about it, where that is known.
    pub fn next(&self) -> Option<&'static str> {
        match self {
            Self::Output(_) => Some("make room where standard output goes, or send it elsewhere"),
            Self::Plots { .. } => Some("name another folder by --plots DIR, one that you may write to"),
            Self::Capture { .. } => {
                Some("pass a file written by tcpdump, Wireshark or the like by --capture FILE")
            }
            Self::Nothing(_) => Some("install what is missing, or choose another of `throughline lab list`"),
            _ => None,
        }
    }
}

/// All experiments.
pub fn registry() -> &'static [&'static dyn Experiment] {
    experiments::ALL
}

/// The experiment of that name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    registry().iter().copied().find(|e| e.name() == name)
}
