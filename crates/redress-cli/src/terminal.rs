//! Where the command runs: a person's terminal or a pipe.

use std::{
    io::{IsTerminal, Write},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use redress::recourse::StopFlag;
use serde::Serialize;

use crate::failure::Failure;

/// Set by the first Ctrl-C (or SIGTERM); a signal handler can reach nothing else.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// What is printed on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum Format {
    /// Tables for people.
    #[default]
    Table,
    /// One JSON document.
    Json,
    /// Comma-separated rows, where a command answers with rows.
    Csv,
    /// A Parquet file, where a command answers with rows (needs `--out`).
    Parquet,
}

/// Colours, progress and Ctrl-C.
pub struct Terminal {
    /// What is printed on stdout.
    pub format: Format,
    colour_out: bool,
    colour_err: bool,
    progress: bool,
}

impl Terminal {
    /// Looks at the streams and the environment once, and starts listening for Ctrl-C.
    pub fn new(format: Format) -> Self {
        let colour_wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        // The first Ctrl-C asks for a clean stop, the second one insists.
        let _ = ctrlc::set_handler(|| {
            if STOPPED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        let (out, err) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        Self { format, colour_out: out && colour_wanted, colour_err: err && colour_wanted, progress: err }
    }

    /// Whether Ctrl-C was pressed.
    pub fn stopped(&self) -> bool {
        self.stop_flag().is_set()
    }

    /// Fails with [`Failure::Interrupted`] once Ctrl-C was pressed.
    pub fn keep_going(&self) -> Result<(), Failure> {
        if self.stopped() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    /// The flag that Ctrl-C sets, for work that takes long.
    pub fn stop_flag(&self) -> StopFlag {
        StopFlag::new(&STOPPED)
    }

    /// A progress bar of `steps` on a terminal, nothing in a pipe.
    pub fn bar(&self, steps: u64, doing: &str) -> ProgressBar {
        let bar = ProgressBar::new(steps);
        if !self.progress {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return bar;
        }
        let template = "{msg:.bold} {wide_bar:.cyan/dim} {pos}/{len} {eta:>5}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━━─"));
        }
        bar.set_message(doing.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }

    /// A counter for work whose end is not known, on a terminal; nothing in a pipe.
    pub fn counter(&self, what: &str) -> ProgressBar {
        let counter = ProgressBar::no_length();
        if !self.progress {
            counter.set_draw_target(ProgressDrawTarget::hidden());
            return counter;
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} {msg}, {per_sec}") {
            counter.set_style(style);
        }
        counter.set_message(what.to_owned());
        counter.enable_steady_tick(Duration::from_millis(200));
        counter
    }

    /// Prints text meant for people on stdout; nothing when a machine reads.
    pub fn say(&self, text: impl std::fmt::Display) {
        if self.format == Format::Table {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// Prints text as it is, whatever the format: the answer is the text.
    pub fn raw(&self, text: &str) {
        let _ = write!(std::io::stdout(), "{text}");
    }

    /// Prints one JSON document on stdout when that was asked for.
    pub fn json(&self, document: &impl Serialize) {
        if self.format == Format::Json
            && let Ok(text) = serde_json::to_string_pretty(document)
        {
            let _ = writeln!(std::io::stdout(), "{text}");
        }
    }

    /// A note on stderr, for people, whatever stdout holds.
    pub fn note(&self, text: impl std::fmt::Display) {
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Writes a failure to stderr.
    pub fn report(&self, failure: &Failure) {
        let text = failure.render(self.colour_err);
        let text = match text.strip_prefix("error:") {
            Some(rest) if self.colour_err => format!("\u{1b}[1;31merror:\u{1b}[0m{rest}"),
            _ => text,
        };
        let _ = write!(std::io::stderr(), "{text}");
    }

    /// Bold on a terminal.
    pub fn bold(&self, text: &str) -> String {
        self.styled("1", text)
    }

    /// Faint on a terminal.
    pub fn faint(&self, text: &str) -> String {
        self.styled("2", text)
    }

    /// Green on a terminal.
    pub fn good(&self, text: &str) -> String {
        self.styled("32", text)
    }

    /// Red on a terminal.
    pub fn bad(&self, text: &str) -> String {
        self.styled("31", text)
    }

    /// Yellow on a terminal.
    pub fn warning(&self, text: &str) -> String {
        self.styled("33", text)
    }

    /// Wraps text in an ANSI style, on a terminal that wants colour.
    fn styled(&self, code: &str, text: &str) -> String {
        if self.colour_out { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
