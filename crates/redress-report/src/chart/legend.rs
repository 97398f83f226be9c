//! Legends: names with the mark of their series, in rows that wrap.

use super::canvas::{Anchor, Canvas};
use super::geometry::Rect;
use super::series::{Entry, Swatch};
use super::text;

const ROW: f64 = 20.0;
const SWATCH: f64 = 26.0;

/// Draws a legend at the top of `frame` and returns its height. One series needs none: the title says what it is.
pub(crate) fn draw(canvas: &mut Canvas, entries: &[Entry], frame: Rect) -> f64 {
    if entries.len() < 2 {
        return 0.0;
    }
    let (mut x, mut y) = (frame.x, frame.y + ROW / 2.0);
    for entry in entries {
        let name = text::shorten(&entry.name, frame.w - SWATCH - 6.0);
        let width = SWATCH + 6.0 + text::width(&name);
        if x > frame.x && x + width > frame.right() {
            (x, y) = (frame.x, y + ROW);
        }
        swatch(canvas, entry, (x, y));
        canvas.text("label legend", Anchor::Start, (x + SWATCH + 6.0, y), &name);
        x += width + 18.0;
    }
    y + ROW / 2.0 - frame.y + 10.0
}

fn swatch(canvas: &mut Canvas, entry: &Entry, (x, y): (f64, f64)) {
    let middle = (x + SWATCH / 2.0, y);
    match entry.swatch {
        Swatch::Line => {
            canvas.path(&format!("line s{}", entry.style), &[(x, y), (x + SWATCH, y)], false);
            canvas.marker("swatch-point", entry.style, middle, None);
        }
        Swatch::Point => canvas.marker("swatch-point", entry.style, (x + SWATCH - 6.0, y), None),
        Swatch::Area => {
            canvas.rect(&format!("bin s{}", entry.style), Rect::new(x, y - 6.0, SWATCH, 12.0), None);
            canvas.path(&format!("line s{}", entry.style), &[(x, y - 6.0), (x + SWATCH, y - 6.0)], false);
        }
        Swatch::Bar => canvas.bar(entry.style, Rect::new(x + 6.0, y - 6.0, SWATCH - 6.0, 12.0), None),
    }
}
