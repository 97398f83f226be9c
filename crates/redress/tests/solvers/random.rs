//! Random policies, people and models: boxes, polytopes, lattices, categories, links and causes.

use std::{fmt::Write, sync::Arc};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use redress::{
    calibrate::Threshold,
    dataset::{Dataset, Feature, FeatureKind, People, Schema},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice},
    model::{Activation, Architecture, Model, Scorer},
    policy::{Causal, Policy},
    recourse::{Costs, Measure, causal::StructuralModel},
};

/// A policy with everything that is the same for its people.
pub struct World {
    /// The policy, as text: what a failure prints.
    pub text: String,
    pub policy: Policy,
    pub train: Dataset,
    pub space: ActionSpace,
    pub costs: Costs,
    /// The policy's causal model; one without equations where the policy has none.
    pub causes: Arc<StructuralModel>,
}

/// A model and a threshold for one person of a world.
pub struct Trial {
    pub model: Model,
    pub person: Vec<f64>,
    pub threshold: Threshold,
}

/// What a world may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers that move freely, each within its limits.
    Boxes,
    /// Numbers that move freely, with constraints between them.
    Polytopes,
    /// Whole numbers and ranks that move in steps.
    Lattices,
    /// Categories among them.
    Categories,
    /// Anything, with links and constraints.
    Everything,
}

pub const KINDS: [Kind; 5] = [Kind::Boxes, Kind::Polytopes, Kind::Lattices, Kind::Categories, Kind::Everything];
const MEASURES: [Measure; 5] =
    [Measure::L1, Measure::L2, Measure::MadL1, Measure::PercentileTotal, Measure::PercentileMax];
const WORDS: [&str; 4] = ["a", "b", "c", "d"];

impl World {
    /// The world of a seed.
    pub fn new(kind: Kind, seed: u64) -> World {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let count = rng.random_range(1..=4);
        let mut text = String::from("[data]\npath = \"people.csv\"\nlabel = \"y\"\nfavourable = \"1\"\n");
        let mut features = Vec::new();
        let mut movable = Vec::new();
        for index in 0..count {
            let change = ["increase", "decrease", "any", "any", "fixed"][rng.random_range(0..5)];
            features.push(feature(kind, index, change, &mut rng, &mut text));
            if change != "fixed" {
                movable.push((index, change));
            }
        }
        // One more that nobody moves of their own accord: where links lead to.
        features.push(described("effect", FeatureKind::Number));
        text.push_str("\n[features.effect]\nkind = \"number\"\nmin = -20\nmax = 20\n");
        if !movable.is_empty() {
            sentences(kind, &features, &movable, &mut rng, &mut text);
        }
        if rng.random_bool(0.5) {
            equations(&features, &mut rng, &mut text);
        }
        let policy = Policy::parse(&text, "people").unwrap_or_else(|error| panic!("{error}\n{text}"));
        let schema = Arc::new(Schema { features });
        let values = (0..40).flat_map(|_| person(&schema, &mut rng)).collect();
        let people = People { schema, values, source_rows: (1..=40).collect(), overrides: vec![] };
        let train = Dataset { people, labels: vec![true; 40], groups: vec![] };
        let encoding = Encoding::fit(&train);
        let lattice = if rng.random_bool(0.2) { Lattice::Continuous } else { Lattice::AsPolicy };
        let space = ActionSpace::new(&policy, &encoding, lattice).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let costs = Costs::new(&policy, &encoding, MEASURES[rng.random_range(0..5)]);
        let mut with_causes = policy.clone();
        with_causes.causal.get_or_insert_with(|| Causal { equations: vec![] });
        let causes = StructuralModel::fit(&with_causes, &train).unwrap_or_else(|error| panic!("{error}\n{text}"));
        World { text, policy, train, space, costs, causes: Arc::new(causes) }
    }

    /// A random model, a random person, and a threshold a little above that person's score.
    pub fn trial(&self, seed: u64) -> Trial {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let encoding = self.space.encoding();
        let hidden = [vec![], vec![6], vec![8, 8]][rng.random_range(0..3)].clone();
        let activation = if rng.random_bool(0.5) { Activation::Tanh } else { Activation::Relu };
        let architecture = Architecture { hidden, activation, dropout: 0.0 };
        let model = Model::random(encoding.width(), &architecture, rng.random()).unwrap();
        // PyTorch's weights are small: louder ones bend more.
        let loud: f32 = rng.random_range(1.0..6.0);
        let mut layers = model.layers().into_owned();
        layers.iter_mut().flat_map(|layer| &mut layer.weights).for_each(|weight| *weight *= loud);
        let model = Model::from_layers(layers, activation, 0.0).unwrap();
        let person = person(&self.train.people.schema, &mut rng);
        let mut point = vec![0.0; encoding.width()];
        encoding.encode(&person, &mut point);
        let distance = rng.random_range(-0.3..3.0) * f64::from(loud) / 3.0;
        let threshold = Threshold::from_logit(f64::from(model.logit(&point)) + distance);
        Trial { model, person, threshold }
    }
}

fn described(column: &str, kind: FeatureKind) -> Feature {
    Feature { column: column.into(), label: column.into(), unit: None, kind, fill: None }
}

/// Adds a random feature to the policy's text.
fn feature(kind: Kind, index: usize, change: &str, rng: &mut ChaCha8Rng, text: &mut String) -> Feature {
    let name = format!("f{index}");
    let sort = match kind {
        Kind::Boxes | Kind::Polytopes => 0,
        Kind::Lattices => rng.random_range(1..4),
        Kind::Categories => [1, 4][rng.random_range(0..2)],
        Kind::Everything => rng.random_range(0..5),
    };
    let words: Vec<String> = WORDS[..rng.random_range(2..=4)].iter().map(|&word| word.to_owned()).collect();
    let values = format!("[{}]", words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", "));
    let (written, kind) = match sort {
        0 => ("number", FeatureKind::Number),
        1 => ("integer", FeatureKind::Integer),
        2 => ("yes/no", FeatureKind::YesNo { no: "0".into(), yes: "1".into() }),
        3 => ("ordered", FeatureKind::Ordered { values: words.clone() }),
        _ => ("category", FeatureKind::Category { values: words.clone() }),
    };
    writeln!(text, "\n[features.{name}]\nkind = \"{written}\"").unwrap();
    match sort {
        3 => writeln!(text, "values = {values}\nchange = \"{change}\"").unwrap(),
        4 => {
            let change = if change == "fixed" { "fixed" } else { "any" };
            writeln!(text, "values = {values}\nchange = \"{change}\"").unwrap();
        }
        _ => writeln!(text, "change = \"{change}\"").unwrap(),
    }
    if sort < 2 && change != "fixed" {
        match rng.random_range(0..3) {
            0 => writeln!(text, "max_change = {}", rng.random_range(1..5)).unwrap(),
            1 => writeln!(text, "max_change = {{ std = {} }}", rng.random_range(0.2..1.5)).unwrap(),
            _ => {}
        }
        if rng.random_bool(0.3) {
            writeln!(text, "max = {}", rng.random_range(2..6)).unwrap();
        }
        if sort == 0 && rng.random_bool(if kind == FeatureKind::Number { 0.2 } else { 0.0 }) {
            writeln!(text, "step = 0.5").unwrap();
        }
        if rng.random_bool(0.2) {
            writeln!(text, "cost_weight = 2.0\nfixed_cost = 0.5").unwrap();
        }
    }
    described(&name, kind)
}

/// Adds constraints and links.
fn sentences(kind: Kind, features: &[Feature], movable: &[(usize, &str)], rng: &mut ChaCha8Rng, text: &mut String) {
    let any = |rng: &mut ChaCha8Rng| movable[rng.random_range(0..movable.len())].0;
    let is_category = |feature: &Feature| matches!(feature.kind, FeatureKind::Category { .. });
    let (mut constraints, mut links) = (Vec::new(), Vec::new());
    if matches!(kind, Kind::Polytopes | Kind::Everything) {
        for _ in 0..rng.random_range(1..3) {
            let (a, b) = (any(rng), any(rng));
            if a != b && !is_category(&features[a]) && !is_category(&features[b]) {
                let (sign, factor) = (["+", "-"][rng.random_range(0..2)], rng.random_range(1..4));
                constraints.push(format!("\"f{a} {sign} {factor} * f{b} <= {}\"", rng.random_range(0..5)));
            }
        }
    }
    if kind == Kind::Everything {
        for &(cause, change) in movable {
            let verb = match change {
                _ if is_category(&features[cause]) || rng.random_bool(0.3) => "changes",
                "decrease" => "decreases",
                _ => "increases",
            };
            let each = if verb == "changes" || rng.random_bool(0.5) { "" } else { " each" };
            if rng.random_bool(0.5) {
                links.push(format!("\"f{cause} {verb}: effect increases by {}{each}\"", rng.random_range(1..4)));
            }
        }
    }
    if !constraints.is_empty() || !links.is_empty() {
        writeln!(text, "\n[actions]\nconstraints = [{}]\nlinks = [{}]", constraints.join(", "), links.join(", "))
            .unwrap();
    }
}

/// Adds a causal graph: numbers that depend on some of the features before them, by weights given or fitted.
fn equations(features: &[Feature], rng: &mut ChaCha8Rng, text: &mut String) {
    let is_number = |feature: &Feature| matches!(feature.kind, FeatureKind::Number | FeatureKind::Integer);
    for child in (1..features.len()).filter(|&child| is_number(&features[child])) {
        let before = features[..child].iter().filter(|parent| !matches!(parent.kind, FeatureKind::Category { .. }));
        let parents: Vec<&str> = before.filter(|_| rng.random_bool(0.6)).map(|parent| &*parent.column).collect();
        if parents.is_empty() {
            continue;
        }
        let quoted: Vec<String> = parents.iter().map(|parent| format!("\"{parent}\"")).collect();
        writeln!(text, "\n[causal.equations.{}]\nparents = [{}]", features[child].column, quoted.join(", ")).unwrap();
        if rng.random_bool(0.5) {
            let weight = |parent: &&str| format!("{parent} = {:.2}", rng.random_range(-1.5..1.5));
            let weights: Vec<String> = parents.iter().map(weight).collect();
            writeln!(text, "weights = {{ {} }}\nintercept = 0.5", weights.join(", ")).unwrap();
        }
    }
}

/// Somebody.
fn person(schema: &Schema, rng: &mut ChaCha8Rng) -> Vec<f64> {
    let value = |feature: &Feature, rng: &mut ChaCha8Rng| match &feature.kind {
        FeatureKind::Number => f64::from(rng.random_range(-300..300)) / 100.0,
        FeatureKind::Integer => f64::from(rng.random_range(-4..5)),
        FeatureKind::YesNo { .. } => f64::from(rng.random_range(0..2)),
        FeatureKind::Category { values } | FeatureKind::Ordered { values } => rng.random_range(0..values.len()) as f64,
    };
    schema.features.iter().map(|feature| value(feature, rng)).collect()
}
