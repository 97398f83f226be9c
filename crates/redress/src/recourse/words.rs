//! Plans in a person's words: their own units, the score before and after, and how much room there is for error.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::Serialize;

use super::{Budget, Case, Meter, Plan, rounding};
use crate::{
    calibrate::probability,
    dataset::FeatureKind,
    feasible::{Domain, Move},
};

/// One feature that changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The column of the table.
    pub column: String,
    /// The human name.
    pub feature: String,
    /// The value before, in words.
    pub from: String,
    /// The value afterwards, in words.
    pub to: String,
    /// The value before, as a number (the index of a category).
    pub from_value: f64,
    /// The value afterwards, as a number.
    pub to_value: f64,
    /// The unit, where there is one.
    pub unit: Option<String>,
    /// The share of training rows at or below the value before, in percent; none for categories.
    pub percentile_from: Option<f64>,
    /// The share of training rows at or below the value afterwards, in percent.
    pub percentile_to: Option<f64>,
}

/// How much room a plan leaves for error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slack {
    /// The score afterwards less the threshold, as probabilities; not negative.
    pub margin: f64,
    /// Whether the yes survives when any one changed feature ends a step short or a step beyond. A step is the policy's,
    /// or a tenth of a standard deviation for numbers without one.
    pub survives_one_step: bool,
    /// The share of draws in which the yes survives noise of standard deviation 0.1 (standardised) on everything the
    /// person may change, as in the paper.
    pub survives_noise: f64,
}

/// A plan in a person's words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Way {
    /// What the person does.
    pub changes: Vec<Change>,
    /// What follows from it by links or causes.
    pub consequences: Vec<Change>,
    /// The score before, as a probability.
    pub score_before: f64,
    /// The score afterwards, as a probability.
    pub score_after: f64,
    /// What it costs, in the measure of the [`Costs`](super::Costs).
    pub cost: f64,
    /// How much room there is for error, where that was asked for.
    pub slack: Option<Slack>,
}

/// Draws of noise for [`Slack::survives_noise`], and their seed and size.
const DRAWS: usize = 200;
const SEED: u64 = 0x7265_6472_6573_7321;
const NOISE: f32 = 0.1;

/// Evaluations that putting one plan into words takes at most, rounding its numbers included, for a person with so many
/// levers. They come on top of what the search for the plan may spend, which is why they are few and fixed: the draws of
/// noise, and two steps and the roundings for each lever.
pub fn evaluations(levers: usize) -> u64 {
    DRAWS as u64 + levers as u64 * (2 + rounding::EVALUATIONS)
}

/// A meter for putting one plan into words.
pub(super) fn meter(case: &Case) -> Meter {
    Budget { evaluations: evaluations(case.feasible.domains().len()), ..Budget::UNLIMITED }.meter()
}

impl Way {
    /// The words for a plan; `before` is the logit of the person as they are.
    pub(super) fn new(case: &Case, plan: &Plan, before: f32, slack: Option<Slack>) -> Self {
        let feasible = case.feasible;
        let levers: Vec<usize> = feasible.levers().map(|lever| lever.feature).collect();
        let acted = |feature: usize| {
            let lever = levers.iter().position(|&lever| lever == feature);
            lever.is_some_and(|lever| !feasible.domains()[lever].stays(plan.action().moves[lever]))
        };
        let differs = |feature: &usize| plan.values()[*feature] != feasible.person()[*feature];
        let moved = (0..feasible.person().len()).filter(differs);
        let (done, caused): (Vec<usize>, Vec<usize>) = moved.partition(|&feature| acted(feature));
        Way {
            changes: done.into_iter().map(|feature| change(case, plan, feature)).collect(),
            consequences: caused.into_iter().map(|feature| change(case, plan, feature)).collect(),
            score_before: probability(f64::from(before)),
            score_after: probability(f64::from(plan.logit())),
            cost: plan.cost(),
            slack,
        }
    }
}

fn change(case: &Case, plan: &Plan, feature: usize) -> Change {
    let encoding = case.feasible.encoding();
    let schema = encoding.schema();
    let described = &schema.features[feature];
    let (from_value, to_value) = (case.feasible.person()[feature], plan.values()[feature]);
    let is_category = matches!(described.kind, FeatureKind::Category { .. } | FeatureKind::YesNo { .. });
    let percentile = |value: f64| (!is_category).then(|| 100.0 * encoding.statistics(feature).percentile(value));
    Change {
        column: described.column.clone(),
        feature: described.label.clone(),
        from: schema.show_about(feature, from_value),
        to: schema.show(feature, readable(to_value)),
        from_value,
        to_value,
        unit: described.unit.clone(),
        percentile_from: percentile(from_value),
        percentile_to: percentile(to_value),
    }
}

/// A number without the dust of arithmetic: nine significant digits.
fn readable(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

impl Slack {
    /// How much room a plan leaves. Takes at most [`evaluations`] of the model.
    pub fn of(case: &Case, plan: &Plan) -> Self {
        Self::metered(case, plan, &mut meter(case))
    }

    pub(super) fn metered(case: &Case, plan: &Plan, meter: &mut Meter) -> Self {
        Slack {
            margin: (probability(f64::from(plan.logit())) - case.threshold.probability()).max(0.0),
            survives_one_step: survives_one_step(case, plan, meter),
            survives_noise: survives_noise(case, plan, meter),
        }
    }
}

/// Scores the plan's end with each changed number a step short and a step beyond.
fn survives_one_step(case: &Case, plan: &Plan, meter: &mut Meter) -> bool {
    let encoding = case.feasible.encoding();
    let mut values = plan.values().to_vec();
    let mut point = vec![0.0; encoding.width()];
    for (lever, step) in case.feasible.levers().zip(&plan.action().moves) {
        let feature = lever.feature;
        let size = match (lever.domain, step) {
            (Domain::Grid { step, .. }, Move::Steps(_)) => *step,
            (Domain::Range { .. }, Move::By(_)) => f64::from(NOISE) * encoding.deviation(feature),
            _ => continue,
        };
        if lever.domain.stays(*step) {
            continue;
        }
        let end = values[feature];
        let greatest = match &encoding.schema().features[feature].kind {
            FeatureKind::YesNo { .. } => Some(1.0),
            FeatureKind::Ordered { values } => Some(values.len().saturating_sub(1) as f64),
            _ => None,
        };
        for beside in [end - size, end + size] {
            // Beyond the last rank there is nothing to slip to.
            if greatest.is_some_and(|greatest| !(0.0..=greatest).contains(&beside)) {
                continue;
            }
            values[feature] = beside;
            encoding.encode(&values, &mut point);
            if !case.logits(&point, meter).is_some_and(|logits| case.threshold.approves(logits[0])) {
                return false;
            }
        }
        values[feature] = end;
    }
    true
}

/// The share of noisy ends that are a yes. The draws are the same for everybody: the figure is the person's, not luck's.
fn survives_noise(case: &Case, plan: &Plan, meter: &mut Meter) -> f64 {
    let encoding = case.feasible.encoding();
    let width = encoding.width();
    let mut end = vec![0.0; width];
    encoding.encode(plan.values(), &mut end);
    let numeric = case.feasible.levers().filter(|lever| !matches!(lever.domain, Domain::Choice { .. }));
    let columns: Vec<usize> = numeric.map(|lever| encoding.columns(lever.feature).start).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut points = Vec::with_capacity(DRAWS * width);
    for _ in 0..DRAWS {
        let start = points.len();
        points.extend_from_slice(&end);
        for &column in &columns {
            let noise: f32 = StandardNormal.sample(&mut rng);
            points[start + column] += NOISE * noise;
        }
    }
    let logits = case.logits(&points, meter).unwrap_or_default();
    logits.iter().filter(|logit| case.threshold.approves(**logit)).count() as f64 / DRAWS as f64
}
