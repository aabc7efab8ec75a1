//! From tokens to text that is pleasant to read.

use proc_macro2::TokenStream;

use crate::model::Model;

/// The formatted file.
pub(super) fn format(model: &Model, items: TokenStream) -> String {
    let file = syn::parse2(items).expect("the generator writes valid Rust");
    let from = model.main_path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let from: String = from.chars().filter(|it| !it.is_control()).collect();
    let head =
        format!("// Generated from {from} by Throughline's IDL compiler. Changes here will be lost.\n\n");
    head + &set_apart(&prettyplease::unparse(&file))
}

/// Puts a blank line between items, which the printer leaves out.
fn set_apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    let mut last = "";
    for line in text.lines() {
        if starts_an_item(line) && ends_an_item(last) && indentation(line) == indentation(last) {
            out.push('\n');
        }
        out.push_str(line);
        out.push('\n');
        last = line;
    }
    out
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn ends_an_item(line: &str) -> bool {
    (line.ends_with('}') || line.ends_with(';')) && !line.trim_start().starts_with("//")
}

fn starts_an_item(line: &str) -> bool {
    let starts = ["///", "#[", "pub ", "impl", "fn ", "type "];
    starts.iter().any(|it| line.trim_start().starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_stays_with_its_item() {
        let text = "/// Like C;\n#[a]\npub fn f();\n";
        assert_eq!(set_apart(text), text);
    }

    #[test]
    fn items_are_set_apart_and_statements_are_not() {
        let text = "struct A {\n    a: u8,\n}\nimpl A {\n    fn a() {\n        if b {\n        }\n        c;\n    }\n    fn d() {}\n}\n";
        let apart = "struct A {\n    a: u8,\n}\n\nimpl A {\n    fn a() {\n        if b {\n        }\n        c;\n    }\n\n    fn d() {}\n}\n";
        assert_eq!(set_apart(text), apart);
    }
}
