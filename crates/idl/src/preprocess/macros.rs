//! Macros: definition and expansion.
//!
//! Expansion keeps a set of macros per token that must not expand it again, so that it ends for every input; depth and
//! total size are bounded besides.

use std::collections::HashMap;
use std::rc::Rc;

use super::scan::{PpKind, PpToken, Scanner};
use crate::diagnostic::{Report, Sink};
use crate::source::{SourceMap, Span};

/// Tokens that expansion may produce in one run.
const MAX_EXPANDED_TOKENS: usize = 1 << 20;
/// Bytes of their text.
const MAX_EXPANDED_BYTES: usize = 64 << 20;
/// Calls of macros within arguments of calls.
const MAX_ARGUMENT_DEPTH: usize = 200;
/// Bytes of a token made by `#` or `##`.
const MAX_MADE_TOKEN: usize = 1 << 16;

/// A macro. Object-like ones have no parameter list.
pub(crate) struct Macro {
    pub name: Rc<str>,
    /// Where its name stands in the `#define`; `None` for a predefined one.
    pub defined_at: Option<Span>,
    pub parameters: Option<Vec<Rc<str>>>,
    pub variadic: bool,
    pub body: Vec<PpToken>,
}

impl Macro {
    fn parameter(&self, token: &PpToken) -> Option<usize> {
        let names = self.parameters.as_ref()?;
        if token.kind != PpKind::Identifier {
            return None;
        }
        names.iter().position(|name| *name == token.text)
    }

    /// Whether a second definition says the same.
    pub fn is_same(&self, other: &Macro) -> bool {
        let alike = |(a, b): (&PpToken, &PpToken)| a.kind == b.kind && a.text == b.text;
        self.parameters == other.parameters
            && self.variadic == other.variadic
            && self.body.len() == other.body.len()
            && self.body.iter().zip(&other.body).all(alike)
    }
}

/// All macros in force.
#[derive(Default)]
pub(crate) struct Macros {
    table: HashMap<Rc<str>, Rc<Macro>>,
    produced: usize,
    produced_bytes: usize,
    exhausted: bool,
}

impl Macros {
    pub fn get(&self, name: &str) -> Option<&Rc<Macro>> {
        self.table.get(name)
    }

    pub fn is_defined(&self, name: &str) -> bool {
        self.table.contains_key(name) || matches!(name, "__LINE__" | "__FILE__")
    }

    pub fn insert(&mut self, it: Macro) {
        self.table.insert(it.name.clone(), Rc::new(it));
    }

    pub fn remove(&mut self, name: &str) {
        self.table.remove(name);
    }

    /// Replaces every macro in the tokens.
    pub fn expand(&mut self, tokens: Vec<PpToken>, sources: &SourceMap, sink: &mut Sink) -> Vec<PpToken> {
        self.expand_nested(tokens, 0, sources, sink)
    }

    fn expand_nested(
        &mut self,
        mut input: Vec<PpToken>,
        depth: usize,
        sources: &SourceMap,
        sink: &mut Sink,
    ) -> Vec<PpToken> {
        // A stack with the next token on top, so that a macro's body can be put back for rescanning.
        input.reverse();
        let mut output = Vec::with_capacity(input.len());
        while let Some(token) = input.pop() {
            if token.kind != PpKind::Identifier || token.hide.contains(&token.text) {
                output.push(token);
                continue;
            }
            if let Some(built_in) = built_in(&token, sources) {
                output.push(built_in);
                continue;
            }
            let Some(found) = self.table.get(&token.text).cloned() else {
                output.push(token);
                continue;
            };
            if self.exhausted {
                continue;
            }
            if token.hide.is_full() || depth > MAX_ARGUMENT_DEPTH {
                self.exhaust(&token, "macros are nested too deeply here", sink);
                continue;
            }
            match self.replacement(&found, &token, &mut input, depth, sources, sink) {
                Some(body) => {
                    self.produced += body.len();
                    self.produced_bytes += body.iter().map(|it| it.text.len()).sum::<usize>();
                    if self.produced > MAX_EXPANDED_TOKENS || self.produced_bytes > MAX_EXPANDED_BYTES {
                        self.exhaust(&token, "macros expand to too much text", sink);
                        continue;
                    }
                    input.extend(body.into_iter().rev());
                }
                None => output.push(token),
            }
        }
        output
    }

    fn exhaust(&mut self, token: &PpToken, message: &str, sink: &mut Sink) {
        self.exhausted = true;
        sink.push(Report::error(token.span, message).label(format!("while expanding `{}`", token.text)));
    }

    /// What a macro's use turns into, its arguments taken off the input. `None` if it is no use of it: a function-like
    /// macro without parentheses.
    fn replacement(
        &mut self,
        found: &Rc<Macro>,
        token: &PpToken,
        input: &mut Vec<PpToken>,
        depth: usize,
        sources: &SourceMap,
        sink: &mut Sink,
    ) -> Option<Vec<PpToken>> {
        if found.parameters.is_none() {
            let hide = token.hide.with(&found.name);
            let (args, plain) = (&[][..], &[][..]);
            return Some(self.substitute(found, token, args, plain, hide, sink));
        }
        if !input.last()?.is("(") {
            return None;
        }
        let Some((arguments, close)) = take_arguments(found, token, input, sink) else {
            return Some(vec![PpToken {
                kind: PpKind::Broken,
                hide: token.hide.with(&found.name),
                ..token.clone()
            }]);
        };
        // Arguments of arguments are gone through once per level.
        self.produced += arguments.iter().map(Vec::len).sum::<usize>();
        if self.produced > MAX_EXPANDED_TOKENS {
            return Some(Vec::new());
        }
        let hide = token.hide.intersection(&close.hide).with(&found.name);
        let expanded: Vec<_> = arguments
            .iter()
            .map(|argument| self.expand_nested(argument.clone(), depth + 1, sources, sink))
            .collect();
        if self.exhausted {
            return Some(Vec::new());
        }
        Some(self.substitute(found, token, &arguments, &expanded, hide, sink))
    }

    /// The body with arguments put in; `#` and `##` carried out.
    fn substitute(
        &mut self,
        found: &Macro,
        user: &PpToken,
        arguments: &[Vec<PpToken>],
        expanded: &[Vec<PpToken>],
        hide: super::hide::HideSet,
        sink: &mut Sink,
    ) -> Vec<PpToken> {
        let mut output: Vec<PpToken> = Vec::with_capacity(found.body.len());
        let function_like = found.parameters.is_some();
        let mut index = 0;
        let mut pasting = false;
        while let Some(token) = found.body.get(index) {
            index += 1;
            if token.is("##") {
                pasting = !output.is_empty() || index > 1;
                continue;
            }
            let next_pastes = found.body.get(index).is_some_and(|next| next.is("##"));
            let mut piece = match found.parameter(token) {
                Some(argument) if pasting || next_pastes => arguments[argument].clone(),
                Some(argument) => expanded[argument].clone(),
                None if function_like && token.is("#") => {
                    let argument = found.body.get(index).and_then(|next| found.parameter(next));
                    index += usize::from(argument.is_some());
                    match argument {
                        Some(argument) => vec![stringized(&arguments[argument], token)],
                        None => vec![token.clone()],
                    }
                }
                None => vec![token.clone()],
            };
            let from_body = found.parameter(token).is_none();
            if let Some(first) = piece.first_mut() {
                first.spaced = token.spaced;
            }
            for token in &mut piece {
                token.doc = None;
                if from_body {
                    token.span = user.span;
                    token.macro_name = found.defined_at;
                }
            }
            self.produced += piece.len();
            if self.produced > MAX_EXPANDED_TOKENS {
                break;
            }
            let mut piece = piece.into_iter();
            if std::mem::take(&mut pasting)
                && let Some(right) = piece.next()
            {
                match output.pop() {
                    Some(left) => output.extend(paste(left, right, sink)),
                    None => output.push(right),
                }
            }
            output.extend(piece);
        }
        for token in &mut output {
            token.hide = token.hide.union(&hide);
        }
        if let Some(first) = output.first_mut() {
            first.spaced = user.spaced;
            first.doc = user.doc.clone();
        }
        output
    }
}

/// `__LINE__` and `__FILE__`.
fn built_in(token: &PpToken, sources: &SourceMap) -> Option<PpToken> {
    let (kind, text) = match &*token.text {
        "__LINE__" => (PpKind::Number, sources.presumed(token.span).1.to_string()),
        "__FILE__" => (PpKind::String, quoted(&sources.presumed(token.span).0)),
        _ => return None,
    };
    Some(PpToken { kind, text: text.into(), ..token.clone() })
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The arguments of a call, and its closing parenthesis.
fn take_arguments(
    found: &Macro,
    user: &PpToken,
    input: &mut Vec<PpToken>,
    sink: &mut Sink,
) -> Option<(Vec<Vec<PpToken>>, PpToken)> {
    let names = found.parameters.as_deref().unwrap_or_default();
    // The last parameter of a variadic macro takes all that is left.
    let separates = |count: usize| !found.variadic || count < names.len();
    let mut arguments = vec![Vec::new()];
    let mut depth = 0usize;
    let close = loop {
        let Some(token) = input.pop() else {
            let message = format!("the arguments of macro `{}` are never closed", found.name);
            sink.push(with_definition(Report::error(user.span, message), found));
            return None;
        };
        let at_top = depth == 1;
        match &*token.text {
            "(" if token.kind == PpKind::Punctuator => depth += 1,
            ")" if token.kind == PpKind::Punctuator => depth -= 1,
            "," if at_top && token.kind == PpKind::Punctuator && separates(arguments.len()) => {
                arguments.push(Vec::new());
                continue;
            }
            _ => {}
        }
        if depth == 0 {
            break token;
        }
        let opens_call = depth == 1 && !at_top && token.is("(");
        if !opens_call && let Some(last) = arguments.last_mut() {
            last.push(token);
        }
    };
    if names.is_empty() && arguments.len() == 1 && arguments[0].is_empty() {
        arguments.clear();
    }
    if found.variadic && arguments.len() + 1 == names.len() {
        arguments.push(Vec::new());
    }
    if arguments.len() != names.len() {
        let message =
            format!("macro `{}` takes {} arguments, not {}", found.name, names.len(), arguments.len());
        sink.push(with_definition(Report::error(user.span, message), found));
        return None;
    }
    Some((arguments, close))
}

fn with_definition(report: Report, found: &Macro) -> Report {
    match found.defined_at {
        Some(span) => report.note(span, format!("`{}` is defined here", found.name)),
        None => report,
    }
}

/// `#parameter`: the argument's spelling as a string literal.
fn stringized(argument: &[PpToken], at: &PpToken) -> PpToken {
    let mut text = String::new();
    for (index, token) in argument.iter().enumerate() {
        if index > 0 && token.spaced {
            text.push(' ');
        }
        if text.len() + token.text.len() > MAX_MADE_TOKEN {
            break;
        }
        if matches!(token.kind, PpKind::String | PpKind::Char) {
            text.push_str(&token.text.replace('\\', "\\\\").replace('"', "\\\""));
        } else {
            text.push_str(&token.text);
        }
    }
    PpToken { kind: PpKind::String, text: format!("\"{text}\"").into(), ..at.clone() }
}

/// `left ## right`.
fn paste(left: PpToken, right: PpToken, sink: &mut Sink) -> Vec<PpToken> {
    let text: Rc<str> = format!("{}{}", left.text, right.text).into();
    let mut scanner = Scanner::new(text.clone(), left.span.file);
    scanner.skipping = true;
    let token = scanner.next(sink);
    let whole = token.text == text && scanner.next(sink).kind == PpKind::End;
    if !whole || text.len() > MAX_MADE_TOKEN || matches!(token.kind, PpKind::Newline | PpKind::Stray) {
        let message = format!("`{}` and `{}` joined by `##` are not one token", left.text, right.text);
        sink.push(Report::error(left.span, message));
        return vec![PpToken { kind: PpKind::Broken, ..left }];
    }
    vec![PpToken { kind: token.kind, text, ..left }]
}
