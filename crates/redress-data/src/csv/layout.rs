//! How a text file is laid out: its separator, its header and its column names.

use std::collections::HashSet;
use std::io::Read;

use redress::policy::Layout;

use super::{blocks, scan, value};
use crate::error::ReadReason;
use crate::source::{Bytes, read_error};

/// How much of a file is looked at to find its layout. A first record longer than this is looked at whole.
const SAMPLE_BYTES: usize = 1 << 18;

/// The separators that are detected, in order of preference. A space is never guessed: it stands inside too many values.
const DETECTED: [u8; 3] = [b',', b';', b'\t'];

/// A layout with nothing left to detect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settled {
    pub(crate) delimiter: u8,
    /// Unique, one a field.
    pub(crate) names: Vec<String>,
    /// Where the first row begins, after a byte order mark and the header.
    pub(crate) skip: u64,
    /// The lines before the first row.
    pub(crate) lines: usize,
}

impl Settled {
    /// Settles what `layout` leaves open by looking at the start of `bytes`.
    pub(crate) fn detect(bytes: &Bytes, layout: &Layout) -> Result<Self, ReadReason> {
        let given = layout.delimiter.map(separator).transpose()?;
        let mut reader = bytes.open()?;
        let mut sample = Vec::new();
        let mut wanted = SAMPLE_BYTES;
        loop {
            let got =
                (&mut reader).take((wanted - sample.len()) as u64).read_to_end(&mut sample).map_err(read_error)?;
            let ended = got == 0 || sample.len() < wanted;
            let mark = if sample.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
            let delimiter = given.unwrap_or_else(|| guess(&sample[mark..], ended));
            let whole = if ended { sample.len() } else { mark + scan::last_record_end(&sample[mark..], delimiter) };
            if whole > mark || ended {
                return Self::from_sample(&sample[mark..whole], mark, delimiter, layout);
            }
            if wanted >= scan::LARGEST_BLOCK {
                return Err(ReadReason::RecordTooLong);
            }
            wanted = (wanted * 2).min(scan::LARGEST_BLOCK);
        }
    }

    /// `sample` holds whole records, the first `mark` bytes of the file left out.
    fn from_sample(sample: &[u8], mark: usize, delimiter: u8, layout: &Layout) -> Result<Self, ReadReason> {
        let (start, end, lines) = first_record(sample, delimiter).ok_or(ReadReason::Empty)?;
        let text = blocks::utf8(&sample[start..end]).map_err(|reason| reason.after_lines(lines))?;
        let first = scan::records(text, delimiter, None).map_err(|reason| reason.after_lines(lines))?;
        let cells: Vec<String> = first.spans.iter().map(|span| span.value(text).into_owned()).collect();
        if let Some(columns) = &layout.columns
            && columns.len() != cells.len()
        {
            return Err(ReadReason::ColumnCount { expected: columns.len(), found: cells.len() });
        }
        let header = layout.header.unwrap_or_else(|| looks_like_header(&cells, layout.columns.as_deref()));
        let names = match (&layout.columns, header) {
            (Some(columns), _) => columns.clone(),
            (None, true) => cells,
            (None, false) => vec![String::new(); cells.len()],
        };
        let (skip, lines) = if header { (end, lines + first.lines) } else { (start, lines) };
        if header && first_record(&sample[end..], delimiter).is_none() {
            return Err(ReadReason::HeaderOnly);
        }
        Ok(Settled { delimiter, names: unique(names), skip: (mark + skip) as u64, lines })
    }
}

/// The separator as a byte.
fn separator(given: char) -> Result<u8, ReadReason> {
    match u8::try_from(given) {
        Ok(byte) if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(byte),
        _ => Err(ReadReason::Delimiter(given)),
    }
}

/// Start, end and lines before of the first record that is not a blank line.
fn first_record(sample: &[u8], delimiter: u8) -> Option<(usize, usize, usize)> {
    let (mut start, mut lines) = (0, 0);
    while start < sample.len() {
        let mut end = start;
        // A line end inside quotes is not the record's: go on to the first line end at which a record does end.
        loop {
            end = memchr::memchr(b'\n', &sample[end..]).map_or(sample.len(), |newline| end + newline + 1);
            if end == sample.len() || scan::last_record_end(&sample[start..end], delimiter) > 0 {
                break;
            }
        }
        if sample[start..end].iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Some((start, end, lines));
        }
        start = end;
        lines += 1;
    }
    None
}

/// The separator that splits every record of the sample into the same number of fields, more than one; the one with
/// the most fields where several do; a comma where none does.
fn guess(sample: &[u8], ended: bool) -> u8 {
    let fields = |delimiter: u8| {
        let end = if ended { sample.len() } else { scan::last_record_end(sample, delimiter) };
        let text = String::from_utf8_lossy(&sample[..end]);
        match scan::records(&text, delimiter, None) {
            Ok(records) if records.rows > 0 => records.spans.len() / records.rows,
            _ => 0,
        }
    };
    let best = DETECTED.into_iter().map(|delimiter| (fields(delimiter), delimiter)).rev().max_by_key(|&(n, _)| n);
    match best {
        Some((fields, delimiter)) if fields > 1 => delimiter,
        // Ragged by any separator, or one column: the separator that the first line has most of.
        _ => {
            let line = sample.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let count = |delimiter: &u8| memchr::memchr_iter(*delimiter, line).count();
            DETECTED.into_iter().rev().max_by_key(count).unwrap_or(b',')
        }
    }
}

/// Names are not numbers, and no two are equal. A first record that repeats the given names is a header too.
fn looks_like_header(cells: &[String], columns: Option<&[String]>) -> bool {
    if let Some(columns) = columns {
        return cells == columns;
    }
    let numeric = |cell: &String| value::number(cell).is_some() || value::integer(cell).is_some();
    let named = cells.iter().any(|cell| !cell.is_empty());
    named && !cells.iter().any(|cell| numeric(cell) || value::boolean(cell).is_some())
}

/// Gives nameless columns the name `column_3` (the third), and the second `x` the name `x.1`, the third `x.2`.
fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().filter(|name| !name.is_empty()).cloned().collect();
    let mut seen = HashSet::new();
    let mut fresh = |base: &str, mut number: usize, join: &str| loop {
        let candidate = format!("{base}{join}{number}");
        if taken.insert(candidate.clone()) {
            return candidate;
        }
        number += 1;
    };
    names
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            if name.is_empty() {
                fresh("column", index + 1, "_")
            } else if seen.insert(name.clone()) {
                name
            } else {
                fresh(&name, 1, ".")
            }
        })
        .collect()
}
