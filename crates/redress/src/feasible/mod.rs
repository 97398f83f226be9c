//! Δ(x): what one person may change, in levers a solver can pull.
