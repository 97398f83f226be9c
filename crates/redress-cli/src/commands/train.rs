//! `redress train`: the main job.

use std::{ops::ControlFlow, path::PathBuf, time::Instant};

use clap::Args;
use indicatif::ProgressBar;
use redress::{
    artifact::{Artifact, Origin},
    calibrate::Certificate,
    pipeline::{Goal, Study, Summary},
    recourse::{Budget, Measure, causal::StructuralModel},
    train::{CheckedParams, EpochReport, Fitted, TrainParams, fit_while},
};
use serde_json::{Value, json};

use super::settings::{GoalArguments, TrainingArguments};
use crate::{
    failure::{Exit, Failure},
    output::Folder,
    reports, source,
    terminal::Terminal,
};

/// Train with recourse, calibrate the threshold, write model, certificate and report
///
/// Trains two models on the same rows: one with the recourse term and one
/// without (λ = 0) to compare with. Both get the F1-best threshold and one that
/// carries the guarantee; the model that is written uses the latter.
///
/// Examples:
///   redress train german
///   redress train policy.toml --lambda 1.2 --groups sex --epsilon 0.1
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A built-in data set (see `redress datasets`) or a policy file.
    #[arg(value_name = "DATASET|POLICY")]
    source: String,
    /// λ: how much the way to a yes weighs against fitting the labels.
    #[arg(long, default_value_t = 0.8, allow_negative_numbers = true)]
    lambda: f64,
    /// Where to write; `redress-out/NAME` unless given.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    goal: GoalArguments,
    #[command(flatten)]
    training: TrainingArguments,
}

/// A model trained on a study, in figures.
pub struct Run {
    /// The settings it was trained with.
    pub params: CheckedParams,
    /// The weights and the epochs behind them.
    pub fitted: Fitted,
    /// Its figures.
    pub summary: Summary,
    /// Seconds spent in training.
    pub seconds: f64,
}

/// Trains, calibrates, writes and prints.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = source::load(&arguments.source)?;
    let goal = arguments.goal.goal(&loaded.policy)?;
    let study = loaded.study(arguments.training.preset.into(), arguments.training.seed)?;
    goal.check(&study).map_err(|error| loaded.failure(error))?;
    let params = arguments.training.params(study.rows(), arguments.lambda)?;
    let plain = arguments.training.params(study.rows(), 0.0)?;
    let folder = Folder::new(arguments.out.unwrap_or_else(|| PathBuf::from("redress-out").join(&loaded.policy.name)));
    folder.check_writable()?;
    if study.space.levers().is_empty() {
        terminal.note(
            "warning: the policy lets nobody change anything, so there is no recourse to learn: λ has no effect, and the \
             guarantee counts approvals alone",
        );
    }

    let bar = terminal.bar((params.epochs + plain.epochs) as u64, "training");
    let (baseline, model) = rayon::join(
        || train(&study, &plain, &goal, &bar, terminal, false),
        || train(&study, &params, &goal, &bar, terminal, true),
    );
    bar.finish_and_clear();
    terminal.keep_going()?;
    let named = |failure: Failure| failure.about(loaded.origin());
    let (baseline, model) = (baseline.map_err(named)?, model.map_err(named)?);

    let origin = Origin {
        base: loaded.base(),
        preset: arguments.training.preset.into(),
        split_seed: arguments.training.seed,
        training: TrainParams::clone(&model.params),
        epoch: model.fitted.best.epoch,
    };
    let artifact = certified(&study, &model, origin, arguments.goal.date.clone());
    let advisor = artifact.advisor(Measure::default()).map_err(|error| Failure::input(error.to_string()))?;
    let budget = Budget { stop: Some(terminal.stop_flag()), ..Budget::default() };
    let examples = reports::train::examples(&advisor, &study.test.dataset.people, budget);
    terminal.keep_going()?;
    let metrics = metrics(&study, &model, &baseline);
    let report = reports::train::report(&study, &loaded, &model, &baseline, &artifact, &examples);
    folder.create()?;
    let model_path = folder.path("model.safetensors");
    artifact.save(&model_path).map_err(|error| Failure::input(error.to_string()))?;
    folder.write_json("metrics.json", &metrics)?;
    folder.write_json("certificate.json", &artifact.certificate)?;
    folder.write("report.html", report.html().as_bytes())?;

    terminal.json(&metrics);
    terminal.say(reports::train::terminal_summary(&study, &model, &baseline, &artifact, &examples, terminal));
    terminal.say(format!("Wrote model.safetensors, metrics.json, certificate.json and report.html to {folder}"));
    Ok(Exit::Done)
}

/// Trains one model, watched by a progress bar.
pub fn train(
    study: &Study,
    params: &CheckedParams,
    goal: &Goal,
    bar: &ProgressBar,
    terminal: &Terminal,
    speak: bool,
) -> Result<Run, Failure> {
    let begun = Instant::now();
    let fitted = fitted(study, params, terminal, |report| {
        bar.inc(1);
        if speak {
            let seen = &report.validation;
            bar.set_message(format!(
                "training: F1 {:.3}, accuracy {:.3}, recourse {:.3}",
                seen.f1, seen.accuracy, seen.recourse_all
            ));
        }
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let summary = Summary::new(study, &fitted.model, goal).map_err(|error| Failure::input(error.to_string()))?;
    Ok(Run { params: params.clone(), fitted, summary, seconds })
}

/// Fits weights to the rows of a study until that is done, or Ctrl-C is pressed; `observe` sees every epoch.
pub fn fitted(
    study: &Study,
    params: &CheckedParams,
    terminal: &Terminal,
    mut observe: impl FnMut(&EpochReport),
) -> Result<Fitted, Failure> {
    let mut observe = |report: &EpochReport| {
        observe(report);
        ControlFlow::Continue(())
    };
    let (train, validation) = (&study.train.examples, &study.validation.examples);
    let fitted = fit_while(params, train, validation, &mut observe, &|| !terminal.stopped());
    terminal.keep_going()?;
    fitted.map_err(|error| Failure::input(error.to_string()))
}

/// The model at its certified threshold, with the certificate.
fn certified(study: &Study, run: &Run, origin: Origin, date: Option<String>) -> Artifact {
    let pare = &run.summary.pare;
    let mut artifact = Artifact {
        policy: study.policy.clone(),
        encoding: study.space.encoding().clone(),
        lattice: study.space.lattice(),
        model: run.fitted.model.clone(),
        threshold: pare.threshold,
        certificate: None,
        causes: StructuralModel::fit(&study.policy, &study.train.dataset).ok(),
        origin,
    };
    let evidence = artifact.evidence(study.calibration.sha256());
    let certificate = Certificate::new(pare.overall, pare.groups.clone(), pare.threshold, "lp", evidence, date);
    artifact.certificate = Some(certificate);
    artifact
}

/// What `metrics.json` holds.
fn metrics(study: &Study, model: &Run, baseline: &Run) -> Value {
    let mut document = run_metrics(model);
    document["dataset"] = json!(study.policy.name);
    document["baseline"] = run_metrics(baseline);
    document["rows"] = json!({
        "train": study.train.examples.len(),
        "validation": study.validation.examples.len(),
        "calibration": study.calibration.examples.len(),
        "test": study.test.examples.len(),
    });
    document
}

/// One model's part of `metrics.json`.
fn run_metrics(run: &Run) -> Value {
    let Summary { threshold, performance, recourse, pare } = &run.summary;
    json!({
        "lambda": run.params.lambda,
        "threshold": threshold.probability(),
        "performance": performance,
        "recourse": { "lp": { "neg": recourse.neg(), "all": recourse.all() } },
        "pare": {
            "epsilon": pare.overall.epsilon,
            "alpha": pare.overall.alpha,
            "n": pare.overall.n,
            "k": pare.overall.k,
            "bound": pare.overall.threshold.probability(),
            "threshold": pare.threshold.probability(),
            "f1": pare.performance.f1,
            "recourse_all": pare.recourse.all(),
            "groups": pare.groups.iter().map(|group| json!({
                "column": group.column, "value": group.value,
                "n": group.bound.n, "k": group.bound.k, "bound": group.bound.threshold.probability(),
            })).collect::<Vec<_>>(),
        },
        "epoch": run.fitted.best.epoch,
        "timing": {
            "train_seconds": run.seconds,
            "steps_per_second": run.fitted.steps as f64 / run.seconds.max(1e-9),
        },
    })
}
