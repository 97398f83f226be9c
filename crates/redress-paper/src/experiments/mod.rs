//! The experiments, one file each.

mod appendix_noise;
mod examples;
mod figure1;
mod figure2;
mod figure3;
mod figure_delta_max;
mod figure_disparity;
mod table1;
mod table2;
mod table3;
mod table4;
mod targets;
mod verdict;

use crate::{error::PaperError, lab::Lab, outcome::Outcome, recipe::Recipe, settings::Settings};

/// One table or figure.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// Its name in commands and files.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// About how long it takes once its models are trained, in seconds on one core: what progress is counted in.
    pub effort: f64,
    /// Whether it shows both readings itself, whichever it is asked under.
    pub both_readings: bool,
    models: fn(&Settings) -> Vec<Recipe>,
    run: fn(&Lab) -> Result<Outcome, PaperError>,
}

impl Experiment {
    /// All of them, in the paper's order, and the verdict on them.
    pub const ALL: [Experiment; 12] = [
        table1::EXPERIMENT,
        figure1::EXPERIMENT,
        figure2::EXPERIMENT,
        table2::EXPERIMENT,
        figure3::EXPERIMENT,
        table3::EXPERIMENT,
        table4::EXPERIMENT,
        appendix_noise::EXPERIMENT,
        figure_delta_max::EXPERIMENT,
        figure_disparity::EXPERIMENT,
        examples::EXPERIMENT,
        verdict::EXPERIMENT,
    ];

    /// The experiment of this name.
    pub fn named(name: &str) -> Result<Experiment, PaperError> {
        let known = || Self::ALL.map(|experiment| experiment.name).join(", ");
        let found = Self::ALL.into_iter().find(|experiment| experiment.name == name);
        found.ok_or_else(|| PaperError::Unknown { name: name.to_owned(), known: known() })
    }

    /// The models it needs.
    pub fn models(&self, settings: &Settings) -> Vec<Recipe> {
        (self.models)(settings)
    }

    /// How much it takes with these settings, in the measure of [`Experiment::effort`].
    pub fn work(&self, settings: &Settings) -> f64 {
        self.effort * if settings.quick { 0.02 } else { 1.0 }
    }

    /// Runs it.
    pub fn run(&self, lab: &Lab) -> Result<Outcome, PaperError> {
        (self.run)(lab)
    }
}
