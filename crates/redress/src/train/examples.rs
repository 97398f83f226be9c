//! The rows of a split as training wants them.

use super::inner::InnerProblem;
use crate::dataset::Dataset;
use crate::feasible::{ActionSpace, SpaceError};

/// Encoded rows with their labels and what each person may change.
#[derive(Debug, Clone)]
pub struct Examples {
    /// The encoded points, row after row.
    pub points: Vec<f32>,
    /// Whether the label is favourable.
    pub labels: Vec<bool>,
    /// Δ(x) of every row.
    pub inner: InnerProblem,
}

impl Examples {
    /// Encodes the rows of a data set and prepares what each person may change.
    pub fn new(dataset: &Dataset, space: &ActionSpace) -> Result<Examples, SpaceError> {
        Ok(Examples {
            points: space.encoding().encode_all(&dataset.people),
            labels: dataset.labels.clone(),
            inner: InnerProblem::new(space, &dataset.people)?,
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The number of columns of a point.
    pub fn width(&self) -> usize {
        self.points.len().checked_div(self.len()).unwrap_or(0)
    }

    /// The point of a row.
    pub fn point(&self, row: usize) -> &[f32] {
        &self.points[row * self.width()..][..self.width()]
    }
}
