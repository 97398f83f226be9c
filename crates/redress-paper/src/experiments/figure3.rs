//! Figure 3: recourse under a structural causal model, over λ (german).

use std::sync::Arc;

use rayon::prelude::*;
use redress::recourse::{
    Case, Costs, Measure, Solver,
    causal::{Causal, StructuralModel},
};
use redress_report::chart::{Axis, LineChart, Point, Series};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    method::{Method, feasible_sets},
    outcome::{Comparison, Outcome},
    recipe::{Recipe, Sample},
    settings::{Reading, Settings},
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "figure3",
    title: "Figure 3: causal recourse on german over λ",
    effort: 60.0,
    both_readings: false,
    models,
    run,
};

/// The splits of the paper's figure.
const SPLITS: u64 = 20;

/// German with the label as released, as in the paper, and as it should be.
fn samples(seed: u64) -> [Sample; 2] {
    let released = Sample::paper(Name::German, seed);
    [released, released.label_of_policy()]
}

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(settings.seeds(SPLITS).flat_map(samples), &settings.lambdas(), settings)
}

/// The share of denied test people with a way to a yes whose consequences follow the causal model. As released, no
/// consequence follows: the search is then over the person's own changes alone.
fn recourse_neg(lab: &Lab, model: &Appraised) -> Result<f64, PaperError> {
    if lab.settings.reading == Reading::AsReleased {
        return Ok(lab.found(model, Method::Gradient, model.threshold)?.rates.neg());
    }
    lab.keep_going()?;
    let study = &model.study;
    let causes = StructuralModel::fit(&study.policy, &study.train.dataset)
        .map_err(|error| PaperError::step("fitting the causal model", error))?;
    let solver = Causal { causes: Arc::new(causes) };
    let rows: Vec<usize> = (0..model.test.logits.len().min(lab.settings.people()))
        .filter(|&row| !model.threshold.approves(model.test.logits[row]))
        .collect();
    let costs = Costs::new(&study.policy, study.space.encoding(), Measure::L1);
    let sets = feasible_sets(study, &study.test, &rows)?;
    let budget = lab.budget();
    let reached = sets.par_iter().filter(|feasible| {
        let case = Case::new(&model.model, feasible, model.threshold, &costs);
        solver.solve(&case, &budget).reaches_yes()
    });
    let reached = reached.count();
    lab.keep_going()?;
    Ok(if rows.is_empty() { 1.0 } else { reached as f64 / rows.len() as f64 })
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let lambdas = settings.lambdas();
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean and standard error over {} random splits", settings.seeds(SPLITS).count()));
    outcome.setup("causes", match settings.reading {
        Reading::AsWritten => {
            "sex → amount ← age, amount → duration; linear, fitted on training rows; an action moves its descendants, whose noise stays"
        }
        Reading::AsReleased => {
            "as released no action moves its descendants; its mistaken row numbers and its one-sided check of δ_max are not repeated"
        }
    });
    let axis = Axis::new("recourse neg").at_least(0.0, 1.0);
    let mut chart = LineChart::new(EXPERIMENT.title, Axis::new("λ"), axis);
    let names = ["bad credit is the yes (released label)", "good credit is the yes"];
    for (index, name) in names.into_iter().enumerate() {
        let mut curve = Vec::new();
        for &lambda in &lambdas {
            let recipes = settings.seeds(SPLITS).map(|seed| Recipe::paper(samples(seed)[index], lambda, settings));
            let rates =
                lab.models(recipes)?.iter().map(|model| recourse_neg(lab, model)).collect::<Result<Vec<_>, _>>()?;
            let ours = Measured::of(rates);
            outcome.comparisons.push(Comparison {
                data: "german".to_owned(),
                model: format!("λ = {lambda}"),
                quantity: format!("causal recourse neg, {name}"),
                ours,
                printed: None,
                note: "the paper prints a curve without numbers".to_owned(),
            });
            curve.push(ours);
        }
        let (first, last) = (curve[0].mean, curve[curve.len() - 1].mean);
        outcome.finding(format!(
            "{name}: causal recourse neg goes from {first:.3} at λ = {} to {last:.3} at λ = {} (the paper: it increases with λ).",
            lambdas[0],
            lambdas[lambdas.len() - 1],
        ));
        let points = lambdas.iter().zip(&curve).map(|(&lambda, measured)| Point::new(lambda, measured.estimate()));
        chart = chart.series(Series::new(name, points));
    }
    outcome.charts.push(chart.into());
    Ok(outcome)
}
