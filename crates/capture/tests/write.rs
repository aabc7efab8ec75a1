//! What was written is read back.

use std::io::{self, Cursor};

use throughline_capture::{Capture, Format, Frame, PcapWriter, Source};

fn frame(time: u64, data: &[u8]) -> Frame<'_> {
    Frame { time, timed: true, link: 1, length: data.len() as u32 + 3, data }
}

#[test]
fn frames_come_back_as_they_were() {
    let data: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let times = [0, 999_999_999, 1_000_000_000, 1_790_000_000_123_456_789];
    let lengths = [0, 1, 60, 1514, 9014, 65_550];
    let mut writer = PcapWriter::new(Vec::new(), 1).unwrap();
    let mut written = Vec::new();
    for (n, length) in lengths.iter().cycle().take(40).enumerate() {
        let frame = frame(times[n % times.len()] + n as u64, &data[n..n + length]);
        writer.write(&frame).unwrap();
        written.push((frame.time, frame.link, frame.length, frame.data.to_vec()));
    }
    let file = writer.finish().unwrap();
    let capture = Capture::open(Source::new(Cursor::new(file)).unwrap()).unwrap();
    assert_eq!(capture.format(), Format::Pcap);
    let mut read = Vec::new();
    capture.read(|frame| read.push((frame.time, frame.link, frame.length, frame.data.to_vec()))).unwrap();
    assert!(read == written);
}

#[test]
fn what_the_format_cannot_say_is_refused() {
    let mut writer = PcapWriter::new(Vec::new(), 1).unwrap();
    let late = (u64::from(u32::MAX) + 1) * 1_000_000_000;
    let long = vec![0; 262_145];
    let other = Frame { link: 101, ..frame(1, b"raw") };
    for refused in [frame(late, b"late"), frame(1, &long), other] {
        assert_eq!(writer.write(&refused).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
    writer.write(&frame(late - 1, b"in time")).unwrap();
    assert_eq!(writer.finish().unwrap().len(), 24 + 16 + 7);
}
