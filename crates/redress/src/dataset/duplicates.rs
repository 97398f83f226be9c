//! Rows that repeat another row.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::table::{Column, Table, Values};

/// Keeps the first of equal rows: equal in every column of the table, missing values included.
pub(super) fn drop_repeats(table: &Table, rows: &mut Vec<usize>) {
    // Rows with one hash form a chain; only they are compared value by value.
    let mut first: HashMap<u64, Vec<usize>> = HashMap::with_capacity(rows.len());
    rows.retain(|&row| {
        let hash = table.columns().iter().fold(0, |hash, column| mix(hash, key(column, row)));
        match first.entry(hash) {
            Entry::Vacant(place) => {
                place.insert(vec![row]);
                true
            }
            Entry::Occupied(mut chain) => {
                let repeats = chain.get().iter().any(|&earlier| equal(table, earlier, row));
                if !repeats {
                    chain.get_mut().push(row);
                }
                !repeats
            }
        }
    });
}

fn equal(table: &Table, one: usize, other: usize) -> bool {
    table.columns().iter().all(|column| key(column, one) == key(column, other))
}

/// A number that is equal for equal values of one column, and only for them.
fn key(column: &Column, row: usize) -> Option<u64> {
    if column.is_missing(row) {
        return None;
    }
    match column.values() {
        Values::Number(values) => Some((values[row] + 0.0).to_bits()),
        Values::Integer(values) => Some(values[row] as u64),
        Values::Boolean(values) => Some(u64::from(values[row])),
        Values::Text(text) => Some(u64::from(text.codes[row])),
        Values::Missing(_) => None,
    }
}

/// Stirs one more key into a hash.
fn mix(hash: u64, key: Option<u64>) -> u64 {
    let key = key.map_or(0x9E37_79B9_7F4A_7C15, |key| key.wrapping_add(1));
    (hash.rotate_left(23) ^ key).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (hash >> 29)
}
