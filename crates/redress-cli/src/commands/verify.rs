//! `redress verify`: does the certificate hold?

use std::path::PathBuf;

use clap::Args;
use redress::{
    artifact::Artifact,
    audit::rates::RecourseRates,
    calibrate::{Certificate, FailureProb, Interval, pare},
    pipeline::{Goal, Part, scores},
    train::{Inner, Reached, reach},
};
use serde::Serialize;

use crate::{
    failure::{Exit, Failure},
    source,
    terminal::Terminal,
};

/// Check a model's certificate: hashes, arithmetic and, on fresh rows, the observed rate
///
/// Exits 1 when the certificate does not hold: a hash or a number that does not
/// follow, or fresh rows whose rate of approval or recourse lies below the
/// promise beyond chance (the upper end of its Clopper–Pearson interval).
///
/// Examples:
///   redress verify redress-out/german/model.safetensors
///   redress verify model.safetensors spring.csv
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A model that redress trained.
    model: PathBuf,
    /// Fresh rows, CSV or Parquet; labels are not needed.
    file: Option<PathBuf>,
}

/// One thing that was checked.
#[derive(Debug, Serialize)]
struct Finding {
    /// What was checked.
    check: String,
    /// Whether it holds; `None` where it could not be checked.
    holds: Option<bool>,
    /// The figures.
    detail: String,
}

/// Checks everything that can be checked.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let artifact = source::model(&arguments.model)?;
    let certificate = artifact.certificate.clone().ok_or_else(|| {
        Failure::in_file(&arguments.model, "carries no certificate").help("make one with `redress calibrate`")
    })?;
    let mut findings = arithmetic(&artifact, &certificate);
    findings.push(rederived(&artifact, &certificate));
    if let Some(file) = &arguments.file {
        let dataset = source::fresh_rows(&artifact, file)?;
        let space = artifact.space().map_err(|error| Failure::in_file(&arguments.model, error))?;
        let part = Part::new(dataset, &space).map_err(|error| Failure::in_file(file, error))?;
        let reached = reach(&artifact.model, &part.examples, &Inner::default());
        findings.extend(observed(&certificate, &part, &reached));
    }
    let holds = findings.iter().all(|finding| finding.holds != Some(false));
    terminal.json(&serde_json::json!({ "holds": holds, "certificate": certificate, "findings": findings }));
    for finding in &findings {
        let mark = match finding.holds {
            Some(true) => terminal.good("holds      "),
            Some(false) => terminal.bad("does not   "),
            None => terminal.faint("not checked"),
        };
        terminal.say(format!("{mark} {}: {}", finding.check, finding.detail));
    }
    let verdict = if holds { certificate.sentence() } else { "The certificate does not hold.".to_owned() };
    terminal.say(format!("\n{}", terminal.bold(&verdict)));
    Ok(if holds { Exit::Done } else { Exit::No })
}

/// Hashes, k(n, ε, α) and the order of threshold and bounds.
fn arithmetic(artifact: &Artifact, certificate: &Certificate) -> Vec<Finding> {
    let faults = certificate.faults(&artifact.policy_sha256(), &artifact.model_sha256());
    let mut findings: Vec<Finding> = faults
        .iter()
        .map(|fault| Finding { check: "certificate".into(), holds: Some(false), detail: fault.to_string() })
        .collect();
    if findings.is_empty() {
        let bound = &certificate.overall;
        findings.push(Finding {
            check: "hashes and arithmetic".into(),
            holds: Some(true),
            detail: format!(
                "{} rows allow {} misses at ε = {}, α = {}; threshold {:.4} at or below the bound {:.4}",
                bound.n,
                bound.k,
                bound.epsilon.get(),
                bound.alpha.get(),
                certificate.threshold.probability(),
                redress::calibrate::ceiling(bound, &certificate.groups).probability(),
            ),
        });
    }
    if artifact.threshold != certificate.threshold {
        findings.push(Finding {
            check: "threshold in force".into(),
            holds: Some(false),
            detail: format!(
                "the model decides at {:.4}, the certificate speaks of {:.4}",
                artifact.threshold.probability(),
                certificate.threshold.probability()
            ),
        });
    }
    findings
}

/// The bound, derived once more from the model's own calibration rows where they are at hand.
fn rederived(artifact: &Artifact, certificate: &Certificate) -> Finding {
    let check = "bound derived again".to_owned();
    let not_checked = |detail: String| Finding { check: check.clone(), holds: None, detail };
    let study = match source::study_of(artifact) {
        Ok(study) => study,
        Err(_) => return not_checked("the model's own rows are not at hand".into()),
    };
    if study.calibration.sha256() != certificate.evidence.data_sha256 {
        return not_checked("the certificate rests on other rows than the model's own calibration part".into());
    }
    let goal = Goal {
        epsilon: certificate.overall.epsilon,
        alpha: certificate.overall.alpha,
        groups: certificate.groups.iter().map(|group| group.column.clone()).collect(),
        choice: pare::Choice::BestF1,
    };
    let reached = reach(&artifact.model, &study.calibration.examples, &Inner::default());
    match goal.bounds(&scores(&reached), &study.calibration.dataset) {
        Ok((overall, groups)) => {
            let holds = overall == certificate.overall && groups == certificate.groups;
            let detail = format!("{} calibration rows give {:.4}", overall.n, overall.threshold.probability());
            Finding { check, holds: Some(holds), detail }
        }
        Err(error) => Finding { check, holds: Some(false), detail: error.to_string() },
    }
}

/// The rate of approval or recourse on fresh rows, over everybody and for each group of the certificate.
fn observed(certificate: &Certificate, part: &Part, reached: &Reached) -> Vec<Finding> {
    let rate = |rows: &[usize], alpha: FailureProb| -> Interval {
        let pick = |values: &[f32]| rows.iter().map(|&row| values[row]).collect::<Vec<f32>>();
        RecourseRates::count(&pick(&reached.logits), &pick(&reached.moved), certificate.threshold).all_interval(alpha)
    };
    let finding = |who: String, found: Interval, epsilon: f64| Finding {
        check: who,
        holds: Some(found.high >= 1.0 - epsilon),
        detail: format!(
            "{} of {} fresh rows approved or with recourse: {:.2}%, interval {:.2}% to {:.2}%; promised {:.2}%",
            found.hits,
            found.n,
            100.0 * found.rate,
            100.0 * found.low,
            100.0 * found.high,
            100.0 * (1.0 - epsilon)
        ),
    };
    let everybody: Vec<usize> = (0..reached.logits.len()).collect();
    let overall = &certificate.overall;
    let mut findings = vec![finding("everybody".into(), rate(&everybody, overall.alpha), overall.epsilon.get())];
    for group in &certificate.groups {
        let who = format!("{} = {}", group.column, group.value);
        let column = part.dataset.groups.iter().find(|column| column.name == group.column);
        let code = column.and_then(|column| column.values.iter().position(|value| *value == group.value));
        let rows: Vec<usize> = match (column, code) {
            (Some(column), Some(code)) => {
                (0..column.codes.len()).filter(|&row| column.codes[row] as usize == code).collect()
            }
            _ => Vec::new(),
        };
        if rows.is_empty() {
            findings.push(Finding { check: who, holds: None, detail: "no fresh rows of this group".into() });
        } else {
            findings.push(finding(who, rate(&rows, group.bound.alpha), group.bound.epsilon.get()));
        }
    }
    findings
}
