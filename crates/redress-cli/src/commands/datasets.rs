//! `redress datasets`: what comes along, and how to get the rest.

use clap::{Args, Subcommand};
use redress_data::{DataFolders, FetchOptions, Fetched, Presence, Progress};
use redress_report::{Cell, Column, Table};
use serde_json::json;

use crate::{
    failure::{Exit, Failure},
    terminal::Terminal,
};

/// List the built-in data sets, or fetch one
///
/// Examples:
///   redress datasets
///   redress datasets fetch compas
///   redress datasets policy adult > adult.toml
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Download a data set that does not come along, and check it.
    Fetch {
        /// Its name.
        name: String,
        /// A mirror to fetch from instead: the address of a folder that holds the files.
        #[arg(long, value_name = "URL")]
        from: Option<String>,
    },
    /// Print the policy of a data set, to learn from or to edit.
    Policy {
        /// Its name.
        name: String,
    },
}

/// Lists, fetches or prints.
pub fn run(arguments: Arguments, terminal: &Terminal) -> Result<Exit, Failure> {
    match arguments.action {
        None => list(terminal),
        Some(Action::Fetch { name, from }) => fetch(&name, from, terminal),
        Some(Action::Policy { name }) => {
            let builtin = redress_data::builtin(&name).map_err(|error| Failure::input(error.to_string()))?;
            terminal.raw(builtin.policy_text());
            Ok(Exit::Done)
        }
    }
}

/// Name, rows and whether it is here as a table; sources and licences below it.
fn list(terminal: &Terminal) -> Result<Exit, Failure> {
    let folders = DataFolders::standard();
    let mut table = Table::new(["name", "rows", "here", "about"].map(|title| match title {
        "rows" => Column::number(title),
        _ => Column::text(title),
    }));
    let mut sources = String::new();
    let mut documents = Vec::new();
    for builtin in redress_data::datasets() {
        let here = match builtin.presence(&folders) {
            Presence::Embedded => "built in".to_owned(),
            Presence::Generated => "drawn".to_owned(),
            Presence::Found(folder) => folder.display().to_string(),
            Presence::Absent { .. } => format!("no: redress datasets fetch {}", builtin.name),
        };
        documents.push(json!({
            "name": builtin.name, "rows": builtin.rows, "here": here, "about": builtin.about,
            "licence": builtin.licence, "source": builtin.source,
        }));
        table.row([
            Cell::text(builtin.name),
            Cell::count(builtin.rows as u64),
            Cell::text(here),
            Cell::text(builtin.about),
        ]);
        sources += &format!("\n{}: {}. Licence: {}", builtin.name, builtin.source, builtin.licence);
    }
    terminal.json(&documents);
    terminal.say(format!("{}{sources}", table.text()));
    Ok(Exit::Done)
}

/// Downloads with a progress bar.
fn fetch(name: &str, from: Option<String>, terminal: &Terminal) -> Result<Exit, Failure> {
    let folders = DataFolders::standard();
    let folder = folders
        .target()
        .ok_or_else(|| Failure::input("there is no data folder to write to").help("set REDRESS_DATA to a folder"))?;
    let bar = terminal.bar(0, name);
    let mut progress = |at: Progress<'_>| {
        bar.set_length(at.total);
        bar.set_position(at.done);
        bar.set_message(at.file.to_owned());
    };
    let mut options = FetchOptions { base_url: from, ..FetchOptions::new(folder, &mut progress) };
    let fetched = redress_data::fetch(name, &mut options).map_err(|error| Failure::input(error.to_string()))?;
    bar.finish_and_clear();
    let mut documents = Vec::new();
    for file in &fetched {
        let (path, word) = match file {
            Fetched::AlreadyThere(path) => (path, "already there, checksum right"),
            Fetched::Downloaded(path) => (path, "downloaded, checksum right"),
        };
        documents.push(json!({ "path": path, "state": word }));
        terminal.say(format!("{}: {word}", path.display()));
    }
    if fetched.is_empty() {
        terminal.say(format!("{name} is built in: there is nothing to fetch"));
    }
    terminal.json(&documents);
    Ok(Exit::Done)
}
