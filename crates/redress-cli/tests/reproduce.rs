//! `redress reproduce` end to end, on its quick settings: every table and figure is written and can be read back.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;

const NAMES: [&str; 12] = [
    "table1",
    "figure1",
    "figure2",
    "table2",
    "figure3",
    "table3",
    "table4",
    "appendix-noise",
    "figure-delta-max",
    "figure-disparity",
    "examples",
    "verdict",
];

/// The folder with compas and bail, where it is on this machine.
fn shared_data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let given = std::env::var_os("REDRESS_DATA").map(PathBuf::from);
    given.into_iter().chain([beside]).find(|folder| folder.join("bail_train.csv").is_file())
}

/// The command with a data folder of its own choosing, and no other.
fn redress(data: &Path) -> Command {
    let mut command = Command::cargo_bin("redress").expect("the command is built with its tests");
    command.env("REDRESS_DATA", data).env("HOME", data).env("XDG_DATA_HOME", data);
    command
}

fn document(path: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn every_table_and_figure_is_written() {
    let Some(data) = shared_data() else {
        eprintln!("SKIPPED: compas and bail are not here (set REDRESS_DATA), so not every table can be made");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("results.md");
    let mut command = redress(&data);
    command.args(["reproduce", "all", "--quick", "--out"]).arg(folder.path()).arg("--results").arg(&results);
    command.assert().success();
    for name in NAMES {
        let read = |ending: &str| {
            let path = folder.path().join(format!("{name}.{ending}"));
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let document = document(&folder.path().join(format!("{name}.json")));
        assert_eq!(document["name"], *name);
        assert!(!document["findings"].as_array().unwrap().is_empty(), "{name} teaches nothing");
        assert!(read("csv").lines().count() > 1, "{name}.csv has no rows");
        assert!(read("svg").starts_with("<svg "), "{name}.svg");
        assert!(read("html").starts_with("<!DOCTYPE html>"), "{name}.html");
    }
    let index = std::fs::read_to_string(folder.path().join("index.html")).unwrap();
    let page = std::fs::read_to_string(results).unwrap();
    for name in NAMES {
        assert!(index.contains(&format!("{name}.html")), "index.html does not lead to {name}");
        assert!(page.contains(&format!("({name}.svg)")), "the results page does not show {name}");
    }
}

#[test]
fn printed_figures_stand_beside_ours() {
    let folder = tempfile::tempdir().unwrap();
    let none = tempfile::tempdir().unwrap();
    let mut command = redress(none.path());
    command.args(["reproduce", "table2", "--quick", "--out"]).arg(folder.path());
    command.assert().code(1).stdout(contains("difference")).stderr(contains("redress datasets fetch bail"));
    let document = document(&folder.path().join("table2.json"));
    let rows = document["comparisons"].as_array().unwrap();
    let of = |data: &str| rows.iter().filter(|row| row["data"] == data).count();
    assert!(of("adult") > 0 && of("german") > 0 && of("compas") == 0 && of("bail") == 0);
    let row = rows
        .iter()
        .find(|row| row["data"] == "adult" && row["quantity"] == "F1, PARE 0.05" && row["model"] == "ours, λ = 0.8");
    let row = row.expect("Table 2 has adult under PARE");
    assert_eq!(row["printed"], 0.526);
    let difference = row["ours"]["mean"].as_f64().unwrap() - 0.526;
    assert!((row["difference"].as_f64().unwrap() - difference).abs() < 1e-12);
}

#[test]
fn a_name_that_is_none_is_refused_with_those_there_are() {
    let none = tempfile::tempdir().unwrap();
    redress(none.path())
        .args(["reproduce", "table9"])
        .assert()
        .code(2)
        .stderr(contains("no experiment `table9`").and(contains("figure-delta-max")));
}
