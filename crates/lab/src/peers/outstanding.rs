//! Many calls outstanding at a time, from one thread: futures polled when they are woken.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use throughline::SystemException;

use crate::LabError;

/// One future's place.
struct Flag {
    woken: AtomicBool,
    thread: Thread,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            self.thread.unpark();
        }
    }
}

struct Place<F> {
    flag: Arc<Flag>,
    waker: Waker,
    call: Option<(Pin<Box<F>>, Instant)>,
}

/// Makes `count` calls, `width` of them under way at any time. Returns the time of each, and of all.
pub(super) fn run<F>(
    mut call: impl FnMut() -> F,
    count: usize,
    width: usize,
) -> Result<(Vec<u64>, Duration), LabError>
where
    F: Future<Output = Result<(), SystemException>>,
{
    let mut places: Vec<Place<F>> = (0..width).map(|_| place()).collect();
    let (mut started, mut times) = (0, Vec::with_capacity(count));
    let begin = Instant::now();
    while times.len() < count {
        let mut idle = true;
        for place in &mut places {
            if place.call.is_none() && started < count {
                started += 1;
                place.call = Some((Box::pin(call()), Instant::now()));
                place.flag.woken.store(true, Ordering::Release);
            }
            if place.call.is_some() && place.flag.woken.swap(false, Ordering::AcqRel) {
                idle = false;
                times.extend(poll(place)?);
            }
        }
        if idle {
            std::thread::park();
        }
    }
    Ok((times, begin.elapsed()))
}

fn place<F>() -> Place<F> {
    let flag = Arc::new(Flag { woken: AtomicBool::new(false), thread: std::thread::current() });
    let waker = Waker::from(Arc::clone(&flag));
    Place { flag, waker, call: None }
}

/// The call's time in nanoseconds, when it is over.
fn poll<F>(place: &mut Place<F>) -> Result<Option<u64>, LabError>
where
    F: Future<Output = Result<(), SystemException>>,
{
    let Some((call, since)) = &mut place.call else { return Ok(None) };
    match call.as_mut().poll(&mut Context::from_waker(&place.waker)) {
        Poll::Pending => Ok(None),
        Poll::Ready(result) => {
            let time = since.elapsed().as_nanos() as u64;
            place.call = None;
            result?;
            Ok(Some(time))
        }
    }
}
