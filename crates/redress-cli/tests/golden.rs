//! What people and programs read: tables, letters, help and JSON, held to files in `snapshots/`.

mod support;

use std::sync::OnceLock;

use serde_json::Value;
use support::Workplace;

/// Numbers that a model has a part in, to three decimals: what lies beyond is the machine's.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut decimals = None;
    for letter in text.chars() {
        decimals = match (letter, decimals) {
            ('.', _) if out.ends_with(|last: char| last.is_ascii_digit()) => Some(0),
            ('0'..='9', Some(count)) => Some(count + 1),
            _ => None,
        };
        match decimals {
            Some(4) => out.push('…'),
            Some(count) if count > 4 => {}
            _ => out.push(letter),
        }
    }
    out
}

/// A folder in which `redress train german --seed 0` has run, and what it printed.
fn trained() -> &'static (Workplace, String) {
    static TRAINED: OnceLock<(Workplace, String)> = OnceLock::new();
    TRAINED.get_or_init(|| {
        let place = Workplace::new();
        let printed = place.succeed(&["train", "german", "--seed", "0"]);
        (place, printed)
    })
}

const MODEL: &str = "redress-out/german/model.safetensors";

#[test]
fn numbers_are_cut_after_three_decimals() {
    assert_eq!(shown("0.123456, 12.5 and 1.2345."), "0.123…, 12.5 and 1.234….");
}

#[test]
fn the_list_of_data_sets() {
    insta::assert_snapshot!("datasets", Workplace::new().succeed(&["datasets"]));
}

#[test]
fn what_was_understood() {
    insta::assert_snapshot!("check_german", Workplace::new().succeed(&["check", "german"]));
}

#[test]
fn a_first_policy() {
    let place = Workplace::new();
    insta::assert_snapshot!("init", place.succeed(&["init", "good.csv", "--label", "repaid"]));
    insta::assert_snapshot!("init_policy", place.read("policy.toml"));
}

#[test]
fn training() {
    let (_, printed) = trained();
    insta::assert_snapshot!("train_german", shown(printed));
}

#[test]
fn one_person() {
    let (place, _) = trained();
    let denied = place.succeed(&["recourse", MODEL, "--row", "2", "--options", "3"]);
    insta::assert_snapshot!("recourse_row", shown(&denied));
    insta::assert_snapshot!("letter", shown(&place.succeed(&["recourse", MODEL, "--row", "2", "--letter"])));
    let approved = place.succeed(&["recourse", MODEL, "--row", "3", "--letter"]);
    insta::assert_snapshot!("letter_approved", shown(&approved));
}

#[test]
fn a_certificate_checked() {
    let (place, _) = trained();
    insta::assert_snapshot!("verify", shown(&place.succeed(&["verify", MODEL])));
}

#[test]
fn tuning() {
    let place = Workplace::new();
    let printed = place.succeed(&["tune", "german", "--lambdas", "0,0.8", "--steps", "1", "--epochs", "3"]);
    insta::assert_snapshot!("tune", shown(&printed));
}

#[test]
fn help_is_a_tour_and_every_command_has_an_example() {
    let place = Workplace::new();
    insta::assert_snapshot!("help", place.succeed(&["--help"]));
    for command in [
        "datasets",
        "init",
        "check",
        "train",
        "tune",
        "calibrate",
        "recourse",
        "verify",
        "audit",
        "sweep",
        "reproduce",
        "completions",
        "man",
    ] {
        let help = place.succeed(&[command, "--help"]);
        assert!(help.contains("Example"), "{command} --help has no example");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command} --help is too wide");
        insta::assert_snapshot!(format!("help_{command}"), help);
    }
}

/// The keys that a path of an object must have.
fn has(document: &Value, path: &str, keys: &[&str]) {
    let at = if path.is_empty() { document } else { document.pointer(path).expect(path) };
    for key in keys {
        assert!(at.get(key).is_some(), "{path} has no `{key}`: {at}");
    }
}

#[test]
fn every_command_answers_in_json() {
    let (place, _) = trained();
    let ask = |arguments: &[&str]| -> Value {
        let printed = place.succeed(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    };
    has(&ask(&["datasets"])[0], "", &["name", "rows", "here", "about", "licence", "source"]);
    has(&ask(&["init", "good.csv", "--label", "repaid", "-o", "json.toml"]), "", &["policy", "rows", "columns"]);
    has(&ask(&["check", "german"]), "", &["summary", "favourable_rate", "features", "warnings"]);
    let tuned = ask(&["tune", "german", "--lambdas", "0.8", "--steps", "1", "--epochs", "1"]);
    has(&tuned, "/best", &["lambda", "inner_steps", "performance", "recourse", "bound", "threshold"]);
    has(&ask(&["verify", MODEL]), "", &["holds", "certificate", "findings"]);
    let person = ask(&["recourse", MODEL, "--row", "2"]);
    has(&person, "", &["outcome", "score", "threshold", "options"]);
    has(&person, "/options/0", &["changes", "cost", "score_after", "slack"]);
    has(&ask(&["recourse", MODEL, "--row", "2", "--letter"]), "", &["letter", "explanation"]);
    has(&ask(&["recourse", MODEL, "--method", "lp"]), "/tally", &["people", "approved", "recourse"]);
    let trained = ask(&["train", "good.toml", "--out", "json", "--epochs", "1"]);
    for model in ["", "/baseline"] {
        has(&trained, model, &["lambda", "threshold", "performance", "recourse", "pare", "timing"]);
        has(&trained, &format!("{model}/performance"), &["f1", "accuracy", "precision", "recall"]);
        has(&trained, &format!("{model}/recourse/lp"), &["neg", "all"]);
        let pare = ["epsilon", "alpha", "n", "k", "bound", "threshold", "f1", "recourse_all"];
        has(&trained, &format!("{model}/pare"), &pare);
        has(&trained, &format!("{model}/timing"), &["train_seconds", "steps_per_second"]);
    }
    assert_eq!(trained["dataset"], "good");
    let written: Value = serde_json::from_str(&place.read("json/metrics.json")).expect("JSON");
    assert_eq!(written, trained, "metrics.json holds what was printed");
    let calibrated = ask(&["calibrate", "json/model.safetensors", "good.csv"]);
    has(&calibrated, "", &["model", "certificate", "performance", "recourse"]);
}

/// What a document is made of: its keys, and the kinds of its values. Lists show their first entry.
fn structure(document: &Value) -> Value {
    match document {
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), structure(value))).collect(),
        Value::Array(entries) => entries.iter().take(1).map(structure).collect(),
        Value::String(_) => "text".into(),
        Value::Number(_) => "number".into(),
        Value::Bool(_) => "yes or no".into(),
        Value::Null => "nothing".into(),
    }
}

#[test]
fn audits_and_sweeps_in_json() {
    let place = Workplace::with_model();
    let audited = place.run(&[
        "audit",
        "model.safetensors",
        "good.csv",
        "--require",
        "recourse_all>=0.5",
        "--baseline",
        "model.safetensors",
        "--out",
        "audited",
        "--format",
        "json",
    ]);
    let printed: Value = serde_json::from_slice(&audited.stdout).expect("JSON");
    let written: Value = serde_json::from_str(&place.read("audited/audit.json")).expect("JSON");
    assert_eq!(printed, written, "audit.json holds what was printed");
    insta::assert_json_snapshot!("audit_json", structure(&written));
    place.succeed(&[
        "sweep",
        "good.toml",
        "--lambda",
        "0,0.8",
        "--seeds",
        "2",
        "--delta-max",
        "0.5",
        "--epochs",
        "1",
        "--out",
        "swept",
    ]);
    let written: Value = serde_json::from_str(&place.read("swept/sweep.json")).expect("JSON");
    insta::assert_json_snapshot!("sweep_json", structure(&written));
}

#[test]
fn completions_and_manual_pages() {
    let place = Workplace::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.succeed(&["completions", shell]);
        for word in ["recourse", "--lambda", "calibrate"] {
            assert!(script.contains(word.trim_start_matches('-')), "{shell} does not complete {word}");
        }
    }
    std::fs::create_dir(place.path("man")).expect("a folder");
    place.succeed(&["man", "man"]);
    let page = place.read("man/redress-recourse.1");
    assert!(page.contains("Examples:") && page.contains("redress recourse model.safetensors"), "{page}");
}

/// Runs a command line on a terminal of its own; `None` where there is no `script` to make one.
fn on_a_terminal(place: &Workplace, no_color: &str) -> Option<String> {
    let command = format!("{} check good.toml", assert_cmd::cargo::cargo_bin("redress").display());
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).current_dir(place.folder()).env("NO_COLOR", no_color);
    let output = script.env("TERM", "xterm").stdin(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| support::text(&output.stdout))
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let place = Workplace::new();
    assert!(!place.succeed(&["check", "good.toml"]).contains('\u{1b}'), "no colour in a pipe");
    match (on_a_terminal(&place, ""), on_a_terminal(&place, "1")) {
        (Some(coloured), Some(plain)) => {
            assert!(coloured.contains('\u{1b}'), "colour on a terminal: {coloured}");
            assert!(!plain.contains('\u{1b}'), "none where NO_COLOR asks for none: {plain}");
        }
        _ => eprintln!("SKIPPED: colour on a terminal: no `script` command to make one"),
    }
}
