//! What `redress sweep` reports.

use redress::{
    audit::frontier::{FrontierPoint, Mean},
    policy::{FeatureRule, Policy},
};
use redress_report::{
    Block, Cell, Chart, Column, KeyFigure, Prose, Report, Section, Table, Tone,
    chart::{Axis, Estimate, LineChart, Panels, Point, ScatterChart, Series},
    number,
};

use super::parts;
use crate::{commands::sweep::Swept, terminal::Terminal};

/// A mean with its standard error as whiskers.
fn estimate(mean: &Mean) -> Estimate {
    match mean.error {
        Some(error) => Estimate::within(mean.mean, mean.mean - error, mean.mean + error),
        None => Estimate::new(mean.mean),
    }
}

/// The points of each largest change, under its name.
fn by_change(swept: &Swept) -> Vec<(String, Vec<&FrontierPoint>)> {
    let mut all: Vec<(Option<f64>, Vec<&FrontierPoint>)> = Vec::new();
    for point in &swept.frontier {
        match all.iter_mut().find(|(delta, _)| *delta == point.delta_max) {
            Some((_, points)) => points.push(point),
            None => all.push((point.delta_max, vec![point])),
        }
    }
    let name = |delta: Option<f64>| match delta {
        Some(delta) => format!("changes up to {delta} deviations"),
        None => "the policy's changes".to_owned(),
    };
    all.into_iter().map(|(delta, points)| (name(delta), points)).collect()
}

/// One figure of a point.
type Figure = fn(&FrontierPoint) -> &Mean;

/// Every point in figures. For people with `digits`: means and errors in one cell; else one column each, in full.
pub fn table(swept: &Swept, digits: Option<usize>) -> Table {
    let figures: [(&str, Figure); 7] = [
        ("f1", |point| &point.f1),
        ("accuracy", |point| &point.accuracy),
        ("recourse_neg", |point| &point.recourse_neg),
        ("recourse_all", |point| &point.recourse_all),
        ("pare_f1", |point| &point.pare_f1),
        ("pare_accuracy", |point| &point.pare_accuracy),
        ("pare_recourse_all", |point| &point.pare_recourse_all),
    ];
    let spoken = |name: &str| match name {
        "f1" => "F1".to_owned(),
        "pare_f1" => "F1, guaranteed".to_owned(),
        "pare_recourse_all" => "recourse all, guaranteed".to_owned(),
        other => other.replace('_', " "),
    };
    // With both accuracies the table would be wider than a page; one of them has a chart of its own.
    let shown = |figure: &(&str, Figure)| digits.is_none() || !figure.0.ends_with("accuracy");
    let several = swept.frontier.iter().any(|point| point.delta_max.is_some());
    let mut columns = Vec::new();
    if several || digits.is_none() {
        columns.push(Column::number(if digits.is_some() { "largest change" } else { "delta_max" }));
    }
    columns.push(Column::number(if digits.is_some() { "λ" } else { "lambda" }));
    if digits.is_none() {
        columns.push(Column::number("seeds"));
    }
    for (name, _) in figures.iter().copied().filter(shown) {
        match digits {
            Some(_) => columns.push(Column::number(spoken(name))),
            None => columns.extend([Column::number(name), Column::number(format!("{name}_se"))]),
        }
    }
    let mut table = Table::new(columns);
    for point in &swept.frontier {
        let mut cells = Vec::new();
        if several || digits.is_none() {
            cells.push(Cell::number(point.delta_max.unwrap_or(f64::NAN), 2));
        }
        cells.push(Cell::number(point.lambda, 2));
        if digits.is_none() {
            cells.push(Cell::count(point.seeds as u64));
        }
        for (_, figure) in figures.iter().copied().filter(shown) {
            let mean = figure(point);
            match digits {
                Some(digits) => cells.push(Cell::text(with_error(mean, digits))),
                None => {
                    cells.extend([Cell::number(mean.mean, 4), Cell::number(mean.error.unwrap_or(f64::NAN), 4)]);
                }
            }
        }
        table.row(cells).highlight = point.best && digits.is_some();
    }
    table
}

/// `0.664 ± 0.004`.
fn with_error(mean: &Mean, digits: usize) -> String {
    match mean.error {
        Some(error) => format!("{} ± {}", number::fixed(mean.mean, digits), number::fixed(error, digits)),
        None => number::fixed(mean.mean, digits),
    }
}

/// A mean as a number worth seeing at once.
fn figure(mean: &Mean, label: &str) -> KeyFigure {
    let shown = KeyFigure::new(number::fixed(mean.mean, 3), label);
    match mean.error {
        Some(error) => shown.detail(format!("standard error {}", number::fixed(error, 3))),
        None => shown,
    }
}

/// The frontier and the F1 under the guarantee, side by side.
pub fn picture(swept: &Swept) -> Panels {
    Panels::new(format!("What more recourse costs: {}", swept.name), 2)
        .plot(frontier_chart(swept))
        .plot(pare_chart(swept))
}

/// F1 against recourse, joined in the order of λ.
fn frontier_chart(swept: &Swept) -> ScatterChart {
    let mut chart = ScatterChart::new("F1 and recourse", Axis::percent("recourse of those denied"), Axis::new("F1"));
    for (name, points) in by_change(swept) {
        let point = |point: &&FrontierPoint| {
            let at =
                Point::new(estimate(&point.recourse_neg), estimate(&point.f1)).label(format!("λ = {}", point.lambda));
            if point.best { at.chosen() } else { at }
        };
        chart = chart.series(Series::new(name, points.iter().map(point).collect::<Vec<_>>()));
    }
    chart
}

/// F1 under the guarantee, over λ.
fn pare_chart(swept: &Swept) -> LineChart {
    over_lambda(swept, "F1 under the guarantee", Axis::new("F1"), |point| &point.pare_f1)
}

/// One figure over λ, a line for each largest change.
fn over_lambda(swept: &Swept, title: &str, axis: Axis, figure: fn(&FrontierPoint) -> &Mean) -> LineChart {
    let mut chart = LineChart::new(title, Axis::new("λ"), axis);
    for (name, points) in by_change(swept) {
        let point = |point: &&FrontierPoint| Point::new(point.lambda, estimate(figure(point)));
        chart = chart.series(Series::new(name, points.iter().map(point).collect::<Vec<_>>()));
    }
    chart
}

/// The λ with the best F1 under the guarantee, of all largest changes.
fn best(swept: &Swept) -> Option<&FrontierPoint> {
    let best = swept.frontier.iter().filter(|point| point.best);
    best.reduce(|a, b| if b.pare_f1.mean > a.pare_f1.mean { b } else { a })
}

/// Which λ keeps the promise at the best F1.
fn sentence(swept: &Swept) -> String {
    let Some(best) = best(swept) else { return String::new() };
    let change =
        best.delta_max.map_or(String::new(), |delta| format!(" with changes up to {delta} standard deviations"));
    let is_plain = |point: &&FrontierPoint| point.lambda == 0.0 && point.delta_max == best.delta_max;
    let plain = swept.frontier.iter().find(is_plain).filter(|_| best.lambda != 0.0);
    let against = plain
        .map_or(String::new(), |plain| format!("; without the recourse term it is {}", with_error(&plain.pare_f1, 3)));
    format!(
        "Of the settings tried, λ = {}{change} keeps the promise at the highest F1: {}{against}.",
        best.lambda,
        with_error(&best.pare_f1, 3)
    )
}

/// What the terminal shows.
pub fn terminal_summary(swept: &Swept, terminal: &Terminal) -> String {
    format!("{}\n{}\n{}", table(swept, Some(3)).text(), swept.promise, terminal.bold(&sentence(swept)))
}

/// The report.
pub fn report(swept: &Swept, policies: &[(Option<f64>, Policy)]) -> Report {
    let seeds = swept.frontier.first().map_or(0, |point| point.seeds);
    let mut report = Report::new(format!("What more recourse costs: {}", swept.name))
        .kicker("Sweep")
        .subtitle(format!("{} models on {}, {seeds} seeds each", swept.cells.len(), swept.data))
        .headline(Tone::Neutral, swept.promise.clone())
        .headline_because("What every model here is held to", sentence(swept));
    if let Some(best) = best(swept) {
        report = report
            .figure(KeyFigure::new(best.lambda.to_string(), "λ with the best F1 under the guarantee"))
            .figure(figure(&best.pare_f1, "F1 under the guarantee"))
            .figure(
                KeyFigure::new(number::percent(best.recourse_neg.mean, 1), "of those denied have recourse")
                    .detail("at the F1-best threshold"),
            )
            .figure(figure(&best.f1, "F1 without the guarantee"));
    }
    let performance = Panels::new("Over λ", 2)
        .plot(over_lambda(swept, "F1", Axis::new("F1"), |point| &point.f1))
        .plot(over_lambda(swept, "accuracy", Axis::new("accuracy"), |point| &point.accuracy))
        .plot(over_lambda(swept, "recourse of those denied", Axis::percent("share"), |point| &point.recourse_neg))
        .plot(over_lambda(swept, "approved or with recourse", Axis::percent("share"), |point| &point.recourse_all));
    let mut report = report
        .section(
            Section::new("The frontier")
                .id("frontier")
                .lead(
                    "λ is the weight that training gives to recourse: each point is one λ, joined from less to more. Higher is \
                     better at telling good outcomes from bad, further right leaves more people a way to a yes. Whiskers are \
                     standard errors over seeds; rings mark the best F1 under the guarantee.",
                )
                .block(Chart::from(frontier_chart(swept)))
                .block(Chart::from(pare_chart(swept))),
        )
        .section(Section::new("Every figure over λ").id("figures").block(Chart::from(performance)))
        .section(
            Section::new("The numbers")
                .id("numbers")
                .lead("Means and standard errors. F1 and recourse at the F1-best threshold of the validation rows, and at the threshold that carries the guarantee; all on test rows. sweep.csv has accuracy, too.")
                .block(table(swept, Some(3)))
                .block(Block::note(
                    Tone::Neutral,
                    Prose::from("These figures rest on test rows. A λ that was picked by them should be certified on fresh rows: ")
                        .code("redress tune")
                        .then(" picks on validation rows instead."),
                )),
        )
        .section(policy_section(policies))
        .section(parts::words_section())
        .provenance("redress", env!("CARGO_PKG_VERSION"))
        .provenance("data", &swept.data)
        .provenance("seeds", format!("{} to {}", swept.first_seed, swept.first_seed + (seeds as u64).saturating_sub(1)))
        .provenance("policy SHA-256", &swept.policy_sha256)
        .provenance("rows SHA-256", &swept.data_sha256);
    if !swept.delta_max.is_empty() {
        report = report.provenance("δ_max swept", format!("{} standard deviations", listed(&swept.delta_max)));
    }
    report
}

/// `0.25`, `0.25 and 0.5`, `0.25, 0.5 and 0.75`.
fn listed(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The policy as it was used: as it stands, or with each largest change that was swept.
fn policy_section(policies: &[(Option<f64>, Policy)]) -> Section {
    let changes: Vec<f64> = policies.iter().filter_map(|(delta_max, _)| *delta_max).collect();
    let Some((_, first)) = policies.first() else { return Section::new("Who may change what").id("policy") };
    if changes.is_empty() {
        return parts::policy_section(first);
    }
    let mut section = Section::new("Who may change what").id("policy").lead(format!(
        "In this sweep the largest change of every feature below was {} standard deviations{}, in place of what the policy \
         file says. The other rules are the policy's own.",
        listed(&changes),
        if changes.len() > 1 { " in turn" } else { "" },
    ));
    let replaced = |rule: &FeatureRule| rule.action.max_change.is_some();
    for (delta_max, policy) in policies {
        let title = format!("Changes up to {} standard deviations", delta_max.unwrap_or_default());
        section = section.block(Block::Heading(title)).block(parts::rules(policy, replaced));
    }
    let others = |rule: &FeatureRule| !replaced(rule);
    if first.features.iter().any(others) {
        section = section.block(Block::Heading("The other features".to_owned())).block(parts::rules(first, others));
    }
    section = parts::between_features(section, first);
    for (delta_max, policy) in policies {
        let title = format!("The policy as used, with δ_max = {}", delta_max.unwrap_or_default());
        section = section.block(Block::details(title, [Block::code(policy.source.clone())]));
    }
    section
}
