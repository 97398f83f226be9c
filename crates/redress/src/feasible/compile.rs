//! From a checked policy to the rules that all feasible sets share, and from one person's overrides to narrower ones.

use super::limits::Limits;
use super::space::{EffectRule, Lattice, LeverRule, LinkRule, On, Reach, RowRule, Shared};
use crate::dataset::FeatureKind;
use crate::encoding::Encoding;
use crate::policy::{Actionability, Amount, Constraint, Direction, FeatureRule, Link, Policy, Trigger};

/// Why a policy and an encoding, or a policy and a person, make no feasible set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpaceError {
    /// The policy's features are not those the encoding was fitted on.
    #[error("the policy's features ({policy}) are not those of the encoding ({encoding})")]
    Features {
        /// The policy's columns.
        policy: String,
        /// The encoding's columns.
        encoding: String,
    },
    /// A person with more or fewer values than there are features.
    #[error("the person has {found} values, the policy has {expected} features")]
    Person {
        /// Values given.
        found: usize,
        /// Features of the policy.
        expected: usize,
    },
    /// A value that the feature cannot have: not finite, or no category's index.
    #[error("feature `{feature}` cannot be {value}")]
    Value {
        /// The feature.
        feature: String,
        /// The value.
        value: f64,
    },
    /// A category that the feature does not have.
    #[error("feature `{feature}` has no value `{value}`; allowed: {allowed}")]
    Category {
        /// The feature.
        feature: String,
        /// The value named.
        value: String,
        /// The values there are.
        allowed: String,
    },
    /// Something that makes no sense for a feature of that kind.
    #[error("feature `{feature}`: {reason}")]
    Rule {
        /// The feature.
        feature: String,
        /// What is wrong.
        reason: String,
    },
    /// A constraint or link that cannot be obeyed.
    #[error("`{text}`: {reason}")]
    Sentence {
        /// As written.
        text: String,
        /// What is wrong.
        reason: String,
    },
    /// A person's override that does not narrow the policy.
    #[error("override of feature `{feature}`: {reason}")]
    Override {
        /// The feature.
        feature: String,
        /// What is wrong.
        reason: String,
    },
}

/// Compiles a policy.
pub(super) fn shared(policy: &Policy, encoding: &Encoding, lattice: Lattice) -> Result<Shared, SpaceError> {
    let columns = |names: Vec<&str>| names.join(", ");
    let schema = encoding.schema();
    let written: Vec<&str> = policy.features.iter().map(|rule| rule.column.as_str()).collect();
    let fitted: Vec<&str> = schema.features.iter().map(|feature| feature.column.as_str()).collect();
    if written != fitted {
        return Err(SpaceError::Features { policy: columns(written), encoding: columns(fitted) });
    }
    let mut levers = Vec::new();
    for (feature, rule) in policy.features.iter().enumerate() {
        if let Some(reach) = reach(rule, feature, encoding, lattice)? {
            levers.push(LeverRule { feature, column: encoding.columns(feature).start, reach });
        }
    }
    let (effects, links) = links(policy, encoding, &levers, lattice)?;
    let rows = rows(&policy.constraints, encoding, &levers, &effects)?;
    let numbers = levers.iter().all(|lever| matches!(lever.reach, Reach::Number(_)));
    let is_box = numbers && links.is_empty() && rows.is_empty();
    Ok(Shared { encoding: encoding.clone(), levers, effects, links, rows, lattice, is_box })
}

fn position(levers: &[LeverRule], feature: usize) -> Option<usize> {
    levers.iter().position(|lever| lever.feature == feature)
}

/// How far a feature may move; `None` when it is fixed.
fn reach(
    rule: &FeatureRule,
    feature: usize,
    encoding: &Encoding,
    lattice: Lattice,
) -> Result<Option<Reach>, SpaceError> {
    let wrong = |reason: &str| SpaceError::Rule { feature: rule.column.clone(), reason: reason.into() };
    let action = &rule.action;
    let kind = &encoding.schema().features[feature].kind;
    if let FeatureKind::Category { values } = kind {
        return match action.change {
            Direction::Fixed if action.moves.is_none() => Ok(None),
            Direction::Increase | Direction::Decrease => {
                Err(wrong("a category has no order to increase or decrease in"))
            }
            _ => Ok(Some(Reach::Category(moves(rule, values)?))),
        };
    }
    if action.moves.is_some() {
        return Err(wrong("moves between values need a category"));
    }
    if action.change == Direction::Fixed {
        return Ok(None);
    }
    let most = match action.max_change {
        Some(amount) => units(amount, feature, encoding),
        None => f64::INFINITY,
    };
    let down = if matches!(action.change, Direction::Decrease | Direction::Any) { most } else { 0.0 };
    let up = if matches!(action.change, Direction::Increase | Direction::Any) { most } else { 0.0 };
    let (least, greatest) = natural_range(kind);
    let statistics = encoding.statistics(feature);
    let mut min = action.min.unwrap_or(f64::NEG_INFINITY).max(least);
    let mut max = action.max.unwrap_or(f64::INFINITY).min(greatest);
    if down.is_infinite() && min.is_infinite() {
        min = statistics.min();
    }
    if up.is_infinite() && max.is_infinite() {
        max = statistics.max();
    }
    let whole = !matches!(kind, FeatureKind::Number);
    let free = lattice == Lattice::Continuous && matches!(kind, FeatureKind::Number | FeatureKind::Integer);
    let step = if free { None } else { action.step.or(whole.then_some(1.0)) };
    let positive = |value: f64| value > 0.0 && value.is_finite();
    if !(most >= 0.0 && step.is_none_or(positive)) || min.is_nan() || max.is_nan() {
        return Err(wrong("limits must be numbers, changes not negative and steps positive"));
    }
    if step.is_some_and(|step| whole && step.fract() != 0.0) {
        return Err(wrong("its steps must be whole numbers"));
    }
    Ok(Some(Reach::Number(Limits { down, up, min, max, step })))
}

fn units(amount: Amount, feature: usize, encoding: &Encoding) -> f64 {
    match amount {
        Amount::Units(units) => units,
        Amount::Deviations(deviations) => deviations * encoding.deviation(feature),
    }
}

/// The values a feature of this kind can have at all.
fn natural_range(kind: &FeatureKind) -> (f64, f64) {
    match kind {
        FeatureKind::YesNo { .. } => (0.0, 1.0),
        FeatureKind::Ordered { values } => (0.0, values.len().saturating_sub(1) as f64),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

fn index_of(values: &[String], value: &str, feature: &str) -> Result<usize, SpaceError> {
    values.iter().position(|known| known == value).ok_or_else(|| SpaceError::Category {
        feature: feature.into(),
        value: value.into(),
        allowed: values.join(", "),
    })
}

/// For each category the categories one may be in afterwards. Without a list, all.
fn moves(rule: &FeatureRule, values: &[String]) -> Result<Vec<Vec<usize>>, SpaceError> {
    let Some(listed) = &rule.action.moves else {
        return Ok(vec![(0..values.len()).collect(); values.len()]);
    };
    let mut moves: Vec<Vec<usize>> = (0..values.len()).map(|from| vec![from]).collect();
    for (from, targets) in listed {
        let from = index_of(values, from, &rule.column)?;
        for target in targets {
            moves[from].push(index_of(values, target, &rule.column)?);
        }
        moves[from].sort_unstable();
        moves[from].dedup();
    }
    Ok(moves)
}

fn links(
    policy: &Policy,
    encoding: &Encoding,
    levers: &[LeverRule],
    lattice: Lattice,
) -> Result<(Vec<EffectRule>, Vec<LinkRule>), SpaceError> {
    let mut effects: Vec<EffectRule> = Vec::new();
    let mut links = Vec::new();
    for link in &policy.links {
        let wrong = |reason: &str| SpaceError::Sentence { text: link.text.clone(), reason: reason.into() };
        let kind = &encoding.schema().features[link.effect].kind;
        if matches!(kind, FeatureKind::Category { .. }) {
            return Err(wrong("a link cannot move a category"));
        }
        if position(levers, link.effect).is_some() {
            return Err(wrong("the feature that a link moves must be fixed: it is not the person's own to change"));
        }
        if policy.links.iter().any(|other| other.effect == link.cause) {
            return Err(wrong("a feature that a link moves cannot be the cause of another link"));
        }
        if !link.amount.is_finite() {
            return Err(wrong("the amount must be a number"));
        }
        // A cause that nobody can move never sets anything off.
        let Some(lever) = position(levers, link.cause) else { continue };
        let on = trigger(link, &levers[lever], encoding)?;
        let free = matches!(kind, FeatureKind::Number)
            || (matches!(kind, FeatureKind::Integer) && lattice == Lattice::Continuous);
        if !free && !moves_by_whole(link, &levers[lever]) {
            return Err(wrong("it would move a feature that has whole values by a part of one; give the cause a step"));
        }
        let known = effects.iter().position(|effect| effect.feature == link.effect);
        let effect = known.unwrap_or_else(|| {
            let (least, greatest) = natural_range(kind);
            let limits = &policy.features[link.effect].action;
            let min = limits.min.unwrap_or(f64::NEG_INFINITY).max(least);
            let max = limits.max.unwrap_or(f64::INFINITY).min(greatest);
            effects.push(EffectRule { feature: link.effect, min, max });
            effects.len() - 1
        });
        links.push(LinkRule { lever, on, effect, amount: link.amount, each: link.each });
    }
    Ok((effects, links))
}

/// Whether every amount that a link can force is a whole number.
fn moves_by_whole(link: &Link, cause: &LeverRule) -> bool {
    match &cause.reach {
        Reach::Number(limits) if link.each => limits.step.is_some_and(|step| (link.amount * step).fract() == 0.0),
        _ => link.amount.fract() == 0.0,
    }
}

fn trigger(link: &Link, cause: &LeverRule, encoding: &Encoding) -> Result<On, SpaceError> {
    let feature = &encoding.schema().features[cause.feature];
    let wrong = |reason: &str| SpaceError::Sentence { text: link.text.clone(), reason: reason.into() };
    let is_category = matches!(cause.reach, Reach::Category(_));
    match &link.trigger {
        Trigger::Increases | Trigger::Decreases if is_category => {
            Err(wrong("a category does not increase or decrease"))
        }
        Trigger::Increases => Ok(On::Up),
        Trigger::Decreases => Ok(On::Down),
        Trigger::Changes => Ok(On::Any),
        Trigger::Becomes(value) => match &feature.kind {
            FeatureKind::Category { values } | FeatureKind::Ordered { values } => {
                Ok(On::Value(index_of(values, value, &feature.column)? as f64))
            }
            FeatureKind::YesNo { no, yes } => match value.as_str() {
                known if known == no => Ok(On::Value(0.0)),
                known if known == yes => Ok(On::Value(1.0)),
                "no" | "false" | "0" => Ok(On::Value(0.0)),
                "yes" | "true" | "1" => Ok(On::Value(1.0)),
                _ => Err(SpaceError::Category {
                    feature: feature.column.clone(),
                    value: value.clone(),
                    allowed: format!("{no}, {yes}"),
                }),
            },
            _ => match (value.trim().parse::<f64>(), &cause.reach) {
                (Ok(value), Reach::Number(Limits { step: Some(_), .. })) if value.is_finite() => Ok(On::Value(value)),
                _ => Err(wrong("`becomes` needs a feature that moves in steps, and one of its values")),
            },
        },
    }
}

fn rows(
    constraints: &[Constraint],
    encoding: &Encoding,
    levers: &[LeverRule],
    effects: &[EffectRule],
) -> Result<Vec<RowRule>, SpaceError> {
    let mut rows = Vec::new();
    for constraint in constraints {
        let wrong = |reason: &str| SpaceError::Sentence { text: constraint.text.clone(), reason: reason.into() };
        if !(constraint.bound >= 0.0 && constraint.terms.iter().all(|term| term.1.is_finite())) {
            return Err(wrong("doing nothing must satisfy a constraint, and its numbers must be finite"));
        }
        let mut row = RowRule { levers: vec![], effects: vec![], bound: constraint.bound };
        for &(feature, coefficient) in &constraint.terms {
            if matches!(encoding.schema().features[feature].kind, FeatureKind::Category { .. }) {
                return Err(wrong("a category's change is not a number"));
            }
            if let Some(lever) = position(levers, feature) {
                row.levers.push((lever, coefficient));
            } else if let Some(effect) = effects.iter().position(|effect| effect.feature == feature) {
                row.effects.push((effect, coefficient));
            }
        }
        // Features that never move contribute nothing, and 0 ≤ bound holds.
        if !row.levers.is_empty() || !row.effects.is_empty() {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// The limits of one lever, narrowed for one person. It can only narrow: where an override would permit more than the
/// policy, the policy stands; a step that is no multiple of the policy's is refused.
pub(super) fn narrow(
    limits: &Limits,
    own: &Actionability,
    feature: usize,
    encoding: &Encoding,
    lattice: Lattice,
) -> Result<Limits, SpaceError> {
    let described = &encoding.schema().features[feature];
    let wrong = |reason: String| SpaceError::Override { feature: described.column.clone(), reason };
    let mut limits = *limits;
    if let Some(amount) = own.max_change {
        let most = units(amount, feature, encoding);
        if most.is_nan() || most < 0.0 {
            return Err(wrong(format!("max_change is {most}, it must not be negative")));
        }
        limits.down = limits.down.min(most);
        limits.up = limits.up.min(most);
    }
    if matches!(own.change, Direction::Fixed | Direction::Increase) {
        limits.down = 0.0;
    }
    if matches!(own.change, Direction::Fixed | Direction::Decrease) {
        limits.up = 0.0;
    }
    for bound in [own.min, own.max].into_iter().flatten() {
        if bound.is_nan() {
            return Err(wrong("min and max must be numbers".into()));
        }
    }
    if let (Some(min), Some(max)) = (own.min, own.max)
        && min > max
    {
        return Err(wrong(format!("min {min} is above max {max}")));
    }
    limits.min = limits.min.max(own.min.unwrap_or(f64::NEG_INFINITY));
    limits.max = limits.max.min(own.max.unwrap_or(f64::INFINITY));
    let numeric = matches!(described.kind, FeatureKind::Number | FeatureKind::Integer);
    if let Some(step) = own.step.filter(|_| !(numeric && lattice == Lattice::Continuous)) {
        let multiple = step / limits.step.unwrap_or(step);
        if !(step > 0.0
            && step.is_finite()
            && multiple >= 0.5
            && (multiple - multiple.round()).abs() <= 1e-9 * multiple)
        {
            return Err(wrong(format!("step {step} is not a multiple of the policy's step")));
        }
        limits.step = Some(step);
    }
    Ok(limits)
}

/// The categories one person may move to.
pub(super) fn narrow_moves(
    to: &[usize],
    from: usize,
    own: &Actionability,
    feature: usize,
    encoding: &Encoding,
) -> Result<Vec<usize>, SpaceError> {
    let described = &encoding.schema().features[feature];
    let FeatureKind::Category { values } = &described.kind else { return Ok(to.to_vec()) };
    let Some(listed) = &own.moves else {
        let fixed = own.change == Direction::Fixed;
        return Ok(to.iter().copied().filter(|&target| !fixed || target == from).collect());
    };
    let mut permitted = vec![from];
    for target in values.get(from).and_then(|name| listed.get(name)).into_iter().flatten() {
        permitted.push(index_of(values, target, &described.column)?);
    }
    Ok(to.iter().copied().filter(|target| permitted.contains(target)).collect())
}
