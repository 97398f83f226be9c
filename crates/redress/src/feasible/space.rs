//! The policy compiled against an encoding: what is the same for everybody.

use std::sync::Arc;

use super::compile::{self, SpaceError};
use super::limits::Limits;
use super::set::FeasibleSet;
use crate::encoding::Encoding;
use crate::policy::{Overrides, Policy};

/// Whether numbers move in the policy's steps or freely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lattice {
    /// As the policy says: whole numbers in whole steps, and so on.
    #[default]
    AsPolicy,
    /// Numbers and whole numbers change by any real amount, the paper's real-valued δ. Yes/no, ordered and unordered
    /// categories stay what they are.
    Continuous,
}

/// One lever: a feature that a person may change, before the person is known.
#[derive(Debug, Clone, PartialEq)]
pub struct LeverRule {
    /// The feature.
    pub feature: usize,
    /// The first column of a point that belongs to it; the only one unless it is a category.
    pub column: usize,
    /// How far it may move.
    pub reach: Reach,
}

/// How far a lever may move.
#[derive(Debug, Clone, PartialEq)]
pub enum Reach {
    /// Numbers, yes/no (0 and 1) and ranks.
    Number(Limits),
    /// For each category, the categories one may be in afterwards, ascending and with itself.
    Category(Vec<Vec<usize>>),
}

/// What all feasible sets of a policy share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shared {
    pub encoding: Encoding,
    pub levers: Vec<LeverRule>,
    /// The features that links move.
    pub effects: Vec<EffectRule>,
    pub links: Vec<LinkRule>,
    pub rows: Vec<RowRule>,
    pub lattice: Lattice,
    pub is_box: bool,
}

/// A feature that moves only as a consequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct EffectRule {
    pub feature: usize,
    pub min: f64,
    pub max: f64,
}

/// A compiled link; `lever` and `effect` are positions in [`Shared`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LinkRule {
    pub lever: usize,
    pub on: On,
    pub effect: usize,
    pub amount: f64,
    pub each: bool,
}

/// Which move of the lever sets a link off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum On {
    Up,
    Down,
    Any,
    /// It becomes this value (numeric form), having been another.
    Value(f64),
}

/// `Σ coefficient · change ≤ bound` over the changes of levers and effects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowRule {
    pub levers: Vec<(usize, f64)>,
    pub effects: Vec<(usize, f64)>,
    pub bound: f64,
}

/// A policy compiled against an encoding. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionSpace {
    shared: Arc<Shared>,
}

impl ActionSpace {
    /// Compiles a policy. Its features must be those of the encoding, in the same order.
    ///
    /// A number that may grow without a `max` or a `max_change` may grow up to the largest training value, and likewise
    /// down: nobody is sent where no training row ever was.
    pub fn new(policy: &Policy, encoding: &Encoding, lattice: Lattice) -> Result<Self, SpaceError> {
        Ok(Self { shared: Arc::new(compile::shared(policy, encoding, lattice)?) })
    }

    /// The levers, in the order of the policy's features.
    pub fn levers(&self) -> &[LeverRule] {
        &self.shared.levers
    }

    /// The encoding it was compiled against.
    pub fn encoding(&self) -> &Encoding {
        &self.shared.encoding
    }

    /// Whether numbers move in the policy's steps.
    pub fn lattice(&self) -> Lattice {
        self.shared.lattice
    }

    /// Whether every Δ(x) is a box in encoded space (possibly of lattice points): no rows between levers, no links and
    /// no choice of categories.
    pub fn is_box(&self) -> bool {
        self.shared.is_box
    }

    /// The feasible set of one person, narrowed by what their input says about them alone.
    pub fn feasible(&self, person: &[f64], overrides: Option<&Overrides>) -> Result<FeasibleSet, SpaceError> {
        FeasibleSet::new(&self.shared, person, overrides)
    }

    /// Writes, for each lever, the smallest and the largest value its encoded column can take after an action: where the
    /// column may be, not by how much it changes. On a lattice these are the outermost lattice points. With
    /// [`ActionSpace::is_box`] the minimum of a linear function over Δ(x) is at these ends, lever by lever. The columns
    /// are [`LeverRule::column`]. Allocates nothing; overrides are not considered (see [`ActionSpace::feasible`]).
    ///
    /// A category's entry is the range of its first column and says nothing about the others.
    pub fn bounds(&self, person: &[f64], lo: &mut [f32], hi: &mut [f32]) {
        let encoding = &self.shared.encoding;
        for (rule, (lo, hi)) in self.shared.levers.iter().zip(lo.iter_mut().zip(hi)) {
            match &rule.reach {
                Reach::Number(limits) => {
                    let (low, high) = limits.reach(person[rule.feature]);
                    (*lo, *hi) = (encoding.scaled(rule.feature, low), encoding.scaled(rule.feature, high));
                }
                Reach::Category(moves) => {
                    let first = moves.get(person[rule.feature] as usize).map_or(&[][..], Vec::as_slice);
                    *lo = if first == [0] { 1.0 } else { 0.0 };
                    *hi = if first.contains(&0) { 1.0 } else { 0.0 };
                }
            }
        }
    }
}
