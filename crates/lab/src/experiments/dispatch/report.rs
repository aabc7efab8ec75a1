//! The rows as tables.

use crate::table::{figure, targets};
use crate::{Row, Table, Value};

/// Everything that was measured.
pub(crate) fn tables(rows: &[Row]) -> Vec<Table> {
    let mut tables = by_objects(rows);
    tables.extend(by_operations(rows));
    tables.push(steps(rows));
    tables.extend(beside_the_paper(rows));
    tables.push(memory(rows));
    tables.extend(counted(rows));
    tables.push(targets(rows, |row| {
        let about = ["metric", "strategy", "step", "objects", "invocation", "source", "name_length"];
        let about = about.iter().filter_map(|key| row.get(key)).map(plain);
        about.collect::<Vec<_>>().join(" ")
    }));
    tables.retain(|table| !table.is_empty());
    tables
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace('_', " "))
}

fn select<'r>(rows: &'r [Row], wanted: &[(&str, Value)]) -> Vec<&'r Row> {
    rows.iter().filter(|row| row.matches(wanted)).collect()
}

/// Figures 5 and 6: finding object and operation, and the message, over the number of objects.
fn by_objects(rows: &[Row]) -> Vec<Table> {
    let figure = |step: &str, invocation: &str, title: &str| {
        let wanted = [
            ("metric", "time".into()),
            ("step", step.into()),
            ("invocation", invocation.into()),
            ("shape", "paper".into()),
            ("operations", 100.into()),
        ];
        let pure = select(rows, &wanted).into_iter().filter(|row| !row.text("strategy").contains('+'));
        Table::pivot(format!("{title}, {invocation}: ns by number of objects"), pure, ("strategy", "objects"))
    };
    [("find-object", "Finding the object"), ("message", "Whole message, 100 operations")]
        .iter()
        .flat_map(|(step, title)| ["random", "worst-case"].map(|invocation| figure(step, invocation, title)))
        .collect()
}

/// Finding the operation, over the size of the interface.
fn by_operations(rows: &[Row]) -> Vec<Table> {
    let figure = |family: &str, invocation: &str| {
        let wanted = [
            ("metric", "time".into()),
            ("step", "find-operation".into()),
            ("invocation", invocation.into()),
            ("shape", family.into()),
            ("objects", 500.into()),
        ];
        let pure = select(rows, &wanted).into_iter().filter(|row| !row.text("strategy").contains('+'));
        let title = format!("Finding the operation, {family}'s interfaces, {invocation}: ns by operations");
        Table::pivot(title, pure, ("strategy", "operations"))
    };
    let all = ["paper", "census"];
    all.iter().flat_map(|family| ["random", "worst-case"].map(|i| figure(family, i))).collect()
}

/// Where the time of a message goes.
fn steps(rows: &[Row]) -> Table {
    let wanted = [
        ("metric", "time".into()),
        ("objects", 500.into()),
        ("operations", 100.into()),
        ("invocation", "worst-case".into()),
    ];
    Table::pivot(
        "Steps at 500 objects and 100 operations, worst case: ns",
        select(rows, &wanted),
        ("strategy", "step"),
    )
}

fn beside_the_paper(rows: &[Row]) -> Vec<Table> {
    ["TAO-2", "TAO-3", "TAO-4", "TAO-5"].map(|claim| beside(rows, claim)).into()
}

fn beside(rows: &[Row], claim: &str) -> Table {
    let title = match claim {
        "TAO-2" => "TAO-2: worst case over random, object and operation, 500 x 100",
        "TAO-3" => "TAO-3: table 1, worst case, 500 x 100",
        "TAO-4" => "TAO-4: share of finding and skeleton in a message, 500 x 100",
        _ => "TAO-5: share of demultiplexing in a conventional ORB, 500 x 100",
    };
    let mut table = Table::new(title, ["strategy", "step", "metric", "ours", "paper"]);
    for row in select(rows, &[("claim", claim.into())]) {
        table.line([
            row.text("strategy").to_owned(),
            row.text("step").to_owned(),
            format!("{} ({})", row.text("metric").replace('_', " "), row.text("unit")),
            figure(row.value()),
            row.number("paper").map_or(String::new(), figure),
        ]);
    }
    match claim {
        "TAO-4" | "TAO-5" => table.remark(
            "The paper's server includes system calls and the network's receive path; ours is the ORB alone.",
        ),
        _ => table,
    }
}

fn memory(rows: &[Row]) -> Table {
    let bytes = select(rows, &[("metric", "bytes_per_object".into())]);
    Table::pivot("Bytes per active object besides the servant", bytes, ("strategy", "source"))
}

/// Instructions per step and invocation, by number of objects; the way to the skeleton; names by length.
fn counted(rows: &[Row]) -> Vec<Table> {
    let mut tables = Vec::new();
    for step in ["find-object", "find-operation", "to-skeleton", "to-skeleton-by-name", "message"] {
        for invocation in ["first", "worst-case", "random"] {
            let wanted = [
                ("metric", "instructions".into()),
                ("step", step.into()),
                ("invocation", invocation.into()),
                ("operations", 100.into()),
            ];
            let title = format!("Instructions, {step}, 100 operations, {invocation}: by number of objects");
            tables.push(Table::pivot(title, select(rows, &wanted), ("strategy", "objects")));
        }
    }
    for (family, title) in [("census", "census's names"), ("lengths", "one name of each length")] {
        let names =
            [("metric", "instructions".into()), ("invocation", "each name".into()), ("shape", family.into())];
        let title =
            format!("Instructions of finding an operation by its name, {title}: by the name's length");
        tables.push(Table::pivot(title, select(rows, &names), ("name_length", "strategy")));
    }
    let lines =
        [("metric", "cache_lines".into()), ("invocation", "random".into()), ("operations", 100.into())];
    for counted in ["first lookup", "each further lookup"] {
        let lines = select(rows, &lines).into_iter().filter(|row| row.text("counted") == counted);
        let title = format!("Data cache lines touched to find an object, {counted}: by number of objects");
        tables.push(Table::pivot(title, lines, ("strategy", "objects")));
    }
    tables
}
