//! System calls per call, counted by strace: of two runs of different length, the difference.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::omniorb::{How, Programs, Side};
use super::row;
use crate::peers::{Cores, Round};
use crate::{LabError, Sink};

/// To receive, or to send. In all, which includes what is done by the clock rather than per call, and the more so the
/// slower strace makes the calls, as many as omniORB's end makes.
const TARGET_OF_EACH: f64 = 1.0;
const SHORT: u32 = 500;
const LONG: u32 = 2_500;

const ENDS: [&str; 2] = ["client", "server"];

/// By name of the system call.
type Calls = BTreeMap<String, f64>;

/// Both sides of ours, and of omniORB's where it is there.
pub(super) fn measure(theirs: Option<&Programs>, sink: &mut dyn Sink) -> Result<(), LabError> {
    let found = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        sink.note("system calls are not counted: strace is not installed (Debian package `strace`)");
        return Ok(());
    }
    let omniorb = if theirs.is_some() { Some(per_call(theirs, Side::Omniorb, sink)?) } else { None };
    let ours = per_call(theirs, Side::Ours, sink)?;
    for (n, end) in ENDS.into_iter().enumerate() {
        let most = omniorb.as_ref().map(|omniorb| all(&omniorb[n]));
        rows(Side::Ours, end, &ours[n], most).into_iter().try_for_each(|row| sink.row(row))?;
    }
    for (end, calls) in ENDS.iter().zip(omniorb.iter().flatten()) {
        rows(Side::Omniorb, end, calls, None).into_iter().try_for_each(|row| sink.row(row))?;
    }
    Ok(())
}

/// System calls per ping at both ends.
fn per_call(theirs: Option<&Programs>, side: Side, sink: &mut dyn Sink) -> Result<[Calls; 2], LabError> {
    sink.ahead(1);
    sink.step(&format!("system calls, {}", side.name()));
    let (short, long) = (count(theirs, side, SHORT)?, count(theirs, side, LONG)?);
    let difference = |end: usize| {
        let more = |name: &str, n: f64| n - short[end].get(name).copied().unwrap_or(0.0);
        let rounded = |n: f64| (n / f64::from(LONG - SHORT) * 100.0).round() / 100.0;
        let each = long[end].iter().map(|(name, n)| (name.clone(), rounded(more(name, *n))));
        each.filter(|(_, n)| *n > 0.0).collect()
    };
    Ok([difference(0), difference(1)])
}

fn all(calls: &Calls) -> f64 {
    (calls.values().sum::<f64>() * 100.0).round() / 100.0
}

/// `most`: how many there may be in all.
fn rows(side: Side, end: &str, calls: &Calls, most: Option<f64>) -> Vec<crate::Row> {
    let with = |value: f64, syscall: &str| {
        row("syscalls_per_call", "calls", value)
            .with("orb", side.name())
            .with("end", end)
            .with("syscall", syscall)
    };
    let total = with(all(calls), "all");
    let total = if let Some(most) = most { total.at_most(most) } else { total };
    let one = |(name, n): (&String, &f64)| match name.as_str() {
        "recvfrom" | "sendto" if side == Side::Ours => with(*n, name).at_most(TARGET_OF_EACH),
        _ => with(*n, name),
    };
    std::iter::once(total).chain(calls.iter().map(one)).collect()
}

/// System calls of client and server during a run of that many pings.
fn count(theirs: Option<&Programs>, side: Side, pings: u32) -> Result<[Calls; 2], LabError> {
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
    Ok([client?, server?])
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
