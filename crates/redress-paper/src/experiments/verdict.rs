//! Beyond the paper: what training for recourse is worth, on every data set, and which λ to take.

use std::sync::Arc;

use rayon::prelude::*;
use redress::{feasible::Lattice, train::TrainParams};
use redress_report::chart::{Axis, Chart, LineChart, Panels, Point, Series};
use redress_report::{Cell, Column, Table};

use super::{Experiment, targets};
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    method::Method,
    outcome::Outcome,
    recipe::{Recipe, Sample},
    settings::{Reading, Settings},
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "verdict",
    title: "Verdict: accuracy and F1 against recourse that exists, over λ",
    effort: 400.0,
    both_readings: true,
    models,
    run,
};

/// How a model is trained, and in which changes its recourse is counted.
const WAYS: [(Reading, Lattice, &str); 4] = [
    (Reading::AsWritten, Lattice::Continuous, "as written, any real change"),
    (Reading::AsWritten, Lattice::AsPolicy, "as written, whole steps"),
    (Reading::AsReleased, Lattice::Continuous, "as released, any real change"),
    (Reading::AsReleased, Lattice::AsPolicy, "as released, whole steps"),
];

/// The paper's data sets, and german with good credit as the yes.
fn samples(seed: u64) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Name::ALL.iter().map(|&data| Sample::paper(data, seed)).collect();
    samples.push(Sample::paper(Name::German, seed).label_of_policy());
    samples
}

fn recipe(sample: Sample, lambda: f64, (reading, lattice, _): (Reading, Lattice, &str), quick: bool) -> Recipe {
    Recipe::with(sample.lattice(lattice), lambda, reading, quick)
}

/// The same in whole steps, as written, with rows kept apart for a guarantee.
fn certifiable(sample: Sample, lambda: f64, settings: &Settings) -> Recipe {
    recipe(sample.apart(), lambda, WAYS[1], settings.quick)
}

fn models(settings: &Settings) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for sample in settings.seeds(3).flat_map(samples) {
        for way in WAYS {
            recipes.extend(settings.lambdas().into_iter().map(|lambda| recipe(sample, lambda, way, settings.quick)));
        }
    }
    let apart = settings.seeds(3).flat_map(samples);
    recipes
        .extend(apart.flat_map(|sample| {
            settings.lambdas().into_iter().map(move |lambda| certifiable(sample, lambda, settings))
        }));
    recipes.extend(targets::models(settings));
    recipes
}

/// One point of a frontier.
#[derive(Clone, Copy)]
struct Stand {
    lambda: f64,
    f1: Measured,
    accuracy: Measured,
    neg: Measured,
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let lambdas = settings.lambdas();
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean over {} random splits", settings.seeds(3).count()));
    outcome.setup("recourse", "exact: branch and bound finds a way wherever there is one");
    outcome.setup("Δ", "any real change: δ_max = 0.75 and nothing else, as in the paper; whole steps: the data set's policy with its limits");
    let (mut f1, mut accuracy) = (frontier("F1 against recourse"), frontier("Accuracy against recourse"));
    let mut table = Table::new([
        Column::text("data"),
        Column::text("trained and counted"),
        Column::number("λ"),
        Column::number("F1"),
        Column::number("accuracy"),
        Column::number("recourse neg, exact"),
    ]);
    let samples: Vec<Sample> =
        samples(1).into_iter().filter(|sample| !lab.present(&[sample.data]).is_empty()).collect();
    for &sample in &samples {
        let axis = || Axis::percent("recourse neg, exact");
        let mut plots = [
            LineChart::new(sample.title(), axis(), Axis::new("F1")),
            LineChart::new(sample.title(), axis(), Axis::new("accuracy")),
        ];
        let mut curves = Vec::new();
        for way in WAYS {
            let stands = stands(lab, sample, way, &lambdas)?;
            lab.advance(EXPERIMENT.work(settings) / 20.0);
            for (plot, pick) in plots.iter_mut().zip([|stand: &Stand| stand.f1, |stand: &Stand| stand.accuracy]) {
                let points = stands.iter().map(|stand| Point::new(stand.neg.mean, pick(stand).mean));
                plot.series.push(Series::new(way.2, points));
            }
            for stand in &stands {
                table.row([
                    Cell::text(sample.title()),
                    way.2.into(),
                    Cell::number(stand.lambda, 1),
                    Cell::number(stand.f1.mean, 3),
                    Cell::number(stand.accuracy.mean, 3),
                    Cell::number(stand.neg.mean, 3),
                ]);
            }
            curves.push(stands);
        }
        teach(&mut outcome, &sample, &curves);
        let [first, second] = plots;
        (f1, accuracy) = (f1.plot(first), accuracy.plot(second));
    }
    outcome.charts = vec![Chart::from(f1), Chart::from(accuracy)];
    outcome.extra("Every point of the frontiers", table);
    recommend(lab, &mut outcome, &lambdas, &samples)?;
    targets::report(lab, &mut outcome)?;
    Ok(outcome)
}

fn frontier(what: &str) -> Panels {
    Panels::new(format!("{what} that exists; each line runs from λ = 0 to the largest λ"), 2)
}

/// The frontier of one data set under one way of training.
fn stands(lab: &Lab, sample: Sample, way: (Reading, Lattice, &str), lambdas: &[f64]) -> Result<Vec<Stand>, PaperError> {
    let settings = &lab.settings;
    lambdas
        .par_iter()
        .map(|&lambda| {
            let recipes = settings.seeds(3).map(|seed| recipe(Sample { seed, ..sample }, lambda, way, settings.quick));
            let models = lab.models(recipes)?;
            let found = models.iter().map(|model| lab.found(model, Method::Exact, model.threshold));
            let found = found.collect::<Result<Vec<_>, _>>()?;
            Ok(Stand {
                lambda,
                f1: Measured::of(models.iter().map(|model| model.performance.f1)),
                accuracy: Measured::of(models.iter().map(|model| model.performance.accuracy)),
                neg: Measured::of(found.iter().map(|found| found.rates.neg())),
            })
        })
        .collect()
}

/// What each frontier says in words.
fn teach(outcome: &mut Outcome, sample: &Sample, curves: &[Vec<Stand>]) {
    let at = |curve: &[Stand], lambda: f64| curve.iter().copied().find(|stand| stand.lambda == lambda);
    let (Some(plain), Some(ours), Some(whole), Some(released)) =
        (at(&curves[1], 0.0), at(&curves[0], 0.8), at(&curves[1], 0.8), at(&curves[2], 0.8))
    else {
        return;
    };
    outcome.finding(format!(
        "{}: a plain model gives {:.3} of those it turns down a way in whole steps; trained for whole steps at λ = 0.8 it is {:.3}, for \
         F1 {:.3} → {:.3} and accuracy {:.3} → {:.3}. Counting any real change λ = 0.8 gives {:.3} at F1 {:.3} as written, {:.3} at F1 \
         {:.3} as released.",
        sample.title(),
        plain.neg.mean,
        whole.neg.mean,
        plain.f1.mean,
        whole.f1.mean,
        plain.accuracy.mean,
        whole.accuracy.mean,
        ours.neg.mean,
        ours.f1.mean,
        released.neg.mean,
        released.f1.mean,
    ));
}

/// F1 differs by this much from split to split: of λ that are this close the product's default, or else the least, is as good
/// as the best.
const NOISE: f64 = 0.02;

/// A λ whose certified F1 on validation rows is, on its worst data set, hardly further below that data set's best than that of
/// any other λ.
fn recommend(lab: &Lab, outcome: &mut Outcome, lambdas: &[f64], samples: &[Sample]) -> Result<(), PaperError> {
    let settings = &lab.settings;
    let curves = samples.iter().map(|sample| {
        let at = |&lambda: &f64| {
            let recipes = settings.seeds(3).map(|seed| certifiable(Sample { seed, ..*sample }, lambda, settings));
            let certified = |model: &Arc<Appraised>| targets::certify(model).map_or(f64::NAN, |(_, f1)| f1);
            Ok(Measured::of(lab.models(recipes)?.iter().map(certified)).mean)
        };
        lambdas.iter().map(at).collect::<Result<Vec<f64>, PaperError>>()
    });
    let curves = curves.collect::<Result<Vec<Vec<f64>>, PaperError>>()?;
    let regret = |index: usize| {
        let each = curves.iter().map(|curve| curve.iter().copied().fold(f64::NAN, f64::max) - curve[index]);
        each.filter(|regret| !regret.is_nan()).fold(0.0, f64::max)
    };
    let mut table = Table::new([Column::number("λ")]);
    table.columns.extend(samples.iter().map(|sample| Column::number(sample.title())));
    table.columns.push(Column::number("largest loss"));
    for (index, &lambda) in lambdas.iter().enumerate() {
        let each = curves.iter().map(|curve| Cell::number(curve[index], 3));
        table.row([Cell::number(lambda, 1)].into_iter().chain(each).chain([Cell::number(regret(index), 3)]));
    }
    outcome.extra(
        "F1 on validation rows under PARE 0.05, whole steps; the largest loss against the best λ of a data set",
        table,
    );
    let Some(best) = (0..lambdas.len()).min_by(|&a, &b| regret(a).total_cmp(&regret(b))) else { return Ok(()) };
    let alike: Vec<usize> = (0..lambdas.len()).filter(|&index| regret(index) <= regret(best) + NOISE).collect();
    let default = TrainParams::default().lambda;
    let chosen = alike.iter().copied().find(|&index| lambdas[index] == default).unwrap_or(alike[0]);
    outcome.finding(format!(
        "Recommended default: λ = {}. At it the F1 that can be certified (ε = α = 0.05) is nowhere more than {:.3} below what the best λ \
         of the data set reaches. The least such loss is {:.3}, at λ = {}; λ = {} lie within the noise of the splits ({NOISE}) of it, and \
         `redress tune` finds the best one for a table of one's own.",
        lambdas[chosen],
        regret(chosen),
        regret(best),
        lambdas[best],
        alike.iter().map(|&index| lambdas[index].to_string()).collect::<Vec<_>>().join(", "),
    ));
    Ok(())
}
