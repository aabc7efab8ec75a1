//! Many calls outstanding at a time, from one thread: tasks that make one call after another.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use throughline::SystemException;
use tokio::task::{JoinHandle, LocalSet, spawn_local};

use crate::LabError;
use crate::peers::{bench::SAMPLED, failure};

/// Makes `count` calls, `width` of them under way at any time. Returns the time of one in [`SAMPLED`], and of all.
pub(super) fn run<F>(
    call: impl Fn() -> F + Clone + 'static,
    count: usize,
    width: usize,
) -> Result<(Vec<u64>, Duration), LabError>
where
    F: Future<Output = Result<(), SystemException>>,
{
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let started = Rc::new(Cell::new(0));
    let times = Rc::new(RefCell::new(Vec::with_capacity(count / SAMPLED + 1)));
    let begin = Instant::now();
    let task = || {
        let (call, started, times) = (call.clone(), Rc::clone(&started), Rc::clone(&times));
        async move {
            while started.get() < count {
                let since = started.get().is_multiple_of(SAMPLED).then(Instant::now);
                started.set(started.get() + 1);
                call().await?;
                times.borrow_mut().extend(since.map(|since| since.elapsed().as_nanos() as u64));
            }
            Ok::<_, SystemException>(())
        }
    };
    LocalSet::new().block_on(&runtime, async {
        let tasks: Vec<JoinHandle<_>> = (0..width).map(|_| spawn_local(task())).collect();
        for task in tasks {
            task.await.map_err(|e| failure("bench-client", &e.to_string()))??;
        }
        Ok::<_, LabError>(())
    })?;
    Ok((times.take(), begin.elapsed()))
}
