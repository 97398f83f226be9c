//! Where experiments run: data sets, splits and models are made once and shared.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use redress::{
    audit::metrics::{self, Performance},
    calibrate::Threshold,
    model::Model,
    pipeline::Study,
    recourse::{Budget, StopFlag},
    train::{self, Reached, reach},
};

use crate::{
    cache::Cache,
    data::{Name, Shelf},
    error::PaperError,
    method::{self, Found, Method},
    progress::Progress,
    recipe::{HeldOut, Recipe, Sample},
    settings::Settings,
};

/// Data, splits, models and figures of one run.
pub struct Lab<'a> {
    /// What the run is asked for.
    pub settings: Settings,
    shelf: Shelf,
    cache: &'a Cache,
    studies: Mutex<HashMap<Sample, Arc<Study>>>,
    trained: Mutex<HashMap<String, Arc<Appraised>>>,
    found: Mutex<HashMap<Question, Arc<Found>>>,
    progress: &'a Progress<'a>,
    stop: StopFlag,
}

/// A model, a method, the bits of a threshold's logit, and how many rows.
type Question = (String, Method, u64, usize);

/// A model with its split and what is read off it at once. Thresholds come from validation rows, figures from test rows.
pub struct Appraised {
    /// Its key in the cache.
    pub key: String,
    /// What it is.
    pub recipe: Recipe,
    /// Its rows.
    pub study: Arc<Study>,
    /// Its weights.
    pub model: Model,
    /// The logits of the validation rows: as they are and after the one-step LP of the run's reading.
    pub validation: Reached,
    /// The logits of the rows that vouch for a guarantee, where the sample keeps such rows apart.
    pub calibration: Option<Reached>,
    /// The logits of the test rows.
    pub test: Reached,
    /// The threshold with the best F1 on the validation rows.
    pub threshold: Threshold,
    /// Performance on the test rows at that threshold.
    pub performance: Performance,
}

impl<'a> Lab<'a> {
    /// A lab over the data sets that are on this machine.
    pub fn new(settings: Settings, shelf: Shelf, cache: &'a Cache, progress: &'a Progress<'a>, stop: StopFlag) -> Self {
        let (studies, trained, found) = (Mutex::default(), Mutex::default(), Mutex::default());
        Lab { settings, shelf, cache, studies, trained, found, progress, stop }
    }

    /// Those of the data sets that are on this machine.
    pub fn present(&self, names: &[Name]) -> Vec<Name> {
        names.iter().copied().filter(|&name| self.shelf.holds(name)).collect()
    }

    /// Counts work done.
    pub fn advance(&self, work: f64) {
        self.progress.advance(work);
    }

    /// Fails once the run was asked to stop.
    pub fn keep_going(&self) -> Result<(), PaperError> {
        if self.stop.is_set() { Err(PaperError::Stopped) } else { Ok(()) }
    }

    /// What a search may spend on one person. It ends when the run is asked to stop, and [`Lab::keep_going`] then keeps
    /// what it left open from being taken for an answer.
    pub fn budget(&self) -> Budget {
        Budget { stop: Some(self.stop), ..Budget::default() }
    }

    /// The rows of a sample, split and encoded.
    ///
    /// Two threads that ask for the same sample at once may both make it: holding the lock meanwhile would let a thread
    /// that waits for its own parallel work pick up work that waits for the lock.
    pub fn study(&self, sample: &Sample) -> Result<Arc<Study>, PaperError> {
        if let Some(study) = lock(&self.studies).get(sample) {
            return Ok(study.clone());
        }
        let study = Arc::new(self.shelf.study(sample)?);
        Ok(lock(&self.studies).entry(*sample).or_insert(study).clone())
    }

    /// A model with its figures: from this run, from the cache, or trained now.
    pub fn model(&self, recipe: &Recipe) -> Result<Arc<Appraised>, PaperError> {
        let key = Cache::key(recipe)?;
        if let Some(appraised) = lock(&self.trained).get(&key) {
            return Ok(appraised.clone());
        }
        self.keep_going()?;
        let weights = recipe.weights();
        let stored = Cache::key(&weights)?;
        let model = match self.cache.get(&stored) {
            Some(model) => model,
            None => {
                let model = self.train(&weights)?;
                self.cache.put(&stored, &model)?;
                model
            }
        };
        let study = self.study(&recipe.sample)?;
        let appraised = Arc::new(self.appraise(key.clone(), recipe.clone(), study, model));
        Ok(lock(&self.trained).entry(key).or_insert(appraised).clone())
    }

    /// The same weights where people may change other things: with whole steps, say, or another δ_max.
    pub fn under(&self, model: &Appraised, sample: Sample) -> Result<Arc<Appraised>, PaperError> {
        let key = Cache::key(&(&model.key, sample))?;
        if let Some(appraised) = lock(&self.trained).get(&key) {
            return Ok(appraised.clone());
        }
        let study = self.study(&sample)?;
        let recipe = Recipe { sample, ..model.recipe.clone() };
        let appraised = Arc::new(self.appraise(key.clone(), recipe, study, model.model.clone()));
        Ok(lock(&self.trained).entry(key).or_insert(appraised).clone())
    }

    /// One model at the same λ for each split of a data set.
    pub fn models(&self, recipes: impl IntoIterator<Item = Recipe>) -> Result<Vec<Arc<Appraised>>, PaperError> {
        recipes.into_iter().map(|recipe| self.model(&recipe)).collect()
    }

    fn train(&self, recipe: &Recipe) -> Result<Model, PaperError> {
        let study = self.study(&recipe.sample)?;
        let context = || format!("training {} at λ = {}", recipe.sample.title(), recipe.params.lambda);
        let params = recipe.params.clone().check().map_err(|error| PaperError::step(context(), error))?;
        let (rows, validation) = (&study.train.examples, &study.validation.examples);
        let mut observe = |_: &train::EpochReport| ControlFlow::Continue(());
        let fitted = train::fit_while(&params, rows, validation, &mut observe, &|| !self.stop.is_set());
        self.keep_going()?;
        Ok(fitted.map_err(|error| PaperError::step(context(), error))?.model)
    }

    /// What a method finds on the test rows of a model at a threshold: computed once a run.
    pub fn found(&self, model: &Appraised, method: Method, threshold: Threshold) -> Result<Arc<Found>, PaperError> {
        let rows = model.test.logits.len().min(self.settings.people());
        let question = (model.key.clone(), method, threshold.logit().to_bits(), rows);
        if let Some(found) = lock(&self.found).get(&question) {
            return Ok(found.clone());
        }
        self.keep_going()?;
        let found = Arc::new(method::find(model, method, threshold, rows, self.settings.reading, &self.budget())?);
        self.keep_going()?;
        Ok(lock(&self.found).entry(question).or_insert(found).clone())
    }

    fn appraise(&self, key: String, recipe: Recipe, study: Arc<Study>, model: Model) -> Appraised {
        let inner = self.settings.reading.inner();
        let judge = |examples| reach(&model, examples, &inner);
        let validation = judge(&study.validation.examples);
        let calibration = (recipe.sample.held_out == HeldOut::Apart).then(|| judge(&study.calibration.examples));
        let test = judge(&study.test.examples);
        let (threshold, _) = metrics::best_f1(&validation.logits, &study.validation.examples.labels, None);
        let performance = metrics::performance(&test.logits, &study.test.examples.labels, threshold);
        Appraised { key, recipe, study, model, validation, calibration, test, threshold, performance }
    }
}

/// A map stays usable after a panic elsewhere: what is in it is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
