//! Writes SVG elements: every number rounded, every text escaped, nothing that is not a number.

use std::fmt::Write as _;

use super::geometry::Rect;
use super::text::LEADING;
use crate::theme::SERIES;

/// Where a text stands against its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A drawing in progress.
pub(crate) struct Canvas {
    id: String,
    body: String,
    textures: [bool; SERIES],
}

impl Canvas {
    /// An empty drawing; `id` makes its inner names unique on a page.
    pub fn new(id: &str) -> Canvas {
        Canvas { id: id.to_owned(), body: String::new(), textures: [false; SERIES] }
    }

    /// The elements, with the definitions that they use in front.
    pub fn finish(self) -> String {
        let mut defs = String::new();
        for (style, _) in self.textures.iter().enumerate().filter(|(_, used)| **used) {
            defs.push_str(&texture(&self.id, style));
        }
        if defs.is_empty() { self.body } else { format!("<defs>{defs}</defs>{}", self.body) }
    }

    /// A line from one point to another.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        if let Some([x1, y1, x2, y2]) = plain([from.0, from.1, to.0, to.1]) {
            let _ = write!(self.body, r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#);
        }
    }

    /// A line upwards at `x` with a cap at each end.
    pub fn upright(&mut self, class: &str, x: f64, (low, high): (f64, f64), cap: f64) {
        if let Some([x, low, high, left, wide]) = plain([x, low, high, x - cap, 2.0 * cap]) {
            let d = format!("M{x} {low}V{high}M{left} {low}h{wide}M{left} {high}h{wide}");
            let _ = write!(self.body, r#"<path class="{class}" d="{d}"/>"#);
        }
    }

    /// A line across at `y` with a cap at each end.
    pub fn across(&mut self, class: &str, y: f64, (low, high): (f64, f64), cap: f64) {
        if let Some([y, low, high, top, tall]) = plain([y, low, high, y - cap, 2.0 * cap]) {
            let d = format!("M{low} {y}H{high}M{low} {top}v{tall}M{high} {top}v{tall}");
            let _ = write!(self.body, r#"<path class="{class}" d="{d}"/>"#);
        }
    }

    /// A rectangle, with a tooltip if there is something to say.
    pub fn rect(&mut self, class: &str, rect: Rect, tip: Option<&str>) {
        if let Some([x, y, w, h]) = plain([rect.x, rect.y, rect.w, rect.h]) {
            let _ = write!(self.body, r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}""#);
            self.close("rect", tip);
        }
    }

    /// A bar in a series' colour, textured so that it can be told from the others in grey.
    pub fn bar(&mut self, style: usize, rect: Rect, tip: Option<&str>) {
        let style = style % SERIES;
        self.rect(&format!("bar s{style}"), rect, tip);
        if style > 0 {
            self.textures[style] = true;
            if let Some([x, y, w, h]) = plain([rect.x, rect.y, rect.w, rect.h]) {
                let fill = format!("url(#{}-t{style})", self.id);
                let _ = write!(
                    self.body,
                    r#"<rect class="texture" x="{x}" y="{y}" width="{w}" height="{h}" fill="{fill}"/>"#
                );
            }
        }
    }

    /// A line through points, or the closed area that they surround.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)], closed: bool) {
        let mut d = String::new();
        for &(x, y) in points {
            let Some([x, y]) = plain([x, y]) else { continue };
            let _ = write!(d, "{}{x} {y}", if d.is_empty() { "M" } else { "L" });
        }
        if !d.is_empty() {
            let _ = write!(self.body, r#"<path class="{class}" d="{d}{}"/>"#, if closed { "Z" } else { "" });
        }
    }

    /// A series' marker at a point; the shape differs between series.
    pub fn marker(&mut self, class: &str, style: usize, (x, y): (f64, f64), tip: Option<&str>) {
        let style = style % SERIES;
        if let Some([x, y]) = plain([x, y]) {
            let shape = MARKERS[style];
            let _ = write!(self.body, r#"<path class="{class} s{style}" transform="translate({x} {y})" d="{shape}""#);
            self.close("path", tip);
        }
    }

    /// A ring around a point that stands out.
    pub fn ring(&mut self, (x, y): (f64, f64)) {
        if let Some([x, y]) = plain([x, y]) {
            let _ = write!(self.body, r#"<circle class="ring" cx="{x}" cy="{y}" r="8"/>"#);
        }
    }

    /// One line of text; `y` is the middle of its lower-case letters.
    pub fn text(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), text: &str) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => r#" text-anchor="middle""#,
            Anchor::End => r#" text-anchor="end""#,
        };
        // A shift instead of `dominant-baseline`, which not every program knows.
        if let Some([x, y]) = plain([x, y + 4.0]) {
            let _ = write!(self.body, r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}</text>"#, escape(text));
        }
    }

    /// Lines of text, the block's middle at `y`.
    pub fn lines(&mut self, class: &str, anchor: Anchor, (x, y): (f64, f64), lines: &[String]) {
        let top = y - LEADING * (lines.len().saturating_sub(1)) as f64 / 2.0;
        for (index, line) in lines.iter().enumerate() {
            self.text(class, anchor, (x, top + LEADING * index as f64), line);
        }
    }

    /// Ends an open tag, with a tooltip inside if there is one.
    fn close(&mut self, tag: &str, tip: Option<&str>) {
        match tip {
            Some(tip) => {
                let _ = write!(self.body, "><title>{}</title></{tag}>", escape(tip));
            }
            None => self.body.push_str("/>"),
        }
    }
}

/// Marker shapes around nought, about equal in weight.
const MARKERS: [&str; SERIES] = [
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z",
    "M-3.6-3.6H3.6V3.6H-3.6Z",
    "M0-4.8L4.6 3.4H-4.6Z",
    "M0-5L5 0L0 5L-5 0Z",
    "M0 4.8L4.6-3.4H-4.6Z",
    "M-1.5-4.6H1.5V-1.5H4.6V1.5H1.5V4.6H-1.5V1.5H-4.6V-1.5H-1.5Z",
    "M-2-4.6H2L4.6 0L2 4.6H-2L-4.6 0Z",
    "M-4.4-1.6L0-5L4.4-1.6L2.7 4H-2.7Z",
];

/// A pattern of fine lines in the colour of the surface, laid over a bar.
fn texture(id: &str, style: usize) -> String {
    let (size, turn, d) = match style {
        1 => (7, 45, "M0 0V7"),
        2 => (6, 0, "M2 3H4"),
        3 => (7, -45, "M0 0V7"),
        4 => (6, 0, "M0 3H6"),
        5 => (7, 45, "M0 0V7M0 0H7"),
        6 => (6, 0, "M3 0V6"),
        _ => (7, 0, "M0 0V7M0 0H7"),
    };
    format!(
        r#"<pattern id="{id}-t{style}" width="{size}" height="{size}" patternUnits="userSpaceOnUse" patternTransform="rotate({turn})"><path class="thread" d="{d}"/></pattern>"#
    )
}

/// Numbers as SVG wants them: at most one decimal; none at all if one of them is not a number.
fn plain<const N: usize>(numbers: [f64; N]) -> Option<[f64; N]> {
    // Adding nought turns −0 into 0.
    numbers.iter().all(|number| number.is_finite()).then(|| numbers.map(|number| (number * 10.0).round() / 10.0 + 0.0))
}

/// `text` for XML: the five special characters escaped, characters that XML forbids left out.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
