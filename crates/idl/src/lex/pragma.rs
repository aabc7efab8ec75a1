//! Pragmas that set repository ids: `prefix`, `ID`, `version`.

use std::rc::Rc;

use crate::diagnostic::{Report, Sink};
use crate::preprocess::{PpKind, PpToken};
use crate::source::Span;
use crate::syntax::{Ident, ScopedName};

/// A pragma that the compiler knows.
#[derive(Clone, Debug)]
pub(crate) enum Pragma {
    /// `#pragma prefix "omg.org"`
    Prefix(Rc<str>),
    /// `#pragma ID Name "IDL:x:1.0"`
    Id { name: ScopedName, id: Rc<str>, span: Span },
    /// `#pragma version Name 2.3`
    Version { name: ScopedName, version: Rc<str>, span: Span },
}

/// Reads the tokens after `#pragma`; pragmas of others are ignored.
pub(super) fn parse(hash: Span, tokens: &[PpToken], sink: &mut Sink) -> Option<Pragma> {
    let (first, rest) = tokens.split_first()?;
    let span = first.span;
    let (parsed, form) = match &*first.text {
        "prefix" => (prefix(rest), "#pragma prefix \"omg.org\""),
        "ID" => (id(rest, span), "#pragma ID Name \"IDL:Module/Name:1.0\""),
        "version" => (version(rest, span), "#pragma version Name 1.0"),
        _ => return None,
    };
    if parsed.is_none() {
        let message = format!("this `#pragma {}` is malformed", first.text);
        sink.push(Report::error(hash.to(span), message).help(format!("write `{form}`")));
    }
    parsed
}

fn prefix(rest: &[PpToken]) -> Option<Pragma> {
    let [text] = rest else { return None };
    Some(Pragma::Prefix(string(text)?))
}

fn id(rest: &[PpToken], span: Span) -> Option<Pragma> {
    let (id, name) = rest.split_last()?;
    Some(Pragma::Id { name: scoped_name(name)?, id: string(id)?, span })
}

fn version(rest: &[PpToken], span: Span) -> Option<Pragma> {
    let (number, name) = rest.split_last()?;
    let (major, minor) = number.text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if !(digits(major) && digits(minor)) {
        return None;
    }
    Some(Pragma::Version { name: scoped_name(name)?, version: number.text.clone(), span })
}

fn string(token: &PpToken) -> Option<Rc<str>> {
    let inner = token.text.strip_prefix('"')?.strip_suffix('"')?;
    (token.kind == PpKind::String).then(|| inner.into())
}

fn scoped_name(tokens: &[PpToken]) -> Option<ScopedName> {
    let absolute = tokens.first()?.is("::");
    let mut rest = &tokens[usize::from(absolute)..];
    let span = rest.first()?.span.to(rest.last()?.span);
    let mut parts = Vec::new();
    loop {
        let (word, after) = rest.split_first()?;
        if word.kind != PpKind::Identifier {
            return None;
        }
        let name: Rc<str> = word.text.strip_prefix('_').map_or_else(|| word.text.clone(), Into::into);
        parts.push(Ident { name, span: word.span });
        match after.split_first() {
            None => return Some(ScopedName { absolute, parts, span }),
            Some((colons, after)) if colons.is("::") => rest = after,
            Some(_) => return None,
        }
    }
}
