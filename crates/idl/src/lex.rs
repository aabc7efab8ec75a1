//! From preprocessing tokens to IDL's: keywords, identifiers, literals with their values, pragmas.

pub(crate) mod keyword;
pub(crate) mod literal;
mod pragma;

use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::model::FixedValue;
use crate::preprocess::{Piece, PpKind, PpToken, Preprocessed};
use crate::source::Span;
pub(crate) use pragma::Pragma;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// Without the underscore of an escaped identifier.
    Identifier {
        name: Rc<str>,
        escaped: bool,
        /// The keyword from which it differs only in case.
        keyword: Option<&'static str>,
    },
    Keyword(&'static str),
    Integer(u64),
    Float(f64),
    Fixed(FixedValue),
    Char(char),
    WideChar(u16),
    String(String),
    WideString(Vec<u16>),
    Punctuator(&'static str),
    /// A character that IDL does not use.
    Stray(Rc<str>),
    /// Something wrong that was reported.
    Broken,
    End,
}

/// A token with its place and the comment before it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
    pub doc: Option<Rc<str>>,
    /// The `#define` it comes from.
    pub macro_name: Option<Span>,
}

/// What stands between tokens and matters to repository ids.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Pragma(Pragma),
    EnterFile,
    LeaveFile,
}

/// The translation unit as tokens; the last one is [`TokenKind::End`].
pub(crate) struct Lexed {
    pub tokens: Vec<Token>,
    /// Events with the index of the token they precede, ascending.
    pub events: Vec<(usize, Event)>,
}

/// Punctuators of the grammar; `?` and the like are no part of it.
const PUNCTUATORS: [&str; 24] = [
    "::", "<<", ">>", "{", "}", "(", ")", "[", "]", "<", ">", ";", ":", ",", "=", "+", "-", "*", "/", "%",
    "~", "|", "^", "&",
];

/// Converts everything; what is no token of IDL is reported and left out.
pub(crate) fn lex(input: Preprocessed, sink: &mut Sink) -> Lexed {
    let mut out = Lexed { tokens: Vec::new(), events: Vec::new() };
    let mut joinable = false;
    let mut annotation = Annotation::None;
    for piece in input.pieces {
        let index = out.tokens.len();
        match piece {
            Piece::Token(token) => {
                if annotation.takes(&token, sink) {
                    continue;
                }
                let is_string = token.kind == PpKind::String;
                if let Some(token) = convert(token, sink) {
                    match out.tokens.last_mut().filter(|_| joinable && is_string) {
                        Some(last) => join(last, token, sink),
                        None => out.tokens.push(token),
                    }
                }
                joinable = is_string;
            }
            Piece::Pragma(span, tokens) => {
                out.events.extend(pragma::parse(span, &tokens, sink).map(|it| (index, Event::Pragma(it))));
            }
            Piece::Enter => out.events.push((index, Event::EnterFile)),
            Piece::Leave => out.events.push((index, Event::LeaveFile)),
        }
    }
    out.tokens.push(Token { kind: TokenKind::End, span: input.end, doc: None, macro_name: None });
    out
}

/// Where in an annotation the input is; annotations are refused, and stepped over.
enum Annotation {
    None,
    /// Behind `@`.
    At,
    /// Behind a part of its name.
    Name,
    /// In its parentheses, this deep.
    Parameters(u32),
}

impl Annotation {
    /// Whether a token belongs to an annotation.
    fn takes(&mut self, token: &PpToken, sink: &mut Sink) -> bool {
        *self = match *self {
            Annotation::At if token.kind == PpKind::Identifier => Annotation::Name,
            Annotation::Name if token.is("::") => Annotation::At,
            Annotation::Name if token.is("(") => Annotation::Parameters(1),
            Annotation::Parameters(depth) if token.is("(") => Annotation::Parameters(depth + 1),
            Annotation::Parameters(1) if token.is(")") => {
                *self = Annotation::None;
                return true;
            }
            Annotation::Parameters(depth) if token.is(")") => Annotation::Parameters(depth - 1),
            Annotation::Parameters(depth) if !token.is(";") => Annotation::Parameters(depth),
            _ if token.is("@") => {
                let report = Report::error(token.span, "annotations are not supported");
                sink.push(report.help("they belong to IDL 4; this compiler reads CORBA's IDL 2 and 3"));
                Annotation::At
            }
            _ => Annotation::None,
        };
        !matches!(self, Annotation::None)
    }
}

fn convert(token: PpToken, sink: &mut Sink) -> Option<Token> {
    let text = &*token.text;
    let kind = match token.kind {
        PpKind::Identifier => Ok(word(&token, sink)),
        PpKind::Number => literal::number(text),
        PpKind::Char if text.starts_with('L') => literal::wide_char(text).map(TokenKind::WideChar),
        PpKind::Char => literal::narrow_char(text).map(TokenKind::Char),
        PpKind::String if text.starts_with('L') => literal::wide_string(text).map(TokenKind::WideString),
        PpKind::String => literal::narrow_string(text).map(TokenKind::String),
        PpKind::Broken => Ok(TokenKind::Broken),
        _ => match PUNCTUATORS.iter().find(|it| **it == text) {
            Some(found) => Ok(TokenKind::Punctuator(found)),
            None => Ok(TokenKind::Stray(token.text.clone())),
        },
    };
    match kind {
        Ok(kind) => Some(Token { kind, span: token.span, doc: token.doc, macro_name: token.macro_name }),
        Err(problem) => {
            sink.push(Report::error(token.span, problem));
            Some(Token {
                kind: TokenKind::Broken,
                span: token.span,
                doc: token.doc,
                macro_name: token.macro_name,
            })
        }
    }
}

/// A keyword or an identifier.
fn word(token: &PpToken, sink: &mut Sink) -> TokenKind {
    let text = &*token.text;
    if !text.is_ascii() {
        let message = format!("the identifier `{text}` has letters other than A to Z");
        sink.push(Report::error(token.span, message));
    }
    if let Some(name) = text.strip_prefix('_') {
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let message = format!("`{text}` is no identifier: a letter must follow the underscore");
            sink.push(Report::error(token.span, message));
        }
        return TokenKind::Identifier { name: name.into(), escaped: true, keyword: None };
    }
    match keyword::find(text) {
        Some(keyword) if keyword == text => TokenKind::Keyword(keyword),
        Some(keyword) => {
            // To use such a name is fine if it was defined in its escaped form; the parser and the resolver know.
            TokenKind::Identifier { name: token.text.clone(), escaped: false, keyword: Some(keyword) }
        }
        None => TokenKind::Identifier { name: token.text.clone(), escaped: false, keyword: None },
    }
}

/// The report that a name differs from a keyword only in case.
pub(crate) fn miscased(span: Span, name: &str, keyword: &str) -> Report {
    let message = format!("`{name}` differs from the keyword `{keyword}` only in case");
    let help = format!("write `{keyword}` for the keyword, or `_{name}` to define that name");
    Report::error(span, message).help(help)
}

/// Adjacent string literals are one.
fn join(last: &mut Token, next: Token, sink: &mut Sink) {
    match (&mut last.kind, next.kind) {
        (TokenKind::String(text), TokenKind::String(more)) => text.push_str(&more),
        (TokenKind::WideString(text), TokenKind::WideString(more)) => text.extend(more),
        _ => {
            let message = "a string literal and a wide string literal cannot be joined";
            sink.push(Report::error(next.span, message).note(last.span, "the first one is here"));
        }
    }
    last.span = last.span.to(next.span);
}
