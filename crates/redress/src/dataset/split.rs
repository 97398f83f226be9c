//! Four parts of a data set, each its own type: disjoint, seeded, in proportion.
//!
//! The types keep promises: calibration takes a [`CalibrationSet`], and only a split hands one out, so rows that chose the
//! weights or the threshold can never vouch for it.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::Dataset;

/// How rows are divided.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitPlan {
    /// How many rows each part gets.
    pub shares: Shares,
    /// Whether every part has the same share of favourable labels, up to one row.
    pub stratified: bool,
    /// The same seed gives the same parts.
    pub seed: u64,
}

/// How many rows each part gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shares {
    /// Relative sizes; each at least one row.
    Relative {
        /// For fitting the weights.
        train: f64,
        /// For choosing the epoch and the threshold.
        validation: f64,
        /// For the guarantee.
        calibration: f64,
        /// For the figures.
        test: f64,
    },
    /// The paper's: 80% train; of the rest so many test rows, and what remains in proportion 2 : 3 to validation and
    /// calibration. The paper reuses its validation rows to calibrate, which voids its guarantee; calibration gets the
    /// larger part because german's 60 rows are only just enough for ε = α = 0.05.
    Paper {
        /// 500, or 100 for german.
        test_rows: usize,
    },
}

/// Why rows cannot be divided.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// A part would be empty.
    #[error("{rows} rows are too few to split: the {part} part would be empty")]
    TooFewRows {
        /// The rows there are.
        rows: usize,
        /// The part.
        part: &'static str,
    },
    /// A share that is not a positive number.
    #[error("the share of the {part} part is {share}: it must be a positive number")]
    Share {
        /// The part.
        part: &'static str,
        /// Its share.
        share: f64,
    },
}

macro_rules! part {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name(Dataset);

        impl $name {
            /// The rows.
            pub fn dataset(&self) -> &Dataset {
                &self.0
            }

            /// The rows, by value.
            pub fn into_dataset(self) -> Dataset {
                self.0
            }
        }
    };
}

part!(
    /// Rows the weights and the encoding are fitted on.
    TrainSet
);
part!(
    /// Rows that pick the epoch and the threshold.
    ValidationSet
);
part!(
    /// Rows that vouch for the threshold, and serve nothing else.
    CalibrationSet
);
part!(
    /// Rows that the figures are reported on.
    TestSet
);

/// A data set in four parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Rows the weights and the encoding are fitted on.
    pub train: TrainSet,
    /// Rows that pick the epoch and the threshold.
    pub validation: ValidationSet,
    /// Rows that vouch for the threshold.
    pub calibration: CalibrationSet,
    /// Rows that the figures are reported on.
    pub test: TestSet,
}

/// The parts, in the order in which they are cut.
const PARTS: [&str; 4] = ["training", "validation", "calibration", "test"];

impl SplitPlan {
    /// 60% to train, 10% to choose, 15% to calibrate, 15% to test; stratified.
    pub fn default_shares(seed: u64) -> Self {
        let shares = Shares::Relative { train: 0.60, validation: 0.10, calibration: 0.15, test: 0.15 };
        Self { shares, stratified: true, seed }
    }

    /// The paper's proportions, not stratified.
    pub fn paper(test_rows: usize, seed: u64) -> Self {
        Self { shares: Shares::Paper { test_rows }, stratified: false, seed }
    }

    /// How many of `rows` each part gets; `own_test` leaves none for testing, which has a file of its own.
    fn counts(&self, rows: usize, own_test: bool) -> Result<[usize; 4], SplitError> {
        let counts = match self.shares {
            Shares::Relative { train, validation, calibration, test } => {
                let shares = [train, validation, calibration, if own_test { 0.0 } else { test }];
                for (part, share) in PARTS.into_iter().zip([train, validation, calibration, test]) {
                    if !(share > 0.0 && share.is_finite()) {
                        return Err(SplitError::Share { part, share });
                    }
                }
                let whole: f64 = shares.iter().sum();
                let ends = shares.iter().scan(0.0, |sum, share| {
                    *sum += share / whole;
                    Some((*sum * rows as f64).round() as usize)
                });
                let ends: Vec<usize> = ends.collect();
                [ends[0], ends[1] - ends[0], ends[2] - ends[1], rows - ends[2]]
            }
            Shares::Paper { test_rows } => {
                let train = (rows as f64 * 0.8).round() as usize;
                let test = if own_test { 0 } else { test_rows.min(rows - train) };
                let rest = rows - train - test;
                let validation = rest * 2 / 5;
                [train, validation, rest - validation, test]
            }
        };
        let needed = if own_test { &PARTS[..3] } else { &PARTS[..] };
        match needed.iter().zip(counts).find(|(_, count)| *count == 0) {
            Some((part, _)) => Err(SplitError::TooFewRows { rows, part }),
            None => Ok(counts),
        }
    }

    /// The rows in the order in which they are cut: shuffled, and for a stratified plan with each label spread evenly.
    fn order(&self, labels: &[bool], stream: u64) -> Vec<usize> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(stream);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.shuffle(&mut random);
        if self.stratified {
            let of_label = |label: bool| order.iter().copied().filter(move |&row| labels[row] == label);
            let mut spread = Vec::with_capacity(order.len());
            for label in [true, false] {
                let total = of_label(label).count() as f64;
                spread.extend(of_label(label).enumerate().map(|(at, row)| ((at as f64 + 0.5) / total, row)));
            }
            spread.sort_by(|a, b| a.0.total_cmp(&b.0));
            order = spread.into_iter().map(|(_, row)| row).collect();
        }
        order
    }
}

impl Split {
    /// Divides the rows of one table.
    pub fn new(dataset: &Dataset, plan: &SplitPlan) -> Result<Self, SplitError> {
        let counts = plan.counts(dataset.len(), false)?;
        let order = plan.order(&dataset.labels, 0);
        Ok(Self::cut(dataset, &order, counts, |rows| dataset.subset(rows)))
    }

    /// Divides the rows of one table into three and takes the test rows from another: all of them, or as many as the
    /// paper does.
    pub fn with_test(dataset: &Dataset, test: &Dataset, plan: &SplitPlan) -> Result<Self, SplitError> {
        let counts = plan.counts(dataset.len(), true)?;
        let order = plan.order(&dataset.labels, 0);
        if test.people.is_empty() {
            return Err(SplitError::TooFewRows { rows: 0, part: "test" });
        }
        let test_rows = match plan.shares {
            Shares::Relative { .. } => (0..test.len()).collect(),
            Shares::Paper { test_rows } => {
                let mut rows = plan.order(&test.labels, 1);
                rows.truncate(test_rows);
                rows
            }
        };
        Ok(Self::cut(dataset, &order, counts, |_| test.subset(&test_rows)))
    }

    /// Cuts `order` into parts of these sizes.
    fn cut(dataset: &Dataset, order: &[usize], counts: [usize; 4], test: impl Fn(&[usize]) -> Dataset) -> Self {
        let (train, rest) = order.split_at(counts[0]);
        let (validation, rest) = rest.split_at(counts[1]);
        let (calibration, rest) = rest.split_at(counts[2]);
        Self {
            train: TrainSet(dataset.subset(train)),
            validation: ValidationSet(dataset.subset(validation)),
            calibration: CalibrationSet(dataset.subset(calibration)),
            test: TestSet(test(rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::dataset::{People, Schema};

    /// Rows without features, numbered from 1.
    fn rows(labels: Vec<bool>) -> Dataset {
        let schema = Arc::new(Schema { features: Vec::new() });
        let source_rows = (1..=labels.len()).collect();
        Dataset { people: People { schema, values: vec![], source_rows, overrides: vec![] }, labels, groups: vec![] }
    }

    fn sizes(split: &Split) -> [usize; 4] {
        [split.train.0.len(), split.validation.0.len(), split.calibration.0.len(), split.test.0.len()]
    }

    #[test]
    fn the_papers_sizes() {
        let split = |rows_there: usize, test_rows: usize| {
            Split::new(&rows(vec![true; rows_there]), &SplitPlan::paper(test_rows, 1)).map(|split| sizes(&split))
        };
        assert_eq!(split(1000, 100), Ok([800, 40, 60, 100]));
        assert_eq!(split(6172, 500), Ok([4938, 293, 441, 500]));
        assert_eq!(split(3, 100), Err(SplitError::TooFewRows { rows: 3, part: "validation" }));
    }

    #[test]
    fn a_test_file_of_its_own_leaves_the_rest_to_the_others() {
        let (pool, test) = (rows(vec![true; 1000]), rows(vec![false; 700]));
        let split = Split::with_test(&pool, &test, &SplitPlan::paper(500, 3)).unwrap();
        assert_eq!(sizes(&split), [800, 80, 120, 500]);
        assert!(split.test.0.labels.iter().all(|label| !label));
    }

    #[test]
    fn shares_that_are_no_shares_are_refused() {
        let shares = Shares::Relative { train: 0.5, validation: f64::NAN, calibration: 0.2, test: 0.1 };
        let plan = SplitPlan { shares, stratified: false, seed: 0 };
        assert!(matches!(Split::new(&rows(vec![true; 9]), &plan), Err(SplitError::Share { part: "validation", .. })));
    }

    proptest! {
        #[test]
        fn the_parts_are_disjoint_complete_and_repeatable(
            labels in proptest::collection::vec(any::<bool>(), 10..300), stratified: bool, seed: u64,
        ) {
            let plan = SplitPlan { stratified, ..SplitPlan::default_shares(seed) };
            let dataset = rows(labels);
            let split = Split::new(&dataset, &plan).unwrap();
            let mut seen: Vec<usize> = [&split.train.0, &split.validation.0, &split.calibration.0, &split.test.0]
                .iter()
                .flat_map(|part| part.people.source_rows.clone())
                .collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (1..=dataset.len()).collect::<Vec<_>>());
            prop_assert_eq!(Split::new(&dataset, &plan).unwrap(), split);
        }

        #[test]
        fn a_stratified_part_has_its_share_of_yes(labels in proptest::collection::vec(any::<bool>(), 40..300), seed: u64) {
            let dataset = rows(labels);
            let share = dataset.labels.iter().filter(|&&label| label).count() as f64 / dataset.len() as f64;
            let split = Split::new(&dataset, &SplitPlan::default_shares(seed)).unwrap();
            for part in [&split.train.0, &split.validation.0, &split.calibration.0, &split.test.0] {
                let yes = part.labels.iter().filter(|&&label| label).count() as f64;
                prop_assert!((yes - share * part.len() as f64).abs() <= 1.5, "{} of {}", yes, part.len());
            }
        }
    }
}
