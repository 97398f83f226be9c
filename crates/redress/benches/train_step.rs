//! Microseconds a training step, on one thread: `cargo bench -p redress --bench train_step`.
//!
//! The paper's network (9 inputs, three hidden layers of 100, tanh, dropout 0.3, Adam) with two columns that people can
//! move. Every figure is the least of many short runs, since anything else on the machine only ever adds time. With
//! `--json` one line of JSON, for the script that compares it with PyTorch.

use std::ops::ControlFlow;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use redress::model::Isa;
use redress::train::{BoxLever, Boxes, EpochReport, Examples, InnerProblem, TrainParams, fit_on};

fn population(rows: usize, width: usize, seed: u64) -> Examples {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let points: Vec<f32> = (0..rows * width).map(|_| random.random_range(-1.7f32..1.7)).collect();
    let labels = points.chunks(width).map(|x| x[0] + x[1] + random.random_range(-1.0f32..1.0) > 0.5).collect();
    let levers = [0, 1].map(|column| BoxLever { column, step: None }).to_vec();
    let lo = points.chunks(width).flat_map(|x| [x[0] - 0.75, x[1] - 0.75]).collect();
    let hi = points.chunks(width).flat_map(|x| [x[0] + 0.75, x[1] + 0.75]).collect();
    let boxes = Boxes::new(levers, lo, hi).expect("bounds are in order");
    Examples { points, labels, inner: InnerProblem::Box(boxes) }
}

/// The least time of an epoch of two or three milliseconds, over its steps.
fn microseconds(isa: Isa, batch: usize, lambda: f64) -> f64 {
    let steps = (1500 / batch).max(4);
    let (train, validation) = (population(steps * batch, 9, 1), population(16, 9, 2));
    let epochs = 150_000 / (steps * batch);
    let params = TrainParams { lambda, batch, epochs, ..TrainParams::default() }.check().expect("legal settings");
    let (mut least, mut start) = (f64::INFINITY, Instant::now());
    let mut observe = |_: &EpochReport| {
        least = least.min(start.elapsed().as_secs_f64() * 1e6 / steps as f64);
        start = Instant::now();
        ControlFlow::Continue(())
    };
    fit_on(isa, &params, &train, &validation, &mut observe).expect("training succeeds");
    least
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let sets = if json { vec![Isa::detect()] } else { Isa::available() };
    if !json {
        println!("{:<10} {:>6} {:>12} {:>12} {:>8}", "kernel", "batch", "λ=0 µs", "λ=0.8 µs", "ratio");
    }
    for isa in sets {
        let mut fields = Vec::new();
        for batch in [15, 256] {
            let (plain, with) = (microseconds(isa, batch, 0.0), microseconds(isa, batch, 0.8));
            if !json {
                println!("{:<10} {batch:>6} {plain:>12.1} {with:>12.1} {:>8.2}", isa.name(), with / plain);
            }
            fields.push(format!("\"plain_{batch}\": {plain:.2}, \"recourse_{batch}\": {with:.2}"));
        }
        if json {
            println!("{{{}}}", fields.join(", "));
        }
    }
}
