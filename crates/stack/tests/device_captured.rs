//! What is captured is what came and went.

use std::io::{self, Cursor, Write};

use smoltcp::time::Instant;
use throughline_capture::{Capture, Source};
use throughline_stack::{Captured, Device, Message, PairConfig, Pool, pair};

#[test]
fn both_directions_with_their_times() {
    let (a, mut b) = pair(&PairConfig { queue: 2, mtu: 100, ..Default::default() });
    let mut captured = Captured::new(a, Vec::new()).unwrap();
    let mut pool = Pool::new(256, 16, 4);
    captured.clock(Instant::from_micros(1_790_000_000_000_001_i64));
    captured.send(Message::copied(16, b"one"), &mut pool).unwrap();
    captured.send(Message::copied(16, b"two"), &mut pool).unwrap();
    captured.send(Message::copied(16, b"no place"), &mut pool).unwrap_err();
    captured.send(Message::copied(0, &[7; 200]), &mut pool).unwrap_err();
    b.send(Message::copied(16, b"three"), &mut pool).unwrap();
    captured.clock(Instant::from_micros(1_790_000_000_000_777_i64));
    assert_eq!(captured.receive(&mut pool).unwrap().unwrap().bytes(), b"three");
    assert!(captured.receive(&mut pool).unwrap().is_none());
    let (_, file) = captured.finish().unwrap();

    let mut frames = Vec::new();
    let capture = Capture::open(Source::new(Cursor::new(file)).unwrap()).unwrap();
    capture.read(|frame| frames.push((frame.time, frame.link, frame.length, frame.data.to_vec()))).unwrap();
    let of = |time: u64, data: &[u8]| (1_790_000_000_000_000_000 + time, 1, data.len() as u32, data.to_vec());
    assert_eq!(frames, [of(1_000, b"one"), of(1_000, b"two"), of(777_000, b"three")]);
}

/// Takes the file's header and no more.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(data.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn traffic_goes_on_when_the_file_cannot() {
    let (a, mut b) = pair(&PairConfig::default());
    let mut captured = Captured::new(a, Full(24)).unwrap();
    let mut pool = Pool::new(256, 16, 4);
    for _ in 0..3 {
        captured.send(Message::copied(16, b"frame"), &mut pool).unwrap();
        assert_eq!(b.receive(&mut pool).unwrap().unwrap().bytes(), b"frame");
    }
    assert_eq!(captured.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
}
