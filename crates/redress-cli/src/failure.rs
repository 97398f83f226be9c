//! What a user reads when something cannot be done.

use std::{fmt, path::Path, process::ExitCode};

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use redress::policy::PolicyError;

/// Why a command stopped.
#[derive(Debug)]
pub enum Failure {
    /// Bad input, or work that failed: one message that names the file, row, column, value and what was allowed.
    Input {
        /// The message.
        message: String,
        /// What to do about it, where that helps.
        help: Option<String>,
    },
    /// A policy that cannot be used, with the place in its text.
    Policy {
        /// The policy file.
        file: String,
        /// Its text.
        text: String,
        /// What is wrong and where.
        error: Box<PolicyError>,
    },
    /// Ctrl-C: everything not finished was left as it was.
    Interrupted,
}

/// How a command that ran to its end ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: an audit or a certificate that does not hold.
    No,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::No => 1,
        })
    }
}

impl Failure {
    /// Bad input with a message.
    pub fn input(message: impl Into<String>) -> Self {
        Self::Input { message: message.into(), help: None }
    }

    /// Bad input in a file.
    pub fn in_file(file: &Path, error: impl fmt::Display) -> Self {
        Self::input(format!("{}: {error}", file.display()))
    }

    /// Adds what to do about it.
    pub fn help(mut self, advice: impl Into<String>) -> Self {
        if let Self::Input { help, .. } = &mut self {
            *help = Some(advice.into());
        }
        self
    }

    /// Says what the failure is about, in front of its message.
    pub fn about(mut self, what: impl fmt::Display) -> Self {
        if let Self::Input { message, .. } = &mut self {
            *message = format!("{what}: {message}");
        }
        self
    }

    /// 2 for bad input and failure; 130 for Ctrl-C, as shells expect.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Self::Input { .. } | Self::Policy { .. } => 2,
            Self::Interrupted => 130,
        })
    }

    /// The text for stderr; policies are shown with the line that is wrong, in colour only where that is wanted.
    pub fn render(&self, colour: bool) -> String {
        match self {
            Self::Input { message, help: None } => format!("error: {message}\n"),
            Self::Input { message, help: Some(help) } => format!("error: {message}\n  help: {help}\n"),
            Self::Interrupted => "stopped: nothing unfinished was written\n".to_owned(),
            Self::Policy { file, text, error } => render_policy(file, text, error, colour),
        }
    }
}

/// One headline as for every other error, then the place in the file.
fn render_policy(file: &str, text: &str, error: &PolicyError, colour: bool) -> String {
    let place = error.at.as_ref().map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
    let mut rendered = format!("error: {file}{place}: {}\n", error.message);
    if let Some(at) = &error.at {
        let diagnostic = MietteDiagnostic::new("").with_label(LabeledSpan::underline(at.span.clone()));
        let report = Report::new(diagnostic).with_source_code(NamedSource::new(file, text.to_owned()));
        let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let mut drawn = String::new();
        if GraphicalReportHandler::new_themed(theme).render_report(&mut drawn, report.as_ref()).is_ok() {
            // The handler repeats its own (empty) headline; the place in the file is what is wanted.
            let lines = drawn.lines().map(str::trim_end).filter(|line| !matches!(line.trim(), "" | "×"));
            rendered.extend(lines.map(|line| format!("{line}\n")));
        }
    }
    if let Some(help) = &error.help {
        rendered.push_str(&format!("  help: {help}\n"));
    }
    rendered
}
