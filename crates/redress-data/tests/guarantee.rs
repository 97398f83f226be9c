//! The guarantee against the truth: `loan` is a population whose every member can be drawn.

use std::{ops::ControlFlow, sync::Arc};

use redress::{
    calibrate::{
        FailureProb, MissRate, Threshold,
        pare::{bound, group_bounds},
    },
    dataset::{Dataset, GroupColumn, Schema, split::Split},
    feasible::Lattice,
    model::Model,
    pipeline::{Part, Preset, Study, scores},
    train::{Inner, TrainParams, fit, reach},
};
use redress_data::{builtin, loan};

/// How often people are drawn anew to calibrate.
const CALIBRATIONS: usize = 2_000;
/// Rows of one calibration.
const ROWS: usize = 300;
/// People who stand for the whole population.
const POPULATION: usize = 1_000_000;

/// max(g(x), g(x + A(x))) and the gender of people drawn with a seed.
fn scored(study: &Study, model: &Model, rows: usize, seed: u64) -> (Vec<f32>, Vec<u32>) {
    let (mut all, mut genders) = (Vec::new(), Vec::new());
    for table in loan::tables(rows, seed) {
        let schema = study.space.encoding().schema().clone();
        let (dataset, _) = Dataset::read(&study.policy, schema, &table).unwrap();
        let male = dataset.groups[0].values.iter().position(|value| value == "male").unwrap() as u32;
        genders.extend(dataset.groups[0].codes.iter().map(|&code| u32::from(code == male)));
        let part = Part::new(dataset, &study.space).unwrap();
        all.extend(scores(&reach(model, &part.examples, &Inner::default())));
    }
    (all, genders)
}

/// The share of a sorted population at or above a threshold.
fn reached(sorted: &[f32], threshold: Threshold) -> f64 {
    let below = sorted.partition_point(|&score| !threshold.approves(score));
    1.0 - below as f64 / sorted.len() as f64
}

/// In at most a share α of 2,000 calibrations (and four standard errors of the simulation) does the true rate of approval
/// or recourse, over a million fresh people, fall below 1 − ε; and so for the guarantee of every group at once.
#[test]
fn the_true_rate_keeps_the_promise() {
    let policy = builtin("loan").unwrap().policy();
    let table = loan::table(4_000, 1);
    let schema = Arc::new(Schema::resolve(&policy, &table).unwrap());
    let (dataset, _) = Dataset::read(&policy, schema, &table).unwrap();
    let split = Split::new(&dataset, &Preset::Paper.split(dataset.len(), 1)).unwrap();
    let study = Study::new(policy, split, Lattice::Continuous).unwrap();
    let params = TrainParams { hidden: vec![16, 16], epochs: 3, ..TrainParams::default() }.check().unwrap();
    let go_on = &mut |_: &_| ControlFlow::Continue(());
    let model = fit(&params, &study.train.examples, &study.validation.examples, go_on).unwrap().model;

    let (population, genders) = scored(&study, &model, POPULATION, 2);
    let sorted = |keep: &dyn Fn(u32) -> bool| {
        let kept = population.iter().zip(&genders).filter(|(_, gender)| keep(**gender)).map(|(score, _)| *score);
        let mut kept: Vec<f32> = kept.collect();
        kept.sort_unstable_by(f32::total_cmp);
        kept
    };
    let everybody = sorted(&|_| true);
    let groups = [sorted(&|gender| gender == 0), sorted(&|gender| gender == 1)];

    let (epsilon, alpha) = (MissRate::new(0.05).unwrap(), FailureProb::new(0.05).unwrap());
    let promised = 1.0 - epsilon.get();
    let (drawn, drawn_genders) = scored(&study, &model, CALIBRATIONS * ROWS, 3);
    let (mut overall_failures, mut group_failures) = (0, 0);
    for (scores, genders) in drawn.chunks(ROWS).zip(drawn_genders.chunks(ROWS)) {
        let threshold = bound(scores, epsilon, alpha).unwrap().threshold;
        overall_failures += usize::from(reached(&everybody, threshold) < promised);
        let column =
            GroupColumn { name: "gender".into(), values: vec!["0".into(), "1".into()], codes: genders.to_vec() };
        let bounds = group_bounds(scores, &[column], epsilon, alpha).unwrap();
        let broken = bounds.iter().zip(&groups).any(|(bound, group)| reached(group, bound.bound.threshold) < promised);
        group_failures += usize::from(broken);
    }
    let allowed = alpha.get() + 4.0 * (alpha.get() * (1.0 - alpha.get()) / CALIBRATIONS as f64).sqrt();
    let rate = |failures: usize| failures as f64 / CALIBRATIONS as f64;
    eprintln!(
        "failed: {:.4} overall, {:.4} in some group; allowed {allowed:.4}",
        rate(overall_failures),
        rate(group_failures)
    );
    assert!(rate(overall_failures) <= allowed && rate(group_failures) <= allowed);
    // A bound that never failed would be a bound that gives too much away.
    assert!(overall_failures > 0);
}
