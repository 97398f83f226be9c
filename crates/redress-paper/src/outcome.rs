//! What an experiment came to: our figures beside the printed ones, what they teach, and pictures.

use serde::Serialize;

use redress_report::{Cell, Chart, Column, Table};

use crate::{measured::Measured, settings::Reading};

/// One figure beside the printed one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The data set.
    pub data: String,
    /// Which model: its λ, or what it was trained for.
    pub model: String,
    /// What was measured.
    pub quantity: String,
    /// Our figure.
    pub ours: Measured,
    /// The paper's, where it prints one.
    pub printed: Option<f64>,
    /// Why they differ, or what to know about it.
    pub note: String,
}

/// A further table, without printed figures to compare with.
#[derive(Debug, Clone, PartialEq)]
pub struct Extra {
    /// What it shows.
    pub title: String,
    /// The table.
    pub table: Table,
}

/// What an experiment came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The experiment's name.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Which paper it reproduces.
    pub reading: Reading,
    /// How it was done: splits, rows, settings.
    pub setup: Vec<(&'static str, String)>,
    /// Our figures beside the printed ones.
    pub comparisons: Vec<Comparison>,
    /// Further tables.
    pub extras: Vec<Extra>,
    /// Pictures; the first is the experiment's own.
    pub charts: Vec<Chart>,
    /// What it teaches, in sentences.
    pub findings: Vec<String>,
}

impl Comparison {
    /// Ours less the printed one.
    pub fn difference(&self) -> Option<f64> {
        self.printed.map(|printed| self.ours.mean - printed)
    }
}

impl Outcome {
    /// An empty outcome.
    pub fn new(name: &'static str, title: impl Into<String>, reading: Reading) -> Outcome {
        Outcome {
            name,
            title: title.into(),
            reading,
            setup: Vec::new(),
            comparisons: Vec::new(),
            extras: Vec::new(),
            charts: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Says how it was done.
    pub fn setup(&mut self, what: &'static str, how: impl Into<String>) {
        self.setup.push((what, how.into()));
    }

    /// Adds what it teaches.
    pub fn finding(&mut self, sentence: impl Into<String>) {
        self.findings.push(sentence.into());
    }

    /// Adds a further table.
    pub fn extra(&mut self, title: impl Into<String>, table: Table) {
        self.extras.push(Extra { title: title.into(), table });
    }

    /// The comparison as a table: ours, printed, difference, note.
    pub fn table(&self) -> Table {
        let mut table = Table::new([
            Column::text("data"),
            Column::text("model"),
            Column::text("quantity"),
            Column::number("ours"),
            Column::number("s.e."),
            Column::number("printed"),
            Column::number("difference"),
            Column::text("note"),
        ]);
        let number = |value: Option<f64>| value.map_or_else(Cell::default, |value| Cell::number(value, 3));
        for row in &self.comparisons {
            table.row([
                Cell::text(&row.data),
                Cell::text(&row.model),
                Cell::text(&row.quantity),
                Cell::number(row.ours.mean, 3),
                number(row.ours.standard_error),
                number(row.printed),
                number(row.difference()).signed(),
                Cell::text(&row.note),
            ]);
        }
        table
    }

    /// The tables of the outcome as Markdown.
    pub fn markdown(&self, heading: &str) -> String {
        let mut text = format!("{heading} {} ({})\n\n", self.title, self.reading.title());
        for (what, how) in &self.setup {
            text.push_str(&format!("- {what}: {how}\n"));
        }
        text.push('\n');
        if !self.comparisons.is_empty() {
            text.push_str(&self.table().markdown());
            text.push('\n');
        }
        for extra in &self.extras {
            text.push_str(&format!("**{}**\n\n{}\n", extra.title, extra.table.markdown()));
        }
        text
    }

    /// The outcome as one JSON document.
    pub fn json(&self) -> serde_json::Value {
        let extras = self.extras.iter().map(|extra| {
            let columns: Vec<&str> = extra.table.columns.iter().map(|column| column.title.as_str()).collect();
            let rows = extra.table.rows.iter().map(|row| row.cells.iter().map(cell_json).collect::<Vec<_>>());
            serde_json::json!({"title": extra.title, "columns": columns, "rows": rows.collect::<Vec<_>>()})
        });
        let comparisons = self.comparisons.iter().map(|row| {
            serde_json::json!({
                "data": row.data, "model": row.model, "quantity": row.quantity, "ours": row.ours,
                "printed": row.printed, "difference": row.difference(), "note": row.note,
            })
        });
        let setup: serde_json::Map<_, _> =
            self.setup.iter().map(|(what, how)| ((*what).to_owned(), serde_json::json!(how))).collect();
        serde_json::json!({
            "name": self.name,
            "title": self.title,
            "reading": self.reading,
            "setup": setup,
            "comparisons": comparisons.collect::<Vec<_>>(),
            "tables": extras.collect::<Vec<_>>(),
            "findings": self.findings,
        })
    }
}

/// A cell for a program: its number where it has one, else its text.
fn cell_json(cell: &Cell) -> serde_json::Value {
    match cell.value {
        Some(value) => serde_json::json!(value),
        None => serde_json::json!(cell.text),
    }
}

/// Gives a difference its plus sign.
trait Signed {
    fn signed(self) -> Self;
}

impl Signed for Cell {
    fn signed(mut self) -> Cell {
        if self.value.is_some_and(|value| value >= 0.0005) {
            self.text.insert(0, '+');
        }
        self
    }
}
