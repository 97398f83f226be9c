//! What is wrong with a policy, and where.

use std::ops::Range;

/// Why a policy cannot be used: one sentence, the place in the file where there is one, and what would help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// One sentence that names the key, the value and what is allowed.
    pub message: String,
    /// The place in the policy file; `None` for a fault that has none, such as a key that is absent altogether.
    pub at: Option<Position>,
    /// How to put it right, where that is not plain from the message.
    pub help: Option<String>,
}

/// A place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The bytes at fault.
    pub span: Range<usize>,
    /// The line of the first of them, counting from 1.
    pub line: usize,
    /// Its column in characters, counting from 1.
    pub column: usize,
}

impl PolicyError {
    /// A fault without a place.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), at: None, help: None }
    }

    /// A fault at these bytes of the file.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { at: Some(Position { span, line: 0, column: 0 }), ..Self::new(message) }
    }

    /// Adds what would help.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds what would help, if there is anything.
    pub(super) fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = self.help.or(help);
        self
    }

    /// Settles line and column now that the text is at hand.
    pub(super) fn locate(mut self, text: &str) -> Self {
        if let Some(at) = &mut self.at {
            let start =
                (0..=at.span.start.min(text.len())).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0);
            let end = (at.span.end.min(text.len()).max(start)..=text.len())
                .find(|&index| text.is_char_boundary(index))
                .unwrap_or(text.len());
            let before = &text[..start];
            *at = Position {
                span: start..end,
                line: before.matches('\n').count() + 1,
                column: before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1,
            };
        }
        self
    }
}

/// The known word nearest to a misspelt one, when it is near enough to be what was meant.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 1.max(candidate.chars().count().max(word.chars().count()) / 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Names in a sentence: `a`, `b` and `c`; long lists are cut and say so.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "none".to_owned(),
        1 => names[0].clone(),
        count if count <= SHOWN => format!("{} and {}", names[..count - 1].join(", "), names[count - 1]),
        count => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
    }
}
