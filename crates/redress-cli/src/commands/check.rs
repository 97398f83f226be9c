//! `redress check`: what redress understood, for a person to confirm.

use clap::Args;
use redress::dataset::{Inspection, inspect};
use redress_report::{Cell, Column, Table};

use crate::{
    failure::{Exit, Failure},
    source,
    terminal::Terminal,
};

/// Show what a policy and its table were understood to say
///
/// Example: redress check policy.toml
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A policy file, or a built-in data set.
    #[arg(value_name = "POLICY")]
    policy: String,
}

/// Reads the table by the policy and prints what came of it.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = source::load(&arguments.policy)?;
    let rows = loaded.rows()?;
    let inspection = inspect(&loaded.policy, &loaded.tables.table, &rows.dataset, &rows.summary);
    terminal.json(&inspection);
    terminal.say(text(&loaded.policy.name, &loaded.origin(), &inspection, terminal));
    Ok(Exit::Done)
}

/// The inspection as a person reads it.
fn text(name: &str, origin: &str, inspection: &Inspection, terminal: &Terminal) -> String {
    let summary = &inspection.summary;
    let mut text = format!("{}: {} rows of {origin}", terminal.bold(name), summary.rows);
    let notes = summary.filtered.iter().map(|(filter, rows)| format!("{rows} left out by `{filter}`"));
    let notes =
        notes.chain(summary.dropped.iter().map(|(column, rows)| format!("{rows} dropped: {column} is missing")));
    let notes = notes.chain(summary.filled.iter().map(|(column, rows)| format!("{rows} values of {column} filled in")));
    let repeats = (summary.duplicates > 0).then(|| format!("{} repeated rows dropped", summary.duplicates));
    let notes: Vec<String> = notes.chain(repeats).collect();
    if !notes.is_empty() {
        text += &format!(" ({} in the table; {})", summary.table_rows, notes.join("; "));
    }
    text += &format!("\nfavourable outcome: {:.1}%\n\n", 100.0 * inspection.favourable_rate);

    let mut features = Table::new(["feature", "kind", "holds", "missing", "a person"].map(|title| match title {
        "missing" => Column::number(title),
        _ => Column::text(title),
    }));
    for feature in &inspection.features {
        let named = match &feature.unit {
            Some(unit) => format!("{} ({unit})", feature.label),
            None => feature.label.clone(),
        };
        features.row([
            Cell::text(named),
            Cell::text(feature.kind),
            Cell::text(&feature.holds),
            Cell::count(feature.missing as u64),
            Cell::text(&feature.may),
        ]);
    }
    text += &features.text();
    for sentence in inspection.constraints.iter().chain(&inspection.links) {
        text += &format!("\nalso: {sentence}");
    }
    for column in &inspection.groups {
        let groups =
            column.groups.iter().map(|(value, rows, rate)| format!("{value} {rows} ({:.0}% yes)", 100.0 * rate));
        text += &format!("\ngroups of {}: {}", column.column, groups.collect::<Vec<_>>().join(", "));
    }
    for warning in &inspection.warnings {
        text += &format!("\n{} {warning}", terminal.warning("warning:"));
    }
    text
}
