//! Parts of Δ(x): how they are split, and which of their actions are worth trying.

use super::bounds::Bound;
use crate::feasible::{Action, Domain, FeasibleSet, Move};
use crate::recourse::{Costs, Measure};

/// The smallest change there is: what lies between staying and moving.
const TINY: f64 = f64::MIN_POSITIVE;

/// Categories up to this many are split into single ones.
const SINGLES: usize = 8;

/// Shrinking a step towards a permitted action ends after this many halvings.
const HALVINGS: u32 = 12;

/// Splits a part at one lever. A range is split at 0 first, because costs have a kink there; where staying differs from
/// the smallest change (`broken`: links, fixed costs), staying becomes a part of its own. Empty when nothing can be split.
pub(super) fn split(domain: &Domain, broken: bool) -> Vec<Domain> {
    match domain {
        Domain::Range { lo, hi } => split_range(*lo, *hi, broken),
        &Domain::Grid { step, lo, hi } if lo < hi => {
            let last = if lo < 0 && hi > 0 { -1 } else { lo + (hi - lo) / 2 };
            vec![Domain::Grid { step, lo, hi: last }, Domain::Grid { step, lo: last + 1, hi }]
        }
        Domain::Grid { .. } => vec![],
        Domain::Choice { to, .. } if to.len() < 2 => vec![],
        Domain::Choice { from, to } => {
            let size = if to.len() <= SINGLES { 1 } else { to.len().div_ceil(2) };
            to.chunks(size).map(|to| Domain::Choice { from: *from, to: to.to_vec() }).collect()
        }
    }
}

fn split_range(lo: f64, hi: f64, broken: bool) -> Vec<Domain> {
    let range = |lo: f64, hi: f64| Domain::Range { lo, hi };
    let middle = lo + 0.5 * (hi - lo);
    match (lo, hi) {
        _ if lo.partial_cmp(&hi) != Some(std::cmp::Ordering::Less) => vec![],
        _ if broken && lo <= 0.0 && hi >= 0.0 => {
            let mut parts = vec![range(0.0, 0.0)];
            parts.extend((hi > 0.0).then(|| range(TINY, hi)));
            parts.extend((lo < 0.0).then(|| range(lo, -TINY)));
            parts
        }
        _ if lo < 0.0 && hi > 0.0 => vec![range(lo, 0.0), range(0.0, hi)],
        _ if lo < middle && middle < hi => vec![range(lo, middle), range(middle, hi)],
        _ => vec![],
    }
}

/// The share of a range that stands for the smallest change when an action is tried: [`TINY`] itself would change no
/// number that anybody could write down.
const TRIED: f64 = 1e-6;

/// The lowest change of a range that is worth trying.
fn lower(lo: f64, hi: f64) -> f64 {
    if lo == TINY { (TRIED * hi).max(lo) } else { lo }
}

/// The highest change of a range that is worth trying.
fn upper(lo: f64, hi: f64) -> f64 {
    if hi == -TINY { (TRIED * lo).min(hi) } else { hi }
}

/// How many actions a part holds, where they can be counted; rows are not considered.
pub(super) fn count(domains: &[Domain]) -> Option<u128> {
    domains.iter().try_fold(1u128, |count, domain| Some(count.saturating_mul(domain.size()?)))
}

/// Every combination of moves of a countable part.
pub(super) fn combinations(domains: &[Domain]) -> Vec<Action> {
    let mut all = vec![Action { moves: Vec::with_capacity(domains.len()) }];
    for domain in domains {
        let moves: Vec<Move> = match domain {
            Domain::Range { lo, .. } => vec![Move::By(*lo)],
            Domain::Grid { lo, hi, .. } => (*lo..=*hi).map(Move::Steps).collect(),
            Domain::Choice { to, .. } => to.iter().map(|&to| Move::To(to)).collect(),
        };
        all = all
            .iter()
            .flat_map(|action| {
                moves.iter().map(|&step| {
                    let mut moves = Vec::with_capacity(domains.len());
                    moves.extend_from_slice(&action.moves);
                    moves.push(step);
                    Action { moves }
                })
            })
            .collect();
    }
    all
}

/// What the bound of a part says about where to look in it.
pub(super) struct Guide<'a> {
    pub feasible: &'a FeasibleSet,
    pub domains: &'a [Domain],
    pub bound: Bound,
    /// For each column, see [`Bounds`](super::bounds::Bounds).
    pub rises: &'a [f32],
    pub spreads: &'a [f32],
}

/// A lever's way from the cheapest move of a part to the one that raises the linear part of the logit most.
struct Slide {
    lever: usize,
    to: Move,
    gain: f64,
    cost: f64,
}

impl Slide {
    /// By gain for cost, then in the order of the levers.
    fn better_first(&self, other: &Self) -> std::cmp::Ordering {
        (other.gain * self.cost).total_cmp(&(self.gain * other.cost)).then(self.lever.cmp(&other.lever))
    }
}

impl Guide<'_> {
    /// The lever worth splitting: the one that feeds the slack of the bound most.
    pub fn lever(&self, broken: bool) -> Option<usize> {
        let encoding = self.feasible.encoding();
        let mut own = vec![0.0f64; self.domains.len()];
        let mut total: f64 = self.spreads.iter().map(|&spread| f64::from(spread)).sum();
        for (score, lever) in own.iter_mut().zip(self.feasible.levers()) {
            *score = encoding.columns(lever.feature).map(|column| f64::from(self.spreads[column])).sum();
            total -= *score;
        }
        let mut best = None;
        for (lever, (domain, own)) in self.domains.iter().zip(own).enumerate() {
            if split(domain, broken).is_empty() {
                continue;
            }
            // What links move is fed by the levers too; which of them is not known here.
            let score = own + total.max(0.0) * self.share(lever);
            if best.is_none_or(|(_, before)| score > before) {
                best = Some((lever, score));
            }
        }
        best.map(|(lever, _)| lever)
    }

    /// How much of a lever's whole domain the part holds.
    fn share(&self, lever: usize) -> f64 {
        match (&self.domains[lever], &self.feasible.domains()[lever]) {
            (Domain::Range { lo, hi }, Domain::Range { lo: low, hi: high }) if high > low => (hi - lo) / (high - low),
            (Domain::Grid { lo, hi, .. }, Domain::Grid { lo: low, hi: high, .. }) if high > low => {
                (hi - lo) as f64 / (high - low) as f64
            }
            _ => 1.0,
        }
    }

    /// The action at which the linear part of the logit is largest.
    pub fn rising(&self) -> Action {
        let levers = self.feasible.levers().zip(self.domains);
        Action { moves: levers.map(|(lever, domain)| self.rising_move(lever.feature, domain)).collect() }
    }

    fn rising_move(&self, feature: usize, domain: &Domain) -> Move {
        let columns = self.feasible.encoding().columns(feature);
        let up = self.rises[columns.start] > 0.0;
        if self.rises[columns.start] == 0.0 && !matches!(domain, Domain::Choice { .. }) {
            return cheapest_move(domain);
        }
        match domain {
            Domain::Range { lo, hi } => Move::By(if up { upper(*lo, *hi) } else { lower(*lo, *hi) }),
            Domain::Grid { lo, hi, .. } => Move::Steps(if up { *hi } else { *lo }),
            Domain::Choice { from, to } => {
                let rise = |category: usize| self.rises[columns.start + category];
                let best = to.iter().copied().reduce(|best, other| if rise(other) > rise(best) { other } else { best });
                Move::To(best.unwrap_or(*from))
            }
        }
    }

    /// The cheapest action at which the linear part of the logit reaches `target`, where some action of the part does:
    /// levers move in the order of what they gain for what they cost.
    pub fn crossing(&self, costs: &Costs, target: f64) -> Option<Action> {
        let mut action = cheapest(self.domains);
        let (mut value, slides) = self.slides(costs, &action);
        for Slide { lever, to, gain, .. } in slides {
            if value >= target {
                break;
            }
            let share = ((target - value) / gain).clamp(0.0, 1.0);
            action.moves[lever] = along(action.moves[lever], to, share, true);
            value += gain;
        }
        (value >= target).then_some(action)
    }

    /// A bound on what it costs to reach `target` in this part: no action of it whose logit is that high costs less.
    ///
    /// The logit is at most its linear part plus the slack of the bound, so a linear program over shares of the levers'
    /// ways, which the order of gain for cost solves, is a bound where costs add up and no lever's cost lies below the
    /// straight line between the ends of its way: in the L1 measures. The norm of L2 is at least its projection on any
    /// direction; the one in which costs gain most is taken. Under the other measures nothing is known.
    pub fn cost_at_least(&self, costs: &Costs, target: f64) -> f64 {
        if !matches!(costs.measure(), Measure::L1 | Measure::MadL1 | Measure::L2) || !self.bound.slack.is_finite() {
            return 0.0;
        }
        let start = cheapest(self.domains);
        let (value, mut slides) = self.slides(costs, &start);
        let spent = |lever: usize| costs.of_move(self.feasible, lever, &start.moves[lever]);
        let spent: Vec<f64> = (0..start.moves.len()).map(spent).collect();
        let mut total: f64 = spent.iter().sum();
        if costs.measure() == Measure::L2 {
            let mut direction = vec![0.0; spent.len()];
            for slide in &slides {
                direction[slide.lever] = slide.gain / slide.cost.max(1e-9);
            }
            let norm = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                return 0.0;
            }
            total = direction.iter().zip(&spent).map(|(part, spent)| part / norm * spent).sum();
            slides.iter_mut().for_each(|slide| slide.cost *= direction[slide.lever] / norm);
            slides.sort_by(Slide::better_first);
        }
        let mut missing = target - value - self.foreign() - self.bound.slack * (1.0 + 1e-9) - 1e-9 * value.abs();
        for slide in slides {
            if missing <= 0.0 {
                break;
            }
            total += slide.cost * (missing / slide.gain).min(1.0);
            missing -= slide.gain;
        }
        total * (1.0 - 1e-9)
    }

    /// The linear part at the cheapest action of the part, and how levers raise it, the best value for its cost first.
    fn slides(&self, costs: &Costs, start: &Action) -> (f64, Vec<Slide>) {
        let mut value = 0.5 * self.bound.lower + 0.5 * self.bound.upper;
        let mut slides = Vec::with_capacity(self.domains.len());
        for (index, (lever, domain)) in self.feasible.levers().zip(self.domains).enumerate() {
            let (now, to) = (start.moves[index], self.rising_move(lever.feature, domain));
            let at_now = self.linear(lever.feature, domain, now);
            value += at_now;
            let gain = self.linear(lever.feature, domain, to) - at_now;
            if gain > 0.0 {
                let cost = |step: &Move| costs.of_move(self.feasible, index, step);
                slides.push(Slide { lever: index, to, gain, cost: (cost(&to) - cost(&now)).max(0.0) });
            }
        }
        slides.sort_by(Slide::better_first);
        (value, slides)
    }

    /// What columns that are no lever's own, such as those that links move, can add to the linear part.
    fn foreign(&self) -> f64 {
        if self.feasible.is_box() {
            return 0.0;
        }
        let size = |column: usize| f64::from(self.rises[column].abs());
        let own = self.feasible.levers().flat_map(|lever| self.feasible.encoding().columns(lever.feature));
        let (all, own): (f64, f64) = ((0..self.rises.len()).map(size).sum(), own.map(size).sum());
        // The difference of two sums may have lost a little.
        all - own + 1e-12 * all
    }

    /// What a lever adds to the linear part at one of its moves.
    fn linear(&self, feature: usize, domain: &Domain, step: Move) -> f64 {
        let columns = self.feasible.encoding().columns(feature);
        let rise = |column: usize| f64::from(self.rises[column]);
        let place = |x: f64, lo: f64, hi: f64| if hi > lo { (2.0 * x - lo - hi) / (hi - lo) } else { 0.0 };
        match (domain, step) {
            (Domain::Range { lo, hi }, Move::By(change)) => rise(columns.start) * place(change, *lo, *hi),
            (Domain::Grid { lo, hi, .. }, Move::Steps(steps)) => {
                rise(columns.start) * place(steps as f64, *lo as f64, *hi as f64)
            }
            (Domain::Choice { .. }, Move::To(category)) => columns
                .enumerate()
                .map(|(index, column)| if index == category { rise(column) } else { -rise(column) })
                .sum(),
            _ => 0.0,
        }
    }

    /// The action, or, where it is not permitted, the furthest permitted one on the way to it from the cheapest action
    /// of the part.
    pub fn permitted(&self, action: Action) -> Option<Action> {
        if self.feasible.is_box() || self.feasible.contains(&action) {
            return Some(action);
        }
        let mut start = cheapest(self.domains);
        for (from, to) in start.moves.iter_mut().zip(&action.moves) {
            if let Move::To(_) = to {
                *from = *to;
            }
        }
        if !self.feasible.contains(&start) {
            return None;
        }
        let (mut low, mut high, mut found) = (0.0, 1.0, start.clone());
        for _ in 0..HALVINGS {
            let share = 0.5 * (low + high);
            let steps = start.moves.iter().zip(&action.moves);
            let middle = Action { moves: steps.map(|(&from, &to)| along(from, to, share, false)).collect() };
            if self.feasible.contains(&middle) {
                (low, found) = (share, middle);
            } else {
                high = share;
            }
        }
        Some(found)
    }
}

/// The action nearest to staying: no action of the part costs less.
pub(super) fn cheapest(domains: &[Domain]) -> Action {
    Action { moves: domains.iter().map(cheapest_move).collect() }
}

fn cheapest_move(domain: &Domain) -> Move {
    match domain {
        Domain::Range { lo, hi } => Move::By(if *lo > 0.0 { lower(*lo, *hi) } else { upper(*lo, *hi).min(0.0) }),
        Domain::Grid { lo, hi, .. } => Move::Steps(if *lo > 0 { *lo } else { (*hi).min(0) }),
        Domain::Choice { from, to } if to.contains(from) => Move::To(*from),
        Domain::Choice { from, to } => Move::To(to.first().copied().unwrap_or(*from)),
    }
}

/// The move at a share of the way; whole steps are rounded onwards or backwards, a category changes at the end.
fn along(from: Move, to: Move, share: f64, onwards: bool) -> Move {
    match (from, to) {
        (Move::By(from), Move::By(to)) if share < 1.0 => {
            Move::By((from + share * (to - from)).clamp(from.min(to), from.max(to)))
        }
        (Move::Steps(from), Move::Steps(to)) => {
            let way = share * (to - from).abs() as f64;
            let steps = if onwards { way.ceil() } else { way.floor() } as i64;
            Move::Steps(from + (to - from).signum() * steps)
        }
        _ => to,
    }
}
