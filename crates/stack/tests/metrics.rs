//! Counters as text: what a graph has counted is there, in a form that others can read.

mod hosts;

use hosts::{Pair, SERVER, data, echo};
use throughline_stack::{
    Architecture, Discard, Driver, Message, Metrics, PairConfig, Participants, Sockets, pair,
};

/// Reads the text as OpenMetrics has it; samples by name and labels.
fn read(text: &str) -> Vec<(String, u64)> {
    let body = text.strip_suffix("# EOF\n").expect("the end is marked");
    let (mut samples, mut family) = (Vec::new(), (String::new(), ""));
    for line in body.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(
                !samples.iter().any(|(sample, _): &(String, u64)| sample.starts_with(&format!("{name}{{")))
            );
            family = (name.to_owned(), if kind == "counter" { "_total" } else { "" });
        } else if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(rest.starts_with(&family.0) && rest.len() > family.0.len() + 3, "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert_eq!(name.split('{').next().unwrap(), format!("{}{}", family.0, family.1), "{line}");
            samples.push((name.to_owned(), value.parse().unwrap()));
        }
    }
    samples
}

#[test]
fn what_a_graph_has_counted() {
    for architecture in [Architecture::Layered, Architecture::Integrated] {
        let mut pair = Pair::new("udp > ipv4 > eth; arp > eth", architecture);
        echo(&mut pair, "udp", Participants::at(7), Participants::to(SERVER, 7), &data(100)).unwrap();
        let mut frame = pair.frames.last().unwrap().clone();
        frame[..12].rotate_left(6);
        pair.server.arrive(Message::copied(0, &frame), pair.now);
        pair.server.arrive(Message::copied(0, &frame[..9]), pair.now);
        let mut metrics = Metrics::default();
        metrics.add_graph(&pair.server, &[("graph", "a \"quoted\" \\ name")]);
        metrics.add_graph(&pair.client, &[("graph", "client")]);
        let samples = read(&metrics.to_string());
        let value = |name: &str| samples.iter().find(|(sample, _)| sample == name).map(|(_, value)| *value);
        let of = |name: &str, more: &str| {
            value(&format!("throughline_stack_{name}{{graph=\"a \\\"quoted\\\" \\\\ name\"{more}}}"))
        };
        // A question for the address and three datagrams, answered; and what was none.
        assert_eq!(of("frames_received_total", ""), Some(6));
        assert_eq!(of("frames_sent_total", ""), Some(4));
        assert_eq!(of("messages_delivered_total", ""), Some(3));
        assert_eq!(of("paths", ""), Some(1));
        let discarded = of("discarded_total", ",protocol=\"eth\",reason=\"truncated\"");
        assert_eq!(discarded, Some(1), "{metrics}");
        assert_eq!(value("throughline_stack_messages_delivered_total{graph=\"client\"}"), Some(3));
        let all: u64 = samples.iter().filter(|(name, _)| name.contains("discarded")).map(|(_, n)| n).sum();
        assert_eq!(all, pair.server.discarded().map(|(.., count)| count).sum::<u64>());
    }
}

#[test]
fn of_a_driver_and_of_sockets() {
    let config = PairConfig::default();
    let (here, _there) = pair(&config);
    let host = hosts::host(hosts::CLIENT);
    let graph = throughline_stack::Graph::compose("tcp > ipv4 > eth; arp > eth", host, Default::default());
    let mut driver = Driver::new(graph.unwrap(), here);
    driver.poll().unwrap();
    let text = driver.metrics(&[("host", "1")]).to_string();
    let dropped = "throughline_device_dropped_total{host=\"1\",reason=\"overrun\"}".to_owned();
    assert!(read(&text).contains(&(dropped.clone(), 0)), "{text}");
    let sockets = Sockets::start(driver).unwrap();
    assert!(read(&sockets.metrics(&[("host", "1")]).unwrap().to_string()).contains(&(dropped, 0)));
}

#[test]
fn names_and_kinds_are_checked() {
    let reasons: std::collections::HashSet<_> = Discard::ALL.iter().map(|why| why.name()).collect();
    assert_eq!(reasons.len(), Discard::ALL.len());
    let wrong = |add: fn(&mut Metrics)| {
        assert!(std::panic::catch_unwind(|| add(&mut Metrics::default())).is_err());
    };
    wrong(|metrics| metrics.counter("two words", "", &[], 1));
    wrong(|metrics| metrics.gauge("fine", "", &[("1st", "")], 1));
    wrong(|metrics| {
        metrics.gauge("fine", "", &[], 1);
        metrics.counter("fine", "", &[], 1);
    });
}
