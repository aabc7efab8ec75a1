//! `throughline trace` on the captures that other programs are tested with, from Debian's source packages: what libpcap
//! or Wireshark can read is read to the same number of packets, and nothing breaks down. Many of them are malformed on
//! purpose: all are replayed through the protocol graph too, in its three architectures.
//!
//! The packages are fetched once, from the mirror that this machine uses, and kept in the target folder. Others, or fewer, can
//! be named in `THROUGHLINE_CAPTURE_PACKAGES`.

mod common;
mod replay;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::{has, run};

/// 50 MB in all, most of them Wireshark's, besides 10 MB of Debian's list of source packages.
const PACKAGES: &str = "tcpdump libpcap python-dpkt wireshark";

#[test]
fn captures_of_other_programs() {
    if !["apt-get", "timeout", "tar", "capinfos", "tcpdump"].into_iter().all(has) {
        return skipped("the captures of Debian's source packages");
    }
    let packages = std::env::var("THROUGHLINE_CAPTURE_PACKAGES").unwrap_or_else(|_| PACKAGES.to_owned());
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debian-captures");
    for package in packages.split_whitespace() {
        if let Err(why) = fetch(&all, package) {
            skipped(&format!("cannot fetch Debian's source package {package}: {why}"));
            // Nor any other, but those fetched before.
            if !has_lists(&all) {
                break;
            }
            continue;
        }
        check(package, &captures(&all.join(package)));
    }
}

fn skipped(what: &str) {
    // Straight to stderr, where the test harness does not swallow it.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}

/// Has a package's source in a folder of its name.
fn fetch(all: &Path, package: &str) -> Result<(), String> {
    let folder = all.join(package);
    if folder.join("fetched").exists() {
        return Ok(());
    }
    let _ = fs::remove_dir_all(&folder);
    for part in ["lists/partial", "cache/archives/partial", package] {
        fs::create_dir_all(all.join(part)).map_err(|e| e.to_string())?;
    }
    if !has_lists(all) {
        apt(all, &folder, &["update"])?;
        has_lists(all).then_some(()).ok_or("there is no list of source packages to be had")?;
    }
    apt(all, &folder, &["source", "--download-only", "--tar-only", package])?;
    for file in files(&folder) {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if name.contains(".orig.tar.") && !name.ends_with(".asc") {
            done(Command::new("tar").arg("-xf").arg(&file).arg("-C").arg(&folder))?;
        }
    }
    fs::write(folder.join("fetched"), "").map_err(|e| e.to_string())
}

fn has_lists(all: &Path) -> bool {
    files(&all.join("lists")).iter().any(|file| file.to_string_lossy().contains("_Sources"))
}

/// Runs `apt-get` on sources, of the mirrors that the machine has its packages from, and with a state of its own.
fn apt(all: &Path, folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut mirrors = Command::new("apt-get");
    mirrors.args(["indextargets", "--format", "deb-src $(SITE) $(RELEASE) $(COMPONENT)"]);
    let sources = done(mirrors.arg("Created-By: Packages"))?;
    if sources.is_empty() {
        return Err("this machine has no lists of packages (apt-get update)".to_owned());
    }
    fs::write(all.join("sources.list"), sources).map_err(|e| e.to_string())?;
    let mut apt = Command::new("timeout");
    apt.args([
        "100",
        "apt-get",
        "-q",
        "-o",
        "Dir::Etc::sourceparts=/dev/null",
        "-o",
        "APT::Sandbox::User=root",
    ]);
    apt.args(["-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10"]);
    for (option, file) in
        [("Dir::Etc::sourcelist", "sources.list"), ("Dir::State::lists", "lists"), ("Dir::Cache", "cache")]
    {
        apt.arg("-o").arg(format!("{option}={}", all.join(file).display()));
    }
    done(apt.args(arguments).current_dir(folder)).map(|_| ())
}

/// What a command prints, if it succeeds.
fn done(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.env("LC_ALL", "C").output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(told.lines().last().unwrap_or("it does not say why").to_owned())
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => all.push(entry.path()),
            _ => {}
        }
    }
    all
}

fn captures(folder: &Path) -> Vec<PathBuf> {
    let is_capture = |file: &PathBuf| {
        let name = file.to_string_lossy();
        let name = name.trim_end_matches(".gz");
        [".pcap", ".pcapng", ".cap"].into_iter().any(|kind| name.ends_with(kind))
    };
    files(folder).into_iter().filter(is_capture).collect()
}

fn check(package: &str, captures: &[PathBuf]) {
    assert!(!captures.is_empty(), "{package} has no captures any more");
    let counts = by_capinfos(captures);
    let next = AtomicUsize::new(0);
    let accepted = AtomicUsize::new(0);
    let (replayed, delivered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = captures.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let count = counts.get(file).copied().or_else(|| by_tcpdump(file));
                    accepted.fetch_add(count.is_some().into(), Ordering::Relaxed);
                    check_one(file, count);
                    let (packets, messages) = replay::same_fate(file);
                    replayed.fetch_add(packets, Ordering::Relaxed);
                    delivered.fetch_add(messages, Ordering::Relaxed);
                }
            });
        }
    });
    let accepted = accepted.into_inner();
    let (replayed, delivered) = (replayed.into_inner(), delivered.into_inner());
    let all = captures.len();
    let _ = writeln!(
        std::io::stderr(),
        "{package}: {all} captures, {accepted} of them accepted; {replayed} packets replayed, {delivered} messages delivered"
    );
    // A few captures may hold nothing for anybody's port.
    assert!(
        replayed > 0 && (delivered > 0 || all < 10),
        "{package}: {replayed} packets, {delivered} messages"
    );
    // Some are there to be refused.
    assert!(
        accepted > 0 && (accepted * 10 > captures.len() * 9 || captures.len() < 10),
        "{package}: {accepted}"
    );
}

/// `count` is how many packets another program finds, if it accepts the capture.
fn check_one(file: &Path, count: Option<u64>) {
    let name = file.display();
    let Output { status, stdout, stderr } = run(&["trace", "--json", file.to_str().unwrap()]);
    let (rows, messages) = (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr));
    let rows: Vec<serde_json::Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let value =
        |metric: &str| rows.iter().find(|row| row["metric"] == metric).map(|row| row["value"].clone());
    match (status.code(), count) {
        (Some(0), Some(count)) => assert_eq!(value("frames"), Some(count.into()), "{name}"),
        (Some(0), None) => assert!(value("fault_offset").is_none() && value("frames").is_some(), "{name}"),
        (Some(3), None) => {
            assert!(value("fault_offset").is_some() && messages.contains("at octet"), "{name}")
        }
        (Some(1), None) => assert!(messages.contains("is no capture"), "{name}: {messages}"),
        _ => panic!("{name}: {status} where others find {count:?} packets: {messages}"),
    }
}

/// Packets by Wireshark's count, of the captures with which it has no difficulty.
fn by_capinfos(captures: &[PathBuf]) -> HashMap<PathBuf, u64> {
    let output = Command::new("capinfos").args(["-T", "-r", "-M", "-c"]).args(captures).output().unwrap();
    let difficulties = String::from_utf8_lossy(&output.stderr).into_owned();
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = table.lines().filter_map(|line| line.split_once('\t'));
    let counted = lines.filter(|(file, _)| !difficulties.contains(file));
    counted.filter_map(|(file, count)| Some((file.into(), count.parse().ok()?))).collect()
}

/// Packets by libpcap's count; none if it does not accept the capture.
fn by_tcpdump(file: &Path) -> Option<u64> {
    let output = Command::new("tcpdump").args(["--count", "-r"]).arg(file).output().ok()?;
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| told.split_whitespace().next()?.parse().ok())?
}
