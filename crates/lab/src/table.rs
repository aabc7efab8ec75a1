//! Tables for people.

use std::fmt;

use crate::{Row, Value};

/// Aligned columns under a title: the first to the left, the others to the right.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// One name per column.
    pub head: Vec<String>,
    /// As many cells as there are columns in each line.
    pub lines: Vec<Vec<String>>,
    /// What to know when reading it.
    pub remarks: Vec<String>,
}

impl Table {
    /// A table without lines.
    pub fn new<const N: usize>(title: impl Into<String>, head: [&str; N]) -> Self {
        Self { title: title.into(), head: head.map(str::to_owned).into(), ..Self::default() }
    }

    /// Adds a line.
    pub fn line(&mut self, cells: impl IntoIterator<Item = String>) {
        self.lines.push(cells.into_iter().collect());
    }

    /// Adds a remark.
    #[must_use]
    pub fn remark(mut self, text: impl Into<String>) -> Self {
        self.remarks.push(text.into());
        self
    }

    /// Lines by one key, columns by another, values in the cells; in the order in which they come.
    pub fn pivot<'r>(
        title: impl Into<String>,
        rows: impl IntoIterator<Item = &'r Row>,
        (line_key, column_key): (&str, &str),
    ) -> Self {
        let (mut columns, mut lines): (Vec<String>, Vec<(String, Vec<String>)>) = Default::default();
        for row in rows {
            let (line, column) = (label(row.get(line_key)), label(row.get(column_key)));
            let at = columns.iter().position(|c| *c == column).unwrap_or_else(|| {
                columns.push(column);
                columns.len() - 1
            });
            let line_at = lines.iter().position(|(l, _)| *l == line).unwrap_or_else(|| {
                lines.push((line, Vec::new()));
                lines.len() - 1
            });
            let cells = &mut lines[line_at].1;
            cells.resize(cells.len().max(at + 1), String::new());
            cells[at] = figure(row.value());
        }
        let width = columns.len();
        let lines = lines.into_iter().map(|(line, mut cells)| {
            cells.resize(width, String::new());
            std::iter::once(line).chain(cells).collect()
        });
        let head = std::iter::once(line_key.replace('_', " ")).chain(columns).collect();
        Self { title: title.into(), head, lines: lines.collect(), remarks: Vec::new() }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.head.iter().map(|cell| cell.chars().count()).collect();
        for line in &self.lines {
            for (width, cell) in widths.iter_mut().zip(line) {
                *width = (*width).max(cell.chars().count());
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        writeln!(f, "{}", self.title)?;
        write_line(f, &self.head, &widths)?;
        let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
        write_line(f, &rule, &widths)?;
        self.lines.iter().try_for_each(|line| write_line(f, line, &widths))?;
        self.remarks.iter().try_for_each(|remark| writeln!(f, "  {remark}"))
    }
}

fn write_line(f: &mut fmt::Formatter<'_>, cells: &[String], widths: &[usize]) -> fmt::Result {
    let mut line = String::from(" ");
    for (i, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        line += &if i == 0 { format!(" {cell}{padding}") } else { format!("  {padding}{cell}") };
    }
    writeln!(f, "{}", line.trim_end())
}

fn label(value: Option<&Value>) -> String {
    match value {
        None => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(n)) if n.as_u64().is_some() => grouped(n.as_u64().unwrap_or(0)),
        Some(other) => other.to_string(),
    }
}

/// A number with three digits that count, or all of those before the point.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "-".to_owned(),
        size if value.fract() == 0.0 && size < 1e15 => grouped_signed(value),
        size if size >= 999.5 => grouped_signed(value.round()),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn grouped_signed(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(value.abs() as u64))
}

/// Digits in groups of three.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What to print for a target.
pub(crate) fn verdict(row: &Row) -> String {
    match row.get("ok") {
        Some(Value::Bool(true)) => "ok".to_owned(),
        Some(Value::Bool(false)) => "NOT OK".to_owned(),
        _ => String::new(),
    }
}

/// The rows that have a target, with the verdict.
pub(crate) fn targets(rows: &[Row], describe: impl Fn(&Row) -> String) -> Table {
    let mut table = Table::new("Targets", ["", "value", "target", "unit", ""]);
    for row in rows.iter().filter(|row| row.get("ok").is_some()) {
        let target = row.number("target").unwrap_or(f64::NAN);
        table.line([
            describe(row),
            figure(row.value()),
            format!("{} {}", row.text("bound"), figure(target)),
            row.text("unit").to_owned(),
            verdict(row),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        let all = [0.123, 1.0, 12.34, 123.4, 1234.5, 1_000_000.0, f64::NAN, -2500.0];
        assert_eq!(all.map(figure), ["0.12", "1", "12.3", "123", "1,235", "1,000,000", "-", "-2,500"]);
    }

    #[test]
    fn pivots_line_up() {
        let row = |s: &str, n: u32, value| Row::new("e", "m", "ns", value).with("s", s).with("objects", n);
        let rows = [row("linear", 1, 5.0), row("linear", 1000, 5000.0), row("active", 1000, 4.5)];
        let text = Table::pivot("T", &rows, ("s", "objects")).to_string();
        assert_eq!(
            text,
            "T\n  s       1  1,000\n  ------  -  -----\n  linear  5  5,000\n  active      4.50\n"
        );
    }
}
