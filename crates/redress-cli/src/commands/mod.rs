//! One file a command: its arguments as typed, and what it does with them.

mod calibrate;
mod check;
mod completions;
mod datasets;
mod init;
mod recourse;
mod settings;
pub mod train;
mod tune;
mod verify;

use clap::{Parser, Subcommand};

use crate::{
    failure::{Exit, Failure},
    terminal::{Format, Terminal},
};

/// Train classifiers that leave the people they turn down a real way to a yes.
///
/// A tour, with the data set that comes along:
///
///   redress train german            train with recourse, certify it, write the report
///   redress recourse redress-out/german/model.safetensors --row 2
///                                   one person's way to a yes, in their own units
///   redress verify redress-out/german/model.safetensors
///                                   check the certificate
///
/// And with your own table:
///
///   redress init loans.csv --label repaid     draft a policy: who may change what
///   redress check policy.toml                 what redress understood, in plain words
///   redress train policy.toml                 a model, a certificate, a report
///   redress recourse redress-out/loans/model.safetensors new.csv --out answers.csv
#[derive(Debug, Parser)]
#[command(name = "redress", version, arg_required_else_help = true, verbatim_doc_comment, max_term_width = 110)]
pub struct Cli {
    /// What to print on stdout.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: Format,
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order in which people meet them.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the built-in data sets, or fetch one.
    Datasets(datasets::Arguments),
    /// Draft a policy for a table.
    Init(init::Arguments),
    /// Show what a policy and its table were understood to say.
    Check(check::Arguments),
    /// Train with recourse, calibrate the threshold, write model, certificate and report.
    Train(train::Arguments),
    /// Find the λ with the best F1 under the guarantee.
    Tune(tune::Arguments),
    /// Calibrate a model's threshold again on other rows.
    Calibrate(calibrate::Arguments),
    /// Show people a way to a yes, in their own units.
    Recourse(recourse::Arguments),
    /// Check a model's certificate: hashes, arithmetic and, on fresh rows, the observed rate.
    Verify(verify::Arguments),
    /// Write shell completions.
    Completions(completions::ShellArguments),
    /// Write the manual pages.
    #[command(hide = true)]
    Man(completions::ManArguments),
}

/// Runs a command.
pub fn run(command: Command, terminal: &Terminal) -> Result<Exit, Failure> {
    match command {
        Command::Datasets(arguments) => datasets::run(arguments, terminal),
        Command::Init(arguments) => init::run(arguments, terminal),
        Command::Check(arguments) => check::run(arguments, terminal),
        Command::Train(arguments) => train::run(arguments, terminal),
        Command::Tune(arguments) => tune::run(arguments, terminal),
        Command::Calibrate(arguments) => calibrate::run(arguments, terminal),
        Command::Recourse(arguments) => recourse::run(arguments, terminal),
        Command::Verify(arguments) => verify::run(arguments, terminal),
        Command::Completions(arguments) => completions::shell(arguments),
        Command::Man(arguments) => completions::man(arguments),
    }
}
