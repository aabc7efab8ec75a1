//! Some that take the same batches, each in their order, by as many threads as there are processors.
//!
//! More threads than processors take turns on them, thousands of times a second on some systems, and each finds the caches full of
//! what the others needed. So the thread that hands batches over takes part when too many of them wait.

use std::collections::VecDeque;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// Batches that wait for a taker, at most: while a table grows, or a perfect hash is sought, others go on.
const WAITING: usize = 64;

/// What takes batches.
pub(super) trait Taker<B>: Send {
    /// Takes the next batch.
    fn take(&mut self, batch: &B);
}

/// Takers, and threads that have them take.
pub(super) struct Team<B, T> {
    table: Arc<Table<B, T>>,
    helpers: Vec<JoinHandle<()>>,
}

impl<B: Send + Sync + 'static, T: Taker<B> + 'static> Team<B, T> {
    /// Takers that have taken nothing yet, and as many threads as there are processors besides the caller's.
    pub(super) fn new(takers: Vec<T>) -> Self {
        let processors = thread::available_parallelism().map_or(1, NonZero::get);
        Self::with_helpers((processors - 1).min(takers.len()), takers)
    }

    /// With so many threads, or as many as the system gives.
    fn with_helpers(helpers: usize, takers: Vec<T>) -> Self {
        let seats = takers.into_iter().map(|taker| Seat { taker: Some(taker), waiting: VecDeque::new() });
        let table = Arc::new(Table {
            state: Mutex::new(State { seats: seats.collect(), all_came: false, given_up: false }),
            news: Condvar::new(),
        });
        let helper = || {
            let table = Arc::clone(&table);
            thread::Builder::new().name("lookups".into()).spawn(move || table.help()).ok()
        };
        Self { helpers: (0..helpers).map_while(|_| helper()).collect(), table }
    }

    /// Another batch. Returns when not too many wait; none is taken any more if a taker has panicked.
    pub(super) fn hand_over(&self, batch: B) {
        let batch = Arc::new(batch);
        let mut state = self.table.state();
        if state.given_up {
            return;
        }
        state.seats.iter_mut().for_each(|seat| seat.waiting.push_back(Arc::clone(&batch)));
        self.table.news.notify_all();
        while state.too_many_wait() {
            state = self.table.have_one_taken(state);
        }
    }

    /// The takers, when they have taken all.
    ///
    /// # Panics
    /// As a taker has.
    pub(super) fn finish(mut self) -> Vec<T> {
        self.table.state().all_came = true;
        self.table.news.notify_all();
        self.table.help();
        for helper in std::mem::take(&mut self.helpers) {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        let seats = std::mem::take(&mut self.table.state().seats);
        seats.into_iter().filter_map(|seat| seat.taker).collect()
    }
}

impl<B, T> Drop for Team<B, T> {
    fn drop(&mut self) {
        self.table.give_up();
    }
}

/// Where all meet.
struct Table<B, T> {
    state: Mutex<State<B, T>>,
    /// A batch has come, or a taker is free, or it is over.
    news: Condvar,
}

impl<B, T> Table<B, T> {
    fn state(&self) -> MutexGuard<'_, State<B, T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn give_up(&self) {
        self.state().given_up = true;
        self.news.notify_all();
    }
}

impl<B, T: Taker<B>> Table<B, T> {
    /// Until no batch is left, and none will come.
    fn help(&self) {
        let mut state = self.state();
        while !state.is_over() {
            state = self.have_one_taken(state);
        }
    }

    /// Has a batch taken by whom most wait for, of those who are free, or waits for news.
    fn have_one_taken<'t>(&'t self, mut state: MutexGuard<'t, State<B, T>>) -> MutexGuard<'t, State<B, T>> {
        let Some((at, mut taker, batch)) = state.next() else {
            return self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let unless_it_panics = GivesUp(self);
        taker.take(&batch);
        std::mem::forget(unless_it_panics);
        let mut state = self.state();
        state.seats[at].taker = Some(taker);
        self.news.notify_all();
        state
    }
}

/// Nobody waits for a taker that has panicked.
struct GivesUp<'t, B, T>(&'t Table<B, T>);

impl<B, T> Drop for GivesUp<'_, B, T> {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// See [`Table`].
struct State<B, T> {
    seats: Vec<Seat<B, T>>,
    /// No batch will come.
    all_came: bool,
    given_up: bool,
}

struct Seat<B, T> {
    /// None while a thread has it.
    taker: Option<T>,
    waiting: VecDeque<Arc<B>>,
}

impl<B, T> State<B, T> {
    fn too_many_wait(&self) -> bool {
        !self.given_up && self.seats.iter().any(|seat| seat.waiting.len() > WAITING)
    }

    fn is_over(&self) -> bool {
        self.given_up || (self.all_came && self.seats.iter().all(|seat| seat.waiting.is_empty()))
    }

    /// A taker that is free, with its seat and its next batch.
    fn next(&mut self) -> Option<(usize, T, Arc<B>)> {
        let free = self.seats.iter_mut().enumerate().filter(|(_, seat)| seat.taker.is_some());
        let (at, seat) = free.max_by_key(|(_, seat)| seat.waiting.len())?;
        let batch = seat.waiting.pop_front()?;
        Some((at, seat.taker.take()?, batch))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::time::Duration;

    use super::*;

    /// Keeps what it took, some of it slowly.
    #[derive(Default)]
    struct Keeps {
        all: Vec<u32>,
        slow: bool,
        breaks_at: Option<u32>,
    }

    impl Taker<u32> for Keeps {
        fn take(&mut self, batch: &u32) {
            assert_ne!(self.breaks_at, Some(*batch), "as told");
            if self.slow && batch.is_multiple_of(50) {
                thread::sleep(Duration::from_millis(2));
            }
            self.all.push(*batch);
        }
    }

    fn team(helpers: usize, breaks_at: Option<u32>) -> Team<u32, Keeps> {
        let one = Keeps { breaks_at, ..Keeps::default() };
        Team::with_helpers(helpers, vec![one, Keeps { slow: true, ..Keeps::default() }, Keeps::default()])
    }

    #[test]
    fn each_takes_all_in_their_order() {
        for helpers in 0..5 {
            let team = team(helpers, None);
            for batch in 0..1000 {
                team.hand_over(batch);
                let waiting = |seat: &Seat<_, _>| seat.waiting.len();
                assert!(team.table.state().seats.iter().map(waiting).max().unwrap() <= WAITING);
            }
            let takers = team.finish();
            assert_eq!(takers.len(), 3);
            assert!(takers.iter().all(|taker| taker.all.iter().copied().eq(0..1000)), "{helpers}");
        }
    }

    /// Be it on the caller's thread or on another one.
    #[test]
    fn a_taker_that_panics_is_waited_for_by_nobody() {
        for helpers in 0..3 {
            for at in [0, 100, 199] {
                let run = || {
                    let team = team(helpers, Some(at));
                    (0..200).for_each(|batch| team.hand_over(batch));
                    team.finish()
                };
                assert!(catch_unwind(AssertUnwindSafe(run)).is_err(), "{helpers}, {at}");
            }
        }
    }

    #[test]
    fn a_team_that_is_dropped_ends() {
        let mut team = team(2, None);
        (0..10).for_each(|batch| team.hand_over(batch));
        let helpers = std::mem::take(&mut team.helpers);
        drop(team);
        helpers.into_iter().for_each(|helper| helper.join().unwrap());
    }
}
