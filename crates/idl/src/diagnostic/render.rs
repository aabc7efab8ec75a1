//! From reports to messages with source lines and carets.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Location, Note, Report, Severity};
use crate::source::{SourceMap, Span};

/// Longer lines are cut around the place, so that a file of one huge line stays readable.
const MAX_LINE_BYTES: usize = 400;
/// Longer include chains are cut.
const MAX_CHAIN: usize = 8;

pub(super) fn diagnostic(report: &Report, sources: &SourceMap) -> Diagnostic {
    let locate = |span| location(span, sources);
    Diagnostic {
        severity: report.severity,
        message: report.message.clone(),
        location: report.span.map(locate),
        label: report.label.clone(),
        notes: report
            .notes
            .iter()
            .map(|(span, message)| Note { message: message.clone(), location: locate(*span) })
            .collect(),
        help: report.help.clone(),
        included_from: include_chain(report.span, sources).into_iter().map(locate).collect(),
        plain: render(report, sources, &Renderer::plain()),
        coloured: render(report, sources, &Renderer::styled()),
    }
}

/// The place with the width it has on its first line.
fn location(span: Span, sources: &SourceMap) -> Location {
    let span = first_line(span, sources);
    let (file, line) = sources.presumed(span);
    let width = sources.text(span).chars().count().max(1) as u32;
    Location { file, line, column: sources.origin(span).column, width }
}

fn first_line(span: Span, sources: &SourceMap) -> Span {
    let file = sources.file(span.file);
    let line_end = file.line_range(file.physical_line(span.start)).end as u32;
    Span { end: span.end.min(line_end).max(span.start), ..span }
}

fn include_chain(span: Option<Span>, sources: &SourceMap) -> Vec<Span> {
    let up = |span: &Span| sources.file(span.file).included_from;
    std::iter::successors(span.as_ref().and_then(up), up).take(MAX_CHAIN).collect()
}

fn render(report: &Report, sources: &SourceMap, renderer: &Renderer) -> String {
    let level = match report.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(report.message.as_str());
    let mut first = match report.span {
        Some(span) => title.element(snippet(span, &report.label, AnnotationKind::Primary, sources)),
        None => Group::with_title(title),
    };
    for span in include_chain(report.span, sources) {
        let at = location(span, sources);
        let text = format!("included from {}:{}:{}", at.file, at.line, at.column);
        first = first.element(Level::NOTE.message(text));
    }
    let mut groups = vec![first];
    for (span, message) in &report.notes {
        let group = Level::NOTE.secondary_title(message.as_str());
        groups.push(group.element(snippet(*span, "", AnnotationKind::Primary, sources)));
    }
    for help in &report.help {
        groups.push(Group::with_title(Level::HELP.secondary_title(help.as_str())));
    }
    renderer.render(&groups)
}

fn snippet<'a>(
    span: Span,
    label: &'a str,
    kind: AnnotationKind,
    sources: &'a SourceMap,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let span = first_line(span, sources);
    let file = sources.file(span.file);
    let mut line = file.line_range(file.physical_line(span.start));
    let (path, number) = sources.presumed(span);
    let (mut start, mut end) = (span.start as usize, span.end as usize);
    if line.len() > MAX_LINE_BYTES {
        end = end.min(start + MAX_LINE_BYTES / 2);
        line.start = line.start.max(start.saturating_sub(MAX_LINE_BYTES / 4));
        line.end = line.end.min(end + MAX_LINE_BYTES / 4);
        line = boundary(&file.text, line.start)..boundary(&file.text, line.end);
        end = boundary(&file.text, end).min(line.end);
    }
    let text = file.text[line.clone()].trim_end_matches('\r');
    start = (start - line.start).min(text.len());
    end = (end - line.start).clamp(start, text.len());
    let annotation = kind.span(start..end).label((!label.is_empty()).then_some(label));
    Snippet::source(text).line_start(number as usize).path(path).annotation(annotation)
}

/// The next place at or behind `at` that lies between characters.
fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
