//! A small lender: five features, a policy, random applicants.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{
    calibrate::Threshold,
    dataset::{Dataset, Feature, FeatureKind, People, Schema},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice},
    model::{Architecture, Linear, Model},
    policy::Policy,
    recourse::{Advisor, Costs, Measure, causal::StructuralModel},
};

/// age, school (years), hours (a week), savings, housing; age follows school by a link.
const POLICY: &str = r#"
[data]
path = "lender.csv"
label = "repaid"
favourable = "yes"

[features.age]
kind = "integer"
unit = "years"

[features.school]
kind = "integer"
name = "years of school"
change = "increase"
max_change = 4

[features.hours]
kind = "integer"
name = "hours worked per week"
unit = "hours"
change = "any"
max_change = 10
max = 60

[features.savings]
kind = "number"
unit = "thousand"
change = "increase"
max_change = 5

[features.housing]
kind = "category"
values = ["rents", "owns", "free"]
moves = { rents = ["owns"], free = ["rents", "owns"] }

[causal.equations.savings]
parents = ["hours"]
weights = { hours = 0.1 }
intercept = 0.5
"#;

const LINK: &str = "\n[actions]\nlinks = [\"school increases: age increases by 1 each\"]\n";

/// The policy, with the link or without (then Δ(x) of the numbers alone would be a box).
pub fn policy(link: bool) -> Policy {
    let text = format!("{POLICY}{}", if link { LINK } else { "" });
    Policy::parse(&text, "lender").unwrap_or_else(|error| panic!("{error}"))
}

/// Applicants drawn at random.
pub fn applicants(count: usize, seed: u64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let feature = |column: &str, label: &str, unit: Option<&str>, kind: FeatureKind| Feature {
        column: column.into(),
        label: label.into(),
        unit: unit.map(str::to_owned),
        kind,
        fill: None,
    };
    let housing = FeatureKind::Category { values: ["rents", "owns", "free"].map(str::to_owned).to_vec() };
    let features = vec![
        feature("age", "age", Some("years"), FeatureKind::Integer),
        feature("school", "years of school", None, FeatureKind::Integer),
        feature("hours", "hours worked per week", Some("hours"), FeatureKind::Integer),
        feature("savings", "savings", Some("thousand"), FeatureKind::Number),
        feature("housing", "housing", None, housing),
    ];
    let mut values = Vec::new();
    for _ in 0..count {
        let hours = f64::from(rng.random_range(10..60));
        let savings = (0.5 + 0.1 * hours + rng.random_range(-2.0..2.0f64)).max(0.0);
        values.extend([f64::from(rng.random_range(18..70)), f64::from(rng.random_range(6..18)), hours]);
        values.extend([(savings * 100.0).round() / 100.0, f64::from(rng.random_range(0..3))]);
    }
    let people =
        People { schema: Arc::new(Schema { features }), values, source_rows: (1..=count).collect(), overrides: vec![] };
    Dataset { people, labels: vec![true; count], groups: vec![] }
}

/// The lender's model: linear, or a small network.
pub fn advisor(linear: bool, link: bool, lattice: Lattice, measure: Measure) -> Advisor {
    let (policy, train) = (policy(link), applicants(300, 1));
    let encoding = Encoding::fit(&train);
    let model = if linear {
        Model::Linear(Linear::new(vec![-0.2, 0.8, 0.5, 0.7, 0.0, 0.6, -0.3], -0.9).unwrap())
    } else {
        let architecture = Architecture { hidden: vec![16, 16], ..Architecture::default() };
        Model::random(encoding.width(), &architecture, 7).unwrap()
    };
    let space = ActionSpace::new(&policy, &encoding, lattice).unwrap();
    let costs = Costs::new(&policy, &encoding, measure);
    let causes = StructuralModel::fit(&policy, &train).unwrap();
    let threshold = if linear { Threshold::HALF } else { Threshold::from_logit(0.05) };
    Advisor::new(model, space, threshold, costs, Some(causes)).unwrap()
}
