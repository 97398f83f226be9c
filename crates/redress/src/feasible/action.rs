//! Levers, their domains, and the moves that make an action.

/// A feature that a person may change, with how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lever<'a> {
    /// The feature.
    pub feature: usize,
    /// The moves it permits.
    pub domain: &'a Domain,
}

/// The moves a lever permits, as changes in original units from where the person is.
///
/// The domains of a [`FeasibleSet`](super::FeasibleSet) always include staying; a solver may narrow a copy so that they
/// no longer do.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// Any change in `[lo, hi]`.
    Range {
        /// The smallest change.
        lo: f64,
        /// The largest change.
        hi: f64,
    },
    /// A change by `k · step` for a whole `k` in `[lo, hi]`.
    Grid {
        /// The size of a step, positive.
        step: f64,
        /// The fewest steps.
        lo: i64,
        /// The most steps.
        hi: i64,
    },
    /// One of several categories.
    Choice {
        /// The category the person is in.
        from: usize,
        /// The categories the person may be in afterwards, ascending; staying is one of them (`from` is included).
        to: Vec<usize>,
    },
}

/// What is done with one lever; the variant is that of the lever's [`Domain`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Move {
    /// A change by this much, in original units.
    By(f64),
    /// A change by this many steps.
    Steps(i64),
    /// A change to this category.
    To(usize),
}

/// One move a lever, in the order of the levers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Action {
    /// The moves.
    pub moves: Vec<Move>,
}

impl Domain {
    /// The move that changes nothing.
    pub fn stay(&self) -> Move {
        match self {
            Domain::Range { .. } => Move::By(0.0),
            Domain::Grid { .. } => Move::Steps(0),
            Domain::Choice { from, .. } => Move::To(*from),
        }
    }

    /// Whether the move is one of these; never for a move of another kind or a change that is not a number.
    pub fn contains(&self, step: Move) -> bool {
        match (self, step) {
            (Domain::Range { lo, hi }, Move::By(change)) => *lo <= change && change <= *hi,
            (Domain::Grid { lo, hi, .. }, Move::Steps(steps)) => *lo <= steps && steps <= *hi,
            (Domain::Choice { to, .. }, Move::To(category)) => to.contains(&category),
            _ => false,
        }
    }

    /// How many moves there are, where they can be counted.
    pub fn size(&self) -> Option<u128> {
        match self {
            Domain::Range { lo, hi } => (lo == hi).then_some(1),
            Domain::Grid { lo, hi, .. } => Some((hi - lo + 1).max(0) as u128),
            Domain::Choice { to, .. } => Some(to.len() as u128),
        }
    }

    /// The change in original units; 0 for a category, whose change is not a number.
    #[inline]
    pub(super) fn change(&self, step: Move) -> f64 {
        match (self, step) {
            (Domain::Grid { step, .. }, Move::Steps(steps)) => *step * steps as f64,
            (_, Move::By(change)) => change,
            _ => 0.0,
        }
    }

    /// Whether the move leaves the person where they are.
    pub fn stays(&self, step: Move) -> bool {
        self.stay() == step
    }
}
