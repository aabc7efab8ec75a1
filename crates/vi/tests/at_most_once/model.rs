//! The table beside a model that remembers everything for ever.

use std::{collections::HashMap, time::Duration};

use proptest::{collection::vec, prelude::*};
use throughline_vi::at_most_once::{
    CallId, CallTable, CallerId, Limits, Refusal, Ticket, Times, Verdict, WINDOW,
};

const TIMES: Times = Times { repeats: Duration::from_secs(3), lives: Duration::from_secs(4) };

/// What is known of a call that was carried out.
enum Known {
    UnderWay,
    Replied(Vec<u8>),
    Lost,
}

#[derive(Default)]
struct Model {
    calls: HashMap<(u64, u64), Known>,
    settled: HashMap<u64, u64>,
    tickets: Vec<(Ticket, u64, u64)>,
}

#[derive(Clone, Debug)]
enum Action {
    /// A caller, a number this much above or below what is settled, and how much more is settled.
    Call(u64, i64, u64),
    /// One of the calls under way ends, with so long a reply, or none.
    End(prop::sample::Index, Option<usize>),
    Acknowledge(u64, u64),
    Later(u32),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (0u64..6, -5i64..70, 0u64..5).prop_map(|(caller, number, more)| Action::Call(caller, number, more)),
        4 => (any::<prop::sample::Index>(), proptest::option::of(0usize..40)).prop_map(|(at, reply)| Action::End(at, reply)),
        1 => (0u64..6, 0u64..70).prop_map(|(caller, more)| Action::Acknowledge(caller, more)),
        1 => (0u32..2_000).prop_map(Action::Later),
    ]
}

fn call(caller: u64, number: u64, settled: u64) -> CallId {
    // Callers 0, 2 and 4 collide in the cache of the table; the long way must be taken.
    CallerId { index: (caller % 2) as u32, key: caller }.with(number, settled)
}

trait With {
    fn with(self, number: u64, settled: u64) -> CallId;
}

impl With for CallerId {
    fn with(self, number: u64, settled: u64) -> CallId {
        CallId { caller: self, number, settled }
    }
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..100, u64::MAX / 2 - 100..u64::MAX / 2 + 100, u64::MAX - 100..=u64::MAX]
}

impl Model {
    /// What the table should say; it remembers a caller as long as it must, and here nobody is silent for long.
    fn check(&mut self, table: &mut CallTable, now: Duration, id: &CallId) {
        let (caller, number) = (id.caller.key, id.number);
        let settled = self.settled.entry(caller).or_insert(0);
        let verdict = table.receive(now, id);
        if id.settled > number {
            return assert_eq!(verdict, Verdict::Refused(Refusal::Number));
        }
        *settled = (*settled).max(id.settled);
        let settled = *settled;
        match (verdict, self.calls.get(&(caller, number))) {
            (Verdict::Settled, _) => assert!(number < settled),
            (Verdict::Refused(Refusal::Number), _) => assert!(number >= settled + WINDOW),
            (verdict, _) if number < settled || number >= settled + WINDOW => panic!("{verdict:?}"),
            (Verdict::CarryOut(ticket), None) => {
                self.calls.insert((caller, number), Known::UnderWay);
                self.tickets.push((ticket, caller, number));
            }
            (Verdict::UnderWay, Some(Known::UnderWay)) | (Verdict::ReplyLost, Some(Known::Lost)) => {}
            (Verdict::Replied(reply), Some(Known::Replied(expected))) => assert_eq!(reply, expected),
            (Verdict::Refused(Refusal::TooManyReplies), None) => {}
            (verdict, _) => panic!("{verdict:?} of call {number} of {caller}"),
        }
    }

    fn end(&mut self, table: &mut CallTable, at: prop::sample::Index, reply: Option<usize>) {
        if self.tickets.is_empty() {
            return;
        }
        let (ticket, caller, number) = self.tickets.swap_remove(at.index(self.tickets.len()));
        let known = match reply.map(|length| vec![number as u8; length]) {
            Some(reply) => match table.reply(ticket, &reply) {
                true => Known::Replied(reply),
                false => Known::Lost,
            },
            None => {
                table.abandon(ticket);
                Known::Lost
            }
        };
        self.calls.insert((caller, number), known);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 1_000 }))]

    #[test]
    fn verdicts_are_those_of_a_perfect_memory(actions in vec(action(), 1..300), octets in 0usize..2_000) {
        let mut table = CallTable::new(&TIMES, Limits { callers: 6, reply_octets: octets }, 7);
        let (mut model, mut now) = (Model::default(), Duration::ZERO);
        for action in actions {
            match action {
                Action::Call(caller, offset, more) => {
                    let settled = *model.settled.get(&caller).unwrap_or(&0);
                    let number = settled.saturating_add_signed(offset);
                    model.check(&mut table, now, &call(caller, number, settled + more));
                }
                Action::End(at, reply) => model.end(&mut table, at, reply),
                Action::Acknowledge(caller, more) => {
                    if let Some(settled) = model.settled.get_mut(&caller) {
                        *settled += more;
                        table.acknowledge(now, &call(caller, *settled, *settled));
                    }
                }
                Action::Later(ms) => {
                    now += Duration::from_millis(ms.into());
                    // All that are known are heard of again, so that none may be forgotten.
                    model.settled.iter().for_each(|(caller, settled)| table.acknowledge(now, &call(*caller, *settled, *settled)));
                    table.forget(now);
                }
            }
            prop_assert!(table.reply_octets() <= octets && table.callers() <= 6);
        }
    }

    #[test]
    fn ids_come_back(index in any::<u32>(), key in any::<u64>(), number in any::<u64>(), settled in any::<u64>()) {
        let id = CallId { caller: CallerId { index, key }, number, settled };
        let back = CallId::from_octets(&id.to_octets());
        prop_assert_eq!((back, back.caller.index), (id, index));
    }

    /// Numbers at the ends of their range.
    #[test]
    fn numbers_of_strangers(numbers in vec((number(), number()), 1..100)) {
        let mut table = CallTable::new(&TIMES, Limits::default(), 7);
        for (number, settled) in numbers {
            if let Verdict::CarryOut(ticket) = table.receive(Duration::ZERO, &call(1, number, settled)) {
                table.reply(ticket, b"reply");
            }
        }
        table.forget(Duration::from_secs(1_000));
        prop_assert_eq!((table.callers(), table.reply_octets()), (0, 0));
    }
}
