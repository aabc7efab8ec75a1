//! `#include`.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::scan::{PpKind, PpToken};
use super::{Piece, Preprocessor, plain_reason};
use crate::diagnostic::Report;
use crate::model::FileId;
use crate::source::Span;

/// Files within files.
const MAX_DEPTH: usize = 64;
/// Inclusions of a whole run.
const MAX_INCLUDES: usize = 4096;
/// Bytes scanned in a whole run, a file counted as often as it is included.
const MAX_BYTES: usize = 64 << 20;

impl Preprocessor<'_> {
    /// `#include`, at `span`; the scanner stands behind the word.
    pub(super) fn include(&mut self, span: Span) {
        let Some(frame) = self.frames.last_mut() else { return };
        let header = match frame.scanner.header_name(self.sink) {
            Some(header) => Some(header),
            None => self.expanded_header(span),
        };
        let Some((name, name_span, angled)) = header else {
            let report = Report::error(span, "`#include` takes a file name");
            self.sink.push(report.help("write `#include \"file.idl\"` or `#include <file.idl>`"));
            return;
        };
        self.nothing_more("include");
        if self.frames.len() >= MAX_DEPTH {
            let message = format!("files include each other more than {MAX_DEPTH} deep");
            self.sink.push(Report::error(name_span, message).help(GUARD_HELP));
            return;
        }
        self.includes += 1;
        if self.includes > MAX_INCLUDES || self.bytes > MAX_BYTES {
            if self.includes == MAX_INCLUDES + 1 || self.bytes > MAX_BYTES {
                self.bytes = 0;
                self.includes = MAX_INCLUDES + 2;
                self.sink.push(Report::error(name_span, "too much is included").help(GUARD_HELP));
            }
            return;
        }
        match self.locate(&name, name_span, angled) {
            Ok(file) if self.once.contains(&file) => {}
            Ok(file) => {
                self.pieces.push(Piece::Enter);
                self.enter(file);
            }
            Err(report) => {
                self.incomplete = true;
                self.sink.push(report);
            }
        }
    }

    /// The operand of an `#include` that is a macro.
    fn expanded_header(&mut self, span: Span) -> Option<(String, Span, bool)> {
        let tokens = self.line_tokens();
        let tokens = self.macros.expand(tokens, self.sources, self.sink);
        let first = tokens.first()?;
        if first.kind == PpKind::String {
            return Some((first.text.trim_matches('"').to_owned(), span, false));
        }
        let closed = first.is("<") && tokens.last().is_some_and(|last| last.is(">"));
        let name = |inner: &[PpToken]| inner.iter().map(|it| &*it.text).collect();
        closed.then(|| (name(&tokens[1..tokens.len() - 1]), span, true))
    }

    /// Finds and reads the file; each file is read once.
    fn locate(&mut self, name: &str, span: Span, angled: bool) -> Result<FileId, Report> {
        let beside = self.sources.file(span.file).path.parent().map(Path::to_owned);
        let beside = beside.filter(|_| !angled);
        let folders = beside.into_iter().chain(self.options.include_dirs.iter().cloned());
        let mut searched = Vec::new();
        for folder in folders {
            let path = tidy(&folder.join(name));
            if let Some(known) = self.sources.find(&path) {
                return Ok(known);
            }
            match self.files.read(&path).and_then(|bytes| self.sources.add(&path, bytes, Some(span))) {
                Ok(file) => return Ok(file),
                Err(error) if is_absent(&error) => searched.push(shown(&folder)),
                Err(error) => {
                    let message = format!("cannot read {}: {}", path.display(), plain_reason(&error));
                    return Err(Report::error(span, message));
                }
            }
        }
        let report = Report::error(span, format!("cannot find the included file `{name}`"));
        Err(report.help(match searched.is_empty() {
            true => "no include folders are given; add one with -I".to_owned(),
            false => format!("looked in {}; add a folder with -I", searched.join(", ")),
        }))
    }
}

const GUARD_HELP: &str =
    "an include guard (`#ifndef X`, `#define X`, .., `#endif`) keeps a file from being read twice";

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
    )
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { "the current folder".to_owned() } else { folder.display().to_string() }
}

/// Without `.` and, where that is safe, `name/..`: one file gets one path.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}
