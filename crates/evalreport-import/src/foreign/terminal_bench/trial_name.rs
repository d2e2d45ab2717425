//! Reads a trial's attempt from its name.

/// Maximum number of attempts. A larger number in a name is ignored.
pub(super) const MAX_ATTEMPTS: u64 = 100_000;

/// Reads the number of the attempt and the run's id from a trial's name: `<task>.<k>-of-<n>.<run>`.
pub(super) fn parse_trial_name(name: &str, task: &str) -> Option<(u32, String)> {
    let (number, rest) = name
        .strip_prefix(task)?
        .strip_prefix('.')?
        .split_once("-of-")?;
    let run = rest
        .split_once('.')
        .map(|(_, run)| run.to_owned())
        .unwrap_or_default();
    Some((number.parse().ok().filter(|number| *number > 0)?, run))
        .filter(|_| rest.starts_with(|first: char| first.is_ascii_digit()))
}

/// Reads the total number of attempts from a trial's name.
pub(super) fn parse_attempt_count(name: &str, task: &str) -> Option<u64> {
    parse_trial_name(name, task)?;
    let of = name.strip_prefix(task)?.split_once("-of-")?.1;
    of.split('.')
        .next()?
        .parse()
        .ok()
        .filter(|of| *of <= MAX_ATTEMPTS)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn names_number_the_attempts() {
        let run = |id: &str| id.to_owned();
        assert_eq!(
            parse_trial_name("hello.world.2-of-5.2025-06-01__10-00", "hello.world"),
            Some((2, run("2025-06-01__10-00")))
        );
        assert_eq!(
            parse_trial_name("hello.1-of-1", "hello"),
            Some((1, run("")))
        );
        for name in [
            "hello",
            "hello.x-of-2",
            "other.1-of-1",
            "hello.0-of-1",
            "hello.1-of-",
        ] {
            assert_eq!(parse_trial_name(name, "hello"), None, "{name}");
        }
    }
}
