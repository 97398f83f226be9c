//! Outcomes as files: `NAME.json`, `NAME.csv`, `NAME.svg`, `NAME.html`, and the pages over all of them.

use std::path::{Path, PathBuf};

use redress_report::{Block, Cell, Column, Report, Section, Table, Tone};

use crate::{cache::write_whole, error::PaperError, outcome::Outcome};

/// Writes the files of one outcome into a folder and returns their names.
pub fn outcome(folder: &Path, outcome: &Outcome) -> Result<Vec<PathBuf>, PaperError> {
    std::fs::create_dir_all(folder).map_err(|error| PaperError::file(folder, error))?;
    let mut files = vec![
        (format!("{}.json", outcome.name), serde_json::to_string_pretty(&outcome.json())? + "\n"),
        (format!("{}.csv", outcome.name), csv(outcome)),
        (format!("{}.html", outcome.name), page(outcome).html()),
    ];
    for (index, chart) in outcome.charts.iter().enumerate() {
        files.push((figure(outcome.name, index), chart.svg()));
    }
    let mut names = Vec::new();
    for (name, text) in files {
        let path = folder.join(name);
        write_whole(&path, text.as_bytes())?;
        names.push(path);
    }
    Ok(names)
}

/// The file of an experiment's chart: `NAME.svg`, then `NAME-2.svg` and so on.
pub fn figure(name: &str, index: usize) -> String {
    if index == 0 { format!("{name}.svg") } else { format!("{name}-{}.svg", index + 1) }
}

/// The comparison as CSV, or the first further table where there is nothing to compare with.
fn csv(outcome: &Outcome) -> String {
    match outcome.extras.first() {
        Some(extra) if outcome.comparisons.is_empty() => extra.table.csv(),
        _ => outcome.table().csv(),
    }
}

/// The page of one outcome.
fn page(outcome: &Outcome) -> Report {
    let mut report = Report::new(&outcome.title)
        .kicker("Learning Models for Actionable Recourse, reproduced")
        .subtitle(format!("The paper {}", outcome.reading.title()));
    let mut shown = Section::new("What it shows").id("shows");
    for chart in &outcome.charts {
        shown = shown.block(chart.clone());
    }
    if !outcome.findings.is_empty() {
        shown = shown.block(Block::list(outcome.findings.iter().map(String::as_str)));
    }
    report = report.section(shown);
    if !outcome.comparisons.is_empty() {
        report = report.section(Section::new("Ours beside the printed figures").id("figures").block(outcome.table()));
    }
    for (index, extra) in outcome.extras.iter().enumerate() {
        let id = format!("table-{}", index + 1);
        report = report.section(Section::new(&extra.title).id(id).block(extra.table.clone()));
    }
    for (what, how) in &outcome.setup {
        report = report.provenance(*what, how);
    }
    report
}

/// Writes `index.html`, which leads to every outcome of a folder.
pub fn index(folder: &Path, outcomes: &[Outcome], missing: &[String]) -> Result<PathBuf, PaperError> {
    let mut table =
        Table::new([Column::text("experiment"), Column::text("what it shows"), Column::text("first finding")]);
    for outcome in outcomes {
        table.row([
            Cell::text(outcome.name).link(format!("{}.html", outcome.name)),
            Cell::text(&outcome.title),
            Cell::text(outcome.findings.first().map_or("", String::as_str)),
        ]);
    }
    let mut section = Section::new("Experiments").id("experiments");
    for advice in missing {
        section = section.block(Block::note(Tone::Warning, advice.as_str()));
    }
    section = section.block(table);
    let reading = outcomes.first().map_or("as written", |outcome| outcome.reading.title());
    let report = Report::new("Learning Models for Actionable Recourse, reproduced")
        .subtitle(format!("The paper {reading}"))
        .section(section);
    let path = folder.join("index.html");
    write_whole(&path, report.html().as_bytes())?;
    Ok(path)
}

/// Writes every outcome on one Markdown page; with each goes the folder of its figures, relative to the page.
pub fn results(path: &Path, outcomes: &[(String, Outcome)], missing: &[String]) -> Result<(), PaperError> {
    let mut text = String::from(INTRODUCTION);
    for advice in missing {
        text.push_str(&format!("> {advice}\n\n"));
    }
    text.push_str("## What it teaches\n\n");
    for (_, outcome) in outcomes {
        text.push_str(&format!("### {}, {}\n\n", outcome.title, outcome.reading.title()));
        outcome.findings.iter().for_each(|finding| text.push_str(&format!("- {finding}\n")));
        text.push('\n');
    }
    for (figures, outcome) in outcomes {
        text.push_str(&outcome.markdown("##"));
        text.push('\n');
        for (index, chart) in outcome.charts.iter().enumerate() {
            text.push_str(&format!("![{}]({figures}{})\n\n", chart.title(), figure(outcome.name, index)));
        }
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| PaperError::file(folder, error))?;
    }
    write_whole(path, text.as_bytes())
}

/// What stands at the head of the results page.
const INTRODUCTION: &str = "\
# Results

Every table and figure of *Learning Models for Actionable Recourse* (Ross, Lakkaraju and Bastani, NeurIPS 2021) but the \
text study, reproduced. This page is written by `redress reproduce all --as both --out docs/figures --cache redress-out/models \
--results docs/results.md` and not by hand. *As written* follows the formulas of the paper; *as released* computes what \
its published code computes (the step δ that leads away from a yes; two hidden layers with ReLU, batches of 10 and the \
epoch with the lowest validation loss; 0.95 where α = 0.05 belongs; calibration on validation rows). The printed figures stand \
beside ours. Figures are means over random splits, with the standard error of the mean; thresholds, epochs and settings \
are chosen on validation rows, everything is measured on test rows. German is compared with its label as released (bad \
credit is the yes), because the printed figures were made so.

";
