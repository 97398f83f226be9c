//! Recourse for a whole test set, by any of the library's solvers.

use rayon::prelude::*;

use redress::{
    audit::rates::RecourseRates,
    calibrate::Threshold,
    feasible::FeasibleSet,
    pipeline::{Part, Study},
    recourse::{
        Budget, Case, Costs, Measure, Solver, Verdict, exact::Exact, gradient::Gradient, linear::LinearProgram, lp,
    },
};

use crate::{error::PaperError, lab::Appraised, printed::Algorithm, settings::Reading};

/// How recourse is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// LIME and an integer program.
    Linear,
    /// Gradient descent on the input.
    Gradient,
    /// One linear program: "adversarial training" in the paper.
    Lp,
    /// Branch and bound: finds a way wherever there is one.
    Exact,
}

impl Method {
    /// All of them, the paper's first.
    pub const ALL: [Method; 4] = [Method::Linear, Method::Gradient, Method::Lp, Method::Exact];

    /// The solver's name.
    pub fn title(self) -> &'static str {
        match self {
            Method::Linear => "linear",
            Method::Gradient => "gradient",
            Method::Lp => "lp",
            Method::Exact => "exact",
        }
    }

    /// The paper's algorithm, where it is one of them.
    pub fn printed(self) -> Option<Algorithm> {
        match self {
            Method::Linear => Some(Algorithm::Linear),
            Method::Gradient => Some(Algorithm::Gradient),
            Method::Lp => Some(Algorithm::Lp),
            Method::Exact => None,
        }
    }
}

/// Where a person who was turned down can get to.
#[derive(Debug, Clone, PartialEq)]
pub struct Way {
    /// The row of the test set.
    pub row: usize,
    /// The person afterwards, in original units.
    pub values: Vec<f64>,
}

/// What a method found on a test set.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// How many were approved and how many found a way.
    pub rates: RecourseRates,
    /// The ways.
    pub ways: Vec<Way>,
    /// People of whom the budget left it open.
    pub open: usize,
}

/// Looks for recourse for those of the first `rows` test rows that are turned down at a threshold.
pub fn find(
    model: &Appraised,
    method: Method,
    threshold: Threshold,
    rows: usize,
    reading: Reading,
    budget: &Budget,
) -> Result<Found, PaperError> {
    let (denied, approved): (Vec<usize>, Vec<usize>) =
        (0..rows).partition(|&row| !threshold.approves(model.test.logits[row]));
    let (ways, open) = search(model, &model.study.test, method, threshold, &denied, reading, budget)?;
    let rates = RecourseRates { approved: approved.len(), rescued: ways.len(), people: rows };
    Ok(Found { rates, ways, open })
}

/// Looks for recourse for these rows of a part, all of them turned down. Also counts of whom the budget left it open.
pub fn search(
    model: &Appraised,
    part: &Part,
    method: Method,
    threshold: Threshold,
    rows: &[usize],
    reading: Reading,
    budget: &Budget,
) -> Result<(Vec<Way>, usize), PaperError> {
    match method {
        Method::Lp => Ok((step(model, part, threshold, rows, reading)?, 0)),
        _ => solve(model, part, method, threshold, rows, budget),
    }
}

/// The one-step program of this reading: those of `rows` whom its step gets a yes.
fn step(
    model: &Appraised,
    part: &Part,
    threshold: Threshold,
    rows: &[usize],
    reading: Reading,
) -> Result<Vec<Way>, PaperError> {
    let study = &model.study;
    let people = part.dataset.people.subset(rows);
    let encoding = study.space.encoding();
    let points = encoding.encode_all(&people);
    let stepped = lp::step_all(&model.model, &study.space, &people, &points, reading.objective())
        .map_err(|error| PaperError::step("computing recourse", error))?;
    let mut ways = Vec::new();
    for (index, (&row, &logit)) in rows.iter().zip(&stepped.after).enumerate() {
        if threshold.approves(logit) {
            let point = &stepped.points[index * encoding.width()..(index + 1) * encoding.width()];
            ways.push(Way { row, values: values_at(study, people.row(index), point) });
        }
    }
    Ok(ways)
}

/// The person at a point: only columns that people can change may differ, the rest stays as it was.
fn values_at(study: &Study, person: &[f64], point: &[f32]) -> Vec<f64> {
    let encoding = study.space.encoding();
    let mut values = person.to_vec();
    for lever in study.space.levers() {
        let statistics = encoding.statistics(lever.feature);
        values[lever.feature] = statistics.mean + f64::from(point[lever.column]) * encoding.deviation(lever.feature);
    }
    values
}

/// Asks a solver about each of `rows`.
fn solve(
    model: &Appraised,
    part: &Part,
    method: Method,
    threshold: Threshold,
    rows: &[usize],
    budget: &Budget,
) -> Result<(Vec<Way>, usize), PaperError> {
    let study = &model.study;
    let costs = Costs::new(&study.policy, study.space.encoding(), Measure::L1);
    let sets = feasible_sets(study, part, rows)?;
    let cases: Vec<Case> = sets.iter().map(|feasible| Case::new(&model.model, feasible, threshold, &costs)).collect();
    let each = |solver: &dyn Solver| cases.par_iter().map(|case| solver.solve(case, budget)).collect::<Vec<_>>();
    let verdicts = match method {
        Method::Gradient => Gradient::default().solve_all(&cases, budget),
        Method::Linear => each(&LinearProgram::default()),
        Method::Exact => Exact { cost_gap: 1e3, ..Exact::default() }.solve_all(&cases, budget),
        Method::Lp => each(&lp::Lp::default()),
    };
    let open = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Unknown { .. })).count();
    let ways = rows
        .iter()
        .zip(&verdicts)
        .filter_map(|(&row, verdict)| verdict.plan().map(|plan| Way { row, values: plan.values().to_vec() }));
    Ok((ways.collect(), open))
}

/// Δ(x) of each of these rows.
pub fn feasible_sets(study: &Study, part: &Part, rows: &[usize]) -> Result<Vec<FeasibleSet>, PaperError> {
    let people = &part.dataset.people;
    rows.par_iter()
        .map(|&row| study.space.feasible(people.row(row), None))
        .collect::<Result<_, _>>()
        .map_err(|error| PaperError::step("reading what people may change", error))
}
