//! JSON for people: what fits stands in one line, what does not gets a line for each part.

use serde_json::Value as Json;

/// Columns of a line.
const WIDTH: usize = 110;

/// Text as it is, anything else as JSON. Later lines begin `indent` columns to the right.
pub fn text(value: &Json, indent: usize) -> String {
    match value {
        Json::String(text) if !needs_quotes(text) => text.replace('\n', &format!("\n{}", " ".repeat(indent))),
        _ => {
            let mut out = String::new();
            json(&mut out, value, indent, 0);
            out
        }
    }
}

/// Whether a text is only told by JSON: one with characters that nobody sees, or that a terminal obeys, and one that would be
/// taken for JSON itself if it were passed on.
fn needs_quotes(text: &str) -> bool {
    text.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t'))
        || text.starts_with('"') && serde_json::from_str::<String>(text).is_ok()
}

/// Adds a value that begins `indent` columns to the right; what follows it in its line takes `after`.
fn json(out: &mut String, value: &Json, indent: usize, after: usize) {
    let begun = out.len();
    if one_line(out, begun, value, WIDTH.saturating_sub(indent + after)) {
        return;
    }
    out.truncate(begun);
    let inner = indent + 2;
    match value {
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                next_line(out, at, inner);
                json(out, item, inner, 1);
            }
            close(out, indent, ']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                next_line(out, at, inner);
                out.push_str(&field(name));
                json(out, value, inner, 1);
            }
            close(out, indent, '}');
        }
        _ => out.push_str(&value.to_string()),
    }
}

fn next_line(out: &mut String, at: usize, indent: usize) {
    out.push_str(if at == 0 { "\n" } else { ",\n" });
    out.push_str(&" ".repeat(indent));
}

fn close(out: &mut String, indent: usize, bracket: char) {
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(bracket);
}

/// Adds a value to the line that begins at `begun`, or a part of it, if it does not fit: whether it does.
fn one_line(out: &mut String, begun: usize, value: &Json, room: usize) -> bool {
    let separator = |at: usize| if at == 0 { "" } else { ", " };
    match value {
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(separator(at));
                if !one_line(out, begun, item, room) {
                    return false;
                }
            }
            out.push(']');
        }
        Json::Object(fields) => {
            out.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                out.push_str(separator(at));
                out.push_str(&field(name));
                if !one_line(out, begun, value, room) {
                    return false;
                }
            }
            out.push('}');
        }
        _ => out.push_str(&value.to_string()),
    }
    let line = &out[begun..];
    line.len() <= room || line.chars().count() <= room
}

fn field(name: &str) -> String {
    format!("{}: ", Json::from(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_stands_in_one_line() {
        assert_eq!(text(&json!("a\nb"), 2), "a\n  b");
        assert_eq!(text(&json!({"a": [1, "x"], "b": null}), 0), r#"{"a": [1, "x"], "b": null}"#);
        let row = json!({"name": "a".repeat(36), "other": "b".repeat(36)});
        let rows = text(&json!([row, row]), 4);
        let lines: Vec<_> = rows.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[3]), (4, "[", "    ]"));
        assert!(lines[1].starts_with("      {\"name\": \"aaa") && lines[1].ends_with("\"},"), "{rows}");
        assert_eq!(serde_json::from_str::<Json>(&rows).unwrap(), json!([row, row]));
    }

    #[test]
    fn text_that_cannot_be_seen_or_passed_on_is_quoted() {
        assert_eq!(text(&json!("\0"), 0), r#""\u0000""#);
        assert_eq!(text(&json!("a\u{1b}[2J"), 0), r#""a\u001b[2J""#);
        assert_eq!(text(&json!("\u{9b}2J"), 0), "\"\u{9b}2J\"");
        assert_eq!(text(&json!("\"5\""), 0), r#""\"5\"""#);
        assert_eq!(text(&json!("\"5"), 0), "\"5");
        assert_eq!(text(&json!("\ta"), 0), "\ta");
    }

    #[test]
    fn a_line_has_no_more_than_its_columns() {
        let list = |length: usize| json!(["\u{e4}".repeat(length - 4)]);
        assert_eq!(text(&list(WIDTH), 0).lines().count(), 1);
        assert_eq!(text(&list(WIDTH + 1), 0).lines().count(), 3);
        assert_eq!(text(&list(WIDTH), 1).lines().count(), 3);
        let many = json!((0..1000).collect::<Vec<_>>());
        let lines = text(&json!([many, {"a": []}]), 0);
        let lines: Vec<_> = lines.lines().collect();
        assert_eq!((lines.len(), lines[1], lines[2]), (1005, "  [", "    0,"));
        assert_eq!(lines[1001..], ["    999", "  ],", "  {\"a\": []}", "]"]);
    }
}
