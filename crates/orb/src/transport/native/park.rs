//! How the leader waits when no link has anything: it looks for a while, then it sleeps.

use std::cell::RefCell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};
use throughline_vi::{Bell, NAP};

/// Looks between two questions for the time.
const LOOKS: u32 = 64;

/// So many looks follow one another at once, a few microseconds in all; the others leave the processor to its other threads for
/// a moment, in which nothing is seen.
const EAGER_LOOKS: u32 = 512;

/// So many times in a row looking may be in vain before it is given up.
const PATIENCE: u32 = 8;

/// After it was given up, looking is tried again once in so many times.
const RETRY: u32 = 16;

/// How long to look before sleeping.
///
/// Waking a sleeper on another core takes tens of microseconds, so that looking for about as long never costs more than
/// twice the better choice. Where it is in vain time and again, as for callers that take their time, it is left out.
#[derive(Debug)]
pub(crate) struct Spin {
    limit: Duration,
    since: Option<Instant>,
    looks: u32,
    vain: u32,
}

impl Spin {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, since: None, looks: 0, vain: 0 }
    }

    /// There was something.
    #[inline(always)]
    pub(crate) fn found(&mut self) {
        if self.looks != 0 {
            self.since = None;
            self.looks = 0;
            self.vain = 0;
        }
    }

    /// There was nothing: whether to sleep now.
    #[inline]
    pub(crate) fn is_over(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS) { self.is_time() } else { self.looks == 1 && self.is_hopeless() }
    }

    /// Between two looks.
    #[inline(always)]
    pub(crate) fn pause(&self) {
        if self.looks > EAGER_LOOKS {
            std::hint::spin_loop();
        }
    }

    fn is_hopeless(&self) -> bool {
        self.limit.is_zero() || self.vain >= PATIENCE && !self.vain.is_multiple_of(RETRY)
    }

    #[cold]
    fn is_time(&mut self) -> bool {
        self.since.get_or_insert_with(Instant::now).elapsed() >= self.limit
    }

    /// The sleep is over.
    pub(crate) fn slept(&mut self) {
        self.since = None;
        self.looks = 0;
        self.vain = self.vain.wrapping_add(1);
    }
}

/// Sleeping until one of many links has something.
#[derive(Debug)]
pub(crate) struct Parking {
    epoll: OwnedFd,
    nudge: OwnedFd,
    /// The bells that ended the last sleep. What rang is taken in before the next one: the answers do not wait for this.
    rang: RefCell<Vec<usize>>,
}

/// Bells that are told of at a time. Those in excess end the next sleep.
const AT_A_TIME: usize = 16;

impl Parking {
    /// Anything written to `nudge` ends a sleep.
    pub(crate) fn new(nudge: BorrowedFd<'_>) -> io::Result<Self> {
        let nudge = nudge.try_clone_to_owned()?;
        Ok(Self { epoll: watching(&nudge)?, nudge, rang: RefCell::new(Vec::with_capacity(AT_A_TIME)) })
    }

    /// From now on these end a sleep.
    pub(crate) fn watch<'b>(&mut self, bells: impl Iterator<Item = &'b Bell>) -> io::Result<()> {
        self.epoll = watching(&self.nudge)?;
        self.rang.get_mut().clear();
        for (number, bell) in (1..).zip(bells) {
            epoll::add(&self.epoll, bell, epoll::EventData::new_u64(number), epoll::EventFlags::IN)?;
        }
        Ok(())
    }

    /// Sleeps until something happens to one of those watched, unless something has, or `ready` says so.
    pub(crate) fn sleep<'b>(
        &self,
        bells: impl Iterator<Item = &'b Bell> + Clone,
        ready: impl Fn() -> bool,
    ) -> io::Result<()> {
        self.drain(bells.clone());
        let mut dozing = None;
        bells.clone().filter(|bell| bell.doze()).for_each(|bell| dozing = Some(bell));
        let result = if ready() { Ok(()) } else { self.sleep_on(dozing, ready) };
        bells.for_each(Bell::disarm);
        result
    }

    /// In two parts, if one of the bells wants that.
    fn sleep_on(&self, dozing: Option<&Bell>, ready: impl Fn() -> bool) -> io::Result<()> {
        if let Some(bell) = dozing {
            let nap = Timespec { tv_sec: 0, tv_nsec: NAP.subsec_nanos().into() };
            if self.wait(Some(&nap))? {
                return Ok(());
            }
            bell.fence();
            if ready() {
                return Ok(());
            }
        }
        self.wait(None).map(drop)
    }

    /// Looks, without sleeping, whether something happened that only the system knows: that a client is gone.
    pub(crate) fn look<'b>(&self, bells: impl Iterator<Item = &'b Bell> + Clone) -> io::Result<()> {
        let looked = self.wait(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        self.drain(bells);
        looked.map(drop)
    }

    fn drain<'b>(&self, bells: impl Iterator<Item = &'b Bell> + Clone) {
        for number in self.rang.borrow_mut().drain(..) {
            bells.clone().nth(number).into_iter().for_each(Bell::drain);
        }
    }

    /// Until something happens, or as long as told; whether anything has. Bells that rang already are forgotten, and ring on.
    fn wait(&self, timeout: Option<&Timespec>) -> io::Result<bool> {
        let mut events = [MaybeUninit::uninit(); AT_A_TIME];
        let happened = match epoll::wait(&self.epoll, &mut events, timeout) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let mut rang = self.rang.borrow_mut();
        rang.clear();
        let any = !happened.is_empty();
        for event in happened {
            match event.data.u64().checked_sub(1) {
                Some(number) => rang.push(number as usize),
                None => self.hear()?,
            }
        }
        Ok(any)
    }

    fn hear(&self) -> io::Result<()> {
        match rustix::io::read(&self.nudge, &mut [0; 8]) {
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// An epoll set of the nudge alone.
fn watching(nudge: &OwnedFd) -> io::Result<OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&epoll, nudge, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
    Ok(epoll)
}
