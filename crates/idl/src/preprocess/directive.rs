//! Directives other than `#include`.

use std::rc::Rc;

use super::macros::Macro;
use super::scan::{PpKind, PpToken};
use super::{Conditional, Piece, Preprocessor, expression};
use crate::diagnostic::Report;
use crate::source::Span;

const MAX_CONDITIONALS: usize = 256;

impl Preprocessor<'_> {
    /// A line that begins with `#`, up to and with its end.
    pub(super) fn directive(&mut self, hash: Span, live: bool) {
        let word = self.next();
        let span = hash.to(word.span);
        match (word.kind, &*word.text) {
            (PpKind::Newline | PpKind::End, _) => return,
            (PpKind::Identifier, "if") => self.open(span, live, Self::condition),
            (PpKind::Identifier, "ifdef") => self.open(span, live, |it, at| it.defined_word(at, "ifdef")),
            (PpKind::Identifier, "ifndef") => self.open(span, live, |it, at| !it.defined_word(at, "ifndef")),
            (PpKind::Identifier, "elif") => self.branch(span, false),
            (PpKind::Identifier, "else") => self.branch(span, true),
            (PpKind::Identifier, "endif") => self.close(span),
            _ if !live => {}
            (PpKind::Identifier, "include") => {
                // The file's text comes after this line: the frame pushed now is read first.
                return self.include(span);
            }
            (PpKind::Identifier, "define") => self.define(span),
            (PpKind::Identifier, "undef") => self.undef(),
            (PpKind::Identifier, "pragma") => self.pragma(span),
            (PpKind::Identifier, "line") => self.line(span, None),
            (PpKind::Number, _) => self.line(span, Some(word)),
            (PpKind::Identifier, "error") => {
                let text = self.rest();
                self.sink.push(Report::error(span, format!("#error {text}").trim_end().to_owned()));
            }
            (PpKind::Identifier, "warning") => {
                let text = self.rest();
                self.sink.push(Report::warning(span, format!("#warning {text}").trim_end().to_owned()));
            }
            (PpKind::Identifier, "ident" | "sccs") => {}
            (_, text) => {
                let report = Report::error(span, format!("`#{text}` is no preprocessor directive"));
                self.sink.push(report);
            }
        }
        self.skip_line();
    }

    fn next(&mut self) -> PpToken {
        // A directive exists only inside a file.
        let frame = self.frames.last_mut().expect("a directive is read from a file");
        frame.scanner.next(self.sink)
    }

    fn rest(&mut self) -> String {
        self.frames.last_mut().map(|frame| frame.scanner.rest_of_line(self.sink)).unwrap_or_default()
    }

    /// The tokens up to the end of the line, which stays.
    pub(super) fn line_tokens(&mut self) -> Vec<PpToken> {
        let mut tokens = Vec::new();
        while !self.at_line_end() {
            tokens.push(self.next());
        }
        tokens
    }

    fn at_line_end(&mut self) -> bool {
        self.frames.last_mut().is_none_or(|frame| frame.scanner.is_at_line_end(self.sink))
    }

    fn skip_line(&mut self) {
        while !self.at_line_end() {
            if let Some(frame) = self.frames.last_mut() {
                frame.scanner.skipping = true;
            }
            self.next();
        }
    }

    /// Warns about text after a directive that takes no more.
    pub(super) fn nothing_more(&mut self, directive: &str) {
        if !self.at_line_end() {
            let extra = self.next();
            let message = format!("text after `#{directive}` is ignored");
            self.sink.push(Report::warning(extra.span, message));
            self.skip_line();
        }
    }

    /// `#if` and its kin: `holds` is asked only where the surrounding text counts.
    fn open(&mut self, span: Span, outer_live: bool, holds: impl FnOnce(&mut Self, Span) -> bool) {
        let live = outer_live && holds(self, span);
        let conditional = Conditional { opened: span, outer_live, live, taken: live, else_at: None };
        let Some(frame) = self.frames.last_mut() else { return };
        if frame.conditionals.len() >= MAX_CONDITIONALS {
            self.sink.push(Report::error(span, "conditionals are nested too deeply"));
            return;
        }
        frame.conditionals.push(conditional);
    }

    fn branch(&mut self, span: Span, is_else: bool) {
        let name = if is_else { "else" } else { "elif" };
        let Some(mut open) = self.frames.last_mut().and_then(|frame| frame.conditionals.pop()) else {
            self.sink.push(Report::error(span, format!("`#{name}` without `#if`")));
            return;
        };
        if let Some(first) = open.else_at {
            let report = Report::error(span, format!("`#{name}` after `#else`"));
            self.sink.push(report.note(first, "the `#else` is here"));
        }
        let eligible = open.outer_live && !open.taken;
        open.live = eligible && (is_else || self.condition(span));
        open.taken |= open.live;
        if is_else {
            open.else_at = Some(span);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.conditionals.push(open);
        }
    }

    fn close(&mut self, span: Span) {
        if self.frames.last_mut().and_then(|frame| frame.conditionals.pop()).is_none() {
            self.sink.push(Report::error(span, "`#endif` without `#if`"));
        }
    }

    fn defined_word(&mut self, span: Span, directive: &str) -> bool {
        if self.at_line_end() {
            self.sink.push(Report::error(span, format!("`#{directive}` takes a macro's name")));
            return false;
        }
        let word = self.next();
        if word.kind != PpKind::Identifier {
            let message = format!("`#{directive}` takes a macro's name, not `{}`", word.text);
            self.sink.push(Report::error(word.span, message));
            return false;
        }
        self.macros.is_defined(&word.text)
    }

    /// The expression after `#if` or `#elif`.
    fn condition(&mut self, span: Span) -> bool {
        if let Some(frame) = self.frames.last_mut() {
            frame.scanner.skipping = false;
        }
        let tokens = self.line_tokens();
        let result = self.replace_defined(tokens).and_then(|tokens| {
            let tokens = self.macros.expand(tokens, self.sources, self.sink);
            expression::evaluate(&tokens, span)
        });
        result.unwrap_or_else(|report| {
            self.sink.push(report);
            false
        })
    }

    /// Turns `defined X` and `defined(X)` into 1 or 0, before macros are expanded.
    fn replace_defined(&self, tokens: Vec<PpToken>) -> Result<Vec<PpToken>, Report> {
        let mut output = Vec::with_capacity(tokens.len());
        let mut rest = tokens.into_iter();
        while let Some(token) = rest.next() {
            if !token.is_word("defined") {
                output.push(token);
                continue;
            }
            let broken = || Report::error(token.span, "`defined` takes a macro's name");
            let mut name = rest.next().ok_or_else(broken)?;
            let parenthesis = name.is("(");
            if parenthesis {
                name = rest.next().ok_or_else(broken)?;
            }
            let closed = !parenthesis || rest.next().is_some_and(|it| it.is(")"));
            if name.kind != PpKind::Identifier || !closed {
                return Err(broken());
            }
            let text = if self.macros.is_defined(&name.text) { "1" } else { "0" };
            output.push(PpToken { kind: PpKind::Number, text: text.into(), ..token });
        }
        Ok(output)
    }

    fn define(&mut self, directive: Span) {
        let tokens = self.line_tokens();
        let Some(name) = tokens.first().filter(|it| it.kind == PpKind::Identifier) else {
            let span = tokens.first().map_or(directive, |it| it.span);
            self.sink.push(Report::error(span, "`#define` takes a name"));
            return;
        };
        if matches!(&*name.text, "defined" | "__LINE__" | "__FILE__") {
            self.sink.push(Report::error(name.span, format!("`{}` cannot be a macro's name", name.text)));
            return;
        }
        let function_like = tokens.get(1).is_some_and(|it| it.is("(") && !it.spaced);
        let parsed = if function_like { parameters(&tokens) } else { Ok((None, false, 1)) };
        let (parameters, variadic, body_at) = match parsed {
            Ok(parsed) => parsed,
            Err(report) => return self.sink.push(report),
        };
        let defined_at = Some(name.span);
        let body = tokens[body_at..].to_vec();
        let new = Macro { name: name.text.clone(), defined_at, parameters, variadic, body };
        if let Some(old) = self.macros.get(&new.name)
            && !old.is_same(&new)
        {
            let report = Report::warning(name.span, format!("macro `{}` is redefined", new.name));
            self.sink.push(match old.defined_at {
                Some(first) => {
                    report.note(first, "first defined here").help("`#undef` it first if that is meant")
                }
                None => report,
            });
        }
        self.macros.insert(new);
    }

    fn undef(&mut self) {
        if self.at_line_end() {
            return;
        }
        let name = self.next();
        if name.kind == PpKind::Identifier {
            self.macros.remove(&name.text);
        } else {
            self.sink.push(Report::error(name.span, "`#undef` takes a macro's name"));
        }
    }

    fn pragma(&mut self, span: Span) {
        let tokens = self.line_tokens();
        match tokens.first() {
            Some(first) if first.is_word("once") => {
                let file = self.frames.last().map(|frame| frame.file);
                self.once.extend(file);
            }
            _ => self.pieces.push(Piece::Pragma(span, tokens)),
        }
    }

    /// `#line 12 "file"`, or the `# 12 "file"` that other preprocessors leave.
    fn line(&mut self, span: Span, number: Option<PpToken>) {
        let mut tokens = self.line_tokens();
        let is_mark = number.is_some();
        tokens.splice(0..0, number);
        let tokens = self.macros.expand(tokens, self.sources, self.sink);
        let number = tokens.first().and_then(|it| it.text.parse::<u32>().ok());
        let Some(number) = number.filter(|number| *number < u32::MAX / 2) else {
            self.sink.push(Report::error(span, "`#line` takes a line number"));
            return;
        };
        let name = tokens.get(1).filter(|it| it.kind == PpKind::String);
        self.sources.presume(span, number, name.map(|it| it.text.trim_matches('"').to_owned()));
        if is_mark {
            self.border(tokens.get(2..).unwrap_or_default());
        }
    }

    /// The flags behind a file's name in what other preprocessors leave: 1 where an included file begins, 2 behind its end. A
    /// prefix holds no longer than its file.
    fn border(&mut self, flags: &[PpToken]) {
        let Some(frame) = self.frames.last_mut() else { return };
        let flag = |it: &str| flags.iter().any(|flag| flag.kind == PpKind::Number && &*flag.text == it);
        if flag("1") {
            frame.marked += 1;
            self.pieces.push(Piece::Enter);
        } else if flag("2") && frame.marked > 0 {
            frame.marked -= 1;
            self.pieces.push(Piece::Leave);
        }
    }
}

/// Parameters of a function-like macro, whether it is variadic, and where its body begins.
type Parameters = (Option<Vec<Rc<str>>>, bool, usize);

fn parameters(tokens: &[PpToken]) -> Result<Parameters, Report> {
    let mut names: Vec<Rc<str>> = Vec::new();
    let mut variadic = false;
    let mut at = 2;
    let broken = |token: Option<&PpToken>| {
        let span = token.unwrap_or(&tokens[0]).span;
        Report::error(span, format!("the parameters of macro `{}` are malformed", tokens[0].text))
            .help("write `#define NAME(a, b) ...`, the last one may be `...`")
    };
    if tokens.get(at).is_some_and(|it| it.is(")")) {
        return Ok((Some(names), false, at + 1));
    }
    loop {
        let token = tokens.get(at);
        match token {
            Some(it) if it.is("...") => {
                variadic = true;
                names.push("__VA_ARGS__".into());
            }
            Some(it) if it.kind == PpKind::Identifier && !names.contains(&it.text) => {
                names.push(it.text.clone());
            }
            _ => return Err(broken(token)),
        }
        match tokens.get(at + 1) {
            Some(it) if it.is(")") => return Ok((Some(names), variadic, at + 2)),
            Some(it) if it.is(",") && !variadic => at += 2,
            other => return Err(broken(other)),
        }
    }
}
