//! Several ways to a yes, so that a person can choose.

use super::{Case, Meter, Plan, Solver, Verdict};
use crate::feasible::Action;

/// With more levers than this, feature sets of more than two features are not looked at on their own.
const MANY_LEVERS: usize = 8;

/// Asks a solver for up to `count` plans that change different sets of features, with what the meter has left.
///
/// The first is the cheapest that was found; the second, where it is another, the one with the fewest features (the
/// cheapest of these); the rest follow by their cost. The question about all levers may take all that is left; then the
/// solver is asked about every set of levers alone, from small sets to large ones, and each of these questions may take an
/// equal share of what the ones before it left.
pub fn options(solver: &dyn Solver, case: &Case, meter: &mut Meter, count: usize) -> Verdict {
    let verdict = solver.search(case, meter);
    let Verdict::Recourse(mut plans) = verdict else { return verdict };
    if count > 1 {
        let sets = lever_sets(case.feasible.domains().len());
        for (asked, set) in sets.iter().enumerate() {
            let feasible = case.feasible.only(set);
            let part = case.restricted_to(&feasible);
            let verdict = meter.share((sets.len() - asked) as u64, |share| solver.search(&part, share));
            if let Verdict::Recourse(found) = verdict {
                plans.extend(found);
            }
        }
    }
    Verdict::Recourse(ranked(case, plans, count))
}

/// Proper subsets of the levers, not empty, from small to large, as masks. With many levers only the small ones.
pub(super) fn lever_sets(levers: usize) -> Vec<Vec<bool>> {
    let singles = (0..levers).map(|one| vec![one]);
    let pairs = (0..levers).flat_map(|one| (one + 1..levers).map(move |two| vec![one, two]));
    let mut sets: Vec<Vec<usize>> = match levers {
        0 | 1 => Vec::new(),
        _ if levers > MANY_LEVERS => singles.chain(pairs).collect(),
        _ => {
            let set = |bits: u32| (0..levers).filter(|lever| bits >> lever & 1 == 1).collect();
            (1..(1u32 << levers) - 1).map(set).collect()
        }
    };
    sets.sort_by_key(Vec::len);
    sets.into_iter().map(|set| (0..levers).map(|lever| set.contains(&lever)).collect()).collect()
}

/// At most `count` plans with different feature sets: the cheapest, the one with the fewest features, the rest by cost.
pub(super) fn ranked(case: &Case, mut plans: Vec<Plan>, count: usize) -> Vec<Plan> {
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
pub(super) fn moved(case: &Case, action: &Action) -> Vec<usize> {
    let domains = case.feasible.domains().iter().zip(&action.moves).enumerate();
    domains.filter(|(_, (domain, step))| !domain.stays(**step)).map(|(lever, _)| lever).collect()
}
