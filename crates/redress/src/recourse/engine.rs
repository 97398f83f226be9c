//! One model with its policy and threshold: decide about people, and explain the decisions.

use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    Absence, Budget, Case, Costs, Plan, Solver, Verdict,
    causal::{Causal, StructuralModel},
    exact::{Answer, Exact},
    gradient::Gradient,
    linear::LinearProgram,
    lp::Lp,
    options::options,
    rounding::rounded,
    words::{self, Slack, Way},
};
use crate::{
    calibrate::{Threshold, probability},
    dataset::People,
    feasible::{ActionSpace, FeasibleSet, SpaceError},
    model::{Model, Scorer},
    policy::Overrides,
};

/// How recourse is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Complete search with proofs; where the budget ends first, what gradient descent finds.
    #[default]
    Exact,
    /// The paper's one-step linear program.
    Lp,
    /// Gradient descent after Wachter et al.
    Gradient,
    /// LIME and the integer program of Ustun et al.
    Linear,
    /// Under the policy's causal model.
    Causal,
}

impl Method {
    /// All of them, in the order of help texts.
    pub const ALL: [Method; 5] = [Method::Exact, Method::Lp, Method::Gradient, Method::Linear, Method::Causal];

    /// Its name in commands and files.
    pub fn name(self) -> &'static str {
        match self {
            Method::Exact => "exact",
            Method::Lp => "lp",
            Method::Gradient => "gradient",
            Method::Linear => "linear",
            Method::Causal => "causal",
        }
    }
}

impl std::str::FromStr for Method {
    type Err = RequestError;

    fn from_str(text: &str) -> Result<Self, RequestError> {
        let found = Method::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| RequestError::Method { name: text.to_owned() })
    }
}

/// What is wanted for each person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// How to look.
    pub method: Method,
    /// How many different plans to return at most; at least 1.
    pub options: usize,
    /// What may be spent on each person, by all that is tried for them together. Saying the decision itself is one
    /// evaluation more, and putting a plan that was found into words at most [`words::evaluations`].
    pub budget: Budget,
    /// Whether to say how much room for error each plan leaves: 200 evaluations a plan, most of the time that a table of
    /// people takes.
    pub slack: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self { method: Method::default(), options: 1, budget: Budget::default(), slack: true }
    }
}

/// A request that cannot be met, or a person whom it cannot be met for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// No options were asked for.
    #[error("0 options were asked for: ask for at least 1")]
    NoOptions,
    /// A method of another name.
    #[error("there is no method `{name}`; there are exact, lp, gradient, linear and causal")]
    Method {
        /// As written.
        name: String,
    },
    /// The causal method without a causal model.
    #[error("the policy has no [causal] section: the causal method needs one")]
    NoCausalModel,
    /// People of another schema than the model's.
    #[error("the people have other features ({found}) than the model ({expected})")]
    OtherSchema {
        /// Their columns.
        found: String,
        /// The model's columns.
        expected: String,
    },
    /// The model takes points of another width than the encoding makes.
    #[error("the model takes {model} inputs, the encoding makes {encoding}")]
    Width {
        /// The model's inputs.
        model: usize,
        /// The encoding's columns.
        encoding: usize,
    },
    /// A person or an override that makes no feasible set.
    #[error("row {row}: {error}")]
    Person {
        /// The row of the input, from 1.
        row: usize,
        /// What is wrong.
        error: SpaceError,
    },
}

/// What came of it, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The model says yes already.
    Approved,
    /// There is a way to a yes.
    Recourse,
    /// There is none: proven.
    NoRecourseProven,
    /// None was found.
    NoRecourseFound,
    /// The budget ran out first.
    Unknown,
}

/// A decision about one person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// The logit.
    pub logit: f32,
    /// Whether it is a yes.
    pub approved: bool,
}

/// A decision about one person and what would change it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// What came of it.
    pub outcome: Outcome,
    /// The score, as a probability.
    pub score: f64,
    /// The score from which it is a yes, as a probability.
    pub threshold: f64,
    /// The ways to a yes, ranked.
    pub options: Vec<Way>,
    /// The highest score that is known to be reachable, as a probability.
    pub best_score: f64,
    /// For a proof: no permitted change leads to a score above this, as a probability.
    pub proven_bound: Option<f64>,
    /// The method that gave the answer: gradient where exact search ran out of its budget.
    pub method: Method,
    /// The names of the features that the policy never asks to change.
    pub fixed: Vec<String>,
    /// The verdict itself, with plans as actions. Numbers that move freely are rounded where a yes and the cost allow.
    #[serde(skip)]
    pub verdict: Verdict,
}

/// A model with its policy, its threshold and what changes cost.
///
/// ```
/// # use std::sync::Arc;
/// # use redress::{dataset::{Dataset, Feature, FeatureKind, People, Schema}, encoding::Encoding, policy::Policy};
/// # use redress::{calibrate::Threshold, feasible::{ActionSpace, Lattice}, model::{Linear, Model}};
/// use redress::recourse::{Advisor, Costs, Measure, Outcome, Request};
/// # let policy = Policy::parse("\
/// # [data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = \"1\"\n\
/// # [features.hours]\nkind = \"integer\"\nchange = \"increase\"\nmax_change = 10\n", "p").unwrap();
/// # let kind = FeatureKind::Integer;
/// # let hours = Feature { column: "hours".into(), label: "hours".into(), unit: None, kind, fill: None };
/// # let schema = Arc::new(Schema { features: vec![hours] });
/// # let people = People { schema, values: vec![30.0, 40.0, 50.0], source_rows: vec![1, 2, 3], overrides: vec![] };
/// # let train = Dataset { people: people.clone(), labels: vec![false, true, true], groups: vec![] };
/// # let encoding = Encoding::fit(&train);
/// # let model = Model::Linear(Linear::new(vec![1.0], 0.0).unwrap());
/// // A model that says yes from 40 hours on, and a policy that lets people work up to ten hours more.
/// let space = ActionSpace::new(&policy, &encoding, Lattice::AsPolicy).unwrap();
/// let costs = Costs::new(&policy, &encoding, Measure::L1);
/// let advisor = Advisor::new(model, space, Threshold::HALF, costs, None)?;
///
/// let explanation = advisor.explain(&[37.0], None, &Request::default())?;
/// assert_eq!(explanation.outcome, Outcome::Recourse);
/// assert_eq!(explanation.options[0].changes[0].to, "40");
///
/// let all = advisor.explain_all(&people, &Request::default())?; // the same answers, on every core
/// assert_eq!(all[1].outcome, Outcome::Approved);
/// # Ok::<(), redress::recourse::RequestError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Advisor {
    model: Model,
    space: ActionSpace,
    threshold: Threshold,
    costs: Costs,
    causes: Option<Arc<StructuralModel>>,
    fixed: Vec<String>,
}

impl Advisor {
    /// Puts the parts together; refuses a model that does not fit the encoding.
    pub fn new(
        model: Model,
        space: ActionSpace,
        threshold: Threshold,
        costs: Costs,
        causes: Option<StructuralModel>,
    ) -> Result<Self, RequestError> {
        let (inputs, width) = (model.inputs(), space.encoding().width());
        if inputs != width {
            return Err(RequestError::Width { model: inputs, encoding: width });
        }
        let features = space.encoding().schema().features.iter().enumerate();
        let is_fixed = |feature: usize| !space.levers().iter().any(|lever| lever.feature == feature);
        let fixed = features.filter(|(feature, _)| is_fixed(*feature)).map(|(_, named)| named.label.clone()).collect();
        Ok(Self { model, threshold, costs, causes: causes.map(Arc::new), fixed, space })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The policy, compiled.
    pub fn space(&self) -> &ActionSpace {
        &self.space
    }

    /// The threshold.
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// What changes cost.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// The decision about each person.
    pub fn decide(&self, people: &People) -> Result<Vec<Decision>, RequestError> {
        self.check_schema(people)?;
        let points = self.space.encoding().encode_all(people);
        let mut logits = vec![0.0; people.len()];
        let width = self.space.encoding().width().max(1);
        let chunks = points.par_chunks(CHUNK * width).zip(logits.par_chunks_mut(CHUNK));
        chunks.for_each(|(points, logits)| self.model.logits(points, logits));
        Ok(logits.into_iter().map(|logit| Decision { logit, approved: self.threshold.approves(logit) }).collect())
    }

    /// The decision about one person, in original units, and what would change it.
    pub fn explain(
        &self,
        person: &[f64],
        overrides: Option<&Overrides>,
        request: &Request,
    ) -> Result<Explanation, RequestError> {
        self.check(request)?;
        let feasible = self.feasible(person, overrides, 1)?;
        let case = self.case(&feasible);
        Ok(self.worded(&case, self.verdict(&case, request), request.slack))
    }

    /// The decision about each of many people and what would change it: the same as one by one, on every core.
    pub fn explain_all(&self, people: &People, request: &Request) -> Result<Vec<Explanation>, RequestError> {
        let sets = self.feasible_sets(people)?;
        let cases: Vec<Case> = sets.iter().map(|feasible| self.case(feasible)).collect();
        let verdicts = self.verdicts_of(&cases, request)?;
        Ok(cases.par_iter().zip(verdicts).map(|(case, verdict)| self.worded(case, verdict, request.slack)).collect())
    }

    /// The verdict on each of many people, without the words.
    pub fn verdicts(&self, people: &People, request: &Request) -> Result<Vec<Verdict>, RequestError> {
        let sets = self.feasible_sets(people)?;
        let cases: Vec<Case> = sets.iter().map(|feasible| self.case(feasible)).collect();
        Ok(self.verdicts_of(&cases, request)?.into_iter().map(|(verdict, _)| verdict).collect())
    }

    /// The case of a feasible set made by [`Advisor::space`].
    pub fn case<'a>(&'a self, feasible: &'a FeasibleSet) -> Case<'a> {
        Case::new(&self.model, feasible, self.threshold, &self.costs)
    }

    fn verdicts_of(&self, cases: &[Case], request: &Request) -> Result<Vec<(Verdict, Method)>, RequestError> {
        self.check(request)?;
        let (budget, batched) = (&request.budget, request.options == 1);
        Ok(match request.method {
            method @ (Method::Gradient | Method::Lp) if batched => {
                let verdicts = match method {
                    Method::Lp => Lp::default().solve_all(cases, budget),
                    _ => Gradient::default().solve_all(cases, budget),
                };
                verdicts.into_iter().map(|verdict| (verdict, method)).collect()
            }
            Method::Exact => {
                let answers = Exact::options(request.options).answer_all(cases, &budget.without_one_in(KEPT));
                let pairs = cases.par_iter().zip(answers);
                pairs.map(|(case, answer)| self.or_gradient(case, request, answer)).collect()
            }
            _ => cases.par_iter().map(|case| self.verdict(case, request)).collect(),
        })
    }

    /// The verdict and the method that gave it.
    fn verdict(&self, case: &Case, request: &Request) -> (Verdict, Method) {
        let ask = |solver: &dyn Solver| options(solver, case, &mut request.budget.meter(), request.options);
        let verdict = match (request.method, &self.causes) {
            (Method::Exact, _) => {
                let answer = Exact::options(request.options).answer(case, &request.budget.without_one_in(KEPT));
                return self.or_gradient(case, request, answer);
            }
            (Method::Lp, _) => ask(&Lp::default()),
            // One approximation serves every set of features.
            (Method::Linear, _) => {
                LinearProgram { plans: request.options, ..LinearProgram::default() }.solve(case, &request.budget)
            }
            (Method::Causal, Some(causes)) => ask(&Causal { causes: causes.clone() }),
            (Method::Gradient | Method::Causal, _) => ask(&Gradient::default()),
        };
        (verdict, request.method)
    }

    /// Where exact search ran out of its budget without a way to a yes, what gradient descent finds with what was left; an
    /// absence that it cannot prove stays unknown.
    fn or_gradient(&self, case: &Case, request: &Request, answer: Answer) -> (Verdict, Method) {
        let Verdict::Unknown { best_logit, .. } = answer.verdict else { return (answer.verdict, Method::Exact) };
        let mut meter = request.budget.meter_after(answer.spent);
        match options(&Gradient::default(), case, &mut meter, request.options) {
            found @ Verdict::Recourse(_) => (found, Method::Gradient),
            _ => (Verdict::unknown(&meter, best_logit), Method::Exact),
        }
    }

    fn worded(&self, case: &Case, (verdict, method): (Verdict, Method), slack: bool) -> Explanation {
        let score = |logit: f32| probability(f64::from(logit));
        let before = match &verdict {
            Verdict::Approved { logit } => *logit,
            _ => self.model.logit(case.point()),
        };
        let mut ways = Vec::new();
        let mut word = |plan: Plan| {
            let mut meter = words::meter(case);
            // A causal plan's consequences are not the policy's alone, so its numbers stay as they were found.
            let plan = if method == Method::Causal { plan } else { rounded(case, plan, &mut meter) };
            let slack = slack.then(|| Slack::metered(case, &plan, &mut meter));
            ways.push(Way::new(case, &plan, before, slack));
            plan
        };
        let verdict = match verdict {
            Verdict::Recourse(plans) => Verdict::Recourse(plans.into_iter().map(&mut word).collect()),
            verdict => verdict,
        };
        let (outcome, best, bound) = match &verdict {
            Verdict::Approved { logit } => (Outcome::Approved, *logit, None),
            Verdict::Recourse(plans) => (Outcome::Recourse, plans.iter().map(Plan::logit).fold(before, f32::max), None),
            Verdict::NoRecourse(Absence::Proven { best_logit, upper }) => {
                (Outcome::NoRecourseProven, *best_logit, Some(probability(*upper)))
            }
            Verdict::NoRecourse(Absence::NotFound { best_logit }) => (Outcome::NoRecourseFound, *best_logit, None),
            Verdict::Unknown { best_logit, .. } => (Outcome::Unknown, best_logit.max(before), None),
        };
        Explanation {
            outcome,
            score: score(before),
            threshold: self.threshold.probability(),
            options: ways,
            best_score: score(best),
            proven_bound: bound,
            method,
            fixed: self.fixed.clone(),
            verdict,
        }
    }

    /// Whether a request can be met at all.
    pub fn check(&self, request: &Request) -> Result<(), RequestError> {
        if request.options == 0 {
            return Err(RequestError::NoOptions);
        }
        if request.method == Method::Causal && self.causes.is_none() {
            return Err(RequestError::NoCausalModel);
        }
        Ok(())
    }

    fn check_schema(&self, people: &People) -> Result<(), RequestError> {
        let (found, expected) = (&people.schema, self.space.encoding().schema());
        let columns = |schema: &crate::dataset::Schema| {
            let names: Vec<&str> = schema.features.iter().map(|feature| feature.column.as_str()).collect();
            names.join(", ")
        };
        let same = found.features.len() == expected.features.len()
            && found.features.iter().zip(&expected.features).all(|(a, b)| a.column == b.column && a.kind == b.kind);
        if same {
            Ok(())
        } else {
            Err(RequestError::OtherSchema { found: columns(found), expected: columns(expected) })
        }
    }

    fn feasible_sets(&self, people: &People) -> Result<Vec<FeasibleSet>, RequestError> {
        self.check_schema(people)?;
        let rows = (0..people.len()).into_par_iter();
        rows.map(|row| self.feasible(people.row(row), people.overrides.get(row), people.source_rows[row])).collect()
    }

    fn feasible(&self, person: &[f64], overrides: Option<&Overrides>, row: usize) -> Result<FeasibleSet, RequestError> {
        self.space.feasible(person, overrides).map_err(|error| RequestError::Person { row, error })
    }
}

/// Exact search leaves one part in so many of the budget to gradient descent, in case that it does not come to an end.
const KEPT: u32 = 10;

/// People scored together. Fixed, so that the work is cut the same way on any number of threads.
const CHUNK: usize = 512;
