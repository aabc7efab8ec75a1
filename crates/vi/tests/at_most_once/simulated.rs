//! Callers and a server.

use std::time::Duration;

use throughline_vi::at_most_once::{
    Call, CallId, CallTable, Caller, CallerId, Limits, Ticket, Times, Verdict,
};

use crate::network::{Future, Harm, Random};

enum What {
    /// At the server.
    Arrives(CallId, Call<u64>),
    Done(Ticket, CallId, u64),
    /// At the caller.
    Reply(usize, u64, u64),
    Timeout(usize),
}

struct OneCaller {
    caller: Caller<u64>,
    random: Random,
    made: u64,
    answered: u64,
    given_up: u64,
    /// The timeout that is in the future.
    timer: Option<Duration>,
    /// How often each call was carried out.
    carried_out: Vec<u8>,
}

struct Simulation {
    now: Duration,
    future: Future<What>,
    table: CallTable,
    callers: Vec<OneCaller>,
    harm: Harm,
    random: Random,
    calls_each: u64,
    outstanding: usize,
    most_callers: usize,
}

/// What the server makes of a request.
fn answer(request: u64) -> u64 {
    request.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5ca1_ab1e
}

fn request(caller: usize, number: u64) -> u64 {
    (caller as u64) << 40 | number
}

impl Simulation {
    fn new(times: Times, harm: Harm, callers: usize, calls_each: u64, seed: u64) -> Self {
        let mut random = Random(seed);
        let mut one = |_| OneCaller {
            caller: Caller::new(
                CallerId { index: random.next() as u32, key: random.next() },
                times,
                4 * harm.usual,
            ),
            random: Random(random.next()),
            made: 0,
            answered: 0,
            given_up: 0,
            timer: None,
            carried_out: vec![0; calls_each as usize],
        };
        let callers = (0..callers).map(&mut one).collect();
        Self {
            now: Duration::ZERO,
            future: Future::new(),
            table: CallTable::new(&times, Limits::default(), random.next()),
            callers,
            harm,
            random,
            calls_each,
            outstanding: 16,
            most_callers: 0,
        }
    }

    fn run(&mut self) {
        (0..self.callers.len()).for_each(|at| self.advance(at));
        while let Some((at, what)) = self.future.next() {
            self.now = at;
            match what {
                What::Arrives(id, call) => self.arrives(id, call),
                What::Done(ticket, id, reply) => {
                    self.table.reply(ticket, &reply.to_le_bytes());
                    self.send_reply(id, reply);
                }
                What::Reply(at, number, reply) => self.replied(at, number, reply),
                What::Timeout(at) => {
                    let timer = &mut self.callers[at].timer;
                    if *timer == Some(self.now) {
                        *timer = None;
                        self.advance(at);
                    }
                }
            }
        }
    }

    /// A caller makes as many calls as it may, and sends what is due.
    fn advance(&mut self, at: usize) {
        let (now, one) = (self.now, &mut self.callers[at]);
        while let Some(given_up) = one.caller.give_up(now) {
            assert_eq!(given_up.request, request(at, given_up.number));
            one.given_up += 1;
        }
        while one.made < self.calls_each && one.caller.outstanding() < self.outstanding {
            let Ok(number) = one.caller.call(now, request(at, one.made)) else { break };
            assert_eq!(number, one.made);
            one.made += 1;
        }
        while let Some((id, call)) = one.caller.transmit(now) {
            let call = match call {
                Call::Request(request) => Call::Request(*request),
                Call::Acknowledgement => Call::Acknowledgement,
            };
            for arrival in self.harm.arrivals(&mut one.random, now) {
                let id = CallId::from_octets(&id.to_octets());
                self.future.add(arrival, What::Arrives(id, call));
            }
        }
        let timeout = one.caller.timeout();
        if let Some(timeout) = timeout.filter(|timeout| one.timer.is_none_or(|timer| *timeout < timer)) {
            assert!(timeout > now);
            one.timer = Some(timeout);
            self.future.add(timeout, What::Timeout(at));
        }
    }

    fn arrives(&mut self, id: CallId, call: Call<u64>) {
        let Call::Request(request) = call else { return self.table.acknowledge(self.now, &id) };
        let reply = match self.table.receive(self.now, &id) {
            Verdict::CarryOut(ticket) => {
                let (caller, number) = ((request >> 40) as usize, request & 0xff_ffff_ffff);
                assert_eq!(number, id.number);
                let count = &mut self.callers[caller].carried_out[number as usize];
                *count += 1;
                assert_eq!(*count, 1, "call {number} of {caller} is carried out again");
                let took = self.random.time(4 * self.harm.usual);
                self.future.add(self.now + took, What::Done(ticket, id, answer(request)));
                self.most_callers = self.most_callers.max(self.table.callers());
                return;
            }
            Verdict::Replied(reply) => u64::from_le_bytes(reply.try_into().unwrap()),
            Verdict::UnderWay | Verdict::Settled => return,
            verdict => panic!("{verdict:?}"),
        };
        assert_eq!(reply, answer(request));
        self.send_reply(id, reply);
    }

    fn send_reply(&mut self, id: CallId, reply: u64) {
        let caller = self.callers.iter().position(|one| one.caller.id() == id.caller).unwrap();
        for arrival in self.harm.arrivals(&mut self.random, self.now) {
            self.future.add(arrival, What::Reply(caller, id.number, reply));
        }
    }

    fn replied(&mut self, at: usize, number: u64, reply: u64) {
        let one = &mut self.callers[at];
        if let Some(request) = one.caller.reply(self.now, number) {
            assert_eq!(reply, answer(request));
            assert_eq!(one.carried_out[number as usize], 1);
            one.answered += 1;
        }
        self.advance(at);
    }
}

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_million_calls_are_each_carried_out_once() {
    let harm = Harm { loss: 10, duplication: 10, late: 10, usual: MS, latest: 50 * MS };
    let mut simulation = Simulation::new(Times::default(), harm, 25, 40_000, 1);
    simulation.run();
    for one in &simulation.callers {
        assert_eq!((one.made, one.answered, one.given_up), (40_000, 40_000, 0));
        assert!(one.carried_out.iter().all(|count| *count == 1));
    }
    assert_eq!(simulation.most_callers, 25);
    // The last word of each caller was that everything is settled, unless it was lost.
    assert!(simulation.table.reply_octets() <= 25 * 64 * 8);
    simulation.table.forget(simulation.now + 2 * Times::default().retention());
    assert_eq!((simulation.table.callers(), simulation.table.reply_octets()), (0, 0));
}

/// Times so short that callers give up and are forgotten, and packets that live as long as is allowed.
#[test]
fn at_most_once_to_the_limits_of_all_times() {
    for seed in 0..40 {
        let times = Times { repeats: 30 * MS, lives: 40 * MS };
        let harm = Harm { loss: 40, duplication: 50, late: 50, usual: 2 * MS, latest: times.lives };
        let mut simulation = Simulation::new(times, harm, 5, 400, seed);
        simulation.outstanding = 1 + seed as usize % 64;
        simulation.run();
        let sum = |figure: fn(&OneCaller) -> u64| simulation.callers.iter().map(figure).sum::<u64>();
        assert_eq!(sum(|one| one.made), 2_000);
        assert_eq!(sum(|one| one.answered + one.given_up), 2_000);
        let carried_out: u64 = sum(|one| one.carried_out.iter().map(|count| u64::from(*count)).sum());
        assert!(sum(|one| one.given_up) > 0 && carried_out >= sum(|one| one.answered));
    }
}
