//! Which numbers records may hold.
//!
//! Everything that is computed of such numbers is finite: sums over millions of runs, fourth powers, and ratios. Beyond them are only
//! mistakes and attacks, which would show as `NaN` or infinity somewhere.

/// Largest amount: a billion dollars, or seconds of 31 years.
const MAX_AMOUNT: f64 = 1e9;
/// Smallest amount above zero. What a subtraction leaves of binary fractions is far larger.
const MIN_AMOUNT: f64 = 1e-30;
/// Largest distance of a score or another figure from zero, and the smallest except zero itself.
const MAX_FIGURE: f64 = 1e60;
const MIN_FIGURE: f64 = 1e-60;
/// Largest count of tokens, calls, files and the like. Sums over a million runs still fit.
const MAX_COUNTED: u64 = 10_000_000_000_000;

/// Returns whether a number can be an amount: dollars or seconds.
pub fn is_amount(number: f64) -> bool {
    number == 0.0 || (MIN_AMOUNT..=MAX_AMOUNT).contains(&number)
}

/// Returns whether a number can be a figure: a score, or what a source publishes.
pub fn is_figure(number: f64) -> bool {
    number == 0.0 || (MIN_FIGURE..=MAX_FIGURE).contains(&number.abs())
}

/// Returns whether a number can be a count of tokens, calls or files.
pub fn is_count(number: u64) -> bool {
    number <= MAX_COUNTED
}

/// Says why a number is no amount, or returns `None` if it is one.
pub fn amount_problem(number: f64) -> Option<String> {
    if is_amount(number) {
        None
    } else if number < 0.0 {
        Some("is negative".to_owned())
    } else {
        Some(format!(
            "is {number:e}; an amount is 0, or from {MIN_AMOUNT:e} to {MAX_AMOUNT:e}"
        ))
    }
}

/// Says why a number is no figure, or returns `None` if it is one.
pub fn figure_problem(number: f64) -> Option<String> {
    (!is_figure(number)).then(|| {
        format!(
            "is {number:e}; a number is 0, or from {MIN_FIGURE:e} to {MAX_FIGURE:e}, with either sign"
        )
    })
}

/// Says why a number is no count, or returns `None` if it is one.
pub fn count_problem(number: u64) -> Option<String> {
    (!is_count(number)).then(|| format!("is {number}; a count is at most {MAX_COUNTED}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_figures_and_counts_are_those_that_can_be_computed_with() {
        for number in [0.0, -0.0, 1e-30, 5.5e-17, 0.25, 1e9] {
            assert!(
                is_amount(number) && is_figure(number) && is_figure(-number),
                "{number:e}"
            );
        }
        for number in [
            -1e-30,
            -1.0,
            5e-324,
            1e-31,
            1.1e9,
            1e300,
            f64::INFINITY,
            f64::NAN,
        ] {
            assert!(amount_problem(number).is_some(), "{number:e}");
        }
        for number in [5e-324, 1e-61, 1e61, 1.7e308, f64::NEG_INFINITY, f64::NAN] {
            assert!(figure_problem(number).is_some(), "{number:e}");
        }
        assert_eq!(amount_problem(-2.0).as_deref(), Some("is negative"));
        assert_eq!(
            amount_problem(1e300).as_deref(),
            Some("is 1e300; an amount is 0, or from 1e-30 to 1e9")
        );
        assert!(is_count(0) && is_count(10_000_000_000_000) && count_problem(1 << 53).is_some());
    }
}
