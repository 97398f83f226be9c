//! Bars that stand, category beside category.

use super::BarChart;
use crate::chart::canvas::{Anchor, Canvas};
use crate::chart::geometry::{Rect, Room};
use crate::chart::scale::{Scale, drawable};
use crate::chart::series::Estimate;
use crate::chart::text::{self, LEADING};

impl BarChart {
    pub(super) fn draw_upright(&self, canvas: &mut Canvas, frame: Rect) {
        let title = text::wrap(&self.values.caption(), frame.w, 2);
        let scale_over = |tall: Rect| {
            let count = (tall.h / 42.0).clamp(3.0, 8.0) as usize;
            Scale::new(&self.values, self.range(), count, tall.bottom(), tall.y)
        };
        let tall = frame.inset(0.0, title.len() as f64 * LEADING + 22.0, 0.0, LEADING + 10.0);
        let left = scale_over(tall).labels().map(|(_, label)| text::width(&label)).fold(0.0, f64::max) + 8.0;
        let band = (frame.w - left) / self.categories.len() as f64;
        let names: Vec<_> = self.categories.iter().map(|name| text::wrap(name, band - 8.0, 2)).collect();
        let more = names.iter().map(Vec::len).max().unwrap_or(1).saturating_sub(1) as f64 * LEADING;
        let area = tall.inset(left, 0.0, 0.0, more);
        let scale = scale_over(area);
        canvas.rect("plot", area, None);
        canvas.lines("name", Anchor::Start, (frame.x, frame.y + LEADING * title.len() as f64 / 2.0), &title);
        for (tick, label) in scale.labels() {
            canvas.line("grid", (area.x, scale.at(tick)), (area.right(), scale.at(tick)));
            canvas.text("tick", Anchor::End, (area.x - 6.0, scale.at(tick)), &label);
        }
        let mut room = Room::new(area.inset(0.0, -20.0, 0.0, 0.0));
        let wide = (band * 0.72 / self.series.len() as f64).min(56.0);
        for (category, name) in names.iter().enumerate() {
            let middle = area.x + (category as f64 + 0.5) * band;
            let below = area.bottom() + 6.0 + LEADING * name.len() as f64 / 2.0;
            canvas.lines("label category", Anchor::Middle, (middle, below), name);
            for series in 0..self.series.len() {
                let Some(estimate) = self.value(series, category) else { continue };
                let x = middle + (series as f64 - self.series.len() as f64 / 2.0) * wide;
                let (zero, end) = (scale.at(0.0), scale.at(estimate.value));
                let rect = Rect::new(x + 1.0, zero.min(end), wide - 2.0, (zero - end).abs());
                canvas.bar(self.style(series), rect, Some(&self.tip(series, category, estimate)));
                self.top_off(canvas, &scale, estimate, rect, &mut room);
            }
        }
        canvas.line("axis", (area.x, scale.at(0.0)), (area.right(), scale.at(0.0)));
        self.draw_levels(canvas, &scale, area, &mut room);
    }

    /// The whisker of a bar, and its value above it where there is room.
    fn top_off(&self, canvas: &mut Canvas, scale: &Scale, estimate: Estimate, bar: Rect, room: &mut Room) {
        let x = bar.x + bar.w / 2.0;
        let mut top = bar.y;
        if let Some((low, high)) = estimate.whisker() {
            let (low, high) = (scale.at(low), scale.at(high));
            canvas.line("halo", (x, low), (x, high));
            canvas.upright("error", x, (low, high), 4.0);
            top = top.min(high);
        }
        let label = self.values.format.show(estimate.value);
        let w = text::width(&label);
        let place = Rect::new(x - w / 2.0, top - 9.0 - 7.0, w, 14.0);
        if estimate.value >= 0.0 && w <= bar.w + 8.0 && room.take([place]).is_some() {
            canvas.text("label value", Anchor::Middle, (x, top - 9.0), &label);
        }
    }

    /// Reference lines across the bars.
    fn draw_levels(&self, canvas: &mut Canvas, scale: &Scale, area: Rect, room: &mut Room) {
        for reference in self.references.iter().filter(|reference| drawable(reference.at)) {
            let y = scale.at(reference.at);
            canvas.line("reference", (area.x, y), (area.right(), y));
            let label = text::shorten(&reference.label, area.w - 8.0);
            let w = text::width(&label);
            let space = area.w - w - 8.0;
            let places = (0..=8).flat_map(|step| {
                let x = area.x + 4.0 + space * (1.0 - f64::from(step) / 8.0);
                [Rect::new(x, y - 16.0, w, LEADING), Rect::new(x, y + 1.0, w, LEADING)]
            });
            if let Some(rect) = room.take(places) {
                canvas.text("label reference-label", Anchor::Start, (rect.x, rect.y + rect.h / 2.0), &label);
            }
        }
    }
}
