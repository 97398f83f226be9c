//! `redress audit` as a user meets it.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

fn redress() -> Command {
    let mut command = Command::cargo_bin("redress").unwrap();
    command.env("NO_COLOR", "1");
    command
}

/// A small model of german, trained once for all tests.
fn model() -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        for lambda in ["0.8", "0"] {
            let out = folder.path().join(lambda);
            let settings = ["--lambda", lambda, "--epochs", "8", "--hidden", "16", "--out"];
            redress().args(["train", "german"]).args(settings).arg(&out).assert().success();
        }
        folder
    });
    folder.path().join("0.8").join("model.safetensors")
}

/// Applicants with a header of their own; every third is a woman, and one in `odd` has no telephone.
fn people(folder: &Path, name: &str, rows: usize, labelled: bool, odd: usize) -> PathBuf {
    let mut text = String::from("personal_status,age,amount,duration,telephone");
    text += if labelled { ",class\n" } else { "\n" };
    for row in 0..rows {
        let status = if row % 3 == 0 { "A92" } else { "A93" };
        let (age, amount, duration) = (19 + row * 7 % 50, 300 + row * 631 % 9_000, 4 + row * 5 % 60);
        let telephone = if odd > 0 && row % odd == odd - 1 { "none" } else { "yes" };
        write!(text, "{status},{age},{amount},{duration},{telephone}").unwrap();
        text += if !labelled {
            "\n"
        } else if row % 4 == 0 {
            ",2\n"
        } else {
            ",1\n"
        };
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Runs an audit that ends, well or not, and gives its JSON document.
fn audit(arguments: &[&str], file: Option<&Path>) -> (i32, Value) {
    let output =
        redress().arg("audit").arg(model()).args(file).args(arguments).args(["--format", "json"]).output().unwrap();
    let code = output.status.code().unwrap();
    assert!(code == 0 || code == 1, "{}", String::from_utf8_lossy(&output.stderr));
    (code, serde_json::from_slice(&output.stdout).unwrap())
}

/// Runs an audit that must be refused, and gives what stderr says.
fn refused(arguments: &[&str], file: &Path) -> String {
    let output = redress().arg("audit").arg(model()).arg(file).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn counts_add_up_and_rates_follow_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 600, true, 0);
    let (code, found) = audit(&[], Some(&file));
    assert_eq!(code == 0, found["holds"].as_bool().unwrap());
    let found = &found["findings"];
    let count = |group: &Value, name: &str| group["outcomes"][name].as_u64().unwrap();
    let groups = found["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 2);
    for group in groups.iter().chain([&found["everybody"]]) {
        let parts = ["approved", "recourse", "proven_without", "not_found", "unknown"];
        assert_eq!(parts.iter().map(|part| count(group, part)).sum::<u64>(), count(group, "people"));
        let all = (count(group, "approved") + count(group, "recourse")) as f64 / count(group, "people") as f64;
        assert_eq!(group["recourse_all"]["rate"].as_f64().unwrap(), all);
        let (low, high) = (&group["recourse_all"]["low"], &group["recourse_all"]["high"]);
        assert!(low.as_f64().unwrap() <= all && all <= high.as_f64().unwrap());
    }
    let women = groups.iter().find(|group| group["value"] == "true").unwrap();
    assert_eq!((count(women, "people"), count(&found["everybody"], "people")), (200, 600));
    assert!(found["everybody"]["performance"]["f1"].as_f64().unwrap() > 0.0);
    assert_eq!(found["method"], "exact");
    assert_eq!(found["disparities"].as_array().unwrap().len(), 3);
}

#[test]
fn a_file_without_labels_is_audited_without_performance() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 300, false, 0);
    let (_, found) = audit(&["--method", "lp"], Some(&file));
    assert_eq!(found["findings"]["everybody"]["performance"], Value::Null);
    assert_eq!(found["findings"]["everybody"]["outcomes"]["people"], 300);
    let message = refused(&["--require", "f1>=0.5", "--method", "lp"], &file);
    assert_eq!(message, "error: --require \"f1>=0.5\": this audit has no f1: the file has no labels\n");
}

#[test]
fn without_a_file_the_test_rows_are_audited_and_the_promise_is_checked() {
    let (code, found) = audit(&["--require", "recourse_all>=0.5"], None);
    assert_eq!(code, 0, "{found}");
    assert_eq!(found["findings"]["everybody"]["outcomes"]["people"], 150);
    assert_eq!(found["findings"]["certificate"]["holds"], true);
    assert_eq!(found["requirements"][0]["holds"], true);
}

#[test]
fn a_requirement_that_does_not_hold_exits_1() {
    let (code, found) = audit(&["--require", "recourse_all>=0.5", "--require", "cost_median<=-1"], None);
    assert_eq!((code, &found["holds"]), (1, &Value::Bool(false)));
    redress().arg("audit").arg(model()).args(["--require", "approval<0"]).assert().code(1);
}

#[test]
fn equal_runs_write_equal_files_and_the_report_has_its_parts() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 400, true, 0);
    let baseline = model().parent().unwrap().parent().unwrap().join("0").join("model.safetensors");
    let write = |name: &str| {
        let out = folder.path().join(name);
        let output = redress()
            .arg("audit")
            .arg(model())
            .arg(&file)
            .arg("--baseline")
            .arg(&baseline)
            .arg("--out")
            .arg(&out)
            .output();
        assert!(matches!(output.unwrap().status.code(), Some(0 | 1)));
        let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
        (read("audit.json"), read("report.html"))
    };
    let (one, other) = (write("one"), write("other"));
    assert_eq!(one, other);
    let (json, html) = one;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(json["baseline"]["findings"]["everybody"]["recourse_all"]["rate"].is_number());
    assert!(html.len() < 2_000_000 && !html.contains("<script"));
    let parts = [
        "certificate",
        "baseline",
        "groups",
        "costs",
        "levers",
        "without",
        "quality",
        "people",
        "threshold",
        "policy",
        "limits",
    ];
    let mut last = 0;
    for part in parts {
        let at = html.find(&format!("id=\"{part}\"")).unwrap_or_else(|| panic!("no section {part}"));
        assert!(at > last, "{part} stands before its predecessor");
        last = at;
    }
}

#[test]
fn group_columns_that_are_not_there_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 60, true, 0);
    assert_eq!(
        refused(&["--groups", "telefone"], &file),
        format!(
            "error: {}: there is no column \"telefone\" (a group column); did you mean \"telephone\"?\n",
            file.display()
        )
    );
    let output = redress().arg("audit").arg(model()).args(["--groups", "race"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: --groups race: not a group column of the policy\n  \
         help: group columns of german: female; or name a FILE that has the column\n"
    );
}

#[test]
fn a_group_of_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 60, true, 60);
    assert_eq!(
        refused(&["--groups", "telephone"], &file),
        format!(
            "error: {}: the group telephone = none has only 1 person: nothing can be said about it without saying it \
             about them\n  help: leave telephone out of --groups, or audit more people\n",
            file.display()
        )
    );
    let message = refused(&["--groups", "amount"], &file);
    assert!(message.contains("column \"amount\" has more than 50 different values"), "{message}");
}

#[test]
fn files_of_another_schema_and_empty_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "name,height\nAda,170\nBen,180\n").unwrap();
    let message = format!(
        "error: {}: has none of the columns that the model reads; its first line has \"name\", \"height\"\n  help: the model \
         was trained on `german`: begin with a header line that names \"personal_status\", \"age\", \"amount\", \
         \"duration\"; or bring rows of 21 columns without a header, as `german` has them\n",
        other.display()
    );
    assert_eq!(refused(&[], &other), message);
    let empty = people(folder.path(), "empty.csv", 0, true, 0);
    let message =
        format!("error: {}: has a header but no rows; a table with at least one row was expected\n", empty.display());
    assert_eq!(refused(&[], &empty), message);
    let absent = folder.path().join("absent.csv");
    assert_eq!(refused(&[], &absent), format!("error: {}: no such file\n", absent.display()));
}

#[test]
fn malformed_requirements_teach_the_grammar() {
    let folder = tempfile::tempdir().unwrap();
    let file = people(folder.path(), "people.csv", 60, true, 0);
    let message = refused(&["--require", "recourse_al>=0.95"], &file);
    assert_eq!(
        message,
        "error: --require \"recourse_al>=0.95\": there is no metric \"recourse_al\"; did you mean \"recourse_all\"?; write \
         METRIC, a relation (>=, <=, > or <) and a number, such as \"recourse_all>=0.95\", \"recourse_neg[sex]>=0.5\" for \
         every group of a column, \"approval[sex=Female]>=0.2\" for one group, or \"recourse_all_gap[sex]<=0.05\" for the \
         largest difference between groups\n"
    );
    assert!(refused(&["--require", "recourse_all[race]>=0.5"], &file).contains("no groups of \"race\""));
    assert!(refused(&["--alpha", "1.5"], &file).contains("alpha"));
}
