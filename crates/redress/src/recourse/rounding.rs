//! Numbers that a person can aim for: 49.3 in place of 49.263748.

use super::{Case, Meter, Plan};
use crate::feasible::{Action, Domain, Move};

/// A rounder plan may cost this share more.
const DEARER: f64 = 0.01;
/// The coarsest places tried are of the size of the standard deviation; then so many finer ones.
const PLACES: i32 = 5;

/// Evaluations that rounding a plan takes at most, for each lever: the values above and below at every place.
pub(super) const EVALUATIONS: u64 = 2 * PLACES as u64;

/// The plan with every number that moves freely at as few decimals as keep the yes and the cost, lever by lever.
pub(super) fn rounded(case: &Case, plan: Plan, meter: &mut Meter) -> Plan {
    let most = plan.cost() * (1.0 + DEARER);
    let free: Vec<(usize, usize)> = case
        .feasible
        .levers()
        .enumerate()
        .filter(|(_, lever)| matches!(lever.domain, Domain::Range { .. }))
        .map(|(index, lever)| (index, lever.feature))
        .collect();
    free.into_iter().fold(plan, |plan, (lever, feature)| {
        if case.feasible.domains()[lever].stays(plan.action().moves[lever]) {
            return plan;
        }
        let from = case.feasible.person()[feature];
        let mut ends = rounder(plan.values()[feature], case.feasible.encoding().deviation(feature));
        let found = ends.find_map(|end| {
            let mut action: Action = plan.action().clone();
            action.moves[lever] = Move::By(end - from);
            case.verify(&action, meter).filter(|rounder| rounder.cost() <= most)
        });
        found.unwrap_or(plan)
    })
}

/// The values above and below at ever more decimals, the nearer one first.
fn rounder(value: f64, deviation: f64) -> impl Iterator<Item = f64> {
    let coarsest = deviation.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    (0..PLACES).flat_map(move |place| {
        let exponent = coarsest - place;
        // Multiplying by a power of ten below 1 is not exact; dividing by its inverse gives the shortest decimal.
        let (unit, power) = (10f64.powi(exponent.max(0)), 10f64.powi((-exponent).max(0)));
        let scaled = value / unit * power;
        let (near, other) = if scaled - scaled.floor() < 0.5 {
            (scaled.floor(), scaled.ceil())
        } else {
            (scaled.ceil(), scaled.floor())
        };
        [near, other].map(|whole| whole * unit / power)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recourse::{Budget, Measure, Solver, gradient::Gradient, tests::lender};

    #[test]
    fn rounder_values_are_short_decimals_from_coarse_to_fine() {
        let values: Vec<f64> = rounder(49.263748, 12.3).collect();
        assert_eq!(values, [50.0, 40.0, 49.0, 50.0, 49.3, 49.2, 49.26, 49.27, 49.264, 49.263]);
    }

    #[test]
    fn rounding_keeps_the_policy_the_yes_and_nearly_the_cost() {
        let advisor = lender::advisor(true, false, crate::feasible::Lattice::Continuous, Measure::L1);
        let people = lender::applicants(200, 21).people;
        let mut shorter = 0;
        for row in 0..people.len() {
            let feasible = advisor.space().feasible(people.row(row), None).unwrap();
            let case = advisor.case(&feasible);
            let verdict = Gradient::default().solve(&case, &Budget::default());
            let Some(plan) = verdict.plan() else { continue };
            let round = rounded(&case, plan.clone(), &mut Budget::UNLIMITED.meter());
            assert_eq!(case.verify(round.action(), &mut Budget::UNLIMITED.meter()).as_ref(), Some(&round));
            assert!(round.cost() <= plan.cost() * (1.0 + DEARER));
            let digits = |plan: &Plan| plan.values().iter().map(|value| value.to_string().len()).sum::<usize>();
            shorter += usize::from(digits(&round) < digits(plan));
        }
        assert!(shorter > 20, "{shorter}");
    }
}
