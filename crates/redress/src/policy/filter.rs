//! Tests of one value: row filters such as `days >= -30`, and rules for the favourable label such as `> 50000`.

use std::fmt;

use super::constraint::symbol;
use super::scan::{Named, Plain, Scanner, SentenceError, quote, quoted};
use super::{Comparison, Filter, Rule};

/// The longest first, so that `<=` is not read as `<`.
const COMPARISONS: [(&str, Comparison); 7] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
    ("=", Comparison::Equal),
];

impl Comparison {
    /// Whether `left` compares so with `right`.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(symbol(*self))
    }
}

impl Filter {
    /// Parses `column comparison value`; text may stand in quotes.
    ///
    /// ```
    /// use redress::policy::{Comparison, Filter};
    /// let filter = Filter::parse("days_b_screening_arrest >= -30")?;
    /// assert_eq!(filter.column, "days_b_screening_arrest");
    /// assert_eq!((filter.comparison, filter.value.as_str()), (Comparison::AtLeast, "-30"));
    /// # Ok::<(), redress::policy::SentenceError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, SentenceError> {
        let mut scanner = Scanner::new(text);
        let Some(column) = scanner.name()? else {
            let (found, range) = scanner.upcoming();
            return Err(SentenceError::new(range, format!("expected a column, found {found}")));
        };
        let Some((_, comparison)) = COMPARISONS.into_iter().find(|(written, _)| scanner.takes(written)) else {
            let (found, range) = scanner.upcoming();
            return Err(SentenceError::new(range, format!("expected <, <=, >, >=, == or !=, found {found}"))
                .help("write names with other characters than letters, digits and _ in backticks"));
        };
        scanner.skip_blanks();
        let start = scanner.at;
        let value = value(scanner.rest(), start)?;
        let ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if ordered && number(&value).is_none() {
            return Err(SentenceError::new(start..text.len(), format!("`{value}` is not a number"))
                .help(format!("{comparison} compares numbers; text compares with == and !=")));
        }
        Ok(Self { text: text.to_owned(), column: column.text, comparison, value })
    }

    /// Writes a filter so that [`Filter::parse`] reads it back.
    pub fn written(column: &str, comparison: Comparison, value: &str) -> String {
        let plain = !value.is_empty() && value.trim() == value && !value.starts_with(['"', '\'', '=']);
        let value = if plain { value.to_owned() } else { quote(value, '"') };
        format!("{} {comparison} {value}", Named(column))
    }

    /// Whether a value passes: numbers compare as numbers when both sides are numbers, text as text otherwise.
    pub fn accepts(&self, value: &str) -> bool {
        match (number(value), number(&self.value)) {
            (Some(left), Some(right)) => self.comparison.holds(left, right),
            _ => match self.comparison {
                Comparison::Equal => value == self.value,
                Comparison::NotEqual => value != self.value,
                _ => false,
            },
        }
    }
}

/// The rest of a filter: quoted text, or everything up to the end.
fn value(rest: &str, start: usize) -> Result<String, SentenceError> {
    let rest = rest.trim_end();
    let end = start + rest.len();
    let Some(mark) = rest.chars().next() else {
        return Err(SentenceError::new(start..end, "expected a value to compare with, found nothing"));
    };
    if mark != '"' && mark != '\'' {
        return Ok(rest.to_owned());
    }
    match quoted(rest, mark) {
        Some((text, length)) if length == rest.len() => Ok(text),
        Some((_, length)) => Err(SentenceError::new(start + length..end, "nothing may follow the quoted value")),
        None => Err(SentenceError::new(start..end, "the quoted value does not end")),
    }
}

/// A finite number, or nothing.
pub(crate) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

impl Rule {
    /// Reads text as a rule when it is a comparison with a number (`> 50000`), and as a value otherwise (`>50K`).
    pub fn parse(text: &str) -> Self {
        let trimmed = text.trim();
        for (written, comparison) in COMPARISONS {
            if let Some(rest) = trimmed.strip_prefix(written) {
                return match number(rest) {
                    Some(bound) => Rule::Compare(comparison, bound),
                    None => Rule::Is(text.to_owned()),
                };
            }
        }
        Rule::Is(text.to_owned())
    }

    /// Whether a value satisfies the rule: numbers compare as numbers, text as text.
    pub fn accepts(&self, value: &str) -> bool {
        match self {
            Rule::Is(wanted) => same(value, wanted),
            Rule::OneOf(wanted) => wanted.iter().any(|wanted| same(value, wanted)),
            Rule::Compare(comparison, bound) => number(value).is_some_and(|value| comparison.holds(value, *bound)),
        }
    }
}

/// Equal as text, or as numbers where both are numbers: `1` and `1.0` are one value.
pub(crate) fn same(left: &str, right: &str) -> bool {
    left == right || matches!((number(left), number(right)), (Some(left), Some(right)) if left == right)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Is(value) => f.write_str(value),
            Rule::OneOf(values) => f.write_str(&values.join(" or ")),
            Rule::Compare(comparison, bound) => write!(f, "{comparison} {}", Plain(*bound)),
        }
    }
}
