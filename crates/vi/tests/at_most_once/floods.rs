//! Strangers, floods, and the ends of time.

use std::time::Duration;

use throughline_vi::at_most_once::{CallId, CallTable, CallerId, Limits, Refusal, Times, Verdict, WINDOW};

const S: Duration = Duration::from_secs(1);
const TIMES: Times = Times { repeats: Duration::from_secs(10), lives: Duration::from_secs(20) };

fn call(caller: u64, number: u64, settled: u64) -> CallId {
    CallId { caller: CallerId { index: caller as u32, key: caller }, number, settled }
}

fn carried_out(table: &mut CallTable, now: Duration, id: &CallId, reply: &[u8]) {
    match table.receive(now, id) {
        Verdict::CarryOut(ticket) => table.reply(ticket, reply),
        verdict => panic!("{verdict:?}"),
    };
}

#[test]
fn a_flood_of_callers_costs_a_bounded_table_and_nobody_who_is_known() {
    let mut table = CallTable::new(&TIMES, Limits { callers: 1_000, reply_octets: 1 << 20 }, 3);
    carried_out(&mut table, S, &call(1, 0, 0), b"first");
    let mut accepted = 0;
    for stranger in 1_000..101_000 {
        match table.receive(2 * S, &call(stranger << 32, 0, 0)) {
            Verdict::CarryOut(ticket) => {
                accepted += 1;
                table.reply(ticket, b"");
            }
            verdict => assert_eq!(verdict, Verdict::Refused(Refusal::TooManyCallers)),
        }
    }
    assert_eq!((accepted, table.callers()), (999, 1_000));
    assert_eq!(table.receive(3 * S, &call(1, 0, 0)), Verdict::Replied(b"first"));
    carried_out(&mut table, 3 * S, &call(1, 1, 0), b"second");
    // When their copies are dead there is room for others.
    assert_eq!(table.receive(31 * S, &call(2, 0, 0)), Verdict::Refused(Refusal::TooManyCallers));
    carried_out(&mut table, 65 * S, &call(2, 0, 0), b"new");
}

#[test]
fn a_caller_is_forgotten_when_no_copy_can_come_and_not_before() {
    let mut table = CallTable::new(&TIMES, Limits::default(), 3);
    carried_out(&mut table, S, &call(1, 0, 0), b"reply");
    table.forget(S + TIMES.retention() - Duration::from_nanos(1));
    assert_eq!(table.receive(30 * S, &call(1, 0, 0)), Verdict::Replied(b"reply"));
    // It was heard of again.
    table.forget(59 * S);
    assert_eq!(table.callers(), 1);
    table.forget(120 * S);
    assert_eq!((table.callers(), table.reply_octets(), table.timeout()), (0, 0, None));
}

#[test]
fn a_caller_whose_call_is_under_way_is_not_forgotten() {
    let mut table = CallTable::new(&TIMES, Limits::default(), 3);
    let Verdict::CarryOut(ticket) = table.receive(S, &call(1, 0, 0)) else { panic!() };
    for seconds in (30..1_000).step_by(10) {
        table.forget(S * seconds);
    }
    assert_eq!(table.callers(), 1);
    table.reply(ticket, b"late");
    table.forget(2_000 * S);
    assert_eq!(table.callers(), 0);
}

#[test]
fn replies_take_no_more_memory_than_allowed() {
    let mut table = CallTable::new(&TIMES, Limits { callers: 100, reply_octets: 10_000 }, 3);
    let mut tickets = Vec::new();
    for number in 0..WINDOW {
        let Verdict::CarryOut(ticket) = table.receive(S, &call(1, number, 0)) else { panic!() };
        tickets.push(ticket);
    }
    let kept =
        tickets.into_iter().filter_map(|ticket| table.reply(ticket, &[1; 1_000]).then_some(())).count();
    assert_eq!((kept, table.reply_octets()), (10, 10_000));
    assert_eq!(table.receive(S, &call(1, 5, 0)), Verdict::Replied(&[1; 1_000]));
    assert_eq!(table.receive(S, &call(1, 50, 0)), Verdict::ReplyLost);
    // Calls whose replies could not be kept are not begun.
    assert_eq!(table.receive(S, &call(2, 0, 0)), Verdict::Refused(Refusal::TooManyReplies));
    table.acknowledge(S, &call(1, 64, 1));
    carried_out(&mut table, S, &call(2, 0, 0), b"fits");
}

#[test]
fn a_call_that_its_caller_gave_up_leaves_nothing_when_it_ends() {
    let mut table = CallTable::new(&TIMES, Limits::default(), 3);
    let Verdict::CarryOut(old) = table.receive(S, &call(1, 0, 0)) else { panic!() };
    // Another call takes its place in the window.
    let Verdict::CarryOut(new) = table.receive(S, &call(1, WINDOW, WINDOW)) else { panic!() };
    table.reply(old, b"too late");
    assert_eq!(table.reply_octets(), 0);
    assert_eq!(table.receive(S, &call(1, WINDOW, WINDOW)), Verdict::UnderWay);
    assert_eq!(table.receive(S, &call(1, 0, 0)), Verdict::Settled);
    table.reply(new, b"in time");
    assert_eq!(table.receive(S, &call(1, WINDOW, WINDOW)), Verdict::Replied(b"in time"));
}

#[test]
fn a_server_that_crashed_waits_for_the_end_of_earlier_copies() {
    let mut table = CallTable::after_crash(&TIMES, Limits::default(), 3, 100 * S);
    assert_eq!(table.receive(129 * S, &call(1, 0, 0)), Verdict::Refused(Refusal::Restarting));
    carried_out(&mut table, 130 * S, &call(1, 7, 7), b"");
}
