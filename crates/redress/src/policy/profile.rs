//! What a column looks like to somebody who has never seen the table: the guesses behind a draft.

use super::filter::{number, same};
use super::write::text;
use crate::table::{Column, Values};

/// More distinct texts than this are not a category that anybody drafted.
const MOST_CATEGORIES: usize = 50;
/// A group column with more values than this is not one to compare groups by.
const MOST_GROUPS: usize = 10;

/// One column, looked at once.
pub(super) struct Profile {
    pub(super) name: String,
    /// The distinct values that are not missing, sorted by text.
    pub(super) distinct: Vec<String>,
    pub(super) missing: usize,
    /// Marks for "missing" found in the column.
    pub(super) marks: Vec<String>,
    /// Numbers that look like codes for "not known".
    pub(super) codes: Vec<i64>,
    pub(super) shape: Shape,
    gaps: Vec<bool>,
}

/// The kind that a column seems to be.
pub(super) enum Shape {
    Whole {
        low: f64,
        high: f64,
    },
    Real {
        low: f64,
        high: f64,
    },
    YesNo {
        yes: Option<String>,
    },
    Category,
    /// Not fit to be a feature, and why.
    Unused(String),
}

impl Shape {
    pub(super) fn is_used(&self) -> bool {
        !matches!(self, Shape::Unused(_))
    }
}

impl Profile {
    /// Looks at these rows of a column.
    pub(super) fn new(column: &Column, absent: &[&str], rows: &[usize]) -> Self {
        let coded = crate::dataset::coded(column);
        let marked: Vec<bool> = coded
            .dictionary
            .iter()
            .map(|value| value.is_empty() || absent.contains(&value.as_str()) || value == "NaN")
            .collect();
        let gap = |&row: &usize| column.is_missing(row) || marked[coded.codes[row] as usize];
        let gaps: Vec<bool> = rows.iter().map(gap).collect();
        let mut seen = vec![false; coded.dictionary.len()];
        let mut marks = Vec::new();
        for (&row, gap) in rows.iter().zip(&gaps).filter(|(row, _)| !column.is_missing(**row)) {
            let code = coded.codes[row] as usize;
            if !gap {
                seen[code] = true;
            } else if !marks.contains(&coded.dictionary[code]) {
                marks.push(coded.dictionary[code].clone());
            }
        }
        let mut distinct: Vec<String> =
            coded.dictionary.iter().zip(seen).filter(|(_, seen)| *seen).map(|(value, _)| value.clone()).collect();
        distinct.sort_unstable();
        let missing = gaps.iter().filter(|gap| **gap).count();
        let present = gaps.len() - missing;
        let numbers: Option<Vec<f64>> = match column.values() {
            Values::Boolean(_) => None,
            _ => distinct.iter().map(|value| number(value)).collect(),
        };
        let name = column.name().to_owned();
        let codes = numbers.as_deref().map_or(Vec::new(), codes);
        let shape = shape(&name, &distinct, numbers.as_deref(), &codes, present, missing);
        Self { name, distinct, missing, marks, codes, shape, gaps }
    }

    /// Which of the rows looked at have no value.
    pub(super) fn gaps(&self) -> &[bool] {
        &self.gaps
    }

    /// Whether audits should compare the groups of this column.
    pub(super) fn is_group(&self) -> bool {
        is_protected(&self.name) && (2..=MOST_GROUPS).contains(&self.distinct.len())
    }
}

fn shape(
    name: &str,
    distinct: &[String],
    numbers: Option<&[f64]>,
    codes: &[i64],
    present: usize,
    missing: usize,
) -> Shape {
    let unused = |reason: String| Shape::Unused(reason);
    match distinct.len() {
        0 => return unused("every value is missing".to_owned()),
        1 => return unused(format!("the same in every row: {}", text(&distinct[0]))),
        _ => {}
    }
    if distinct.iter().any(|value| matches!(value.as_str(), "inf" | "-inf")) {
        return unused("some values are infinite".to_owned());
    }
    if missing > present {
        return unused("more than half of the values are missing".to_owned());
    }
    let all_distinct = distinct.len() == present && present > 2;
    if let Some(numbers) = numbers {
        let plain = numbers.iter().filter(|number| !codes.iter().any(|&code| code as f64 == **number));
        let (low, high) =
            plain.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &next| (low.min(next), high.max(next)));
        let whole = numbers.iter().all(|number| number.fract() == 0.0 && number.abs() < 9e15);
        // Numbers in a row are a count of the rows, whatever they are called.
        let numbered = whole && present >= 20 && high - low < 2.0 * present as f64;
        if all_distinct && whole && (words(name).iter().any(|word| word == "id" || word == "index") || numbered) {
            return unused("different in every row, like a number of the row or the person".to_owned());
        }
        if low == 0.0 && high == 1.0 && distinct.len() == 2 {
            return Shape::YesNo { yes: None };
        }
        return if whole { Shape::Whole { low, high } } else { Shape::Real { low, high } };
    }
    if distinct.len() == 2 {
        let known = [("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t")];
        let plain =
            known.iter().any(|(no, yes)| distinct[0].to_lowercase() == *no && distinct[1].to_lowercase() == *yes);
        return Shape::YesNo { yes: (!plain).then(|| distinct[1].clone()) };
    }
    let example = text(&distinct[0]);
    if distinct.iter().all(|value| is_date(value)) {
        return unused(format!("dates, such as {example}: a column of years or days since then may say what matters"));
    }
    if distinct.iter().all(|value| number(&value.replacen(',', ".", 1)).is_some()) {
        return unused(format!("numbers with a comma, such as {example}: write them with a point to use them"));
    }
    if all_distinct {
        return unused("different in every row, like a name or a number of the person".to_owned());
    }
    if distinct.len() > MOST_CATEGORIES {
        return unused(format!(
            "{} different texts: too many for a category; a derived column may say what matters",
            distinct.len()
        ));
    }
    Shape::Category
}

/// Whether a text is a day, with or without a time: 2024-03-31, 31.3.2024, 3/31/2024 12:00.
fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or_default();
    let parts: Vec<&str> = day.split(['-', '.', '/']).collect();
    let digits = |part: &&str| part.chars().all(|character| character.is_ascii_digit());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    parts.iter().all(digits) && matches!(lengths[..], [4, 1 | 2, 1 | 2] | [1 | 2, 1 | 2, 2 | 4])
}

/// Negative codes below numbers that are otherwise not negative.
fn codes(numbers: &[f64]) -> Vec<i64> {
    const SUSPECTS: [i64; 6] = [-7, -8, -9, -99, -999, -9999];
    let suspect = |number: f64| SUSPECTS.iter().any(|&code| code as f64 == number);
    let others = numbers.iter().filter(|number| !suspect(**number));
    if !others.clone().all(|number| *number >= 0.0) || others.count() == 0 {
        return Vec::new();
    }
    SUSPECTS.into_iter().filter(|&code| numbers.contains(&(code as f64))).collect()
}

/// The words of a column's name, lower case: `maritalStatus` and `marital-status` are two words.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_lower = false;
    for character in name.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && after_lower) {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
        after_lower = character.is_lowercase();
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a column's name sounds like an attribute that the law protects.
pub(super) fn is_protected(name: &str) -> bool {
    const PROTECTED: [&str; 25] = [
        "age",
        "sex",
        "gender",
        "race",
        "ethnicity",
        "ethnic",
        "religion",
        "marital",
        "married",
        "nationality",
        "native",
        "foreign",
        "citizen",
        "citizenship",
        "disability",
        "disabled",
        "pregnant",
        "male",
        "female",
        "white",
        "black",
        "birth",
        "dob",
        "orientation",
        "veteran",
    ];
    words(name).iter().any(|word| PROTECTED.contains(&word.as_str()))
}

/// A guess at a number's unit: what stands in brackets at the end, `Loan (EUR)`, or a word of the name that is one.
pub(super) fn unit(name: &str) -> Option<String> {
    let bracketed =
        name.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once('(')).map(|(_, unit)| unit.trim());
    let plain = |unit: &&str| !unit.is_empty() && unit.chars().all(|c| c.is_alphanumeric() || " %€$£/.".contains(c));
    if let Some(unit) = bracketed.filter(plain) {
        return Some(unit.to_owned());
    }
    if name.trim_end().ends_with('%') {
        return Some("%".to_owned());
    }
    const UNITS: [(&str, &str); 13] = [
        ("age", "years"),
        ("hours", "hours"),
        ("hour", "hours"),
        ("days", "days"),
        ("day", "days"),
        ("weeks", "weeks"),
        ("months", "months"),
        ("month", "months"),
        ("years", "years"),
        ("year", "years"),
        ("minutes", "minutes"),
        ("percent", "%"),
        ("pct", "%"),
    ];
    let words = words(name);
    UNITS.iter().find(|(word, _)| words.iter().any(|known| known == word)).map(|(_, unit)| (*unit).to_owned())
}

/// Which outcome people hope for, as TOML, and why one would think so.
pub(super) struct Guess {
    pub(super) written: String,
    pub(super) reason: String,
}

/// Guesses the favourable outcome of a label.
pub(super) fn favourable(label: &Profile) -> Guess {
    let numbers: Option<Vec<f64>> = label.distinct.iter().map(|value| number(value)).collect();
    if let (Some(numbers), true) = (numbers, label.distinct.len() > 2) {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let middle = low + (high - low) / 2.0;
        let middle = if middle.is_finite() && middle < high { middle } else { low };
        return Guess {
            written: text(&format!("> {middle}")),
            reason: format!("The label is a number from {low} to {high}: above the middle counts as favourable."),
        };
    }
    let shown: Vec<String> = label.distinct.iter().take(8).map(|value| text(value)).collect();
    let more = if label.distinct.len() > 8 { ", ..." } else { "" };
    let reason = format!("The values are {}{more}.", shown.join(", "));
    let chosen = hoped_for(&label.name, &label.distinct);
    let written = if label.distinct.len() > 2 { format!("[{}]", text(chosen)) } else { safe(chosen) };
    Guess { written, reason }
}

/// A value that reads as a rule (`> 5`) stays a value inside a list.
fn safe(value: &str) -> String {
    match super::Rule::parse(value) {
        super::Rule::Is(_) => text(value),
        _ => format!("[{}]", text(value)),
    }
}

fn hoped_for<'v>(name: &str, values: &'v [String]) -> &'v str {
    const GOOD: [&str; 22] = [
        "1",
        "true",
        "yes",
        "ja",
        "oui",
        "si",
        "sí",
        "y",
        "t",
        "good",
        "approved",
        "approve",
        "accepted",
        "accept",
        "granted",
        "paid",
        "repaid",
        "fully paid",
        "passed",
        "pass",
        "success",
        "positive",
    ];
    const HARM: [&str; 14] = [
        "default",
        "defaulted",
        "recid",
        "recidivism",
        "fraud",
        "churn",
        "delinquent",
        "delinquency",
        "bankrupt",
        "rejected",
        "denied",
        "bad",
        "failure",
        "arrest",
    ];
    let find = |wanted: &str| values.iter().find(|value| same(&value.to_lowercase(), wanted));
    let harmful = words(name).iter().any(|word| HARM.contains(&word.as_str()));
    let spared = if harmful { ["0", "false", "no"].iter().find_map(|word| find(word)) } else { None };
    spared
        .or_else(|| GOOD.iter().find_map(|word| find(word)))
        .or_else(|| values.iter().find(|value| value.starts_with('>')))
        .or_else(|| values.last())
        .map_or("", String::as_str)
}
