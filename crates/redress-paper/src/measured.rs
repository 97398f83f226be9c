//! A figure over several splits: its mean and how far the mean can be trusted.

use serde::Serialize;

use redress_report::chart::Estimate;

/// The mean of a figure over splits and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// The standard error of the mean, s/√n; none with a single split.
    pub standard_error: Option<f64>,
    /// How many splits.
    pub splits: usize,
}

impl Measured {
    /// The mean and standard error of these figures; figures that are not numbers are left out.
    ///
    /// ```
    /// use redress_paper::Measured;
    ///
    /// let found = Measured::of([0.5, 0.7, 0.6]);
    /// assert!((found.mean - 0.6).abs() < 1e-12);
    /// assert!((found.standard_error.unwrap() - 0.1 / 3f64.sqrt()).abs() < 1e-12);
    /// ```
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Measured {
        let figures: Vec<f64> = figures.into_iter().filter(|figure| !figure.is_nan()).collect();
        let splits = figures.len();
        let count = splits as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        let standard_error = (splits > 1).then(|| (squares / (count - 1.0) / count).sqrt());
        Measured { mean, standard_error, splits }
    }

    /// The mean within one standard error either way, for a chart.
    pub fn estimate(&self) -> Estimate {
        match self.standard_error {
            Some(error) => Estimate::within(self.mean, self.mean - error, self.mean + error),
            None => Estimate::new(self.mean),
        }
    }

    /// `0.636 ± 0.012`, or the mean alone.
    pub fn show(&self) -> String {
        let mean = redress_report::number::fixed(self.mean, 3);
        match self.standard_error {
            Some(error) => format!("{mean} ± {}", redress_report::number::fixed(error, 3)),
            None => mean,
        }
    }
}
