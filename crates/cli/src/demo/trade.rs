//! Transactions by several callers at once, for a moment.

use std::time::{Duration, Instant};

use throughline::{Orb, SystemException, TypedReference};

use super::hundred::Random;
use super::idl::bank::{OfficeRef, TellerRef, TellerTransactError};
use super::peer::Peer;
use crate::failure::{Failure, Result};
use crate::statistics::Samples;

/// What the callers did together.
#[derive(Default)]
pub struct Traded {
    /// How long each transaction took, refused ones included.
    pub took: Samples,
    /// Transactions that ended with `InsufficientFunds`.
    pub refused: u64,
    pub seconds: f64,
}

impl Traded {
    pub fn rate(&self) -> f64 {
        self.took.count() as f64 / self.seconds.max(1e-9)
    }

    fn join(mut self, other: &Self) -> Self {
        self.took.join(&other.took);
        self.refused += other.refused;
        self
    }

    fn note(&mut self, started: Instant, outcome: std::result::Result<i64, TellerTransactError>) -> Result {
        self.took.add(started.elapsed().as_nanos() as f64);
        match outcome {
            Ok(_) => Ok(()),
            Err(TellerTransactError::InsufficientFunds(_)) => {
                self.refused += 1;
                Ok(())
            }
            Err(other) => Err(Failure::new("a transaction failed").because(other)),
        }
    }
}

/// The tellers, as one client's ORB reaches them.
pub struct Counter {
    tellers: Vec<TellerRef>,
    accounts: usize,
}

impl Counter {
    pub fn open(peer: &Peer, orb: &Orb) -> Result<Self> {
        let failed = |e: SystemException| Failure::new("the bank does not answer").because(e);
        let office = OfficeRef::from_object(orb.reference(peer.office.as_object().ior().clone()));
        let count = office.tellers().map_err(failed)?;
        let tellers = (0..count)
            .filter_map(|n| office.find_teller(n).transpose())
            .collect::<std::result::Result<_, _>>();
        let tellers = tellers.map_err(|e| Failure::new("the bank has no tellers").because(e))?;
        Ok(Self { tellers, accounts: office.accounts().map_err(failed)? as usize })
    }

    /// A teller, an account, and an amount of up to 999.99 either way, so that some accounts run dry.
    fn draw(&self, random: &mut Random) -> (&TellerRef, u32, i64) {
        let teller = &self.tellers[random.below(self.tellers.len())];
        (teller, random.below(self.accounts) as u32, random.below(199_999) as i64 - 99_999)
    }
}

/// Threads that call and wait, each on its own.
pub fn blocking(peer: &Peer, callers: usize, moment: Duration) -> Result<Traded> {
    let orb = peer.wide_orb(callers)?;
    let counter = Counter::open(peer, &orb)?;
    let started = Instant::now();
    let caller = |seed: u64| {
        let (mut random, mut traded) = (Random(seed), Traded::default());
        while started.elapsed() < moment {
            let (teller, account, value) = counter.draw(&mut random);
            let call = Instant::now();
            traded.note(call, teller.transact(account, value))?;
        }
        Ok(traded)
    };
    let parts: Result<Vec<Traded>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..callers as u64).map(|n| scope.spawn(move || caller(100 + n))).collect();
        let joined = threads.into_iter().map(|t| t.join().map_err(|_| Failure::new("a caller panicked"))?);
        joined.collect()
    });
    let seconds = started.elapsed().as_secs_f64();
    let all = parts?.iter().fold(Traded::default(), Traded::join);
    Ok(Traded { seconds, ..all })
}

/// Tasks on one thread, all of whose calls are under way at the same time on one connection.
pub fn tasks(peer: &Peer, callers: usize, moment: Duration) -> Result<Traded> {
    let counter = std::rc::Rc::new(Counter::open(peer, &peer.orb)?);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|e| Failure::new("cannot start an async runtime").because(e))?;
    let started = Instant::now();
    let caller = |seed: u64| {
        let counter = std::rc::Rc::clone(&counter);
        async move {
            let (mut random, mut traded) = (Random(seed), Traded::default());
            while started.elapsed() < moment {
                let (teller, account, value) = counter.draw(&mut random);
                let call = Instant::now();
                traded.note(call, teller.transact_async(account, value).await)?;
            }
            Ok(traded)
        }
    };
    let local = tokio::task::LocalSet::new();
    let all = local.block_on(&runtime, async {
        let tasks: Vec<_> = (0..callers as u64).map(|n| tokio::task::spawn_local(caller(200 + n))).collect();
        let mut all = Traded::default();
        for task in tasks {
            let part: Result<Traded> = task.await.map_err(|_| Failure::new("a caller panicked"))?;
            all = all.join(&part?);
        }
        Ok::<_, Failure>(all)
    })?;
    Ok(Traded { seconds: started.elapsed().as_secs_f64(), ..all })
}
