//! Where the nonces of handles come from.

/// A source of nonces. Handles are capabilities only as far as their nonces can't be guessed, so whoever serves
/// strangers takes `OsNonces` or a seeded stream cipher; a counter or a plain generator is for tests.
pub trait NonceSource: Send {
    /// The next 64 bits, uniformly distributed.
    fn next_nonce(&mut self) -> u64;
}

impl<F: FnMut() -> u64 + Send> NonceSource for F {
    fn next_nonce(&mut self) -> u64 {
        self()
    }
}

/// How many nonces one request to the system brings.
#[cfg(feature = "getrandom")]
const BATCH: usize = 32;

/// Nonces from the operating system's random source, fetched 32 at a time. A process that is forked from this one hands out those
/// that are left once more.
#[cfg(feature = "getrandom")]
#[derive(Default)]
pub struct OsNonces {
    batch: [u64; BATCH],
    left: usize,
}

#[cfg(feature = "getrandom")]
impl NonceSource for OsNonces {
    /// # Panics
    /// When the system has no randomness to give: no handle may then be made.
    fn next_nonce(&mut self) -> u64 {
        if self.left == 0 {
            self.batch = system_random();
            self.left = BATCH;
        }
        self.left -= 1;
        // Taken out, so that a later look at this memory shows no handle in use.
        core::mem::take(&mut self.batch[self.left])
    }
}

#[cfg(feature = "getrandom")]
fn system_random() -> [u64; BATCH] {
    let mut bytes = [[0u8; 8]; BATCH];
    getrandom::fill(bytes.as_flattened_mut()).expect("the system's random source failed");
    bytes.map(u64::from_ne_bytes)
}
