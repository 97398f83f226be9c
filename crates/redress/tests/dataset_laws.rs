//! Reading a table obeys laws: a slow twin reads cell by cell, and nothing is left out uncounted.

use std::sync::Arc;

use proptest::prelude::*;
use redress::dataset::{Dataset, People, Schema};
use redress::policy::Policy;
use redress::table::{Column, Missing, Table, Text, Values};

const POLICY: &str = r#"
[data]
path = "t.csv"
label = "y"
favourable = 1
missing = "MISSING"
missing_values = ["?", "-9"]
filter = ["n >= -5", "c != d"]
groups = ["c"]

[features.n]
kind = "integer"
[features.x]
kind = "number"
[features.c]
kind = "category"
[features.b]
kind = "yes/no"
"#;

/// A row: n (or missing), x (or missing), c (an index; 3 is `?`), b, y.
type Row = (Option<i64>, Option<i16>, usize, bool, bool);

const CATEGORIES: [&str; 5] = ["a", "b", "d", "?", "c"];

fn table(rows: &[Row]) -> Table {
    let missing = |absent: &dyn Fn(&Row) -> bool| {
        let mut missing = Missing::none();
        rows.iter().enumerate().filter(|(_, row)| absent(row)).for_each(|(index, _)| missing.insert(index));
        missing
    };
    let text = Text {
        codes: rows.iter().map(|row| row.2 as u32).collect(),
        dictionary: CATEGORIES.map(str::to_owned).to_vec(),
    };
    let column = |name: &str, values: Values, missing: Missing| Column::new(name, values, missing);
    Table::new(vec![
        column(
            "n",
            Values::Integer(rows.iter().map(|row| row.0.unwrap_or(77)).collect()),
            missing(&|row| row.0.is_none()),
        ),
        column(
            "x",
            Values::Number(rows.iter().map(|row| f64::from(row.1.unwrap_or(0)) / 8.0).collect()),
            missing(&|row| row.1.is_none()),
        ),
        column("c", Values::Text(text), Missing::none()),
        column("b", Values::Boolean(rows.iter().map(|row| row.3).collect()), Missing::none()),
        column("y", Values::Integer(rows.iter().map(|row| i64::from(row.4)).collect()), Missing::none()),
    ])
    .expect("a table")
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        prop::option::weighted(0.9, -9i64..9),
        // Eighths of a number; -72 eighths are -9, the code for missing.
        prop::option::weighted(0.9, any::<i16>().prop_filter("the code for missing", |eighths| *eighths != -72)),
        0..CATEGORIES.len(),
        any::<bool>(),
        any::<bool>(),
    );
    prop::collection::vec(row, 4..60)
}

fn kept(row: &Row) -> bool {
    row.0.is_some_and(|n| n >= -5 && n != -9) && !matches!(CATEGORIES[row.2], "d" | "?")
}

proptest! {
    #[test]
    fn dropped_rows_are_counted_and_the_rest_reads_cell_by_cell(rows in rows()) {
        let policy = Policy::parse(&POLICY.replace("MISSING", "drop_row"), "t").expect("a policy");
        let table = table(&rows);
        let Ok(schema) = Schema::resolve(&policy, &table) else {
            prop_assert!(!rows.iter().any(kept), "only a table without rows left has no schema");
            return Ok(());
        };
        let schema = Arc::new(schema);
        let expected: Vec<(usize, &Row)> = rows.iter().enumerate().filter(|(_, row)| kept(row) && row.1.is_some()).collect();
        let favourable = expected.iter().filter(|(_, row)| row.4).count();
        let read = Dataset::read(&policy, schema.clone(), &table);
        prop_assert_eq!(read.is_ok(), favourable > 0 && favourable < expected.len());
        let Ok((dataset, summary)) = read else { return Ok(()) };
        prop_assert_eq!(dataset.len(), expected.len());
        for (at, (index, row)) in expected.iter().enumerate() {
            prop_assert_eq!(dataset.people.source_rows[at], index + 1);
            let values = dataset.people.row(at);
            prop_assert_eq!(values[0], row.0.expect("kept") as f64);
            prop_assert_eq!(values[1], f64::from(row.1.expect("kept")) / 8.0);
            prop_assert_eq!(schema.show(2, values[2]), CATEGORIES[row.2]);
            prop_assert_eq!(values[3], f64::from(u8::from(row.3)));
            prop_assert_eq!(dataset.labels[at], row.4);
            prop_assert_eq!(&dataset.groups[0].values[dataset.groups[0].codes[at] as usize], CATEGORIES[row.2]);
        }
        let left_out: usize = summary.filtered.iter().chain(&summary.dropped).map(|(_, count)| count).sum();
        prop_assert_eq!(summary.rows + left_out, summary.table_rows);
        prop_assert_eq!(summary.table_rows, rows.len());
    }

    #[test]
    fn filled_values_are_counted_and_every_row_stays(rows in rows()) {
        let text = POLICY.replace("MISSING", "fill").replace("filter = [\"n >= -5\", \"c != d\"]\n", "");
        let policy = Policy::parse(&text, "t").expect("a policy");
        let table = table(&rows);
        let Ok(schema) = Schema::resolve(&policy, &table) else { return Ok(()) };
        let Ok((dataset, summary)) = Dataset::read(&policy, Arc::new(schema), &table) else { return Ok(()) };
        prop_assert_eq!(dataset.len(), rows.len());
        let count = |column: &str| summary.filled.iter().find(|(name, _)| name == column).map_or(0, |(_, count)| *count);
        prop_assert_eq!(count("n"), rows.iter().filter(|row| row.0.is_none_or(|n| n == -9)).count());
        prop_assert_eq!(count("x"), rows.iter().filter(|row| row.1.is_none()).count());
        prop_assert_eq!(count("c"), rows.iter().filter(|row| CATEGORIES[row.2] == "?").count());
        let mut present: Vec<i64> = rows.iter().filter_map(|row| row.0).filter(|&n| n != -9).collect();
        present.sort_unstable();
        for (at, row) in rows.iter().enumerate() {
            let n = row.0.filter(|&n| n != -9).unwrap_or(present[(present.len() - 1) / 2]);
            prop_assert_eq!(dataset.people.row(at)[0], n as f64);
        }
    }

    #[test]
    fn dropping_duplicates_keeps_the_first_of_equal_rows(rows in prop::collection::vec(
        (prop::option::of(0i64..2), Just(Some(1i16)), 0usize..2, any::<bool>(), any::<bool>()), 2..40))
    {
        let text = POLICY.replace("\"MISSING\"", "\"drop_row\"\ndrop_duplicates = true");
        let policy = Policy::parse(&text, "t").expect("a policy");
        let table = table(&rows);
        let Ok(schema) = Schema::resolve(&policy, &table) else { return Ok(()) };
        let Ok((dataset, summary)) = Dataset::read(&policy, Arc::new(schema), &table) else { return Ok(()) };
        let first: Vec<usize> = (0..rows.len())
            .filter(|&at| kept(&rows[at]) && !rows[..at].contains(&rows[at]))
            .map(|at| at + 1)
            .collect();
        prop_assert_eq!(&dataset.people.source_rows, &first);
        prop_assert_eq!(summary.duplicates, rows.iter().filter(|row| kept(row)).count() - first.len());
    }

    #[test]
    fn people_read_the_same_with_and_without_labels(rows in rows()) {
        let text = POLICY.replace("MISSING", "fill").replace("filter = [\"n >= -5\", \"c != d\"]\n", "");
        let policy = Policy::parse(&text, "t").expect("a policy");
        let table = table(&rows);
        let Ok(schema) = Schema::resolve(&policy, &table).map(Arc::new) else { return Ok(()) };
        let Ok((dataset, _)) = Dataset::read(&policy, schema.clone(), &table) else { return Ok(()) };
        let people = People::read(&policy, schema, &table).expect("people");
        prop_assert_eq!(&people, &dataset.people);
        let half: Vec<usize> = (0..people.len()).step_by(2).collect();
        let subset = dataset.subset(&half);
        for (at, &row) in half.iter().enumerate() {
            prop_assert_eq!(subset.people.row(at), dataset.people.row(row));
            prop_assert_eq!(subset.labels[at], dataset.labels[row]);
        }
    }
}
