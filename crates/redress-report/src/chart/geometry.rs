//! Rectangles, and where labels go so that none covers another.

/// A rectangle in pixels; `y` grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    pub fn new(x: f64, y: f64, w: f64, h: f64) -> Rect {
        Rect { x, y, w: w.max(0.0), h: h.max(0.0) }
    }

    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }

    /// The same rectangle with its sides moved inwards.
    pub fn inset(&self, left: f64, top: f64, right: f64, bottom: f64) -> Rect {
        Rect::new(self.x + left, self.y + top, self.w - left - right, self.h - top - bottom)
    }

    /// The area that two rectangles share.
    pub fn shared(&self, other: &Rect) -> f64 {
        let w = self.right().min(other.right()) - self.x.max(other.x);
        let h = self.bottom().min(other.bottom()) - self.y.max(other.y);
        if w > 0.0 && h > 0.0 { w * h } else { 0.0 }
    }

    fn holds(&self, other: &Rect) -> bool {
        other.x >= self.x && other.y >= self.y && other.right() <= self.right() && other.bottom() <= self.bottom()
    }
}

/// Finds room for labels: never over another label, and over as little ink as can be.
pub(crate) struct Room {
    bounds: Rect,
    labels: Vec<Rect>,
    ink: Vec<Rect>,
}

impl Room {
    pub fn new(bounds: Rect) -> Room {
        Room { bounds, labels: Vec::new(), ink: Vec::new() }
    }

    /// Remembers a mark around a point.
    pub fn mark(&mut self, x: f64, y: f64, radius: f64) {
        self.ink.push(Rect::new(x - radius, y - radius, 2.0 * radius, 2.0 * radius));
    }

    /// Remembers a line between two points.
    pub fn stroke(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = ((to.0 - from.0).hypot(to.1 - from.1) / 6.0).ceil().clamp(1.0, 400.0);
        for step in 0..=steps as usize {
            let t = step as f64 / steps;
            self.mark(from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1), 1.5);
        }
    }

    /// Takes the first of the candidates with the least ink under it; none if each covers a label or leaves the bounds.
    pub fn take(&mut self, candidates: impl IntoIterator<Item = Rect>) -> Option<Rect> {
        self.take_clear(candidates, f64::INFINITY)
    }

    /// The same, and none where more than `most` square pixels of ink would be covered.
    pub fn take_clear(&mut self, candidates: impl IntoIterator<Item = Rect>, most: f64) -> Option<Rect> {
        let mut best: Option<(f64, Rect)> = None;
        for rect in candidates {
            if !self.bounds.holds(&rect) || self.labels.iter().any(|label| label.shared(&rect) > 0.0) {
                continue;
            }
            let covered: f64 = self.ink.iter().map(|mark| mark.shared(&rect)).sum();
            if covered <= most && best.is_none_or(|(least, _)| covered < least) {
                best = Some((covered, rect));
            }
        }
        let (_, rect) = best?;
        self.labels.push(rect);
        Some(rect)
    }
}

/// Positions as near as can be to `wanted`, at least `gap` apart and inside `low..=high`; the order is kept.
///
/// Labels at the ends of lines use it. There must be room: `(wanted.len() − 1) · gap ≤ high − low`.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut out = vec![0.0; wanted.len()];
    let mut least = low;
    for &index in &order {
        out[index] = wanted[index].max(least);
        least = out[index] + gap;
    }
    let mut most = high;
    for &index in order.iter().rev() {
        out[index] = out[index].min(most);
        most = out[index] - gap;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn spread_labels_keep_their_distance_and_stay_inside(wanted in prop::collection::vec(-50.0..350.0f64, 1..12)) {
            let placed = spread(&wanted, 16.0, 0.0, 300.0);
            let mut sorted = placed.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= 16.0 - 1e-9), "{sorted:?}");
            prop_assert!(placed.iter().all(|at| (0.0..=300.0).contains(at)), "{placed:?}");
        }
    }
}
