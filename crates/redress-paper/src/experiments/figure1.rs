//! Figure 1: how performance and recourse vary with λ.

use std::sync::Arc;

use redress_report::chart::{Axis, LineChart, Panels, Point, Series};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    method::Method,
    outcome::{Comparison, Outcome},
    printed::{self, Quantity, Side},
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "figure1",
    title: "Figure 1: performance and recourse over λ",
    effort: 120.0,
    both_readings: false,
    models,
    run,
};

/// The curves of one data set, one figure a λ.
#[derive(Default)]
struct Curves {
    f1: Vec<Measured>,
    accuracy: Vec<Measured>,
    neg: [Vec<Measured>; 2],
    all: [Vec<Measured>; 2],
}

/// The two methods of the figure.
const METHODS: [Method; 2] = [Method::Gradient, Method::Lp];

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(Sample::each(Name::ALL, settings.seeds(3)), &settings.lambdas(), settings)
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let lambdas = settings.lambdas();
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean and standard error over {} random splits", settings.seeds(3).count()));
    outcome.setup("λ", format!("{lambdas:?}"));
    let present = lab.present(&Name::ALL);
    let mut panels = Vec::new();
    for &data in &present {
        let curves = curves(lab, data, &lambdas)?;
        compare(&mut outcome, data, &lambdas, &curves);
        teach(&mut outcome, data, &lambdas, &curves);
        panels.push((data, curves));
    }
    outcome.charts.push(chart(&lambdas, &panels).into());
    Ok(outcome)
}

fn curves(lab: &Lab, data: Name, lambdas: &[f64]) -> Result<Curves, PaperError> {
    let settings = &lab.settings;
    let mut curves = Curves::default();
    for &lambda in lambdas {
        let recipes = settings.seeds(3).map(|seed| Recipe::paper(Sample::paper(data, seed), lambda, settings));
        let models: Vec<Arc<Appraised>> = lab.models(recipes)?;
        curves.f1.push(Measured::of(models.iter().map(|model| model.performance.f1)));
        curves.accuracy.push(Measured::of(models.iter().map(|model| model.performance.accuracy)));
        for (index, method) in METHODS.into_iter().enumerate() {
            let found = models.iter().map(|model| lab.found(model, method, model.threshold));
            let found = found.collect::<Result<Vec<_>, _>>()?;
            curves.neg[index].push(Measured::of(found.iter().map(|found| found.rates.neg())));
            curves.all[index].push(Measured::of(found.iter().map(|found| found.rates.all())));
        }
    }
    Ok(curves)
}

/// The points of the curves; λ = 0 and 0.8 are printed in Table 1.
fn compare(outcome: &mut Outcome, data: Name, lambdas: &[f64], curves: &Curves) {
    for (index, &lambda) in lambdas.iter().enumerate() {
        let side = Side::BOTH.into_iter().find(|side| side.lambda() == lambda);
        let mut push = |quantity: &str, ours: Measured, printed: Quantity| {
            outcome.comparisons.push(Comparison {
                data: data.as_str().to_owned(),
                model: format!("λ = {lambda}"),
                quantity: quantity.to_owned(),
                ours,
                printed: side.map(|side| printed::table1(printed, data, side)),
                note: String::new(),
            });
        };
        use printed::Algorithm::{Gradient, Lp};
        push("F1", curves.f1[index], Quantity::F1);
        push("accuracy", curves.accuracy[index], Quantity::Accuracy);
        push("recourse neg, gradient", curves.neg[0][index], Quantity::Neg(Gradient));
        push("recourse neg, lp", curves.neg[1][index], Quantity::Neg(Lp));
        push("recourse all, gradient", curves.all[0][index], Quantity::All(Gradient));
        push("recourse all, lp", curves.all[1][index], Quantity::All(Lp));
    }
}

fn teach(outcome: &mut Outcome, data: Name, lambdas: &[f64], curves: &Curves) {
    let last = lambdas.len() - 1;
    outcome.finding(format!(
        "{}: from λ = {} to λ = {}, F1 goes from {:.3} to {:.3}, accuracy from {:.3} to {:.3}, recourse neg by gradient \
         descent from {:.3} to {:.3}.",
        data.as_str(),
        lambdas[0],
        lambdas[last],
        curves.f1[0].mean,
        curves.f1[last].mean,
        curves.accuracy[0].mean,
        curves.accuracy[last].mean,
        curves.neg[0][0].mean,
        curves.neg[0][last].mean,
    ));
}

/// Three rows of panels, as the paper has them: performance, recourse neg, recourse all.
fn chart(lambdas: &[f64], panels: &[(Name, Curves)]) -> Panels {
    let line = |name: &str, curve: &[Measured], style: usize| {
        let points = lambdas.iter().zip(curve).map(|(&lambda, measured)| Point::new(lambda, measured.estimate()));
        Series::new(name, points).style(style)
    };
    let plot = |title: String, y: &str| LineChart::new(title, Axis::new("λ"), Axis::new(y).at_least(0.0, 1.0));
    let mut chart = Panels::new(EXPERIMENT.title, panels.len().max(1));
    for (data, curves) in panels {
        let series = [line("F1", &curves.f1, 6), line("accuracy", &curves.accuracy, 5)];
        chart = chart.plot(series.into_iter().fold(plot(data.as_str().to_owned(), "score"), LineChart::series));
    }
    for (what, neg) in [("recourse neg", true), ("recourse all", false)] {
        for (data, curves) in panels {
            let [gradient, lp] = if neg { &curves.neg } else { &curves.all };
            let series = [line("gradient descent", gradient, 3), line("one-step program", lp, 2)];
            chart = chart.plot(series.into_iter().fold(plot(data.as_str().to_owned(), what), LineChart::series));
        }
    }
    chart
}
