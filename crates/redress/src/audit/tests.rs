//! The audit against figures worked out by hand.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Audit, AuditError, AuditSettings, Findings, Requirement, disparity::Rate, paired::PairedRate};
use crate::{
    calibrate::{Certificate, Evidence, FailureProb, MissRate, Threshold, clopper_pearson, pare},
    dataset::{Dataset, Feature, FeatureKind, GroupColumn, People, Piece, ReadSummary, Schema},
    encoding::Encoding,
    feasible::{ActionSpace, Lattice},
    model::{Linear, Model},
    policy::Policy,
    recourse::{Advisor, Costs, Measure, Method, Request},
};

const POLICY: &str = "[data]\npath = \"p.csv\"\nlabel = \"y\"\nfavourable = 1\n\
                      [features.hours]\nkind = \"integer\"\nunit = \"hours\"\nchange = \"increase\"\nmax_change = 10\n\
                      [features.age]\nkind = \"integer\"\n";

/// A model that says yes from 40 hours on; people may work up to ten hours more.
fn advisor() -> Advisor {
    advisor_from(40.0)
}

/// A model that says yes from so many hours on.
fn advisor_from(hours: f64) -> Advisor {
    let policy = Policy::parse(POLICY, "p").unwrap();
    let train = people(&[(30.0, 30.0), (40.0, 40.0), (50.0, 50.0)]);
    let encoding = Encoding::fit(&Dataset { people: train, labels: vec![false, true, true], groups: vec![] });
    let space = ActionSpace::new(&policy, &encoding, Lattice::AsPolicy).unwrap();
    let costs = Costs::new(&policy, &encoding, Measure::L1);
    let model = Model::Linear(Linear::new(vec![1.0, 0.0], 0.0).unwrap());
    let threshold = Threshold::from_logit((hours - 40.0) / encoding.deviation(0));
    Advisor::new(model, space, threshold, costs, None).unwrap()
}

fn people(rows: &[(f64, f64)]) -> People {
    let feature = |column: &str| Feature {
        column: column.into(),
        label: column.into(),
        unit: (column == "hours").then(|| "hours".to_owned()),
        kind: FeatureKind::Integer,
        fill: None,
    };
    People {
        schema: Arc::new(Schema { features: vec![feature("hours"), feature("age")] }),
        values: rows.iter().flat_map(|(hours, age)| [*hours, *age]).collect(),
        source_rows: (1..=rows.len()).collect(),
        overrides: vec![],
    }
}

fn settings(method: Method, groups: &[&str]) -> AuditSettings {
    AuditSettings {
        request: Request { method, ..Request::default() },
        alpha: FailureProb::new(0.05).unwrap(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
    }
}

/// Rows of (hours, group), every one labelled as the model decides but the first.
fn piece(rows: &[(f64, u32)], groups: &[&str]) -> Piece {
    let hours: Vec<(f64, f64)> = rows.iter().enumerate().map(|(row, (hours, _))| (*hours, (row % 40) as f64)).collect();
    let labels = rows.iter().enumerate().map(|(row, (hours, _))| (*hours >= 40.0) != (row == 0)).collect();
    let column = GroupColumn {
        name: "sex".into(),
        values: groups.iter().map(|group| (*group).to_owned()).collect(),
        codes: rows.iter().map(|(_, group)| *group).collect(),
    };
    Piece { people: people(&hours), labels: Some(labels), groups: vec![column] }
}

fn run(pieces: &[Piece], method: Method, groups: &[&str]) -> Result<Findings, AuditError> {
    let advisor = advisor();
    let mut audit = Audit::new(&advisor, settings(method, groups));
    for piece in pieces {
        audit.add(piece, &|_| true)?;
    }
    audit.finish(ReadSummary::default(), None)
}

/// Six women: 45, 45, 35, 38, 20, 20 hours; four men: 50, 41, 32, 10.
fn ten() -> Piece {
    let women = [45.0, 45.0, 35.0, 38.0, 20.0, 20.0].map(|hours| (hours, 0));
    let men = [50.0, 41.0, 32.0, 10.0].map(|hours| (hours, 1));
    piece(&[&women[..], &men[..]].concat(), &["women", "men"])
}

#[test]
fn rates_intervals_and_costs_by_hand() {
    for method in [Method::Lp, Method::Exact] {
        let found = run(&[ten()], method, &["sex"]).unwrap();
        let all = &found.everybody;
        assert_eq!((all.outcomes.people, all.outcomes.approved, all.outcomes.recourse), (10, 4, 3));
        assert_eq!((all.approval.rate, all.neg(), all.recourse_all.rate), (0.4, 0.5, 0.7));
        assert_eq!(all.recourse_neg, clopper_pearson(3, 6, FailureProb::new(0.05).unwrap()));
        // 3 of 6 at 95%: [0.1181, 0.8819].
        assert!((all.recourse_neg.low - 0.11812).abs() < 1e-4 && (all.recourse_neg.high - 0.88188).abs() < 1e-4);
        let [men, women] = &found.groups[..] else { panic!("{:?}", found.groups) };
        assert_eq!((men.value.as_str(), women.value.as_str()), ("men", "women"));
        assert_eq!((women.approval.rate, women.neg()), (2.0 / 6.0, 0.5));
        assert_eq!((men.approval.rate, men.neg(), men.recourse_all.rate), (0.5, 0.5, 0.75));
        // One label of ten disagrees: somebody approved whose label is unfavourable.
        let performance = all.performance.unwrap();
        assert_eq!((performance.accuracy, performance.precision, performance.recall), (0.9, 0.75, 1.0));
        assert_eq!(found.levers[0].column, "hours");
        assert_eq!((found.levers[0].plans, found.levers[0].share, found.levers[0].raised), (3, 1.0, Some(1.0)));
    }
}

#[test]
fn exact_plans_are_cheap_and_its_proofs_are_counted() {
    let found = run(&[ten()], Method::Exact, &["sex"]).unwrap();
    assert_eq!(found.everybody.outcomes.proven_without, 3);
    assert_eq!(found.without.proven.rate, 0.3);
    // Hours to go: 5, 2 and 8. A standard deviation is √(200/3) hours.
    let change = found.levers[0].change.unwrap();
    assert_eq!((change.p10, change.p50, change.max), (2.0, 5.0, 8.0));
    let cost = found.everybody.cost.unwrap();
    assert!((cost.p50 - 5.0 / (200.0f64 / 3.0).sqrt()).abs() < 1e-9, "{cost:?}");
    assert_eq!(run(&[ten()], Method::Lp, &["sex"]).unwrap().everybody.outcomes.not_found, 3);
}

#[test]
fn the_pieces_make_no_difference() {
    let whole = ten();
    let part = |rows: std::ops::Range<usize>| {
        let rows: Vec<usize> = rows.collect();
        let group = &whole.groups[0];
        // The second piece knows its groups in another order.
        let values: Vec<String> = group.values.iter().rev().cloned().collect();
        let codes = rows.iter().map(|&row| 1 - group.codes[row]).collect();
        Piece {
            people: whole.people.subset(&rows),
            labels: whole.labels.as_ref().map(|labels| rows.iter().map(|&row| labels[row]).collect()),
            groups: vec![GroupColumn { name: "sex".into(), values, codes }],
        }
    };
    let cut = run(&[part(0..3), part(3..3), part(3..10)], Method::Exact, &["sex"]).unwrap();
    assert_eq!(cut, run(&[ten()], Method::Exact, &["sex"]).unwrap());
}

#[test]
fn without_labels_everything_else_is_there() {
    let unlabelled = Piece { labels: None, ..ten() };
    let found = run(&[unlabelled], Method::Lp, &["sex"]).unwrap();
    assert_eq!(found.everybody.performance, None);
    assert_eq!(found.everybody.recourse_all.rate, 0.7);
    assert!(found.curve.iter().all(|point| point.performance.f1 == 0.0));
}

#[test]
fn what_cannot_be_audited_is_refused_by_name() {
    assert!(matches!(run(&[], Method::Lp, &["sex"]), Err(AuditError::Nobody(_))));
    let one = piece(&[(45.0, 0), (45.0, 0), (20.0, 1)], &["women", "men"]);
    assert_eq!(
        run(&[one], Method::Lp, &["sex"]).unwrap_err().to_string(),
        "the group sex = men has only 1 person: nothing can be said about it without saying it about them"
    );
    let names: Vec<String> = (0..60).map(|name| name.to_string()).collect();
    let many: Vec<(f64, u32)> = (0..120).map(|row| (45.0, row % 60)).collect();
    let many = piece(&many, &names.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(matches!(run(&[many], Method::Lp, &["sex"]), Err(AuditError::TooManyGroups { most: 50, .. })));
}

/// 400 people a group; `gap` of the women in a hundred are too far below 40 hours to get there.
fn population(gap: usize) -> Piece {
    let hours = |row: usize, lost: usize| {
        if row % 100 < lost {
            20.0
        } else if row.is_multiple_of(2) {
            45.0
        } else {
            35.0
        }
    };
    let women = (0..400).map(|row| (hours(row, 20 + gap), 0));
    let men = (0..400).map(|row| (hours(row, 20), 1));
    piece(&women.chain(men).collect::<Vec<_>>(), &["women", "men"])
}

#[test]
fn a_planted_disparity_is_flagged_and_equal_groups_are_not() {
    let planted = run(&[population(20)], Method::Exact, &["sex"]).unwrap();
    let flagged: Vec<Rate> = planted.flagged().map(|disparity| disparity.rate).collect();
    assert!(flagged.contains(&Rate::RecourseAll), "{:?}", planted.disparities);
    let equal = run(&[population(0)], Method::Exact, &["sex"]).unwrap();
    assert_eq!(equal.flagged().count(), 0, "{:?}", equal.disparities);
    // They are told by their hours, and by nothing else.
    assert_eq!(planted.without.rules[0].conditions, ["hours at most 20 hours"]);
    assert_eq!((planted.without.rules[0].coverage, planted.without.rules[0].precision), (1.0, 1.0));
}

/// 300 people of two groups, drawn at random: 20 to 49 hours, and so many hours less in the first group.
fn drawn(random: &mut ChaCha8Rng, less: f64) -> Piece {
    let person = |random: &mut ChaCha8Rng| {
        let group = random.random_range(0..2u32);
        let hours = f64::from(random.random_range(20..50));
        (if group == 0 { hours - less } else { hours }, group)
    };
    let rows: Vec<(f64, u32)> = (0..300).map(|_| person(random)).collect();
    piece(&rows, &["women", "men"])
}

#[test]
fn whole_audits_keep_to_the_stated_rate_of_false_alarms() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut flagged = |audits: usize, less: f64| {
        let audits = (0..audits).map(|_| run(&[drawn(&mut random, less)], Method::Lp, &["sex"]).unwrap());
        audits.filter(|found| found.flagged().next().is_some()).count()
    };
    // At most 5%: Binomial(400, 0.05) is above 36 once in 3,000 times.
    let alarms = flagged(400, 0.0);
    assert!(alarms <= 36, "{alarms} false alarms in 400 audits");
    let caught = flagged(100, 8.0);
    assert!(caught >= 97, "{caught} of 100 planted disparities caught");
}

#[test]
fn two_models_are_compared_person_by_person() {
    let decisions = |hours: f64| {
        let advisor = advisor_from(hours);
        let mut audit = Audit::new(&advisor, settings(Method::Exact, &[])).keeping_decisions();
        audit.add(&Piece { groups: vec![], ..ten() }, &|_| true).unwrap();
        audit.take_decisions()
    };
    // From 44 hours on, 41 hours are no longer approved, 32 are out of reach, and the label of 41 hours is missed.
    let found = decisions(40.0).compare(&decisions(44.0), FailureProb::new(0.05).unwrap());
    let counts: Vec<_> = found.iter().map(|paired| (paired.rate, paired.only_first, paired.only_second)).collect();
    assert_eq!(counts, [(PairedRate::Approval, 1, 0), (PairedRate::RecourseAll, 1, 0), (PairedRate::Accuracy, 1, 0)]);
    let rates: Vec<_> = found.iter().map(|paired| (paired.first, paired.second)).collect();
    assert_eq!(rates, [(0.4, 0.3), (0.7, 0.6), (0.9, 0.8)]);
    // One person alone falls to one side for certain.
    assert!(found.iter().all(|paired| paired.people == 10 && paired.p_value > 0.999 && !paired.beyond_chance));
}

#[test]
fn requirements_are_held_against_the_findings() {
    let found = run(&[ten()], Method::Exact, &["sex"]).unwrap();
    let check = |text: &str| text.parse::<Requirement>().unwrap().check(&found);
    assert!(check("recourse_all>=0.7").unwrap().holds && !check("recourse_all>0.7").unwrap().holds);
    let worst = check("approval[sex]>=0.4").unwrap();
    assert_eq!((worst.holds, worst.found, worst.who.as_deref()), (false, 2.0 / 6.0, Some("women")));
    assert!(check("approval[sex=men]>=0.5").unwrap().holds);
    let gap = check("approval_gap[sex]<=0.1").unwrap();
    assert!(!gap.holds && (gap.found - 1.0 / 6.0).abs() < 1e-12, "{gap:?}");
    assert!(check("disparities<=0").unwrap().holds);
    let message = |text: &str| check(text).unwrap_err().to_string();
    assert!(message("approval[race]>=0.1").contains("no groups of \"race\""), "{}", message("approval[race]>=0.1"));
    assert!(message("approval[sex=other]>=0.1").contains("its groups are men, women"));
}

#[test]
fn a_certificate_is_held_against_what_was_seen() {
    let advisor = advisor();
    let scores = vec![1.0; 100];
    let (epsilon, alpha) = (MissRate::new(0.05).unwrap(), FailureProb::new(0.05).unwrap());
    let bound = pare::bound(&scores, epsilon, alpha).unwrap();
    let evidence = Evidence { policy_sha256: "p".into(), data_sha256: "d".into(), model_sha256: "m".into() };
    let certificate = Certificate::new(bound, Vec::new(), Threshold::HALF, "lp", evidence, None);
    let check = |rows: &[(f64, u32)], faults: Vec<String>| {
        let mut audit = Audit::new(&advisor, settings(Method::Lp, &["sex"]));
        audit.add(&piece(rows, &["women", "men"]), &|_| true).unwrap();
        audit.finish(ReadSummary::default(), Some((&certificate, faults))).unwrap().certificate.unwrap()
    };
    let rows =
        |lost: usize| (0..100).map(|row| (if row < lost { 20.0 } else { 35.0 }, (row % 2) as u32)).collect::<Vec<_>>();
    // 100 rows: 8 misses may be chance at 5% promised, 20 cannot.
    assert!(check(&rows(8), vec![]).holds && !check(&rows(20), vec![]).holds);
    assert!(!check(&rows(0), vec!["another model".into()]).holds);
    assert_eq!(check(&rows(8), vec![]).observed[0].observed.hits, 92);
}
