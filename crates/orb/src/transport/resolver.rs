//! Host names to addresses, within the caller's time.
//!
//! The system's resolver blocks for as long as it likes, and nothing interrupts it. So it is asked on threads of its own:
//! one for each distinct name being looked up, a few at most, none when nobody asks. Whoever runs out of time goes on
//! without an answer; those who ask for the same name meanwhile wait for the same answer.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::exception::shown;
use crate::transport::reactor::lock;

/// Names looked up at a time. Further ones wait for their turn.
const MAX_THREADS: usize = 8;
/// The stack of a thread that asks the system, in bytes.
const STACK: usize = 256 * 1024;

/// Asks the system for the addresses of a host.
type Ask = fn(&str) -> io::Result<Vec<SocketAddr>>;

/// The resolver of the process.
pub(crate) static SYSTEM: LazyLock<Resolver> =
    LazyLock::new(|| Resolver::new(|host| Ok((host, 0).to_socket_addrs()?.collect())));

/// Looks up host names.
#[derive(Debug)]
pub(crate) struct Resolver {
    ask: Ask,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every name asked for and not answered.
    lookups: HashMap<String, Arc<Lookup>>,
    /// Those that no thread has taken up.
    waiting: VecDeque<String>,
    threads: usize,
}

#[derive(Debug, Default)]
struct Lookup {
    answer: Mutex<Option<Answer>>,
    arrived: Condvar,
}

/// The addresses, or the error in a form that several callers can have.
type Answer = Result<Vec<SocketAddr>, (io::ErrorKind, String)>;

impl Resolver {
    pub(crate) fn new(ask: Ask) -> Self {
        Self { ask, state: Mutex::default() }
    }

    /// The addresses of a host, each with `port`. A numeric address is its own answer.
    ///
    /// # Errors
    /// What the system says; `TimedOut` when it has not said anything within `timeout`.
    pub(crate) fn resolve(
        &'static self,
        host: &str,
        port: u16,
        timeout: Duration,
    ) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let lookup = self.lookup(host)?;
        let mut addresses = self.wait(host, &lookup, timeout)?;
        addresses.iter_mut().for_each(|address| address.set_port(port));
        Ok(addresses)
    }

    /// Joins the lookup of a name, which it starts if nobody else has.
    fn lookup(&'static self, host: &str) -> io::Result<Arc<Lookup>> {
        let mut state = lock(&self.state);
        if let Some(lookup) = state.lookups.get(host) {
            return Ok(Arc::clone(lookup));
        }
        if state.threads < MAX_THREADS {
            std::thread::Builder::new()
                .name("throughline-names".to_owned())
                .stack_size(STACK)
                .spawn(|| self.work())?;
            state.threads += 1;
        }
        let lookup = Arc::<Lookup>::default();
        state.lookups.insert(host.to_owned(), Arc::clone(&lookup));
        state.waiting.push_back(host.to_owned());
        Ok(lookup)
    }

    fn wait(&self, host: &str, lookup: &Arc<Lookup>, timeout: Duration) -> io::Result<Vec<SocketAddr>> {
        let (answer, _) = lookup
            .arrived
            .wait_timeout_while(lock(&lookup.answer), timeout, |answer| answer.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        match &*answer {
            Some(Ok(addresses)) => return Ok(addresses.clone()),
            Some(Err((kind, why))) => return Err(io::Error::new(*kind, why.clone())),
            None => drop(answer),
        }
        self.give_up(host, lookup);
        let why = format!("the host name `{}` could not be looked up in time", shown(host));
        Err(io::Error::new(io::ErrorKind::TimedOut, why))
    }

    /// Nobody needs an answer that nobody waits for: the map and the last caller hold the lookup.
    fn give_up(&self, host: &str, lookup: &Arc<Lookup>) {
        let mut state = lock(&self.state);
        let place = state.waiting.iter().position(|waiting| waiting == host);
        if let Some(place) = place.filter(|_| Arc::strong_count(lookup) == 2) {
            state.waiting.remove(place);
            state.lookups.remove(host);
        }
    }

    /// Answers what waits, then ends.
    fn work(&self) {
        loop {
            let host = {
                let mut state = lock(&self.state);
                let Some(host) = state.waiting.pop_front() else {
                    state.threads -= 1;
                    return;
                };
                host
            };
            let answer = (self.ask)(&host).map_err(|e| (e.kind(), e.to_string()));
            // Who asks from now on gets a new answer.
            let lookup = lock(&self.state).lookups.remove(&host);
            if let Some(lookup) = lookup {
                *lock(&lookup.answer) = Some(answer);
                lookup.arrived.notify_all();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;

    use super::*;

    const SHORT: Duration = Duration::from_millis(100);
    const LONG: Duration = Duration::from_secs(20);

    fn leak(ask: Ask) -> &'static Resolver {
        Box::leak(Box::new(Resolver::new(ask)))
    }

    fn home() -> Vec<SocketAddr> {
        vec![SocketAddr::from(([127, 0, 0, 1], 0)), SocketAddr::from(([127, 0, 0, 2], 0))]
    }

    fn until(what: &str, condition: impl Fn() -> bool) {
        let started = Instant::now();
        while !condition() {
            assert!(started.elapsed() < LONG, "no {what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn numbers_are_their_own_answer() {
        let resolver = leak(|_| panic!("asked"));
        for (host, printed) in [("127.0.0.1", "127.0.0.1:7"), ("::1", "[::1]:7")] {
            assert_eq!(resolver.resolve(host, 7, Duration::ZERO).unwrap(), [printed.parse().unwrap()]);
        }
    }

    #[test]
    fn names_are_asked_for_and_errors_are_told() {
        let resolver = leak(|host| match host {
            "home" => Ok(home()),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "no such host")),
        });
        let expected: Vec<SocketAddr> =
            ["127.0.0.1:80", "127.0.0.2:80"].map(|address| address.parse().unwrap()).into();
        assert_eq!(resolver.resolve("home", 80, LONG).unwrap(), expected);
        let e = resolver.resolve("nowhere", 80, LONG).unwrap_err();
        assert_eq!((e.kind(), e.to_string()), (io::ErrorKind::NotFound, "no such host".to_owned()));
        until("end of the threads", || lock(&resolver.state).threads == 0);
        assert!(lock(&resolver.state).lookups.is_empty());
    }

    #[test]
    fn a_resolver_that_does_not_answer_holds_nobody_up_and_piles_nothing_up() {
        static ASKED: AtomicUsize = AtomicUsize::new(0);
        static GATE: Mutex<()> = Mutex::new(());
        let resolver = leak(|host| {
            if host.starts_with("slow") {
                ASKED.fetch_add(1, Ordering::SeqCst);
                drop(lock(&GATE));
            }
            Ok(home())
        });
        let gate = lock(&GATE);
        let started = Instant::now();
        std::thread::scope(|s| {
            // Many ask for each of a few names.
            for n in 0..60 {
                s.spawn(move || {
                    let e = resolver.resolve(&format!("slow{}", n % 3), 1, SHORT).unwrap_err();
                    assert_eq!(e.kind(), io::ErrorKind::TimedOut);
                });
            }
        });
        assert!(started.elapsed() < LONG / 4, "{:?}", started.elapsed());
        assert!(ASKED.load(Ordering::SeqCst) <= 3 && lock(&resolver.state).threads <= 3);
        // Others are answered meanwhile.
        assert_eq!(resolver.resolve("home", 1, LONG).unwrap().len(), 2);
        // More names than threads: those whose turn does not come are forgotten with the last who asked.
        until("thread that is kept", || {
            for n in 0..40 {
                resolver.resolve(&format!("slow{n}"), 1, Duration::from_millis(2)).unwrap_err();
            }
            ASKED.load(Ordering::SeqCst) >= MAX_THREADS
        });
        let state = lock(&resolver.state);
        assert_eq!((state.threads, state.lookups.len(), state.waiting.len()), (MAX_THREADS, MAX_THREADS, 0));
        drop(state);
        drop(gate);
        until("end of the threads", || lock(&resolver.state).threads == 0);
        assert_eq!(ASKED.load(Ordering::SeqCst), MAX_THREADS);
    }
}
