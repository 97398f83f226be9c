//! Fetching from a server on this machine that breaks off, forgets, and lies.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::*;

/// How the server treats one request.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// The whole file or the range asked for.
    Honest,
    /// Breaks off after this many bytes.
    Cut(usize),
    /// Falls silent after this many bytes.
    Silent(usize),
    /// The whole file, whatever range is asked for.
    WholeOnly,
    /// Other bytes of the same length.
    Wrong,
    /// An error.
    Fails(u16),
}

/// A server that treats one request after the other in these manners, the last one for ever. It remembers the ranges
/// asked for, and its thread ends with the test process.
struct Mirror {
    url: String,
    ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Mirror {
    fn start(content: &[u8], manners: &[Manner]) -> Mirror {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let (content, manners, seen) = (content.to_vec(), manners.to_vec(), ranges.clone());
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for (index, connection) in listener.incoming().flatten().enumerate() {
                let range = asked(&connection);
                seen.lock().expect("a lock").push(range.clone());
                let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
                let manner = manners[index.min(manners.len() - 1)];
                // What becomes of the connection is the client's business.
                let _ = respond(&connection, &content, from.unwrap_or(0), manner);
                if let Manner::Silent(_) = manner {
                    silent.push(connection);
                }
            }
        });
        Mirror { url, ranges }
    }

    fn ranges(&self) -> Vec<Option<String>> {
        self.ranges.lock().expect("a lock").clone()
    }
}

/// The range that a request asks for.
fn asked(connection: &TcpStream) -> Option<String> {
    let lines = BufReader::new(connection).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let head: Vec<String> = lines.collect();
    let header =
        head.iter().find_map(|line| line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("range")));
    header.map(|(_, value)| value.to_owned())
}

fn respond(mut connection: &TcpStream, content: &[u8], from: usize, manner: Manner) -> io::Result<()> {
    let from = if manner == Manner::WholeOnly { 0 } else { from };
    let status = match manner {
        Manner::Fails(status) => status,
        _ if from > 0 => 206,
        _ => 200,
    };
    let body = match manner {
        Manner::Wrong => vec![b'x'; content.len() - from],
        Manner::Fails(_) => b"no".to_vec(),
        _ => content[from..].to_vec(),
    };
    write!(connection, "HTTP/1.1 {status} Whatever\r\nConnection: close\r\nContent-Length: {}\r\n", body.len())?;
    if status == 206 {
        write!(connection, "Content-Range: bytes {from}-{}/{}\r\n", content.len() - 1, content.len())?;
    }
    let sent = match manner {
        Manner::Cut(bytes) | Manner::Silent(bytes) => &body[..bytes],
        _ => &body[..],
    };
    connection.write_all(b"\r\n")?;
    connection.write_all(sent)
}

fn content() -> Vec<u8> {
    (0..200_000u32).flat_map(|number| number.to_le_bytes()).collect()
}

fn remote(content: &[u8]) -> RemoteFile {
    let sha256 = sum(&mut &content[..]).expect("a sum").leak();
    RemoteFile { name: "rows.csv", url: "http://127.0.0.1:9/unused", sha256, bytes: content.len() as u64 }
}

fn get(mirror: &Mirror, folder: &Path, content: &[u8]) -> Result<Fetched, FetchError> {
    let mut last = 0;
    let mut progress = |progress: Progress<'_>| last = progress.done;
    let mut options = FetchOptions {
        base_url: Some(mirror.url.clone()),
        patience: Duration::from_millis(1_500),
        ..FetchOptions::new(folder, &mut progress)
    };
    let result = fetch_file(&remote(content), &mut options);
    if let Ok(Fetched::Downloaded(_)) = result {
        assert_eq!(last, content.len() as u64, "progress ends at the end");
    }
    result
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_file_arrives_whole_once() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Honest]);
    let target = folder.path().join("rows.csv");
    assert_eq!(get(&mirror, folder.path(), &content).expect("a file"), Fetched::Downloaded(target.clone()));
    assert_eq!(std::fs::read(&target).expect("bytes"), content);
    assert_eq!(get(&mirror, folder.path(), &content).expect("the file"), Fetched::AlreadyThere(target));
    assert_eq!(mirror.ranges(), [None]);
    assert_eq!(names(folder.path()), ["rows.csv"]);
}

#[test]
fn a_cut_connection_is_taken_up_where_it_ended() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Cut(300_000), Manner::Honest]);
    get(&mirror, folder.path(), &content).expect("a file after one break");
    assert_eq!(mirror.ranges(), [None, Some("bytes=300000-".to_owned())]);
    assert_eq!(std::fs::read(folder.path().join("rows.csv")).expect("bytes"), content);
}

#[test]
fn a_download_that_was_given_up_goes_on_next_time() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Cut(100_000)]);
    let error = get(&mirror, folder.path(), &content).expect_err("a server that always breaks off");
    assert!(matches!(error, FetchError::Broken { .. }), "{error}");
    assert_eq!(names(folder.path()), ["rows.csv.part"], "nothing half-written under the final name");
    let mirror = Mirror::start(&content, &[Manner::Honest]);
    get(&mirror, folder.path(), &content).expect("the rest");
    assert_eq!(mirror.ranges(), [Some("bytes=300000-".to_owned())]);
    assert_eq!(std::fs::read(folder.path().join("rows.csv")).expect("bytes"), content);
}

#[test]
fn a_server_that_falls_silent_does_not_hang_the_fetch() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Silent(200_000), Manner::Honest]);
    get(&mirror, folder.path(), &content).expect("a file after a silence");
    assert_eq!(mirror.ranges(), [None, Some("bytes=200000-".to_owned())]);
}

#[test]
fn a_server_without_ranges_sends_all_of_it_again() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Cut(1_000), Manner::WholeOnly]);
    get(&mirror, folder.path(), &content).expect("a file");
    assert_eq!(std::fs::read(folder.path().join("rows.csv")).expect("bytes"), content);
}

#[test]
fn wrong_bytes_are_refused_and_removed() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Wrong]);
    let error = get(&mirror, folder.path(), &content).expect_err("other bytes");
    let (expected, found) = (remote(&content).sha256, sum(&mut &vec![b'x'; content.len()][..]).expect("a sum"));
    assert_eq!(
        error.to_string(),
        format!("{}/rows.csv: the file has SHA-256 {found}, but {expected} was expected; it was not kept", mirror.url)
    );
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_stale_beginning_is_thrown_away() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    std::fs::write(folder.path().join("rows.csv.part"), vec![b'?'; 5_000]).expect("a part of something else");
    let mirror = Mirror::start(&content, &[Manner::Honest]);
    get(&mirror, folder.path(), &content).expect("a file, in the end");
    assert_eq!(mirror.ranges(), [Some("bytes=5000-".to_owned()), None]);
    assert_eq!(std::fs::read(folder.path().join("rows.csv")).expect("bytes"), content);
}

#[test]
fn what_the_server_answers_is_said() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let mirror = Mirror::start(&content, &[Manner::Fails(404)]);
    let error = get(&mirror, folder.path(), &content).expect_err("no such page");
    assert_eq!(error.to_string(), format!("{}/rows.csv: the server answered 404", mirror.url));
    let mut gone = Mirror::start(&content, &[Manner::Honest]);
    gone.url = "http://127.0.0.1:1".to_owned();
    let error = get(&gone, folder.path(), &content).expect_err("nobody listens");
    assert!(matches!(error, FetchError::Broken { .. }), "{error}");
}

#[test]
fn one_process_fetches_a_file_at_a_time() {
    let (content, folder) = (content(), tempfile::tempdir().expect("a folder"));
    let path = folder.path().join("rows.csv.part");
    let held = Part::open(path.clone(), folder.path().to_owned()).expect("a part");
    let mirror = Mirror::start(&content, &[Manner::Honest]);
    let error = get(&mirror, folder.path(), &content).expect_err("a file in use");
    assert!(matches!(error, FetchError::Busy { .. }), "{error}");
    drop(held);
    get(&mirror, folder.path(), &content).expect("a file");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "").expect("a file in the way");
    let mut progress = |_: Progress<'_>| {};
    let mut options = FetchOptions::new(file.join("data"), &mut progress);
    let error = fetch("compas", &mut options).expect_err("a file is no folder");
    let start = format!("the data folder {} cannot be written to: ", file.join("data").display());
    assert!(error.to_string().starts_with(&start), "{error}");
    assert!(matches!(fetch("compass", &mut options), Err(FetchError::Unknown(_))));
    assert!(fetch("german", &mut options).expect("nothing to do").is_empty());
}
