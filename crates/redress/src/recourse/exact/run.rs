//! Running searches: one or many at a time, and what is made of them.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::bounds::{Bounder, Boxes};
use super::search::{Aim, Search};
use super::{Exact, Goal};
use crate::calibrate::Threshold;
use crate::feasible::{Action, Domain, FeasibleSet};
use crate::model::Model;
use crate::recourse::{
    Absence, Budget, Case, Costs, Measure, Meter, Plan, Spent, Verdict,
    case::Batch,
    options::{lever_sets, moved, ranked},
};

/// People whose searches share passes through the network.
const TOGETHER: usize = 128;

/// A verdict with what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// No way to a yes costs less than this, where there is one: equal to the cost of the first plan when it is proven
    /// to be the cheapest. 0 when nothing is known.
    pub cost_at_least: f64,
    /// What was spent.
    pub spent: Spent,
}

/// Runs searches of people before one model side by side to their ends.
fn run(case: &Case, bounder: &Bounder, searches: &mut [Search<'_>]) {
    let inputs = case.point().len();
    let (mut points, mut boxes) = (Batch::before(case), Boxes::default());
    loop {
        points.clear();
        boxes.low.clear();
        boxes.high.clear();
        let asked: Vec<_> = searches.iter_mut().map(|search| search.ask(&mut points, &mut boxes)).collect();
        if asked.iter().all(|asked| asked.points + asked.boxes == 0) {
            return;
        }
        let logits = points.logits();
        let bounds = bounder.bound(&boxes);
        let (mut point, mut part) = (0, 0);
        for (search, asked) in searches.iter_mut().zip(asked) {
            if asked.points + asked.boxes == 0 {
                continue;
            }
            let (until_point, until_part) = (point + asked.points, part + asked.boxes);
            let columns = part * inputs..until_part * inputs;
            search.tell(
                &logits[point..until_point],
                &bounds.bounds[part..until_part],
                &bounds.rises[columns.clone()],
                &bounds.spreads[columns],
            );
            (point, part) = (until_point, until_part);
        }
    }
}

fn search<'a>(exact: &Exact, case: &Case<'a>, domains: Vec<Domain>, meter: &'a mut Meter) -> Search<'a> {
    let aim = match exact.goal {
        Goal::Cheapest { .. } => Aim::Cheapest { threshold: case.threshold, costs: case.costs, gap: exact.cost_gap },
        Goal::BestScore => Aim::Best { gap: exact.logit_gap },
    };
    Search::new(case.feasible, domains, aim, meter)
}

/// What a finished search of a whole feasible set says.
fn conclude(exact: &Exact, case: &Case, search: &mut Search<'_>) -> Answer {
    let best_logit = search.best.as_ref().map_or(f32::NEG_INFINITY, |best| best.logit);
    let found = match exact.goal {
        Goal::Cheapest { .. } => search.incumbent.clone(),
        Goal::BestScore => search.best.clone().filter(|best| case.threshold.approves(best.logit)),
    };
    let (verdict, cost_at_least) = match found {
        Some(tried) if tried.action == case.feasible.stay() => (Verdict::Approved { logit: tried.logit }, 0.0),
        Some(tried) => match case.verify(&tried.action, search.meter()) {
            Some(plan) => (Verdict::Recourse(vec![plan]), search.cost_at_least()),
            None => (Verdict::unknown(search.meter(), best_logit), search.cost_at_least()),
        },
        None => {
            let upper = search.ruled_out.max(f64::from(best_logit));
            let complete = !search.cut_short && search.undecided.is_none();
            if complete && upper < case.threshold.logit() {
                (Verdict::NoRecourse(Absence::Proven { best_logit, upper }), f64::INFINITY)
            } else {
                (Verdict::unknown(search.meter(), best_logit), search.cost_at_least())
            }
        }
    };
    Answer { verdict, cost_at_least, spent: search.meter().spent() }
}

/// The answer for one person.
pub(super) fn answer(exact: &Exact, case: &Case, meter: &mut Meter) -> Answer {
    let bounder = case.bounder();
    let mut searches = [search(exact, case, case.feasible.domains().to_vec(), meter)];
    run(case, &bounder, &mut searches);
    let first = conclude(exact, case, &mut searches[0]);
    more_options(exact, case, &bounder, meter, first)
}

/// The answers for many people.
pub(super) fn answer_all(exact: &Exact, cases: &[Case], budget: &Budget) -> Vec<Answer> {
    let (distinct, which) = distinct(cases);
    let answers: Vec<Answer> = distinct
        .par_chunks(TOGETHER)
        .flat_map_iter(|chunk| {
            let cases: Vec<&Case> = chunk.iter().map(|&index| &cases[index]).collect();
            cases
                .chunk_by(|a, b| a.shares_model(b))
                .flat_map(|cases| together(exact, cases, budget))
                .collect::<Vec<_>>()
        })
        .collect();
    which.into_iter().map(|index| answers[index].clone()).collect()
}

/// The answers for people before one model.
fn together(exact: &Exact, cases: &[&Case], budget: &Budget) -> Vec<Answer> {
    let Some(first) = cases.first() else { return vec![] };
    let bounder = first.bounder();
    let mut meters = vec![budget.meter(); cases.len()];
    let pairs = cases.iter().zip(&mut meters);
    let mut searches: Vec<Search<'_>> =
        pairs.map(|(case, meter)| search(exact, case, case.feasible.domains().to_vec(), meter)).collect();
    run(first, &bounder, &mut searches);
    let finished = cases.iter().zip(&mut searches);
    let answers: Vec<Answer> = finished.map(|(case, search)| conclude(exact, case, search)).collect();
    let finished = cases.iter().zip(&mut meters).zip(answers);
    finished.map(|((case, meter), answer)| more_options(exact, case, &bounder, meter, answer)).collect()
}

/// The first of each set of equal cases, and for each case which of these it equals.
fn distinct(cases: &[Case]) -> (Vec<usize>, Vec<usize>) {
    let mut seen: HashMap<Vec<u64>, Vec<usize>> = HashMap::with_capacity(cases.len());
    let (mut distinct, mut which) = (Vec::<usize>::new(), Vec::with_capacity(cases.len()));
    for (index, case) in cases.iter().enumerate() {
        let key = case.feasible.person().iter().map(|value| value.to_bits()).collect();
        let alike = seen.entry(key).or_default();
        let equal = alike.iter().copied().find(|&position: &usize| {
            let other = &cases[distinct[position]];
            case.shares_model(other)
                && std::ptr::eq(case.costs, other.costs)
                && case.threshold == other.threshold
                && case.feasible.same_actions(other.feasible)
        });
        which.push(equal.unwrap_or_else(|| {
            distinct.push(index);
            alike.push(distinct.len() - 1);
            distinct.len() - 1
        }));
    }
    (distinct, which)
}

/// Adds plans that change other sets of features: first the one with the fewest, then from the cheapest on.
///
/// After Lawler: a plan that changes the levers S is followed by those that leave one lever of S alone, for each of them.
fn more_options(exact: &Exact, case: &Case, bounder: &Bounder, meter: &mut Meter, first: Answer) -> Answer {
    let Goal::Cheapest { options } = exact.goal else { return first };
    let Verdict::Recourse(plans) = &first.verdict else { return first };
    if options < 2 {
        return first;
    }
    let mut found: Vec<Plan> = Vec::new();
    found.extend(plans.first().and_then(|plan| fewest(exact, case, bounder, meter, plan)));
    let mut waiting: Vec<(Plan, BTreeSet<usize>)> = plans.iter().map(|plan| (plan.clone(), BTreeSet::new())).collect();
    let mut asked: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
    let mut sets: BTreeSet<Vec<usize>> = BTreeSet::new();
    while sets.len() < options && !waiting.is_empty() {
        let cheapest = (1..waiting.len())
            .fold(0, |best, index| if waiting[index].0.cost() < waiting[best].0.cost() { index } else { best });
        let (plan, frozen) = waiting.swap_remove(cheapest);
        let moved = moved(case, plan.action());
        sets.insert(moved.clone());
        found.push(plan);
        if sets.len() >= options {
            break;
        }
        for lever in moved {
            let frozen: BTreeSet<usize> = frozen.iter().copied().chain([lever]).collect();
            if !asked.insert(frozen.clone()) {
                continue;
            }
            let domains = without(case.feasible, |lever| frozen.contains(&lever));
            if let Some(plan) = cheapest_within(exact, case, bounder, meter, domains) {
                waiting.push((plan, frozen));
            }
        }
    }
    Answer { verdict: Verdict::Recourse(ranked(case, found, options)), spent: meter.spent(), ..first }
}

/// The cheapest plan in a part of the feasible set, with what the meter has left.
fn cheapest_within(
    exact: &Exact,
    case: &Case,
    bounder: &Bounder,
    meter: &mut Meter,
    domains: Vec<Domain>,
) -> Option<Plan> {
    let mut searches = [search(exact, case, domains, meter)];
    run(case, bounder, &mut searches);
    let [Search { incumbent, .. }] = searches;
    case.verify(&incumbent?.action, meter)
}

/// A plan that changes fewer features than this one, as few as any: the cheapest of these. Each set of levers is asked
/// about with an equal share of what the sets before it left.
fn fewest(exact: &Exact, case: &Case, bounder: &Bounder, meter: &mut Meter, plan: &Plan) -> Option<Plan> {
    let most = moved(case, plan.action()).len();
    let size = |set: &[bool]| set.iter().filter(|moves| **moves).count();
    let mut sets = lever_sets(case.feasible.domains().len());
    sets.retain(|set| size(set) < most);
    let mut best: Option<(usize, Plan)> = None;
    for (asked, set) in sets.iter().enumerate() {
        if best.as_ref().is_some_and(|(fewest, _)| *fewest < size(set)) {
            break;
        }
        let domains = without(case.feasible, |lever| !set[lever]);
        // The plans that are still to come have a share as well.
        let shares = (sets.len() - asked) as u64 + 1;
        let found = meter.share(shares, |share| cheapest_within(exact, case, bounder, share, domains));
        let cheaper = |plan: &Plan| best.as_ref().is_none_or(|(_, best)| plan.cost() < best.cost());
        if let Some(plan) = found.filter(cheaper) {
            best = Some((size(set), plan));
        }
    }
    best.map(|(_, plan)| plan)
}

/// The domains with some levers left where they are.
fn without(feasible: &FeasibleSet, frozen: impl Fn(usize) -> bool) -> Vec<Domain> {
    let mut domains = feasible.domains().to_vec();
    for (_, domain) in domains.iter_mut().enumerate().filter(|(lever, _)| frozen(*lever)) {
        match domain {
            Domain::Range { lo, hi } => (*lo, *hi) = (0.0, 0.0),
            Domain::Grid { lo, hi, .. } => (*lo, *hi) = (0, 0),
            Domain::Choice { from, to } => *to = vec![*from],
        }
    }
    domains
}

/// The action with the highest score.
pub(super) fn improve(exact: &Exact, model: &Model, feasible: &FeasibleSet, budget: &Budget) -> Action {
    let costs = Costs::plain(feasible.encoding(), Measure::L1);
    let case = Case::new(model, feasible, Threshold::NEVER, &costs);
    let mut meter = budget.meter();
    let aim = Aim::Best { gap: exact.logit_gap };
    let mut searches = [Search::new(feasible, feasible.domains().to_vec(), aim, &mut meter)];
    run(&case, &case.bounder(), &mut searches);
    let [Search { best, .. }] = searches;
    best.map_or_else(|| feasible.stay(), |best| best.action)
}
