//! Probabilities that mean different things are different types.

use serde::{Deserialize, Serialize};

/// A probability outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what} is {value}: it must lie {range}")]
pub struct RateError {
    what: &'static str,
    value: f64,
    range: &'static str,
}

/// ε: the share of people who may be left without approval or recourse.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct MissRate(f64);

/// α: the chance, over the draw of the calibration rows, that the guarantee fails. 0.05, not 0.95.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct FailureProb(f64);

/// Checks that a probability lies strictly between 0 and 1; written so that NaN fails.
fn inside(what: &'static str, value: f64) -> Result<f64, RateError> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(RateError { what, value, range: "strictly between 0 and 1" })
    }
}

impl MissRate {
    /// ε in (0, 1).
    pub fn new(epsilon: f64) -> Result<Self, RateError> {
        inside("the miss rate epsilon", epsilon).map(Self)
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FailureProb {
    /// α in (0, 1).
    pub fn new(alpha: f64) -> Result<Self, RateError> {
        inside("the failure probability alpha", alpha).map(Self)
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// α/G: what each of `groups` guarantees may spend so that all of them hold at once with confidence 1 − α.
    pub fn shared(self, groups: usize) -> Self {
        Self(self.0 / groups.max(1) as f64)
    }

    /// One part of so many, and the rest: two promises that may fail so often both hold with confidence 1 − α.
    pub fn split(self, parts: usize) -> (Self, Self) {
        let part = self.0 / parts.max(2) as f64;
        (Self(part), Self(self.0 - part))
    }
}

impl TryFrom<f64> for MissRate {
    type Error = RateError;
    fn try_from(value: f64) -> Result<Self, RateError> {
        Self::new(value)
    }
}

impl TryFrom<f64> for FailureProb {
    type Error = RateError;
    fn try_from(value: f64) -> Result<Self, RateError> {
        Self::new(value)
    }
}

impl From<MissRate> for f64 {
    fn from(rate: MissRate) -> f64 {
        rate.0
    }
}

impl From<FailureProb> for f64 {
    fn from(rate: FailureProb) -> f64 {
        rate.0
    }
}

/// θ₀: the score from which a person is approved.
///
/// It is kept as a logit, because a bound found among f32 logits must approve exactly the people at it, which a detour
/// through a probability would not promise. [`Threshold::approves`] is the one place where decisions are made.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Threshold {
    logit: f64,
}

impl Threshold {
    /// A score of one half.
    pub const HALF: Self = Self { logit: 0.0 };
    /// Approves everybody.
    pub const ALWAYS: Self = Self { logit: f64::NEG_INFINITY };
    /// Approves nobody.
    pub const NEVER: Self = Self { logit: f64::INFINITY };

    /// The threshold at this logit; NaN approves nobody.
    pub fn from_logit(logit: f64) -> Self {
        Self { logit: if logit.is_nan() { f64::INFINITY } else { logit } }
    }

    /// The threshold at this probability, from 0 (approves everybody) to 1.
    pub fn from_probability(probability: f64) -> Result<Self, RateError> {
        if !(0.0..=1.0).contains(&probability) {
            return Err(RateError { what: "the threshold", value: probability, range: "between 0 and 1" });
        }
        Ok(Self { logit: (probability / (1.0 - probability)).ln() })
    }

    /// θ₀ as a logit.
    pub fn logit(self) -> f64 {
        self.logit
    }

    /// θ₀ as a probability.
    pub fn probability(self) -> f64 {
        probability(self.logit)
    }

    /// f(x) = 1 exactly when g(x) ≥ θ₀.
    pub fn approves(self, logit: f32) -> bool {
        f64::from(logit) >= self.logit
    }
}

/// σ(z) = 1 / (1 + e^(−z)), without overflow for large |z|. By hand: σ(0) = 0.5.
pub fn probability(logit: f64) -> f64 {
    if logit >= 0.0 {
        1.0 / (1.0 + (-logit).exp())
    } else {
        let odds = logit.exp();
        odds / (1.0 + odds)
    }
}

/// A threshold is written as its logit, which decides, and as the score that belongs to it, which people read. The logit
/// ±∞ is not JSON: the two extremes are spelt out.
impl Serialize for Threshold {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.logit {
            f64::INFINITY => serializer.serialize_str("never"),
            f64::NEG_INFINITY => serializer.serialize_str("always"),
            logit => Written { logit, score: self.probability() }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Threshold {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            Both(Written),
            Word(String),
        }
        let wrong = |reason: String| Err(serde::de::Error::custom(reason));
        match Either::deserialize(deserializer)? {
            Either::Both(Written { logit, score }) => {
                let own = probability(logit);
                if (own - score).abs() <= SCORE_ROUNDING {
                    return Ok(Self::from_logit(logit));
                }
                wrong(format!("the threshold's logit {logit} is a score of {own}, but its score is said to be {score}"))
            }
            Either::Word(word) if word == "always" => Ok(Self::ALWAYS),
            Either::Word(word) if word == "never" => Ok(Self::NEVER),
            Either::Word(word) => wrong(format!("`{word}` is not a threshold")),
        }
    }
}

/// A finite threshold in JSON.
#[derive(Serialize, Deserialize)]
struct Written {
    logit: f64,
    score: f64,
}

/// A written score may be rounded by this much.
const SCORE_ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_outside_their_range_are_refused() {
        for wrong in [0.0, 1.0, -0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert!(MissRate::new(wrong).is_err(), "{wrong}");
            assert!(FailureProb::new(wrong).is_err(), "{wrong}");
        }
        assert_eq!(
            MissRate::new(1.5).unwrap_err().to_string(),
            "the miss rate epsilon is 1.5: it must lie strictly between 0 and 1"
        );
    }

    #[test]
    fn a_threshold_found_at_a_logit_approves_it() {
        for logit in [-3.7f32, 0.0, 1.0e-20, 12.5] {
            assert!(Threshold::from_logit(f64::from(logit)).approves(logit));
        }
        assert!(!Threshold::from_logit(f64::NAN).approves(f32::MAX));
        assert!(Threshold::from_probability(0.0).unwrap().approves(f32::MIN));
        assert!(!Threshold::from_probability(1.0).unwrap().approves(f32::MAX));
    }

    #[test]
    fn thresholds_survive_json() {
        for threshold in [Threshold::HALF, Threshold::ALWAYS, Threshold::NEVER, Threshold::from_logit(-1.25)] {
            let text = serde_json::to_string(&threshold).unwrap();
            assert_eq!(serde_json::from_str::<Threshold>(&text).unwrap(), threshold);
        }
        assert_eq!(serde_json::to_string(&Threshold::HALF).unwrap(), r#"{"logit":0.0,"score":0.5}"#);
    }

    #[test]
    fn a_score_that_is_not_its_logits_is_refused() {
        let lie = serde_json::from_str::<Threshold>(r#"{"logit": 0.0, "score": 0.6}"#).unwrap_err().to_string();
        assert_eq!(lie, "the threshold's logit 0 is a score of 0.5, but its score is said to be 0.6");
        assert!(serde_json::from_str::<Threshold>("\"sometimes\"").is_err());
    }
}
