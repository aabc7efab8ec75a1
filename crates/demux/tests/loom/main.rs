//! All interleavings of what threads do to the arena and to the locators, as far as the memory model allows them.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p throughline-demux --release --test loom`
#![cfg(loom)]

mod arena;
mod flow_table;
mod locators;

fn model(threads: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    // Beyond three preemptions the state space grows without new kinds of interleavings.
    model.preemption_bound = Some(3);
    model.check(threads);
}
