//! `redress sweep` as a user meets it.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn redress() -> Command {
    let mut command = Command::cargo_bin("redress").unwrap();
    command.env("NO_COLOR", "1");
    command
}

const SMALL: [&str; 8] = ["--epochs", "3", "--hidden", "8", "--seeds", "2", "--epsilon", "0.1"];

fn sweep(out: &Path, more: &[&str]) -> (Value, String) {
    let output = redress()
        .args(["sweep", "german", "--format", "json"])
        .args(SMALL)
        .args(more)
        .arg("--out")
        .arg(out)
        .output()
        .unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{notes}");
    (serde_json::from_slice(&output.stdout).unwrap(), notes)
}

#[test]
fn the_grid_is_trained_kept_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let (found, notes) = sweep(&out, &["--lambda", "0:0.8:0.4"]);
    assert_eq!(notes, "");
    let points = found["frontier"].as_array().unwrap();
    assert_eq!(points.iter().map(|point| point["lambda"].as_f64().unwrap()).collect::<Vec<_>>(), [0.0, 0.4, 0.8]);
    assert!(points.iter().all(|point| point["f1"]["error"].is_number() && point["seeds"] == 2));
    assert_eq!(points.iter().filter(|point| point["best"] == true).count(), 1);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let csv = read("sweep.csv");
    assert!(
        csv.starts_with("delta_max,lambda,seeds,f1,f1_se,accuracy,accuracy_se,recourse_neg,recourse_neg_se,"),
        "{csv}"
    );
    assert_eq!(csv.lines().count(), 4);
    assert!(read("sweep.svg").starts_with("<svg"));
    assert!(read("report.html").contains("id=\"frontier\""));
    let first = (csv, read("sweep.json"), read("sweep.svg"), read("report.html"));

    // Again: nothing is trained, everything is the same.
    let (_, notes) = sweep(&out, &["--lambda", "0:0.8:0.4"]);
    assert_eq!(notes, "6 of 6 models are finished already\n");
    assert_eq!(first, (read("sweep.csv"), read("sweep.json"), read("sweep.svg"), read("report.html")));

    // A cell that is gone or torn is trained again, to the same bits; another setting is another model.
    let cells: Vec<_> = std::fs::read_dir(out.join("cells")).unwrap().map(|entry| entry.unwrap().path()).collect();
    std::fs::remove_file(&cells[0]).unwrap();
    std::fs::write(&cells[1], "{\"key\":").unwrap();
    let (_, notes) = sweep(&out, &["--lambda", "0:0.8:0.4"]);
    assert_eq!(notes, "4 of 6 models are finished already\n");
    assert_eq!(first, (read("sweep.csv"), read("sweep.json"), read("sweep.svg"), read("report.html")));
    let (_, notes) = sweep(&out, &["--lambda", "0,1.2", "--dropout", "0.1"]);
    assert_eq!(notes, "");
}

#[test]
fn larger_changes_leave_more_recourse() {
    let folder = tempfile::tempdir().unwrap();
    let (found, _) = sweep(folder.path(), &["--lambda", "0", "--delta-max", "0,2"]);
    let points = found["frontier"].as_array().unwrap();
    let neg = |point: &Value| point["recourse_neg"]["mean"].as_f64().unwrap();
    assert_eq!((points.len(), &points[0]["delta_max"], neg(&points[0])), (2, &Value::from(0.0), 0.0));
    assert!(neg(&points[1]) > 0.0, "{found}");
}

#[test]
fn the_report_shows_the_policy_as_it_was_used() {
    let folder = tempfile::tempdir().unwrap();
    sweep(folder.path(), &["--lambda", "0", "--delta-max", "0.25,2"]);
    let report = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    for said in [
        "With 95% confidence, at least 90 in 100 people like these are approved or can reach approval",
        "the largest change of every feature below was 0.25 and 2 standard deviations in turn",
        "Changes up to 0.25 standard deviations",
        "may go up by at most 0.25 standard deviations",
        "may go up by at most 2 standard deviations",
        "max_change = { std = 0.25 }",
        "max_change = { std = 2 }",
    ] {
        assert!(report.contains(said), "the report lacks {said:?}");
    }
    let own = ["0.75 standard deviations", "std = 0.75"];
    assert!(!own.iter().any(|limit| report.contains(limit)), "the policy's own limit was not used");
    let headline = report.find("With 95% confidence").unwrap();
    assert!(headline < report.find("λ").unwrap(), "the guarantee comes first");
}

#[test]
fn bad_grids_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = |arguments: &[&str]| {
        let output =
            redress().args(["sweep", "german"]).args(arguments).arg("--out").arg(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(
        refuse(&["--lambda", "0:2"]),
        "error: --lambda 0:2: neither FROM:TO:STEP nor a comma-separated list of numbers\n  \
         help: for example 0:2:0.2 or 0,0.4,0.8\n"
    );
    assert!(
        refuse(&["--lambda", "-1"]).contains("lambda must be a number of at least 0"),
        "{}",
        refuse(&["--lambda=-1"])
    );
    assert!(refuse(&["--delta-max=-0.5"]).contains("-0.5 is below 0"));
    assert!(refuse(&["--seeds", "0"]).contains("--seeds"));
    assert!(refuse(&["--epsilon", "0.001"]).contains("rows"));
}
