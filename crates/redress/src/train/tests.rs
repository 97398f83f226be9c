//! Laws of training, on a small population whose labels follow a known rule.

use std::ops::ControlFlow;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::objective::ClassWeights;
use super::step::Trainer;
use super::*;
use crate::calibrate::Threshold;
use crate::model::{Activation, Dense, Isa, Model, Scorer};

const WIDTH: usize = 4;

/// People with `x₀ + x₁ − ½x₂ > 0.4` are favourable; columns 1 and 3 can move, 1 up only and 3 by whole tenths.
fn population(rows: usize, seed: u64) -> Examples {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let points: Vec<f32> = (0..rows * WIDTH).map(|_| random.random_range(-2.0f32..2.0)).collect();
    let labels = points.chunks(WIDTH).map(|x| x[0] + x[1] - 0.5 * x[2] > 0.4).collect();
    let levers = vec![BoxLever { column: 1, step: None }, BoxLever { column: 3, step: Some(0.1) }];
    let (mut lo, mut hi) = (Vec::new(), Vec::new());
    for x in points.chunks(WIDTH) {
        lo.extend([x[1], x[3] - 0.3]);
        hi.extend([x[1] + 0.75, x[3] + 0.5]);
    }
    Examples { points, labels, inner: InnerProblem::Box(Boxes::new(levers, lo, hi).unwrap()) }
}

fn small() -> TrainParams {
    TrainParams { hidden: vec![12, 8], dropout: 0.0, epochs: 4, ..TrainParams::default() }
}

fn run(params: TrainParams, threads: usize) -> Fitted {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (train, validation) = (population(600, 1), population(300, 2));
    pool.install(|| fit(&params.check().unwrap(), &train, &validation, &mut |_| ControlFlow::Continue(())).unwrap())
}

/// The objective in `f64`, with the changes given: one number at a time from the definition.
fn twin(layers: &[Dense], activation: Activation, examples: &Examples, moved: &[f32], lambda: f64) -> f64 {
    let logit = |x: &[f32]| {
        let mut values: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        for (index, layer) in layers.iter().enumerate() {
            let sum = |o: usize| {
                let terms = values.iter().enumerate().map(|(k, v)| v * f64::from(layer.weights[k * layer.outputs + o]));
                f64::from(layer.bias[o]) + terms.sum::<f64>()
            };
            values = (0..layer.outputs)
                .map(sum)
                .map(|z| match activation {
                    _ if index + 1 == layers.len() => z,
                    Activation::Tanh => z.tanh(),
                    Activation::Relu => z.max(0.0),
                })
                .collect();
        }
        values[0]
    };
    let weights = ClassWeights::of(&examples.labels);
    let loss = |z: f64, y: bool| if y { (-z).exp().ln_1p() } else { z.exp().ln_1p() };
    let total: f64 = (0..examples.len())
        .map(|row| {
            let label = examples.labels[row];
            let first = f64::from(weights.weight(label)) * loss(logit(examples.point(row)), label);
            first + lambda * loss(logit(&moved[row * WIDTH..][..WIDTH]), true)
        })
        .sum();
    total / examples.len() as f64
}

fn changes(model: &Model, examples: &Examples, objective: InnerObjective) -> Vec<f32> {
    let (mut logits, mut gradients) = (vec![0.0; examples.len()], vec![0.0; examples.points.len()]);
    model.gradients(&examples.points, &mut logits, &mut gradients);
    let mut moved = vec![0.0; examples.points.len()];
    for (row, out) in moved.chunks_mut(WIDTH).enumerate() {
        examples.inner.respond(row, objective, examples.point(row), &gradients[row * WIDTH..][..WIDTH], out);
    }
    moved
}

fn trainer(isa: Isa, params: &CheckedParams, model: &Model, examples: &Examples) -> Trainer {
    Trainer::new(isa, params, model, ClassWeights::of(&examples.labels))
}

#[test]
fn the_weight_gradient_is_the_finite_difference_of_the_objective() {
    let examples = population(17, 5);
    let rows: Vec<u32> = (0..17).collect();
    for isa in Isa::available() {
        for (hidden, activation) in
            [(vec![7, 5], Activation::Tanh), (vec![6], Activation::Relu), (vec![], Activation::Tanh)]
        {
            for (lambda, objective) in
                [(0.0, InnerObjective::AsWritten), (0.8, InnerObjective::AsWritten), (0.8, InnerObjective::AsReleased)]
            {
                let inner = Inner { objective, ..Inner::default() };
                let params = TrainParams { lambda, batch: 17, hidden: hidden.clone(), activation, inner, ..small() };
                let params = params.check().unwrap();
                let model = Model::random(WIDTH, &params.architecture(), 11).unwrap();
                let moved = changes(&model, &examples, objective);
                let mut trainer = trainer(isa, &params, &model, &examples);
                let (terms, gradient) = trainer.gradient(&examples, &rows);
                let objective = (terms.supervised + lambda * terms.recourse) / 17.0;
                let layers = model.layers().into_owned();
                assert!((objective - twin(&layers, activation, &examples, &moved, lambda)).abs() < 1e-5);
                for layer in 0..layers.len() {
                    let found = gradient[layer].weights.iter().chain(&gradient[layer].bias);
                    for (index, found) in found.enumerate() {
                        let at = |shift: f32| {
                            let mut layers = layers.clone();
                            let Dense { weights, bias, .. } = &mut layers[layer];
                            let (inside, after) = (index < weights.len(), index.saturating_sub(weights.len()));
                            *(if inside { &mut weights[index] } else { &mut bias[after] }) += shift;
                            twin(&layers, activation, &examples, &moved, lambda)
                        };
                        let (left, right) = ((at(0.0) - at(-1e-3)) / 1e-3, (at(1e-3) - at(0.0)) / 1e-3);
                        // A kink of ReLU between the two points has no one slope.
                        let kink = activation == Activation::Relu && (left - right).abs() > 1e-3;
                        let error = (f64::from(*found) - (left + right) / 2.0).abs();
                        assert!(kink || error < 1e-3, "{}: {found} for {left}, {right}", isa.name());
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_full_batch_step_at_a_small_rate_lowers_the_objective(seed: u64, lambda in 0.0f64..2.0) {
        let examples = population(64, seed);
        prop_assume!(examples.labels.iter().any(|&y| y) && examples.labels.iter().any(|&y| !y));
        let params = TrainParams { lambda, batch: 64, learning_rate: 1e-5, ..small() }.check().unwrap();
        let model = Model::random(WIDTH, &params.architecture(), seed).unwrap();
        let moved = changes(&model, &examples, InnerObjective::AsWritten);
        let mut trainer = trainer(Isa::detect(), &params, &model, &examples);
        let before = twin(&model.layers(), params.activation, &examples, &moved, lambda);
        trainer.step(&examples, &(0..64).collect::<Vec<u32>>());
        let after = twin(&trainer.packed.layers(), params.activation, &examples, &moved, lambda);
        prop_assert!(after < before, "{before} → {after}");
    }

    #[test]
    fn the_change_is_the_best_corner_of_its_box(seed: u64) {
        let examples = population(8, seed);
        let model = Model::random(WIDTH, &small().architecture(), seed).unwrap();
        let (mut logits, mut gradients) = (vec![0.0; 8], vec![0.0; 8 * WIDTH]);
        model.gradients(&examples.points, &mut logits, &mut gradients);
        for (objective, sign) in [(InnerObjective::AsWritten, 1.0), (InnerObjective::AsReleased, -1.0)] {
            let moved = changes(&model, &examples, objective);
            for row in 0..8 {
                let (x, gradient) = (examples.point(row), &gradients[row * WIDTH..][..WIDTH]);
                let gain = |to: &[f32]| -> f32 { (0..WIDTH).map(|c| gradient[c] * (to[c] - x[c])).sum::<f32>() * sign };
                let found = &moved[row * WIDTH..][..WIDTH];
                prop_assert!(gain(found) >= 0.0);
                prop_assert_eq!((found[0], found[2]), (x[0], x[2]));
                for (first, third) in [(0.0, -0.3), (0.0, 0.5), (0.75, -0.3), (0.75, 0.5)] {
                    prop_assert!(gain(found) >= gain(&[x[0], x[1] + first, x[2], x[3] + third]) - 1e-6);
                }
            }
        }
    }

    #[test]
    fn more_steps_never_reach_less(seed: u64, steps in 2usize..8) {
        let examples = population(40, seed);
        let params = TrainParams { hidden: vec![10, 10], activation: Activation::Relu, ..small() };
        let Model::Mlp(mlp) = Model::random(WIDTH, &params.architecture(), seed).unwrap() else { unreachable!() };
        // Larger weights bend the score enough for the linearisation to be wrong at times.
        let layers = mlp.layers().iter().cloned().map(|mut layer| {
            layer.weights.iter_mut().for_each(|w| *w *= 4.0);
            layer
        });
        let model = Model::from_layers(layers.collect(), Activation::Relu, 0.0).unwrap();
        let one = reach(&model, &examples, &Inner::default());
        let more = reach(&model, &examples, &Inner { steps, ..Inner::default() });
        prop_assert_eq!(&one.logits, &more.logits);
        for (one, more) in one.moved.iter().zip(&more.moved) {
            prop_assert!(more >= one, "{more} < {one}");
        }
        let released = |steps| Inner { steps, objective: InnerObjective::AsReleased, ..Inner::default() };
        let (one, more) = (reach(&model, &examples, &released(1)), reach(&model, &examples, &released(steps)));
        prop_assert!(one.moved.iter().zip(&more.moved).all(|(one, more)| more <= one));
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_one_thread_and_on_two() {
    let params = TrainParams { dropout: 0.3, inner: Inner { steps: 2, noise: 0.05, ..Inner::default() }, ..small() };
    let one = run(params.clone(), 1);
    assert_eq!(one, run(params.clone(), 2));
    assert_ne!(one.model, run(TrainParams { seed: 1, ..params }, 1).model);
}

#[test]
fn the_rule_is_learnt_and_lambda_buys_recourse() {
    for hidden in [vec![12, 8], vec![]] {
        let params = TrainParams { hidden, epochs: 12, learning_rate: 0.01, ..small() };
        let plain = run(TrainParams { lambda: 0.0, ..params.clone() }, 1);
        let with = run(TrainParams { lambda: 2.0, ..params }, 1);
        assert!(plain.best.validation.f1 > 0.95, "{:?}", plain.best);
        assert_eq!(plain.best.recourse, 0.0);
        assert!(with.epochs.last().unwrap().recourse < with.epochs[0].recourse);
        let recourse = |fitted: &Fitted| {
            let validation = population(300, 2);
            assess(&fitted.model, &validation, &Inner::default(), Some(Threshold::HALF)).recourse_neg
        };
        assert!(recourse(&with) > recourse(&plain));
    }
}

#[test]
fn the_best_epoch_has_the_highest_f1_and_of_equals_the_most_recourse() {
    let fitted = run(TrainParams { dropout: 0.3, epochs: 10, ..small() }, 1);
    let key = |report: &EpochReport| (report.validation.f1, report.validation.recourse_all);
    assert!(fitted.epochs.iter().all(|report| key(report) <= key(&fitted.best)));
    assert_eq!(fitted.epochs.len(), 10);
    assert_eq!(fitted.steps, 10 * 40);
    let again = assess(&fitted.model, &population(300, 2), &Inner::default(), Some(fitted.best.validation.threshold));
    assert_eq!(again, fitted.best.validation);
}

#[test]
fn the_best_epoch_by_loss_has_the_lowest_one() {
    let params = TrainParams { dropout: 0.3, epochs: 10, best_epoch: BestEpoch::Loss, ..small() };
    let fitted = run(params, 1);
    assert!(fitted.epochs.iter().all(|report| report.validation.loss >= fitted.best.validation.loss));
    let validation = population(300, 2);
    let mut logits = vec![0.0; validation.len()];
    fitted.model.logits(&validation.points, &mut logits);
    let by_hand = |(&logit, &label): (&f32, &bool)| {
        let towards = f64::from(if label { logit } else { -logit });
        (1.0 + (-towards).exp()).ln()
    };
    let mean = logits.iter().zip(&validation.labels).map(by_hand).sum::<f64>() / validation.len() as f64;
    assert!((mean - fitted.best.validation.loss).abs() < 1e-5);
}

#[test]
fn a_run_stops_when_asked_and_when_nothing_gets_better() {
    let (train, validation) = (population(300, 1), population(100, 2));
    let params = TrainParams { epochs: 50, ..small() }.check().unwrap();
    let mut seen = 0;
    let mut observe = |report: &EpochReport| {
        seen += 1;
        if report.epoch == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let asked = fit(&params, &train, &validation, &mut observe).unwrap();
    assert_eq!((asked.stop, asked.epochs.len(), seen), (Stop::Asked, 3, 3));
    let params = TrainParams { epochs: 200, early_stop: Some(3), learning_rate: 0.02, ..small() }.check().unwrap();
    let patient = fit(&params, &train, &validation, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(patient.stop, Stop::NoBetter);
    assert_eq!(patient.epochs.len(), patient.best.epoch + 3);
}

#[test]
fn a_stop_is_heard_within_an_epoch() {
    let (train, validation) = (population(300, 1), population(100, 2));
    let params = TrainParams { epochs: 50, ..small() }.check().unwrap();
    let an_epoch = train.len().div_ceil(params.batch) as u64;
    let stopped_after = |steps: u64| {
        let left = std::cell::Cell::new(steps);
        let keep_going = || left.replace(left.get().saturating_sub(1)) > 0;
        fit_while(&params, &train, &validation, &mut |_| ControlFlow::Continue(()), &keep_going)
    };
    assert_eq!(stopped_after(an_epoch - 1).unwrap_err(), TrainError::Stopped);
    let stopped = stopped_after(2 * an_epoch + 1).unwrap();
    assert_eq!((stopped.stop, stopped.epochs.len(), stopped.steps), (Stop::Asked, 2, 2 * an_epoch + 1));
}

#[test]
fn rows_that_cannot_be_trained_on_are_refused() {
    let good = population(100, 1);
    let params = small().check().unwrap();
    let attempt = |train: &Examples, validation: &Examples| {
        fit(&params, train, validation, &mut |_| ControlFlow::Continue(())).unwrap_err()
    };
    let one_class = Examples { labels: vec![true; 100], ..good.clone() };
    let single = |split| TrainError::SingleClass { split, rows: 100, label: "favourable" };
    assert_eq!(attempt(&one_class, &good), single("training"));
    assert_eq!(attempt(&good, &one_class), single("validation"));
    assert_eq!(attempt(&population(0, 1), &good), TrainError::Empty { split: "training" });
    let mut nan = good.clone();
    nan.points[WIDTH * 7] = f32::NAN;
    assert_eq!(attempt(&nan, &good), TrainError::NotFinite { split: "training", row: 7 });
    let short = Examples { inner: population(99, 1).inner, ..good.clone() };
    assert_eq!(attempt(&good, &short), TrainError::Shape { split: "validation" });
}

#[test]
fn divergence_is_caught_with_its_epoch() {
    let (train, validation) = (population(100, 1), population(50, 2));
    let params = TrainParams { learning_rate: 1e30, activation: Activation::Relu, ..small() }.check().unwrap();
    let error = fit(&params, &train, &validation, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!(error, TrainError::Diverged { epoch: 1 });
}
