//! Charts as SVG with real text: they follow the page's light or dark colours, print in grey, and speak to screen readers.
//!
//! A chart is plain data; [`Chart::svg`] draws it as a stand-alone figure, and a report draws it twice, once laid out
//! for a desk and once for a phone, and lets the reader's screen choose. Values that are not numbers leave gaps; a chart
//! with nothing to show says so.
//!
//! ```
//! use redress_report::chart::{Axis, Chart, LineChart, Series};
//!
//! let f1 = Series::xy("F1", [(0.0, 0.69), (0.4, 0.66), (0.8, 0.64)]);
//! let chart = Chart::from(LineChart::new("F1 over λ", Axis::new("λ"), Axis::new("F1")).series(f1));
//! assert!(chart.svg().starts_with("<svg "));
//! assert_eq!(chart.tables()[0].csv().lines().nth(1), Some("F1,0,0.69"));
//! ```

mod bar;
mod canvas;
mod dots;
mod geometry;
mod histogram;
#[cfg(test)]
mod laws;
mod legend;
mod panels;
mod plane;
mod points;
mod scale;
mod series;
mod text;
mod xy;

use canvas::{Anchor, Canvas, escape};
use geometry::Rect;
use series::Entry;

use crate::table::{Cell, Table};
use crate::theme;

pub use bar::{BarChart, Bars, Layout};
pub use dots::{DotChart, DotRow};
pub use histogram::{Bins, Histogram};
pub use panels::Panels;
pub use scale::{Axis, Format};
pub use series::{Across, Estimate, Point, Reference, Series, Spread};
pub use xy::{LineChart, PlaneChart, ScatterChart};

/// The width of a chart laid out for a desk, in pixels.
const WIDE: f64 = 760.0;

/// The width of a chart laid out for a phone.
const NARROW: f64 = 340.0;

/// The chart's style sheet, in CSS variables.
pub(crate) const STYLE: &str = include_str!("chart.css");

/// How much room a chart has: alone at a desk, alone on a phone, or one panel of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Wide,
    Narrow,
    Panel,
}

impl Size {
    fn of(width: f64) -> Size {
        if width < 560.0 { Size::Narrow } else { Size::Wide }
    }

    /// The height of a chart with two axes.
    fn plane_height(self, width: f64) -> f64 {
        match self {
            Size::Wide => 350.0,
            Size::Narrow => 280.0,
            Size::Panel => (width * 0.7).clamp(186.0, 280.0),
        }
    }
}

/// What every kind of chart can do.
pub(crate) trait Draw {
    fn title(&self) -> &str;
    /// What the chart says, in words.
    fn summary(&self) -> String;
    fn legend(&self) -> Vec<Entry>;
    /// Whether the chart names its series itself at this width, so that no legend is needed.
    fn labels_itself(&self, _width: f64) -> bool {
        false
    }
    /// Gives every series the style of its name.
    fn restyle(&mut self, style: &dyn Fn(&str) -> usize);
    fn height(&self, width: f64, size: Size) -> f64;
    fn draw(&self, canvas: &mut Canvas, frame: Rect, size: Size);
    fn table(&self) -> Table;
    fn is_empty(&self) -> bool;
}

/// One chart with its own axes.
#[derive(Clone, Debug, PartialEq)]
pub enum Plot {
    /// Lines over a common x.
    Line(LineChart),
    /// Points on two measures.
    Scatter(ScatterChart),
    /// Bars by category.
    Bar(BarChart),
    /// How values are distributed.
    Histogram(Histogram),
    /// Estimates with intervals, one row each.
    Dots(DotChart),
}

impl Plot {
    pub(crate) fn as_draw(&self) -> &dyn Draw {
        match self {
            Plot::Line(chart) => chart,
            Plot::Scatter(chart) => chart,
            Plot::Bar(chart) => chart,
            Plot::Histogram(chart) => chart,
            Plot::Dots(chart) => chart,
        }
    }

    pub(crate) fn as_draw_mut(&mut self) -> &mut dyn Draw {
        match self {
            Plot::Line(chart) => chart,
            Plot::Scatter(chart) => chart,
            Plot::Bar(chart) => chart,
            Plot::Histogram(chart) => chart,
            Plot::Dots(chart) => chart,
        }
    }

    /// Draws the plot, or says that there is nothing to draw.
    pub(crate) fn draw(&self, canvas: &mut Canvas, frame: Rect, size: Size) {
        if self.as_draw().is_empty() {
            canvas.rect("nothing", frame, None);
            canvas.text("empty", Anchor::Middle, (frame.x + frame.w / 2.0, frame.y + frame.h / 2.0), "no data");
        } else {
            self.as_draw().draw(canvas, frame, size);
        }
    }

    pub(crate) fn height(&self, width: f64, size: Size) -> f64 {
        if self.as_draw().is_empty() { 120.0 } else { self.as_draw().height(width, size) }
    }
}

/// A picture: one plot, or several side by side.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// One plot.
    One(Plot),
    /// Several plots under one legend.
    Panels(Panels),
}

macro_rules! plots {
    ($($variant:ident($chart:ty)),* $(,)?) => {$(
        impl From<$chart> for Plot {
            fn from(chart: $chart) -> Plot {
                Plot::$variant(chart)
            }
        }
        impl From<$chart> for Chart {
            fn from(chart: $chart) -> Chart {
                Chart::One(Plot::$variant(chart))
            }
        }
    )*};
}
plots!(Line(LineChart), Scatter(ScatterChart), Bar(BarChart), Histogram(Histogram), Dots(DotChart));

impl From<Plot> for Chart {
    fn from(plot: Plot) -> Chart {
        Chart::One(plot)
    }
}

impl From<Panels> for Chart {
    fn from(panels: Panels) -> Chart {
        Chart::Panels(panels)
    }
}

impl Chart {
    /// What the chart shows.
    pub fn title(&self) -> &str {
        match self {
            Chart::One(plot) => plot.as_draw().title(),
            Chart::Panels(panels) => &panels.title,
        }
    }

    /// What the chart says, in words: what a screen reader speaks.
    pub fn description(&self) -> String {
        match self {
            Chart::One(plot) => plot.as_draw().summary(),
            Chart::Panels(panels) => panels.summary(),
        }
    }

    /// The numbers behind the chart, a table for each plot.
    pub fn tables(&self) -> Vec<Table> {
        match self {
            Chart::One(plot) => vec![plot.as_draw().table()],
            Chart::Panels(panels) => panels.tables(),
        }
    }

    /// A stand-alone figure in light colours, with its title, that any SVG program shows as it is.
    pub fn svg(&self) -> String {
        let title = text::wrap(self.title(), WIDE / 1.25, 3);
        let head = title.len() as f64 * 20.0 + if title.is_empty() { 0.0 } else { 12.0 };
        let mut canvas = Canvas::new("figure");
        for (index, line) in title.iter().enumerate() {
            canvas.text("title", Anchor::Start, (0.0, 10.0 + 20.0 * index as f64), line);
        }
        let height = self.compose(&mut canvas, WIDE, head);
        let (margin, w, h) = (20.0, WIDE + 40.0, height + 40.0);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{w}\" height=\"{h:.0}\" \
             viewBox=\"{m} {m} {w} {h:.0}\" role=\"img\" aria-labelledby=\"figure-title figure-desc\">\
             <title id=\"figure-title\">{title}</title><desc id=\"figure-desc\">{desc}</desc><style>{style}</style>\
             <rect class=\"paper\" x=\"{m}\" y=\"{m}\" width=\"{w}\" height=\"{h:.0}\"/>{body}</svg>\n",
            m = -margin,
            title = escape(self.title()),
            desc = escape(&self.description()),
            style = theme::light_values(STYLE).lines().map(str::trim).collect::<String>(),
            body = canvas.finish(),
        )
    }

    /// The chart for a page: laid out for a desk and for a phone, of which the page's style sheet shows one.
    pub(crate) fn inline(&self, id: &str) -> String {
        let mut out = String::new();
        for (width, class) in [(WIDE, "wide"), (NARROW, "narrow")] {
            let id = format!("{id}-{class}");
            let mut canvas = Canvas::new(&id);
            let height = self.compose(&mut canvas, width, 0.0);
            out.push_str(&format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart {class}\" viewBox=\"0 0 {width} {height:.0}\" \
                 role=\"img\" aria-labelledby=\"{id}-title {id}-desc\"><title id=\"{id}-title\">{}</title>\
                 <desc id=\"{id}-desc\">{}</desc>{}</svg>",
                escape(self.title()),
                escape(&self.description()),
                canvas.finish(),
            ));
        }
        out
    }

    /// Draws legend and plots below `top`; returns where the drawing ends.
    fn compose(&self, canvas: &mut Canvas, width: f64, top: f64) -> f64 {
        match self {
            Chart::One(plot) => {
                let draw = plot.as_draw();
                let entries = if draw.labels_itself(width) || draw.is_empty() { Vec::new() } else { draw.legend() };
                let top = top + legend::draw(canvas, &entries, Rect::new(0.0, top, width, 0.0));
                let size = Size::of(width);
                let frame = Rect::new(0.0, top, width, plot.height(width, size));
                plot.draw(canvas, frame, size);
                frame.bottom()
            }
            Chart::Panels(panels) => panels.draw(canvas, width, top),
        }
    }
}

/// The cells of an estimate: its value, and the ends of its interval where the table has columns for them.
fn estimate_cells(cells: &mut Vec<Cell>, estimate: Estimate, format: Format, with_interval: bool) {
    let cell = |value: f64| Cell { text: format.show(value), value: Some(value), ..Cell::default() };
    cells.push(cell(estimate.value));
    if with_interval {
        let ends = estimate.interval.map(|(low, high)| [cell(low), cell(high)]);
        cells.extend(ends.unwrap_or_default());
    }
}
