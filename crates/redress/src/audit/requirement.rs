//! What an audit must show: `recourse_all>=0.95`.

use std::{fmt, str::FromStr};

use serde::Serialize;

use super::Findings;

/// A requirement on an audit's findings.
///
/// ```
/// use redress::audit::Requirement;
/// let everybody: Requirement = "recourse_all >= 0.95".parse()?;
/// let each_group: Requirement = "recourse_neg[sex] >= 0.5".parse()?;
/// let one_group: Requirement = "approval[race=Black] >= 0.2".parse()?;
/// let between: Requirement = "recourse_all_gap[sex] <= 0.05".parse()?;
/// assert!("recourse_al >= 0.95".parse::<Requirement>().is_err());
/// # Ok::<(), redress::audit::RequirementError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    text: String,
    metric: &'static Metric,
    scope: Scope,
    relation: Relation,
    bound: f64,
}

/// A requirement against what was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequirementCheck {
    /// The requirement, as written.
    pub requirement: String,
    /// What was found; where it is required of each group, the worst of them.
    pub found: f64,
    /// The group it was found in, where groups are compared.
    pub who: Option<String>,
    /// Whether it holds.
    pub holds: bool,
}

/// Whom a requirement is about.
#[derive(Debug, Clone, PartialEq)]
enum Scope {
    Everybody,
    /// Every group of a column.
    Column(String),
    Group(String, String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    AtLeast,
    AtMost,
    Above,
    Below,
}

/// A figure that can be required.
#[derive(Debug)]
struct Metric {
    name: &'static str,
    value: Value,
}

#[derive(Debug)]
enum Value {
    /// One figure for each group, and for everybody.
    Grouped(fn(&super::GroupFindings) -> Option<f64>),
    /// The largest difference between the groups of a column.
    Gap(fn(&super::GroupFindings) -> Option<f64>),
    /// One figure for the audit.
    Overall(fn(&Findings) -> Option<f64>),
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The figures that can be required, in the order in which help lists them.
const METRICS: [Metric; 17] = [
    Metric { name: "recourse_all", value: Value::Grouped(|group| Some(group.recourse_all.rate)) },
    Metric { name: "recourse_neg", value: Value::Grouped(|group| Some(group.neg())) },
    Metric { name: "approval", value: Value::Grouped(|group| Some(group.approval.rate)) },
    Metric { name: "no_recourse", value: Value::Grouped(|group| Some(1.0 - group.recourse_all.rate)) },
    Metric { name: "cost_median", value: Value::Grouped(|group| group.cost.map(|cost| cost.p50)) },
    Metric { name: "f1", value: Value::Grouped(|group| group.performance.map(|figures| figures.f1)) },
    Metric { name: "accuracy", value: Value::Grouped(|group| group.performance.map(|figures| figures.accuracy)) },
    Metric { name: "precision", value: Value::Grouped(|group| group.performance.map(|figures| figures.precision)) },
    Metric { name: "recall", value: Value::Grouped(|group| group.performance.map(|figures| figures.recall)) },
    Metric { name: "recourse_all_gap", value: Value::Gap(|group| Some(group.recourse_all.rate)) },
    Metric { name: "recourse_neg_gap", value: Value::Gap(|group| Some(group.neg())) },
    Metric { name: "approval_gap", value: Value::Gap(|group| Some(group.approval.rate)) },
    Metric { name: "accuracy_gap", value: Value::Gap(|group| group.performance.map(|figures| figures.accuracy)) },
    Metric { name: "survives_noise", value: Value::Overall(|all| all.robustness.map(|found| found.survives_noise)) },
    Metric { name: "survives_step", value: Value::Overall(|all| all.robustness.map(|found| found.survives_step)) },
    Metric { name: "disparities", value: Value::Overall(|all| Some(all.flagged().count() as f64)) },
    Metric {
        name: "two_sample_accuracy",
        value: Value::Overall(|all| all.likeness.as_ref()?.two_sample.map(|found| found.rate)),
    },
];

/// A requirement that cannot be read, or that the audit says nothing about.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequirementError {
    /// It is not METRIC, relation, number.
    #[error("--require \"{text}\": {fault}; {GRAMMAR}")]
    Malformed {
        /// As written.
        text: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The audit has no such figure.
    #[error("--require \"{text}\": {fault}")]
    Unanswered {
        /// As written.
        text: String,
        /// Why not.
        fault: String,
    },
}

/// The grammar in a line.
const GRAMMAR: &str = "write METRIC, a relation (>=, <=, > or <) and a number, such as \"recourse_all>=0.95\", \
                       \"recourse_neg[sex]>=0.5\" for every group of a column, \"approval[sex=Female]>=0.2\" for one \
                       group, or \"recourse_all_gap[sex]<=0.05\" for the largest difference between groups";

impl FromStr for Requirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, RequirementError> {
        let malformed = |fault: String| RequirementError::Malformed { text: text.to_owned(), fault };
        let outside = text.find(']').unwrap_or(0);
        let at = text[outside..].find(['<', '>']).map(|at| at + outside);
        let at = at.ok_or_else(|| malformed("it has no relation".to_owned()))?;
        let (left, right) = text.split_at(at);
        let (relation, number) =
            [(">=", Relation::AtLeast), ("<=", Relation::AtMost), (">", Relation::Above), ("<", Relation::Below)]
                .into_iter()
                .find_map(|(sign, relation)| Some((relation, right.strip_prefix(sign)?)))
                .ok_or_else(|| malformed("it has no relation".to_owned()))?;
        let number = number.trim();
        let bound: f64 = match number.strip_suffix('%') {
            Some(percent) => percent.trim().parse().map(|value: f64| value / 100.0),
            None => number.parse(),
        }
        .map_err(|_| malformed(format!("\"{number}\" is not a number")))?;
        if !bound.is_finite() {
            return Err(malformed(format!("\"{number}\" is not a number")));
        }
        let (name, scope) = scope(left.trim()).ok_or_else(|| malformed("its brackets do not close".to_owned()))?;
        let metric = METRICS.iter().find(|metric| metric.name == name).ok_or_else(|| malformed(unknown(name)))?;
        match (&metric.value, &scope) {
            (Value::Gap(_), Scope::Everybody | Scope::Group(..)) => {
                Err(malformed(format!("{name} compares the groups of a column: write {name}[COLUMN]")))
            }
            (Value::Overall(_), Scope::Column(_) | Scope::Group(..)) => {
                Err(malformed(format!("{name} is one figure for everybody: leave the brackets out")))
            }
            _ => Ok(Self { text: text.to_owned(), metric, scope, relation, bound }),
        }
    }
}

/// `name`, `name[column]` or `name[column=group]`.
fn scope(left: &str) -> Option<(&str, Scope)> {
    let Some((name, rest)) = left.split_once('[') else {
        return (!left.contains(']')).then_some((left, Scope::Everybody));
    };
    let inside = rest.strip_suffix(']')?;
    let scope = match inside.split_once('=') {
        Some((column, group)) => Scope::Group(column.trim().to_owned(), group.trim().to_owned()),
        None => Scope::Column(inside.trim().to_owned()),
    };
    Some((name.trim(), scope))
}

/// What to say about a name that is no metric.
fn unknown(name: &str) -> String {
    let names = METRICS.iter().map(|metric| metric.name);
    match crate::policy::nearest(name, names.clone()) {
        Some(near) => format!("there is no metric \"{name}\"; did you mean \"{near}\"?"),
        None => format!("there is no metric \"{name}\"; there are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

impl Requirement {
    /// The group columns that it needs the audit to have looked at.
    pub fn column(&self) -> Option<&str> {
        match &self.scope {
            Scope::Everybody => None,
            Scope::Column(column) | Scope::Group(column, _) => Some(column),
        }
    }

    /// Holds the requirement against what was found.
    pub fn check(&self, findings: &Findings) -> Result<RequirementCheck, RequirementError> {
        let unanswered = |fault: String| RequirementError::Unanswered { text: self.text.clone(), fault };
        let missing = || unanswered(format!("this audit has no {}", self.metric.name) + &self.why_missing(findings));
        let (found, who) = match (&self.metric.value, &self.scope) {
            (Value::Overall(value), _) => (value(findings).ok_or_else(missing)?, None),
            (Value::Grouped(value) | Value::Gap(value), Scope::Everybody) => {
                (value(&findings.everybody).ok_or_else(missing)?, None)
            }
            (value, Scope::Column(column)) => {
                let groups = groups_of(findings, column).map_err(unanswered)?;
                let (Value::Grouped(figure) | Value::Gap(figure)) = value else { return Err(missing()) };
                let mut figures = Vec::new();
                for group in groups {
                    if let Some(figure) = figure(group) {
                        figures.push((figure, group.value.clone()));
                    }
                }
                figures.sort_by(|a, b| a.0.total_cmp(&b.0));
                let (Some(low), Some(high)) = (figures.first(), figures.last()) else { return Err(missing()) };
                match (value, self.relation) {
                    (Value::Gap(_), _) => (high.0 - low.0, Some(format!("{} against {}", high.1, low.1))),
                    (_, Relation::AtLeast | Relation::Above) => (low.0, Some(low.1.clone())),
                    (_, Relation::AtMost | Relation::Below) => (high.0, Some(high.1.clone())),
                }
            }
            (Value::Grouped(value) | Value::Gap(value), Scope::Group(column, wanted)) => {
                let groups = groups_of(findings, column).map_err(unanswered)?;
                let known: Vec<&str> = groups.iter().map(|group| group.value.as_str()).collect();
                let group = groups.iter().find(|group| group.value == *wanted).ok_or_else(|| {
                    unanswered(format!("{column} has no group \"{wanted}\"; its groups are {}", known.join(", ")))
                })?;
                (value(group).ok_or_else(missing)?, Some(wanted.clone()))
            }
        };
        let holds = match self.relation {
            Relation::AtLeast => found >= self.bound,
            Relation::AtMost => found <= self.bound,
            Relation::Above => found > self.bound,
            Relation::Below => found < self.bound,
        };
        Ok(RequirementCheck { requirement: self.text.clone(), found, who, holds })
    }

    /// Why a figure may be missing.
    fn why_missing(&self, findings: &Findings) -> String {
        match self.metric.name {
            "f1" | "accuracy" | "precision" | "recall" | "accuracy_gap" if findings.everybody.performance.is_none() => {
                ": the file has no labels".to_owned()
            }
            _ => ": too few people have recourse to say".to_owned(),
        }
    }
}

fn groups_of<'a>(findings: &'a Findings, column: &str) -> Result<Vec<&'a super::GroupFindings>, String> {
    let groups: Vec<_> = findings.groups.iter().filter(|group| group.column == column).collect();
    if groups.is_empty() {
        return Err(format!("the audit has no groups of \"{column}\"; name it in --groups"));
    }
    Ok(groups)
}

impl fmt::Display for Requirement {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_read_in_their_three_scopes() {
        let read = |text: &str| text.parse::<Requirement>().unwrap();
        let found = read("recourse_all>=0.95");
        assert_eq!((found.scope, found.relation, found.bound), (Scope::Everybody, Relation::AtLeast, 0.95));
        let found = read(" recourse_neg [ sex ] > 50% ");
        assert_eq!((found.scope, found.relation, found.bound), (Scope::Column("sex".into()), Relation::Above, 0.5));
        let found = read("approval[income = <=50K] <= 0.2");
        assert_eq!(found.scope, Scope::Group("income".into(), "<=50K".into()));
        assert_eq!(found.column(), Some("income"));
    }

    #[test]
    fn malformed_ones_teach_the_grammar() {
        let message = |text: &str| text.parse::<Requirement>().unwrap_err().to_string();
        for (text, fault) in [
            ("recourse_all", "it has no relation"),
            ("recourse_all>=lots", "\"lots\" is not a number"),
            ("recourse_all>=NaN", "\"NaN\" is not a number"),
            ("recource_all>=0.9", "did you mean \"recourse_all\"?"),
            ("recourse_all[sex>=0.9", "its brackets do not close"),
            ("recourse_all_gap<=0.1", "write recourse_all_gap[COLUMN]"),
            ("disparities[sex]<=0", "leave the brackets out"),
        ] {
            let message = message(text);
            assert!(message.contains(fault), "{message}");
            assert!(message.contains("\"recourse_all>=0.95\""), "{message}");
        }
    }
}
