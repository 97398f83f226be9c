//! From original units to the model's input and exactly back.
//!
//! Numbers, whole numbers and the ranks of ordered categories are standardised, `(v − mean) / std`, with the mean and the
//! standard deviation of the training rows; yes/no is 0/1; a category is one-hot. [`Encoding::encode`] is the only way a
//! point is made, so two equal people are equal points bit for bit, and [`Encoding::decode`] finds the way back.
//!
//! ```
//! use std::sync::Arc;
//! use redress::dataset::{Dataset, Feature, FeatureKind, People, Schema};
//! use redress::encoding::Encoding;
//!
//! let hours = Feature { column: "hours".into(), label: "hours".into(), unit: None, kind: FeatureKind::Integer, fill: None };
//! let schema = Arc::new(Schema { features: vec![hours] });
//! let people = People { schema, values: vec![30.0, 40.0, 50.0], source_rows: vec![1, 2, 3], overrides: vec![] };
//! let encoding = Encoding::fit(&Dataset { people, labels: vec![false, true, true], groups: vec![] });
//!
//! let mut point = [0.0];
//! encoding.encode(&[48.0], &mut point);
//! assert!((point[0] - 0.9797959).abs() < 1e-6); // (48 − 40) / 8.165
//! assert_eq!(encoding.decode(&point).unwrap(), [48.0]);
//! ```

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, FeatureKind, People, Schema};

mod decode;
mod statistics;
#[cfg(test)]
mod tests;

pub use decode::DecodeError;
pub use statistics::Statistics;

/// How people become points: fitted on training rows, kept with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Encoding {
    schema: Arc<Schema>,
    columns: Vec<Columns>,
    statistics: Vec<Statistics>,
    width: usize,
}

/// Where one feature stands in a point and how it is scaled. `scale > 0` always.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Columns {
    start: usize,
    count: usize,
    shape: Shape,
    centre: f64,
    scale: f64,
}

/// What the columns of a feature hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Scaled,
    OneHot,
}

/// What is written to disk: all else follows from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    schema: Schema,
    statistics: Vec<Statistics>,
}

/// Why stored text is not an encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodingError {
    /// The statistics do not belong to the schema.
    #[error("the schema has {features} features, but there are statistics of {statistics}")]
    Length {
        /// Features of the schema.
        features: usize,
        /// Entries of the statistics.
        statistics: usize,
    },
    /// A mean that is not finite, or a deviation that is not finite and positive.
    #[error("the statistics of feature `{0}` are not finite numbers with a positive deviation")]
    Statistics(String),
}

impl Encoding {
    /// Fits means, deviations and distributions on these rows; pass training rows and no others.
    pub fn fit(dataset: &Dataset) -> Self {
        let people = &dataset.people;
        let statistics = (0..people.schema.features.len())
            .into_par_iter()
            .map(|feature| Statistics::of((0..people.len()).map(|row| people.row(row)[feature]).collect()))
            .collect();
        Self::assemble(people.schema.clone(), statistics)
    }

    fn assemble(schema: Arc<Schema>, statistics: Vec<Statistics>) -> Self {
        let mut columns = Vec::with_capacity(schema.features.len());
        let mut width = 0;
        for (feature, statistics) in schema.features.iter().zip(&statistics) {
            let (count, shape, centre, scale) = match &feature.kind {
                FeatureKind::Number | FeatureKind::Integer | FeatureKind::Ordered { .. } => {
                    (1, Shape::Scaled, statistics.mean, statistics.deviation)
                }
                FeatureKind::YesNo { .. } => (1, Shape::Scaled, 0.0, 1.0),
                FeatureKind::Category { values } => (values.len(), Shape::OneHot, 0.0, 1.0),
            };
            columns.push(Columns { start: width, count, shape, centre, scale });
            width += count;
        }
        Self { schema, columns, statistics, width }
    }

    /// The number of columns of a point.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The features, their kinds and categories.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The columns of a point that belong to a feature: one, or one for each value of a category.
    pub fn columns(&self, feature: usize) -> Range<usize> {
        let columns = &self.columns[feature];
        columns.start..columns.start + columns.count
    }

    /// The mean over the training rows, in original units (numeric form).
    pub fn mean(&self, feature: usize) -> f64 {
        self.statistics[feature].mean
    }

    /// The standard deviation over the training rows, in original units; 1 for yes/no, for categories and for a constant
    /// column. One deviation is one unit of the encoded column.
    pub fn deviation(&self, feature: usize) -> f64 {
        self.columns[feature].scale
    }

    /// Mean, deviation, median absolute deviation and distribution of a feature over the training rows.
    pub fn statistics(&self, feature: usize) -> &Statistics {
        &self.statistics[feature]
    }

    /// Writes the point of a person. `values` are in original units, one a feature; `point` has [`Encoding::width`]
    /// columns. Allocates nothing.
    pub fn encode(&self, values: &[f64], point: &mut [f32]) {
        for (feature, &value) in values.iter().enumerate() {
            self.encode_feature(feature, value, point);
        }
    }

    /// Writes the columns of one feature into a point: [`Encoding::encode`] is this for every feature.
    #[inline]
    pub fn encode_feature(&self, feature: usize, value: f64, point: &mut [f32]) {
        let columns = &self.columns[feature];
        match columns.shape {
            Shape::Scaled => point[columns.start] = columns.scaled(value),
            Shape::OneHot => {
                let hot = value as usize;
                for (index, cell) in point[columns.start..columns.start + columns.count].iter_mut().enumerate() {
                    *cell = if index == hot { 1.0 } else { 0.0 };
                }
            }
        }
    }

    /// The coordinate of a feature that has one column.
    #[inline]
    pub(crate) fn scaled(&self, feature: usize, value: f64) -> f32 {
        self.columns[feature].scaled(value)
    }

    /// The points of all people, row after row.
    pub fn encode_all(&self, people: &People) -> Vec<f32> {
        let mut points = vec![0.0; people.len() * self.width];
        if self.width > 0 {
            for (row, point) in points.chunks_exact_mut(self.width).enumerate() {
                self.encode(people.row(row), point);
            }
        }
        points
    }
}

impl Columns {
    /// `(value − centre) / scale`. Every step rounds monotonically, so a larger value is never a smaller coordinate:
    /// bounds on values are bounds on points. The clamp keeps points finite; adding 0 turns −0 into 0.
    #[inline]
    fn scaled(&self, value: f64) -> f32 {
        const MAX: f64 = f32::MAX as f64;
        ((value - self.centre) / self.scale).clamp(-MAX, MAX) as f32 + 0.0
    }
}

impl From<Encoding> for Stored {
    fn from(encoding: Encoding) -> Self {
        Self { schema: Arc::unwrap_or_clone(encoding.schema), statistics: encoding.statistics }
    }
}

impl TryFrom<Stored> for Encoding {
    type Error = EncodingError;

    fn try_from(stored: Stored) -> Result<Self, EncodingError> {
        let (features, statistics) = (stored.schema.features.len(), stored.statistics.len());
        if features != statistics {
            return Err(EncodingError::Length { features, statistics });
        }
        for (feature, statistics) in stored.schema.features.iter().zip(&stored.statistics) {
            if !statistics.is_sound() {
                return Err(EncodingError::Statistics(feature.column.clone()));
            }
        }
        Ok(Self::assemble(Arc::new(stored.schema), stored.statistics))
    }
}
