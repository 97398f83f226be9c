//! A folder with a small table, a policy for it and a model, and the command that runs there.

// Every test binary uses its own part of this.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Output,
    sync::OnceLock,
};

use assert_cmd::Command;

/// A policy for [`table`] that is right.
pub const POLICY: &str = r#"name = "good"

[data]
path = "good.csv"
label = "repaid"
favourable = "yes"
groups = ["sex"]

[features.income]
kind = "integer"
change = "increase"
max_change = 2000
max = 9000
step = 100

[features.debt]
kind = "integer"
change = "decrease"
min = 0
step = 100

[features.job]
kind = "category"
values = ["clerk", "farmer", "priest"]
moves = { clerk = ["farmer"] }
"#;

/// The columns of [`table`].
pub const HEADER: &str = "income,debt,job,sex,repaid";

/// So many rows of borrowers, always the same ones.
pub fn rows(count: usize) -> Vec<String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = move |limit: u64| {
        // xorshift: no crate is needed to draw the same rows on every machine.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % limit
    };
    (0..count)
        .map(|_| {
            let (income, debt) = (1_000 + 100 * below(81), 100 * below(51));
            let (job, sex) = (["clerk", "farmer", "priest"][below(3) as usize], ["f", "m"][below(2) as usize]);
            let repaid = income + below(3_000) > debt + below(3_000) + 1_500;
            format!("{income},{debt},{job},{sex},{}", if repaid { "yes" } else { "no" })
        })
        .collect()
}

/// Rows below their header.
pub fn table(rows: &[String]) -> String {
    format!("{HEADER}\n{}\n", rows.join("\n"))
}

/// A folder of a test's own.
pub struct Workplace {
    folder: tempfile::TempDir,
}

impl Workplace {
    /// A folder that holds `good.csv` (400 rows) and `good.toml`.
    pub fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a folder") };
        place.write("good.csv", table(&rows(400)));
        place.write("good.toml", POLICY);
        place
    }

    /// The same with a model of it, `model.safetensors`.
    pub fn with_model() -> Self {
        static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
        let place = Self::new();
        let model = MODEL.get_or_init(|| {
            let trained = place.run(&["train", "good.toml", "--out", "trained", "--epochs", "12"]);
            assert_eq!(trained.status.code(), Some(0), "{}", text(&trained.stderr));
            let model = std::fs::read(place.path("trained/model.safetensors")).expect("a model");
            std::fs::remove_dir_all(place.path("trained")).expect("the rest is not needed");
            model
        });
        place.write("model.safetensors", model);
        place
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file");
    }

    /// Writes `bad.toml`: the good policy with `from` replaced by `to`.
    pub fn policy(&self, from: &str, to: &str) {
        assert!(POLICY.contains(from), "the good policy has no {from:?}");
        self.write("bad.toml", POLICY.replacen(from, to, 1));
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The command, to be run here.
    pub fn command(&self) -> Command {
        let mut command = Command::cargo_bin("redress").expect("the command");
        command.current_dir(self.folder()).env("COLUMNS", "100").env("REDRESS_DATA", self.path("data"));
        command
    }

    /// Runs the command.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().expect("a process")
    }

    /// Runs the command, which must succeed, and gives what it printed.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The command refuses with exit code 2, nothing on stdout, exactly this on stderr, and every file as it was.
    pub fn refuses(&self, arguments: &[&str], message: &str) {
        let before = self.files();
        let output = self.run(arguments);
        let said = text(&output.stderr).replace(&self.folder().display().to_string(), "HERE");
        assert_eq!(said, message, "what `redress {}` said", arguments.join(" "));
        assert_eq!(output.status.code(), Some(2), "the exit code of `redress {}`", arguments.join(" "));
        assert_eq!(text(&output.stdout), "", "`redress {}` printed an answer", arguments.join(" "));
        assert!(self.files() == before, "`redress {}` wrote something", arguments.join(" "));
    }

    /// Every file and folder below this one, with its content.
    pub fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.folder().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path.clone());
                    files.insert(path, None);
                } else {
                    let content = std::fs::read(&path).expect("a file");
                    files.insert(path, Some(content));
                }
            }
        }
        files
    }
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
