//! The equation, one function a term:
//!
//! ```text
//! ℓ_R = mean over rows of  w(y)·ℓ(g(x), y)  +  λ · ℓ(g(x + δ*), 1)
//! ```
//!
//! # Differs from the paper
//! The paper writes no weights w(y); its released code has them, in the first term only, and without them the printed
//! F1 is out of reach. They are a setting.

/// ℓ(z, y) = ln(1 + eᶻ) − y·z: the cross-entropy of the probability σ(z) against the label y, without overflow.
///
/// By hand: ℓ(0, 1) = ln 2 = 0.6931.
pub fn loss(logit: f32, label: bool) -> f32 {
    let towards = if label { logit } else { -logit };
    (-towards).max(0.0) + (-towards.abs()).exp().ln_1p()
}

/// ∂ℓ/∂z = σ(z) − y. Negative for a favourable label: a higher logit *lowers* that loss.
///
/// Written as ±σ(∓z), which keeps its sign where σ(z) − 1 would round to 0. By hand: −½ at (0, 1), ½ at (0, 0).
pub fn slope(logit: f32, label: bool) -> f32 {
    if label { -1.0 / (1.0 + logit.exp()) } else { 1.0 / (1.0 + (-logit).exp()) }
}

/// w(y): what a row weighs in the first term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassWeights {
    /// w(1).
    pub favourable: f32,
    /// w(0).
    pub unfavourable: f32,
}

impl ClassWeights {
    /// Every row weighs 1.
    pub const EVEN: ClassWeights = ClassWeights { favourable: 1.0, unfavourable: 1.0 };

    /// The rarer class weighs as much as the other: its rows count `larger / smaller`, the others 1.
    ///
    /// By hand: 1 favourable row of 4 weighs 3.
    pub fn of(labels: &[bool]) -> ClassWeights {
        let yes = labels.iter().filter(|&&label| label).count();
        let no = labels.len() - yes;
        if yes == 0 || no == 0 {
            return ClassWeights::EVEN;
        }
        let ratio = yes as f32 / no as f32;
        ClassWeights { favourable: (1.0 / ratio).max(1.0), unfavourable: ratio.max(1.0) }
    }

    /// w(y).
    pub fn weight(&self, label: bool) -> f32 {
        if label { self.favourable } else { self.unfavourable }
    }
}

/// The first term of one row: w(y)·ℓ(g(x), y).
pub fn supervised(weights: &ClassWeights, logit: f32, label: bool) -> f32 {
    weights.weight(label) * loss(logit, label)
}

/// The second term of one row: λ·ℓ(g(x + δ*), 1).
pub fn recourse(lambda: f32, moved_logit: f32) -> f32 {
    lambda * loss(moved_logit, true)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_by_hand() {
        assert!((loss(0.0, true) - std::f32::consts::LN_2).abs() < 1e-7);
        assert!((loss(2.0, false) - 2.126_928).abs() < 1e-6);
        assert_eq!((slope(0.0, true), slope(0.0, false)), (-0.5, 0.5));
        let weights = ClassWeights::of(&[true, false, false, false]);
        assert_eq!(weights, ClassWeights { favourable: 3.0, unfavourable: 1.0 });
        assert_eq!(ClassWeights::of(&[true, true, false]), ClassWeights { favourable: 1.0, unfavourable: 2.0 });
        assert!((supervised(&weights, 0.0, true) - 3.0 * std::f32::consts::LN_2).abs() < 1e-6);
        assert!((recourse(0.8, 0.0) - 0.8 * std::f32::consts::LN_2).abs() < 1e-6);
    }

    #[test]
    fn a_sure_yes_still_has_a_slope() {
        assert!(slope(30.0, true) < 0.0 && slope(-30.0, false) > 0.0);
        assert_eq!((loss(500.0, true), loss(-500.0, true)), (0.0, 500.0));
    }

    proptest! {
        #[test]
        fn the_slope_is_the_derivative_of_the_loss(logit in -20.0f32..20.0, label: bool) {
            let exact = |z: f64| if label { (-z).exp().ln_1p() } else { z.exp().ln_1p() };
            let z = f64::from(logit);
            prop_assert!((f64::from(loss(logit, label)) - exact(z)).abs() < 1e-5);
            let difference = (exact(z + 1e-5) - exact(z - 1e-5)) / 2e-5;
            prop_assert!((f64::from(slope(logit, label)) - difference).abs() < 1e-5);
        }
    }
}
