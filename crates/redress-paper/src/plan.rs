//! Which models the chosen experiments need, each once.

use std::collections::HashSet;

use crate::{cache::Cache, error::PaperError, experiments::Experiment, recipe::Recipe, settings::Settings};

/// The models of a run, those that take longest first, so that the last ones to finish are short.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Keys and models, each once.
    pub models: Vec<(String, Recipe)>,
}

impl Plan {
    /// The models that these experiments need.
    pub fn new(experiments: &[Experiment], settings: &Settings) -> Result<Plan, PaperError> {
        let mut seen = HashSet::new();
        let mut models = Vec::new();
        for recipe in experiments.iter().flat_map(|experiment| experiment.models(settings)) {
            let recipe = recipe.weights();
            let key = Cache::key(&recipe)?;
            if seen.insert(key.clone()) {
                models.push((key, recipe));
            }
        }
        models.sort_by(|(_, a), (_, b)| b.work().total_cmp(&a.work()));
        Ok(Plan { models })
    }

    /// The work of training all of them.
    pub fn work(&self) -> f64 {
        self.models.iter().map(|(_, recipe)| recipe.work()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Reading;

    #[test]
    fn models_that_experiments_share_are_trained_once() {
        let settings = Settings::full(Reading::AsWritten);
        let count = |names: &[&str]| {
            let chosen: Vec<Experiment> = names.iter().map(|name| Experiment::named(name).unwrap()).collect();
            Plan::new(&chosen, &settings).unwrap().models.len()
        };
        let (table1, figure1) = (count(&["table1"]), count(&["figure1"]));
        assert!(table1 >= 24 && figure1 >= 4 * 11 * 3);
        // λ = 0 and 0.8 of the figure are the models of the table.
        assert!(count(&["table1", "figure1"]) < table1 + figure1);
        assert_eq!(count(&["table1", "table1"]), table1);
    }
}
