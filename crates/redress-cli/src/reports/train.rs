//! What `redress train` reports.

use redress::{
    artifact::Artifact,
    audit::curve::threshold_curve,
    calibrate::{Certificate, FailureProb},
    dataset::People,
    pipeline::{Study, Summary},
    recourse::{Advisor, Budget, Explanation, Outcome, Request},
    train::{Inner, reach},
};
use redress_report::{
    Block, Cell, Column, KeyFigure, Report, Section, Table, Tone,
    chart::{Axis, LineChart, Series},
};

use super::parts;
use crate::{commands::train::Run, source::Loaded, terminal::Terminal};

/// How many people stand in the report as examples.
const EXAMPLES: usize = 4;

/// The two models side by side, at both of their thresholds.
pub fn comparison(baseline: &Run, model: &Run) -> Table {
    let mut table = Table::new([
        Column::text("on the test rows"),
        Column::number("baseline"),
        Column::number("with recourse"),
        Column::number("baseline, guaranteed"),
        Column::number("with recourse, guaranteed"),
    ]);
    let mut row = |name: &str, at_best: fn(&Summary) -> f64, guaranteed: fn(&Summary) -> f64| {
        let cell = |value: f64| Cell::number(value, 3);
        let (plain, ours) = (&baseline.summary, &model.summary);
        table.row([
            Cell::text(name),
            cell(at_best(plain)),
            cell(at_best(ours)),
            cell(guaranteed(plain)),
            cell(guaranteed(ours)).strong(),
        ]);
    };
    row("F1", |s| s.performance.f1, |s| s.pare.performance.f1);
    row("accuracy", |s| s.performance.accuracy, |s| s.pare.performance.accuracy);
    row("precision", |s| s.performance.precision, |s| s.pare.performance.precision);
    row("recall", |s| s.performance.recall, |s| s.pare.performance.recall);
    row("recourse neg (of those denied)", |s| s.recourse.neg(), |s| s.pare.recourse.neg());
    row("recourse all (approved or recourse)", |s| s.recourse.all(), |s| s.pare.recourse.all());
    row("threshold", |s| s.threshold.probability(), |s| s.pare.threshold.probability());
    table
}

/// What the terminal shows after training.
pub fn terminal_summary(
    study: &Study,
    model: &Run,
    baseline: &Run,
    artifact: &Artifact,
    examples: &[(usize, Explanation)],
    terminal: &Terminal,
) -> String {
    let rows = [&study.train, &study.validation, &study.calibration, &study.test].map(|part| part.examples.len());
    let mut text = format!(
        "{} · λ = {} · {} rows: {} to train, {} to choose, {} to calibrate, {} to test\n\n{}\n",
        terminal.bold(&study.policy.name),
        model.params.lambda,
        rows.iter().sum::<usize>(),
        rows[0],
        rows[1],
        rows[2],
        rows[3],
        comparison(baseline, model).text(),
    );
    let Some(certificate) = &artifact.certificate else { return text };
    let bound = &certificate.overall;
    text += &format!(
        "{}\n{}\n",
        terminal.good(&certificate.sentence()),
        terminal.faint(&format!(
            "({} calibration rows, {} may miss; bound {:.4}, threshold {:.4}; ε = {}, α = {})",
            bound.n,
            bound.k,
            bound.threshold.probability(),
            certificate.threshold.probability(),
            bound.epsilon.get(),
            bound.alpha.get(),
        ))
    );
    let people = &study.test.dataset.people;
    if let Some((index, explanation)) = examples.first() {
        let row = people.source_rows[*index];
        text += &format!("\nFor example, row {row} of the table: {}\n", in_words(explanation));
    }
    text
}

/// One person's way to a yes in a line or two.
pub fn in_words(explanation: &Explanation) -> String {
    let Some(way) = explanation.options.first() else {
        return format!("score {:.3} against {:.3}; no way to a yes", explanation.score, explanation.threshold);
    };
    let changes: Vec<String> = way
        .changes
        .iter()
        .map(|change| {
            let unit = change.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
            format!("{} from {} to {}{unit}", change.feature, change.from, change.to)
        })
        .collect();
    format!(
        "denied at a score of {:.3}; approved at {:.3} with {}",
        way.score_before,
        way.score_after,
        changes.join(" and ")
    )
}

/// The first test people whom the model denies and who have a way to a yes: their rows in the table, and the way.
pub fn examples(advisor: &Advisor, people: &People, budget: Budget) -> Vec<(usize, Explanation)> {
    let request = Request { budget, ..Request::default() };
    let mut found = Vec::new();
    for index in 0..people.len().min(2_000) {
        let overrides = people.overrides.get(index);
        if let Ok(explanation) = advisor.explain(people.row(index), overrides, &request)
            && explanation.outcome == Outcome::Recourse
        {
            found.push((index, explanation));
            if found.len() == EXAMPLES {
                break;
            }
        }
    }
    found
}

/// The report of a training run.
pub fn report(
    study: &Study,
    loaded: &Loaded,
    model: &Run,
    baseline: &Run,
    artifact: &Artifact,
    examples: &[(usize, Explanation)],
) -> Report {
    let Some(certificate) = &artifact.certificate else { return Report::default() };
    let alpha = FailureProb::new(0.05).unwrap_or(certificate.overall.alpha);
    let pare = &model.summary.pare;
    let (all, neg) = (pare.recourse.all_interval(alpha), pare.recourse.neg_interval(alpha));
    let between = |low: f64, high: f64| format!("95% interval {:.1}% to {:.1}%", low * 100.0, high * 100.0);
    let mut report = Report::new(format!("A model for {} that leaves a way to a yes", study.policy.name))
        .kicker("Training report")
        .subtitle(format!("Trained with λ = {} on {}", model.params.lambda, loaded.origin()))
        .headline(Tone::Good, certificate.sentence())
        .headline_because(
            "Certified",
            format!(
                "{} calibration rows that served nothing else, of which at most {} may miss the threshold.",
                certificate.overall.n, certificate.overall.k
            ),
        )
        .figure(
            KeyFigure::new(format!("{:.1}%", all.rate * 100.0), "approved or with recourse, on test rows")
                .detail(between(all.low, all.high)),
        )
        .figure(
            KeyFigure::new(format!("{:.1}%", neg.rate * 100.0), "of those denied have recourse")
                .detail(between(neg.low, neg.high)),
        )
        .figure(
            KeyFigure::new(format!("{:.3}", pare.performance.f1), "F1 under the guarantee")
                .detail(format!("baseline {:.3}", baseline.summary.pare.performance.f1)),
        )
        .section(
            Section::new("What the recourse term changed")
                .id("comparison")
                .lead(
                    "Both models saw the same rows. Each is shown at its F1-best threshold and at the threshold that \
                     carries the guarantee; recourse is counted with the one-step linear program.",
                )
                .block(Block::Table(comparison(baseline, model))),
        )
        .section(threshold_section(study, model, certificate));
    if !certificate.groups.is_empty() {
        report = report.section(groups_section(certificate));
    }
    if !examples.is_empty() {
        let people = &study.test.dataset.people;
        let cards = examples.iter().map(|(index, explanation)| {
            parts::person_card(format!("Row {}", people.source_rows[*index]), facts(people, *index), explanation)
        });
        let section = Section::new("People, before and after").id("people").lead(
            "The first test rows that the model denies and that have a way to a yes; the cheapest permitted change each.",
        );
        report = report.section(section.block(Block::People(cards.collect())));
    }
    let report = report
        .section(training_section(model, baseline))
        .section(parts::policy_section(&study.policy))
        .section(parts::limits_section())
        .section(parts::words_section())
        .provenance("redress", env!("CARGO_PKG_VERSION"))
        .provenance("data", loaded.origin())
        .provenance("seed", model.params.seed.to_string())
        .provenance("policy SHA-256", &certificate.evidence.policy_sha256)
        .provenance("calibration rows SHA-256", &certificate.evidence.data_sha256)
        .provenance("model SHA-256", &certificate.evidence.model_sha256);
    match &certificate.date {
        Some(date) => report.provenance("date", date),
        None => report,
    }
}

/// A person's features in one line.
pub fn facts(people: &People, index: usize) -> String {
    let values = people.row(index).iter().enumerate().map(|(feature, &value)| {
        format!("{} {}", people.schema.features[feature].label, people.schema.show_about(feature, value))
    });
    values.collect::<Vec<_>>().join(" · ")
}

/// The threshold curve and the arithmetic of the bound.
fn threshold_section(study: &Study, model: &Run, certificate: &Certificate) -> Section {
    let reached = reach(&model.fitted.model, &study.test.examples, &Inner::default());
    let curve = threshold_curve(&reached.logits, &reached.moved, &study.test.examples.labels, 50);
    Section::new("The threshold")
        .id("threshold")
        .lead(
            "A higher threshold asks more of everybody. Any threshold at or below the bound carries the guarantee; the \
             one in force has the best F1 on validation rows among those.",
        )
        .block(Block::chart(parts::threshold_chart(
            &curve,
            true,
            Some(certificate),
            certificate.threshold.probability(),
        )))
}

/// The bound of each group.
fn groups_section(certificate: &Certificate) -> Section {
    let mut table = Table::new([
        Column::text("group"),
        Column::number("calibration rows"),
        Column::number("may miss"),
        Column::number("bound"),
    ]);
    for group in &certificate.groups {
        table.row([
            Cell::text(format!("{} = {}", group.column, group.value)),
            Cell::count(group.bound.n),
            Cell::count(group.bound.k),
            Cell::number(group.bound.threshold.probability(), 4),
        ]);
    }
    Section::new("Every group")
        .id("groups")
        .lead("The guarantee holds for each of these groups at once: they share the chance of failure between them.")
        .block(Block::Table(table))
}

/// F1 and recourse by epoch, for both models.
fn training_section(model: &Run, baseline: &Run) -> Section {
    let by_epoch = |run: &Run, value: fn(&redress::train::EpochReport) -> f64| {
        run.fitted.epochs.iter().map(|report| (report.epoch as f64, value(report))).collect::<Vec<_>>()
    };
    let chart = LineChart::new("Validation rows by epoch", Axis::whole("epoch"), Axis::percent("share").tight())
        .series(Series::xy("F1, with recourse", by_epoch(model, |report| report.validation.f1)))
        .series(Series::xy("F1, baseline", by_epoch(baseline, |report| report.validation.f1)))
        .series(Series::xy("recourse all, with recourse", by_epoch(model, |report| report.validation.recourse_all)))
        .series(Series::xy("recourse all, baseline", by_epoch(baseline, |report| report.validation.recourse_all)));
    Section::new("Training")
        .id("training")
        .lead(format!(
            "The weights are those of epoch {} (baseline: {}), which had the highest F1 on validation rows.",
            model.fitted.best.epoch, baseline.fitted.best.epoch
        ))
        .block(Block::chart(chart))
}
