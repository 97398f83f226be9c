//! `redress init`: a first policy for a table.

use std::path::{Path, PathBuf};

use clap::Args;
use redress::policy::{Layout, draft};
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    output::write_whole,
    terminal::Terminal,
};

/// Draft a policy for a table
///
/// Reads the whole file, guesses kinds, units and ranges, and writes a policy
/// in which nobody may change anything yet: the comments say how to allow what
/// people can really do.
///
/// Example: redress init loans.csv --label repaid
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    /// A CSV or Parquet file.
    file: PathBuf,
    /// The column that holds the outcome.
    #[arg(long, value_name = "COLUMN")]
    label: String,
    /// Where to write the policy.
    #[arg(long, short = 'o', value_name = "FILE", default_value = "policy.toml")]
    out: PathBuf,
}

/// Drafts and writes; refuses to overwrite.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    if arguments.out.exists() {
        return Err(Failure::in_file(&arguments.out, "exists already; it was left as it is")
            .help("choose another name with -o, or move it away"));
    }
    let table = redress_data::read_table(&arguments.file, &Layout::default(), &[])
        .map_err(|error| Failure::input(error.to_string()))?;
    let relative = relative_to_policy(&arguments.file, &arguments.out);
    let text = draft(&table, &arguments.label, &relative).map_err(|error| Failure::in_file(&arguments.file, error))?;
    write_whole(&arguments.out, text.as_bytes())?;
    terminal.json(&json!({ "policy": arguments.out, "rows": table.rows(), "columns": table.columns().len() }));
    terminal.say(format!(
        "Wrote {}: a draft for {} rows and {} columns. Nobody may change anything yet.\n\n\
         Next:\n  edit {}            allow what people can really change\n  redress check {}   see what was understood\n  \
         redress train {}   train, certify, report",
        arguments.out.display(),
        table.rows(),
        table.columns().len(),
        arguments.out.display(),
        arguments.out.display(),
        arguments.out.display(),
    ));
    Ok(Exit::Done)
}

/// The table's path as the policy file must name it: relative to the policy's own folder where they share one.
fn relative_to_policy(table: &Path, policy: &Path) -> String {
    let folder = policy.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(table_full), Ok(folder_full)) = (table.canonicalize(), folder.canonicalize()) else {
        return table.display().to_string();
    };
    match table_full.strip_prefix(&folder_full) {
        Ok(inside) => inside.display().to_string(),
        Err(_) if folder_full == Path::new(".").canonicalize().unwrap_or_default() && table.is_relative() => {
            table.display().to_string()
        }
        Err(_) => table_full.display().to_string(),
    }
}
