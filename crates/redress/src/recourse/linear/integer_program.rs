//! The integer program of Ustun et al. (2019): one option a lever, the least total cost, at least so much gain.
//!
//! ```text
//! minimise   Σ cost(option of lever)      subject to   Σ gain(option of lever) ≥ need,   and what else is asked of all
//! ```
//!
//! It is solved by depth-first search. A branch is bounded by the linear relaxation of what is left, which for this kind
//! of program has a closed form: the options of a lever that lie on the upper hull of gain over cost, taken from the
//! steepest increment down, the last one in part.

use super::super::Meter;

/// One thing to do with a lever.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choice {
    /// What it costs; not negative.
    pub(super) cost: f64,
    /// By how much it raises the linear score.
    pub(super) gain: f64,
}

/// The program. Each lever's first option is to stay: cost 0, gain 0.
#[derive(Debug, Clone)]
pub(super) struct Program {
    levers: Vec<Vec<Choice>>,
    need: f64,
    /// For each lever, the increments of all levers from it on.
    rest: Vec<Increments>,
}

/// Increments along the hulls of some levers, from the steepest down, as running sums.
#[derive(Debug, Clone, Default)]
struct Increments {
    gains: Vec<f64>,
    costs: Vec<f64>,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The option of each lever in the cheapest solution, with its cost.
    pub(super) best: Option<(f64, Vec<usize>)>,
    /// Whether the budget sufficed to look everywhere.
    pub(super) complete: bool,
}

/// What is asked of options besides gain and cost.
pub(super) trait Side {
    /// Whether the options of the first levers can be part of a solution; `true` where that is not known.
    fn may(&self, chosen: &[usize]) -> bool;
    /// Whether options, one a lever, are a solution; `None` when the budget ends before that is known.
    fn is(&mut self, chosen: &[usize], meter: &mut Meter) -> Option<bool>;
}

impl Program {
    /// A program over these options.
    pub(super) fn new(levers: Vec<Vec<Choice>>, need: f64) -> Self {
        let mut rest: Vec<Increments> = (0..levers.len()).map(|from| Increments::new(&levers[from..])).collect();
        rest.push(Increments::default());
        Self { levers, need, rest }
    }

    /// The cheapest solution; the first found among equals.
    pub(super) fn solve(&self, side: &mut dyn Side, meter: &mut Meter) -> Found {
        let mut found = Found { best: None, complete: true };
        self.branch(&mut Vec::with_capacity(self.levers.len()), (0.0, 0.0), side, meter, &mut found);
        found
    }

    /// Looks for something cheaper below the options chosen so far, which have this cost and gain.
    fn branch(
        &self,
        chosen: &mut Vec<usize>,
        (cost, gain): (f64, f64),
        side: &mut dyn Side,
        meter: &mut Meter,
        found: &mut Found,
    ) {
        if !meter.visit() {
            found.complete = false;
            return;
        }
        let Some(options) = self.levers.get(chosen.len()) else {
            if gain >= self.need {
                match side.is(chosen, meter) {
                    Some(true) => found.best = Some((cost, chosen.clone())),
                    Some(false) => {}
                    None => found.complete = false,
                }
            }
            return;
        };
        let rest = &self.rest[chosen.len() + 1];
        let bounded = options.iter().enumerate().filter_map(|(index, option)| {
            let (cost, gain) = (cost + option.cost, gain + option.gain);
            rest.least_cost(self.need - gain).map(|least| (cost + least, index, cost, gain))
        });
        let mut ordered: Vec<(f64, usize, f64, f64)> = bounded.collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (bound, index, cost, gain) in ordered {
            if found.best.as_ref().is_some_and(|(best, _)| bound >= *best) || !found.complete {
                return;
            }
            chosen.push(index);
            if side.may(chosen) {
                self.branch(chosen, (cost, gain), side, meter, found);
            }
            chosen.pop();
        }
    }
}

impl Increments {
    fn new(levers: &[Vec<Choice>]) -> Self {
        let mut steps: Vec<(f64, f64)> = levers.iter().flat_map(|options| hull(options)).collect();
        steps.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
        let mut sums = Self::default();
        let mut total = (0.0, 0.0);
        for (gain, cost) in steps {
            total = (total.0 + gain, total.1 + cost);
            sums.gains.push(total.0);
            sums.costs.push(total.1);
        }
        sums
    }

    /// The least cost of this much gain when options may be taken in part; `None` when there is not so much gain.
    fn least_cost(&self, need: f64) -> Option<f64> {
        if need <= 0.0 {
            return Some(0.0);
        }
        let last = self.gains.partition_point(|gain| *gain < need);
        if last == self.gains.len() {
            return None;
        }
        let before = if last == 0 { (0.0, 0.0) } else { (self.gains[last - 1], self.costs[last - 1]) };
        let share = (need - before.0) / (self.gains[last] - before.0);
        // Shaved, so that rounding never cuts off a solution that is exactly as good.
        Some((before.1 + share * (self.costs[last] - before.1)) * (1.0 - 1e-12))
    }
}

/// The increments of gain and cost along the upper hull of gain over cost, from (0, 0) on.
fn hull(options: &[Choice]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = options.iter().map(|option| (option.cost, option.gain)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
    let mut corners: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    for (cost, gain) in sorted {
        if corners.last().is_some_and(|last| gain <= last.1) {
            continue;
        }
        while let [.., before, last] = corners[..] {
            let steeper = (gain - before.1) * (last.0 - before.0) >= (last.1 - before.1) * (cost - before.0);
            if !steeper {
                break;
            }
            corners.pop();
        }
        corners.push((cost, gain));
    }
    corners.windows(2).map(|pair| (pair[1].1 - pair[0].1, pair[1].0 - pair[0].0)).collect()
}

#[cfg(test)]
mod tests {
    use microlp::{ComparisonOp, OptimizationDirection, Problem};
    use proptest::prelude::*;

    use super::super::super::Budget;
    use super::*;

    struct Anything;

    impl Side for Anything {
        fn may(&self, _: &[usize]) -> bool {
            true
        }
        fn is(&mut self, _: &[usize], _: &mut Meter) -> Option<bool> {
            Some(true)
        }
    }

    /// The slow twin: every combination.
    fn brute_force(levers: &[Vec<Choice>], need: f64) -> Option<f64> {
        let mut sums = vec![(0.0, 0.0)];
        for options in levers {
            sums = sums.iter().flat_map(|sum| options.iter().map(move |o| (sum.0 + o.cost, sum.1 + o.gain))).collect();
        }
        sums.into_iter().filter(|sum| sum.1 >= need).map(|sum| sum.0).min_by(f64::total_cmp)
    }

    /// The same program handed to a general solver.
    fn general(levers: &[Vec<Choice>], need: f64) -> Option<f64> {
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let mut gains = Vec::new();
        for options in levers {
            let ones: Vec<_> = options.iter().map(|option| problem.add_binary_var(option.cost)).collect();
            problem.add_constraint(ones.iter().map(|&one| (one, 1.0)), ComparisonOp::Eq, 1.0);
            gains.extend(ones.into_iter().zip(options.iter().map(|option| option.gain)));
        }
        problem.add_constraint(gains, ComparisonOp::Ge, need);
        Some(problem.solve().ok()?.solution()?.objective())
    }

    fn levers() -> impl Strategy<Value = Vec<Vec<Choice>>> {
        let option =
            (0u8..40, -20i8..40).prop_map(|(cost, gain)| Choice { cost: f64::from(cost), gain: f64::from(gain) });
        let lever = prop::collection::vec(option, 0..7).prop_map(|mut options| {
            options.insert(0, Choice { cost: 0.0, gain: 0.0 });
            options
        });
        prop::collection::vec(lever, 0..5)
    }

    proptest! {
        #[test]
        fn the_search_is_brute_force(levers in levers(), need in -10i32..100) {
            let need = f64::from(need);
            let found = Program::new(levers.clone(), need).solve(&mut Anything, &mut Budget::UNLIMITED.meter());
            prop_assert!(found.complete);
            prop_assert_eq!(found.best.map(|best| best.0), brute_force(&levers, need));
        }

        #[test]
        fn the_search_is_the_general_solver(levers in levers(), need in 1i32..60) {
            let need = f64::from(need);
            let found = Program::new(levers.clone(), need).solve(&mut Anything, &mut Budget::UNLIMITED.meter());
            let general = if levers.is_empty() { None } else { general(&levers, need) };
            prop_assert_eq!(found.best.map(|best| best.0.round()), general.map(f64::round));
        }
    }
}
