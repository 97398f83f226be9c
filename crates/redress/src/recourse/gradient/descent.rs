//! Many people descending at once.

use super::super::{Absence, Budget, Case, Meter, Verdict, case::Batch};
use super::{ENOUGH, Schedule, landing};
use crate::{
    calibrate::probability,
    feasible::{Action, Domain},
};

/// Adam's decay rates, and an ε that lets saturated scores move.
const DECAY: (f64, f64) = (0.9, 0.999);
const EPSILON: f64 = 1e-20;
/// A best score that grows less than this over [`Schedule::early_stop`] steps has stopped growing.
const STALLED: f32 = 1e-3;
/// Halvings of the straight line from the person to the yes.
const HALVINGS: usize = 8;

/// A column that the person can move, with Adam's two moments.
#[derive(Debug, Clone, Copy)]
struct Axis {
    column: usize,
    lo: f32,
    hi: f32,
    mean: f64,
    square: f64,
}

/// One person on the way.
pub(super) struct Walker<'a, 'c> {
    pub(super) case: &'a Case<'c>,
    pub(super) meter: &'a mut Meter,
    /// The logit of the person as they are.
    before: f32,
    at: Vec<f32>,
    axes: Vec<Axis>,
    /// Where the descent ends: as a probability, and the slope of the squared loss it is compared with.
    target: f64,
    stage: Stage,
    /// Steps of this descent so far.
    steps: usize,
    /// The highest logit met in the relaxed box, where, and how many steps ago it last grew.
    pub(super) highest: f32,
    pub(super) highest_at: Vec<f32>,
    stalled: usize,
    /// The nearest yes in the relaxed box and its distance.
    pub(super) nearest_at: Vec<f32>,
    nearest: f64,
    /// What landing takes.
    landing: u64,
    out_of_budget: bool,
}

/// What the descent is about at the moment.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// Asking for the score of the person and the corner to start from.
    Start,
    /// The corner's score is asked for.
    Corner,
    /// Is there a yes at all? No distance term.
    Reach,
    /// The search over λ′.
    Weigh {
        round: usize,
        weight: f64,
        lower: f64,
        upper: f64,
        yeses: usize,
        run: i64,
        before: f64,
    },
    Done,
}

/// The verdicts on people who share a model, each with a meter of their own.
pub(super) fn verdicts(schedule: &Schedule, cases: &[Case<'_>], meters: &mut [Meter]) -> Vec<Verdict> {
    let pairs = cases.iter().zip(meters);
    let mut walkers: Vec<Walker> = pairs.map(|(case, meter)| Walker::new(schedule, case, meter)).collect();
    descend(schedule, &mut walkers);
    shorten(&mut walkers);
    walkers.iter_mut().map(Walker::verdict).collect()
}

/// The action with the highest score that the descent towards a score of 1 meets.
pub(super) fn furthest(schedule: &Schedule, case: &Case<'_>) -> Action {
    let mut meter = Budget::UNLIMITED.meter();
    let mut walkers = [Walker::new(schedule, case, &mut meter)];
    descend(schedule, &mut walkers);
    let [mut walker] = walkers;
    landing::highest(&mut walker)
}

/// Steps everybody who is not done, in batches of one gradient each.
fn descend(schedule: &Schedule, walkers: &mut [Walker]) {
    let Some(mut batch) = walkers.first().map(|walker| Batch::<2>::before(walker.case)) else { return };
    let mut active: Vec<usize> = (0..walkers.len()).collect();
    loop {
        batch.clear();
        active.retain(|&index| walkers[index].goes_on(&mut batch));
        if active.is_empty() {
            return;
        }
        let (logits, gradients) = batch.gradients();
        let width = gradients.len() / logits.len();
        for (row, &index) in active.iter().enumerate() {
            walkers[index].step(schedule, logits[row], &gradients[row * width..(row + 1) * width]);
        }
    }
}

/// Cuts every change that reached a yes back along the straight line to where the person is, as far as meters go.
fn shorten(walkers: &mut [Walker]) {
    let Some(mut batch) = walkers.first().map(|walker| Batch::<1>::before(walker.case)) else { return };
    // For each walker that met a yes, the shares of the line between which its first yes lies.
    let found = (0..walkers.len()).filter(|&index| walkers[index].met_a_yes());
    let mut lines: Vec<(usize, f32, f32)> = found.map(|index| (index, 0.0, 1.0)).collect();
    for _ in 0..HALVINGS {
        batch.clear();
        let mut asked: Vec<usize> = Vec::with_capacity(lines.len());
        for (line, &(index, low, high)) in lines.iter().enumerate() {
            let Walker { case, meter, nearest_at, landing, .. } = &mut walkers[index];
            let write = |point: &mut [f32]| along(case.point(), nearest_at, 0.5 * (low + high), point);
            if meter.affords(1 + *landing) && batch.ask(meter, write) {
                asked.push(line);
            }
        }
        if asked.is_empty() {
            break;
        }
        for (&line, &logit) in asked.iter().zip(batch.logits()) {
            let (index, low, high) = &mut lines[line];
            let middle = 0.5 * (*low + *high);
            if walkers[*index].case.threshold.approves(logit) { *high = middle } else { *low = middle }
        }
    }
    for (index, _, high) in lines {
        let walker = &mut walkers[index];
        let end = walker.nearest_at.clone();
        along(walker.case.point(), &end, high, &mut walker.nearest_at);
    }
}

/// Writes the point this share of the way from one point to another.
fn along(from: &[f32], to: &[f32], share: f32, point: &mut [f32]) {
    for (at, (from, to)) in point.iter_mut().zip(from.iter().zip(to)) {
        *at = if share == 1.0 { *to } else { from + share * (to - from) };
    }
}

impl<'a, 'c> Walker<'a, 'c> {
    fn new(schedule: &Schedule, case: &'a Case<'c>, meter: &'a mut Meter) -> Self {
        let point = case.feasible.point();
        let threshold = case.threshold.probability();
        let reachable = threshold < 1.0;
        let target = if reachable { (threshold + schedule.tolerance).min(0.5 * (threshold + 1.0)) } else { 1.0 };
        Self {
            case,
            meter,
            before: f32::NEG_INFINITY,
            at: point.to_vec(),
            axes: axes(case),
            target,
            stage: Stage::Start,
            steps: 0,
            highest: f32::NEG_INFINITY,
            highest_at: point.to_vec(),
            stalled: 0,
            nearest_at: Vec::new(),
            nearest: f64::INFINITY,
            landing: landing::price(case.feasible),
            out_of_budget: false,
        }
    }

    /// Whether another step is wanted and paid for; then its point is in the batch.
    fn goes_on(&mut self, batch: &mut Batch<2>) -> bool {
        // A yes that cannot be landed on is none: what landing takes is kept back from the first step on.
        let affordable = self.stage == Stage::Start || self.meter.affords(2 + self.landing);
        if self.stage != Stage::Done && !(affordable && batch.ask(self.meter, |point| point.copy_from_slice(&self.at)))
        {
            self.stage = Stage::Done;
            self.out_of_budget = !self.met_a_yes();
        }
        self.stage != Stage::Done
    }

    /// What the score and its gradient at the present point lead to.
    fn step(&mut self, schedule: &Schedule, logit: f32, gradient: &[f32]) {
        let yes = self.meet(logit);
        match self.stage {
            Stage::Start => {
                self.before = logit;
                if yes || self.axes.is_empty() {
                    self.stage = Stage::Done;
                    return;
                }
                for axis in &self.axes {
                    let slope = gradient[axis.column];
                    self.at[axis.column] = if slope > 0.0 {
                        axis.hi
                    } else if slope < 0.0 {
                        axis.lo
                    } else {
                        self.at[axis.column]
                    };
                }
                self.project();
                self.stage = Stage::Corner;
            }
            Stage::Corner | Stage::Reach => {
                if self.stage == Stage::Corner && logit < self.before {
                    self.at.copy_from_slice(self.case.feasible.point());
                    self.stage = Stage::Reach;
                    return;
                }
                if yes {
                    self.weigh_from(schedule.distance_weight, 0.0, f64::INFINITY, 0);
                    return;
                }
                self.stage = Stage::Reach;
                let moved = self.adam(schedule, logit, gradient, 0.0);
                if !moved || self.stalled > schedule.early_stop || self.steps >= schedule.iterations {
                    self.stage = Stage::Done;
                }
            }
            Stage::Weigh { .. } => self.weigh(schedule, yes, logit, gradient),
            Stage::Done => {}
        }
    }

    /// Notes what was met at the present point; whether it is a yes.
    fn meet(&mut self, logit: f32) -> bool {
        self.stalled += 1;
        if logit > self.highest {
            if logit > self.highest + STALLED {
                self.stalled = 0;
            }
            self.highest = logit;
            self.highest_at.copy_from_slice(&self.at);
        }
        let yes = self.case.threshold.approves(logit);
        if yes {
            let origin = self.case.feasible.point();
            let distance = self.at.iter().zip(origin).map(|(at, from)| f64::from((at - from).abs())).sum();
            if distance < self.nearest {
                self.nearest = distance;
                self.nearest_at.clear();
                self.nearest_at.extend_from_slice(&self.at);
            }
        }
        yes
    }

    /// Begins a round with this weight on the distance; Adam starts afresh from the present point.
    fn weigh_from(&mut self, weight: f64, lower: f64, upper: f64, round: usize) {
        self.steps = 0;
        self.axes.iter_mut().for_each(|axis| (axis.mean, axis.square) = (0.0, 0.0));
        self.stage = Stage::Weigh { round, weight, lower, upper, yeses: 0, run: 0, before: self.nearest };
    }

    /// One step of a round; at its end, alibi's bisection of λ′.
    fn weigh(&mut self, schedule: &Schedule, yes: bool, logit: f32, gradient: &[f32]) {
        let Stage::Weigh { round, weight, lower, upper, mut yeses, mut run, before } = self.stage else { return };
        run = match yes {
            true => run.max(0) + 1,
            false => run.min(0) - 1,
        };
        yeses += usize::from(yes);
        let moved = self.adam(schedule, logit, gradient, weight);
        let long = run.unsigned_abs() as usize >= schedule.early_stop;
        if moved && !long && self.steps < schedule.iterations {
            self.stage = Stage::Weigh { round, weight, lower, upper, yeses, run, before };
            return;
        }
        let rested = !moved && yes;
        let gained = self.nearest < before * (1.0 - schedule.least_gain);
        if round + 1 >= schedule.weight_steps || (round > 0 && !gained && schedule.least_gain > 0.0) {
            self.stage = Stage::Done;
        } else if yeses >= ENOUGH || rested {
            let next = if upper.is_finite() { 0.5 * (weight + upper) } else { weight * 10.0 };
            self.weigh_from(next, weight, upper, round + 1);
        } else {
            let next = if lower > 0.0 { 0.5 * (lower + weight) } else { weight / 10.0 };
            self.weigh_from(next, lower, weight, round + 1);
        }
    }

    /// One step of Adam on `(p − target)² + weight·‖x' − x‖₁`, projected; whether the point moved.
    fn adam(&mut self, schedule: &Schedule, logit: f32, gradient: &[f32], weight: f64) -> bool {
        let p = probability(f64::from(logit));
        let slope = 2.0 * (p - self.target) * p * (1.0 - p);
        // Where p rounds to 1 or to 0 the direction is still known.
        let slope = if slope == 0.0 && p != self.target {
            (p - self.target).signum() * f64::from(f32::MIN_POSITIVE)
        } else {
            slope
        };
        let rate = schedule.learning_rate * (1.0 - self.steps as f64 / schedule.iterations.max(1) as f64);
        self.steps += 1;
        let corrections = (1.0 - DECAY.0.powi(self.steps as i32), 1.0 - DECAY.1.powi(self.steps as i32));
        let origin = self.case.feasible.point();
        let mut moved = false;
        for axis in &mut self.axes {
            let at = self.at[axis.column];
            let side = f64::from(at - origin[axis.column]);
            let pull = if side == 0.0 { 0.0 } else { weight * side.signum() };
            let total = slope * f64::from(gradient[axis.column]) + pull;
            axis.mean = DECAY.0 * axis.mean + (1.0 - DECAY.0) * total;
            axis.square = DECAY.1 * axis.square + (1.0 - DECAY.1) * total * total;
            let step = rate * (axis.mean / corrections.0) / ((axis.square / corrections.1).sqrt() + EPSILON);
            let to = ((f64::from(at) - step) as f32).clamp(axis.lo, axis.hi);
            moved |= to != at;
            self.at[axis.column] = if to.is_finite() { to } else { at };
        }
        if moved {
            self.project();
        }
        moved
    }

    /// Back onto Δ(x), where it is more than the box that the axes keep to and less than a lattice: a lattice is landed
    /// on at the end.
    fn project(&mut self) {
        if !self.case.feasible.is_box()
            && self.case.feasible.domains().iter().all(|domain| matches!(domain, Domain::Range { .. }))
        {
            let action = self.case.feasible.project(&self.at);
            self.case.feasible.encode(&action, &mut self.at);
        }
    }

    /// Whether a yes was met in the relaxed box.
    pub(super) fn met_a_yes(&self) -> bool {
        self.nearest.is_finite()
    }

    fn verdict(&mut self) -> Verdict {
        if self.before == f32::NEG_INFINITY {
            return Verdict::nothing_known(self.meter);
        }
        if self.case.threshold.approves(self.before) {
            return Verdict::Approved { logit: self.before };
        }
        let landed = landing::cheapest(self);
        if let Some(plan) = landed.plan {
            return Verdict::Recourse(vec![plan]);
        }
        let best_logit = self.before.max(landed.best_logit);
        if self.out_of_budget || landed.out_of_budget {
            return Verdict::unknown(self.meter, best_logit);
        }
        Verdict::NoRecourse(Absence::NotFound { best_logit })
    }
}

/// The columns that some action moves, with where they can be.
fn axes(case: &Case<'_>) -> Vec<Axis> {
    let feasible = case.feasible;
    let width = feasible.point().len();
    let (mut lo, mut hi) = (vec![0.0; width], vec![0.0; width]);
    feasible.encoded_box(feasible.domains(), &mut lo, &mut hi);
    let axis = |column: usize| Axis { column, lo: lo[column] as f32, hi: hi[column] as f32, mean: 0.0, square: 0.0 };
    (0..width).filter(|&column| lo[column] < hi[column]).map(axis).collect()
}
