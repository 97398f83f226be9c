//! Seconds and memory of training against the number of rows: `cargo bench -p redress --bench train_growth`.
//!
//! Thirty numeric features, ten of which people can move, through the whole library: rows in original units, encoding,
//! feasible sets, one epoch of the paper's network in batches of 256. The largest table comes last, so that the peak of
//! the process is its own.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use redress::dataset::{Dataset, Feature, FeatureKind, People, Schema};
use redress::encoding::Encoding;
use redress::feasible::{ActionSpace, Lattice};
use redress::policy::Policy;
use redress::train::{Examples, TrainParams, fit};

const FEATURES: usize = 30;
const LEVERS: usize = 10;

fn policy() -> Policy {
    let mut text = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n".to_owned();
    for feature in 0..FEATURES {
        let change = if feature < LEVERS { "change = \"any\"\nmax_change = 0.75\n" } else { "" };
        write!(text, "[features.x{feature}]\nkind = \"number\"\n{change}").expect("writing to a string succeeds");
    }
    Policy::parse(&text, "growth").expect("the policy is sound")
}

fn people(rows: usize, seed: u64) -> Dataset {
    let feature = |index: usize| Feature {
        column: format!("x{index}"),
        label: format!("x{index}"),
        unit: None,
        kind: FeatureKind::Number,
        fill: None,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<f64> = (0..rows * FEATURES).map(|_| random.random_range(-1.0..1.0)).collect();
    let labels = values.chunks(FEATURES).map(|x| x[..12].iter().sum::<f64>() > 0.5).collect();
    let schema = Arc::new(Schema { features: (0..FEATURES).map(feature).collect() });
    let people = People { schema, values, source_rows: (1..=rows).collect(), overrides: vec![] };
    Dataset { people, labels, groups: vec![] }
}

/// The most memory this process ever held, where the system tells.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

fn main() {
    let policy = policy();
    println!("{:>9} {:>10} {:>10} {:>12} {:>9}", "rows", "prepare s", "train s", "µs a row", "peak MB");
    for rows in [10_000, 100_000, 1_000_000] {
        let (train, validation) = (people(rows, 1), people(1_000, 2));
        let start = Instant::now();
        let encoding = Encoding::fit(&train);
        let space = ActionSpace::new(&policy, &encoding, Lattice::AsPolicy).expect("the policy fits");
        let train_rows = Examples::new(&train, &space).expect("the rows fit");
        let validation_rows = Examples::new(&validation, &space).expect("the rows fit");
        let prepared = start.elapsed().as_secs_f64();
        let params = TrainParams { epochs: 1, batch: 256, ..TrainParams::default() }.check().expect("legal settings");
        let start = Instant::now();
        fit(&params, &train_rows, &validation_rows, &mut |_| ControlFlow::Continue(())).expect("training succeeds");
        let trained = start.elapsed().as_secs_f64();
        let each = trained * 1e6 / rows as f64;
        let peak = peak_megabytes().map_or("?".to_owned(), |megabytes| format!("{megabytes:.0}"));
        println!("{rows:>9} {prepared:>10.2} {trained:>10.2} {each:>12.2} {peak:>9}");
    }
}
