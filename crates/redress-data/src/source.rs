//! Where bytes come from: a file or a built-in copy, packed or not.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::ReadReason;

/// Bytes that can be read from the start more than once.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// A file.
    File(PathBuf),
    /// A copy that is part of the program, packed with gzip.
    Packed(&'static [u8]),
}

/// What a file holds, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Delimited text, packed with gzip or not.
    Text,
    /// Parquet.
    Parquet,
}

impl Bytes {
    /// Opens the bytes and unpacks them where they are packed.
    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>, ReadReason> {
        match self {
            Bytes::Packed(bytes) => Ok(Box::new(Unpacked(MultiGzDecoder::new(*bytes)))),
            Bytes::File(path) => {
                let (file, start) = open_file(path)?;
                let packed = start.starts_with(&[0x1f, 0x8b]) || has_extension(path, "gz");
                if packed && !start.is_empty() {
                    Ok(Box::new(Unpacked(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, file)))))
                } else {
                    Ok(Box::new(file))
                }
            }
        }
    }

    /// How many bytes there are, where that is known before reading them.
    pub(crate) fn length(&self) -> Option<u64> {
        match self {
            Bytes::File(path) if !has_extension(path, "gz") => std::fs::metadata(path).ok().map(|file| file.len()),
            _ => None,
        }
    }

    /// What the bytes hold. A file that says it is Parquet, by its name or its first bytes, is read as Parquet, so that
    /// one cut short is called so.
    pub(crate) fn format(&self) -> Result<Format, ReadReason> {
        let Bytes::File(path) = self else { return Ok(Format::Text) };
        let (_, start) = open_file(path)?;
        let parquet = start == *b"PAR1" || (has_extension(path, "parquet") && !start.is_empty());
        Ok(if parquet { Format::Parquet } else { Format::Text })
    }
}

/// The file, at its start, and its first four bytes or fewer.
fn open_file(path: &Path) -> Result<(File, Vec<u8>), ReadReason> {
    if path.is_dir() {
        return Err(ReadReason::Directory);
    }
    let mut file = File::open(path).map_err(read_error)?;
    let mut start = Vec::new();
    (&mut file).take(4).read_to_end(&mut start).map_err(read_error)?;
    file.rewind().map_err(read_error)?;
    Ok((file, start))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Marks what the unpacker says, so that a damaged stream is not taken for a failing disk.
struct Unpacked<R>(R);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct DamagedGzip(String);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, DamagedGzip(error.to_string())),
        })
    }
}

/// What a failed read means.
pub(crate) fn read_error(error: io::Error) -> ReadReason {
    if let Some(damaged) = error.get_ref().and_then(|inner| inner.downcast_ref::<DamagedGzip>()) {
        return ReadReason::Gzip(damaged.0.clone());
    }
    match error.kind() {
        io::ErrorKind::NotFound => ReadReason::NotFound,
        io::ErrorKind::IsADirectory => ReadReason::Directory,
        _ => ReadReason::Io(error),
    }
}
