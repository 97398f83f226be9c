//! Finds recourse for everybody whom one network turns down in `adult`, method by method, and prints the seconds and
//! the share with a yes: what `benches/recourse.sh` compares with `jax-relax` on the same network and people.
//!
//! `recourse LAMBDA FOLDER` trains the paper's network at this λ and writes it, the people and their limits to FOLDER as
//! raw little-endian `f32` and a manifest, for `benches/peers/recourse.py` to read.

use std::{error::Error, fs, ops::ControlFlow, path::Path, time::Instant};

use redress::{
    calibrate::Threshold,
    dataset::{Dataset, People, Schema, split::Split},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice, LeverRule, Reach},
    model::Scorer,
    pipeline::{Preset, Study},
    recourse::{Advisor, Costs, Measure, Method, Request, Verdict, lp},
    train::{InnerObjective, TrainParams, fit},
};
use redress_data::{DataFolders, builtin, load};
use serde::Serialize;

#[derive(Serialize)]
struct Manifest {
    /// Inputs and outputs of each layer; `weights.f32` holds each layer's weights (input by input) and then its biases.
    layers: Vec<(usize, usize)>,
    people: usize,
    width: usize,
    /// How far people can move, in encoded units.
    limits: Vec<ColumnLimit>,
}

#[derive(Serialize)]
struct ColumnLimit {
    column: usize,
    down: f64,
    up: f64,
    min: f64,
    max: f64,
}

#[derive(Serialize)]
struct Line {
    method: &'static str,
    policy: &'static str,
    seconds: f64,
    people: usize,
    validity: f64,
    /// The mean standardised L1 distance of the plans; none where plans are not made.
    distance: Option<f64>,
    proven: usize,
    unknown: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(lambda), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: recourse LAMBDA FOLDER".into());
    };
    let lambda: f64 = lambda.parse()?;
    let policy = builtin("adult")?.policy();
    let table = load(&policy, ".", &DataFolders::standard())?.table;
    let schema = std::sync::Arc::new(Schema::resolve(&policy, &table)?);
    let (dataset, _) = Dataset::read(&policy, schema, &table)?;
    let split = Split::new(&dataset, &Preset::Paper.split(dataset.len(), 0))?;
    let study = Study::new(policy.clone(), split, Lattice::Continuous)?;
    let params = TrainParams { lambda, class_weights: false, epochs: 5, ..Preset::Paper.params(dataset.len()) };
    let observe = &mut |_: &_| ControlFlow::Continue(());
    let model = fit(&params.check()?, &study.train.examples, &study.validation.examples, observe)?.model;
    let encoding = study.space.encoding().clone();
    let points = encoding.encode_all(&dataset.people);
    let mut logits = vec![0.0; dataset.len()];
    model.logits(&points, &mut logits);
    let denied: Vec<usize> = (0..dataset.len()).filter(|&row| !Threshold::HALF.approves(logits[row])).collect();
    let people = dataset.subset(&denied).people;

    for (name, lattice) in [("continuous", Lattice::Continuous), ("whole steps", Lattice::AsPolicy)] {
        let space = ActionSpace::new(&policy, &encoding, lattice)?;
        let costs = Costs::new(&policy, &encoding, Measure::L1);
        let advisor = Advisor::new(model.clone(), space, Threshold::HALF, costs, None)?;
        if lattice == Lattice::Continuous {
            export(Path::new(&folder), &advisor, &people)?;
        }
        measure_step(&advisor, &people, name)?;
        for method in [Method::Lp, Method::Gradient, Method::Exact] {
            measure(&advisor, &people, name, method)?;
        }
    }
    Ok(())
}

/// The fastest of a few runs: other work on the machine only ever adds time.
fn fastest<T>(runs: usize, mut work: impl FnMut() -> Result<T, Box<dyn Error>>) -> Result<(f64, T), Box<dyn Error>> {
    let mut best = None;
    for _ in 0..runs {
        let start = Instant::now();
        let result = work()?;
        let seconds = start.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|(before, _)| seconds < *before) {
            best = Some((seconds, result));
        }
    }
    best.ok_or_else(|| "no runs".into())
}

fn print(line: &Line) -> Result<(), Box<dyn Error>> {
    println!("{}", serde_json::to_string(line)?);
    Ok(())
}

/// The one-step program for everybody at once, without a plan for each: what the peer computes too.
fn measure_step(advisor: &Advisor, people: &People, policy: &'static str) -> Result<(), Box<dyn Error>> {
    let (seconds, stepped) = fastest(5, || {
        let points = advisor.space().encoding().encode_all(people);
        Ok(lp::step_all(advisor.model(), advisor.space(), people, &points, InnerObjective::AsWritten)?)
    })?;
    let yeses = stepped.after.iter().filter(|logit| advisor.threshold().approves(**logit)).count();
    let validity = yeses as f64 / people.len() as f64;
    let (distance, proven, unknown) = (None, 0, 0);
    print(&Line { method: "lp step", policy, seconds, people: people.len(), validity, distance, proven, unknown })
}

fn measure(advisor: &Advisor, people: &People, policy: &'static str, method: Method) -> Result<(), Box<dyn Error>> {
    let request = Request { method, ..Request::default() };
    let (seconds, verdicts) = fastest(3, || Ok(advisor.verdicts(people, &request)?))?;
    let plans: Vec<f64> = verdicts.iter().filter_map(|verdict| verdict.plan().map(|plan| plan.cost())).collect();
    let count = |word: &str| verdicts.iter().filter(|verdict| verdict.word() == word).count();
    print(&Line {
        method: method.name(),
        policy,
        seconds,
        people: people.len(),
        validity: verdicts.iter().filter(|verdict| Verdict::reaches_yes(verdict)).count() as f64 / people.len() as f64,
        distance: Some(plans.iter().sum::<f64>() / plans.len().max(1) as f64),
        proven: count("no_recourse_proven"),
        unknown: count("unknown"),
    })
}

/// Writes what the other implementation needs to answer the same question.
fn export(folder: &Path, advisor: &Advisor, people: &People) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let encoding: &Encoding = advisor.space().encoding();
    let limit = |lever: &LeverRule| match &lever.reach {
        Reach::Number(limits) => {
            let (mean, deviation) = (encoding.mean(lever.feature), encoding.deviation(lever.feature));
            Ok(ColumnLimit {
                column: lever.column,
                down: limits.down / deviation,
                up: limits.up / deviation,
                min: ((limits.min - mean) / deviation).max(f64::from(f32::MIN)),
                max: ((limits.max - mean) / deviation).min(f64::from(f32::MAX)),
            })
        }
        Reach::Category(_) => Err("the other implementation gets numbers only"),
    };
    let limits = advisor.space().levers().iter().map(limit).collect::<Result<_, _>>()?;
    let layers = advisor.model().layers();
    let weights = layers.iter().flat_map(|layer| layer.weights.iter().chain(&layer.bias).copied());
    let files = [("weights.f32", weights.collect::<Vec<f32>>()), ("points.f32", encoding.encode_all(people))];
    for (name, values) in files {
        fs::write(folder.join(name), values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())?;
    }
    let manifest = Manifest {
        layers: layers.iter().map(|layer| (layer.inputs, layer.outputs)).collect(),
        people: people.len(),
        width: encoding.width(),
        limits,
    };
    fs::write(folder.join("manifest.json"), serde_json::to_string(&manifest)?)?;
    Ok(())
}
