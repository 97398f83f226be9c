//! How much work a solver may do.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

/// What a solver may spend on one person. It stops at whichever limit comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Points the model may be asked about: forward passes, and backward passes again.
    pub evaluations: u64,
    /// Nodes of a search: boxes bounded, programs solved.
    pub nodes: u64,
    /// A moment after which to stop. Answers that were cut short by it may differ from run to run; answers cut short by
    /// the other limits never do.
    pub deadline: Option<Instant>,
    /// A flag that stops the work soon after it is set: what was not settled by then is unknown.
    pub stop: Option<StopFlag>,
}

/// A flag that ends every search that watches it, for Ctrl-C and the like. Whoever sets it throws the answers away.
#[derive(Clone, Copy)]
pub struct StopFlag(&'static AtomicBool);

/// What a solver did spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Spent {
    /// Points the model was asked about.
    pub evaluations: u64,
    /// Nodes of the search.
    pub nodes: u64,
}

/// Counts spending against a budget.
#[derive(Debug, Clone)]
pub struct Meter {
    budget: Budget,
    spent: Spent,
}

impl StopFlag {
    /// Watches a flag.
    pub const fn new(flag: &'static AtomicBool) -> Self {
        Self(flag)
    }

    /// Whether the flag is set.
    pub fn is_set(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for StopFlag {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl fmt::Debug for StopFlag {
    /// Its name alone: equal budgets read alike, whenever they are looked at.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StopFlag")
    }
}

impl Default for Budget {
    /// Enough to decide nearly everybody, little enough to stay interactive.
    fn default() -> Self {
        Self { evaluations: 200_000, nodes: 20_000, deadline: None, stop: None }
    }
}

impl Budget {
    /// No limit at all, for tests and offline proofs.
    pub const UNLIMITED: Self = Self { evaluations: u64::MAX, nodes: u64::MAX, deadline: None, stop: None };

    /// A meter that starts at nothing spent.
    pub fn meter(&self) -> Meter {
        Meter { budget: *self, spent: Spent::default() }
    }
}

impl Meter {
    /// Spends `points` evaluations if the budget has them; `false` means stop.
    pub fn evaluate(&mut self, points: u64) -> bool {
        let fits = self.spent.evaluations.saturating_add(points) <= self.budget.evaluations;
        if fits && self.in_time() {
            self.spent.evaluations += points;
            return true;
        }
        false
    }

    /// Spends one search node if the budget has it; `false` means stop.
    pub fn visit(&mut self) -> bool {
        if self.spent.nodes < self.budget.nodes && self.in_time() {
            self.spent.nodes += 1;
            return true;
        }
        false
    }

    /// What was spent so far.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// What is left, for a solver that asks another.
    pub fn rest(&self) -> Budget {
        Budget {
            evaluations: self.budget.evaluations - self.spent.evaluations,
            nodes: self.budget.nodes - self.spent.nodes,
            ..self.budget
        }
    }

    /// Whether the deadline, if any, lies ahead and nobody asked to stop.
    fn in_time(&self) -> bool {
        !self.budget.stop.is_some_and(StopFlag::is_set)
            && self.budget.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_never_passes_its_budget() {
        let mut meter = Budget { evaluations: 10, nodes: 2, ..Budget::default() }.meter();
        assert!(meter.evaluate(7) && !meter.evaluate(4) && meter.evaluate(3) && !meter.evaluate(1));
        assert!(meter.visit() && meter.visit() && !meter.visit());
        assert_eq!(meter.spent(), Spent { evaluations: 10, nodes: 2 });
    }

    #[test]
    fn a_deadline_that_has_passed_stops_everything() {
        let mut meter = Budget { deadline: Some(Instant::now()), ..Budget::UNLIMITED }.meter();
        assert!(!meter.evaluate(1) && !meter.visit());
    }

    #[test]
    fn a_flag_that_is_set_stops_everything_and_what_is_left_too() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        let mut meter = Budget { stop: Some(StopFlag::new(&FLAG)), ..Budget::UNLIMITED }.meter();
        let mut rest = meter.rest().meter();
        assert!(meter.evaluate(1) && meter.visit() && rest.visit());
        FLAG.store(true, Ordering::Relaxed);
        assert!(!meter.evaluate(1) && !meter.visit() && !rest.visit());
    }
}
