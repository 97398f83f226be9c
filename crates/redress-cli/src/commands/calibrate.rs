//! `redress calibrate`: a new threshold and certificate for a trained model.

use std::path::PathBuf;

use clap::Args;
use redress::{
    audit::{metrics, rates::RecourseRates},
    calibrate::{Certificate, ceiling, pare},
    pipeline::{Part, scores},
    train::{Inner, reach},
};
use serde_json::json;

use super::settings::GoalArguments;
use crate::{
    failure::{Exit, Failure},
    output::write_whole,
    source,
    terminal::Terminal,
};

/// Calibrate a model's threshold again on other rows
///
/// FILE must hold rows that neither training nor the choice of the model has
/// seen: they vouch for the new threshold. The model is written again beside
/// the old one, which stays as it is.
///
/// Example: redress calibrate model.safetensors spring.csv --epsilon 0.1 --groups sex
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A model that redress trained.
    model: PathBuf,
    /// Labelled rows, CSV or Parquet.
    file: PathBuf,
    /// Where to write; `NAME.recalibrated.safetensors` beside MODEL unless given.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    goal: GoalArguments,
}

/// Calibrates and writes.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let mut artifact = source::model(&arguments.model)?;
    let goal = arguments.goal.goal(&artifact.policy)?;
    let dataset = source::labelled_rows(&artifact, &arguments.file)?;
    let space = artifact.space().map_err(|error| Failure::in_file(&arguments.model, error))?;
    let part = Part::new(dataset, &space).map_err(|error| Failure::in_file(&arguments.file, error))?;
    let reached = reach(&artifact.model, &part.examples, &Inner::default());
    let fail = |error: pare::CalibrateError| Failure::in_file(&arguments.file, error);
    let (overall, groups) = goal.bounds(&scores(&reached), &part.dataset).map_err(fail)?;
    let bound = ceiling(&overall, &groups);
    let threshold = pare::choose(goal.choice, bound, &reached.logits, &part.examples.labels).map_err(fail)?;
    let evidence = artifact.evidence(part.sha256());
    let certificate = Certificate::new(overall, groups, threshold, "lp", evidence, arguments.goal.date);
    artifact.threshold = threshold;
    artifact.certificate = Some(certificate.clone());

    let out = arguments.out.unwrap_or_else(|| arguments.model.with_extension("recalibrated.safetensors"));
    let certificate_path = out.with_extension("certificate.json");
    let text = serde_json::to_string_pretty(&certificate).map_err(|error| Failure::in_file(&out, error))?;
    artifact.save(&out).map_err(|error| Failure::input(error.to_string()))?;
    write_whole(&certificate_path, format!("{text}\n").as_bytes())?;

    let performance = metrics::performance(&reached.logits, &part.examples.labels, threshold);
    let recourse = RecourseRates::count(&reached.logits, &reached.moved, threshold);
    terminal.json(&json!({
        "model": out, "certificate": certificate, "performance": performance,
        "recourse": { "neg": recourse.neg(), "all": recourse.all() },
    }));
    terminal.say(format!(
        "{}\nthreshold {:.4} (bound {:.4}); on these rows F1 {:.3}, approved or recourse {:.1}%\nWrote {} and {}",
        terminal.good(&certificate.sentence()),
        threshold.probability(),
        bound.probability(),
        performance.f1,
        100.0 * recourse.all(),
        out.display(),
        certificate_path.display(),
    ));
    Ok(Exit::Done)
}
