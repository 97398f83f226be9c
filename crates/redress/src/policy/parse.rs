//! From the text of a policy file to a checked [`Policy`]: the document, `[data]` and `[derived]`.

use super::document::{self, Item, Section};
use super::error::PolicyError;
use super::scan::SentenceError;
use super::{Data, Derived, DerivedRule, Filter, Layout, MissingRule, Policy, Rule, Source};
use super::{actions, features};

impl Policy {
    /// Reads and checks a policy. `file_stem` names it when it does not name itself.
    ///
    /// Everything that can be checked without the table is checked here; the first fault is reported with its place.
    ///
    /// ```
    /// use redress::policy::{Direction, Policy};
    /// let text = r#"
    /// [data]
    /// path = "loans.csv"
    /// label = "paid"
    /// favourable = "yes"
    ///
    /// [features.savings]
    /// kind = "number"
    /// change = "increase"
    /// "#;
    /// let policy = Policy::parse(text, "loans")?;
    /// assert_eq!(policy.features[0].action.change, Direction::Increase);
    ///
    /// let error = Policy::parse(&text.replace("change", "chnage"), "loans").unwrap_err();
    /// assert_eq!(error.message, "unknown key `chnage` in `[features.savings]`");
    /// assert_eq!(error.help.as_deref(), Some("did you mean `change`?"));
    /// # Ok::<(), redress::policy::PolicyError>(())
    /// ```
    pub fn parse(text: &str, file_stem: &str) -> Result<Self, PolicyError> {
        // A byte order mark is invisible in an editor and would only puzzle whoever reads the error.
        let source = text.strip_prefix('\u{feff}').unwrap_or(text);
        read(source, file_stem).map_err(|error| error.locate(source))
    }
}

fn read(source: &str, file_stem: &str) -> Result<Policy, PolicyError> {
    let document = document::parse(source)?;
    let known = ["name", "data", "derived", "features", "constraints", "links", "actions", "overrides", "causal"];
    let top = Section::document(&document, &known)?;
    let name = match top.get("name") {
        Some(item) => filled(&item)?,
        None => file_stem.to_owned(),
    };
    let data = data(&top.require("data", "it says where the rows are and what the label is")?, source)?;
    let derived = derived(&top)?;
    let (features, ignored) = features::read(&top, &data)?;
    let causal = actions::causal(&top, &features)?;
    let links = actions::links(&top, &features, source)?;
    let constraints = actions::constraints(&top, &features, &links, causal.as_ref(), source)?;
    let override_columns = actions::overrides(&top, &features)?;
    let source = source.to_owned();
    Ok(Policy { source, name, data, derived, features, ignored, constraints, links, override_columns, causal })
}

/// Text that is not empty.
fn filled(item: &Item) -> Result<String, PolicyError> {
    let text = item.string()?;
    if text.trim().is_empty() {
        return Err(item.wrong(format!("`{}` is empty", item.path)));
    }
    Ok(text.to_owned())
}

/// A fault in a sentence of the file, at its place in the file.
pub(super) fn sentence_fault(item: &Item, source: &str, error: SentenceError) -> PolicyError {
    PolicyError::at(item.within(source, error.range), format!("`{}`: {}", item.path, error.message))
        .maybe_help(error.help)
}

fn data(item: &Item, source: &str) -> Result<Data, PolicyError> {
    let section = item.section(&[
        "path",
        "builtin",
        "test_path",
        "delimiter",
        "header",
        "columns",
        "label",
        "favourable",
        "filter",
        "missing",
        "missing_values",
        "drop_duplicates",
        "groups",
    ])?;
    let label = filled(&section.require("label", "it names the column that holds the outcome")?)?;
    let favourable = favourable(&section.require("favourable", "it says which outcome is the one people hope for")?)?;
    let mut filters = Vec::new();
    if let Some(list) = section.get("filter") {
        for item in list.list()? {
            filters.push(Filter::parse(item.string()?).map_err(|error| sentence_fault(&item, source, error))?);
        }
    }
    let missing_words =
        [("refuse", MissingRule::Refuse), ("drop_row", MissingRule::DropRow), ("fill", MissingRule::Fill)];
    Ok(Data {
        source: rows(&section)?,
        test_path: section.get("test_path").map(|item| filled(&item)).transpose()?,
        layout: layout(&section)?,
        label,
        favourable,
        filters,
        missing: section.get("missing").map_or(Ok(MissingRule::default()), |item| item.one_of(&missing_words))?,
        missing_values: section.get("missing_values").map_or(Ok(Vec::new()), |item| item.scalars())?,
        drop_duplicates: section.get("drop_duplicates").map_or(Ok(false), |item| item.boolean())?,
        groups: section.get("groups").map_or(Ok(Vec::new()), |item| item.names())?,
    })
}

fn rows(section: &Section) -> Result<Source, PolicyError> {
    match (section.get("path"), section.get("builtin")) {
        (Some(path), None) => Ok(Source::Path(filled(&path)?)),
        (None, Some(name)) => Ok(Source::Builtin(filled(&name)?)),
        (Some(_), Some(name)) => {
            Err(name.wrong("`[data]` has both `path` and `builtin`: the rows come from one place"))
        }
        (None, None) => section
            .require("path", "it says which file holds the rows (or `builtin` names a built-in data set)")
            .and_then(|item| filled(&item).map(Source::Path)),
    }
}

fn layout(section: &Section) -> Result<Layout, PolicyError> {
    let delimiter = match section.get("delimiter") {
        None => None,
        Some(item) => {
            let text = item.string()?;
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(character), None) if character.is_ascii() && !matches!(character, '"' | '\n' | '\r') => {
                    Some(character)
                }
                _ => {
                    return Err(item.wrong(format!(
                        "`{}` is {text:?}, but should be one character, such as \",\", \";\" or \"\\t\"",
                        item.path
                    )));
                }
            }
        }
    };
    let header = section.get("header").map(|item| item.boolean()).transpose()?;
    let columns = match section.get("columns") {
        None => None,
        Some(item) => {
            if header != Some(false) {
                return Err(
                    item.wrong("`data.columns` names the columns of a file without a header: add `header = false`")
                );
            }
            let names = item.names()?;
            if names.is_empty() {
                return Err(item.wrong("`data.columns` is empty: it names every column of the file, in order"));
            }
            Some(names)
        }
    };
    Ok(Layout { delimiter, header, columns })
}

fn favourable(item: &Item) -> Result<Rule, PolicyError> {
    if item.is_list() {
        let values = item.scalars()?;
        if values.is_empty() {
            return Err(item.wrong("`data.favourable` is an empty list: name at least one value"));
        }
        return Ok(Rule::OneOf(values));
    }
    if item.is_text() { Ok(Rule::parse(item.string()?)) } else { Ok(Rule::Is(item.scalar()?)) }
}

fn derived(top: &Section) -> Result<Vec<Derived>, PolicyError> {
    let Some(all) = top.get("derived") else { return Ok(Vec::new()) };
    let entries = all.named_section()?.entries();
    entries.into_iter().map(|(name, item)| Ok(Derived { name: name.to_owned(), rule: derived_rule(&item)? })).collect()
}

fn derived_rule(item: &Item) -> Result<DerivedRule, PolicyError> {
    let section = item.section(&["days_between", "contains", "equals"])?;
    let mut entries = section.entries();
    let (Some((key, rule)), true) = (entries.pop(), entries.is_empty()) else {
        return Err(item
            .wrong(format!("`[{}]` needs exactly one of `days_between`, `contains` and `equals`", item.path))
            .help("such as days_between = [\"first_date\", \"second_date\"]"));
    };
    match key {
        "days_between" => {
            let mut columns = Vec::new();
            for column in rule.list()? {
                columns.push(filled(&column)?);
            }
            let [from, to] = <[String; 2]>::try_from(columns)
                .map_err(|_| rule.wrong(format!("`{}` names two columns: from and to", rule.path)))?;
            Ok(DerivedRule::DaysBetween(from, to))
        }
        "contains" => {
            let parts = rule.section(&["column", "text"])?;
            let column = filled(&parts.require("column", "it names the column to look into")?)?;
            let text = parts.require("text", "it says what to look for")?;
            if text.string()?.is_empty() {
                return Err(text.wrong(format!("`{}` is empty: every text contains it", text.path)));
            }
            Ok(DerivedRule::Contains(column, text.string()?.to_owned()))
        }
        _ => {
            let parts = rule.section(&["column", "value", "values"])?;
            let column = filled(&parts.require("column", "it names the column to compare")?)?;
            let values = match (parts.get("value"), parts.get("values")) {
                (Some(value), None) => vec![value.scalar()?],
                (None, Some(values)) => values.scalars()?,
                _ => return Err(rule.wrong(format!("`{}` needs either `value` or `values`", rule.path))),
            };
            if values.is_empty() {
                return Err(rule.wrong(format!("`{}.values` is empty: no value equals it", rule.path)));
            }
            Ok(DerivedRule::Equals(column, values))
        }
    }
}
