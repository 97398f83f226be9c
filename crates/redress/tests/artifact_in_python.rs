//! A model file is no island: Python's safetensors and numpy read it and score alike.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use redress::artifact::{Artifact, Origin};
use redress::calibrate::Threshold;
use redress::dataset::{Dataset, Feature, FeatureKind, People, Schema};
use redress::encoding::Encoding;
use redress::feasible::Lattice;
use redress::model::{Activation, Architecture, Model, Scorer};
use redress::pipeline::Preset;
use redress::policy::Policy;
use redress::train::TrainParams;

fn artifact(architecture: &Architecture) -> Artifact {
    let feature = |column: &str| Feature {
        column: column.into(),
        label: column.into(),
        unit: None,
        kind: FeatureKind::Number,
        fill: None,
    };
    let people = People {
        schema: Arc::new(Schema { features: vec![feature("income"), feature("debt")] }),
        values: vec![30.0, 1.5, 40.0, 2.25, 50.0, 0.5],
        source_rows: vec![1, 2, 3],
        overrides: vec![],
    };
    let text = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n\
                [features.income]\nkind = \"number\"\n[features.debt]\nkind = \"number\"\n";
    let (preset, base) = (Preset::Paper, String::new());
    Artifact {
        policy: Policy::parse(text, "p").unwrap(),
        encoding: Encoding::fit(&Dataset { people, labels: vec![false, true, true], groups: vec![] }),
        lattice: Lattice::AsPolicy,
        model: Model::random(2, architecture, 3).unwrap(),
        threshold: Threshold::HALF,
        certificate: None,
        causes: None,
        origin: Origin { base, preset, split_seed: 4, training: TrainParams::default(), epoch: 2 },
    }
}

#[test]
fn numpy_gets_the_same_logits() {
    let Some(python) = std::env::var_os("REDRESS_PYTHON") else {
        eprintln!("SKIPPED: numpy_gets_the_same_logits (set REDRESS_PYTHON to a python with numpy and safetensors)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let relu = Architecture { hidden: vec![20], activation: Activation::Relu, dropout: 0.0 };
    let linear = Architecture { hidden: vec![], ..Architecture::default() };
    for architecture in [Architecture::default(), relu, linear] {
        let artifact = artifact(&architecture);
        let path = folder.path().join("model.safetensors");
        artifact.save(&path).unwrap();
        let points: Vec<[f32; 2]> = (0..50).map(|i| [i as f32 * 0.11 - 2.5, (i * i % 17) as f32 * 0.2 - 1.7]).collect();
        let mut child = Command::new(&python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/read_artifact.py"))
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("REDRESS_PYTHON runs");
        let text = serde_json::to_string(&points).unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let logits: Vec<f32> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(logits.len(), points.len());
        for (point, logit) in points.iter().zip(logits) {
            let own = artifact.model.logit(point);
            assert!((own - logit).abs() < 1e-5, "{point:?}: {own} here, {logit} in Python");
        }
    }
}
