//! Counting what a lookup examines.

/// Sees each entry that a lookup compares with the key, hit or miss.
pub trait Probe {
    /// One more entry was examined.
    fn examined(&mut self);

    /// The entry just examined came from a one-entry cache, and was the right one.
    #[inline(always)]
    fn cache_hit(&mut self) {}
}

/// Sees nothing and compiles to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    #[inline(always)]
    fn examined(&mut self) {}
}

/// Counts the entries examined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountExamined(pub u64);

impl Probe for CountExamined {
    #[inline(always)]
    fn examined(&mut self) {
        self.0 += 1;
    }
}

impl<P: Probe + ?Sized> Probe for &mut P {
    #[inline(always)]
    fn examined(&mut self) {
        (**self).examined();
    }

    #[inline(always)]
    fn cache_hit(&mut self) {
        (**self).cache_hit();
    }
}
