//! `redress sweep`: what more recourse costs.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicUsize, Ordering},
};

use clap::Args;
use rayon::prelude::*;
use redress::{
    audit::frontier::{FrontierPoint, GridCell, frontier, with_max_change},
    calibrate::{promise, sha256_hex},
    dataset::Dataset,
    pipeline::{Goal, Preset, Study, Summary},
    policy::Policy,
    train::CheckedParams,
};
use redress_report::Chart;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    settings::{GoalArguments, TrainingArguments},
    train::fitted,
    tune::numbers,
};
use crate::{
    failure::{Exit, Failure},
    output::Folder,
    reports,
    source::{self, Loaded, Rows},
    terminal::Terminal,
};

/// Train over a grid of λ and draw what more recourse costs
///
/// Every λ is trained with several seeds, each on a split of its own, and
/// averaged. Finished models are kept in DIR/cells, so that a sweep that was
/// stopped goes on where it was; a change of the policy, the data or a setting
/// trains anew. To pick a λ for a model that is to be certified use `redress
/// tune`, which leaves test rows alone.
///
/// Examples:
///   redress sweep german --lambda 0:2:0.2 --seeds 3
///   redress sweep policy.toml --lambda 0,0.4,0.8 --delta-max 0.25,0.5,0.75 --out frontier
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A policy file, or a built-in data set.
    #[arg(value_name = "POLICY")]
    source: String,
    /// The λ to try: FROM:TO:STEP, or a comma-separated list.
    #[arg(long, default_value = "0:2:0.2", value_name = "LAMBDAS", allow_hyphen_values = true)]
    lambda: String,
    /// How many seeds, counting on from --seed.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000), value_name = "N")]
    seeds: u64,
    /// Replace every max_change of the policy by so many standard deviations; a comma-separated list tries each.
    #[arg(long, value_name = "DEVIATIONS")]
    delta_max: Option<String>,
    /// Where to write; `redress-out/NAME-sweep` unless given.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    goal: GoalArguments,
    #[command(flatten)]
    training: TrainingArguments,
}

/// One model to train.
struct Job {
    study: usize,
    delta_max: Option<f64>,
    seed: u64,
    params: CheckedParams,
    /// What decides the result, hashed.
    key: String,
}

/// A finished model, as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    cell: GridCell,
}

/// A sweep's result, for files and reports.
#[derive(Serialize)]
pub struct Swept {
    /// The policy's name.
    pub name: String,
    /// Where the rows come from.
    pub data: String,
    /// SHA-256 of the policy's text.
    pub policy_sha256: String,
    /// SHA-256 of the rows.
    pub data_sha256: String,
    /// The guarantee that every model is held to.
    pub promise: String,
    /// ε of the guarantee.
    pub epsilon: f64,
    /// α of the guarantee.
    pub alpha: f64,
    /// The largest changes that replaced the policy's own, in standard deviations; empty where the policy was left as it is.
    pub delta_max: Vec<f64>,
    /// The first seed.
    pub first_seed: u64,
    /// The points, averaged over seeds.
    pub frontier: Vec<FrontierPoint>,
    /// Every model.
    pub cells: Vec<GridCell>,
}

/// Trains what is missing, then writes and prints the frontier.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let loaded = source::load(&arguments.source)?;
    let goal = arguments.goal.goal(&loaded.policy)?;
    let lambdas = numbers("--lambda", &arguments.lambda)?;
    let policies = policies(&loaded.policy, arguments.delta_max.as_deref())?;
    let rows = loaded.rows()?;
    let out = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("redress-out").join(format!("{}-sweep", loaded.policy.name)));
    let folder = Folder::new(&out);
    folder.check_writable()?;
    let kept = Folder::new(out.join("cells"));
    kept.create()?;

    let data_sha256 = data_sha256(&rows);
    let jobs = jobs(&arguments, &lambdas, &policies, &goal, &rows, &data_sha256)?;
    let cells = train_missing(&jobs, &policies, &arguments, &goal, &loaded, &rows, &kept, terminal)?;
    let swept = Swept {
        name: loaded.policy.name.clone(),
        data: loaded.origin(),
        policy_sha256: sha256_hex(loaded.policy.source.as_bytes()),
        data_sha256,
        promise: promise(goal.epsilon, goal.alpha, !goal.groups.is_empty()),
        delta_max: policies.iter().filter_map(|(delta_max, _)| *delta_max).collect(),
        epsilon: goal.epsilon.get(),
        alpha: goal.alpha.get(),
        first_seed: arguments.training.seed,
        frontier: frontier(&cells),
        cells,
    };
    folder.write("sweep.csv", reports::sweep::table(&swept, None).csv().as_bytes())?;
    folder.write_json("sweep.json", &swept)?;
    folder.write("sweep.svg", Chart::from(reports::sweep::picture(&swept)).svg().as_bytes())?;
    folder.write("report.html", reports::sweep::report(&swept, &policies).html().as_bytes())?;
    terminal.json(&json!({ "out": out, "frontier": swept.frontier }));
    terminal.say(reports::sweep::terminal_summary(&swept, terminal));
    terminal.say(format!("Wrote sweep.csv, sweep.json, sweep.svg and report.html to {folder}"));
    Ok(Exit::Done)
}

/// The policies to try: the policy itself, or one for each largest change.
fn policies(policy: &Policy, delta_max: Option<&str>) -> Result<Vec<(Option<f64>, Policy)>, Failure> {
    let Some(text) = delta_max else { return Ok(vec![(None, policy.clone())]) };
    let mut all = Vec::new();
    for delta in numbers("--delta-max", text)? {
        if !(delta >= 0.0) {
            return Err(Failure::input(format!("--delta-max {text}: {delta} is below 0")));
        }
        let edited =
            with_max_change(policy, delta).map_err(|error| Failure::input(format!("--delta-max {delta}: {error}")))?;
        let edited = edited.ok_or_else(|| {
            Failure::input(format!("--delta-max: no feature of {} has a max_change to replace", policy.name))
                .help("give the features that people may change a max_change in the policy")
        })?;
        all.push((Some(delta), edited));
    }
    Ok(all)
}

/// SHA-256 of the values and labels of all rows.
fn data_sha256(rows: &Rows) -> String {
    let bytes = |dataset: &Dataset| {
        let values = dataset.people.values.iter().flat_map(|value| value.to_le_bytes());
        values.chain(dataset.labels.iter().map(|&label| u8::from(label))).collect::<Vec<u8>>()
    };
    let mut all = bytes(&rows.dataset);
    all.extend(rows.test.iter().flat_map(bytes));
    sha256_hex(&all)
}

/// Every model of the grid, with the hash of all that decides it. Studies are numbered policy by policy, seed by seed.
fn jobs(
    arguments: &Arguments,
    lambdas: &[f64],
    policies: &[(Option<f64>, Policy)],
    goal: &Goal,
    rows: &Rows,
    data_sha256: &str,
) -> Result<Vec<Job>, Failure> {
    let first = arguments.training.seed;
    let mut jobs = Vec::new();
    for (number, (delta_max, policy)) in policies.iter().enumerate() {
        for &lambda in lambdas {
            for offset in 0..arguments.seeds {
                let training = TrainingArguments { seed: first + offset, ..arguments.training.clone() };
                let params = training.params(rows.dataset.len(), lambda)?;
                let decides = json!({
                    "redress": env!("CARGO_PKG_VERSION"),
                    "policy": policy.source,
                    "data": data_sha256,
                    "preset": Preset::from(training.preset),
                    "training": *params,
                    "epsilon": goal.epsilon, "alpha": goal.alpha, "groups": goal.groups,
                    "threshold": arguments.goal.threshold,
                });
                let key = sha256_hex(decides.to_string().as_bytes());
                let study = number * arguments.seeds as usize + offset as usize;
                jobs.push(Job { study, delta_max: *delta_max, seed: training.seed, params, key });
            }
        }
    }
    Ok(jobs)
}

/// The finished cell of a job, if it is kept and its own.
fn finished(job: &Job, kept: &Folder) -> Option<GridCell> {
    let text = std::fs::read_to_string(kept.path(&file_name(job))).ok()?;
    let found: Kept = serde_json::from_str(&text).ok()?;
    (found.key == job.key).then_some(found.cell)
}

/// The file of a job: the beginning of its hash.
fn file_name(job: &Job) -> String {
    format!("{}.json", &job.key[..16])
}

/// Reads finished cells and trains the others, on all cores; each is written as soon as it is done.
#[allow(clippy::too_many_arguments)]
fn train_missing(
    jobs: &[Job],
    policies: &[(Option<f64>, Policy)],
    arguments: &Arguments,
    goal: &Goal,
    loaded: &Loaded,
    rows: &Rows,
    kept: &Folder,
    terminal: &Terminal,
) -> Result<Vec<GridCell>, Failure> {
    let known: Vec<Option<GridCell>> = jobs.iter().map(|job| finished(job, kept)).collect();
    let missing: Vec<&Job> = jobs.iter().zip(&known).filter(|(_, cell)| cell.is_none()).map(|(job, _)| job).collect();
    if missing.len() < jobs.len() {
        terminal.note(format!("{} of {} models are finished already", jobs.len() - missing.len(), jobs.len()));
    }
    // Studies are made before any training starts: a worker that waited for one could wait for itself.
    let needed = |study: usize| missing.iter().any(|job| job.study == study);
    let seeds = arguments.seeds as usize;
    let studies = (0..policies.len() * seeds).into_par_iter().map(|study| {
        let (policy, seed) = (&policies[study / seeds].1, arguments.training.seed + (study % seeds) as u64);
        needed(study).then(|| loaded.study_under(policy, rows, arguments.training.preset.into(), seed)).transpose()
    });
    let studies: Vec<Option<Study>> = studies.collect::<Result<_, _>>()?;
    for study in studies.iter().flatten() {
        goal.check(study).map_err(|error| Failure::input(error.to_string()))?;
    }
    let bar = terminal.bar(missing.iter().map(|job| job.params.epochs as u64).sum(), "sweeping");
    let done = AtomicUsize::new(jobs.len() - missing.len());
    let trained = missing.par_iter().map(|job| -> Result<GridCell, Failure> {
        let Some(study) = &studies[job.study] else { return Err(Failure::Interrupted) };
        terminal.keep_going()?;
        let mut epochs = 0;
        let about = format!("λ = {}, seed {}", job.params.lambda, job.seed);
        let fitted = fitted(study, &job.params, terminal, |_| {
            epochs += 1;
            bar.inc(1);
        });
        let fitted = fitted.map_err(|failure| failure.about(&about))?;
        bar.inc((job.params.epochs - epochs) as u64);
        let summary =
            Summary::new(study, &fitted.model, goal).map_err(|error| Failure::input(format!("{about}: {error}")))?;
        let cell = GridCell::new(job.params.lambda, job.delta_max, job.seed, fitted.best.epoch, &summary);
        kept.write_json(&file_name(job), &Kept { key: job.key.clone(), cell: cell.clone() })?;
        bar.set_message(format!("sweeping: {} of {} models", done.fetch_add(1, Ordering::Relaxed) + 1, jobs.len()));
        Ok(cell)
    });
    let trained: Result<Vec<GridCell>, Failure> = trained.collect();
    bar.finish_and_clear();
    if terminal.stopped() {
        let done = done.load(Ordering::Relaxed);
        terminal.note(format!("{done} of {} models are finished; the same command goes on from there", jobs.len()));
    }
    let mut trained = trained?.into_iter();
    Ok(known.into_iter().filter_map(|cell| cell.or_else(|| trained.next())).collect())
}
