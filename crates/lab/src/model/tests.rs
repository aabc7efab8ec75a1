//! The papers' and textbooks' figures, and the literal sums and integrals beside the closed forms.

use super::*;

const USERS: f64 = 2000.0;
const RATE: f64 = 0.1;
const RESPONSES: [f64; 4] = [0.2, 0.5, 1.0, 2.0];

#[track_caller]
fn close(value: f64, wanted: f64, relative: f64) {
    assert!((value / wanted - 1.0).abs() <= relative, "{value} is not within {relative} of {wanted}");
}

/// Equation 3 as printed, term after term, in logarithms.
fn binomial_sum(users: u32, rate: f64, time: f64) -> f64 {
    let others = f64::from(users - 1);
    let (yes, no) = ((1.0 - (-rate * time).exp()).ln(), -rate * time);
    let mut log_choose = 0.0;
    let mut sum = 0.0;
    for i in 0..users {
        let i = f64::from(i);
        sum += i * (log_choose + i * yes + no * (others - i)).exp();
        log_choose += (others - i).ln() - (i + 1.0).ln();
    }
    sum
}

/// Simpson's rule with so many pairs of steps.
fn integral(from: f64, to: f64, pairs: u32, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(2 * pairs);
    let inner = (1..2 * pairs).map(|i| f(from + step * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 });
    (f(from) + inner.sum::<f64>() + f(to)) * step / 3.0
}

#[test]
fn equation_3_is_the_mean_of_a_binomial_distribution() {
    for time in [0.1, 1.0, 10.0, 100.0] {
        close(users_active_in(USERS, RATE, time), binomial_sum(2000, RATE, time), 1e-9);
    }
    close(users_active_in(5e6, RATE, 0.2), 4_999_999.0 * 0.019_801_326_693_244_7, 1e-12);
}

#[test]
fn equations_5_and_6_are_integrals() {
    for response in RESPONSES {
        let short = |t: f64| think_density(RATE, t) * binomial_sum(200, RATE, 2.0 * t);
        let long = |t: f64| think_density(RATE, t) * binomial_sum(200, RATE, t + response);
        let whole = integral(1e-9, response, 20, short) + integral(response, 400.0, 1000, long);
        close(move_to_front_entry(200.0, RATE, response), whole, 1e-6);
    }
}

#[test]
fn pcb_1() {
    assert_eq!(bsd(USERS).round(), 1001.0);
    assert_eq!(bsd_hit_rate(USERS), 0.0005);
}

#[test]
fn pcb_2() {
    // The paper rounds some and cuts others off (1,045.9 is 1,045).
    type Model = fn(f64, f64, f64) -> f64;
    let figures: [(Model, [f64; 4]); 3] = [
        (move_to_front_entry, [1019.0, 1045.0, 1086.0, 1150.0]),
        (move_to_front_acknowledgement, [78.0, 190.0, 362.0, 659.0]),
        (move_to_front, [549.0, 618.0, 724.0, 904.0]),
    ];
    for (model, paper) in figures {
        for (response, paper) in RESPONSES.into_iter().zip(paper) {
            let value = model(USERS, RATE, response);
            assert!((value - paper).abs() < 1.0, "{value} for {paper}");
        }
    }
}

#[test]
fn pcb_3() {
    assert_eq!(move_to_front_entry_fixed(USERS), 2000.0);
}

#[test]
fn pcb_4() {
    assert_eq!((sequent(USERS, 19.0, RATE, 0.2) * 10.0).round(), 530.0);
    assert_eq!((sequent_simple(USERS, 19.0) * 10.0).round(), 536.0);
    assert_eq!(sequent_hit_rate(USERS, 19.0), 0.0095);
    assert!(sequent(USERS, 100.0, RATE, 0.2) < 9.0);
    // "Exceeding 10 %" with 51 chains.
    assert!(sequent_simple(USERS, 51.0) > 1.1 * sequent(USERS, 51.0, RATE, 0.2));
    assert_eq!(sequent_simple(USERS, 1.0), bsd(USERS));
    // A user to a chain, or chains without any: the cache always has the entry, undisturbed.
    for chains in [USERS, 100.0 * USERS] {
        assert_eq!((sequent(USERS, chains, RATE, 0.2), sequent_simple(USERS, chains)), (1.0, 1.0));
        let certain = [
            sequent_hit_rate(USERS, chains),
            undisturbed(USERS, chains, RATE, 0.2),
            waiting_undisturbed(USERS, chains, RATE, 0.2),
        ];
        assert_eq!(certain, [1.0; 3]);
    }
}

#[test]
fn equation_11_as_the_mean_of_8_and_10() {
    for chains in [1.0, 19.0, 51.0, 100.0] {
        let n = USERS / chains;
        let p = undisturbed(USERS, chains, RATE, 0.2);
        let printed = 0.5 * (p * (1.0 - n) / 2.0 + (2.0 * n * n + 3.0 * n - 1.0) / (2.0 * n));
        close(sequent(USERS, chains, RATE, 0.2), printed, 1e-12);
    }
}

#[test]
fn pcb_5() {
    close(undisturbed(USERS, 19.0, RATE, 0.2), 0.0154, 0.005);
    close(undisturbed(USERS, 1.0, RATE, 0.2), 1.9e-35, 0.02);
    close(undisturbed(USERS, 51.0, RATE, 0.2), 0.2168, 0.001);
    // "Almost 21 %" leaves out that a user does not disturb himself.
    close((-2.0 * RATE * 0.2 * USERS / 51.0).exp(), 0.208, 0.002);
}

#[test]
fn waiting_users_are_the_papers_when_responses_are_fast() {
    let fast = 1e-4;
    close(waiting_entry(USERS, RATE, fast), move_to_front_entry(USERS, RATE, fast), 1e-5);
    close(waiting_acknowledgement(USERS, RATE, fast), move_to_front_acknowledgement(USERS, RATE, fast), 1e-4);
    close(waiting_undisturbed(USERS, 19.0, RATE, fast), undisturbed(USERS, 19.0, RATE, fast), 1e-4);
    for response in RESPONSES {
        let f = |t: f64| think_density(RATE, t) * waiting_active_in(RATE, response, t);
        let whole = integral(0.0, response, 50, f) + integral(response, 400.0, 2000, f);
        close(waiting_entry(USERS, RATE, response), (USERS - 1.0) * whole, 1e-6);
    }
}

#[test]
fn waiting_users_at_the_ends_of_the_scale() {
    // Next to nobody: 1 less this is 1.
    close(waiting_active_in(1e-9, 1e-9, 1e-9), 2e-18, 1e-6);
    // All have sent something, and a user alone on a chain is not disturbed by them.
    assert_eq!(waiting_undisturbed(100.0, 100.0, 5.0, 1000.0), 1.0);
    // e^-500 / 501: of two users the other.
    close(waiting_undisturbed(2.0, 1.0, 5.0, 100.0), (-500f64).exp() / 501.0, 1e-9);
}

#[test]
fn millions_of_users() {
    for users in [1e6, 1e7] {
        close(bsd(users), users / 2.0, 1e-5);
        close(move_to_front_acknowledgement(users, RATE, 1e-9), 2e-10 * (users - 1.0), 1e-6);
        assert!(sequent(users, users, RATE, 0.2) < 1.01);
        assert!(undisturbed(users, 1.0, RATE, 0.2) == 0.0, "too small for a double, and no NaN");
    }
}

#[test]
fn tables_of_knuth() {
    // The table of section 6.4 for linear probing.
    for (load, hit, miss) in [(0.5, 1.5, 2.5), (0.75, 2.5, 8.5), (0.9, 5.5, 50.5)] {
        close(linear_probing_hit(load), hit, 1e-12);
        close(linear_probing_miss(load), miss, 1e-12);
        let places = 100_000_000;
        let keys = (load * places as f64) as u64;
        close(linear_probing_hit_exact(keys, places), hit, 1e-3);
        close(linear_probing_miss_exact(keys, places), miss, 1e-3);
    }
    // A full table: the square root of pi m / 8.
    close(linear_probing_hit_exact(1_000_000, 1_000_000), (std::f64::consts::PI * 125_000.0).sqrt(), 1e-2);
    assert_eq!((chaining_hit(1.0), chaining_miss(1.0)), (1.5, 1.0));
    close(uniform_probing_hit(0.9), 2.558, 1e-3);
    close(uniform_probing_miss(0.9), 10.0, 1e-12);
    close(bucketized_hit(0.875, 16, 7), 1.05, 0.01);
    // Without tags, every other before it: none where there is one place; of two, 1 - 2/e of the buckets have two keys.
    assert_eq!((bucketized_hit(1.0, 1, 0), bucketized_hit(0.0, 4, 0)), (1.0, 1.0));
    let (one, two) = ((-1f64).exp(), 1.0 - 2.0 * (-1f64).exp());
    close(bucketized_hit(0.5, 2, 0), 1.0 + two / (one + 2.0 * two), 1e-12);
}

#[test]
fn perfect_hashing() {
    close(perfect_hash_bits(1.0), std::f64::consts::LOG2_E, 1e-12);
    close(perfect_hash_bits(0.5), 0.4427, 1e-4);
    // Birthdays.
    close(1.0 - random_is_perfect(23, 365), 0.5073, 1e-3);
    assert_eq!(random_is_perfect(3, 2), 0.0);
}

#[test]
fn cuckoo_limits() {
    for (choices, places, limit) in CUCKOO_LIMITS {
        assert!((cuckoo_limit(choices, places) - limit).abs() < 6e-5, "{choices} {places}");
    }
    assert_eq!(cuckoo_limit(1, 4), 0.0);
    assert!((cuckoo_limit(2, 8) - 0.9982).abs() < 1e-3);
}

#[test]
fn bins() {
    close(poisson_tail(1.0, 1), 1.0 - (-1f64).exp(), 1e-12);
    close(poisson_tail(0.001, 3), 1.6654e-10, 1e-3);
    // Where e^-mean is too small for a double, or nearly.
    close(poisson_tail(740.0, 800), 0.015_196_103, 1e-7);
    close(poisson_tail(2000.0, 2100), 0.013_534_944, 1e-7);
    assert_eq!((poisson_tail(2000.0, 0), poisson_tail(2000.0, 10_000)), (1.0, 0.0));
    close(overflow_fraction(1000.0, 1010), 0.008_260_198, 1e-6);
    close(bins_used(1e6, 1e6), 632_120.7, 1e-6);
    assert_eq!((bins_used(0.0, 1.0), bins_used(5.0, 1.0)), (0.0, 1.0));
    close(collided_fraction(1000.0, 1e9), 4.995e-7, 1e-3);
    close(overflow_fraction(1.0, 1), (-1f64).exp(), 1e-9);
    assert!(overflow_fraction(4.0, 8) < 0.01);
    // A million keys in a million bins: eight or nine in the fullest.
    assert!((8..=9).contains(&longest_chain(1e6, 1e6)));
    assert_eq!(longest_chain(0.0, 10.0), 0);
    assert_eq!(longest_chain(2000.0, 1.0), 2000, "the median");
    // Longer than can be told: as long as can be.
    assert_eq!([1e10, f64::INFINITY].map(|keys| longest_chain(keys, 1.0)), [u32::MAX; 2]);
}
