//! What futures keep of their calls, in boxes that serve again: a future is a pointer then, however often it is moved, and a
//! call in a steady state allocates nothing.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Mutex;

use crate::call_future::Call;
use crate::transport::reactor::lock;

/// So many boxes go from thread to thread at a time, where some make futures and others finish them.
const BATCH: usize = 64;

/// The most boxes kept for threads that have none.
const MOST: usize = 16 * BATCH;

type Boxes = Vec<Box<Call>>;

thread_local! {
    static SPARE: RefCell<Boxes> = const { RefCell::new(Vec::new()) };
}

static SHARED: Mutex<Boxes> = Mutex::new(Vec::new());

/// A call in its box, which is kept for another one afterwards.
pub(crate) struct Pooled(Option<Box<Call>>);

impl Pooled {
    /// One that is as [`Call::clear`] leaves it.
    #[inline]
    pub(crate) fn take() -> Self {
        let spare = SPARE.try_with(|spare| spare.borrow_mut().pop()).ok().flatten();
        Self(Some(spare.unwrap_or_else(another)))
    }

    /// The box alone, for a while: as long as it is not [back](Self::of), it would not be kept for another call.
    pub(crate) fn into_box(mut self) -> Option<Box<Call>> {
        self.0.take()
    }

    /// A call that was in a box alone.
    pub(crate) fn of(call: Box<Call>) -> Self {
        Self(Some(call))
    }
}

impl Deref for Pooled {
    type Target = Call;

    #[inline(always)]
    fn deref(&self) -> &Call {
        self.0.as_ref().expect("until it is dropped")
    }
}

impl DerefMut for Pooled {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Call {
        self.0.as_mut().expect("until it is dropped")
    }
}

impl Drop for Pooled {
    #[inline]
    fn drop(&mut self) {
        let Some(mut call) = self.0.take() else { return };
        call.clear();
        // Fails only while the thread is ending.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            spare.push(call);
            if spare.len() >= 2 * BATCH {
                share(&mut spare);
            }
        });
    }
}

/// This thread has none left.
#[cold]
fn another() -> Box<Call> {
    let mut shared = lock(&SHARED);
    let kept = shared.len().saturating_sub(BATCH);
    let mut boxes = shared.split_off(kept);
    drop(shared);
    let call = boxes.pop().unwrap_or_default();
    let _ = SPARE.try_with(|spare| spare.borrow_mut().append(&mut boxes));
    call
}

/// This thread has more than it needs.
#[cold]
fn share(spare: &mut Boxes) {
    let mut surplus = spare.split_off(BATCH);
    let mut shared = lock(&SHARED);
    if shared.len() < MOST {
        shared.append(&mut surplus);
    }
}
