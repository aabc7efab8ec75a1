//! Not looking for a message before it can be there.
//!
//! A line that is looked at is in the caches of both processors, and whoever writes it waits until it has left the other's. Who
//! receives a small message begins to [fetch](throughline_vi::Vi::receive_small) the line of his answer. If nobody looks at that
//! until it is written, he need not wait, which is a sixth of the round trip of an empty call for each direction. So the first
//! look is put off, for about as long as the last answers took; and by a server that has one client, who waits for each answer,
//! for as long as its last requests took.

/// Turns that the first look is put off by at most: a fraction of a microsecond, since an answer is noticed that much too late
/// where some take longer than others.
const MOST: u32 = 512;

/// An answer that was found after so many looks was missed by a little.
const NEAR: u32 = 128;

/// How many turns more when the first look was too early,
const MORE: u32 = 24;
/// and how many less when it was not; so one in ten is too early where all take as long.
const LESS: u32 = 3;

/// For how many turns of an empty loop not to look.
#[derive(Debug, Default)]
pub(crate) struct Foresight(u32);

impl Foresight {
    /// Puts the first look off.
    #[inline(always)]
    pub(crate) fn pass(&self) {
        (0..self.0).for_each(|turn| {
            std::hint::black_box(turn);
        });
    }

    /// The answer was there after so many looks in vain; none if it was given up to look so.
    #[inline(always)]
    pub(crate) fn learn(&mut self, vain: Option<u32>) {
        self.0 = match vain {
            Some(0) => self.0.saturating_sub(LESS),
            Some(1..NEAR) => (self.0 + MORE).min(MOST),
            // Another time altogether, of which nothing can be learned but that this one is not the usual one.
            _ => self.0 - self.0 / 8,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is learned from answers that take so many turns, if a look takes ten.
    fn after(answers: impl Iterator<Item = u32>) -> Foresight {
        let mut foresight = Foresight::default();
        for answer in answers {
            foresight.learn(Some(answer.saturating_sub(foresight.0).div_ceil(10)));
        }
        foresight
    }

    #[test]
    fn the_first_look_comes_when_answers_do() {
        for usual in [50, 200, 400] {
            let learned = after((0..500).map(|_| usual));
            assert!(learned.0.abs_diff(usual) <= MORE, "{learned:?} where answers take {usual}");
        }
        let quicker = after((0..500).map(|n| if n < 250 { 400 } else { 100 }));
        assert!(quicker.0.abs_diff(100) <= MORE, "{quicker:?}");
    }

    #[test]
    fn late_answers_put_it_off_by_no_more_than_that() {
        assert!(after((0..500).map(|_| 1000)).0 <= MOST);
        assert_eq!(after((0..500).map(|_| 1_000_000)).0, 0);
        let mut foresight = after((0..500).map(|_| 400));
        (0..50).for_each(|_| foresight.learn(None));
        assert!(foresight.0 < 20, "{foresight:?}");
    }
}
