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
    assert!(message.contains("after 2 frames") && message.contains("it ends within a record"), "{message}");

    std::fs::write(&file, "no capture at all, but long enough").unwrap();
    let (status, message) = failure_of(&["trace", &file]);
    assert!(status == 1 && message.contains("neither pcap nor pcapng"), "{message}");
    let (status, message) = failure_of(&["trace", &folder.file("none.pcap")]);
    assert!(status == 1 && message.contains("none.pcap"), "{message}");
    for wrong in [["--to", "nowhere"], ["--flows", "0"], ["--chains", "0"], ["--idle", "0"]] {
        assert_eq!(failure_of(&["trace", wrong[0], wrong[1], &file]).0, 2, "{wrong:?}");
    }
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
