//! What the compiler has to say about its input.

mod json;
mod render;

use std::fmt;

use crate::source::{SourceMap, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// The input is accepted but probably not meant so.
    Warning,
}

impl Severity {
    /// `error` or `warning`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// A stretch of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Path of the file, or the name a `#line` directive gave it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Characters it covers, at least 1, never beyond the end of the line.
    pub width: u32,
}

/// A second place that explains a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What is to be seen there.
    pub message: String,
    /// The place.
    pub location: Location,
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Where; `None` if it is about no place, such as a main file that cannot be read.
    pub location: Option<Location>,
    /// Text under the caret; often empty.
    pub label: String,
    /// Other places that matter, such as a first definition.
    pub notes: Vec<Note>,
    /// What to do about it.
    pub help: Vec<String>,
    /// The `#include` directives that lead to the place, innermost first.
    pub included_from: Vec<Location>,
    plain: String,
    coloured: String,
}

impl Diagnostic {
    /// The message with source line, caret, notes and help, as printed; ends without a newline.
    pub fn render(&self, colour: bool) -> &str {
        if colour { &self.coloured } else { &self.plain }
    }
}

/// All errors and warnings of a run, in reading order of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
    /// Whether the limit cut the list short.
    truncated: bool,
}

impl Diagnostics {
    /// The errors and warnings.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.items.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.items.iter().filter(|it| it.severity == Severity::Error).count()
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.items.len() - self.errors()
    }

    /// Whether there were more errors than [`Options::error_limit`](crate::Options::error_limit).
    pub fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// All messages as printed, a blank line between them and the count at the end.
    pub fn render(&self, colour: bool) -> String {
        let mut text = String::new();
        for item in &self.items {
            text.push_str(item.render(colour));
            text.push_str("\n\n");
        }
        text + &self.summary()
    }

    fn summary(&self) -> String {
        let count = |number: usize, noun: &str| match number {
            0 => None,
            1 => Some(format!("1 {noun}")),
            _ => Some(format!("{number} {noun}s")),
        };
        let parts: Vec<_> = [count(self.errors(), "error"), count(self.warnings(), "warning")]
            .into_iter()
            .flatten()
            .collect();
        let more = if self.truncated { "; more errors not shown" } else { "" };
        if parts.is_empty() { String::new() } else { format!("{}{more}\n", parts.join(", ")) }
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostics {}

/// A message under construction.
#[derive(Clone, Debug)]
pub(crate) struct Report {
    pub severity: Severity,
    pub message: String,
    pub span: Option<Span>,
    pub label: String,
    pub notes: Vec<(Span, String)>,
    pub help: Vec<String>,
}

impl Report {
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, Some(span), message.into())
    }

    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, Some(span), message.into())
    }

    /// An error about no place.
    pub fn general(message: impl Into<String>) -> Self {
        Self::new(Severity::Error, None, message.into())
    }

    fn new(severity: Severity, span: Option<Span>, message: String) -> Self {
        Report { severity, message, span, label: String::new(), notes: Vec::new(), help: Vec::new() }
    }

    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// Collects reports up to a limit.
pub(crate) struct Sink {
    reports: Vec<Report>,
    errors: usize,
    limit: usize,
}

impl Sink {
    pub fn new(limit: usize) -> Self {
        Sink { reports: Vec::new(), errors: 0, limit: limit.max(1) }
    }

    pub fn push(&mut self, report: Report) {
        if report.severity == Severity::Error {
            self.errors += 1;
        }
        if !self.is_full() && self.reports.len() < 4 * self.limit {
            self.reports.push(report);
        }
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether further errors would not be shown, so that looking for them is pointless.
    pub fn is_full(&self) -> bool {
        self.errors > self.limit
    }

    /// Renders everything against its source, sorted, duplicates removed.
    pub fn finish(mut self, sources: &SourceMap) -> Diagnostics {
        let truncated = self.is_full();
        self.reports.sort_by_cached_key(|it| it.span.map(|span| sources.reading_order(span)));
        // One error per place: the others are its consequences.
        self.reports.dedup_by(|a, b| a.span.is_some() && a.span == b.span && a.severity == b.severity);
        let items = self.reports.iter().map(|it| render::diagnostic(it, sources)).collect();
        Diagnostics { items, truncated }
    }
}
