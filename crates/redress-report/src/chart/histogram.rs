//! Histograms: how values are distributed, before and after, or group by group.

use super::canvas::Canvas;
use super::geometry::{Rect, Room};
use super::plane::{Plane, Ranges};
use super::scale::{Axis, Format, drawable, extent};
use super::series::{Entry, Reference, Swatch, entries};
use super::{Draw, Size};
use crate::number;
use crate::table::{Cell, Column, Table};
use crate::theme::SERIES;

/// The heights of one distribution, a number for each bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Bins {
    /// The name in the legend.
    pub name: String,
    /// How many values, or which share of them, fall into each bin.
    pub heights: Vec<f64>,
    /// Colour and dash: the position among the series unless given.
    pub style: Option<usize>,
}

/// Distributions over common bins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// What the chart shows.
    pub title: String,
    /// What it says, for readers who cannot see it; made from the data if not given.
    pub description: Option<String>,
    /// What is distributed.
    pub x: Axis,
    /// The heights: people, or shares.
    pub y: Axis,
    /// The edges of the bins, one more than there are bins, growing.
    pub edges: Vec<f64>,
    /// The distributions.
    pub series: Vec<Bins>,
    /// Thresholds and other values.
    pub references: Vec<Reference>,
}

impl Histogram {
    /// Sorts the values of each series into about `bins` bins of one width; heights are shares of the series' values,
    /// so that groups of different size compare. Values that are not finite are left out.
    ///
    /// ```
    /// use redress_report::chart::{Axis, Histogram};
    /// let chart = Histogram::of("Scores", Axis::percent("score"), 4, [("all", [0.1, 0.3, 0.35, 1.0])]);
    /// assert_eq!(chart.edges, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// assert_eq!(chart.series[0].heights, [0.25, 0.5, 0.0, 0.25]);
    /// ```
    pub fn of<N: Into<String>, V: AsRef<[f64]>>(
        title: impl Into<String>,
        x: Axis,
        bins: usize,
        series: impl IntoIterator<Item = (N, V)>,
    ) -> Histogram {
        let series: Vec<(String, V)> = series.into_iter().map(|(name, values)| (name.into(), values)).collect();
        let every = series.iter().flat_map(|(_, values)| values.as_ref().iter().copied());
        let edges = edges(&x, extent(every), bins.max(1));
        let count = |(name, values): &(String, V)| Bins {
            name: name.clone(),
            heights: shares(&edges, values.as_ref()),
            style: None,
        };
        let series = series.iter().map(count).collect();
        let y = Axis { format: Format::Percent, ..Axis::new("Share of people").at_least(0.0, 0.0) };
        Histogram { title: title.into(), x, y, edges, series, ..Histogram::default() }
    }

    /// The same chart with a line at a value.
    pub fn reference(mut self, reference: Reference) -> Histogram {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> Histogram {
        Histogram { description: Some(description.into()), ..self }
    }

    /// The bins of a series that can be drawn: its edges and its height.
    fn steps<'a>(&'a self, bins: &'a Bins) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
        let pairs = self.edges.windows(2).zip(&bins.heights);
        pairs
            .map(|(edge, &height)| (edge[0], edge[1], height))
            .filter(|(low, high, height)| drawable(*low) && drawable(*high) && drawable(*height))
    }

    fn ranges(&self) -> Ranges {
        let marks = self.references.iter().map(|reference| reference.at);
        let heights = self.series.iter().flat_map(|bins| self.steps(bins).map(|(_, _, height)| height));
        let x = extent(self.edges.iter().copied().chain(marks));
        let y = extent(heights.chain([0.0]));
        Ranges { x: x.unwrap_or((0.0, 1.0)), y: y.unwrap_or((0.0, 1.0)) }
    }
}

/// Edges of one width over the range of the data and of the axis; bins of whole numbers stand around them.
fn edges(axis: &Axis, data: Option<(f64, f64)>, bins: usize) -> Vec<f64> {
    let Some(data) = data else { return Vec::new() };
    let bounds = axis.at_least.map(|(low, high)| [low, high]).into_iter().flatten();
    let (mut low, high) = extent([data.0, data.1].into_iter().chain(bounds)).unwrap_or(data);
    let mut width = (high - low) / bins as f64;
    let mut count = bins;
    if axis.format == Format::Whole {
        low = low.floor() - 0.5;
        width = ((high + 0.5 - low) / bins as f64).ceil().max(1.0);
        count = ((high + 0.5 - low) / width).ceil() as usize;
    } else if !(width > 1e-12 * low.abs().max(high.abs()) && width > 1e-100) {
        width = if low == 0.0 { 1.0 } else { low.abs() * 0.1 };
        low -= width / 2.0;
        count = 1;
    }
    (0..=count).map(|index| low + index as f64 * width).collect()
}

/// The share of the finite values in each bin; the last bin holds its upper edge.
fn shares(edges: &[f64], values: &[f64]) -> Vec<f64> {
    let mut counts = vec![0.0; edges.len().saturating_sub(1)];
    let mut total = 0.0;
    for value in values.iter().copied().filter(|value| drawable(*value)) {
        let after = edges.partition_point(|edge| *edge <= value);
        let last = counts.len().saturating_sub(1);
        if let Some(count) = counts.get_mut(after.saturating_sub(1).min(last)) {
            *count += 1.0;
            total += 1.0;
        }
    }
    if total > 0.0 {
        counts.iter_mut().for_each(|count| *count /= total);
    }
    counts
}

impl Draw for Histogram {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        if let Some(description) = &self.description {
            return description.clone();
        }
        let mut text = format!("Histogram: {} by {}.", self.y.caption(), self.x.caption());
        for bins in &self.series {
            let most = self.steps(bins).max_by(|a, b| a.2.total_cmp(&b.2));
            let Some((low, high, height)) = most else { continue };
            let (format, name) = (self.x.format, if bins.name.is_empty() { "All" } else { &bins.name });
            let height = self.y.format.show(height);
            text.push_str(&format!(" {name}: most ({height}) from {} to {}.", format.show(low), format.show(high)));
        }
        for reference in &self.references {
            text.push_str(&format!(" Marked: {}.", reference.label));
        }
        text
    }

    fn legend(&self) -> Vec<Entry> {
        entries(self.series.iter().map(|bins| (bins.name.as_str(), bins.style)), Swatch::Area)
    }

    fn restyle(&mut self, style: &dyn Fn(&str) -> usize) {
        self.series.iter_mut().for_each(|bins| bins.style = Some(style(&bins.name)));
    }

    fn height(&self, width: f64, size: Size) -> f64 {
        size.plane_height(width).min(300.0)
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, _size: Size) {
        let plane = Plane::new(frame, &self.x, &self.y, &self.ranges(), 0.0);
        plane.draw(canvas);
        let mut room = Room::new(plane.area);
        for (index, bins) in self.series.iter().enumerate() {
            let style = bins.style.unwrap_or(index) % SERIES;
            let mut outline = Vec::new();
            // Empty bins at either end are left out: a line along the axis would hide it.
            let mut steps: Vec<_> = self.steps(bins).skip_while(|(_, _, height)| *height == 0.0).collect();
            while steps.pop_if(|(_, _, height)| *height == 0.0).is_some() {}
            for (low, high, height) in steps {
                let (from, to) = (plane.at(low, height), plane.at(high, height));
                let rect = Rect::new(from.0, from.1, to.0 - from.0, plane.y.at(0.0) - from.1);
                let name = if bins.name.is_empty() { String::new() } else { format!("{}, ", bins.name) };
                let (low, high) = (self.x.format.show(low), self.x.format.show(high));
                let tip = format!("{name}{low} to {high}: {}", self.y.format.show(height));
                canvas.rect(&format!("bin s{style}"), rect, Some(&tip));
                room.stroke(from, to);
                outline.extend([from, to]);
            }
            if let (Some(first), Some(last)) = (outline.first().copied(), outline.last().copied()) {
                let base = plane.y.at(0.0);
                outline.insert(0, (first.0, base));
                outline.push((last.0, base));
            }
            canvas.path(&format!("line s{style}"), &outline, false);
        }
        plane.draw_references(canvas, &self.references, &mut room);
        plane.label_references(canvas, &self.references, &mut room);
    }

    fn table(&self) -> Table {
        let names = self
            .series
            .iter()
            .map(|bins| Column::number(if bins.name.is_empty() { self.y.caption() } else { bins.name.clone() }));
        let edges = ["from", "to"].map(|end| Column::number(format!("{} {end}", self.x.title)));
        let mut table = Table::new(edges.into_iter().chain(names));
        for (index, edge) in self.edges.windows(2).enumerate() {
            let mut cells: Vec<Cell> = edge
                .iter()
                .map(|&at| Cell { text: self.x.format.show(at), value: Some(at), ..Cell::default() })
                .collect();
            for bins in &self.series {
                let height = bins.heights.get(index).copied().unwrap_or(f64::NAN);
                cells.push(match self.y.format {
                    Format::Percent => Cell::percent(height, 1),
                    _ => Cell { text: number::short(height, 3), value: Some(height), ..Cell::default() },
                });
            }
            table.row(cells);
        }
        table
    }

    fn is_empty(&self) -> bool {
        !self.series.iter().any(|bins| self.steps(bins).any(|(_, _, height)| height > 0.0))
    }
}
