//! One table type with four renderings: HTML for reports, Markdown for documents, aligned text for terminals, CSV
//! for programs.
//!
//! ```
//! use redress_report::table::{Cell, Column, Table};
//!
//! let mut table = Table::new([Column::text("data"), Column::number("F1")]);
//! table.row(["adult".into(), Cell::number(0.6364, 3)]);
//! assert_eq!(table.markdown(), "| data  |    F1 |\n| :---- | ----: |\n| adult | 0.636 |\n");
//! assert_eq!(table.csv(), "data,F1\nadult,0.6364\n");
//! ```

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use crate::document::safe_link;
use crate::number;

/// How a column stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// To the left: words.
    #[default]
    Left,
    /// To the right: numbers.
    Right,
    /// In the middle: short marks.
    Centre,
}

/// What a mark or a sentence means to the reader: it chooses a colour, and never speaks by colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing to say.
    #[default]
    Neutral,
    /// As it should be.
    Good,
    /// Look at this.
    Warning,
    /// Not as it should be.
    Bad,
}

impl Tone {
    /// The tone as a CSS class.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Tone::Neutral => "neutral",
            Tone::Good => "good",
            Tone::Warning => "warning",
            Tone::Bad => "bad",
        }
    }

    /// The tone as one character, for readers without colour.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Tone::Neutral => "",
            Tone::Good => "✓",
            Tone::Warning => "!",
            Tone::Bad => "✕",
        }
    }
}

/// A column's heading and how its cells stand.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The heading.
    pub title: String,
    /// Where the cells stand.
    pub align: Align,
}

impl Column {
    /// A column of words.
    pub fn text(title: impl Into<String>) -> Column {
        Column { title: title.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Column {
        Column { title: title.into(), align: Align::Right }
    }
}

/// One cell: what is shown, and the exact number behind it if there is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// What a person reads.
    pub text: String,
    /// What a program reads: CSV writes it in full instead of the text.
    pub value: Option<f64>,
    /// Good, warning or bad: coloured, and marked with a sign.
    pub tone: Tone,
    /// Set in bold: the best of its kind.
    pub strong: bool,
    /// Where the cell leads: another file beside this one, or `#section`.
    pub link: Option<String>,
}

impl Cell {
    /// A cell of words.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A number shown with `digits` decimals and kept in full.
    pub fn number(value: f64, digits: usize) -> Cell {
        Cell { text: number::fixed(value, digits), value: Some(value), ..Cell::default() }
    }

    /// A share of one shown as a percentage and kept in full.
    pub fn percent(share: f64, digits: usize) -> Cell {
        Cell { text: number::percent(share, digits), value: Some(share), ..Cell::default() }
    }

    /// A count with grouped thousands.
    pub fn count(number: u64) -> Cell {
        Cell { text: number::count(number), value: Some(number as f64), ..Cell::default() }
    }

    /// The same cell with a tone.
    pub fn tone(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    /// The same cell in bold.
    pub fn strong(self) -> Cell {
        Cell { strong: true, ..self }
    }

    /// The same cell leading somewhere. Only relative paths, `#fragments` and http(s) addresses become links.
    pub fn link(self, address: impl Into<String>) -> Cell {
        Cell { link: Some(address.into()), ..self }
    }

    fn is_plain_dash(&self) -> bool {
        self.text.is_empty() || self.text == number::MISSING
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::text(text)
    }
}

/// A row of cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The cells, in the order of the columns.
    pub cells: Vec<Cell>,
    /// Set apart from the others: the recommended choice, the total.
    pub highlight: bool,
}

/// A table: columns, rows, and what it shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the table shows, in a sentence.
    pub caption: Option<String>,
    /// The columns. When the first holds words, it names the row to screen readers.
    pub columns: Vec<Column>,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { caption: None, columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// The same table with a caption.
    pub fn caption(self, caption: impl Into<String>) -> Table {
        Table { caption: Some(caption.into()), ..self }
    }

    /// Adds a row. A longer row than the heading adds columns without a title, so that no cell is lost.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Row {
        let cells: Vec<Cell> = cells.into_iter().collect();
        while self.columns.len() < cells.len() {
            self.columns.push(Column::default());
        }
        self.rows.push(Row { cells, highlight: false });
        let last = self.rows.len() - 1;
        &mut self.rows[last]
    }

    /// Adds a row that stands out.
    pub fn highlighted(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.row(cells).highlight = true;
    }

    /// The table as GitHub-flavoured Markdown, aligned so that it also reads well in a terminal.
    pub fn markdown(&self) -> String {
        let head: Vec<String> = self.columns.iter().map(|column| markdown_escape(&column.title)).collect();
        let body = self.texts(|cell| {
            let text = with_sign(cell, markdown_escape(&cell.text));
            if cell.strong && !cell.is_plain_dash() { format!("**{text}**") } else { text }
        });
        let widths: Vec<usize> = widths(&head, &body).into_iter().map(|width| width.max(3)).collect();
        let mut out = String::new();
        let mut line = |cells: &[String]| {
            for ((text, width), column) in cells.iter().zip(&widths).zip(&self.columns) {
                out.push_str("| ");
                out.push_str(&pad(text, *width, column.align));
                out.push(' ');
            }
            out.push_str("|\n");
        };
        line(&head);
        let rule = |(column, &width): (&Column, &usize)| match column.align {
            Align::Left => format!(":{}", "-".repeat(width - 1)),
            Align::Right => format!("{}:", "-".repeat(width - 1)),
            Align::Centre => format!(":{}:", "-".repeat(width - 2)),
        };
        line(&self.columns.iter().zip(&widths).map(rule).collect::<Vec<_>>());
        body.iter().for_each(|row| line(row));
        out
    }

    /// The table as aligned text for a terminal: a heading, a rule, the rows; highlighted rows carry a `›`.
    pub fn text(&self) -> String {
        let head: Vec<String> = self.columns.iter().map(|column| one_line(&column.title)).collect();
        let body = self.texts(|cell| with_sign(cell, one_line(&cell.text)));
        let widths = widths(&head, &body);
        let marked = self.rows.iter().any(|row| row.highlight);
        let mut out = String::new();
        let mut line = |mark: &str, cells: &[String]| {
            let mut text = String::from(if marked { mark } else { "" });
            for (index, ((cell, width), column)) in cells.iter().zip(&widths).zip(&self.columns).enumerate() {
                text.push_str(if index > 0 { "  " } else { "" });
                text.push_str(&pad(cell, *width, column.align));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line("  ", &head);
        line("  ", &widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>());
        for (row, cells) in self.rows.iter().zip(&body) {
            line(if row.highlight { "› " } else { "  " }, cells);
        }
        out
    }

    /// The table as CSV (RFC 4180, `\n` ends a line): numbers in full, an empty field for a missing one.
    pub fn csv(&self) -> String {
        let mut out = String::new();
        let mut line = |cells: &[String]| {
            let fields: Vec<String> = cells.iter().map(|cell| csv_field(cell)).collect();
            out.push_str(&fields.join(","));
            out.push('\n');
        };
        line(&self.columns.iter().map(|column| column.title.clone()).collect::<Vec<_>>());
        let exact = |cell: &Cell| match cell.value {
            Some(value) if value.is_finite() => value.to_string(),
            Some(_) => String::new(),
            None => cell.text.clone(),
        };
        self.texts(exact).iter().for_each(|row| line(row));
        out
    }

    /// The table as HTML, in a frame that scrolls sideways where the screen is narrow.
    pub(crate) fn markup(&self) -> Markup {
        let label = self.caption.as_deref().unwrap_or("Table");
        let heads = self.columns.first().is_some_and(|column| column.align == Align::Left);
        html! {
            div.table role="region" aria-label=(label) tabindex="0" {
                table {
                    @if let Some(caption) = &self.caption { caption { (caption) } }
                    thead { tr {
                        @for column in &self.columns { th scope="col" class=[align_class(column.align)] { (column.title) } }
                    } }
                    tbody {
                        @for row in &self.rows {
                            tr class=[row.highlight.then_some("highlight")] {
                                @for (index, column) in self.columns.iter().enumerate() {
                                    @let cell = row.cells.get(index);
                                    @if index == 0 && heads {
                                        th scope="row" class=[cell_class(column.align, cell)] { (cell_markup(cell)) }
                                    } @else {
                                        td class=[cell_class(column.align, cell)] { (cell_markup(cell)) }
                                    }
                                }
                            }
                        }
                        @if self.rows.is_empty() {
                            tr { td.empty colspan=(self.columns.len().max(1)) { "no rows" } }
                        }
                    }
                }
            }
        }
    }

    /// Every cell through `show`, short rows filled up with nothing.
    fn texts(&self, show: impl Fn(&Cell) -> String) -> Vec<Vec<String>> {
        let row = |row: &Row| {
            (0..self.columns.len()).map(|index| row.cells.get(index).map(&show).unwrap_or_default()).collect()
        };
        self.rows.iter().map(row).collect()
    }
}

/// Words up to this long stay on one line.
const SHORT: usize = 18;

fn cell_class(align: Align, cell: Option<&Cell>) -> Option<&'static str> {
    let short = cell.is_some_and(|cell| cell.text.width() <= SHORT);
    align_class(align).or(short.then_some("short"))
}

fn cell_markup(cell: Option<&Cell>) -> Markup {
    let Some(cell) = cell else { return html! {} };
    let inner = html! {
        @if cell.tone != Tone::Neutral { span.sign aria-hidden="true" { (cell.tone.sign()) } " " }
        @match cell.link.as_deref().and_then(safe_link) {
            Some(address) => a href=(address) { (cell.text) },
            None => (cell.text),
        }
    };
    let inner = if cell.strong {
        html! { strong { (inner) } }
    } else {
        inner
    };
    if cell.tone == Tone::Neutral {
        inner
    } else {
        html! { span class={ "tone " (cell.tone.class()) } { (inner) } }
    }
}

fn align_class(align: Align) -> Option<&'static str> {
    match align {
        Align::Left => None,
        Align::Right => Some("num"),
        Align::Centre => Some("mid"),
    }
}

fn with_sign(cell: &Cell, text: String) -> String {
    if cell.tone == Tone::Neutral { text } else { format!("{} {text}", cell.tone.sign()) }
}

fn widths(head: &[String], body: &[Vec<String>]) -> Vec<usize> {
    let column = |index: usize| body.iter().map(move |row| row[index].width());
    (0..head.len()).map(|index| column(index).fold(head[index].width(), usize::max)).collect()
}

fn pad(text: &str, width: usize, align: Align) -> String {
    let space = width.saturating_sub(text.width());
    let before = match align {
        Align::Left => 0,
        Align::Right => space,
        Align::Centre => space / 2,
    };
    format!("{}{text}{}", " ".repeat(before), " ".repeat(space - before))
}

/// Line breaks and tabs would tear an aligned line apart; control characters could speak to the terminal.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

fn markdown_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '|' | '\\' | '*' | '`' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            // "[words](address)" would become a link.
            '(' if out.ends_with(']') => out.push_str("\\("),
            _ => out.push(c),
        }
    }
    out
}

fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
