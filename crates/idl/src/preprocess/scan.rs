//! From text to preprocessing tokens: line splices, comments, and where each token stands.

use std::rc::Rc;

use super::hide::HideSet;
use crate::diagnostic::{Report, Sink};
use crate::model::FileId;
use crate::source::Span;

/// What a preprocessing token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PpKind {
    Identifier,
    Number,
    Char,
    String,
    Punctuator,
    /// A character that belongs to no token, such as a lone quote.
    Stray,
    /// In place of a macro call that is broken (reported).
    Broken,
    Newline,
    End,
}

/// A preprocessing token. Its text has no line splices left.
#[derive(Clone, Debug)]
pub(crate) struct PpToken {
    pub kind: PpKind,
    pub text: Rc<str>,
    /// Where it stands; for a token out of a macro's body, where the macro was used.
    pub span: Span,
    /// White space or a comment before it.
    pub spaced: bool,
    /// The comment that stands directly before it.
    pub doc: Option<Rc<str>>,
    /// Macros that must not expand it again.
    pub hide: HideSet,
    /// The name in the `#define` whose body it comes from.
    pub macro_name: Option<Span>,
}

impl PpToken {
    pub fn is(&self, punctuator: &str) -> bool {
        self.kind == PpKind::Punctuator && &*self.text == punctuator
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.kind == PpKind::Identifier && &*self.text == word
    }
}

/// Longest first, so that the first match is right.
const PUNCTUATORS: [&str; 41] = [
    "...", "<<", ">>", "::", "##", "&&", "||", "==", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", "<",
    ">", ";", ":", ",", ".", "=", "+", "-", "*", "/", "%", "~", "|", "^", "&", "!", "?", "#", "@", "`", "$",
    "\\", "\0",
];

/// Cuts one file, or one piece of text, into tokens.
pub(crate) struct Scanner {
    text: Rc<str>,
    file: FileId,
    at: usize,
    doc: DocComment,
    /// Space was skipped that belongs before the next token.
    spaced_before: bool,
    /// Inside a conditional that is off: broken quotes are nobody's concern.
    pub skipping: bool,
}

/// Comments gathered for the next token.
#[derive(Default)]
struct DocComment {
    text: String,
    newlines_since: u32,
    line_has_token: bool,
}

impl Scanner {
    pub fn new(text: Rc<str>, file: FileId) -> Self {
        Scanner { text, file, at: 0, doc: DocComment::default(), spaced_before: false, skipping: false }
    }

    /// The next token; [`PpKind::End`] for ever at the end.
    pub fn next(&mut self, sink: &mut Sink) -> PpToken {
        let spaced = self.skip_space(sink) | std::mem::take(&mut self.spaced_before);
        let start = self.at;
        let Some(c) = self.bump() else { return self.token(PpKind::End, start, String::new(), spaced) };
        let mut text = String::from(c);
        let kind = match c {
            '\n' => {
                self.doc.newline();
                return self.token(PpKind::Newline, start, text, spaced);
            }
            'L' if matches!(self.peek(), Some('\'' | '"')) => {
                let quote = self.bump().unwrap_or('"');
                text.push(quote);
                self.quoted(quote, start, &mut text, sink)
            }
            '\'' | '"' => self.quoted(c, start, &mut text, sink),
            c if is_word_start(c) => {
                self.take_while(&mut text, is_word);
                PpKind::Identifier
            }
            c if c.is_ascii_digit() => self.number(&mut text),
            '.' if self.peek().is_some_and(|c| c.is_ascii_digit()) => self.number(&mut text),
            _ => self.punctuator(&mut text),
        };
        let mut token = self.token(kind, start, text, spaced);
        token.doc = self.doc.take();
        token
    }

    /// Whether nothing but white space and comments is left on the line.
    pub fn is_at_line_end(&mut self, sink: &mut Sink) -> bool {
        let spaced = self.skip_space(sink);
        self.spaced_before |= spaced;
        matches!(self.peek(), None | Some('\n'))
    }

    /// The rest of the line as it stands, comments removed, for `#error` and the like.
    pub fn rest_of_line(&mut self, sink: &mut Sink) -> String {
        self.skip_space(sink);
        let mut text = String::new();
        while self.peek().is_some_and(|c| c != '\n') {
            text.extend(self.bump());
        }
        text.trim_end().to_owned()
    }

    /// A header name as `#include` takes it: the name with its span, and whether it was in angle brackets.
    pub fn header_name(&mut self, sink: &mut Sink) -> Option<(String, Span, bool)> {
        self.skip_space(sink);
        let start = self.at;
        let close = match self.peek() {
            Some('"') => '"',
            Some('<') => '>',
            _ => return None,
        };
        self.bump();
        let mut name = String::new();
        loop {
            match self.bump() {
                Some(c) if c == close => break,
                Some('\n') | None => {
                    self.at = start;
                    return None;
                }
                Some(c) => name.push(c),
            }
        }
        Some((name, self.span(start), close == '>'))
    }

    fn token(&self, kind: PpKind, start: usize, text: String, spaced: bool) -> PpToken {
        let hide = HideSet::default();
        PpToken { kind, text: text.into(), span: self.span(start), spaced, doc: None, hide, macro_name: None }
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.at as u32 }
    }

    /// Steps over a backslash at the end of a line.
    fn skip_splices(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.at += match rest {
                _ if rest.starts_with("\\\n") => 2,
                _ if rest.starts_with("\\\r\n") => 3,
                _ => return,
            };
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_splices();
        self.text[self.at..].chars().next()
    }

    /// The character after the next.
    fn peek_second(&mut self) -> Option<char> {
        let at = self.at;
        self.bump();
        let second = self.peek();
        self.at = at;
        second
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn take_while(&mut self, text: &mut String, belongs: impl Fn(char) -> bool) {
        while let Some(c) = self.peek().filter(|c| belongs(*c)) {
            text.push(c);
            self.bump();
        }
    }

    /// White space other than newlines, and comments.
    fn skip_space(&mut self, sink: &mut Sink) -> bool {
        let start = self.at;
        loop {
            match self.peek() {
                Some('/') => match self.peek_second() {
                    Some('/') => self.line_comment(),
                    Some('*') => self.block_comment(sink),
                    _ => break,
                },
                Some(c) if c != '\n' && c.is_whitespace() => drop(self.bump()),
                _ => break,
            }
        }
        self.at > start
    }

    fn line_comment(&mut self) {
        let start = self.at;
        while self.peek().is_some_and(|c| c != '\n') {
            self.bump();
        }
        self.doc.line_comment(&self.text[start..self.at]);
    }

    fn block_comment(&mut self, sink: &mut Sink) {
        let start = self.at;
        self.bump();
        self.bump();
        loop {
            match self.bump() {
                Some('*') if self.peek() == Some('/') => break,
                Some(_) => {}
                None => {
                    let open = Span { end: start as u32 + 2, ..self.span(start) };
                    sink.push(Report::error(open, "this comment is never closed").help("end it with `*/`"));
                    return;
                }
            }
        }
        self.bump();
        self.doc.block_comment(&self.text[start..self.at]);
    }

    /// The rest of a literal after its opening quote.
    fn quoted(&mut self, quote: char, start: usize, text: &mut String, sink: &mut Sink) -> PpKind {
        let (after_quote, prefix) = (self.at, text.len());
        loop {
            match self.peek() {
                Some(c) if c == quote => {
                    text.extend(self.bump());
                    return if quote == '"' { PpKind::String } else { PpKind::Char };
                }
                Some('\\') => {
                    text.extend(self.bump());
                    if self.peek().is_some_and(|c| c != '\n') {
                        text.extend(self.bump());
                    }
                }
                Some('\n') | None => break,
                Some(c) => {
                    text.push(c);
                    self.bump();
                }
            }
        }
        if self.skipping {
            // Go on behind the quote: in text that is off it is likely an apostrophe.
            self.at = after_quote;
            text.truncate(prefix);
            return PpKind::Stray;
        }
        // What ends the line likely ends the declaration, too.
        if text.ends_with(';') && self.text[..self.at].ends_with(';') {
            text.pop();
            self.at -= 1;
        }
        let what = if quote == '"' { "string" } else { "character" };
        let message = format!("this {what} literal does not end on its line");
        sink.push(Report::error(self.span(start), message).help(format!("close it with `{quote}`")));
        text.push(quote);
        if quote == '"' { PpKind::String } else { PpKind::Char }
    }

    fn number(&mut self, text: &mut String) -> PpKind {
        while let Some(c) = self.peek() {
            let hexadecimal = text.starts_with("0x") || text.starts_with("0X");
            let after_exponent = text.ends_with(['e', 'E']) && !hexadecimal;
            if !(is_word(c) || c == '.' || (after_exponent && matches!(c, '+' | '-'))) {
                break;
            }
            text.push(c);
            self.bump();
        }
        PpKind::Number
    }

    fn punctuator(&mut self, text: &mut String) -> PpKind {
        while let Some(next) = self.peek() {
            text.push(next);
            // `..` is no punctuator by itself, but the way to `...`.
            let dots = &**text == ".." && self.peek_second() == Some('.');
            if !dots && !PUNCTUATORS.contains(&&**text) {
                text.pop();
                break;
            }
            self.bump();
        }
        if PUNCTUATORS.contains(&&**text) { PpKind::Punctuator } else { PpKind::Stray }
    }
}

impl DocComment {
    fn newline(&mut self) {
        self.line_has_token = false;
        self.newlines_since += 1;
        if self.newlines_since > 1 {
            self.text.clear();
        }
    }

    fn take(&mut self) -> Option<Rc<str>> {
        self.line_has_token = true;
        let text = std::mem::take(&mut self.text);
        let text = text.trim();
        (!text.is_empty()).then(|| text.into())
    }

    fn line_comment(&mut self, raw: &str) {
        self.add(std::iter::once(raw.trim_start_matches('/').trim_start_matches(['!', '<'])));
    }

    fn block_comment(&mut self, raw: &str) {
        let inner = raw.trim_start_matches('/').trim_end_matches('/');
        let lines = inner.lines().map(|line| line.trim().trim_start_matches('*').trim_end_matches('*'));
        self.add(lines);
    }

    fn add<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        if self.line_has_token {
            return;
        }
        self.newlines_since = 0;
        for line in lines {
            let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
            let ruler = line.len() > 2 && line.chars().all(|c| "-=*/#~+ ".contains(c));
            if !ruler {
                self.text.push_str(line);
                self.text.push('\n');
            }
        }
    }
}

fn is_word_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
