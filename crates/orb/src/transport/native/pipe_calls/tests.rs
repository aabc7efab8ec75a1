use throughline_cdr::Reader;
use throughline_wire::{Header, PLAIN_BYTES};

use super::*;

fn fail(calls: &mut PipeCalls<()>, failure: &PipeFailure) {
    calls.end(failure, |_| true, &mut Vec::new());
}

fn answer(calls: &mut PipeCalls, id: u32, kind: Kind, octets: &[u8]) {
    calls.deliver(id, (kind, Body::NONE), octets, &mut Vec::new());
}

fn expects(calls: &mut PipeCalls, id: u32) -> bool {
    calls.take_small(id, &mut { SmallReply::EMPTY }) == Found::Waiting
}

fn octets(mut reader: Reader<'_>) -> Vec<u8> {
    std::iter::from_fn(|| reader.read_u8().ok()).collect()
}

#[test]
fn a_late_answer_finds_nobody() {
    let mut calls = PipeCalls::<()>::default();
    let first = calls.add(None, 8).unwrap();
    calls.forget(first);
    let second = calls.add(None, 8).unwrap();
    assert_eq!(first & INDEX_MASK, second & INDEX_MASK);
    assert!(!expects(&mut calls, first) && expects(&mut calls, second));
    answer(&mut calls, first, Kind::Reply, &[1]);
    calls.forget(first);
    let mut small = SmallReply::EMPTY;
    assert_eq!(calls.take_small(first, &mut small), Found::Other);
    assert_eq!(calls.take_small(second, &mut small), Found::Waiting);
    assert!(calls.take(second).is_none());
    fail(&mut calls, &PipeFailure::NotCarriedOut);
    assert_eq!(calls.take_small(second, &mut small), Found::Other);
    assert!(matches!(calls.take(second), Some(Err(PipeFailure::NotCarriedOut))));
    assert!(calls.take(second).is_none());
    assert_eq!(calls.waiting(), 0);
}

#[test]
fn an_answer_that_comes_after_many_other_calls_finds_nobody() {
    for by_keeper in [false, true] {
        let mut calls = PipeCalls::<()>::default();
        let late = calls.add(None, 8).unwrap();
        if by_keeper {
            fail(&mut calls, &PipeFailure::TimedOut);
            assert!(calls.take(late).is_some());
        } else {
            calls.give_up(late);
        }
        for _ in 0..10_000 {
            let id = calls.add(None, 8).unwrap();
            assert_ne!(id, late);
            answer(&mut calls, id, Kind::Reply, &[1]);
            assert_eq!(calls.take_small(id, &mut { SmallReply::EMPTY }), Found::Small);
        }
        assert!(!calls.in_use() && calls.waiting() == 0);
        assert_eq!((calls.forsaken(), calls.outstanding()), (1, 1));
        // It comes, and the place is free.
        answer(&mut calls, late, Kind::Reply, &[1]);
        assert_eq!(calls.outstanding(), 0);
        let ids = [(); 2].map(|()| calls.add(None, 2).unwrap());
        assert!(ids.iter().any(|id| id & INDEX_MASK == late & INDEX_MASK) && !ids.contains(&late));
        assert!(calls.add(None, 2).is_none());
    }
}

#[test]
fn calls_that_are_given_up_count_no_more_and_do_not_pile_up() {
    let mut calls = PipeCalls::<()>::default();
    for _ in 0..3 * GivenUp::MOST {
        let ids = [(); 2].map(|()| calls.add(None, 2).unwrap());
        assert!(calls.add(None, 2).is_none());
        ids.into_iter().for_each(|id| drop(calls.give_up(id)));
        // They are over.
        ids.into_iter().for_each(|id| drop(calls.give_up(id)));
        ids.into_iter().for_each(|id| calls.forget(id));
    }
    assert!(calls.entries.len() <= GivenUp::MOST + 2 && calls.given_up.len() <= GivenUp::MOST);
    assert_eq!(calls.outstanding(), GivenUp::MOST);
    let unsent = calls.add(None, 2).unwrap();
    calls.forget(unsent);
    assert_eq!(calls.outstanding(), GivenUp::MOST);
    let waits = calls.add(None, 2).unwrap();
    calls.end_forsaken();
    assert_eq!((calls.outstanding(), expects(&mut calls, waits)), (1, true));
}

#[test]
fn no_reply_comes_to_calls_that_were_late_when_their_link_ended() {
    for takes in [false, true] {
        let mut calls = PipeCalls::<()>::default();
        let [late, answered] = [(); 2].map(|()| calls.add(None, 2).unwrap());
        answer(&mut calls, answered, Kind::Forward, &[1]);
        fail(&mut calls, &PipeFailure::TimedOut);
        calls.end_forsaken();
        assert_eq!(calls.take_small(late, &mut { SmallReply::EMPTY }), Found::Other);
        if takes {
            assert!(matches!(calls.take(late), Some(Err(PipeFailure::TimedOut))));
            assert!(matches!(calls.take(answered), Some(Ok(_))));
        } else {
            [late, answered].into_iter().for_each(|id| drop(calls.give_up(id)));
        }
        assert_eq!((calls.outstanding(), calls.in_use(), calls.has_answers()), (0, false, false));
        let again = [(); 2].map(|()| calls.add(None, 2).unwrap());
        assert!(calls.add(None, 2).is_none() && !again.contains(&late));
    }
}

#[test]
fn answers_come_out_as_they_went_in() {
    let mut calls = PipeCalls::<()>::default();
    let mut small = SmallReply::EMPTY;
    for len in [0, 1, 55, 56, 57, SMALL, SMALL + 1, 1000] {
        let message: Vec<u8> = (0..len).map(|at| (at + len) as u8).collect();
        for kind in [Kind::Reply, Kind::UserException, Kind::SystemException, Kind::Forward] {
            let id = calls.add(None, 1).expect("the place before is free again");
            match message.len() {
                len @ 0..=SMALL_MESSAGE => {
                    let mut padded = [0xEE; SMALL_MESSAGE];
                    padded[..len].copy_from_slice(&message);
                    calls.deliver_small(id, (kind, Body::NONE), (len, &padded), &mut Vec::new());
                }
                _ => answer(&mut calls, id, kind, &message),
            }
            if calls.take_small(id, &mut small) == Found::Small {
                assert!(len <= SMALL && small.user == (kind == Kind::UserException));
                assert_eq!(octets(small.reader()), message);
            } else {
                let reply = calls.take(id).expect("it is there").expect("an answer");
                assert!(len > SMALL || reply.kind() != Kind::Reply);
                assert_eq!((reply.kind(), octets(reply.reader())), (kind, message.clone()));
            }
        }
    }
}

#[test]
fn the_table_has_a_limit_and_uses_places_again() {
    let mut calls = PipeCalls::<()>::default();
    let ids: Vec<_> = (0..4).map(|_| calls.add(None, 4).unwrap()).collect();
    assert!(calls.add(None, 4).is_none());
    calls.forget(ids[2]);
    assert_eq!(calls.add(None, 4).unwrap() & INDEX_MASK, 2);
    assert!(calls.add(None, 4).is_none());
    assert_eq!(calls.waiting(), 4);
}

#[test]
fn only_calls_whose_time_is_over_end() {
    let mut calls = PipeCalls::<()>::default();
    let now = Instant::now();
    let [over, later, never] = [Some(now), now.checked_add(std::time::Duration::from_secs(60)), None]
        .map(|d| calls.add(d, 8).unwrap());
    let due = |deadline: Option<Instant>| deadline.is_some_and(|d| d <= now);
    assert!(calls.end(&PipeFailure::TimedOut, due, &mut Vec::new()));
    assert!(matches!(calls.take(over), Some(Err(PipeFailure::TimedOut))));
    assert!(expects(&mut calls, later) && expects(&mut calls, never));
    assert!(!calls.end(&PipeFailure::NotCarriedOut, |_| true, &mut Vec::new()));
    assert_eq!(calls.waiting(), 0);
}

#[test]
fn whoever_waits_is_woken_once() {
    let mut calls = PipeCalls::<()>::default();
    let mut wakes = Vec::new();
    let id = calls.add(None, 8).unwrap();
    calls.register(id, Waker::noop());
    calls.register(id, Waker::noop());
    assert!(calls.has_wakers());
    calls.deliver(id, (Kind::Reply, Body::NONE), &[], &mut wakes);
    calls.deliver(id, (Kind::Reply, Body::NONE), &[], &mut wakes);
    assert_eq!((wakes.len(), calls.has_wakers(), calls.waiting()), (1, false, 0));
}
#[test]
fn who_waits_may_fetch_the_answer_to_where_it_is_read() {
    let mut calls = PipeCalls::<u8>::default();
    let (id, note) = calls.add_noted(None, 1).unwrap();
    *note = 7;
    let mut small = SmallReply::EMPTY;
    assert_eq!(calls.take_small_or(id, &mut small, |_| false), Found::Waiting);
    let fetch = |into: &mut SmallReply, of: u32| {
        let header = Header { sequence: of, ..Header::new(Kind::Reply) };
        header.write(into.line()).unwrap()[0] = 42;
        into.answers(id, PLAIN_BYTES + 1)
    };
    let other = id.wrapping_add(1 << INDEX_BITS);
    assert_eq!(calls.take_small_or(id, &mut small, |into| fetch(into, other)), Found::Waiting);
    assert_eq!(calls.waiting(), 1);
    assert_eq!(calls.take_small_or(id, &mut small, |into| fetch(into, id)), Found::Small);
    assert_eq!((octets(small.reader()), calls.waiting()), (vec![42], 0));
    assert_eq!(calls.take_small_or(id, &mut small, |_| unreachable!("it is over")), Found::Other);
    // Of the call that had the place.
    assert_eq!(calls.add_noted(None, 1).map(|(id, note)| (id, *note)), Some((other, 7)));
}
