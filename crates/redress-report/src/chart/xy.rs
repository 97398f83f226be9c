//! Line and scatter charts: series of points on a plane.

use super::canvas::Canvas;
use super::geometry::Rect;
use super::points::Parts;
use super::scale::Axis;
use super::series::{Entry, Reference, Series, Swatch, entries};
use super::text;
use super::{Draw, Size};
use crate::table::Table;

/// Series over a common x: curves over λ, over a threshold, over epochs.
pub type LineChart = PlaneChart<true>;

/// Points on two measures: the frontier of performance against recourse, its points joined in the order of λ.
pub type ScatterChart = PlaneChart<false>;

/// Series of points on a plane. `LINES` are read from left to right, so that each may be named where it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaneChart<const LINES: bool> {
    /// What the chart shows.
    pub title: String,
    /// What it says, for readers who cannot see it; made from the data if not given.
    pub description: Option<String>,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The points; [`Series::loose`] leaves them unjoined.
    pub series: Vec<Series>,
    /// Bounds and thresholds.
    pub references: Vec<Reference>,
}

impl<const LINES: bool> PlaneChart<LINES> {
    /// A chart without points.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, ..Self::default() }
    }

    /// The same chart with one more series.
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The same chart with a reference line.
    pub fn reference(mut self, reference: Reference) -> Self {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    fn parts(&self) -> Parts<'_> {
        Parts { x: &self.x, y: &self.y, series: &self.series, references: &self.references }
    }
}

impl<const LINES: bool> Draw for PlaneChart<LINES> {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        let kind = if LINES { "Line chart" } else { "Scatter chart" };
        self.description.clone().unwrap_or_else(|| self.parts().summary(kind))
    }

    fn legend(&self) -> Vec<Entry> {
        let mut legend = entries(self.series.iter().map(|series| (series.name.as_str(), series.style)), Swatch::Line);
        for entry in &mut legend {
            if self.series.iter().any(|series| series.name == entry.name && !series.joined) {
                entry.swatch = Swatch::Point;
            }
        }
        legend
    }

    fn labels_itself(&self, width: f64) -> bool {
        let legend = self.legend();
        let widest = legend.iter().map(|entry| text::width(&entry.name)).fold(0.0, f64::max);
        LINES && width >= 560.0 && (2..=8).contains(&legend.len()) && widest <= 170.0
    }

    fn restyle(&mut self, style: &dyn Fn(&str) -> usize) {
        self.series.iter_mut().for_each(|series| series.style = Some(style(&series.name)));
    }

    fn height(&self, width: f64, size: Size) -> f64 {
        size.plane_height(width)
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, size: Size) {
        let ends = size != Size::Panel && self.labels_itself(frame.w);
        self.parts().draw(canvas, frame, ends);
    }

    fn table(&self) -> Table {
        self.parts().table()
    }

    fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }
}
