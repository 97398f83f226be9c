//! How far one number may move, and where it lands.

use super::action::Domain;

/// How far a number, a yes/no or a rank may move: the rule, before it knows the person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The largest decrease, not negative; may be infinite where `min` is not.
    pub down: f64,
    /// The largest increase, not negative; may be infinite where `max` is not.
    pub up: f64,
    /// No action goes below this.
    pub min: f64,
    /// No action goes above this.
    pub max: f64,
    /// Changes are whole multiples of this; `None` means any change.
    pub step: Option<f64>,
}

/// The most steps in one direction: more than this is no lattice that a person could tell from a line.
const MOST_STEPS: f64 = i32::MAX as f64;

impl Limits {
    /// The changes permitted at `value`, from smallest (≤ 0) to largest (≥ 0): staying is always one of them.
    #[inline]
    pub fn changes(&self, value: f64) -> (f64, f64) {
        ((-self.down).max(self.min - value).min(0.0), self.up.min(self.max - value).max(0.0))
    }

    /// The domain at `value`.
    pub fn domain(&self, value: f64) -> Domain {
        let (lo, hi) = self.changes(value);
        match self.step {
            Some(step) => Domain::Grid { step, lo: -whole_steps(-lo, step), hi: whole_steps(hi, step) },
            None => Domain::Range { lo: lo + 0.0, hi: hi + 0.0 },
        }
    }

    /// The smallest and the largest value that can be reached from `value`.
    #[inline]
    pub fn reach(&self, value: f64) -> (f64, f64) {
        let (lo, hi) = self.changes(value);
        match self.step {
            Some(step) => (land(value, step, -whole_steps(-lo, step)), land(value, step, whole_steps(hi, step))),
            None => (value + lo, value + hi),
        }
    }
}

/// How many steps fit into `distance ≥ 0`. The tolerance makes 0.3 hold three steps of 0.1, which it does not in binary.
#[inline]
fn whole_steps(distance: f64, step: f64) -> i64 {
    let ratio = distance / step;
    (ratio + 1e-9 * ratio.max(1.0)).min(MOST_STEPS) as i64
}

/// `value + steps · step` as a person would write it: with as many decimals as `value` and `step` have, so that three
/// steps of 0.1 from 0 land on 0.3 and not on 0.30000000000000004. Never decreases in `steps`.
#[inline]
pub(super) fn land(value: f64, step: f64, steps: i64) -> f64 {
    if steps == 0 {
        return value;
    }
    let landed = value + step * steps as f64;
    let (Some(a), Some(b)) = (decimals(value), decimals(step)) else { return landed };
    let power = POWERS[a.max(b)];
    if (landed * power).abs() < EXACT { (landed * power).round() / power + 0.0 } else { landed }
}

const POWERS: [f64; 10] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// Below this every whole number is a float.
const EXACT: f64 = (1u64 << 53) as f64;

/// The number of decimals of the shortest decimal that is this float, if there are at most nine.
#[inline]
fn decimals(value: f64) -> Option<usize> {
    POWERS.iter().position(|power| {
        let scaled = value * power;
        scaled.abs() < EXACT && scaled.round() / power == value
    })
}

/// `value` to twelve significant digits: removes the dust of adding decimals in binary, and nothing that anybody wrote.
pub(super) fn tidy(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() || value.fract() == 0.0 {
        return value + 0.0;
    }
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limits(down: f64, up: f64, step: f64) -> Limits {
        Limits { down, up, min: f64::NEG_INFINITY, max: f64::INFINITY, step: Some(step) }
    }

    #[test]
    fn three_tenths_hold_three_steps_of_a_tenth() {
        assert_eq!(limits(0.3, 0.7, 0.1).domain(5.0), Domain::Grid { step: 0.1, lo: -3, hi: 7 });
        assert_eq!(land(0.0, 0.1, 3), 0.3);
        assert_eq!(land(37.25, 0.1, 3), 37.55);
        assert_eq!(land(12.0, 1.0, -3), 9.0);
    }

    #[test]
    fn a_person_outside_a_limit_may_stay() {
        let limits = Limits { down: 5.0, up: 5.0, min: 0.0, max: 60.0, step: None };
        assert_eq!(limits.changes(70.0), (-5.0, 0.0));
        assert_eq!(limits.changes(-3.0), (0.0, 5.0));
        assert_eq!(limits.changes(58.0), (-5.0, 2.0));
    }

    proptest! {
        #[test]
        fn landing_is_the_decimal_sum(value in -100_000i64..100_000, step in 1i64..5_000, steps in -500i64..500, places in 0u32..5) {
            let power = 10f64.powi(places as i32);
            let exact = (value + step * steps) as f64 / power;
            prop_assert_eq!(land(value as f64 / power, step as f64 / power, steps), exact);
        }

        #[test]
        fn landing_never_decreases(value in -1e6..1e6, step in 1e-3..1e3, steps in -1000i64..1000) {
            prop_assert!(land(value, step, steps) <= land(value, step, steps + 1));
        }

        #[test]
        fn the_last_step_fits_and_one_more_does_not(distance in 0.0..1e4, step in 1e-2..10.0) {
            let steps = whole_steps(distance, step);
            prop_assert!(steps as f64 * step <= distance * (1.0 + 2e-9) + 2e-9 * step);
            prop_assert!((steps + 1) as f64 * step > distance);
        }

        #[test]
        fn tidying_moves_no_written_number(digits in -999_999_999i64..999_999_999, places in 0i32..9) {
            let value: f64 = format!("{digits}e-{places}").parse().unwrap();
            prop_assert_eq!(tidy(value), value);
        }
    }
}
