//! Where records and fields begin and end.
//!
//! A quote opens a quoted field only where a field begins (blanks before it aside); elsewhere it is an ordinary
//! character, as in `5" pipe`. Both functions here follow that one rule, so that a file cut into blocks reads as the
//! same file whole. A space as the separator means any run of spaces, also at the end of a line.

use memchr::{memchr, memrchr};

use crate::error::ReadReason;

/// One field of a block: where its value stands, blanks and quotes around it left out.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

/// Set in [`Span::end`] where the value holds doubled quotes: blocks are shorter than 2³¹ bytes.
const ESCAPED: u32 = 1 << 31;

/// The largest block that spans can address.
pub(crate) const LARGEST_BLOCK: usize = (ESCAPED - 1) as usize;

impl Span {
    fn new(start: usize, end: usize, escaped: bool) -> Self {
        Span { start: start as u32, end: end as u32 | if escaped { ESCAPED } else { 0 } }
    }

    /// The value as it stands in the block, doubled quotes included.
    pub(crate) fn raw(self, block: &str) -> &str {
        &block[self.start as usize..(self.end & !ESCAPED) as usize]
    }

    /// The value with doubled quotes made single.
    pub(crate) fn value(self, block: &str) -> std::borrow::Cow<'_, str> {
        let raw = self.raw(block);
        if self.end & ESCAPED == 0 { raw.into() } else { raw.replace("\"\"", "\"").into() }
    }
}

/// The records of a block: fields row after row, and the line each record begins on.
#[derive(Default)]
pub(crate) struct Records {
    pub(crate) spans: Vec<Span>,
    pub(crate) rows: usize,
    /// Lines in the block, the last one counted even without a line end.
    pub(crate) lines: usize,
}

/// A blank that may surround a value: never the separator itself.
fn is_blank(byte: u8, delimiter: u8) -> bool {
    (byte == b' ' || byte == b'\t' || byte == b'\r') && byte != delimiter
}

/// Where the last complete record of `chunk` ends, just after its line end; 0 if none does. `chunk` begins a record.
pub(crate) fn last_record_end(chunk: &[u8], delimiter: u8) -> usize {
    let (mut at, mut end) = (0, 0);
    while let Some(quote) = memchr(b'"', &chunk[at..]).map(|offset| at + offset) {
        if let Some(newline) = memrchr(b'\n', &chunk[at..quote]) {
            end = at + newline + 1;
        }
        let before = chunk[..quote].iter().rev().find(|&&byte| !is_blank(byte, delimiter));
        if before.is_none_or(|&byte| byte == delimiter || byte == b'\n') {
            match closing_quote(chunk, quote + 1) {
                Some((close, _)) => at = close + 1,
                None => return end,
            }
        } else {
            at = quote + 1;
        }
    }
    match memrchr(b'\n', &chunk[at..]) {
        Some(newline) => at + newline + 1,
        None => end,
    }
}

/// Where the quoted value beginning at `from` ends, and whether it holds doubled quotes.
fn closing_quote(bytes: &[u8], from: usize) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (from, false);
    loop {
        let quote = at + memchr(b'"', &bytes[at..])?;
        if bytes.get(quote + 1) != Some(&b'"') {
            return Some((quote, escaped));
        }
        escaped = true;
        at = quote + 2;
    }
}

/// The fields of every record in `block`, which begins and ends with whole records. Blank lines are no records.
/// `width` is the number of fields in a record, or `None` to take it from the first. Lines in errors count from 1 in
/// this block.
pub(crate) fn records(block: &str, delimiter: u8, width: Option<usize>) -> Result<Records, ReadReason> {
    let bytes = block.as_bytes();
    let mut found = Records::default();
    let (mut at, mut width) = (0, width);
    while at < bytes.len() {
        let line = found.lines + 1;
        if let Some(next) = blank_line_end(bytes, at, delimiter) {
            at = next;
            found.lines += 1;
            continue;
        }
        let before = found.spans.len();
        at = record(bytes, at, delimiter, &mut found)?;
        let fields = found.spans.len() - before;
        let expected = *width.get_or_insert(fields);
        if fields != expected {
            return Err(ReadReason::Ragged { line, expected, found: fields });
        }
        found.rows += 1;
    }
    Ok(found)
}

/// The start of the next line if the one at `at` holds nothing but blanks.
fn blank_line_end(bytes: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let mut end = at;
    while end < bytes.len() && is_blank(bytes[end], delimiter) {
        end += 1;
    }
    match bytes.get(end) {
        None => Some(end),
        Some(b'\n') => Some(end + 1),
        Some(_) => None,
    }
}

/// Pushes the fields of the record at `at` and returns where the next one begins.
fn record(bytes: &[u8], mut at: usize, delimiter: u8, found: &mut Records) -> Result<usize, ReadReason> {
    let spaced = delimiter == b' ';
    loop {
        while at < bytes.len() && (is_blank(bytes[at], delimiter) || (spaced && bytes[at] == b' ')) {
            at += 1;
        }
        let mut end;
        if bytes.get(at) == Some(&b'"') {
            let line = found.lines + 1;
            let (close, escaped) = closing_quote(bytes, at + 1).ok_or(ReadReason::UnclosedQuote { line })?;
            found.spans.push(Span::new(at + 1, close, escaped));
            found.lines += memchr::memchr_iter(b'\n', &bytes[at..close]).count();
            end = close + 1;
            while end < bytes.len() && is_blank(bytes[end], delimiter) {
                end += 1;
            }
            if end < bytes.len() && bytes[end] != delimiter && bytes[end] != b'\n' {
                return Err(ReadReason::AfterQuote { line: found.lines + 1 });
            }
        } else {
            end = at;
            while end < bytes.len() && bytes[end] != delimiter && bytes[end] != b'\n' {
                end += 1;
            }
            let mut last = end;
            while last > at && is_blank(bytes[last - 1], delimiter) {
                last -= 1;
            }
            found.spans.push(Span::new(at, last, false));
        }
        while spaced && matches!(bytes.get(end), Some(b' ' | b'\t' | b'\r')) {
            end += 1;
        }
        let spaced_on = spaced && !matches!(bytes.get(end), None | Some(b'\n'));
        match bytes.get(end) {
            Some(&byte) if byte == delimiter => at = end + 1,
            _ if spaced_on => at = end,
            _ => {
                found.lines += 1;
                return Ok((end + 1).min(bytes.len()));
            }
        }
    }
}
