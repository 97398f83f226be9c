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
///
/// One meter goes through everything that is done for one request about one person. A [`Case`](super::Case) lets nobody
/// ask its model without one, so that a budget cannot be passed.
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
        self.meter_after(Spent::default())
    }

    /// A meter for what comes after this much was spent.
    pub fn meter_after(&self, spent: Spent) -> Meter {
        Meter { budget: *self, spent }
    }

    /// This budget without one part in `parts`, which is kept for what comes afterwards: of the evaluations, and of the
    /// time from now to the deadline.
    pub(super) fn without_one_in(&self, parts: u32) -> Budget {
        let parts = parts.max(1);
        let deadline = self.deadline.map(|deadline| {
            let kept = deadline.saturating_duration_since(Instant::now()) / parts;
            deadline.checked_sub(kept).unwrap_or(deadline)
        });
        Budget { evaluations: self.evaluations - self.evaluations / u64::from(parts), deadline, ..*self }
    }
}

impl Meter {
    /// Spends `points` evaluations if the budget has them; `false` means stop.
    pub(super) fn evaluate(&mut self, points: u64) -> bool {
        if self.affords(points) && self.in_time() {
            self.spent.evaluations += points;
            return true;
        }
        false
    }

    /// Whether the budget has so many evaluations.
    pub(super) fn affords(&self, points: u64) -> bool {
        self.spent.evaluations.saturating_add(points) <= self.budget.evaluations
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

    /// What is left.
    pub fn rest(&self) -> Budget {
        Budget {
            evaluations: self.budget.evaluations.saturating_sub(self.spent.evaluations),
            nodes: self.budget.nodes.saturating_sub(self.spent.nodes),
            ..self.budget
        }
    }

    /// Does a part of the work with a share of what is left, one of `shares` equal ones, and takes what it leaves back.
    pub(super) fn share<R>(&mut self, shares: u64, work: impl FnOnce(&mut Meter) -> R) -> R {
        let (rest, shares) = (self.rest(), shares.max(1));
        let share = Budget { evaluations: rest.evaluations / shares, nodes: rest.nodes / shares, ..rest };
        let mut part = share.meter();
        let result = work(&mut part);
        self.spent.evaluations += part.spent.evaluations;
        self.spent.nodes += part.spent.nodes;
        result
    }

    /// Whether the deadline, if any, lies ahead and nobody asked to stop.
    pub(super) fn in_time(&self) -> bool {
        !self.budget.stop.is_some_and(StopFlag::is_set)
            && self.budget.deadline.is_none_or(|deadline| Instant::now() < deadline)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_meter_never_passes_its_budget() {
        let mut meter = Budget { evaluations: 10, nodes: 2, ..Budget::default() }.meter();
        assert!(meter.evaluate(7) && !meter.evaluate(4) && meter.evaluate(3) && !meter.evaluate(1));
        assert!(meter.visit() && meter.visit() && !meter.visit());
        assert_eq!(meter.spent(), Spent { evaluations: 10, nodes: 2 });
    }

    #[test]
    fn a_share_is_spent_from_the_whole() {
        let mut meter = Budget { evaluations: 10, nodes: 4, ..Budget::default() }.meter();
        assert!(meter.evaluate(1));
        meter.share(3, |part| assert!(part.evaluate(3) && !part.evaluate(1) && part.visit() && !part.visit()));
        assert_eq!(meter.spent(), Spent { evaluations: 4, nodes: 1 });
        meter.share(1, |part| assert!(part.evaluate(6) && !part.evaluate(1)));
        assert!(!meter.evaluate(1));
    }

    #[test]
    fn a_deadline_that_has_passed_stops_everything() {
        let mut meter = Budget { deadline: Some(Instant::now()), ..Budget::UNLIMITED }.meter();
        assert!(!meter.evaluate(1) && !meter.visit());
        assert!(meter.share(2, |part| !part.evaluate(1)));
    }

    #[test]
    fn what_is_kept_back_is_a_part_of_points_and_of_time() {
        let deadline = Instant::now() + Duration::from_secs(3600);
        let budget = Budget { evaluations: 105, nodes: 7, deadline: Some(deadline), stop: None };
        let first = budget.without_one_in(10);
        assert_eq!((first.evaluations, first.nodes), (95, 7));
        let kept = deadline - first.deadline.unwrap();
        assert!(kept > Duration::from_secs(300) && kept <= Duration::from_secs(360), "{kept:?}");
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
