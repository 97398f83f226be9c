//! Boxes as centres and radii.

use super::bounds::Boxes;
use super::envelope::larger;

/// Columns that get a term of their own in the forms; further columns that vary are counted as spread.
pub(super) const MAX_TERMS: usize = 12;

/// Some boxes as centres and radii.
pub(super) struct Chunk {
    pub boxes: usize,
    pub terms: usize,
    pub inputs: usize,
    pub centre: Vec<f32>,
    /// The largest size of each coordinate.
    pub size: Vec<f32>,
    /// For each box, the columns that vary, with their radii.
    pub varying: Vec<Vec<(usize, f32)>>,
}

impl Chunk {
    pub fn new(inputs: usize, low: &[f32], high: &[f32]) -> Self {
        let mut chunk =
            Self { boxes: low.len() / inputs, terms: 0, inputs, centre: vec![], size: vec![], varying: vec![] };
        for (low, high) in low.chunks_exact(inputs).zip(high.chunks_exact(inputs)) {
            let mut varying = Vec::new();
            for (column, (&low, &high)) in low.iter().zip(high).enumerate() {
                let (centre, radius) = Boxes::span(low, high);
                chunk.centre.push(centre);
                chunk.size.push(larger(low.abs(), high.abs()));
                if radius > 0.0 {
                    varying.push((column, radius));
                }
            }
            // The widest columns get terms of their own.
            if varying.len() > MAX_TERMS {
                varying.sort_by(|a, b| b.1.total_cmp(&a.1));
            }
            chunk.terms = chunk.terms.max(varying.len().min(MAX_TERMS));
            chunk.varying.push(varying);
        }
        chunk
    }

    /// The columns of a box that have terms of their own, with their radii.
    pub fn terms(&self, index: usize) -> &[(usize, f32)] {
        let varying = &self.varying[index];
        &varying[..varying.len().min(MAX_TERMS)]
    }

    /// The other columns that vary.
    pub fn rest(&self, index: usize) -> &[(usize, f32)] {
        &self.varying[index][self.terms(index).len()..]
    }
}
