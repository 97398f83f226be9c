//! A Wasserstein GAN with an inverter, and disturbances that stay near the data (Zhao, Dua and Singh 2018).
//!
//! The generator G makes rows from Gaussian codes z; a critic with clipped weights tells them from real rows; the
//! inverter I finds the code of a row. A disturbance of x is `G(z̃) − G(I(x))` for a code z̃ near `I(x)`:
//! [`Gan::natural`] looks for the nearest z̃ whose row the classifier decides otherwise, [`Gan::aimless`] takes any.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use redress::{
    calibrate::Threshold,
    model::{Model, Scorer},
};

use super::net::{Net, RmsProp, Trace};

/// How a GAN is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GanParams {
    /// The length of a code.
    pub code: usize,
    /// The width of the two hidden layers of each network.
    pub hidden: usize,
    /// Steps of the generator; the critic takes [`GanParams::critic`] for each.
    pub steps: usize,
    /// Steps of the critic for one of the generator.
    pub critic: usize,
    /// Rows a step.
    pub batch: usize,
    /// Where the critic's weights are clipped.
    pub clip: f32,
    /// RMSProp's step size.
    pub rate: f32,
    /// The seed of weights, codes and batches.
    pub seed: u64,
}

impl Default for GanParams {
    fn default() -> Self {
        GanParams { code: 8, hidden: 48, steps: 1500, critic: 5, batch: 64, clip: 0.05, rate: 1e-3, seed: 0 }
    }
}

/// A trained generator and inverter.
#[derive(Debug, Clone)]
pub struct Gan {
    generator: Net,
    inverter: Net,
    code: usize,
}

impl Gan {
    /// Trains on rows of `width` numbers each. There must be at least one row. Ends early once `keep_going` says no, with
    /// what it has come to by then.
    pub fn train(params: &GanParams, points: &[f32], width: usize, keep_going: &dyn Fn() -> bool) -> Gan {
        let GanParams { code, hidden, batch, .. } = *params;
        let mut random = ChaCha8Rng::seed_from_u64(params.seed);
        let mut generator = Net::new(&[code, hidden, hidden, width], &mut random);
        let mut critic = Net::new(&[width, hidden, hidden, 1], &mut random);
        let (mut generate, mut criticise) = (RmsProp::new(&generator, params.rate), RmsProp::new(&critic, params.rate));
        for _ in (0..params.steps).take_while(|_| keep_going()) {
            for _ in 0..params.critic {
                let made = generator.run(&codes(batch, code, &mut random)).output;
                let real = sample(points, width, batch, &mut random);
                // The critic raises its score of real rows and lowers that of made ones.
                for (rows, towards) in [(real, -1.0), (made, 1.0)] {
                    let trace = critic.run(&rows);
                    let (slopes, _) = critic.back(&trace, vec![towards / batch as f32; batch]);
                    criticise.step(&mut critic, &slopes);
                }
                critic.clip(params.clip);
            }
            let trace = generator.run(&codes(batch, code, &mut random));
            let judged = critic.run(&trace.output);
            let (_, towards) = critic.back(&judged, vec![-1.0 / batch as f32; batch]);
            let (slopes, _) = generator.back(&trace, towards);
            generate.step(&mut generator, &slopes);
        }
        let inverter = invert(params, &generator, (points, width), &mut random, keep_going);
        Gan { generator, inverter, code }
    }

    /// G(z) for codes row after row.
    pub fn generate(&self, codes: &[f32]) -> Vec<f32> {
        self.generator.run(codes).output
    }

    /// I(x) for rows row after row.
    pub fn invert(&self, points: &[f32]) -> Vec<f32> {
        self.inverter.run(points).output
    }

    /// `G(z̃) − G(I(x))` for a random z̃ at the distance `radius` from I(x), whatever the classifier says of it.
    pub fn aimless(&self, point: &[f32], radius: f32, random: &mut impl Rng) -> Vec<f32> {
        let code = self.invert(point);
        let moved: Vec<f32> =
            code.iter().zip(shell(self.code, radius, random)).map(|(code, step)| code + step).collect();
        difference(&self.generate(&moved), &self.generate(&code))
    }

    /// A natural adversarial example: codes are drawn from shells around I(x) that grow from `radius` on, until the
    /// classifier decides a made row otherwise than G(I(x)); of those the nearest code wins. None if no shell has one.
    pub fn natural(
        &self,
        point: &[f32],
        (model, threshold): (&Model, Threshold),
        radius: f32,
        random: &mut impl Rng,
    ) -> Option<Vec<f32>> {
        const SHELLS: usize = 20;
        const DRAWS: usize = 32;
        let code = self.invert(point);
        let origin = self.generate(&code);
        let decided = threshold.approves(model.logit(&origin));
        for shell_index in 1..=SHELLS {
            let within = radius * shell_index as f32;
            let mut tried = Vec::with_capacity(DRAWS * self.code);
            let mut lengths = Vec::with_capacity(DRAWS);
            for _ in 0..DRAWS {
                let length = within - radius * random.random::<f32>();
                lengths.push(length);
                tried.extend(code.iter().zip(shell(self.code, length, random)).map(|(code, step)| code + step));
            }
            let made = self.generate(&tried);
            let mut logits = vec![0.0; DRAWS];
            model.logits(&made, &mut logits);
            let turned = (0..DRAWS).filter(|&draw| threshold.approves(logits[draw]) != decided);
            if let Some(nearest) = turned.min_by(|&a, &b| lengths[a].total_cmp(&lengths[b])) {
                return Some(difference(&made[nearest * point.len()..(nearest + 1) * point.len()], &origin));
            }
        }
        None
    }
}

/// Trains I to undo G: small `|G(I(x)) − x|²` on real rows and `|I(G(z)) − z|²` on codes.
fn invert(
    params: &GanParams,
    generator: &Net,
    (points, width): (&[f32], usize),
    random: &mut ChaCha8Rng,
    keep_going: &dyn Fn() -> bool,
) -> Net {
    let GanParams { code, hidden, batch, .. } = *params;
    let mut inverter = Net::new(&[width, hidden, hidden, code], random);
    let mut descend = RmsProp::new(&inverter, params.rate);
    let pull = |trace: &Trace, target: &[f32]| -> Vec<f32> {
        let scale = 2.0 / batch as f32;
        trace.output.iter().zip(target).map(|(found, wanted)| scale * (found - wanted)).collect()
    };
    for _ in (0..params.steps).take_while(|_| keep_going()) {
        let real = sample(points, width, batch, random);
        let found = inverter.run(&real);
        let made = generator.run(&found.output);
        let (_, towards) = generator.back(&made, pull(&made, &real));
        let (slopes, _) = inverter.back(&found, towards);
        descend.step(&mut inverter, &slopes);

        let wanted = codes(batch, code, random);
        let found = inverter.run(&generator.run(&wanted).output);
        let (slopes, _) = inverter.back(&found, pull(&found, &wanted));
        descend.step(&mut inverter, &slopes);
    }
    inverter
}

/// Standard normal codes, row after row.
fn codes(rows: usize, code: usize, random: &mut impl Rng) -> Vec<f32> {
    (0..rows * code).map(|_| StandardNormal.sample(random)).collect()
}

/// Rows drawn with replacement.
fn sample(points: &[f32], width: usize, rows: usize, random: &mut impl Rng) -> Vec<f32> {
    let all = points.len() / width;
    (0..rows)
        .flat_map(|_| {
            let row = random.random_range(0..all);
            points[row * width..(row + 1) * width].iter().copied()
        })
        .collect()
}

/// A step of this length in a random direction.
fn shell(code: usize, length: f32, random: &mut impl Rng) -> Vec<f32> {
    let step = codes(1, code, random);
    let norm = step.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
    step.into_iter().map(|value| value * length / norm).collect()
}

fn difference(to: &[f32], from: &[f32]) -> Vec<f32> {
    to.iter().zip(from).map(|(to, from)| to - from).collect()
}

#[cfg(test)]
mod tests {
    use redress::model::Linear;

    use super::*;

    /// Two correlated columns far from where an untrained generator puts its rows.
    fn line() -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let draw = |random: &mut ChaCha8Rng| -> f32 { StandardNormal.sample(random) };
        (0..500)
            .flat_map(|_| {
                let along = draw(&mut random);
                [2.0 + along, -1.0 + along + 0.1 * draw(&mut random)]
            })
            .collect()
    }

    #[test]
    fn made_rows_come_to_lie_where_the_real_ones_do() {
        let gan = Gan::train(&GanParams { steps: 600, ..GanParams::default() }, &line(), 2, &|| true);
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let made = gan.generate(&codes(500, 8, &mut random));
        let mean = |column: usize| made.chunks_exact(2).map(|row| row[column]).sum::<f32>() / 500.0;
        assert!((mean(0) - 2.0).abs() < 0.5, "{}", mean(0));
        assert!((mean(1) + 1.0).abs() < 0.5, "{}", mean(1));
        // Points off the line y = x − 3 are rare.
        let off = made.chunks_exact(2).map(|row| (row[1] - row[0] + 3.0).abs()).sum::<f32>() / 500.0;
        assert!(off < 0.5, "{off}");
    }

    #[test]
    fn a_natural_example_is_decided_otherwise() {
        let gan = Gan::train(&GanParams { steps: 300, ..GanParams::default() }, &line(), 2, &|| true);
        let model = Model::Linear(Linear::new(vec![1.0, 0.0], -2.0).unwrap());
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let point = [1.8, -1.2];
        let change = gan.natural(&point, (&model, Threshold::HALF), 0.2, &mut random).unwrap();
        let origin = gan.generate(&gan.invert(&point));
        let moved: Vec<f32> = origin.iter().zip(&change).map(|(origin, change)| origin + change).collect();
        assert_ne!(Threshold::HALF.approves(model.logit(&origin)), Threshold::HALF.approves(model.logit(&moved)));
    }
}
