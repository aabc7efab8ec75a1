//! Long messages by the native protocol: whole, in parts, and read where they lie.

#[macro_use]
mod common;

use std::time::{Duration, Instant};

use common::{
    ADD_ONE, EMPTY, Echo, EchoRef, FAIL, LENGTHEN, SLEEP, TELL_PLACE, client, seen_by, server_with,
};
use throughline::{Orb, OrbConfig, TrustedPeers, block_on};
use throughline_vi::{LENT_FRONT, Nic, Reliability, ViAttributes};
use throughline_wire::{Flags, Header, Kind, Message, PLAIN_BYTES, RegionKind, RegionList};

const GRACE: Duration = Duration::from_secs(2);

/// Octets of registered buffers, of what goes whole, and of a header with what comes before the numbers.
const BUFFER: usize = 64 << 10;
const WHOLE: usize = 1 << 20;
const BEFORE: usize = 48;

fn served(server: &Orb) -> EchoRef {
    server.root().activate(Echo::default()).unwrap()
}

/// A server and a client that trust each other, and the client's reference.
fn trusting() -> (Orb, Orb, EchoRef) {
    let config = || OrbConfig {
        // SAFETY: both are this process, which uses the library alone.
        trusted_peers: Some(unsafe { TrustedPeers::promise() }),
        ..OrbConfig::default()
    };
    let server = Orb::start(OrbConfig { listen: vec!["shm:".parse().unwrap()], ..config() }).unwrap();
    let client = Orb::start(config()).unwrap();
    let echo = seen_by(&client, &served(&server));
    (server, client, echo)
}

fn numbers(count: usize, seed: u32) -> Vec<u32> {
    (0..count as u32).map(|n| n.wrapping_mul(2_654_435_761).wrapping_add(seed)).collect()
}

fn sum(numbers: &[u32]) -> u64 {
    numbers.iter().copied().map(u64::from).sum()
}

fn move_there_and_back(echo: &EchoRef, count: usize, seed: u32) {
    let expected = numbers(count, seed);
    let mut data = expected.clone();
    echo.move_data(&mut data).unwrap();
    assert!(data == expected, "{count} numbers were changed");
}

fn messages_of_every_length(echo: &EchoRef) {
    for whole in [BUFFER, BUFFER + 64, WHOLE, WHOLE + 64, 2 * WHOLE + 128] {
        let count = (whole - BEFORE) / 4;
        for count in count - 10..count + 10 {
            move_there_and_back(echo, count, whole as u32);
        }
    }
    // None disturbs the next, whichever memory each was in.
    for (seed, count) in
        [3, 40_000, 1_000, 300_000, 700, 600_000, 16_380, 200_000].into_iter().cycle().take(64).zip(0..)
    {
        move_there_and_back(echo, seed, count);
        assert_eq!(echo.shout("a").unwrap(), "A");
    }
}

fn long_messages_of_every_length(at: &str) {
    let (server, client) = (server_with(|c| c.listen = vec![at.parse().unwrap()]), client());
    messages_of_every_length(&seen_by(&client, &served(&server)));
    server.shutdown(GRACE);
}

fn one_that_is_too_long_costs_its_own_connection_alone(at: &str) {
    let limited = |c: &mut OrbConfig| (c.listen, c.max_message) = (vec![at.parse().unwrap()], 200_000);
    let server = server_with(limited);
    let own = served(&server);
    let friend = client();
    let other = seen_by(&friend, &own);
    for count in [60_000, 400_000] {
        move_there_and_back(&other, 40_000, 1);
        let foe = client();
        let error = seen_by(&foe, &own).move_data(&mut numbers(count, 2)).unwrap_err();
        // Over UDP the server says farewell without having carried it out.
        assert!(
            [throughline::Kind::CommFailure, throughline::Kind::Transient].contains(&error.kind),
            "{error}"
        );
    }
    move_there_and_back(&other, 40_000, 3);
    server.shutdown(GRACE);
}

fn threads_with_long_messages_do_not_mix_them(at: &str) {
    let (server, client) = (server_with(|c| c.listen = vec![at.parse().unwrap()]), client());
    let echo = seen_by(&client, &served(&server));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let echo = &echo;
            scope.spawn(move || {
                for (round, count) in [30_000, 100_000, 10, 500_000].into_iter().cycle().take(12).enumerate()
                {
                    move_there_and_back(echo, count + thread, (thread * 100 + round) as u32);
                }
            });
        }
    });
    server.shutdown(GRACE);
}

over! {
    long_messages_of_every_length
    one_that_is_too_long_costs_its_own_connection_alone
    threads_with_long_messages_do_not_mix_them
}

#[test]
fn trusted_peers_get_the_same_results() {
    let (server, client, echo) = trusting();
    messages_of_every_length(&echo);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let echo = &echo;
            scope.spawn(move || {
                (0..200).for_each(|round| move_there_and_back(echo, 2_000 + round * 37, thread * 1_000))
            });
        }
    });
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

/// How the memory at this address is mapped: what may be done with it, and its name.
fn mapping(address: u64) -> String {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let holds = |line: &&str| {
        let (start, end) = line.split(' ').next().and_then(|range| range.split_once('-')).unwrap();
        let at = |text| u64::from_str_radix(text, 16).unwrap();
        (at(start)..at(end)).contains(&address)
    };
    let words: Vec<_> = maps.lines().find(holds).unwrap_or_default().split_whitespace().collect();
    format!("{} {}", words.get(1).unwrap_or(&""), words.get(5).unwrap_or(&""))
}

/// Whether the servant finds its arguments in memory like this. It is the servant's own, and when it is looked at he has done
/// with it: other tests of this process may have mapped something else there. So once in five times is enough.
fn is_elsewhere(echo: &EchoRef, data: &[u32], expected: impl Fn(&str) -> bool) -> bool {
    (0..5).any(|_| {
        let (found, place) = echo.sum(0, data).unwrap();
        assert_eq!(found, sum(data));
        expected(&mapping(place))
    })
}

#[test]
fn a_trusting_server_reads_long_arguments_in_the_memory_of_its_client() {
    let (server, client, echo) = trusting();
    let wary = server_with(|c| c.listen = vec!["shm:".parse().unwrap()]);
    let copied = seen_by(&client, &served(&wary));
    for count in [1_000, 16_000, 100_000] {
        let data = numbers(count, 3);
        // The second time also what is too long for the buffers that a link begins with.
        for _ in 0..2 {
            let (found, place) = echo.sum(0, &data).unwrap();
            assert_eq!(found, sum(&data));
            let name = mapping(place);
            // What is lent may be written to.
            let shared = ["r--s /memfd:throughline-vi", "rw-s /memfd:throughline-vi"];
            assert!(shared.iter().any(|it| name.starts_with(it)), "{count} numbers in {name}");
            assert!(is_elsewhere(&copied, &data, |name| name.starts_with("rw")), "{count} numbers");
        }
    }
    // Where it lies shows that a message was in a part of a longer one, or too short to be left where it was.
    for count in [100, 300_000] {
        assert!(is_elsewhere(&echo, &numbers(count, 4), |name| !name.starts_with("r--s")), "{count} numbers");
    }
    for orb in [client, server, wary] {
        orb.shutdown(GRACE);
    }
}

/// A servant changes numbers that are lent where the client has them; whatever he does with them, it gets the same.
fn changes_of_every_kind(echo: &EchoRef, lent: bool) {
    for count in [1_000, 20, 70, 100, 16_000, 200_000] {
        for round in 0..3 {
            let before = numbers(count, round);
            let expected: Vec<u32> = before.iter().map(|n| n.wrapping_add(1)).collect();
            let mut data = before.clone();
            echo.change(ADD_ONE, &mut data).unwrap();
            assert!(data == expected, "{count} numbers");
            data = before.clone();
            echo.change(LENGTHEN, &mut data).unwrap();
            assert!(data[..count] == expected && data[count..] == [7, 8], "{count} numbers");
            data = before.clone();
            assert_eq!(echo.change(FAIL, &mut data).unwrap_err().kind, throughline::Kind::BadParam);
            assert!(data == before, "{count} numbers");
            echo.change(EMPTY, &mut data).unwrap();
            assert!(data.is_empty(), "{count} numbers");
            // Where the client has it, unless all memory that it lends is still in use.
            let found = (0..5).any(|_| {
                data = before.clone();
                echo.change(TELL_PLACE, &mut data).unwrap();
                assert!(data[2..] == expected[2..], "{count} numbers");
                let place = u64::from(data[0]) | u64::from(data[1]) << 32;
                mapping(place).starts_with("rw-s /memfd:throughline-vi-lent")
            });
            // Short ones never.
            assert_eq!(found, lent && count >= 70, "{count} numbers");
            assert_eq!(echo.shout("a").unwrap(), "A");
        }
    }
}

#[test]
fn a_trusting_server_changes_arguments_in_the_memory_of_its_client() {
    let (server, client, echo) = trusting();
    changes_of_every_kind(&echo, true);
    // Several clients, each with memory of its own.
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let echo = &echo;
            scope.spawn(move || changes_of_every_kind(echo, true));
        }
    });
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

#[test]
fn nobody_lends_to_who_does_not_trust_him() {
    let (trusting_server, trusting_client, _) = trusting();
    let wary = server_with(|c| c.listen = vec!["shm:".parse().unwrap()]);
    let (own, others) = (served(&trusting_server), served(&wary));
    let wary_client = client();
    changes_of_every_kind(&seen_by(&wary_client, &own), false);
    changes_of_every_kind(&seen_by(&trusting_client, &others), false);
    changes_of_every_kind(&seen_by(&wary_client, &others), false);
    for orb in [trusting_client, wary_client, trusting_server, wary] {
        orb.shutdown(GRACE);
    }
}

#[test]
fn what_comes_back_too_late_is_of_no_account() {
    let (server, client, echo) = trusting();
    let mut data = numbers(2_000, 1);
    echo.change(ADD_ONE, &mut data).unwrap();
    // Long enough to connect anew.
    let hurried = EchoRef(echo.0.with_timeout(Duration::from_millis(60)));
    for round in 0..6 {
        let before = data.clone();
        let error = hurried.change(SLEEP + 180, &mut data).unwrap_err();
        assert_eq!(error.kind, throughline::Kind::Timeout, "round {round}: {error}");
        assert!(data == before);
        // Sent while the server still has the one before.
        (0..3).for_each(|_| echo.change(ADD_ONE, &mut data).unwrap());
        assert!(data.iter().zip(&before).all(|(after, before)| *after == before.wrapping_add(3)));
    }
    changes_of_every_kind(&echo, true);
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

/// What the servant has summed up, once it has done so this many times.
fn sums(echo: &EchoRef, count: usize) -> Vec<u32> {
    let started = Instant::now();
    loop {
        let posted = echo.posted().unwrap();
        if posted.len() >= count {
            return posted;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "{} of {count}", posted.len());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_a_servant_still_reads_is_not_overwritten_by_the_next_call() {
    for count in [4_000, 100_000] {
        let (server, client, echo) = trusting();
        // So that there are long buffers.
        echo.sum(0, &numbers(count, 9)).unwrap();
        (0..8).for_each(|seed| echo.post_sum(10, &numbers(count, seed)).unwrap());
        let expected: Vec<_> = (0..8).map(|seed| sum(&numbers(count, seed)) as u32).collect();
        assert_eq!(sums(&echo, 8), expected);
        client.shutdown(GRACE);
        server.shutdown(GRACE);
    }
}

#[test]
fn what_a_servant_still_reads_outlives_the_call_and_its_connection() {
    for count in [4_000, 100_000] {
        let (server, client, echo) = trusting();
        // Long enough to connect, which each call but the first has to; mostly.
        let hasty = EchoRef(echo.0.with_timeout(Duration::from_millis(60)));
        echo.ping().unwrap();
        let started = Instant::now();
        for seed in 0..6 {
            let call = || hasty.sum(500, &numbers(count, seed)).unwrap_err();
            let mut error = call();
            // On a busy machine: nothing was sent.
            while error.kind == throughline::Kind::Transient && started.elapsed() < Duration::from_secs(10) {
                assert_eq!(error.completed, throughline::Completion::No, "{error}");
                error = call();
            }
            assert_eq!(error.kind, throughline::Kind::Timeout, "{error}");
        }
        let mut expected: Vec<_> = (0..6).map(|seed| sum(&numbers(count, seed)) as u32).collect();
        let mut found = sums(&echo, 6);
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected);
        client.shutdown(GRACE);
        server.shutdown(GRACE);
    }
}

#[test]
fn futures_of_trusting_clients_get_their_own_answers() {
    let (server, client, echo) = trusting();
    let texts: Vec<_> =
        (0..60).map(|n| format!("{n} ").repeat(if n % 7 == 0 { 60_000 } else { 2_000 })).collect();
    for _ in 0..3 {
        let calls: Vec<_> = texts.iter().map(|text| echo.shout_async(text)).collect();
        for (call, text) in calls.into_iter().zip(&texts) {
            assert_eq!(&block_on(call).unwrap(), text);
        }
    }
    client.shutdown(GRACE);
    server.shutdown(GRACE);
}

#[test]
fn other_programs_may_lend_messages_of_every_shape() {
    let name = format!("throughline-test-lent-{}", std::process::id());
    // SAFETY: all peers are this process, which uses the library alone.
    let promise = unsafe { TrustedPeers::promise() };
    let server = server_with(|c| {
        (c.listen, c.trusted_peers) = (vec![format!("shm:{name}").parse().unwrap()], Some(promise));
    });
    let nic = Nic::shm().unwrap();
    let attributes =
        ViAttributes { trusted: Some(promise), ..ViAttributes::new(Reliability::ReliableDelivery) };
    let mut vi = nic.create_vi(&attributes).unwrap();
    vi.post_own_receives();
    vi.connect(&name, b"throughline 1", Some(GRACE)).unwrap();
    assert!(vi.lends());
    let region = nic.register_lent(1, 4096, vi.tag(), promise).unwrap();
    let mut marked = RegionList::new();
    marked.push(RegionKind::Payload, 0, 0, 100).unwrap();
    let concurrent = Flags::NONE.with(Flags::CONCURRENT);
    // Shorter than what comes with the frame, as long, longer; with regions; copied before it is carried out.
    let shapes = [(PLAIN_BYTES, false), (LENT_FRONT, false), (4096, false), (4096, true), (300, true)];
    for (sequence, (len, with_regions)) in (0..).zip(shapes.into_iter().cycle().take(20)) {
        let flags = if sequence % 2 == 0 { Flags::NONE } else { concurrent };
        let ping = Header { sequence, flags, ..Header::new(Kind::Ping) };
        let mut buffer = region.buffer().unwrap();
        let written = match with_regions {
            true => ping.write_with(&marked, &mut buffer).map(drop),
            false => ping.write(&mut buffer).map(drop),
        };
        written.unwrap();
        vi.lend(buffer, len).unwrap();
        let answer = vi.receive_wait(Some(GRACE)).unwrap();
        let pong = Message::read(&answer.buffer).unwrap().header;
        assert_eq!((pong.kind, pong.sequence), (Kind::Pong, sequence), "{len} octets");
        vi.post_receive(answer.buffer).unwrap();
        // The server gives it back without being asked.
        let began = Instant::now();
        while vi.take_back().is_none() {
            assert!(began.elapsed() < GRACE, "{len} octets do not come back");
        }
    }
    server.shutdown(GRACE);
}
