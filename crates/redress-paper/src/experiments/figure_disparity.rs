//! Appendix B.3: do whites get recourse more often than others, and does training for recourse change that?

use redress::audit::metrics;
use redress_report::chart::{Axis, BarChart, Panels};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    method::Method,
    outcome::{Comparison, Outcome},
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "figure-disparity",
    title: "Appendix B.3: recourse of whites less that of others, over λ",
    effort: 60.0,
    both_readings: false,
    models,
    run,
};

/// The paper's data sets with race.
const DATA: [Name; 3] = [Name::Adult, Name::Compas, Name::Bail];

/// The precision at which groups are compared.
const PRECISION: f64 = 0.65;

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(Sample::each(DATA, settings.seeds(3)), &settings.lambdas(), settings)
}

/// *Recourse all* of whites less that of others, at the lowest threshold with the precision on validation rows.
fn disparity(lab: &Lab, model: &Appraised) -> Result<f64, PaperError> {
    let labels = &model.study.validation.examples.labels;
    let threshold = metrics::at_precision(&model.validation.logits, labels, PRECISION);
    let found = lab.found(model, Method::Gradient, threshold)?;
    let people = &model.study.test.dataset.people;
    let white = model.recipe.sample.data.white();
    let Some(feature) = people.schema.features.iter().position(|feature| Some(feature.column.as_str()) == white) else {
        return Ok(f64::NAN);
    };
    let mut counted = [(0usize, 0usize); 2];
    let mut reached = vec![false; found.rates.people];
    found.ways.iter().for_each(|way| reached[way.row] = true);
    for (row, &reached) in reached.iter().enumerate() {
        let group = &mut counted[usize::from(people.row(row)[feature] == 1.0)];
        group.0 += usize::from(reached || threshold.approves(model.test.logits[row]));
        group.1 += 1;
    }
    let rate = |(reached, people): (usize, usize)| reached as f64 / people as f64;
    Ok(rate(counted[1]) - rate(counted[0]))
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let lambdas = settings.lambdas();
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean and standard error over {} random splits", settings.seeds(3).count()));
    outcome.setup("threshold", "the lowest with precision 0.65 on validation rows");
    outcome.setup("recourse", "gradient descent, as in the paper; above 0: whites get recourse more often");
    let mut chart = Panels::new(EXPERIMENT.title, 3);
    for data in lab.present(&DATA) {
        let mut bars = Vec::new();
        for &lambda in &lambdas {
            let recipes = settings.seeds(3).map(|seed| Recipe::paper(Sample::paper(data, seed), lambda, settings));
            let models = lab.models(recipes)?;
            let ours = Measured::of(models.iter().map(|model| disparity(lab, model)).collect::<Result<Vec<_>, _>>()?);
            outcome.comparisons.push(Comparison {
                data: data.as_str().to_owned(),
                model: format!("λ = {lambda}"),
                quantity: "recourse all, whites less others".to_owned(),
                ours,
                printed: None,
                note: "the paper prints bars without numbers".to_owned(),
            });
            bars.push(ours);
        }
        let trained = &bars[1..];
        let mean = trained.iter().map(|bar| bar.mean).sum::<f64>() / trained.len().max(1) as f64;
        outcome.finding(format!(
            "{}: the gap between whites and others is {:+.3} without training for recourse and {mean:+.3} with it, on average over λ > 0.",
            data.as_str(),
            bars[0].mean,
        ));
        let plot = BarChart::new(
            data.as_str(),
            Axis::new("whites less others"),
            lambdas.iter().map(|lambda| lambda.to_string()),
        )
        .series("difference in recourse all, by λ", bars.iter().map(Measured::estimate));
        chart = chart.plot(plot);
    }
    outcome.charts.push(chart.into());
    Ok(outcome)
}
