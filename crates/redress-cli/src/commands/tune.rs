//! `redress tune`: the best F1 under the guarantee.

use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use redress::{
    pipeline::{Goal, Prospect, Study},
    train::CheckedParams,
};
use redress_report::{Cell, Column, Table};
use serde_json::{Value, json};

use super::{
    settings::{GoalArguments, TrainingArguments},
    train::fitted,
};
use crate::{
    failure::{Exit, Failure},
    output::write_whole,
    source,
    terminal::Terminal,
};

/// Find the λ with the best F1 under the guarantee
///
/// Trains a model for every λ (and every number of inner steps), judges each on
/// validation rows at the threshold that the guarantee would allow there, and
/// recommends the one with the highest F1. Calibration and test rows stay
/// untouched, so the recommended model can still be certified.
///
/// Example: redress tune policy.toml --lambdas 0:2:0.4
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A policy file, or a built-in data set.
    #[arg(value_name = "POLICY")]
    source: String,
    /// The λ to try: FROM:TO:STEP, or a comma-separated list.
    #[arg(long, default_value = "0:2:0.2", value_name = "LAMBDAS", allow_hyphen_values = true)]
    lambdas: String,
    /// The numbers of inner steps to try, comma-separated.
    #[arg(long, value_delimiter = ',', default_value = "1,4", value_name = "STEPS")]
    steps: Vec<usize>,
    /// Also write the trials to this JSON file.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    goal: GoalArguments,
    #[command(flatten)]
    training: TrainingArguments,
}

/// One model tried.
struct Trial {
    lambda: f64,
    steps: usize,
    prospect: Prospect,
}

/// Trains the grid and explains the choice.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = source::load(&arguments.source)?;
    let goal = arguments.goal.goal(&loaded.policy)?;
    let lambdas = numbers("--lambdas", &arguments.lambdas)?;
    let study = loaded.study(arguments.training.preset.into(), arguments.training.seed)?;
    goal.check(&study).map_err(|error| loaded.failure(error))?;
    let mut settings = Vec::new();
    for &lambda in &lambdas {
        // Without a recourse term the inner steps change nothing.
        let steps = if lambda == 0.0 { &arguments.steps[..1] } else { &arguments.steps };
        for &steps in steps {
            let training = TrainingArguments { inner_steps: Some(steps), ..arguments.training.clone() };
            settings.push(training.params(study.rows(), lambda)?);
        }
    }
    let epochs: usize = settings.iter().map(|params| params.epochs).sum();
    let bar = terminal.bar(epochs as u64, "tuning");
    let trials = settings.par_iter().map(|params| trial(&study, params, &goal, &bar, terminal));
    let trials: Vec<Trial> =
        trials.collect::<Result<_, _>>().map_err(|failure: Failure| failure.about(loaded.origin()))?;
    bar.finish_and_clear();
    let best = trials.iter().reduce(|best, next| if next.prospect.beats(&best.prospect) { next } else { best });
    let best =
        best.ok_or_else(|| Failure::input("there is nothing to try: name at least one λ and one number of steps"))?;

    let document = document(&trials, best);
    if let Some(path) = &arguments.out {
        let text = serde_json::to_string_pretty(&document).map_err(|error| Failure::in_file(path, error))?;
        write_whole(path, format!("{text}\n").as_bytes())?;
    }
    terminal.json(&document);
    terminal.say(explain(&trials, best, &arguments.source, &goal, terminal));
    Ok(Exit::Done)
}

/// Trains one setting and judges it on validation rows.
fn trial(
    study: &Study,
    params: &CheckedParams,
    goal: &Goal,
    bar: &indicatif::ProgressBar,
    terminal: &Terminal,
) -> Result<Trial, Failure> {
    let fitted = fitted(study, params, terminal, |_| bar.inc(1))?;
    let prospect = Prospect::new(study, &fitted.model, goal).map_err(|error| {
        Failure::input(format!("on validation rows: {error}"))
            .help("the default preset keeps more rows for validation than the paper's")
    })?;
    Ok(Trial { lambda: params.lambda, steps: params.inner.steps, prospect })
}

/// `0:2:0.2` or `0,0.5,1`.
pub fn numbers(name: &str, text: &str) -> Result<Vec<f64>, Failure> {
    let wrong = || {
        Failure::input(format!("{name} {text}: neither FROM:TO:STEP nor a comma-separated list of numbers"))
            .help("for example 0:2:0.2 or 0,0.4,0.8")
    };
    let parse = |part: &str| part.trim().parse::<f64>().ok().filter(|number| number.is_finite()).ok_or_else(wrong);
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        [list] => list.split(',').map(parse).collect(),
        [from, to, step] => {
            let (from, to, step) = (parse(from)?, parse(to)?, parse(step)?);
            let count = ((to - from) / step + 1e-9).floor();
            if !(step > 0.0 && (0.0..10_000.0).contains(&count)) {
                return Err(wrong());
            }
            // Rounded to the step's own decimals, so that 0.6 is 0.6 and not 0.6000000000000001.
            let round = |value: f64| (value * 1e9).round() / 1e9;
            Ok((0..=count as usize).map(|index| round(from + index as f64 * step)).collect())
        }
        _ => Err(wrong()),
    }
}

/// What `--format json` and `--out` hold.
fn document(trials: &[Trial], best: &Trial) -> Value {
    let entry = |trial: &Trial| {
        let Prospect { bound, threshold, performance, recourse } = &trial.prospect;
        json!({
            "lambda": trial.lambda, "inner_steps": trial.steps, "performance": performance,
            "recourse": { "neg": recourse.neg(), "all": recourse.all() },
            "bound": bound.probability(), "threshold": threshold.probability(),
        })
    };
    json!({ "best": entry(best), "trials": trials.iter().map(entry).collect::<Vec<_>>() })
}

/// The trials as a table, and why the best is the best.
fn explain(trials: &[Trial], best: &Trial, source: &str, goal: &Goal, terminal: &Terminal) -> String {
    let mut table = Table::new(["λ", "inner steps", "F1", "accuracy", "recourse all", "threshold"].map(Column::number));
    for trial in trials {
        let at = &trial.prospect;
        let cells = [
            Cell::number(trial.lambda, 2),
            Cell::count(trial.steps as u64),
            Cell::number(at.performance.f1, 3),
            Cell::number(at.performance.accuracy, 3),
            Cell::number(at.recourse.all(), 3),
            Cell::number(at.threshold.probability(), 3),
        ];
        if std::ptr::eq(trial, best) {
            table.highlighted(cells);
        } else {
            table.row(cells);
        }
    }
    let plain = trials.iter().find(|trial| trial.lambda == 0.0);
    let against = plain
        .map_or(String::new(), |plain| format!(" (without the recourse term: {:.3})", plain.prospect.performance.f1));
    format!(
        "On validation rows, each at the best threshold that the guarantee (ε = {}, α = {}) would allow there:\n\n{}\n\
         {}: F1 {:.3} under the guarantee{against}.\n\nNext: redress train {source} --lambda {} --inner-steps {}",
        goal.epsilon.get(),
        goal.alpha.get(),
        table.text(),
        terminal.bold(&format!("λ = {}, {} inner steps", best.lambda, best.steps)),
        best.prospect.performance.f1,
        best.lambda,
        best.steps,
    )
}
