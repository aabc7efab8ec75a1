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
fn a_full_memory_is_not_searched_for_each_packet_and_has_room_when_an_answer_ends() {
    const MANY: u32 = 100_000;
    let config = SourceConfig { destinations: MANY as usize, ..SourceConfig::new(ROUTER, 77) };
    let (mut source, mut now) = (Source::new(config), Instant::ZERO);
    let address = |n: u32| IpAddress::Ipv4((0x0b00_0000 + n).into());
    for n in 0..MANY {
        source.index(address(n), now);
    }
    let questions = source.poll(now);
    assert_eq!(questions.len(), MANY as usize);
    for (n, question) in (0..).zip(&questions) {
        // The first is answered earlier than the others.
        source.receive(ROUTER, INDEX_PORT, &answered(question, 9), now).unwrap();
        now = Instant::from_secs(i64::from(n > 0));
    }
    let began = std::time::Instant::now();
    for n in 0..20_000 {
        assert_eq!(source.index(address(MANY + n), now), None);
    }
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    assert!(source.poll(now).is_empty(), "no room");
    for (after, asks) in [(59, false), (60, true), (60, false), (61, true)] {
        let now = Instant::from_secs(after);
        source.index(address(2 * MANY + after as u32), now);
        source.index(THERE, now);
        assert_eq!(!source.poll(now).is_empty(), asks, "after {after} s");
    }
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
