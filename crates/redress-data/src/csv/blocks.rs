//! A stream of bytes, cut into blocks of whole records, read on all cores and handed over in order.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, mpsc};

use super::parse::{self, BlockError, Expected, ParsedBlock};
use super::scan;
use crate::error::ReadReason;
use crate::source::read_error;

/// Large enough that threads do not wait for each other, small enough to stay in a core's cache.
pub(crate) const BLOCK_BYTES: usize = 1 << 19;

/// Cuts what it reads into blocks of whole records.
pub(crate) struct Blocks {
    reader: Box<dyn Read + Send>,
    delimiter: u8,
    block_bytes: usize,
    /// Read and not yet handed out; it begins a record.
    carry: Vec<u8>,
    ended: bool,
}

impl Blocks {
    pub(crate) fn new(reader: Box<dyn Read + Send>, delimiter: u8, block_bytes: usize) -> Self {
        Blocks { reader, delimiter, block_bytes, carry: Vec::new(), ended: false }
    }

    /// The next block; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, ReadReason> {
        let mut chunk = std::mem::take(&mut self.carry);
        let mut wanted = self.block_bytes;
        while !self.ended {
            if chunk.len() < wanted {
                let missing = wanted - chunk.len();
                chunk.reserve_exact(missing);
                let got = (&mut self.reader).take(missing as u64).read_to_end(&mut chunk).map_err(read_error)?;
                self.ended = got < missing;
            }
            let end = scan::last_record_end(&chunk, self.delimiter);
            if end > 0 && !self.ended {
                self.carry = chunk.split_off(end);
                return Ok(Some(chunk));
            }
            if chunk.len() >= scan::LARGEST_BLOCK {
                return Err(ReadReason::RecordTooLong);
            }
            wanted = (chunk.len() * 2).clamp(self.block_bytes, scan::LARGEST_BLOCK);
        }
        Ok(if chunk.is_empty() { None } else { Some(chunk) })
    }
}

/// What every block is read by.
pub(crate) struct Plan<'a> {
    pub(crate) delimiter: u8,
    /// One a column.
    pub(crate) expected: &'a [Expected],
    pub(crate) names: &'a [String],
    pub(crate) missing: &'a [String],
    /// Lines before the first block.
    pub(crate) lines_before: usize,
}

impl Plan<'_> {
    /// Reads all blocks on all cores and hands them to `take` in order, until it returns `false`. At most a few blocks
    /// are held at once.
    pub(crate) fn run(&self, blocks: &mut Blocks, mut take: impl FnMut(ParsedBlock) -> bool) -> Result<(), ReadReason> {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        let mut order = InOrder { plan: self, next: 0, early: BTreeMap::new(), lines: self.lines_before, rows: 0 };
        let first = blocks.next()?;
        let Some(first) = first else { return Ok(()) };
        let Some(second) = blocks.next()? else {
            order.accept(0, self.parse(&first), &mut take)?;
            return Ok(());
        };
        std::thread::scope(|scope| {
            let (work, jobs) = mpsc::sync_channel::<(usize, Vec<u8>)>(workers);
            let (done, results) = mpsc::channel();
            let jobs = std::sync::Arc::new(Mutex::new(jobs));
            for _ in 0..workers {
                let (jobs, done) = (jobs.clone(), done.clone());
                scope.spawn(move || {
                    // A poisoned lock means that a sibling panicked: the scope reports that.
                    while let Ok(Ok((index, block))) = jobs.lock().map(|jobs| jobs.recv()) {
                        if done.send((index, self.parse(&block))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(done);
            drop(jobs);
            let mut pending = [first, second].into_iter();
            let mut sent = 0;
            loop {
                let block = match pending.next() {
                    Some(block) => Some(block),
                    None => blocks.next()?,
                };
                let Some(block) = block else { break };
                while sent - order.next >= 2 * workers {
                    let Ok((index, parsed)) = results.recv() else { return Ok(()) };
                    if !order.accept(index, parsed, &mut take)? {
                        return Ok(());
                    }
                }
                if work.send((sent, block)).is_err() {
                    return Ok(());
                }
                sent += 1;
            }
            drop(work);
            for (index, parsed) in results {
                if !order.accept(index, parsed, &mut take)? {
                    return Ok(());
                }
            }
            Ok(())
        })
    }

    fn parse(&self, block: &[u8]) -> Result<ParsedBlock, BlockError> {
        let text = utf8(block).map_err(BlockError::Reason)?;
        let records = scan::records(text, self.delimiter, Some(self.expected.len())).map_err(BlockError::Reason)?;
        parse::columns(text, &records, self.expected, self.missing)
    }
}

/// Puts finished blocks back in order, and makes lines and rows in errors count from the start of the file.
struct InOrder<'a> {
    plan: &'a Plan<'a>,
    next: usize,
    early: BTreeMap<usize, Result<ParsedBlock, BlockError>>,
    lines: usize,
    rows: usize,
}

impl InOrder<'_> {
    /// Whether to go on.
    fn accept(
        &mut self,
        index: usize,
        parsed: Result<ParsedBlock, BlockError>,
        take: &mut impl FnMut(ParsedBlock) -> bool,
    ) -> Result<bool, ReadReason> {
        self.early.insert(index, parsed);
        while let Some(parsed) = self.early.remove(&self.next) {
            self.next += 1;
            let block = parsed.map_err(|error| match error {
                BlockError::Reason(reason) => reason.after_lines(self.lines),
                BlockError::Misfit(misfit) => ReadReason::Value {
                    row: self.rows + misfit.row + 1,
                    column: self.plan.names[misfit.column].clone(),
                    value: misfit.value,
                    expected: misfit.expected,
                },
            })?;
            self.lines += block.lines;
            self.rows += block.rows;
            if !take(block) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The bytes as text; the error names the line, counted from 1 in `bytes`.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, ReadReason> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |newline| newline + 1);
        ReadReason::NotUtf8 {
            line: memchr::memchr_iter(b'\n', &bytes[..at]).count() + 1,
            column: at - start + 1,
            byte: bytes[at],
        }
    })
}
