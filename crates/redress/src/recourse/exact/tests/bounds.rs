//! Bounds on the logit, against points of their boxes.

use proptest::prelude::*;

use super::network;
use crate::model::{Activation, Linear, Model, Scorer};
use crate::recourse::exact::bounds::{Bounder, Boxes};

fn box_of(inputs: usize, seed: u64, radius: f32, varying: usize) -> (Vec<f32>, Vec<f32>) {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let centre: Vec<f32> = (0..inputs).map(|_| random.random_range(-2.0..2.0)).collect();
    let low = centre.iter().enumerate().map(|(i, c)| if i < varying { c - radius } else { *c }).collect();
    let high = centre.iter().enumerate().map(|(i, c)| if i < varying { c + radius } else { *c }).collect();
    (low, high)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_point_of_a_box_has_a_logit_outside_its_bound(
        hidden in prop::collection::vec(1usize..40, 0..4), inputs in 1usize..20, varying in 1usize..16,
        tanh: bool, gain in 0.5f32..6.0, size in -4.0f32..0.7, seed: u64,
    ) {
        use rand::{RngExt, SeedableRng};
        let activation = if tanh { Activation::Tanh } else { Activation::Relu };
        let model = network(inputs, &hidden, activation, gain, seed);
        let (low, high) = box_of(inputs, seed ^ 1, 10f32.powf(size), varying);
        let bound = Bounder::new(&model).bound_one(&low, &high);
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed ^ 2);
        let mut points = Vec::new();
        for draw in 0..400 {
            for (&low, &high) in low.iter().zip(&high) {
                let at: f32 = match draw % 3 {
                    0 => random.random(),
                    1 => f32::from(u8::from(random.random::<bool>())),
                    _ => [0.0, 1.0, random.random()][random.random_range(0..3)],
                };
                points.push((low + at * (high - low)).clamp(low, high));
            }
        }
        let mut logits = vec![0.0; points.len() / inputs];
        model.logits(&points, &mut logits);
        for logit in logits {
            let logit = f64::from(logit);
            prop_assert!(bound.lower <= logit && logit <= bound.upper, "{logit} outside {bound:?}");
        }
    }

    #[test]
    fn a_box_has_the_same_bound_in_any_batch(boxes in 1usize..40, seed: u64) {
        let model = network(5, &[17, 33], Activation::Tanh, 2.0, seed);
        let bounder = Bounder::new(&model);
        let mut all = Boxes::default();
        for index in 0..boxes {
            let (low, high) = box_of(5, seed ^ index as u64, 0.3, index % 6);
            all.low.extend(low);
            all.high.extend(high);
        }
        let together = bounder.bound(&all).bounds;
        for (index, bound) in together.iter().enumerate() {
            let row = index * 5..(index + 1) * 5;
            prop_assert_eq!(*bound, bounder.bound_one(&all.low[row.clone()], &all.high[row]));
        }
    }
}

#[test]
fn the_slack_of_a_tanh_bound_shrinks_with_the_square_of_the_box() {
    let model = network(9, &[100, 100, 100], Activation::Tanh, 1.7, 3);
    let bounder = Bounder::new(&model);
    let slack = |radius: f32| {
        let (low, high) = box_of(9, 5, radius, 2);
        let bound = bounder.bound_one(&low, &high);
        let mut best = f64::NEG_INFINITY;
        for i in 0..=60 {
            for j in 0..=60 {
                let mut point = low.clone();
                for (column, step) in [(0, i), (1, j)] {
                    point[column] += (high[column] - low[column]) * step as f32 / 60.0;
                }
                best = best.max(f64::from(model.logit(&point)));
            }
        }
        bound.upper - best
    };
    let (coarse, fine) = (slack(0.2), slack(0.05));
    assert!(fine < coarse / 8.0, "{coarse} {fine}");
}

#[test]
fn a_linear_model_is_bounded_exactly_up_to_rounding() {
    let model = Model::Linear(Linear::new(vec![2.0, -1.0], 0.5).unwrap());
    let bound = Bounder::new(&model).bound_one(&[-1.0, 0.0], &[1.0, 3.0]);
    assert!((bound.upper - 2.5).abs() < 1e-4 && bound.upper >= 2.5, "{bound:?}");
    assert!((bound.lower + 4.5).abs() < 1e-4 && bound.lower <= -4.5, "{bound:?}");
}
