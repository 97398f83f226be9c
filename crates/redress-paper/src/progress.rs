//! How far a run has come, in units of work rather than of experiments, so that an estimate of the rest is honest.

use std::sync::{Mutex, PoisonError};

/// A view of a run under way.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Work done, of [`Standing::whole`].
    pub done: f64,
    /// All work of the plan.
    pub whole: f64,
    /// What is being done.
    pub doing: String,
}

/// Counts work and tells whoever watches.
pub struct Progress<'a> {
    standing: Mutex<Standing>,
    watch: &'a (dyn Fn(&Standing) + Sync),
}

impl<'a> Progress<'a> {
    /// Nothing done of a plan of so much work.
    pub fn new(whole: f64, watch: &'a (dyn Fn(&Standing) + Sync)) -> Progress<'a> {
        Progress { standing: Mutex::new(Standing { done: 0.0, whole, doing: String::new() }), watch }
    }

    /// Counts work done.
    pub fn advance(&self, work: f64) {
        self.change(|standing| standing.done = (standing.done + work).min(standing.whole));
    }

    /// Says what is being done.
    pub fn doing(&self, what: impl Into<String>) {
        let what = what.into();
        self.change(|standing| standing.doing = what);
    }

    /// Counts everything up to this point as done, whatever was advanced before.
    pub fn reach(&self, work: f64) {
        self.change(|standing| standing.done = work.clamp(standing.done, standing.whole));
    }

    fn change(&self, change: impl FnOnce(&mut Standing)) {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut standing);
        (self.watch)(&standing);
    }
}
