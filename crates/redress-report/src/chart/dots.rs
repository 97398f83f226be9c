//! Dot-and-interval charts: a row for each group, with its estimate, its interval and how many people it rests on.

use super::canvas::{Anchor, Canvas};
use super::geometry::{Rect, Room};
use super::plane::beside_vertical;
use super::scale::{Axis, Scale, drawable, extent};
use super::series::{Entry, Estimate, Reference, Swatch, entries};
use super::text::{self, LEADING};
use super::{Draw, Size};
use crate::table::{Cell, Column, Table};
use crate::theme::SERIES;

/// The height of one estimate.
const LANE: f64 = 17.0;

/// The share of the width that names may take.
const NAMES: f64 = 0.23;

/// One row: a group with an estimate for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DotRow {
    /// The group's name.
    pub name: String,
    /// The heading that it stands under: "sex", "race". Rows of one heading stand together.
    pub heading: Option<String>,
    /// What it rests on: "n = 1,204".
    pub note: Option<String>,
    /// An estimate for each series.
    pub values: Vec<Estimate>,
}

impl DotRow {
    /// A row with one estimate.
    pub fn new(name: impl Into<String>, value: impl Into<Estimate>) -> DotRow {
        DotRow { name: name.into(), values: vec![value.into()], ..DotRow::default() }
    }

    /// The same row with an estimate of the next series.
    pub fn and(mut self, value: impl Into<Estimate>) -> DotRow {
        self.values.push(value.into());
        self
    }

    /// The same row under a heading.
    pub fn under(self, heading: impl Into<String>) -> DotRow {
        DotRow { heading: Some(heading.into()), ..self }
    }

    /// The same row with a note.
    pub fn note(self, note: impl Into<String>) -> DotRow {
        DotRow { note: Some(note.into()), ..self }
    }
}

/// Estimates with intervals by group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DotChart {
    /// What the chart shows.
    pub title: String,
    /// What it says, for readers who cannot see it; made from the data if not given.
    pub description: Option<String>,
    /// The axis of the estimates.
    pub values: Axis,
    /// The names of the series, one for each estimate of a row.
    pub series: Vec<String>,
    /// The rows.
    pub rows: Vec<DotRow>,
    /// The overall rate, the required rate.
    pub references: Vec<Reference>,
    /// Colour and marker of each series: its position unless given.
    pub styles: Vec<usize>,
}

impl DotChart {
    /// A chart without rows.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        values: Axis,
        series: impl IntoIterator<Item = S>,
    ) -> DotChart {
        let series = series.into_iter().map(Into::into).collect();
        DotChart { title: title.into(), values, series, ..DotChart::default() }
    }

    /// The same chart with one more row.
    pub fn row(mut self, row: DotRow) -> DotChart {
        self.rows.push(row);
        self
    }

    /// The same chart with a line at a value.
    pub fn reference(mut self, reference: Reference) -> DotChart {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> DotChart {
        DotChart { description: Some(description.into()), ..self }
    }

    fn lanes(&self) -> usize {
        self.rows.iter().map(|row| row.values.len()).max().unwrap_or(0).max(1)
    }

    fn style(&self, series: usize) -> usize {
        self.styles.get(series).copied().unwrap_or(series) % SERIES
    }

    /// Whether the row opens a new heading.
    fn opens(&self, index: usize) -> Option<&str> {
        let heading = self.rows[index].heading.as_deref()?;
        let before = index.checked_sub(1).and_then(|before| self.rows[before].heading.as_deref());
        (before != Some(heading)).then_some(heading)
    }

    fn columns(&self, frame: Rect) -> Columns {
        let limit = frame.w * NAMES;
        let notes = self.rows.iter().filter_map(|row| row.note.as_deref()).map(text::width).fold(0.0, f64::max);
        let values = self.rows.iter().flat_map(|row| &row.values);
        let values = values.map(|value| text::width(&value.show(self.values.format))).fold(0.0, f64::max);
        let names = self.rows.iter().flat_map(|row| text::wrap(&row.name, limit, 2));
        let names = names.map(|line| text::width(&line)).fold(0.0, f64::max);
        let notes = if notes > 0.0 { notes + 14.0 } else { 0.0 };
        let columns = Columns { beside: true, names: names + 26.0, notes, values: values + 14.0 };
        let free = frame.w - columns.names - columns.notes - columns.values;
        if frame.w >= 560.0 && free >= 180.0 { columns } else { Columns::default() }
    }

    fn row_height(&self, columns: &Columns, frame_width: f64, index: usize) -> f64 {
        let lanes = self.lanes() as f64 * LANE;
        if columns.beside {
            lanes.max(text::wrap(&self.rows[index].name, frame_width * NAMES, 2).len() as f64 * LEADING) + 8.0
        } else {
            lanes + LEADING + 10.0
        }
    }
}

/// How the width is shared: names, dots, values and notes beside one another, or names above dots where it is scarce.
#[derive(Default)]
struct Columns {
    beside: bool,
    names: f64,
    notes: f64,
    values: f64,
}

impl Draw for DotChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        if let Some(description) = &self.description {
            return description.clone();
        }
        let mut text = format!("Estimates with intervals: {}.", self.values.caption());
        for row in self.rows.iter().take(16) {
            let values = row.values.iter().enumerate().map(|(series, value)| {
                let name = self.series.get(series).map(String::as_str).unwrap_or_default();
                format!("{name} {}", value.show(self.values.format)).trim().to_owned()
            });
            text.push_str(&format!(" {}: {}.", row.name, values.collect::<Vec<_>>().join(", ")));
        }
        for reference in &self.references {
            text.push_str(&format!(" Marked: {}.", reference.label));
        }
        text
    }

    fn legend(&self) -> Vec<Entry> {
        let styles = (0..self.series.len()).map(|series| Some(self.style(series)));
        entries(self.series.iter().map(String::as_str).zip(styles), Swatch::Point)
    }

    fn restyle(&mut self, style: &dyn Fn(&str) -> usize) {
        self.styles = self.series.iter().map(|name| style(name)).collect();
    }

    fn height(&self, width: f64, _size: Size) -> f64 {
        let columns = self.columns(Rect::new(0.0, 0.0, width, 0.0));
        let rows = (0..self.rows.len()).map(|index| {
            self.row_height(&columns, width, index) + if self.opens(index).is_some() { 26.0 } else { 0.0 }
        });
        let title = text::wrap(&self.values.caption(), width, 2).len() as f64 * LEADING;
        let marks = if self.references.is_empty() { 0.0 } else { self.references.len() as f64 * LEADING + 2.0 };
        rows.sum::<f64>() + marks + 32.0 + title
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, _size: Size) {
        let columns = self.columns(frame);
        let title = text::wrap(&self.values.caption(), frame.w, 2);
        let marks = if self.references.is_empty() { 0.0 } else { self.references.len() as f64 * LEADING + 2.0 };
        let side = if columns.beside { 12.0 } else { 14.0 };
        let area = frame.inset(
            columns.names.max(side),
            marks + 2.0,
            columns.values + columns.notes + side,
            28.0 + title.len() as f64 * LEADING,
        );
        let every = self
            .rows
            .iter()
            .flat_map(|row| row.values.iter().flat_map(|estimate| estimate.numbers(self.values.format)));
        let range = extent(every.chain(self.references.iter().map(|reference| reference.at))).unwrap_or((0.0, 1.0));
        let scale = Scale::across(&self.values, range, area.x + 4.0, area.right() - 4.0);
        canvas.rect("plot", area, None);
        for (tick, label) in scale.labels() {
            canvas.line("grid", (scale.at(tick), area.y), (scale.at(tick), area.bottom()));
            canvas.text("tick", Anchor::Middle, (scale.at(tick), area.bottom() + 12.0), &label);
        }
        let below = area.bottom() + 24.0 + LEADING * title.len() as f64 / 2.0;
        canvas.lines("name", Anchor::Middle, (area.x + area.w / 2.0, below), &title);
        self.draw_references(canvas, &scale, frame, area);
        let mut y = area.y;
        for index in 0..self.rows.len() {
            if let Some(heading) = self.opens(index) {
                canvas.text("label heading", Anchor::Start, (frame.x, y + 14.0), heading);
                y += 26.0;
            }
            let height = self.row_height(&columns, frame.w, index);
            self.draw_row(canvas, &scale, &columns, index, Rect::new(frame.x, y, frame.w, height), area);
            y += height;
        }
    }

    fn table(&self) -> Table {
        let headed = self.rows.iter().any(|row| row.heading.is_some());
        let noted = self.rows.iter().any(|row| row.note.is_some());
        let mut columns = Vec::new();
        columns.extend(headed.then(|| Column::text("by")));
        columns.push(Column::text("group"));
        for series in 0..self.lanes() {
            let name = self.series.get(series).filter(|name| !name.is_empty()).cloned();
            columns.push(Column::number(name.unwrap_or_else(|| self.values.caption())));
            columns.extend(["low", "high"].map(Column::number));
        }
        columns.extend(noted.then(|| Column::text("")));
        let mut table = Table::new(columns);
        for row in &self.rows {
            let mut cells = Vec::new();
            cells.extend(headed.then(|| Cell::text(row.heading.as_deref().unwrap_or_default())));
            cells.push(Cell::text(row.name.as_str()));
            for series in 0..self.lanes() {
                let estimate = row.values.get(series).copied().unwrap_or(Estimate::new(f64::NAN));
                super::estimate_cells(&mut cells, estimate, self.values.format, true);
            }
            cells.extend(noted.then(|| Cell::text(row.note.as_deref().unwrap_or_default())));
            table.row(cells);
        }
        table
    }

    fn is_empty(&self) -> bool {
        !self.rows.iter().flat_map(|row| &row.values).any(|estimate| drawable(estimate.value))
    }
}

impl DotChart {
    /// Lines at values, their labels above the rows, where no dot can stand.
    fn draw_references(&self, canvas: &mut Canvas, scale: &Scale, frame: Rect, area: Rect) {
        let above = Rect::new(frame.x, frame.y, frame.w, area.y - frame.y);
        let mut room = Room::new(above);
        for reference in self.references.iter().filter(|reference| drawable(reference.at)) {
            let x = scale.at(reference.at);
            let label = text::shorten(&reference.label, frame.w * 0.7);
            let w = text::width(&label);
            let mut places = beside_vertical(x, above, (w, LEADING));
            // Near an end there may be room on neither side of the line: then the label leans on the frame.
            places.push(Rect::new(frame.right() - w, above.y + 1.0, w, LEADING));
            places.push(Rect::new(frame.x, above.y + 1.0, w, LEADING));
            let placed = room.take(places);
            let top = placed.map_or(area.y, |rect| rect.y + 2.0);
            canvas.line("reference", (x, top), (x, area.bottom()));
            if let Some(rect) = placed {
                canvas.text("label reference-label", Anchor::Start, (rect.x, rect.y + rect.h / 2.0), &label);
            }
        }
    }

    fn draw_row(&self, canvas: &mut Canvas, scale: &Scale, columns: &Columns, index: usize, rect: Rect, area: Rect) {
        let row = &self.rows[index];
        let indent = if row.heading.is_some() && columns.beside { 12.0 } else { 0.0 };
        let note = row.note.as_deref().unwrap_or_default();
        let mut middle = rect.y + rect.h / 2.0;
        if columns.beside {
            let name = text::wrap(&row.name, rect.w * NAMES, 2);
            canvas.lines("label category", Anchor::Start, (rect.x + indent, middle), &name);
            canvas.text("label note", Anchor::End, (rect.right(), middle), note);
        } else {
            let line = rect.y + LEADING / 2.0 + 2.0;
            // Beside the name: at the right it would stand under the reference lines of high rates.
            let name = text::shorten(&row.name, rect.w - text::width(note) - 10.0);
            canvas.text("label category", Anchor::Start, (rect.x, line), &name);
            canvas.text("label note", Anchor::Start, (rect.x + text::width(&name) + 8.0, line), note);
            middle += LEADING / 2.0;
        }
        if !row.values.iter().any(|estimate| drawable(estimate.value)) {
            canvas.text("label none", Anchor::Start, (area.x + 4.0, middle), "no data");
            return;
        }
        let top = middle - row.values.len() as f64 * LANE / 2.0 + LANE / 2.0;
        for (series, estimate) in row.values.iter().enumerate() {
            let y = top + series as f64 * LANE;
            let style = self.style(series);
            let shown = estimate.show(self.values.format);
            if columns.beside {
                canvas.text("label value", Anchor::End, (rect.right() - columns.notes, y), &shown);
            }
            if !drawable(estimate.value) {
                continue;
            }
            if let Some((low, high)) = estimate.whisker() {
                let (low, high) = (scale.at(low), scale.at(high));
                canvas.across(&format!("interval s{style}"), y, (low, high), 3.5);
            }
            let tip = format!("{}: {shown}", row.name);
            canvas.marker("point", style, (scale.at(estimate.value), y), Some(&tip));
        }
    }
}
