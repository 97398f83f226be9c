//! Weighted least squares by the normal equations: what LIME and structural equations are fitted with.

/// The normal equations `(XᵀWX + R) β = XᵀWy`, row after row of `X` added up.
#[derive(Debug, Clone)]
pub(super) struct NormalEquations {
    width: usize,
    gram: Vec<f64>,
    right: Vec<f64>,
}

/// A pivot below this share of its diagonal belongs to a column that the columns before it already explain.
const DEPENDENT: f64 = 1e-10;

impl NormalEquations {
    /// No rows yet, of `width` columns.
    pub(super) fn new(width: usize) -> Self {
        Self { width, gram: vec![0.0; width * width], right: vec![0.0; width] }
    }

    /// Adds one row with its target and weight.
    pub(super) fn add(&mut self, row: &[f64], target: f64, weight: f64) {
        for (i, &left) in row.iter().enumerate() {
            let scaled = weight * left;
            if scaled == 0.0 {
                continue;
            }
            self.right[i] += scaled * target;
            for (cell, &other) in self.gram[i * self.width..][..=i].iter_mut().zip(row) {
                *cell += scaled * other;
            }
        }
    }

    /// β by Cholesky's decomposition, with `ridge[i]` added to the diagonal. A column that depends on the columns before
    /// it gets the coefficient 0.
    pub(super) fn solve(&self, ridge: &[f64]) -> Vec<f64> {
        let n = self.width;
        let mut lower = self.gram.clone();
        let mut kept = vec![true; n];
        for i in 0..n {
            for j in 0..=i {
                let dot: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let rest = self.gram[i * n + j] + if i == j { ridge[i] } else { 0.0 } - dot;
                lower[i * n + j] = if i == j {
                    kept[i] = rest > DEPENDENT * (self.gram[i * n + i] + ridge[i]);
                    if kept[i] { rest.sqrt() } else { 1.0 }
                } else if kept[j] {
                    rest / lower[j * n + j]
                } else {
                    0.0
                };
            }
            if !kept[i] {
                lower[i * n..i * n + i].fill(0.0);
            }
        }
        let mut solution = self.right.clone();
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| lower[i * n + k] * solution[k]).sum();
            solution[i] = if kept[i] { (solution[i] - dot) / lower[i * n + i] } else { 0.0 };
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| lower[k * n + i] * solution[k]).sum();
            solution[i] = if kept[i] { (solution[i] - dot) / lower[i * n + i] } else { 0.0 };
        }
        solution
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_through_three_points_is_found() {
        let mut normal = NormalEquations::new(2);
        for x in [0.0, 1.0, 3.0] {
            normal.add(&[1.0, x], 2.0 - 0.5 * x, 1.0);
        }
        let line = normal.solve(&[0.0; 2]);
        assert!((line[0] - 2.0).abs() < 1e-12 && (line[1] + 0.5).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn a_column_that_repeats_another_gets_nothing() {
        let mut normal = NormalEquations::new(3);
        for x in [1.0, 2.0, 4.0, 7.0] {
            normal.add(&[1.0, x, 2.0 * x], 3.0 * x + 1.0, 1.0);
        }
        let found = normal.solve(&[0.0; 3]);
        assert!((found[0] - 1.0).abs() < 1e-9 && (found[1] - 3.0).abs() < 1e-9 && found[2] == 0.0, "{found:?}");
    }

    proptest! {
        /// At the minimum of Σ w(y − Xβ)² + Σ rβ² the gradient is zero.
        #[test]
        fn the_gradient_vanishes(
            rows in prop::collection::vec((prop::collection::vec(-3.0..3.0f64, 4), -5.0..5.0f64, 0.01..2.0f64), 6..30),
            ridge in prop::collection::vec(0.01..2.0f64, 4),
        ) {
            let mut normal = NormalEquations::new(4);
            rows.iter().for_each(|(row, target, weight)| normal.add(row, *target, *weight));
            let beta = normal.solve(&ridge);
            for i in 0..4 {
                let residual = |row: &[f64], y: f64| y - row.iter().zip(&beta).map(|(x, b)| x * b).sum::<f64>();
                let slope: f64 = rows.iter().map(|(row, y, w)| w * row[i] * residual(row, *y)).sum();
                prop_assert!((slope - ridge[i] * beta[i]).abs() < 1e-6, "{} {}", slope, ridge[i] * beta[i]);
            }
        }
    }
}
