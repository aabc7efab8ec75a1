//! All interleavings of what threads do to the arena and to the locators, as far as the memory model allows them.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p throughline-demux --release --test loom`
#![cfg(loom)]

mod arena;
mod flow_table;
mod locators;

fn model(threads: impl Fn() + Send + Sync + 'static) {
    // Beyond three preemptions the state space grows without new kinds of interleavings.
    bounded(3, threads);
}

fn bounded(preemptions: usize, threads: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    // Filling a table takes many steps, before there is a second thread.
    model.max_branches = 10_000;
    model.check(threads);
}
