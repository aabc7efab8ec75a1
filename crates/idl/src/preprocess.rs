//! The preprocessor: C's, as OMG IDL takes it over.
//!
//! Files are read through [`Files`]; the result is one list of tokens, each with its place, with pragmas and the
//! borders of included files among them in order. Hostile input is bounded: include depth, number and size of files,
//! macro expansion.

mod directive;
mod expression;
mod hide;
mod include;
mod macros;
mod scan;

use std::path::Path;
use std::rc::Rc;

use crate::Options;
use crate::diagnostic::{Report, Sink};
use crate::model::FileId;
use crate::source::{Files, SourceMap, Span};
use macros::{Macro, Macros};
use scan::Scanner;
pub(crate) use scan::{PpKind, PpToken};

/// Tokens of a whole run.
const MAX_TOKENS: usize = 8 << 20;

/// Macros of every run. The second is omniidl's, and is here because widespread IDL files ask for it to learn whether a
/// compiler knows escaped identifiers.
const PREDEFINED: [&str; 2] = ["__THROUGHLINE_IDL__=1", "__OMNIIDL__=0x2630"];

/// What the preprocessor hands on.
pub(crate) enum Piece {
    Token(PpToken),
    /// The tokens after `#pragma`, not expanded, and the span of the line's `#`.
    Pragma(Span, Vec<PpToken>),
    /// An included file begins.
    Enter,
    /// It ends.
    Leave,
}

/// The translation unit after preprocessing.
pub(crate) struct Preprocessed {
    pub pieces: Vec<Piece>,
    /// A place at the end of the main file.
    pub end: Span,
    /// Whether an included file is missing, so that names may be undefined for that reason alone.
    pub incomplete: bool,
}

/// Runs the preprocessor on a file and all it includes. `None` if the file itself cannot be read (reported).
pub(crate) fn preprocess(
    path: &Path,
    options: &Options,
    files: &dyn Files,
    sources: &mut SourceMap,
    sink: &mut Sink,
) -> Option<Preprocessed> {
    let bytes = files.read(path).and_then(|bytes| sources.add(path, bytes, None));
    let main = match bytes {
        Ok(main) => main,
        Err(error) => {
            let message = format!("cannot read {}: {}", path.display(), plain_reason(&error));
            sink.push(Report::general(message));
            return None;
        }
    };
    let mut preprocessor = Preprocessor {
        options,
        files,
        sources,
        sink,
        macros: Macros::default(),
        frames: Vec::new(),
        run: Vec::new(),
        pieces: Vec::new(),
        once: Vec::new(),
        includes: 0,
        bytes: 0,
        incomplete: false,
    };
    preprocessor.predefine();
    preprocessor.enter(main);
    preprocessor.drive();
    let (pieces, incomplete) = (preprocessor.pieces, preprocessor.incomplete);
    let length = sources.file(main).text.len() as u32;
    Some(Preprocessed { pieces, incomplete, end: Span { file: main, start: length, end: length } })
}

fn plain_reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// A file being read.
struct Frame {
    scanner: Scanner,
    file: FileId,
    conditionals: Vec<Conditional>,
    /// Files in it that another preprocessor has marked, and that have not ended yet.
    marked: usize,
}

/// An `#if` that is not closed yet.
struct Conditional {
    /// Where it was opened.
    opened: Span,
    /// Whether the text around it counts.
    outer_live: bool,
    /// Whether its current branch counts.
    live: bool,
    /// Whether one of its branches counted already.
    taken: bool,
    /// Where its `#else` stands.
    else_at: Option<Span>,
}

struct Preprocessor<'a> {
    options: &'a Options,
    files: &'a dyn Files,
    sources: &'a mut SourceMap,
    sink: &'a mut Sink,
    macros: Macros,
    frames: Vec<Frame>,
    /// Tokens since the last directive, not expanded yet: a macro's arguments may span lines.
    run: Vec<PpToken>,
    pieces: Vec<Piece>,
    /// Files that said `#pragma once`.
    once: Vec<FileId>,
    includes: usize,
    bytes: usize,
    incomplete: bool,
}

impl Preprocessor<'_> {
    fn predefine(&mut self) {
        for define in PREDEFINED.into_iter().chain(self.options.defines.iter().map(String::as_str)) {
            let (name, text) = define.split_once('=').unwrap_or((define, "1"));
            if !is_identifier(name) {
                self.sink.push(Report::general(format!("`{name}` is no name for a macro")));
                continue;
            }
            let mut scanner = Scanner::new(text.into(), FileId::MAIN);
            let mut body = Vec::new();
            loop {
                let mut token = scanner.next(self.sink);
                match token.kind {
                    PpKind::End => break,
                    PpKind::Newline => {}
                    _ => {
                        // Its place is set at each use; until then it must lie within some file.
                        token.span = Span { file: FileId::MAIN, start: 0, end: 0 };
                        body.push(token);
                    }
                }
            }
            let name: Rc<str> = name.into();
            self.macros.insert(Macro { name, defined_at: None, parameters: None, variadic: false, body });
        }
    }

    fn enter(&mut self, file: FileId) {
        let text = self.sources.file(file).text.clone();
        self.bytes += text.len();
        self.frames.push(Frame {
            scanner: Scanner::new(text, file),
            file,
            conditionals: Vec::new(),
            marked: 0,
        });
    }

    fn drive(&mut self) {
        let mut at_line_start = true;
        while let Some(frame) = self.frames.last_mut() {
            let live = frame.conditionals.last().is_none_or(|it| it.live);
            frame.scanner.skipping = !live;
            let token = frame.scanner.next(self.sink);
            match token.kind {
                PpKind::End => {
                    self.flush();
                    self.leave();
                    at_line_start = true;
                }
                PpKind::Newline => at_line_start = true,
                _ if at_line_start && token.is("#") => {
                    self.flush();
                    self.directive(token.span, live);
                    at_line_start = true;
                }
                _ => {
                    at_line_start = false;
                    if live {
                        self.run.push(token);
                    }
                }
            }
            if self.pieces.len() + self.run.len() > MAX_TOKENS {
                self.sink.push(Report::general("the input is too large: more than eight million tokens"));
                break;
            }
        }
    }

    /// Expands and hands on the tokens gathered since the last directive.
    fn flush(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let run = std::mem::take(&mut self.run);
        let expanded = self.macros.expand(run, self.sources, self.sink);
        self.pieces.extend(expanded.into_iter().map(Piece::Token));
    }

    /// The end of a file.
    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for open in frame.conditionals {
            let report = Report::error(open.opened, "this conditional is never closed");
            self.sink.push(report.help("end it with `#endif`, in the same file"));
        }
        let borders = frame.marked + usize::from(!self.frames.is_empty());
        self.pieces.extend((0..borders).map(|_| Piece::Leave));
    }
}

fn is_identifier(text: &str) -> bool {
    let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.chars().all(word) && text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

/// The pieces as text again, with a `#line` directive where places jump, as `cpp -P` would not, and marks where included files
/// begin and end.
pub(crate) fn to_text(preprocessed: &Preprocessed, sources: &SourceMap) -> String {
    let mut out = String::new();
    let mut at: Option<(FileId, u32)> = None;
    for piece in &preprocessed.pieces {
        match piece {
            Piece::Token(token) => {
                let line = sources.origin(token.span).line;
                let now = (token.span.file, line);
                if at != Some(now) {
                    move_to(&mut out, at, now, &sources.presumed(token.span).0);
                    at = Some(now);
                } else if token.spaced || needs_space(&out, &token.text) {
                    out.push(' ');
                }
                out.push_str(&token.text);
            }
            Piece::Pragma(_, tokens) => {
                let words: Vec<_> = tokens.iter().map(|it| &*it.text).collect();
                out.push_str(&format!("\n#pragma {}\n", words.join(" ")));
                at = None;
            }
            Piece::Enter | Piece::Leave => {
                // Which file it is says the next `#line`.
                let flag = if matches!(piece, Piece::Enter) { 1 } else { 2 };
                out.push_str(&format!("\n# 1 \"{}\" {flag}\n", sources.file(FileId::MAIN).name()));
                at = None;
            }
        }
    }
    out.push('\n');
    out.trim_start_matches('\n').to_owned()
}

/// Newlines for a small step down in the same file, a `#line` for all else.
fn move_to(out: &mut String, from: Option<(FileId, u32)>, to: (FileId, u32), name: &str) {
    match from {
        Some((file, line)) if file == to.0 && (line..line + 8).contains(&to.1) => {
            out.push_str(&"\n".repeat((to.1 - line) as usize));
        }
        _ => {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push_str(&format!("#line {} \"{name}\"\n", to.1));
        }
    }
}

/// Whether two tokens would run into one.
fn needs_space(out: &str, next: &str) -> bool {
    let word = |c: char| c == '_' || c == '.' || c.is_alphanumeric();
    match (out.chars().next_back(), next.chars().next()) {
        (Some(a), Some(b)) => word(a) && word(b) || a == b && "<>:&|=.".contains(a),
        _ => false,
    }
}
