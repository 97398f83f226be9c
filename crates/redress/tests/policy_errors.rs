//! Every mistake in a policy file has one message, one place and, where it helps, a suggestion.

use redress::policy::Policy;

const GOOD: &str = r#"name = "adult"

[data]
path = "adult.csv"
label = "income"
favourable = ">50K"

[features.age]
kind = "integer"

[features.education_num]
kind = "integer"
change = "increase"
max = 16

[features.hours_per_week]
kind = "integer"
change = "any"
max_change = 10
min = 0
max = 80

[features.job]
kind = "category"
values = ["clerk", "farmer", "priest"]
moves = { clerk = ["farmer"] }

[features.schooling]
kind = "ordered"
values = ["none", "some", "much"]
change = "increase"

[features."native-country"]
kind = "yes/no"
change = "any"

[actions]
constraints = ["hours_per_week + 4 * education_num <= 12"]
links = ["education_num increases: age increases by 2 each"]

[overrides]
"education_num.max" = "cap"

[causal.equations.hours_per_week]
parents = ["age"]
"#;

/// `from` in the good file replaced by `to` gives `message` at the text `at`, with `help`.
fn refuses(from: &str, to: &str, message: &str, at: &str, help: &str) {
    assert!(GOOD.contains(from), "the good policy has no {from:?}");
    let text = GOOD.replacen(from, to, 1);
    let error = Policy::parse(&text, "adult").expect_err(&format!("{to:?} was accepted"));
    assert_eq!(error.message, message, "for {to:?}");
    let place = error.at.as_ref().map_or("", |at| &text[at.span.clone()]);
    assert_eq!(place, at, "the place of {to:?}");
    assert_eq!(error.help.as_deref().unwrap_or_default(), help, "the help for {to:?}");
}

#[test]
fn the_good_policy_is_good() {
    let policy = Policy::parse(GOOD, "adult").expect("a good policy");
    let columns: Vec<&str> = policy.features.iter().map(|feature| feature.column.as_str()).collect();
    assert_eq!(columns, ["age", "education_num", "hours_per_week", "job", "schooling", "native-country"]);
    assert_eq!(policy.constraints[0].terms, [(2, 1.0), (1, 4.0)]);
    assert_eq!(policy.features[2].label, "hours per week");
}

#[test]
fn a_place_has_a_line_and_a_column() {
    let text = GOOD.replacen("change = \"increase\"", "chnage = \"increase\"", 1);
    let at = Policy::parse(&text, "adult").unwrap_err().at.expect("a place");
    assert_eq!((at.line, at.column), (13, 1));
}

#[test]
fn misspelt_and_misplaced_keys() {
    refuses("label =", "lable =", "unknown key `lable` in `[data]`", "lable", "did you mean `label`?");
    refuses("[data]", "[dataa]", "unknown key `dataa` in the policy", "dataa", "did you mean `data`?");
    refuses(
        "max_change = 10",
        "colour = 1",
        "unknown key `colour` in `[features.hours_per_week]`",
        "colour",
        "the keys here are `kind`, `name`, `unit`, `use`, `change`, `max_change`, `min`, `max`, `step`, `moves`, `values`, `yes` and 4 more",
    );
    refuses(
        "label = \"income\"\n",
        "",
        "`[data]` has no `label`: it names the column that holds the outcome",
        "data",
        "",
    );
    refuses("name = \"adult\"", "name = \"adult", "this is not TOML: invalid basic string, expected `\"`", "", "");
    refuses("name = \"adult\"", "name = 3", "`name` is a whole number, but should be text", "3", "");
    refuses(
        "path = \"adult.csv\"",
        "path = \"a.csv\"\nbuiltin = \"adult\"",
        "`[data]` has both `path` and `builtin`: the rows come from one place",
        "\"adult\"",
        "",
    );
    refuses(
        "kind = \"integer\"",
        "kind = \"intger\"",
        "`features.age.kind` is \"intger\", but may be \"number\", \"integer\", \"yes/no\", \"category\" or \"ordered\"",
        "\"intger\"",
        "did you mean \"integer\"?",
    );
    refuses(
        "change = \"any\"",
        "change = \"up\"",
        "`features.hours_per_week.change` is \"up\", but may be \"fixed\", \"increase\", \"decrease\" or \"any\"",
        "\"up\"",
        "",
    );
    refuses(
        "[features.age]",
        "[features.income]",
        "`income` is the label: it cannot be a feature as well",
        "income",
        "",
    );
}

#[test]
fn limits_that_make_no_sense() {
    refuses("min = 0", "min = 90", "`features.hours_per_week.min` is 90, above `max`, which is 80", "90", "");
    refuses("min = 0", "step = 0", "`features.hours_per_week.step` is 0, but a step is above 0", "0", "");
    refuses("min = 0", "step = nan", "`features.hours_per_week.step` is not a number (nan)", "nan", "");
    refuses("min = 0", "step = -1", "`features.hours_per_week.step` is -1, but a step is above 0", "-1", "");
    refuses(
        "min = 0",
        "step = 0.5",
        "`features.hours_per_week.step` is 0.5, but this feature moves in whole numbers",
        "0.5",
        "",
    );
    refuses("min = 0", "min = -inf", "`features.hours_per_week.min` is not a finite number", "-inf", "");
    refuses(
        "max_change = 10",
        "max_change = -1",
        "`features.hours_per_week.max_change` is -1, but may not be negative",
        "-1",
        "",
    );
    refuses(
        "max_change = 10",
        "max_change = { std = -0.5 }",
        "`features.hours_per_week.max_change.std` is -0.5, but may not be negative",
        "-0.5",
        "",
    );
    refuses(
        "kind = \"integer\"",
        "kind = \"integer\"\nmax_change = 3",
        "`features.age.max_change` says how far the feature may move, but it is fixed",
        "3",
        "add `change = \"increase\"`, \"decrease\" or \"any\", or take this line out",
    );
    refuses(
        "values = [\"none\", \"some\", \"much\"]",
        "values = [\"none\", \"some\", \"much\"]\nmax = \"muhc\"",
        "`features.schooling.max` names \"muhc\", which is not one of the values `none`, `some` and `much`",
        "\"muhc\"",
        "did you mean \"much\"?",
    );
    refuses(
        "values = [\"none\", \"some\", \"much\"]",
        "values = [\"none\", \"none\"]",
        "`features.schooling.values` lists `none` twice",
        "\"none\"",
        "",
    );
}

#[test]
fn moves_to_nowhere() {
    refuses(
        "[\"farmer\"]",
        "[\"framer\"]",
        "`features.job.moves.clerk[0]` names \"framer\", which is not one of the values `clerk`, `farmer` and `priest`",
        "\"framer\"",
        "did you mean \"farmer\"?",
    );
    refuses(
        "[\"farmer\"]",
        "[\"clerk\"]",
        "`features.job.moves` moves \"clerk\" to itself; staying is always allowed",
        "\"clerk\"",
        "",
    );
    refuses(
        "kind = \"category\"",
        "kind = \"category\"\nchange = \"increase\"",
        "`features.job.change` is \"increase\", but a category has no up and down",
        "\"increase\"",
        "write change = \"any\", give `moves`, or make it kind = \"ordered\" with its `values` from lowest to highest",
    );
}

#[test]
fn constraints_that_cannot_be() {
    let row = "hours_per_week + 4 * education_num <= 12";
    let zero = "numbers count changes from where the person is now, so that all of them 0 must be allowed";
    refuses(
        row,
        "hours_per_week >= 2",
        "`actions.constraints[0]`: the constraint excludes staying put: with no change it reads 0 >= 2",
        "hours_per_week >= 2",
        zero,
    );
    refuses(
        row,
        "hours_per_week == 2",
        "`actions.constraints[0]`: the constraint excludes staying put: with no change it reads 0 == 2",
        "hours_per_week == 2",
        zero,
    );
    refuses(
        row,
        "hours_per_wek <= 2",
        "`actions.constraints[0]`: there is no feature `hours_per_wek` in use",
        "hours_per_wek",
        "did you mean `hours_per_week`?",
    );
    refuses(
        row,
        "native-country <= 2",
        "`actions.constraints[0]`: there is no feature `native` in use",
        "native",
        "names with other characters than letters, digits and _ stand in backticks: `native-country`",
    );
    refuses(row, "job <= 2", "`actions.constraints[0]`: `job` is a category: its change is not a number", "job", "");
    refuses(
        row,
        "hours_per_week < 2",
        "`actions.constraints[0]`: a constraint compares with <=, >= or ==",
        "<",
        "a strict limit has no last permitted point: write <= or >=",
    );
    refuses(
        row,
        "hours_per_week * age <= 2",
        "`actions.constraints[0]`: two features cannot be multiplied",
        "age",
        "constraints are affine: a number times a feature, added up",
    );
    refuses(
        row,
        "hours_per_week <= 2 <= 3",
        "`actions.constraints[0]`: `<` is not expected here: one comparison is enough",
        "<",
        "",
    );
    refuses(
        row,
        "hours_per_week - hours_per_week <= 2",
        "`actions.constraints[0]`: the constraint mentions no feature",
        "hours_per_week - hours_per_week <= 2",
        "",
    );
    refuses(
        row,
        "hours_per_week + <= 2",
        "`actions.constraints[0]`: expected a feature or a number, found `<`",
        "<",
        "",
    );
}

#[test]
fn links_that_contradict() {
    let link = "\"education_num increases: age increases by 2 each\"";
    let two = |second: &str| format!("{link}, \"{second}\"");
    refuses(
        link,
        &two("education_num changes: age increases by 1"),
        "`actions.links[1]`: two links contradict each other: `education_num increases: age increases by 2 each` and `education_num changes: age increases by 1` both move age",
        "\"education_num changes: age increases by 1\"",
        "one change of a cause may move an effect in one way only: keep one of the two",
    );
    refuses(
        link,
        &two("age increases: education_num increases by 1"),
        "`actions.links[1]`: the links go round in a circle: education_num → age → education_num",
        "\"age increases: education_num increases by 1\"",
        "a change would force itself without end",
    );
    refuses(
        link,
        &two("education_num increases: age increases by 2 each"),
        "`actions.links[1]`: `education_num increases: age increases by 2 each` is written twice",
        link,
        "",
    );
    refuses(
        link,
        "\"education_num increases: hours_per_week increases by 2\"",
        "`actions.links[0]`: `hours_per_week` is forced by a link, but may also be changed by itself",
        "hours_per_week",
        "make it fixed: a link moves it all the same",
    );
    refuses(
        link,
        "\"age increases: age increases by 2\"",
        "`actions.links[0]`: the links go round in a circle: age → age",
        "\"age increases: age increases by 2\"",
        "a change would force itself without end",
    );
    refuses(
        link,
        "\"education_num inceases: age increases by 2\"",
        "`actions.links[0]`: expected one of increases, decreases, changes, becomes, found `inceases`",
        "inceases",
        "did you mean `increases`?",
    );
    refuses(
        link,
        "\"education_num increases: age increases by 2.5\"",
        "`actions.links[0]`: `age` is an integer, but the link would move it by a fraction",
        "age",
        "use a whole amount, give the cause a `step`, or make the effect a number",
    );
    refuses(
        link,
        "\"job becomes king: age increases by 2\"",
        "`actions.links[0]`: `job` cannot become \"king\"",
        "job",
        "the value must be one that the feature can have",
    );
    refuses(
        link,
        "\"education_num changes: age increases by 2 each\"",
        "`actions.links[0]`: `each` counts units up or down, so that the link must say `increases` or `decreases`",
        "education_num",
        "take `each` away, or write one link for each direction",
    );
}

#[test]
fn overrides_and_equations() {
    refuses(
        "\"education_num.max\"",
        "\"education_num.mux\"",
        "`overrides.education_num.mux`: `mux` cannot be overridden; the fields are `change`, `max_change`, `min`, `max` and `step`",
        "\"cap\"",
        "did you mean `max`?",
    );
    refuses(
        "\"education_num.max\"",
        "\"age.max\"",
        "`overrides.age.max`: `age` is fixed: there is nothing to narrow",
        "\"cap\"",
        "",
    );
    refuses(
        "\"education_num.max\"",
        "\"edu.max\"",
        "`overrides.edu.max`: there is no feature `edu` in use",
        "\"cap\"",
        "the features in use are `age`, `education_num`, `hours_per_week`, `job`, `schooling` and `native-country`",
    );
    refuses(
        "parents = [\"age\"]",
        "parents = [\"hours_per_week\"]",
        "`[causal.equations.hours_per_week]`: the equations go round in a circle through `hours_per_week`",
        "[\"hours_per_week\"]",
        "",
    );
    refuses(
        "parents = [\"age\"]",
        "parents = [\"age\"]\nweights = { agee = 1 }",
        "unknown key `agee` in `[causal.equations.hours_per_week.weights]`",
        "agee",
        "did you mean `age`?",
    );
}
