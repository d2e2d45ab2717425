//! The waiting time before a service is asked again.

use std::time::Duration;

use chrono::DateTime;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use super::environment::RetryPolicy;

/// Returns the pause after `failed` tries. It doubles with each failure, and the seed picks a value between half and all of it, so that
/// many clients do not return at the same moment.
pub fn retry_pause(retries: &RetryPolicy, seed: u64, failed: u32) -> Duration {
    let doubled = retries.first_pause.saturating_mul(
        1_u32
            .checked_shl(failed.saturating_sub(1))
            .unwrap_or(u32::MAX),
    );
    let most = doubled.min(retries.longest_pause);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(u64::from(failed));
    let share = f64::from(random.next_u32()) / f64::from(u32::MAX);
    most.mul_f64(0.5 + share / 2.0)
}

/// Parses `Retry-After`: seconds, or a date. A date is relative to the response's own `Date`, so clocks need not agree.
pub fn parse_retry_after(value: &str, date: Option<&str>) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = DateTime::parse_from_rfc2822(value).ok()?;
    let from = DateTime::parse_from_rfc2822(date?.trim()).ok()?;
    Some((until - from).to_std().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_repeat_with_the_seed() {
        let retries = RetryPolicy::default();
        for (failed, most) in [
            (1, 1.0),
            (2, 2.0),
            (3, 4.0),
            (4, 8.0),
            (7, 60.0),
            (40, 60.0),
        ] {
            for seed in 0..50 {
                let seconds = retry_pause(&retries, seed, failed).as_secs_f64();
                assert!(
                    (most / 2.0..=most).contains(&seconds),
                    "{failed} {seed}: {seconds}"
                );
            }
        }
        assert_eq!(retry_pause(&retries, 7, 3), retry_pause(&retries, 7, 3));
        assert_ne!(retry_pause(&retries, 7, 3), retry_pause(&retries, 8, 3));
        assert_ne!(
            retry_pause(&retries, 7, 1).mul_f64(2.0),
            retry_pause(&retries, 7, 2)
        );
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(parse_retry_after(" 7 ", None), Some(Duration::from_secs(7)));
        assert_eq!(
            parse_retry_after("0.5", None),
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            parse_retry_after("Wed, 21 Oct 2015 07:29:30 GMT", date),
            Some(Duration::from_secs(90))
        );
        assert_eq!(
            parse_retry_after("Wed, 21 Oct 2015 07:00:00 GMT", date),
            Some(Duration::ZERO)
        );
        for value in [
            "",
            "-1",
            "NaN",
            "inf",
            "1e300",
            "soon",
            "Wed, 21 Oct 2015 07:29:30 GMT",
        ] {
            assert_eq!(parse_retry_after(value, None), None, "{value}");
        }
    }
}
