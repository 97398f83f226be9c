//! δ*: the permitted change that brings a person's score nearest to a yes, to first order.
//!
//! ```text
//! δ* = argmin over δ ∈ Δ(x) of  ∇ₓℓ(g(x), 1)ᵀ δ  =  argmax over δ ∈ Δ(x) of  ∇ₓg(x)ᵀ δ
//! ```
//!
//! The two are the same because ∇ℓ = (σ(g) − 1)·∇g, a negative multiple; the second keeps its sign where σ(g) − 1
//! would round to 0. With `steps = k` above 1 the search goes on from there by Frank and Wolfe: linearise at x + δ, go
//! 2/(t + 2) of the way to the new optimum, and keep the best point met. It never does worse than one step.

use super::params::{Inner, InnerObjective};
use crate::{
    dataset::People,
    feasible::{ActionSpace, Domain, FeasibleSet, Reach, SpaceError},
};

/// What each row's person may change.
#[derive(Debug, Clone)]
pub enum InnerProblem {
    /// Every Δ(x) is a box: the optimum is a corner, in closed form.
    Box(Boxes),
    /// Rows, links or choices between categories: one feasible set a person, asked for its optimum.
    General(Vec<FeasibleSet>),
}

/// A box for each row: where each movable column may lie, in encoded units. The optimum is a corner.
#[derive(Debug, Clone, PartialEq)]
pub struct Boxes {
    levers: Vec<BoxLever>,
    /// `rows × levers`, row after row.
    lo: Vec<f32>,
    hi: Vec<f32>,
}

/// A column that people can move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxLever {
    /// The column of the point.
    pub column: usize,
    /// Changes are whole multiples of this (encoded units), where given.
    pub step: Option<f32>,
}

impl Boxes {
    /// Boxes of `rows × levers` lower and upper positions. A position, not a change: `lo ≤ x ≤ hi` in each column.
    ///
    /// `None` where the lengths differ or a bound is NaN or the wrong way round.
    pub fn new(levers: Vec<BoxLever>, lo: Vec<f32>, hi: Vec<f32>) -> Option<Boxes> {
        let whole = levers.is_empty() && lo.is_empty() || !levers.is_empty() && lo.len().is_multiple_of(levers.len());
        let fits = whole && lo.len() == hi.len() && lo.iter().zip(&hi).all(|(lo, hi)| lo <= hi);
        fits.then_some(Boxes { levers, lo, hi })
    }

    /// The columns that people can move.
    pub fn levers(&self) -> &[BoxLever] {
        &self.levers
    }

    /// The bounds of a row, lever by lever.
    fn bounds(&self, row: usize) -> impl Iterator<Item = (&BoxLever, f32, f32)> {
        let span = row * self.levers.len()..(row + 1) * self.levers.len();
        let ends = self.lo[span.clone()].iter().zip(&self.hi[span]);
        self.levers.iter().zip(ends).map(|(lever, (lo, hi))| (lever, *lo, *hi))
    }
}

impl InnerProblem {
    /// What each of these people may change.
    pub fn new(space: &ActionSpace, people: &People) -> Result<InnerProblem, SpaceError> {
        let own = |row: usize| space.feasible(people.row(row), people.overrides.get(row));
        if !space.is_box() {
            return Ok(InnerProblem::General((0..people.len()).map(own).collect::<Result<_, _>>()?));
        }
        let encoding = space.encoding();
        let levers = space.levers().iter().map(|rule| {
            let step = match &rule.reach {
                Reach::Number(limits) => limits.step.map(|step| (step / encoding.deviation(rule.feature)) as f32),
                Reach::Category(_) => None,
            };
            BoxLever { column: rule.column, step }
        });
        let levers: Vec<BoxLever> = levers.collect();
        let mut lo = vec![0.0; people.len() * levers.len()];
        let mut hi = lo.clone();
        if levers.is_empty() {
            return Ok(InnerProblem::Box(Boxes { levers, lo, hi }));
        }
        let ends = lo.chunks_exact_mut(levers.len()).zip(hi.chunks_exact_mut(levers.len()));
        for (row, (lo, hi)) in ends.enumerate() {
            if people.overrides.is_empty() {
                space.bounds(people.row(row), lo, hi);
                continue;
            }
            // A linear function that rises in every column is least where every lever is lowest, and the other way round.
            let feasible = own(row)?;
            for (slope, ends) in [(1.0, &mut *lo), (-1.0, &mut *hi)] {
                let mut point = vec![0.0; encoding.width()];
                feasible.encode(&feasible.minimise(&vec![slope; encoding.width()]), &mut point);
                ends.iter_mut().zip(&levers).for_each(|(end, lever)| *end = point[lever.column]);
            }
        }
        Ok(InnerProblem::Box(Boxes { levers, lo, hi }))
    }

    /// Writes x + δ* into `moved`, given the point x of a row and the gradient of its logit.
    ///
    /// For a box: each column goes up where the logit grows with it, down where it falls, and stays where the gradient
    /// is 0 (the other way round for [`InnerObjective::AsReleased`]).
    pub fn respond(&self, row: usize, objective: InnerObjective, point: &[f32], gradient: &[f32], moved: &mut [f32]) {
        moved.copy_from_slice(point);
        match self {
            InnerProblem::Box(boxes) => {
                for (lever, lo, hi) in boxes.bounds(row) {
                    let rise = objective.sign() * gradient[lever.column];
                    if rise > 0.0 {
                        moved[lever.column] = hi;
                    } else if rise < 0.0 {
                        moved[lever.column] = lo;
                    }
                }
            }
            InnerProblem::General(sets) => {
                // The oracle lowers a linear function; δ* raises the logit.
                let fall: Vec<f32> = gradient.iter().map(|slope| -objective.sign() * slope).collect();
                sets[row].encode(&sets[row].minimise(&fall), moved);
            }
        }
    }

    /// Moves a point between permitted ones to a permitted one near it.
    fn settle(&self, row: usize, point: &[f32], moved: &mut [f32]) {
        match self {
            InnerProblem::Box(boxes) => {
                for (lever, lo, hi) in boxes.bounds(row) {
                    let (from, to) = (point[lever.column], &mut moved[lever.column]);
                    if let Some(step) = lever.step {
                        *to = from + ((*to - from) / step).round() * step;
                    }
                    *to = to.clamp(lo, hi);
                }
            }
            InnerProblem::General(sets) => {
                let nearest = sets[row].project(moved);
                sets[row].encode(&nearest, moved);
            }
        }
    }

    /// Adds `draw()` to each numeric column of a point that its person can move.
    pub(super) fn disturb(&self, row: usize, moved: &mut [f32], mut draw: impl FnMut() -> f32) {
        match self {
            InnerProblem::Box(boxes) => boxes.levers.iter().for_each(|lever| moved[lever.column] += draw()),
            InnerProblem::General(sets) => {
                let encoding = sets[row].encoding();
                let numeric = sets[row].levers().filter(|lever| !matches!(lever.domain, Domain::Choice { .. }));
                numeric.for_each(|lever| moved[encoding.columns(lever.feature).start] += draw());
            }
        }
    }

    /// Whether this describes so many rows of points of this width.
    pub(super) fn fits(&self, rows: usize, width: usize) -> bool {
        match self {
            InnerProblem::Box(boxes) => {
                boxes.lo.len() == rows * boxes.levers.len() && boxes.levers.iter().all(|lever| lever.column < width)
            }
            InnerProblem::General(sets) => sets.len() == rows && sets.iter().all(|set| set.encoding().width() == width),
        }
    }
}

impl InnerObjective {
    /// 1 where δ* raises the logit, −1 where it lowers it.
    fn sign(self) -> f32 {
        match self {
            InnerObjective::AsWritten => 1.0,
            InnerObjective::AsReleased => -1.0,
        }
    }
}

/// Writes the logits of points and their gradients.
type Score<'a> = dyn FnMut(&[f32], &mut [f32], &mut [f32]) + 'a;

/// The buffers of a search over up to `capacity` rows.
#[derive(Debug)]
pub(super) struct Search {
    inner: Inner,
    width: usize,
    /// The gradient at the last point of each row: the caller writes that at x before the search.
    pub(super) gradients: Vec<f32>,
    /// x + δ*.
    pub(super) moved: Vec<f32>,
    at: Vec<f32>,
    corner: Vec<f32>,
    logits: Vec<f32>,
    best: Vec<f32>,
}

impl Search {
    pub(super) fn new(inner: Inner, width: usize, capacity: usize) -> Search {
        let several = if inner.steps > 1 { capacity } else { 0 };
        Search {
            inner,
            width,
            gradients: vec![0.0; capacity * width],
            moved: vec![0.0; capacity * width],
            at: vec![0.0; several * width],
            corner: vec![0.0; width],
            logits: vec![0.0; several],
            best: vec![0.0; several],
        }
    }

    /// Writes x + δ* of each of `rows` into [`Search::moved`]. `points` holds their x, row after row; `score` writes
    /// logits and their gradients at other points.
    pub(super) fn run(&mut self, problem: &InnerProblem, rows: &[u32], points: &[f32], score: &mut Score<'_>) {
        let (width, objective) = (self.width, self.inner.objective);
        let span = rows.len() * width;
        let each = || rows.iter().map(|&row| row as usize).zip(points.chunks_exact(width));
        let gradients = self.gradients.chunks_exact(width);
        for ((row, point), (gradient, moved)) in each().zip(gradients.zip(self.moved.chunks_exact_mut(width))) {
            problem.respond(row, objective, point, gradient, moved);
        }
        if self.inner.steps < 2 {
            return;
        }
        self.at[..span].copy_from_slice(&self.moved[..span]);
        self.best.fill(f32::NEG_INFINITY);
        for step in 1..=self.inner.steps {
            score(&self.at[..span], &mut self.logits[..rows.len()], &mut self.gradients[..span]);
            let share = 2.0 / (step as f32 + 2.0);
            for (index, (row, point)) in each().enumerate() {
                let here = index * width..(index + 1) * width;
                let at = &mut self.at[here.clone()];
                let reached = objective.sign() * self.logits[index];
                if reached > self.best[index] {
                    self.best[index] = reached;
                    self.moved[here.clone()].copy_from_slice(at);
                }
                problem.respond(row, objective, point, &self.gradients[here], &mut self.corner);
                at.iter_mut().zip(&self.corner).for_each(|(at, corner)| *at += share * (corner - *at));
                problem.settle(row, point, at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::{
        dataset::{Dataset, Feature, FeatureKind, Schema},
        encoding::Encoding,
        feasible::Lattice,
        policy::{Actionability, Amount, Overrides, Policy},
    };

    proptest! {
        /// Whatever the score does, each step of the search ends at a permitted point.
        #[test]
        fn every_point_of_the_search_is_permitted(
            rows in prop::collection::vec((-2.0f32..2.0, 0.0f32..2.0, 0u8..9, 0u8..9), 1..6),
            steps in 1usize..7,
            slopes in prop::collection::vec(-1.0f32..1.0, 3 * 6 * 8),
        ) {
            let levers = vec![BoxLever { column: 0, step: None }, BoxLever { column: 2, step: Some(0.25) }];
            let points: Vec<f32> = rows.iter().flat_map(|(x, ..)| [*x, 7.0, -*x]).collect();
            let quarter = |count: &u8| f32::from(*count) * 0.25;
            let lo = rows.iter().flat_map(|(x, _, down, _)| [*x, -*x - quarter(down)]).collect();
            let hi = rows.iter().flat_map(|(x, up, _, to)| [*x + up, -*x + quarter(to)]).collect();
            let problem = InnerProblem::Box(Boxes::new(levers, lo, hi).unwrap());
            let mut search = Search::new(Inner { steps, ..Inner::default() }, 3, rows.len());
            let span = points.len();
            search.gradients.copy_from_slice(&slopes[..span]);
            let mut calls = 0;
            let mut score = |at: &[f32], logits: &mut [f32], gradients: &mut [f32]| {
                calls += 1;
                for ((x, up, down, to), at) in rows.iter().zip(at.chunks(3)) {
                    assert!(*x <= at[0] && at[0] <= x + up && at[1] == 7.0);
                    let moved = (at[2] + x) / 0.25;
                    assert!((moved - moved.round()).abs() < 1e-4);
                    assert!(-f32::from(*down) <= moved + 1e-4 && moved <= f32::from(*to) + 1e-4);
                }
                logits.copy_from_slice(&slopes[calls..calls + logits.len()]);
                gradients.copy_from_slice(&slopes[calls * 3..calls * 3 + span]);
            };
            let order: Vec<u32> = (0..rows.len() as u32).collect();
            search.run(&problem, &order, &points, &mut score);
            prop_assert_eq!(calls, if steps > 1 { steps } else { 0 });
        }
    }

    #[test]
    fn boxes_that_make_no_sense_are_refused() {
        let lever = || vec![BoxLever { column: 0, step: None }];
        assert!(Boxes::new(lever(), vec![0.0, 1.0], vec![0.0, 1.0]).is_some());
        assert!(Boxes::new(lever(), vec![1.0], vec![0.0]).is_none());
        assert!(Boxes::new(lever(), vec![f32::NAN], vec![0.0]).is_none());
        assert!(Boxes::new(lever(), vec![0.0], vec![0.0, 0.0]).is_none());
        assert!(Boxes::new(Vec::new(), Vec::new(), Vec::new()).is_some());
    }

    /// Two levers, one of whole steps and one of two ways, and people of whom some have limits of their own.
    fn people(rows: &[(u8, f64)], narrowed: bool) -> (Policy, People) {
        let policy = Policy::parse(
            "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n\
             [features.hours]\nkind = \"integer\"\nchange = \"increase\"\nmax_change = 7\nmax = 60\n\
             [features.debt]\nkind = \"number\"\nchange = \"any\"\nmax_change = 2.5\nmin = 0\n",
            "p",
        )
        .unwrap();
        let feature =
            |column: &str, kind| Feature { column: column.into(), label: column.into(), unit: None, kind, fill: None };
        let features = vec![feature("hours", FeatureKind::Integer), feature("debt", FeatureKind::Number)];
        let own = Actionability { max_change: Some(Amount::Units(1.0)), ..policy.features[1].action.clone() };
        let overrides = rows.iter().map(|_| Overrides { features: vec![(1, own.clone())] });
        let people = People {
            schema: Arc::new(Schema { features }),
            values: rows.iter().flat_map(|(hours, debt)| [f64::from(*hours), *debt]).collect(),
            source_rows: (1..=rows.len()).collect(),
            overrides: if narrowed { overrides.collect() } else { Vec::new() },
        };
        (policy, people)
    }

    proptest! {
        /// The closed form over boxes is the oracle of each person's own feasible set, to the bit.
        #[test]
        fn the_box_and_the_feasible_set_give_one_change(
            rows in prop::collection::vec((0u8..70, -1.0f64..9.0), 2..9),
            narrowed: bool,
            slopes in prop::collection::vec(prop_oneof![Just(0.0f32), -1.0f32..1.0], 2),
        ) {
            let (policy, people) = people(&rows, narrowed);
            let labels = vec![true; people.len()];
            let encoding = Encoding::fit(&Dataset { people: people.clone(), labels, groups: vec![] });
            let space = ActionSpace::new(&policy, &encoding, Lattice::AsPolicy).unwrap();
            let closed = InnerProblem::new(&space, &people).unwrap();
            prop_assert!(matches!(closed, InnerProblem::Box(_)));
            let own = |row: usize| space.feasible(people.row(row), people.overrides.get(row)).unwrap();
            let general = InnerProblem::General((0..people.len()).map(own).collect());
            let points = encoding.encode_all(&people);
            for (row, point) in points.chunks(2).enumerate() {
                for objective in [InnerObjective::AsWritten, InnerObjective::AsReleased] {
                    let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
                    closed.respond(row, objective, point, &slopes, &mut a);
                    general.respond(row, objective, point, &slopes, &mut b);
                    prop_assert_eq!(a, b);
                }
            }
        }
    }
}
