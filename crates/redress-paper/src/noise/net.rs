//! A small dense network that is trained by hand-written backpropagation: what a GAN needs and no more.

use rand::Rng;
use rand::RngExt;
use redress::model::Dense;

/// The slope of the activation below 0.
const LEAK: f32 = 0.2;

/// Dense layers with a leaky ReLU between them and nothing after the last.
#[derive(Debug, Clone)]
pub(super) struct Net {
    layers: Vec<Dense>,
}

/// What a pass leaves behind: the batch that entered each layer, and what left the last one.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    entered: Vec<Vec<f32>>,
    /// What the last layer put out, row after row.
    pub output: Vec<f32>,
}

/// The derivative of a loss with respect to weights and biases, layer by layer.
pub(super) type Slopes = Vec<(Vec<f32>, Vec<f32>)>;

impl Net {
    /// Layers of these widths with weights uniform within ±√(3/inputs): variance 1/inputs.
    pub(super) fn new(widths: &[usize], random: &mut impl Rng) -> Net {
        let layers = widths.windows(2).map(|pair| {
            let (inputs, outputs) = (pair[0], pair[1]);
            let reach = (3.0 / inputs as f32).sqrt();
            let weights = (0..inputs * outputs).map(|_| random.random_range(-reach..reach)).collect();
            Dense { inputs, outputs, weights, bias: vec![0.0; outputs] }
        });
        Net { layers: layers.collect() }
    }

    /// Passes a batch through.
    pub(super) fn run(&self, batch: &[f32]) -> Trace {
        let mut entered = Vec::with_capacity(self.layers.len());
        let mut current = batch.to_vec();
        for (index, layer) in self.layers.iter().enumerate() {
            let mut next = layer.bias.repeat(current.len() / layer.inputs);
            for (row, out) in current.chunks_exact(layer.inputs).zip(next.chunks_exact_mut(layer.outputs)) {
                for (&value, weights) in row.iter().zip(layer.weights.chunks_exact(layer.outputs)) {
                    out.iter_mut().zip(weights).for_each(|(out, weight)| *out += value * weight);
                }
            }
            if index + 1 < self.layers.len() {
                next.iter_mut().filter(|value| **value < 0.0).for_each(|value| *value *= LEAK);
            }
            entered.push(std::mem::replace(&mut current, next));
        }
        Trace { entered, output: current }
    }

    /// Takes the derivative at the output back to the weights and to the input.
    pub(super) fn back(&self, trace: &Trace, output: Vec<f32>) -> (Slopes, Vec<f32>) {
        let mut slopes = Vec::with_capacity(self.layers.len());
        let mut current = output;
        for (index, layer) in self.layers.iter().enumerate().rev() {
            let entered = &trace.entered[index];
            let (mut weights, mut bias) = (vec![0.0; layer.weights.len()], vec![0.0; layer.outputs]);
            let mut before = vec![0.0; entered.len()];
            let rows = entered.chunks_exact(layer.inputs).zip(before.chunks_exact_mut(layer.inputs));
            for (slope, (row, before)) in current.chunks_exact(layer.outputs).zip(rows) {
                bias.iter_mut().zip(slope).for_each(|(bias, slope)| *bias += slope);
                let inputs = row.iter().zip(before).zip(layer.weights.chunks_exact(layer.outputs));
                for (((&value, before), forward), weights) in inputs.zip(weights.chunks_exact_mut(layer.outputs)) {
                    weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight += value * slope);
                    let through: f32 = forward.iter().zip(slope).map(|(weight, slope)| weight * slope).sum();
                    // A value that entered a later layer below 0 came through the leak.
                    *before = if index > 0 && value < 0.0 { LEAK * through } else { through };
                }
            }
            slopes.push((weights, bias));
            current = before;
        }
        slopes.reverse();
        (slopes, current)
    }

    /// Holds every weight within ±`limit`: what keeps a critic Lipschitz (Arjovsky et al. 2017).
    pub(super) fn clip(&mut self, limit: f32) {
        for layer in &mut self.layers {
            layer.weights.iter_mut().chain(&mut layer.bias).for_each(|weight| *weight = weight.clamp(-limit, limit));
        }
    }
}

/// RMSProp, the optimiser of the Wasserstein GAN.
#[derive(Debug)]
pub(super) struct RmsProp {
    rate: f32,
    squares: Slopes,
}

impl RmsProp {
    const DECAY: f32 = 0.9;

    pub(super) fn new(net: &Net, rate: f32) -> RmsProp {
        let zeros = |layer: &Dense| (vec![0.0; layer.weights.len()], vec![0.0; layer.bias.len()]);
        RmsProp { rate, squares: net.layers.iter().map(zeros).collect() }
    }

    /// One step against the slopes.
    pub(super) fn step(&mut self, net: &mut Net, slopes: &Slopes) {
        for ((layer, square), slope) in net.layers.iter_mut().zip(&mut self.squares).zip(slopes) {
            let weights = layer.weights.iter_mut().zip(&mut square.0).zip(&slope.0);
            let biases = layer.bias.iter_mut().zip(&mut square.1).zip(&slope.1);
            for ((weight, square), slope) in weights.chain(biases) {
                *square = Self::DECAY * *square + (1.0 - Self::DECAY) * slope * slope;
                *weight -= self.rate * slope / (square.sqrt() + 1e-8);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Backpropagation agrees with finite differences, for weights and for inputs.
    #[test]
    fn slopes_are_derivatives() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut net = Net::new(&[3, 5, 4, 2], &mut random);
        let batch: Vec<f32> = (0..6).map(|_| random.random_range(-1.0..1.0)).collect();
        let loss =
            |net: &Net, batch: &[f32]| net.run(batch).output.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>();
        let trace = net.run(&batch);
        let (slopes, input) = net.back(&trace, trace.output.iter().map(|value| 2.0 * value).collect());
        let step = 1e-2f32;
        for (layer, slopes) in slopes.iter().enumerate() {
            for weight in 0..net.layers[layer].weights.len() {
                let kept = net.layers[layer].weights[weight];
                let mut at = |value: f32| {
                    net.layers[layer].weights[weight] = value;
                    loss(&net, &batch)
                };
                let difference = (at(kept + step) - at(kept - step)) / f64::from(2.0 * step);
                at(kept);
                assert!((difference - f64::from(slopes.0[weight])).abs() < 2e-2, "layer {layer} weight {weight}");
            }
        }
        for (column, slope) in input.iter().enumerate() {
            let mut moved = batch.clone();
            moved[column] += step;
            let above = loss(&net, &moved);
            moved[column] -= 2.0 * step;
            let difference = (above - loss(&net, &moved)) / f64::from(2.0 * step);
            assert!((difference - f64::from(*slope)).abs() < 2e-2, "input {column}");
        }
    }
}
