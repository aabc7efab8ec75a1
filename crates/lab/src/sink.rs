//! Where rows go: lines of JSON, tables on a screen, or a test.

use std::io::{self, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::{Experiment, LabError, Options, Row, plot};

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
/// As [`Experiment::run`]; and if there was nothing that could be measured.
pub fn run(experiment: &dyn Experiment, options: &Options) -> Result<Ended, LabError> {
    let idle = options.idle(experiment);
    for option in &idle {
        tell(&format!("{option} changes nothing in the experiment {}", experiment.name()));
    }
    if let Some(folder) = options.plots.as_ref().filter(|_| !idle.contains(&"--plots")) {
        plot::prepare(folder)?;
    }
    if options.json {
        return Watched::new(&mut JsonLines(io::stdout().lock())).run(experiment, options);
    }
    let mut screen = Screen::new();
    let result = Watched::new(&mut screen).run(experiment, options);
    screen.bar.finish_and_clear();
    let printed = screen.print(experiment).map_err(LabError::Output);
    let ended = result?;
    printed.map(|()| ended)
}

/// A note to standard error; where that cannot be written, the run goes on without.
fn tell(note: &str) {
    let _ = writeln!(io::stderr(), "Note: {note}");
}

/// How an experiment ended that went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// So many of its rows miss their targets.
    pub missed: usize,
    /// Whether that counts: the few rounds and packets of quick runs are too few to judge by.
    pub judged: bool,
}

impl Ended {
    /// What is to be said of targets that were missed, if any were.
    pub fn verdict(&self) -> Option<String> {
        let targets = if self.missed == 1 { "target is" } else { "targets are" };
        (self.missed > 0).then(|| format!("{} {targets} not met", self.missed))
    }

    /// Whether the experiment showed all that it is to show.
    pub fn is_good(&self) -> bool {
        self.missed == 0 || !self.judged
    }
}

/// Passes everything on, and remembers what the run is judged by.
struct Watched<'s> {
    sink: &'s mut dyn Sink,
    rows: usize,
    missed: usize,
    notes: Vec<String>,
}

impl<'s> Watched<'s> {
    fn new(sink: &'s mut dyn Sink) -> Self {
        Self { sink, rows: 0, missed: 0, notes: Vec::new() }
    }

    fn run(mut self, experiment: &dyn Experiment, options: &Options) -> Result<Ended, LabError> {
        experiment.run(options, &mut self)?;
        if self.rows == 0 {
            return Err(LabError::Nothing(self.notes.join("; ")));
        }
        Ok(Ended { missed: self.missed, judged: !options.quick })
    }
}

impl Sink for Watched<'_> {
    fn row(&mut self, row: Row) -> Result<(), LabError> {
        self.rows += 1;
        self.missed += usize::from(row.get("ok") == Some(&false.into()));
        self.sink.row(row)
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
        self.sink.note(text);
    }

    fn ahead(&mut self, steps: u64) {
        self.sink.ahead(steps);
    }

    fn step(&mut self, what: &str) {
        self.sink.step(what);
    }
}

/// One line of JSON per row; notes to standard error.
#[derive(Debug)]
pub struct JsonLines<W>(pub W);

impl<W: Write> Sink for JsonLines<W> {
    fn row(&mut self, row: Row) -> Result<(), LabError> {
        writeln!(self.0, "{row}").and_then(|()| self.0.flush()).map_err(LabError::Output)
    }

    fn note(&mut self, text: &str) {
        tell(text);
    }
}

/// Keeps rows for the tables and shows how far the run has come.
#[derive(Debug)]
pub struct Screen {
    rows: Vec<Row>,
    notes: Vec<String>,
    bar: ProgressBar,
    /// Whether a step is being done.
    busy: bool,
}

impl Screen {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{elapsed:>4} [{bar:30}] {pos}/{len} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { rows: Vec::new(), notes: Vec::new(), bar, busy: false }
    }

    /// What came, for people.
    fn print(&self, experiment: &dyn Experiment) -> io::Result<()> {
        let mut out = io::stdout().lock();
        let tables = if self.rows.is_empty() { Vec::new() } else { experiment.tables(&self.rows) };
        for table in tables {
            writeln!(out, "{table}")?;
        }
        for note in &self.notes {
            writeln!(out, "Note: {note}")?;
        }
        out.flush()
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
        // What begins is not done: the step before it is.
        self.bar.inc(u64::from(self.busy));
        self.bar.set_message(what.to_owned());
        self.busy = true;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_begins_is_not_done() {
        let mut screen = Screen::new();
        screen.ahead(2);
        let seen = ["first", "second"].map(|what| {
            screen.step(what);
            screen.bar.position()
        });
        assert_eq!(seen, [0, 1]);
    }

    /// What its rows are.
    struct Of(Vec<Row>);

    impl Experiment for Of {
        fn name(&self) -> &'static str {
            "of"
        }

        fn purpose(&self) -> &'static str {
            "what runs are judged by"
        }

        fn claims(&self) -> &'static [&'static str] {
            &[]
        }

        fn run(&self, _options: &Options, sink: &mut dyn Sink) -> Result<(), LabError> {
            sink.note("no valgrind");
            self.0.iter().try_for_each(|row| sink.row(row.clone()))
        }

        fn tables(&self, _rows: &[Row]) -> Vec<crate::Table> {
            Vec::new()
        }
    }

    #[test]
    fn runs_are_judged_by_their_targets() {
        let row = || Row::new("of", "time", "ns", 5.0);
        let run = |rows: Vec<Row>, quick| {
            let mut collected = Collected::default();
            let options = Options { quick, ..Options::default() };
            let ended = Watched::new(&mut collected).run(&Of(rows), &options);
            (ended, collected)
        };
        let (ended, collected) = run(vec![row().at_most(4.0), row().at_most(5.0), row()], false);
        let ended = ended.unwrap();
        assert_eq!((ended.missed, ended.is_good(), collected.rows.len()), (1, false, 3));
        assert_eq!(ended.verdict().unwrap(), "1 target is not met");
        let (ended, _) = run(vec![row().at_most(4.0)], true);
        assert!(ended.unwrap().is_good(), "quick runs are not judged");
        let (nothing, collected) = run(Vec::new(), false);
        assert_eq!(nothing.unwrap_err().to_string(), "nothing was measured: no valgrind");
        assert_eq!(collected.notes, ["no valgrind"]);
    }
}
