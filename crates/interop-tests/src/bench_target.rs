//! `Bench::Target`, served.

use std::sync::atomic::{AtomicU32, Ordering};

use throughline::{InOut, SystemException};

use crate::bench::Target;

/// Counts what is posted.
#[derive(Debug, Default)]
pub struct Bench(AtomicU32);

impl Target for Bench {
    fn ping(&self) -> Result<(), SystemException> {
        Ok(())
    }

    fn echo(&self, n: u32) -> Result<u32, SystemException> {
        Ok(n)
    }

    fn move_data(&self, _data: &mut InOut<'_, u32>) -> Result<(), SystemException> {
        Ok(())
    }

    fn post(&self, n: u32) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    fn posted(&self) -> Result<u32, SystemException> {
        Ok(self.0.load(Ordering::Relaxed))
    }
}
