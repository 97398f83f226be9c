//! Bars that lie: room for long names, and for parts of a whole.

use super::{BarChart, Layout};
use crate::chart::canvas::{Anchor, Canvas};
use crate::chart::geometry::{Rect, Room};
use crate::chart::plane::beside_vertical;
use crate::chart::scale::{Scale, drawable};
use crate::chart::text::{self, LEADING};

impl BarChart {
    pub(super) fn draw_lying(&self, canvas: &mut Canvas, frame: Rect) {
        let limit = BarChart::name_limit(frame.w);
        let names: Vec<_> = self.categories.iter().map(|name| text::wrap(name, limit, 3)).collect();
        let left = names.iter().flatten().map(|line| text::width(line)).fold(0.0, f64::max) + 10.0;
        let title = text::wrap(&self.values.caption(), frame.w, 2);
        let beside = if self.layout == Layout::Stacked { 14.0 } else { self.widest_value() + 12.0 };
        let area = frame.inset(left, 6.0, beside, 28.0 + title.len() as f64 * LEADING);
        let scale = Scale::across(&self.values, self.range(), area.x, area.right());
        canvas.rect("plot", area, None);
        for (tick, label) in scale.labels() {
            let x = scale.at(tick);
            canvas.line("grid", (x, area.y), (x, area.bottom()));
            canvas.text("tick", Anchor::Middle, (x, area.bottom() + 12.0), &label);
        }
        let below = area.bottom() + 24.0 + LEADING * title.len() as f64 / 2.0;
        canvas.lines("name", Anchor::Middle, (area.x + area.w / 2.0, below), &title);
        let mut room = Room::new(area.inset(0.0, 0.0, -beside, 0.0));
        let mut y = area.y;
        for (category, name) in names.iter().enumerate() {
            let row = self.row(category, frame.w);
            canvas.lines("label category", Anchor::End, (area.x - 8.0, y + row / 2.0), name);
            let top = y + (row - self.lanes() as f64 * (self.thickness() + 2.0)) / 2.0;
            if self.layout == Layout::Stacked {
                self.draw_stack(canvas, &scale, category, top);
            } else {
                self.draw_lanes(canvas, &scale, category, top, &mut room);
            }
            y += row;
        }
        canvas.line("axis", (scale.at(0.0), area.y), (scale.at(0.0), area.bottom()));
        for reference in self.references.iter().filter(|reference| drawable(reference.at)) {
            let x = scale.at(reference.at);
            canvas.line("reference", (x, area.y), (x, area.bottom()));
            let label = text::shorten(&reference.label, area.w / 2.0);
            if let Some(rect) = room.take(beside_vertical(x, area, (text::width(&label), LEADING))) {
                canvas.text("label reference-label", Anchor::Start, (rect.x, rect.y + rect.h / 2.0), &label);
            }
        }
    }

    fn widest_value(&self) -> f64 {
        let values = self.series.iter().flat_map(|bars| &bars.values).filter(|estimate| drawable(estimate.value));
        values.map(|estimate| text::width(&self.values.format.show(estimate.value))).fold(0.0, f64::max)
    }

    fn draw_lanes(&self, canvas: &mut Canvas, scale: &Scale, category: usize, top: f64, room: &mut Room) {
        let thick = self.thickness();
        for series in 0..self.series.len() {
            let Some(estimate) = self.value(series, category) else { continue };
            let y = top + series as f64 * (thick + 2.0) + 1.0;
            let middle = y + thick / 2.0;
            let (zero, end) = (scale.at(0.0), scale.at(estimate.value));
            let rect = Rect::new(zero.min(end), y, (zero - end).abs(), thick);
            canvas.bar(self.style(series), rect, Some(&self.tip(series, category, estimate)));
            let mut tip = zero.max(end);
            if let Some((low, high)) = estimate.whisker() {
                let (low, high) = (scale.at(low), scale.at(high));
                canvas.line("halo", (low, middle), (high, middle));
                canvas.across("error", middle, (low, high), 3.5);
                tip = tip.max(high);
            }
            let label = self.values.format.show(estimate.value);
            let place = Rect::new(tip + 6.0, middle - 7.0, text::width(&label), 14.0);
            if room.take([place]).is_some() {
                canvas.text("label value", Anchor::Start, (tip + 6.0, middle), &label);
            }
        }
    }

    fn draw_stack(&self, canvas: &mut Canvas, scale: &Scale, category: usize, top: f64) {
        let (mut up, mut down) = (0.0, 0.0);
        for series in 0..self.series.len() {
            let Some(estimate) = self.value(series, category) else { continue };
            let side = if estimate.value < 0.0 { &mut down } else { &mut up };
            let (from, to) = (scale.at(*side), scale.at(*side + estimate.value));
            *side += estimate.value;
            // A pixel of surface between parts, where the part is wide enough to lose one.
            let width = (from - to).abs();
            let width = if width > 2.0 { width - 1.0 } else { width };
            let rect = Rect::new(from.min(to), top + 1.0, width, self.thickness());
            canvas.bar(self.style(series), rect, Some(&self.tip(series, category, estimate)));
        }
    }
}
