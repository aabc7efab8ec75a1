//! Traffic described in a line of text, as commands are told it: `tpc-a:users=2000,response=0.2`.

use std::fmt;
use std::str::FromStr;

use super::event::{Event, Stream};
use super::{Churn, Flood, Polling, Popularity, Scan, Think, TpcA, Trains};

/// A kind of traffic and its parameters.
#[derive(Clone, Copy, Debug)]
pub enum Traffic {
    /// Users of a transaction system, or terminals that act on a clock.
    TpcA(TpcA),
    /// A server's clients, polled in turn.
    Polling(Polling),
    /// Trains of packets.
    Trains(Trains),
    /// Some flows send more than others.
    Popularity(Popularity),
    /// Connections come and go.
    Churn(Churn),
    /// Packets for flows that do not exist.
    Scan(Scan),
    /// Flows whose keys collide under the XOR fold.
    Flood(Flood),
}

impl Traffic {
    /// The packets, endlessly.
    pub fn events(&self, seed: u64) -> Stream {
        fn boxed(events: impl Iterator<Item = Event> + 'static) -> Stream {
            Box::new(events)
        }
        match self {
            Self::TpcA(traffic) => boxed(traffic.events(seed)),
            Self::Polling(traffic) => boxed(traffic.events(seed)),
            Self::Trains(traffic) => boxed(traffic.events(seed)),
            Self::Popularity(traffic) => boxed(traffic.events(seed)),
            Self::Churn(traffic) => boxed(traffic.events(seed)),
            Self::Scan(traffic) => boxed(traffic.events(seed)),
            Self::Flood(traffic) => boxed(traffic.events(seed)),
        }
    }

    /// Each kind in two lines, with its parameters and what they are if they are not given.
    pub fn kinds() -> String {
        let line = |form: &Form| {
            let parameters: Vec<String> = form.parameters.iter().map(ToString::to_string).collect();
            format!("  {:<11} {}\n  {:<11} {}\n", form.name, form.what, "", parameters.join(", "))
        };
        FORMS.iter().map(line).collect()
    }
}

impl FromStr for Traffic {
    type Err = TrafficError;

    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let form = FORMS.iter().find(|form| form.name == name);
        let form = form.ok_or_else(|| TrafficError::Kind(name.to_owned()))?;
        let mut values: Vec<Option<f64>> = vec![None; form.parameters.len()];
        for given in given.split(',').filter(|given| !given.is_empty()) {
            let (name, value) = given.split_once('=').ok_or_else(|| TrafficError::Form(given.to_owned()))?;
            let at = form.parameters.iter().position(|parameter| parameter.name == name);
            let at = at.ok_or_else(|| TrafficError::Parameter { kind: form.name, name: name.to_owned() })?;
            if values[at].replace(form.parameters[at].read(value)?).is_some() {
                return Err(TrafficError::Twice(form.parameters[at].name));
            }
        }
        let usual = form.parameters.iter().map(|parameter| parameter.usual);
        let values: Vec<f64> =
            values.into_iter().zip(usual).map(|(given, usual)| given.unwrap_or(usual)).collect();
        Ok((form.make)(&values))
    }
}

/// Why a text describes no traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrafficError {
    /// There is no such kind.
    #[error("there is no traffic `{0}`; there are {kinds}", kinds = names(FORMS.iter().map(|form| form.name)))]
    Kind(String),
    /// Something other than `NAME=VALUE`.
    #[error("`{0}` is not of the form NAME=VALUE")]
    Form(String),
    /// The kind has no such parameter.
    #[error("{kind} has no parameter `{name}`; it has {has}", has = names(parameters_of(kind)))]
    Parameter {
        /// The kind of traffic.
        kind: &'static str,
        /// What was given.
        name: String,
    },
    /// A parameter with two values.
    #[error("{0} is given twice; leave one of them out")]
    Twice(&'static str),
    /// The value is no number, or not one that makes sense.
    #[error("{name} is {wanted}, not `{value}`")]
    Value {
        /// The parameter.
        name: &'static str,
        /// What it may be.
        wanted: String,
        /// What was given.
        value: String,
    },
}

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn parameters_of(kind: &str) -> impl Iterator<Item = &'static str> {
    let form = FORMS.iter().find(|form| form.name == kind);
    form.into_iter().flat_map(|form| form.parameters.iter().map(|parameter| parameter.name))
}

/// How a kind of traffic is written, and made of what was written.
struct Form {
    name: &'static str,
    what: &'static str,
    parameters: &'static [Parameter],
    make: fn(&[f64]) -> Traffic,
}

/// A number that a kind of traffic is told.
struct Parameter {
    name: &'static str,
    usual: f64,
    least: f64,
    most: f64,
    /// A number of something, not a measure.
    counts: bool,
}

impl Parameter {
    const fn number(name: &'static str, usual: f64) -> Self {
        Self { name, usual, least: 1.0, most: MOST_FLOWS as f64, counts: true }
    }

    /// Seconds, or per second: from a nanosecond to ten years.
    const fn measure(name: &'static str, usual: f64) -> Self {
        Self { name, usual, least: 1e-9, most: 3e8, counts: false }
    }

    const fn from(self, least: f64, most: f64) -> Self {
        Self { least, most, ..self }
    }

    fn read(&self, text: &str) -> Result<f64, TrafficError> {
        let value = text.parse().ok().filter(|value| (self.least..=self.most).contains(value));
        let value = value.filter(|value: &f64| !self.counts || value.fract() == 0.0);
        value.ok_or_else(|| {
            let what = if self.counts { "a whole number" } else { "a number" };
            let wanted = format!("{what} from {} to {}", self.least, self.most);
            TrafficError::Value { name: self.name, wanted, value: text.to_owned() }
        })
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.usual)
    }
}

/// Flows of one kind at most, so that each has a key of its own.
pub(super) const MOST_FLOWS: u32 = 1 << 24;

const USERS: Parameter = Parameter::number("users", 2000.0);
const THINK: Parameter = Parameter::measure("think", 10.0);
const RESPONSE: Parameter = Parameter::measure("response", 0.2).from(0.0, 3e8);
const FLOWS: Parameter = Parameter::number("flows", 2000.0);
const RATE: Parameter = Parameter::measure("rate", 400.0).from(1e-6, 1e9);

fn users(values: &[f64], think: Think) -> Traffic {
    Traffic::TpcA(TpcA { users: values[0] as u32, think, response: values[2], waits: true })
}

const FORMS: [Form; 8] = [
    Form {
        name: "tpc-a",
        what: "users who enter a transaction, wait for the response and think (times in s)",
        parameters: &[USERS, THINK, RESPONSE],
        // As much as TPC/A wants at least.
        make: |v| users(v, Think::Exponential { mean: v[1], max: 10.0 * v[1] }),
    },
    Form {
        name: "clock",
        what: "the same users, who always think for as long",
        parameters: &[USERS, THINK, RESPONSE],
        make: |v| users(v, Think::Fixed(v[1])),
    },
    Form {
        name: "polling",
        what: "clients that a server polls in turn; answers take up to `delay` (s)",
        parameters: &[
            Parameter::number("clients", 2000.0),
            // What is overtaken is held back: a million answers at most.
            Parameter::measure("interval", 0.005).from(1e-5, 3e8),
            Parameter::measure("delay", 0.004).from(0.0, 10.0),
        ],
        make: |v| Traffic::Polling(Polling { clients: v[0] as u32, interval: v[1], delay: v[2] }),
    },
    Form {
        name: "trains",
        what: "`rate` trains a second of `length` packets on average, `gap` s apart",
        parameters: &[
            Parameter::number("flows", 100.0),
            Parameter::measure("rate", 10.0).from(1e-6, 1e9),
            Parameter::measure("length", 64.0).from(1.0, 1e9),
            Parameter::measure("gap", 1e-4).from(0.0, 3e8),
        ],
        make: |v| Traffic::Trains(Trains { flows: v[0] as u32, rate: v[1], length: v[2], gap: v[3] }),
    },
    Form {
        name: "popularity",
        what: "some flows send more than others, by Zipf's law; `rate` packets a second",
        parameters: &[FLOWS, Parameter::measure("exponent", 1.0).from(0.0, 10.0), RATE],
        make: |v| Traffic::Popularity(Popularity { flows: v[0] as u32, exponent: v[1], rate: v[2] }),
    },
    Form {
        name: "churn",
        what: "connections that open, send `packets` on average, close and open anew, all `gap` s apart",
        parameters: &[
            Parameter::number("connections", 2000.0),
            Parameter::measure("packets", 8.0).from(0.0, 1e9),
            Parameter::measure("gap", 1.0),
        ],
        make: |v| Traffic::Churn(Churn { connections: v[0] as u32, packets: v[1], gap: v[2] }),
    },
    Form {
        name: "scan",
        what: "each packet for another flow, that does not exist",
        parameters: &[RATE],
        make: |v| Traffic::Scan(Scan { first: 0, rate: v[0] }),
    },
    Form {
        name: "flood",
        what: "flows whose keys collide under the XOR fold, opened and sent to in turn",
        parameters: &[FLOWS, RATE],
        make: |v| Traffic::Flood(Flood { first: 0, flows: v[0] as u32, rate: v[1] }),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn some(traffic: &str) -> Vec<Event> {
        traffic.parse::<Traffic>().unwrap().events(3).take(5_000).collect()
    }

    #[test]
    fn what_is_not_given_is_as_usual() {
        fn usual(events: impl Iterator<Item = Event>) -> Vec<Event> {
            events.take(5_000).collect()
        }
        assert_eq!(some("tpc-a"), usual(TpcA::default().events(3)));
        assert_eq!(some("clock"), usual(TpcA { think: Think::Fixed(10.0), ..TpcA::default() }.events(3)));
        assert_eq!(some("polling"), usual(Polling::default().events(3)));
        assert_eq!(some("trains"), usual(Trains::default().events(3)));
        assert_eq!(some("popularity"), usual(Popularity::default().events(3)));
        assert_eq!(some("churn"), usual(Churn::default().events(3)));
        assert_eq!(some("scan"), usual(Scan { first: 0, rate: 400.0 }.events(3)));
        assert_eq!(some("flood"), usual(Flood { first: 0, flows: 2000, rate: 400.0 }.events(3)));
    }

    #[test]
    fn what_is_given_counts() {
        let three = TpcA { users: 3, response: 0.5, ..TpcA::default() };
        assert_eq!(some("tpc-a:response=0.5,users=3"), three.events(3).take(5_000).collect::<Vec<_>>());
        assert!(some("churn:connections=5,packets=0,gap=2").iter().take(6).all(|packet| packet.flow < 6));
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        for (text, part) in [
            ("oltp", "no traffic `oltp`; there are tpc-a, clock, polling"),
            ("tpc-a:users", "`users` is not of the form"),
            ("tpc-a:user=3", "no parameter `user`; it has users, think, response"),
            ("tpc-a:users=5,think=3,users=7", "users is given twice"),
            ("tpc-a:users=0", "users is a whole number from 1 to 16777216, not `0`"),
            ("tpc-a:users=1.5", "whole number"),
            ("tpc-a:think=NaN", "think is a number"),
            ("tpc-a:think=inf", "think is a number"),
            ("scan:rate=-1", "rate is a number"),
            ("trains:length=0", "length is a number from 1"),
        ] {
            let error = text.parse::<Traffic>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn extremes_send_packets() {
        for form in &FORMS {
            for extreme in [|p: &Parameter| p.least, |p: &Parameter| p.most.min(1e6)] {
                let values: Vec<String> =
                    form.parameters.iter().map(|p| format!("{}={}", p.name, extreme(p))).collect();
                let text = format!("{}:{}", form.name, values.join(","));
                let packets: Vec<Event> = text.parse::<Traffic>().unwrap().events(1).take(100).collect();
                assert!(packets.len() == 100 && packets.is_sorted_by_key(|packet| packet.time), "{text}");
            }
        }
    }
}
