//! Estimates from repeated attempts at a task: the probability that any of k passes, and that all k pass.
//!
//! Both are estimated per task and then averaged over tasks. Pooling the counts of several tasks would estimate something else.

use super::Undefined;

/// The probability that at least one of `k` attempts passes, from `c` passes in `n` attempts (Chen et al. 2021, "Evaluating Large Language
/// Models Trained on Code"): 1 − C(n − c, k) / C(n, k).
///
/// Undefined with fewer than `k` attempts, because the estimate would depend on their number.
pub fn pass_at_k(n: u64, c: u64, k: u64) -> Result<f64, Undefined> {
    check_attempts(n, c, k)?;
    // Computing 1 − (1 − c/n) would lose the last digit of a plain rate.
    if k == 1 {
        return Ok(c as f64 / n as f64);
    }
    Ok(1.0 - none_drawn(n, c, k))
}

/// The probability that all of `k` attempts pass, from `c` passes in `n` attempts (Yao et al. 2024, "τ-bench"): C(c, k) / C(n, k).
///
/// Undefined with fewer than `k` attempts.
pub fn pass_hat_k(n: u64, c: u64, k: u64) -> Result<f64, Undefined> {
    check_attempts(n, c, k)?;
    Ok(none_drawn(n, n - c, k))
}

/// The mean over tasks of [`pass_at_k`]; a task is (attempts, passes).
///
/// Undefined if any task has fewer than `k` attempts: skipping it would change which tasks the number describes.
pub fn mean_pass_at_k(tasks: &[(u64, u64)], k: u64) -> Result<f64, Undefined> {
    mean_over_tasks(tasks, k, pass_at_k)
}

/// The mean over tasks of [`pass_hat_k`]; a task is (attempts, passes). Undefined in the same cases as [`mean_pass_at_k`].
pub fn mean_pass_hat_k(tasks: &[(u64, u64)], k: u64) -> Result<f64, Undefined> {
    mean_over_tasks(tasks, k, pass_hat_k)
}

fn mean_over_tasks(
    tasks: &[(u64, u64)],
    k: u64,
    of_task: fn(u64, u64, u64) -> Result<f64, Undefined>,
) -> Result<f64, Undefined> {
    if tasks.is_empty() {
        return Err(Undefined::NoData);
    }
    let total = tasks
        .iter()
        .map(|&(n, c)| of_task(n, c, k))
        .sum::<Result<f64, Undefined>>()?;
    Ok(total / tasks.len() as f64)
}

fn check_attempts(n: u64, c: u64, k: u64) -> Result<(), Undefined> {
    if c > n || k == 0 {
        return Err(Undefined::OutOfRange);
    }
    if n == 0 {
        return Err(Undefined::NoData);
    }
    if n < k {
        Err(Undefined::TooFew)
    } else {
        Ok(())
    }
}

/// C(n − marked, k) / C(n, k): the probability that `k` of `n` drawn without replacement include no marked one.
///
/// The ratio is symmetric in `k` and `marked`, so the product runs over the smaller of them and needs no factorial.
fn none_drawn(n: u64, marked: u64, k: u64) -> f64 {
    if n - marked < k {
        return 0.0;
    }
    let (few, many) = if k < marked { (k, marked) } else { (marked, k) };
    (0..few)
        .map(|i| (n - many - i) as f64 / (n - i) as f64)
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        // 2 of 5 passed: of the 10 pairs, 3 have no pass and 1 has two.
        assert!((pass_at_k(5, 2, 2).expect("enough") - 0.7).abs() < 1e-15);
        assert!((pass_hat_k(5, 2, 2).expect("enough") - 0.1).abs() < 1e-15);
        assert_eq!(
            (pass_at_k(3, 1, 1), pass_hat_k(3, 1, 1)),
            (Ok(1.0 / 3.0), Ok(1.0 / 3.0))
        );
        assert_eq!(
            (pass_at_k(4, 0, 2), pass_hat_k(4, 0, 2)),
            (Ok(0.0), Ok(0.0))
        );
        assert_eq!(
            (pass_at_k(4, 4, 2), pass_hat_k(4, 4, 2)),
            (Ok(1.0), Ok(1.0))
        );
        assert_eq!(
            mean_pass_at_k(&[(5, 2), (2, 0)], 2).map(|mean| (mean * 100.0).round()),
            Ok(35.0)
        );
        assert_eq!(
            mean_pass_hat_k(&[(5, 2), (2, 2)], 2).map(|mean| (mean * 100.0).round()),
            Ok(55.0)
        );
    }

    #[test]
    fn many_attempts_neither_overflow_nor_crawl() {
        // With replacement the two are 1 − 0.5^20 and 0.5^20; a million attempts come close.
        let half = 0.5f64.powi(20);
        let hat = pass_hat_k(1_000_000, 500_000, 20).expect("enough");
        assert!((hat / half - 1.0).abs() < 1e-3, "{hat}");
        assert!((pass_at_k(1_000_000, 500_000, 20).expect("enough") - (1.0 - half)).abs() < 1e-9);
        assert!((pass_at_k(u64::MAX, 1, 1 << 63).expect("enough") - 0.5).abs() < 1e-12);
    }

    #[test]
    fn too_few_attempts_have_no_value() {
        assert_eq!(pass_at_k(3, 1, 5), Err(Undefined::TooFew));
        assert_eq!(pass_hat_k(0, 0, 1), Err(Undefined::NoData));
        assert_eq!(pass_hat_k(2, 3, 1), Err(Undefined::OutOfRange));
        assert_eq!(pass_at_k(2, 1, 0), Err(Undefined::OutOfRange));
        assert_eq!(mean_pass_at_k(&[(5, 2), (2, 1)], 3), Err(Undefined::TooFew));
        assert_eq!(mean_pass_at_k(&[], 3), Err(Undefined::NoData));
    }

    proptest::proptest! {
        #[test]
        fn one_pass_and_no_failure_mirror(n in 1u64..60, share in 0.0f64..=1.0, k in 1u64..60) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small count")]
            let c = (share * n as f64) as u64;
            proptest::prop_assume!(k <= n);
            let at = pass_at_k(n, c, k).expect("enough");
            let hat = pass_hat_k(n, c, k).expect("enough");
            proptest::prop_assert!(hat <= at + 1e-12);
            // All of k fail exactly if none passes.
            let all_fail = pass_hat_k(n, n - c, k).expect("enough");
            proptest::prop_assert!((at - (1.0 - all_fail)).abs() < 1e-12);
        }
    }
}
