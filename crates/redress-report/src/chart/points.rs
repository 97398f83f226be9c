//! Series of points drawn on a plane: lines, whiskers, bands, markers and labels.

use super::canvas::{Anchor, Canvas};
use super::geometry::{Rect, Room, spread};
use super::plane::{Plane, Ranges};
use super::scale::{Axis, drawable, extent};
use super::series::{Across, Point, Reference, Series, Spread};
use super::text;
use crate::table::{Cell, Column, Table};
use crate::theme::SERIES;

/// The distance between labels at the ends of lines.
const LABEL_GAP: f64 = 17.0;

/// More points than this are drawn without a marker each.
const MANY: usize = 30;

/// In a plot narrower than this only the first, the last and the chosen point of a series are labelled.
const CROWDED: f64 = 420.0;

/// What both charts are made of.
pub(crate) struct Parts<'a> {
    pub x: &'a Axis,
    pub y: &'a Axis,
    pub series: &'a [Series],
    pub references: &'a [Reference],
}

impl Parts<'_> {
    pub fn is_empty(&self) -> bool {
        !self.series.iter().flat_map(|series| &series.points).any(|point| point.is_drawable())
    }

    fn style(&self, index: usize) -> usize {
        self.series[index].style.unwrap_or(index) % SERIES
    }

    /// What the axes must cover: points, intervals and references.
    fn ranges(&self) -> Ranges {
        let points = || self.series.iter().flat_map(|series| &series.points).filter(|point| point.is_drawable());
        let marks = |axis: Across| {
            self.references.iter().filter(move |reference| reference.axis == axis).map(|reference| reference.at)
        };
        let x = extent(points().flat_map(|point| point.x.numbers(self.x.format)).chain(marks(Across::X)));
        let y = extent(points().flat_map(|point| point.y.numbers(self.y.format)).chain(marks(Across::Y)));
        Ranges { x: x.unwrap_or((0.0, 1.0)), y: y.unwrap_or((0.0, 1.0)) }
    }

    pub fn draw(&self, canvas: &mut Canvas, frame: Rect, end_labels: bool) {
        let widest = self.series.iter().map(|series| text::width(&series.name)).fold(0.0, f64::max);
        let plane = Plane::new(frame, self.x, self.y, &self.ranges(), if end_labels { widest + 34.0 } else { 0.0 });
        plane.draw(canvas);
        let mut room = Room::new(plane.area);
        plane.draw_references(canvas, self.references, &mut room);
        for (index, series) in self.series.iter().enumerate() {
            self.draw_spread(canvas, &plane, series, index, &mut room);
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

    fn draw_spread(&self, canvas: &mut Canvas, plane: &Plane, series: &Series, index: usize, room: &mut Room) {
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
                    canvas.upright(&class, x, (low, high), 3.0);
                    room.stroke((x, low), (x, high));
                }
                if let Some((low, high)) = point.x.whisker() {
                    let (low, high) = (plane.x.at(low), plane.x.at(high));
                    canvas.across(&class, y, (low, high), 3.0);
                    room.stroke((low, y), (high, y));
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

    fn tip(&self, series: &Series, point: &Point) -> String {
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
        if plane.area.w < CROWDED && points.len() > 4 {
            let last = points.len() - 1;
            points = points
                .into_iter()
                .enumerate()
                .filter(|(i, p)| *i == 0 || *i == last || p.chosen)
                .map(|(_, p)| p)
                .collect();
        }
        points.sort_by_key(|point| !point.chosen);
        for point in points {
            let Some(label) = point.label.as_deref().filter(|label| !label.is_empty()) else { continue };
            let label = text::shorten(label, plane.area.w / 2.0);
            let (x, y) = plane.at(point.x.value, point.y.value);
            let (w, h, gap) = (text::width(&label) + 2.0, 14.0, if point.chosen { 10.0 } else { 7.0 });
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
            // A label on top of marks helps nobody: better none, the tooltip and the table have it.
            let most = if point.chosen { f64::INFINITY } else { 0.12 * w * h };
            if let Some(rect) = room.take_clear(places.map(|(x, y)| Rect::new(x, y, w, h)), most) {
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

    pub fn summary(&self, kind: &str) -> String {
        let mut text = format!("{kind}: {} against {}.", self.y.caption(), self.x.caption());
        for series in self.series {
            let points: Vec<_> = series.points.iter().filter(|point| point.is_drawable()).collect();
            let (Some(first), Some(last)) = (points.first(), points.last()) else { continue };
            let show = |point: &Point| {
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

    pub fn table(&self) -> Table {
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
fn runs(series: &Series) -> impl Iterator<Item = &[Point]> {
    series.points.split(|point| !point.is_drawable()).filter(|run| !run.is_empty())
}
