//! Bar charts: grouped or stacked, upright or lying down.

mod lying;
mod upright;

use super::canvas::Canvas;
use super::geometry::Rect;
use super::scale::{Axis, drawable, extent};
use super::series::{Entry, Estimate, Reference, Swatch, entries};
use super::text::{self, LEADING};
use super::{Draw, Size};
use crate::table::{Cell, Column, Table};
use crate::theme::SERIES;

/// One bar for each category.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The name in the legend.
    pub name: String,
    /// A value for each category.
    pub values: Vec<Estimate>,
    /// Colour and texture: the position among the series unless given.
    pub style: Option<usize>,
}

/// How bars stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Side by side; lying down where the names of categories are long or many.
    #[default]
    Grouped,
    /// Lying down, side by side.
    Lying,
    /// Lying down, one after the other: parts of a whole. Intervals are not drawn.
    Stacked,
}

/// Values by category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What the chart shows.
    pub title: String,
    /// What it says, for readers who cannot see it; made from the data if not given.
    pub description: Option<String>,
    /// The names of the categories.
    pub categories: Vec<String>,
    /// The axis of the values; it always covers nought.
    pub values: Axis,
    /// The bars.
    pub series: Vec<Bars>,
    /// How they stand.
    pub layout: Layout,
    /// Lines at values.
    pub references: Vec<Reference>,
}

impl BarChart {
    /// A chart without bars.
    pub fn new<C: Into<String>>(
        title: impl Into<String>,
        values: Axis,
        categories: impl IntoIterator<Item = C>,
    ) -> BarChart {
        let categories = categories.into_iter().map(Into::into).collect();
        BarChart { title: title.into(), values, categories, ..BarChart::default() }
    }

    /// The same chart with one more bar for each category.
    pub fn series<E: Into<Estimate>>(
        mut self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = E>,
    ) -> BarChart {
        let values = values.into_iter().map(Into::into).collect();
        self.series.push(Bars { name: name.into(), values, style: None });
        self
    }

    /// The same chart with its bars laid out in another way.
    pub fn layout(self, layout: Layout) -> BarChart {
        BarChart { layout, ..self }
    }

    /// The same chart with a line at a value.
    pub fn reference(mut self, reference: Reference) -> BarChart {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> BarChart {
        BarChart { description: Some(description.into()), ..self }
    }

    fn style(&self, index: usize) -> usize {
        self.series[index].style.unwrap_or(index) % SERIES
    }

    fn value(&self, series: usize, category: usize) -> Option<Estimate> {
        self.series[series].values.get(category).copied().filter(|estimate| drawable(estimate.value))
    }

    fn range(&self) -> (f64, f64) {
        let every = || self.series.iter().flat_map(|bars| bars.values.iter().take(self.categories.len()));
        let marks = self.references.iter().map(|reference| reference.at);
        let range = match self.layout {
            Layout::Stacked => {
                let total = |category| (0..self.series.len()).filter_map(move |s| self.value(s, category));
                let parts = |category, sign: f64| {
                    total(category).map(|part| part.value).filter(|value| value * sign > 0.0).sum::<f64>()
                };
                let sums = (0..self.categories.len()).flat_map(|index| [parts(index, 1.0), parts(index, -1.0)]);
                extent(sums.chain(marks))
            }
            _ => extent(every().flat_map(|estimate| estimate.numbers(self.values.format)).chain(marks)),
        };
        let (low, high) = range.unwrap_or((0.0, 1.0));
        (low.min(0.0), high.max(0.0))
    }

    fn lies_down(&self, width: f64) -> bool {
        let band = (width - 50.0) / self.categories.len().max(1) as f64;
        let narrow = band / self.series.len().max(1) as f64;
        let roomy = self.categories.iter().all(|name| text::fits(name, band - 10.0));
        self.layout != Layout::Grouped || !roomy || narrow < 16.0
    }

    /// The height of one bar lying down.
    fn thickness(&self) -> f64 {
        if self.layout == Layout::Stacked || self.series.len() == 1 { 18.0 } else { 14.0 }
    }

    /// How many bars stand side by side in a category.
    fn lanes(&self) -> usize {
        if self.layout == Layout::Stacked { 1 } else { self.series.len().max(1) }
    }

    /// The widest that names of categories may be, beside bars lying down.
    fn name_limit(width: f64) -> f64 {
        width * 0.36
    }

    /// The height of a category's row: its bars or its name, whichever is taller.
    fn row(&self, category: usize, width: f64) -> f64 {
        let name = text::wrap(&self.categories[category], BarChart::name_limit(width), 3).len() as f64 * LEADING;
        (self.lanes() as f64 * (self.thickness() + 2.0)).max(name) + 12.0
    }

    fn tip(&self, series: usize, category: usize, estimate: Estimate) -> String {
        let name = &self.series[series].name;
        let colon = if name.is_empty() { String::new() } else { format!(", {name}") };
        format!("{}{colon}: {}", self.categories[category], estimate.show(self.values.format))
    }
}

impl Draw for BarChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        if let Some(description) = &self.description {
            return description.clone();
        }
        let mut text = format!("Bar chart: {}.", self.values.caption());
        for (category, name) in self.categories.iter().enumerate().take(12) {
            let parts = (0..self.series.len()).filter_map(|series| {
                let estimate = self.value(series, category)?;
                Some(format!("{} {}", self.series[series].name, estimate.show(self.values.format)).trim().to_owned())
            });
            text.push_str(&format!(" {name}: {}.", parts.collect::<Vec<_>>().join(", ")));
        }
        if self.categories.len() > 12 {
            text.push_str(&format!(" And {} more.", self.categories.len() - 12));
        }
        text
    }

    fn legend(&self) -> Vec<Entry> {
        entries(self.series.iter().map(|bars| (bars.name.as_str(), bars.style)), Swatch::Bar)
    }

    fn restyle(&mut self, style: &dyn Fn(&str) -> usize) {
        self.series.iter_mut().for_each(|bars| bars.style = Some(style(&bars.name)));
    }

    fn height(&self, width: f64, size: Size) -> f64 {
        if !self.lies_down(width) {
            return size.plane_height(width);
        }
        let title = text::wrap(&self.values.caption(), width, 2).len() as f64 * LEADING;
        (0..self.categories.len()).map(|category| self.row(category, width)).sum::<f64>() + 34.0 + title
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, _size: Size) {
        if self.lies_down(frame.w) { self.draw_lying(canvas, frame) } else { self.draw_upright(canvas, frame) }
    }

    fn table(&self) -> Table {
        let wide = |bars: &Bars| bars.values.iter().any(|estimate| estimate.interval.is_some());
        let mut columns = vec![Column::text("")];
        for bars in &self.series {
            let name = if bars.name.is_empty() { self.values.caption() } else { bars.name.clone() };
            columns.push(Column::number(name));
            if wide(bars) {
                columns.extend(["low", "high"].map(Column::number));
            }
        }
        let mut table = Table::new(columns);
        for (category, name) in self.categories.iter().enumerate() {
            let mut cells = vec![Cell::text(name.as_str())];
            for bars in &self.series {
                let estimate = bars.values.get(category).copied().unwrap_or(Estimate::new(f64::NAN));
                super::estimate_cells(&mut cells, estimate, self.values.format, wide(bars));
            }
            table.row(cells);
        }
        table
    }

    fn is_empty(&self) -> bool {
        !(0..self.series.len()).any(|s| (0..self.categories.len()).any(|category| self.value(s, category).is_some()))
    }
}
