//! Connections of a graph with somebody who sends whatever segments he likes.

mod hosts;
mod raw;

use hosts::{CLIENT, data};
use raw::{ACK, FIN, PORT, RST, Raw, SYN, Segment};
use throughline_stack::{Graph, Message, Participants, PathId, SendError, StreamError};

const ETH: &str = "tcp > ipv4 > eth; arp > eth";

/// Who takes short segments only gets as many bytes at once as others: as many as the congestion window allows.
#[test]
fn short_segments_leave_together() {
    let mut raw = Raw::new(ETH);
    // 536 bytes, or frames of 576.
    let path = raw.connect(&[2, 4, 2, 24]);
    let sent = data(50_000);
    assert_eq!(raw.graph.write(path, &sent), Ok(sent.len()));
    let (mut came, mut flights): (Vec<u8>, u32) = (Vec::new(), 0);
    let mut flight = raw.sent();
    while came.len() < sent.len() {
        assert!(!flight.is_empty() && flights < 20, "{} bytes in {flights} flights", came.len());
        flights += 1;
        flight.iter().for_each(|segment| came.extend(&segment.data));
        // One acknowledgement for every second segment.
        let answers: Vec<_> = flight.chunks(2).map(|two| two[two.len() - 1].end()).collect();
        flight.clear();
        for acknowledged in answers {
            raw.acknowledged = acknowledged;
            flight.extend(raw.send(Segment::default()));
        }
    }
    assert_eq!(came, sent);
}

/// What is there of a stream, and whether that is all.
fn read(graph: &mut Graph, path: PathId) -> (Vec<u8>, Result<usize, StreamError>) {
    let (mut came, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match graph.read(path, &mut buffer) {
            Ok(len) if len > 0 => came.extend(&buffer[..len]),
            end => return (came, end),
        }
    }
}

/// RFC 5961, 3.2: a reset counts where the next byte is expected. One elsewhere in the window may be a guess, and is asked about.
#[test]
fn a_reset_that_was_guessed_ends_nothing() {
    let mut raw = Raw::new(ETH);
    let path = raw.connect(&[]);
    raw.send(Segment::default().with(b"abc"));
    raw.pass(10);
    for (at, reading) in [(4, false), (60_000, true)] {
        let challenge = raw.send(Segment::of(RST, at));
        assert_eq!(challenge.len(), 1, "at {at}");
        let own = raw.acknowledged;
        let Segment { flags, sequence, acknowledged, .. } = challenge[0];
        assert_eq!((flags, sequence, acknowledged), (ACK, own, 3));
        // Who guesses on is not answered each time.
        for at in (4..65_000).step_by(1000) {
            assert_eq!(raw.send(Segment::of(RST, at)), []);
            assert_eq!(raw.send(Segment::of(RST | ACK, at)), []);
        }
        raw.pass(1000);
        if reading {
            assert_eq!(read(&mut raw.graph, path), (b"abc".to_vec(), Ok(0)));
        }
    }
    // What is outside of the window is not even asked about.
    for at in [-1, 2, 66_000, i32::MIN] {
        assert_eq!(raw.send(Segment::of(RST, at)), []);
    }
    assert_eq!(raw.graph.write(path, b"still here"), Ok(10));
    assert_eq!(raw.sent().len(), 1);
    // Who was asked knows.
    assert_eq!(raw.send(Segment::of(RST, 3)), []);
    assert_eq!(raw.graph.write(path, b"?"), Err(StreamError::Closed));
}

/// One who has not answered yet is not taken away from us by a guess either.
#[test]
fn a_guessed_reset_while_a_connection_begins() {
    let mut raw = Raw::new(ETH);
    let answer = raw.send(Segment::of(SYN, -1));
    raw.acknowledged = answer[0].sequence.wrapping_add(1);
    assert_eq!(raw.send(Segment::of(RST, 7)), []);
    assert_eq!(raw.send(Segment::default()), []);
    assert!(raw.graph.accepted(raw.listener).is_some());
    // The right one takes it back.
    raw.port += 1;
    let answer = raw.send(Segment::of(SYN, -1));
    raw.acknowledged = answer[0].sequence.wrapping_add(1);
    assert_eq!(raw.send(Segment::of(RST, 0)), []);
    assert_eq!(raw.send(Segment::default())[0].flags, RST);
}

/// RFC 9293, 3.5.1, and RFC 5961, 4: who has forgotten a connection, and asks for it anew, learns that it is there.
#[test]
fn a_peer_that_restarted_gets_in() {
    for at in [-7, 100, 1_000_000, i32::MIN] {
        let mut raw = Raw::new(ETH);
        let path = raw.connect(&[]);
        raw.send(Segment::default().with(b"abc"));
        raw.pass(10);
        let own = raw.acknowledged;
        let challenge = raw.send(Segment::of(SYN, at));
        assert_eq!(challenge.len(), 1, "at {at}");
        assert_eq!((challenge[0].flags, challenge[0].sequence, challenge[0].acknowledged), (ACK, own, 3));
        // One that was lost on its way, or a lie, changes nothing.
        assert_eq!(raw.graph.write(path, b"still here"), Ok(10));
        assert_eq!(raw.sent()[0].data, b"still here");
        // He knows nothing of what that acknowledges.
        assert_eq!(raw.send(Segment::of(RST, 3)), []);
        assert_eq!(raw.graph.write(path, b"?"), Err(StreamError::Closed));
        raw.graph.close(path);
        assert_eq!(raw.send(Segment::of(SYN, at))[0].flags, SYN | ACK);
    }
}

/// RFC 9293, 3.10.7.4: a connection that was reset is no more, though its user has yet to take note of that.
#[test]
fn a_connection_that_was_reset_makes_way_before_its_user_closes_it() {
    let mut raw = Raw::new(ETH);
    let mut over = Vec::new();
    for round in 0..5 {
        let path = raw.connect(&[]);
        for before in &over {
            assert_eq!(raw.graph.write(*before, b"?"), Err(StreamError::Closed));
        }
        assert_eq!(raw.graph.write(path, b"hello"), Ok(5));
        let sent = raw.sent();
        assert_eq!(sent[0].data, b"hello");
        raw.acknowledged = sent[0].end();
        if round % 2 == 0 {
            over.drain(..).for_each(|before| raw.graph.close(before));
        }
        raw.send(Segment::default().with(b"abc"));
        assert_eq!(read(&mut raw.graph, path), (b"abc".to_vec(), Ok(0)));
        assert_eq!(raw.send(Segment::of(RST, 3)), []);
        assert_eq!(raw.graph.write(path, b"?"), Err(StreamError::Closed));
        // What is left of it on its way finds nobody.
        assert_eq!(raw.send(Segment::of(ACK, 3))[0].flags, RST);
        over.push(path);
    }
    over.drain(..).for_each(|before| raw.graph.close(before));
    let path = raw.connect(&[]);
    assert_eq!(raw.graph.write(path, b"hello"), Ok(5));
}

/// RFC 9293, 3.6.1: a connection that is over does not keep its ends from another one.
#[test]
fn a_connection_that_is_over_makes_way() {
    for at in [100, 1_000_000, i32::MAX] {
        let mut raw = Raw::new(ETH);
        let path = raw.connect(&[]);
        raw.graph.close(path);
        assert_eq!(raw.sent()[0].flags, FIN | ACK);
        raw.acknowledged = raw.acknowledged.wrapping_add(1);
        assert_eq!(raw.send(Segment::of(FIN | ACK, 0)).len(), 1);
        // What may be of the old one is not taken for a new one.
        let old = raw.send(Segment::of(SYN, -30));
        assert_eq!((old.len(), old[0].flags, old[0].acknowledged), (1, ACK, 1));
        raw.first = raw.first.wrapping_add(at);
        for round in 0..3 {
            let path = raw.connect(&[]);
            assert_eq!(raw.graph.write(path, b"hello"), Ok(5));
            let sent = raw.sent();
            assert_eq!(sent[0].data, b"hello");
            raw.acknowledged = sent[0].end();
            raw.send(Segment::default());
            raw.graph.close(path);
            assert_eq!(raw.sent()[0].flags, FIN | ACK, "{round}");
            raw.acknowledged = raw.acknowledged.wrapping_add(1);
            raw.send(Segment::of(FIN | ACK, 0));
            raw.first = raw.first.wrapping_add(2);
        }
        // Nothing is left in the end.
        for _ in 0..20 {
            raw.pass(1000);
        }
        assert_eq!(raw.graph.counts().paths, 0);
        assert_eq!(raw.graph.discarded().next(), None);
    }
}

/// The end that comes with data counts when all of that has been taken.
#[test]
fn an_end_beyond_the_window_waits() {
    let mut raw = Raw::new("tcp(receive=4000) > ipv4 > eth; arp > eth");
    let path = raw.connect(&[]);
    let sent = data(4100);
    raw.send(Segment::default().with(&sent[..1000]));
    raw.send(Segment::of(FIN | ACK, 1000).with(&sent[1000..]));
    raw.pass(10);
    assert_eq!(read(&mut raw.graph, path), (sent[..4000].to_vec(), Ok(0)));
    raw.sent();
    // Again, with data that has come before.
    raw.send(Segment::of(FIN | ACK, 3000).with(&sent[3000..]));
    assert_eq!(read(&mut raw.graph, path), (sent[4000..].to_vec(), Err(StreamError::Finished)));
    assert_eq!(raw.pass(10)[0].acknowledged, 4101);
    // Once more, since that was lost.
    assert_eq!(raw.send(Segment::of(FIN | ACK, 3000).with(&sent[3000..]))[0].acknowledged, 4101);
    assert_eq!(raw.graph.write(path, b"farewell"), Ok(8));
    assert_eq!(raw.sent()[0].data, b"farewell");
}

/// The end of data that has come before it, as when a sender puts it to what he repeats.
#[test]
fn an_end_with_data_that_came_before() {
    let mut raw = Raw::new(ETH);
    let path = raw.connect(&[]);
    raw.send(Segment::default().with(b"abc"));
    raw.send(Segment::of(FIN | ACK, 0).with(b"abc"));
    assert_eq!(read(&mut raw.graph, path), (b"abc".to_vec(), Err(StreamError::Finished)));
    // One behind a gap waits.
    raw.port += 1;
    let path = raw.connect(&[]);
    raw.send(Segment::of(FIN | ACK, 3).with(b"def"));
    assert_eq!(read(&mut raw.graph, path), (Vec::new(), Ok(0)));
    raw.send(Segment::default().with(b"abc"));
    assert_eq!(read(&mut raw.graph, path), (b"abcdef".to_vec(), Ok(0)));
    raw.send(Segment::of(FIN | ACK, 3).with(b"def"));
    assert_eq!(read(&mut raw.graph, path), (Vec::new(), Err(StreamError::Finished)));
}

/// A window is told in steps of 16 bytes here, and so retreats a little as data comes. A sender who had filled it before is not
/// deprived of his last bytes.
#[test]
fn a_window_that_retreats_loses_nothing() {
    const ROOM: usize = 1_000_000;
    let mut raw = Raw::new("tcp(receive=1000000) > ipv4 > eth; arp > eth");
    let path = raw.connect(&[3, 3, 0]);
    let (sent, mut edge, mut at) = (data(ROOM - 1), 65_535, 0);
    while at < sent.len() {
        let len = 1001.min(edge - at).min(sent.len() - at);
        let mut segment = Segment::of(ACK, at as i32).with(&sent[at..at + len]);
        at += len;
        if at == sent.len() {
            segment.flags |= FIN;
        }
        for answer in raw.send(segment) {
            edge = edge.max(answer.acknowledged as usize + (usize::from(answer.window) << 4));
        }
    }
    let (mut came, end) = read(&mut raw.graph, path);
    raw.pass(10);
    if end == Ok(0) {
        raw.send(Segment::of(FIN | ACK, at as i32 - 100).with(&sent[at - 100..]));
        let (rest, end) = read(&mut raw.graph, path);
        assert_eq!(end, Err(StreamError::Finished));
        came.extend(rest);
    }
    assert_eq!(came.len(), sent.len());
    assert!(came == sent);
}

/// Takes of what was sent what lies in its place and in the window, and acknowledges it with this room from then on.
fn take(raw: &mut Raw, came: &mut Vec<u8>, sent: Vec<Segment>, room: u16) -> Vec<Segment> {
    for segment in &sent {
        let behind = raw.acknowledged.wrapping_sub(segment.sequence);
        if let Some(new) = usize::try_from(behind).ok().and_then(|behind| segment.data.get(behind..)) {
            let new = &new[..new.len().min(raw.window.into())];
            came.extend(new);
            raw.acknowledged = raw.acknowledged.wrapping_add(new.len() as i32);
            raw.window -= new.len() as u16;
        }
    }
    let full = if raw.window == 0 { raw.send(Segment::default()) } else { Vec::new() };
    raw.window = room;
    [full, raw.send(Segment::default())].concat()
}

/// Takes everything, with this room each time; in how many seconds.
fn take_all(raw: &mut Raw, came: &mut Vec<u8>, all: usize, room: u16) -> u32 {
    let mut sent = take(raw, came, Vec::new(), room);
    for second in 0..100 {
        while !sent.is_empty() {
            sent = take(raw, came, sent, room);
        }
        if came.len() == all {
            return second;
        }
        sent = raw.pass(1000);
    }
    panic!("{} of {all} bytes", came.len());
}

/// One who takes his room back, since his memory is short, has lost what was on its way; when he has room again he gets it.
#[test]
fn what_found_no_room_is_sent_again() {
    let mut raw = Raw::new(ETH);
    // 1,000 bytes.
    let path = raw.connect(&[2, 4, 3, 232]);
    raw.window = 4000;
    raw.send(Segment::default());
    let sent = data(2000);
    assert_eq!(raw.graph.write(path, &sent), Ok(sent.len()));
    let first = raw.sent();
    assert_eq!(first.len(), 2);
    let mut came = first[0].data.clone();
    (raw.acknowledged, raw.window) = (first[0].end(), 0);
    raw.send(Segment::default());
    assert!(take_all(&mut raw, &mut came, sent.len(), 4000) < 10);
    assert!(came == sent);
}

/// A segment that is repeated after three acknowledgements may be longer than there is room for; the rest of it, and what comes
/// behind, gets through all the same.
#[test]
fn what_was_repeated_beyond_the_room_is_sent_again() {
    let mut raw = Raw::new(ETH);
    let path = raw.connect(&[2, 4, 3, 232]);
    raw.window = 400;
    raw.send(Segment::default());
    let sent = data(4000);
    assert_eq!(raw.graph.write(path, &sent), Ok(sent.len()));
    assert_eq!(raw.sent().len(), 1);
    let mut repeated = Vec::new();
    for _ in 0..4 {
        repeated.extend(raw.send(Segment::default()));
    }
    let mut came = Vec::new();
    take(&mut raw, &mut came, repeated, 400);
    assert!(take_all(&mut raw, &mut came, sent.len(), 400) < 60);
    assert!(came == sent);
}

/// Acknowledgements that come several times do not keep an end from being repeated that was lost.
#[test]
fn an_end_that_was_lost_is_repeated() {
    for later in [false, true] {
        let mut raw = Raw::new(ETH);
        let path = raw.connect(&[]);
        assert_eq!(raw.graph.write(path, b"hello"), Ok(5));
        let sent = raw.sent();
        raw.acknowledged = sent[0].end();
        raw.send(Segment::default());
        raw.graph.shutdown(path).unwrap();
        assert_eq!(raw.sent()[0].flags, FIN | ACK);
        if later {
            assert_eq!(raw.pass(1010)[0].flags, FIN | ACK);
        }
        for _ in 0..5 {
            assert_eq!(raw.send(Segment::default()), []);
        }
        // Who asks whether we are there is answered.
        assert_eq!(raw.send(Segment::of(ACK, -1)).len(), 1);
        for wait in [2100, 4100, 8100] {
            let again = raw.pass(wait);
            assert_eq!((again.len(), again[0].flags, again[0].sequence), (1, FIN | ACK, sent[0].end()));
        }
        // When it is acknowledged that is over.
        raw.acknowledged = raw.acknowledged.wrapping_add(1);
        assert_eq!(raw.send(Segment::default()), []);
        assert_eq!(raw.pass(60_000), []);
    }
}

/// What a segment acknowledges counts though all its data has come before, or finds no room: two ends that repeat what the other
/// one has would otherwise never hear that it came.
#[test]
fn what_is_repeated_acknowledges_too() {
    for (at, len) in [(0, 100), (0, 0), (40, 10), (99, 0), (100, 1)] {
        let mut raw = Raw::new("tcp(receive=100) > ipv4 > eth; arp > eth");
        let path = raw.connect(&[]);
        raw.send(Segment::default().with(&data(100)));
        raw.pass(10);
        assert_eq!(raw.graph.write(path, &data(300)), Ok(300));
        let sent = raw.sent();
        // An acknowledgement of too long ago, or of what is to come, may be a guess.
        raw.acknowledged = sent[0].end();
        for far in [-200, 300] {
            raw.send(Segment::of(ACK, far));
        }
        assert_eq!(raw.pass(1100)[0].data, data(300));
        raw.send(Segment::of(ACK, at).with(&data(len)));
        assert_eq!(raw.pass(10_000), [], "{len} bytes at {at}");
    }
}

/// The window that is told before scales are agreed upon is not one of them: what lies beyond the room is not taken, wherever it lies.
#[test]
fn nothing_is_taken_beyond_the_room() {
    for room in [65_536, 100_000, 1_000_000] {
        let mut raw = Raw::new(&format!("tcp(receive={room}) > ipv4 > eth; arp > eth"));
        let path = raw.connect(&[3, 3, 0]);
        let sent = data(room + 1000);
        raw.send(Segment::of(ACK, room as i32 - 100).with(&sent[room - 100..][..1000]));
        let mut at = 0;
        while at < room {
            let len = 1000.min(room - at);
            raw.send(Segment::of(ACK, at as i32).with(&sent[at..at + len]));
            at += len;
        }
        let (came, end) = read(&mut raw.graph, path);
        assert_eq!(end, Ok(0));
        assert!(came == sent[..room], "{} of {room}", came.len());
    }
}

/// Who begins a connection while there is a listener, and completes it when there is none any more, does not get one of which nobody
/// knows and that nobody would end.
#[test]
fn a_listener_that_is_gone_accepts_nobody() {
    let mut raw = Raw::new(ETH);
    let answer = raw.send(Segment::of(SYN, -1));
    raw.acknowledged = answer[0].sequence.wrapping_add(1);
    raw.graph.disable(raw.listener);
    let end = raw.send(Segment::default().with(b"abc"));
    assert_eq!(end.len(), 1, "{end:?}");
    assert_eq!(end[0].flags & RST, RST);
    assert_eq!((raw.graph.ready(), raw.graph.counts().paths), (None, 0));
    // Nor does one who was given up before.
    raw.pass(100_000);
    assert_eq!(raw.send(Segment::default())[0].flags, RST);
}

/// Both ends ask for the connection at once (RFC 9293, 3.5), and its user gives it up before it has come about: its end would be taken for
/// acknowledged when its beginning is, and what comes for more than there is room for.
#[test]
fn a_connection_that_both_ask_for_is_given_up() {
    for closes in [true, false] {
        let mut raw = Raw::new("tcp(receive=100000) > ipv4 > eth; arp > eth");
        let to = Participants { local_port: Some(PORT), ..Participants::to(CLIENT, raw.port) };
        let path = raw.graph.open("tcp", to).unwrap();
        let asked = raw.sent();
        assert_eq!((asked.len(), asked[0].flags), (1, SYN));
        let mut asks = Segment::of(SYN, -1);
        asks.options = vec![3, 3, 0];
        let answer = raw.send(asks);
        assert_eq!((answer[0].flags, answer[0].sequence), (SYN | ACK, asked[0].sequence));
        if closes {
            raw.graph.close(path)
        } else {
            raw.graph.shutdown(path).unwrap()
        }
        let end = raw.sent();
        assert_eq!(end.iter().map(|segment| segment.flags).collect::<Vec<_>>(), [RST | ACK]);
        raw.acknowledged = asked[0].sequence.wrapping_add(1);
        let late = raw.send(Segment::of(ACK, 100_000).with(&data(1000)));
        assert_eq!(late.iter().map(|segment| segment.flags).collect::<Vec<_>>(), [RST]);
        assert!(raw.graph.write(path, b"?").is_err());
    }
}

/// A message that a stream has no room for is lost as a whole, as is said: who sends it again is not taken to have sent a part of it twice.
#[test]
fn a_message_is_sent_as_a_whole_or_not() {
    let mut raw = Raw::new("tcp(send=800) > ipv4 > eth; arp > eth");
    let path = raw.connect(&[]);
    let send = |raw: &mut Raw, len| raw.graph.send(path, Message::copied(128, &data(len)));
    assert_eq!(send(&mut raw, 500), Ok(()));
    assert_eq!(send(&mut raw, 500), Err(SendError::QueueFull));
    let sent = raw.sent();
    assert_eq!(sent.iter().map(|segment| segment.data.len()).collect::<Vec<_>>(), [500]);
    raw.acknowledged = sent[0].end();
    assert_eq!(raw.send(Segment::default()), []);
    // There is room now.
    assert_eq!(raw.graph.ready(), Some(path));
    assert_eq!(send(&mut raw, 500), Ok(()));
    assert_eq!(raw.sent()[0].data, data(500));
    assert_eq!(send(&mut raw, 801), Err(SendError::TooLong));
    raw.send(Segment::of(RST, 0));
    assert_eq!(send(&mut raw, 1), Err(SendError::NoPath));
}

/// RFC 9293, 3.10.7.4: what is said behind an end is not heard; what is acknowledged by it is.
#[test]
fn nothing_comes_behind_an_end() {
    for flags in [ACK, FIN | ACK] {
        let mut raw = Raw::new(ETH);
        let path = raw.connect(&[]);
        raw.send(Segment::of(FIN | ACK, 0).with(b"abc"));
        assert_eq!(raw.graph.write(path, b"hello"), Ok(5));
        raw.acknowledged = raw.sent()[0].end();
        raw.send(Segment::of(flags, 4).with(b"def"));
        raw.send(Segment::of(flags, 1).with(b"bc?def"));
        assert_eq!(read(&mut raw.graph, path), (b"abc".to_vec(), Err(StreamError::Finished)));
        raw.send(Segment::of(flags, 4).with(b"def"));
        assert_eq!(read(&mut raw.graph, path), (Vec::new(), Err(StreamError::Finished)));
        assert_eq!(raw.pass(10_000), []);
        // Who has not heard that his end has come is told so.
        assert_eq!(raw.send(Segment::of(FIN | ACK, 0).with(b"abc"))[0].acknowledged, 4);
    }
}
