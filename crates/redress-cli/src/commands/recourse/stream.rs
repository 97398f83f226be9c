//! Answers for many people: row by row in constant memory, in order, going on where a run was stopped.
//!
//! Every finished piece of the input is a file of its own in `OUT.parts`, beside a note of what it was made from. Only
//! when all are there do they become OUT, in one step. A run that is stopped leaves the pieces; the next run of the same
//! command takes them up, and a run of another command throws them away.

use std::path::{Path, PathBuf};

use redress::{
    artifact::Artifact,
    dataset::People,
    recourse::{Advisor, Explanation, Request, columns},
    table::{Column, Table, Values},
};
use redress_data::{TableStream, TableWriter};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    output::write_whole,
    source,
    terminal::{Format, Terminal},
};

/// People who are answered between two steps of the progress bar.
const BATCH: usize = 2_048;

/// What the pieces were made from: pieces of anything else are of no use.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Recipe {
    input: PathBuf,
    input_bytes: u64,
    input_modified: Option<u64>,
    model_sha256: String,
    policy_sha256: String,
    threshold: f64,
    request: String,
}

/// How many people had which verdict.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tally {
    people: u64,
    approved: u64,
    recourse: u64,
    no_recourse_proven: u64,
    no_recourse_found: u64,
    unknown: u64,
    incomplete: u64,
}

impl Tally {
    /// Counts the verdicts of a table that [`columns`] were added to.
    fn count(&mut self, table: &Table) {
        let Some(Values::Text(verdicts)) = table.column("redress_verdict").map(Column::values) else { return };
        for &code in &verdicts.codes {
            self.people += 1;
            *match verdicts.dictionary[code as usize].as_str() {
                "approved" => &mut self.approved,
                "recourse" => &mut self.recourse,
                "no_recourse_proven" => &mut self.no_recourse_proven,
                "no_recourse_found" => &mut self.no_recourse_found,
                "incomplete" => &mut self.incomplete,
                _ => &mut self.unknown,
            } += 1;
        }
    }

    fn text(&self) -> String {
        format!(
            "{} people: {} approved, {} with a way to a yes, {} proven to have none, {} for whom none was found, {} \
             undecided, {} with a missing value",
            self.people,
            self.approved,
            self.recourse,
            self.no_recourse_proven,
            self.no_recourse_found,
            self.unknown,
            self.incomplete
        )
    }
}

/// Answers for the people of a file.
pub fn answer_file(
    file: &Path,
    out: Option<&Path>,
    artifact: &Artifact,
    advisor: &Advisor,
    request: &Request,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let target = Target::new(out, terminal)?;
    let recipe = Recipe::new(file, artifact, advisor, request)?;
    let parts = Parts::open(target.path(), &recipe)?;
    let bar = terminal.counter("people");
    let mut done = 0;
    // Rows that cannot be read must be mended first, and pieces of the file as it was are then of no use.
    let spoilt = |failure: Failure| {
        parts.discard();
        failure
    };
    for (index, table) in source::stream(artifact, file).map_err(spoilt)?.enumerate() {
        let table = table.map_err(|error| spoilt(Failure::input(error.to_string())))?;
        let rows = table.rows();
        if !parts.has(index) {
            let people = People::read_complete(&artifact.policy, artifact.encoding.schema().clone(), &table)
                .map_err(|error| spoilt(Failure::in_file(file, error.after(done))))?;
            let mut explanations: Vec<Option<Explanation>> = vec![None; rows];
            for (row, explanation) in people.source_rows.iter().zip(explain(&people, advisor, request, terminal, &bar)?)
            {
                explanations[row - 1] = Some(explanation);
            }
            let table = table
                .with(columns(&explanations, advisor.space(), request.options))
                .map_err(|error| spoilt(Failure::in_file(file, format!("{error}; rename it to keep both"))))?;
            parts.write(index, &table)?;
        } else {
            bar.inc(rows as u64);
        }
        done += rows;
    }
    bar.finish_and_clear();
    let tally = parts.join(target.path())?;
    target.deliver(&tally, terminal)
}

/// Answers for people who are at hand.
pub fn answer_people(
    people: &People,
    out: Option<&Path>,
    advisor: &Advisor,
    request: &Request,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let target = Target::new(out, terminal)?;
    let bar = terminal.bar(people.len() as u64, "people");
    let explanations: Vec<_> = explain(people, advisor, request, terminal, &bar)?.into_iter().map(Some).collect();
    bar.finish_and_clear();
    let table = source::table_of(people)
        .and_then(|table| table.with(columns(&explanations, advisor.space(), request.options)))
        .map_err(|error| Failure::input(error.to_string()))?;
    let mut tally = Tally::default();
    tally.count(&table);
    if let Some(path) = target.path() {
        let mut writer = TableWriter::create(path).map_err(|error| Failure::input(error.to_string()))?;
        writer.write(&table).map_err(|error| Failure::input(error.to_string()))?;
        writer.finish().map_err(|error| Failure::input(error.to_string()))?;
    }
    target.deliver(&tally, terminal)
}

/// Explanations in batches. Ctrl-C ends a batch early, which is then thrown away.
fn explain(
    people: &People,
    advisor: &Advisor,
    request: &Request,
    terminal: &Terminal,
    bar: &indicatif::ProgressBar,
) -> Result<Vec<Explanation>, Failure> {
    let mut explanations = Vec::with_capacity(people.len());
    let rows: Vec<usize> = (0..people.len()).collect();
    for batch in rows.chunks(BATCH) {
        let answered = advisor.explain_all(&people.subset(batch), request);
        explanations.extend(answered.map_err(|error| Failure::input(error.to_string()))?);
        terminal.keep_going()?;
        bar.inc(batch.len() as u64);
    }
    Ok(explanations)
}

/// Where the rows go: a file the user named, a temporary one that is then printed, or nowhere.
enum Target {
    Named(PathBuf),
    Printed(tempfile::TempDir),
    Nowhere,
}

impl Target {
    fn new(out: Option<&Path>, terminal: &Terminal) -> Result<Self, Failure> {
        match (out, terminal.format) {
            (Some(path), format) => ending(path, format).map(|()| Self::Named(path.to_owned())),
            (None, Format::Csv) => tempfile::tempdir()
                .map(Self::Printed)
                .map_err(|error| Failure::input(format!("no room for a temporary file: {error}"))),
            (None, Format::Parquet) => {
                Err(Failure::input("--format parquet needs a file to write to")
                    .help("name it with --out people.parquet"))
            }
            (None, Format::Table | Format::Json) => Ok(Self::Nowhere),
        }
    }

    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Named(path) => Some(path.clone()),
            Self::Printed(folder) => Some(folder.path().join("rows.csv")),
            Self::Nowhere => None,
        }
    }

    /// Prints what there is to print.
    fn deliver(&self, tally: &Tally, terminal: &Terminal) -> Result<Exit, Failure> {
        if let Self::Printed(folder) = self {
            let copied = std::fs::File::open(folder.path().join("rows.csv"))
                .and_then(|mut file| std::io::copy(&mut file, &mut std::io::stdout().lock()));
            // A reader that has seen enough closes the pipe: that is no failure.
            let _ = copied;
            return Ok(Exit::Done);
        }
        let out = match self {
            Self::Named(path) => Some(path.display().to_string()),
            _ => None,
        };
        terminal.json(&json!({ "tally": tally, "out": out }));
        terminal.say(tally.text());
        match out {
            Some(path) => terminal.say(format!("Wrote {path}")),
            None => terminal.say("Name a file with --out to get every row, or one person with --row."),
        }
        Ok(Exit::Done)
    }
}

/// Refuses a file whose ending says nothing, or something else than --format.
fn ending(path: &Path, format: Format) -> Result<(), Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let (text, parquet) = (is(&[".csv", ".tsv", ".csv.gz", ".tsv.gz"]), is(&[".parquet"]));
    match format {
        Format::Csv if parquet => Err(Failure::in_file(path, "the ending says Parquet and --format says csv")),
        Format::Parquet if text => Err(Failure::in_file(path, "the ending says CSV and --format says parquet")),
        _ if text || parquet => Ok(()),
        _ => Err(Failure::in_file(path, "the ending decides what is written, and this one is not known")
            .help("use .csv, .tsv, .csv.gz, .tsv.gz or .parquet")),
    }
}

impl Recipe {
    fn new(file: &Path, artifact: &Artifact, advisor: &Advisor, request: &Request) -> Result<Self, Failure> {
        let about = std::fs::metadata(file).map_err(|error| Failure::in_file(file, error))?;
        let modified = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        Ok(Self {
            input: file.canonicalize().unwrap_or_else(|_| file.to_owned()),
            input_bytes: about.len(),
            input_modified: modified.map(|time| time.as_secs()),
            model_sha256: artifact.model_sha256(),
            policy_sha256: artifact.policy_sha256(),
            threshold: artifact.threshold.logit(),
            request: format!("{request:?} {:?}", advisor.costs().measure()),
        })
    }
}

/// The finished pieces of an output.
struct Parts {
    folder: Folder,
}

/// Where pieces live: beside the output, to be taken up again, or nowhere that lasts.
enum Folder {
    Beside(PathBuf),
    Passing(tempfile::TempDir),
}

impl Parts {
    /// Opens the pieces of an output; those made by another recipe are thrown away.
    fn open(out: Option<PathBuf>, recipe: &Recipe) -> Result<Self, Failure> {
        let Some(out) = out else {
            let folder = tempfile::tempdir().map_err(|error| Failure::input(error.to_string()))?;
            return Ok(Self { folder: Folder::Passing(folder) });
        };
        let mut name = out.clone().into_os_string();
        name.push(".parts");
        let folder = PathBuf::from(name);
        let note = folder.join("recipe.json");
        let known = std::fs::read(&note).ok().and_then(|text| serde_json::from_slice::<Recipe>(&text).ok());
        if known.as_ref() != Some(recipe) {
            if folder.exists() {
                std::fs::remove_dir_all(&folder).map_err(|error| Failure::in_file(&folder, error))?;
            }
            std::fs::create_dir_all(&folder).map_err(|error| Failure::in_file(&folder, error))?;
            let text = serde_json::to_vec(recipe).map_err(|error| Failure::in_file(&note, error))?;
            write_whole(&note, &text)?;
        }
        Ok(Self { folder: Folder::Beside(folder) })
    }

    /// Removes the pieces.
    fn discard(&self) {
        if let Folder::Beside(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn path(&self, index: usize) -> PathBuf {
        let folder = match &self.folder {
            Folder::Beside(folder) => folder,
            Folder::Passing(folder) => folder.path(),
        };
        folder.join(format!("{index:06}.parquet"))
    }

    fn has(&self, index: usize) -> bool {
        self.path(index).exists()
    }

    fn write(&self, index: usize, table: &Table) -> Result<(), Failure> {
        let fail = |error: redress_data::WriteError| Failure::input(error.to_string());
        let mut writer = TableWriter::create(self.path(index)).map_err(fail)?;
        writer.write(table).map_err(fail)?;
        writer.finish().map_err(fail)
    }

    /// Joins the pieces into the output and counts the verdicts.
    fn join(self, out: Option<PathBuf>) -> Result<Tally, Failure> {
        let fail = |error: redress_data::WriteError| Failure::input(error.to_string());
        let mut writer = out.map(TableWriter::create).transpose().map_err(fail)?;
        let mut tally = Tally::default();
        for index in 0.. {
            let path = self.path(index);
            if !path.exists() {
                break;
            }
            let pieces = TableStream::open(&path, &Default::default(), &[]);
            for table in pieces.map_err(|error| Failure::input(error.to_string()))? {
                let table = table.map_err(|error| Failure::input(error.to_string()))?;
                tally.count(&table);
                if let Some(writer) = &mut writer {
                    writer.write(&table).map_err(fail)?;
                }
            }
        }
        if let Some(writer) = writer {
            writer.finish().map_err(fail)?;
        }
        if let Folder::Beside(folder) = &self.folder {
            std::fs::remove_dir_all(folder).map_err(|error| Failure::in_file(folder, error))?;
        }
        Ok(tally)
    }
}
