//! Tables that are read piece by piece, for audits of files of any length.

use std::sync::Arc;

use super::read::{Label, group, passes, read_people};
use super::view::View;
use super::{DataError, GroupColumn, People, ReadSummary, Schema};
use crate::policy::Policy;
use crate::table::Table;

/// The rows of one piece of a file that the policy covers.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Who they are; rows count from the beginning of the file.
    pub people: People,
    /// Whether each label is the favourable one; none where the file has no labels.
    pub labels: Option<Vec<bool>>,
    /// Membership in each group column that was asked for. Values and their order are those of this piece.
    pub groups: Vec<GroupColumn>,
}

/// Reads the pieces of one file in their order and counts what was left out over all of them.
///
/// It is more patient than [`Dataset::read`](super::Dataset::read): a file without a label column is read without
/// labels, a piece may hold one outcome only or nobody at all, and equal rows stay, since they may be different people.
#[derive(Debug, Clone)]
pub struct PieceReader {
    policy: Policy,
    schema: Arc<Schema>,
    summary: ReadSummary,
}

impl PieceReader {
    /// A reader of rows of this schema, with these group columns instead of the policy's.
    pub fn new(policy: &Policy, schema: Arc<Schema>, groups: &[String]) -> Self {
        let mut policy = policy.clone();
        policy.data.groups = groups.to_vec();
        Self { policy, schema, summary: ReadSummary::default() }
    }

    /// Reads the next piece. Rows in messages count from the beginning of the file.
    pub fn read(&mut self, table: &Table) -> Result<Piece, DataError> {
        let before = self.summary.table_rows;
        self.read_after(table, before).map_err(|error| error.after(before))
    }

    fn read_after(&mut self, table: &Table, before: usize) -> Result<Piece, DataError> {
        let policy = &self.policy;
        let view = View::new(policy, table, true)?;
        let mut rows: Vec<usize> = (0..table.rows()).collect();
        let mut summary = ReadSummary { table_rows: table.rows(), ..ReadSummary::default() };
        for filter in &policy.data.filters {
            // A column known only in hindsight is absent where labels are.
            let Some(column) = view.find(&filter.column) else { continue };
            let (count, passes) = (rows.len(), passes(policy, filter, column));
            rows.retain(|&row| passes(row));
            summary.filtered.push((filter.text.clone(), count - rows.len()));
        }
        let label = view.find(&policy.data.label).map(|_| Label::new(policy, &view)).transpose()?;
        if let Some(label) = &label {
            let without = label.drop_missing(policy, &view, &mut rows)?;
            if without > 0 {
                summary.dropped.push((policy.data.label.clone(), without));
            }
        }
        let mut people = read_people(policy, self.schema.clone(), &view, rows, policy.data.missing, &mut summary)?;
        let rows: Vec<usize> = people.source_rows.iter().map(|row| row - 1).collect();
        let groups = policy.data.groups.iter().map(|name| group(policy, view.column(name, "a group column")?, &rows));
        let groups = groups.collect::<Result<_, _>>()?;
        let labels = label.map(|label| label.favourable(&rows));
        people.source_rows.iter_mut().for_each(|row| *row += before);
        summary.rows = people.len();
        self.summary.add(&summary);
        Ok(Piece { people, labels, groups })
    }

    /// What happened to the rows so far.
    pub fn summary(&self) -> &ReadSummary {
        &self.summary
    }
}

impl ReadSummary {
    /// Adds the counts of the next piece.
    fn add(&mut self, piece: &ReadSummary) {
        self.table_rows += piece.table_rows;
        self.rows += piece.rows;
        self.duplicates += piece.duplicates;
        let lists = [
            (&mut self.filtered, &piece.filtered),
            (&mut self.dropped, &piece.dropped),
            (&mut self.filled, &piece.filled),
            (&mut self.treated_as_known, &piece.treated_as_known),
        ];
        for (total, counts) in lists {
            for (name, count) in counts {
                match total.iter_mut().find(|(known, _)| known == name) {
                    Some((_, sum)) => *sum += count,
                    None => total.push((name.clone(), *count)),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dataset::{Dataset, Place},
        table::{Column, Missing, Text, Values},
    };

    const POLICY: &str = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = \"good\"\n\
                          filter = [\"age >= 18\"]\ngroups = [\"sex\"]\n\
                          [features.age]\nkind = \"integer\"\n";

    fn text(values: &[&str]) -> Values {
        let mut coded = Text::default();
        for value in values {
            let known = coded.dictionary.iter().position(|known| known == value);
            coded.codes.push(known.unwrap_or(coded.dictionary.len()) as u32);
            if known.is_none() {
                coded.dictionary.push((*value).to_owned());
            }
        }
        Values::Text(coded)
    }

    fn table(ages: &[i64], labels: Option<&[&str]>) -> Table {
        let sexes: Vec<&str> = ages.iter().map(|age| if age % 2 == 0 { "f" } else { "m" }).collect();
        let mut columns = vec![
            Column::new("age", Values::Integer(ages.to_vec()), Missing::none()),
            Column::new("sex", text(&sexes), Missing::none()),
        ];
        columns.extend(labels.map(|labels| Column::new("y", text(labels), Missing::none())));
        Table::new(columns).unwrap()
    }

    #[test]
    fn pieces_together_are_the_whole() {
        let policy = Policy::parse(POLICY, "p").unwrap();
        let ages = [30, 17, 41, 52, 16, 29, 60];
        let labels = ["good", "good", "bad", "bad", "good", "bad", "good"];
        let whole = table(&ages, Some(&labels));
        let schema = Arc::new(Schema::resolve(&policy, &whole).unwrap());
        let (expected, counts) = Dataset::read(&policy, schema.clone(), &whole).unwrap();
        let mut reader = PieceReader::new(&policy, schema, &["sex".to_owned()]);
        let (mut values, mut rows, mut favourable) = (Vec::new(), Vec::new(), Vec::new());
        // The second piece holds nobody, the third one outcome only.
        for range in [0..4, 4..5, 5..6, 6..7] {
            let piece = reader.read(&table(&ages[range.clone()], Some(&labels[range]))).unwrap();
            values.extend(piece.people.values);
            rows.extend(piece.people.source_rows);
            favourable.extend(piece.labels.unwrap());
        }
        assert_eq!((values, rows), (expected.people.values, expected.people.source_rows));
        assert_eq!(favourable, expected.labels);
        assert_eq!(*reader.summary(), counts);
    }

    #[test]
    fn without_a_label_column_there_are_no_labels() {
        let policy = Policy::parse(POLICY, "p").unwrap();
        let schema = Arc::new(Schema::resolve(&policy, &table(&[30, 41], Some(&["good", "bad"]))).unwrap());
        let mut reader = PieceReader::new(&policy, schema, &[]);
        let piece = reader.read(&table(&[30, 41], None)).unwrap();
        assert_eq!((piece.labels, piece.groups.len(), piece.people.len()), (None, 0, 2));
    }

    #[test]
    fn rows_in_messages_count_from_the_beginning_of_the_file() {
        let policy = Policy::parse(POLICY, "p").unwrap();
        let schema = Arc::new(Schema::resolve(&policy, &table(&[30, 41], Some(&["good", "bad"]))).unwrap());
        let mut reader = PieceReader::new(&policy, schema, &["race".to_owned()]);
        let absent = reader.clone().read(&table(&[30], None)).unwrap_err();
        assert!(matches!(absent, DataError::NoColumn { ref column, .. } if column == "race"), "{absent}");
        reader = PieceReader { policy: PieceReader::new(&policy, reader.schema.clone(), &[]).policy, ..reader };
        reader.read(&table(&[30, 41], None)).unwrap();
        let strange = Table::new(vec![Column::new("age", text(&["40", "40.5"]), Missing::none())]).unwrap();
        let fault = reader.read(&strange).unwrap_err();
        let place = Place { row: Some(4), column: "age".into() };
        assert!(matches!(fault, DataError::Cell { place: ref at, .. } if *at == place), "{fault}");
    }
}
