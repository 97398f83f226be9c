//! Small multiples: several plots side by side under one legend.

use super::canvas::{Anchor, Canvas};
use super::geometry::Rect;
use super::series::Entry;
use super::text::{self, LEADING};
use super::{Plot, Size, legend};
use crate::table::Table;

const GAP: f64 = 22.0;

/// A panel narrower than this cannot be read: fewer stand side by side then.
const LEAST: f64 = 150.0;

/// Several plots under one title and one legend. A series of the same name looks the same in every panel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panels {
    /// What the panels show together.
    pub title: String,
    /// What they say, for readers who cannot see them; made from the plots if not given.
    pub description: Option<String>,
    /// How many stand side by side where there is room; fewer on a phone.
    pub columns: usize,
    /// The plots, row by row; each one's own title stands above it.
    pub plots: Vec<Plot>,
}

impl Panels {
    /// Panels without plots.
    pub fn new(title: impl Into<String>, columns: usize) -> Panels {
        Panels { title: title.into(), description: None, columns, plots: Vec::new() }
    }

    /// The same panels with one more plot.
    pub fn plot(mut self, plot: impl Into<Plot>) -> Panels {
        self.plots.push(plot.into());
        self
    }

    /// The same panels described in words.
    pub fn description(self, description: impl Into<String>) -> Panels {
        Panels { description: Some(description.into()), ..self }
    }

    pub(crate) fn summary(&self) -> String {
        let each = self.plots.iter().map(|plot| format!("{}. {}", plot.as_draw().title(), plot.as_draw().summary()));
        self.description.clone().unwrap_or_else(|| each.collect::<Vec<_>>().join(" "))
    }

    pub(crate) fn tables(&self) -> Vec<Table> {
        self.plots.iter().map(|plot| plot.as_draw().table().caption(plot.as_draw().title())).collect()
    }

    /// Draws the legend and the panels below `top`; returns where the drawing ends.
    pub(crate) fn draw(&self, canvas: &mut Canvas, width: f64, top: f64) -> f64 {
        let entries = self.entries();
        let mut y = top + legend::draw(canvas, &entries, Rect::new(0.0, top, width, 0.0));
        let style = |name: &str| entries.iter().find(|entry| entry.name == name).map_or(0, |entry| entry.style);
        let columns = self.columns_at(width);
        let each = (width - GAP * (columns - 1) as f64) / columns as f64;
        for row in self.plots.chunks(columns) {
            let titles: Vec<_> = row.iter().map(|plot| text::wrap(plot.as_draw().title(), each / 1.1, 2)).collect();
            let head = titles.iter().map(Vec::len).max().unwrap_or(0) as f64 * LEADING + 8.0;
            let height = row.iter().map(|plot| plot.height(each, Size::Panel)).fold(0.0, f64::max);
            for (index, (plot, title)) in row.iter().zip(&titles).enumerate() {
                let x = index as f64 * (each + GAP);
                canvas.lines("panel", Anchor::Start, (x, y + title.len() as f64 * LEADING / 2.0), title);
                let mut plot = plot.clone();
                plot.as_draw_mut().restyle(&style);
                plot.draw(canvas, Rect::new(x, y + head, each, height), Size::Panel);
            }
            y += head + height + GAP;
        }
        if self.plots.is_empty() {
            let frame = Rect::new(0.0, y, width, 120.0);
            canvas.rect("nothing", frame, None);
            canvas.text("empty", Anchor::Middle, (width / 2.0, y + 60.0), "no data");
            return frame.bottom();
        }
        y - GAP
    }

    /// As many columns as asked for, or halved until a panel can be read.
    fn columns_at(&self, width: f64) -> usize {
        let mut columns = self.columns.clamp(1, self.plots.len().max(1));
        while columns > 1 && (width - GAP * (columns - 1) as f64) / (columns as f64) < LEAST {
            columns = columns.div_ceil(2);
        }
        columns
    }

    /// Every name once, in the order of first appearance, with a style of its own.
    fn entries(&self) -> Vec<Entry> {
        let mut out: Vec<Entry> = Vec::new();
        let explicit = self.plots.iter().flat_map(|plot| plot.as_draw().legend());
        for entry in explicit {
            if !out.iter().any(|known| known.name == entry.name) {
                let taken = out.iter().any(|known| known.style == entry.style);
                let style = if taken { out.len() % crate::theme::SERIES } else { entry.style };
                out.push(Entry { style, ..entry });
            }
        }
        out
    }
}
