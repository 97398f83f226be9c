//! Every mistake in a table has one message that names the row, the column, the value and what was allowed.

use std::sync::Arc;

use redress::dataset::{DataError, Dataset, LabelFault, People, Schema};
use redress::policy::Policy;
use redress::table::{Column, Missing, Table, Text, Values};
use serde_json::json;

const POLICY: &str = r#"
[data]
path = "people.csv"
label = "paid"
favourable = "yes"
missing_values = ["?"]
groups = ["town"]

[derived.stay]
days_between = ["arrived", "left"]

[features.age]
kind = "integer"
change = "any"
max_change = 10
min = 18
max = 90

[features.income]
kind = "number"

[features.job]
kind = "category"

[features.member]
kind = "yes/no"
change = "any"

[features.stay]
kind = "integer"

[overrides]
age.max = "age_cap"
age.change = "age_change"
"#;

/// Columns as they stand in a file: text, with empty cells missing.
fn table(columns: &[(&str, &[&str])]) -> Table {
    let column = |(name, cells): &(&str, &[&str])| {
        let mut text = Text::default();
        let mut missing = Missing::none();
        for (row, cell) in cells.iter().enumerate() {
            if cell.is_empty() {
                missing.insert(row);
            }
            let known = text.dictionary.iter().position(|known| known == cell);
            let code = known.unwrap_or_else(|| {
                text.dictionary.push((*cell).to_owned());
                text.dictionary.len() - 1
            });
            text.codes.push(code as u32);
        }
        Column::new(*name, Values::Text(text), missing)
    };
    Table::new(columns.iter().map(column).collect()).expect("a table")
}

type Cells<'a> = Vec<(&'a str, Vec<&'a str>)>;

fn good() -> Cells<'static> {
    vec![
        ("age", vec!["30", "40", "50", "60"]),
        ("income", vec!["1000.5", "2000", "3000", "4000"]),
        ("job", vec!["clerk", "priest", "clerk", "farmer"]),
        ("member", vec!["yes", "no", "no", "yes"]),
        ("arrived", vec!["2013-08-13 06:03:42", "2013-01-26", "2012-02-28", "2012-12-31"]),
        ("left", vec!["2013-08-14 05:41:20", "2013-02-05", "2012-03-01", "2013-01-01"]),
        ("town", vec!["Ulm", "Bonn", "", "Ulm"]),
        ("paid", vec!["yes", "no", "no", "yes"]),
        ("age_cap", vec!["", "60", "", ""]),
        ("age_change", vec!["", "", "", "fixed"]),
    ]
}

fn with(column: &str, row: usize, cell: &'static str) -> Cells<'static> {
    let mut cells = good();
    cells.iter_mut().find(|(name, _)| *name == column).expect("a column").1[row] = cell;
    cells
}

fn built(cells: &Cells) -> Table {
    let columns: Vec<(&str, &[&str])> = cells.iter().map(|(name, cells)| (*name, cells.as_slice())).collect();
    table(&columns)
}

fn read(policy: &str, cells: &Cells) -> Result<Dataset, DataError> {
    let policy = Policy::parse(policy, "people").expect("a policy");
    let table = built(cells);
    let schema = Schema::resolve(&policy, &table)?;
    Dataset::read(&policy, Arc::new(schema), &table).map(|(dataset, _)| dataset)
}

#[track_caller]
fn refuses(policy: &str, cells: &Cells, message: &str) {
    let error = read(policy, cells).expect_err("a fault");
    assert_eq!(error.to_string(), message);
}

#[test]
fn the_good_table_is_read() {
    let dataset = read(POLICY, &good()).expect("a data set");
    assert_eq!(dataset.people.row(0), [30.0, 1000.5, 0.0, 1.0, 0.0]);
    assert_eq!(dataset.people.row(3), [60.0, 4000.0, 1.0, 1.0, 1.0]);
    let stays: Vec<f64> = (0..4).map(|row| dataset.people.row(row)[4]).collect();
    assert_eq!(stays, [0.0, 10.0, 2.0, 1.0], "whole days, 2012 being a leap year");
    assert_eq!(dataset.labels, [true, false, false, true]);
    assert_eq!(dataset.groups[0].values, ["Bonn", "Ulm", "(missing)"]);
    assert_eq!(dataset.groups[0].codes, [1, 0, 2, 1]);
    assert_eq!(dataset.people.schema.show(2, 2.0), "priest");
    assert_eq!(dataset.people.overrides[1].features[0].1.max, Some(60.0));
    assert!(dataset.people.overrides[0].features.is_empty());
}

#[test]
fn cells_of_the_wrong_kind() {
    refuses(POLICY, &with("age", 2, "12a"), "row 3, column \"age\": \"12a\" is not a whole number");
    refuses(POLICY, &with("age", 2, "12.5"), "row 3, column \"age\": \"12.5\" is not a whole number");
    refuses(POLICY, &with("income", 0, "inf"), "row 1, column \"income\": \"inf\" is not a number");
    refuses(
        POLICY,
        &with("member", 1, "maybe"),
        "column \"member\": a yes/no has two values, but there are 3: \"maybe\", \"no\" and \"yes\"; make it a category, or derive a yes/no with `equals`",
    );
    refuses(
        POLICY,
        &with("left", 1, "2013-02-30"),
        "row 2, column \"left\": \"2013-02-30\" is not a date such as 2013-08-14 or 2013-08-14 05:41:20",
    );
    let listed = POLICY.replace("kind = \"category\"", "kind = \"category\"\nvalues = [\"clerk\", \"priest\"]");
    refuses(&listed, &good(), "row 4, column \"job\": \"farmer\" is not one of \"clerk\" and \"priest\"");
}

#[test]
fn missing_cells_are_refused_by_default() {
    let hint = "to allow it, say `missing = \"drop_row\"` or \"fill\" in the policy's `[data]`";
    refuses(POLICY, &with("job", 2, "?"), &format!("row 3, column \"job\": the value is missing; {hint}"));
    refuses(POLICY, &with("age", 1, ""), &format!("row 2, column \"age\": the value is missing; {hint}"));
    refuses(
        POLICY,
        &with("paid", 1, "?"),
        "row 2, column \"paid\": the value is missing; a label is never filled in: say `missing = \"drop_row\"` or leave the row out with a filter",
    );
}

#[test]
fn labels_that_are_not_two_outcomes() {
    let label = |cells: [&'static str; 4]| {
        let mut table = good();
        table[7].1 = cells.to_vec();
        table
    };
    refuses(POLICY, &label(["yes"; 4]), "column \"paid\": the label is \"yes\" in every row; two outcomes are needed");
    refuses(
        POLICY,
        &label(["yes", "no", "late", "yes"]),
        "column \"paid\": the label has 3 values, \"late\", \"no\" and \"yes\"; name all the favourable ones in a list, or leave rows out with a filter",
    );
    refuses(
        POLICY,
        &label(["Yes", "no", "no", "Yes"]),
        "column \"paid\": no row has the favourable value \"yes\"; the values are \"Yes\" and \"no\"",
    );
    let mut without = good();
    without.remove(7);
    refuses(
        POLICY,
        &without,
        "there is no column \"paid\" (the label); the columns are \"age\", \"income\", \"job\", \"member\", \"arrived\", \"left\", \"town\", \"age_cap\", \"age_change\" and \"stay\"",
    );
    let rule = POLICY.replace("favourable = \"yes\"", "favourable = \"> 5\"");
    let error = read(&rule, &label(["1", "2", "3", "4"])).unwrap_err();
    assert_eq!(error.to_string(), "column \"paid\": no row is favourable by the rule `> 5`; two outcomes are needed");
    assert!(matches!(error, DataError::Label { fault: LabelFault::Constant { favourable: false, .. }, .. }));
}

#[test]
fn columns_that_are_not_there() {
    let misspelt = POLICY.replace("[features.income]", "[features.incom]");
    refuses(&misspelt, &good(), "there is no column \"incom\" (a feature); did you mean \"income\"?");
    let misspelt = POLICY.replace("\"arrived\"", "\"arived\"");
    refuses(
        &misspelt,
        &good(),
        "there is no column \"arived\" (the derived column `stay` needs it); did you mean \"arrived\"?",
    );
    let moves = POLICY.replace("kind = \"category\"", "kind = \"category\"\nmoves = { clerk = [\"framer\"] }");
    refuses(
        &moves,
        &good(),
        "column \"job\": `moves` in the policy names \"framer\", which no row has; did you mean \"farmer\"?",
    );
    let empty: Cells = good().into_iter().map(|(name, _)| (name, Vec::new())).collect();
    refuses(POLICY, &empty, "no row is left to work with: the table has a header but no rows");
    let filtered = POLICY.replace("groups", "filter = [\"age > 90\"]\ngroups");
    refuses(&filtered, &good(), "no row is left to work with: the filters leave none of 4 rows");
}

#[test]
fn overrides_may_only_narrow() {
    refuses(
        POLICY,
        &with("age_cap", 1, "95"),
        "row 2, column \"age_cap\": max 95 widens the policy, which says max 90; an override may only narrow it",
    );
    refuses(POLICY, &with("age_cap", 1, "old"), "row 2, column \"age_cap\": \"old\" is not a number");
    refuses(POLICY, &with("age_cap", 1, "5"), "row 2, column \"age_cap\": no value is left between min 18 and max 5");
    let up = POLICY.replacen("change = \"any\"", "change = \"increase\"", 1);
    refuses(
        &up,
        &with("age_change", 0, "decrease"),
        "row 1, column \"age_change\": change decrease widens the policy, which says increase; an override may only narrow it",
    );
}

#[test]
fn one_person_as_json() {
    let policy = Policy::parse(POLICY, "people").expect("a policy");
    let schema = Arc::new(Schema::resolve(&policy, &built(&good())).expect("a schema"));
    let person = |document: serde_json::Value| People::from_json(&policy, schema.clone(), &document);
    let good = json!({"age": 41, "income": 1.5, "job": "priest", "member": "no", "stay": 3, "town": "Ulm", "id": [1]});
    assert_eq!(person(good.clone()).expect("a person").row(0), [41.0, 1.5, 2.0, 0.0, 3.0]);

    let mut own = good.clone();
    own["overrides"] = json!({"age": {"max": 50, "change": "increase"}});
    let people = person(own.clone()).expect("a person");
    assert_eq!(people.overrides[0].features[0].1.max, Some(50.0));

    let refused = |key: &str, value: serde_json::Value, message: &str| {
        let mut document = good.clone();
        document[key] = value;
        assert_eq!(person(document).unwrap_err().to_string(), message);
    };
    refused("age", json!("12a"), "\"age\": \"12a\" is not a whole number");
    refused("age", json!(null), "\"age\": the value is missing");
    refused("age", json!([1]), "\"age\" is [1], but should be one value");
    refused("job", json!("king"), "\"job\": \"king\" is not one of \"clerk\", \"farmer\" and \"priest\"");
    refused(
        "overrides",
        json!({"age": {"max": 99}}),
        "\"overrides.age.max\": max 99 widens the policy, which says max 90; an override may only narrow it",
    );
    refused(
        "overrides",
        json!({"agee": {}}),
        "\"overrides\" names \"agee\", which is no feature; did you mean \"age\"?",
    );
    let mut misspelt = good.clone();
    misspelt.as_object_mut().expect("an object").remove("job");
    misspelt["jobb"] = json!("clerk");
    assert_eq!(person(misspelt).unwrap_err().to_string(), "\"job\" is not given; \"jobb\" is: was that meant?");
}
