//! DeepFool (Moosavi-Dezfooli, Fawzi and Frossard 2016): the small step over the nearest linearised boundary, repeated.

use redress::{
    calibrate::Threshold,
    model::{Model, Scorer},
};

/// How far beyond the linearised boundary the result is taken, as in the original.
const OVERSHOOT: f32 = 0.02;

/// The disturbance of `point` that changes its decision, or the last one tried after `steps` linearisations.
///
/// Each step solves `g(x) + ∇g(x)ᵀr = θ₀` for the shortest r, which is `(θ₀ − g(x))·∇g(x) / |∇g(x)|²`. For a linear
/// score one step is enough. By hand: g = 2·x₀ − 1 at x₀ = 0 with θ₀ = 0 gives r = ½, and ½·1.02 with the overshoot.
pub fn disturbance(model: &Model, threshold: Threshold, point: &[f32], steps: usize) -> Vec<f32> {
    let target = threshold.logit() as f32;
    let (mut logit, mut gradient) = ([0.0], vec![0.0; point.len()]);
    let mut total = vec![0.0; point.len()];
    let mut current = point.to_vec();
    model.gradients(&current, &mut logit, &mut gradient);
    let decided = threshold.approves(logit[0]);
    for _ in 0..steps {
        let square: f32 = gradient.iter().map(|slope| slope * slope).sum();
        let scale = (target - logit[0]) / square;
        if !scale.is_finite() {
            break;
        }
        total.iter_mut().zip(&gradient).for_each(|(total, slope)| *total += scale * slope);
        for (at, (start, total)) in current.iter_mut().zip(point.iter().zip(&total)) {
            *at = start + (1.0 + OVERSHOOT) * total;
        }
        model.gradients(&current, &mut logit, &mut gradient);
        if threshold.approves(logit[0]) != decided {
            break;
        }
    }
    total.into_iter().map(|value| (1.0 + OVERSHOOT) * value).collect()
}

#[cfg(test)]
mod tests {
    use redress::model::{Architecture, Linear};

    use super::*;

    #[test]
    fn a_linear_score_by_hand() {
        let model = Model::Linear(Linear::new(vec![2.0, 0.0], -1.0).unwrap());
        let found = disturbance(&model, Threshold::HALF, &[0.0, 3.0], 50);
        assert!((found[0] - 0.51).abs() < 1e-6 && found[1] == 0.0, "{found:?}");
    }

    #[test]
    fn a_network_is_turned_both_ways() {
        let model = Model::random(4, &Architecture::default(), 11).unwrap();
        let point = [0.3, -0.4, 1.0, 0.0];
        let here = f64::from(model.logit(&point));
        for threshold in [here - 0.02, here + 0.02].map(Threshold::from_logit) {
            let change = disturbance(&model, threshold, &point, 50);
            let moved: Vec<f32> = point.iter().zip(&change).map(|(point, change)| point + change).collect();
            assert_ne!(threshold.approves(model.logit(&point)), threshold.approves(model.logit(&moved)));
        }
    }
}
