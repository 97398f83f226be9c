//! One file a command: its arguments as typed, and what it does with them.

pub mod audit;
mod calibrate;
mod check;
mod completions;
mod datasets;
mod init;
mod recourse;
mod reproduce;
mod settings;
pub mod sweep;
pub mod train;
mod tune;
mod verify;

use clap::{Parser, Subcommand};

use crate::{
    failure::{Exit, Failure},
    terminal::{Format, Terminal},
};

/// What the exit code says, at the end of `--help`.
const EXITS: &str = "Exit code: 0 done; 1 the answer is no (a promise, a requirement or a check does not hold); 2 the input \
                     is bad, and the message says where; 130 stopped by Ctrl-C or SIGTERM, with nothing half-written";

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
///   redress audit redress-out/loans/model.safetensors new.csv --out audit
///                                             what it does to people, group by group
///   redress recourse redress-out/loans/model.safetensors new.csv --out answers.csv
///                                             everybody's way to a yes
#[derive(Debug, Parser)]
#[command(name = "redress", version, arg_required_else_help = true, verbatim_doc_comment, max_term_width = 110)]
#[command(after_long_help = EXITS)]
pub struct Cli {
    /// What to print on stdout.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
    #[command(subcommand)]
    pub command: Command,
}

/// The commands, in the order in which people meet them. Each takes its help from its arguments' documentation.
#[derive(Debug, Subcommand)]
pub enum Command {
    Datasets(datasets::Arguments),
    Init(init::Arguments),
    Check(check::Arguments),
    Train(train::Arguments),
    Tune(tune::Arguments),
    Calibrate(calibrate::Arguments),
    Recourse(recourse::Arguments),
    Verify(verify::Arguments),
    Audit(audit::Arguments),
    Sweep(sweep::Arguments),
    Reproduce(reproduce::Arguments),
    Completions(completions::ShellArguments),
    #[command(hide = true)]
    Man(completions::ManArguments),
}

/// Runs a command.
pub fn run(command: Command, terminal: &Terminal) -> Result<Exit, Failure> {
    let rows = matches!(&command, Command::Recourse(arguments) if arguments.answers_with_rows());
    if matches!(terminal.format, Format::Csv | Format::Parquet) && !rows {
        return Err(Failure::input(
            "--format csv and --format parquet are for answers that are rows, and this is none",
        )
        .help("use --format json; `redress recourse MODEL FILE` answers with rows"));
    }
    match command {
        Command::Datasets(arguments) => datasets::run(arguments, terminal),
        Command::Init(arguments) => init::run(arguments, terminal),
        Command::Check(arguments) => check::run(arguments, terminal),
        Command::Train(arguments) => train::run(arguments, terminal),
        Command::Tune(arguments) => tune::run(arguments, terminal),
        Command::Calibrate(arguments) => calibrate::run(arguments, terminal),
        Command::Recourse(arguments) => recourse::run(arguments, terminal),
        Command::Verify(arguments) => verify::run(arguments, terminal),
        Command::Audit(arguments) => audit::run(arguments, terminal),
        Command::Sweep(arguments) => sweep::run(arguments, terminal),
        Command::Reproduce(arguments) => reproduce::run(arguments, terminal),
        Command::Completions(arguments) => completions::shell(arguments),
        Command::Man(arguments) => completions::man(arguments),
    }
}
