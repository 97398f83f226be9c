//! Every kind of bad input: exit code 2, one message that names the place, the value and what was allowed, and nothing
//! written.

mod support;

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpListener,
};

use support::{HEADER, POLICY, Workplace, rows, table};

#[test]
fn tables_that_are_not_there_or_hold_nothing() {
    let place = Workplace::new();
    place.write("empty.csv", "");
    place.write("header.csv", format!("{HEADER}\n"));
    for (file, fault) in [
        ("nothere.csv", "no such file"),
        ("empty.csv", "is empty; a table with at least one row was expected"),
        ("header.csv", "has a header but no rows; a table with at least one row was expected"),
    ] {
        place.policy("good.csv", file);
        let message = format!("error: {file}: {fault}\n");
        place.refuses(&["init", file, "--label", "repaid"], &message);
        place.refuses(&["check", "bad.toml"], &message);
        place.refuses(&["train", "bad.toml"], &message);
    }
    place.refuses(
        &["train", "nothere.toml"],
        "error: nothere.toml: no such file\n  help: name a policy file, or a data set from `redress datasets`\n",
    );
}

#[test]
fn tables_that_are_torn() {
    let place = Workplace::new();
    let mut lines = rows(3);
    lines[1] = "1,2,3".into();
    place.write("ragged.csv", table(&lines));
    place.refuses(
        &["init", "ragged.csv", "--label", "repaid"],
        "error: ragged.csv: line 3 has 3 fields; 5 were expected, as in the first line\n",
    );
    place.write("latin.csv", [HEADER.as_bytes(), b"\n100,2,caf\xe9,f,yes\n"].concat());
    place.refuses(
        &["init", "latin.csv", "--label", "repaid"],
        "error: latin.csv: line 2 is not UTF-8 text (byte 0xe9 at column 10); save the file as UTF-8\n",
    );
    let mut lines = rows(8_000);
    let comma = lines[7_430].find(',').expect("a comma");
    lines[7_430].replace_range(..comma, "12a");
    place.write("twelve.csv", table(&lines));
    place.policy("good.csv", "twelve.csv");
    let message = "error: twelve.csv: row 7431, column \"income\": \"12a\" is not a whole number\n";
    place.refuses(&["check", "bad.toml"], message);
    place.refuses(&["train", "bad.toml"], message);
}

#[test]
fn parquet_that_is_cut_short() {
    let place = Workplace::with_model();
    place.succeed(&["recourse", "model.safetensors", "good.csv", "--method", "lp", "--out", "whole.parquet"]);
    let whole = std::fs::read(place.path("whole.parquet")).expect("a file");
    place.write("cut.parquet", &whole[..whole.len() / 2]);
    place.write("tiny.parquet", &whole[..5]);
    let damaged = "the file is damaged or cut short";
    let message = format!(
        "error: cut.parquet: cannot be read as Parquet: Parquet error: Invalid Parquet file. Corrupt footer; {damaged}\n"
    );
    place.policy("good.csv", "cut.parquet");
    place.refuses(&["check", "bad.toml"], &message);
    place.refuses(&["recourse", "model.safetensors", "cut.parquet", "--out", "answers.csv"], &message);
    place.refuses(
        &["init", "tiny.parquet", "--label", "repaid"],
        &format!(
            "error: tiny.parquet: cannot be read as Parquet: EOF: Parquet file too small. Size is 5 but need 8; {damaged}\n"
        ),
    );
}

#[test]
fn labels_that_are_none() {
    let place = Workplace::new();
    place.refuses(
        &["init", "good.csv", "--label", "repayd"],
        "error: good.csv: there is no column \"repayd\" (the label); did you mean \"repaid\"?\n",
    );
    place.policy("label = \"repaid\"", "label = \"repayd\"");
    place.refuses(
        &["check", "bad.toml"],
        "error: good.csv: there is no column \"repayd\" (the label); did you mean \"repaid\"?\n",
    );
    place.policy("good.csv", "labels.csv");
    let with = |labels: &[&str]| {
        let cut = |row: &String| row.rsplit_once(',').expect("a comma").0.to_owned();
        let people = rows(400);
        let rows = people.iter().zip(labels.iter().cycle()).map(|(row, label)| format!("{},{label}", cut(row)));
        table(&rows.collect::<Vec<_>>())
    };
    place.write("labels.csv", with(&["yes"]));
    place.refuses(
        &["train", "bad.toml"],
        "error: labels.csv: column \"repaid\": the label is \"yes\" in every row; two outcomes are needed\n",
    );
    place.write("labels.csv", with(&["yes", "no", "late"]));
    place.refuses(
        &["train", "bad.toml"],
        "error: labels.csv: column \"repaid\": the label has 3 values, \"late\", \"no\" and \"yes\"; name all the \
         favourable ones in a list, or leave rows out with a filter\n",
    );
    place.write("labels.csv", with(&["yes", "no", "no", "yes", ""]));
    place.refuses(
        &["train", "bad.toml"],
        "error: labels.csv: row 5, column \"repaid\": the value is missing; a label is never filled in: say `missing = \
         \"drop_row\"` or leave the row out with a filter\n",
    );
}

#[test]
fn policies_that_do_not_fit_or_make_no_sense() {
    let place = Workplace::new();
    place.policy("features.income", "features.incom");
    place.refuses(
        &["check", "bad.toml"],
        "error: good.csv: there is no column \"incom\" (a feature); did you mean \"income\"?\n",
    );
    let refuses = |from: &str, to: &str, message: &str| {
        place.policy(from, to);
        place.refuses(&["check", "bad.toml"], message);
        place.refuses(&["train", "bad.toml"], message);
    };
    refuses(
        "change = \"increase\"",
        "chnage = \"increase\"",
        r#"error: bad.toml:11:1: unknown key `chnage` in `[features.income]`
    ╭─[bad.toml:11:1]
 10 │ kind = "integer"
 11 │ chnage = "increase"
    · ──────
 12 │ max_change = 2000
    ╰────
  help: did you mean `change`?
"#,
    );
    refuses(
        "max = 9000",
        "min = 9500\nmax = 9000",
        r#"error: bad.toml:13:7: `features.income.min` is 9500, above `max`, which is 9000
    ╭─[bad.toml:13:7]
 12 │ max_change = 2000
 13 │ min = 9500
    ·       ────
 14 │ max = 9000
    ╰────
"#,
    );
    refuses(
        "step = 100",
        "step = 0",
        r#"error: bad.toml:14:8: `features.income.step` is 0, but a step is above 0
    ╭─[bad.toml:14:8]
 13 │ max = 9000
 14 │ step = 0
    ·        ─
 15 │
    ╰────
"#,
    );
    refuses(
        "step = 100",
        "step = nan",
        r#"error: bad.toml:14:8: `features.income.step` is not a number (nan)
    ╭─[bad.toml:14:8]
 13 │ max = 9000
 14 │ step = nan
    ·        ───
 15 │
    ╰────
"#,
    );
    refuses(
        "[\"farmer\"]",
        "[\"framer\"]",
        r#"error: bad.toml:25:20: `features.job.moves.clerk[0]` names "framer", which is not one of the values `clerk`, `farmer` and `priest`
    ╭─[bad.toml:25:20]
 24 │ values = ["clerk", "farmer", "priest"]
 25 │ moves = { clerk = ["framer"] }
    ·                    ────────
    ╰────
  help: did you mean "farmer"?
"#,
    );
    refuses(
        "[features.income]",
        "[actions]\nconstraints = [\"income >= 5\"]\n\n[features.income]",
        r#"error: bad.toml:10:17: `actions.constraints[0]`: the constraint excludes staying put: with no change it reads 0 >= 5
    ╭─[bad.toml:10:17]
  9 │ [actions]
 10 │ constraints = ["income >= 5"]
    ·                 ───────────
 11 │
    ╰────
  help: numbers count changes from where the person is now, so that all of them 0 must be allowed
"#,
    );
    refuses(
        "change = \"decrease\"\nmin = 0\nstep = 100",
        "[actions]\nlinks = [\"income increases: debt increases by 100\", \"income changes: debt decreases by 200\"]",
        r#"error: bad.toml:19:53: `actions.links[1]`: two links contradict each other: `income increases: debt increases by 100` and `income changes: debt decreases by 200` both move debt
    ╭─[bad.toml:19:53]
 18 │ [actions]
 19 │ links = ["income increases: debt increases by 100", "income changes: debt decreases by 200"]
    ·                                                     ───────────────────────────────────────
 20 │
    ╰────
  help: one change of a cause may move an effect in one way only: keep one of the two
"#,
    );
}

#[test]
fn data_that_cannot_be_fetched() {
    let place = Workplace::new();
    // A server that has other bytes under every name.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let head = BufReader::new(&connection).lines().map_while(Result::ok);
            head.take_while(|line| !line.is_empty()).for_each(drop);
            let _ = connection.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nwrong\n");
        }
    });
    // The folder is made before the first byte arrives: nothing may be left in it.
    std::fs::create_dir(place.path("data")).expect("a folder");
    place.refuses(
        &["datasets", "fetch", "compas", "--from", &address],
        &format!(
            "error: {address}/compas-scores-two-years.csv: the file has SHA-256 \
             543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c, but \
             c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d was expected; it was not kept\n"
        ),
    );
    std::fs::remove_dir(place.path("data")).expect("an empty folder");
    // Where a folder should be stands a file.
    place.write("data", "");
    place.refuses(
        &["datasets", "fetch", "compas", "--from", &address],
        "error: the data folder HERE/data cannot be written to: File exists (os error 17)\n",
    );
    place.refuses(
        &["datasets", "fetch", "compass"],
        "error: there is no built-in data set `compass`; did you mean `compas`?\n",
    );
}

#[test]
fn names_that_are_misspelt() {
    let place = Workplace::new();
    for command in ["check", "train", "tune"] {
        place.refuses(
            &[command, "germna"],
            "error: `germna` is neither a built-in data set nor a policy file\n  help: did you mean `german`? There are \
             german, adult, compas, bail, loan\n",
        );
    }
    place.refuses(
        &["datasets", "policy", "mortgages"],
        "error: there is no built-in data set `mortgages`; there are german, adult, compas, bail, loan\n",
    );
    place.refuses(
        &["train", "good.toml", "--groups", "sx"],
        "error: --groups sx: not a group column of the policy\n  help: did you mean `sex`?\n",
    );
    place.refuses(
        &["tarin", "german"],
        "error: unrecognized subcommand 'tarin'\n\n  tip: a similar subcommand exists: 'train'\n\nUsage: redress [OPTIONS] \
         <COMMAND>\n\nFor more information, try '--help'.\n",
    );
    place.refuses(
        &["train", "german", "--lamda", "2"],
        "error: unexpected argument '--lamda' found\n\n  tip: a similar argument exists: '--lambda'\n\nUsage: redress \
         train --lambda <LAMBDA> <DATASET|POLICY>\n\nFor more information, try '--help'.\n",
    );
}

#[test]
fn settings_out_of_range() {
    let place = Workplace::new();
    let lambda = |shown: &str| format!("error: lambda must be a number of at least 0, not {shown}\n");
    let between = "it must lie strictly between 0 and 1";
    let epsilon = |shown: &str| format!("error: the miss rate epsilon is {shown}: {between}\n");
    let alpha = |shown: &str| format!("error: the failure probability alpha is {shown}: {between}\n");
    for (flag, value, message) in [
        ("--lambda", "-1", lambda("-1")),
        ("--lambda", "nan", lambda("NaN")),
        ("--epsilon", "0", epsilon("0")),
        ("--epsilon", "1", epsilon("1")),
        ("--epsilon", "-0.5", epsilon("-0.5")),
        ("--epsilon", "nan", epsilon("NaN")),
        ("--alpha", "0", alpha("0")),
        ("--alpha", "1.5", alpha("1.5")),
        ("--alpha", "nan", alpha("NaN")),
    ] {
        place.refuses(&["train", "good.toml", flag, value], &message);
    }
    place.refuses(
        &["train", "good.toml", "--hidden", "10,x"],
        "error: --hidden 10,x: `x` is not a width; write 100,100,100 or none\n",
    );
    place.refuses(
        &["train", "good.toml", "--date", "2026-13-45"],
        "error: invalid value '2026-13-45' for '--date <DAY>': a day is written year-month-day, such as 2026-01-31\n\nFor \
         more information, try '--help'.\n",
    );
    place.refuses(
        &["tune", "good.toml", "--lambdas", "0:1"],
        "error: --lambdas 0:1: neither FROM:TO:STEP nor a comma-separated list of numbers\n  help: for example 0:2:0.2 or \
         0,0.4,0.8\n",
    );
    let rows_only = "error: --format csv and --format parquet are for answers that are rows, and this is none\n  help: use \
                     --format json; `redress recourse MODEL FILE` answers with rows\n";
    place.refuses(&["check", "good.toml", "--format", "csv"], rows_only);
    place.refuses(&["train", "good.toml", "--format", "parquet"], rows_only);
}

#[test]
fn too_few_rows_to_promise_anything() {
    let place = Workplace::new();
    place.refuses(
        &["train", "good.toml", "--groups", "sex"],
        "error: good.csv: group sex = f has 31 calibration rows; at epsilon 0.05 and alpha 0.025 at least 72 are needed: \
         bring more rows, or accept a larger epsilon or alpha, or merge small groups\n",
    );
    place.write("few.csv", table(&rows(60)));
    place.policy("good.csv", "few.csv");
    place.refuses(
        &["train", "bad.toml"],
        "error: few.csv: the table has 9 calibration rows; at epsilon 0.05 and alpha 0.05 at least 59 are needed: bring \
         more rows, or accept a larger epsilon or alpha\n",
    );
    let (yes, no): (Vec<_>, Vec<_>) = rows(400).into_iter().partition(|row| row.ends_with("yes"));
    place.write("few.csv", table(&[&yes[..200], &no[..1]].concat()));
    place.refuses(
        &["train", "bad.toml", "--epsilon", "0.1"],
        "error: few.csv: every one of the 20 rows of the validation split has the favourable label; both are needed\n",
    );
}

#[test]
fn models_that_are_none() {
    let place = Workplace::with_model();
    let model = std::fs::read(place.path("model.safetensors")).expect("a model");
    place.write("cut.safetensors", &model[..model.len() / 2]);
    place.write("other.safetensors", "hello");
    for command in ["verify", "recourse"] {
        place.refuses(
            &[command, "cut.safetensors"],
            "error: cut.safetensors: is damaged or no model file (incomplete metadata, file not fully covered)\n",
        );
        place.refuses(
            &[command, "other.safetensors"],
            "error: other.safetensors: is damaged or no model file (header too small)\n",
        );
        place.refuses(
            &[command, "nothere.safetensors"],
            "error: nothere.safetensors: no such file\n  help: name a model.safetensors that `redress train` wrote\n",
        );
    }
}

#[test]
fn people_that_the_model_does_not_know() {
    let place = Workplace::with_model();
    let without_debt = |row: &str| {
        let cells: Vec<&str> = row.split(',').collect();
        [&cells[..1], &cells[2..]].concat().join(",")
    };
    let cut: Vec<String> = table(&rows(10)).lines().map(without_debt).collect();
    place.write("nodebt.csv", cut.join("\n"));
    let message = "error: nodebt.csv: there is no column \"debt\" (a feature); the columns are \"income\", \"job\", \"sex\" \
                   and \"repaid\"\n";
    place.refuses(&["recourse", "model.safetensors", "nodebt.csv", "--row", "1"], message);
    place.refuses(&["recourse", "model.safetensors", "nodebt.csv", "--out", "answers.csv"], message);
    place.refuses(&["verify", "model.safetensors", "nodebt.csv"], message);
    place.refuses(&["calibrate", "model.safetensors", "nodebt.csv"], message);

    let mut lines = rows(10);
    lines[3] = "2000,100,king,f,yes".into();
    place.write("king.csv", table(&lines));
    place.refuses(
        &["recourse", "model.safetensors", "king.csv", "--out", "answers.csv"],
        "error: king.csv: row 4, column \"job\": \"king\" is not one of \"clerk\", \"farmer\" and \"priest\"\n",
    );
    place.succeed(&["train", "german", "--out", "other", "--epochs", "1"]);
    place.refuses(&["recourse", "other/model.safetensors", "good.csv", "--out", "answers.csv"], OTHER_COLUMNS);
    place.refuses(&["audit", "other/model.safetensors", "good.csv"], OTHER_COLUMNS);
    place.refuses(&["recourse", "other/model.safetensors", "good.csv", "--row", "1"], OTHER_COLUMNS);
    place.refuses(&["verify", "other/model.safetensors", "good.csv"], OTHER_COLUMNS);
    // A header that names them works, whatever the layout of the model's own table.
    place.write("named.csv", "amount,duration,age,personal_status\n2000,24,30,A92\n");
    place.succeed(&["recourse", "other/model.safetensors", "named.csv", "--row", "1"]);
}

/// What a model of a table without a header says to a file of other columns.
const OTHER_COLUMNS: &str = "error: good.csv: has none of the columns that the model reads; its first line has \"income\", \
                             \"debt\", \"job\", \"sex\", \"repaid\"\n  help: the model was trained on `german`: begin with a \
                             header line that names \"personal_status\", \"age\", \"amount\", \"duration\"; or bring rows of \
                             21 columns without a header, as `german` has them\n";

#[test]
fn audits_that_cannot_be_made() {
    let place = Workplace::with_model();
    let audit = |model: &str, arguments: &[&str], message: &str| {
        place.refuses(&[&["audit", model], arguments, &["--out", "audited"]].concat(), message);
    };
    place.write("empty.csv", "");
    place.write("header.csv", format!("{HEADER}\n"));
    place.write("gaps.csv", table(&["2000,,clerk,f,yes".to_owned(), ",100,clerk,m,no".to_owned()]));
    let mut lines = rows(20);
    lines.iter_mut().for_each(|line| *line = line.replace(",f,", ",m,"));
    lines[4] = "2000,100,clerk,f,yes".into();
    place.write("one.csv", table(&lines));
    place.write("other.csv", "name,height\nAda,170\nBen,180\n");
    for (arguments, message) in [
        (&["nothere.csv"][..], "error: nothere.csv: no such file\n"),
        (&["empty.csv"], "error: empty.csv: is empty; a table with at least one row was expected\n"),
        (&["header.csv"], "error: header.csv: has a header but no rows; a table with at least one row was expected\n"),
        (
            &["gaps.csv"],
            "error: gaps.csv: row 1, column \"debt\": the value is missing; to allow it, say `missing = \"drop_row\"` or \
             \"fill\" in the policy's `[data]`\n",
        ),
        (
            &["good.csv", "--groups", "sx"],
            "error: good.csv: there is no column \"sx\" (a group column); did you mean \"sex\"?\n",
        ),
        (
            &["--groups", "race"],
            "error: --groups race: not a group column of the policy\n  help: group columns of good: sex; or name a FILE that \
             has the column\n",
        ),
        (
            &["one.csv"],
            "error: one.csv: the group sex = f has only 1 person: nothing can be said about it without saying it about \
             them\n  help: leave sex out of --groups, or audit more people\n",
        ),
        (
            &["good.csv", "--groups", "income"],
            "error: good.csv: column \"income\" has more than 50 different values, so that it names no groups\n  help: leave \
             income out of --groups, or make a column of a few ranges of it\n",
        ),
        (
            &["other.csv"],
            "error: other.csv: there is no column \"income\" (a feature); the columns are \"name\" and \"height\"\n",
        ),
        (
            &["good.csv", "--alpha", "1.5"],
            "error: the failure probability alpha is 1.5: it must lie strictly between 0 and 1\n",
        ),
        (
            &["good.csv", "--require", "recourse_all[race]>=0.5"],
            "error: --require \"recourse_all[race]>=0.5\": the audit has no groups of \"race\"; name it in --groups\n",
        ),
        (
            &["good.csv", "--baseline", "nothere.safetensors"],
            "error: nothere.safetensors: no such file\n  help: name a model.safetensors that `redress train` wrote\n",
        ),
    ] {
        audit("model.safetensors", arguments, message);
    }
    // Test rows are compared only where both models have the same.
    place.succeed(&["train", "good.toml", "--out", "second", "--epochs", "1", "--seed", "1"]);
    audit(
        "second/model.safetensors",
        &["--baseline", "model.safetensors"],
        "error: model.safetensors: was trained and tested on other rows than the model it is compared with\n  help: name a \
         FILE of people whom neither model has seen\n",
    );
    // A policy that drops rows may leave nobody.
    place.policy("groups = [\"sex\"]", "groups = [\"sex\"]\nmissing = \"drop_row\"");
    place.succeed(&["train", "bad.toml", "--out", "third", "--epochs", "1"]);
    audit(
        "third/model.safetensors",
        &["gaps.csv"],
        "error: gaps.csv: there is nobody to audit: all of 2 rows miss a value or were filtered out\n",
    );
}

#[test]
fn questions_that_cannot_be_answered() {
    let place = Workplace::with_model();
    let ask = |person: &str, message: &str| {
        place.refuses(&["recourse", "model.safetensors", "--json", person], message);
    };
    ask(r#"{"income": 2000, "debt": 100}"#, "error: --json: \"job\" is not given\n");
    ask(
        r#"{"income": 2000, "debt": 100, "job": "king"}"#,
        "error: --json: \"job\": \"king\" is not one of \"clerk\", \"farmer\" and \"priest\"\n",
    );
    ask(
        r#"{"income": 2000.5, "debt": 100, "job": "clerk"}"#,
        "error: --json: \"income\": \"2000.5\" is not a whole number\n",
    );
    ask(
        r#"{"income": 2000, "debt": 100, "job": "clerk", "overrides": {"income": {"max": 10000}}}"#,
        "error: --json: \"overrides.income.max\": max 10000 widens the policy, which says max 9000; an override may only \
         narrow it\n",
    );
    ask(
        r#"{"income": 2000, "debt": 100, "job": "clerk", "overrides": {"income": {"change": "decrease"}}}"#,
        "error: --json: \"overrides.income.change\": change decrease widens the policy, which says increase; an override \
         may only narrow it\n",
    );
    ask(
        r#"{"income": 2000, "debt": 100, "job": "clerk", "overrides": {"incme": {"max": 5000}}}"#,
        "error: --json: \"overrides\" names \"incme\", which is no feature; did you mean \"income\"?\n",
    );
    for (arguments, message) in [
        (&["--row", "1", "--options", "0"][..], "error: 0 options were asked for: ask for at least 1\n"),
        (&["good.csv", "--row", "0"], "error: good.csv: there is no row 0; rows go from 1 to 400\n"),
        (&["good.csv", "--row", "401"], "error: good.csv: there is no row 401; rows go from 1 to 400\n"),
        (&["--letter"], "error: --letter is written to one person\n  help: name them with --row N or --json\n"),
        (
            &["--row", "1", "--method", "causal"],
            "error: the policy has no [causal] section: the causal method needs one\n",
        ),
        (
            &["good.csv", "--budget", "1s"],
            "error: --budget 1s: a time is for one person\n  help: for a file give a number of points, so that every run \
             gives the same answers\n",
        ),
        (
            &["good.csv", "--out", "answers.xlsx"],
            "error: answers.xlsx: the ending decides what is written, and this one is not known\n  help: use .csv, .tsv, \
             .csv.gz, .tsv.gz or .parquet\n",
        ),
        (
            &["good.csv", "--out", "answers.csv", "--format", "parquet"],
            "error: answers.csv: the ending says CSV and --format says parquet\n",
        ),
        (
            &["good.csv", "--format", "parquet"],
            "error: --format parquet needs a file to write to\n  help: name it with --out people.parquet\n",
        ),
    ] {
        place.refuses(&[&["recourse", "model.safetensors"], arguments].concat(), message);
    }
}

#[test]
fn places_that_are_taken() {
    let place = Workplace::new();
    place.refuses(
        &["init", "good.csv", "--label", "repaid", "-o", "good.toml"],
        "error: good.toml: exists already; it was left as it is\n  help: choose another name with -o, or move it away\n",
    );
    place.refuses(
        &["train", "good.toml", "--out", "good.csv"],
        "error: good.csv: is a file, not a folder; choose another --out\n",
    );
    assert_eq!(place.read("good.toml"), POLICY);
}
