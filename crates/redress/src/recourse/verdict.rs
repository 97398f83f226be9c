//! The answer every solver gives.

use super::{Meter, Plan, Spent};

/// What can be said about one person.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The model says yes already.
    Approved {
        /// The logit of the person as they are.
        logit: f32,
    },
    /// Ways to a yes, ranked, at least one.
    Recourse(Vec<Plan>),
    /// No way to a yes, or none that this solver found.
    NoRecourse(Absence),
    /// The budget ran out first.
    Unknown {
        /// What was spent.
        spent: Spent,
        /// The highest logit seen at a permitted point.
        best_logit: f32,
    },
}

/// How sure a missing way is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Absence {
    /// A proof: no permitted point has a logit above `upper`, and `upper` lies below the threshold.
    Proven {
        /// The highest logit reached at a permitted point.
        best_logit: f32,
        /// A sound upper bound on the logit over Δ(x), rounding included.
        upper: f64,
    },
    /// This solver looked and did not find one; another may.
    NotFound {
        /// The highest logit reached at a permitted point.
        best_logit: f32,
    },
}

impl Verdict {
    /// The budget ran out, and this was the highest logit at a permitted point.
    pub(super) fn unknown(meter: &Meter, best_logit: f32) -> Self {
        Verdict::Unknown { spent: meter.spent(), best_logit }
    }

    /// The budget ran out before the model was asked about anything.
    pub(super) fn nothing_known(meter: &Meter) -> Self {
        Self::unknown(meter, f32::NEG_INFINITY)
    }

    /// The cheapest plan, where there is one.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Verdict::Recourse(plans) => plans.first(),
            _ => None,
        }
    }

    /// Whether the person is approved or has a way to be.
    pub fn reaches_yes(&self) -> bool {
        matches!(self, Verdict::Approved { .. } | Verdict::Recourse(_))
    }

    /// One word for tables and files: `approved`, `recourse`, `no_recourse_proven`, `no_recourse_found`, `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Approved { .. } => "approved",
            Verdict::Recourse(_) => "recourse",
            Verdict::NoRecourse(Absence::Proven { .. }) => "no_recourse_proven",
            Verdict::NoRecourse(Absence::NotFound { .. }) => "no_recourse_found",
            Verdict::Unknown { .. } => "unknown",
        }
    }
}
