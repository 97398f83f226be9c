//! `redress completions` and `redress man`: what packagers install beside the command.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Cli;
use crate::failure::{Exit, Failure};

/// Write completions for a shell to stdout
///
/// Examples:
///   redress completions bash > ~/.local/share/bash-completion/completions/redress
///   redress completions zsh > ~/.zfunc/_redress
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ShellArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Write one manual page a command into a folder
///
/// Example: redress man ~/.local/share/man/man1
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub struct ManArguments {
    /// The folder, which must exist.
    folder: PathBuf,
}

/// Prints completions.
pub fn shell(arguments: ShellArguments) -> Result<Exit, Failure> {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "redress", &mut std::io::stdout());
    Ok(Exit::Done)
}

/// Writes manual pages.
pub fn man(arguments: ManArguments) -> Result<Exit, Failure> {
    clap_mangen::generate_to(Cli::command(), &arguments.folder)
        .map_err(|error| Failure::in_file(&arguments.folder, error))?;
    Ok(Exit::Done)
}
