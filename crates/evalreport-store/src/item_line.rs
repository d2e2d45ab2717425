//! One line of `items.jsonl`: the wire form of an [`ItemOutcome`].
//!
//! The writer uses one fixed key order without spaces, so nearly all lines have the same shape. [`ItemLine::parse`] reads that shape
//! directly and passes every other line (other order, escapes, unknown keys, exotic numbers) to `serde_json`. A property test checks that
//! both give identical results, errors included.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Deserialize;
use thiserror::Error;

use crate::domain::{
    ItemDetails, ItemKind, ItemOutcome, ItemStatus, RunId, is_amount, is_count, is_figure,
};

use super::canonical_json::CanonicalCursor;
use super::templated_line::ItemMeasurements;

/// Why a line is no item outcome. In lower case, without a final full stop.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LineError(pub String);

/// An item outcome that borrows from its line. See [`ItemOutcome`] for the fields.
#[derive(Clone, Debug, PartialEq, Deserialize, schemars::JsonSchema)]
pub struct ItemLine<'a> {
    /// Present in imports' files, which have several runs. In a run's own journal the folder names the run.
    #[serde(borrow, default)]
    pub run: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub item: Cow<'a, str>,
    pub kind: ItemKind,
    #[serde(borrow)]
    pub evaluator: Cow<'a, str>,
    #[serde(default = "one")]
    pub attempt: u32,
    #[serde(default)]
    pub revision: u32,
    pub status: ItemStatus,
    #[serde(default)]
    pub score: Option<f64>,
    #[serde(borrow, default)]
    pub cluster: Option<Cow<'a, str>>,
    /// The category of the item from a fixed list: a subject, a language, a tag.
    #[serde(borrow, default)]
    pub category: Option<Cow<'a, str>>,
    #[serde(default)]
    pub duration_seconds: Option<f64>,
    #[serde(default)]
    pub cost_usd: Option<f64>,
    #[serde(default)]
    pub input_tokens: Option<u64>,
    #[serde(default)]
    pub output_tokens: Option<u64>,
}

fn one() -> u32 {
    1
}

impl<'a> ItemLine<'a> {
    /// Parses one line without its line break.
    pub fn parse(line: &'a [u8]) -> Result<Self, LineError> {
        let parsed = match parse_canonical(line) {
            Some(item) => item,
            None => Self::parse_strict(line)?,
        };
        match parsed.measurements().find_problem() {
            None => Ok(parsed),
            Some(problem) => Err(LineError(problem)),
        }
    }

    /// Returns what was measured of the item.
    pub fn measurements(&self) -> ItemMeasurements {
        ItemMeasurements {
            attempt: self.attempt,
            revision: self.revision,
            status: self.status,
            score: self.score,
            duration_seconds: self.duration_seconds,
            cost_usd: self.cost_usd,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
        }
    }

    fn parse_strict(line: &'a [u8]) -> Result<Self, LineError> {
        if line.trim_ascii_start().starts_with(b"[") {
            // A list would be parsed as the fields in order.
            return Err(LineError("is a list, not an object".to_owned()));
        }
        serde_json::from_slice(line).map_err(|error| {
            let text = error.to_string();
            let text = text.split(" at line ").next().unwrap_or_default();
            LineError(if error.is_eof() {
                "is cut off in the middle".to_owned()
            } else {
                super::header::in_plain_words(text)
            })
        })
    }

    /// Returns the outcome as owned data. `run` is used if the line does not name one.
    pub fn to_outcome(&self, run: &RunId) -> Result<ItemOutcome, LineError> {
        let run = match &self.run {
            Some(text) => RunId::parse(text).map_err(LineError)?,
            None => run.clone(),
        };
        Ok(self.clone().into_outcome(run))
    }

    /// Returns the outcome as owned data, of this run.
    pub fn into_outcome(self, run: RunId) -> ItemOutcome {
        ItemOutcome {
            run,
            kind: self.kind,
            item: self.item.into_owned(),
            cluster: self.cluster.map(Cow::into_owned),
            category: self.category.map(Cow::into_owned),
            attempt: self.attempt,
            status: self.status,
            score: self.score,
            evaluator: self.evaluator.into_owned(),
            revision: self.revision,
            duration_seconds: self.duration_seconds,
            cost_usd: self.cost_usd,
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
        }
    }
}

/// Appends the outcome's line in a journal, with its line break.
pub fn write_journal_line(outcome: &ItemOutcome, line: &mut String) {
    write_item_line(outcome, false, line);
}

/// Appends the outcome's line with its details, which readers of outcomes skip.
pub(super) fn write_journal_line_with(
    outcome: &ItemOutcome,
    details: &ItemDetails,
    line: &mut String,
) {
    write_detailed_line(outcome, details, false, line);
}

/// Appends the outcome's line, which names its run, with its details, as in the files of imports.
pub fn write_import_line(outcome: &ItemOutcome, details: &ItemDetails, line: &mut String) {
    write_detailed_line(outcome, details, true, line);
}

/// Appends the outcome's line with its details. `with_run` is for files of several runs.
pub(super) fn write_detailed_line(
    outcome: &ItemOutcome,
    details: &ItemDetails,
    with_run: bool,
    line: &mut String,
) {
    write_item_line(outcome, with_run, line);
    if *details != ItemDetails::default() {
        line.truncate(line.len() - "}\n".len());
        line.push_str(",\"details\":");
        line.push_str(
            &serde_json::to_string(details)
                .expect("details are JSON: no map has keys other than strings"),
        );
        line.push_str("}\n");
    }
}

/// Appends the outcome's line with its line break. `with_run` is for files of several runs.
pub(super) fn write_item_line(outcome: &ItemOutcome, with_run: bool, line: &mut String) {
    line.push('{');
    if with_run {
        push_text(line, "\"run\":", outcome.run.as_str());
        line.push(',');
    }
    push_text(line, "\"item\":", &outcome.item);
    push_text(line, ",\"kind\":", outcome.kind.name());
    push_text(line, ",\"evaluator\":", &outcome.evaluator);
    push_integer(line, ",\"attempt\":", u64::from(outcome.attempt));
    push_integer(line, ",\"revision\":", u64::from(outcome.revision));
    push_text(line, ",\"status\":", outcome.status.name());
    if let Some(score) = outcome.score {
        push_number(line, ",\"score\":", score, is_figure);
    }
    if let Some(cluster) = &outcome.cluster {
        push_text(line, ",\"cluster\":", cluster);
    }
    if let Some(category) = &outcome.category {
        push_text(line, ",\"category\":", category);
    }
    if let Some(seconds) = outcome.duration_seconds {
        push_number(line, ",\"duration_seconds\":", seconds, is_amount);
    }
    if let Some(cost) = outcome.cost_usd {
        push_number(line, ",\"cost_usd\":", cost, is_amount);
    }
    if let Some(tokens) = outcome.input_tokens.filter(|tokens| is_count(*tokens)) {
        push_integer(line, ",\"input_tokens\":", tokens);
    }
    if let Some(tokens) = outcome.output_tokens.filter(|tokens| is_count(*tokens)) {
        push_integer(line, ",\"output_tokens\":", tokens);
    }
    line.push_str("}\n");
}

fn push_text(line: &mut String, key: &str, value: &str) {
    line.push_str(key);
    line.push_str(&serde_json::to_string(value).expect("text is JSON"));
}

fn push_integer(line: &mut String, key: &str, value: u64) {
    write!(line, "{key}{value}").expect("writing to a string cannot fail");
}

/// Writes a number. One that no reader would accept is omitted, as not measured.
fn push_number(line: &mut String, key: &str, value: f64, is_possible: fn(f64) -> bool) {
    if is_possible(value) {
        line.push_str(key);
        line.push_str(&serde_json::to_string(&value).expect("a finite number is JSON"));
    }
}

/// Reads a line that has the writer's shape. Returns `None` if it has any other.
fn parse_canonical(line: &[u8]) -> Option<ItemLine<'_>> {
    let mut shape = CanonicalCursor(line);
    shape.skip_literal(b"{")?;
    let run = if shape.skip_literal(b"\"run\":\"").is_some() {
        let run = shape.read_string()?;
        shape.skip_literal(b",")?;
        Some(Cow::Borrowed(run))
    } else {
        None
    };
    shape.skip_literal(b"\"item\":\"")?;
    let item = Cow::Borrowed(shape.read_string()?);
    shape.skip_literal(b",\"kind\":\"")?;
    let kind = ItemKind::from_name(shape.read_string()?)?;
    shape.skip_literal(b",\"evaluator\":\"")?;
    let evaluator = Cow::Borrowed(shape.read_string()?);
    shape.skip_literal(b",\"attempt\":")?;
    let attempt = u32::try_from(shape.read_integer()?).ok()?;
    shape.skip_literal(b",\"revision\":")?;
    let revision = u32::try_from(shape.read_integer()?).ok()?;
    shape.skip_literal(b",\"status\":\"")?;
    let status = ItemStatus::from_name(shape.read_string()?)?;
    let score = if shape.skip_literal(b",\"score\":").is_some() {
        Some(shape.read_float()?)
    } else {
        None
    };
    let cluster = if shape.skip_literal(b",\"cluster\":\"").is_some() {
        Some(Cow::Borrowed(shape.read_string()?))
    } else {
        None
    };
    let category = if shape.skip_literal(b",\"category\":\"").is_some() {
        Some(Cow::Borrowed(shape.read_string()?))
    } else {
        None
    };
    let duration_seconds = if shape.skip_literal(b",\"duration_seconds\":").is_some() {
        Some(shape.read_float()?)
    } else {
        None
    };
    let cost_usd = if shape.skip_literal(b",\"cost_usd\":").is_some() {
        Some(shape.read_float()?)
    } else {
        None
    };
    let input_tokens = if shape.skip_literal(b",\"input_tokens\":").is_some() {
        Some(shape.read_integer()?)
    } else {
        None
    };
    let output_tokens = if shape.skip_literal(b",\"output_tokens\":").is_some() {
        Some(shape.read_integer()?)
    } else {
        None
    };
    (shape.read_end(b",\"details\":")? == 0).then_some(ItemLine {
        run,
        item,
        kind,
        evaluator,
        attempt,
        revision,
        status,
        score,
        cluster,
        category,
        duration_seconds,
        cost_usd,
        input_tokens,
        output_tokens,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::templated_line::{LineTemplate, parse_templated_line};
    use super::*;

    fn outcome() -> impl Strategy<Value = ItemOutcome> {
        let text = || proptest::option::of(any::<String>());
        let texts = (any::<String>(), any::<String>(), text(), text());
        let numbers = (
            proptest::option::of(-1e12..1e12),
            proptest::option::of(1e-9..1e9),
            proptest::option::of(1e-9..1e3),
            proptest::option::of(0u64..=10_000_000_000_000),
            proptest::option::of(0u64..100_000),
        );
        let names = (
            proptest::sample::select(ItemKind::ALL.to_vec()),
            proptest::sample::select(ItemStatus::ALL.to_vec()),
        );
        (texts, numbers, names, 1u32..9, 0u32..3).prop_map(
            |(texts, numbers, names, attempt, revision)| ItemOutcome {
                run: RunId::parse("run-1").expect("a valid id"),
                kind: names.0,
                item: texts.0,
                cluster: texts.2,
                category: texts.3,
                attempt,
                status: names.1,
                score: numbers.0,
                evaluator: texts.1,
                revision,
                duration_seconds: numbers.1,
                cost_usd: numbers.2,
                input_tokens: numbers.3,
                output_tokens: numbers.4,
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(outcome in outcome(), with_run: bool) {
            let mut line = String::new();
            write_item_line(&outcome, with_run, &mut line);
            let line = line.strip_suffix('\n').expect("a whole line");
            prop_assert!(!line.contains('\n'));
            let parsed = ItemLine::parse(line.as_bytes()).expect("a valid line");
            prop_assert_eq!(parsed.run.is_some(), with_run);
            prop_assert_eq!(parsed.to_outcome(&outcome.run).expect("a valid run id"), outcome);
        }

        #[test]
        fn the_shape_parser_never_disagrees_with_serde(
            item in "[ -~\u{e9}\u{1}\"\\\\]{0,6}",
            score in "-?(0|[1-9][0-9]{0,19}|00)?(\\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?",
            tokens in "-?[0-9]{0,21}(\\.0)?",
            tail in "(|,\"new\":1|,\"status\":\"fail\"| |\\}|,\"score\":null|,\"details\":(\\{\"a\":\\[1, 2\\]\\}|1\\}|\\{|1,\"item\":\"x\"| null ))",
            truncate in 0usize..400,
        ) {
            let line = format!(
                "{{\"item\":\"{item}\",\"kind\":\"test\",\"evaluator\":\"e\",\"attempt\":1,\"revision\":0,\"status\":\"pass\",\"score\":{score},\"input_tokens\":{tokens}{tail}}}"
            );
            let bytes = &line.as_bytes()[..line.len().min(truncate.max(60))];
            if let Some(fast) = parse_canonical(bytes) {
                prop_assert_eq!(Ok(fast), ItemLine::parse_strict(bytes));
            }
        }
    }

    /// A change of some bytes of a line: what stands instead of the given number of bytes at a place.
    fn change() -> impl Strategy<Value = (proptest::sample::Index, usize, Vec<u8>)> {
        let fragments = [
            "",
            " ",
            "\r",
            "\n",
            "0",
            "00",
            "-",
            ".",
            ".0",
            "e5",
            "E-3",
            "9007199254740993",
            "18446744073709551616",
            "1e400",
            "\"",
            "\\",
            "\\u0041",
            "\u{e9}",
            "\u{1}",
            "null",
            "}",
            "}\n",
            "{",
            ",",
            ",\"score\":1",
            ",\"score\":null",
            ",\"item\":\"x\"",
            ",\"status\":\"pass\"",
            ",\"cluster\":\"c\"",
            ",\"new\":[1]",
            ",\"details\":{}",
            ",\"details\":1}",
            "pass",
            "\"infra\"",
        ];
        let fragment = prop_oneof![
            proptest::sample::select(fragments.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
            any::<u8>().prop_map(|byte| vec![byte]),
        ];
        (any::<proptest::sample::Index>(), 0usize..4, fragment)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn a_known_line_is_read_as_by_the_general_parser(
            first in outcome(),
            other in outcome(),
            with_run: bool,
            reply in proptest::option::of("[ -~\n]{0,8}"),
            changes in proptest::collection::vec(change(), 0..3),
        ) {
            let (item, evaluator) = (first.item.clone(), first.evaluator.clone());
            let (kind, cluster, category) = (first.kind, first.cluster.clone(), first.category.clone());
            let later = ItemOutcome { kind, item, cluster, category, evaluator, ..other };
            let (mut known, mut line) = (String::new(), String::new());
            write_item_line(&first, with_run, &mut known);
            write_detailed_line(&later, &ItemDetails { reply, ..ItemDetails::default() }, with_run, &mut line);
            let lead: &[u8] = if with_run { b"{\"run\":\"run-1\"," } else { b"{" };
            let known = known.trim_end_matches('\n').as_bytes();
            let Some(refrain) = LineTemplate::from_line(known, lead) else { return Ok(()) };
            let is_unchanged = changes.is_empty();
            let mut text = line.into_bytes();
            for (place, length, instead) in changes {
                let start = place.index(text.len());
                let end = text.len().min(start + length);
                text.splice(start..end, instead);
            }
            text.extend_from_slice(b"next\n");
            let read = parse_templated_line(&text, lead, refrain);
            if let Some((measured, rest)) = read {
                let end = memchr::memchr(b'\n', &text).expect("a line break");
                let parsed = ItemLine::parse(&text[..end]).expect("a valid line");
                // The written form tells -0 from 0.
                prop_assert_eq!(format!("{:?}", parsed.measurements()), format!("{measured:?}"));
                let named = ItemLine::parse(known).expect("a valid line");
                prop_assert_eq!((&parsed.run, parsed.kind, &parsed.item), (&named.run, named.kind, &named.item));
                prop_assert_eq!((&parsed.evaluator, &parsed.cluster), (&named.evaluator, &named.cluster));
                prop_assert_eq!(rest, &text[end + 1..]);
            } else if is_unchanged {
                // Only exponents and numbers beyond 18 digits are left to the general parser.
                let is_long = |number: Option<u64>| number.is_some_and(|number| number >= 10_u64.pow(18));
                let has_exponent = |number: Option<f64>| number.is_some_and(|number| serde_json::to_string(&number).is_ok_and(|text| text.contains('e')));
                prop_assert!(
                    is_long(later.input_tokens) || [later.score, later.duration_seconds, later.cost_usd].into_iter().any(has_exponent)
                        || [first.score].into_iter().any(has_exponent),
                    "{}", String::from_utf8_lossy(&text)
                );
            }
        }
    }

    #[test]
    fn other_shapes_go_to_the_strict_parser() {
        let reordered = br#"{ "status":"fail", "evaluator":"e", "kind":"question", "item":"q\u00e9", "later": {"x": [1]}, "score": 1e-3 }"#;
        let parsed = ItemLine::parse(reordered).expect("valid JSON in another order");
        assert_eq!(
            (
                parsed.item.as_ref(),
                parsed.status,
                parsed.score,
                parsed.attempt
            ),
            ("qé", ItemStatus::Fail, Some(0.001), 1)
        );
    }

    #[test]
    fn bad_lines_say_why() {
        let cases: [(&[u8], &str); 6] = [
            (br#"{"item":"q","kind":"test"#, "cut off"),
            (
                br#"{"item":"q","kind":"quiz","evaluator":"e","status":"pass"}"#,
                "unknown variant `quiz`",
            ),
            (
                br#"{"item":"q","kind":"test","evaluator":"e","status":"pass","cost_usd":-1}"#,
                "negative",
            ),
            (
                br#"{"item":"q","kind":"test","evaluator":"e","status":"pass","input_tokens":-1}"#,
                "invalid value",
            ),
            (
                br#"{"item":"q","kind":"test","evaluator":"e","status":"pass","attempt":0}"#,
                "count from 1",
            ),
            (
                br#"{"item":"q","kind":"test","evaluator":"e","status":"pass","score":1e400}"#,
                "out of range",
            ),
        ];
        for (line, message) in cases {
            let error = ItemLine::parse(line).expect_err(message);
            assert!(error.0.contains(message), "{error}");
        }
    }
}
