//! Appendix B.2: adult over δ_max.

use redress_report::chart::{Axis, LineChart, Panels, Point, Series};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::Lab,
    measured::Measured,
    method::Method,
    outcome::{Comparison, Outcome},
    printed::Side,
    recipe::{DELTA_MAX, Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "figure-delta-max",
    title: "Appendix B.2: adult over δ_max",
    effort: 30.0,
    both_readings: false,
    models,
    run,
};

/// δ_max in hundredths of a standard deviation.
fn reaches(settings: &Settings) -> Vec<u32> {
    if settings.quick { vec![25, DELTA_MAX] } else { vec![25, 50, DELTA_MAX, 100, 125, 150] }
}

fn recipe(delta_max: u32, side: Side, seed: u64, settings: &Settings) -> Recipe {
    Recipe::paper(Sample { delta_max, ..Sample::paper(Name::Adult, seed) }, side.lambda(), settings)
}

fn models(settings: &Settings) -> Vec<Recipe> {
    let reaches = reaches(settings);
    let pairs = reaches.into_iter().flat_map(|reach| Side::BOTH.map(|side| (reach, side)));
    pairs.flat_map(|(reach, side)| settings.seeds(3).map(move |seed| recipe(reach, side, seed, settings))).collect()
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let reaches = reaches(settings);
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean and standard error over {} random splits", settings.seeds(3).count()));
    outcome.setup("λ", "0.8, and the baseline 0; the paper prints curves without numbers");
    let names =
        ["F1", "accuracy", "recourse neg, gradient", "recourse neg, lp", "recourse all, gradient", "recourse all, lp"];
    let mut curves = vec![Vec::new(); names.len() * 2];
    for &reach in &reaches {
        for (index, side) in Side::BOTH.into_iter().enumerate() {
            let models = lab.models(settings.seeds(3).map(|seed| recipe(reach, side, seed, settings)))?;
            let mut figures = vec![
                Measured::of(models.iter().map(|model| model.performance.f1)),
                Measured::of(models.iter().map(|model| model.performance.accuracy)),
            ];
            let mut rates = Vec::new();
            for method in [Method::Gradient, Method::Lp] {
                let found = models.iter().map(|model| lab.found(model, method, model.threshold));
                rates.push(found.collect::<Result<Vec<_>, _>>()?);
            }
            figures.extend(rates.iter().map(|found| Measured::of(found.iter().map(|found| found.rates.neg()))));
            figures.extend(rates.iter().map(|found| Measured::of(found.iter().map(|found| found.rates.all()))));
            for (which, ours) in figures.into_iter().enumerate() {
                curves[which * 2 + index].push(ours);
                outcome.comparisons.push(Comparison {
                    data: "adult".to_owned(),
                    model: format!("δ_max = {}, λ = {}", f64::from(reach) / 100.0, side.lambda()),
                    quantity: names[which].to_owned(),
                    ours,
                    printed: None,
                    note: String::new(),
                });
            }
        }
    }
    let line = |which: usize, index: usize, name: &str, style: usize| {
        let side = Side::BOTH[index];
        let points = reaches.iter().zip(&curves[which * 2 + index]);
        let points = points.map(|(&reach, measured)| Point::new(f64::from(reach) / 100.0, measured.estimate()));
        Series::new(format!("{name}, λ = {}", side.lambda()), points).style(style)
    };
    let plot = |title: &str| {
        let x = Axis::new("δ_max").unit("standard deviations");
        LineChart::new(title, x, Axis::new("score or rate").at_least(0.0, 1.0))
    };
    let panels = [
        ("performance", [(0, "F1"), (1, "accuracy")], [6, 5]),
        ("recourse neg", [(2, "gradient"), (3, "lp")], [3, 2]),
        ("recourse all", [(4, "gradient"), (5, "lp")], [3, 2]),
    ];
    let mut chart = Panels::new(EXPERIMENT.title, 3);
    for (title, pair, styles) in panels {
        let mut plot = plot(title);
        for ((which, name), style) in pair.into_iter().zip(styles) {
            plot = plot.series(line(which, 1, name, style)).series(line(which, 0, name, (style + 4) % 8));
        }
        chart = chart.plot(plot);
    }
    outcome.charts.push(chart.into());
    let at = |which: usize, index: usize| {
        curves[which * 2 + index].iter().map(|measured| format!("{:.3}", measured.mean)).collect::<Vec<_>>().join(", ")
    };
    outcome.finding(format!(
        "Over δ_max = {:?}, F1 at λ = 0.8 is {}, recourse neg by gradient descent {}; at λ = 0 the latter is {}.",
        reaches.iter().map(|&reach| f64::from(reach) / 100.0).collect::<Vec<_>>(),
        at(0, 1),
        at(2, 1),
        at(2, 0),
    ));
    Ok(outcome)
}
