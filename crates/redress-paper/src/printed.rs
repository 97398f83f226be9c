//! What the paper prints: every number of its tables that a run is compared with.
//!
//! The paper prints no numbers for its figures; those are described in words, which the experiments quote.

use crate::data::Name;

/// The two models that the paper's tables set side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// λ = 0.
    Baseline,
    /// λ = 0.8.
    Ours,
}

impl Side {
    /// Both, in the paper's order.
    pub const BOTH: [Side; 2] = [Side::Baseline, Side::Ours];

    /// The paper's λ for it.
    pub fn lambda(self) -> f64 {
        match self {
            Side::Baseline => 0.0,
            Side::Ours => 0.8,
        }
    }

    /// The paper's λ for both.
    pub fn lambdas() -> [f64; 2] {
        Side::BOTH.map(Side::lambda)
    }

    /// As the paper's headings say.
    pub fn title(self) -> &'static str {
        match self {
            Side::Baseline => "baseline",
            Side::Ours => "ours",
        }
    }
}

/// What Table 1 measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Quantity {
    F1,
    Accuracy,
    Precision,
    Recall,
    Neg(Algorithm),
    All(Algorithm),
}

/// The paper's three ways to compute recourse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// LIME and an integer program.
    Linear,
    /// Gradient descent on the input.
    Gradient,
    /// One linear program, "adversarial training" in the paper.
    Lp,
}

/// One row of numbers: adult baseline, adult ours, compas baseline, …, german ours.
type Row = [f64; 8];

fn at(row: &Row, data: Name, side: Side) -> f64 {
    let column = 2 * data as usize + side as usize;
    row[column]
}

/// Table 1, mean of three splits.
pub fn table1(quantity: Quantity, data: Name, side: Side) -> f64 {
    use Algorithm::{Gradient, Linear, Lp};
    let row: &Row = match quantity {
        Quantity::F1 => &[0.697, 0.636, 0.739, 0.717, 0.775, 0.760, 0.447, 0.419],
        Quantity::Accuracy => &[0.830, 0.787, 0.667, 0.565, 0.643, 0.629, 0.600, 0.527],
        Quantity::Precision => &[0.621, 0.555, 0.655, 0.561, 0.646, 0.644, 0.364, 0.317],
        Quantity::Recall => &[0.799, 0.752, 0.850, 0.991, 0.968, 0.930, 0.583, 0.638],
        Quantity::Neg(Linear) => &[0.220, 0.053, 0.156, 0.068, 0.102, 0.029, 0.204, 0.086],
        Quantity::Neg(Gradient) => &[0.210, 0.496, 0.579, 1.000, 0.317, 1.000, 0.804, 0.864],
        Quantity::Neg(Lp) => &[0.007, 0.498, 0.000, 0.967, 0.000, 0.993, 0.127, 0.968],
        Quantity::All(Linear) => &[0.453, 0.328, 0.773, 0.982, 0.957, 0.981, 0.607, 0.593],
        Quantity::All(Gradient) => &[0.461, 0.661, 0.883, 1.000, 0.970, 1.000, 0.890, 0.920],
        Quantity::All(Lp) => &[0.321, 0.659, 0.722, 0.999, 0.952, 0.999, 0.517, 0.980],
    };
    at(row, data, side)
}

/// The best *recourse neg* of the paper's three algorithms: what a reader of Table 1 remembers of a model.
pub fn best_neg(data: Name, side: Side) -> f64 {
    [Algorithm::Linear, Algorithm::Gradient, Algorithm::Lp]
        .map(|algorithm| table1(Quantity::Neg(algorithm), data, side))
        .into_iter()
        .fold(0.0, f64::max)
}

/// A cell pair of Table 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guaranteed {
    /// F1.
    pub f1: f64,
    /// *Recourse all*.
    pub recourse: f64,
}

/// Table 2: F1 and recourse at the F1-best threshold, or at the one with the guarantee (ε = α = 0.05).
pub fn table2(data: Name, side: Side, pare: bool) -> Guaranteed {
    let (f1, recourse): (&Row, &Row) = if pare {
        (
            &[0.400, 0.526, 0.722, 0.721, 0.777, 0.776, 0.442, 0.457],
            &[0.981, 0.974, 0.972, 0.999, 0.996, 0.999, 0.997, 1.000],
        )
    } else {
        (
            &[0.697, 0.636, 0.739, 0.717, 0.775, 0.760, 0.447, 0.419],
            &[0.321, 0.659, 0.722, 0.999, 0.952, 0.999, 0.517, 0.980],
        )
    };
    Guaranteed { f1: at(f1, data, side), recourse: at(recourse, data, side) }
}

/// The footnote of Table 2: F1 on adult under PARE with ε = α = 0.25, λ = 0.8.
pub const ADULT_F1_AT_A_QUARTER: f64 = 0.613;

/// The classifiers of Table 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Detective {
    NeuralNetwork,
    RandomForest,
    LogisticRegression,
}

/// Table 3: accuracy of a classifier that tells recourses from real rows.
pub fn table3(detective: Detective, data: Name) -> f64 {
    let row = match detective {
        Detective::NeuralNetwork => [0.54, 0.56, 0.52, 0.51],
        Detective::RandomForest => [0.53, 0.55, 0.51, 0.51],
        Detective::LogisticRegression => [0.51, 0.48, 0.48, 0.47],
    };
    row[data as usize]
}

/// What Table 4 shakes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shaken {
    /// The recourses of an algorithm.
    Recourse(Algorithm),
    /// The people as they are.
    Model,
}

/// Table 4: the share that noise does not turn. None where the paper has no such row.
pub fn table4(shaken: Shaken, data: Name, side: Side) -> Option<f64> {
    let row: &Row = match shaken {
        Shaken::Recourse(Algorithm::Gradient) => &[1.000, 0.865, 1.000, 1.000, 1.000, 1.000, 0.949, 0.898],
        Shaken::Recourse(Algorithm::Lp) => &[1.000, 0.841, 1.000, 1.000, 1.000, 1.000, 0.857, 1.000],
        Shaken::Recourse(Algorithm::Linear) => return None,
        Shaken::Model => &[0.976, 0.926, 0.980, 1.000, 0.994, 0.996, 0.970, 0.920],
    };
    Some(at(row, data, side))
}

/// Appendix B.1: no kind of realistic noise separates the two models by more than this.
pub const NOISE_DIFFERENCE: f64 = 0.03;

/// A printed example recourse (Table 6): feature, before, after.
pub struct Example {
    /// The data set.
    pub data: Name,
    /// The feature in the paper's words.
    pub feature: &'static str,
    /// x.
    pub before: f64,
    /// x + δ.
    pub after: f64,
}

/// Table 6, all of it.
pub const EXAMPLES: [Example; 3] = [
    Example { data: Name::Adult, feature: "education level", before: 13.0, after: 14.397 },
    Example { data: Name::Adult, feature: "hours per week worked", before: 40.0, after: 42.921 },
    Example { data: Name::Compas, feature: "number of prior crimes", before: 2.0, after: 0.667 },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's tables repeat some numbers: a slip in typing them would show here.
    #[test]
    fn tables_that_repeat_numbers_agree() {
        for data in Name::ALL {
            for side in Side::BOTH {
                let best = table2(data, side, false);
                assert_eq!(best.f1, table1(Quantity::F1, data, side));
                assert_eq!(best.recourse, table1(Quantity::All(Algorithm::Lp), data, side));
            }
        }
    }

    /// F1 is the harmonic mean of precision and recall; means over splits may differ a little.
    #[test]
    fn printed_f1_fits_printed_precision_and_recall() {
        for data in Name::ALL {
            for side in Side::BOTH {
                let value = |quantity| table1(quantity, data, side);
                let (precision, recall) = (value(Quantity::Precision), value(Quantity::Recall));
                let harmonic = 2.0 * precision * recall / (precision + recall);
                assert!((harmonic - value(Quantity::F1)).abs() < 0.015, "{data:?} {side:?}");
            }
        }
    }
}
