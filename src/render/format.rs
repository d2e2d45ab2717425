//! Formats numbers, for all outputs.

use chrono::{DateTime, SecondsFormat, Utc};

use crate::domain::{Unit, group_digits};
pub use crate::domain::{format_count, format_integer};
use crate::views::{Estimate, Interval};

/// The typographic minus: as wide as the plus, and distinct from a dash or an option.
const MINUS: char = '\u{2212}';

/// Returns how many decimals a percentage of `n` outcomes supports: one outcome changes the last digit.
pub fn percent_decimals(n: u64) -> usize {
    match n {
        0..100 => 0,
        100..10_000 => 1,
        _ => 2,
    }
}

/// Formats a share in percent, such as `85%`, `51.6%` or `52.01%`, as precisely as n allows.
///
/// Never rounds a share below 1 to 100%, nor one above 0 to 0%, unless not even four decimals tell them apart.
pub fn percent(share: f64, n: u64) -> String {
    format!("{}%", percent_number(share, n))
}

/// Formats a share in percent with the decimals that its source gave, at most two, without the percent sign.
pub fn published_percent_number(share: f64) -> String {
    let text = fixed_decimals(without_noise(share * 100.0), 2);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a share like [`percent`], without the percent sign.
pub fn percent_number(share: f64, n: u64) -> String {
    let value = without_noise(share * 100.0);
    let (own, size) = (percent_decimals(n), value.abs());
    let hides = |decimals: usize| {
        (size < 100.0 && rounds_to(size, decimals, 100.0))
            || (size > 0.0 && rounds_to(size, decimals, 0.0))
    };
    // What no fourth decimal shows is noise.
    fixed_decimals(
        value,
        (own..=MAX_DECIMALS)
            .find(|decimals| !hides(*decimals))
            .unwrap_or(own),
    )
}

/// Maximum number of decimals of a percentage that is nearly 0 or 100.
const MAX_DECIMALS: usize = 4;

fn rounds_to(value: f64, decimals: usize, target: f64) -> bool {
    round_half_up(value.abs(), decimals)
        .parse::<f64>()
        .is_ok_and(|rounded| (rounded - target).abs() < f64::EPSILON)
}

/// Number of reliable digits. The digits behind them depend on how a number was computed: 47 of 80 passed, and the mean of four runs'
/// shares of it, are 58.75 and 58.749999999999993.
const RELIABLE_DIGITS: usize = 12;

/// Rounds a number to [`RELIABLE_DIGITS`] digits.
fn without_noise(value: f64) -> f64 {
    format!("{value:.*e}", RELIABLE_DIGITS - 1)
        .parse()
        .unwrap_or(value)
}

/// Rounds a number of at least 0 half up in decimal, after removing noise behind the reliable digits.
///
/// Otherwise equal shares could print differently: `format!` rounds the binary number, which may be on either side of its decimal, and
/// rounds an exact half to the even digit.
fn round_half_up(value: f64, decimals: usize) -> String {
    let digits = format!("{value:.*e}", RELIABLE_DIGITS - 1);
    let magnitude = digits
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse::<isize>().ok())
        .unwrap_or(0);
    let known = (RELIABLE_DIGITS - 1).saturating_add_signed(-magnitude);
    if known <= decimals || !value.is_finite() {
        // There is nothing to round: all reliable digits are shown.
        return format!("{value:.decimals$}");
    }
    let text = format!("{:.known$}", without_noise(value));
    let (kept, behind) = text.split_at(text.len() - (known - decimals));
    let kept = kept.trim_end_matches('.');
    if behind.starts_with(|digit: char| digit >= '5') {
        increment_last_digit(kept)
    } else {
        kept.to_owned()
    }
}

/// Adds one to the last digit of a decimal number.
fn increment_last_digit(number: &str) -> String {
    let mut carries = true;
    let mut reversed: Vec<char> = Vec::with_capacity(number.len() + 1);
    for character in number.chars().rev() {
        reversed.push(match character {
            '9' if carries => '0',
            '0'..='8' if carries => {
                carries = false;
                char::from_u32(u32::from(character) + 1).unwrap_or(character)
            }
            other => other,
        });
    }
    if carries {
        reversed.push('1');
    }
    reversed.into_iter().rev().collect()
}

/// Formats an estimate with its interval in percent: `52.0 [47.8, 56.2]`, or the value alone.
pub fn estimate_with_interval(estimate: &Estimate) -> String {
    let n = estimate.total.unwrap_or(estimate.n).max(estimate.n);
    let value = percent_number(estimate.value, n);
    match estimate.interval {
        Some(interval) => format!(
            "{value} [{}, {}]",
            interval_end(interval.low, n),
            interval_end(interval.high, n)
        ),
        None => value,
    }
}

/// Formats an estimate like [`estimate_with_interval`], with the percent sign for sentences: `52.0% [47.8, 56.2]`.
pub fn rate_with_interval(estimate: &Estimate) -> String {
    let n = estimate.total.unwrap_or(estimate.n).max(estimate.n);
    let value = percent(estimate.value, n);
    estimate.interval.map_or_else(
        || value.clone(),
        |interval| format!("{value} {}", percent_interval(interval, n)),
    )
}

/// Formats an interval in percent: `[47.8, 56.2]`.
pub fn percent_interval(interval: Interval, n: u64) -> String {
    format!(
        "[{}, {}]",
        interval_end(interval.low, n),
        interval_end(interval.high, n)
    )
}

fn interval_end(share: f64, n: u64) -> String {
    fixed_decimals(share * 100.0, percent_decimals(n))
}

/// Size from which a number is shown by its exponent: more digits than that are not reliable, and make pages too wide.
const MIN_SIZE_WITH_EXPONENT: f64 = 1e15;

/// Formats a number with a fixed count of decimals, rounded half up in decimal, with grouped thousands and without a negative zero.
pub fn fixed_decimals(value: f64, decimals: usize) -> String {
    if value.abs() >= MIN_SIZE_WITH_EXPONENT {
        return format!(
            "{}{:.2e}",
            if value < 0.0 {
                MINUS.to_string()
            } else {
                String::new()
            },
            value.abs()
        );
    }
    let text = round_half_up(value.abs(), decimals);
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text.as_str(), None), |(whole, fraction)| {
            (whole, Some(fraction))
        });
    let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    let mut shown = String::new();
    if value < 0.0 && !is_zero {
        shown.push(MINUS);
    }
    shown.push_str(&group_digits(whole));
    if let Some(fraction) = fraction {
        shown.push('.');
        shown.push_str(fraction);
    }
    shown
}

/// Formats dollars with two decimals from ten cents up, and three significant digits below: `$14.41`, `$0.0324`.
pub fn money(usd: f64) -> String {
    if usd == 0.0 {
        return "$0".to_owned();
    }
    let decimals = if usd.abs() >= 0.1 {
        2
    } else {
        significant_decimals(usd, 3)
    };
    let text = fixed_decimals(usd, decimals);
    match text.strip_prefix(MINUS) {
        Some(positive) => format!("{MINUS}${positive}"),
        None => format!("${text}"),
    }
}

/// Formats an estimated amount: from $10 on to two significant digits, `$1,200`.
pub fn rough_money(usd: f64) -> String {
    if usd < 10.0 {
        return money(usd);
    }
    let step = 10f64.powf(usd.log10().floor() - 1.0);
    format!("${}", fixed_decimals((usd / step).round() * step, 0))
}

/// Returns the decimals that show `digits` significant digits of a number below 1.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a magnitude is between 1 and 324"
)]
fn significant_decimals(value: f64, digits: usize) -> usize {
    let magnitude = value.abs().log10().floor();
    if magnitude.is_finite() && magnitude < 0.0 {
        ((-magnitude) as usize + digits - 1).min(12)
    } else {
        digits - 1
    }
}

/// Formats a duration: `850 ms`, `12.3 s`, `12m 34s`, `1h 05m`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "durations are positive, and the cast saturates"
)]
pub fn duration(seconds: f64) -> String {
    if seconds < 0.999_5 {
        return format!("{} ms", fixed_decimals(seconds * 1000.0, 0));
    }
    if seconds < 59.95 {
        return format!("{} s", fixed_decimals(seconds, 1));
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        return format!("{}m {:02}s", whole / 60, whole % 60);
    }
    let minutes = (seconds / 60.0).round() as u64;
    format!("{}h {:02}m", minutes / 60, minutes % 60)
}

/// Formats a number in its unit.
pub fn value_in_unit(number: f64, unit: Unit, n: u64) -> String {
    match unit {
        Unit::Fraction => percent(number, n),
        Unit::Points => fixed_decimals(number, 1),
        Unit::Seconds => duration(number),
        Unit::Tokens | Unit::Count => fixed_decimals(number, usize::from(number.fract() != 0.0)),
        Unit::Usd => money(number),
        Unit::Number => unscaled_number(number),
    }
}

/// Formats a tick's label with no more digits than the step between ticks needs: `$0.05`, `2.5 min`, `80%`.
pub fn tick_label(value: f64, unit: Unit, step: f64) -> String {
    let decimals = |step: f64| {
        (0..9)
            .find(|places| rounds_to_itself(step, *places))
            .unwrap_or(9)
    };
    match unit {
        Unit::Fraction => format!("{}%", fixed_decimals(value * 100.0, decimals(step * 100.0))),
        Unit::Usd => match decimals(step) {
            0 => format!("${}", fixed_decimals(value, 0)),
            places => format!("${}", fixed_decimals(value, places.max(2))),
        },
        Unit::Seconds => {
            let (size, name) = match step {
                step if step < 1.0 => (0.001, "ms"),
                step if step < 60.0 => (1.0, "s"),
                step if step < 3600.0 => (60.0, "min"),
                _ => (3600.0, "h"),
            };
            if value == 0.0 {
                "0".to_owned()
            } else {
                format!(
                    "{} {name}",
                    fixed_decimals(value / size, decimals(step / size))
                )
            }
        }
        Unit::Points | Unit::Tokens | Unit::Count | Unit::Number => {
            fixed_decimals(value, decimals(step))
        }
    }
}

/// Says whether a value equals itself rounded to `decimals`.
fn rounds_to_itself(value: f64, decimals: usize) -> bool {
    format!("{value:.decimals$}")
        .parse::<f64>()
        .is_ok_and(|rounded| (rounded - value).abs() <= 1e-9 * value.abs())
}

/// Formats a number of unknown scale with four significant digits.
pub fn unscaled_number(number: f64) -> String {
    let decimals = if number.fract() == 0.0 {
        0
    } else if number.abs() >= 1.0 {
        2
    } else {
        significant_decimals(number, 3)
    };
    fixed_decimals(number, decimals)
}

/// Formats a factor: `1.5×`, `5.8×`, `12×`.
pub fn factor(ratio: f64) -> String {
    format!("{}×", fixed_decimals(ratio, usize::from(ratio < 10.0)))
}

/// Formats a number with at least `decimals` decimals, and with more if it would otherwise round to zero.
pub fn nonzero_decimals(value: f64, decimals: usize) -> String {
    let shows = |decimals: &usize| {
        format!("{:.decimals$}", value.abs())
            .bytes()
            .any(|byte| matches!(byte, b'1'..=b'9'))
    };
    fixed_decimals(
        value,
        (decimals..=MAX_DECIMALS).find(shows).unwrap_or(decimals),
    )
}

/// Formats a number of a query with six significant digits. Its data has all of them.
pub fn six_digits(number: f64) -> String {
    if number.fract() == 0.0 || !number.is_finite() {
        return fixed_decimals(number, 0);
    }
    let magnitude = number.abs().log10().floor();
    let decimals = (0..=17_u8)
        .find(|decimals| f64::from(*decimals) + magnitude >= 5.0)
        .unwrap_or(17);
    let text = fixed_decimals(number, usize::from(decimals));
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a change with its sign, also for gains: `−82%`, `+50%`. What rounds to zero has none.
pub fn signed_number(value: f64, decimals: usize) -> String {
    let text = fixed_decimals(value.abs(), decimals);
    match value {
        _ if text.bytes().all(|byte| matches!(byte, b'0' | b'.')) => text,
        value if value < 0.0 => format!("{MINUS}{text}"),
        _ => format!("+{text}"),
    }
}

/// Formats a day, with its time unless that is midnight: `2026-01-31`, `2026-01-31 12:30Z`.
pub fn day_with_time(time: &DateTime<Utc>) -> String {
    if time.format("%H%M%S").to_string() == "000000" {
        time.format("%Y-%m-%d").to_string()
    } else {
        time.format("%Y-%m-%d %H:%MZ").to_string()
    }
}

/// Formats a time as RFC 3339 in UTC, for machines.
pub fn rfc3339_time(time: &DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Formats a p-value: `p = 0.031`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 {
        "p < 0.001".to_owned()
    } else if p > 0.99 {
        "p > 0.99".to_owned()
    } else {
        let decimals = match p {
            _ if p < 0.01 => 4,
            _ if p < 0.1 => 3,
            _ => 2,
        };
        format!("p = {}", fixed_decimals(p, decimals))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_as_precise_as_n() {
        for (share, n, text) in [
            (18.0 / 20.0, 20, "90%"),
            (41.0 / 48.0, 48, "85%"),
            (116.0 / 225.0, 225, "51.6%"),
            (0.520_113, 12_032, "52.01%"),
            (0.0, 20, "0%"),
            (1.0, 20, "100%"),
            (0.999, 50, "99.9%"),
            (0.001, 50, "0.1%"),
            (-1.0, 50, "−100%"),
            (-0.999, 50, "−99.9%"),
            (-0.001, 50, "−0.1%"),
            (1.0 - 1e-6, 50, "99.9999%"),
            (1.0 - 1e-9, 50, "100%"),
            (1e-9, 50, "0%"),
            (-1e-9, 50, "0%"),
            (1.5, 50, "150%"),
        ] {
            assert_eq!(percent(share, n), text);
        }
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign_and_queries_have_six_digits() {
        assert_eq!(
            [
                signed_number(-0.01, 1),
                signed_number(0.01, 1),
                signed_number(0.0, 0),
                signed_number(-0.05, 1)
            ],
            ["0.0", "0.0", "0", "−0.1"]
        );
        let all = [
            0.003_090_825_688_073_394_4,
            1.0 / 3.0,
            12_345.678_91,
            250.0,
            -0.5,
            1e15,
            0.1 + 0.2,
        ];
        assert_eq!(
            all.map(six_digits),
            [
                "0.00309083",
                "0.333333",
                "12,345.7",
                "250",
                "−0.5",
                "1.00e15",
                "0.3"
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn no_number_has_silly_digits(value in -1e4f64..1e4, n in 1u64..1_000_000, decimals in 0usize..3) {
            for text in [percent(value / 1e4, n), percent_number(value, n), nonzero_decimals(value, decimals), signed_number(value, decimals)] {
                let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction).trim_end_matches('%');
                proptest::prop_assert!(fraction.len() <= MAX_DECIMALS, "{text}");
                let digits: String = text.chars().filter(char::is_ascii_digit).collect();
                proptest::prop_assert!(!text.starts_with(MINUS) || !digits.trim_matches('0').is_empty(), "{text}");
            }
        }

    }

    #[test]
    fn halves_go_up_whatever_their_binary_form() {
        for (value, decimals, text) in [
            (58.75, 1, "58.8"),
            (58.749_999_999_999_99, 1, "58.8"),
            (58.749_999, 1, "58.7"),
            (58.25, 1, "58.3"),
            (-58.25, 1, "−58.3"),
            (0.125, 2, "0.13"),
            (1.005, 2, "1.01"),
            (0.5, 0, "1"),
            (1.5, 0, "2"),
            (2.5, 0, "3"),
            (99.95, 1, "100.0"),
            (9_999.5, 0, "10,000"),
            (0.000_032_45, 7, "0.0000325"),
            (999_999_999_999_999.0, 2, "999,999,999,999,999.00"),
            (1e15, 2, "1.00e15"),
            (1.234e60, 0, "1.23e60"),
            (123_456_789_012_345.0, 0, "123,456,789,012,345"),
            (0.0, 2, "0.00"),
            (-0.0, 1, "0.0"),
            (1e-300, 1, "0.0"),
        ] {
            assert_eq!(fixed_decimals(value, decimals), text, "{value}");
        }
        assert_eq!(percent(1.0 - f64::EPSILON, 80), "100%");
        assert_eq!(fixed_decimals(f64::INFINITY, 1), "inf");
    }

    proptest::proptest! {
        /// Computes one share in several ways: passed of total, and a mean of items' means in any order.
        #[test]
        fn equal_shares_print_equal(
            passed in proptest::collection::vec(0u32..=8, 1..400), attempts in 8u32..=60, seen in 1u64..20_000, turned in 0usize..400,
        ) {
            let total = f64::from(attempts) * passed.len() as f64;
            let counted = f64::from(passed.iter().sum::<u32>()) / total;
            let means: Vec<f64> = passed.iter().map(|passed| f64::from(*passed) / f64::from(attempts)).collect();
            let (first, second) = means.split_at(turned % means.len());
            let turned = second.iter().chain(first).sum::<f64>() / means.len() as f64;
            let in_percent = means.iter().map(|mean| mean * 100.0).sum::<f64>() / means.len() as f64 / 100.0;
            for other in [turned, in_percent, 1.0 - (1.0 - counted)] {
                proptest::prop_assert_eq!(percent(counted, seen), percent(other, seen), "{} {}", counted, other);
            }
        }

        #[test]
        fn rounding_is_off_by_half_a_digit_at_most(value in -1e6..1e6f64, decimals in 0usize..6) {
            let shown: f64 = fixed_decimals(value, decimals).replace(',', "").replace(MINUS, "-").parse().expect("a number");
            let step = 10f64.powi(-i32::try_from(decimals).expect("few"));
            proptest::prop_assert!((shown - value).abs() <= 0.5 * step + 1e-11 * value.abs(), "{value} {shown}");
        }
    }

    #[test]
    fn money_and_time() {
        for (usd, text) in [
            (0.52, "$0.52"),
            (186.4958, "$186.50"),
            (0.032_44, "$0.0324"),
            (0.0, "$0"),
            (1234.5, "$1,234.50"),
            (0.1, "$0.10"),
        ] {
            assert_eq!(money(usd), text);
        }
        assert_eq!(rough_money(1168.75), "$1,200");
        assert_eq!(rough_money(10.0), "$10");
        assert_eq!(rough_money(9.994), "$9.99");
        for (time, text) in [
            (754.0, "12m 34s"),
            (135.0, "2m 15s"),
            (0.85, "850 ms"),
            (12.34, "12.3 s"),
            (59.96, "1m 00s"),
            (3599.6, "1h 00m"),
            (3900.0, "1h 05m"),
        ] {
            assert_eq!(duration(time), text);
        }
    }

    #[test]
    fn ticks_have_no_more_digits_than_they_need() {
        for (value, unit, step, text) in [
            (0.8, Unit::Fraction, 0.05, "80%"),
            (0.825, Unit::Fraction, 0.025, "82.5%"),
            (0.05, Unit::Usd, 0.05, "$0.05"),
            (1.0, Unit::Usd, 0.5, "$1.00"),
            (200.0, Unit::Usd, 100.0, "$200"),
            (0.0, Unit::Seconds, 30.0, "0"),
            (90.0, Unit::Seconds, 30.0, "90 s"),
            (1800.0, Unit::Seconds, 600.0, "30 min"),
            (0.2, Unit::Seconds, 0.1, "200 ms"),
            (5400.0, Unit::Seconds, 5400.0, "1.5 h"),
            (1500.0, Unit::Count, 500.0, "1,500"),
        ] {
            assert_eq!(tick_label(value, unit, step), text);
        }
    }

    #[test]
    fn signs_and_groups() {
        assert_eq!(format_integer(245_000), "245,000");
        assert_eq!(fixed_decimals(-0.04, 1), "0.0");
        assert_eq!(signed_number(-82.1, 0), "−82%".trim_end_matches('%'));
        assert_eq!(signed_number(20.0, 0), "+20");
        assert_eq!(factor(5.806), "5.8×");
    }
}
