//! A drafted policy reads the table it was drafted from, and an inspection says what is odd about a table.

use std::sync::Arc;

use proptest::prelude::*;
use redress::dataset::{DataError, Dataset, Inspection, Schema, Warning, inspect};
use redress::policy::{Direction, Kind, Policy, Rule, draft};
use redress::table::{Column, Missing, Table, Text, Values};

/// A column of text cells; empty cells are missing.
fn text_column(name: &str, cells: &[String]) -> Column {
    let mut text = Text::default();
    let mut missing = Missing::none();
    for (row, cell) in cells.iter().enumerate() {
        if cell.is_empty() {
            missing.insert(row);
        }
        let code = text.dictionary.iter().position(|known| known == cell).unwrap_or_else(|| {
            text.dictionary.push(cell.clone());
            text.dictionary.len() - 1
        });
        text.codes.push(code as u32);
    }
    Column::new(name, Values::Text(text), missing)
}

fn gaps(rows: usize, seed: &[bool]) -> Missing {
    let mut missing = Missing::none();
    (0..rows).filter(|row| seed.get(*row).copied().unwrap_or(false)).for_each(|row| missing.insert(row));
    missing
}

fn column(rows: usize) -> impl Strategy<Value = (Values, Vec<bool>)> {
    let word =
        prop::sample::select(vec!["a", "b", "c", "?", "NA", "1", "2.5", "yes", "no", "", " x\"\n#", "2020-01-01"]);
    let words = prop::collection::vec(word, rows).prop_map(|words| {
        let cells: Vec<String> = words.into_iter().map(str::to_owned).collect();
        text_column("", &cells).values().clone()
    });
    let values = prop_oneof![
        prop::collection::vec(prop_oneof![-9i64..9, any::<i64>()], rows).prop_map(Values::Integer),
        prop::collection::vec(0i64..2, rows).prop_map(Values::Integer),
        prop::collection::vec(prop_oneof![-1e3..1e3, any::<f64>()], rows).prop_map(Values::Number),
        prop::collection::vec(any::<bool>(), rows).prop_map(Values::Boolean),
        words,
        Just(Values::Missing(rows)),
        Just(Values::Integer((1..=rows as i64).collect())),
    ];
    (values, prop::collection::vec(prop::bool::weighted(0.1), rows))
}

fn table() -> impl Strategy<Value = Table> {
    let names = ["y", "age", "hours per week", "maritalStatus", "id", "a.b", "quote\"d", "tab\tbed"];
    (4..40usize).prop_flat_map(move |rows| {
        prop::collection::vec(column(rows), 2..8).prop_map(move |columns| {
            let columns = columns.into_iter().zip(names);
            Table::new(columns.map(|((values, seed), name)| Column::new(name, values, gaps(rows, &seed))).collect())
                .expect("a table")
        })
    })
}

fn read(policy: &Policy, table: &Table) -> Result<Inspection, DataError> {
    let schema = Schema::resolve(policy, table)?;
    let (dataset, summary) = Dataset::read(policy, Arc::new(schema), table)?;
    Ok(inspect(policy, table, &dataset, &summary))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_draft_reads_its_table_and_lets_nothing_change(table in table()) {
        let text = match draft(&table, "y", "t.csv") {
            Ok(text) => text,
            Err(error) => {
                let label = table.column("y").expect("a label");
                let usable = matches!(&error, DataError::Label { .. })
                    || matches!(&error, DataError::Column { column, .. } if column == "y")
                    || matches!(&error, DataError::Draft(fault) if fault.message.starts_with("the policy uses no feature"));
                prop_assert!(usable, "{} for {:?}", error, label);
                return Ok(());
            }
        };
        let policy = Policy::parse(&text, "t").map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert!(policy.features.iter().all(|feature| feature.action.change == Direction::Fixed));
        let inspection = read(&policy, &table).map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert!(inspection.warnings.contains(&Warning::NothingActionable));
        prop_assert!(inspection.favourable_rate > 0.0 && inspection.favourable_rate < 1.0);
    }

    #[test]
    fn the_suggestions_of_a_draft_are_legal(table in table()) {
        let Ok(text) = draft(&table, "y", "t.csv") else { return Ok(()) };
        let keys = ["change", "max_change", "min", "max", "moves", "missing_values"];
        let suggestion = |line: &str| line.strip_prefix("# ").filter(|rest| keys.iter().any(|key| rest.starts_with(&format!("{key} = ")))).map(str::to_owned);
        let lines: Vec<String> = text.lines().map(|line| suggestion(line).unwrap_or_else(|| line.to_owned())).collect();
        let text = lines.join("\n");
        let policy = Policy::parse(&text, "t").map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        match read(&policy, &table) {
            // A code that now means "missing" meets the rule that refuses missing values: the policy's to settle.
            Ok(_) | Err(DataError::MissingCell { .. }) => {}
            Err(error) => prop_assert!(false, "{} in\n{}", error, text),
        }
    }
}

fn cells(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn a_draft_guesses_as_a_careful_reader_would() {
    let repeat = |values: &[&str]| -> Vec<String> { cells(values).into_iter().cycle().take(60).collect() };
    let number = |name: &str, values: Vec<i64>| Column::new(name, Values::Integer(values), Missing::none());
    let table = Table::new(vec![
        number("id", (100..160).collect()),
        number("age", (0..60).map(|row| 20 + row % 30).collect()),
        number("hours_per_week", (0..60).map(|row| 10 + row % 40).collect()),
        number("delinquencies", (0..60).map(|row| if row % 7 == 0 { -9 } else { row % 5 }).collect()),
        text_column("sex", &repeat(&["Male", "Female", "Female"])),
        text_column("job", &repeat(&["clerk", "priest", "?", "farmer", "clerk"])),
        text_column("name", &(0..60).map(|row| format!("person {row}")).collect::<Vec<_>>()),
        text_column("country", &repeat(&["here"])),
        text_column("income", &repeat(&["<=50K", ">50K"])),
    ])
    .expect("a table");
    let text = draft(&table, "income", "people.csv").expect("a draft");
    insta::assert_snapshot!(text);
    let policy = Policy::parse(&text, "people").expect("a policy");
    assert_eq!(policy.data.favourable, Rule::Is(">50K".to_owned()));
    assert_eq!(policy.data.groups, ["sex"]);
    assert_eq!(policy.ignored, ["id", "name", "country"]);
    assert!(matches!(&policy.features[3].kind, Kind::YesNo { yes: Some(yes) } if yes == "Male"));
    assert_eq!(
        draft(&table, "incom", "people.csv").unwrap_err().to_string(),
        "there is no column \"incom\" (the label); did you mean \"income\"?"
    );
    assert_eq!(
        draft(&table, "country", "people.csv").unwrap_err().to_string(),
        "column \"country\": the label is \"here\" in every row; two outcomes are needed"
    );
}

#[test]
fn an_inspection_warns_of_what_is_odd() {
    let rows = 200usize;
    let number = |name: &str, value: &dyn Fn(usize) -> i64| {
        Column::new(name, Values::Integer((0..rows).map(value).collect()), Missing::none())
    };
    let table = Table::new(vec![
        number("y", &|row| i64::from(row % 3 == 0)),
        number("leak", &|row| i64::from(row % 3 == 0) * 10 + (row % 2) as i64),
        number("one", &|_| 7),
        number("capped", &|row| 50 + (row % 9) as i64),
        number("hours", &|row| (row % 60) as i64),
        number("age", &|row| 20 + (row % 30) as i64),
        number("rare", &|row| i64::from(row < 5)),
    ])
    .expect("a table");
    let policy = r#"
[data]
path = "t.csv"
label = "y"
favourable = 1
groups = ["rare"]
[features.leak]
kind = "integer"
[features.one]
kind = "integer"
[features.capped]
kind = "integer"
change = "increase"
max = 50
[features.hours]
kind = "integer"
name = "hours a week"
unit = "hours"
change = "increase"
max_change = 10
max = 40
[features.age]
kind = "integer"
unit = "years"
[actions]
constraints = ["2 * hours - capped >= -3"]
links = ["hours decreases: age increases by 1", "capped increases: age increases by 2 each"]
"#;
    let inspection = read(&Policy::parse(policy, "t").expect("a policy"), &table).expect("an inspection");
    let warnings: Vec<String> = inspection.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "`leak` alone tells the outcome almost surely (it ranks 100.0% of pairs rightly): was it known before the outcome?",
            "`one` is 7 in every row: the model cannot learn from it",
            "`capped` may go up, in whole steps of 1, never above 50, but not one row could: see its limits",
            "the link `hours decreases: age increases by 1` waits for a change that the policy does not permit",
            "group `1` of `rare` has 5 rows: its rates will be mostly noise",
            "15 rows repeat another row: copies may stand in training and test at once; `drop_duplicates = true` leaves them out",
        ]
    );
    let hours = &inspection.features[3];
    assert_eq!(hours.may, "may go up by at most 10 hours, in whole steps of 1, never above 40");
    assert_eq!(hours.movable_rows, (0..rows).filter(|row| row % 60 < 40).count());
    assert_eq!(
        inspection.features[4].may,
        "may not change by itself, only as a consequence of hours a week and of capped"
    );
    assert_eq!(
        inspection.constraints,
        ["2 times the change in hours a week minus the change in capped is at least -3"]
    );
    assert_eq!(
        inspection.links,
        [
            "if hours a week goes down, age goes up by 1 years",
            "for each unit that capped goes up, age goes up by 2 years"
        ]
    );
    assert_eq!(inspection.groups[0].groups[0].1, 195);
}

#[test]
fn columns_that_a_draft_cannot_use_say_why() {
    let cells = |of: fn(usize) -> String| (0..80).map(of).collect::<Vec<String>>();
    let table = Table::new(vec![
        text_column("repaid", &cells(|row| if row % 3 == 0 { "no" } else { "yes" }.to_owned())),
        Column::new("age", Values::Integer((0..80).map(|row| 20 + row % 40).collect()), Missing::none()),
        Column::new("age.1", Values::Integer((0..80).map(|row| 20 + row % 40).collect()), Missing::none()),
        Column::new("years", Values::Integer((0..80).map(|row| 20 + row % 41).collect()), Missing::none()),
        text_column("since", &cells(|row| format!("2024-{:02}-{:02}", 1 + row % 12, 1 + row % 28))),
        text_column("seen", &cells(|row| format!("{}.{}.24 10:00", 1 + row % 28, 1 + row % 12))),
        text_column("debt", &cells(|row| format!("{},{}", row, row % 10))),
        text_column("phone", &cells(|row| format!("{row}-{row}"))),
    ]);
    let written = draft(&table.expect("a table"), "repaid", "people.csv").expect("a draft");
    for (column, line) in [
        ("age", "kind = \"integer\"   # 20 to 59 in the table"),
        ("\"age.1\"", "use = false   # the same as \"age\" in every row"),
        ("years", "kind = \"integer\"   # 20 to 60 in the table"),
        (
            "since",
            "use = false   # dates, such as \"2024-01-01\": a column of years or days since then may say what matters",
        ),
        (
            "seen",
            "use = false   # dates, such as \"1.1.24 10:00\": a column of years or days since then may say what matters",
        ),
        ("debt", "use = false   # numbers with a comma, such as \"0,0\": write them with a point to use them"),
        ("phone", "use = false   # different in every row, like a name or a number of the person"),
    ] {
        assert!(written.contains(&format!("[features.{column}]\n{line}\n")), "{column}: {written}");
    }
}
