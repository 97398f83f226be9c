//! What `DATASET|POLICY` and `FILE` name, loaded.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use redress::{
    artifact::Artifact,
    dataset::{Dataset, FeatureKind, People, ReadSummary, Schema, split::Split},
    pipeline::{Preset, Study},
    policy::{DerivedRule, Layout, Policy, Source},
    table::{Column, Missing, Table, TableError, Values},
};
use redress_data::{DataFolders, LoadError, ReadError, ReadReason, TableStream, Tables};

use crate::failure::Failure;

/// A policy and the tables it speaks about.
pub struct Loaded {
    /// Who may change what.
    pub policy: Policy,
    /// The rows.
    pub tables: Tables,
    /// The folder that the policy's paths start from.
    base: PathBuf,
}

/// The data sets of a policy's tables.
pub struct Rows {
    /// The rows to train on, or all rows.
    pub dataset: Dataset,
    /// What happened to them while they were read.
    pub summary: ReadSummary,
    /// The rows of the policy's own test file.
    pub test: Option<Dataset>,
}

/// Loads a built-in data set by name, or a policy file with its tables.
pub fn load(name: &str) -> Result<Loaded, Failure> {
    let (policy, base) = policy(name)?;
    let tables = redress_data::load(&policy, &base, &DataFolders::standard())?;
    Ok(Loaded { policy, tables, base })
}

/// The policy that a name or a path stands for, and the folder that its paths start from.
fn policy(name: &str) -> Result<(Policy, PathBuf), Failure> {
    let path = Path::new(name);
    let looks_like_a_path = path.extension().is_some() || path.components().count() > 1 || path.is_file();
    if looks_like_a_path {
        if !path.exists() {
            return Err(Failure::in_file(path, "no such file")
                .help("name a policy file, or a data set from `redress datasets`"));
        }
        let policy = redress_data::read_policy_file(path)?;
        return Ok((policy, path.parent().unwrap_or(Path::new("")).to_owned()));
    }
    match redress_data::builtin(name) {
        Ok(builtin) => Ok((builtin.policy(), PathBuf::new())),
        Err(_) => {
            let names = redress_data::datasets().iter().map(|builtin| builtin.name);
            let near = redress::policy::nearest(name, names.clone());
            let listed = names.collect::<Vec<_>>().join(", ");
            let failure = Failure::input(format!("`{name}` is neither a built-in data set nor a policy file"));
            Err(failure.help(match near {
                Some(near) => format!("did you mean `{near}`? There are {listed}"),
                None => format!("built-in data sets: {listed}; or name a policy file such as policy.toml"),
            }))
        }
    }
}

impl Loaded {
    /// Reads people, labels and groups out of the tables.
    pub fn rows(&self) -> Result<Rows, Failure> {
        let schema = Schema::resolve(&self.policy, &self.tables.table).map_err(|error| self.failure(error))?;
        let schema = Arc::new(schema);
        let read = |table: &Table| Dataset::read(&self.policy, schema.clone(), table);
        let (dataset, summary) = read(&self.tables.table).map_err(|error| self.failure(error))?;
        let test = self.tables.test.as_ref().map(read).transpose();
        let test = test.map_err(|error| {
            let path = self.policy.data.test_path.as_deref().unwrap_or_default();
            Failure::in_file(&self.base.join(path), error)
        })?;
        Ok(Rows { dataset, summary, test: test.map(|(test, _)| test) })
    }

    /// Reads, splits and encodes the rows.
    pub fn study(&self, preset: Preset, seed: u64) -> Result<Study, Failure> {
        self.study_under(&self.policy, &self.rows()?, preset, seed)
    }

    /// Splits and encodes rows that were read before, under a policy that may let people change other things.
    pub fn study_under(&self, policy: &Policy, rows: &Rows, preset: Preset, seed: u64) -> Result<Study, Failure> {
        let plan = preset.split(rows.dataset.len(), seed);
        let split = match &rows.test {
            Some(test) => Split::with_test(&rows.dataset, test, &plan),
            None => Split::new(&rows.dataset, &plan),
        };
        let split = split.map_err(|error| self.failure(error))?;
        Study::new(policy.clone(), split, preset.lattice()).map_err(|error| self.failure(error))
    }

    /// The folder that the policy's paths start from, in full; empty for a built-in data set.
    pub fn base(&self) -> String {
        match &self.policy.data.source {
            Source::Builtin(_) => String::new(),
            Source::Path(_) => {
                let base = if self.base.as_os_str().is_empty() { Path::new(".") } else { &self.base };
                base.canonicalize().unwrap_or_else(|_| base.to_owned()).display().to_string()
            }
        }
    }

    /// Where the rows come from, for messages and reports.
    pub fn origin(&self) -> String {
        match &self.policy.data.source {
            Source::Path(path) => self.base.join(path).display().to_string(),
            Source::Builtin(name) => format!("the built-in data set {name}"),
        }
    }

    /// A failure about the rows, named by their file.
    pub fn failure(&self, error: impl fmt::Display) -> Failure {
        Failure::input(format!("{}: {error}", self.origin()))
    }
}

/// Loads a model file.
pub fn model(path: &Path) -> Result<Artifact, Failure> {
    if !path.exists() {
        return Err(Failure::in_file(path, "no such file").help("name a model.safetensors that `redress train` wrote"));
    }
    Artifact::load(path).map_err(|error| Failure::input(error.to_string()))
}

/// Reads a table laid out as the model's policy says, or with a header of its own.
pub fn table(artifact: &Artifact, file: &Path) -> Result<Table, Failure> {
    redress_data::read_table(file, &layout(artifact, file)?, &artifact.policy.data.missing_values).map_err(unreadable)
}

/// Reads a table piece by piece, laid out as the model's policy says, or with a header of its own.
pub fn stream(artifact: &Artifact, file: &Path) -> Result<TableStream, Failure> {
    TableStream::open(file, &layout(artifact, file)?, &artifact.policy.data.missing_values).map_err(unreadable)
}

/// How a file is laid out. A policy may describe files without a header; the file at hand may well have one.
fn layout(artifact: &Artifact, file: &Path) -> Result<Layout, Failure> {
    let data = &artifact.policy.data;
    if data.layout == Layout::default() {
        return Ok(Layout::default());
    }
    let columns = |layout: &Layout| -> Result<Vec<String>, ReadError> {
        let stream = TableStream::open(file, layout, &data.missing_values)?;
        Ok(stream.columns().iter().map(|(name, _)| name.clone()).collect())
    };
    let known = |columns: &[String]| {
        let reads = |name: &String| artifact.policy.features.iter().any(|rule| rule.column == *name);
        columns.iter().any(|name| *name == data.label || reads(name))
    };
    match (columns(&data.layout), columns(&Layout::default())) {
        (Ok(own), _) if known(&own) => Ok(data.layout.clone()),
        (_, Ok(named)) if known(&named) => Ok(Layout::default()),
        // Not laid out as the policy says: what is wrong with it is what is wrong with it as it looks.
        (Err(error), looks) if matches!(error.reason, ReadReason::ColumnCount { .. }) => {
            Err(looks.map_or_else(unreadable, |named| other_schema(artifact, file, &named)))
        }
        (Err(error), _) => Err(unreadable(error)),
        (Ok(_), _) => Ok(data.layout.clone()),
    }
}

fn unreadable(error: ReadError) -> Failure {
    Failure::input(error.to_string())
}

/// A file of other columns than the model reads: says which it has, which are wanted, and what to do.
fn other_schema(artifact: &Artifact, file: &Path, found: &[String]) -> Failure {
    let policy = &artifact.policy;
    let listed = |names: &[&str]| {
        let shown = if names.len() > 6 { 4 } else { names.len() };
        let quoted = names[..shown].iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        if shown < names.len() { format!("{quoted} and {} more", names.len() - shown) } else { quoted }
    };
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    let mut wanted: Vec<&str> = policy.features.iter().flat_map(|rule| sources(policy, &rule.column)).collect();
    let mut seen = std::collections::HashSet::new();
    wanted.retain(|name| seen.insert(*name));
    let (name, width) = (&policy.name, policy.data.layout.columns.as_ref().map_or(0, Vec::len));
    Failure::in_file(
        file,
        format!("has none of the columns that the model reads; its first line has {}", listed(&found)),
    )
    .help(format!(
        "the model was trained on `{name}`: begin with a header line that names {}; or bring rows of {width} columns \
             without a header, as `{name}` has them",
        listed(&wanted)
    ))
}

/// The columns of a table that a column of the policy is made of: itself, unless it is derived.
fn sources<'a>(policy: &'a Policy, column: &'a str) -> Vec<&'a str> {
    let derived = policy.derived.iter().find(|derived| derived.name == column);
    match derived.map(|derived| &derived.rule) {
        Some(DerivedRule::DaysBetween(from, to)) => vec![from, to],
        Some(DerivedRule::Contains(source, _) | DerivedRule::Equals(source, _)) => vec![source],
        None => vec![column],
    }
}

/// Reads labelled rows for a model.
pub fn labelled_rows(artifact: &Artifact, file: &Path) -> Result<Dataset, Failure> {
    let table = table(artifact, file)?;
    let schema = artifact.encoding.schema().clone();
    let read = Dataset::read(&artifact.policy, schema, &table);
    Ok(read.map_err(|error| Failure::in_file(file, error))?.0)
}

/// Reads rows for a model; without a label column nobody has a label or a group.
pub fn fresh_rows(artifact: &Artifact, file: &Path) -> Result<Dataset, Failure> {
    let table = table(artifact, file)?;
    if table.column(&artifact.policy.data.label).is_some() {
        return labelled_rows(artifact, file);
    }
    let schema = artifact.encoding.schema().clone();
    let people = People::read(&artifact.policy, schema, &table).map_err(|error| Failure::in_file(file, error))?;
    Ok(Dataset { labels: vec![false; people.len()], people, groups: Vec::new() })
}

/// The model's own tables, where they are at hand.
pub fn own(artifact: &Artifact) -> Result<Loaded, Failure> {
    let policy = artifact.policy.clone();
    let base = PathBuf::from(&artifact.origin.base);
    let tables = redress_data::load(&policy, &base, &DataFolders::standard())?;
    Ok(Loaded { policy, tables, base })
}

/// The study that a model was trained on, where its rows are at hand.
pub fn study_of(artifact: &Artifact) -> Result<Study, Failure> {
    own(artifact)?.study(artifact.origin.preset, artifact.origin.split_seed)
}

/// People as a table, in the words of their schema.
pub fn table_of(people: &People) -> Result<Table, TableError> {
    let row = Column::new(
        "row",
        Values::Integer(people.source_rows.iter().map(|&row| row as i64).collect()),
        Missing::none(),
    );
    let features = people.schema.features.iter().enumerate().map(|(feature, about)| {
        let values = (0..people.len()).map(|person| people.row(person)[feature]);
        let values = match about.kind {
            FeatureKind::Number => Values::Number(values.collect()),
            FeatureKind::Integer => Values::Integer(values.map(|value| value as i64).collect()),
            _ => Values::Text(values.map(|value| people.schema.show(feature, value)).collect()),
        };
        Column::new(about.column.clone(), values, Missing::none())
    });
    Table::new(std::iter::once(row).chain(features).collect())
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Policy { path, text, error } => {
                Failure::Policy { file: path.display().to_string(), text, error }
            }
            other => Failure::input(other.to_string()),
        }
    }
}
