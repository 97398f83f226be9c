//! A policy as TOML text again.

use std::fmt::Write;

use super::{
    Actionability, Amount, Data, Derived, DerivedRule, Direction, FeatureRule, Kind, MissingRule, Policy, Rule, Source,
    UnknownCategory,
};

impl Policy {
    /// Writes the policy as a file that parses to an equal policy (but for [`Policy::source`], and for comments, which
    /// only the source holds).
    pub fn to_toml(&self) -> String {
        let mut out = format!("name = {}\n", text(&self.name));
        write_data(&mut out, &self.data);
        for derived in &self.derived {
            write_derived(&mut out, derived);
        }
        for feature in &self.features {
            write_feature(&mut out, feature);
        }
        for column in &self.ignored {
            push(&mut out, format_args!("\n[features.{}]\nuse = false\n", key(column)));
        }
        self.write_actions(&mut out);
        out
    }

    fn write_actions(&self, out: &mut String) {
        // One equality makes two rows with one text.
        let mut constraints: Vec<&str> = self.constraints.iter().map(|constraint| constraint.text.as_str()).collect();
        constraints.dedup();
        let links: Vec<&str> = self.links.iter().map(|link| link.text.as_str()).collect();
        if !(constraints.is_empty() && links.is_empty()) {
            out.push_str("\n[actions]\n");
        }
        for (key, sentences) in [("constraints", constraints), ("links", links)] {
            if !sentences.is_empty() {
                push(out, format_args!("{key} = {}\n", list(sentences)));
            }
        }
        if !self.override_columns.is_empty() {
            out.push_str("\n[overrides]\n");
        }
        for column in &self.override_columns {
            let key = format!("{}.{}", self.features[column.feature].column, column.field.word());
            push(out, format_args!("{} = {}\n", text(&key), text(&column.column)));
        }
        for equation in self.causal.iter().flat_map(|causal| &causal.equations) {
            let name = |index: usize| self.features[index].column.as_str();
            push(out, format_args!("\n[causal.equations.{}]\n", key(name(equation.child))));
            push(out, format_args!("parents = {}\n", list(equation.parents.iter().map(|&parent| name(parent)))));
            if let Some((weights, intercept)) = &equation.given {
                let pairs: Vec<String> = equation
                    .parents
                    .iter()
                    .zip(weights)
                    .map(|(&parent, weight)| format!("{} = {}", text(name(parent)), number(*weight)))
                    .collect();
                push(out, format_args!("weights = {{ {} }}\nintercept = {}\n", pairs.join(", "), number(*intercept)));
            }
        }
    }
}

/// Writing to a string cannot fail.
fn push(out: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(words);
}

/// A quoted TOML string on one line, which is also a quoted key.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            control if control.is_control() => push(&mut quoted, format_args!("\\U{:08X}", control as u32)),
            plain => quoted.push(plain),
        }
    }
    quoted.push('"');
    quoted
}

/// A TOML key, bare where that is allowed.
pub(super) fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !name.is_empty() && name.bytes().all(bare) { name.to_owned() } else { text(name) }
}

/// A TOML number; whole ones without a point.
pub(super) fn number(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number}")
    } else {
        toml::Value::Float(number).to_string()
    }
}

/// A list of quoted strings.
pub(super) fn list<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts: Vec<String> = texts.into_iter().map(text).collect();
    format!("[{}]", texts.join(", "))
}

fn strings(texts: &[String]) -> String {
    list(texts.iter().map(String::as_str))
}

fn write_data(out: &mut String, data: &Data) {
    out.push_str("\n[data]\n");
    match &data.source {
        Source::Path(path) => push(out, format_args!("path = {}\n", text(path))),
        Source::Builtin(name) => push(out, format_args!("builtin = {}\n", text(name))),
    }
    if let Some(path) = &data.test_path {
        push(out, format_args!("test_path = {}\n", text(path)));
    }
    if let Some(delimiter) = data.layout.delimiter {
        push(out, format_args!("delimiter = {}\n", text(&delimiter.to_string())));
    }
    if let Some(header) = data.layout.header {
        push(out, format_args!("header = {header}\n"));
    }
    if let Some(columns) = &data.layout.columns {
        push(out, format_args!("columns = {}\n", strings(columns)));
    }
    push(out, format_args!("label = {}\n", text(&data.label)));
    match &data.favourable {
        Rule::OneOf(values) => push(out, format_args!("favourable = {}\n", strings(values))),
        rule => push(out, format_args!("favourable = {}\n", text(&rule.to_string()))),
    }
    if !data.filters.is_empty() {
        push(out, format_args!("filter = {}\n", list(data.filters.iter().map(|filter| filter.text.as_str()))));
    }
    match data.missing {
        MissingRule::Refuse => {}
        MissingRule::DropRow => out.push_str("missing = \"drop_row\"\n"),
        MissingRule::Fill => out.push_str("missing = \"fill\"\n"),
    }
    if !data.missing_values.is_empty() {
        push(out, format_args!("missing_values = {}\n", strings(&data.missing_values)));
    }
    if data.drop_duplicates {
        out.push_str("drop_duplicates = true\n");
    }
    if !data.groups.is_empty() {
        push(out, format_args!("groups = {}\n", strings(&data.groups)));
    }
}

fn write_derived(out: &mut String, derived: &Derived) {
    push(out, format_args!("\n[derived.{}]\n", key(&derived.name)));
    match &derived.rule {
        DerivedRule::DaysBetween(from, to) => push(out, format_args!("days_between = {}\n", list([from.as_str(), to]))),
        DerivedRule::Contains(column, part) => {
            push(out, format_args!("contains = {{ column = {}, text = {} }}\n", text(column), text(part)));
        }
        DerivedRule::Equals(column, values) => {
            push(out, format_args!("equals = {{ column = {}, values = {} }}\n", text(column), strings(values)));
        }
    }
}

fn write_feature(out: &mut String, feature: &FeatureRule) {
    push(out, format_args!("\n[features.{}]\n", key(&feature.column)));
    let (kind, values) = match &feature.kind {
        Kind::Number => ("number", None),
        Kind::Integer => ("integer", None),
        Kind::YesNo { .. } => ("yes/no", None),
        Kind::Category { values } => ("category", values.as_ref()),
        Kind::Ordered { values } => ("ordered", Some(values)),
    };
    push(out, format_args!("kind = \"{kind}\"\n"));
    if let Some(values) = values {
        push(out, format_args!("values = {}\n", strings(values)));
    }
    if let Kind::YesNo { yes: Some(yes) } = &feature.kind {
        push(out, format_args!("yes = {}\n", text(yes)));
    }
    push(out, format_args!("name = {}\n", text(&feature.label)));
    if let Some(unit) = &feature.unit {
        push(out, format_args!("unit = {}\n", text(unit)));
    }
    write_action(out, &feature.action, &feature.kind);
    if feature.cost_weight != 1.0 {
        push(out, format_args!("cost_weight = {}\n", number(feature.cost_weight)));
    }
    if feature.fixed_cost != 0.0 {
        push(out, format_args!("fixed_cost = {}\n", number(feature.fixed_cost)));
    }
    if let UnknownCategory::TreatAs(value) = &feature.unknown {
        push(out, format_args!("unknown = {{ treat_as = {} }}\n", text(value)));
    }
    if !feature.missing_values.is_empty() {
        push(out, format_args!("missing_values = {}\n", strings(&feature.missing_values)));
    }
}

fn write_action(out: &mut String, action: &Actionability, kind: &Kind) {
    push(out, format_args!("change = \"{}\"\n", direction(action.change)));
    match action.max_change {
        None => {}
        Some(Amount::Units(units)) => push(out, format_args!("max_change = {}\n", number(units))),
        Some(Amount::Deviations(std)) => push(out, format_args!("max_change = {{ std = {} }}\n", number(std))),
    }
    for (key, limit) in [("min", action.min), ("max", action.max)] {
        match (limit, kind) {
            (None, _) => {}
            (Some(rank), Kind::Ordered { values }) => {
                let value = values.get(rank as usize).map_or_else(|| number(rank), |value| text(value));
                push(out, format_args!("{key} = {value}\n"));
            }
            (Some(limit), _) => push(out, format_args!("{key} = {}\n", number(limit))),
        }
    }
    if let Some(step) = action.step {
        push(out, format_args!("step = {}\n", number(step)));
    }
    if let Some(moves) = &action.moves {
        let moves: Vec<String> = moves.iter().map(|(from, to)| format!("{} = {}", text(from), strings(to))).collect();
        push(out, format_args!("moves = {{ {} }}\n", moves.join(", ")));
    }
}

/// The word for a direction, as policies write it.
pub(super) fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Fixed => "fixed",
        Direction::Increase => "increase",
        Direction::Decrease => "decrease",
        Direction::Any => "any",
    }
}
