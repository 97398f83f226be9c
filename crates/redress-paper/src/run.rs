//! Runs experiments: first every model that any of them needs, on all cores, then each experiment in turn.

use rayon::prelude::*;
use redress::recourse::StopFlag;

use crate::{
    cache::Cache,
    data::{Name, Shelf},
    error::PaperError,
    experiments::Experiment,
    lab::Lab,
    outcome::Outcome,
    plan::Plan,
    progress::{Progress, Standing},
    settings::Settings,
};

/// What a run came to.
pub struct Run {
    /// One outcome an experiment, in the order asked for.
    pub outcomes: Vec<Outcome>,
    /// For each data set that is not on this machine, how to get it.
    pub missing: Vec<String>,
}

/// Training one row once takes about this long on one core; only the ratio to [`Experiment::effort`] matters.
const SECONDS_A_ROW: f64 = 6e-6;

/// Runs experiments. `watch` sees how far the whole plan has come; `done` gets each outcome as soon as it is there, so that
/// a run which is stopped has kept those before; `stop` ends the run soon after it is set, with [`PaperError::Stopped`].
pub fn run(
    experiments: &[Experiment],
    settings: &Settings,
    cache: &Cache,
    watch: &(dyn Fn(&Standing) + Sync),
    done: &mut dyn FnMut(&Outcome) -> Result<(), PaperError>,
    stop: StopFlag,
) -> Result<Run, PaperError> {
    let shelf = Shelf::open()?;
    let missing = Name::ALL.iter().filter_map(|&name| shelf.advice(name)).collect();
    let mut plan = Plan::new(experiments, settings)?;
    plan.models.retain(|(_, recipe)| shelf.holds(recipe.sample.data));
    let training: f64 = plan.work() * SECONDS_A_ROW;
    let whole = training + experiments.iter().map(|experiment| experiment.work(settings)).sum::<f64>();
    let progress = Progress::new(whole, watch);
    let lab = Lab::new(settings.clone(), shelf, cache, &progress, stop);

    progress.doing(format!("training {} models", plan.models.len()));
    // One at a time: making a split uses all cores by itself.
    for (_, recipe) in &plan.models {
        lab.study(&recipe.sample)?;
    }
    plan.models.par_iter().try_for_each(|(_, recipe)| {
        lab.model(recipe)?;
        lab.advance(recipe.work() * SECONDS_A_ROW);
        Ok::<(), PaperError>(())
    })?;

    let mut outcomes = Vec::new();
    let mut behind = training;
    for experiment in experiments {
        lab.keep_going()?;
        progress.doing(experiment.name);
        let outcome = experiment.run(&lab)?;
        done(&outcome)?;
        outcomes.push(outcome);
        behind += experiment.work(settings);
        progress.reach(behind);
    }
    Ok(Run { outcomes, missing })
}
