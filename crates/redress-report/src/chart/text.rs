//! How wide text is, without a font at hand: estimates on the safe side for the usual sans-serif faces.

use unicode_width::UnicodeWidthChar;

/// The size of text in charts, in pixels.
pub(crate) const SIZE: f64 = 12.0;

/// From one line of text to the next, in pixels.
pub(crate) const LEADING: f64 = 15.0;

/// An upper estimate of the width of `text`, in pixels at [`SIZE`].
pub(crate) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * SIZE
}

/// The width of one character as a share of the size.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | ' ' | '-' | 'I' => 0.40,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.98,
        'A'..='Z' => 0.72,
        _ if c.is_ascii() => 0.62,
        _ => match c.width().unwrap_or(0) {
            0 => 0.0,
            1 => 0.68,
            _ => 1.05,
        },
    }
}

/// `text` in at most `lines` lines no wider than `limit`; what does not fit ends in an ellipsis.
pub(crate) fn wrap(text: &str, limit: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let joined = out.last().map(|line| format!("{line} {word}"));
        match joined {
            Some(joined) if width(&joined) <= limit => {
                let last = out.len() - 1;
                out[last] = joined;
            }
            _ => out.extend(pieces(word, limit)),
        }
    }
    let lines = lines.max(1);
    if out.len() > lines {
        let rest = out.split_off(lines - 1).join(" ");
        out.push(shorten(&rest, limit));
    }
    out
}

/// `text` cut with an ellipsis so that it is no wider than `limit`.
pub(crate) fn shorten(text: &str, limit: f64) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = width("…");
    for c in text.chars() {
        used += advance(c) * SIZE;
        if used > limit {
            break;
        }
        out.push(c);
    }
    out.trim_end().to_owned() + "…"
}

/// A word cut where it is wider than `limit`.
fn pieces(word: &str, limit: f64) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut used = 0.0;
    for c in word.chars() {
        let step = advance(c) * SIZE;
        if used + step > limit && used > 0.0 {
            out.push(String::new());
            used = 0.0;
        }
        used += step;
        if let Some(line) = out.last_mut() {
            line.push(c);
        }
    }
    out
}

/// Whether `text` fits in two lines of `limit` without a word being cut.
pub(crate) fn fits(text: &str, limit: f64) -> bool {
    text.split_whitespace().all(|word| width(word) <= limit) && wrap(text, limit, usize::MAX).len() <= 2
}
