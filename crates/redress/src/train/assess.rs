//! How a model does on rows it was not trained on.

use rayon::prelude::*;

use super::inner::Search;
use super::objective::loss;
use super::{Examples, Inner};
use crate::audit::metrics::{best_f1, performance};
use crate::calibrate::Threshold;
use crate::model::Scorer;

/// Rows a task; fixed, so that the work is cut alike on any number of threads.
const CHUNK: usize = 256;

/// Performance and recourse of a model at a threshold.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Assessment {
    /// The threshold: given, or the F1-best on these rows.
    pub threshold: Threshold,
    /// F1 at the threshold.
    pub f1: f64,
    /// Accuracy at the threshold.
    pub accuracy: f64,
    /// The mean of ℓ(g(x), y), whatever the threshold.
    pub loss: f64,
    /// P[f(x + δ*) = 1 | f(x) = 0]; none where nobody is turned down.
    pub recourse_neg: Option<f64>,
    /// P[f(x) = 1 or f(x + δ*) = 1].
    pub recourse_all: f64,
}

/// The logits of everybody, where they are and where δ* takes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Reached {
    /// g(x).
    pub logits: Vec<f32>,
    /// g(x + δ*).
    pub moved: Vec<f32>,
}

/// Scores every row where it is and after its own δ*, on all threads; the result does not depend on their number.
pub fn reach(model: &dyn Scorer, examples: &Examples, inner: &Inner) -> Reached {
    let width = model.inputs();
    let mut reached = Reached { logits: vec![0.0; examples.len()], moved: vec![0.0; examples.len()] };
    let outputs = reached.logits.par_chunks_mut(CHUNK).zip(reached.moved.par_chunks_mut(CHUNK));
    let chunks = examples.points.par_chunks(CHUNK * width).zip(outputs).enumerate();
    chunks.for_each(|(chunk, (points, (logits, moved)))| {
        let first = (chunk * CHUNK) as u32;
        let rows: Vec<u32> = (first..first + logits.len() as u32).collect();
        let mut search = Search::new(inner.clone(), width, logits.len());
        model.gradients(points, logits, &mut search.gradients);
        let mut score = |points: &[f32], logits: &mut [f32], gradients: &mut [f32]| {
            model.gradients(points, logits, gradients);
        };
        search.run(&examples.inner, &rows, points, &mut score);
        model.logits(&search.moved, moved);
    });
    reached
}

/// Performance and recourse on these rows, at the given threshold or else at the F1-best one.
pub fn assess(model: &dyn Scorer, examples: &Examples, inner: &Inner, threshold: Option<Threshold>) -> Assessment {
    let Reached { logits, moved } = reach(model, examples, inner);
    let threshold = threshold.unwrap_or_else(|| best_f1(&logits, &examples.labels, None).0);
    let figures = performance(&logits, &examples.labels, threshold);
    let denied: Vec<usize> = (0..logits.len()).filter(|&row| !threshold.approves(logits[row])).collect();
    let helped = denied.iter().filter(|&&row| threshold.approves(moved[row])).count();
    let approved = logits.len() - denied.len();
    let losses = logits.iter().zip(&examples.labels).map(|(&logit, &label)| f64::from(loss(logit, label)));
    Assessment {
        threshold,
        f1: figures.f1,
        accuracy: figures.accuracy,
        loss: losses.sum::<f64>() / logits.len().max(1) as f64,
        recourse_neg: (!denied.is_empty()).then(|| helped as f64 / denied.len() as f64),
        recourse_all: if logits.is_empty() { 0.0 } else { (approved + helped) as f64 / logits.len() as f64 },
    }
}
