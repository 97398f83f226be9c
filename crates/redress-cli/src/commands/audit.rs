//! `redress audit`: what does a model do to people?

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use redress::{
    artifact::Artifact,
    audit::{
        Audit, AuditError, AuditSettings, Findings, Requirement, RequirementCheck,
        paired::{Decisions, Paired},
    },
    calibrate::{FailureProb, sha256_of},
    dataset::{Piece, PieceReader, ReadSummary},
    recourse::{Advisor, Budget, Request},
};
use serde::Serialize;

use super::recourse::{CostName, MethodName};
use crate::{
    failure::{Exit, Failure},
    output::Folder,
    reports, source,
    terminal::Terminal,
};

/// Show what a model does to people, group by group, and whether its promise holds
///
/// FILE should hold rows that the model has not seen; without FILE they are the
/// test rows of the model's own data set. Labels are not needed: without them
/// only the performance is left out. The file is read piece by piece, in
/// constant memory, whatever its length.
///
/// Exits 1 when the certificate does not hold on these rows (the upper end of
/// the interval lies below the promise) or a requirement does not. A
/// requirement is METRIC, a relation and a number: `recourse_all>=0.95`;
/// `recourse_neg[sex]>=0.5` for every group of a column;
/// `approval[sex=Female]>=0.2` for one group; `recourse_all_gap[sex]<=0.05` for
/// the largest difference between groups; `disparities<=0` for none that is
/// beyond chance.
///
/// With --baseline both models judge the same people, and their differences are
/// tested person by person (McNemar's exact test).
///
/// Examples:
///   redress audit redress-out/german/model.safetensors
///   redress audit model.safetensors spring.csv --require "recourse_all>=0.95" --out audit
///   redress audit model.safetensors spring.csv --groups sex,race --baseline old.safetensors
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A model that redress trained.
    model: PathBuf,
    /// People, CSV or Parquet, with labels or without.
    file: Option<PathBuf>,
    /// Compare the groups of these columns, comma-separated; the policy's own groups unless given.
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    groups: Option<Vec<String>>,
    /// How recourse is looked for; only `exact` proves that there is none.
    #[arg(long, value_enum, default_value = "exact")]
    method: MethodName,
    /// What changes cost.
    #[arg(long, value_enum, default_value = "l1")]
    cost: CostName,
    /// Points to score for each person at most: more of them decide hard cases and make plans cheaper.
    #[arg(long, value_name = "POINTS", default_value_t = 5_000, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// Another model to compare with, on the same rows.
    #[arg(long, value_name = "MODEL")]
    baseline: Option<PathBuf>,
    /// Exit 1 unless this holds, such as "recourse_all>=0.95"; may be given several times.
    #[arg(long, value_name = "REQUIREMENT")]
    require: Vec<String>,
    /// α: one in so many intervals may miss, and one in so many audits may flag a disparity that is not there.
    #[arg(long, default_value_t = 0.05)]
    alpha: f64,
    /// Where to write audit.json and report.html; nothing is written unless given.
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Everything a report is made of.
#[derive(Serialize)]
pub struct Audited {
    /// The model file.
    pub model: String,
    /// SHA-256 of the model's weights and encoding.
    pub model_sha256: String,
    /// SHA-256 of the policy's text.
    pub policy_sha256: String,
    /// The file with the people.
    pub file: String,
    /// SHA-256 of its bytes, where it is a file.
    pub file_sha256: Option<String>,
    /// What was found.
    pub findings: Findings,
    /// What was required, held against it.
    pub requirements: Vec<RequirementCheck>,
    /// The model compared with.
    pub baseline: Option<Compared>,
    /// Whether the certificate and every requirement hold.
    pub holds: bool,
}

/// A model compared with.
#[derive(Serialize)]
pub struct Compared {
    /// The model file.
    pub model: String,
    /// SHA-256 of the model's weights and encoding.
    pub model_sha256: String,
    /// What was found about it on the same rows.
    pub findings: Findings,
    /// The two models, person by person: the audited one first.
    pub paired: Vec<Paired>,
}

/// Audits, writes and prints.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let wrong = |error: &dyn std::fmt::Display| Failure::input(error.to_string());
    let requirements: Vec<Requirement> =
        arguments.require.iter().map(|text| text.parse()).collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    let alpha = FailureProb::new(arguments.alpha).map_err(|error| wrong(&error))?;
    let artifact = source::model(&arguments.model)?;
    let other = |path| -> Result<(&Path, Artifact), Failure> { Ok((path, source::model(path)?)) };
    let baseline = arguments.baseline.as_deref().map(other).transpose()?;
    let folder = arguments.out.clone().map(Folder::new);
    folder.as_ref().map_or(Ok(()), Folder::check_writable)?;
    if let (None, Some((path, other))) = (&arguments.file, &baseline) {
        same_test_rows(&artifact, path, other)?;
    }

    let begun = Instant::now();
    let (findings, decisions) = audit(&arguments, &arguments.model, &artifact, alpha, terminal)?;
    let seconds = begun.elapsed().as_secs_f64();
    let requirements: Vec<RequirementCheck> = requirements
        .iter()
        .map(|requirement| requirement.check(&findings))
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(&error))?;
    let baseline = baseline
        .map(|(path, other)| -> Result<Compared, Failure> {
            let (findings, theirs) = audit(&arguments, path, &other, alpha, terminal)?;
            let paired = decisions.compare(&theirs, alpha);
            Ok(Compared { model: path.display().to_string(), model_sha256: other.model_sha256(), findings, paired })
        })
        .transpose()?;
    let certified = findings.certificate.as_ref().is_none_or(|check| check.holds);
    let audited = Audited {
        model: arguments.model.display().to_string(),
        model_sha256: artifact.model_sha256(),
        policy_sha256: artifact.policy_sha256(),
        file: named(&arguments, &artifact),
        file_sha256: arguments.file.as_deref().map(file_sha256).transpose()?,
        holds: certified && requirements.iter().all(|check| check.holds),
        findings,
        requirements,
        baseline,
    };
    terminal.json(&audited);
    terminal.say(reports::audit::terminal_summary(&audited, terminal));
    let people = audited.findings.everybody.outcomes.people;
    terminal.say(terminal.faint(&format!(
        "{people} people in {seconds:.1} s, {:.0} a second with {}",
        people as f64 / seconds.max(1e-9),
        audited.findings.method.name()
    )));
    if let Some(folder) = folder {
        folder.create()?;
        folder.write_json("audit.json", &audited)?;
        folder.write("report.html", reports::audit::report(&audited, &artifact).html().as_bytes())?;
        terminal.say(format!("Wrote audit.json and report.html to {folder}"));
    }
    Ok(if audited.holds { Exit::Done } else { Exit::No })
}

/// Where the people come from, for messages and reports.
fn named(arguments: &Arguments, artifact: &Artifact) -> String {
    match &arguments.file {
        Some(file) => file.display().to_string(),
        None => format!("the test rows of {}", artifact.policy.name),
    }
}

/// Refuses to compare two models on test rows that are not the same: one of them may have been trained on them.
fn same_test_rows(artifact: &Artifact, path: &Path, other: &Artifact) -> Result<(), Failure> {
    let same_table =
        artifact.policy.data.source == other.policy.data.source && artifact.origin.base == other.origin.base;
    let rows = |artifact: &Artifact| -> Result<Vec<usize>, Failure> {
        Ok(source::study_of(artifact)?.test.dataset.people.source_rows)
    };
    if same_table && rows(artifact)? == rows(other)? {
        return Ok(());
    }
    Err(Failure::in_file(path, "was trained and tested on other rows than the model it is compared with")
        .help("name a FILE of people whom neither model has seen"))
}

/// Runs one model over the people: what was found, and what was decided about each where two models are compared.
fn audit(
    arguments: &Arguments,
    path: &Path,
    artifact: &Artifact,
    alpha: FailureProb,
    terminal: &Terminal,
) -> Result<(Findings, Decisions), Failure> {
    let advisor = artifact.advisor(arguments.cost.into()).map_err(|error| Failure::in_file(path, error))?;
    let points = arguments.budget;
    let budget = Budget {
        evaluations: points,
        nodes: points.div_ceil(10),
        stop: Some(terminal.stop_flag()),
        ..Budget::default()
    };
    let request = Request { method: arguments.method.into(), budget, ..Request::default() };
    advisor.check(&request).map_err(|error| Failure::input(error.to_string()))?;
    let run = Run { artifact, advisor: &advisor, request, alpha, compared: arguments.baseline.is_some(), terminal };
    let found = match &arguments.file {
        Some(file) => run.file(file, arguments.groups.as_deref()),
        None => run.test_rows(arguments.groups.as_deref()),
    };
    // What a stop cut short is no finding.
    terminal.keep_going()?;
    found
}

/// One model over one set of people.
struct Run<'a> {
    artifact: &'a Artifact,
    advisor: &'a Advisor,
    request: Request,
    alpha: FailureProb,
    compared: bool,
    terminal: &'a Terminal,
}

impl Run<'_> {
    fn audit(&self, groups: Vec<String>) -> Audit<'_> {
        let audit = Audit::new(self.advisor, AuditSettings { request: self.request, alpha: self.alpha, groups });
        if self.compared { audit.keeping_decisions() } else { audit }
    }

    /// Streams a file.
    fn file(&self, file: &Path, groups: Option<&[String]>) -> Result<(Findings, Decisions), Failure> {
        let policy = &self.artifact.policy;
        let stream = source::stream(self.artifact, file)?;
        let has = |name: &str| {
            stream.columns().iter().any(|(column, _)| column == name)
                || policy.derived.iter().any(|derived| derived.name == name)
        };
        // Groups that were asked for must be there; the policy's own may be missing from a file without labels.
        let groups: Vec<String> = match groups {
            Some(groups) => groups.to_vec(),
            None => policy.data.groups.iter().filter(|group| has(group)).cloned().collect(),
        };
        let mut reader = PieceReader::new(policy, self.artifact.encoding.schema().clone(), &groups);
        let mut audit = self.audit(groups);
        let bar = self.terminal.counter("auditing");
        let keep_going = |people: usize| {
            bar.inc(people as u64);
            !self.terminal.stopped()
        };
        for table in stream {
            let table = table.map_err(|error| Failure::input(error.to_string()))?;
            let piece = reader.read(&table).map_err(|error| Failure::in_file(file, error))?;
            audit.add(&piece, &keep_going).map_err(|error| in_file(file, error))?;
            self.terminal.keep_going()?;
        }
        bar.finish_and_clear();
        self.finish(audit, reader.summary().clone()).map_err(|error| in_file(file, error))
    }

    /// The test rows of the model's own data set.
    fn test_rows(&self, groups: Option<&[String]>) -> Result<(Findings, Decisions), Failure> {
        let own = &self.artifact.policy.data.groups;
        let groups = groups.unwrap_or(own).to_vec();
        if let Some(unknown) = groups.iter().find(|group| !own.contains(group)) {
            let known = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
            return Err(Failure::input(format!("--groups {unknown}: not a group column of the policy")).help(format!(
                "group columns of {}: {known}; or name a FILE that has the column",
                self.artifact.policy.name
            )));
        }
        let test = source::study_of(self.artifact)?.test.dataset;
        let columns = groups.iter().filter_map(|name| test.groups.iter().find(|column| column.name == *name));
        let piece = Piece { groups: columns.cloned().collect(), labels: Some(test.labels), people: test.people };
        let rows = ReadSummary { table_rows: piece.people.len(), rows: piece.people.len(), ..ReadSummary::default() };
        let mut audit = self.audit(groups);
        let bar = self.terminal.bar(rows.rows as u64, "auditing");
        let keep_going = |people: usize| {
            bar.inc(people as u64);
            !self.terminal.stopped()
        };
        audit.add(&piece, &keep_going).map_err(|error| Failure::input(error.to_string()))?;
        self.terminal.keep_going()?;
        bar.finish_and_clear();
        self.finish(audit, rows).map_err(|error| Failure::input(error.to_string()))
    }

    /// Holds the certificate against what was seen.
    fn finish(&self, mut audit: Audit, rows: ReadSummary) -> Result<(Findings, Decisions), AuditError> {
        let certificate = self.artifact.certificate.as_ref().map(|certificate| {
            let faults = certificate.faults(&self.artifact.policy_sha256(), &self.artifact.model_sha256());
            let mut faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            if self.artifact.threshold > certificate.threshold {
                faults.push("the model decides at a higher threshold than the certificate speaks of".to_owned());
            }
            (certificate, faults)
        });
        let decisions = audit.take_decisions();
        Ok((audit.finish(rows, certificate)?, decisions))
    }
}

/// A failure of the audit, with what to do about it.
fn in_file(file: &Path, error: AuditError) -> Failure {
    let advice = match &error {
        AuditError::GroupOfOne { column, .. } => Some(format!("leave {column} out of --groups, or audit more people")),
        AuditError::TooManyGroups { column, .. } => {
            Some(format!("leave {column} out of --groups, or make a column of a few ranges of it"))
        }
        AuditError::Nobody(_) | AuditError::Request(_) | AuditError::Space(_) => None,
    };
    let failure = Failure::in_file(file, error);
    match advice {
        Some(advice) => failure.help(advice),
        None => failure,
    }
}

fn file_sha256(file: &Path) -> Result<String, Failure> {
    File::open(file).and_then(sha256_of).map_err(|error| Failure::in_file(file, error))
}
