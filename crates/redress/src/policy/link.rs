//! If-then links between changes: `education_num increases: age increases by 2 each`.

use std::fmt;
use std::ops::Range;

use super::error::nearest;
use super::scan::{Named, Plain, Scanner, SentenceError, quote, quoted};
use super::{Link, PolicyError, Trigger};

const SHAPE: &str =
    "a link reads `CAUSE increases|decreases|changes|becomes VALUE: EFFECT increases|decreases by NUMBER [each]`";

/// A link as written, with names still unresolved. Its [`Display`](fmt::Display) form parses back to an equal value.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSentence {
    /// The feature whose change has the consequence.
    pub cause: String,
    /// Which change of it.
    pub trigger: Trigger,
    /// The feature that moves as a consequence.
    pub effect: String,
    /// By how much, signed.
    pub amount: f64,
    /// Whether the amount counts for every unit of the cause's change.
    pub each: bool,
    /// Where cause and effect stand in the sentence.
    pub(super) places: [Range<usize>; 2],
}

impl LinkSentence {
    /// Parses one link.
    ///
    /// ```
    /// use redress::policy::{LinkSentence, Trigger};
    /// let link = LinkSentence::parse("education becomes Doctorate: age increases by 4")?;
    /// assert_eq!(link.trigger, Trigger::Becomes("Doctorate".to_owned()));
    /// assert_eq!((link.effect.as_str(), link.amount, link.each), ("age", 4.0, false));
    /// # Ok::<(), redress::policy::SentenceError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, SentenceError> {
        let mut scanner = Scanner::new(text);
        let cause = name(&mut scanner, "the feature that causes the change")?;
        let trigger = trigger(&mut scanner)?;
        if !scanner.takes(":") {
            return Err(expected(&mut scanner, "`:`"));
        }
        let effect = name(&mut scanner, "the feature that changes as a consequence")?;
        let sign = match verb(&mut scanner, &["increases", "decreases"])? {
            "increases" => 1.0,
            _ => -1.0,
        };
        if scanner.word() != Some("by") {
            return Err(expected(&mut scanner, "`by` and a number"));
        }
        scanner.skip_blanks();
        let start = scanner.at;
        let Some(size) = scanner.number()? else {
            return Err(expected(&mut scanner, "a number above 0"));
        };
        if size == 0.0 {
            return Err(SentenceError::new(scanner.since(start), "a change by 0 is no change"));
        }
        let each = match scanner.word() {
            None => false,
            Some("each") => true,
            Some(word) => {
                let range = scanner.at - word.len()..scanner.at;
                return Err(
                    SentenceError::new(range, format!("expected `each` or the end, found `{word}`")).help(SHAPE)
                );
            }
        };
        if !scanner.at_end() {
            return Err(expected(&mut scanner, "the end of the link"));
        }
        let places = [cause.range, effect.range];
        Ok(Self { cause: cause.text, trigger, effect: effect.text, amount: sign * size, each, places })
    }
}

fn expected(scanner: &mut Scanner, wanted: &str) -> SentenceError {
    let (found, range) = scanner.upcoming();
    SentenceError::new(range, format!("expected {wanted}, found {found}")).help(SHAPE)
}

fn name(scanner: &mut Scanner, wanted: &str) -> Result<super::scan::Name, SentenceError> {
    match scanner.name()? {
        Some(name) => Ok(name),
        None => Err(expected(scanner, wanted)),
    }
}

fn verb<'v>(scanner: &mut Scanner, known: &[&'v str]) -> Result<&'v str, SentenceError> {
    let wanted = known.join(", ");
    let Some(word) = scanner.word() else {
        return Err(expected(scanner, &format!("one of {wanted}")));
    };
    known.iter().find(|known| **known == word).copied().ok_or_else(|| {
        let range = scanner.at - word.len()..scanner.at;
        let error = SentenceError::new(range, format!("expected one of {wanted}, found `{word}`"));
        match nearest(word, known.iter().copied()) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error.help(SHAPE),
        }
    })
}

fn trigger(scanner: &mut Scanner) -> Result<Trigger, SentenceError> {
    Ok(match verb(scanner, &["increases", "decreases", "changes", "becomes"])? {
        "increases" => Trigger::Increases,
        "decreases" => Trigger::Decreases,
        "changes" => Trigger::Changes,
        _ => Trigger::Becomes(becomes(scanner)?),
    })
}

/// The value after `becomes`: quoted, or everything up to the colon.
fn becomes(scanner: &mut Scanner) -> Result<String, SentenceError> {
    scanner.skip_blanks();
    let (start, rest) = (scanner.at, scanner.rest());
    if let Some(mark) = rest.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let (value, length) = quoted(rest, mark)
            .ok_or_else(|| SentenceError::new(start..start + rest.len(), "the quoted value does not end"))?;
        scanner.at += length;
        return Ok(value);
    }
    let length = rest.find(':').unwrap_or(rest.len());
    let value = rest[..length].trim();
    if value.is_empty() {
        return Err(expected(scanner, "a value"));
    }
    scanner.at += length;
    Ok(value.to_owned())
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trigger::Increases => f.write_str("increases"),
            Trigger::Decreases => f.write_str("decreases"),
            Trigger::Changes => f.write_str("changes"),
            Trigger::Becomes(value) => {
                let plain = !value.is_empty()
                    && value.trim() == value
                    && !value.contains(':')
                    && !value.starts_with(['"', '\'']);
                if plain { write!(f, "becomes {value}") } else { write!(f, "becomes {}", quote(value, '"')) }
            }
        }
    }
}

impl fmt::Display for LinkSentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.amount < 0.0 { "decreases" } else { "increases" };
        write!(
            f,
            "{} {}: {} {verb} by {}",
            Named(&self.cause),
            self.trigger,
            Named(&self.effect),
            Plain(self.amount.abs())
        )?;
        if self.each { f.write_str(" each") } else { Ok(()) }
    }
}

impl Trigger {
    /// Whether one change could set off both.
    fn overlaps(&self, other: &Trigger) -> bool {
        match (self, other) {
            (Trigger::Increases, Trigger::Decreases) | (Trigger::Decreases, Trigger::Increases) => false,
            (Trigger::Becomes(one), Trigger::Becomes(other)) => one == other,
            _ => true,
        }
    }
}

/// Refuses links that contradict each other. `name` gives the name of a feature; the error's place is the link's index.
pub(super) fn consistent(links: &[Link], name: impl Fn(usize) -> String) -> Result<(), (usize, PolicyError)> {
    if let Some(cycle) = cycle(links) {
        let names: Vec<String> = cycle.iter().chain(&cycle[..1]).map(|&feature| name(feature)).collect();
        let last = links.iter().rposition(|link| cycle.contains(&link.cause) && cycle.contains(&link.effect));
        let message = format!("the links go round in a circle: {}", names.join(" → "));
        return Err((last.unwrap_or(0), PolicyError::new(message).help("a change would force itself without end")));
    }
    for (index, link) in links.iter().enumerate() {
        let earlier = links[..index].iter().find(|earlier| {
            earlier.cause == link.cause && earlier.effect == link.effect && earlier.trigger.overlaps(&link.trigger)
        });
        if let Some(earlier) = earlier {
            let same = earlier.amount == link.amount && earlier.each == link.each;
            let what = if same { "say the same twice" } else { "contradict each other" };
            let message =
                format!("two links {what}: `{}` and `{}` both move {}", earlier.text, link.text, name(link.effect));
            let help = "one change of a cause may move an effect in one way only: keep one of the two";
            return Err((index, PolicyError::new(message).help(help)));
        }
    }
    Ok(())
}

/// A round of features each of which moves the next.
fn cycle(links: &[Link]) -> Option<Vec<usize>> {
    fn walk(links: &[Link], path: &mut Vec<usize>, done: &mut Vec<usize>) -> Option<Vec<usize>> {
        let here = *path.last()?;
        for link in links.iter().filter(|link| link.cause == here) {
            if let Some(start) = path.iter().position(|&seen| seen == link.effect) {
                return Some(path[start..].to_vec());
            }
            if done.contains(&link.effect) {
                continue;
            }
            path.push(link.effect);
            if let Some(found) = walk(links, path, done) {
                return Some(found);
            }
            path.pop();
        }
        done.push(here);
        None
    }
    let mut done = Vec::new();
    links.iter().find_map(|link| walk(links, &mut vec![link.cause], &mut done))
}
