//! People before and after: what one person would change, and what it does to the score.

use maud::{Markup, html};

use crate::number;
use crate::table::Tone;

/// One change of one feature, in the person's own units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// What changes.
    pub feature: String,
    /// From here.
    pub from: String,
    /// To there.
    pub to: String,
    /// The unit: "hours per week".
    pub unit: Option<String>,
}

impl Change {
    /// A change without a unit.
    pub fn new(feature: impl Into<String>, from: impl Into<String>, to: impl Into<String>) -> Change {
        Change { feature: feature.into(), from: from.into(), to: to.into(), unit: None }
    }

    /// The same change with a unit.
    pub fn unit(self, unit: impl Into<String>) -> Change {
        Change { unit: Some(unit.into()), ..self }
    }
}

/// A person: who they are, what they would change, and where it takes them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Person {
    /// "Person 17", "Row 4,021".
    pub name: String,
    /// What stays as it is, in a line: "42 years · women · sales".
    pub facts: Option<String>,
    /// The outcome in words: "Can reach approval", "Proven: no allowed change leads to a yes".
    pub outcome: String,
    /// The outcome's tone.
    pub tone: Tone,
    /// What the person would change; empty if nothing would do.
    pub changes: Vec<Change>,
    /// The score before, from 0 to 1.
    pub before: Option<f64>,
    /// The score after the changes.
    pub after: Option<f64>,
    /// The score that is needed.
    pub threshold: Option<f64>,
    /// A last remark: the cost, the other way.
    pub note: Option<String>,
}

impl Person {
    /// A person with an outcome.
    pub fn new(name: impl Into<String>, tone: Tone, outcome: impl Into<String>) -> Person {
        Person { name: name.into(), tone, outcome: outcome.into(), ..Person::default() }
    }

    /// The same person with what stays as it is.
    pub fn facts(self, facts: impl Into<String>) -> Person {
        Person { facts: Some(facts.into()), ..self }
    }

    /// The same person with one more change.
    pub fn change(mut self, change: Change) -> Person {
        self.changes.push(change);
        self
    }

    /// The same person with scores before and after, and the one that is needed.
    pub fn scores(self, before: f64, after: Option<f64>, threshold: f64) -> Person {
        Person { before: Some(before), after, threshold: Some(threshold), ..self }
    }

    /// The same person with a last remark.
    pub fn note(self, note: impl Into<String>) -> Person {
        Person { note: Some(note.into()), ..self }
    }

    pub(super) fn markup(&self) -> Markup {
        html! {
            li.person {
                div.who { h3 { (self.name) } span class={ "badge " (self.tone.class()) } { (self.outcome) } }
                @if let Some(facts) = &self.facts { p.facts { (facts) } }
                @if !self.changes.is_empty() {
                    dl.changes {
                        @for change in &self.changes {
                            div {
                                dt { (change.feature) }
                                dd {
                                    span.from { (change.from) }
                                    span.arrow aria-hidden="true" { " → " }
                                    span.spoken { " to " }
                                    strong { (change.to) }
                                    @if let Some(unit) = &change.unit { span.unit { " " (unit) } }
                                }
                            }
                        }
                    }
                }
                (self.score_markup())
                @if let Some(note) = &self.note { p.remark { (note) } }
            }
        }
    }

    /// The score on its way to the threshold: a track from 0 to 1 with what was, what would be and what is needed.
    fn score_markup(&self) -> Markup {
        let Some(before) = self.before.filter(|score| score.is_finite()) else { return html! {} };
        let after = self.after.filter(|score| score.is_finite());
        let threshold = self.threshold.filter(|score| score.is_finite());
        let at = |score: f64| format!("{:.1}", 6.0 + score.clamp(0.0, 1.0) * 288.0);
        html! {
            div.score {
                svg.track viewBox="0 0 300 20" aria-hidden="true" preserveAspectRatio="none" {
                    line.rail x1="6" x2="294" y1="10" y2="10" {}
                    @if let Some(after) = after { line.way x1=(at(before)) x2=(at(after)) y1="10" y2="10" {} }
                    @if let Some(threshold) = threshold { line.need x1=(at(threshold)) x2=(at(threshold)) y1="2" y2="18" {} }
                    circle.was cx=(at(before)) cy="10" r="4.5" {}
                    @if let Some(after) = after { circle.then cx=(at(after)) cy="10" r="5.5" {} }
                }
                p {
                    "Score " (number::fixed(before, 2))
                    @if let Some(after) = after {
                        span.arrow aria-hidden="true" { " → " }
                        span.spoken { " to " }
                        strong { (number::fixed(after, 2)) }
                    }
                    @if let Some(threshold) = threshold { span.needed { "needed " (number::fixed(threshold, 2)) } }
                }
            }
        }
    }
}
