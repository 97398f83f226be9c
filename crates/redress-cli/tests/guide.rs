//! The guide does what it says: every command in it runs, every policy in it is one.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use redress::policy::Policy;

/// A fenced block of a page.
struct Block {
    /// What stands after the fence.
    kind: String,
    /// The line of the fence.
    line: usize,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of the guide with their blocks.
fn pages() -> Vec<(String, Vec<Block>)> {
    let folder = root().join("docs/guide");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(&folder).expect("docs/guide") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            pages.push((name, blocks(&std::fs::read_to_string(&path).expect("a page"))));
        }
    }
    pages.sort_by(|one, two| one.0.cmp(&two.0));
    assert!(pages.len() >= 6, "the guide has {} pages", pages.len());
    pages
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (line, text) in page.lines().enumerate() {
        match (text.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(kind), None) => open = Some(Block { kind: kind.to_owned(), line: line + 1, text: String::new() }),
            (None, Some(block)) => block.text += &format!("{text}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block that never ends");
    blocks
}

/// Runs the commands of a page one after the other in a folder with the examples in it.
#[test]
fn every_command_runs() {
    let binary = assert_cmd::cargo::cargo_bin("redress");
    let mut path = std::ffi::OsString::from(binary.parent().expect("a folder"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut commands = 0;
    for (page, blocks) in pages() {
        let folder = tempfile::tempdir().expect("a folder");
        for example in ["loans.csv", "loans.toml"] {
            std::fs::copy(root().join("examples").join(example), folder.path().join(example)).expect("an example");
        }
        for block in blocks.iter().filter(|block| block.kind == "console") {
            for command in block.text.lines().filter_map(|line| line.strip_prefix("$ ")) {
                let (command, expected) = match command.rsplit_once("# exit ") {
                    Some((command, code)) => (command, code.trim().parse().expect("an exit code")),
                    None => (command, 0),
                };
                let mut shell = Command::new("sh");
                shell.args(["-c", command]).current_dir(folder.path()).env("PATH", &path);
                let output = shell.env("NO_COLOR", "1").output().expect("a shell");
                assert_eq!(
                    output.status.code(),
                    Some(expected),
                    "{page}, block at line {}: {command}\n{}",
                    block.line,
                    String::from_utf8_lossy(&output.stderr)
                );
                commands += 1;
            }
        }
    }
    assert!(commands > 20, "only {commands} commands were found");
}

#[test]
fn every_policy_is_one() {
    let data = "[data]\npath = \"loans.csv\"\nlabel = \"Repaid?\"\nfavourable = \"yes\"\n\n";
    let mut policies = 0;
    for (page, blocks) in pages() {
        for block in blocks.iter().filter(|block| block.kind == "toml") {
            // A snippet that is not about the table leaves [data] out.
            let whole = block.text.lines().any(|line| line == "[data]");
            let text = if whole { block.text.clone() } else { format!("{data}{}", block.text) };
            if let Err(error) = Policy::parse(&text, "guide") {
                panic!("{page}, block at line {}: {error}", block.line);
            }
            policies += 1;
        }
    }
    assert!(policies > 12, "only {policies} policies were found");
}

/// Links within the repository lead somewhere.
#[test]
fn every_link_leads_somewhere() {
    let folder = root().join("docs/guide");
    for (page, _) in pages() {
        let text = std::fs::read_to_string(folder.join(&page)).expect("a page");
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap_or_default();
            if !file.is_empty() && !file.contains("://") {
                assert!(folder.join(file).exists(), "{page} links to {target}, which is not there");
            }
        }
    }
}
