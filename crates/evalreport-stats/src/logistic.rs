//! The logistic function and its integral.

/// Returns the chance at these log odds.
pub(super) fn logistic(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// Returns ln(1 + e^odds) without overflow: minus the logarithm of the chance to fail.
pub(super) fn softplus(odds: f64) -> f64 {
    odds.max(0.0) + (-odds.abs()).exp().ln_1p()
}
