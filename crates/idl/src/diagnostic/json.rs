//! Diagnostics for programs: one JSON object each.

use std::fmt::Write;

use super::{Diagnostic, Location};

impl Diagnostic {
    /// One JSON object on one line: `severity`, `message`, `file`, `line`, `column`, `width`, `label`, `notes`, `help`,
    /// `included_from`, `rendered`. Without a place, `file` and what belongs to it are missing.
    pub fn to_json(&self) -> String {
        let mut fields =
            vec![field("severity", &text(self.severity.as_str())), field("message", &text(&self.message))];
        fields.extend(self.location.as_ref().map(place));
        fields.push(field("label", &text(&self.label)));
        let notes = self
            .notes
            .iter()
            .map(|note| format!("{{{},{}}}", field("message", &text(&note.message)), place(&note.location)));
        fields.push(field("notes", &list(notes)));
        fields.push(field("help", &list(self.help.iter().map(|it| text(it)))));
        let chain = self.included_from.iter().map(|it| format!("{{{}}}", place(it)));
        fields.push(field("included_from", &list(chain)));
        fields.push(field("rendered", &text(self.render(false))));
        format!("{{{}}}", fields.join(","))
    }
}

fn field(name: &str, value: &str) -> String {
    format!("\"{name}\":{value}")
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

fn place(at: &Location) -> String {
    let file = field("file", &text(&at.file));
    format!("{file},\"line\":{},\"column\":{},\"width\":{}", at.line, at.column, at.width)
}

fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
