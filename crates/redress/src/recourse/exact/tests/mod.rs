//! Laws of bounds and searches.

mod bounds;
mod search;

use crate::model::{Activation, Architecture, Dense, Model};

/// A network with weights a few times as large as fresh ones, so that activations saturate as trained ones do.
fn network(inputs: usize, hidden: &[usize], activation: Activation, gain: f32, seed: u64) -> Model {
    let architecture = Architecture { hidden: hidden.to_vec(), activation, dropout: 0.0 };
    let mut layers: Vec<Dense> = Model::random(inputs, &architecture, seed).unwrap().layers().into_owned();
    layers.iter_mut().flat_map(|layer| &mut layer.weights).for_each(|weight| *weight *= gain);
    Model::from_layers(layers, activation, 0.0).unwrap()
}
