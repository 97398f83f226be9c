//! Trained models kept between runs, so that an interrupted run goes on where it stopped and experiments share models.
//!
//! One safetensors file a model, named by the hash of everything that decides its weights. A file appears whole or not
//! at all: it is written under another name, flushed to the disk and then renamed.

use std::path::{Path, PathBuf};

use redress::{
    artifact::{self, StoredLayers, layers_to_bytes},
    calibrate::sha256_hex,
    model::{Activation, Architecture, Model},
};
use serde::{Deserialize, Serialize};

use crate::error::PaperError;

/// Raised whenever training changes, so that models of an older version are not taken for those of this one.
const VERSION: u32 = 2;
/// Where a file says what it holds besides the weights.
const KEY: &str = "shape";

/// A folder of models.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

/// What a file says besides the weights.
#[derive(Serialize, Deserialize)]
struct Shape {
    activation: Activation,
    dropout: f32,
    layers: usize,
}

impl Cache {
    /// The cache in this folder, which is made if it is not there.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Cache, PaperError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|error| PaperError::file(&folder, error))?;
        Ok(Cache { folder })
    }

    /// The key of a configuration.
    pub fn key(configuration: &impl Serialize) -> Result<String, PaperError> {
        let text = serde_json::to_string(&(VERSION, env!("CARGO_PKG_VERSION"), configuration))?;
        Ok(sha256_hex(text.as_bytes()))
    }

    /// The model under a key. A file that cannot be read, or is not a model, counts as absent: it is trained again.
    pub fn get(&self, key: &str) -> Option<Model> {
        let bytes = std::fs::read(self.path(key)).ok()?;
        read(&bytes)
    }

    /// Keeps a model under a key.
    pub fn put(&self, key: &str, model: &Model) -> Result<(), PaperError> {
        let bytes = written(model)?;
        write_whole(&self.path(key), &bytes)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{}.safetensors", &key[..key.len().min(32)]))
    }
}

/// Writes a file so that it is there whole or not at all.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), PaperError> {
    artifact::write_whole(path, bytes).map_err(|error| PaperError::file(path, error))
}

/// The bytes of a model.
fn written(model: &Model) -> Result<Vec<u8>, PaperError> {
    let layers = model.layers();
    let Architecture { activation, dropout, .. } = model.architecture();
    let shape = Shape { activation, dropout, layers: layers.len() };
    Ok(layers_to_bytes(&layers, KEY, serde_json::to_string(&shape)?)?)
}

/// The model in these bytes.
fn read(bytes: &[u8]) -> Option<Model> {
    let stored = StoredLayers::open(bytes, KEY).ok()?;
    let shape: Shape = serde_json::from_str(&stored.document).ok()?;
    Model::from_layers(stored.layers(shape.layers).ok()?, shape.activation, shape.dropout).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_comes_back_bit_for_bit() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let model = Model::random(9, &Architecture::default(), 7).unwrap();
        let key = Cache::key(&("adult", 0.8)).unwrap();
        assert_eq!(cache.get(&key), None);
        cache.put(&key, &model).unwrap();
        assert_eq!(cache.get(&key), Some(model));
        assert_ne!(key, Cache::key(&("adult", 0.6)).unwrap());
    }

    #[test]
    fn a_torn_file_counts_as_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let key = Cache::key(&"x").unwrap();
        let whole = written(&Model::random(3, &Architecture::default(), 1).unwrap()).unwrap();
        for length in [0, 4, 40, whole.len() / 2, whole.len() - 1] {
            std::fs::write(cache.path(&key), &whole[..length]).unwrap();
            assert_eq!(cache.get(&key), None, "{length} bytes");
        }
    }
}
