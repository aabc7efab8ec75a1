//! What cannot be generated, told like any other error in the source.

use super::Unsupported;
use crate::Files;
use crate::diagnostic::{Diagnostics, Report, Severity, Sink};
use crate::model::{Model, Origin};
use crate::source::{SourceMap, Span};

/// Messages for all of `unsupported`, with the source lines they are about.
pub(crate) fn diagnostics(
    model: &Model,
    unsupported: &[Unsupported],
    severity: Severity,
    files: &dyn Files,
) -> Diagnostics {
    let sources = sources(model, files);
    let mut sink = Sink::new(unsupported.len());
    for it in unsupported {
        sink.push(report(it, severity, &sources));
    }
    sink.finish(&sources)
}

fn report(unsupported: &Unsupported, severity: Severity, sources: &SourceMap) -> Report {
    let span = span(sources, unsupported.origin);
    let report = match severity {
        Severity::Error => Report::error(span, &unsupported.message).help(&unsupported.help),
        Severity::Warning => Report::warning(span, &unsupported.message).label("left out"),
    };
    match &unsupported.needed_by {
        Some((what, origin)) => report.note(self::span(sources, *origin), format!("needed by {what}")),
        None => report,
    }
}

/// The files of a model, read once more: messages show lines. A file that is gone by now has none to show.
fn sources(model: &Model, files: &dyn Files) -> SourceMap {
    let mut sources = SourceMap::default();
    for file in model.files() {
        let included_from = file.included_from.map(|it| span(&sources, it));
        let bytes = files.read(&file.path).unwrap_or_default();
        if sources.add(&file.path, bytes, included_from).is_err() {
            let added = sources.add(&file.path, Vec::new(), included_from);
            added.expect("an empty file is not too large");
        }
    }
    sources
}

/// The identifier at a place.
fn span(sources: &SourceMap, origin: Origin) -> Span {
    let file = sources.file(origin.file);
    let last = file.text.matches('\n').count();
    let line = file.line_range((origin.line as usize).saturating_sub(1).min(last));
    let text = &file.text[line.clone()];
    let before = text.chars().take((origin.column as usize).saturating_sub(1));
    let start = before.map(char::len_utf8).sum::<usize>();
    let word = text[start..].chars().take_while(|it| it.is_alphanumeric() || *it == '_');
    let end = start + word.map(char::len_utf8).sum::<usize>();
    Span { file: origin.file, start: (line.start + start) as u32, end: (line.start + end) as u32 }
}
