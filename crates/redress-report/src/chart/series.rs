//! What charts are made of: estimates, points, series and reference lines.

use super::scale::{Format, drawable};
use crate::theme::SERIES;

/// A value with the interval that it is known to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The value; a value that is not a number is not drawn.
    pub value: f64,
    /// The ends of its interval.
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// A value without an interval.
    pub fn new(value: f64) -> Estimate {
        Estimate { value, interval: None }
    }

    /// A value inside an interval.
    pub fn within(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some((low, high)) }
    }

    /// The value with its interval in words.
    pub(crate) fn show(&self, format: Format) -> String {
        let value = format.show(self.value);
        match self.interval {
            Some((low, high)) => format!("{value} ({} to {})", format.show(low), format.show(high)),
            None => value,
        }
    }

    /// Every number that an axis must cover. The end of a share's interval below 0 or above 1 says nothing more than 0
    /// or 1, so it does not widen the axis.
    pub(crate) fn numbers(self, format: Format) -> impl Iterator<Item = f64> {
        let end = move |end: f64| if format == Format::Percent { end.clamp(0.0, 1.0) } else { end };
        let ends = self.interval.map(|(low, high)| [end(low), end(high)]);
        std::iter::once(self.value).chain(ends.into_iter().flatten())
    }

    /// The ends of the interval, if it can be drawn.
    pub(crate) fn whisker(&self) -> Option<(f64, f64)> {
        self.interval.filter(|(low, high)| drawable(self.value) && !low.is_nan() && !high.is_nan())
    }
}

impl From<f64> for Estimate {
    fn from(value: f64) -> Estimate {
        Estimate::new(value)
    }
}

/// A point of a line or a scatter chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Where it stands across.
    pub x: Estimate,
    /// Where it stands upwards.
    pub y: Estimate,
    /// What is written beside it, where there is room.
    pub label: Option<String>,
    /// Drawn larger, with a ring: the chosen one.
    pub chosen: bool,
}

impl Point {
    /// A plain point.
    pub fn new(x: impl Into<Estimate>, y: impl Into<Estimate>) -> Point {
        Point { x: x.into(), y: y.into(), label: None, chosen: false }
    }

    /// The same point with a label.
    pub fn label(self, label: impl Into<String>) -> Point {
        Point { label: Some(label.into()), ..self }
    }

    /// The same point as the chosen one.
    pub fn chosen(self) -> Point {
        Point { chosen: true, ..self }
    }

    pub(crate) fn is_drawable(&self) -> bool {
        drawable(self.x.value) && drawable(self.y.value)
    }
}

/// How the intervals of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// A whisker at each point.
    #[default]
    Whiskers,
    /// A shaded band along the line.
    Band,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name in the legend.
    pub name: String,
    /// The points, in the order in which they are joined.
    pub points: Vec<Point>,
    /// How intervals are drawn.
    pub spread: Spread,
    /// Whether a line joins the points.
    pub joined: bool,
    /// Colour, marker and dash: a number from 0; the position among the series unless given. Give it so that the same
    /// thing looks the same in several charts.
    pub style: Option<usize>,
}

impl Series {
    /// A series joined by a line.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = Point>) -> Series {
        let points = points.into_iter().collect();
        Series { name: name.into(), points, spread: Spread::default(), joined: true, style: None }
    }

    /// A series of plain (x, y) pairs.
    pub fn xy(name: impl Into<String>, pairs: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series::new(name, pairs.into_iter().map(|(x, y)| Point::new(x, y)))
    }

    /// The same series with a band for its intervals.
    pub fn band(self) -> Series {
        Series { spread: Spread::Band, ..self }
    }

    /// The same series without a line.
    pub fn loose(self) -> Series {
        Series { joined: false, ..self }
    }

    /// The same series in a given style.
    pub fn style(self, style: usize) -> Series {
        Series { style: Some(style), ..self }
    }
}

/// Which axis a reference line belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// A vertical line at a value of x.
    X,
    /// A horizontal line at a value of y.
    Y,
}

/// A labelled line at one value: a bound, a threshold, a required rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// What the value is.
    pub label: String,
    /// The value.
    pub at: f64,
    /// The axis that it is a value of. Charts with one axis of values use that one.
    pub axis: Across,
}

impl Reference {
    /// A vertical line at a value of x.
    pub fn x(at: f64, label: impl Into<String>) -> Reference {
        Reference { label: label.into(), at, axis: Across::X }
    }

    /// A horizontal line at a value of y.
    pub fn y(at: f64, label: impl Into<String>) -> Reference {
        Reference { label: label.into(), at, axis: Across::Y }
    }
}

/// What a legend shows before a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Swatch {
    Line,
    Point,
    Bar,
    Area,
}

/// One name in a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub name: String,
    pub style: usize,
    pub swatch: Swatch,
}

/// Legend entries for named series; a single one needs no legend, the title says what it is.
pub(crate) fn entries<'a>(names: impl Iterator<Item = (&'a str, Option<usize>)>, swatch: Swatch) -> Vec<Entry> {
    names
        .enumerate()
        .filter(|(_, (name, _))| !name.is_empty())
        .map(|(index, (name, style))| Entry { name: name.to_owned(), style: style.unwrap_or(index) % SERIES, swatch })
        .collect()
}
