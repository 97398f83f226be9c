//! A cursor over the short sentences of a policy: constraints, filters and links.

use std::fmt;
use std::ops::Range;

/// What is wrong with a sentence and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SentenceError {
    /// What is wrong.
    pub message: String,
    /// The bytes of the sentence at fault.
    pub range: Range<usize>,
    /// What would help.
    pub help: Option<String>,
}

impl SentenceError {
    pub(super) fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), range, help: None }
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// A name and where it stands.
pub(super) struct Name {
    pub(super) text: String,
    pub(super) range: Range<usize>,
}

pub(super) struct Scanner<'t> {
    text: &'t str,
    pub(super) at: usize,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    pub(super) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    /// Takes `symbol` if it comes next.
    pub(super) fn takes(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// Takes a plain word if it comes next.
    pub(super) fn word(&mut self) -> Option<&'t str> {
        self.skip_blanks();
        let rest = self.rest();
        let length = plain_prefix(rest);
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// Takes a name: a plain word, or anything between backticks (a doubled backtick stands for one).
    pub(super) fn name(&mut self) -> Result<Option<Name>, SentenceError> {
        self.skip_blanks();
        let start = self.at;
        if !self.rest().starts_with('`') {
            return Ok(self.word().map(|word| Name { text: word.to_owned(), range: start..start + word.len() }));
        }
        let (text, length) = quoted(self.rest(), '`').ok_or_else(|| {
            SentenceError::new(start..self.text.len(), "a name begins with a backtick but does not end with one")
        })?;
        self.at += length;
        Ok(Some(Name { text, range: start..self.at }))
    }

    /// Takes a number without a sign.
    pub(super) fn number(&mut self) -> Result<Option<f64>, SentenceError> {
        self.skip_blanks();
        let bytes = self.rest().as_bytes();
        if !matches!(bytes, [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..]) {
            return Ok(None);
        }
        let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut length = digits(0);
        if bytes.get(length) == Some(&b'.') {
            length += 1 + digits(length + 1);
        }
        if matches!(bytes.get(length), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
            let exponent = digits(length + 1 + sign);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        let range = self.at..self.at + length;
        self.at += length;
        match self.text[range.clone()].parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => Err(SentenceError::new(range, "this number is too large")),
        }
    }

    /// The bytes from `start` to here.
    pub(super) fn since(&self, start: usize) -> Range<usize> {
        start..self.at
    }

    /// The next word, symbol or character, for messages about what stands where something else should.
    pub(super) fn upcoming(&mut self) -> (String, Range<usize>) {
        self.skip_blanks();
        let rest = self.rest();
        let length = match plain_prefix(rest) {
            0 => rest.chars().next().map_or(0, char::len_utf8),
            length => length,
        };
        let shown = if length == 0 { "nothing".to_owned() } else { format!("`{}`", &rest[..length]) };
        (shown, self.at..self.at + length)
    }
}

/// How many bytes of `text` are a plain word: a letter or `_`, then letters, digits and `_`.
fn plain_prefix(text: &str) -> usize {
    let starts = text.starts_with(|first: char| first.is_alphabetic() || first == '_');
    if !starts {
        return 0;
    }
    text.find(|next: char| !(next.is_alphanumeric() || next == '_')).unwrap_or(text.len())
}

/// Reads text that begins with `quote`: what stands between the quotes and how many bytes were read. A doubled quote
/// stands for one.
pub(super) fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut content = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((index, next)) = characters.next() {
        if next != quote {
            content.push(next);
        } else if characters.next_if(|(_, following)| *following == quote).is_some() {
            content.push(quote);
        } else {
            return Some((content, index + quote.len_utf8()));
        }
    }
    None
}

/// Writes text between quotes so that [`quoted`] reads it back.
pub(super) fn quote(text: &str, quote: char) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}

/// Writes a name so that [`Scanner::name`] reads it back.
pub(super) struct Named<'a>(pub(super) &'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.is_empty() && plain_prefix(self.0) == self.0.len() {
            f.write_str(self.0)
        } else {
            f.write_str(&quote(self.0, '`'))
        }
    }
}

/// Writes a number so that it reads back as the same number, without hundreds of zeros.
pub(super) struct Plain(pub(super) f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if size != 0.0 && !(1e-6..1e15).contains(&size) { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}
