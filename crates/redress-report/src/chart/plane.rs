//! The plane that charts with two axes share: where the plot stands, its grid, its ticks and its reference lines.

use super::canvas::{Anchor, Canvas};
use super::geometry::{Rect, Room};
use super::scale::{Axis, Scale, drawable};
use super::series::{Across, Reference};
use super::text::{self, LEADING};

/// Points keep this distance from the sides of the plot, so that markers and whiskers stay inside.
const INSET: f64 = 9.0;

/// Two scales over a rectangle.
pub(crate) struct Plane {
    pub area: Rect,
    pub x: Scale,
    pub y: Scale,
    x_title: Vec<String>,
    y_title: Vec<String>,
    frame: Rect,
}

/// The values that a plane must cover.
pub(crate) struct Ranges {
    pub x: (f64, f64),
    pub y: (f64, f64),
}

impl Plane {
    /// Lays out axes inside `frame`, leaving `right` pixels free for labels on the right.
    ///
    /// The y axis' title stands above the plot, lying down, where it can be read without turning the head.
    pub fn new(frame: Rect, x_axis: &Axis, y_axis: &Axis, ranges: &Ranges, right: f64) -> Plane {
        let y_title = text::wrap(&y_axis.caption(), frame.w, 2);
        let x_title = text::wrap(&x_axis.caption(), frame.w, 2);
        let top = if y_title.is_empty() { 8.0 } else { y_title.len() as f64 * LEADING + 10.0 };
        let bottom = 22.0 + if x_title.is_empty() { 0.0 } else { x_title.len() as f64 * LEADING + 3.0 };
        let tall = frame.inset(0.0, top, 0.0, bottom);
        let count = (tall.h / 42.0).clamp(3.0, 8.0) as usize;
        let y = Scale::new(y_axis, ranges.y, count, tall.bottom(), tall.y);
        let left = y.labels().map(|(_, label)| text::width(&label)).fold(0.0, f64::max) + 8.0;
        let area = tall.inset(left, 0.0, right.max(14.0), 0.0);
        let x = Scale::across(x_axis, ranges.x, area.x + INSET, area.right() - INSET);
        Plane { area, x, y, x_title, y_title, frame }
    }

    /// The pixel of a point.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.at(x), self.y.at(y))
    }

    /// Draws grid, ticks and titles.
    pub fn draw(&self, canvas: &mut Canvas) {
        let Rect { x, .. } = self.area;
        canvas.rect("plot", self.area, None);
        for (tick, label) in self.y.labels() {
            let at = self.y.at(tick);
            canvas.line("grid", (x, at), (self.area.right(), at));
            canvas.text("tick", Anchor::End, (x - 6.0, at), &label);
        }
        let base = self.area.bottom();
        canvas.line("axis", (x, base), (self.area.right(), base));
        for (tick, label) in self.x.labels() {
            let at = self.x.at(tick);
            canvas.line("axis", (at, base), (at, base + 4.0));
            canvas.text("tick", Anchor::Middle, (at, base + 14.0), &label);
        }
        let top = self.frame.y + LEADING * self.y_title.len() as f64 / 2.0;
        canvas.lines("name", Anchor::Start, (self.frame.x, top), &self.y_title);
        let below = base + 22.0 + 3.0 + LEADING * self.x_title.len() as f64 / 2.0;
        canvas.lines("name", Anchor::Middle, (self.area.x + self.area.w / 2.0, below), &self.x_title);
    }

    /// Draws the lines of references; their labels come last, over everything else.
    pub fn draw_references(&self, canvas: &mut Canvas, references: &[Reference], room: &mut Room) {
        for reference in references.iter().filter(|reference| drawable(reference.at)) {
            let (from, to) = self.ends(reference);
            canvas.line("reference", from, to);
            room.stroke(from, to);
        }
    }

    /// Writes the labels of references where they cover least.
    pub fn label_references(&self, canvas: &mut Canvas, references: &[Reference], room: &mut Room) {
        for reference in references.iter().filter(|reference| drawable(reference.at)) {
            let label = text::shorten(&reference.label, self.area.w - 8.0);
            let (from, _) = self.ends(reference);
            let size = (text::width(&label), LEADING);
            let candidates: Vec<Rect> = match reference.axis {
                Across::X => beside_vertical(from.0, self.area, size),
                Across::Y => beside_horizontal(from.1, self.area, size),
            };
            if let Some(rect) = room.take(candidates) {
                canvas.text("label reference-label", Anchor::Start, (rect.x, rect.y + rect.h / 2.0), &label);
            }
        }
    }

    fn ends(&self, reference: &Reference) -> ((f64, f64), (f64, f64)) {
        match reference.axis {
            Across::X => {
                let x = self.x.at(reference.at);
                ((x, self.area.y), (x, self.area.bottom()))
            }
            Across::Y => {
                let y = self.y.at(reference.at);
                ((self.area.x, y), (self.area.right(), y))
            }
        }
    }
}

/// Places beside a vertical line, from the top down, right of it before left of it.
pub(crate) fn beside_vertical(x: f64, area: Rect, (w, h): (f64, f64)) -> Vec<Rect> {
    let rows = (area.h / h).floor().max(1.0) as usize;
    let row = |row: usize| {
        let y = area.y + 1.0 + row as f64 * h;
        [Rect::new(x + 5.0, y, w, h), Rect::new(x - 5.0 - w, y, w, h)]
    };
    (0..rows).flat_map(row).collect()
}

/// Places above and below a horizontal line, from the right end to the left.
fn beside_horizontal(y: f64, area: Rect, (w, h): (f64, f64)) -> Vec<Rect> {
    let space = (area.w - w - 8.0).max(0.0);
    let place = |step: usize| {
        let x = area.x + 4.0 + space * (1.0 - step as f64 / 8.0);
        [Rect::new(x, y - h - 1.0, w, h), Rect::new(x, y + 1.0, w, h)]
    };
    (0..=8).flat_map(place).collect()
}
