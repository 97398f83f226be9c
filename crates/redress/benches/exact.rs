//! Exact recourse: `cargo bench -p redress --bench exact`.
//!
//! All people whom the paper's network turns down on adult, with whole years and hours and with any real change, proofs
//! included; the same with λ = 0; and one person with 1 to 8 levers before networks of several widths. Adult is read from
//! `../shared/data` beside the repository, or `$REDRESS_DATA`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use redress::calibrate::Threshold;
use redress::dataset::{Dataset, Feature, FeatureKind, People, Schema};
use redress::encoding::Encoding;
use redress::feasible::{ActionSpace, FeasibleSet, Lattice};
use redress::model::Scorer;
use redress::policy::Policy;
use redress::recourse::exact::{Answer, Exact};
use redress::recourse::{Budget, Case, Costs, Measure};
use redress::train::{Examples, TrainParams, fit};

const NAMES: [&str; 9] =
    ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week", "white", "us", "married", "male"];

fn main() {
    match adult() {
        Some(dataset) => {
            for lambda in [0.0, 0.8] {
                for lattice in [Lattice::AsPolicy, Lattice::Continuous] {
                    turned_down(&dataset, lambda, lattice);
                }
            }
        }
        None => eprintln!("SKIPPED: adult.csv is not in ../shared/data or $REDRESS_DATA"),
    }
    growth();
}

/// The paper's nine inputs of adult, read without a parser: the file is plain.
fn adult() -> Option<Dataset> {
    let folder = std::env::var_os("REDRESS_DATA").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let text = std::fs::read_to_string(folder.join("adult.csv")).ok()?;
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let cells: Vec<&str> = line.split(", ").collect();
        let [age, _, _, _, education, marriage, _, _, race, sex, gain, loss, hours, country, income] = cells[..] else {
            continue;
        };
        for number in [age, education, gain, loss, hours] {
            values.push(number.parse().ok()?);
        }
        for yes in [race == "White", country == "United-States", marriage.contains("Married"), sex == "Male"] {
            values.push(f64::from(u8::from(yes)));
        }
        labels.push(income.starts_with(">50K"));
    }
    Some(dataset(&NAMES, values, labels))
}

fn dataset(names: &[&str], values: Vec<f64>, labels: Vec<bool>) -> Dataset {
    let feature = |name: &&str| Feature {
        column: (*name).into(),
        label: (*name).into(),
        unit: None,
        kind: FeatureKind::Integer,
        fill: None,
    };
    let schema = Arc::new(Schema { features: names.iter().map(feature).collect() });
    let source_rows = (1..=labels.len()).collect();
    Dataset { people: People { schema, values, source_rows, overrides: vec![] }, labels, groups: vec![] }
}

fn policy(names: &[&str], levers: &[(&str, &str)]) -> Policy {
    let mut text = "[data]\npath = \"none.csv\"\nlabel = \"label\"\nfavourable = \"1\"\n".to_owned();
    for name in names {
        text += &format!("[features.{name}]\nkind = \"integer\"\n");
        if let Some((_, rule)) = levers.iter().find(|(lever, _)| lever == name) {
            text += rule;
        }
    }
    Policy::parse(&text, "bench").expect("the policy is sound")
}

fn turned_down(dataset: &Dataset, lambda: f64, lattice: Lattice) {
    let education = "change = \"increase\"\nmax_change = { std = 0.75 }\nmax = 16\n";
    let hours = "change = \"any\"\nmax_change = { std = 0.75 }\nmin = 1\nmax = 99\n";
    let policy = policy(&NAMES, &[("education_num", education), ("hours_per_week", hours)]);
    let encoding = Encoding::fit(dataset);
    let free = ActionSpace::new(&policy, &encoding, Lattice::Continuous).expect("the policy fits");
    let examples = Examples::new(dataset, &free).expect("people fit");
    let held_out: Vec<usize> = (0..dataset.len()).step_by(10).collect();
    let validation = Examples::new(&dataset.subset(&held_out), &free).expect("people fit");
    let params = TrainParams { lambda, epochs: 6, ..TrainParams::default() }.check().expect("legal settings");
    let model =
        fit(&params, &examples, &validation, &mut |_| ControlFlow::Continue(())).expect("training succeeds").model;
    let space = ActionSpace::new(&policy, &encoding, lattice).expect("the policy fits");
    let costs = Costs::new(&policy, &encoding, Measure::L1);
    let threshold = Threshold::HALF;

    let mut logits = vec![0.0; dataset.len()];
    model.logits(&encoding.encode_all(&dataset.people), &mut logits);
    let rows: Vec<usize> = (0..dataset.len()).filter(|&row| !threshold.approves(logits[row])).collect();
    let (mut least, mut used) = (f64::INFINITY, f64::INFINITY);
    let mut answers = Vec::new();
    for _ in 0..3 {
        let (start, before) = (Instant::now(), processor());
        let sets: Vec<FeasibleSet> =
            rows.iter().map(|&row| space.feasible(dataset.people.row(row), None).expect("people fit")).collect();
        let cases: Vec<Case> = sets.iter().map(|feasible| Case::new(&model, feasible, threshold, &costs)).collect();
        answers = Exact::default().answer_all(&cases, &Budget::default());
        least = least.min(start.elapsed().as_secs_f64());
        used = used.min(processor() - before);
    }
    let count = |word: &str| answers.iter().filter(|answer| answer.verdict.word() == word).count();
    println!(
        "adult λ={lambda} {lattice:?}: {} people in {least:.3} s ({used:.2} s of processor); recourse {}, proven none {}, unknown {}; {}",
        rows.len(),
        count("recourse"),
        count("no_recourse_proven"),
        count("unknown"),
        spent(&answers),
    );
}

/// Whether the plan is the cheapest up to the gap, or there is proven to be none.
fn is_decided(answer: &Answer) -> bool {
    match answer.verdict.plan() {
        Some(plan) => answer.cost_at_least >= (plan.cost() * 0.99).min(plan.cost() - 0.005),
        None => answer.verdict.word() == "no_recourse_proven",
    }
}

/// Seconds of processor time that this process has used so far, all threads together; 0 where the system does not say.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn spent(answers: &[Answer]) -> String {
    let nodes: u64 = answers.iter().map(|answer| answer.spent.nodes).sum();
    let evaluations: u64 = answers.iter().map(|answer| answer.spent.evaluations).sum();
    let people = answers.len() as f64;
    format!("{:.1} boxes and {:.1} points a person", nodes as f64 / people, evaluations as f64 / people)
}

/// Milliseconds for one person, by the number of levers and the width of the network.
fn growth() {
    const FEATURES: usize = 12;
    const PEOPLE: usize = 15;
    let names: Vec<String> = (0..FEATURES).map(|index| format!("f{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let values: Vec<f64> = (0..2_000 * FEATURES).map(|_| f64::from(random.random_range(-17..18))).collect();
    let labels = values.chunks(FEATURES).map(|row| {
        let sum: f64 = row.iter().sum::<f64>() / 20.0 + row[0] * row[1] / 100.0;
        sum + f64::from(random.random_range(-10..10)) / 10.0 > 1.0
    });
    let labels = labels.collect();
    let dataset = dataset(&names, values, labels);
    let encoding = Encoding::fit(&dataset);
    println!("one person, real-valued changes, median and worst of {PEOPLE} (ms), and how many were decided:");
    for width in [50, 100, 200] {
        let rule = "change = \"any\"\nmax_change = { std = 0.75 }\n";
        let trained = policy(&names, &[("f0", rule), ("f1", rule)]);
        let space = ActionSpace::new(&trained, &encoding, Lattice::Continuous).expect("the policy fits");
        let examples = Examples::new(&dataset, &space).expect("people fit");
        let params = TrainParams { lambda: 0.0, epochs: 12, hidden: vec![width; 3], ..TrainParams::default() };
        let params = params.check().expect("legal settings");
        let fitted = fit(&params, &examples, &examples, &mut |_| ControlFlow::Continue(()));
        let model = fitted.expect("training succeeds").model;
        for levers in 1..=8 {
            let rules: Vec<(&str, &str)> = names[..levers].iter().map(|name| (*name, rule)).collect();
            let policy = policy(&names, &rules);
            let space = ActionSpace::new(&policy, &encoding, Lattice::Continuous).expect("the policy fits");
            let costs = Costs::new(&policy, &encoding, Measure::L1);
            let mut times = Vec::new();
            let mut answers = Vec::new();
            for row in (0..dataset.len()).filter(|row| row % 3 == 0) {
                let feasible = space.feasible(dataset.people.row(row), None).expect("people fit");
                let case = Case::new(&model, &feasible, Threshold::HALF, &costs);
                if case.threshold.approves(model.logit(case.point())) {
                    continue;
                }
                let start = Instant::now();
                answers.push(Exact::default().answer(&case, &Budget::default()));
                times.push(start.elapsed().as_secs_f64() * 1e3);
                if times.len() == PEOPLE {
                    break;
                }
            }
            times.sort_by(f64::total_cmp);
            let decided = answers.iter().filter(|answer| is_decided(answer)).count();
            println!(
                "width {width}, {levers} levers: {:.2} {:.2} {decided}/{PEOPLE}; {}",
                times[times.len() / 2],
                times[times.len() - 1],
                spent(&answers)
            );
        }
    }
}
