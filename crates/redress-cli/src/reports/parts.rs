//! Pieces that several reports share.

use redress::{
    audit::curve::CurvePoint,
    calibrate::Certificate,
    policy::{Direction, FeatureRule, Policy},
    recourse::{Explanation, Outcome},
};
use redress_report::{
    Block, Change, Person, Section, Tone,
    chart::{Axis, LineChart, Reference, Series},
    document::Rule,
};

/// "Who may change what": the policy in plain words.
pub fn policy_section(policy: &Policy) -> Section {
    let section = Section::new("Who may change what")
        .id("policy")
        .lead("Every action that redress suggests keeps to these rules, and the guarantee counts nothing else.")
        .block(rules(policy, |_| true));
    between_features(section, policy).block(Block::details("The policy file", [Block::code(policy.source.clone())]))
}

/// What a policy says about each of some features.
pub fn rules(policy: &Policy, about: impl Fn(&FeatureRule) -> bool) -> Block {
    let features = policy.features.iter().enumerate().filter(|(_, rule)| about(rule));
    let rule = |(feature, rule): (usize, &FeatureRule)| {
        let tag = match rule.action.change {
            Direction::Fixed => "fixed",
            Direction::Increase => "may go up",
            Direction::Decrease => "may go down",
            Direction::Any => "may change",
        };
        Rule::new(rule.label.clone(), policy.feature_in_words(feature)).tag(tag)
    };
    Block::Rules(features.map(rule).collect())
}

/// Adds what a policy says about several features at once.
pub fn between_features(section: Section, policy: &Policy) -> Section {
    let sentences: Vec<String> = policy.constraints_in_words().into_iter().chain(policy.links_in_words()).collect();
    if sentences.is_empty() { section } else { section.block(Block::list(sentences)) }
}

/// What a certificate does not say.
pub fn limits_section() -> Section {
    Section::new("What the guarantee does not promise").id("limits").block(Block::list([
        "It is about people like the calibration rows. Where the population shifts, calibrate again.",
        "It is about this policy. A person who may change less than it says may have no way to a yes.",
        "It counts people, not effort: a way to a yes may be long. The costs are in the audit.",
        "It is about this model's decision, not about what becomes of the person afterwards.",
    ]))
}

/// The words that reports cannot do without, for readers who meet them for the first time.
pub fn words_section() -> Section {
    let words = [
        ("recourse", "a change that the policy permits and that turns the model's no into a yes"),
        ("recourse neg", "the share of those denied who have recourse"),
        ("recourse all", "the share of everybody who is approved as they are, or has recourse"),
        (
            "score and threshold",
            "the model gives everybody a score between 0 and 1; from the threshold on the answer is yes",
        ),
        ("bound", "the highest threshold at which the guarantee still holds"),
        ("accuracy", "the share of decisions that agree with the labels, which say how it really turned out"),
        ("precision", "of those approved, the share who turned out well"),
        ("recall", "of those who turned out well, the share approved"),
        ("F1", "precision and recall in one figure, between 0 and 1: high only where both are"),
        ("λ (lambda)", "the weight that training gives to recourse; with 0 the model is an ordinary classifier"),
        (
            "95% interval",
            "where the true share lies, as far as so many people can tell: it is missed one time in twenty",
        ),
        (
            "standard deviation",
            "how much people usually differ in a feature; costs count changes in it, so that hours and euros can be added",
        ),
        (
            "one-step linear program",
            "the quick search for recourse that the guarantee counts: one straight step, as far as the policy permits",
        ),
    ];
    let rules = words.map(|(word, meaning)| Rule::new(word, meaning));
    Section::new("Words used here").id("words").block(Block::Rules(rules.to_vec()))
}

/// Recourse and, where there are labels, performance over the threshold; with the bound, where there is a certificate, and
/// the threshold in force, a score.
pub fn threshold_chart(
    curve: &[CurvePoint],
    labelled: bool,
    certificate: Option<&Certificate>,
    in_force: f64,
) -> LineChart {
    let pick = |value: fn(&CurvePoint) -> f64| curve.iter().map(|at| (at.threshold, value(at))).collect::<Vec<_>>();
    let axes = (Axis::new("threshold (score)"), Axis::percent("share"));
    let mut chart = LineChart::new("Performance and recourse by threshold", axes.0, axes.1)
        .series(Series::xy("approved or with recourse", pick(|at| at.recourse.all())))
        .series(Series::xy("recourse of those denied", pick(|at| at.recourse.neg())));
    if labelled {
        chart = chart
            .series(Series::xy("F1", pick(|at| at.performance.f1)))
            .series(Series::xy("accuracy", pick(|at| at.performance.accuracy)));
    }
    if let Some(certificate) = certificate {
        let bound = redress::calibrate::ceiling(&certificate.overall, &certificate.groups);
        chart = chart.reference(Reference::x(bound.probability(), "bound"));
    }
    chart.reference(Reference::x(in_force, "in force"))
}

/// One person before and after, as a card.
pub fn person_card(name: impl Into<String>, facts: String, explanation: &Explanation) -> Person {
    let (tone, outcome) = match explanation.outcome {
        Outcome::Approved => (Tone::Good, "approved"),
        Outcome::Recourse => (Tone::Good, "denied, with a way to a yes"),
        Outcome::NoRecourseProven => (Tone::Bad, "denied, proven to have no way"),
        Outcome::NoRecourseFound => (Tone::Warning, "denied, no way found"),
        Outcome::Unknown => (Tone::Warning, "denied, undecided within the budget"),
    };
    let way = explanation.options.first();
    let mut card = Person::new(name, tone, outcome).facts(facts).scores(
        explanation.score,
        way.map(|way| way.score_after),
        explanation.threshold,
    );
    for change in way.iter().flat_map(|way| way.changes.iter().chain(&way.consequences)) {
        let shown = Change::new(change.feature.clone(), change.from.clone(), change.to.clone());
        card = card.change(match &change.unit {
            Some(unit) => shown.unit(unit.clone()),
            None => shown,
        });
    }
    card
}
