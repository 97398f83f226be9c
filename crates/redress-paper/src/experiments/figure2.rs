//! Figure 2: how performance and recourse vary with the threshold θ₀.

use redress::{
    audit::{metrics, rates::RecourseRates},
    calibrate::Threshold,
};
use redress_report::chart::{Axis, LineChart, Panels, Reference, Series};
use redress_report::{Cell, Column, Table};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    outcome::Outcome,
    printed::Side,
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "figure2",
    title: "Figure 2: performance and recourse over the threshold",
    effort: 1.0,
    both_readings: false,
    models,
    run,
};

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(Sample::each(Name::ALL, 1..=1), &Side::lambdas(), settings)
}

/// F1, accuracy, recourse neg and recourse all at one threshold.
fn figures(model: &Appraised, probability: f64) -> [f64; 4] {
    let threshold = Threshold::from_probability(probability).unwrap_or(Threshold::ALWAYS);
    let performance = metrics::performance(&model.test.logits, &model.study.test.examples.labels, threshold);
    let rates = RecourseRates::count(&model.test.logits, &model.test.moved, threshold);
    [performance.f1, performance.accuracy, rates.neg(), rates.all()]
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, lab.settings.reading);
    outcome.setup("splits", "one, as in the paper");
    outcome.setup("recourse", "the one-step program, as in the paper");
    let names = ["F1", "accuracy", "recourse neg", "recourse all"];
    let mut table = Table::new([Column::text("data"), Column::number("λ"), Column::number("θ₀")]);
    table.columns.extend(names.map(Column::number));
    let present = lab.present(&Name::ALL);
    let mut chart = Panels::new(EXPERIMENT.title, 2);
    let thresholds: Vec<f64> = (0..=20).map(|step| f64::from(step) / 20.0).collect();
    for &data in &present {
        for side in [Side::Ours, Side::Baseline] {
            let model = lab.model(&Recipe::paper(Sample::paper(data, 1), side.lambda(), &lab.settings))?;
            let curves: Vec<[f64; 4]> = thresholds.iter().map(|&at| figures(&model, at)).collect();
            for (&at, figures) in thresholds.iter().zip(&curves) {
                let start = [data.as_str().into(), Cell::number(side.lambda(), 1), Cell::number(at, 2)];
                table.row(start.into_iter().chain(figures.map(|figure| Cell::number(figure, 3))));
            }
            let title = format!("{}, λ = {}", data.as_str(), side.lambda());
            let plot = LineChart::new(title, Axis::new("threshold θ₀"), Axis::new("score or rate").at_least(0.0, 1.0))
                .reference(Reference::x(model.threshold.probability(), "F1-best"));
            let styles = [6, 5, 1, 2];
            let series = (0..4).map(|index| {
                let points = thresholds.iter().zip(&curves).map(|(&at, figures)| (at, figures[index]));
                Series::xy(names[index], points).style(styles[index])
            });
            chart = chart.plot(series.fold(plot, LineChart::series));
        }
        teach(lab, &mut outcome, data)?;
    }
    outcome.charts.push(chart.into());
    outcome.extra("Figures at each threshold", table);
    Ok(outcome)
}

/// The highest threshold of the grid that still leaves recourse to 95 of 100.
fn teach(lab: &Lab, outcome: &mut Outcome, data: Name) -> Result<(), PaperError> {
    let mut highest = [0.0; 2];
    for (side, highest) in Side::BOTH.into_iter().zip(&mut highest) {
        let model = lab.model(&Recipe::paper(Sample::paper(data, 1), side.lambda(), &lab.settings))?;
        let kept = (0..=100).map(|step| f64::from(step) / 100.0).filter(|&at| figures(&model, at)[3] >= 0.95);
        *highest = kept.fold(0.0, f64::max);
    }
    outcome.finding(format!(
        "{}: recourse all stays at 0.95 or more up to θ₀ = {:.2} with λ = 0.8, up to θ₀ = {:.2} with λ = 0.",
        data.as_str(),
        highest[1],
        highest[0],
    ));
    Ok(())
}
