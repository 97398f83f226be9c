//! How much work a solver may do.

use std::time::Instant;

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
}

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

impl Default for Budget {
    /// Enough to decide nearly everybody, little enough to stay interactive.
    fn default() -> Self {
        Self { evaluations: 200_000, nodes: 20_000, deadline: None }
    }
}

impl Budget {
    /// No limit at all, for tests and offline proofs.
    pub const UNLIMITED: Self = Self { evaluations: u64::MAX, nodes: u64::MAX, deadline: None };

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
            deadline: self.budget.deadline,
        }
    }

    /// Whether the deadline, if any, lies ahead.
    fn in_time(&self) -> bool {
        self.budget.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_never_passes_its_budget() {
        let mut meter = Budget { evaluations: 10, nodes: 2, deadline: None }.meter();
        assert!(meter.evaluate(7) && !meter.evaluate(4) && meter.evaluate(3) && !meter.evaluate(1));
        assert!(meter.visit() && meter.visit() && !meter.visit());
        assert_eq!(meter.spent(), Spent { evaluations: 10, nodes: 2 });
    }

    #[test]
    fn a_deadline_that_has_passed_stops_everything() {
        let mut meter = Budget { deadline: Some(Instant::now()), ..Budget::UNLIMITED }.meter();
        assert!(!meter.evaluate(1) && !meter.visit());
    }
}
