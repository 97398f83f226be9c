//! The way back from a point to values in original units.

use super::{Columns, Encoding, Shape};
use crate::dataset::FeatureKind;

/// Why a point is nobody's.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// The point has more or fewer columns than the encoding.
    #[error("the point has {found} columns, the encoding has {expected}")]
    Width {
        /// Columns of the point.
        found: usize,
        /// Columns of the encoding.
        expected: usize,
    },
    /// A coordinate is infinite or not a number.
    #[error("the point's column {column} (feature `{feature}`) is {value}, not a finite number")]
    NotFinite {
        /// The column of the point.
        column: usize,
        /// The feature it belongs to.
        feature: String,
        /// What stands there.
        value: f32,
    },
    /// The columns of a category do not hold one 1 and else 0.
    #[error("the point's columns of feature `{feature}` do not mark exactly one category")]
    NotOneCategory {
        /// The feature.
        feature: String,
    },
}

impl Encoding {
    /// The values, in original units, that encode to this point.
    ///
    /// Whole numbers, yes/no and ranks are rounded to the nearest possible value. A number becomes the shortest decimal
    /// that encodes to the same coordinate, so `40.1` comes back as `40.1`. For every point that [`Encoding::encode`]
    /// made, encoding the result gives the same point bit for bit.
    pub fn decode(&self, point: &[f32]) -> Result<Vec<f64>, DecodeError> {
        if point.len() != self.width {
            return Err(DecodeError::Width { found: point.len(), expected: self.width });
        }
        let features = self.schema.features.iter().zip(&self.columns);
        features
            .map(|(feature, columns)| {
                let cells = &point[columns.start..columns.start + columns.count];
                if let Some(offset) = cells.iter().position(|cell| !cell.is_finite()) {
                    return Err(DecodeError::NotFinite {
                        column: columns.start + offset,
                        feature: feature.column.clone(),
                        value: cells[offset],
                    });
                }
                if columns.shape == Shape::OneHot {
                    return category(cells)
                        .ok_or_else(|| DecodeError::NotOneCategory { feature: feature.column.clone() });
                }
                Ok(match &feature.kind {
                    FeatureKind::YesNo { .. } => f64::from(cells[0]).round().clamp(0.0, 1.0) + 0.0,
                    FeatureKind::Ordered { values } => {
                        columns.original(cells[0]).round().clamp(0.0, values.len().saturating_sub(1) as f64) + 0.0
                    }
                    FeatureKind::Integer => columns.whole(cells[0]),
                    _ => columns.shortest(cells[0]),
                })
            })
            .collect()
    }
}

/// The index of the only 1 among 0s.
fn category(cells: &[f32]) -> Option<f64> {
    let hot = cells.iter().position(|&cell| cell == 1.0)?;
    let others = cells.iter().enumerate().all(|(index, &cell)| index == hot || cell == 0.0);
    others.then_some(hot as f64)
}

impl Columns {
    /// `mean + std · coordinate`, before any rounding.
    fn original(&self, coordinate: f32) -> f64 {
        self.centre + self.scale * f64::from(coordinate)
    }

    fn makes(&self, value: f64, coordinate: f32) -> bool {
        self.scaled(value) == coordinate
    }

    /// The nearest whole number that encodes to the coordinate; the nearest at all where none does.
    fn whole(&self, coordinate: f32) -> f64 {
        let near = self.original(coordinate).round() + 0.0;
        let candidates = [near, near - 1.0, near + 1.0, near - 2.0, near + 2.0];
        candidates.into_iter().find(|&value| self.makes(value, coordinate)).unwrap_or(near)
    }

    /// The number with the fewest significant digits that encodes to the coordinate; 0 has the fewest of all.
    ///
    /// Where the deviation is far smaller than the mean, `mean + std · coordinate` itself may round to a neighbour of
    /// the number that made the coordinate: the numbers a few units in the last place away are tried too.
    fn shortest(&self, coordinate: f32) -> f64 {
        let near = self.original(coordinate);
        let rounded = (1..=17).filter_map(|digits| round_to_digits(near, digits));
        if let Some(value) = [0.0].into_iter().chain(rounded).find(|&value| self.makes(value, coordinate)) {
            return value;
        }
        let (mut below, mut above) = (near, near);
        for _ in 0..8 {
            (below, above) = (below.next_down(), above.next_up());
            for value in [below, above] {
                if self.makes(value, coordinate) {
                    return value;
                }
            }
        }
        near
    }
}

/// `value` to that many significant digits.
fn round_to_digits(value: f64, digits: usize) -> Option<f64> {
    format!("{value:.precision$e}", precision = digits - 1).parse().ok().map(|rounded: f64| rounded + 0.0)
}
