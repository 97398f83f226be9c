//! A trained model as one file: policy, encoding, weights, threshold and certificate.
//!
//! The file is in the safetensors format. Any reader of it gets the weights, as `layers.0.weight` (`[outputs, inputs]`,
//! PyTorch's order), `layers.0.bias` and so on; all else is one JSON document in the metadata. It is written to a
//! temporary file that is flushed and renamed, so that a reader finds a whole file or none.

use std::{
    collections::HashMap,
    io::Write,
    path::{Path, PathBuf},
};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::{Deserialize, Serialize};

use crate::{
    calibrate::{Certificate, Evidence, Threshold, sha256_hex},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice, SpaceError},
    model::{Activation, Dense, Model, ModelError, Scorer},
    pipeline::Preset,
    policy::Policy,
    recourse::{Advisor, Costs, Measure, causal::StructuralModel},
    train::TrainParams,
};

/// The version of the file's metadata.
const VERSION: u32 = 1;
/// The metadata's key.
const KEY: &str = "redress";

/// A trained model with all that is needed to decide about people and to explain the decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct Artifact {
    /// Who may change what.
    pub policy: Policy,
    /// From original units to points and back.
    pub encoding: Encoding,
    /// Whether changes keep to whole steps.
    pub lattice: Lattice,
    /// The weights.
    pub model: Model,
    /// The score that means yes.
    pub threshold: Threshold,
    /// The guarantee of the threshold, if it has one.
    pub certificate: Option<Certificate>,
    /// The structural causal model, fitted on the training rows, where the policy has one.
    pub causes: Option<StructuralModel>,
    /// How it was trained.
    pub origin: Origin,
}

/// How a model came about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// The folder that the policy's paths start from; empty for built-in data sets.
    pub base: String,
    /// How the rows were split.
    pub preset: Preset,
    /// The seed of the split.
    pub split_seed: u64,
    /// The settings of the training.
    pub training: TrainParams,
    /// The epoch of the weights.
    pub epoch: usize,
}

/// Why a file is not a model that can be used.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct ArtifactError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    #[source]
    pub reason: ArtifactReason,
}

/// What is wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactReason {
    /// The system refused.
    #[error("{0}")]
    Io(std::io::Error),
    /// It is cut short, or no safetensors file at all.
    #[error("is damaged or no model file ({0})")]
    Damaged(String),
    /// It is a safetensors file of something else.
    #[error("is a safetensors file, but not one that redress wrote")]
    Foreign,
    /// A later redress wrote it.
    #[error("has format version {found}; this redress reads version {VERSION}: use a newer redress")]
    Later {
        /// Its version.
        found: u32,
    },
    /// The metadata does not say what it should.
    #[error("its metadata cannot be read ({0})")]
    Metadata(String),
    /// A tensor is absent, or has another shape or type.
    #[error("its tensor `{name}` {fault}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What is wrong with it.
        fault: String,
    },
    /// The layers make no model.
    #[error("its weights make no model: {0}")]
    Model(#[from] ModelError),
    /// The parts do not belong together.
    #[error("its parts do not fit together: {0}")]
    Unfit(String),
}

/// The JSON document in the metadata.
#[derive(Serialize, Deserialize)]
struct Metadata {
    version: u32,
    policy: String,
    policy_name: String,
    encoding: Encoding,
    lattice: Lattice,
    layers: usize,
    activation: Activation,
    dropout: f32,
    threshold: Threshold,
    certificate: Option<Certificate>,
    causes: Option<StructuralModel>,
    origin: Origin,
}

/// The part of the metadata that every version has.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Artifact {
    /// Δ for everybody, compiled.
    pub fn space(&self) -> Result<ActionSpace, SpaceError> {
        ActionSpace::new(&self.policy, &self.encoding, self.lattice)
    }

    /// Someone to ask about people: the model with its policy, its threshold and what changes cost.
    pub fn advisor(&self, measure: Measure) -> Result<Advisor, ArtifactReason> {
        let unfit = |error: &dyn std::fmt::Display| ArtifactReason::Unfit(error.to_string());
        let space = self.space().map_err(|error| unfit(&error))?;
        let costs = Costs::new(&self.policy, &self.encoding, measure);
        Advisor::new(self.model.clone(), space, self.threshold, costs, self.causes.clone())
            .map_err(|error| unfit(&error))
    }

    /// The hashes that a certificate of this model over these calibration rows must carry.
    pub fn evidence(&self, data_sha256: String) -> Evidence {
        Evidence { policy_sha256: self.policy_sha256(), data_sha256, model_sha256: self.model_sha256() }
    }

    /// SHA-256 of the policy's text.
    pub fn policy_sha256(&self) -> String {
        sha256_hex(self.policy.source.as_bytes())
    }

    /// SHA-256 of the encoding, the activation and every weight and bias, layer after layer: all that decides a person's
    /// score.
    pub fn model_sha256(&self) -> String {
        let about = (&self.encoding, self.model.architecture().activation);
        let mut bytes = serde_json::to_vec(&about).unwrap_or_default();
        for layer in self.model.layers().iter() {
            bytes.extend(layer.weights.iter().chain(&layer.bias).flat_map(|value| value.to_le_bytes()));
        }
        sha256_hex(&bytes)
    }

    /// Writes the file, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<(), ArtifactError> {
        let fail = |reason| ArtifactError { path: path.to_owned(), reason };
        let bytes = self.to_bytes().map_err(fail)?;
        write_whole(path, &bytes).map_err(|error| fail(ArtifactReason::Io(error)))
    }

    /// Reads a file that [`Artifact::save`] wrote; refuses what is damaged, foreign or from a later version.
    pub fn load(path: &Path) -> Result<Self, ArtifactError> {
        let fail = |reason| ArtifactError { path: path.to_owned(), reason };
        let bytes = std::fs::read(path).map_err(|error| fail(ArtifactReason::Io(error)))?;
        Self::from_bytes(&bytes).map_err(fail)
    }

    /// The file's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArtifactReason> {
        let layers = self.model.layers();
        let architecture = self.model.architecture();
        let metadata = Metadata {
            version: VERSION,
            policy: self.policy.source.clone(),
            policy_name: self.policy.name.clone(),
            encoding: self.encoding.clone(),
            lattice: self.lattice,
            layers: layers.len(),
            activation: architecture.activation,
            dropout: architecture.dropout,
            threshold: self.threshold,
            certificate: self.certificate.clone(),
            causes: self.causes.clone(),
            origin: self.origin.clone(),
        };
        let document = serde_json::to_string(&metadata).map_err(|error| ArtifactReason::Metadata(error.to_string()))?;
        layers_to_bytes(&layers, KEY, document)
    }

    /// The artefact in a file's bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ArtifactReason> {
        let stored = StoredLayers::open(bytes, KEY)?;
        let document = &stored.document;
        let unreadable = |error: serde_json::Error| ArtifactReason::Metadata(error.to_string());
        let Versioned { version } = serde_json::from_str(document).map_err(unreadable)?;
        if version != VERSION {
            return Err(ArtifactReason::Later { found: version });
        }
        let metadata: Metadata = serde_json::from_str(document).map_err(unreadable)?;
        let policy = Policy::parse(&metadata.policy, &metadata.policy_name)
            .map_err(|error| ArtifactReason::Metadata(format!("policy: {error}")))?;
        let model = Model::from_layers(stored.layers(metadata.layers)?, metadata.activation, metadata.dropout)?;
        if model.inputs() != metadata.encoding.width() {
            return Err(ArtifactReason::Unfit(format!(
                "the model takes {} inputs, the encoding makes {}",
                model.inputs(),
                metadata.encoding.width()
            )));
        }
        let artifact = Self {
            policy,
            encoding: metadata.encoding,
            lattice: metadata.lattice,
            model,
            threshold: metadata.threshold,
            certificate: metadata.certificate,
            causes: metadata.causes,
            origin: metadata.origin,
        };
        artifact.space().map_err(|error| ArtifactReason::Unfit(error.to_string()))?;
        Ok(artifact)
    }
}

/// Writes a file whole or not at all: a temporary file in the same folder, flushed to the disk, then a rename.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // A temporary file is its owner's alone unless told otherwise; a result is as readable as any other file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.prefix(".redress-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Layers as a safetensors file, with a document about them under a key of its metadata.
pub fn layers_to_bytes(layers: &[Dense], key: &str, document: String) -> Result<Vec<u8>, ArtifactReason> {
    let damaged = |error: safetensors::SafeTensorError| ArtifactReason::Damaged(error.to_string());
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = layers.iter().enumerate().flat_map(tensors_of).collect();
    let views = tensors.iter().map(|(name, shape, data)| {
        TensorView::new(Dtype::F32, shape.clone(), data).map(|view| (name.as_str(), view)).map_err(damaged)
    });
    let views: Vec<_> = views.collect::<Result<_, _>>()?;
    safetensors::serialize(views, Some(HashMap::from([(key.to_owned(), document)]))).map_err(damaged)
}

/// What [`layers_to_bytes`] wrote.
pub struct StoredLayers<'a> {
    /// The document about the layers.
    pub document: String,
    tensors: SafeTensors<'a>,
}

impl<'a> StoredLayers<'a> {
    /// Reads the file; refuses what is damaged, or has no document under this key.
    pub fn open(bytes: &'a [u8], key: &str) -> Result<Self, ArtifactReason> {
        let damaged = |error: safetensors::SafeTensorError| ArtifactReason::Damaged(error.to_string());
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(damaged)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
        let document = header.metadata().as_ref().and_then(|entries| entries.get(key)).cloned();
        Ok(Self { document: document.ok_or(ArtifactReason::Foreign)?, tensors })
    }

    /// The first `count` layers.
    pub fn layers(&self, count: usize) -> Result<Vec<Dense>, ArtifactReason> {
        (0..count).map(|layer| read_layer(&self.tensors, layer)).collect()
    }
}

/// The two tensors of a layer: the weights as `[outputs, inputs]`, and the bias.
fn tensors_of((index, layer): (usize, &Dense)) -> [(String, Vec<usize>, Vec<u8>); 2] {
    let transposed = (0..layer.outputs)
        .flat_map(|output| (0..layer.inputs).map(move |input| layer.weights[input * layer.outputs + output]));
    let bytes = |values: &mut dyn Iterator<Item = f32>| values.flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    [
        (format!("layers.{index}.weight"), vec![layer.outputs, layer.inputs], bytes(&mut transposed.into_iter())),
        (format!("layers.{index}.bias"), vec![layer.outputs], bytes(&mut layer.bias.iter().copied())),
    ]
}

/// Reads a layer back.
fn read_layer(tensors: &SafeTensors, layer: usize) -> Result<Dense, ArtifactReason> {
    let (weight, shape) = read_tensor(tensors, format!("layers.{layer}.weight"), 2)?;
    let (bias, _) = read_tensor(tensors, format!("layers.{layer}.bias"), 1)?;
    let (outputs, inputs) = (shape[0], shape[1]);
    let weights = (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output)));
    let weights = weights.map(|(input, output)| weight[output * inputs + input]).collect();
    Ok(Dense { inputs, outputs, weights, bias })
}

/// The numbers and the shape of a tensor of f32.
fn read_tensor(tensors: &SafeTensors, name: String, rank: usize) -> Result<(Vec<f32>, Vec<usize>), ArtifactReason> {
    let fault = |fault: String| ArtifactReason::Tensor { name: name.clone(), fault };
    let view = tensors.tensor(&name).map_err(|_| fault("is missing".to_owned()))?;
    if view.dtype() != Dtype::F32 || view.shape().len() != rank {
        return Err(fault(format!("is {:?} of shape {:?}, not F32 of rank {rank}", view.dtype(), view.shape())));
    }
    let values = view.data().chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    Ok((values.collect(), view.shape().to_vec()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        dataset::{Dataset, Feature, FeatureKind, People, Schema},
        model::Architecture,
    };

    fn artifact(architecture: &Architecture) -> Artifact {
        let text = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n\
                    [features.hours]\nkind = \"integer\"\nchange = \"increase\"\nmax_change = 7\n\
                    [features.debt]\nkind = \"number\"\n";
        let feature =
            |column: &str, kind| Feature { column: column.into(), label: column.into(), unit: None, kind, fill: None };
        let features = vec![feature("hours", FeatureKind::Integer), feature("debt", FeatureKind::Number)];
        let people = People {
            schema: Arc::new(Schema { features }),
            values: vec![30.0, 1.5, 40.0, 2.25, 50.0, 0.5],
            source_rows: vec![1, 2, 3],
            overrides: vec![],
        };
        let encoding = Encoding::fit(&Dataset { people, labels: vec![false, true, true], groups: vec![] });
        Artifact {
            policy: Policy::parse(text, "p").unwrap(),
            encoding,
            lattice: Lattice::AsPolicy,
            model: Model::random(2, architecture, 3).unwrap(),
            threshold: Threshold::from_logit(-0.125),
            certificate: None,
            causes: None,
            origin: Origin {
                base: String::new(),
                preset: Preset::Paper,
                split_seed: 4,
                training: TrainParams::default(),
                epoch: 2,
            },
        }
    }

    #[test]
    fn what_was_saved_is_what_is_loaded() {
        let linear = Architecture { hidden: vec![], ..Architecture::default() };
        for architecture in [Architecture { hidden: vec![5, 3], ..Architecture::default() }, linear] {
            let artifact = artifact(&architecture);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("model.safetensors");
            artifact.save(&path).unwrap();
            let loaded = Artifact::load(&path).unwrap();
            assert_eq!(loaded, artifact);
            assert_eq!(loaded.model_sha256(), artifact.model_sha256());
            let point = [0.5, -0.25];
            assert_eq!(loaded.model.logit(&point).to_bits(), artifact.model.logit(&point).to_bits());
        }
    }

    #[test]
    fn every_cut_is_refused_without_a_panic() {
        let bytes = artifact(&Architecture { hidden: vec![4], ..Architecture::default() }).to_bytes().unwrap();
        for length in (0..bytes.len()).step_by(7) {
            assert!(Artifact::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
        }
    }

    #[test]
    fn strangers_and_later_versions_are_refused_by_name() {
        let bytes = artifact(&Architecture { hidden: vec![4], ..Architecture::default() }).to_bytes().unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let later = text.replace("\\\"version\\\":1,\\\"policy\\\"", "\\\"version\\\":9,\\\"policy\\\"");
        assert_ne!(later, text);
        let mut changed = bytes.clone();
        let at = bytes.windows(11).position(|window| window == b"\\\"version\\\"").unwrap() + 12;
        changed[at] = b'9';
        assert!(matches!(Artifact::from_bytes(&changed), Err(ArtifactReason::Later { found: 9 })));
        let foreign = safetensors::serialize(Vec::<(String, TensorView)>::new(), None).unwrap();
        assert!(matches!(Artifact::from_bytes(&foreign), Err(ArtifactReason::Foreign)));
        assert!(matches!(Artifact::from_bytes(b"hello"), Err(ArtifactReason::Damaged(_))));
    }

    /// The file with one tensor replaced, or left out.
    fn with_tensor(name: &str, replacement: Option<(Dtype, Vec<usize>, Vec<u8>)>) -> Vec<u8> {
        let bytes = artifact(&Architecture { hidden: vec![4], ..Architecture::default() }).to_bytes().unwrap();
        let (_, header) = SafeTensors::read_metadata(&bytes).unwrap();
        let tensors = SafeTensors::deserialize(&bytes).unwrap();
        let mut views: Vec<_> = tensors.iter().filter(|(own, _)| *own != name).collect();
        if let Some((dtype, shape, data)) = &replacement {
            views.push((name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
        }
        safetensors::serialize(views, header.metadata().clone()).unwrap()
    }

    #[test]
    fn tensors_that_make_no_model_are_refused_by_name() {
        let refuse = |name, replacement| Artifact::from_bytes(&with_tensor(name, replacement)).unwrap_err();
        let zeros = |count: usize| vec![0; 4 * count];
        for replacement in [None, Some((Dtype::F32, vec![4], zeros(4))), Some((Dtype::F64, vec![2, 2], zeros(8)))] {
            let reason = refuse("layers.0.weight", replacement);
            assert!(matches!(reason, ArtifactReason::Tensor { name, .. } if name == "layers.0.weight"));
        }
        let swapped = refuse("layers.0.weight", Some((Dtype::F32, vec![2, 4], zeros(8))));
        assert!(matches!(swapped, ArtifactReason::Model(ModelError::WrongCount { layer: 0, .. })), "{swapped}");
        let nan = f32::NAN.to_le_bytes().repeat(4);
        let reason = refuse("layers.0.bias", Some((Dtype::F32, vec![4], nan)));
        assert!(matches!(reason, ArtifactReason::Model(ModelError::NotFinite { layer: 0, .. })));
        let wide = Some((Dtype::F32, vec![4, 3], zeros(12)));
        assert!(matches!(refuse("layers.0.weight", wide), ArtifactReason::Unfit(_)));
    }

    #[test]
    fn equal_artefacts_are_equal_bytes_and_writing_leaves_one_file() {
        let artifact = artifact(&Architecture { hidden: vec![4], ..Architecture::default() });
        assert_eq!(artifact.to_bytes().unwrap(), artifact.clone().to_bytes().unwrap());
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("absent").join("model.safetensors");
        assert!(matches!(artifact.save(&missing).unwrap_err().reason, ArtifactReason::Io(_)));
        let path = folder.path().join("model.safetensors");
        artifact.save(&path).unwrap();
        artifact.save(&path).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
