//! From values to pixels: the range that an axis covers, its ticks, and how they are written.

use super::text;
use crate::number;

/// How the values of an axis are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Decimals, as many as the ticks need.
    #[default]
    Decimal,
    /// Shares of one as percentages.
    Percent,
    /// Whole numbers: no tick falls between two of them.
    Whole,
}

impl Format {
    /// One value, for tooltips and data tables.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Format::Decimal if value.abs() < 1e-3 && value != 0.0 => number::scientific(value),
            Format::Decimal if value.abs() >= 1000.0 => number::short(value, 1),
            Format::Decimal => number::short(value, 3),
            Format::Percent => number::percent(value, 1),
            Format::Whole => number::short(value, 2),
        }
    }

    /// A tick, with the decimals that tell ticks `step` apart from one another.
    fn tick(self, value: f64, step: f64) -> String {
        let unit = if self == Format::Percent { 100.0 } else { 1.0 };
        let digits = (0..12).find(|&digits| {
            let scaled = step * unit * 10f64.powi(digits);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-300)
        });
        let digits = digits.unwrap_or(12) as usize;
        if value.abs() >= 1e12 || (value != 0.0 && step * unit < 1e-9) {
            return number::scientific(value * unit) + if self == Format::Percent { "%" } else { "" };
        }
        match self {
            Format::Percent => number::percent(value, digits),
            _ => number::fixed(value, digits),
        }
    }
}

/// An axis: what it measures, in which unit, how it is written, and what it covers at the least.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub title: String,
    /// The unit, shown in brackets behind the title.
    pub unit: Option<String>,
    /// How values are written.
    pub format: Format,
    /// A range that the axis covers even where there are no data. It widens for data outside, so that none is hidden.
    pub at_least: Option<(f64, f64)>,
}

impl Axis {
    /// An axis of plain numbers.
    pub fn new(title: impl Into<String>) -> Axis {
        Axis { title: title.into(), ..Axis::default() }
    }

    /// An axis of shares, written as percentages, that covers 0 to 100%.
    pub fn percent(title: impl Into<String>) -> Axis {
        Axis { format: Format::Percent, at_least: Some((0.0, 1.0)), ..Axis::new(title) }
    }

    /// An axis of whole numbers.
    pub fn whole(title: impl Into<String>) -> Axis {
        Axis { format: Format::Whole, ..Axis::new(title) }
    }

    /// The same axis with a unit.
    pub fn unit(self, unit: impl Into<String>) -> Axis {
        Axis { unit: Some(unit.into()), ..self }
    }

    /// The same axis covering at least `low..=high`.
    pub fn at_least(self, low: f64, high: f64) -> Axis {
        Axis { at_least: Some((low, high)), ..self }
    }

    /// The same axis covering only the data, also where it would start at nought.
    pub fn tight(self) -> Axis {
        Axis { at_least: None, ..self }
    }

    /// Title and unit: "Hours (per week)".
    pub(crate) fn caption(&self) -> String {
        match &self.unit {
            Some(unit) if !unit.is_empty() => format!("{} ({unit})", self.title),
            _ => self.title.clone(),
        }
    }
}

/// Whether a value can be drawn at all: a number, and not so large that a range of such numbers overflows.
pub(crate) fn drawable(value: f64) -> bool {
    value.abs() <= 1e100
}

/// The smallest and the largest drawable value, if there is any.
pub(crate) fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|value| drawable(*value)).fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// A linear scale from values to pixels, with ticks at round values that enclose the range.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    pub ticks: Vec<f64>,
    step: f64,
    format: Format,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale for `axis` over `range` (already widened by the caller's own marks), between two pixels, with about `count` ticks.
    pub fn new(axis: &Axis, range: (f64, f64), count: usize, from: f64, to: f64) -> Scale {
        let bounds = axis.at_least.map(|(low, high)| [low, high]).into_iter().flatten();
        let (low, high) = extent([range.0, range.1].into_iter().chain(bounds)).unwrap_or((0.0, 1.0));
        let (low, high) = opened(low, high, axis.format);
        let mut step = round_step((high - low) / count.max(1) as f64);
        if axis.format == Format::Whole {
            step = step.ceil().max(1.0);
        }
        let first = (low / step + 1e-9).floor();
        let last = (high / step - 1e-9).ceil().max(first + 1.0);
        let ticks = (0..=(last - first) as usize).map(|index| (first + index as f64) * step).collect();
        Scale { ticks, step, format: axis.format, from, to }
    }

    /// A scale across whose labels stand side by side: as many ticks as there is room for their labels.
    pub fn across(axis: &Axis, range: (f64, f64), from: f64, to: f64) -> Scale {
        let mut count = ((to - from) / 60.0).clamp(2.0, 7.0) as usize;
        loop {
            let scale = Scale::new(axis, range, count, from, to);
            let apart = (to - from) / (scale.ticks.len() - 1) as f64;
            let widest = scale.labels().map(|(_, label)| text::width(&label)).fold(0.0, f64::max);
            if widest + 8.0 <= apart || count <= 1 {
                return scale;
            }
            count -= 1;
        }
    }

    /// The pixel of a value; values outside stand on the edge.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.range();
        self.from + ((value - low) / (high - low)).clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// The first and the last tick.
    pub fn range(&self) -> (f64, f64) {
        (self.ticks[0], self.ticks[self.ticks.len() - 1])
    }

    /// The ticks with what is written beside them.
    pub fn labels(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        self.ticks.iter().map(|&tick| (tick, self.format.tick(tick, self.step)))
    }
}

/// A range with some width: a single value gets room around it.
fn opened(low: f64, high: f64, format: Format) -> (f64, f64) {
    if high - low > 1e-9 * low.abs().max(high.abs()) && high - low > 1e-100 {
        return (low, high);
    }
    let room = match format {
        Format::Whole => (low.abs() * 1e-3).max(1.0),
        _ if low == 0.0 => 1.0,
        _ => low.abs() * 0.1,
    };
    // A range narrower than the room that floating point leaves is drawn as one value.
    if room > 1e-100 { (low - room, high + room) } else { (-1.0, 1.0) }
}

/// The next of 1, 2, 2.5, 5, 10, … times a power of ten.
fn round_step(raw: f64) -> f64 {
    let power = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(|factor| factor * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ticks_enclose_the_range_and_are_evenly_apart(
            a in prop_oneof![-1e9..1e9f64, -1.0..1.0f64, Just(0.0), Just(1e99), Just(1e-90), any::<f64>()],
            b in prop_oneof![-1e9..1e9f64, -1.0..1.0f64, Just(0.0), Just(1e-95), any::<f64>()],
            count in 1usize..12,
            whole: bool,
        ) {
            let axis = if whole { Axis::whole("x") } else { Axis::new("x") };
            let scale = Scale::new(&axis, (a, b), count, 0.0, 100.0);
            prop_assert!(scale.ticks.len() >= 2 && scale.ticks.len() <= 2 * count + 4, "{:?}", scale.ticks);
            prop_assert!(scale.ticks.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", scale.ticks);
            let (low, high) = scale.range();
            for value in [a, b].into_iter().filter(|value| drawable(*value)) {
                let slack = 1e-6 * scale.step;
                prop_assert!(low <= value + slack && value - slack <= high, "{value} outside {low}..{high}");
                prop_assert!((0.0..=100.0).contains(&scale.at(value)));
            }
            let labels: Vec<String> = scale.labels().map(|(_, label)| label).collect();
            prop_assert!(labels.iter().all(|label| !label.contains("NaN") && !label.contains("inf")), "{labels:?}");
            if whole {
                prop_assert!(scale.ticks.iter().all(|tick| tick.fract() == 0.0));
            }
        }
    }

    #[test]
    fn ticks_are_the_ones_a_person_would_draw() {
        let labels = |axis: &Axis, range, count| {
            Scale::new(axis, range, count, 0.0, 1.0).labels().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(labels(&Axis::new("λ"), (0.0, 2.0), 5), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(&Axis::percent("share"), (0.2, 0.3), 4), ["0%", "25%", "50%", "75%", "100%"]);
        assert_eq!(labels(&Axis::whole("people"), (0.0, 2.0), 10), ["0", "1", "2"]);
        assert_eq!(labels(&Axis::new("amount"), (0.0, 18_000.0), 4), ["0", "5,000", "10,000", "15,000", "20,000"]);
        assert_eq!(labels(&Axis::new("t"), (-0.1, 0.1), 4), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
    }
}
