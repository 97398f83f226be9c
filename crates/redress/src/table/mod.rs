//! A table: typed columns in the units in which they came.
//!
//! A [`Table`] holds what a file says and nothing else: no policy has looked at it yet. The crate `redress-data` fills
//! it from CSV and Parquet; [`crate::dataset`] reads people and labels out of it by the rules of a policy.

/// A rectangular table with uniquely named, typed columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: usize,
}

/// One named column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    values: Values,
    missing: Missing,
}

/// The values of a column; what stands at a missing row is unspecified and never read.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Real numbers.
    Number(Vec<f64>),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// `true` and `false`.
    Boolean(Vec<bool>),
    /// Text, as codes into a dictionary of distinct values in order of first appearance.
    Text(Text),
    /// A column in which every value is missing.
    Missing(usize),
}

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnType {
    /// Real numbers.
    Number,
    /// Whole numbers.
    Integer,
    /// `true` and `false`.
    Boolean,
    /// Text.
    Text,
    /// Every value is missing.
    Missing,
}

impl std::fmt::Display for ColumnType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ColumnType::Number => "number",
            ColumnType::Integer => "integer",
            ColumnType::Boolean => "boolean",
            ColumnType::Text => "text",
            ColumnType::Missing => "missing",
        })
    }
}

/// Dictionary-coded text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Text {
    /// For each row, the index of its value in `dictionary`.
    pub codes: Vec<u32>,
    /// The distinct values.
    pub dictionary: Vec<String>,
}

/// The rows of a column that have no value, as a set of row indices.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Missing {
    bits: Vec<u64>,
    count: usize,
}

/// Why columns do not make a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// Two columns have one name.
    #[error("two columns are named `{0}`")]
    DuplicateColumn(String),
    /// A column is longer or shorter than the first.
    #[error("column `{column}` has {found} rows, the first column has {expected}")]
    UnequalLength {
        /// The column that differs.
        column: String,
        /// Its rows.
        found: usize,
        /// The first column's rows.
        expected: usize,
    },
}

impl Missing {
    /// No row is missing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Marks `row` as missing.
    pub fn insert(&mut self, row: usize) {
        let (word, bit) = (row / 64, 1u64 << (row % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        if self.bits[word] & bit == 0 {
            self.bits[word] |= bit;
            self.count += 1;
        }
    }

    /// Whether `row` is missing.
    pub fn contains(&self, row: usize) -> bool {
        self.bits.get(row / 64).is_some_and(|word| word & (1u64 << (row % 64)) != 0)
    }

    /// How many rows are missing.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl FromIterator<String> for Text {
    fn from_iter<I: IntoIterator<Item = String>>(values: I) -> Self {
        let mut text = Text::default();
        let mut known = std::collections::HashMap::new();
        for value in values {
            let code = *known.entry(value).or_insert_with_key(|value: &String| {
                text.dictionary.push(value.clone());
                text.dictionary.len() as u32 - 1
            });
            text.codes.push(code);
        }
        text
    }
}

impl Values {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Number(values) => values.len(),
            Values::Integer(values) => values.len(),
            Values::Boolean(values) => values.len(),
            Values::Text(text) => text.codes.len(),
            Values::Missing(rows) => *rows,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the values.
    pub fn column_type(&self) -> ColumnType {
        match self {
            Values::Number(_) => ColumnType::Number,
            Values::Integer(_) => ColumnType::Integer,
            Values::Boolean(_) => ColumnType::Boolean,
            Values::Text(_) => ColumnType::Text,
            Values::Missing(_) => ColumnType::Missing,
        }
    }
}

impl Column {
    /// A column whose rows in `missing` have no value.
    pub fn new(name: impl Into<String>, values: Values, missing: Missing) -> Self {
        Self { name: name.into(), values, missing }
    }

    /// The column's name, as in the file's header.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The typed values.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The type of the values.
    pub fn column_type(&self) -> ColumnType {
        self.values.column_type()
    }

    /// The rows without a value.
    pub fn missing(&self) -> &Missing {
        &self.missing
    }

    /// Whether the column has no value at `row`.
    pub fn is_missing(&self, row: usize) -> bool {
        matches!(self.values, Values::Missing(_)) || self.missing.contains(row)
    }

    /// The value at `row` as text, or `None` where it is missing: whole numbers without a point, others in the shortest
    /// form that reads back as the same number.
    pub fn text(&self, row: usize) -> Option<String> {
        if self.is_missing(row) {
            return None;
        }
        match &self.values {
            Values::Number(values) => Some(values[row].to_string()),
            Values::Integer(values) => Some(values[row].to_string()),
            Values::Boolean(values) => Some(values[row].to_string()),
            Values::Text(text) => Some(text.dictionary[text.codes[row] as usize].clone()),
            Values::Missing(_) => None,
        }
    }
}

impl Table {
    /// A table of equally long, uniquely named columns.
    pub fn new(columns: Vec<Column>) -> Result<Self, TableError> {
        let rows = columns.first().map_or(0, |column| column.values.len());
        let mut names = std::collections::HashSet::new();
        for column in &columns {
            if column.values.len() != rows {
                return Err(TableError::UnequalLength {
                    column: column.name.clone(),
                    found: column.values.len(),
                    expected: rows,
                });
            }
            if !names.insert(column.name.as_str()) {
                return Err(TableError::DuplicateColumn(column.name.clone()));
            }
        }
        Ok(Self { columns, rows })
    }

    /// The rows of a range, as a table of their own; a range beyond the end is cut.
    ///
    /// ```
    /// use redress::table::{Column, Missing, Table, Values};
    /// let ages = Column::new("age", Values::Integer(vec![39, 50, 28]), Missing::none());
    /// let table = Table::new(vec![ages])?;
    /// assert_eq!(table.slice(1..9).rows(), 2);
    /// assert_eq!(table.slice(1..2).columns()[0].text(0).as_deref(), Some("50"));
    /// # Ok::<(), redress::table::TableError>(())
    /// ```
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Table {
        let (start, end) = (rows.start.min(self.rows), rows.end.min(self.rows).max(rows.start.min(self.rows)));
        let part = |column: &Column| {
            let values = match &column.values {
                Values::Number(values) => Values::Number(values[start..end].to_vec()),
                Values::Integer(values) => Values::Integer(values[start..end].to_vec()),
                Values::Boolean(values) => Values::Boolean(values[start..end].to_vec()),
                Values::Text(text) => {
                    Values::Text(Text { codes: text.codes[start..end].to_vec(), dictionary: text.dictionary.clone() })
                }
                Values::Missing(_) => Values::Missing(end - start),
            };
            let mut missing = Missing::none();
            (start..end).filter(|&row| column.missing.contains(row)).for_each(|row| missing.insert(row - start));
            Column { name: column.name.clone(), values, missing }
        };
        Table { columns: self.columns.iter().map(part).collect(), rows: end - start }
    }

    /// This table with further columns.
    pub fn with(mut self, columns: Vec<Column>) -> Result<Table, TableError> {
        self.columns.extend(columns);
        Table::new(self.columns)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the file's order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}
