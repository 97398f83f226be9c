//! The advice: what it costs, what it asks, whom it leaves out and how good it is.

use redress::{artifact::Artifact, audit::Findings, recourse::Method};
use redress_report::{
    Block, Cell, Chart, Column, KeyFigure, Prose, Section, Table, Tone,
    chart::{Axis, BarChart, DotChart, DotRow, Estimate},
    number,
};

use super::{between, name, share};
use crate::reports::parts;

pub(super) fn costs_section(found: &Findings) -> Section {
    let mut table = Table::new(
        std::iter::once(Column::text("group")).chain(
            ["plans", "one in ten pays at most", "one in four", "half", "three in four", "nine in ten", "the most"]
                .map(Column::number),
        ),
    );
    let mut dots = DotChart::new(
        "Cost of recourse by group",
        Axis::new("median cost, with the middle half").unit("standard deviations"),
        ["median"],
    );
    for group in std::iter::once(&found.everybody).chain(&found.groups) {
        let Some(cost) = group.cost else { continue };
        let numbers = [cost.p10, cost.p25, cost.p50, cost.p75, cost.p90, cost.max];
        let cells = [Cell::text(name(group)), Cell::count(cost.n)].into_iter();
        table.row(cells.chain(numbers.map(|number| Cell::number(number, 2))));
        let title = if group.column.is_empty() { "everybody".to_owned() } else { group.value.clone() };
        let row = DotRow::new(title, Estimate::within(cents(cost.p50), cents(cost.p25), cents(cost.p75)));
        dots = dots.row(if group.column.is_empty() { row } else { row.under(group.column.clone()) });
    }
    Section::new("What it costs")
        .id("costs")
        .lead("Costs add up the changes of a plan, each in standard deviations of its feature. Whiskers hold the middle half of the plans.")
        .block(Chart::from(dots))
        .block(Block::details("Every quantile", [Block::Table(table)]))
}

/// Two decimals: a hundredth of a standard deviation is nothing to anybody.
fn cents(cost: f64) -> f64 {
    (cost * 100.0).round() / 100.0
}

pub(super) fn levers_section(found: &Findings) -> Section {
    let used: Vec<_> = found.levers.iter().filter(|lever| lever.plans > 0).collect();
    let names: Vec<String> = used.iter().map(|lever| lever.feature.clone()).collect();
    let chart = BarChart::new("How many plans change each feature", Axis::percent("share of the plans"), names)
        .series("", used.iter().map(|lever| lever.share).collect::<Vec<_>>());
    let mut table = Table::new([
        Column::text("feature"),
        Column::number("plans"),
        Column::number("upwards"),
        Column::number("usual change"),
        Column::number("nine in ten at most"),
        Column::text("unit"),
    ]);
    for lever in &found.levers {
        let change = |value: Option<f64>| match (value, &lever.usual_move) {
            (Some(value), _) => {
                Cell { text: number::fixed(value, digits(value)), value: Some(value), ..Cell::default() }
            }
            (None, Some(usual)) => Cell::text(usual),
            (None, None) => Cell::text(number::MISSING),
        };
        table.row([
            Cell::text(&lever.feature),
            Cell::percent(lever.share, 1),
            Cell::percent(lever.raised.unwrap_or(f64::NAN), 0),
            change(lever.change.map(|change| change.p50)),
            lever.change.map_or(Cell::text(number::MISSING), |found| change(Some(found.p90))),
            Cell::text(lever.unit.as_deref().unwrap_or_default()),
        ]);
    }
    let mut section =
        Section::new("What people are told to change").id("levers").block(Chart::from(chart)).block(table);
    if found.method == Method::Lp {
        section = section.block(Block::note(
            Tone::Neutral,
            "The one-step program goes as far as the policy permits in every direction that helps. The exact method finds \
             the cheapest change instead.",
        ));
    }
    section
}

/// Decimals that keep about three digits.
fn digits(value: f64) -> usize {
    if value == value.round() { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize }
}

pub(super) fn without_section(found: &Findings) -> Section {
    let without = &found.without;
    let mut section = Section::new("Who has no way to a yes").id("without");
    let mut lead = Prose::from(format!(
        "Proven to have none: {}. None found, or undecided: {}.",
        share(&without.proven),
        share(&without.undecided)
    ));
    if found.everybody.outcomes.proven_without == 0 && found.everybody.outcomes.not_found > 0 {
        lead = lead.then(" This method looks without proving: ").code("--method exact").then(" proves.");
    }
    section = section.lead(lead);
    if without.proven.hits + without.undecided.hits == 0 {
        return section.block(Block::note(Tone::Good, "Everybody here is approved or has a way to be."));
    }
    if without.rules.is_empty() {
        return section.block(Block::paragraph("No simple rule tells them from the others who are denied."));
    }
    let mut table = Table::new([
        Column::text("rule"),
        Column::number("of those without"),
        Column::number("people"),
        Column::number("of those who fit"),
        Column::number("lift"),
    ]);
    for rule in &without.rules {
        table.row([
            Cell::text(rule.conditions.join(" and ")),
            Cell::percent(rule.coverage, 0),
            Cell::count(rule.people),
            Cell::percent(rule.precision, 0),
            Cell::number(rule.lift, 1),
        ]);
    }
    section.block(table).block(Block::paragraph(
        "The few simplest rules that describe them: the share of those without a way whom a rule fits, the share without a \
         way among the denied whom it fits, and how many times that is the share among all who are denied (lift). Rules \
         describe, they do not say why, and they may overlap.",
    ))
}

pub(super) fn quality_section(found: &Findings) -> Section {
    let mut section = Section::new("How good the advice is").id("quality");
    let mut figures = Vec::new();
    if let Some(robust) = &found.robustness {
        figures.push(
            KeyFigure::new(number::percent(robust.survives_noise, 1), "stay a yes when the change is a little off")
                .detail("by a tenth of a standard deviation in everything a person may change"),
        );
        figures.push(
            KeyFigure::new(number::percent(robust.survives_step, 1), "of plans stay a yes one step short or beyond")
                .detail(format!("over {} plans", number::count(robust.plans as u64))),
        );
    }
    if let Some(likeness) = &found.likeness {
        figures.push(
            KeyFigure::new(number::percent(likeness.far, 1), "of plans lead to where hardly anybody is approved")
                .detail("5% of approved people are as far from others"),
        );
        if let Some(two_sample) = &likeness.two_sample {
            figures.push(
                KeyFigure::new(
                    number::percent(two_sample.rate, 1),
                    "of advised and approved people are told apart by a classifier",
                )
                .detail(format!("50% means alike; interval {}", between(two_sample))),
            );
        }
    }
    section = section.block(figures);
    if found.method == Method::Exact {
        section = section.block(Block::paragraph(
            "The exact method stops where the answer turns to yes, so its plans are cheap and leave little room: a step \
             short is a no. Whoever wants room goes a step beyond.",
        ));
    }
    if let Some(likeness) = &found.likeness {
        section = section.block(Block::paragraph(format!(
            "Where people end up, against people of this file whom the model approves as they are: the nearest of {} such \
             people is {} standard deviations away at the median, and {} for other approved people.",
            number::count(likeness.reference as u64),
            number::fixed(likeness.recommended.p50, 2),
            number::fixed(likeness.usual.p50, 2),
        )));
    }
    section
}

pub(super) fn people_section(found: &Findings) -> Section {
    let cards = found.examples.iter().map(|example| {
        let facts: Vec<String> = example.facts.iter().map(|(label, value)| format!("{label} {value}")).collect();
        parts::person_card(
            format!("Row {}", number::count(example.row as u64)),
            facts.join(" · "),
            &example.explanation,
        )
    });
    Section::new("People, before and after")
        .id("people")
        .lead("Drawn at random from those denied.")
        .block(Block::People(cards.collect()))
}

pub(super) fn threshold_section(found: &Findings, artifact: &Artifact) -> Section {
    let labelled = found.everybody.performance.is_some();
    let chart = parts::threshold_chart(&found.curve, labelled, artifact.certificate.as_ref(), found.threshold);
    Section::new("Had the threshold been another")
        .id("threshold")
        .lead("Recourse here is that of the one-step linear program, which the certificate counts.")
        .block(Chart::from(chart))
}
