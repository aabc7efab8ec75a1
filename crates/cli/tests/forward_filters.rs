//! tcpdump as the reference of `throughline forward`'s filters: both see the same traffic of a veth pair, and of each expression
//! tcpdump and our consumer have the same packets in the same order.

mod common;
#[path = "../../forward/tests/filter/expressions.rs"]
mod expressions;
mod wires;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::has;
use throughline_capture::{Capture, Source};
use throughline_forward::filter::{Libpcap, SubscribeError, Subscriber};
use throughline_stack::{Device, Message, Packet, PacketConfig, Pool};
use throughline_vi::{CompletionError, Nic};
use wires::{Forwarder, Namespace};

const PORT: &str = "west";
/// How long a packet may be under way.
const REST: Duration = Duration::from_millis(500);

/// This test program again, in a namespace.
fn again(at: &Namespace, part: &str, folder: &Path, address: &str) -> Child {
    at.command(std::env::current_exe().unwrap().to_str().unwrap())
        .args(["--exact", part, "--ignored", "--nocapture"])
        .env("FILTERS_FOLDER", folder)
        .env("FILTERS_ADDRESS", address)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until a process says something.
fn said(child: &mut Child, what: &str) {
    let out = BufReader::new(child.stdout.as_mut().unwrap());
    assert!(out.lines().map_while(Result::ok).any(|line| line.contains(what)), "nobody says `{what}`");
}

fn file(folder: &Path, whose: &str, number: usize) -> PathBuf {
    folder.join(format!("{whose}-{number}"))
}

#[test]
#[ignore = "the consumers, which another test starts"]
fn consumers() {
    let folder = PathBuf::from(std::env::var_os("FILTERS_FOLDER").unwrap());
    let address = std::env::var("FILTERS_ADDRESS").unwrap();
    let libpcap = Libpcap::open().unwrap();
    let consumers: Vec<_> = expressions::all()
        .enumerate()
        .map(|(number, expression)| {
            let program = libpcap.compile(expression).unwrap();
            let nic = Nic::shm().unwrap();
            let patience = Duration::from_secs(10);
            let subscriber = Subscriber::new(&nic, &address, PORT.as_bytes(), &program, patience);
            (subscriber.unwrap(), file(&folder, "ours", number))
        })
        .collect();
    println!("all are there");
    let threads: Vec<_> = consumers
        .into_iter()
        .map(|(mut subscriber, path)| thread::spawn(move || write_down(&mut subscriber, &path)))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Until the forwarder ends.
fn write_down(subscriber: &mut Subscriber, path: &Path) {
    let mut out = fs::File::create(path).unwrap();
    let mut write = |frame: &[u8]| {
        out.write_all(&(frame.len() as u32).to_le_bytes()).unwrap();
        out.write_all(frame).unwrap();
    };
    loop {
        match subscriber.receive(Some(Duration::from_secs(60)), &mut write) {
            Ok(()) => assert_eq!(subscriber.lost(), 0),
            Err(SubscribeError::Ended(CompletionError::ConnectionLost | CompletionError::Flushed)) => return,
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
#[ignore = "the sender, which another test starts"]
fn sender() {
    let mut device = Packet::open("eth0", &PacketConfig::default()).unwrap();
    let mut pool = Pool::new(2048, 64, 64);
    for (number, frame) in frames().into_iter().enumerate() {
        device.send(Message::copied(64, &frame), &mut pool).unwrap();
        // Each consumer has room for 64 frames.
        if number % 16 == 15 {
            device.flush().unwrap();
            thread::sleep(Duration::from_millis(5));
        }
    }
    device.flush().unwrap();
}

/// Frames that expressions tell apart: each combination of addresses, protocol and ports, of several kinds and lengths.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    for (number, protocol) in [6_u8, 17, 1, 2, 47].into_iter().cycle().take(250).enumerate() {
        let n = number / 5;
        let port = [22_u16, 53, 80, 443, 8080][n % 5].to_be_bytes();
        let other = [1234_u16, 80, 53][n / 2 % 3].to_be_bytes();
        let flags = [2, 16, 24, 17][n % 4];
        let above =
            [&other[..], &port, &[0, 24, 0, 0, 0x12, 0x34, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0], b"GET "];
        let above = [&above.concat()[..], &vec![number as u8; [0, 20, 90, 700][n % 4]]].concat();
        let ethernet = |kind: &[u8]| {
            let to = if n % 7 == 6 { [1, 0, 0x5e, 0, 0, 1] } else { [2, 0, 0, 0, 0, 2 + (n % 2) as u8] };
            [&to[..], &[2, 0, 0, 0, 0, (n % 3) as u8 + 1], kind].concat()
        };
        // Pieces, options, times to live, classes of traffic.
        let piece = [0x40, 0, 0x20, 0, 0, 9][n % 3 * 2..][..2].to_vec();
        let options: &[u8] = if n % 6 == 5 { &[1; 4] } else { &[] };
        let words = 0x45 + options.len() as u8 / 4;
        let length = ((20 + options.len() + above.len()) as u16).to_be_bytes();
        let source = [10, 0, (n % 8) as u8 / 4, (n % 4) as u8];
        let destination = [10, 0, (n % 2) as u8, 3];
        let v4 = [&[words, [0, 0xb8][n % 2]], &length[..], &(number as u16).to_be_bytes(), &piece];
        let v4 =
            [&v4.concat()[..], &[[64, 3][n % 2], protocol, 0, 0], &source, &destination, options, &above]
                .concat();
        let tag: &[&[u8]] = &[&[8, 0], &[8, 0], &[8, 0], &[0x81, 0, 0, 5, 8, 0]];
        frames.push([&ethernet(tag[n % 4])[..], &v4].concat());
        if number % 3 == 0 {
            let address =
                |last| [&[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0][..], &[0, 0, 0, 0, 0, 0, 0, last]].concat();
            let next = if protocol == 1 { 58 } else { protocol };
            let v6 = [&[0x60, 0, 0, 0][..], &(above.len() as u16).to_be_bytes(), &[next, 64]].concat();
            let v6 = [&v6[..], &address((n % 3) as u8), &address(9), &above].concat();
            frames.push([&ethernet(&[0x86, 0xdd])[..], &v6].concat());
        }
        if number % 10 == 0 {
            let arp = [
                0,
                1,
                8,
                0,
                6,
                4,
                0,
                1,
                2,
                0,
                0,
                0,
                0,
                1,
                10,
                0,
                0,
                (n % 3) as u8,
                0,
                0,
                0,
                0,
                0,
                0,
                10,
                0,
                0,
                9,
            ];
            frames.push([&ethernet(&[8, 6])[..], &arp, &[0; 18]].concat());
        }
    }
    frames
}

/// A capture of what comes in by the port, which has begun.
fn tcpdump(at: &Namespace, folder: &Path, number: usize, expression: &str) -> Child {
    let mut child = at
        .command("tcpdump")
        .args([
            "-i",
            PORT,
            "-Q",
            "in",
            "-n",
            "-U",
            "-Z",
            "root",
            "-s",
            "2048",
            "-B",
            "1024",
            "--immediate-mode",
            "-w",
        ])
        .arg(file(folder, "theirs", number))
        .arg(expression)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut told).unwrap();
    // There may be a warning before it.
    assert!(
        told.contains("listening") || told.contains("warning") || told.contains("Warning"),
        "{expression}: {told}"
    );
    child
}

fn end(child: &mut Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
}

fn ours(path: &Path) -> Vec<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    let mut rest = &bytes[..];
    let mut frames = Vec::new();
    while let Some((length, more)) = rest.split_first_chunk() {
        let (frame, more) = more.split_at(u32::from_le_bytes(*length) as usize);
        frames.push(frame.to_vec());
        rest = more;
    }
    frames
}

fn theirs(path: &Path) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let capture = Capture::open(Source::open(path).unwrap()).unwrap();
    let end = capture.read(|frame| frames.push(frame.data.to_vec()));
    assert!(end.is_ok(), "a whole capture");
    frames
}

/// What the kernel sends whenever it likes, perhaps when only one of both is there: about its neighbours and its groups.
fn is_unasked(frame: &[u8]) -> bool {
    let ours = frame[6..11] == [2, 0, 0, 0, 0];
    // Neighbour discovery, or reports of groups, which have options.
    let about_it = match frame[12..14] {
        [8, 6] => true,
        [0x86, 0xdd] => frame[20] == 0 || frame[20] == 58 && frame[54] > 129,
        _ => false,
    };
    !ours && about_it
}

#[test]
fn consumers_have_what_tcpdump_captures() {
    if !["ping", "nsenter", "tcpdump"].into_iter().all(has) || Libpcap::open().is_err() {
        return;
    }
    let spaces: Vec<Namespace> = (0..3).map_while(|_| Namespace::new()).collect();
    let [middle, left, right] = &spaces[..] else { return };
    middle.wire(PORT, left, "eth0");
    middle.wire("east", right, "eth0");
    let v6 = left.call("10.0.0.1/16", "2001:db8::1/64") & right.call("10.0.1.3/16", "2001:db8::9/64");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("forward-filters");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let config =
        "role = \"bridge\"\nport = [{ interface = \"west\", filters = true }, { interface = \"east\" }]";
    let mut forwarder = Forwarder::start(middle, "filters", config);
    let address = forwarder.filters();

    let mut consumers = again(middle, "consumers", &folder, &address);
    said(&mut consumers, "all are there");
    let mut captures: Vec<Child> = expressions::all()
        .enumerate()
        .map(|(number, expression)| tcpdump(middle, &folder, number, expression))
        .collect();
    thread::sleep(REST);
    // Of the kernels, in pieces too, and of our own making.
    left.pings("-c 5 10.0.1.3");
    left.pings("-c 2 -s 3000 10.0.1.3");
    if v6 {
        left.pings("-c 5 2001:db8::9");
    }
    let sender = again(left, "sender", &folder, "").wait_with_output().unwrap();
    assert!(sender.status.success(), "{}", String::from_utf8_lossy(&sender.stdout));
    thread::sleep(REST);
    captures.iter_mut().for_each(end);
    drop(forwarder.counts());
    let told = consumers.wait_with_output().unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));

    let (mut all, mut unmet) = (0, Vec::new());
    for (number, expression) in expressions::all().enumerate() {
        let [mut ours, mut theirs] =
            [ours(&file(&folder, "ours", number)), theirs(&file(&folder, "theirs", number))];
        // Linux takes tags off before it asks tcpdump's filters, which take a tagged packet for one without unless they ask for
        // tags. Ours see frames as they are on the wire.
        if !expression.contains("vlan") {
            for frames in [&mut ours, &mut theirs] {
                frames.retain(|frame| frame[12..14] != [0x81, 0]);
            }
        }
        for frames in [&mut ours, &mut theirs] {
            frames.retain(|frame| !is_unasked(frame));
        }
        assert_eq!(ours.len(), theirs.len(), "{expression}");
        for (place, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            assert_eq!(ours, theirs, "{expression}, packet {place}");
        }
        all += ours.len();
        unmet.extend(ours.is_empty().then_some(expression));
    }
    println!("{all} packets by {} expressions", expressions::all().count());
    // Of labels and of two tags, which nobody sends.
    assert_eq!(unmet, ["vlan and vlan and ip", "ether[12:2] = 0x88b6"]);
}
