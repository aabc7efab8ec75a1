//! A source asks for indices, and remembers what its router says.

use throughline_forward::{
    routing::Reason,
    threaded::{NO_INDEX, Source, SourceConfig, answer, message::INDEX_PORT},
};
use throughline_stack::smoltcp::{
    time::{Duration, Instant},
    wire::IpAddress,
};

const ROUTER: IpAddress = IpAddress::v4(10, 0, 0, 1);
const THERE: IpAddress = IpAddress::v4(10, 5, 0, 1);

fn source() -> Source {
    Source::new(SourceConfig { destinations: 2, ..SourceConfig::new(ROUTER, 77) })
}

fn answered(question: &[u8], index: u32) -> Vec<u8> {
    answer(question, 1, &Default::default(), |_| index).unwrap()
}

#[test]
fn what_is_asked_is_answered_and_holds_for_a_while() {
    let (mut source, now) = (source(), Instant::ZERO);
    assert_eq!(source.index(THERE, now), None, "a hash until then");
    let question = source.poll(now).remove(0);
    assert!(source.poll(now).is_empty());
    let answer = answered(&question, 9);
    assert_eq!(answer.len(), question.len());
    source.receive(ROUTER, INDEX_PORT, &answer, now).unwrap();
    assert_eq!(source.index(THERE, now), Some(9));
    assert_eq!(source.receive(ROUTER, INDEX_PORT, &answer, now), Err(Reason::Replay));
    let later = now + Duration::from_secs(61);
    assert_eq!(source.index(THERE, later), None);
    assert_ne!(source.poll(later).remove(0), question, "another number");
}

#[test]
fn outside_the_area_there_is_no_index() {
    let (mut source, now) = (source(), Instant::ZERO);
    source.index(THERE, now);
    let question = source.poll(now).remove(0);
    source.receive(ROUTER, INDEX_PORT, &answered(&question, NO_INDEX), now).unwrap();
    assert_eq!(source.index(THERE, now), None);
    assert!(source.poll(now + Duration::from_secs(10)).is_empty(), "known not to have one");
}

#[test]
fn questions_end_and_are_few() {
    let (mut source, mut now, mut sent) = (source(), Instant::ZERO, 0);
    for n in 0..100 {
        source.index(IpAddress::v4(10, 6, 0, n), now);
    }
    for _ in 0..20 {
        sent += source.poll(now).len();
        now += Duration::from_millis(500);
    }
    assert_eq!(sent, 2 * 3);
    assert_eq!(source.poll_at(), None);
}

#[test]
fn answers_of_others_are_refused() {
    let (mut source, now) = (source(), Instant::ZERO);
    source.index(THERE, now);
    let question = source.poll(now).remove(0);
    let good = answered(&question, 9);
    let mut receive = |from, port, bytes: &[u8]| source.receive(from, port, bytes, now);
    assert_eq!(receive(THERE, INDEX_PORT, &good), Err(Reason::NotANeighbor));
    assert_eq!(receive(ROUTER, 9, &good), Err(Reason::NotANeighbor));
    assert_eq!(receive(ROUTER, INDEX_PORT, &question), Err(Reason::Command));
    let mut guessed = good.clone();
    guessed[15] ^= 1;
    assert_eq!(receive(ROUTER, INDEX_PORT, &guessed), Err(Reason::Replay));
    for length in 0..good.len() {
        assert!(receive(ROUTER, INDEX_PORT, &good[..length]).is_err());
    }
    assert_eq!(answer(&good, 1, &Default::default(), |_| 1), Err(Reason::Command));
    assert_eq!(source.index(THERE, now), None);
}
