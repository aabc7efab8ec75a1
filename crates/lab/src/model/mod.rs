//! What lookups cost, computed: McKenney and Dove's models of finding a TCP connection (*Efficient Demultiplexing of
//! Incoming TCP Packets*, 1992, equations 1 to 11), and the classical models of hash tables beside them; and what setting up
//! indices costs a flow ([`Hop`]).
//!
//! Costs are entries examined per lookup unless said otherwise. Rates are per second, times in seconds, numbers of
//! users and chains `f64`, since the equations divide them. All functions are closed forms or short loops, sound for
//! millions of users; where the paper has a sum or an integral, the documentation says which, and a test computes it
//! literally. They hold for at least one user and one chain, rates above 0, and times that are not negative; what they are given
//! beyond that they compute with as it is, and the result may be infinite or no number.
//!
//! The paper counts differently from algorithm to algorithm, and the functions follow it:
//!
//! - for the lists with a cache (equations 1 to 8) a miss costs the look at the cache and the walk;
//! - in equation 10 a miss costs the walk only;
//! - for move-to-front (equations 5 and 6) the cost is what lies *ahead of* the entry, which is itself not counted.
//!
//! So what a probe counts exceeds equation 10 by the probability of a miss, and equations 5 and 6 by one.
//!
//! ```
//! use throughline_lab::model::{bsd, move_to_front, sequent};
//! let (users, response) = (2000.0, 0.2);
//! assert_eq!(bsd(users).round(), 1001.0);
//! assert_eq!(move_to_front(users, 0.1, response).round(), 549.0);
//! assert_eq!((sequent(users, 19.0, 0.1, response) * 10.0).round(), 530.0);
//! ```

mod bins;
mod bsd;
mod cuckoo;
mod flows;
mod hash_tables;
mod move_to_front;
mod sequent;
mod users;
mod waiting;

pub use bins::{bins_used, collided_fraction, longest_chain, overflow_fraction, poisson_tail};
pub use bsd::{bsd, bsd_hit_rate};
pub use cuckoo::{CUCKOO_LIMITS, cuckoo_limit};
pub use flows::Hop;
pub use hash_tables::{
    bucketized_hit, chaining_hit, chaining_miss, linear_probing_hit, linear_probing_hit_exact,
    linear_probing_miss, linear_probing_miss_exact, perfect_hash_bits, random_is_perfect,
    uniform_probing_hit, uniform_probing_miss,
};
pub use move_to_front::{
    move_to_front, move_to_front_acknowledgement, move_to_front_entry, move_to_front_entry_fixed,
};
pub use sequent::{sequent, sequent_acknowledgement, sequent_hit_rate, sequent_simple, undisturbed};
pub use users::{active_in, think_density, users_active_in};
pub use waiting::{waiting_acknowledgement, waiting_active_in, waiting_entry, waiting_undisturbed};

#[cfg(test)]
mod tests;
