//! Numbers by which whoever reads a lake finds that rows are lost or changed, without the lake's own files: through an engine, for example.

use serde::Serialize;

use crate::domain::ItemStatus;

use super::short_digest::short_digest;
use super::statuses::status_code;

/// The fields of a row of the table `runs` that its number `row_check` covers.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CheckedRunFields<'a> {
    pub run_id: &'a str,
    pub publish_id: &'a str,
    pub sequence: i64,
    pub deleted: bool,
    pub deleted_by: Option<&'a str>,
    pub deleted_reason: Option<&'a str>,
    pub outcomes: i64,
    pub outcomes_check: i64,
    pub lines_check: i64,
    pub commit_rows: i64,
    pub all_runs: i64,
    pub totals: Option<&'a str>,
    pub record: &'a str,
}

impl CheckedRunFields<'_> {
    /// Returns the number: the first eight bytes of the SHA-256 of the fields as JSON.
    pub fn checksum(&self) -> i64 {
        let json = serde_json::to_string(self)
            .expect("the fields are JSON: texts, integers and a yes or no");
        short_digest(&json).cast_signed()
    }
}

/// The output function of SplitMix64.
pub(super) fn mix_bits(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// What an outcome says beside its status and score.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OutcomeMetadata<'a> {
    pub category: Option<&'a str>,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

/// Returns the number of a standing outcome with its category, time, money and tokens. `item` is that of its item and cluster. The sum of a
/// run's numbers, wrapped, is its `lines_check`.
pub(super) fn line_checksum(
    item: u64,
    attempt: u32,
    (status, score): (ItemStatus, Option<f64>),
    beside: &OutcomeMetadata<'_>,
) -> u64 {
    let float = |value: Option<f64>| value.filter(|value| value.is_finite()).map(f64::to_bits);
    // A lake's integers have 63 bits.
    let whole = |value: Option<u64>| value.map(|value| value.min(i64::MAX.cast_unsigned()));
    let known = [
        Some(u64::from(attempt) << 8 | u64::from(status_code(status))),
        float(score),
        beside.category.map(short_digest),
        float(beside.duration_seconds),
        float(beside.cost_usd),
        whole(beside.input_tokens),
        whole(beside.output_tokens),
    ];
    // In a fixed order, so that a value cannot move to another field.
    known.iter().fold(mix_bits(item), |number, known| {
        mix_bits(number ^ known.map_or(0, |known| mix_bits(known ^ 1)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_with_any_other_field_has_another_number() {
        let fields = CheckedRunFields {
            run_id: "r",
            publish_id: "p",
            sequence: 1,
            deleted: false,
            deleted_by: None,
            deleted_reason: None,
            outcomes: 2,
            outcomes_check: -3,
            lines_check: 4,
            commit_rows: 5,
            all_runs: 6,
            totals: None,
            record: "{}",
        };
        let others = [
            CheckedRunFields {
                run_id: "s",
                ..fields
            },
            CheckedRunFields {
                publish_id: "q",
                ..fields
            },
            CheckedRunFields {
                sequence: 2,
                ..fields
            },
            CheckedRunFields {
                deleted: true,
                ..fields
            },
            CheckedRunFields {
                deleted_by: Some(""),
                ..fields
            },
            CheckedRunFields {
                deleted_reason: Some(""),
                ..fields
            },
            CheckedRunFields {
                outcomes: 3,
                ..fields
            },
            CheckedRunFields {
                outcomes_check: 3,
                ..fields
            },
            CheckedRunFields {
                lines_check: 5,
                ..fields
            },
            CheckedRunFields {
                commit_rows: 6,
                ..fields
            },
            CheckedRunFields {
                all_runs: 7,
                ..fields
            },
            CheckedRunFields {
                totals: Some("null"),
                ..fields
            },
            CheckedRunFields {
                record: "{ }",
                ..fields
            },
        ];
        let mut numbers: Vec<i64> = others
            .iter()
            .map(CheckedRunFields::checksum)
            .chain([fields.checksum()])
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), others.len() + 1);
        // Lakes of earlier releases keep their numbers. Computed by Python's hashlib.
        assert_eq!(fields.checksum(), -1_979_346_556_640_887_017);
    }

    #[test]
    fn an_outcome_with_any_other_field_has_another_number() {
        let none = OutcomeMetadata::default();
        let of = |attempt, status, score, beside: OutcomeMetadata<'_>| {
            line_checksum(7, attempt, (status, score), &beside)
        };
        let mut numbers = vec![
            of(1, ItemStatus::Pass, None, none),
            of(2, ItemStatus::Pass, None, none),
            of(1, ItemStatus::Fail, None, none),
            of(1, ItemStatus::Pass, Some(1.0), none),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    category: Some("c"),
                    ..none
                },
            ),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    duration_seconds: Some(1.0),
                    ..none
                },
            ),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    cost_usd: Some(1.0),
                    ..none
                },
            ),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    input_tokens: Some(0),
                    ..none
                },
            ),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    input_tokens: Some(1),
                    ..none
                },
            ),
            of(
                1,
                ItemStatus::Pass,
                None,
                OutcomeMetadata {
                    output_tokens: Some(1),
                    ..none
                },
            ),
        ];
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
