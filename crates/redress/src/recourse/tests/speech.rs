//! Plans in words, and letters: golden.

use super::lender;
use crate::{
    feasible::Lattice,
    recourse::{
        Explanation, Measure, Method, Outcome, Request,
        letter::{LetterText, letter},
        words::Change,
    },
};

fn explained(person: [f64; 5], options: usize) -> Explanation {
    let advisor = lender::advisor(true, true, Lattice::AsPolicy, Measure::L1);
    let request = Request { method: Method::Linear, options, ..Request::default() };
    advisor.explain(&person, None, &request).unwrap()
}

#[test]
fn words_are_the_persons_own() {
    let explanation = explained([30.0, 12.0, 40.0, 4.0, 0.0], 3);
    let lines = explanation.options.iter().flat_map(|way| {
        let line = |kind: &str, change: &Change| {
            let (from, to) = (change.percentile_from.unwrap_or(f64::NAN), change.percentile_to.unwrap_or(f64::NAN));
            let unit = change.unit.as_deref().unwrap_or("-");
            format!(
                "{kind} {}: {} -> {} ({unit}), percentile {from:.1} -> {to:.1}",
                change.feature, change.from, change.to
            )
        };
        let changes = way.changes.iter().map(move |change| line("does", change));
        let consequences = way.consequences.iter().map(move |change| line("follows", change));
        let slack = way.slack.unwrap();
        let slack = format!("margin {:.3}, one step {}", slack.margin, slack.survives_one_step);
        let scores = format!("score {:.3} -> {:.3}, cost {:.3}, {slack}", way.score_before, way.score_after, way.cost);
        changes.chain(consequences).chain([scores])
    });
    insta::assert_snapshot!(
        "three_options",
        lines.collect::<Vec<_>>().join(
            "
"
        )
    );
    for way in &explanation.options {
        assert!(way.score_after >= explanation.threshold && way.score_before < explanation.threshold);
        assert!(way.slack.is_some_and(|slack| (0.0..=1.0).contains(&slack.survives_noise) && slack.margin >= 0.0));
        let school = way.changes.iter().find(|change| change.column == "school");
        let aged = way.consequences.iter().find(|change| change.column == "age");
        // A year of school is a year of age, and not what the person is asked to do.
        assert_eq!(school.map(|s| s.to_value - s.from_value), aged.map(|a| a.to_value - a.from_value));
    }
}

#[test]
fn letters_say_what_would_change_the_decision() {
    let text = LetterText { signature: "Yours, the lender".into(), ..LetterText::default() };
    let several = explained([30.0, 12.0, 40.0, 4.0, 0.0], 3);
    assert_eq!(several.outcome, Outcome::Recourse);
    insta::assert_snapshot!("letter_with_options", letter(&several, &text));
    let none = explained([69.0, 6.0, 12.0, 0.1, 2.0], 3);
    assert_eq!(none.outcome, Outcome::NoRecourseProven);
    insta::assert_snapshot!("letter_without_a_way", letter(&none, &text));
    let approved = explained([30.0, 17.0, 55.0, 7.0, 1.0], 3);
    assert_eq!(approved.outcome, Outcome::Approved);
    insta::assert_snapshot!("letter_of_approval", letter(&approved, &text));
}
