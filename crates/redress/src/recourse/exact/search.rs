//! The search of one person, as a machine that asks for logits and bounds and is told them.
//!
//! Asking and telling apart lets many searches share one pass through the network.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::bounds::{Bound, Boxes};
use super::part::{Guide, cheapest, combinations, count, split};
use crate::calibrate::Threshold;
use crate::feasible::{Action, Domain, FeasibleSet};
use crate::recourse::{Costs, Meter, case::Batch};

/// Parts taken up in one round.
const PARTS: usize = 2;
/// A finite set of at most this many actions is listed in the order of cost and not branched.
const LIST: u128 = 256;
/// Actions of a list that are tried in one round.
const LIST_ROUND: usize = 16;
/// A finite part of at most this many actions is tried whole.
const LEAF: u128 = 24;
/// A part whose bound is this many times its rounding noise is not worth splitting: its parts would be as undecided.
const NOISE: f64 = 3.0;

/// Differences in cost below this are not worth looking for among real-valued changes: in the default measure, half a
/// hundredth of a standard deviation.
pub(super) const FINE: f64 = 0.005;

/// What a search is after.
#[derive(Debug, Clone, Copy)]
pub(super) enum Aim<'a> {
    /// The cheapest action with a logit that is approved, up to a relative gap in the cost.
    Cheapest { threshold: Threshold, costs: &'a Costs, gap: f64 },
    /// The highest logit, up to an absolute gap.
    Best { gap: f64 },
}

/// An action that was tried.
#[derive(Debug, Clone)]
pub(super) struct Tried {
    pub action: Action,
    pub cost: f64,
    pub logit: f32,
}

/// A part of Δ(x) that waits for its turn.
#[derive(Debug, Clone)]
struct Part {
    domains: Vec<Domain>,
    /// No approved action in it costs less.
    least: f64,
    upper: f64,
    /// The lever to split it at.
    lever: usize,
    /// The order of arrival, which settles ties.
    serial: u64,
    by_cost: bool,
}

/// The search of one person.
pub(super) struct Search<'a> {
    feasible: &'a FeasibleSet,
    aim: Aim<'a>,
    meter: &'a mut Meter,
    started: bool,
    done: bool,
    /// Whether staying differs from the smallest change.
    broken: bool,
    queue: BinaryHeap<Part>,
    serial: u64,
    /// Parts to be bounded next, or that wait for their bounds.
    fresh: Vec<Part>,
    /// Actions to be tried next, or that wait for their logits.
    trials: Vec<(f64, Action)>,
    /// The actions of a small finite set, dearest first.
    list: Vec<(f64, Action)>,
    /// The cheapest approved action so far.
    pub incumbent: Option<Tried>,
    /// The highest logit so far.
    pub best: Option<Tried>,
    /// The highest bound of a part that was ruled out.
    pub ruled_out: f64,
    /// The least cost of a part that rounding left undecided.
    pub undecided: Option<f64>,
    /// Whether the budget ended the search.
    pub cut_short: bool,
}

/// How much a search asks for in one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub points: usize,
    pub boxes: usize,
}

impl<'a> Search<'a> {
    /// A search of the actions in `domains`, a part of the feasible set that includes staying.
    pub fn new(feasible: &'a FeasibleSet, domains: Vec<Domain>, aim: Aim<'a>, meter: &'a mut Meter) -> Self {
        let mut search = Self {
            feasible,
            aim,
            meter,
            started: false,
            done: false,
            broken: !feasible.is_box(),
            queue: BinaryHeap::new(),
            serial: 0,
            fresh: vec![],
            trials: vec![],
            list: vec![],
            incumbent: None,
            best: None,
            ruled_out: f64::NEG_INFINITY,
            undecided: None,
            cut_short: false,
        };
        if let Aim::Cheapest { costs, gap, .. } = &mut search.aim {
            search.broken |= has_fixed_costs(feasible, costs);
            // Whole steps have a cheapest action, and the search finds it.
            if count(&domains).is_some() {
                *gap = 0.0;
            }
        }
        let root = search.part(domains);
        search.fresh.push(root);
        search
    }

    /// The meter, for what is done about what was found.
    pub fn meter(&mut self) -> &mut Meter {
        self.meter
    }

    /// No approved action costs less than this, where there is one.
    pub fn cost_at_least(&self) -> f64 {
        let Aim::Cheapest { gap, .. } = self.aim else { return 0.0 };
        let found = self.incumbent.as_ref().map_or(f64::INFINITY, |incumbent| worth(incumbent.cost, gap));
        let parts = self.queue.iter().chain(&self.fresh).map(|part| part.least);
        let actions = self.list.iter().chain(&self.trials).map(|(cost, _)| *cost);
        parts.chain(actions).chain(self.undecided).fold(found, f64::min)
    }

    fn part(&mut self, domains: Vec<Domain>) -> Part {
        let (least, by_cost) = match &self.aim {
            Aim::Cheapest { costs, .. } => (costs.least(self.feasible, &domains), true),
            Aim::Best { .. } => (0.0, false),
        };
        self.serial += 1;
        Part { domains, least, upper: f64::INFINITY, lever: 0, serial: self.serial, by_cost }
    }

    fn cost(&self, action: &Action) -> f64 {
        match &self.aim {
            Aim::Cheapest { costs, .. } => costs.of(self.feasible, action),
            Aim::Best { .. } => 0.0,
        }
    }

    /// Whether a part cannot hold anything better than what was found.
    fn is_pointless(&self, least: f64, upper: f64) -> bool {
        match self.aim {
            Aim::Cheapest { threshold, gap, .. } => {
                upper < threshold.logit() || self.incumbent.as_ref().is_some_and(|best| least >= worth(best.cost, gap))
            }
            Aim::Best { gap } => self.best.as_ref().is_some_and(|best| upper <= f64::from(best.logit) + gap),
        }
    }

    /// Writes the points and boxes whose logits and bounds it needs next; nothing when it is done.
    pub fn ask(&mut self, points: &mut Batch<1>, boxes: &mut Boxes) -> Asked {
        if self.done {
            return Asked { points: 0, boxes: 0 };
        }
        if !self.started {
            self.trials.push((0.0, self.feasible.stay()));
        } else if self.fresh.is_empty() {
            self.take_up();
        }
        let points = self.ask_points(points);
        let boxes = if self.started && !self.cut_short { self.ask_boxes(boxes) } else { 0 };
        self.done = self.cut_short || points + boxes == 0;
        Asked { points, boxes }
    }

    /// Asks for the actions to be tried, as far as the budget goes. One evaluation is kept back from the second round on:
    /// what is found is verified before it is returned.
    fn ask_points(&mut self, points: &mut Batch<1>) -> usize {
        let kept = u64::from(self.started);
        let asked = self.trials.iter().take_while(|(_, action)| {
            self.meter.affords(1 + kept) && points.ask(self.meter, |point| self.feasible.encode(action, point))
        });
        let asked = asked.count();
        if asked < self.trials.len() || !self.meter.in_time() {
            self.cut_short = true;
            // What is not tried still counts when it comes to what is known about costs.
            self.list.extend(self.trials.drain(asked..));
        }
        asked
    }

    /// Asks for the bounds of the fresh parts, if the budget has them all.
    fn ask_boxes(&mut self, boxes: &mut Boxes) -> usize {
        let width = self.feasible.encoding().width();
        let start = boxes.low.len();
        let (mut low, mut high) = (vec![0.0f64; width], vec![0.0f64; width]);
        for part in &self.fresh {
            if !self.meter.visit() {
                self.cut_short = true;
                boxes.low.truncate(start);
                boxes.high.truncate(start);
                return 0;
            }
            self.feasible.encoded_box(&part.domains, &mut low, &mut high);
            // The ends are `f32` numbers already.
            boxes.low.extend(low.iter().map(|&low| low as f32));
            boxes.high.extend(high.iter().map(|&high| high as f32));
        }
        self.fresh.len()
    }

    /// Takes the next parts or actions in turn.
    fn take_up(&mut self) {
        while self.trials.len() < LIST_ROUND
            && let Some((cost, action)) = self.list.pop()
        {
            if self.is_pointless(cost, f64::INFINITY) {
                self.list.clear();
                break;
            }
            self.trials.push((cost, action));
        }
        for _ in 0..PARTS {
            let Some(part) = self.queue.pop() else { break };
            if self.is_pointless(part.least, part.upper) {
                self.ruled_out = self.ruled_out.max(part.upper);
                continue;
            }
            if count(&part.domains).is_some_and(|count| count <= LEAF) {
                let leaf = self.actions_of(&part.domains);
                self.trials.extend(leaf);
                continue;
            }
            for domain in split(&part.domains[part.lever], self.broken) {
                let mut domains = part.domains.clone();
                domains[part.lever] = domain;
                if !self.feasible.is_box() && !self.feasible.rows_may_hold(&domains) {
                    continue;
                }
                let mut child = self.part(domains);
                child.least = child.least.max(part.least);
                if !self.is_pointless(child.least, part.upper) {
                    self.fresh.push(child);
                }
            }
        }
    }

    /// The permitted actions of a countable part that could be better than what was found.
    fn actions_of(&self, domains: &[Domain]) -> Vec<(f64, Action)> {
        let permitted = |action: &Action| self.feasible.is_box() || self.feasible.contains(action);
        let priced = combinations(domains).into_iter().filter(permitted).map(|action| (self.cost(&action), action));
        priced.filter(|(cost, _)| !self.is_pointless(*cost, f64::INFINITY)).collect()
    }

    /// Takes the answers to what was asked last.
    pub fn tell(&mut self, logits: &[f32], bounds: &[Bound], rises: &[f32], spreads: &[f32]) {
        let trials = std::mem::take(&mut self.trials);
        for ((cost, action), &logit) in trials.into_iter().zip(logits) {
            self.learn(Tried { action, cost, logit });
        }
        if !self.started {
            self.started = true;
            if let (Aim::Cheapest { .. }, Some(_)) = (self.aim, &self.incumbent) {
                self.done = true;
            }
            return;
        }
        if bounds.is_empty() {
            return;
        }
        let width = self.feasible.encoding().width();
        let parts = std::mem::take(&mut self.fresh);
        for (index, (part, &bound)) in parts.into_iter().zip(bounds).enumerate() {
            let row = index * width..(index + 1) * width;
            self.judge(part, bound, &rises[row.clone()], &spreads[row]);
        }
    }

    fn learn(&mut self, tried: Tried) {
        if let Aim::Cheapest { threshold, .. } = self.aim
            && threshold.approves(tried.logit)
            && self.incumbent.as_ref().is_none_or(|incumbent| tried.cost < incumbent.cost)
        {
            self.incumbent = Some(tried.clone());
        }
        if self.best.as_ref().is_none_or(|best| tried.logit > best.logit || best.logit.is_nan()) {
            self.best = Some(tried);
        }
    }

    /// Rules a part out, puts it into the queue or leaves it undecided, and picks actions of it to try.
    fn judge(&mut self, mut part: Part, bound: Bound, rises: &[f32], spreads: &[f32]) {
        let is_root = part.serial == 1;
        let domains = std::mem::take(&mut part.domains);
        part.upper = bound.upper;
        if !self.feasible.is_box() && !self.is_pointless(part.least, part.upper) {
            part.upper = part.upper.min(self.upper_within_rows(&domains, &bound, rises));
        }
        let guide = Guide { feasible: self.feasible, domains: &domains, bound, rises, spreads };
        let size = count(&domains);
        if let Aim::Cheapest { threshold, costs, .. } = self.aim
            && part.upper >= threshold.logit()
        {
            part.least = part.least.max(guide.cost_at_least(costs, threshold.logit()));
        }
        if self.is_pointless(part.least, part.upper) {
            self.ruled_out = self.ruled_out.max(part.upper);
            if is_root {
                self.try_action(guide.permitted(guide.rising()));
            }
            return;
        }
        if is_root && size.is_some_and(|size| size <= LIST) {
            self.list = self.actions_of(&domains);
            // Dearest first, and of equals the last: the next one is taken from the end.
            self.list.reverse();
            self.list.sort_by(|a, b| b.0.total_cmp(&a.0));
            return;
        }
        let leaf = size.is_some_and(|size| size <= LEAF);
        if !leaf {
            self.try_action(guide.permitted(guide.rising()));
            if let Aim::Cheapest { threshold, costs, .. } = self.aim {
                let slack = 0.25 * (bound.slack - bound.noise).max(0.0);
                let crossing = guide.crossing(costs, threshold.logit() + slack);
                self.try_action(crossing.and_then(|action| guide.permitted(action)));
            }
            if is_root && !self.feasible.is_box() {
                self.try_action(self.linear_best(&domains, rises));
            }
        }
        let lever = guide.lever(self.broken);
        let noisy = size.is_none() && bound.upper - bound.lower <= 2.0 * NOISE * bound.noise;
        match lever {
            Some(lever) if !noisy => {
                part.lever = lever;
                part.domains = domains;
                self.queue.push(part);
            }
            _ if leaf => {
                part.domains = domains;
                self.queue.push(part);
            }
            _ => {
                self.try_action(guide.permitted(cheapest(&domains)));
                self.undecided = Some(self.undecided.map_or(part.least, |before| before.min(part.least)));
                self.ruled_out = self.ruled_out.max(part.upper);
            }
        }
    }

    /// The bound with rows and links considered: the linear part is only as large as they let it be.
    fn upper_within_rows(&self, domains: &[Domain], bound: &Bound, rises: &[f32]) -> f64 {
        let width = rises.len();
        let (mut low, mut high) = (vec![0.0f64; width], vec![0.0f64; width]);
        self.feasible.encoded_box(domains, &mut low, &mut high);
        let mut falls = vec![0.0; width];
        let (mut middle, mut size) = (0.5 * bound.lower + 0.5 * bound.upper, 0.0);
        for (column, &rise) in rises.iter().enumerate().filter(|(_, rise)| **rise != 0.0) {
            let (centre, radius) = Boxes::span(low[column] as f32, high[column] as f32);
            falls[column] = -f64::from(rise) / f64::from(radius);
            middle += falls[column] * f64::from(centre);
            size += falls[column].abs() * (f64::from(centre).abs() + f64::from(radius));
        }
        // The rises are rounded to `f32`: less than 2⁻²³ of each.
        middle - self.feasible.relaxed_minimum(domains, &falls) + bound.slack + 2e-7 * size
    }

    /// The permitted action at which the linear part of the bound is largest, rows and links considered, if it lies in
    /// the part.
    fn linear_best(&self, domains: &[Domain], rises: &[f32]) -> Option<Action> {
        let width = rises.len();
        let (mut low, mut high) = (vec![0.0f64; width], vec![0.0f64; width]);
        self.feasible.encoded_box(domains, &mut low, &mut high);
        let per_unit = |((rise, low), high): ((&f32, &f64), &f64)| -rise * (2.0 / (high - low).max(1e-6)) as f32;
        let gradient: Vec<f32> = rises.iter().zip(&low).zip(&high).map(per_unit).collect();
        let action = self.feasible.minimise(&gradient);
        domains.iter().zip(&action.moves).all(|(domain, &step)| domain.contains(step)).then_some(action)
    }

    /// Puts an action among the next to be tried, unless it cannot be better than what was found.
    fn try_action(&mut self, action: Option<Action>) {
        let Some(action) = action else { return };
        let cost = self.cost(&action);
        if !self.is_pointless(cost, f64::INFINITY) && !self.trials.iter().any(|(_, other)| *other == action) {
            self.trials.push((cost, action));
        }
    }
}

/// What a cheaper action would have to cost to be worth looking for.
fn worth(cost: f64, gap: f64) -> f64 {
    if gap > 0.0 { (cost * (1.0 - gap)).min(cost - FINE).max(0.0) } else { cost }
}

fn has_fixed_costs(feasible: &FeasibleSet, costs: &Costs) -> bool {
    use crate::feasible::Move;
    feasible.domains().iter().enumerate().any(|(lever, domain)| {
        matches!(domain, Domain::Range { .. })
            && costs.of_move(feasible, lever, &Move::By(f64::MIN_POSITIVE)) > f64::MIN_POSITIVE.sqrt()
    })
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Part {}

impl PartialOrd for Part {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Part {
    /// The greater part is taken first: the cheaper one when the aim is cost, then the one with the higher bound.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_cost = if self.by_cost { other.least.total_cmp(&self.least) } else { Ordering::Equal };
        by_cost.then(self.upper.total_cmp(&other.upper)).then(other.serial.cmp(&self.serial))
    }
}
