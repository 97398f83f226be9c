//! Groups: their rates, what happens to them, and which differences are beyond chance.

use redress::{
    audit::{
        Findings, GroupFindings,
        disparity::{Disparity, Rate},
    },
    calibrate::Interval,
};
use redress_report::{
    Block, Cell, Chart, Column, Section, Table, Tone,
    chart::{Axis, BarChart, DotChart, DotRow, Estimate, Layout},
    number,
};

use super::{between, name};

/// Groups smaller than this are marked: their intervals say little.
const FEW: u64 = 30;

/// Rates of everybody and of each group.
pub(super) fn rates_table(found: &Findings) -> Table {
    let numbers = ["people", "approved", "recourse neg", "95% interval", "recourse all", "95% interval", "median cost"];
    let confidence = format!("{} interval", number::percent(1.0 - found.alpha, 0));
    let numbers = numbers.map(|title| Column::number(title.replace("95% interval", &confidence)));
    let mut table = Table::new(std::iter::once(Column::text("group")).chain(numbers));
    for group in std::iter::once(&found.everybody).chain(&found.groups) {
        let neg = Interval { rate: group.neg(), ..group.recourse_neg };
        let cells = [
            Cell::text(name(group)),
            Cell::count(group.outcomes.people).tone(if group.outcomes.people < FEW {
                Tone::Warning
            } else {
                Tone::Neutral
            }),
            Cell::percent(group.approval.rate, 1),
            Cell::percent(neg.rate, 1),
            Cell::text(between(&neg)),
            Cell::percent(group.recourse_all.rate, 1),
            Cell::text(between(&group.recourse_all)),
            Cell::number(group.cost.map_or(f64::NAN, |cost| cost.p50), 2),
        ];
        table.row(cells).highlight = group.column.is_empty();
    }
    table
}

/// A flagged or unflagged difference in a sentence.
pub(super) fn disparity_sentence(disparity: &Disparity) -> String {
    let what = match disparity.rate {
        Rate::Approval => "are approved",
        Rate::RecourseNeg => "have recourse when denied",
        Rate::RecourseAll => "are approved or have recourse",
    };
    format!(
        "{} of {} = {} {what}, against {} of the others (p-value {})",
        number::percent(disparity.group, 1),
        disparity.column,
        disparity.value,
        number::percent(disparity.others, 1),
        small(disparity.adjusted)
    )
}

/// A probability that may be tiny.
pub(super) fn small(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".to_owned() } else { format!("{p:.4}") }
}

pub(super) fn groups_section(found: &Findings) -> Section {
    let alike = |interval: &Interval| Estimate::within(interval.rate, interval.low, interval.high);
    let row = |group: &GroupFindings| {
        let neg = Interval { rate: group.neg(), ..group.recourse_neg };
        let note = format!("n = {}", number::count(group.outcomes.people));
        let title = if group.column.is_empty() { "everybody".to_owned() } else { group.value.clone() };
        let row =
            DotRow::new(title, alike(&group.recourse_all)).and(alike(&neg)).and(alike(&group.approval)).note(note);
        if group.column.is_empty() { row } else { row.under(group.column.clone()) }
    };
    let mut dots = DotChart::new(
        "Approval and recourse by group",
        Axis::percent("share of the group"),
        ["approved or with recourse", "recourse of those denied", "approved"],
    );
    let everybody = std::iter::once(&found.everybody);
    for group in everybody.clone().chain(&found.groups) {
        dots = dots.row(row(group));
    }
    let mut section = Section::new("Groups")
        .id("groups")
        .lead(format!("Every rate with its {} Clopper–Pearson interval.", number::percent(1.0 - found.alpha, 0)))
        .block(Chart::from(dots))
        .block(Chart::from(outcomes_chart(found)));
    if found.everybody.performance.is_some() && !found.groups.is_empty() {
        section = section.block(performance_table(found));
    }
    section = section.block(Block::Heading("Differences beyond chance".to_owned()));
    if found.disparities.is_empty() {
        return section.block(Block::paragraph("There are no groups to compare."));
    }
    let flagged: Vec<String> = found.flagged().map(disparity_sentence).collect();
    let explained = format!(
        "Every group was compared with the rest of its column by Fisher's exact test ({} comparisons, Holm's correction). \
         Where no group were treated differently, an audit would flag anything at all with a chance of at most {}.",
        found.disparities.len(),
        number::percent(found.alpha, 0)
    );
    if flagged.is_empty() {
        section
            .block(Block::note(Tone::Good, "None of the differences is beyond chance."))
            .block(Block::paragraph(explained))
    } else {
        section
            .block(Block::Note {
                tone: Tone::Warning,
                title: Some("Beyond chance".into()),
                text: "A difference is not yet an injustice, but it needs a reason.".into(),
            })
            .block(Block::list(flagged))
            .block(Block::paragraph(explained))
    }
}

fn outcomes_chart(found: &Findings) -> BarChart {
    let groups: Vec<&GroupFindings> = std::iter::once(&found.everybody).chain(&found.groups).collect();
    let part = |count: fn(&GroupFindings) -> u64| {
        groups.iter().map(|group| count(group) as f64 / group.outcomes.people.max(1) as f64).collect::<Vec<_>>()
    };
    let names = groups.iter().map(|group| name(group)).collect::<Vec<_>>();
    let mut chart = BarChart::new("What happens to people", Axis::percent("share of the group"), names)
        .series("approved", part(|group| group.outcomes.approved))
        .series("can reach approval", part(|group| group.outcomes.recourse));
    if found.everybody.outcomes.proven_without > 0 {
        chart = chart.series("proven: no way", part(|group| group.outcomes.proven_without));
    }
    if found.everybody.outcomes.not_found + found.everybody.outcomes.unknown > 0 {
        chart = chart.series("no way found", part(|group| group.outcomes.not_found + group.outcomes.unknown));
    }
    // As elsewhere on the page green is well and orange is not.
    let styles = chart.series.iter().map(|series| match series.name.as_str() {
        "approved" => 2,
        "can reach approval" => 0,
        "proven: no way" => 1,
        _ => 6,
    });
    let styles: Vec<usize> = styles.collect();
    chart.series.iter_mut().zip(styles).for_each(|(series, style)| series.style = Some(style));
    chart.layout(Layout::Stacked)
}

fn performance_table(found: &Findings) -> Table {
    let mut table = Table::new(
        std::iter::once(Column::text("performance"))
            .chain(["F1", "accuracy", "precision", "recall"].map(Column::number)),
    );
    for group in std::iter::once(&found.everybody).chain(&found.groups) {
        let Some(performance) = group.performance else { continue };
        let figures = [performance.f1, performance.accuracy, performance.precision, performance.recall];
        let cells = std::iter::once(Cell::text(name(group))).chain(figures.map(|figure| Cell::number(figure, 3)));
        table.row(cells);
    }
    table
}
