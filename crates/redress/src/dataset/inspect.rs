//! What was understood of a policy and its table, and what looks wrong with it.

use std::fmt;

use rayon::prelude::*;
use serde::Serialize;

use super::cells::Cells;
use super::duplicates::drop_repeats;
use super::view::View;
use super::{Dataset, FeatureKind, ReadSummary};
use crate::policy::{Actionability, Amount, Direction, FeatureRule, Policy, Trigger};
use crate::table::Table;

/// Ranking rows beyond this many says nothing new about a feature.
const RANKED_ROWS: usize = 50_000;
/// A single feature that ranks the outcomes better than this knows the answer.
const GIVES_AWAY: f64 = 0.99;
/// Rates of smaller groups than this are noise.
const SMALL_GROUP: usize = 30;

/// What a policy and its table say, for people to confirm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// What happened to the rows.
    pub summary: ReadSummary,
    /// The share of rows with the favourable outcome.
    pub favourable_rate: f64,
    /// The features, in the model's order.
    pub features: Vec<FeatureInspection>,
    /// Group columns and the rows of each group.
    pub groups: Vec<GroupInspection>,
    /// The constraints between changes, in words.
    pub constraints: Vec<String>,
    /// The links between changes, in words.
    pub links: Vec<String>,
    /// What looks wrong.
    pub warnings: Vec<Warning>,
}

/// One feature as understood.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureInspection {
    /// The column.
    pub column: String,
    /// The human name.
    pub label: String,
    /// The unit.
    pub unit: Option<String>,
    /// The kind, as policies write it.
    pub kind: &'static str,
    /// What the rows hold: `17 to 90`, or the values.
    pub holds: String,
    /// The rows without a value, before any was dropped or filled.
    pub missing: usize,
    /// Who may change it, and how far.
    pub may: String,
    /// How many rows could make at least one of the permitted changes of this feature alone.
    pub movable_rows: usize,
}

/// One group column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupInspection {
    /// The column.
    pub column: String,
    /// Each group: its value, its rows and its share of favourable outcomes.
    pub groups: Vec<(String, usize, f64)>,
}

/// Something that a careful reader would ask about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Warning {
    /// One feature ranks the outcomes almost perfectly: it may have been written down after the outcome.
    GivesLabelAway { feature: String, ranking: f64 },
    /// A feature has one value only.
    Constant { feature: String, value: String },
    /// A feature may change, but no row could change it.
    UnusableAction { feature: String, may: String },
    /// No feature may change at all: there is no recourse to offer.
    NothingActionable,
    /// A group is too small for its rates to mean much.
    SmallGroup { column: String, group: String, rows: usize },
    /// Rows that repeat others may fall into two splits at once.
    DuplicateRows { rows: usize },
    /// A link waits for a change that the policy does not permit.
    IdleLink { link: String },
    /// Many rows were left out because a value is missing.
    ManyDropped { rows: usize, share: f64 },
    /// People may be told to change a value that was filled in and is not theirs.
    ActsOnFilled { feature: String, rows: usize },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::GivesLabelAway { feature, ranking } => write!(
                f,
                "`{feature}` alone tells the outcome almost surely (it ranks {:.1}% of pairs rightly): was it known before the outcome?",
                100.0 * ranking
            ),
            Warning::Constant { feature, value } => {
                write!(f, "`{feature}` is {value} in every row: the model cannot learn from it")
            }
            Warning::UnusableAction { feature, may } => {
                write!(f, "`{feature}` {may}, but not one row could: see its limits")
            }
            Warning::NothingActionable => f.write_str("no feature may change: there is no recourse to offer"),
            Warning::SmallGroup { column, group, rows } => {
                write!(f, "group `{group}` of `{column}` has {rows} rows: its rates will be mostly noise")
            }
            Warning::DuplicateRows { rows } => write!(
                f,
                "{rows} rows repeat another row: copies may stand in training and test at once; `drop_duplicates = true` leaves them out"
            ),
            Warning::IdleLink { link } => {
                write!(f, "the link `{link}` waits for a change that the policy does not permit")
            }
            Warning::ManyDropped { rows, share } => {
                write!(f, "{rows} rows ({:.0}%) were left out because a value is missing", 100.0 * share)
            }
            Warning::ActsOnFilled { feature, rows } => write!(
                f,
                "`{feature}` may change, but {rows} people have no value of their own there: they may be told to move from \
                 one that was filled in"
            ),
        }
    }
}

/// Looks over a policy, its table and the data set read from it.
pub fn inspect(policy: &Policy, table: &Table, dataset: &Dataset, summary: &ReadSummary) -> Inspection {
    // The data set was read through the same view, so that there is one.
    let view = View::new(policy, table, true).ok();
    let features: Vec<FeatureInspection> = (0..policy.features.len())
        .into_par_iter()
        .map(|feature| inspect_feature(policy, view.as_ref(), dataset, feature))
        .collect();
    let warnings = warnings(policy, table, dataset, summary, &features);
    Inspection {
        summary: summary.clone(),
        favourable_rate: share(&dataset.labels),
        groups: dataset.groups.iter().map(|group| inspect_group(group, &dataset.labels)).collect(),
        constraints: policy.constraints_in_words(),
        links: policy.links_in_words(),
        features,
        warnings,
    }
}

fn share(labels: &[bool]) -> f64 {
    labels.iter().filter(|label| **label).count() as f64 / labels.len().max(1) as f64
}

fn column(dataset: &Dataset, feature: usize) -> impl Iterator<Item = f64> + Clone + '_ {
    dataset.people.values.iter().skip(feature).step_by(dataset.people.schema.features.len().max(1)).copied()
}

/// The rows of the whole table that have no value for a feature.
fn missing(policy: &Policy, view: &View, dataset: &Dataset, feature: usize) -> usize {
    let schema = &dataset.people.schema.features[feature];
    let Some(column) = view.find(&schema.column) else { return 0 };
    let rows: Vec<usize> = (0..view.table.rows()).collect();
    let mut values = vec![0.0; rows.len()];
    Cells::new(schema, &policy.features[feature], &policy.data, column).write(&rows, &mut values, 0, 1);
    values.iter().filter(|value| value.is_nan()).count()
}

fn inspect_feature(policy: &Policy, view: Option<&View>, dataset: &Dataset, feature: usize) -> FeatureInspection {
    let rule = &policy.features[feature];
    let schema = &dataset.people.schema;
    let (kind, holds) = match &schema.features[feature].kind {
        FeatureKind::Number | FeatureKind::Integer => {
            let (low, high) = extremes(column(dataset, feature));
            let kind = if matches!(schema.features[feature].kind, FeatureKind::Number) { "number" } else { "integer" };
            (kind, format!("{} to {}", schema.show_about(feature, low), schema.show_about(feature, high)))
        }
        FeatureKind::YesNo { yes, .. } => {
            let rate = column(dataset, feature).sum::<f64>() / dataset.len().max(1) as f64;
            ("yes/no", format!("{yes} in {:.1}% of rows", 100.0 * rate))
        }
        FeatureKind::Category { values } => ("category", values.join(", ")),
        FeatureKind::Ordered { values } => ("ordered", values.join(" < ")),
    };
    FeatureInspection {
        column: rule.column.clone(),
        label: rule.label.clone(),
        unit: rule.unit.clone(),
        kind,
        holds,
        missing: view.map_or(0, |view| missing(policy, view, dataset, feature)),
        may: policy.feature_in_words(feature),
        movable_rows: movable(policy, dataset, feature),
    }
}

fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

fn inspect_group(group: &super::GroupColumn, labels: &[bool]) -> GroupInspection {
    let mut counts = vec![(0usize, 0usize); group.values.len()];
    for (&code, &label) in group.codes.iter().zip(labels) {
        counts[code as usize].0 += 1;
        counts[code as usize].1 += usize::from(label);
    }
    let rate = |(rows, yes): (usize, usize)| yes as f64 / rows.max(1) as f64;
    let groups = group.values.iter().zip(counts).map(|(value, count)| (value.clone(), count.0, rate(count))).collect();
    GroupInspection { column: group.name.clone(), groups }
}

/// How many rows could take at least one permitted step of this feature alone.
fn movable(policy: &Policy, dataset: &Dataset, feature: usize) -> usize {
    let action = &policy.features[feature].action;
    if action.change == Direction::Fixed {
        return 0;
    }
    let schema = &dataset.people.schema.features[feature];
    let values = column(dataset, feature);
    match &schema.kind {
        FeatureKind::Category { values: names } => {
            let movable = |value: f64| match &action.moves {
                None => names.len() > 1,
                Some(moves) => moves.get(&names[value as usize]).is_some_and(|to| !to.is_empty()),
            };
            values.filter(|value| movable(*value)).count()
        }
        kind => {
            let highest = match kind {
                FeatureKind::YesNo { .. } => 1.0,
                FeatureKind::Ordered { values } => values.len().saturating_sub(1) as f64,
                _ => f64::INFINITY,
            };
            let lowest = if highest.is_finite() { 0.0 } else { f64::NEG_INFINITY };
            let reach = reach(action, values.clone());
            let smallest =
                action.step.unwrap_or(if matches!(kind, FeatureKind::Number) { f64::MIN_POSITIVE } else { 1.0 });
            values.filter(|value| can_step(action, *value, reach, smallest, (lowest, highest))).count()
        }
    }
}

/// The largest change in units.
fn reach(action: &Actionability, values: impl Iterator<Item = f64> + Clone) -> f64 {
    match action.max_change {
        None => f64::INFINITY,
        Some(Amount::Units(units)) => units,
        Some(Amount::Deviations(deviations)) => {
            let count = values.clone().count().max(1) as f64;
            let mean = values.clone().sum::<f64>() / count;
            deviations * (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
        }
    }
}

fn can_step(action: &Actionability, value: f64, reach: f64, smallest: f64, (lowest, highest): (f64, f64)) -> bool {
    // A hair of slack: 0.1 + 0.2 is a step of 0.3.
    let enough = |room: f64| room > 0.0 && room.min(reach) >= smallest * (1.0 - 1e-9);
    let up = action.change != Direction::Decrease && enough(action.max.unwrap_or(highest).min(highest) - value);
    let down = action.change != Direction::Increase && enough(value - action.min.unwrap_or(lowest).max(lowest));
    up || down
}

fn warnings(
    policy: &Policy,
    table: &Table,
    dataset: &Dataset,
    summary: &ReadSummary,
    features: &[FeatureInspection],
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if policy.features.iter().all(|rule| rule.action.change == Direction::Fixed) {
        warnings.push(Warning::NothingActionable);
    }
    let rankings: Vec<f64> = (0..features.len()).into_par_iter().map(|feature| ranking(dataset, feature)).collect();
    for (feature, inspected) in features.iter().enumerate() {
        let (low, high) = extremes(column(dataset, feature));
        if low == high {
            let value = dataset.people.schema.show(feature, low);
            warnings.push(Warning::Constant { feature: inspected.column.clone(), value });
        }
        if rankings[feature] > GIVES_AWAY {
            warnings.push(Warning::GivesLabelAway { feature: inspected.column.clone(), ranking: rankings[feature] });
        }
        if policy.features[feature].action.change != Direction::Fixed && inspected.movable_rows == 0 {
            warnings.push(Warning::UnusableAction { feature: inspected.column.clone(), may: inspected.may.clone() });
        }
    }
    for link in &policy.links {
        let change = policy.features[link.cause].action.change;
        let idle = matches!(
            (&link.trigger, change),
            (Trigger::Increases, Direction::Decrease) | (Trigger::Decreases, Direction::Increase)
        );
        if idle {
            warnings.push(Warning::IdleLink { link: link.text.clone() });
        }
    }
    for group in &dataset.groups {
        for (value, rows, _) in inspect_group(group, &dataset.labels).groups {
            if rows < SMALL_GROUP {
                warnings.push(Warning::SmallGroup { column: group.name.clone(), group: value, rows });
            }
        }
    }
    for (column, rows) in &summary.filled {
        let acts = |rule: &FeatureRule| rule.column == *column && rule.action.change != Direction::Fixed;
        if *rows > 0 && policy.features.iter().any(acts) {
            warnings.push(Warning::ActsOnFilled { feature: column.clone(), rows: *rows });
        }
    }
    let dropped: usize = summary.dropped.iter().map(|(_, count)| count).sum();
    let before = dropped + summary.rows;
    if dropped * 10 > before {
        warnings.push(Warning::ManyDropped { rows: dropped, share: dropped as f64 / before as f64 });
    }
    if !policy.data.drop_duplicates {
        let mut rows: Vec<usize> = dataset.people.source_rows.iter().map(|row| row - 1).collect();
        drop_repeats(table, &mut rows);
        if rows.len() < dataset.len() {
            warnings.push(Warning::DuplicateRows { rows: dataset.len() - rows.len() });
        }
    }
    warnings
}

/// How well a feature alone ranks the outcomes: the share of (favourable, unfavourable) pairs that it puts in one order,
/// ties counting half, whichever order is the better. 0.5 is chance and 1 is certainty. A category is ranked by the
/// favourable rates of its values, and not at all when it has few rows a value.
fn ranking(dataset: &Dataset, feature: usize) -> f64 {
    let stride = dataset.len().div_ceil(RANKED_ROWS).max(1);
    let mut pairs: Vec<(f64, bool)> =
        column(dataset, feature).zip(dataset.labels.iter().copied()).step_by(stride).collect();
    if let FeatureKind::Category { values } = &dataset.people.schema.features[feature].kind {
        if pairs.len() < 20 * values.len() {
            return 0.5;
        }
        let mut counts = vec![(0.0, 0.0); values.len()];
        for &(value, label) in &pairs {
            counts[value as usize].0 += 1.0;
            counts[value as usize].1 += f64::from(u8::from(label));
        }
        pairs.iter_mut().for_each(|(value, _)| *value = counts[*value as usize].1 / counts[*value as usize].0);
    }
    pairs.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let (mut below, mut won) = (0.0, 0.0);
    for tied in pairs.chunk_by(|one, other| one.0 == other.0) {
        let yes = tied.iter().filter(|(_, label)| *label).count() as f64;
        let no = tied.len() as f64 - yes;
        won += yes * (below + no / 2.0);
        below += no;
    }
    let all = below * (pairs.len() as f64 - below);
    if all == 0.0 { 0.5 } else { (won / all).max(1.0 - won / all) }
}
