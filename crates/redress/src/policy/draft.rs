//! Drafting a policy from a table: a first file to edit, with comments that teach the language.
//!
//! A draft is conservative. Nothing may change until somebody says so; whatever is a guess says that it is one.

use std::sync::Arc;

use super::profile::{Profile, Shape, favourable, is_protected, unit};
use super::write::{key, list, number, text};
use super::{Filter, Policy};
use crate::dataset::{DataError, Dataset, LabelFault, Schema};
use crate::policy::{Comparison, error::nearest};
use crate::table::{Column, Table};

/// Text that stands for "missing" in many files.
const ABSENT: [&str; 10] = ["?", "NA", "N/A", "n/a", "na", "null", "NULL", "nan", "NaN", "#N/A"];

/// Dropping more rows than this share is a decision that a draft does not take.
const LARGEST_LOSS: f64 = 0.2;

/// Drafts a policy for `table`, read from `file`, whose outcome is `label`.
///
/// The draft parses, and reads the table it was drafted from. It fails only if the label is no label, or if no column
/// is left to learn from.
pub fn draft(table: &Table, label: &str, file: &str) -> Result<String, DataError> {
    let outcome = profile(table, label)?;
    let rows: Vec<usize> = (0..table.rows()).filter(|&row| !outcome.gaps()[row]).collect();
    let columns: Vec<&Column> = table.columns().iter().filter(|column| column.name() != label).collect();
    let mut features: Vec<Profile> = columns.iter().map(|column| Profile::new(column, &ABSENT, &rows)).collect();
    for later in 1..columns.len() {
        let same = |earlier: &usize| features[*earlier].shape.is_used() && alike(columns[*earlier], columns[later]);
        if let Some(earlier) = (0..later).find(same) {
            let reason = format!("the same as {} in every row", text(columns[earlier].name()));
            features[later].shape = Shape::Unused(reason);
        }
    }
    let marks: Vec<&String> = features.iter().chain([&outcome]).flat_map(|profile| &profile.marks).collect();
    let absent: Vec<&str> = ABSENT.into_iter().filter(|mark| marks.iter().any(|known| known == mark)).collect();
    let rule = match missing_rows(&features, rows.len()) {
        0 => None,
        lacking if lacking as f64 > LARGEST_LOSS * rows.len() as f64 => Some(("fill", lacking)),
        lacking => Some(("drop_row", lacking)),
    };
    let written = write(&outcome, &features, &absent, rule, file);
    if reads(&written, table).is_ok() {
        return Ok(written);
    }
    // Dropping rows can leave one outcome only: then fill.
    let written = write(&outcome, &features, &absent, rule.map(|(_, rows)| ("fill", rows)), file);
    reads(&written, table)?;
    Ok(written)
}

/// Whether two columns hold the same values.
fn alike(one: &Column, other: &Column) -> bool {
    let gaps_alike = || (0..one.values().len()).all(|row| one.is_missing(row) == other.is_missing(row));
    one.values() == other.values() && gaps_alike()
}

fn profile(table: &Table, label: &str) -> Result<Profile, DataError> {
    let column = table.column(label).ok_or_else(|| {
        let columns: Vec<String> = table.columns().iter().map(|column| column.name().to_owned()).collect();
        let near = nearest(label, columns.iter().map(String::as_str)).map(str::to_owned);
        DataError::NoColumn { column: label.to_owned(), role: "the label".to_owned(), near, columns }
    })?;
    if table.rows() == 0 {
        return Err(DataError::NoRows("the table has a header but no rows".to_owned()));
    }
    let outcome = Profile::new(column, &ABSENT, &(0..table.rows()).collect::<Vec<_>>());
    if outcome.distinct.len() < 2 {
        let fault = match outcome.distinct.is_empty() {
            true => {
                return Err(DataError::Column {
                    column: label.to_owned(),
                    message: "the label has no values".to_owned(),
                });
            }
            false => LabelFault::Constant { favourable: true, values: outcome.distinct, rule: String::new() },
        };
        return Err(DataError::Label { column: label.to_owned(), fault });
    }
    Ok(outcome)
}

fn reads(written: &str, table: &Table) -> Result<(), DataError> {
    let policy = Policy::parse(written, "draft")?;
    let schema = Schema::resolve(&policy, table)?;
    Dataset::read(&policy, Arc::new(schema), table).map(|_| ())
}

/// How many rows lack a value in a column that the draft uses.
fn missing_rows(features: &[Profile], rows: usize) -> usize {
    let used: Vec<&Profile> =
        features.iter().filter(|profile| profile.shape.is_used() && profile.missing > 0).collect();
    (0..rows).filter(|&row| used.iter().any(|profile| profile.gaps()[row])).count()
}

fn write(outcome: &Profile, features: &[Profile], absent: &[&str], rule: Option<(&str, usize)>, file: &str) -> String {
    let mut out = String::from(
        "# A drafted policy: who may change what. Read it line by line; what is a guess says so.\n\
         # Nothing may change until you say so: `change` is \"fixed\" unless it says \"increase\", \"decrease\" or \"any\".\n\
         # `redress check` tells in plain words how this file is understood.\n\n",
    );
    if let Some(stem) = std::path::Path::new(file).file_stem().filter(|stem| !stem.is_empty()) {
        out.push_str(&format!(
            "name = {}   # in reports, and of the folder of results\n\n",
            text(&stem.to_string_lossy())
        ));
    }
    out.push_str("[data]\n");
    out.push_str(&format!("path = {}\nlabel = {}\n", text(file), text(&outcome.name)));
    let guess = favourable(outcome);
    out.push_str(&format!("# A guess at what people hope for. {}\nfavourable = {}\n", guess.reason, guess.written));
    if outcome.missing > 0 {
        let filter = Filter::written(&outcome.name, Comparison::NotEqual, "");
        out.push_str(&format!(
            "# {} rows have no label; a missing value passes no filter.\nfilter = [{}]\n",
            outcome.missing,
            text(&filter)
        ));
    }
    match rule {
        None => out.push_str("missing = \"refuse\"   # no value is missing now; a later file with gaps will be refused, not patched\n"),
        Some((rule, rows)) => out.push_str(&format!(
            "# {rows} rows lack a value. \"refuse\" stops there, \"drop_row\" leaves them out, \"fill\" puts in the median (or a\n\
             # category of its own); each is counted in the report.\nmissing = \"{rule}\"\n"
        )),
    }
    if !absent.is_empty() {
        out.push_str(&format!("missing_values = {}   # besides empty cells\n", list(absent.iter().copied())));
    }
    let groups: Vec<&str> =
        features.iter().filter(|profile| profile.is_group()).map(|profile| profile.name.as_str()).collect();
    if groups.is_empty() {
        out.push_str("# groups = [\"a column\"]   # audits compare the groups of these columns\n");
    } else {
        out.push_str(&format!("groups = {}   # audits compare the groups of these columns\n", list(groups)));
    }
    features.iter().for_each(|profile| write_feature(&mut out, profile));
    out.push_str(
        "\n# What holds between changes goes here, for example:\n# [actions]\n\
         # constraints = [\"hours_per_week + 4 * education_num <= 12\"]   # the two together are limited\n\
         # links = [\"education_num increases: age increases by 2 each\"]   # one change brings another with it\n",
    );
    out
}

fn write_feature(out: &mut String, profile: &Profile) {
    out.push_str(&format!("\n[features.{}]\n", key(&profile.name)));
    if let Shape::Unused(reason) = &profile.shape {
        out.push_str(&format!("use = false   # {reason}\n"));
        return;
    }
    match &profile.shape {
        Shape::Whole { low, high } => {
            out.push_str(&format!("kind = \"integer\"   # {} to {} in the table\n", number(*low), number(*high)))
        }
        Shape::Real { low, high } => {
            out.push_str(&format!("kind = \"number\"   # {} to {} in the table\n", number(*low), number(*high)))
        }
        Shape::YesNo { yes: None } => out.push_str("kind = \"yes/no\"\n"),
        Shape::YesNo { yes: Some(yes) } => {
            out.push_str(&format!("kind = \"yes/no\"\nyes = {}   # the value that counts as 1\n", text(yes)));
        }
        Shape::Category => out.push_str(&format!(
            "kind = \"category\"   # {} values; with an order, write \"ordered\" and values = [lowest, ..., highest]\n",
            profile.distinct.len()
        )),
        Shape::Unused(_) => {}
    }
    if profile.missing > 0 {
        out.push_str(&format!("# {} values are missing\n", profile.missing));
    }
    if !profile.codes.is_empty() {
        let codes: Vec<String> = profile.codes.iter().map(ToString::to_string).collect();
        out.push_str(&format!(
            "# missing_values = [{}]   # also in the table: uncomment if it is a code for \"not known\"\n",
            codes.join(", ")
        ));
    }
    if let (Some(unit), Shape::Whole { .. } | Shape::Real { .. }) = (unit(&profile.name), &profile.shape) {
        out.push_str(&format!("unit = \"{unit}\"   # a guess\n"));
    }
    if is_protected(&profile.name) {
        out.push_str("change = \"fixed\"   # looks like a protected attribute: nobody should be asked to change it\n");
    } else {
        suggest(out, profile);
    }
}

/// Commented-out lines that would let people change the feature; each is legal as it stands.
fn suggest(out: &mut String, profile: &Profile) {
    match &profile.shape {
        Shape::Whole { low, high } | Shape::Real { low, high } => {
            let span = high - low;
            let tenth =
                if matches!(profile.shape, Shape::Whole { .. }) { (span / 10.0).ceil().max(1.0) } else { span / 10.0 };
            out.push_str(
                "# change = \"increase\"   # uncomment if people can raise it; \"decrease\" and \"any\" exist too\n",
            );
            if tenth.is_finite() && tenth > 0.0 {
                out.push_str(&format!(
                    "# max_change = {}   # and by no more than this; {{ std = 0.75 }} counts standard deviations\n",
                    number(tenth)
                ));
            }
            out.push_str(&format!("# min = {}\n# max = {}   # and never beyond these\n", number(*low), number(*high)));
        }
        Shape::YesNo { .. } => {
            out.push_str(
                "# change = \"any\"   # uncomment if people can change it; \"increase\" is from no to yes only\n",
            );
        }
        Shape::Category => {
            out.push_str("# change = \"any\"   # uncomment if people can change it\n");
            if let [from, to, ..] = profile.distinct.as_slice() {
                out.push_str(&format!("# moves = {{ {} = [{}] }}   # and only in these ways\n", text(from), text(to)));
            }
        }
        Shape::Unused(_) => {}
    }
}
