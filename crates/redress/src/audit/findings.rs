//! What an audit found.

use serde::Serialize;

use super::{
    curve::CurvePoint, disparity::Disparity, likeness::Likeness, metrics::Performance, rules::DescribingRule,
    sketch::Quantiles,
};
use crate::{
    calibrate::Interval,
    dataset::ReadSummary,
    recourse::{Explanation, Method},
};

/// Everything an audit found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// What happened to the rows of the file.
    pub rows: ReadSummary,
    /// How recourse was looked for.
    pub method: Method,
    /// The score that means yes, as a probability.
    pub threshold: f64,
    /// α of every interval and of the disparities.
    pub alpha: f64,
    /// Figures over everybody.
    pub everybody: GroupFindings,
    /// Figures of each group, column after column.
    pub groups: Vec<GroupFindings>,
    /// Every comparison of a group with the rest of its column.
    pub disparities: Vec<Disparity>,
    /// What people are told to change, most often first.
    pub levers: Vec<LeverFindings>,
    /// Who has no way to a yes.
    pub without: Without,
    /// How much room for error the plans leave; none without plans.
    pub robustness: Option<Robustness>,
    /// Whether plans lead to where people are; none where there are too few.
    pub likeness: Option<Likeness>,
    /// Performance and recourse by the one-step program as the threshold moves. Without labels the performance is 0.
    pub curve: Vec<CurvePoint>,
    /// What became of the certificate's promise; none without a certificate.
    pub certificate: Option<CertificateCheck>,
    /// A few people, drawn at random.
    pub examples: Vec<Example>,
}

/// Figures over a group of people, or over everybody.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupFindings {
    /// The group column; empty for everybody.
    pub column: String,
    /// The group; empty for everybody.
    pub value: String,
    /// How many people there are, by outcome.
    pub outcomes: Outcomes,
    /// How well decisions agree with labels, where there are labels.
    pub performance: Option<Performance>,
    /// The share approved as they are.
    pub approval: Interval,
    /// The share of those denied who have a way to a yes.
    pub recourse_neg: Interval,
    /// The share approved as they are or with a way to a yes.
    pub recourse_all: Interval,
    /// What the ways cost; none where there are none.
    pub cost: Option<Quantiles>,
}

/// People by outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Outcomes {
    /// Everybody.
    pub people: u64,
    /// Approved as they are.
    pub approved: u64,
    /// Denied, with a way to a yes.
    pub recourse: u64,
    /// Denied, and proven to have none.
    pub proven_without: u64,
    /// Denied, and none was found.
    pub not_found: u64,
    /// Denied, and the budget ran out.
    pub unknown: u64,
}

/// How one feature carries the recourse.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeverFindings {
    /// The column.
    pub column: String,
    /// The human name.
    pub feature: String,
    /// The unit, where there is one.
    pub unit: Option<String>,
    /// Plans that change it.
    pub plans: u64,
    /// Their share of all plans.
    pub share: f64,
    /// Of these plans, the share that raise it; none for categories.
    pub raised: Option<f64>,
    /// The sizes of the changes in the feature's own units; none for categories.
    pub change: Option<Quantiles>,
    /// The most frequent move, for categories and yes/no: `rent → own`.
    pub usual_move: Option<String>,
}

/// Who has no way to a yes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Without {
    /// The share of everybody who is proven to have none.
    pub proven: Interval,
    /// The share of everybody for whom none was found or the budget ran out.
    pub undecided: Interval,
    /// Whether `rules` describe those proven to have none (or else those without a known way).
    pub rules_are_about_proven: bool,
    /// The few simplest rules that tell them from the others who are denied.
    pub rules: Vec<DescribingRule>,
}

/// How much room for error plans leave, over a sample of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Robustness {
    /// Plans looked at.
    pub plans: usize,
    /// How often the yes survives noise of N(0, 0.1²) on everything the person may change (standardised).
    pub survives_noise: f64,
    /// The share of plans whose yes survives any one change ending a step short or a step beyond.
    pub survives_step: f64,
    /// The scores after the change less the threshold, as probabilities.
    pub margin: Quantiles,
}

/// A certificate held against fresh rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateCheck {
    /// The promise.
    pub sentence: String,
    /// What was promised: the least share approved or with recourse.
    pub promised: f64,
    /// What its own numbers and hashes get wrong.
    pub faults: Vec<String>,
    /// Everybody, and each group that it promises something to and that was audited.
    pub observed: Vec<ObservedPromise>,
    /// Whether nothing contradicts it: no faults, and no interval that lies below what was promised.
    pub holds: bool,
}

/// What was seen of a promise to some people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ObservedPromise {
    /// `everybody`, or `sex = Female`.
    pub who: String,
    /// The share approved or with recourse by the certificate's own solver. The intervals of all promises hold at once.
    pub observed: Interval,
    /// Whether the interval's upper end reaches what was promised.
    pub holds: bool,
}

/// One person.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// The row of the file, counting from 1.
    pub row: usize,
    /// The person in words, one entry a feature.
    pub facts: Vec<(String, String)>,
    /// The decision and the way to another.
    pub explanation: Explanation,
}

impl GroupFindings {
    /// The share of those denied who have a way to a yes; 1 where nobody is denied.
    pub fn neg(&self) -> f64 {
        if self.recourse_neg.n == 0 { 1.0 } else { self.recourse_neg.rate }
    }
}

impl Findings {
    /// The comparisons that are flagged.
    pub fn flagged(&self) -> impl Iterator<Item = &Disparity> {
        self.disparities.iter().filter(|disparity| disparity.flagged)
    }
}
