//! What `redress audit` reports.

mod advice;
mod baseline;
mod groups;

use redress::{
    artifact::Artifact,
    audit::{Findings, GroupFindings},
    calibrate::Interval,
};
use redress_report::{Block, Cell, Column, KeyFigure, Report, Section, Table, Tone, number};

use self::{
    advice::{costs_section, levers_section, people_section, quality_section, threshold_section, without_section},
    baseline::{baseline_section, comparison_table, paired_table},
    groups::{disparity_sentence, groups_section, rates_table},
};
use super::parts;
use crate::{commands::audit::Audited, terminal::Terminal};

/// What the terminal shows.
pub fn terminal_summary(audited: &Audited, terminal: &Terminal) -> String {
    let found = &audited.findings;
    let mut text = format!(
        "{} on {} people of {}\n\n{}",
        terminal.bold(&audited.model),
        number::count(found.everybody.outcomes.people),
        audited.file,
        rates_table(found).text()
    );
    if let Some(performance) = &found.everybody.performance {
        text += &format!(
            "\nF1 {:.3}, accuracy {:.3}, precision {:.3}, recall {:.3} at the threshold {:.4}\n",
            performance.f1, performance.accuracy, performance.precision, performance.recall, found.threshold
        );
    } else {
        text += "\nno labels: performance is left out\n";
    }
    if let Some(first) = found.levers.first().filter(|lever| lever.plans > 0) {
        text += &format!("most often changed: {} (in {} of plans)\n", first.feature, number::percent(first.share, 0));
    }
    text += &format!("proven to have no way: {}\n", share(&found.without.proven));
    for rule in found.without.rules.iter().take(2) {
        text += &format!(
            "  {} of those without a way: {}\n",
            number::percent(rule.coverage, 0),
            rule.conditions.join(" and ")
        );
    }
    for disparity in found.flagged() {
        text += &format!("{} {}\n", terminal.warning("disparity:"), disparity_sentence(disparity));
    }
    if let Some(baseline) = &audited.baseline {
        text += &format!("\n{}", comparison_table(found, &baseline.findings).text());
        text += &format!("\n{}\n", paired_table(&baseline.paired, found.alpha).text());
    }
    for check in &audited.requirements {
        let mark = if check.holds { terminal.good("holds   ") } else { terminal.bad("does not") };
        let who = check.who.as_ref().map_or(String::new(), |who| format!(" ({who})"));
        text += &format!("{mark} {}: found {:.4}{who}\n", check.requirement, check.found);
    }
    if let Some(check) = &found.certificate {
        let mark = if check.holds {
            terminal.good("The certificate holds:")
        } else {
            terminal.bad("The certificate does not hold:")
        };
        text += &format!("{mark} {}", promise_sentence(found).unwrap_or_default());
        text += &check.faults.iter().map(|fault| format!("\n  {fault}")).collect::<String>();
    }
    text.trim_end().to_owned()
}

/// `12.3% (10.1% to 14.7%)`.
fn share(interval: &Interval) -> String {
    format!("{} ({})", number::percent(interval.rate, 1), between(interval))
}

/// `10.1% to 14.7%`.
fn between(interval: &Interval) -> String {
    format!("{} to {}", number::percent(interval.low, 1), number::percent(interval.high, 1))
}

/// What was seen of the certificate's promise.
fn promise_sentence(found: &Findings) -> Option<String> {
    let check = found.certificate.as_ref()?;
    let seen = check.observed.iter().find(|promise| !promise.holds).or(check.observed.first())?;
    let who = if seen.who == "everybody" { "everybody".to_owned() } else { format!("people with {}", seen.who) };
    Some(format!(
        "Of {who}, {} are approved or can reach approval; {} was promised.",
        share(&seen.observed),
        number::percent(check.promised, 1)
    ))
}

/// The name of a group, or of everybody.
fn name(group: &GroupFindings) -> String {
    if group.column.is_empty() { "everybody".to_owned() } else { format!("{} = {}", group.column, group.value) }
}

/// The report.
pub fn report(audited: &Audited, artifact: &Artifact) -> Report {
    let found = &audited.findings;
    let mut report = Report::new(format!("What the model for {} does to people", artifact.policy.name))
        .kicker("Audit")
        .subtitle(format!(
            "{} on {} people of {}",
            audited.model,
            number::count(found.everybody.outcomes.people),
            audited.file
        ));
    report = headline(report, audited);
    for figure in figures(found) {
        report = report.figure(figure);
    }
    if !audited.requirements.is_empty() {
        report = report.section(requirements_section(audited));
    }
    if found.certificate.is_some() {
        report = report.section(certificate_section(found));
    }
    if let Some(other) = &audited.baseline {
        report = report.section(baseline_section(found, other));
    }
    report = report.section(groups_section(found));
    if found.everybody.cost.is_some() {
        report = report.section(costs_section(found)).section(levers_section(found));
    }
    report = report.section(without_section(found));
    if found.robustness.is_some() || found.likeness.is_some() {
        report = report.section(quality_section(found));
    }
    if !found.examples.is_empty() {
        report = report.section(people_section(found));
    }
    report = report
        .section(threshold_section(found, artifact))
        .section(parts::policy_section(&artifact.policy))
        .section(parts::limits_section())
        .section(parts::words_section())
        .provenance("redress", env!("CARGO_PKG_VERSION"))
        .provenance("model", &audited.model)
        .provenance("model SHA-256", &audited.model_sha256)
        .provenance("policy SHA-256", &audited.policy_sha256)
        .provenance("people", &audited.file);
    if let Some(hash) = &audited.file_sha256 {
        report = report.provenance("people SHA-256", hash);
    }
    if let Some(baseline) = &audited.baseline {
        report = report.provenance("compared with", &baseline.model).provenance("its SHA-256", &baseline.model_sha256);
    }
    for (what, rows) in left_out(found) {
        report = report.provenance(what, rows);
    }
    report.provenance("recourse looked for by", found.method.name())
}

/// What happened to the rows of the file.
fn left_out(found: &Findings) -> Vec<(String, String)> {
    let rows = &found.rows;
    let mut facts = vec![("rows".to_owned(), number::count(rows.table_rows as u64))];
    let counted = |count: &usize| number::count(*count as u64);
    facts.extend(rows.filtered.iter().map(|(filter, count)| (format!("left out by `{filter}`"), counted(count))));
    facts.extend(rows.dropped.iter().map(|(column, count)| (format!("dropped: {column} is missing"), counted(count))));
    facts.extend(rows.filled.iter().map(|(column, count)| (format!("filled in: {column}"), counted(count))));
    facts
}

/// The answer first.
fn headline(report: Report, audited: &Audited) -> Report {
    let found = &audited.findings;
    let all = &found.everybody.recourse_all;
    let broken = audited.requirements.iter().filter(|check| !check.holds).count();
    let seen = promise_sentence(found);
    match &found.certificate {
        Some(check) if !check.holds => report
            .headline(Tone::Bad, "On these people the model does not keep its promise.")
            .headline_because("The certificate does not hold", seen.unwrap_or_default()),
        _ if broken > 0 => {
            let count = audited.requirements.len();
            report
                .headline(Tone::Bad, format!("{broken} of {count} requirements do not hold on these people."))
                .headline_because("Required, and not met", format!("{} are approved or can reach approval.", share(all)))
        }
        Some(check) => report
            .headline(Tone::Good, check.sentence.clone())
            .headline_because("Nothing here contradicts the certificate", seen.unwrap_or_default()),
        None => report
            .headline(
                Tone::Neutral,
                format!(
                    "Of 100 people like these, about {:.0} are approved or can reach approval by a change the policy permits.",
                    100.0 * all.rate
                ),
            )
            .headline_because("No certificate to check", format!("Between {} of them, at this confidence.", between(all))),
    }
}

/// Numbers worth seeing at once.
fn figures(found: &Findings) -> Vec<KeyFigure> {
    let all = &found.everybody;
    let rate = |interval: &Interval, label: &str| {
        KeyFigure::new(number::percent(interval.rate, 1), label).detail(between(interval))
    };
    let mut figures = vec![
        rate(&all.recourse_all, "approved or with recourse"),
        rate(&Interval { rate: all.neg(), ..all.recourse_neg }, "of those denied have recourse"),
    ];
    if let Some(performance) = all.performance {
        let detail = format!("accuracy {}", number::percent(performance.accuracy, 1));
        figures.push(KeyFigure::new(number::fixed(performance.f1, 3), "F1").detail(detail));
    }
    let flagged = found.flagged().count();
    if !found.disparities.is_empty() {
        let tone = if flagged > 0 { Tone::Warning } else { Tone::Good };
        let detail = format!("of {} comparisons", found.disparities.len());
        figures.push(
            KeyFigure::new(flagged.to_string(), "differences between groups beyond chance").detail(detail).tone(tone),
        );
    }
    figures
}

fn requirements_section(audited: &Audited) -> Section {
    let mut table =
        Table::new([Column::text("required"), Column::number("found"), Column::text("in"), Column::text("verdict")]);
    for check in &audited.requirements {
        let (tone, verdict) = if check.holds { (Tone::Good, "holds") } else { (Tone::Bad, "does not hold") };
        table.row([
            Cell::text(&check.requirement),
            Cell::number(check.found, 4),
            Cell::text(check.who.as_deref().unwrap_or("everybody")),
            Cell::text(verdict).tone(tone),
        ]);
    }
    Section::new("What was required").id("requirements").block(table)
}

fn certificate_section(found: &Findings) -> Section {
    let mut section = Section::new("The promise, held against these people").id("certificate");
    let Some(check) = &found.certificate else { return section };
    section = section.lead(check.sentence.clone());
    let mut table = Table::new([
        Column::text("promised to"),
        Column::number("people"),
        Column::number("approved or with recourse"),
        Column::number(format!("{} interval", number::percent(1.0 - found.alpha, 0))),
        Column::text("verdict"),
    ]);
    for promise in &check.observed {
        let (tone, verdict) = if promise.holds {
            (Tone::Good, "kept, as far as these people tell")
        } else {
            (Tone::Bad, "broken, beyond chance")
        };
        table.row([
            Cell::text(&promise.who),
            Cell::count(promise.observed.n),
            Cell::percent(promise.observed.rate, 1),
            Cell::text(between(&promise.observed)),
            Cell::text(verdict).tone(tone),
        ]);
    }
    section = section.block(table);
    if !check.faults.is_empty() {
        section = section
            .block(Block::note(Tone::Bad, format!("The certificate itself is wrong: {}.", check.faults.join("; "))));
    }
    section.block(Block::paragraph(
        "Counted with the certificate's own solver, the one-step linear program, at the threshold in force. Recourse that a \
         stronger search finds comes on top.",
    ))
}
