//! The parser: recursive descent, several errors per run.
//!
//! A broken construct is reported once; then the parser looks for the next `;` or the end of the enclosing braces and
//! goes on there. Names that were lost that way are remembered, so that their uses are not reported as undefined.

mod constructed;
mod definition;
mod expression;
mod interface;
mod types;
mod value;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::lex::{Event, Lexed, Token, TokenKind, keyword, miscased};
use crate::source::{SourceMap, Span};
use crate::syntax::{Ident, Item, ItemKind, ScopedName};

/// Constructs within constructs.
const MAX_DEPTH: usize = 100;

/// The syntax tree of a translation unit.
pub(crate) struct Parsed {
    pub items: Vec<Item>,
    /// Identifiers in text that was skipped, in lower case.
    pub lost: HashSet<Rc<str>>,
    /// Where definitions are, by name: for uses that come too early.
    pub defined: HashMap<Rc<str>, Span>,
}

/// The construct is broken; a report was made.
#[derive(Debug)]
struct Broken;

type Parse<T> = Result<T, Broken>;

/// Parses all tokens.
pub(crate) fn parse(lexed: Lexed, sources: &SourceMap, sink: &mut Sink) -> Parsed {
    let events = lexed.events.into_iter().peekable();
    let lost = HashSet::new();
    let mut parser = Parser {
        tokens: lexed.tokens,
        at: 0,
        events,
        sources,
        sink,
        depth: 0,
        operators: 0,
        lost,
        last_broken: None,
        defined: HashMap::new(),
        searched: 0,
        own_types: HashSet::new(),
    };
    let items = parser.items(Place::File);
    Parsed { items, lost: parser.lost, defined: parser.defined }
}

/// What encloses a list of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    File,
    Module,
    Interface,
    Value,
}

struct Parser<'s> {
    tokens: Vec<Token>,
    at: usize,
    events: std::iter::Peekable<std::vec::IntoIter<(usize, Event)>>,
    sources: &'s SourceMap,
    sink: &'s mut Sink,
    depth: usize,
    /// Operators so far in the current expression.
    operators: usize,
    lost: HashSet<Rc<str>>,
    defined: HashMap<Rc<str>, Span>,
    /// The token at which the last report was made: one report per place is enough.
    last_broken: Option<usize>,
    /// How many tokens were searched for definitions that have the names of types of IDL 4, and what was found.
    searched: usize,
    own_types: HashSet<Rc<str>>,
}

impl Parser<'_> {
    /// Items up to the closing brace, or to the end of the file.
    fn items(&mut self, place: Place) -> Vec<Item> {
        let mut items = Vec::new();
        loop {
            self.take_events(&mut items);
            if self.is_end() || self.sink.is_full() {
                break;
            }
            if self.is("}") {
                if place != Place::File {
                    break;
                }
                let report = Report::error(self.span(), "this `}` closes nothing");
                self.sink.push(report);
                self.bump();
                self.accept(";");
                continue;
            }
            if self.is(";") {
                let report = Report::error(self.span(), "this `;` is one too many");
                self.sink.push(report.help("remove it"));
                self.bump();
                continue;
            }
            let start = self.at;
            let doc = self.peek().doc.clone();
            if matches!(place, Place::File | Place::Module) {
                self.correct_case();
            }
            match self.nested(|it| it.item(place)) {
                Ok(kind) => {
                    if let Some(name) = kind.name() {
                        self.defined.entry(name.name.clone()).or_insert(name.span);
                    }
                    items.push(Item { doc, kind });
                }
                Err(Broken) => self.recover(start),
            }
        }
        items
    }

    /// Hands on pragmas and file borders that come before the current token.
    fn take_events(&mut self, items: &mut Vec<Item>) {
        let at = self.at;
        while let Some((_, event)) = self.events.next_if(|(index, _)| *index <= at) {
            items.push(Item { doc: None, kind: ItemKind::Event(event) });
        }
    }

    /// Skips to behind the next `;`, or to the `}` that closes the enclosing construct.
    fn recover(&mut self, start: usize) {
        let mut depth = 0usize;
        // Braces opened by the broken construct itself count.
        for token in &self.tokens[start..self.at] {
            match token.kind {
                TokenKind::Punctuator("{") => depth += 1,
                TokenKind::Punctuator("}") => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        while !self.is_end() {
            if self.is("{") {
                depth += 1;
            } else if self.is("}") {
                if depth == 0 {
                    break;
                }
                depth -= 1;
                if depth == 0 {
                    self.bump();
                    self.accept(";");
                    break;
                }
            } else if depth == 0 && self.is(";") {
                self.bump();
                break;
            } else if depth == 0 && self.at > start && self.begins_definition() {
                break;
            }
            self.bump();
        }
        if self.at == start {
            self.bump();
        }
        for token in &self.tokens[start..self.at] {
            if let TokenKind::Identifier { name, .. } = &token.kind {
                self.lost.insert(name.to_ascii_lowercase().into());
            }
        }
    }

    /// Whether a keyword stands at the start of a line that can only begin a definition.
    fn begins_definition(&self) -> bool {
        let starts =
            ["module", "interface", "exception", "typedef", "const", "abstract", "local", "valuetype"];
        let TokenKind::Keyword(word) = self.peek().kind else { return false };
        starts.contains(&word) && self.is_on_new_line()
    }

    /// Whether the current token stands in another line than the one before.
    fn is_on_new_line(&self) -> bool {
        let Some(before) = self.at.checked_sub(1).map(|at| self.tokens[at].span) else { return true };
        let now = self.span();
        if before.file != now.file {
            return true;
        }
        // Tokens out of macros may stand in any order.
        let between = Span { start: before.end, end: now.start.max(before.end), ..now };
        self.sources.text(between).contains('\n')
    }

    /// Runs a part of the grammar one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.depth += 1;
        let result = if self.depth > MAX_DEPTH {
            self.fail(Report::error(self.span(), "this is nested too deeply"))
        } else {
            parse(self)
        };
        self.depth -= 1;
        result
    }

    fn peek(&self) -> &Token {
        // The last token is the end, which is never stepped over.
        &self.tokens[self.at]
    }

    fn peek_at(&self, ahead: usize) -> &TokenKind {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + ahead).min(last)].kind
    }

    fn span(&self) -> Span {
        self.peek().span
    }

    /// The place of the token before the current one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].span
    }

    fn is_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    fn bump(&mut self) {
        if !self.is_end() {
            self.at += 1;
        }
    }

    fn is(&self, punctuator: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Punctuator(it) if it == punctuator)
    }

    fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Keyword(it) if it == keyword)
    }

    /// Whether an identifier with this spelling comes next: a keyword of CORBA 3 in its place.
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Identifier { name, escaped: false, .. } if &**name == word)
    }

    /// Takes a keyword in the wrong case for the keyword, where no name can stand.
    fn correct_case(&mut self) {
        let span = self.span();
        if let TokenKind::Identifier { name, keyword: Some(keyword), .. } = &self.peek().kind {
            let (report, kind) = (miscased(span, name, keyword), TokenKind::Keyword(keyword));
            self.report(report);
            self.tokens[self.at].kind = kind;
        }
    }

    fn accept(&mut self, punctuator: &str) -> bool {
        let found = self.is(punctuator);
        if found {
            self.bump();
        }
        found
    }

    fn accept_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, punctuator: &str, context: &str) -> Parse<Span> {
        if self.is(punctuator) {
            let span = self.span();
            self.bump();
            return Ok(span);
        }
        self.unexpected(&format!("`{punctuator}` {context}"))
    }

    fn expect_keyword(&mut self, keyword: &str, context: &str) -> Parse<Span> {
        if self.is_keyword(keyword) {
            let span = self.span();
            self.bump();
            return Ok(span);
        }
        self.unexpected(&format!("`{keyword}` {context}"))
    }

    /// A `;`. One that is missing at the end of a line is reported and taken as there.
    fn semicolon(&mut self, context: &str) -> Parse<()> {
        if self.accept(";") {
            return Ok(());
        }
        if self.is_end() || self.is("}") || self.is_on_new_line() {
            let mut report = Report::error(self.last_span().after(), format!("missing `;` {context}"));
            report.label = "here".to_owned();
            self.report(report);
            return Ok(());
        }
        self.unexpected(&format!("`;` {context}"))
    }

    /// Reports what was expected here instead of what is.
    fn unexpected<T>(&mut self, expected: &str) -> Parse<T> {
        let token = self.peek();
        if token.kind == TokenKind::Broken {
            self.last_broken = Some(self.at);
            return Err(Broken);
        }
        let found = describe(&token.kind);
        let mut report = Report::error(token.span, format!("expected {expected}, found {found}"));
        if let TokenKind::Identifier { keyword: Some(keyword), .. } = token.kind {
            report = report.help(format!("the keyword is written `{keyword}`"));
        }
        if let Some(origin) = token.macro_name {
            report = report.note(origin, "it comes out of this macro");
        }
        self.fail(report)
    }

    fn fail<T>(&mut self, report: Report) -> Parse<T> {
        self.report(report);
        Err(Broken)
    }

    fn report(&mut self, report: Report) {
        if self.last_broken != Some(self.at) {
            self.last_broken = Some(self.at);
            self.sink.push(report);
        }
    }

    /// An identifier that is defined here.
    fn name(&mut self, what: &str) -> Parse<Ident> {
        let TokenKind::Identifier { name, escaped, keyword } = &self.peek().kind else {
            if let TokenKind::Keyword(word) = self.peek().kind {
                let message = format!("expected {what}, found the keyword `{word}`");
                let report = Report::error(self.span(), message);
                return self.fail(match self.peek().macro_name {
                    Some(origin) => report.note(origin, "it comes out of this macro"),
                    None => report.help(format!("to use it as a name, write `_{word}`")),
                });
            }
            return self.unexpected(what);
        };
        let ident = Ident { name: name.clone(), span: self.span() };
        if let Some(keyword) = keyword {
            self.sink.push(miscased(ident.span, name, keyword));
        } else if !escaped && let Some(keyword) = keyword::find_corba_3(name) {
            let message = format!("`{name}` is a keyword in CORBA 3 (`{keyword}`)");
            let report = Report::warning(ident.span, message);
            self.sink.push(report.help(format!("write `_{name}` to keep the name")));
        }
        self.bump();
        Ok(ident)
    }

    fn scoped_name(&mut self, what: &str) -> Parse<ScopedName> {
        let start = self.span();
        let absolute = self.accept("::");
        let mut parts = Vec::new();
        loop {
            let TokenKind::Identifier { name, .. } = &self.peek().kind else {
                return self.unexpected(if parts.is_empty() { what } else { "a name after `::`" });
            };
            parts.push(Ident { name: name.clone(), span: self.span() });
            self.bump();
            if !self.accept("::") {
                let span = start.to(self.last_span());
                return Ok(ScopedName { absolute, parts, span });
            }
        }
    }

    /// One or more, separated by commas.
    fn list<T>(&mut self, mut parse: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![parse(self)?];
        while self.accept(",") {
            items.push(parse(self)?);
        }
        Ok(items)
    }

    /// A narrow string literal.
    fn string(&mut self, what: &str) -> Parse<(Rc<str>, Span)> {
        let TokenKind::String(text) = &self.peek().kind else { return self.unexpected(what) };
        let found = (text.as_str().into(), self.span());
        self.bump();
        Ok(found)
    }
}

/// A token as a message names it.
fn describe(kind: &TokenKind) -> String {
    match kind {
        TokenKind::Identifier { name, .. } => format!("`{name}`"),
        TokenKind::Keyword(word) => format!("the keyword `{word}`"),
        TokenKind::Integer(value) => format!("the number {value}"),
        TokenKind::Float(_) | TokenKind::Fixed(_) => "a number".to_owned(),
        TokenKind::Char(_) | TokenKind::WideChar(_) => "a character literal".to_owned(),
        TokenKind::String(_) | TokenKind::WideString(_) => "a string literal".to_owned(),
        TokenKind::Punctuator(text) => format!("`{text}`"),
        TokenKind::Stray(text) => match text.chars().next() {
            Some(c) if c.is_control() => format!("the character U+{:04X}", u32::from(c)),
            _ => format!("`{text}`"),
        },
        TokenKind::Broken => "something that is broken".to_owned(),
        TokenKind::End => "the end of the file".to_owned(),
    }
}
