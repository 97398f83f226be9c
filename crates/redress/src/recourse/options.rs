//! Several ways to a yes, so that a person can choose.

use super::{Budget, Case, Plan, Solver, Verdict};
use crate::feasible::Action;

/// With more levers than this, feature sets of more than [`FEW`] features are not looked at on their own.
const MANY_LEVERS: usize = 8;
const FEW: usize = 2;

/// Asks a solver for up to `count` plans that change different sets of features.
///
/// The first is the cheapest that was found; the second, where it is another, the one with the fewest features (the
/// cheapest of these); the rest follow by their cost. The solver is asked about every set of levers alone, from small
/// sets to large ones, and each question gets an equal share of the budget; the question about all levers gets all of it.
pub fn options(solver: &dyn Solver, case: &Case, budget: &Budget, count: usize) -> Verdict {
    let verdict = solver.solve(case, budget);
    let Verdict::Recourse(mut plans) = verdict else { return verdict };
    if count > 1 {
        let sets = lever_sets(case.feasible.domains().len());
        let questions = sets.len() as u64 + 1;
        let share = Budget { evaluations: budget.evaluations / questions, nodes: budget.nodes / questions, ..*budget };
        for set in sets {
            let feasible = case.feasible.only(&set);
            if let Verdict::Recourse(found) = solver.solve(&Case { feasible: &feasible, ..*case }, &share) {
                plans.extend(found);
            }
        }
    }
    Verdict::Recourse(ranked(case, plans, count))
}

/// Proper subsets of the levers, not empty, from small to large, as masks.
fn lever_sets(levers: usize) -> Vec<Vec<bool>> {
    let singles = (0..levers).map(|one| vec![one]);
    let pairs = (0..levers).flat_map(|one| (one + 1..levers).map(move |two| vec![one, two]));
    let mut sets: Vec<Vec<usize>> = match levers {
        0 | 1 => Vec::new(),
        _ if levers > MANY_LEVERS => singles.chain(pairs).filter(|set| set.len() <= FEW).collect(),
        _ => {
            let set = |bits: u32| (0..levers).filter(|lever| bits >> lever & 1 == 1).collect();
            (1..(1u32 << levers) - 1).map(set).collect()
        }
    };
    sets.sort_by_key(Vec::len);
    sets.into_iter().map(|set| (0..levers).map(|lever| set.contains(&lever)).collect()).collect()
}

/// At most `count` plans with different feature sets: the cheapest, the one with the fewest features, the rest by cost.
fn ranked(case: &Case, mut plans: Vec<Plan>, count: usize) -> Vec<Plan> {
    plans.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
    let mut kept: Vec<Plan> = Vec::new();
    for plan in plans {
        let features = moved(case, plan.action());
        if !kept.iter().any(|known| moved(case, known.action()) == features) {
            kept.push(plan);
        }
    }
    let size = |plan: &Plan| moved(case, plan.action()).len();
    let fewest = (0..kept.len()).min_by_key(|&index| size(&kept[index]));
    if let Some(fewest) = fewest.filter(|&index| index > 1 && size(&kept[index]) < size(&kept[0])) {
        let plan = kept.remove(fewest);
        kept.insert(1, plan);
    }
    kept.truncate(count.max(1));
    kept
}

/// The levers that an action moves.
fn moved(case: &Case, action: &Action) -> Vec<usize> {
    let domains = case.feasible.domains().iter().zip(&action.moves).enumerate();
    domains.filter(|(_, (domain, step))| !domain.stays(**step)).map(|(lever, _)| lever).collect()
}
