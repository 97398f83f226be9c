//! Counts what models are really asked, thread by thread: what tests compare with what a solver says that it spent.

use std::cell::Cell;

thread_local! {
    static EVALUATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Notes this many evaluations: one for a logit, two for a logit with its gradient.
pub(super) fn note(evaluations: usize) {
    EVALUATIONS.set(EVALUATIONS.get() + evaluations as u64);
}

/// What `work` comes to, and the evaluations that this thread made in it.
pub(crate) fn counted<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = EVALUATIONS.get();
    let result = work();
    (result, EVALUATIONS.get() - before)
}
