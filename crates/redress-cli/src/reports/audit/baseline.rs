//! Two models on the same people.

use redress::audit::{
    Findings, GroupFindings,
    paired::{Paired, PairedRate},
};
use redress_report::{Block, Cell, Column, Section, Table, number};

use super::{groups::small, name};
use crate::commands::audit::Compared;

pub(super) fn baseline_section(found: &Findings, other: &Compared) -> Section {
    Section::new("Beside the other model")
        .id("baseline")
        .lead(format!("The same people, decided by {}.", other.model))
        .block(comparison_table(found, &other.findings))
        .block(Block::Heading("Person by person".to_owned()))
        .block(paired_table(&other.paired, found.alpha))
        .block(Block::paragraph(format!(
            "Only people whom the two models treat differently say anything about their difference. Were the models equally \
             good, these people would fall to either side like a fair coin: the p-value is the chance of a split as lopsided \
             as this one (McNemar's exact test, Holm's correction). Where the models do not differ, anything is called \
             beyond chance with a chance of at most {}. Each interval holds the true difference with at least {} confidence.",
            number::percent(found.alpha, 0),
            number::percent(1.0 - found.alpha, 0),
        )))
}

/// Two models, person by person.
pub(super) fn paired_table(paired: &[Paired], alpha: f64) -> Table {
    let people = paired.first().map_or(0, |paired| paired.people);
    let mut table = Table::new([
        Column::text(format!("of the same {} people", number::count(people))),
        Column::number("only this model"),
        Column::number("only the other"),
        Column::number("difference"),
        Column::number(format!("{} interval", number::percent(1.0 - alpha, 0))),
        Column::number("p-value"),
        Column::text("beyond chance"),
    ]);
    for paired in paired {
        let what = match paired.rate {
            PairedRate::Approval => "approved",
            PairedRate::RecourseAll => "approved or with recourse",
            PairedRate::Accuracy => "decided as labelled",
        };
        let points = |share: f64| number::percent(share, 1);
        table.row([
            Cell::text(what),
            Cell::count(paired.only_first),
            Cell::count(paired.only_second),
            Cell::percent(paired.difference, 1),
            Cell::text(format!("{} to {}", points(paired.low), points(paired.high))),
            Cell::text(small(paired.adjusted)),
            Cell::text(if paired.beyond_chance { "yes" } else { "no" }),
        ]);
    }
    table
}

/// The figures of two models side by side.
pub(super) fn comparison_table(found: &Findings, other: &Findings) -> Table {
    let mut table = Table::new([
        Column::text("on the same people"),
        Column::number("this model"),
        Column::number("the other"),
        Column::number("difference"),
    ]);
    let mut row = |name: String, ours: f64, theirs: f64, digits: usize| {
        table.row([
            Cell::text(name),
            Cell::number(ours, digits),
            Cell::number(theirs, digits),
            Cell::number(ours - theirs, digits),
        ]);
    };
    if let (Some(ours), Some(theirs)) = (found.everybody.performance, other.everybody.performance) {
        row("F1".into(), ours.f1, theirs.f1, 3);
        row("accuracy".into(), ours.accuracy, theirs.accuracy, 3);
    }
    let cost = |group: &GroupFindings| group.cost.map_or(f64::NAN, |cost| cost.p50);
    let mut rates = |who: &str, ours: &GroupFindings, theirs: &GroupFindings| {
        row(format!("approved{who}"), ours.approval.rate, theirs.approval.rate, 3);
        row(format!("recourse of those denied{who}"), ours.neg(), theirs.neg(), 3);
        row(format!("approved or with recourse{who}"), ours.recourse_all.rate, theirs.recourse_all.rate, 3);
        row(format!("median cost{who}"), cost(ours), cost(theirs), 2);
    };
    rates("", &found.everybody, &other.everybody);
    for group in &found.groups {
        let same = |theirs: &&GroupFindings| (&theirs.column, &theirs.value) == (&group.column, &group.value);
        if let Some(theirs) = other.groups.iter().find(same) {
            rates(&format!(", {}", name(group)), group, theirs);
        }
    }
    table
}
