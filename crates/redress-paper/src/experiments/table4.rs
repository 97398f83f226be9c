//! Table 4: do recourses, and decisions, withstand a little noise?

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};
use redress::model::Scorer;
use redress_report::chart::{Axis, DotChart, DotRow, Panels};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    method::{Method, Way},
    outcome::{Comparison, Outcome},
    printed::{self, Algorithm, Shaken, Side},
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "table4",
    title: "Table 4: robustness of recourses and of decisions to noise",
    effort: 6.0,
    both_readings: false,
    models,
    run,
};

/// The paper's N(0, 0.1), read as a standard deviation as in the released code.
const DEVIATION: f32 = 0.1;

/// Draws for each person: the share over draws has less noise of its own than the paper's single one.
const DRAWS: usize = 20;

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(Sample::each(Name::ALL, settings.seeds(3)), &Side::lambdas(), settings)
}

/// The share of points whose decision stays what it was when noise is added to the columns people can change.
fn unmoved(model: &Appraised, points: &[f32], deviation: f32) -> f64 {
    let width = model.study.space.encoding().width();
    let Ok(normal) = Normal::new(0.0f32, deviation) else { return f64::NAN };
    let mut random = ChaCha8Rng::seed_from_u64(model.recipe.sample.seed);
    let mut noisy = Vec::with_capacity(points.len() * DRAWS);
    for point in points.chunks_exact(width) {
        for _ in 0..DRAWS {
            let start = noisy.len();
            noisy.extend_from_slice(point);
            for lever in model.study.space.levers() {
                noisy[start + lever.column] += normal.sample(&mut random);
            }
        }
    }
    let (mut before, mut after) = (vec![0.0; points.len() / width], vec![0.0; noisy.len() / width]);
    model.model.logits(points, &mut before);
    model.model.logits(&noisy, &mut after);
    let same = after
        .iter()
        .enumerate()
        .filter(|(index, logit)| model.threshold.approves(**logit) == model.threshold.approves(before[index / DRAWS]));
    if after.is_empty() { f64::NAN } else { same.count() as f64 / after.len() as f64 }
}

/// The encoded points at the end of ways.
fn ends(model: &Appraised, ways: &[Way]) -> Vec<f32> {
    let encoding = model.study.space.encoding();
    let mut points = vec![0.0; ways.len() * encoding.width()];
    for (way, point) in ways.iter().zip(points.chunks_exact_mut(encoding.width())) {
        encoding.encode(&way.values, point);
    }
    points
}

fn share(lab: &Lab, model: &Appraised, shaken: Shaken) -> Result<f64, PaperError> {
    let method = match shaken {
        Shaken::Model => return Ok(unmoved(model, &model.study.test.examples.points, DEVIATION)),
        Shaken::Recourse(Algorithm::Gradient) => Method::Gradient,
        Shaken::Recourse(Algorithm::Linear) => Method::Linear,
        Shaken::Recourse(Algorithm::Lp) => Method::Lp,
    };
    let found = lab.found(model, method, model.threshold)?;
    Ok(unmoved(model, &ends(model, &found.ways), DEVIATION))
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    outcome.setup("splits", format!("mean over {} splits; the paper has one", settings.seeds(3).count()));
    outcome.setup(
        "noise",
        "Gaussian with standard deviation 0.1 in standardised units, on the columns people can change; 20 draws each",
    );
    let kinds = [
        ("recourse, gradient", Shaken::Recourse(Algorithm::Gradient)),
        ("recourse, lp", Shaken::Recourse(Algorithm::Lp)),
        ("model", Shaken::Model),
    ];
    let mut chart = Panels::new(EXPERIMENT.title, 2);
    for data in lab.present(&Name::ALL) {
        let series = ["λ = 0", "λ = 0, printed", "λ = 0.8", "λ = 0.8, printed"];
        let mut plot = DotChart::new(data.as_str(), Axis::new("share that stays").at_least(0.5, 1.0), series);
        for (name, shaken) in kinds {
            let mut row = DotRow { name: name.to_owned(), ..DotRow::default() };
            for side in Side::BOTH {
                let recipes =
                    settings.seeds(3).map(|seed| Recipe::paper(Sample::paper(data, seed), side.lambda(), settings));
                let shares = lab
                    .models(recipes)?
                    .iter()
                    .map(|model| share(lab, model, shaken))
                    .collect::<Result<Vec<_>, _>>()?;
                let (ours, printed) = (Measured::of(shares), printed::table4(shaken, data, side));
                row = row.and(ours.estimate()).and(printed.unwrap_or(f64::NAN));
                outcome.comparisons.push(Comparison {
                    data: data.as_str().to_owned(),
                    model: format!("{}, λ = {}", side.title(), side.lambda()),
                    quantity: format!("share that noise does not turn: {name}"),
                    ours,
                    printed,
                    note: note(shaken, ours).to_owned(),
                });
            }
            plot = plot.row(row);
        }
        chart = chart.plot(plot);
    }
    outcome.charts.push(chart.into());
    outcome.finding(
        "Recourses of gradient descent stop just past the threshold by design, so a little noise takes many of them back; those of \
         the one-step program end in a corner of Δ, further inside. Who wants a way that withstands noise asks for a margin.",
    );
    Ok(outcome)
}

fn note(shaken: Shaken, ours: Measured) -> &'static str {
    match shaken {
        _ if ours.splits == 0 => "no recourse was found, so none was shaken",
        Shaken::Recourse(Algorithm::Gradient) => {
            "ours ends at the nearest yes; the paper's search ends within a tolerance above it"
        }
        _ => "",
    }
}
