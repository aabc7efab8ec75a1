//! Where rows go: lines of JSON, tables on a screen, or a test.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::{Experiment, LabError, Options, Row};

/// Takes what an experiment has to say.
pub trait Sink {
    /// A result.
    ///
    /// # Errors
    /// When it cannot be written.
    fn row(&mut self, row: Row) -> Result<(), LabError>;

    /// Something the reader must know, such as a part left out for lack of a tool.
    fn note(&mut self, text: &str);

    /// `steps` more steps lie ahead.
    fn ahead(&mut self, steps: u64) {
        let _ = steps;
    }

    /// The next step begins: `what` is done now.
    fn step(&mut self, what: &str) {
        let _ = what;
    }
}

/// Runs an experiment as the options say: rows or tables go to standard output, progress and notes to standard error.
///
/// # Errors
/// As [`Experiment::run`].
pub fn run(experiment: &dyn Experiment, options: &Options) -> Result<(), LabError> {
    if options.json {
        return experiment.run(options, &mut JsonLines(io::stdout().lock()));
    }
    let mut screen = Screen::new();
    let result = experiment.run(options, &mut screen);
    screen.bar.finish_and_clear();
    let mut out = io::stdout().lock();
    for table in experiment.tables(&screen.rows) {
        writeln!(out, "{table}")?;
    }
    for note in &screen.notes {
        writeln!(out, "Note: {note}")?;
    }
    result
}

/// One line of JSON per row; notes to standard error.
#[derive(Debug)]
pub struct JsonLines<W>(pub W);

impl<W: Write> Sink for JsonLines<W> {
    fn row(&mut self, row: Row) -> Result<(), LabError> {
        writeln!(self.0, "{row}")?;
        Ok(self.0.flush()?)
    }

    fn note(&mut self, text: &str) {
        eprintln!("Note: {text}");
    }
}

/// Keeps rows for the tables and shows how far the run has come.
#[derive(Debug)]
pub struct Screen {
    rows: Vec<Row>,
    notes: Vec<String>,
    bar: ProgressBar,
}

impl Screen {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { rows: Vec::new(), notes: Vec::new(), bar }
    }
}

impl Sink for Screen {
    fn row(&mut self, row: Row) -> Result<(), LabError> {
        self.rows.push(row);
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    fn ahead(&mut self, steps: u64) {
        self.bar.inc_length(steps);
    }

    fn step(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.inc(1);
    }
}

/// Keeps everything.
#[derive(Debug, Default)]
pub struct Collected {
    /// The rows, in the order of their coming.
    pub rows: Vec<Row>,
    /// The notes.
    pub notes: Vec<String>,
}

impl Sink for Collected {
    fn row(&mut self, row: Row) -> Result<(), LabError> {
        self.rows.push(row);
        Ok(())
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }
}
