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

/// A word cut where it is wider than `limit`: behind a hyphen, slash or underscore, or else anywhere.
fn pieces(word: &str, limit: f64) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut line = String::new();
    for c in word.chars() {
        line.push(c);
        while width(&line) > limit && line.chars().nth(1).is_some() {
            let before = &line[..line.len() - c.len_utf8()];
            let cut = before.rfind(['-', '/', '_']).map_or(before.len(), |at| at + 1);
            let rest = line.split_off(cut);
            out.push(std::mem::replace(&mut line, rest));
        }
    }
    out.push(line);
    out
}

/// Whether `text` fits in two lines of `limit` without a word being cut.
pub(crate) fn fits(text: &str, limit: f64) -> bool {
    text.split_whitespace().all(|word| width(word) <= limit) && wrap(text, limit, usize::MAX).len() <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_are_cut_behind_a_hyphen_where_they_have_one() {
        let limit = width("Amer-Indian-E");
        assert_eq!(wrap("race = Amer-Indian-Eskimo", limit, 4), ["race =", "Amer-Indian-", "Eskimo"]);
        assert!(wrap("-wwwwwwwwwwwwwww", 40.0, 99).iter().all(|line| width(line) <= 40.0));
        assert_eq!(wrap("abcdef", width("abc"), 9), ["abc", "def"]);
    }
}
