//! `redress reproduce`: the paper's tables and figures, with the printed figures beside ours.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use redress_paper::{Cache, Experiment, Outcome, PaperError, Reading, Settings, Standing, write};
use serde_json::Value;

use crate::{
    failure::{Exit, Failure},
    terminal::Terminal,
};

/// Reproduce the paper's tables and figures
///
/// Names: table1, figure1, figure2, table2, figure3, table3, table4,
/// appendix-noise, figure-delta-max, figure-disparity, examples, verdict; or
/// `all`. Each writes NAME.json, NAME.csv, NAME.svg and NAME.html; `all` also
/// index.html. Trained models are kept, so that a run that was stopped goes on
/// where it was.
///
/// Examples:
///   redress reproduce table1
///   redress reproduce all --as both --out paper
///   redress reproduce all --quick
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// What to reproduce, or `all`.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The paper as it is written, as its released code computes it, or both.
    #[arg(long = "as", value_enum, default_value_t, value_name = "READING")]
    reading: ReadingName,
    /// One split, fewer λ, fewer rows, shorter training: shows that everything runs, proves nothing.
    #[arg(long)]
    quick: bool,
    /// Random splits of each data set; 3 unless given, 20 for figure3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    splits: Option<u64>,
    /// Where to write.
    #[arg(long, short, value_name = "DIR", default_value = "redress-out/paper")]
    out: PathBuf,
    /// Where trained models are kept; `models` in the output folder unless given.
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Also write every table and finding into one Markdown page.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// Which paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
enum ReadingName {
    /// The formulas of the paper.
    #[default]
    Written,
    /// What the released code computes.
    Released,
    /// One after the other; the second goes into the folder `as-released`.
    Both,
}

impl Arguments {
    /// The readings, each with its folder.
    fn readings(&self) -> Vec<(Reading, PathBuf)> {
        match self.reading {
            ReadingName::Written => vec![(Reading::AsWritten, self.out.clone())],
            ReadingName::Released => vec![(Reading::AsReleased, self.out.clone())],
            ReadingName::Both => {
                vec![(Reading::AsWritten, self.out.clone()), (Reading::AsReleased, self.out.join("as-released"))]
            }
        }
    }

    /// The experiments, each once.
    fn experiments(&self) -> Result<Vec<Experiment>, Failure> {
        if self.names.iter().any(|name| name == "all") {
            return Ok(Experiment::ALL.to_vec());
        }
        let mut chosen: Vec<Experiment> = Vec::new();
        for name in &self.names {
            let experiment = Experiment::named(name).map_err(failure)?;
            if chosen.iter().all(|other| other.name != experiment.name) {
                chosen.push(experiment);
            }
        }
        Ok(chosen)
    }
}

/// Runs, writes and prints.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let experiments = arguments.experiments()?;
    let cache =
        Cache::open(arguments.cache.clone().unwrap_or_else(|| arguments.out.join("models"))).map_err(failure)?;
    let mut missing: Vec<String> = Vec::new();
    let mut pages: Vec<(String, Outcome)> = Vec::new();
    for (index, (reading, folder)) in arguments.readings().into_iter().enumerate() {
        let settings = Settings { reading, quick: arguments.quick, splits: arguments.splits };
        let again = |experiment: &&Experiment| index == 0 || !experiment.both_readings;
        let experiments: Vec<Experiment> = experiments.iter().filter(again).copied().collect();
        let run = watched(&experiments, &settings, &cache, &folder, terminal)?;
        if experiments.len() > 1 {
            write::index(&folder, &run.outcomes, &run.missing).map_err(failure)?;
        }
        let figures = relative(arguments.results.as_deref(), &folder);
        pages.extend(run.outcomes.into_iter().map(|outcome| (figures.clone(), outcome)));
        missing = run.missing;
    }
    if let Some(path) = &arguments.results {
        write::results(path, &pages, &missing).map_err(failure)?;
    }
    terminal.json(&pages.iter().map(|(_, outcome)| outcome.json()).collect::<Vec<Value>>());
    terminal.say(format!(
        "Wrote {} to {}",
        experiments.iter().map(|experiment| experiment.name).collect::<Vec<_>>().join(", "),
        arguments.out.display()
    ));
    missing.iter().for_each(|advice| terminal.note(advice));
    Ok(if missing.is_empty() { Exit::Done } else { Exit::No })
}

/// Runs experiments under a progress bar over the whole plan; each is written and printed as soon as it is done.
fn watched(
    experiments: &[Experiment],
    settings: &Settings,
    cache: &Cache,
    folder: &Path,
    terminal: &Terminal,
) -> Result<redress_paper::Run, Failure> {
    const PARTS: f64 = 1000.0;
    let bar = terminal.bar(PARTS as u64, "reading the data");
    let watch = |standing: &Standing| {
        bar.set_message(standing.doing.clone());
        bar.set_position((PARTS * standing.done / standing.whole.max(f64::MIN_POSITIVE)) as u64);
    };
    let mut done = |outcome: &Outcome| {
        write::outcome(folder, outcome)?;
        bar.suspend(|| {
            terminal.say(outcome.markdown("##"));
            outcome.findings.iter().for_each(|finding| terminal.say(format!("- {finding}")));
        });
        Ok(())
    };
    let run = redress_paper::run(experiments, settings, cache, &watch, &mut done, terminal.stop_flag());
    bar.finish_and_clear();
    run.map_err(failure)
}

/// The way from a page to a folder: relative where the folder lies beside or below the page.
fn relative(page: Option<&Path>, folder: &Path) -> String {
    let base = page.and_then(Path::parent).unwrap_or(Path::new(""));
    let way = folder.strip_prefix(base).unwrap_or(folder);
    if way.as_os_str().is_empty() { String::new() } else { format!("{}/", way.display()) }
}

fn failure(error: PaperError) -> Failure {
    match error {
        PaperError::Stopped => Failure::Interrupted,
        other => Failure::input(other.to_string()),
    }
}
