//! JSON for people: what fits stands in one line, what does not gets a line for each part.

use serde_json::Value as Json;

/// Columns of a line.
const WIDTH: usize = 110;

/// Text as it is, anything else as JSON. Later lines begin `indent` columns to the right.
pub fn text(value: &Json, indent: usize) -> String {
    match value {
        Json::String(text) => text.replace('\n', &format!("\n{}", " ".repeat(indent))),
        _ => json(value, indent, 0),
    }
}

/// A value that begins `indent` columns to the right; what follows it in its line takes `after`.
fn json(value: &Json, indent: usize, after: usize) -> String {
    let line = one_line(value);
    if indent + line.chars().count() + after <= WIDTH {
        return line;
    }
    let inner = indent + 2;
    let parts: Vec<String> = match value {
        Json::Array(items) => items.iter().map(|item| json(item, inner, 1)).collect(),
        Json::Object(fields) => {
            fields.iter().map(|(name, value)| field(name, &json(value, inner, 1))).collect()
        }
        _ => return line,
    };
    let [open, close] = if value.is_array() { ["[", "]"] } else { ["{", "}"] };
    let pad = " ".repeat(inner);
    format!("{open}\n{pad}{}\n{}{close}", parts.join(&format!(",\n{pad}")), " ".repeat(indent))
}

fn one_line(value: &Json) -> String {
    match value {
        Json::Array(items) => format!("[{}]", items.iter().map(one_line).collect::<Vec<_>>().join(", ")),
        Json::Object(fields) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| field(name, &one_line(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        _ => value.to_string(),
    }
}

fn field(name: &str, value: &str) -> String {
    format!("{}: {value}", Json::from(name))
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
}
