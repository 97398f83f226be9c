//! Every built-in policy parses, checks, round-trips and reads every row of its data set.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use redress::dataset::{Dataset, FeatureKind, People, Schema};
use redress::encoding::Encoding;
use redress::policy::Policy;
use redress_data::{
    DataFolders, FetchOptions, Fetched, Presence, builtin, datasets, fetch, load, load_policy_file, loan,
};

/// The folder that holds compas and bail: `$REDRESS_DATA`, or `shared/data` beside the checkout.
fn folder() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("REDRESS_DATA").map_or(beside, PathBuf::from)
}

fn present(name: &str) -> bool {
    let found =
        !matches!(builtin(name).expect("a built-in").presence(&DataFolders::only(folder())), Presence::Absent { .. });
    if !found {
        eprintln!("SKIPPED: the data set {name} is not in {} (set REDRESS_DATA)", folder().display());
    }
    found
}

/// Everything that a data set should turn out to be.
struct Expected {
    name: &'static str,
    rows: usize,
    favourable: usize,
    features: &'static [&'static str],
    levers: &'static [&'static str],
    groups: &'static [(&'static str, usize)],
    test_rows: Option<usize>,
}

const EXPECTED: [Expected; 5] = [
    Expected {
        name: "german",
        rows: 1_000,
        favourable: 700,
        features: &["female", "age", "amount", "duration"],
        levers: &["age", "amount"],
        groups: &[("female", 2)],
        test_rows: None,
    },
    Expected {
        name: "adult",
        rows: 32_561,
        favourable: 7_841,
        features: &[
            "age",
            "education_num",
            "capital_gain",
            "capital_loss",
            "hours_per_week",
            "white",
            "us",
            "married",
            "male",
        ],
        levers: &["education_num", "hours_per_week"],
        groups: &[("race", 5), ("sex", 2)],
        test_rows: None,
    },
    Expected {
        name: "compas",
        rows: 6_172,
        favourable: 3_363,
        features: &["age", "priors_count", "length_of_stay", "days_b_screening_arrest", "male", "white", "felony"],
        levers: &["priors_count"],
        groups: &[("race", 6), ("sex", 2)],
        test_rows: None,
    },
    Expected {
        name: "bail",
        rows: 7_911,
        favourable: 4_975,
        features: &[
            "WHITE", "ALCHY", "JUNKY", "SUPER", "MARRIED", "FELON", "WORKREL", "PROPTY", "PERSON", "MALE", "PRIORS",
            "SCHOOL", "RULE", "AGE", "TSERVD", "FOLLOW",
        ],
        levers: &["SCHOOL", "RULE"],
        groups: &[("WHITE", 2), ("MALE", 2)],
        test_rows: Some(8_923),
    },
    Expected {
        name: "loan",
        rows: loan::BUILTIN_ROWS,
        favourable: 0,
        features: &["gender", "age", "education", "amount", "duration", "income", "savings"],
        levers: &["education", "amount", "duration", "income", "savings"],
        groups: &[("gender", 2)],
        test_rows: None,
    },
];

#[test]
fn every_policy_parses_and_round_trips() {
    assert_eq!(datasets().len(), EXPECTED.len());
    for builtin in datasets() {
        let policy = Policy::parse(builtin.policy_text(), builtin.name).expect("a policy");
        assert_eq!(policy.name, builtin.name);
        let written = policy.to_toml();
        let again = Policy::parse(&written, "other").expect("the written policy");
        assert_eq!(Policy { source: policy.source.clone(), ..again }, policy, "{}", builtin.name);
        let paper = builtin.paper_policy();
        for (as_paper, own) in paper.features.iter().zip(&policy.features) {
            assert_eq!((as_paper.action.min, as_paper.action.max), (None, None));
            assert_eq!(
                (as_paper.action.change, as_paper.action.max_change),
                (own.action.change, own.action.max_change)
            );
        }
    }
}

#[test]
fn every_data_set_reads_as_the_paper_describes_it() {
    for expected in &EXPECTED {
        if !present(expected.name) {
            continue;
        }
        let policy = builtin(expected.name).expect("a built-in").policy();
        let tables = load(&policy, ".", &DataFolders::only(folder())).expect("tables");
        assert_eq!(tables.table.rows(), builtin(expected.name).expect("a built-in").rows, "{}", expected.name);
        let schema = Arc::new(Schema::resolve(&policy, &tables.table).expect("a schema"));
        let (dataset, summary) = Dataset::read(&policy, schema.clone(), &tables.table).expect("a data set");
        assert_eq!(dataset.len(), expected.rows, "{}: {summary:?}", expected.name);
        assert!(summary.dropped.is_empty() && summary.filled.is_empty(), "{}: {summary:?}", expected.name);
        let favourable = dataset.labels.iter().filter(|label| **label).count();
        if expected.favourable > 0 {
            assert_eq!(favourable, expected.favourable, "{}", expected.name);
        }
        let columns: Vec<&str> = policy.features.iter().map(|feature| feature.column.as_str()).collect();
        assert_eq!(columns, expected.features);
        let levers = policy.features.iter().filter(|feature| feature.action.change != Default::default());
        assert_eq!(levers.map(|feature| feature.column.as_str()).collect::<Vec<_>>(), expected.levers);
        let groups: Vec<_> = dataset.groups.iter().map(|group| (group.name.as_str(), group.values.len())).collect();
        assert_eq!(groups, expected.groups);
        assert!(dataset.people.values.iter().all(|value| value.is_finite()));
        let test = tables.test.map(|table| Dataset::read(&policy, schema, &table).expect("test rows").0.len());
        assert_eq!(test, expected.test_rows);
    }
}

#[test]
fn every_row_of_every_data_set_comes_back_from_its_encoding() {
    for builtin in datasets().iter().filter(|builtin| present(builtin.name)) {
        let policy = builtin.policy();
        let tables = load(&policy, ".", &DataFolders::only(folder())).expect("tables");
        let schema = Arc::new(Schema::resolve(&policy, &tables.table).expect("a schema"));
        let (dataset, _) = Dataset::read(&policy, schema.clone(), &tables.table).expect("a data set");
        let encoding = Encoding::fit(&dataset);
        let test = tables.test.map(|table| Dataset::read(&policy, schema.clone(), &table).expect("test rows").0);
        for people in [Some(&dataset), test.as_ref()].into_iter().flatten().map(|dataset| &dataset.people) {
            let (mut point, mut again) = (vec![0.0; encoding.width()], vec![0.0; encoding.width()]);
            for row in 0..people.len() {
                encoding.encode(people.row(row), &mut point);
                let decoded = encoding.decode(&point).expect("a point that was encoded");
                encoding.encode(&decoded, &mut again);
                assert_eq!(again, point, "{} row {row}", builtin.name);
                for ((feature, before), after) in schema.features.iter().zip(people.row(row)).zip(decoded) {
                    // A draw with 16 digits comes back as the shortest number that stands at the same point.
                    if feature.kind != FeatureKind::Number {
                        assert_eq!(*before, after, "{} row {row}, {}", builtin.name, feature.column);
                    }
                }
            }
        }
    }
}

#[test]
fn the_example_policies_read_their_data() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../policies");
    let mut read = 0;
    for entry in std::fs::read_dir(examples).expect("the examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let (policy, tables) = load_policy_file(&path, &DataFolders::only(folder())).expect("an example");
            let schema = Arc::new(Schema::resolve(&policy, &tables.table).expect("a schema"));
            let (dataset, summary) = Dataset::read(&policy, schema, &tables.table).expect("a data set");
            assert_eq!(dataset.len() + summary.dropped.iter().map(|(_, rows)| rows).sum::<usize>(), summary.table_rows);
            let written = Policy::parse(&policy.to_toml(), "other").expect("the written policy");
            assert_eq!(Policy { source: policy.source.clone(), ..written }, policy);
            read += 1;
        }
    }
    assert!(read > 0);
}

#[test]
fn people_of_an_embedded_data_set_read_without_their_label() {
    let policy = builtin("adult").expect("a built-in").policy();
    let table = load(&policy, ".", &DataFolders::only(folder())).expect("tables").table;
    let schema = Arc::new(Schema::resolve(&policy, &table).expect("a schema"));
    let people = People::read(&policy, schema, &table).expect("people");
    assert_eq!(people.row(0), [39.0, 13.0, 2174.0, 0.0, 40.0, 1.0, 1.0, 0.0, 1.0]);
}

#[test]
fn a_data_set_that_is_not_here_says_how_to_get_it() {
    let empty = tempfile::tempdir().expect("a folder");
    let folders = DataFolders::only(empty.path());
    let bail = builtin("bail").expect("a built-in");
    assert_eq!(bail.presence(&folders), Presence::Absent { files: vec!["bail_train.csv", "bail_test.csv"] });
    let error = load(&bail.policy(), ".", &folders).expect_err("no files");
    assert_eq!(
        error.to_string(),
        format!(
            "the data set `bail` is not here (looked in {}); get it with `redress datasets fetch bail`, or set \
             REDRESS_DATA to the folder that holds it",
            empty.path().display()
        )
    );
    let error = builtin("compass").expect_err("no such data set");
    assert_eq!(error.to_string(), "there is no built-in data set `compass`; did you mean `compas`?");
}

#[test]
fn the_published_sums_are_those_of_the_files() {
    for name in ["compas", "bail"] {
        if !present(name) {
            continue;
        }
        // Copies that are whole are left alone, so nothing is asked of any server.
        let copies = tempfile::tempdir().expect("a folder");
        for entry in std::fs::read_dir(folder()).expect("the data folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                std::fs::copy(&path, copies.path().join(path.file_name().expect("a name"))).expect("a copy");
            }
        }
        let base_url = Some("http://127.0.0.1:1".to_owned());
        let mut quiet = |_: redress_data::Progress<'_>| {};
        let mut options = FetchOptions { base_url, ..FetchOptions::new(copies.path(), &mut quiet) };
        let fetched = fetch(name, &mut options).expect("whole files");
        assert!(fetched.iter().all(|file| matches!(file, Fetched::AlreadyThere(_))), "{fetched:?}");
    }
}
