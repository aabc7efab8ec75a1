//! Random numbers for what others are told: ports, and what messages, calls and connections begin with.

use std::hash::{BuildHasher, RandomState};

/// Draws numbers that nobody can foresee, from each other or from anything else that this host tells or keeps.
#[derive(Debug, Default)]
pub struct Secret {
    key: RandomState,
    drawn: u64,
}

impl Secret {
    /// The next one.
    pub fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.key.hash_one(self.drawn)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_number_comes_again() {
        let mut secrets = [(); 10].map(|()| Secret::default());
        let drawn: HashSet<_> =
            secrets.iter_mut().flat_map(|secret| [(); 100].map(|()| secret.draw())).collect();
        assert_eq!(drawn.len(), 1000);
    }
}
