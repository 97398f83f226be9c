//! Appendix B.1: does training for recourse make a classifier brittle under realistic noise?

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use redress::model::Scorer;
use redress_report::chart::{Axis, BarChart, Panels};

use super::Experiment;
use crate::{
    data::Name,
    error::PaperError,
    lab::{Appraised, Lab},
    measured::Measured,
    noise::{
        deepfool,
        gan::{Gan, GanParams},
    },
    outcome::{Comparison, Outcome},
    printed::{self, Side},
    recipe::{Recipe, Sample},
    settings::Settings,
};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "appendix-noise",
    title: "Appendix B.1: robustness to realistic noise",
    effort: 120.0,
    both_readings: false,
    models,
    run,
};

/// The three kinds of noise.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Natural,
    Aimless,
    DeepFool,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Natural, "natural adversarial examples"),
    (Kind::Aimless, "GAN noise without a target"),
    (Kind::DeepFool, "DeepFool"),
];

/// The first shell of codes around a person's own; aimless noise stays on it.
const RADIUS: f32 = 0.1;

fn models(settings: &Settings) -> Vec<Recipe> {
    Recipe::each(Sample::each(Name::ALL, settings.seeds(3)), &Side::lambdas(), settings)
}

/// The share of test people whose decision stays when the noise's part in the columns people can change is added.
fn unmoved(lab: &Lab, model: &Appraised, gan: &Gan, kind: Kind) -> f64 {
    let examples = &model.study.test.examples;
    let rows = examples.len().min(lab.settings.people());
    let same = (0..rows).into_par_iter().filter(|&row| {
        let point = examples.point(row);
        let mut random = ChaCha8Rng::seed_from_u64(row as u64);
        let change = match kind {
            Kind::Natural => gan.natural(point, (&model.model, model.threshold), RADIUS, &mut random),
            Kind::Aimless => Some(gan.aimless(point, RADIUS, &mut random)),
            Kind::DeepFool => Some(deepfool::disturbance(&model.model, model.threshold, point, 50)),
        };
        let Some(change) = change else { return true };
        let mut noisy = point.to_vec();
        for lever in model.study.space.levers() {
            noisy[lever.column] += change[lever.column];
        }
        model.threshold.approves(model.model.logit(&noisy)) == model.threshold.approves(model.test.logits[row])
    });
    same.count() as f64 / rows as f64
}

fn run(lab: &Lab) -> Result<Outcome, PaperError> {
    let settings = &lab.settings;
    let mut outcome = Outcome::new(EXPERIMENT.name, EXPERIMENT.title, settings.reading);
    let params = if settings.quick { GanParams { steps: 40, ..GanParams::default() } } else { GanParams::default() };
    outcome.setup("splits", format!("mean over {} random splits", settings.seeds(3).count()));
    outcome.setup("GAN", format!(
        "Wasserstein, weights clipped at {}, two hidden layers of {}, codes of {}, {} steps, with an inverter; one a split",
        params.clip, params.hidden, params.code, params.steps
    ));
    outcome.setup("noise", "found in all columns, added only in those that people can change, as in the paper");
    let mut chart = Panels::new(EXPERIMENT.title, 2);
    let mut widest: f64 = 0.0;
    let present = lab.present(&Name::ALL);
    let pairs: Vec<(Name, u64)> =
        present.iter().flat_map(|&data| settings.seeds(3).map(move |seed| (data, seed))).collect();
    let gans = pairs.par_iter().map(|&(data, seed)| {
        lab.keep_going()?;
        let study = lab.study(&Sample::paper(data, seed))?;
        let examples = &study.train.examples;
        let params = GanParams { seed, ..params };
        let gan = Gan::train(&params, &examples.points, examples.width(), &|| lab.keep_going().is_ok());
        lab.keep_going()?;
        Ok(gan)
    });
    let gans = gans.collect::<Result<Vec<Gan>, PaperError>>()?;
    for data in present {
        let mut shares = vec![Vec::new(); 2];
        for (kind, name) in KINDS {
            let mut means = Vec::new();
            for (side, shares) in Side::BOTH.into_iter().zip(&mut shares) {
                let mut each = Vec::new();
                for (&(_, seed), gan) in pairs.iter().zip(&gans).filter(|((of, _), _)| *of == data) {
                    lab.keep_going()?;
                    let model = lab.model(&Recipe::paper(Sample::paper(data, seed), side.lambda(), settings))?;
                    each.push(unmoved(lab, &model, gan, kind));
                }
                let measured = Measured::of(each.iter().copied());
                shares.push(measured);
                means.push(each);
            }
            let difference = Measured::of(means[1].iter().zip(&means[0]).map(|(ours, baseline)| ours - baseline));
            widest = widest.max(-difference.mean);
            outcome.comparisons.push(Comparison {
                data: data.as_str().to_owned(),
                model: "λ = 0.8 less λ = 0".to_owned(),
                quantity: format!("share that stays, {name}"),
                ours: difference,
                printed: None,
                note: format!(
                    "{:.3} against {:.3}; printed: differs by at most {}",
                    shares[1][shares[1].len() - 1].mean,
                    shares[0][shares[0].len() - 1].mean,
                    printed::NOISE_DIFFERENCE
                ),
            });
        }
        let mut plot =
            BarChart::new(data.as_str(), Axis::new("share that stays").at_least(0.0, 1.0), KINDS.map(|(_, name)| name));
        for (side, shares) in Side::BOTH.into_iter().zip(&shares) {
            plot = plot.series(format!("λ = {}", side.lambda()), shares.iter().map(Measured::estimate));
        }
        chart = chart.plot(plot);
    }
    outcome.charts.push(chart.into());
    outcome.finding(if widest <= printed::NOISE_DIFFERENCE {
        format!("On no data set does training for recourse cost more than {widest:.3} of robustness; the paper: at most 0.03.")
    } else {
        format!(
            "Training for recourse costs up to {widest:.3} of robustness, more than the 0.03 the paper reports: a model that \
             answers to the levers is easier to turn along them."
        )
    });
    Ok(outcome)
}
