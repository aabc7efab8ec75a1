//! References as commands take them: any textual form, or a file that has one.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use throughline::{ObjectRef, Orb};
use throughline_giop::corbaname::Corbaname;

use crate::failure::{CHECK_FILE, Failure, Result};

/// Octets of a word, in a file or from standard input; references are shorter by far.
const LONGEST: usize = 16 << 20;

/// The object that a text refers to: `IOR:`, `corbaloc:`, `corbaname:`, or `@` and the name of a file.
pub fn object(orb: &Orb, text: &str) -> Result<ObjectRef> {
    let text = told(text)?;
    orb.string_to_object(&text).map_err(|e| {
        let shown: String = text.chars().take(60).collect();
        if text.trim().parse::<Corbaname>().is_ok() {
            return Failure::new(format!("`{shown}` cannot be resolved"))
                .because(e)
                .next("check the address, that the name service runs, and the name: throughline names list");
        }
        Failure::usage(format!("`{shown}` leads to no object"))
            .because(e.detail_text().map_or_else(|| e.to_string(), str::to_owned))
            .next("pass the whole text that the server printed, or @FILE for a file that has it")
    })
}

/// The text of a reference: what was given, or what is in the file that was named after an `@`.
pub fn told(text: &str) -> Result<Cow<'_, str>> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.into()) };
    let unread = |e| Failure::usage(format!("cannot read {path}")).because(e).next(CHECK_FILE);
    Ok(first_in(File::open(path).map_err(unread)?, path, unread)?.into())
}

/// The reference that comes first from standard input.
pub fn from_standard_input() -> Result<String> {
    let unread = |e| Failure::new("cannot read standard input").because(e);
    first_in(io::stdin(), "standard input", unread)
}

/// The first word that is a reference: servers print other words beside it. Nothing behind it is waited for, since they go on
/// serving.
fn first_in(source: impl Read, name: &str, unread: impl Fn(io::Error) -> Failure) -> Result<String> {
    let mut source = BufReader::new(source);
    loop {
        match next_word(&mut source).map_err(&unread)? {
            None => {
                return Err(Failure::usage(format!("{name} has no reference in it"))
                    .because("no word of it begins with IOR:, corbaloc: or corbaname:")
                    .next("pass the whole text that the server printed"));
            }
            Some(word) if is_reference(&word) => return Ok(word),
            Some(_) => {}
        }
    }
}

fn is_reference(word: &str) -> bool {
    word.split_once(':').is_some_and(|(scheme, _)| {
        ["ior", "corbaloc", "corbaname"].contains(&scheme.to_ascii_lowercase().as_str())
    })
}

/// A word up to the space behind it, empty between two of them; none at the end.
fn next_word(source: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut word = Vec::new();
    loop {
        let octets = match source.fill_buf() {
            Ok(octets) => octets,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        let space = octets.iter().position(u8::is_ascii_whitespace);
        let length = space.unwrap_or(octets.len());
        if word.len() + length > LONGEST {
            return Err(io::Error::other(format!("a word of it is longer than {} MiB", LONGEST >> 20)));
        }
        word.extend_from_slice(&octets[..length]);
        let ends = octets.is_empty();
        source.consume(length + usize::from(space.is_some()));
        if space.is_some() || ends {
            let word = (!word.is_empty() || !ends).then(|| String::from_utf8_lossy(&word).into_owned());
            return Ok(word);
        }
    }
}
