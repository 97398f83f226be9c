//! Who they are: the few simplest rules that describe some people among others.
//!
//! Rules are found one after the other by subgroup discovery (CN2-SD): a rule is a few conditions, added greedily while
//! its weighted relative accuracy grows,
//!
//! ```text
//! P(rule) · ( P(target | rule) − P(target) )
//! ```
//!
//! and people whom a rule covers are set aside before the next is looked for. Conditions are in original units.

use serde::Serialize;

use crate::dataset::{FeatureKind, Schema};

/// The most rules, the most conditions of one, and how many thresholds of a number are tried.
const MOST_RULES: usize = 4;
const MOST_CONDITIONS: usize = 3;
const THRESHOLDS: usize = 16;
/// A further condition must make a rule better by this factor, or it is not worth its words.
const WORTH: f64 = 1.1;
/// A rule must cover this share of the target and be this much richer in it than everybody.
const LEAST_SHARE: f64 = 0.05;
const LEAST_LIFT: f64 = 1.2;

/// One person for the learner.
#[derive(Debug, Clone, Copy)]
pub struct Described<'a> {
    /// Feature values in original units.
    pub values: &'a [f64],
    /// Whether the rules are to describe them.
    pub target: bool,
    /// How many people they stand for.
    pub weight: f64,
}

/// A rule and how well it describes its people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescribingRule {
    /// The conditions in words, all of which hold.
    pub conditions: Vec<String>,
    /// The share of the target that it covers.
    pub coverage: f64,
    /// The share of those it covers that belong to the target.
    pub precision: f64,
    /// The precision over the share of the target among everybody.
    pub lift: f64,
    /// About how many people of the target it covers.
    pub people: u64,
}

/// A test of one feature.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Test {
    AtMost(f64),
    AtLeast(f64),
    Is(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Condition {
    feature: usize,
    test: Test,
}

impl Condition {
    fn holds(&self, values: &[f64]) -> bool {
        let value = values[self.feature];
        match self.test {
            Test::AtMost(bound) => value <= bound,
            Test::AtLeast(bound) => value >= bound,
            Test::Is(category) => value == category,
        }
    }
}

/// The weight of some people and of the target among them.
#[derive(Debug, Clone, Copy, Default)]
struct Mass {
    target: f64,
    all: f64,
}

impl Mass {
    fn of<'a>(people: impl Iterator<Item = &'a Described<'a>>) -> Self {
        people.fold(Self::default(), |mass, person| Self {
            target: mass.target + if person.target { person.weight } else { 0.0 },
            all: mass.all + person.weight,
        })
    }

    fn rate(self) -> f64 {
        if self.all > 0.0 { self.target / self.all } else { 0.0 }
    }

    /// P(rule)·(P(target | rule) − P(target)) of a part of these people.
    fn relative_accuracy(self, part: Mass) -> f64 {
        if self.all > 0.0 { part.all / self.all * (part.rate() - self.rate()) } else { 0.0 }
    }
}

/// Up to four rules that describe the target, the best first; none where no simple rule does.
pub fn describe(people: &[Described], schema: &Schema) -> Vec<DescribingRule> {
    let everybody = Mass::of(people.iter());
    let candidates = candidates(people, schema);
    let mut rest: Vec<&Described> = people.iter().collect();
    let mut found = Vec::new();
    while found.len() < MOST_RULES {
        let Some(rule) = best_rule(&rest, &candidates) else { break };
        let covers = |person: &Described| rule.iter().all(|condition| condition.holds(person.values));
        let covered = Mass::of(people.iter().filter(|person| covers(person)));
        let new = Mass::of(rest.iter().copied().filter(|person| covers(person)));
        let lift = covered.rate() / everybody.rate();
        if !(new.target >= LEAST_SHARE * everybody.target && lift >= LEAST_LIFT) {
            break;
        }
        found.push(DescribingRule {
            conditions: in_words(&rule, schema),
            coverage: covered.target / everybody.target,
            precision: covered.rate(),
            lift,
            people: covered.target.round() as u64,
        });
        rest.retain(|person| !covers(person));
    }
    found
}

/// The conjunction with the highest relative accuracy that a greedy search finds.
fn best_rule(people: &[&Described], candidates: &[Condition]) -> Option<Vec<Condition>> {
    let all = Mass::of(people.iter().copied());
    let mut covered = people.to_vec();
    let mut rule: Vec<Condition> = Vec::new();
    let mut best = 0.0;
    while rule.len() < MOST_CONDITIONS {
        let value = |condition: &Condition| {
            all.relative_accuracy(Mass::of(covered.iter().copied().filter(|person| condition.holds(person.values))))
        };
        let mut top: Option<(f64, Condition)> = None;
        for condition in candidates {
            let value = value(condition);
            if top.is_none_or(|(highest, _)| value > highest) {
                top = Some((value, *condition));
            }
        }
        match top {
            Some((value, condition)) if value > (best * WORTH).max(1e-9) => {
                best = value;
                rule.push(condition);
                covered.retain(|person| condition.holds(person.values));
            }
            _ => break,
        }
    }
    (!rule.is_empty()).then_some(rule)
}

/// Every condition that rules may have.
fn candidates(people: &[Described], schema: &Schema) -> Vec<Condition> {
    let mut all = Vec::new();
    for (feature, described) in schema.features.iter().enumerate() {
        let mut values: Vec<f64> = people.iter().map(|person| person.values[feature]).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut distinct = values.clone();
        distinct.dedup();
        if distinct.len() < 2 {
            continue;
        }
        let tests: Vec<Test> = match &described.kind {
            FeatureKind::YesNo { .. } | FeatureKind::Category { .. } => distinct.into_iter().map(Test::Is).collect(),
            kind => {
                let bounds = thresholds(&values, distinct, matches!(kind, FeatureKind::Number));
                bounds.into_iter().flat_map(|bound| [Test::AtMost(bound), Test::AtLeast(bound)]).collect()
            }
        };
        all.extend(tests.into_iter().map(|test| Condition { feature, test }));
    }
    all
}

/// Values to split at: all of them where they are few, else quantiles; real numbers in three digits.
fn thresholds(sorted: &[f64], distinct: Vec<f64>, rounded: bool) -> Vec<f64> {
    let mut bounds = if distinct.len() <= 2 * THRESHOLDS {
        distinct
    } else {
        (1..THRESHOLDS).map(|step| sorted[step * sorted.len() / THRESHOLDS]).collect()
    };
    if rounded {
        bounds.iter_mut().for_each(|bound| *bound = format!("{bound:.2e}").parse().unwrap_or(*bound));
    }
    bounds.dedup();
    bounds
}

/// The conditions in words; two bounds of one feature become one phrase.
fn in_words(rule: &[Condition], schema: &Schema) -> Vec<String> {
    let mut features: Vec<usize> = rule.iter().map(|condition| condition.feature).collect();
    features.sort_unstable();
    features.dedup();
    let phrase = |feature: usize| {
        let tests =
            || rule.iter().filter(move |condition| condition.feature == feature).map(|condition| condition.test);
        let low = tests().filter_map(|test| if let Test::AtLeast(bound) = test { Some(bound) } else { None });
        let high = tests().filter_map(|test| if let Test::AtMost(bound) = test { Some(bound) } else { None });
        let (low, high) = (low.reduce(f64::max), high.reduce(f64::min));
        let described = &schema.features[feature];
        let unit = described.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
        let show = |value: f64| schema.show(feature, value);
        let says = match (low, high, tests().next()) {
            (Some(low), Some(high), _) if low == high => format!("is {}{unit}", show(low)),
            (Some(low), Some(high), _) => format!("from {} to {}{unit}", show(low), show(high)),
            (Some(low), None, _) => format!("at least {}{unit}", show(low)),
            (None, Some(high), _) => format!("at most {}{unit}", show(high)),
            (None, None, Some(Test::Is(value))) => format!("is {}", show(value)),
            (None, None, _) => String::new(),
        };
        format!("{} {says}", described.label)
    };
    features.into_iter().map(phrase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Feature;

    fn schema() -> Schema {
        let feature = |column: &str, kind| Feature {
            column: column.into(),
            label: column.into(),
            unit: (column == "age").then(|| "years".to_owned()),
            kind,
            fill: None,
        };
        let jobs = FeatureKind::Category { values: vec!["clerk".into(), "none".into(), "smith".into()] };
        Schema { features: vec![feature("age", FeatureKind::Integer), feature("job", jobs)] }
    }

    /// 60 ages × 3 jobs; the target are people below 25 without a job, and nobody else.
    fn people() -> Vec<(Vec<f64>, bool)> {
        let all = (18..78).flat_map(|age| (0..3).map(move |job| (f64::from(age), f64::from(job))));
        all.map(|(age, job)| (vec![age, job], age < 25.0 && job == 1.0)).collect()
    }

    #[test]
    fn a_planted_rule_is_found_in_its_own_words() {
        let rows = people();
        let people: Vec<Described> =
            rows.iter().map(|(values, target)| Described { values, target: *target, weight: 10.0 }).collect();
        let found = describe(&people, &schema());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].conditions[1], "job is none");
        assert!(found[0].conditions[0].starts_with("age at most 2"), "{found:?}");
        assert!(found[0].coverage > 0.85 && found[0].precision > 0.85, "{found:?}");
        assert!((found[0].lift - found[0].precision / (7.0 / 180.0)).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_said_where_there_is_nothing_to_say() {
        let rows: Vec<Vec<f64>> = people().into_iter().map(|(values, _)| values).collect();
        let halves = |index: usize| Described { values: &rows[index], target: index.is_multiple_of(2), weight: 1.0 };
        let people: Vec<Described> = (0..rows.len()).map(halves).collect();
        assert!(describe(&people, &schema()).iter().all(|rule| rule.lift < 2.0));
        assert_eq!(describe(&[], &schema()), []);
        let none: Vec<Described> = rows.iter().map(|values| Described { values, target: false, weight: 1.0 }).collect();
        assert_eq!(describe(&none, &schema()), []);
    }
}
