//! The multi-layer perceptron.

use super::kernel::Isa;
use super::packed::{Packed, Trace};
use super::{Activation, Dense, ModelError, Scorer, check_layers};

/// Rows that pass through the network together: enough to fill the register tiles, few enough to stay in cache.
const CHUNK: usize = 64;

/// Dense layers with an activation between each two.
///
/// Dropout is a matter of training alone: scores never drop anything.
#[derive(Debug, Clone)]
pub struct Mlp {
    layers: Vec<Dense>,
    activation: Activation,
    dropout: f32,
    packed: Packed,
    isa: Isa,
}

impl Mlp {
    /// A network of these layers, the last of which puts out the logit.
    pub fn new(layers: Vec<Dense>, activation: Activation, dropout: f32) -> Result<Mlp, ModelError> {
        check_layers(&layers)?;
        if !(0.0..1.0).contains(&dropout) {
            return Err(ModelError::Dropout(dropout));
        }
        let packed = Packed::new(&layers);
        Ok(Mlp { layers, activation, dropout, packed, isa: Isa::detect() })
    }

    /// The same network on another instruction set of this machine.
    pub fn on(self, isa: Isa) -> Mlp {
        Mlp { isa, ..self }
    }

    /// The layers from input to logit.
    pub fn layers(&self) -> &[Dense] {
        &self.layers
    }

    /// What happens between layers.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The chance with which training dropped a hidden output.
    pub fn dropout(&self) -> f32 {
        self.dropout
    }

    fn chunk(&self, rows: usize) -> usize {
        rows.clamp(1, CHUNK)
    }
}

impl PartialEq for Mlp {
    /// Equal layers, activation and dropout; the instruction set is the machine's affair.
    fn eq(&self, other: &Mlp) -> bool {
        self.layers == other.layers && self.activation == other.activation && self.dropout == other.dropout
    }
}

impl Scorer for Mlp {
    fn inputs(&self) -> usize {
        self.packed.inputs()
    }

    fn logits(&self, points: &[f32], logits: &mut [f32]) {
        #[cfg(test)]
        super::counter::note(logits.len());
        let inputs = self.inputs();
        let mut trace = Trace::forward_only(&self.packed, self.chunk(logits.len()));
        for (points, logits) in points.chunks(CHUNK * inputs).zip(logits.chunks_mut(CHUNK)) {
            trace.points[..points.len()].copy_from_slice(points);
            self.packed.forward(self.isa, self.activation, &mut trace, 0..logits.len(), None);
            logits.iter_mut().enumerate().for_each(|(row, logit)| *logit = trace.logit(row));
        }
    }

    fn gradients(&self, points: &[f32], logits: &mut [f32], gradients: &mut [f32]) {
        #[cfg(test)]
        super::counter::note(2 * logits.len());
        let inputs = self.inputs();
        let mut trace = Trace::new(&self.packed, self.chunk(logits.len()));
        let chunks = gradients.chunks_mut(CHUNK * inputs).zip(logits.chunks_mut(CHUNK));
        for (points, (gradients, logits)) in points.chunks(CHUNK * inputs).zip(chunks) {
            trace.points[..points.len()].copy_from_slice(points);
            self.packed.forward(self.isa, self.activation, &mut trace, 0..logits.len(), None);
            self.packed.backward(self.isa, &mut trace, 0..logits.len(), |_| 1.0, true);
            for (row, (logit, gradient)) in logits.iter_mut().zip(gradients.chunks_exact_mut(inputs)).enumerate() {
                *logit = trace.logit(row);
                gradient.copy_from_slice(trace.gradient(row, inputs));
            }
        }
    }
}
