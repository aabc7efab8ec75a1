//! Documentation comments of generated items.

use proc_macro2::TokenStream;
use quote::quote;

/// The comment of the source if there is one, else `otherwise`, as documentation.
pub(super) fn docs(source: Option<&str>, otherwise: &str) -> TokenStream {
    match source.map(prose).filter(|lines| !lines.is_empty()) {
        Some(lines) => lines.iter().map(|line| doc(line)).collect(),
        None => doc(otherwise),
    }
}

/// One line of documentation, in Markdown.
pub(super) fn doc(line: &str) -> TokenStream {
    let line = if line.is_empty() { String::new() } else { format!(" {line}") };
    quote!(#[doc = #line])
}

/// Lines of plain text as Markdown that shows them unchanged. Comments in IDL were not written as Markdown: what looks
/// like a link, a list or an indented block of code (which would even be run as a test) is none.
fn prose(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(|line| escape(line.trim())).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or_default();
    lines.split_off(first)
}

fn escape(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    if starts_a_block(line) {
        escaped.push('\\');
    }
    for c in line.chars() {
        match c {
            '\t' => escaped.push(' '),
            '[' | ']' | '<' | '>' | '`' | '*' | '\\' | '|' => escaped.extend(['\\', c]),
            _ if c.is_control() => {}
            _ => escaped.push(c),
        }
    }
    if let Some(digits) = number_of_list(&escaped) {
        escaped.insert(digits, '\\');
    }
    escaped.replace("http://", "http\\://").replace("https://", "https\\://")
}

fn starts_a_block(line: &str) -> bool {
    line.starts_with(['#', '-', '+', '=', '~', '_'])
}

/// `1.` or `1)` at the start of a line: how many digits.
fn number_of_list(line: &str) -> Option<usize> {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    (digits > 0 && line[digits..].starts_with(['.', ')'])).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_plain() {
        let text = "\n    Adds [one].\n  - a list\n      code?\n\n1. more <b>\n\n";
        assert_eq!(prose(text), ["Adds \\[one\\].", "\\- a list", "code?", "", "1\\. more \\<b\\>"]);
        assert!(prose(" \n ").is_empty());
    }

    #[test]
    fn without_a_comment_the_other_text_is_used() {
        assert_eq!(docs(Some(" \n"), "`IDL:X:1.0`").to_string(), doc("`IDL:X:1.0`").to_string());
    }
}
