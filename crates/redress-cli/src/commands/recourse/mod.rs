//! `redress recourse`: is there a way to a yes, and which?

mod stream;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use redress::{
    artifact::Artifact,
    dataset::People,
    recourse::{Advisor, Budget, Explanation, LetterText, Measure, Method, Outcome, Request, letter},
};
use redress_report::{Cell, Column, Table};
use serde_json::{Value, json};

use crate::{
    failure::{Exit, Failure},
    source,
    terminal::{Format, Terminal},
};

/// Show people a way to a yes, in their own units
///
/// Without FILE the people are the test rows of the model's own data set. One
/// person (--row, --json) is shown in full; a whole file is written again with
/// the verdict and the cheapest action as further columns, row by row, in
/// constant memory, and goes on where it was stopped.
///
/// Examples:
///   redress recourse model.safetensors --row 3 --options 3
///   redress recourse model.safetensors --json '{"age": 40, "hours": 30}' --letter
///   redress recourse model.safetensors people.parquet --out answers.parquet
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A model that redress trained.
    model: PathBuf,
    /// People, CSV or Parquet.
    file: Option<PathBuf>,
    /// One row of FILE (or of the model's own table), counting from 1.
    #[arg(long, conflicts_with = "json", value_name = "N")]
    row: Option<usize>,
    /// One person as JSON, by column; `"overrides": {"hours": {"max": 40}}` narrows the policy for them.
    #[arg(long, value_name = "PERSON", conflicts_with = "file")]
    json: Option<String>,
    /// How to look.
    #[arg(long, value_enum, default_value = "exact")]
    method: MethodName,
    /// How many different ways to show at most.
    #[arg(long, default_value_t = 1, value_name = "K")]
    options: usize,
    /// What changes cost.
    #[arg(long, value_enum, default_value = "l1")]
    cost: CostName,
    /// What may be spent on each person: seconds (`0.5s`), or points to score (`20000`).
    #[arg(long, value_name = "BUDGET")]
    budget: Option<String>,
    /// Write a plain-language notice to the person (with --row or --json).
    #[arg(long)]
    letter: bool,
    /// Write the rows here; the ending decides between CSV (.csv, .tsv, .gz) and Parquet (.parquet).
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Arguments {
    /// Whether the answer is a table of people rather than one person.
    pub fn answers_with_rows(&self) -> bool {
        self.row.is_none() && self.json.is_none()
    }
}

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Exact search within the budget, then gradient descent.
    Exact,
    /// The paper's one-step linear program.
    Lp,
    /// Gradient descent (Wachter et al.).
    Gradient,
    /// A linear approximation and an integer program (LIME, Ustun et al.).
    Linear,
    /// Under the policy's structural causal model.
    Causal,
}

/// The measures of cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostName {
    /// Standard deviations moved, added up.
    L1,
    /// Standard deviations moved, as a distance.
    L2,
    /// Median absolute deviations moved, added up.
    Mad,
    /// Percentiles moved, added up.
    Percentile,
    /// The largest shift in percentile.
    MaxPercentile,
}

impl From<MethodName> for Method {
    fn from(name: MethodName) -> Self {
        match name {
            MethodName::Exact => Method::Exact,
            MethodName::Lp => Method::Lp,
            MethodName::Gradient => Method::Gradient,
            MethodName::Linear => Method::Linear,
            MethodName::Causal => Method::Causal,
        }
    }
}

impl From<CostName> for Measure {
    fn from(name: CostName) -> Self {
        match name {
            CostName::L1 => Measure::L1,
            CostName::L2 => Measure::L2,
            CostName::Mad => Measure::MadL1,
            CostName::Percentile => Measure::PercentileTotal,
            CostName::MaxPercentile => Measure::PercentileMax,
        }
    }
}

/// Answers for one person or for a file.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    let artifact = source::model(&arguments.model)?;
    let budget = budget(arguments.budget.as_deref(), arguments.row.is_some() || arguments.json.is_some())?;
    let budget = Budget { stop: Some(terminal.stop_flag()), ..budget };
    let mut request = Request { method: arguments.method.into(), options: arguments.options, budget, slack: true };
    let advisor = artifact.advisor(arguments.cost.into()).map_err(|error| Failure::in_file(&arguments.model, error))?;
    advisor.check(&request).map_err(|error| Failure::input(error.to_string()))?;
    if arguments.letter && arguments.row.is_none() && arguments.json.is_none() {
        return Err(Failure::input("--letter is written to one person").help("name them with --row N or --json"));
    }
    if let Some(people) = one_person(&arguments, &artifact)? {
        return show(&people, &advisor, &request, arguments.letter, terminal);
    }
    // A table of answers has no column for it.
    request.slack = false;
    match &arguments.file {
        Some(file) => stream::answer_file(file, arguments.out.as_deref(), &artifact, &advisor, &request, terminal),
        None => {
            let people = source::study_of(&artifact)?.test.dataset.people;
            stream::answer_people(&people, arguments.out.as_deref(), &advisor, &request, terminal)
        }
    }
}

/// `0.5s`, `2m` or a number of points to score. A time is for one person: answers that a clock cut short may differ from
/// run to run, which a file of answers must not.
fn budget(text: Option<&str>, one_person: bool) -> Result<Budget, Failure> {
    let Some(text) = text else { return Ok(Budget::default()) };
    let wrong = || {
        Failure::input(format!("--budget {text}: neither a time nor a number of points"))
            .help("write 0.5s, 2m, or 20000 (points the model may be asked about for each person)")
    };
    let time = [("ms", 0.001), ("s", 1.0), ("m", 60.0)]
        .into_iter()
        .find_map(|(unit, seconds)| text.strip_suffix(unit).map(|digits| (digits, seconds)));
    if let Some((digits, unit)) = time {
        let seconds: f64 = digits.parse().map_err(|_| wrong())?;
        if !(seconds > 0.0 && seconds * unit < 1e6) {
            return Err(wrong());
        }
        if !one_person {
            return Err(Failure::input(format!("--budget {text}: a time is for one person"))
                .help("for a file give a number of points, so that every run gives the same answers"));
        }
        let deadline = Instant::now() + Duration::from_secs_f64(seconds * unit);
        return Ok(Budget { deadline: Some(deadline), ..Budget::UNLIMITED });
    }
    let points: u64 = text.replace('_', "").parse().ok().filter(|points| *points > 0).ok_or_else(wrong)?;
    Ok(Budget { evaluations: points, nodes: points.div_ceil(10), ..Budget::default() })
}

/// The one person that --row or --json names, if either does.
fn one_person(arguments: &Arguments, artifact: &Artifact) -> Result<Option<People>, Failure> {
    let schema = artifact.encoding.schema().clone();
    if let Some(text) = &arguments.json {
        let document: Value =
            serde_json::from_str(text).map_err(|error| Failure::input(format!("--json: not JSON: {error}")))?;
        let people = People::from_json(&artifact.policy, schema, &document)
            .map_err(|error| Failure::input(format!("--json: {error}")))?;
        return Ok(Some(people));
    }
    let Some(row) = arguments.row else { return Ok(None) };
    let (table, name) = match &arguments.file {
        Some(file) => (source::table(artifact, file)?, file.display().to_string()),
        None => {
            let own = source::own(artifact)?;
            let name = own.origin();
            (own.tables.table, name)
        }
    };
    if row == 0 || row > table.rows() {
        return Err(Failure::input(format!("{name}: there is no row {row}; rows go from 1 to {}", table.rows())));
    }
    let people = People::read(&artifact.policy, schema, &table.slice(row - 1..row))
        .map_err(|error| Failure::input(format!("{name}: {}", error.after(row - 1))))?;
    Ok(Some(people))
}

/// One person in full: as a letter, as JSON, or as tables.
fn show(
    people: &People,
    advisor: &Advisor,
    request: &Request,
    as_letter: bool,
    terminal: &Terminal,
) -> Result<Exit, Failure> {
    let explanation = advisor
        .explain(people.row(0), people.overrides.first(), request)
        .map_err(|error| Failure::input(error.to_string()))?;
    terminal.keep_going()?;
    if as_letter {
        let text = letter(&explanation, &LetterText::default());
        if terminal.format == Format::Json {
            terminal.json(&json!({ "letter": text, "explanation": explanation }));
        } else {
            terminal.raw(&text);
        }
        return Ok(Exit::Done);
    }
    terminal.json(&explanation);
    terminal.say(in_full(&explanation, terminal));
    Ok(Exit::Done)
}

/// The decision, and each way as a table.
fn in_full(explanation: &Explanation, terminal: &Terminal) -> String {
    let decided = match explanation.outcome {
        Outcome::Approved => terminal.good("approved"),
        Outcome::Recourse => format!("{}, with a way to a yes", terminal.warning("denied")),
        Outcome::NoRecourseProven => format!(
            "{}: proven to have no way to a yes (no permitted change reaches a score above {:.4})",
            terminal.bad("denied"),
            explanation.proven_bound.unwrap_or(explanation.best_score)
        ),
        Outcome::NoRecourseFound => format!("{}: no way to a yes was found", terminal.bad("denied")),
        Outcome::Unknown => format!(
            "{}: undecided within the budget; the best score seen is {:.4}",
            terminal.warning("denied"),
            explanation.best_score
        ),
    };
    let mut text = format!("{decided}\nscore {:.4}, needed {:.4}", explanation.score, explanation.threshold);
    for (index, way) in explanation.options.iter().enumerate() {
        text += &format!(
            "\n\n{} {}: score {:.4}, cost {:.3}\n",
            terminal.bold("way"),
            index + 1,
            way.score_after,
            way.cost
        );
        let mut table = Table::new(["change", "from", "to", "unit", "percentile"].map(Column::text));
        for (change, mark) in way
            .changes
            .iter()
            .map(|change| (change, ""))
            .chain(way.consequences.iter().map(|change| (change, " (follows)")))
        {
            let percentile = match (change.percentile_from, change.percentile_to) {
                (Some(from), Some(to)) => format!("{from:.0} → {to:.0}"),
                _ => String::new(),
            };
            table.row([
                Cell::text(format!("{}{mark}", change.feature)),
                Cell::text(&change.from),
                Cell::text(&change.to),
                Cell::text(change.unit.as_deref().unwrap_or_default()),
                Cell::text(percentile),
            ]);
        }
        text += &table.text();
        if let Some(slack) = way.slack {
            text += &terminal.faint(&format!(
                "margin {:.4}; {} one step more or less; holds in {:.0}% of draws of noise",
                slack.margin,
                if slack.survives_one_step { "holds with" } else { "may not hold with" },
                100.0 * slack.survives_noise
            ));
        }
    }
    text
}
