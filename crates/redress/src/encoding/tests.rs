//! Laws of the way there and back.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::dataset::Feature;

fn feature(name: &str, kind: FeatureKind) -> Feature {
    Feature { column: name.into(), label: name.into(), unit: None, kind, fill: None }
}

fn words(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("value {index}")).collect()
}

/// One feature of each kind: number, integer, yes/no, category of 4, ordered of 5.
fn schema() -> Arc<Schema> {
    Arc::new(Schema {
        features: vec![
            feature("number", FeatureKind::Number),
            feature("integer", FeatureKind::Integer),
            feature("yes_no", FeatureKind::YesNo { no: "no".into(), yes: "yes".into() }),
            feature("category", FeatureKind::Category { values: words(4) }),
            feature("ordered", FeatureKind::Ordered { values: words(5) }),
        ],
    })
}

fn fit(schema: Arc<Schema>, values: Vec<f64>) -> Encoding {
    let rows = values.len() / schema.features.len();
    let people = People { schema, values, source_rows: (1..=rows).collect(), overrides: vec![] };
    Encoding::fit(&Dataset { people, labels: vec![true; rows], groups: vec![] })
}

fn row() -> impl Strategy<Value = Vec<f64>> {
    (short_number(), -5_000i64..5_000, 0..2u8, 0..4u8, 0..5u8).prop_map(|(number, whole, yes, category, rank)| {
        vec![number, whole as f64, f64::from(yes), f64::from(category), f64::from(rank)]
    })
}

/// Numbers with at most six significant digits, of one size: information that an `f32` beside a mean of that size holds.
fn short_number() -> impl Strategy<Value = f64> {
    (-999_999i64..=999_999).prop_map(|digits| format!("{digits}e-3").parse().unwrap())
}

proptest! {
    #[test]
    fn decode_undoes_encode(rows in prop::collection::vec(row(), 2..20), person in row()) {
        let encoding = fit(schema(), rows.concat());
        let mut point = vec![0.0; encoding.width()];
        for values in rows.iter().chain([&person]) {
            encoding.encode(values, &mut point);
            prop_assert_eq!(&encoding.decode(&point).unwrap(), values);
        }
    }

    #[test]
    fn encode_undoes_decode_bit_for_bit(
        rows in prop::collection::vec(prop::num::f64::NORMAL.prop_filter("size", |v| v.abs() < 1e12), 1..6),
        value in prop::num::f64::NORMAL.prop_filter("size", |v| v.abs() < 1e12),
        steps in 0usize..1_000_000_000,
    ) {
        let schema = Arc::new(Schema { features: vec![feature("number", FeatureKind::Number)] });
        let encoding = fit(schema, rows.clone());
        // A value beside a training value as well as one anywhere: the first is where digits are lost.
        let beside = f64::from_bits(rows[0].to_bits() + steps as u64);
        for value in [value, beside, rows[0]] {
            let (mut point, mut again) = ([0.0], [0.0]);
            encoding.encode(&[value], &mut point);
            encoding.encode(&encoding.decode(&point).unwrap(), &mut again);
            prop_assert_eq!(point[0].to_bits(), again[0].to_bits());
        }
    }

    #[test]
    fn coordinates_never_decrease_in_the_value(rows in prop::collection::vec(-1e6..1e6, 1..9), a in -1e9..1e9, b in -1e9..1e9) {
        let schema = Arc::new(Schema { features: vec![feature("number", FeatureKind::Number)] });
        let encoding = fit(schema, rows);
        let (low, high) = if a < b { (a, b) } else { (b, a) };
        prop_assert!(encoding.scaled(0, low) <= encoding.scaled(0, high));
    }

    #[test]
    fn statistics_match_their_definitions(values in prop::collection::vec((-50i64..50).prop_map(|v| v as f64 / 4.0), 1..60), at in -15.0..15.0) {
        let statistics = Statistics::of(values.clone());
        let count = values.len() as f64;
        let below = values.iter().filter(|&&value| value <= at).count() as f64;
        prop_assert_eq!(statistics.percentile(at), below / count);
        let share = statistics.percentile(at);
        if share > 0.0 {
            prop_assert!(statistics.quantile(share) <= at);
        }
        let mean = values.iter().sum::<f64>() / count;
        prop_assert!((statistics.mean - mean).abs() < 1e-9);
        prop_assert_eq!(statistics.min(), values.iter().copied().fold(f64::INFINITY, f64::min));
        prop_assert_eq!(statistics.max(), values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    }

    #[test]
    fn storing_keeps_everything(rows in prop::collection::vec(row(), 1..9)) {
        let encoding = fit(schema(), rows.concat());
        let text = serde_json::to_string(&encoding).unwrap();
        prop_assert_eq!(serde_json::from_str::<Encoding>(&text).unwrap(), encoding);
    }
}

#[test]
fn a_constant_column_is_not_scaled() {
    let schema = Arc::new(Schema { features: vec![feature("number", FeatureKind::Number)] });
    let encoding = fit(schema, vec![0.1; 10]);
    assert_eq!((encoding.mean(0), encoding.deviation(0)), (0.1, 1.0));
}

#[test]
fn zero_comes_back_as_zero() {
    let schema = Arc::new(Schema { features: vec![feature("number", FeatureKind::Number)] });
    let encoding = fit(schema, vec![-1.5, 3.5, 1e3]);
    let mut point = [0.0];
    encoding.encode(&[0.0], &mut point);
    assert_eq!(encoding.decode(&point).unwrap(), [0.0]);
}

#[test]
fn median_absolute_deviation_by_hand() {
    // Median 3; distances 2, 1, 0, 1, 97: their median is 1.
    assert_eq!(Statistics::of(vec![1.0, 2.0, 3.0, 4.0, 100.0]).mad, 1.0);
}

#[test]
fn many_distinct_values_are_thinned_without_losing_rank() {
    let statistics = Statistics::of((0..100_000).map(f64::from).collect());
    for value in [0.0, 12_345.5, 50_000.0, 99_999.0] {
        assert!((statistics.percentile(value) - (value + 1.0) / 100_000.0).abs() < 2e-5, "{value}");
    }
    assert_eq!(statistics.percentile(-1.0), 0.0);
    assert!((statistics.quantile(0.5) - 50_000.0).abs() <= 100.0);
}

#[test]
fn points_that_are_nobody_are_refused() {
    let encoding = fit(schema(), [vec![0.5, 1.0, 0.0, 2.0, 3.0], vec![1.5, 2.0, 1.0, 1.0, 0.0]].concat());
    let mut point = vec![0.0; encoding.width()];
    encoding.encode(&[0.5, 1.0, 0.0, 2.0, 3.0], &mut point);
    assert!(matches!(encoding.decode(&point[1..]), Err(DecodeError::Width { found: 7, expected: 8 })));
    for (column, value) in [(0, f32::NAN), (3, f32::INFINITY)] {
        let mut broken = point.clone();
        broken[column] = value;
        assert!(matches!(encoding.decode(&broken), Err(DecodeError::NotFinite { .. })));
    }
    for (column, value) in [(3, 1.0), (5, 0.0), (4, 0.5)] {
        let mut broken = point.clone();
        broken[column] = value;
        assert!(matches!(encoding.decode(&broken), Err(DecodeError::NotOneCategory { .. })), "column {column}");
    }
}

#[test]
fn damaged_statistics_are_refused() {
    let schema = Arc::new(Schema { features: vec![feature("number", FeatureKind::Number)] });
    let text = serde_json::to_string(&fit(schema, vec![1.0, 3.0])).unwrap();
    let broken = text.replace("\"deviation\":1.0", "\"deviation\":-1.0");
    assert_ne!(text, broken);
    assert!(serde_json::from_str::<Encoding>(&broken).unwrap_err().to_string().contains("number"));
}
