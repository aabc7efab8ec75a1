//! System calls per call, counted by strace: of two runs of different length, the difference.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::omniorb::{How, Programs, Side};
use super::row;
use crate::peers::{Cores, Round};
use crate::{LabError, Sink};

/// One to receive, one to send, and no other.
const TARGET: f64 = 2.0;
/// To receive, or to send.
const TARGET_OF_EACH: f64 = 1.0;
const SHORT: u32 = 500;
const LONG: u32 = 2_500;

/// By name of the system call.
type Calls = BTreeMap<String, f64>;

/// Both sides of ours, and of omniORB's where it is there.
pub(super) fn measure(theirs: Option<&Programs>, sink: &mut dyn Sink) -> Result<(), LabError> {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        sink.note("system calls are not counted: strace is not installed (Debian package `strace`)");
        return Ok(());
    }
    for side in [Side::Ours, Side::Omniorb].into_iter().take(if theirs.is_some() { 2 } else { 1 }) {
        sink.ahead(1);
        sink.step(&format!("system calls, {}", side.name()));
        let (short, long) = (count(theirs, side, SHORT)?, count(theirs, side, LONG)?);
        for ((end, short), (_, long)) in short.iter().zip(&long) {
            for row in rows(side, end, short, long) {
                sink.row(row)?;
            }
        }
    }
    Ok(())
}

fn rows(side: Side, end: &str, short: &Calls, long: &Calls) -> Vec<crate::Row> {
    let per_call =
        |name: &String| (long[name] - short.get(name).copied().unwrap_or(0.0)) / f64::from(LONG - SHORT);
    let with = |value: f64, syscall: &str| {
        let value = (value * 100.0).round() / 100.0;
        row("syscalls_per_call", "calls", value)
            .with("orb", side.name())
            .with("end", end)
            .with("syscall", syscall)
    };
    let each: Vec<(f64, &String)> =
        long.keys().map(|name| (per_call(name), name)).filter(|(n, _)| *n > 0.005).collect();
    let all: f64 = each.iter().map(|(n, _)| n).sum();
    let judged = |row: crate::Row, most: f64| if side == Side::Ours { row.at_most(most) } else { row };
    let total = judged(with(all, "all"), TARGET);
    let one = |(n, name): &(f64, &String)| match name.as_str() {
        "recvfrom" | "sendto" => judged(with(*n, name), TARGET_OF_EACH),
        _ => with(*n, name),
    };
    std::iter::once(total).chain(each.iter().map(one)).collect()
}

/// System calls of client and server during a run of that many pings.
fn count(theirs: Option<&Programs>, side: Side, pings: u32) -> Result<[(&'static str, Calls); 2], LabError> {
    let file =
        |end: &str| std::env::temp_dir().join(format!("throughline-lab-{}-{end}.strace", std::process::id()));
    let files = [file("client"), file("server")];
    let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let traced = |file: usize| ["strace", "-f", "-c", "-o", &names[file]];
    let (client_prefix, server_prefix) = (traced(0), traced(1));
    let how = |prefix| How { theirs, wait: "block", prefix };
    let (server, reference) = how(&server_prefix[..]).server(side, Cores::Any)?;
    let mut client = how(&client_prefix[..]).client(side, &reference, 1, Cores::Any)?;
    client.round(&Round { op: "ping", bytes: 0, count: pings, warmup: 100, threads: 1 })?;
    client.end()?;
    server.end()?;
    let calls = files.each_ref().map(|path| read(path));
    files.iter().for_each(|path: &PathBuf| drop(fs::remove_file(path)));
    let [client, server] = calls;
    Ok([("client", client?), ("server", server?)])
}

fn read(path: &Path) -> Result<Calls, LabError> {
    Ok(parse(&fs::read_to_string(path)?))
}

/// Lines of `% time, seconds, usecs/call, calls, [errors,] syscall` between two rules.
fn parse(text: &str) -> Calls {
    let mut calls = Calls::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [share, _, _, count, .., name] = words[..]
            && share.parse::<f64>().is_ok()
            && name != "total"
            && let Ok(count) = count.parse::<f64>()
        {
            *calls.entry(name.to_owned()).or_default() += count;
        }
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read() {
        let text = "% time     seconds  usecs/call     calls    errors syscall\n\
                    ------ ----------- ----------- --------- --------- ----------------\n \
                    60.00    0.001000           1      1000           recvfrom\n \
                    40.00    0.000500           1       500         2 sendto\n\
                    ------ ----------- ----------- --------- --------- ----------------\n\
                    100.00    0.001500           1      1500         2 total\n";
        let expected = [("recvfrom".to_owned(), 1000.0), ("sendto".to_owned(), 500.0)];
        assert_eq!(parse(text), Calls::from(expected));
    }
}
