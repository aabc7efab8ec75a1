//! Callgrind's files, as far as totals go.

/// What was counted between two toggles, or several times so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Instructions executed.
    pub(crate) instructions: f64,
    /// Reads and writes that missed the first-level data cache.
    pub(crate) misses: f64,
}

/// The label and the totals of one dump.
pub(crate) fn dump(text: &str) -> Option<(String, Counts)> {
    let after = |prefix: &str| text.lines().find_map(|line| line.strip_prefix(prefix)).map(str::trim);
    let label = after("desc: Trigger: Client Request:")?.to_owned();
    let events: Vec<&str> = after("events:")?.split_whitespace().collect();
    let totals = after("totals:").or_else(|| after("summary:"))?;
    let totals: Vec<f64> = totals.split_whitespace().map_while(|n| n.parse().ok()).collect();
    // Trailing zeroes are left out.
    let of = |event: &str| events.iter().position(|e| *e == event).and_then(|at| totals.get(at)).copied();
    let sum = |events: [&str; 2]| events.iter().filter_map(|event| of(event)).sum();
    Some((label, Counts { instructions: of("Ir").unwrap_or(0.0), misses: sum(["D1mr", "D1mw"]) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        let text = "version: 1\npart: 2\n\ndesc: I1 cache: x\ndesc: Trigger: Client Request: first/find-object\n\
                    positions: line\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\nsummary: 0\n\nfn=(1) f\n1 2\n\
                    totals: 340 10 12 0 5 2\n";
        let counts = Counts { instructions: 340.0, misses: 7.0 };
        assert_eq!(dump(text), Some(("first/find-object".to_owned(), counts)));
    }
}
