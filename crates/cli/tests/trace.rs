//! `throughline trace`.

mod common;
#[path = "../../capture/tests/compress/mod.rs"]
mod compress;

use std::io::Write;
use std::process::Stdio;

use common::{Folder, failure_of, run, stdout_of, throughline};

/// A capture of UDP packets from one port each.
fn capture(ports: &[u16]) -> Vec<u8> {
    let mut file =
        vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 101, 0, 0, 0];
    for (second, port) in ports.iter().enumerate() {
        file.extend((second as u32).to_le_bytes());
        file.extend([0, 0, 0, 0, 28, 0, 0, 0, 28, 0, 0, 0]);
        file.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        file.extend(port.to_be_bytes());
        file.extend([0, 53, 0, 8, 0, 0]);
    }
    file
}

#[test]
fn tables_rows_and_a_page() {
    let folder = Folder::new("trace");
    let (file, page) = (folder.file("a.pcap"), folder.file("a.html"));
    std::fs::write(&file, capture(&[1, 1, 2, 3, 1])).unwrap();
    let text = stdout_of(&["trace", "--html", &page, &file]);
    for part in ["packets of flows", "one-entry cache", "move-to-front", "flow-table", "Take "] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(std::fs::read_to_string(&page).unwrap().contains("<svg"));
    let rows = stdout_of(&["trace", "--json", "--one-way", "--to", "10.0.0.0/8", &file]);
    let rows: Vec<serde_json::Value> = rows.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let value = |metric: &str| rows.iter().find(|r| r["metric"] == metric).unwrap()["value"].clone();
    assert_eq!((value("packets"), value("flows"), value("duration")), (5.into(), 3.into(), 4.into()));
    assert!(rows.iter().all(|r| r["experiment"] == "trace" && r["unit"].is_string()));
}

#[test]
fn standard_input() {
    let mut child =
        throughline().args(["trace", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&capture(&[5, 6])).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && String::from_utf8(output.stdout).unwrap().contains("Take "));
}

#[test]
fn faults_have_their_status() {
    let folder = Folder::new("trace-faults");
    let file = folder.file("cut.pcap");
    let whole = capture(&[1, 2, 3]);
    std::fs::write(&file, &whole[..whole.len() - 5]).unwrap();
    let output = run(&["trace", &file]);
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8(output.stdout).unwrap().contains("Take "));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("after 2 frames: it is truncated") && message.contains("next:"), "{message}");

    std::fs::write(&file, "no capture at all, but long enough").unwrap();
    let (status, message) = failure_of(&["trace", &file]);
    assert!(status == 1 && message.contains("neither pcap nor pcapng"), "{message}");
    let (status, message) = failure_of(&["trace", &folder.file("none.pcap")]);
    assert!(status == 1 && message.contains("none.pcap"), "{message}");
    for (head, command) in [
        (&b"BZh91AY&SY"[..], "bzip2 -dc < FILE |"),
        (&[0x28, 0xb5, 0x2f, 0xfd], "zstd -dc --long=31 < FILE |"),
    ] {
        std::fs::write(&file, head).unwrap();
        let (status, message) = failure_of(&["trace", &file]);
        assert!(status == 1 && message.contains("cannot be read") && message.contains(command), "{message}");
    }
    for wrong in [["--to", "nowhere"], ["--flows", "15"], ["--chains", "0"], ["--idle", "0"]] {
        assert_eq!(failure_of(&["trace", wrong[0], wrong[1], &file]).0, 2, "{wrong:?}");
    }
}

#[test]
fn the_page_has_a_place_of_its_own() {
    let folder = Folder::new("trace-page");
    let (file, page) = (folder.file("a.pcap"), folder.file("a.html"));
    let (linked, hard) = (folder.file("linked"), folder.file("hard"));
    std::fs::write(&file, capture(&[1, 2])).unwrap();
    std::os::unix::fs::symlink(&file, &linked).unwrap();
    std::fs::hard_link(&file, &hard).unwrap();
    for same in [&file, &linked, &hard] {
        let (status, message) = failure_of(&["trace", "--html", same, &file]);
        assert!(status == 2 && message.contains("would overwrite the capture"), "{message}");
    }
    let stdin = std::fs::File::open(&file).unwrap();
    let output = throughline().args(["trace", "--html", &hard, "-"]).stdin(stdin).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(std::fs::read(&file).unwrap(), capture(&[1, 2]));
    assert_eq!(failure_of(&["trace", "--html", "-", &file]).0, 2);
    // Neither is anything read for a page that has no place, nor a page lost or left for what is no capture.
    let (status, message) =
        failure_of(&["trace", "--html", &folder.file("none/a.html"), &folder.file("none")]);
    assert!(status == 1 && message.contains("cannot write"), "{message}");
    let none = folder.file("no.pcap");
    failure_of(&["trace", "--html", &page, &none]);
    assert!(!std::path::Path::new(&page).exists());
    std::fs::write(&page, "x".repeat(1 << 20)).unwrap();
    failure_of(&["trace", "--html", &page, &none]);
    assert_eq!(std::fs::read(&page).unwrap().len(), 1 << 20);
    stdout_of(&["trace", "--html", &page, &file]);
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("<!DOCTYPE") && written.ends_with("</html>\n"));
}

/// By links to what is not there yet: as where a shell writes to one.
#[test]
fn the_page_is_made_where_links_lead() {
    let folder = Folder::new("trace-links");
    let (file, page) = (folder.file("a.pcap"), folder.file("a.html"));
    let (near, far) = (folder.file("near"), folder.file("far"));
    std::fs::write(&file, capture(&[1, 2])).unwrap();
    std::os::unix::fs::symlink("a.html", &near).unwrap();
    std::os::unix::fs::symlink(&near, &far).unwrap();
    let (status, message) = failure_of(&["trace", "--html", &far, &folder.file("no.pcap")]);
    assert!(status == 1 && message.contains("cannot read"), "{message}");
    assert!(!std::fs::exists(&page).unwrap());
    stdout_of(&["trace", "--html", &far, &file]);
    let written = std::fs::read_to_string(&page).unwrap();
    assert!(written.starts_with("<!DOCTYPE") && written.ends_with("</html>\n"));
    assert_eq!(std::fs::read_link(&far).unwrap(), std::path::Path::new(&near));
    // And by those that lead to one another, nowhere.
    let round = folder.file("round");
    std::os::unix::fs::symlink("round", &round).unwrap();
    let (status, message) = failure_of(&["trace", "--html", &round, &file]);
    assert!(status == 1 && message.contains("cannot write"), "{message}");
}

#[test]
fn a_full_disk() {
    let folder = Folder::new("trace-full");
    let file = folder.file("a.pcap");
    std::fs::write(&file, capture(&[1, 2])).unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = throughline().args(["trace", &file]).stdout(full).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("cannot write to standard output") && message.contains("No space"), "{message}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = throughline().args(["trace", &file]).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

/// What came by a pipe does not come again: the numbers are there, whatever becomes of the page.
#[test]
fn a_page_on_a_full_disk() {
    let folder = Folder::new("trace-full-page");
    let file = folder.file("a.pcap");
    let whole = capture(&[1, 2]);
    for (octets, status) in [(&whole[..], 1), (&whole[..whole.len() - 1], 3)] {
        std::fs::write(&file, octets).unwrap();
        let output = run(&["trace", "--json", "--html", "/dev/full", &file]);
        let (rows, told) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert!(rows.contains("recommendation"), "{rows}");
        assert!(told.contains("cannot write /dev/full") && told.contains("No space"), "{told}");
        assert_eq!(told.contains("cannot be read to its end"), status == 3, "{told}");
    }
}

#[test]
fn files_one_after_another() {
    let folder = Folder::new("trace-files");
    let file = folder.file("a.pcap.gz");
    let both = [compress::gzip(&capture(&[1, 2, 3])), compress::gzip(&capture(&[3, 4]))].concat();
    std::fs::write(&file, both).unwrap();
    let rows = stdout_of(&["trace", "--json", &file]);
    assert!(rows.contains(r#""metric":"frames","unit":"packets","value":5"#), "{rows}");
}

/// Whether a process has a handler for ctrl-c.
fn listens(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    u64::from_str_radix(caught, 16).unwrap() & 2 != 0
}

#[test]
fn ctrl_c_ends_the_reading() {
    let mut command = throughline();
    command
        .args(["trace", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Held open: it would wait for more.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&capture(&[5, 6, 7])).unwrap();
    while !listens(child.id()) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let (rows, message) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(3), "{message}");
    assert!(rows.contains(r#""metric":"frames","unit":"packets","value":3"#), "{rows}");
    assert!(message.contains("after 3 frames: its reading was ended"), "{message}");
    drop(input);
}

/// `tcpdump -w - | throughline trace -`: the same ctrl-c ends both, and what tcpdump had kept back comes only then.
#[test]
fn ctrl_c_before_anything_has_come() {
    let begin = || {
        let mut command = throughline();
        command.args(["trace", "--json", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        let begun = std::time::Instant::now();
        while !listens(child.id()) {
            assert!(begun.elapsed().as_secs() < 20, "ctrl-c would kill it");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let process = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
        child
    };
    let mut child = begin();
    child.stdin.take().unwrap().write_all(&capture(&[5, 6, 7])).unwrap();
    let output = child.wait_with_output().unwrap();
    let rows = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{rows}");
    assert!(rows.contains(r#""metric":"frames","unit":"packets","value":3"#), "{rows}");
    // Where nothing comes, that is the end.
    let mut silent = begin();
    let input = silent.stdin.take();
    assert_eq!(silent.wait().unwrap().code(), Some(130));
    drop(input);
}

/// Nor is there a page of no report, whatever ends the command.
#[test]
fn a_command_that_is_killed_leaves_no_page() {
    let folder = Folder::new("trace-killed");
    let page = folder.file("a.html");
    let mut command = throughline();
    let mut child = command.args(["trace", "--html", &page, "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(&capture(&[5, 6, 7])).unwrap();
    // The page has its place by then.
    while !listens(child.id()) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!std::path::Path::new(&page).exists());
}

#[test]
fn nothing_to_look_up() {
    let folder = Folder::new("trace-nothing");
    let file = folder.file("a.pcap");
    std::fs::write(&file, capture(&[1, 2])).unwrap();
    let text = stdout_of(&["trace", "--to", "192.0.2.1", &file]);
    assert!(text.contains("(2) is to 192.0.2.1/32") && !text.contains("Lookups"), "{text}");
}

/// A part of a file that would take too much memory to decompress is no damage: what reads it is told.
#[test]
fn a_part_that_refers_back_too_far() {
    let folder = Folder::new("trace-window");
    let file = folder.file("a.pcap.zst");
    // A frame of Zstandard with a window of 2^31 octets.
    let beyond = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 1, 0, 0];
    std::fs::write(&file, [&compress::zstd(&capture(&[1, 2]))[..], &beyond].concat()).unwrap();
    let output = run(&["trace", "--json", &file]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("after 2 frames") && told.contains("zstd -dc --long=31 < FILE"), "{told}");
}

/// Damaged compressed captures are analysed up to the damage: the report is there, and where it ends is told.
#[test]
fn damage_within_compression() {
    let folder = Folder::new("trace-damage");
    let file = folder.file("damaged");
    let mut port = 1_u32;
    let mut next = |_| {
        port = port.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (port >> 16) as u16
    };
    let plain = capture(&(0..60_000).map(&mut next).collect::<Vec<u16>>());
    for (name, compress) in compress::ALL {
        let whole = compress(&plain);
        let cut = whole[..whole.len() * 3 / 4].to_vec();
        let mut flipped = whole;
        let at = flipped.len() * 3 / 4;
        flipped[at] ^= 4;
        for damaged in [cut, flipped] {
            std::fs::write(&file, damaged).unwrap();
            let output = run(&["trace", "--json", &file]);
            assert_eq!(output.status.code(), Some(3), "{name}");
            let rows = String::from_utf8(output.stdout).unwrap();
            let fault = rows.lines().last().unwrap();
            let fault: serde_json::Value = serde_json::from_str(fault).unwrap();
            let frames = fault["frames"].as_u64().unwrap();
            assert!(fault["metric"] == "fault_offset" && frames > 1000, "{name}: {fault}");
            let message = String::from_utf8(output.stderr).unwrap();
            let offset = &fault["value"];
            let place = format!("at octet {offset} of the capture, after {frames} frames: the {name} data");
            assert!(message.contains(&place), "{place}: {message}");
        }
    }
}
