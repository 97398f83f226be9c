//! `docs/paper-map.md` leads from the paper to the code: this fails when a function or a test it names is gone, or when
//! an equation, table or figure of the paper has no row.

use std::path::{Path, PathBuf};

/// Every numbered or labelled item of the paper that must have a row.
const ITEMS: &[&str] = &[
    "Definition 2.1",
    "Eq. 1",
    "Eq. 2",
    "Eq. 3",
    "Eq. 4",
    "Eq. 5",
    "Theorem 3.1",
    "Table 1",
    "Table 2",
    "Table 3",
    "Table 4",
    "Figure 1",
    "Figure 2",
    "Figure 3",
    "Appendix A.2",
    "Appendix A.3",
    "Appendix B.1",
    "Figure 4",
    "Figure 5",
    "Table 6",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The links `[name](../path)` of a line.
fn links(line: &str) -> Vec<(&str, &str)> {
    line.split("](")
        .zip(line.split("](").skip(1))
        .filter_map(|(before, after)| {
            let name = before.rsplit('[').next()?.trim_matches('`');
            let path = after.split(')').next()?;
            path.starts_with("../").then_some((name, path))
        })
        .collect()
}

#[test]
fn every_link_of_the_paper_map_leads_to_what_it_names() {
    let map = std::fs::read_to_string(root().join("docs/paper-map.md")).expect("docs/paper-map.md is readable");
    let mut seen = 0;
    for line in map.lines() {
        for (name, path) in links(line) {
            let file = root().join("docs").join(path);
            let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{path}: {error}"));
            let symbol = name.rsplit("::").next().unwrap_or(name);
            let defined = ["fn ", "struct ", "enum ", "trait ", "mod "]
                .iter()
                .any(|kind| text.contains(&format!("{kind}{symbol}")));
            assert!(defined, "docs/paper-map.md names `{name}`, which is not defined in {path}");
            seen += 1;
        }
    }
    assert!(seen >= ITEMS.len(), "the map has only {seen} links");
}

#[test]
fn every_item_of_the_paper_has_a_row() {
    let map = std::fs::read_to_string(root().join("docs/paper-map.md")).expect("docs/paper-map.md is readable");
    let rows: Vec<&str> = map.lines().filter(|line| line.starts_with('|')).collect();
    for item in ITEMS {
        let row = rows.iter().find(|row| row.split('|').nth(1).is_some_and(|cell| cell.trim() == *item));
        let row = row.unwrap_or_else(|| panic!("docs/paper-map.md has no row for {item}"));
        assert!(links(row).len() >= 2, "the row of {item} must name a function and a test: {row}");
    }
}
