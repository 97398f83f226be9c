//! The `redress` command: parse → one library call → render.

mod commands;
mod failure;
mod output;
mod reports;
mod source;
mod terminal;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};

use crate::{commands::Cli, terminal::Terminal};

fn main() -> ExitCode {
    let matches = match Cli::command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version are answers (exit 0); anything else is bad input (exit 2).
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let terminal = Terminal::new(cli.format);
    match commands::run(cli.command, &terminal) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            terminal.report(&failure);
            failure.exit_code()
        }
    }
}
