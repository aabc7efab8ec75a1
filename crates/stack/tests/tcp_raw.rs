//! Connections of a graph with somebody who sends whatever segments he likes.

mod hosts;
mod raw;

use hosts::data;
use raw::{Raw, Segment};

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
