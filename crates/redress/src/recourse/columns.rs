//! Explanations as columns of a table: what a file of people is written again with.

use super::{Explanation, words::Way};
use crate::{
    dataset::FeatureKind,
    feasible::ActionSpace,
    table::{Column, Missing, Values},
};

/// The columns for these people: `redress_verdict`, `redress_score`, `redress_needed`, `redress_method`, and for each of
/// up to `options` ways `redress_action`, `redress_score_after`, `redress_cost` and a column `redress_to_NAME` for every
/// feature that people may change (with `_2`, `_3` … for the further ways). Where there is no way the cells are missing;
/// somebody without an explanation, because a value of theirs is missing, has the verdict `incomplete`.
pub fn columns(explanations: &[Option<Explanation>], space: &ActionSpace, options: usize) -> Vec<Column> {
    let all = || explanations.iter().map(Option::as_ref);
    let verdict = |each: Option<&Explanation>| each.map_or("incomplete", |each| each.verdict.word()).to_owned();
    let mut columns = vec![
        text("redress_verdict", all().map(|each| Some(verdict(each)))),
        number("redress_score", all().map(|each| each.map(|each| each.score))),
        number("redress_needed", all().map(|each| each.map(|each| each.threshold))),
        text("redress_method", all().map(|each| each.map(|each| each.method.name().to_owned()))),
    ];
    for option in 0..options {
        let suffix = if option == 0 { String::new() } else { format!("_{}", option + 1) };
        let ways = || all().map(|each| each.and_then(|each| each.options.get(option)));
        columns.push(text(&format!("redress_action{suffix}"), ways().map(|way| way.map(sentence))));
        columns.push(number(&format!("redress_score_after{suffix}"), ways().map(|way| way.map(|way| way.score_after))));
        columns.push(number(&format!("redress_cost{suffix}"), ways().map(|way| way.map(|way| way.cost))));
        for lever in space.levers() {
            let feature = &space.encoding().schema().features[lever.feature];
            let name = format!("redress_to_{}{suffix}", feature.column);
            let change = |way: Option<&Way>| {
                way.and_then(|way| way.changes.iter().find(|change| change.column == feature.column).cloned())
            };
            columns.push(match feature.kind {
                FeatureKind::Number | FeatureKind::Integer => {
                    number(&name, ways().map(|way| change(way).map(|change| change.to_value)))
                }
                _ => text(&name, ways().map(|way| change(way).map(|change| change.to))),
            });
        }
    }
    columns
}

/// A way in a line: `education from 13 to 14 years; hours worked per week from 40 to 43 hours`.
fn sentence(way: &Way) -> String {
    let parts = way.changes.iter().chain(&way.consequences).map(|change| {
        let unit = change.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
        format!("{} from {} to {}{unit}", change.feature, change.from, change.to)
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// A column of numbers, some of them missing.
fn number(name: &str, values: impl Iterator<Item = Option<f64>>) -> Column {
    let mut missing = Missing::none();
    let values = values.enumerate().map(|(row, value)| {
        value.unwrap_or_else(|| {
            missing.insert(row);
            0.0
        })
    });
    let values = Values::Number(values.collect());
    Column::new(name, values, missing)
}

/// A column of texts, some of them missing.
fn text(name: &str, values: impl Iterator<Item = Option<String>>) -> Column {
    let mut missing = Missing::none();
    let values = values.enumerate().map(|(row, value)| {
        value.unwrap_or_else(|| {
            missing.insert(row);
            String::new()
        })
    });
    let values = Values::Text(values.collect());
    Column::new(name, values, missing)
}
