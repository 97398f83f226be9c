//! A lever's domain cut into pieces on which everything that a move sets off is affine in the move.
//!
//! Without links a domain is one piece. A link bends or breaks what follows from a move where it starts to apply: at 0,
//! or at the one value that sets it off. Rows, effects and linear objectives are then sums, over the levers, of an
//! affine function of the piece that the lever's move lies in.

use super::action::{Domain, Move};
use super::limits::land;
use super::space::{LinkRule, On, RowRule};

/// A part of a domain with what follows from a move `x` in it (the change, the number of steps, or 0 for a category).
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub span: Span,
    /// For each effect: base and slope of what the move adds to it.
    pub effects: Vec<Affine>,
    /// For each row: base and slope of what the move, with its effects, adds to the left-hand side.
    pub rows: Vec<Affine>,
}

/// `base + slope · x`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Affine {
    pub base: f64,
    pub slope: f64,
}

/// The moves of a piece.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Span {
    /// Changes in `[lo, hi]`; `open` when 0 is an end that belongs to staying and not to this piece.
    Real { lo: f64, hi: f64, open: bool },
    /// Numbers of steps in `[lo, hi]`.
    Whole { lo: i64, hi: i64 },
    /// One category.
    Category(usize),
}

/// A continuous change that sets off a once-in-all link has no smallest size; this share of the range stands for it.
const HAIR: f64 = 1e-6;

impl Affine {
    #[inline]
    pub fn at(&self, x: f64) -> f64 {
        self.base + self.slope * x
    }

    /// The smallest and the largest value for `x` in `[lo, hi]`.
    #[inline]
    pub fn over(&self, (lo, hi): (f64, f64)) -> (f64, f64) {
        let (a, b) = (self.at(lo), self.at(hi));
        (a.min(b), a.max(b))
    }
}

impl Span {
    /// The move at `x`.
    pub fn step(&self, x: f64) -> Move {
        match self {
            Span::Real { .. } => Move::By(x),
            Span::Whole { .. } => Move::Steps(x as i64),
            Span::Category(category) => Move::To(*category),
        }
    }

    /// The interval of `x` to choose from: without the end that belongs to staying.
    pub fn choices(&self) -> (f64, f64) {
        match *self {
            Span::Real { lo, hi, open: false } => (lo, hi),
            Span::Real { hi, open: true, .. } if hi > 0.0 => (hi * HAIR, hi),
            Span::Real { lo, open: true, .. } => (lo, lo * HAIR),
            Span::Whole { lo, hi } => (lo as f64, hi as f64),
            Span::Category(_) => (0.0, 0.0),
        }
    }

    /// The interval of `x` whose moves lie in a narrowed domain, ends included; `None` when there is none.
    #[inline]
    pub fn within(&self, domain: &Domain) -> Option<(f64, f64)> {
        let (lo, hi) = match (self, domain) {
            // Only 0 is left, and it belongs to staying: nothing that moving sets off may follow from it.
            (Span::Real { lo, hi, open: true }, Domain::Range { lo: low, hi: high })
                if lo.max(*low) == 0.0 && hi.min(*high) == 0.0 =>
            {
                return None;
            }
            (Span::Real { lo, hi, .. }, Domain::Range { lo: low, hi: high }) => (lo.max(*low), hi.min(*high)),
            (Span::Whole { lo, hi }, Domain::Grid { lo: low, hi: high, .. }) => {
                (*lo.max(low) as f64, *hi.min(high) as f64)
            }
            (Span::Category(category), Domain::Choice { to, .. }) if to.contains(category) => (0.0, 0.0),
            _ => return None,
        };
        (lo <= hi).then_some((lo, hi))
    }

    /// Whether a move lies in it. At an end that belongs to staying both answer yes; staying goes first.
    pub fn holds(&self, step: Move) -> bool {
        match (self, step) {
            (Span::Real { lo, hi, .. }, Move::By(change)) => *lo <= change && change <= *hi,
            (Span::Whole { lo, hi }, Move::Steps(steps)) => *lo <= steps && steps <= *hi,
            (Span::Category(own), Move::To(category)) => *own == category,
            _ => false,
        }
    }

    /// Whether the only move is to stay.
    pub fn is_stay(&self, domain: &Domain) -> bool {
        self.choices() == (0.0, 0.0) && domain.stays(self.step(0.0))
    }
}

impl LinkRule {
    /// What the move adds to the link's effect.
    pub fn forced(&self, domain: &Domain, value: f64, step: Move) -> f64 {
        let change = domain.change(step);
        let applies = match (self.on, step) {
            (_, step) if domain.stays(step) => false,
            (On::Any, _) => true,
            (On::Up, _) => change > 0.0,
            (On::Down, _) => change < 0.0,
            (On::Value(target), Move::To(category)) => category as f64 == target,
            (On::Value(target), Move::Steps(steps)) => Some(steps) == steps_to(domain, value, target),
            (On::Value(_), Move::By(_)) => false,
        };
        match (applies, self.each && !matches!(step, Move::To(_))) {
            (false, _) => 0.0,
            (true, true) => self.amount * change.abs(),
            (true, false) => self.amount,
        }
    }
}

/// The number of steps that lead from `value` to `target`, where steps do.
fn steps_to(domain: &Domain, value: f64, target: f64) -> Option<i64> {
    let Domain::Grid { step, .. } = domain else { return None };
    let steps = ((target - value) / step).round();
    let reached = land(value, *step, steps as i64);
    ((reached - target).abs() <= 1e-9 * target.abs().max(*step)).then_some(steps as i64)
}

/// Cuts a domain into pieces. `links` are those of this lever.
pub(super) fn cut(
    lever: usize,
    domain: &Domain,
    value: f64,
    links: &[LinkRule],
    effects: usize,
    rows: &[RowRule],
) -> Vec<Piece> {
    let spans = spans(domain, value, links);
    let piece = |span: Span| {
        let mut forced = vec![Affine::default(); effects];
        for link in links {
            let affine = along(&span, |step| link.forced(domain, value, step));
            forced[link.effect].base += affine.base;
            forced[link.effect].slope += affine.slope;
        }
        let own = along(&span, |step| domain.change(step));
        let row = |row: &RowRule| {
            let mut sum = Affine::default();
            let own = row.levers.iter().filter(|term| term.0 == lever).map(|term| (own, term.1));
            let caused = row.effects.iter().map(|term| (forced[term.0], term.1));
            for (affine, coefficient) in own.chain(caused) {
                sum.base += coefficient * affine.base;
                sum.slope += coefficient * affine.slope;
            }
            sum
        };
        Piece { span, rows: rows.iter().map(row).collect(), effects: forced }
    };
    spans.into_iter().map(piece).collect()
}

/// The affine function that agrees with `f` on a span: `f` is affine there, so two points tell it.
fn along(span: &Span, f: impl Fn(Move) -> f64) -> Affine {
    let (lo, hi) = span.choices();
    let slope = match span {
        // Measured at the far end from 0, where nothing cancels.
        Span::Real { .. } if hi > lo => {
            let (near, far) = if hi.abs() >= lo.abs() { (lo, hi) } else { (hi, lo) };
            (f(Move::By(far)) - f(Move::By(near))) / (far - near)
        }
        Span::Whole { lo, hi } if hi > lo => f(Move::Steps(lo + 1)) - f(Move::Steps(*lo)),
        _ => 0.0,
    };
    let far = if hi.abs() >= lo.abs() { hi } else { lo };
    Affine { base: f(span.step(far)) - slope * far, slope }
}

fn spans(domain: &Domain, value: f64, links: &[LinkRule]) -> Vec<Span> {
    match domain {
        Domain::Choice { to, .. } => to.iter().map(|&category| Span::Category(category)).collect(),
        Domain::Range { lo, hi } if links.is_empty() => vec![Span::Real { lo: *lo, hi: *hi, open: false }],
        Domain::Grid { lo, hi, .. } if links.is_empty() => vec![Span::Whole { lo: *lo, hi: *hi }],
        Domain::Range { lo, hi } => {
            let open = links.iter().any(|link| !link.each);
            let stay = Span::Real { lo: 0.0, hi: 0.0, open: false };
            let down = (*lo < 0.0).then_some(Span::Real { lo: *lo, hi: 0.0, open });
            let up = (*hi > 0.0).then_some(Span::Real { lo: 0.0, hi: *hi, open });
            down.into_iter().chain([stay]).chain(up).collect()
        }
        Domain::Grid { lo, hi, .. } => {
            let becomes = links.iter().filter_map(|link| match link.on {
                On::Value(target) => steps_to(domain, value, target),
                _ => None,
            });
            let mut breaks: Vec<i64> = becomes.chain([0]).filter(|steps| (*lo..=*hi).contains(steps)).collect();
            breaks.sort_unstable();
            breaks.dedup();
            let mut spans = Vec::new();
            let mut next = *lo;
            for at in breaks {
                if next < at {
                    spans.push(Span::Whole { lo: next, hi: at - 1 });
                }
                spans.push(Span::Whole { lo: at, hi: at });
                next = at + 1;
            }
            if next <= *hi {
                spans.push(Span::Whole { lo: next, hi: *hi });
            }
            spans
        }
    }
}
