//! Arguments that several commands share, and what they come to.

use clap::{Args, ValueEnum};
use redress::{
    calibrate::{FailureProb, MissRate, Threshold, pare::Choice},
    model::Activation,
    pipeline::{Goal, Preset},
    policy::Policy,
    train::{CheckedParams, TrainParams},
};

use crate::failure::Failure;

/// Settings that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    /// Changes people can take: whole steps where the policy has them.
    Default,
    /// The paper's: real-valued changes, its split and its training.
    Paper,
}

impl From<PresetName> for Preset {
    fn from(name: PresetName) -> Self {
        match name {
            PresetName::Default => Preset::Default,
            PresetName::Paper => Preset::Paper,
        }
    }
}

/// What lies between the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ActivationName {
    /// The hyperbolic tangent.
    Tanh,
    /// max(0, z).
    Relu,
}

/// How models are trained.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Training")]
pub struct TrainingArguments {
    /// Settings that belong together; single ones can be set below.
    #[arg(long, value_enum, default_value = "default")]
    pub preset: PresetName,
    /// Passes over the training rows.
    #[arg(long)]
    pub epochs: Option<usize>,
    /// Rows a step.
    #[arg(long)]
    pub batch: Option<usize>,
    /// Adam's step size.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub learning_rate: Option<f64>,
    /// Widths of the hidden layers, comma-separated; `none` trains logistic regression.
    #[arg(long, value_name = "WIDTHS")]
    pub hidden: Option<String>,
    /// What lies between the layers.
    #[arg(long, value_enum)]
    pub activation: Option<ActivationName>,
    /// The chance that a hidden output is dropped in training.
    #[arg(long, value_name = "CHANCE", allow_negative_numbers = true)]
    pub dropout: Option<f32>,
    /// Steps of the search for the best permitted change; 1 is the paper's.
    #[arg(long, value_name = "STEPS")]
    pub inner_steps: Option<usize>,
    /// Standard deviation of noise on the recourse term, in standard deviations of the features.
    #[arg(long, value_name = "NOISE", allow_negative_numbers = true)]
    pub inner_noise: Option<f64>,
    /// Stop after this many epochs without a better one.
    #[arg(long, value_name = "EPOCHS")]
    pub early_stop: Option<usize>,
    /// Leave both classes their natural weight.
    #[arg(long)]
    pub no_class_weights: bool,
    /// The same seed gives the same model, bit for bit.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl TrainingArguments {
    /// The settings for a table of so many rows, checked.
    pub fn params(&self, rows: usize, lambda: f64) -> Result<CheckedParams, Failure> {
        let mut params = TrainParams { lambda, seed: self.seed, ..Preset::from(self.preset).params(rows) };
        params.epochs = self.epochs.unwrap_or(params.epochs);
        params.batch = self.batch.unwrap_or(params.batch);
        params.learning_rate = self.learning_rate.unwrap_or(params.learning_rate);
        params.dropout = self.dropout.unwrap_or(params.dropout);
        params.inner.steps = self.inner_steps.unwrap_or(params.inner.steps);
        params.inner.noise = self.inner_noise.unwrap_or(params.inner.noise);
        params.early_stop = self.early_stop.or(params.early_stop);
        params.class_weights &= !self.no_class_weights;
        if let Some(activation) = self.activation {
            params.activation = match activation {
                ActivationName::Tanh => Activation::Tanh,
                ActivationName::Relu => Activation::Relu,
            };
        }
        if let Some(widths) = &self.hidden {
            params.hidden = hidden_widths(widths)?;
        }
        params.check().map_err(|error| Failure::input(error.to_string()))
    }
}

/// `100,100,100` or `none`.
fn hidden_widths(text: &str) -> Result<Vec<usize>, Failure> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let width = |part: &str| {
        let wrong = || Failure::input(format!("--hidden {text}: `{part}` is not a width; write 100,100,100 or none"));
        part.trim().parse().map_err(|_| wrong())
    };
    text.split(',').map(width).collect()
}

/// A day as certificates write it, 2026-01-31.
fn day(text: &str) -> Result<String, String> {
    let parts: Vec<&str> = text.split('-').collect();
    let within = |part: &str, digits: usize, low: u32, high: u32| {
        part.len() == digits && part.parse::<u32>().is_ok_and(|number| (low..=high).contains(&number))
    };
    match parts[..] {
        [year, month, day] if within(year, 4, 1, 9999) && within(month, 2, 1, 12) && within(day, 2, 1, 31) => {
            Ok(text.to_owned())
        }
        _ => Err("a day is written year-month-day, such as 2026-01-31".to_owned()),
    }
}

/// What is to be guaranteed.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guarantee")]
pub struct GoalArguments {
    /// ε: the share of people who may be left without approval or recourse.
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    pub epsilon: f64,
    /// α: the chance that the guarantee fails.
    #[arg(long, default_value_t = 0.05, allow_negative_numbers = true)]
    pub alpha: f64,
    /// Give the guarantee to every group of these columns, comma-separated (they must be among the policy's `groups`).
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    pub groups: Vec<String>,
    /// Use this threshold (a score between 0 and 1) instead of the F1-best one under the bound.
    #[arg(long, value_name = "SCORE", allow_negative_numbers = true)]
    pub threshold: Option<f64>,
    /// The day to write into the certificate, such as 2026-01-31; none unless given, so that equal runs write equal files.
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub date: Option<String>,
}

impl GoalArguments {
    /// The goal, checked against the policy.
    pub fn goal(&self, policy: &Policy) -> Result<Goal, Failure> {
        let wrong = |error: redress::calibrate::RateError| Failure::input(error.to_string());
        for group in &self.groups {
            if !policy.data.groups.contains(group) {
                let known = policy.data.groups.join(", ");
                let near = redress::policy::nearest(group, policy.data.groups.iter().map(String::as_str));
                return Err(Failure::input(format!("--groups {group}: not a group column of the policy")).help(
                    match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None if known.is_empty() => {
                            format!("name it in the policy first: groups = [\"{group}\"] under [data]")
                        }
                        None => format!("the group columns of {} are {known}", policy.name),
                    },
                ));
            }
        }
        let choice = match self.threshold {
            Some(score) => Choice::Given(Threshold::from_probability(score).map_err(wrong)?),
            None => Choice::BestF1,
        };
        Ok(Goal {
            epsilon: MissRate::new(self.epsilon).map_err(wrong)?,
            alpha: FailureProb::new(self.alpha).map_err(wrong)?,
            groups: self.groups.clone(),
            choice,
        })
    }
}
