//! Writes the interfaces that experiments dispatch to, as IDL, and compiles them; writes servants and the plain `match`
//! that the perfect hash is compared with.

use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// Interfaces of the TAO paper (operations without arguments), and shapes from a census of 900 real interfaces: own
/// operations at the median, the 90th and the 99th percentile, and the largest.
const PAPER: [usize; 3] = [1, 10, 100];
const CENSUS: [usize; 4] = [3, 12, 32, 136];
/// One operation of each length from 1 to this.
const LENGTHS: usize = 24;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let paper = PAPER.map(|n| (format!("Paper{n}"), (0..n).map(|i| format!("operation_{i}")).collect()));
    let census = CENSUS.map(|n| (format!("Census{n}"), census_names(n)));
    let lengths = (format!("Lengths{LENGTHS}"), (1..=LENGTHS).map(|length| name(length, length)).collect());
    let shapes: Vec<(String, Vec<String>)> = paper.into_iter().chain(census).chain([lengths]).collect();

    let idl = out.join("shapes.idl");
    fs::write(&idl, shapes_idl(&shapes)?)?;
    throughline_idl::compile(&idl)?;
    fs::write(out.join("shape_servants.rs"), servants(&shapes)?)?;

    throughline_idl::compile("idl/bench.idl")?;
    Ok(())
}

fn shapes_idl(shapes: &[(String, Vec<String>)]) -> Result<String, std::fmt::Error> {
    let mut idl = String::from("module Shapes {\n");
    for (interface, operations) in shapes {
        writeln!(idl, "  interface {interface} {{")?;
        operations.iter().try_for_each(|name| writeln!(idl, "    void {name}();"))?;
        idl += "  };\n";
    }
    Ok(idl + "};\n")
}

/// Operations that do nothing, in a way that no two of them are the same code; a `match` over their names; and the list
/// of shapes.
fn servants(shapes: &[(String, Vec<String>)]) -> Result<String, std::fmt::Error> {
    let mut code = String::new();
    for (interface, operations) in shapes {
        writeln!(code, "impl shapes::{interface} for Nothing {{")?;
        for (index, name) in operations.iter().enumerate() {
            writeln!(code, "    #[inline(never)]")?;
            writeln!(code, "    fn {name}(&self) -> Result<(), SystemException> {{ done({index}) }}")?;
        }
        writeln!(code, "}}\n")?;
        let matcher = format!("match_{}", interface.to_lowercase());
        writeln!(code, "fn {matcher}(name: &[u8]) -> Option<u32> {{\n    match name {{")?;
        for (index, name) in operations.iter().enumerate() {
            writeln!(code, "        b\"{name}\" => Some({index}),")?;
        }
        writeln!(code, "        _ => None,\n    }}\n}}\n")?;
    }
    writeln!(code, "pub(crate) static SHAPES: [Shape; {}] = [", shapes.len())?;
    for (interface, operations) in shapes {
        let (family, upper) = (interface.trim_end_matches(char::is_numeric), interface.to_uppercase());
        writeln!(
            code,
            "    Shape {{ family: \"{}\", operations: {}, interface: &shapes::{upper}, activate: |a| \
             Ok(a.activate(shapes::{interface}Skeleton(Nothing))?.as_object().clone()), skeleton: || \
             Box::new(shapes::{interface}Skeleton(Nothing)), plain_match: match_{} }},",
            family.to_lowercase(),
            operations.len(),
            interface.to_lowercase(),
        )?;
    }
    Ok(code + "];\n")
}

const VERBS: [&str; 12] = [
    "retrieve", "assign", "register", "cancel", "update", "lookup", "destroy", "create", "notify",
    "validate", "resolve", "suspend",
];
const NOUNS: [&str; 13] = [
    "channel",
    "account",
    "event",
    "property",
    "supplier",
    "region",
    "sequence",
    "filter",
    "policy",
    "session",
    "factory",
    "constraint",
    "waypoint",
];

/// Distinct names whose lengths are spread like those of the census: median 15, 99th percentile 33, longest 54.
fn census_names(count: usize) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut in_order = Vec::new();
    for i in 0..count {
        // Multiples of the golden section fall evenly into every quantile; the last one is at the median.
        let quantile = ((count - 1 - i) as f64 * 0.618_033_988_75 + 0.5).fract();
        let length = length_at(if i == count / 2 && count > 100 { 1.0 } else { quantile });
        let name = (0..).map(|attempt| name(i + 7 * attempt, length)).find(|name| !names.contains(name));
        let name = name.expect("an endless iterator ends only by finding");
        names.insert(name.clone());
        in_order.push(name);
    }
    in_order
}

fn length_at(quantile: f64) -> usize {
    let steps = [(0.0, 5.0), (0.5, 15.0), (0.9, 24.0), (0.99, 33.0), (1.0, 54.0)];
    let upper = steps.iter().position(|(q, _)| quantile <= *q).unwrap_or(4).max(1);
    let ((q0, l0), (q1, l1)) = (steps[upper - 1], steps[upper]);
    (l0 + (l1 - l0) * (quantile - q0) / (q1 - q0)).round() as usize
}

fn name(seed: usize, length: usize) -> String {
    let mut name = VERBS[seed % VERBS.len()].to_owned();
    for step in 0.. {
        if name.len() >= length {
            break;
        }
        name = name + "_" + NOUNS[(seed / VERBS.len() + seed * (step + 3) + step) % NOUNS.len()];
    }
    name.truncate(length);
    if name.ends_with('_') {
        name.pop();
        name.push('s');
    }
    name
}
