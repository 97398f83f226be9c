//! A notice in plain language for the person whom a decision is about.

use super::{
    engine::{Explanation, Outcome},
    words::{Change, Way},
};

/// What a letter says besides the explanation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LetterText {
    /// What was decided on, such as `your application`.
    pub subject: String,
    /// Who writes, below the letter; nothing where empty.
    pub signature: String,
}

impl Default for LetterText {
    fn default() -> Self {
        Self { subject: "your application".into(), signature: String::new() }
    }
}

/// The notice, as Markdown that reads well as plain text: the decision, what would change it, what does not count, and
/// what cannot be promised.
pub fn letter(explanation: &Explanation, text: &LetterText) -> String {
    let subject = &text.subject;
    let mut parts = vec![match explanation.outcome {
        Outcome::Approved => format!("# {} is approved", capital(subject)),
        _ => format!("# {} was not approved", capital(subject)),
    }];
    parts.push(format!(
        "The decision was made by a score from 0 to 100. {} {} points; {} points are needed.",
        match explanation.outcome {
            Outcome::Approved => "Yours is",
            _ => "Yours was",
        },
        points(explanation.score),
        points(explanation.threshold)
    ));
    match explanation.outcome {
        Outcome::Approved => parts.push("You need to do nothing.".into()),
        Outcome::Recourse => parts.extend(ways(&explanation.options)),
        Outcome::NoRecourseProven => parts.push(format!(
            "## What would change it\n\nWe looked at every change that is open to you under our rules. None of them \
             would lead to an approval: the most that you could reach is {} points. This is a property of the score and \
             of our rules, not a judgement of what you can do.",
            points(explanation.best_score)
        )),
        Outcome::NoRecourseFound | Outcome::Unknown => parts.push(format!(
            "## What would change it\n\nWe looked for changes that are open to you and would lead to an approval, and \
             found none. We cannot rule out that there is one. The most that we saw is {} points.",
            points(explanation.best_score)
        )),
    }
    if explanation.outcome != Outcome::Approved {
        parts.extend(not_counted(&explanation.fixed));
        parts.push(promise(explanation));
    }
    if !text.signature.is_empty() {
        parts.push(text.signature.clone());
    }
    let mut letter = parts.join("\n\n");
    letter.push('\n');
    letter
}

fn ways(options: &[Way]) -> Vec<String> {
    let mut parts = vec![match options.len() {
        1 => "## What would change it\n\nWith this change the same score says yes:".to_owned(),
        _ => "## What would change it\n\nWith any **one** of these the same score says yes:".to_owned(),
    }];
    for (index, way) in options.iter().enumerate() {
        let title =
            if options.len() > 1 { format!("**Option {}**", index + 1) } else { "**What to change**".to_owned() };
        let mut lines = vec![title, String::new()];
        lines.extend(way.changes.iter().map(|change| format!("- {}", sentence(change))));
        if !way.consequences.is_empty() {
            lines.push(String::new());
            lines.push("This comes with it, and is already counted:".into());
            lines.push(String::new());
            lines.extend(way.consequences.iter().map(|change| format!("- {}", sentence(change))));
        }
        lines.push(String::new());
        lines.push(format!("Your score would be {} points.{}", points(way.score_after), room(way)));
        parts.push(lines.join("\n"));
    }
    parts
}

/// `hours worked per week: from 40 to 48 hours`.
fn sentence(change: &Change) -> String {
    let unit = change.unit.as_ref().map(|unit| format!(" {unit}")).unwrap_or_default();
    format!("{}: from {} to {}{unit}", change.feature, change.from, change.to)
}

/// What is said about how exactly to keep to a way, where that was looked at.
fn room(way: &Way) -> &'static str {
    match way.slack.map(|slack| slack.survives_one_step) {
        Some(true) => " There is room for a small difference either way.",
        Some(false) => " There is no room for less: each part is needed in full.",
        None => "",
    }
}

fn not_counted(fixed: &[String]) -> Option<String> {
    let list = match fixed {
        [] => return None,
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    Some(format!("## What you are not asked to change\n\nNothing here asks you to change {list}."))
}

fn promise(explanation: &Explanation) -> String {
    let first = if explanation.outcome == Outcome::Recourse {
        "The options hold for the score that decided, for everything else about you as it was, and for the rules of today."
    } else {
        "This holds for the score that decided and for the rules of today."
    };
    format!(
        "## What cannot be promised\n\n{first} If the score or the rules change, so may the answer. You can ask for a \
         person to look at the decision."
    )
}

/// A probability as points out of 100: one decimal, never rounded up to a yes that it is not.
fn points(score: f64) -> String {
    let tenths = (score * 1000.0 + 1e-9).floor() / 10.0;
    format!("{tenths:.1}")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
