//! Counts of people by outcome, group and lever.

use std::collections::BTreeMap;

use super::{
    AuditError, GroupFindings, LeverFindings, Outcomes,
    disparity::{Comparison, Count, Rate},
    metrics::Confusion,
    sketch::Distribution,
};
use crate::{
    calibrate::{FailureProb, clopper_pearson},
    dataset::{FeatureKind, GroupColumn, Schema},
    recourse::{Absence, Verdict},
};

/// A column with more values than this does not name groups.
const MOST_GROUPS: usize = 50;

/// The counts of some people.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) outcomes: Outcomes,
    /// Approved, or reached by the one-step program: what certificates promise.
    pub(super) reached: u64,
    confusion: Confusion,
    cost: Distribution,
}

/// One person as they are counted. `verdict` is none for people who are approved.
#[derive(Clone, Copy)]
pub(super) struct Counted<'a> {
    pub(super) verdict: Option<&'a Verdict>,
    pub(super) reached: bool,
    pub(super) label: Option<bool>,
}

impl Tally {
    pub(super) fn add(&mut self, person: Counted) {
        self.outcomes.people += 1;
        self.reached += u64::from(person.reached);
        let bucket = match person.verdict {
            None | Some(Verdict::Approved { .. }) => &mut self.outcomes.approved,
            Some(Verdict::Recourse(_)) => &mut self.outcomes.recourse,
            Some(Verdict::NoRecourse(Absence::Proven { .. })) => &mut self.outcomes.proven_without,
            Some(Verdict::NoRecourse(Absence::NotFound { .. })) => &mut self.outcomes.not_found,
            Some(Verdict::Unknown { .. }) => &mut self.outcomes.unknown,
        };
        *bucket += 1;
        if let Some(plan) = person.verdict.and_then(Verdict::plan) {
            self.cost.add(plan.cost());
        }
        let approved = matches!(person.verdict, None | Some(Verdict::Approved { .. }));
        match (approved, person.label) {
            (true, Some(true)) => self.confusion.true_yes += 1,
            (true, Some(false)) => self.confusion.false_yes += 1,
            (false, Some(true)) => self.confusion.false_no += 1,
            (false, Some(false)) => self.confusion.true_no += 1,
            (_, None) => {}
        }
    }

    pub(super) fn findings(&self, column: &str, value: &str, labelled: bool, alpha: FailureProb) -> GroupFindings {
        let Outcomes { people, approved, recourse, .. } = self.outcomes;
        GroupFindings {
            column: column.to_owned(),
            value: value.to_owned(),
            outcomes: self.outcomes,
            performance: labelled.then(|| self.confusion.performance()),
            approval: clopper_pearson(approved, people, alpha),
            recourse_neg: clopper_pearson(recourse, people - approved, alpha),
            recourse_all: clopper_pearson(approved + recourse, people, alpha),
            cost: self.cost.quantiles(),
        }
    }

    fn count(&self, rate: Rate) -> Count {
        let Outcomes { people, approved, recourse, .. } = self.outcomes;
        match rate {
            Rate::Approval => Count { hits: approved, n: people },
            Rate::RecourseNeg => Count { hits: recourse, n: people - approved },
            Rate::RecourseAll => Count { hits: approved + recourse, n: people },
        }
    }
}

/// The groups of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupTallies {
    pub(super) column: String,
    /// By value, so that the order of the rows decides nothing.
    pub(super) groups: BTreeMap<String, Tally>,
}

impl GroupTallies {
    pub(super) fn new(column: &str) -> Self {
        Self { column: column.to_owned(), groups: BTreeMap::new() }
    }

    /// Adds people of one piece, whose groups are those of `column`.
    pub(super) fn add<'a>(
        &mut self,
        column: &GroupColumn,
        people: impl Iterator<Item = (usize, Counted<'a>)>,
    ) -> Result<(), AuditError> {
        let mut tallies: Vec<Tally> =
            column.values.iter().map(|value| self.groups.remove(value).unwrap_or_default()).collect();
        for (row, person) in people {
            tallies[column.codes[row] as usize].add(person);
        }
        let filled = column.values.iter().cloned().zip(tallies).filter(|(_, tally)| tally.outcomes.people > 0);
        self.groups.extend(filled);
        if self.groups.len() > MOST_GROUPS {
            return Err(AuditError::TooManyGroups { column: self.column.clone(), most: MOST_GROUPS });
        }
        Ok(())
    }

    /// Every group against the rest of the column, for each rate. Of two groups either is the other's rest: the first
    /// stands for both.
    pub(super) fn comparisons(&self) -> Vec<Comparison> {
        let compared = if self.groups.len() == 2 { 1 } else { self.groups.len() };
        let mut comparisons = Vec::new();
        for rate in Rate::ALL {
            let all = self.groups.values().map(|tally| tally.count(rate));
            let all = all.fold(Count::default(), |sum, next| Count { hits: sum.hits + next.hits, n: sum.n + next.n });
            for (value, tally) in self.groups.iter().take(compared) {
                let group = tally.count(rate);
                let others = Count { hits: all.hits - group.hits, n: all.n - group.n };
                comparisons.push(Comparison { column: self.column.clone(), value: value.clone(), rate, group, others });
            }
        }
        comparisons
    }
}

/// How often plans change one feature, and by how much.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct LeverTally {
    pub(super) feature: usize,
    plans: u64,
    raised: u64,
    change: Distribution,
    moves: BTreeMap<(u32, u32), u64>,
}

impl LeverTally {
    pub(super) fn new(feature: usize) -> Self {
        Self { feature, ..Self::default() }
    }

    pub(super) fn add(&mut self, before: &[f64], after: &[f64]) {
        let (from, to) = (before[self.feature], after[self.feature]);
        if from == to {
            return;
        }
        self.plans += 1;
        self.raised += u64::from(to > from);
        self.change.add((to - from).abs());
        // Bounded for categories; for numbers there could be as many moves as plans, and nobody asks for them.
        if self.moves.len() < 10_000 {
            *self.moves.entry((from as u32, to as u32)).or_default() += 1;
        }
    }

    pub(super) fn findings(&self, schema: &Schema, plans: u64) -> LeverFindings {
        let feature = &schema.features[self.feature];
        let named = matches!(feature.kind, FeatureKind::Category { .. } | FeatureKind::YesNo { .. });
        let usual = self.moves.iter().max_by_key(|(pair, count)| (**count, std::cmp::Reverse(**pair)));
        let usual = usual.filter(|_| named).map(|((from, to), _)| {
            let show = |value: u32| schema.show(self.feature, f64::from(value));
            format!("{} → {}", show(*from), show(*to))
        });
        let raised = if self.plans == 0 { 0.0 } else { self.raised as f64 / self.plans as f64 };
        LeverFindings {
            column: feature.column.clone(),
            feature: feature.label.clone(),
            unit: feature.unit.clone(),
            plans: self.plans,
            share: if plans == 0 { 0.0 } else { self.plans as f64 / plans as f64 },
            raised: (!named && self.plans > 0).then_some(raised),
            change: if named { None } else { self.change.quantiles() },
            usual_move: usual,
        }
    }
}
