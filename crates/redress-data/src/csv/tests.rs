//! The block reader against a slow twin, and the laws of layout and types.

use proptest::prelude::*;
use redress::policy::Layout;
use redress::table::{ColumnType, Table};

use super::TextFile;
use crate::error::ReadReason;
use crate::source::Bytes;

fn try_read(
    text: impl AsRef<[u8]>,
    layout: &Layout,
    missing: &[&str],
    block_bytes: usize,
) -> Result<Table, ReadReason> {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("a written file");
    let missing: Vec<String> = missing.iter().map(|text| text.to_string()).collect();
    let mut file = TextFile::open(Bytes::File(file.path().to_owned()), layout, &missing)?;
    file.block_bytes = block_bytes;
    file.read()
}

fn read(text: &str) -> Table {
    try_read(text, &Layout::default(), &[], super::BLOCK_BYTES).expect("a table")
}

fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    (0..table.rows()).map(|row| table.columns().iter().map(|column| column.text(row)).collect()).collect()
}

fn types(table: &Table) -> Vec<ColumnType> {
    table.columns().iter().map(|column| column.column_type()).collect()
}

fn names(table: &Table) -> Vec<&str> {
    table.columns().iter().map(|column| column.name()).collect()
}

/// The slow twin: one character at a time, by the rules in the docs of `scan`.
fn slow_records(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let mut records = Vec::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let (mut record, mut blank) = (Vec::new(), true);
        'record: loop {
            let mut field = String::new();
            while rest.next_if(|c| matches!(c, ' ' | '\t' | '\r') && *c != delimiter).is_some() {}
            if rest.next_if_eq(&'"').is_some() {
                blank = false;
                loop {
                    match rest.next().expect("a closing quote") {
                        '"' if rest.next_if_eq(&'"').is_none() => break,
                        c => field.push(c),
                    }
                }
                while rest.next_if(|c| matches!(c, ' ' | '\t' | '\r') && *c != delimiter).is_some() {}
            } else {
                while let Some(c) = rest.next_if(|c| *c != delimiter && *c != '\n') {
                    field.push(c);
                }
                field.truncate(field.trim_end_matches([' ', '\t', '\r']).len());
            }
            blank &= field.is_empty();
            record.push(field);
            match rest.next() {
                Some(c) if c == delimiter => blank = false,
                _ => break 'record,
            }
        }
        if !blank {
            records.push(record);
        }
    }
    records
}

/// A field as it may stand in a file: bare, blank, quoted with anything inside, or with a quote in its middle.
fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9.+-]{0,4}",
        2 => (-50i64..50).prop_map(|value| value.to_string()),
        1 => " {0,2}[a-z]\"? ?\"?[a-z]{0,2} {0,2}",
        2 => "[a-z ,\n\r]{0,5}".prop_map(|text| format!(" \"{text}\"\"{text}\" ")),
        1 => Just("\"\"".to_owned()),
    ]
}

fn file() -> impl Strategy<Value = String> {
    (1usize..5).prop_flat_map(|width| {
        let record = prop::collection::vec(field(), width).prop_map(|fields| fields.join(","));
        let line_end = prop_oneof![Just("\n"), Just("\r\n"), Just("\n\n"), Just("\n  \n")];
        prop::collection::vec((record, line_end), 1..30)
            .prop_map(|lines| lines.into_iter().map(|(record, end)| record + end).collect::<String>())
    })
}

proptest! {
    #[test]
    fn blocks_of_any_size_read_what_the_slow_twin_reads(text in file(), block_bytes in 1usize..200) {
        let expected = slow_records(&text, ',');
        let layout = Layout { delimiter: Some(','), header: Some(false), columns: None };
        match try_read(&text, &layout, &[], block_bytes) {
            Ok(table) => {
                prop_assert_eq!(table.rows(), expected.len());
                let whole = try_read(&text, &layout, &[], super::BLOCK_BYTES).expect("the same file in one block");
                prop_assert_eq!(&table, &whole);
                for (row, record) in cells(&table).iter().zip(&expected) {
                    for ((cell, column), text) in row.iter().zip(table.columns()).zip(record) {
                        match (cell, column.column_type()) {
                            (None, _) => prop_assert_eq!(text, ""),
                            (Some(cell), ColumnType::Text) => prop_assert_eq!(cell, text),
                            (Some(cell), _) => prop_assert_eq!(cell.parse::<f64>().ok(), text.parse::<f64>().ok()),
                        }
                    }
                }
            }
            Err(ReadReason::Empty | ReadReason::Ragged { .. }) => {
                let width = expected.first().map(Vec::len);
                prop_assert!(expected.is_empty() || expected.iter().any(|record| Some(record.len()) != width));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn a_column_is_the_least_general_type_that_every_value_fits(
        values in prop::collection::vec(
            prop_oneof![Just("1"), Just("2.5"), Just("true"), Just("x"), Just(""), Just("-7"), Just("007")], 1..40),
        block_bytes in 1usize..40,
    ) {
        let text: String = values.iter().map(|value| format!("{value},0\n")).collect();
        let layout = Layout { delimiter: Some(','), header: Some(false), columns: None };
        let table = try_read(&text, &layout, &[], block_bytes).expect("a table");
        let given: Vec<&str> = values.iter().copied().filter(|value| !value.is_empty()).collect();
        let expected = if given.is_empty() {
            ColumnType::Missing
        } else if given.iter().all(|value| value.parse::<i64>().is_ok()) {
            ColumnType::Integer
        } else if given.iter().all(|value| value.parse::<f64>().is_ok()) {
            ColumnType::Number
        } else if given.iter().all(|value| *value == "true") {
            ColumnType::Boolean
        } else {
            ColumnType::Text
        };
        prop_assert_eq!(table.columns()[0].column_type(), expected);
        if expected == ColumnType::Text {
            for (row, value) in values.iter().enumerate() {
                let expected = (!value.is_empty()).then(|| value.to_string());
                prop_assert_eq!(table.columns()[0].text(row), expected);
            }
        }
    }
}

#[test]
fn separators_are_detected() {
    for delimiter in [',', ';', '\t'] {
        let text = "a|b|c\n1|\"x|y\"|2,5\n3|z|4\n".replace("2,5", "2.5").replace('|', &delimiter.to_string());
        let table = read(&text);
        assert_eq!(names(&table), ["a", "b", "c"], "{delimiter:?}");
        assert_eq!(types(&table), [ColumnType::Integer, ColumnType::Text, ColumnType::Number]);
        assert_eq!(table.columns()[1].text(0), Some(format!("x{delimiter}y")));
    }
    assert_eq!(names(&read("a;b\n1,5;2,7\n")), ["a", "b"], "a decimal comma is not the separator");
}

#[test]
fn a_space_means_any_run_of_spaces() {
    let layout = Layout { delimiter: Some(' '), ..Layout::default() };
    let table = try_read("A11  6 x \n A12 48 y\r\n", &layout, &[], 100).expect("a table");
    assert_eq!(cells(&table)[1], [Some("A12".to_owned()), Some("48".to_owned()), Some("y".to_owned())]);
    assert_eq!(names(&table), ["column_1", "column_2", "column_3"], "a number in the first line: no header");
}

#[test]
fn a_header_is_detected_or_given() {
    assert_eq!(names(&read("age,sex\n1,f\n")), ["age", "sex"]);
    assert_eq!(names(&read("39, State-gov\n1, f\n")), ["column_1", "column_2"]);
    let years = Layout { header: Some(true), ..Layout::default() };
    assert_eq!(names(&try_read("2019,2020\n1,2\n", &years, &[], 100).expect("a table")), ["2019", "2020"]);
    let columns = Some(vec!["a".to_owned(), "b".to_owned()]);
    let given = Layout { columns: columns.clone(), ..Layout::default() };
    assert_eq!(try_read("x,y\nz,w\n", &given, &[], 100).expect("a table").rows(), 2);
    assert_eq!(try_read("a,b\nz,w\n", &given, &[], 100).expect("a table").rows(), 1, "the names again: a header");
    let replaced = Layout { columns, header: Some(true), ..Layout::default() };
    let table = try_read("x,y\nz,w\n", &replaced, &[], 100).expect("a table");
    assert_eq!((names(&table), table.rows()), (vec!["a", "b"], 1));
}

#[test]
fn equal_and_empty_names_become_unique() {
    assert_eq!(names(&read("x,y,x,,x,x.1\n1,2,3,4,5,6\n")), ["x", "y", "x.2", "column_4", "x.3", "x.1"]);
    assert_eq!(names(&read("score,score\n1,2\n")), ["score", "score.1"]);
}

#[test]
fn byte_order_mark_carriage_returns_and_blank_ends_are_left_out() {
    let table = read("\u{feff}a,b\r\n1, x y \r\n\r\n2,z\r\n\r\n  \r\n");
    assert_eq!(names(&table), ["a", "b"]);
    assert_eq!(cells(&table)[0][1].as_deref(), Some("x y"));
    assert_eq!(table.rows(), 2);
}

#[test]
fn missing_values_are_the_empty_cell_and_those_given() {
    let table = try_read("a,b,c\n-9,?,\n3,\"\",\n", &Layout::default(), &["-9", "?"], 100).expect("a table");
    assert_eq!(types(&table), [ColumnType::Integer, ColumnType::Missing, ColumnType::Missing]);
    assert_eq!(cells(&table), [[None, None, None], [Some("3".to_owned()), None, None]]);
    assert_eq!(table.columns()[0].missing().count(), 1);
}

#[test]
fn one_stray_value_makes_a_column_text_spelt_as_in_the_file() {
    let mut text = String::from("id,amount\n");
    for row in 0..5000 {
        text += &format!("{row},{}\n", if row == 4321 { "12a".to_owned() } else { format!("0{row}.50") });
    }
    let table = try_read(&text, &Layout::default(), &[], 256).expect("a table");
    assert_eq!(types(&table), [ColumnType::Integer, ColumnType::Text]);
    assert_eq!(table.columns()[1].text(0).as_deref(), Some("00.50"));
    assert_eq!(table.columns()[1].text(4321).as_deref(), Some("12a"));
}

fn reason(text: impl AsRef<[u8]>) -> String {
    try_read(text, &Layout::default(), &[], 16).expect_err("a refusal").to_string()
}

#[test]
fn what_is_wrong_is_said_exactly() {
    assert_eq!(reason(""), "is empty; a table with at least one row was expected");
    assert_eq!(reason("\n \n"), "is empty; a table with at least one row was expected");
    assert_eq!(reason("a,b\n"), "has a header but no rows; a table with at least one row was expected");
    assert_eq!(reason("a,b\n\n\n"), "has a header but no rows; a table with at least one row was expected");
    assert_eq!(reason("a,b\n1,2\n\"x\ny\",2\n3\n"), "line 5 has 1 fields; 2 were expected, as in the first line");
    assert_eq!(reason("a,b\n1,2\n1,2,3\n"), "line 3 has 3 fields; 2 were expected, as in the first line");
    assert_eq!(
        reason(b"a,b\n1,2\n3,caf\xe9\n"),
        "line 3 is not UTF-8 text (byte 0xe9 at column 6); save the file as UTF-8"
    );
    assert_eq!(reason("a,b\n1,2\n1,2\n1,\"x\n3,4\n"), "line 4: a quoted field begins here and never ends");
    assert_eq!(
        reason("a,b\n1,\"x\"y\n"),
        "line 2: text after a closing quote; write a quote inside quotes twice (\"\")"
    );
    let odd = Layout { delimiter: Some('"'), ..Layout::default() };
    assert!(matches!(try_read("a\n1\n", &odd, &[], 16), Err(ReadReason::Delimiter('"'))));
    let two = Layout { columns: Some(vec!["a".into(), "b".into()]), ..Layout::default() };
    assert!(matches!(try_read("1,2,3\n", &two, &[], 16), Err(ReadReason::ColumnCount { expected: 2, found: 3 })));
}

#[test]
fn the_first_of_several_errors_is_reported_whatever_the_blocks() {
    let text: String = (0..400).map(|row| if row % 100 == 57 { "1\n" } else { "1,2\n" }).collect();
    for block_bytes in [1, 7, 64, 1000] {
        let layout = Layout { header: Some(false), ..Layout::default() };
        let refusal = try_read(&text, &layout, &[], block_bytes).expect_err("ragged");
        assert!(matches!(refusal, ReadReason::Ragged { line: 58, expected: 2, found: 1 }), "{refusal}");
    }
}
