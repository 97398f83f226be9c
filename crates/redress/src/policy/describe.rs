//! A policy in plain words, for whoever has to answer for it.

use super::constraint::Affine;
use super::{Actionability, Amount, Comparison, Direction, FeatureRule, Kind, Policy, Trigger};

impl Policy {
    /// Who may change this feature, and how far: `may go up by at most 10 hours, in whole steps of 1, never above 80`.
    ///
    /// ```
    /// # use redress::policy::Policy;
    /// # let text = r#"
    /// # [data]
    /// # path = "a.csv"
    /// # label = "y"
    /// # favourable = 1
    /// # [features.hours]
    /// # kind = "integer"
    /// # unit = "hours"
    /// # change = "increase"
    /// # max_change = 10
    /// # max = 80
    /// # "#;
    /// let policy = Policy::parse(text, "a")?;
    /// assert_eq!(policy.feature_in_words(0), "may go up by at most 10 hours, in whole steps of 1, never above 80");
    /// # Ok::<(), redress::policy::PolicyError>(())
    /// ```
    pub fn feature_in_words(&self, feature: usize) -> String {
        let rule = &self.features[feature];
        if rule.action.change == Direction::Fixed {
            let mut causes: Vec<&str> = self
                .links
                .iter()
                .filter(|link| link.effect == feature)
                .map(|link| self.features[link.cause].label.as_str())
                .collect();
            causes.dedup();
            return match causes.is_empty() {
                true => "may not change".to_owned(),
                false => format!("may not change by itself, only as a consequence of {}", causes.join(" and of ")),
            };
        }
        match &rule.kind {
            Kind::YesNo { yes } => yes_no(yes.as_deref(), rule.action.change),
            Kind::Category { .. } => category(&rule.action),
            Kind::Number | Kind::Integer | Kind::Ordered { .. } => measured(rule),
        }
    }

    /// The constraints, one sentence each: `the change in hours plus 4 times the change in education is at most 12`.
    pub fn constraints_in_words(&self) -> Vec<String> {
        // One equality makes two rows with one text.
        let mut texts: Vec<&str> = self.constraints.iter().map(|constraint| constraint.text.as_str()).collect();
        texts.dedup();
        texts
            .into_iter()
            .map(|text| Affine::parse(text).map_or_else(|_| text.to_owned(), |row| self.row_in_words(&row)))
            .collect()
    }

    fn row_in_words(&self, row: &Affine) -> String {
        let mut sentence = String::new();
        for (index, (name, coefficient)) in row.terms.iter().enumerate() {
            let joint = match (index, *coefficient < 0.0) {
                (0, false) => "",
                (0, true) => "minus ",
                (_, false) => " plus ",
                (_, true) => " minus ",
            };
            let times = if coefficient.abs() == 1.0 { String::new() } else { format!("{} times ", coefficient.abs()) };
            sentence.push_str(&format!("{joint}{times}the change in {}", self.label_of(name)));
        }
        let compared = match row.comparison {
            Comparison::AtLeast => "at least",
            Comparison::Equal => "exactly",
            _ => "at most",
        };
        format!("{sentence} is {compared} {}", row.bound)
    }

    fn label_of<'a>(&'a self, column: &'a str) -> &'a str {
        self.features.iter().find(|feature| feature.column == column).map_or(column, |feature| feature.label.as_str())
    }

    /// The links, one sentence each: `for each unit that education goes up, age goes up by 2 years`.
    pub fn links_in_words(&self) -> Vec<String> {
        let sentence = |link: &super::Link| {
            let (cause, effect) = (&self.features[link.cause], &self.features[link.effect]);
            let unit = match cause.unit.as_deref() {
                Some(unit) => format!("unit ({unit})"),
                None => "unit".to_owned(),
            };
            let when = match (&link.trigger, link.each) {
                (Trigger::Increases, true) => format!("for each {unit} that {} goes up", cause.label),
                (Trigger::Decreases, true) => format!("for each {unit} that {} goes down", cause.label),
                (Trigger::Increases, false) => format!("if {} goes up", cause.label),
                (Trigger::Decreases, false) => format!("if {} goes down", cause.label),
                (Trigger::Changes, _) => format!("if {} changes", cause.label),
                (Trigger::Becomes(value), _) => format!("if {} becomes {value}", cause.label),
            };
            let moves = if link.amount < 0.0 { "goes down" } else { "goes up" };
            format!("{when}, {} {moves} by {}", effect.label, with_unit(link.amount.abs(), effect.unit.as_deref()))
        };
        self.links.iter().map(sentence).collect()
    }
}

fn with_unit(amount: f64, unit: Option<&str>) -> String {
    match unit {
        Some(unit) => format!("{amount} {unit}"),
        None => amount.to_string(),
    }
}

fn yes_no(yes: Option<&str>, change: Direction) -> String {
    let yes = yes.unwrap_or("yes");
    match change {
        Direction::Increase => format!("may change to {yes}"),
        Direction::Decrease => format!("may change away from {yes}"),
        _ => format!("may change to {yes} and away from it"),
    }
}

fn category(action: &Actionability) -> String {
    let Some(moves) = &action.moves else { return "may change to any other value".to_owned() };
    let listed: Vec<String> = moves
        .iter()
        .filter(|(_, to)| !to.is_empty())
        .map(|(from, to)| format!("from {from} to {}", to.join(" or ")))
        .collect();
    match listed.is_empty() {
        true => "may not change: no move is listed".to_owned(),
        false => format!("may change {}", listed.join(", ")),
    }
}

fn measured(rule: &FeatureRule) -> String {
    let action = &rule.action;
    let mut words = match action.change {
        Direction::Increase => "may go up".to_owned(),
        Direction::Decrease => "may go down".to_owned(),
        _ => "may go up or down".to_owned(),
    };
    let level = |rank: f64| match &rule.kind {
        Kind::Ordered { values } => values.get(rank as usize).cloned().unwrap_or_else(|| rank.to_string()),
        _ => rank.to_string(),
    };
    let unit = match (&rule.kind, &rule.unit) {
        (Kind::Ordered { .. }, _) => Some("levels"),
        (_, unit) => unit.as_deref(),
    };
    match action.max_change {
        None => {}
        Some(Amount::Units(units)) => words.push_str(&format!(" by at most {}", with_unit(units, unit))),
        Some(Amount::Deviations(std)) => words.push_str(&format!(" by at most {std} standard deviations")),
    }
    match (&rule.kind, action.step) {
        (Kind::Number, None) => {}
        (Kind::Number, Some(step)) => words.push_str(&format!(", in steps of {step}")),
        (Kind::Ordered { .. }, None | Some(1.0)) => words.push_str(", level by level"),
        (_, step) => words.push_str(&format!(", in whole steps of {}", step.unwrap_or(1.0))),
    }
    if let Some(min) = action.min {
        words.push_str(&format!(", never below {}", level(min)));
    }
    if let Some(max) = action.max {
        words.push_str(&format!(", never above {}", level(max)));
    }
    words
}
