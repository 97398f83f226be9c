//! Tables to and from Arrow, the interchange the field uses.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, StringArray,
    StringBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, Schema};
use arrow::error::ArrowError;
use redress::table::{Column, ColumnType, Missing, Table, Text, Values};

use crate::error::ReadReason;

/// The table as an Arrow record batch: numbers as `Float64`, whole numbers as `Int64`, booleans as `Boolean`, text as
/// `Utf8`, a column in which everything is missing as `Null`. Every column may hold nulls.
///
/// ```
/// use redress::table::{Column, Missing, Table, Values};
/// let table = Table::new(vec![Column::new("age", Values::Integer(vec![39, 50]), Missing::none())])?;
/// let batch = redress_data::to_record_batch(&table)?;
/// assert_eq!(redress_data::from_record_batch(&batch, &[])?, table);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_record_batch(table: &Table) -> Result<RecordBatch, ArrowError> {
    let fields: Vec<Field> = table
        .columns()
        .iter()
        .map(|column| Field::new(column.name(), arrow_type(column.column_type()), true))
        .collect();
    let arrays = table.columns().iter().map(to_array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

/// The Arrow record batch as a table. Whole numbers of every width become integers (64 bits unsigned: numbers where a
/// value does not fit), floats and decimals numbers, dates and times ISO text, dictionaries what they hold. A null, a
/// NaN and a value whose text is among `missing_values` are missing. A 32-bit float becomes the shortest decimal that
/// reads back as it: 0.1 stays 0.1.
pub fn from_record_batch(batch: &RecordBatch, missing_values: &[String]) -> Result<Table, ReadReason> {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let columns = columns.map(|(field, array)| {
        let (values, missing) = from_array(field.name(), array, missing_values)?;
        Ok(Column::new(field.name(), values, missing))
    });
    Ok(Table::new(columns.collect::<Result<_, ReadReason>>()?)?)
}

/// The type a column of an Arrow file is read as, decided by its declared type alone so that every part of a file
/// reads as the same type.
pub(crate) fn column_type(field: &Field) -> Result<ColumnType, ReadReason> {
    let kind = match field.data_type() {
        DataType::Dictionary(_, inner) => inner.as_ref(),
        kind => kind,
    };
    Ok(match kind {
        DataType::Null => ColumnType::Missing,
        DataType::Boolean => ColumnType::Boolean,
        kind if kind.is_integer() => ColumnType::Integer,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => ColumnType::Number,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..) => {
            ColumnType::Number
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            ColumnType::Text
        }
        other => {
            return Err(ReadReason::ColumnKind { column: field.name().clone(), found: other.to_string() });
        }
    })
}

pub(crate) fn arrow_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Number => DataType::Float64,
        ColumnType::Integer => DataType::Int64,
        ColumnType::Boolean => DataType::Boolean,
        ColumnType::Text => DataType::Utf8,
        ColumnType::Missing => DataType::Null,
    }
}

fn to_array(column: &Column) -> ArrayRef {
    fn given<'a, T: Copy>(values: &'a [T], column: &'a Column) -> impl Iterator<Item = Option<T>> + 'a {
        values.iter().enumerate().map(|(row, &value)| (!column.is_missing(row)).then_some(value))
    }
    match column.values() {
        Values::Number(values) => Arc::new(given(values, column).collect::<Float64Array>()),
        Values::Integer(values) => Arc::new(given(values, column).collect::<Int64Array>()),
        Values::Boolean(values) => Arc::new(given(values, column).collect::<BooleanArray>()),
        Values::Text(text) => {
            let mut builder = StringBuilder::with_capacity(text.codes.len(), 8 * text.codes.len());
            given(&text.codes, column)
                .for_each(|code| builder.append_option(code.map(|code| &text.dictionary[code as usize])));
            Arc::new(builder.finish())
        }
        Values::Missing(rows) => Arc::new(NullArray::new(*rows)),
    }
}

fn from_array(name: &str, array: &ArrayRef, missing_values: &[String]) -> Result<(Values, Missing), ReadReason> {
    let field = Field::new(name, array.data_type().clone(), true);
    let mut missing = Missing::none();
    let convert = |to: &DataType| {
        cast(array, to).map_err(|_| ReadReason::ColumnKind {
            column: name.to_owned(),
            found: format!("values of type {} that do not fit {to}", array.data_type()),
        })
    };
    let numbers: Vec<f64> = missing_values.iter().filter_map(|text| text.parse().ok()).collect();
    let values = match column_type(&field)? {
        ColumnType::Missing => Values::Missing(array.len()),
        ColumnType::Boolean => {
            let array = convert(&DataType::Boolean)?;
            let array = array.as_boolean();
            nulls(array, &mut missing);
            Values::Boolean((0..array.len()).map(|row| array.is_valid(row) && array.value(row)).collect())
        }
        ColumnType::Integer => {
            let converted = convert(&DataType::Int64)?;
            if converted.null_count() > array.logical_null_count() {
                return Err(ReadReason::ColumnKind {
                    column: name.to_owned(),
                    found: "whole numbers above 9223372036854775807".to_owned(),
                });
            }
            let array = converted.as_primitive::<Int64Type>();
            nulls(array, &mut missing);
            let values = array.values().to_vec();
            mark(&values, |&value| numbers.contains(&(value as f64)), &mut missing);
            Values::Integer(values)
        }
        ColumnType::Number => {
            let array = convert(&DataType::Float64)?;
            let doubles = array.as_primitive::<Float64Type>();
            nulls(doubles, &mut missing);
            let values = match field.data_type() {
                DataType::Float32 => shortest(&convert(&DataType::Float32)?),
                _ => doubles.values().to_vec(),
            };
            mark(&values, |value| value.is_nan() || numbers.contains(value), &mut missing);
            Values::Number(values)
        }
        ColumnType::Text => {
            let array = convert(&DataType::Utf8)?;
            Values::Text(text(array.as_string(), missing_values, &mut missing))
        }
    };
    Ok((values, missing))
}

fn nulls(array: &dyn Array, missing: &mut Missing) {
    if array.null_count() > 0 {
        (0..array.len()).filter(|&row| array.is_null(row)).for_each(|row| missing.insert(row));
    }
}

fn mark<T>(values: &[T], is_missing: impl Fn(&T) -> bool, missing: &mut Missing) {
    for (row, value) in values.iter().enumerate() {
        if is_missing(value) {
            missing.insert(row);
        }
    }
}

fn shortest(array: &ArrayRef) -> Vec<f64> {
    let singles = array.as_primitive::<Float32Type>();
    singles.values().iter().map(|value| value.to_string().parse().unwrap_or(f64::from(*value))).collect()
}

fn text(array: &StringArray, missing_values: &[String], missing: &mut Missing) -> Text {
    let mut text = Text::default();
    let mut known = std::collections::HashMap::<&str, u32>::new();
    for (row, value) in array.iter().enumerate() {
        let code = match value {
            Some(value) if !value.is_empty() && !missing_values.iter().any(|missing| missing == value) => {
                *known.entry(value).or_insert_with(|| {
                    text.dictionary.push(value.to_owned());
                    text.dictionary.len() as u32 - 1
                })
            }
            _ => {
                missing.insert(row);
                0
            }
        };
        text.codes.push(code);
    }
    text
}
