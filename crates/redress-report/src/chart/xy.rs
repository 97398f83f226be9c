//! Line and scatter charts: series of points on a plane.

use super::canvas::{Anchor, Canvas};
use super::geometry::{Rect, Room, spread};
use super::plane::{Plane, Ranges};
use super::scale::{Axis, drawable, extent};
use super::series::{Entry, Reference, Series, Spread, Swatch, entries};
use super::text;
use super::{Draw, Size};
use crate::table::{Cell, Column, Table};
use crate::theme::SERIES;

/// The distance between labels at the ends of lines.
const LABEL_GAP: f64 = 17.0;

/// More points than this are drawn without a marker each.
const MANY: usize = 30;

/// Series over a common x: curves over λ, over a threshold, over epochs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineChart {
    /// What the chart shows.
    pub title: String,
    /// What it says, for readers who cannot see it; made from the data if not given.
    pub description: Option<String>,
    /// Across.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Bounds and thresholds.
    pub references: Vec<Reference>,
}

impl LineChart {
    /// A chart without lines.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> LineChart {
        LineChart { title: title.into(), x, y, ..LineChart::default() }
    }

    /// The same chart with one more line.
    pub fn series(mut self, series: Series) -> LineChart {
        self.series.push(series);
        self
    }

    /// The same chart with a reference line.
    pub fn reference(mut self, reference: Reference) -> LineChart {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> LineChart {
        LineChart { description: Some(description.into()), ..self }
    }

    fn parts(&self) -> Parts<'_> {
        Parts { x: &self.x, y: &self.y, series: &self.series, references: &self.references }
    }
}

impl Draw for LineChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        self.description.clone().unwrap_or_else(|| self.parts().summary("Line chart"))
    }

    fn legend(&self) -> Vec<Entry> {
        entries(self.series.iter().map(|series| (series.name.as_str(), series.style)), Swatch::Line)
    }

    fn labels_itself(&self, width: f64) -> bool {
        let legend = self.legend();
        let widest = legend.iter().map(|entry| text::width(&entry.name)).fold(0.0, f64::max);
        width >= 560.0 && (1..=8).contains(&legend.len()) && widest <= 170.0
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

/// Points on two measures: the frontier of performance against recourse, its points joined in the order of λ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScatterChart {
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

impl ScatterChart {
    /// A chart without points.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> ScatterChart {
        ScatterChart { title: title.into(), x, y, ..ScatterChart::default() }
    }

    /// The same chart with one more series.
    pub fn series(mut self, series: Series) -> ScatterChart {
        self.series.push(series);
        self
    }

    /// The same chart with a reference line.
    pub fn reference(mut self, reference: Reference) -> ScatterChart {
        self.references.push(reference);
        self
    }

    /// The same chart described in words.
    pub fn description(self, description: impl Into<String>) -> ScatterChart {
        ScatterChart { description: Some(description.into()), ..self }
    }

    fn parts(&self) -> Parts<'_> {
        Parts { x: &self.x, y: &self.y, series: &self.series, references: &self.references }
    }
}

impl Draw for ScatterChart {
    fn title(&self) -> &str {
        &self.title
    }

    fn summary(&self) -> String {
        self.description.clone().unwrap_or_else(|| self.parts().summary("Scatter chart"))
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

    fn restyle(&mut self, style: &dyn Fn(&str) -> usize) {
        self.series.iter_mut().for_each(|series| series.style = Some(style(&series.name)));
    }

    fn height(&self, width: f64, size: Size) -> f64 {
        size.plane_height(width)
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, _size: Size) {
        self.parts().draw(canvas, frame, false);
    }

    fn table(&self) -> Table {
        self.parts().table()
    }

    fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }
}

/// What both charts are made of.
struct Parts<'a> {
    x: &'a Axis,
    y: &'a Axis,
    series: &'a [Series],
    references: &'a [Reference],
}

impl Parts<'_> {
    fn is_empty(&self) -> bool {
        !self.series.iter().flat_map(|series| &series.points).any(|point| point.is_drawable())
    }

    fn style(&self, index: usize) -> usize {
        self.series[index].style.unwrap_or(index) % SERIES
    }

    /// What the axes must cover: points, intervals and references.
    fn ranges(&self) -> Ranges {
        use super::series::Across;
        let points = || self.series.iter().flat_map(|series| &series.points).filter(|point| point.is_drawable());
        let marks = |axis: Across| {
            self.references.iter().filter(move |reference| reference.axis == axis).map(|reference| reference.at)
        };
        let x = extent(points().flat_map(|point| point.x.numbers()).chain(marks(Across::X)));
        let y = extent(points().flat_map(|point| point.y.numbers()).chain(marks(Across::Y)));
        Ranges { x: x.unwrap_or((0.0, 1.0)), y: y.unwrap_or((0.0, 1.0)) }
    }

    fn draw(&self, canvas: &mut Canvas, frame: Rect, end_labels: bool) {
        let widest = self.series.iter().map(|series| text::width(&series.name)).fold(0.0, f64::max);
        let plane = Plane::new(frame, self.x, self.y, &self.ranges(), if end_labels { widest + 34.0 } else { 0.0 });
        plane.draw(canvas);
        let mut room = Room::new(plane.area);
        plane.draw_references(canvas, self.references, &mut room);
        for (index, series) in self.series.iter().enumerate() {
            self.draw_spread(canvas, &plane, series, index);
        }
        for (index, series) in self.series.iter().enumerate() {
            self.draw_lines(canvas, &plane, series, index, &mut room);
        }
        for (index, series) in self.series.iter().enumerate() {
            self.draw_points(canvas, &plane, series, index, &mut room);
        }
        plane.label_references(canvas, self.references, &mut room);
        for series in self.series {
            self.label_points(canvas, &plane, series, &mut room);
        }
        if end_labels {
            self.label_ends(canvas, &plane);
        }
    }

    fn draw_spread(&self, canvas: &mut Canvas, plane: &Plane, series: &Series, index: usize) {
        let style = self.style(index);
        for run in runs(series) {
            let edges: Vec<_> = run.iter().filter_map(|point| Some((point.x.value, point.y.whisker()?))).collect();
            if series.spread == Spread::Band && edges.len() > 1 {
                let upper = edges.iter().map(|&(x, (_, high))| plane.at(x, high));
                let lower = edges.iter().rev().map(|&(x, (low, _))| plane.at(x, low));
                canvas.path(&format!("band s{style}"), &upper.chain(lower).collect::<Vec<_>>(), true);
                continue;
            }
            for point in run {
                let (x, y) = plane.at(point.x.value, point.y.value);
                let class = format!("whisker s{style}");
                if let Some((low, high)) = point.y.whisker() {
                    let (low, high) = (plane.y.at(low), plane.y.at(high));
                    canvas.line(&class, (x, low), (x, high));
                    canvas.line(&class, (x - 3.0, low), (x + 3.0, low));
                    canvas.line(&class, (x - 3.0, high), (x + 3.0, high));
                }
                if let Some((low, high)) = point.x.whisker() {
                    let (low, high) = (plane.x.at(low), plane.x.at(high));
                    canvas.line(&class, (low, y), (high, y));
                    canvas.line(&class, (low, y - 3.0), (low, y + 3.0));
                    canvas.line(&class, (high, y - 3.0), (high, y + 3.0));
                }
            }
        }
    }

    fn draw_lines(&self, canvas: &mut Canvas, plane: &Plane, series: &Series, index: usize, room: &mut Room) {
        if !series.joined {
            return;
        }
        for run in runs(series) {
            let pixels: Vec<_> = run.iter().map(|point| plane.at(point.x.value, point.y.value)).collect();
            pixels.windows(2).for_each(|pair| room.stroke(pair[0], pair[1]));
            if pixels.len() > 1 {
                canvas.path(&format!("line s{}", self.style(index)), &pixels, false);
            }
        }
    }

    fn draw_points(&self, canvas: &mut Canvas, plane: &Plane, series: &Series, index: usize, room: &mut Room) {
        let style = self.style(index);
        let points: Vec<_> = series.points.iter().filter(|point| point.is_drawable()).collect();
        // A dense curve shows its marker now and then, so that it is still told apart in grey.
        let every = if series.joined && points.len() > MANY { points.len().div_ceil(10) } else { 1 };
        for (place, point) in points.iter().enumerate() {
            let at = plane.at(point.x.value, point.y.value);
            if point.chosen {
                canvas.ring(at);
            }
            if point.chosen || place % every == every / 2 {
                canvas.marker("point", style, at, Some(&self.tip(series, point)));
                room.mark(at.0, at.1, 5.0);
            }
        }
    }

    fn tip(&self, series: &Series, point: &super::series::Point) -> String {
        let names = [series.name.as_str(), point.label.as_deref().unwrap_or_default()];
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        let values = format!(
            "{} {}, {} {}",
            self.x.title,
            point.x.show(self.x.format),
            self.y.title,
            point.y.show(self.y.format)
        );
        if names.is_empty() { values } else { format!("{}: {values}", names.join(", ")) }
    }

    /// Labels of single points, chosen ones first, at the first of eight places around the point that is free.
    fn label_points(&self, canvas: &mut Canvas, plane: &Plane, series: &Series, room: &mut Room) {
        let mut points: Vec<_> = series.points.iter().filter(|point| point.is_drawable()).collect();
        points.sort_by_key(|point| !point.chosen);
        for point in points {
            let Some(label) = point.label.as_deref().filter(|label| !label.is_empty()) else { continue };
            let label = text::shorten(label, plane.area.w / 2.0);
            let (x, y) = plane.at(point.x.value, point.y.value);
            let (w, h, gap) = (text::width(&label), 14.0, if point.chosen { 10.0 } else { 7.0 });
            let places = [
                (x + gap, y - h / 2.0),
                (x - w / 2.0, y - gap - h),
                (x - w / 2.0, y + gap),
                (x - gap - w, y - h / 2.0),
                (x + gap * 0.7, y - gap * 0.7 - h),
                (x + gap * 0.7, y + gap * 0.7),
                (x - gap * 0.7 - w, y - gap * 0.7 - h),
                (x - gap * 0.7 - w, y + gap * 0.7),
            ];
            if let Some(rect) = room.take(places.map(|(x, y)| Rect::new(x, y, w, h))) {
                let class = if point.chosen { "label chosen" } else { "label" };
                canvas.text(class, Anchor::Start, (rect.x, rect.y + rect.h / 2.0), &label);
            }
        }
    }

    /// The names of lines at their right ends, moved apart where they would cover one another.
    fn label_ends(&self, canvas: &mut Canvas, plane: &Plane) {
        let ends: Vec<_> = (self.series.iter().enumerate())
            .filter(|(_, series)| !series.name.is_empty())
            .filter_map(|(index, series)| {
                let last = series.points.iter().rev().find(|point| point.is_drawable())?;
                Some((index, series, plane.at(last.x.value, last.y.value)))
            })
            .collect();
        let wanted: Vec<f64> = ends.iter().map(|(_, _, at)| at.1).collect();
        let placed = spread(&wanted, LABEL_GAP, plane.area.y, plane.area.bottom());
        let left = plane.area.right() + 14.0;
        for ((index, series, (x, y)), label_y) in ends.into_iter().zip(placed) {
            let style = self.style(index);
            canvas.line(&format!("leader s{style}"), (x + 6.0, y), (left - 2.0, label_y));
            canvas.marker("swatch-point", style, (left + 5.0, label_y), None);
            canvas.text("label end", Anchor::Start, (left + 14.0, label_y), &series.name);
        }
    }

    fn summary(&self, kind: &str) -> String {
        let mut text = format!("{kind}: {} against {}.", self.y.caption(), self.x.caption());
        for series in self.series {
            let points: Vec<_> = series.points.iter().filter(|point| point.is_drawable()).collect();
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let show = |point: &super::series::Point| {
                format!("{} at {}", self.y.format.show(point.y.value), self.x.format.show(point.x.value))
            };
            let name = if series.name.is_empty() { "The line" } else { &series.name };
            text.push_str(&match points.len() {
                1 => format!(" {name}: {}.", show(first)),
                count => format!(" {name}: from {} to {}, {count} points.", show(first), show(last)),
            });
        }
        for reference in self.references.iter().filter(|reference| drawable(reference.at)) {
            text.push_str(&format!(" Marked: {}.", reference.label));
        }
        text
    }

    fn table(&self) -> Table {
        let points = || self.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
        let named = self.series.iter().any(|series| !series.name.is_empty());
        let labelled = points().any(|(_, point)| point.label.is_some());
        let (x_wide, y_wide) =
            (points().any(|(_, point)| point.x.interval.is_some()), points().any(|(_, p)| p.y.interval.is_some()));
        let mut columns = Vec::new();
        columns.extend(named.then(|| Column::text("series")));
        columns.extend(labelled.then(|| Column::text("point")));
        for (axis, wide) in [(self.x, x_wide), (self.y, y_wide)] {
            columns.push(Column::number(axis.caption()));
            if wide {
                columns.extend(["low", "high"].map(Column::number));
            }
        }
        let mut table = Table::new(columns);
        for (series, point) in points() {
            let mut cells = Vec::new();
            cells.extend(named.then(|| Cell::text(series.name.as_str())));
            cells.extend(labelled.then(|| Cell::text(point.label.as_deref().unwrap_or_default())));
            for (axis, estimate, wide) in [(self.x, point.x, x_wide), (self.y, point.y, y_wide)] {
                super::estimate_cells(&mut cells, estimate, axis.format, wide);
            }
            table.row(cells);
        }
        table
    }
}

/// The stretches of a series between points that cannot be drawn: a gap in the data is a gap in the line.
fn runs(series: &Series) -> impl Iterator<Item = &[super::series::Point]> {
    series.points.split(|point| !point.is_drawable()).filter(|run| !run.is_empty())
}
