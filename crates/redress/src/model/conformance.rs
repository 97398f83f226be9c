//! What every model must obey, checked for each of them.

use proptest::prelude::*;

use super::*;

fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32 * 4.0 - 2.0
    };
    (0..count).map(|_| next()).collect()
}

/// The slow twin of every model: its layers, one number at a time, in `f64`.
fn twin(model: &Model, point: &[f64]) -> f64 {
    let layers = model.layers();
    let mut values = point.to_vec();
    for (index, layer) in layers.iter().enumerate() {
        let out = (0..layer.outputs).map(|o| {
            let terms = values.iter().enumerate().map(|(k, v)| v * f64::from(layer.weights[k * layer.outputs + o]));
            let z = f64::from(layer.bias[o]) + terms.sum::<f64>();
            match model.architecture().activation {
                _ if index + 1 == layers.len() => z,
                Activation::Tanh => z.tanh(),
                Activation::Relu => z.max(0.0),
            }
        });
        values = out.collect();
    }
    values[0]
}

fn agrees_with_its_twin(model: &Model, points: &[f32]) {
    let mut logits = vec![0.0; points.len() / model.inputs()];
    model.logits(points, &mut logits);
    for (point, logit) in points.chunks(model.inputs()).zip(logits) {
        let point: Vec<f64> = point.iter().map(|&v| f64::from(v)).collect();
        assert!((twin(model, &point) - f64::from(logit)).abs() < 2e-5);
    }
}

fn gradients_are_finite_differences(model: &Model, points: &[f32]) {
    let inputs = model.inputs();
    let (mut logits, mut gradients) = (vec![0.0; points.len() / inputs], vec![0.0; points.len()]);
    model.gradients(points, &mut logits, &mut gradients);
    for (point, gradient) in points.chunks(inputs).zip(gradients.chunks(inputs)) {
        for input in 0..inputs {
            let at = |shift: f64| {
                let mut moved: Vec<f64> = point.iter().map(|&v| f64::from(v)).collect();
                moved[input] += shift;
                twin(model, &moved)
            };
            let (left, right) = ((at(0.0) - at(-1e-6)) / 1e-6, (at(1e-6) - at(0.0)) / 1e-6);
            // A kink of ReLU between the two points has no one slope.
            if (left - right).abs() < 1e-4 {
                let difference = (left + right) / 2.0;
                assert!((f64::from(gradient[input]) - difference).abs() < 1e-4, "{} {difference}", gradient[input]);
            }
        }
    }
}

fn a_batch_has_the_bits_of_its_rows(model: &Model, points: &[f32]) {
    let inputs = model.inputs();
    let rows = points.len() / inputs;
    let (mut logits, mut with_gradients, mut gradients) = (vec![0.0; rows], vec![0.0; rows], vec![0.0; points.len()]);
    model.logits(points, &mut logits);
    model.gradients(points, &mut with_gradients, &mut gradients);
    assert_eq!(logits, with_gradients);
    for (row, point) in points.chunks(inputs).enumerate() {
        let (mut logit, mut gradient) = ([0.0], vec![0.0; inputs]);
        model.gradients(point, &mut logit, &mut gradient);
        assert_eq!(logit[0].to_bits(), logits[row].to_bits());
        assert_eq!(model.logit(point).to_bits(), logits[row].to_bits());
        assert_eq!(gradient, gradients[row * inputs..(row + 1) * inputs]);
    }
}

fn every_instruction_set_agrees(model: &Model, points: &[f32]) {
    let Model::Mlp(mlp) = model else { return };
    let mut logits = Vec::new();
    for isa in Isa::available() {
        let mut out = vec![0.0; points.len() / model.inputs()];
        mlp.clone().on(isa).logits(points, &mut out);
        logits.push((isa.name(), out));
    }
    for pair in logits.windows(2) {
        if pair[0].0 == "avx512" {
            assert_eq!(pair[0].1, pair[1].1, "the fused sets differ");
        }
        for (a, b) in pair[0].1.iter().zip(&pair[1].1) {
            assert!((a - b).abs() < 1e-5, "{} {a}, {} {b}", pair[0].0, pair[1].0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_model_conforms(
        inputs in 1usize..20,
        hidden in prop::collection::vec(1usize..40, 0..4),
        relu: bool,
        rows in 1usize..150,
        seed: u64,
    ) {
        let activation = if relu { Activation::Relu } else { Activation::Tanh };
        let architecture = Architecture { hidden, activation, dropout: 0.3 };
        let model = Model::random(inputs, &architecture, seed).unwrap();
        prop_assert_eq!(&model, &Model::random(inputs, &architecture, seed).unwrap());
        prop_assert_eq!(model.inputs(), inputs);
        prop_assert_eq!(model.architecture().hidden, architecture.hidden);
        let points = numbers(inputs * rows, seed);
        agrees_with_its_twin(&model, &points);
        gradients_are_finite_differences(&model, &points[..inputs * rows.min(5)]);
        a_batch_has_the_bits_of_its_rows(&model, &points);
        every_instruction_set_agrees(&model, &points);
        let again = Model::from_layers(model.layers().into_owned(), activation, 0.3).unwrap();
        prop_assert_eq!(&again, &model);
    }
}

#[test]
fn random_weights_stay_within_one_over_the_root_of_the_inputs() {
    let model = Model::random(25, &Architecture::default(), 7).unwrap();
    for layer in model.layers().iter() {
        let limit = 1.0 / (layer.inputs as f32).sqrt();
        assert!(layer.weights.iter().chain(&layer.bias).all(|w| w.abs() <= limit));
    }
    let first = &model.layers()[0].weights;
    assert!(first.iter().any(|w| *w > 0.15) && first.iter().any(|w| *w < -0.15));
    assert_ne!(model, Model::random(25, &Architecture::default(), 8).unwrap());
}

#[test]
fn layers_that_make_no_model_are_refused() {
    let dense =
        |inputs, outputs| Dense { inputs, outputs, weights: vec![0.1; inputs * outputs], bias: vec![0.0; outputs] };
    let make = |layers| Model::from_layers(layers, Activation::Tanh, 0.0).unwrap_err();
    assert_eq!(make(vec![]), ModelError::NoLayers);
    assert_eq!(make(vec![dense(2, 3)]), ModelError::NotOneLogit { outputs: 3 });
    assert_eq!(make(vec![dense(2, 3), dense(4, 1)]), ModelError::Mismatch { layer: 1, inputs: 4, before: 3 });
    assert_eq!(make(vec![dense(0, 1)]), ModelError::EmptyLayer { layer: 0, inputs: 0, outputs: 1 });
    let mut short = dense(2, 1);
    short.weights.pop();
    assert!(matches!(make(vec![short]), ModelError::WrongCount { layer: 0, weights: 1, .. }));
    let mut nan = dense(2, 1);
    nan.bias[0] = f32::NAN;
    assert!(matches!(make(vec![dense(2, 2), nan]), ModelError::NotFinite { layer: 1, .. }));
    for dropout in [-0.1, 1.0, f32::NAN] {
        let error = Mlp::new(vec![dense(2, 2), dense(2, 1)], Activation::Relu, dropout).unwrap_err();
        assert!(matches!(error, ModelError::Dropout(_)));
    }
}
