//! A data set that nobody prepared goes the whole way, from `init` to answers, with a policy and no code.
//!
//! The table is FICO's home equity data, 10,459 × 24, with three codes for "no number". It is not part of this repository:
//! PyPI's teacher-xai 1.0.1 carries it, `./check` fetches it, and `REDRESS_HELOC` names it.

mod support;

use std::path::PathBuf;

use redress::policy::Policy;
use serde_json::Value;
use support::Workplace;

/// The table, where it is at hand.
fn heloc() -> Option<PathBuf> {
    let named = std::env::var_os("REDRESS_HELOC").map(PathBuf::from).filter(|path| path.is_file());
    if named.is_none() {
        eprintln!(
            "SKIPPED: the journey of the HELOC data: set REDRESS_HELOC to heloc_dataset_v1.csv (./check fetches it from \
             PyPI's teacher-xai 1.0.1)"
        );
    }
    named
}

#[test]
fn the_policy_is_one() {
    Policy::parse(include_str!("heloc.toml"), "heloc").expect("a policy");
}

#[test]
fn a_table_that_nobody_prepared_goes_the_whole_way() {
    let Some(table) = heloc() else { return };
    let place = Workplace::new();
    std::fs::copy(table, place.path("heloc_dataset_v1.csv")).expect("a copy");

    // The draft reads the table as it is, and sees the codes among the numbers.
    place.succeed(&["init", "heloc_dataset_v1.csv", "--label", "RiskPerformance"]);
    let draft = place.read("policy.toml");
    assert!(draft.contains("favourable = \"Good\""), "{draft}");
    for codes in ["missing_values = [-9]", "missing_values = [-8, -9]", "missing_values = [-7, -8, -9]"] {
        assert!(draft.contains(codes), "the draft does not point out {codes}");
    }
    let checked = place.succeed(&["check", "policy.toml"]);
    assert!(checked.contains("no feature may change"), "{checked}");

    // The edited policy.
    place.write("heloc.toml", include_str!("heloc.toml"));
    let checked = place.succeed(&["check", "heloc.toml"]);
    assert!(checked.contains("588 left out by `AverageMInFile >= 0`"), "{checked}");
    place.succeed(&["train", "heloc.toml", "--out", "out"]);
    let metrics: Value = serde_json::from_str(&place.read("out/metrics.json")).expect("JSON");
    let at = |path: &str| metrics.pointer(path).and_then(Value::as_f64).expect(path);
    assert!(at("/pare/recourse_all") >= 0.95 && at("/pare/f1") >= 0.6, "{metrics}");
    assert!(at("/recourse/lp/neg") > at("/baseline/recourse/lp/neg"), "training for recourse gives more of it");
    place.succeed(&["verify", "out/model.safetensors"]);
    place.succeed(&["audit", "out/model.safetensors", "--require", "recourse_all>=0.95", "--out", "audit"]);

    // Applicants with a record, answered in a file; the others are refused by name.
    let all = place.read("heloc_dataset_v1.csv");
    let (header, rows) = all.split_once('\n').expect("a header");
    let (known, unknown): (Vec<&str>, Vec<&str>) = rows.lines().partition(|row| !row.contains(",-9,-9,-9,-9,-9,"));
    assert_eq!((known.len(), unknown.len()), (9_871, 588));
    place.write("known.csv", format!("{header}\n{}\n", known[..2_000].join("\n")));
    place.succeed(&["recourse", "out/model.safetensors", "known.csv", "--out", "answers.csv"]);
    let answers = place.read("answers.csv");
    assert_eq!(answers.lines().count(), 2_001);
    let verdicts = |word: &str| answers.lines().filter(|line| line.contains(&format!(",{word},"))).count();
    assert!(verdicts("approved") > 0 && verdicts("recourse") > 0, "both kinds of answers");
    assert_eq!(verdicts("incomplete") + verdicts("unknown"), 0);
    place.write("unknown.csv", format!("{header}\n{}\n", unknown[0]));
    place.refuses(
        &["recourse", "out/model.safetensors", "unknown.csv", "--out", "none.csv"],
        "error: unknown.csv: row 1: outside the population that the policy covers: \"AverageMInFile >= 0\" does not hold \
         for \"-9\"\n",
    );
}
