//! Laws of the policy language: what is written reads back, and no text makes the reader panic.

use std::collections::BTreeMap;

use proptest::prelude::*;
use redress::policy::{
    Actionability, Affine, Amount, Causal, Comparison, Constraint, Data, Derived, DerivedRule, Direction, Equation,
    FeatureRule, Filter, Kind, Layout, Link, LinkSentence, MissingRule, OverrideColumn, OverrideField, Policy, Rule,
    Source, Trigger, UnknownCategory,
};

/// Names that people give columns, and names that nobody should.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z_]{0,8}",
        "[a-zA-Z0-9 .\\-`\"'\\\\#=\\[\\]é→]{1,10}",
        "[ -~]{1,6}",
        Just("a\tb\u{1}\nc".to_owned())
    ]
    .prop_filter("a name is not blank", |name| !name.trim().is_empty())
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,5}", "[ -~]{0,8}", "-?[0-9]{1,4}", name()]
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1000i32..1000).prop_map(f64::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()),
        (1i32..1000).prop_map(|tenths| f64::from(tenths) / 10.0),
    ]
    .prop_map(|number| number + 0.0)
}

fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn affine() -> impl Strategy<Value = (Vec<(String, f64)>, Comparison, f64)> {
    let term = (name(), number().prop_filter("not 0", |coefficient| *coefficient != 0.0));
    let terms = prop::collection::vec(term, 1..5).prop_map(|terms| {
        let mut distinct: Vec<(String, f64)> = Vec::new();
        for term in terms {
            if distinct.iter().all(|(known, _)| *known != term.0) {
                distinct.push(term);
            }
        }
        distinct
    });
    (terms, 0..3usize, number()).prop_map(|(terms, which, bound)| match which {
        0 => (terms, Comparison::AtMost, bound.abs()),
        1 => (terms, Comparison::AtLeast, -bound.abs() + 0.0),
        _ => (terms, Comparison::Equal, 0.0),
    })
}

proptest! {
    #[test]
    fn constraints_read_back((terms, comparison, bound) in affine(), swapped in any::<bool>()) {
        let sum: Vec<String> = terms.iter().map(|(name, coefficient)| format!("{} {:e} * {}",
            if *coefficient < 0.0 { "-" } else { "+" }, coefficient.abs(), backticked(name))).collect();
        let side = |number: f64| format!("{}{:e}", if number < 0.0 { "-" } else { "" }, number.abs());
        // The same row with everything on the other side of the comparison.
        let text = if swapped {
            let turned = match comparison { Comparison::AtMost => ">=", Comparison::AtLeast => "<=", _ => "==" };
            format!("{}{turned}0{}", side(bound), sum.iter().map(|term| format!(" {term}")).collect::<String>())
        } else {
            format!("0{} {comparison} {}", sum.iter().map(|term| format!(" {term}")).collect::<String>(), side(bound))
        };
        let read = Affine::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        if !swapped {
            prop_assert_eq!(&read.terms, &terms, "{}", text);
            prop_assert_eq!((read.comparison, read.bound), (comparison, bound));
        }
        let again = Affine::parse(&read.to_string()).map_err(|error| TestCaseError::fail(format!("{read}: {error}")))?;
        prop_assert_eq!((again.terms, again.comparison, again.bound), (read.terms, read.comparison, read.bound));
    }

    #[test]
    fn filters_read_back(column in name(), value in value(), which in 0..6usize) {
        let all = [Comparison::Less, Comparison::AtMost, Comparison::Greater, Comparison::AtLeast, Comparison::Equal, Comparison::NotEqual];
        let comparison = all[which];
        let text = Filter::written(&column, comparison, &value);
        match Filter::parse(&text) {
            Ok(read) => prop_assert_eq!((read.column, read.comparison, read.value), (column, comparison, value)),
            Err(error) => prop_assert!(
                which < 4 && value.trim().parse::<f64>().is_err(), "{}: {}", text, error),
        }
    }

    #[test]
    fn links_read_back(cause in name(), effect in name(), value in value(), which in 0..4usize, amount in number(), each in any::<bool>()) {
        prop_assume!(amount != 0.0 && !value.is_empty());
        let trigger = [Trigger::Increases, Trigger::Decreases, Trigger::Changes, Trigger::Becomes(value)][which].clone();
        let verb = if amount < 0.0 { "decreases" } else { "increases" };
        let text = format!("{} {trigger}: {} {verb} by {:e}{}", backticked(&cause), backticked(&effect), amount.abs(), if each { " each" } else { "" });
        let read = LinkSentence::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
        prop_assert_eq!((&read.cause, &read.effect, &read.trigger), (&cause, &effect, &trigger));
        prop_assert_eq!((read.amount, read.each), (amount, each));
        let again = LinkSentence::parse(&read.to_string()).map_err(|error| TestCaseError::fail(format!("{read}: {error}")))?;
        prop_assert_eq!((again.cause, again.trigger, again.effect, again.amount, again.each), (cause, trigger, effect, amount, each));
    }

    #[test]
    fn rules_read_back(which in 0..6usize, bound in number(), value in value()) {
        let all = [Comparison::Less, Comparison::AtMost, Comparison::Greater, Comparison::AtLeast, Comparison::Equal, Comparison::NotEqual];
        let rule = Rule::Compare(all[which], bound);
        prop_assert_eq!(Rule::parse(&rule.to_string()), rule);
        let read = Rule::parse(&value);
        prop_assert_eq!(Rule::parse(&read.to_string()), read);
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    let values = || prop::collection::btree_set(value(), 2..5).prop_map(|set| set.into_iter().collect::<Vec<_>>());
    prop_oneof![
        Just(Kind::Number),
        Just(Kind::Integer),
        prop::option::of(value()).prop_map(|yes| Kind::YesNo { yes }),
        prop::option::of(values()).prop_map(|values| Kind::Category { values }),
        values().prop_map(|values| Kind::Ordered { values }),
    ]
}

type Limits = (Option<f64>, Option<f64>, Option<f64>, Option<Amount>);

fn limits() -> impl Strategy<Value = Limits> {
    let amount = number().prop_map(f64::abs);
    let amount = (amount, any::<bool>())
        .prop_map(|(size, units)| if units { Amount::Units(size) } else { Amount::Deviations(size) });
    let step = number().prop_map(|step| step.abs().clamp(1e-3, 1e6));
    (prop::option::of(number()), prop::option::of(number()), prop::option::of(step), prop::option::of(amount))
}

/// A legal way for a feature of this kind to move.
fn action(kind: &Kind, change: Direction, (low, high, step, amount): Limits) -> Actionability {
    let fixed = change == Direction::Fixed;
    match kind {
        Kind::YesNo { .. } => Actionability { change, ..Actionability::default() },
        Kind::Category { values } => {
            let change = if fixed { Direction::Fixed } else { Direction::Any };
            let moves = values.as_ref().filter(|_| !fixed && low.is_some()).map(|values| {
                BTreeMap::from([(values[0].clone(), values[1..].to_vec()), (values[1].clone(), Vec::new())])
            });
            Actionability { change, moves, ..Actionability::default() }
        }
        _ => {
            let rank = |limit: Option<f64>| match kind {
                Kind::Ordered { values } => limit.map(|limit| (limit.abs() % values.len() as f64).floor()),
                _ => limit,
            };
            let (low, high) = (rank(low), rank(high));
            let (min, max) = match (low, high) {
                (Some(low), Some(high)) if low > high => (Some(high), Some(low)),
                limits => limits,
            };
            let step = step.map(|step| if matches!(kind, Kind::Number) { step } else { step.ceil() });
            Actionability {
                change,
                min,
                max,
                step: step.filter(|_| !fixed),
                max_change: amount.filter(|_| !fixed),
                moves: None,
            }
        }
    }
}

fn feature() -> impl Strategy<Value = FeatureRule> {
    let change =
        prop_oneof![Just(Direction::Fixed), Just(Direction::Increase), Just(Direction::Decrease), Just(Direction::Any)];
    let words = (name(), value(), prop::option::of(value()), prop::collection::btree_set(value(), 0..2));
    (words, kind(), change, limits(), number(), number(), any::<bool>()).prop_map(
        |((column, label, unit, missing), kind, change, limits, weight, cost, treat)| {
            let unknown = match &kind {
                Kind::Category { values: Some(values) } | Kind::Ordered { values } if treat => {
                    UnknownCategory::TreatAs(values[0].clone())
                }
                _ => UnknownCategory::Refuse,
            };
            FeatureRule {
                column,
                label,
                unit,
                action: action(&kind, change, limits),
                kind,
                cost_weight: weight.abs(),
                fixed_cost: cost.abs(),
                unknown,
                missing_values: missing.into_iter().collect(),
            }
        },
    )
}

fn data() -> impl Strategy<Value = Data> {
    let rule = prop_oneof![
        value().prop_map(|value| Rule::parse(&value)),
        prop::collection::btree_set(value(), 1..3).prop_map(|set| Rule::OneOf(set.into_iter().collect())),
    ];
    let layout = prop_oneof![
        Just(Layout::default()),
        Just(Layout { delimiter: Some('\t'), header: Some(true), columns: None }),
        Just(Layout { delimiter: Some(';'), header: Some(false), columns: Some(vec!["a".into(), "b".into()]) }),
    ];
    let missing = prop_oneof![Just(MissingRule::Refuse), Just(MissingRule::DropRow), Just(MissingRule::Fill)];
    let filter = (name(), value()).prop_map(|(column, value)| {
        Filter::parse(&Filter::written(&column, Comparison::NotEqual, &value)).expect("a filter that was written")
    });
    let lists = (
        prop::collection::vec(filter, 0..3),
        prop::collection::btree_set(value(), 0..3),
        prop::collection::btree_set(name(), 0..3),
    );
    (rule, layout, missing, lists, any::<[bool; 3]>(), name()).prop_map(
        |(favourable, layout, missing, (filters, missing_values, groups), [builtin, tested, drop_duplicates], path)| {
            Data {
                source: if builtin { Source::Builtin(path.clone()) } else { Source::Path(path.clone()) },
                test_path: tested.then_some(path),
                layout,
                label: "the label".to_owned(),
                favourable,
                filters,
                missing,
                missing_values: missing_values.into_iter().collect(),
                drop_duplicates,
                groups: groups.into_iter().collect(),
            }
        },
    )
}

/// A legal policy: what holds between features is built from whichever features may take part.
fn policy() -> impl Strategy<Value = Policy> {
    (name(), data(), prop::collection::vec(feature(), 1..7), number()).prop_map(|(name, data, listed, coefficient)| {
        let mut features: Vec<FeatureRule> = Vec::new();
        for feature in listed {
            if feature.column != data.label && features.iter().all(|known| known.column != feature.column) {
                features.push(feature);
            }
        }
        let moved = |feature: &FeatureRule| feature.action.change != Direction::Fixed;
        let find = |test: &dyn Fn(&FeatureRule) -> bool| features.iter().position(test);
        let lever = find(&|feature| {
            moved(feature) && matches!(feature.kind, Kind::Number | Kind::Integer | Kind::Ordered { .. })
        });
        let effect = find(&|feature| !moved(feature) && matches!(feature.kind, Kind::Number));
        let (mut constraints, mut links, mut override_columns, mut causal) = (Vec::new(), Vec::new(), Vec::new(), None);
        if let Some(lever) = lever {
            let column = backticked(&features[lever].column);
            let factor = if coefficient == 0.0 { 1.0 } else { coefficient };
            let text = format!("{}{:e} * {column} == 0", if factor < 0.0 { "-" } else { "" }, factor.abs());
            constraints.push(Constraint { text: text.clone(), terms: vec![(lever, factor)], bound: 0.0 });
            constraints.push(Constraint { text, terms: vec![(lever, -factor)], bound: 0.0 });
            override_columns.push(OverrideColumn {
                feature: lever,
                field: OverrideField::Max,
                column: "cap".to_owned(),
            });
            if let Some(effect) = effect {
                let text =
                    format!("{column} increases: {} decreases by 2.5 each", backticked(&features[effect].column));
                links.push(Link { text, cause: lever, trigger: Trigger::Increases, effect, amount: -2.5, each: true });
                let given = Some((vec![coefficient], 1.5)).filter(|_| coefficient > 0.0);
                causal = Some(Causal { equations: vec![Equation { child: effect, parents: vec![lever], given }] });
            }
        }
        let derived = vec![
            Derived { name: "days".to_owned(), rule: DerivedRule::DaysBetween("from".to_owned(), "to".to_owned()) },
            Derived { name: "flag".to_owned(), rule: DerivedRule::Equals("c".to_owned(), vec![name.clone()]) },
            Derived { name: "part".to_owned(), rule: DerivedRule::Contains("c".to_owned(), name.clone()) },
        ];
        let ignored = vec!["unused column".to_owned()];
        Policy {
            source: String::new(),
            name,
            data,
            derived,
            features,
            ignored,
            constraints,
            links,
            override_columns,
            causal,
        }
    })
}

/// Pieces of which broken policies are made.
const PIECES: [&str; 24] = [
    "[data]",
    "[features.a]",
    "[[features]]",
    "features = 1",
    "kind = \"ordered\"",
    "values = [1]",
    "= ",
    "\"",
    "'''",
    "\\u{0}",
    "nan",
    "-inf",
    "1e999",
    "99999999999999999999",
    "2020-01-01",
    "[overrides]",
    "a.b.c = \"x\"",
    "links = [\"a increases: b increases by 1\"]",
    "constraints = [\"a\", 3]",
    "moves = { a = [] }",
    "{ std = {} }",
    "\u{feff}",
    "é",
    "min = \"x\"",
];

proptest! {
    #[test]
    fn a_written_policy_reads_back_as_itself(policy in policy()) {
        let text = policy.to_toml();
        let mut read = Policy::parse(&text, "stem").map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert_eq!(&read.source, &text);
        read.source.clear();
        prop_assert_eq!(read, policy, "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(policy in policy(), cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, 0..PIECES.len()), 1..4), noise in "\\PC{0,40}") {
        let mut text = policy.to_toml();
        for (at, length, piece) in cuts {
            let start = (0..=at.index(text.len() + 1)).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let end = ((start + length).min(text.len())..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
            text.replace_range(start..end, PIECES[piece]);
        }
        for text in [text, noise.clone(), format!("constraints = [{noise:?}]\nlinks = [{noise:?}]\n[data]\nfilter = [{noise:?}]")] {
            if let Err(error) = Policy::parse(&text, "stem") {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                prop_assert!(!error.message.is_empty());
                if let Some(at) = error.at {
                    prop_assert!(text.get(at.span.clone()).is_some(), "the place {:?} lies in the text", at.span);
                    prop_assert!(at.line >= 1 && at.column >= 1);
                }
            }
        }
    }

    #[test]
    fn no_sentence_makes_its_parser_panic(text in "\\PC{0,30}", words in prop::collection::vec(prop::sample::select(vec!["a", "`b`", "1", "2.5e3", "+", "-", "*", "/", "<=", ">=", "==", "<", "increases", "becomes", ":", "by", "each", "\"", "`", "é"]), 0..10)) {
        for text in [text, words.join(" "), words.concat()] {
            let faults = [Affine::parse(&text).err(), LinkSentence::parse(&text).err(), Filter::parse(&text).err()];
            for fault in faults.into_iter().flatten() {
                prop_assert!(text.get(fault.range.clone()).is_some(), "{:?} lies in {:?}", fault.range, text);
            }
        }
    }
}
