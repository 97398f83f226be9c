//! A table as spreadsheets write them elsewhere: semicolons, a byte-order mark, Windows line ends, quoted separators, empty
//! cells, dates, decimal commas and one column name twice. It goes the whole way, from `init` to an audit.

mod support;

use support::Workplace;

const HEADER: &str = "Nr;Alter;Einkommen;Schulden %;Geschlecht;Beruf;Datum;Bezahlt;Alter";

/// One line of the table; `row` decides everything.
fn line(row: usize) -> String {
    let (age, income, debt) = (19 + row * 7 % 50, 900 + row * 631 % 5_000, row * 37 % 50);
    let sex = if row.is_multiple_of(2) { "\"männlich\"" } else { "\"weiblich\"" };
    let job = ["\"clerk; office\"", "\"\"\"boss\"\"\"", "\"farmer, hills\"", ""][row % 4];
    let date = format!("{}.{}.2024", 1 + row % 28, 1 + row % 12);
    let repaid = if income + row * 17 % 1_000 > debt * 80 { "ja" } else { "nein" };
    let income = if row.is_multiple_of(29) { String::new() } else { income.to_string() };
    format!("{};{age};{income};{debt},5;{sex};{job};{date};{repaid};{age}", row + 1)
}

fn table(rows: std::ops::Range<usize>) -> String {
    let lines: Vec<String> = std::iter::once(HEADER.to_owned()).chain(rows.map(line)).collect();
    format!("\u{feff}{}\r\n", lines.join("\r\n"))
}

#[test]
fn an_odd_table_goes_the_whole_way() {
    let place = Workplace::new();
    place.write("odd.csv", table(0..900));
    place.write("new.csv", table(900..1_200));
    place.succeed(&["init", "odd.csv", "--label", "Bezahlt"]);
    let draft = place.read("policy.toml");
    for line in [
        "favourable = \"ja\"",
        "use = false   # different in every row, like a number of the row or the person",
        "use = false   # numbers with a comma, such as \"0,5\": write them with a point to use them",
        "use = false   # dates, such as \"1.1.2024\": a column of years or days since then may say what matters",
        "use = false   # the same as \"Alter\" in every row",
        "yes = \"weiblich\"   # the value that counts as 1",
        "# moves = { \"\\\"boss\\\"\" = [\"clerk; office\"] }   # and only in these ways",
    ] {
        assert!(draft.contains(line), "the draft lacks `{line}`:\n{draft}");
    }

    let edited = draft.replace("# groups = [\"a column\"]", "groups = [\"Geschlecht\"]").replacen(
        "[features.Einkommen]\n",
        "[features.Einkommen]\nchange = \"increase\"\nmax_change = 500\nstep = 50\n",
        1,
    );
    place.write("odd.toml", edited);
    let checked = place.succeed(&["check", "odd.toml"]);
    assert!(checked.contains("may go up by at most 500, in whole steps of 50"), "{checked}");
    assert!(checked.contains("groups of Geschlecht: männlich 450"), "{checked}");
    place.succeed(&["train", "odd.toml", "--out", "out"]);
    let audited = place.run(&["audit", "out/model.safetensors", "new.csv", "--out", "audit"]);
    assert!(matches!(audited.status.code(), Some(0 | 1)), "{}", support::text(&audited.stderr));
    assert!(support::text(&audited.stdout).contains("Geschlecht = weiblich"));
    place.succeed(&["recourse", "out/model.safetensors", "new.csv", "--out", "answers.csv"]);
    let answers = place.read("answers.csv");
    assert!(
        answers.starts_with("Nr,Alter,Einkommen,Schulden %,Geschlecht,Beruf,Datum,Bezahlt,Alter.1,redress_verdict")
    );
    assert_eq!(answers.lines().count(), 301);
}
