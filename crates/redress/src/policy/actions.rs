//! What holds between features: constraints, links, overrides and causal equations.

use super::constraint::Affine;
use super::document::{Item, Section};
use super::error::{PolicyError, listed, nearest};
use super::link::{self, LinkSentence};
use super::parse::sentence_fault;
use super::{Causal, Constraint, Direction, Equation, FeatureRule, Kind, Link, OverrideColumn, OverrideField, Trigger};

/// The index of a feature, or a fault that suggests the nearest.
fn find(features: &[FeatureRule], name: &str, fault: impl FnOnce(String) -> PolicyError) -> Result<usize, PolicyError> {
    features.iter().position(|feature| feature.column == name).ok_or_else(|| {
        let columns = || features.iter().map(|feature| feature.column.as_str());
        let hyphenated =
            columns().find(|column| column.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', ' ', '.'])));
        let help = match (hyphenated, nearest(name, columns())) {
            (Some(column), _) => {
                format!("names with other characters than letters, digits and _ stand in backticks: `{column}`")
            }
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("the features in use are {}", listed(columns())),
        };
        fault(format!("there is no feature `{name}` in use")).help(help)
    })
}

/// The sentences under `key`, at the top or in `[actions]`.
fn sentences<'d>(top: &Section<'d>, key: &str) -> Result<Vec<Item<'d>>, PolicyError> {
    let mut items = top.get(key).map_or(Ok(Vec::new()), |item| item.list())?;
    if let Some(actions) = top.get("actions")
        && let Some(item) = actions.section(&["constraints", "links"])?.get(key)
    {
        items.extend(item.list()?);
    }
    let mut seen: Vec<&str> = Vec::new();
    for item in &items {
        let text = item.string()?;
        if seen.contains(&text) {
            return Err(item.wrong(format!("`{}`: `{text}` is written twice", item.path)));
        }
        seen.push(text);
    }
    Ok(items)
}

/// Affine constraints. A feature that can never move has no business in one.
pub(super) fn constraints(
    top: &Section,
    features: &[FeatureRule],
    links: &[Link],
    causal: Option<&Causal>,
    source: &str,
) -> Result<Vec<Constraint>, PolicyError> {
    let mut constraints = Vec::new();
    for item in sentences(top, "constraints")? {
        let text = item.string()?;
        let affine = Affine::parse(text).map_err(|error| sentence_fault(&item, source, error))?;
        let mut indices = Vec::new();
        for ((name, _), place) in affine.terms.iter().zip(&affine.places) {
            let fault = |message: String| {
                PolicyError::at(item.within(source, place.clone()), format!("`{}`: {message}", item.path))
            };
            let index = find(features, name, fault)?;
            if matches!(features[index].kind, Kind::Category { .. }) {
                return Err(fault(format!("`{name}` is a category: its change is not a number")));
            }
            let moved = features[index].action.change != Direction::Fixed
                || links.iter().any(|link| link.effect == index)
                || causal.is_some_and(|causal| causal.equations.iter().any(|equation| equation.child == index));
            if !moved {
                return Err(fault(format!("`{name}` is fixed: its change is always 0"))
                    .help("take it out of the constraint, or let it change"));
            }
            indices.push(index);
        }
        for (coefficients, bound) in affine.rows() {
            let terms = indices.iter().copied().zip(coefficients).collect();
            constraints.push(Constraint { text: text.to_owned(), terms, bound });
        }
    }
    Ok(constraints)
}

/// If-then links.
pub(super) fn links(top: &Section, features: &[FeatureRule], source: &str) -> Result<Vec<Link>, PolicyError> {
    let items = sentences(top, "links")?;
    let mut links = Vec::new();
    let mut sentences = Vec::new();
    for item in &items {
        let text = item.string()?;
        let sentence = LinkSentence::parse(text).map_err(|error| sentence_fault(item, source, error))?;
        let place = |side: usize| item.within(source, sentence.places[side].clone());
        let fault =
            |side: usize| move |message: String| PolicyError::at(place(side), format!("`{}`: {message}", item.path));
        let cause = find(features, &sentence.cause, fault(0))?;
        let effect = find(features, &sentence.effect, fault(1))?;
        links.push(Link {
            text: text.to_owned(),
            cause,
            trigger: sentence.trigger.clone(),
            effect,
            amount: sentence.amount,
            each: sentence.each,
        });
        sentences.push(sentence);
    }
    link::consistent(&links, |index| features[index].column.clone()).map_err(|(index, error)| {
        let fault = items[index].wrong(format!("`{}`: {}", items[index].path, error.message));
        fault.maybe_help(error.help)
    })?;
    for ((item, link), sentence) in items.iter().zip(&links).zip(&sentences) {
        possible(features, link).map_err(|(side, message, help)| {
            PolicyError::at(item.within(source, sentence.places[side].clone()), format!("`{}`: {message}", item.path))
                .help(help)
        })?;
    }
    Ok(links)
}

/// Whether the two features of a link are of kinds that can do what it says; else which of the two is at fault.
fn possible(features: &[FeatureRule], link: &Link) -> Result<(), (usize, String, &'static str)> {
    let (cause, effect) = (&features[link.cause], &features[link.effect]);
    if cause.action.change == Direction::Fixed {
        let message = format!("`{}` is fixed: it cannot set anything off", cause.column);
        return Err((0, message, "the cause is a feature that a person may change; links do not chain"));
    }
    if effect.action.change != Direction::Fixed {
        let message = format!("`{}` is forced by a link, but may also be changed by itself", effect.column);
        return Err((1, message, "make it fixed: a link moves it all the same"));
    }
    if !matches!(effect.kind, Kind::Number | Kind::Integer) {
        return Err((
            1,
            format!("`{}` is not a number: no amount can be added to it", effect.column),
            "an effect is a number or an integer",
        ));
    }
    let directed = matches!(link.trigger, Trigger::Increases | Trigger::Decreases);
    if directed && matches!(cause.kind, Kind::Category { .. }) {
        let message = format!("`{}` is a category: it cannot increase or decrease", cause.column);
        return Err((0, message, "write `changes` or `becomes VALUE`"));
    }
    if link.each && !directed {
        let message = "`each` counts units up or down, so that the link must say `increases` or `decreases`".to_owned();
        return Err((0, message, "take `each` away, or write one link for each direction"));
    }
    if let Trigger::Becomes(value) = &link.trigger {
        becomes(cause, value)?;
    }
    let per_step = match (link.each, &cause.kind) {
        (false, _) => Some(link.amount),
        (true, Kind::Number) => cause.action.step.map(|step| step * link.amount),
        (true, _) => Some(cause.action.step.unwrap_or(1.0) * link.amount),
    };
    if matches!(effect.kind, Kind::Integer) && per_step.is_none_or(|amount| amount.fract() != 0.0) {
        let message = format!("`{}` is an integer, but the link would move it by a fraction", effect.column);
        return Err((1, message, "use a whole amount, give the cause a `step`, or make the effect a number"));
    }
    Ok(())
}

fn becomes(cause: &FeatureRule, value: &str) -> Result<(), (usize, String, &'static str)> {
    let known = match &cause.kind {
        Kind::Number | Kind::Integer => super::filter::number(value).is_some(),
        Kind::Category { values: Some(values) } | Kind::Ordered { values } => values.iter().any(|known| known == value),
        // Collected from the table, which is not at hand yet: the data set checks it.
        Kind::Category { values: None } | Kind::YesNo { .. } => true,
    };
    if known {
        return Ok(());
    }
    Err((0, format!("`{}` cannot become \"{value}\"", cause.column), "the value must be one that the feature can have"))
}

/// `[overrides]`: `"feature.field" = "column"`, or `feature.field = "column"` without the quotes.
pub(super) fn overrides(top: &Section, features: &[FeatureRule]) -> Result<Vec<OverrideColumn>, PolicyError> {
    let Some(all) = top.get("overrides") else { return Ok(Vec::new()) };
    let mut columns: Vec<OverrideColumn> = Vec::new();
    for (key, item) in all.named_section()?.entries() {
        let pairs: Vec<(String, String, Item)> = if item.is_table() {
            let inner = item.named_section()?.entries();
            inner.into_iter().map(|(field, item)| (key.to_owned(), field.to_owned(), item)).collect()
        } else {
            let (feature, field) = key.rsplit_once('.').ok_or_else(|| {
                item.wrong(format!("`overrides.{key}` names no field")).help("write \"feature.max\" = \"column\"")
            })?;
            vec![(feature.to_owned(), field.to_owned(), item)]
        };
        for (feature, field, item) in pairs {
            let column = override_column(features, &feature, &field, &item)?;
            if columns.iter().any(|known| known.feature == column.feature && known.field == column.field) {
                return Err(item.wrong(format!("`overrides` sets `{feature}.{field}` twice")));
            }
            columns.push(column);
        }
    }
    Ok(columns)
}

fn override_column(
    features: &[FeatureRule],
    feature: &str,
    field: &str,
    item: &Item,
) -> Result<OverrideColumn, PolicyError> {
    let column = item.string()?.to_owned();
    let index = find(features, feature, |message| item.wrong(format!("`{}`: {message}", item.path)))?;
    let words = OverrideField::ALL.map(|field| field.word());
    let Some(field) = OverrideField::ALL.into_iter().find(|known| known.word() == field) else {
        let help = nearest(field, words).map(|near| format!("did you mean `{near}`?"));
        return Err(item
            .wrong(format!("`{}`: `{field}` cannot be overridden; the fields are {}", item.path, listed(words)))
            .maybe_help(help));
    };
    let rule = &features[index];
    if rule.action.change == Direction::Fixed {
        return Err(item.wrong(format!("`{}`: `{feature}` is fixed: there is nothing to narrow", item.path)));
    }
    if field != OverrideField::Change && matches!(rule.kind, Kind::YesNo { .. } | Kind::Category { .. }) {
        return Err(item.wrong(format!("`{}`: only `change` can be overridden for a yes/no or a category", item.path)));
    }
    Ok(OverrideColumn { feature: index, field, column })
}

/// `[causal.equations.*]`.
pub(super) fn causal(top: &Section, features: &[FeatureRule]) -> Result<Option<Causal>, PolicyError> {
    let Some(item) = top.get("causal") else { return Ok(None) };
    let all = item.section(&["equations"])?.require("equations", "one table for each feature that has parents")?;
    let mut equations: Vec<Equation> = Vec::new();
    for (name, item) in all.named_section()?.entries() {
        let child = find(features, name, |message| item.wrong(format!("`[{}]`: {message}", item.path)))?;
        if !matches!(features[child].kind, Kind::Number | Kind::Integer) {
            return Err(item.wrong(format!("`[{}]`: `{name}` is not a number: an equation gives a number", item.path)));
        }
        let section = item.section(&["parents", "weights", "intercept"])?;
        let listed = section.require("parents", "the features that this one depends on")?;
        let mut parents = Vec::new();
        for (parent, text) in listed.list()?.iter().zip(listed.names()?) {
            let index = find(features, &text, |message| parent.wrong(format!("`{}`: {message}", parent.path)))?;
            if matches!(features[index].kind, Kind::Category { .. }) {
                return Err(
                    parent.wrong(format!("`{}`: `{text}` is a category: no weight can multiply it", parent.path))
                );
            }
            parents.push(index);
        }
        if parents.is_empty() {
            return Err(
                listed.wrong(format!("`{}` is empty: a feature without parents needs no equation", listed.path))
            );
        }
        let given = given(&section, features, &parents)?;
        equations.push(Equation { child, parents, given });
        if reaches(&equations, child, child) {
            return Err(listed.wrong(format!("`[{}]`: the equations go round in a circle through `{name}`", item.path)));
        }
    }
    if equations.is_empty() {
        return Err(all.wrong("`[causal.equations]` is empty"));
    }
    Ok(Some(Causal { equations }))
}

fn given(
    section: &Section,
    features: &[FeatureRule],
    parents: &[usize],
) -> Result<Option<(Vec<f64>, f64)>, PolicyError> {
    let intercept = section.get("intercept");
    let Some(item) = section.get("weights") else {
        return match intercept {
            Some(item) => Err(item.wrong(format!("`{}` is given without `weights`: give both or neither", item.path))),
            None => Ok(None),
        };
    };
    let names: Vec<&str> = parents.iter().map(|&parent| features[parent].column.as_str()).collect();
    let table = item.section(&names)?;
    let weights: Result<Vec<f64>, PolicyError> =
        names.iter().map(|name| table.require(name, "every parent has a weight")?.number()).collect();
    Ok(Some((weights?, intercept.map_or(Ok(0.0), |item| item.number())?)))
}

/// Whether following parents from `from` leads to `to`.
fn reaches(equations: &[Equation], from: usize, to: usize) -> bool {
    let mut open = vec![from];
    let mut seen = Vec::new();
    while let Some(here) = open.pop() {
        for equation in equations.iter().filter(|equation| equation.child == here) {
            for &parent in &equation.parents {
                if parent == to {
                    return true;
                }
                if !seen.contains(&parent) {
                    seen.push(parent);
                    open.push(parent);
                }
            }
        }
    }
    false
}
