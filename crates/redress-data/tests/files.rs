//! Files of every kind, whole and in pieces, good and bad.

use std::io::Write;
use std::path::Path;

use proptest::prelude::*;
use redress::policy::Layout;
use redress::table::{Column, ColumnType, Missing, Table, Text, Values};
use redress_data::{
    ReadReason, STREAM_ROWS, TableStream, TableWriter, WriteReason, from_record_batch, read_table, to_record_batch,
};

fn read(path: &Path) -> Table {
    read_table(path, &Layout::default(), &[]).expect("a table")
}

fn reason(path: &Path) -> ReadReason {
    let error = read_table(path, &Layout::default(), &[]).expect_err("a refusal");
    assert_eq!(error.path, path);
    assert!(error.to_string().starts_with(&format!("{}: ", path.display())), "{error}");
    error.reason
}

fn missing_at(rows: &[usize]) -> Missing {
    let mut missing = Missing::none();
    rows.iter().for_each(|&row| missing.insert(row));
    missing
}

fn coded(values: &[Option<String>]) -> Column {
    let mut text = Text::default();
    let mut missing = Missing::none();
    for (row, value) in values.iter().enumerate() {
        let code = match value {
            None => {
                missing.insert(row);
                0
            }
            Some(value) => match text.dictionary.iter().position(|known| known == value) {
                Some(code) => code as u32,
                None => {
                    text.dictionary.push(value.clone());
                    text.dictionary.len() as u32 - 1
                }
            },
        };
        text.codes.push(code);
    }
    Column::new("text, \"quoted\"", Values::Text(text), missing)
}

fn cells(table: &Table) -> Vec<Vec<Option<String>>> {
    table.columns().iter().map(|column| (0..table.rows()).map(|row| column.text(row)).collect()).collect()
}

/// A table whose text begins with a word that is no number, so that a CSV file says its type.
fn tables() -> impl Strategy<Value = Table> {
    (1usize..40).prop_flat_map(|rows| {
        let word = prop_oneof![Just(None), "[a-z\",\n \t]{1,6}".prop_map(Some)];
        (
            prop::collection::vec(any::<f64>().prop_filter("finite", |value| value.is_finite()), rows),
            prop::collection::vec(any::<i64>(), rows),
            prop::collection::vec(any::<bool>(), rows),
            prop::collection::vec(word, rows),
            prop::collection::vec(any::<bool>(), rows),
        )
            .prop_map(move |(mut numbers, integers, booleans, mut words, gaps)| {
                numbers[0] = 0.5;
                words[0] = Some("x".to_owned());
                let gaps: Vec<usize> = (1..rows).filter(|&row| gaps[row]).collect();
                Table::new(vec![
                    Column::new("number", Values::Number(numbers), missing_at(&gaps)),
                    Column::new("integer", Values::Integer(integers), missing_at(&gaps)),
                    Column::new("boolean", Values::Boolean(booleans), Missing::none()),
                    coded(&words),
                    Column::new("nothing", Values::Missing(rows), Missing::none()),
                ])
                .expect("a table")
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_reads_back(table in tables(), name in prop_oneof![
        Just("t.csv"), Just("t.tsv"), Just("t.csv.gz"), Just("t.parquet")
    ]) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        let mut writer = TableWriter::create(&path).expect("a writer");
        writer.write(&table).expect("rows");
        writer.write(&table).expect("the rows again");
        writer.finish().expect("a file");
        let back = read(&path);
        prop_assert_eq!(back.rows(), 2 * table.rows());
        let twice: Vec<_> = cells(&table).into_iter().map(|column| [column.clone(), column].concat()).collect();
        prop_assert_eq!(cells(&back), twice);
        for (column, expected) in back.columns().iter().zip(table.columns()) {
            prop_assert_eq!(column.name(), expected.name());
            prop_assert_eq!(column.column_type(), expected.column_type());
        }
        prop_assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing beside the file");
    }

    #[test]
    fn arrow_gives_the_table_back(table in tables()) {
        let back = from_record_batch(&to_record_batch(&table).expect("a batch"), &[]).expect("a table");
        prop_assert_eq!(cells(&back), cells(&table));
    }
}

#[test]
fn pieces_are_the_whole_with_one_schema() {
    let rows = 3 * STREAM_ROWS + 17;
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("rows.csv");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&csv).expect("a file"));
    writeln!(file, "id,late,word").expect("a header");
    for row in 0..rows {
        let late = if row == rows - 1 { "2.5" } else { "" };
        writeln!(file, "{row},{late},w{}", row % 7).expect("a row");
    }
    file.into_inner().expect("a whole file");
    let parquet = folder.path().join("rows.parquet");
    let mut writer = TableWriter::create(&parquet).expect("a writer");
    let whole = read(&csv);
    for (path, copy) in [(&csv, true), (&parquet, false)] {
        let stream = TableStream::open(path, &Layout::default(), &[]).expect("a stream");
        let columns = stream.columns().to_vec();
        let expected = [("id", ColumnType::Integer), ("late", ColumnType::Number), ("word", ColumnType::Text)];
        assert_eq!(columns, expected.map(|(name, kind)| (name.to_owned(), kind)));
        let mut at = 0;
        for table in stream {
            let table = table.expect("a piece");
            assert!(table.rows() < 2 * STREAM_ROWS);
            for (column, (name, kind)) in table.columns().iter().zip(&columns) {
                assert_eq!((column.name(), column.column_type()), (name.as_str(), *kind));
                let all = whole.column(name).expect("the same column");
                assert!((0..table.rows()).all(|row| column.text(row) == all.text(at + row)));
            }
            at += table.rows();
            if copy {
                writer.write(&table).expect("a piece written");
            }
        }
        assert_eq!(at, rows);
        if copy {
            let unfinished = std::mem::replace(&mut writer, TableWriter::create(folder.path().join("x")).expect("x"));
            unfinished.finish().expect("a Parquet file");
        }
    }
    assert_eq!(cells(&read(&parquet)), cells(&whole));
}

#[test]
fn a_stream_of_given_types_names_the_row_that_does_not_fit() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ages.csv");
    let lines: String =
        (0..200_000).map(|row| if row == 7_430 { "12a,x\n".into() } else { format!("{row},x\n") }).collect();
    std::fs::write(&path, format!("age,name\n{lines}")).expect("a file");
    let columns = [("age".to_owned(), ColumnType::Integer), ("name".to_owned(), ColumnType::Text)];
    let stream = TableStream::open_as(&path, &Layout::default(), &[], &columns).expect("a stream");
    let error = stream.last().expect("an answer").expect_err("row 7,431");
    assert_eq!(error.reason.to_string(), "row 7431, column `age`: `12a` is not a whole number");
    let other = [("age".to_owned(), ColumnType::Integer)];
    let error = TableStream::open_as(&path, &Layout::default(), &[], &other).err().expect("other columns");
    assert!(matches!(error.reason, ReadReason::Columns { .. }));
}

#[test]
fn a_dropped_stream_and_a_dropped_writer_leave_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, "a\n".to_owned() + &"1\n".repeat(500_000)).expect("a file");
    let mut stream = TableStream::open(&path, &Layout::default(), &[]).expect("a stream");
    let first = stream.next().expect("a piece").expect("rows");
    drop(stream);
    let mut writer = TableWriter::create(folder.path().join("copy.csv")).expect("a writer");
    writer.write(&first).expect("rows");
    drop(writer);
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn a_writer_refuses_other_columns_and_folders_that_are_not_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = TableWriter::create(folder.path().join("t.csv")).expect("a writer");
    let table = |name: &str| Table::new(vec![Column::new(name, Values::Integer(vec![1]), Missing::none())]).expect("t");
    writer.write(&table("a")).expect("rows");
    let error = writer.write(&table("b")).expect_err("another column");
    assert_eq!(error.reason.to_string(), "the next rows have columns b (integer); the file has a (integer)");
    let error = TableWriter::create(folder.path().join("no/such/t.csv")).err().expect("no folder");
    assert!(matches!(error.reason, WriteReason::Io(_)));
}

#[test]
fn bad_files_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert!(matches!(reason(&at("none.csv")), ReadReason::NotFound));
    assert!(matches!(reason(folder.path()), ReadReason::Directory));
    for name in ["empty.csv", "empty.csv.gz", "empty.parquet"] {
        std::fs::write(at(name), "").expect("a file");
        assert!(matches!(reason(&at(name)), ReadReason::Empty), "{name}");
    }

    let table = Table::new(vec![coded(&[Some("x".to_owned()), None])]).expect("a table");
    for name in ["t.parquet", "t.csv.gz"] {
        let mut writer = TableWriter::create(at(name)).expect("a writer");
        writer.write(&table).expect("rows");
        writer.finish().expect("a file");
        let whole = std::fs::read(at(name)).expect("bytes");
        for length in [5, whole.len() / 2, whole.len() - 1] {
            std::fs::write(at(name), &whole[..length]).expect("a cut file");
            let reason = reason(&at(name));
            match name {
                "t.parquet" => assert!(matches!(reason, ReadReason::Parquet(_)), "{reason}"),
                _ => assert!(matches!(reason, ReadReason::Gzip(_)), "{reason}"),
            }
        }
    }
    std::fs::write(at("not.csv.gz"), "a,b\n1,2\n").expect("a file");
    assert!(matches!(reason(&at("not.csv.gz")), ReadReason::Gzip(_)));
}
