//! The grammar of a policy file, as written: tables, keys and types, each with its place in the text.
//!
//! ```toml
//! name = "adult"
//!
//! [data]
//! path = "adult.csv"            # or builtin = "adult"; test_path, delimiter, header and columns where needed
//! label = "income"
//! favourable = ">50K"           # a value, a list of values, or a rule such as "> 50000"
//! filter = ["age >= 18"]        # rows that stay: all of these hold
//! missing = "refuse"            # or "drop_row" or "fill"
//! missing_values = ["?"]
//! drop_duplicates = false
//! groups = ["race", "sex"]
//!
//! [derived.length_of_stay]      # one of days_between, contains, equals
//! days_between = ["c_jail_in", "c_jail_out"]
//!
//! [features.hours_per_week]     # in this order the model sees them
//! kind = "integer"              # number, integer, yes/no, category, ordered
//! name = "hours worked per week"
//! unit = "hours"
//! change = "increase"           # fixed (the default), increase, decrease, any
//! max_change = 10               # or { std = 0.75 }
//! max = 80
//! step = 1
//!
//! [actions]
//! constraints = ["hours_per_week + 4 * education_num <= 12"]
//! links = ["education_num increases: age increases by 2 each"]
//!
//! [overrides]
//! "education_num.max" = "education_cap"
//!
//! [causal.equations.duration]
//! parents = ["amount"]
//! weights = { amount = 0.01 }   # left out: fitted on the training rows
//! intercept = 2.0
//! ```
//!
//! This module knows TOML and nothing of policies: it hands out values of the type asked for, or says what stands there
//! instead, and it knows no key that the caller did not name.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{PolicyError, listed, nearest};

/// A TOML table whose keys have all been found to be known.
pub(super) struct Section<'d> {
    table: &'d DeTable<'d>,
    path: String,
    pub(super) span: Range<usize>,
}

/// One value of the file.
pub(super) struct Item<'d> {
    /// The keys that lead to it, `features.age.min`.
    pub(super) path: String,
    pub(super) value: &'d DeValue<'d>,
    pub(super) span: Range<usize>,
}

/// Parses TOML.
pub(super) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, PolicyError> {
    DeTable::parse(text).map_err(|error| {
        let message = format!("this is not TOML: {}", error.message());
        match error.span() {
            Some(span) => PolicyError::at(span, message),
            None => PolicyError::new(message),
        }
    })
}

impl<'d> Section<'d> {
    /// The whole document.
    pub(super) fn document(document: &'d Spanned<DeTable<'d>>, known: &[&str]) -> Result<Self, PolicyError> {
        let section = Section { table: document.get_ref(), path: String::new(), span: 0..0 };
        section.only(known)?;
        Ok(section)
    }

    /// Refuses every key that is not known.
    fn only(&self, known: &[&str]) -> Result<(), PolicyError> {
        for (key, span) in self.keys() {
            if !known.contains(&key) {
                let place = if self.path.is_empty() { "the policy".to_owned() } else { format!("`[{}]`", self.path) };
                let help = match nearest(key, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the keys here are {}", listed(known.iter().copied())),
                };
                return Err(PolicyError::at(span, format!("unknown key `{key}` in {place}")).help(help));
            }
        }
        Ok(())
    }

    /// The keys in the order of the file.
    fn keys(&self) -> Vec<(&'d str, Range<usize>)> {
        let mut keys: Vec<_> = self.table.keys().map(|key| (key.get_ref().as_ref(), key.span())).collect();
        keys.sort_by_key(|(_, span)| span.start);
        keys
    }

    /// Every key with its value, in the order of the file: for tables whose keys are names of the user's.
    pub(super) fn entries(&self) -> Vec<(&'d str, Item<'d>)> {
        self.keys().into_iter().filter_map(|(key, _)| self.get(key).map(|item| (key, item))).collect()
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<Item<'d>> {
        let (name, value) = self.table.get_key_value(key)?;
        // Tables opened by `[a.b]` have no place of their own: point at the key instead.
        let span = if matches!(value.get_ref(), DeValue::Table(_)) { name.span() } else { value.span() };
        Some(Item { path: self.path_of(key), value: value.get_ref(), span })
    }

    /// The value of a key that must be there.
    pub(super) fn require(&self, key: &str, why: &str) -> Result<Item<'d>, PolicyError> {
        self.get(key).ok_or_else(|| {
            let place = if self.path.is_empty() { "the policy".to_owned() } else { format!("`[{}]`", self.path) };
            let message = format!("{place} has no `{key}`: {why}");
            if self.span.is_empty() { PolicyError::new(message) } else { PolicyError::at(self.span.clone(), message) }
        })
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }
}

impl<'d> Item<'d> {
    /// A fault at this value.
    pub(super) fn wrong(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::at(self.span.clone(), message)
    }

    fn not_a(&self, wanted: &str) -> PolicyError {
        let found = match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.wrong(format!("`{}` is {found}, but should be {wanted}", self.path))
    }

    /// The value as text between quotes.
    pub(super) fn string(&self) -> Result<&'d str, PolicyError> {
        match self.value {
            DeValue::String(text) => Ok(text.as_ref()),
            _ => Err(self.not_a("text")),
        }
    }

    /// A single value of a column, as text: text, a number, true or false.
    pub(super) fn scalar(&self) -> Result<String, PolicyError> {
        match self.value {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Boolean(value) => Ok(value.to_string()),
            DeValue::Datetime(date) => Ok(date.to_string()),
            DeValue::Integer(_) | DeValue::Float(_) => Ok(self.number()?.to_string()),
            _ => Err(self.not_a("one value")),
        }
    }

    /// A finite number.
    pub(super) fn number(&self) -> Result<f64, PolicyError> {
        let number = match self.value {
            DeValue::Integer(digits) => {
                i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|whole| whole as f64)
            }
            DeValue::Float(digits) => digits.as_str().parse::<f64>().ok(),
            _ => return Err(self.not_a("a number")),
        };
        match number {
            Some(number) if number.is_finite() => Ok(number),
            Some(number) if number.is_nan() => Err(self.wrong(format!("`{}` is not a number (nan)", self.path))),
            _ => Err(self.wrong(format!("`{}` is not a finite number", self.path))),
        }
    }

    /// `true` or `false`.
    pub(super) fn boolean(&self) -> Result<bool, PolicyError> {
        match self.value {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.not_a("true or false")),
        }
    }

    /// The items of a list.
    pub(super) fn list(&self) -> Result<Vec<Item<'d>>, PolicyError> {
        match self.value {
            DeValue::Array(values) => Ok(values
                .iter()
                .enumerate()
                .map(|(index, value)| Item {
                    path: format!("{}[{index}]", self.path),
                    value: value.get_ref(),
                    span: value.span(),
                })
                .collect()),
            _ => Err(self.not_a("a list")),
        }
    }

    /// A list of single values of a column, as text, each at most once.
    pub(super) fn scalars(&self) -> Result<Vec<String>, PolicyError> {
        let mut texts: Vec<String> = Vec::new();
        for item in self.list()? {
            let text = item.scalar()?;
            if texts.contains(&text) {
                return Err(item.wrong(format!("`{}` lists `{text}` twice", self.path)));
            }
            texts.push(text);
        }
        Ok(texts)
    }

    /// A list of names, each text and at most once.
    pub(super) fn names(&self) -> Result<Vec<String>, PolicyError> {
        for item in self.list()? {
            item.string()?;
        }
        self.scalars()
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, PolicyError> {
        let word = self.string()?;
        words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value).ok_or_else(|| {
            let known = || words.iter().map(|(known, _)| *known);
            let help = nearest(word, known()).map(|near| format!("did you mean \"{near}\"?"));
            self.wrong(format!("`{}` is \"{word}\", but may be {}", self.path, alternatives(known()))).maybe_help(help)
        })
    }

    /// A table with these keys at most.
    pub(super) fn section(&self, known: &[&str]) -> Result<Section<'d>, PolicyError> {
        let section = self.named_section()?;
        section.only(known)?;
        Ok(section)
    }

    /// A table whose keys are names of the user's.
    pub(super) fn named_section(&self) -> Result<Section<'d>, PolicyError> {
        match self.value {
            DeValue::Table(table) => Ok(Section { table, path: self.path.clone(), span: self.span.clone() }),
            _ => Err(self.not_a("a table")),
        }
    }

    /// Whether a table stands here.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.value, DeValue::Table(_))
    }

    /// Whether text stands here.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    /// Whether a list stands here.
    pub(super) fn is_list(&self) -> bool {
        matches!(self.value, DeValue::Array(_))
    }

    /// The bytes of the file that hold `range` of this item's text, or the whole item where escapes hide them.
    pub(super) fn within(&self, source: &str, range: Range<usize>) -> Range<usize> {
        let DeValue::String(text) = self.value else { return self.span.clone() };
        match source.get(self.span.clone()).and_then(|raw| raw.find(text.as_ref())) {
            Some(offset) => self.span.start + offset + range.start..self.span.start + offset + range.end,
            None => self.span.clone(),
        }
    }
}

/// `"a", "b" or "c"`.
fn alternatives<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("\"{word}\"")).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
