//! Data sets from their public addresses: checked, resumable, whole or not there.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body};

use crate::builtin::{Builtin, Content, RemoteFile, UnknownBuiltin, builtin};

/// How often a download that breaks off is taken up again before it is given up for now.
const ATTEMPTS: usize = 3;

/// How far a download is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The file.
    pub file: &'a str,
    /// The bytes on the disk, those of an earlier attempt included.
    pub done: u64,
    /// All bytes.
    pub total: u64,
}

/// How to fetch.
pub struct FetchOptions<'a> {
    /// The folder to write to; it is made if it is not there.
    pub folder: PathBuf,
    /// An address to fetch every file from instead of its own, such as a mirror's folder.
    pub base_url: Option<String>,
    /// How long the server may be silent; what has arrived by then is kept and the rest asked for again.
    pub patience: Duration,
    /// Told about every piece that arrives.
    pub progress: &'a mut dyn FnMut(Progress<'_>),
}

impl<'a> FetchOptions<'a> {
    /// From the public addresses into `folder`, with a minute's patience.
    pub fn new(folder: impl Into<PathBuf>, progress: &'a mut dyn FnMut(Progress<'_>)) -> Self {
        FetchOptions { folder: folder.into(), base_url: None, patience: Duration::from_secs(60), progress }
    }
}

/// Why a data set was not fetched. No file is left under its final name unless it is whole.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no such data set.
    #[error(transparent)]
    Unknown(#[from] UnknownBuiltin),
    /// The folder cannot be written to.
    #[error("the data folder {} cannot be written to: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// Another process is fetching the same file.
    #[error("{} is being fetched by another process", path.display())]
    Busy {
        /// The unfinished file.
        path: PathBuf,
    },
    /// The server cannot be reached, or broke off.
    #[error("{url}: {error}; what has arrived is kept: fetch again to go on from there")]
    Broken {
        /// The address.
        url: String,
        /// What happened.
        error: String,
    },
    /// The server answered with something else.
    #[error("{url}: the server answered {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// The bytes are not those that were published. They have been removed.
    #[error("{url}: the file has SHA-256 {found}, but {expected} was expected; it was not kept")]
    Checksum {
        /// The address.
        url: String,
        /// The published sum.
        expected: String,
        /// The sum of what arrived.
        found: String,
    },
}

/// What `fetch` did with one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// It was there already, whole.
    AlreadyThere(PathBuf),
    /// It has been downloaded.
    Downloaded(PathBuf),
}

/// Fetches the files of a built-in data set. A file that is there and whole is left alone; one that broke off is taken
/// up where it ended. A data set that is part of the program needs no files: the answer is empty.
pub fn fetch(name: &str, options: &mut FetchOptions<'_>) -> Result<Vec<Fetched>, FetchError> {
    let Builtin { content: Content::Files(files), .. } = builtin(name)? else { return Ok(Vec::new()) };
    let refused = |error| FetchError::Folder { folder: options.folder.clone(), error };
    std::fs::create_dir_all(&options.folder).map_err(refused)?;
    files.iter().map(|file| fetch_file(file, options)).collect()
}

fn fetch_file(file: &RemoteFile, options: &mut FetchOptions<'_>) -> Result<Fetched, FetchError> {
    let target = options.folder.join(file.name);
    let refused = |error| FetchError::Folder { folder: options.folder.clone(), error };
    if target.is_file() && sum(&mut File::open(&target).map_err(refused)?).map_err(refused)? == file.sha256 {
        return Ok(Fetched::AlreadyThere(target));
    }
    let url = match &options.base_url {
        Some(base) => format!("{}/{}", base.trim_end_matches('/'), file.name),
        None => file.url.to_owned(),
    };
    let part_path = options.folder.join(format!("{}.part", file.name));
    let mut part = Part::open(part_path, options.folder.clone())?;
    let resumed = part.length > 0;
    part.fill(&url, file, options)?;
    let mut found = part.sum()?;
    if found != file.sha256 && resumed {
        // What an earlier attempt left may be of another version of the file: once more, from the start.
        part.clear()?;
        part.fill(&url, file, options)?;
        found = part.sum()?;
    }
    if found != file.sha256 {
        // Removing can only fail where the folder has changed under us; the mismatch is what matters.
        let _ = std::fs::remove_file(&part.path);
        return Err(FetchError::Checksum { url, expected: file.sha256.to_owned(), found });
    }
    part.place(&target)?;
    Ok(Fetched::Downloaded(target))
}

/// A file on its way, held by this process alone.
struct Part {
    file: File,
    path: PathBuf,
    folder: PathBuf,
    /// The bytes that have arrived.
    length: u64,
}

impl Part {
    /// Opens what an earlier attempt left, or an empty file.
    fn open(path: PathBuf, folder: PathBuf) -> Result<Part, FetchError> {
        let opened = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let file = opened.map_err(|error| FetchError::Folder { folder: folder.clone(), error })?;
        let mut part = Part { file, path, folder, length: 0 };
        match part.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FetchError::Busy { path: part.path }),
            Err(TryLockError::Error(error)) => return Err(part.refused(error)),
        }
        part.length = part.file.metadata().map_err(|error| part.refused(error))?.len();
        Ok(part)
    }

    fn refused(&self, error: io::Error) -> FetchError {
        FetchError::Folder { folder: self.folder.clone(), error }
    }

    fn clear(&mut self) -> Result<(), FetchError> {
        self.length = 0;
        self.file.set_len(0).map_err(|error| self.refused(error))
    }

    fn sum(&mut self) -> Result<String, FetchError> {
        self.file.rewind().and_then(|()| sum(&mut self.file)).map_err(|error| self.refused(error))
    }

    /// Downloads what is missing, taking up a connection that breaks off as long as something arrives.
    fn fill(&mut self, url: &str, file: &RemoteFile, options: &mut FetchOptions<'_>) -> Result<(), FetchError> {
        if self.length > file.bytes {
            self.clear()?;
        }
        let agent = agent(options.patience);
        let mut attempt = 0;
        while self.length < file.bytes {
            let before = self.length;
            match self.request(&agent, url, file, options) {
                Ok(()) if self.length == before => break,
                Ok(()) => {}
                Err(FetchError::Broken { .. }) if attempt + 1 < ATTEMPTS => {}
                Err(error) => return Err(error),
            }
            attempt += 1;
            if attempt == ATTEMPTS {
                break;
            }
        }
        Ok(())
    }

    /// One request for what is missing.
    fn request(
        &mut self,
        agent: &Agent,
        url: &str,
        file: &RemoteFile,
        options: &mut FetchOptions<'_>,
    ) -> Result<(), FetchError> {
        let broken = |error: String| FetchError::Broken { url: url.to_owned(), error };
        let mut request = agent.get(url);
        if self.length > 0 {
            request = request.header("Range", format!("bytes={}-", self.length));
        }
        let response = request.call().map_err(|error| broken(error.to_string()))?;
        match response.status() {
            StatusCode::PARTIAL_CONTENT if continues(&response, self.length) => {}
            // The server sends the whole file, or cannot send this part of it.
            StatusCode::OK => self.clear()?,
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PARTIAL_CONTENT => return self.clear(),
            status => return Err(FetchError::Status { url: url.to_owned(), status: status.as_u16() }),
        }
        let mut body = response.into_body().into_reader();
        let mut piece = vec![0; 1 << 16];
        loop {
            let got = body.read(&mut piece).map_err(|error| broken(error.to_string()))?;
            if got == 0 {
                return Ok(());
            }
            self.file.write_all(&piece[..got]).map_err(|error| self.refused(error))?;
            self.length += got as u64;
            (options.progress)(Progress { file: file.name, done: self.length, total: file.bytes });
            if self.length > file.bytes {
                // Longer than what was published: the sum will not match either.
                return Ok(());
            }
        }
    }

    /// Gives the whole file its name, once it is on the disk.
    fn place(self, target: &Path) -> Result<(), FetchError> {
        let placed = self.file.sync_all().and_then(|()| std::fs::rename(&self.path, target));
        placed.map_err(|error| self.refused(error))
    }
}

fn agent(patience: Duration) -> Agent {
    Agent::config_builder()
        .user_agent(concat!("redress/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(patience.min(Duration::from_secs(30))))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .http_status_as_error(false)
        .build()
        .into()
}

/// Whether a partial answer begins where we ended: `Content-Range: bytes 1000-…`.
fn continues(response: &Response<Body>, length: u64) -> bool {
    let range = response.headers().get("Content-Range").and_then(|value| value.to_str().ok());
    range.is_some_and(|range| range.strip_prefix("bytes ").is_some_and(|rest| rest.starts_with(&format!("{length}-"))))
}

/// The SHA-256 of all that `reader` gives, in small hexadecimal digits.
fn sum(reader: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match reader.read(&mut piece)? {
            0 => return Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            got => hasher.update(&piece[..got]),
        }
    }
}

#[cfg(test)]
mod tests;
