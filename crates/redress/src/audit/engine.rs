//! The audit itself: pieces in, findings out.

use super::{
    CertificateCheck, Example, Findings, ObservedPromise, Robustness, Without,
    disparity::compare,
    likeness::likeness,
    paired::Decisions,
    rules::{Described, describe},
    sketch::{Distribution, Sample},
    tally::{Counted, GroupTallies, LeverTally, Tally},
    thresholds::ThresholdCounts,
};
use crate::{
    calibrate::{Certificate, FailureProb, Interval, clopper_pearson},
    dataset::{Piece, ReadSummary},
    feasible::SpaceError,
    policy::Overrides,
    recourse::{Absence, Advisor, Plan, Request, RequestError, Verdict, words::Slack},
    train::{Examples, Inner, InnerProblem, reach},
};

/// People worked on at a time: bounds the memory, whatever the length of a piece.
const CHUNK: usize = 8_192;
/// The sizes of the samples, and the seed that draws them.
const SAMPLE: usize = 4_096;
const SEED: u64 = 0x6175_6469_7421;
/// Plans whose robustness is measured.
const PLANS: usize = 1_000;
/// People shown as examples: with a way to a yes, and without.
const SHOWN_WITH: usize = 3;
const SHOWN_WITHOUT: usize = 1;
/// Steps of the threshold curve.
const CURVE_STEPS: usize = 100;

/// How an audit is made.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditSettings {
    /// How recourse is looked for, and what may be spent on each person. One plan a person is asked for.
    pub request: Request,
    /// α of intervals and of the disparities.
    pub alpha: FailureProb,
    /// Group columns, as the pieces have them.
    pub groups: Vec<String>,
}

/// Why there are no findings.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AuditError {
    /// No row is left.
    #[error("there is nobody to audit: {0}")]
    Nobody(String),
    /// A group of one person.
    #[error(
        "the group {column} = {value} has only 1 person: nothing can be said about it without saying it about them"
    )]
    GroupOfOne {
        /// The group column.
        column: String,
        /// The group.
        value: String,
    },
    /// A column of too many values.
    #[error("column \"{column}\" has more than {most} different values, so that it names no groups")]
    TooManyGroups {
        /// The group column.
        column: String,
        /// The most there may be.
        most: usize,
    },
    /// People who cannot be judged.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A person who makes no feasible set.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// Somebody who was drawn.
#[derive(Debug, Clone)]
struct Drawn {
    row: usize,
    values: Vec<f64>,
    overrides: Option<Overrides>,
    plan: Option<Plan>,
    proven: bool,
}

/// An audit in progress.
///
/// ```text
/// Audit::new(advisor, settings, certificate) ─ add(piece) … add(piece) ─► finish(summary) = Findings
/// ```
pub struct Audit<'a> {
    advisor: &'a Advisor,
    settings: AuditSettings,
    labelled: bool,
    everybody: Tally,
    groups: Vec<GroupTallies>,
    levers: Vec<LeverTally>,
    thresholds: ThresholdCounts,
    with: Sample<Drawn>,
    without: Sample<Drawn>,
    approved: Sample<Vec<f64>>,
    decisions: Option<Decisions>,
}

impl<'a> Audit<'a> {
    /// An audit of nobody yet.
    pub fn new(advisor: &'a Advisor, settings: AuditSettings) -> Self {
        let levers = advisor.space().levers().iter().map(|lever| LeverTally::new(lever.feature));
        Self {
            labelled: true,
            everybody: Tally::default(),
            groups: settings.groups.iter().map(|column| GroupTallies::new(column)).collect(),
            levers: levers.collect(),
            thresholds: ThresholdCounts::new(CURVE_STEPS),
            with: Sample::new(SAMPLE, SEED),
            without: Sample::new(SAMPLE, SEED + 1),
            approved: Sample::new(SAMPLE, SEED + 2),
            decisions: None,
            advisor,
            settings,
        }
    }

    /// Keeps what is decided about each row, a byte a row, so that two models can be compared person by person.
    pub fn keeping_decisions(mut self) -> Self {
        self.decisions = Some(Decisions::default());
        self
    }

    /// What was decided about each row so far; nothing unless that is kept.
    pub fn take_decisions(&mut self) -> Decisions {
        self.decisions.take().unwrap_or_default()
    }

    /// Adds the rows of a piece. `keep_going` is asked now and then, and ends the work when it says no.
    pub fn add(&mut self, piece: &Piece, keep_going: &dyn Fn(usize) -> bool) -> Result<(), AuditError> {
        self.labelled &= piece.labels.is_some();
        let rows: Vec<usize> = (0..piece.people.len()).collect();
        for chunk in rows.chunks(CHUNK) {
            self.add_chunk(piece, chunk)?;
            if !keep_going(chunk.len()) {
                break;
            }
        }
        Ok(())
    }

    /// People who were added so far.
    pub fn people(&self) -> u64 {
        self.everybody.outcomes.people
    }

    fn add_chunk(&mut self, piece: &Piece, rows: &[usize]) -> Result<(), AuditError> {
        let (space, model, threshold) = (self.advisor.space(), self.advisor.model(), self.advisor.threshold());
        let people = piece.people.subset(rows);
        let label = |index: usize| piece.labels.as_ref().map(|labels| labels[rows[index]]);
        let examples = Examples {
            points: space.encoding().encode_all(&people),
            labels: vec![false; people.len()],
            inner: InnerProblem::new(space, &people)?,
        };
        let reached = reach(model, &examples, &Inner::default());
        let denied: Vec<usize> = (0..people.len()).filter(|&row| !threshold.approves(reached.logits[row])).collect();
        let answers = self.advisor.verdicts(&people.subset(&denied), &self.settings.request)?;
        let mut verdicts: Vec<Option<&Verdict>> = vec![None; people.len()];
        denied.iter().zip(&answers).for_each(|(&row, verdict)| verdicts[row] = Some(verdict));

        let counted: Vec<Counted> = (0..people.len())
            .map(|row| Counted {
                verdict: verdicts[row],
                reached: threshold.approves(reached.logits[row].max(reached.moved[row])),
                label: label(row),
            })
            .collect();
        for (row, person) in counted.iter().enumerate() {
            self.everybody.add(*person);
            self.thresholds.add(reached.logits[row], reached.moved[row], person.label == Some(true));
            let values = people.row(row);
            let source = people.source_rows[row];
            if let Some(decisions) = &mut self.decisions {
                decisions.add(source, *person);
            }
            match person.verdict {
                None => self.approved.offer(source as u64, || values.to_vec()),
                Some(verdict) => {
                    let plan = verdict.plan();
                    let sample = if plan.is_some() { &mut self.with } else { &mut self.without };
                    sample.offer(source as u64, || Drawn {
                        row: source,
                        values: values.to_vec(),
                        overrides: people.overrides.get(row).cloned(),
                        plan: plan.cloned(),
                        proven: matches!(verdict, Verdict::NoRecourse(Absence::Proven { .. })),
                    });
                    if let Some(plan) = plan {
                        self.levers.iter_mut().for_each(|lever| lever.add(values, plan.values()));
                    }
                }
            }
        }
        for (tallies, column) in self.groups.iter_mut().zip(&piece.groups) {
            tallies.add(column, rows.iter().copied().zip(counted.iter().copied()))?;
        }
        Ok(())
    }

    /// What was found. `rows` says what happened to the rows of the file; `certificate` is held against what was seen.
    pub fn finish(
        self,
        rows: ReadSummary,
        certificate: Option<(&Certificate, Vec<String>)>,
    ) -> Result<Findings, AuditError> {
        let alpha = self.settings.alpha;
        self.check(&rows)?;
        let schema = self.advisor.space().encoding().schema().clone();
        let plans = self.everybody.outcomes.recourse;
        let mut levers: Vec<_> = self.levers.iter().map(|lever| lever.findings(&schema, plans)).collect();
        levers.sort_by_key(|lever| std::cmp::Reverse(lever.plans));
        let comparisons: Vec<_> = self.groups.iter().flat_map(GroupTallies::comparisons).collect();
        let groups = self.groups.iter().flat_map(|column| {
            column.groups.iter().map(|(value, tally)| tally.findings(&column.column, value, self.labelled, alpha))
        });
        let groups = groups.collect();
        let certificate = certificate.map(|(certificate, faults)| self.certificate_check(certificate, faults));
        let (everybody, labelled) = (self.everybody.findings("", "", self.labelled, alpha), self.labelled);
        let mut curve = self.thresholds.curve();
        if !labelled {
            curve.iter_mut().for_each(|point| point.performance = Default::default());
        }
        let (with_seen, without_seen) = (self.with.seen(), self.without.seen());
        let (with, without) = (self.with.into_vec(), self.without.into_vec());
        let sampled = Sampled { advisor: self.advisor, request: self.settings.request, with: &with, without: &without };
        Ok(Findings {
            rows,
            method: self.settings.request.method,
            threshold: self.advisor.threshold().probability(),
            alpha: alpha.get(),
            disparities: compare(&comparisons, alpha),
            groups,
            levers,
            without: sampled.without(&self.everybody.outcomes, (with_seen, without_seen), alpha),
            robustness: sampled.robustness()?,
            likeness: sampled.likeness(&self.approved.into_vec(), alpha),
            examples: sampled.examples()?,
            everybody,
            curve,
            certificate,
        })
    }

    /// Refuses what no figure can be stated about.
    fn check(&self, rows: &ReadSummary) -> Result<(), AuditError> {
        if self.everybody.outcomes.people == 0 {
            return Err(AuditError::Nobody(match rows.table_rows {
                0 => "the file has a header but no rows".to_owned(),
                all => format!("all of {all} rows miss a value or were filtered out"),
            }));
        }
        for tallies in &self.groups {
            if let Some((value, _)) = tallies.groups.iter().find(|(_, tally)| tally.outcomes.people == 1) {
                return Err(AuditError::GroupOfOne { column: tallies.column.clone(), value: value.clone() });
            }
        }
        Ok(())
    }

    /// Holds the certificate's promise against the shares seen. All intervals hold at once with confidence 1 − α.
    fn certificate_check(&self, certificate: &Certificate, faults: Vec<String>) -> CertificateCheck {
        let promised = 1.0 - certificate.overall.epsilon.get();
        let audited = |column: &str, value: &str| {
            self.groups.iter().find(|tallies| tallies.column == column).and_then(|tallies| tallies.groups.get(value))
        };
        let named = certificate.groups.iter().filter_map(|group| {
            Some((format!("{} = {}", group.column, group.value), audited(&group.column, &group.value)?))
        });
        let all: Vec<(String, &Tally)> =
            std::iter::once(("everybody".to_owned(), &self.everybody)).chain(named).collect();
        let alpha = self.settings.alpha.shared(all.len());
        let observed: Vec<ObservedPromise> = all
            .into_iter()
            .map(|(who, tally)| {
                let observed = clopper_pearson(tally.reached, tally.outcomes.people, alpha);
                ObservedPromise { who, observed, holds: observed.high >= promised }
            })
            .collect();
        let holds = faults.is_empty() && observed.iter().all(|promise| promise.holds);
        CertificateCheck { sentence: certificate.sentence(), promised, faults, observed, holds }
    }
}

/// What rests on samples.
struct Sampled<'a> {
    advisor: &'a Advisor,
    request: Request,
    with: &'a [Drawn],
    without: &'a [Drawn],
}

impl Sampled<'_> {
    /// Who has no way to a yes, among those denied.
    fn without(&self, outcomes: &super::Outcomes, seen: (u64, u64), alpha: FailureProb) -> Without {
        let share = |count: u64| -> Interval { clopper_pearson(count, outcomes.people, alpha) };
        let about_proven = outcomes.proven_without > 0;
        let weight = |seen: u64, drawn: &[Drawn]| seen as f64 / drawn.len().max(1) as f64;
        let (with_weight, without_weight) = (weight(seen.0, self.with), weight(seen.1, self.without));
        let others =
            self.with.iter().map(|drawn| Described { values: &drawn.values, target: false, weight: with_weight });
        let targets = self.without.iter().map(|drawn| Described {
            values: &drawn.values,
            target: !about_proven || drawn.proven,
            weight: without_weight,
        });
        let people: Vec<Described> = others.chain(targets).collect();
        Without {
            proven: share(outcomes.proven_without),
            undecided: share(outcomes.not_found + outcomes.unknown),
            rules_are_about_proven: about_proven,
            rules: describe(&people, self.advisor.space().encoding().schema()),
        }
    }

    fn robustness(&self) -> Result<Option<Robustness>, AuditError> {
        let mut margin = Distribution::default();
        let (mut noise, mut step, mut plans) = (0.0, 0usize, 0usize);
        for drawn in self.with.iter().take(PLANS) {
            let Some(plan) = &drawn.plan else { continue };
            let feasible = self.advisor.space().feasible(&drawn.values, drawn.overrides.as_ref())?;
            let slack = Slack::of(&self.advisor.case(&feasible), plan);
            margin.add(slack.margin);
            noise += slack.survives_noise;
            step += usize::from(slack.survives_one_step);
            plans += 1;
        }
        Ok(margin.quantiles().map(|margin| Robustness {
            plans,
            survives_noise: noise / plans as f64,
            survives_step: step as f64 / plans as f64,
            margin,
        }))
    }

    fn likeness(&self, approved: &[Vec<f64>], alpha: FailureProb) -> Option<super::likeness::Likeness> {
        let encoding = self.advisor.space().encoding();
        let encode = |people: &mut dyn Iterator<Item = &[f64]>| {
            let mut points = Vec::new();
            for values in people {
                let start = points.len();
                points.resize(start + encoding.width(), 0.0);
                encoding.encode(values, &mut points[start..]);
            }
            points
        };
        let recommended = encode(&mut self.with.iter().filter_map(|drawn| Some(drawn.plan.as_ref()?.values())));
        let approved = encode(&mut approved.iter().map(Vec::as_slice));
        likeness(&recommended, &approved, encoding.width(), alpha)
    }

    fn examples(&self) -> Result<Vec<Example>, AuditError> {
        let schema = self.advisor.space().encoding().schema();
        let shown = self.with.iter().take(SHOWN_WITH).chain(self.without.iter().take(SHOWN_WITHOUT));
        shown
            .map(|drawn| {
                let explanation = self.advisor.explain(&drawn.values, drawn.overrides.as_ref(), &self.request)?;
                let fact = |(feature, value): (usize, &f64)| {
                    (schema.features[feature].label.clone(), schema.show_about(feature, *value))
                };
                Ok(Example { row: drawn.row, facts: drawn.values.iter().enumerate().map(fact).collect(), explanation })
            })
            .collect()
    }
}
