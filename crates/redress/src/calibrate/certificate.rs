//! The certificate: what was promised, on which evidence, about which model.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{
    FailureProb, MissRate, Threshold, allowed_misses,
    pare::{Bound, GroupBound},
};

/// The version of the certificate's JSON.
const VERSION: u32 = 1;

/// A promise that can be checked: with confidence 1 − α, at least 1 − ε of people like the calibration rows are approved
/// at the threshold or have a permitted action, found by `solver`, that gets them there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    version: u32,
    /// The day it was made, as the caller gave it.
    pub date: Option<String>,
    /// The bound over everybody.
    pub overall: Bound,
    /// The bounds for each group, where groups were asked for.
    pub groups: Vec<GroupBound>,
    /// The threshold in force, at or below every bound.
    pub threshold: Threshold,
    /// The solver that stands for `A`.
    pub solver: String,
    /// What it is about.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// What a certificate is about: hashes of the policy's text, the calibration rows and the weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// SHA-256 of the policy's text.
    pub policy_sha256: String,
    /// SHA-256 of the calibration rows as the model saw them.
    pub data_sha256: String,
    /// SHA-256 of the model's weights.
    pub model_sha256: String,
}

/// What a certificate gets wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CertificateFault {
    /// It was written by a later redress.
    #[error("the certificate has version {found}; this redress reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// k does not follow from n, ε and α.
    #[error("{who}: {n} rows allow {expected} misses, the certificate says {found}")]
    Misses {
        /// Whose bound.
        who: String,
        /// Its rows.
        n: u64,
        /// k(n, ε, α): a number, or "no number of".
        expected: String,
        /// What it says.
        found: u64,
    },
    /// The threshold lies above a bound.
    #[error("{who}: the threshold {threshold:.6} lies above the bound {bound:.6} (logits)")]
    AboveBound {
        /// Whose bound.
        who: String,
        /// The threshold's logit.
        threshold: f64,
        /// The bound's logit.
        bound: f64,
    },
    /// Groups do not share α.
    #[error("{who}: alpha is {found}, but {groups} groups share {alpha}")]
    Shares {
        /// Whose bound.
        who: String,
        /// Its α.
        found: f64,
        /// How many groups there are.
        groups: usize,
        /// α overall.
        alpha: f64,
    },
    /// It speaks about something else.
    #[error("the certificate is about another {what}: its SHA-256 is {found}, this one's is {expected}")]
    Hash {
        /// "model" or "policy".
        what: &'static str,
        /// The certificate's.
        found: String,
        /// The one at hand.
        expected: String,
    },
}

impl Certificate {
    /// A certificate of these bounds for a threshold at or below all of them.
    pub fn new(
        overall: Bound,
        groups: Vec<GroupBound>,
        threshold: Threshold,
        solver: &str,
        evidence: Evidence,
        date: Option<String>,
    ) -> Self {
        Self { version: VERSION, date, overall, groups, threshold, solver: solver.to_owned(), evidence }
    }

    /// Everything that does not follow from the certificate's own numbers, or from these hashes.
    pub fn faults(&self, policy_sha256: &str, model_sha256: &str) -> Vec<CertificateFault> {
        if self.version != VERSION {
            return vec![CertificateFault::Version { found: self.version }];
        }
        let mut faults = self.bound_faults("everybody", &self.overall);
        let share = self.overall.alpha.shared(self.groups.len()).get();
        for group in &self.groups {
            let who = format!("{} = {}", group.column, group.value);
            faults.extend(self.bound_faults(&who, &group.bound));
            let found = group.bound.alpha.get();
            let shares = (found - share).abs() <= 1e-12;
            if !shares {
                let (groups, alpha) = (self.groups.len(), self.overall.alpha.get());
                faults.push(CertificateFault::Shares { who, found, groups, alpha });
            }
        }
        let Evidence { policy_sha256: policy, model_sha256: model, .. } = &self.evidence;
        for (what, found, expected) in [("policy", policy, policy_sha256), ("model", model, model_sha256)] {
            if found != expected {
                faults.push(CertificateFault::Hash { what, found: found.clone(), expected: expected.to_owned() });
            }
        }
        faults
    }

    /// The faults of one bound: k must follow from n, ε, α, and the threshold must not pass it.
    fn bound_faults(&self, who: &str, bound: &Bound) -> Vec<CertificateFault> {
        let mut faults = Vec::new();
        let expected = allowed_misses(bound.n, bound.epsilon, bound.alpha);
        if expected != Some(bound.k) {
            let expected = expected.map_or("no number of".to_owned(), |k| k.to_string());
            faults.push(CertificateFault::Misses { who: who.to_owned(), n: bound.n, expected, found: bound.k });
        }
        if self.threshold > bound.threshold {
            faults.push(CertificateFault::AboveBound {
                who: who.to_owned(),
                threshold: self.threshold.logit(),
                bound: bound.threshold.logit(),
            });
        }
        faults
    }

    /// The promise in one sentence, for reports and terminals.
    pub fn sentence(&self) -> String {
        promise(self.overall.epsilon, self.overall.alpha, !self.groups.is_empty())
    }
}

/// A PARE guarantee in one sentence, for everybody or in every group.
pub fn promise(epsilon: MissRate, alpha: FailureProb, in_groups: bool) -> String {
    let percent = |share: f64| {
        let digits = format!("{:.4}", share * 100.0);
        digits.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let whom = if in_groups { " in every named group" } else { "" };
    format!(
        "With {}% confidence, at least {} in 100 people like these{whom} are approved or can reach approval by a change the \
         policy permits.",
        percent(1.0 - alpha.get()),
        percent(1.0 - epsilon.get()),
    )
}

/// The lowest of these bounds: what the threshold must not pass.
pub fn ceiling(overall: &Bound, groups: &[GroupBound]) -> Threshold {
    let lower = |low, next| if next < low { next } else { low };
    groups.iter().map(|group| group.bound.threshold).fold(overall.threshold, lower)
}

/// SHA-256 as lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of everything a reader gives, in constant memory.
pub fn sha256_of(mut reader: impl std::io::Read) -> std::io::Result<String> {
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            count => digest.update(&buffer[..count]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibrate::{FailureProb, MissRate, pare};

    fn certificate() -> Certificate {
        let scores: Vec<f32> = (0..735).map(|row| row as f32 / 100.0).collect();
        let overall = pare::bound(&scores, MissRate::new(0.05).unwrap(), FailureProb::new(0.05).unwrap()).unwrap();
        let evidence = Evidence { policy_sha256: "p".into(), data_sha256: "d".into(), model_sha256: "m".into() };
        Certificate::new(overall, Vec::new(), Threshold::from_logit(0.1), "lp", evidence, Some("2026-01-01".into()))
    }

    #[test]
    fn a_true_certificate_has_no_faults_and_survives_json() {
        let certificate = certificate();
        assert_eq!(certificate.faults("p", "m"), []);
        let text = serde_json::to_string(&certificate).unwrap();
        assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
    }

    #[test]
    fn every_lie_is_found() {
        let mut wrong_k = certificate();
        wrong_k.overall.k += 1;
        assert!(matches!(wrong_k.faults("p", "m")[..], [CertificateFault::Misses { n: 735, found: 27, .. }]));
        let mut too_high = certificate();
        too_high.threshold = Threshold::from_logit(5.0);
        assert!(matches!(too_high.faults("p", "m")[..], [CertificateFault::AboveBound { .. }]));
        assert!(matches!(certificate().faults("q", "m")[..], [CertificateFault::Hash { what: "policy", .. }]));
        assert!(matches!(certificate().faults("p", "n")[..], [CertificateFault::Hash { what: "model", .. }]));
    }

    #[test]
    fn the_promise_reads_well() {
        assert_eq!(
            certificate().sentence(),
            "With 95% confidence, at least 95 in 100 people like these are approved or can reach approval by a change \
             the policy permits."
        );
    }
}
