//! `[features.*]`: what each feature is and how far a person may move it.

use std::collections::BTreeMap;

use super::document::{Item, Section};
use super::error::{PolicyError, listed, nearest};
use super::{Actionability, Amount, Data, Direction, FeatureRule, Kind, UnknownCategory};

const KEYS: [&str; 16] = [
    "kind",
    "name",
    "unit",
    "use",
    "change",
    "max_change",
    "min",
    "max",
    "step",
    "moves",
    "values",
    "yes",
    "cost_weight",
    "fixed_cost",
    "unknown",
    "missing_values",
];

pub(super) const DIRECTIONS: [(&str, Direction); 4] = [
    ("fixed", Direction::Fixed),
    ("increase", Direction::Increase),
    ("decrease", Direction::Decrease),
    ("any", Direction::Any),
];

/// The features in use, in the order of the file, and the columns that are not.
pub(super) fn read(top: &Section, data: &Data) -> Result<(Vec<FeatureRule>, Vec<String>), PolicyError> {
    let all = top.require("features", "list the model's inputs as `[features.COLUMN]`")?;
    let (mut features, mut ignored) = (Vec::new(), Vec::new());
    for (column, item) in all.named_section()?.entries() {
        let section = item.section(&KEYS)?;
        if section.get("use").map_or(Ok(true), |item| item.boolean())? {
            if column == data.label {
                return Err(item.wrong(format!("`{column}` is the label: it cannot be a feature as well")));
            }
            features.push(feature(column, &section)?);
        } else {
            ignored.push(column.to_owned());
        }
    }
    if features.is_empty() {
        return Err(all.wrong("the policy uses no feature: the model would see nothing"));
    }
    Ok((features, ignored))
}

fn feature(column: &str, section: &Section) -> Result<FeatureRule, PolicyError> {
    let kind = kind(section)?;
    let action = action(&kind, section)?;
    let text = |key: &str| section.get(key).map(|item| item.string().map(str::to_owned)).transpose();
    Ok(FeatureRule {
        column: column.to_owned(),
        label: text("name")?.unwrap_or_else(|| column.replace(['_', '-'], " ")),
        unit: text("unit")?,
        unknown: unknown(&kind, section)?,
        missing_values: section.get("missing_values").map_or(Ok(Vec::new()), |item| item.scalars())?,
        kind,
        action,
        cost_weight: not_negative(section, "cost_weight")?.unwrap_or(1.0),
        fixed_cost: not_negative(section, "fixed_cost")?.unwrap_or(0.0),
    })
}

fn kind(section: &Section) -> Result<Kind, PolicyError> {
    let item = section.require("kind", "one of \"number\", \"integer\", \"yes/no\", \"category\" and \"ordered\"")?;
    let words = [("number", 0), ("integer", 1), ("yes/no", 2), ("category", 3), ("ordered", 4)];
    // `yes_no` is what one writes after a file full of underscores.
    let word = if item.string()? == "yes_no" { 2 } else { item.one_of(&words)? };
    let yes = section.get("yes");
    let values = section.get("values");
    if let (Some(item), false) = (&yes, word == 2) {
        return Err(item.wrong(format!("`{}` is for a yes/no feature only", item.path)));
    }
    if let (Some(item), false) = (&values, word >= 3) {
        return Err(item.wrong(format!("`{}` is for a category or an ordered category only", item.path)));
    }
    let values = match &values {
        None => None,
        Some(item) => {
            let values = item.scalars()?;
            if values.len() < 2 {
                return Err(item.wrong(format!("`{}` needs at least two values", item.path)));
            }
            Some(values)
        }
    };
    Ok(match word {
        0 => Kind::Number,
        1 => Kind::Integer,
        2 => Kind::YesNo { yes: yes.map(|item| item.scalar()).transpose()? },
        3 => Kind::Category { values },
        _ => Kind::Ordered {
            values: values.ok_or_else(|| {
                item.wrong(format!("`{}` is \"ordered\", but there is no `values`", item.path))
                    .help("list the values from lowest to highest: values = [\"low\", \"middle\", \"high\"]")
            })?,
        },
    })
}

fn action(kind: &Kind, section: &Section) -> Result<Actionability, PolicyError> {
    let moves = moves(kind, section)?;
    let change = match section.get("change") {
        Some(item) => direction(kind, &item)?,
        None if moves.is_some() => Direction::Any,
        None => Direction::Fixed,
    };
    for key in ["max_change", "step", "moves"] {
        if let (Some(item), Direction::Fixed) = (section.get(key), change) {
            return Err(item
                .wrong(format!("`{}` says how far the feature may move, but it is fixed", item.path))
                .help("add `change = \"increase\"`, \"decrease\" or \"any\", or take this line out"));
        }
    }
    if matches!(kind, Kind::YesNo { .. } | Kind::Category { .. }) {
        for key in ["max_change", "min", "max", "step"] {
            if let Some(item) = section.get(key) {
                return Err(item.wrong(format!("`{}` is for numbers and ordered categories only", item.path)));
            }
        }
    }
    let (min, max) = (limit(kind, section, "min")?, limit(kind, section, "max")?);
    if let (Some(low), Some(high), Some(item)) = (min, max, section.get("min"))
        && low > high
    {
        let show = |rank: f64| match kind {
            Kind::Ordered { values } => values[rank as usize].clone(),
            _ => rank.to_string(),
        };
        return Err(item.wrong(format!("`{}` is {}, above `max`, which is {}", item.path, show(low), show(high))));
    }
    Ok(Actionability { change, max_change: max_change(section)?, min, max, step: step(kind, section)?, moves })
}

fn direction(kind: &Kind, item: &Item) -> Result<Direction, PolicyError> {
    let change = item.one_of(&DIRECTIONS)?;
    if matches!(kind, Kind::Category { .. }) && matches!(change, Direction::Increase | Direction::Decrease) {
        return Err(item
            .wrong(format!("`{}` is {:?}, but a category has no up and down", item.path, item.string()?))
            .help("write change = \"any\", give `moves`, or make it kind = \"ordered\" with its `values` from lowest to highest"));
    }
    Ok(change)
}

/// `min` and `max`: a number, or the value's name for an ordered category.
fn limit(kind: &Kind, section: &Section, key: &str) -> Result<Option<f64>, PolicyError> {
    let Some(item) = section.get(key) else { return Ok(None) };
    let Kind::Ordered { values } = kind else { return item.number().map(Some) };
    let value = item.scalar()?;
    match values.iter().position(|known| *known == value) {
        Some(rank) => Ok(Some(rank as f64)),
        None => Err(not_a_value(&item, &value, values)),
    }
}

fn not_a_value(item: &Item, value: &str, values: &[String]) -> PolicyError {
    let known = || values.iter().map(String::as_str);
    let help = nearest(value, known()).map(|near| format!("did you mean \"{near}\"?"));
    item.wrong(format!("`{}` names \"{value}\", which is not one of the values {}", item.path, listed(known())))
        .maybe_help(help)
}

fn max_change(section: &Section) -> Result<Option<Amount>, PolicyError> {
    let Some(item) = section.get("max_change") else { return Ok(None) };
    if !item.is_table() {
        return Ok(not_negative(section, "max_change")?.map(Amount::Units));
    }
    let inner = item.section(&["std"])?;
    inner.require("std", "the number of standard deviations, { std = 0.75 }")?;
    Ok(not_negative(&inner, "std")?.map(Amount::Deviations))
}

fn step(kind: &Kind, section: &Section) -> Result<Option<f64>, PolicyError> {
    let Some(item) = section.get("step") else { return Ok(None) };
    let step = item.number()?;
    if !(step > 0.0) {
        return Err(item.wrong(format!("`{}` is {step}, but a step is above 0", item.path)));
    }
    if !matches!(kind, Kind::Number) && step.fract() != 0.0 {
        return Err(item.wrong(format!("`{}` is {step}, but this feature moves in whole numbers", item.path)));
    }
    Ok(Some(step))
}

fn not_negative(section: &Section, key: &str) -> Result<Option<f64>, PolicyError> {
    let Some(item) = section.get(key) else { return Ok(None) };
    let number = item.number()?;
    if !(number >= 0.0) {
        return Err(item.wrong(format!("`{}` is {number}, but may not be negative", item.path)));
    }
    Ok(Some(number + 0.0))
}

fn moves(kind: &Kind, section: &Section) -> Result<Option<BTreeMap<String, Vec<String>>>, PolicyError> {
    let Some(item) = section.get("moves") else { return Ok(None) };
    let Kind::Category { values } = kind else {
        return Err(item.wrong(format!("`{}` is for a category only", item.path)));
    };
    let known = |item: &Item, value: &str| match values {
        Some(values) if !values.iter().any(|known| known == value) => Err(not_a_value(item, value, values)),
        _ => Ok(()),
    };
    let mut moves = BTreeMap::new();
    for (from, targets) in item.named_section()?.entries() {
        known(&targets, from)?;
        let to = targets.scalars()?;
        for (target, value) in targets.list()?.iter().zip(&to) {
            known(target, value)?;
            if value == from {
                return Err(
                    target.wrong(format!("`{}` moves \"{from}\" to itself; staying is always allowed", item.path))
                );
            }
        }
        moves.insert(from.to_owned(), to);
    }
    Ok(Some(moves))
}

fn unknown(kind: &Kind, section: &Section) -> Result<UnknownCategory, PolicyError> {
    let Some(item) = section.get("unknown") else { return Ok(UnknownCategory::Refuse) };
    let values = match kind {
        Kind::Category { values } => values.as_deref(),
        Kind::Ordered { values } => Some(values.as_slice()),
        _ => return Err(item.wrong(format!("`{}` is for a category or an ordered category only", item.path))),
    };
    if !item.is_table() {
        return item
            .one_of(&[("refuse", ())])
            .map(|()| UnknownCategory::Refuse)
            .map_err(|error| error.help("write unknown = \"refuse\" or unknown = { treat_as = \"a known value\" }"));
    }
    let target = item.section(&["treat_as"])?.require("treat_as", "the known value that stands in for it")?;
    let value = target.scalar()?;
    match values {
        Some(values) if !values.contains(&value) => Err(not_a_value(&target, &value, values)),
        _ => Ok(UnknownCategory::TreatAs(value)),
    }
}
