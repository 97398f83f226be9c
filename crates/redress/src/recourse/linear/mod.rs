//! Recourse by a linear approximation: LIME, then the integer program of Ustun et al. (2019).
//!
//! The score near the person is approximated by a linear one ([`Lime`]); over the policy's grid the cheapest action is
//! found that brings the *linear* score to the threshold; and that action is tried on the true model. Where the
//! approximation is poor the action fails there, and the verdict says so: no yes was found.
//!
//! A model that is linear needs no approximation. Then the answer is the cheapest action of the grid, exactly, and
//! options with different feature sets (flipsets) come in the order of their cost.

mod integer_program;
mod lime;

pub use lime::Lime;

use self::integer_program::{Choice, Found, Program, Side};
use super::{
    Absence, Case, Measure, Meter, Plan, Solver, Verdict,
    case::Scored,
    options::{moved, ranked},
};
use crate::{
    feasible::{Action, Domain, Move},
    model::{Linear, Scorer},
};

/// LIME and the integer program as a solver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearProgram {
    /// How a model that is not linear is approximated.
    pub lime: Lime,
    /// Into how many parts the range of a number without steps is cut: Ustun et al. use 100.
    pub grid: usize,
    /// How many plans with different feature sets are wanted: the cheapest, the one with the fewest features, the next by
    /// their cost.
    pub plans: usize,
}

impl Default for LinearProgram {
    fn default() -> Self {
        Self { lime: Lime::default(), grid: 100, plans: 1 }
    }
}

/// A lattice with more steps than this on one lever is thinned out to about as many.
const MOST_STEPS: i64 = 4000;

impl Solver for LinearProgram {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn search(&self, case: &Case, meter: &mut Meter) -> Verdict {
        let Some(before) = case.logit(meter) else { return Verdict::nothing_known(meter) };
        if case.threshold.approves(before) {
            return Verdict::Approved { logit: before };
        }
        let weights = match case.linear() {
            Some(linear) => Some(linear.weights().iter().map(|&weight| f64::from(weight)).collect()),
            None => self.lime.weights(case, meter),
        };
        let Some(weights) = weights else { return Verdict::unknown(meter, before) };
        let grid = Grid::new(case, &weights, self.grid);
        let need = case.threshold.logit() - f64::from(before) - grid.slack;
        let mut search = Search::new(case, &grid, need, before);
        let complete = search.run(self.plans.max(1), meter);
        let Search { plans, best_logit, .. } = search;
        if !plans.is_empty() {
            return Verdict::Recourse(ranked(case, plans, self.plans));
        }
        if let Some(proof) = proof(case, grid.slack, best_logit, meter) {
            return Verdict::NoRecourse(proof);
        }
        if complete {
            Verdict::NoRecourse(Absence::NotFound { best_logit })
        } else {
            Verdict::unknown(meter, best_logit)
        }
    }
}

/// For a linear model: a bound on its score over Δ(x) that lies below the threshold. The best score reached is the one at
/// the top of the bound where the budget still has a point for it.
fn proof(case: &Case, slack: f64, seen: f32, meter: &mut Meter) -> Option<Absence> {
    let linear = case.linear()?;
    let downhill: Vec<f64> = linear.weights().iter().map(|&weight| -f64::from(weight)).collect();
    let least = case.feasible.relaxed_minimum(case.feasible.domains(), &downhill);
    let upper = f64::from(linear.bias()) - least + slack;
    if !(upper < case.threshold.logit()) {
        return None;
    }
    let gradient: Vec<f32> = linear.weights().iter().map(|weight| -weight).collect();
    let top = case.score(case.feasible.minimise(&gradient), meter);
    Some(Absence::Proven { best_logit: top.map_or(seen, |top| seen.max(top.logit())), upper })
}

/// The moves of every lever with their costs and what they add to the linear score.
struct Grid {
    moves: Vec<Vec<(Move, Choice)>>,
    /// By how much a true score can miss the sum, for a model that is linear; else 0.
    slack: f64,
}

impl Grid {
    fn new(case: &Case, weights: &[f64], parts: usize) -> Self {
        let feasible = case.feasible;
        let stay = feasible.stay();
        let mut after = vec![0.0; weights.len()];
        let mut reach: Vec<f64> = feasible.point().iter().map(|&at| f64::from(at.abs())).collect();
        let mut moves = Vec::new();
        for (lever, domain) in feasible.domains().iter().enumerate() {
            let mut options = Vec::new();
            for step in listed(domain, parts) {
                let mut action = stay.clone();
                action.moves[lever] = step;
                feasible.encode(&action, &mut after);
                let differences = after.iter().zip(feasible.point()).zip(weights);
                let gain = differences.map(|((to, from), weight)| weight * (f64::from(*to) - f64::from(*from))).sum();
                options.push((step, Choice { cost: case.costs.of_move(feasible, lever, &step), gain }));
                reach.iter_mut().zip(&after).for_each(|(reach, to)| *reach = reach.max(f64::from(to.abs())));
            }
            moves.push(options);
        }
        let slack = case.linear().map_or(0.0, |linear| rounding(linear, &reach));
        Self { moves, slack }
    }

    /// The options with the cost parts that add up under a measure.
    fn choices(&self, measure: Measure) -> Vec<Vec<Choice>> {
        let cost = |cost: f64| if measure == Measure::L2 { cost * cost } else { cost };
        let option = |(_, choice): &(Move, Choice)| Choice { cost: cost(choice.cost), gain: choice.gain };
        self.moves.iter().map(|options| options.iter().map(option).collect()).collect()
    }

    fn action(&self, chosen: &[usize]) -> Action {
        Action { moves: self.moves.iter().zip(chosen).map(|(options, &index)| options[index].0).collect() }
    }
}

/// How far an f32 sum over points of this reach can be from the exact one.
fn rounding(linear: &Linear, reach: &[f64]) -> f64 {
    let terms = linear.weights().iter().zip(reach).map(|(weight, reach)| f64::from(weight.abs()) * reach);
    let size = f64::from(linear.bias().abs()) + terms.sum::<f64>();
    2.0 * (linear.inputs() + 2) as f64 * f64::from(f32::EPSILON) * size
}

/// The moves of a domain, staying first; a range is cut into parts.
fn listed(domain: &Domain, parts: usize) -> Vec<Move> {
    let mut moves: Vec<Move> = match domain {
        Domain::Range { lo, hi } => {
            let parts = parts.max(1);
            let at = |part: usize| lo + (hi - lo) * part as f64 / parts as f64;
            (0..=parts).map(|part| Move::By(if part == parts { *hi } else { at(part) })).collect()
        }
        Domain::Grid { lo, hi, .. } => {
            let stride = ((hi - lo) / MOST_STEPS).max(1);
            let inner = (*lo..*hi).step_by(stride as usize).chain([*hi]);
            inner.map(Move::Steps).collect()
        }
        Domain::Choice { to, .. } => to.iter().map(|&to| Move::To(to)).collect(),
    };
    moves.retain(|step| !domain.stays(*step));
    moves.dedup();
    moves.insert(0, domain.stay());
    moves
}

/// The search for plans with different feature sets.
struct Search<'a> {
    case: &'a Case<'a>,
    grid: &'a Grid,
    need: f64,
    plans: Vec<Plan>,
    /// The feature sets that were tried on the true model: what comes next has another.
    sets: Vec<Vec<usize>>,
    /// At most so many features may change.
    most: usize,
    /// The last action that the true model said yes to.
    tried: Option<Scored>,
    /// The highest logit of an action that was tried on the true model.
    best_logit: f32,
}

impl<'a> Search<'a> {
    fn new(case: &'a Case<'a>, grid: &'a Grid, need: f64, before: f32) -> Self {
        let (plans, sets) = (Vec::new(), Vec::new());
        Self { case, grid, need, plans, sets, most: usize::MAX, tried: None, best_logit: before }
    }

    /// Adds plans: the cheapest, then the one with the fewest features, then from the cheapest on. Whether the budget
    /// sufficed. An approximation whose cheapest action fails on the true model is not asked again; once it has proved
    /// itself, further actions of it that fail are passed over.
    fn run(&mut self, wanted: usize, meter: &mut Meter) -> bool {
        let mut complete = self.next(meter);
        let features = self.plans.first().map(|plan| moved(self.case, plan.action()).len());
        let Some(features) = features.filter(|_| wanted > 1) else { return complete };
        for most in 1..features {
            self.most = most;
            complete &= self.next(meter);
            if self.plans.len() > 1 {
                break;
            }
        }
        self.most = usize::MAX;
        let mut tried = 0;
        while self.plans.len() < wanted && tried < self.sets.len() {
            tried = self.sets.len();
            complete &= self.next(meter);
        }
        complete
    }

    /// Tries the cheapest action with a new feature set on the true model; whether the budget sufficed.
    fn next(&mut self, meter: &mut Meter) -> bool {
        let found = self.cheapest(meter);
        let Some((_, chosen)) = found.best else { return found.complete };
        let action = self.grid.action(&chosen);
        // What is a solution for a linear model was asked about already.
        let known = self.tried.take().filter(|tried| *tried.action() == action);
        let Some(scored) = known.or_else(|| self.case.score(action, meter)) else { return false };
        self.best_logit = self.best_logit.max(scored.logit());
        self.sets.push(moved(self.case, scored.action()));
        self.plans.extend(self.case.accept(&scored));
        found.complete
    }

    /// Whether an action is worth a person's choice beside the plans: its feature set was not tried, and it does not take
    /// all the features of a plan, and more, without being cheaper.
    fn is_new(&self, action: &Action) -> bool {
        let features = moved(self.case, action);
        let cost = self.case.costs.of(self.case.feasible, action);
        let adds = |plan: &Plan| {
            plan.cost() <= cost && moved(self.case, plan.action()).iter().all(|lever| features.contains(lever))
        };
        !self.sets.contains(&features) && !self.plans.iter().any(adds)
    }

    /// The cheapest options whose feature set is new. A maximum is a sum under a limit on every part: the lowest limit
    /// with a solution is found by bisection.
    fn cheapest(&mut self, meter: &mut Meter) -> Found {
        let measure = self.case.costs.measure();
        let choices = self.grid.choices(measure);
        if measure != Measure::PercentileMax {
            return Program::new(choices, self.need).solve(self, meter);
        }
        let mut limits: Vec<f64> = choices.iter().flatten().map(|choice| choice.cost).collect();
        limits.sort_by(f64::total_cmp);
        limits.dedup();
        let (mut low, mut high) = (0, limits.len());
        let mut best = Found { best: None, complete: true };
        while low < high {
            let middle = (low + high) / 2;
            let within = |choice: &Choice| choice.cost <= limits[middle];
            // What is too dear is made useless rather than left out, so that options keep their index.
            let useless = Choice { cost: f64::INFINITY, gain: f64::NEG_INFINITY };
            let options = choices
                .iter()
                .map(|options| options.iter().map(|choice| if within(choice) { *choice } else { useless }).collect());
            let found = Program::new(options.collect(), self.need).solve(self, meter);
            best.complete &= found.complete;
            if found.best.is_some() {
                (best.best, high) = (found.best, middle);
            } else {
                low = middle + 1;
            }
        }
        best
    }
}

impl Side for Search<'_> {
    fn may(&self, chosen: &[usize]) -> bool {
        let feasible = self.case.feasible;
        // The first option of a lever is to stay.
        if chosen.iter().filter(|option| **option > 0).count() > self.most {
            return false;
        }
        if feasible.is_box() {
            return true;
        }
        let mut domains = feasible.domains().to_vec();
        for ((domain, options), &index) in domains.iter_mut().zip(&self.grid.moves).zip(chosen) {
            *domain = only(domain, options[index].0);
        }
        feasible.rows_may_hold(&domains)
    }

    fn is(&mut self, chosen: &[usize], meter: &mut Meter) -> Option<bool> {
        let action = self.grid.action(chosen);
        if !self.is_new(&action) || !self.case.feasible.contains(&action) {
            return Some(false);
        }
        // An approximation is taken at its word here, and tried afterwards. For a linear model the sum is right up to
        // rounding, and the model has the last word.
        if self.case.linear().is_none() {
            return Some(true);
        }
        let scored = self.case.score(action, meter)?;
        self.best_logit = self.best_logit.max(scored.logit());
        let yes = self.case.threshold.approves(scored.logit());
        if yes {
            self.tried = Some(scored);
        }
        Some(yes)
    }
}

/// The part of a domain that holds one move.
fn only(domain: &Domain, step: Move) -> Domain {
    match (domain, step) {
        (Domain::Grid { step, .. }, Move::Steps(steps)) => Domain::Grid { step: *step, lo: steps, hi: steps },
        (Domain::Choice { from, .. }, Move::To(to)) => Domain::Choice { from: *from, to: vec![to] },
        (_, Move::By(change)) => Domain::Range { lo: change, hi: change },
        _ => domain.clone(),
    }
}
