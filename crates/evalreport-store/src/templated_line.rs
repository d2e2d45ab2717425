//! Lines about items that an earlier line named.
//!
//! The runs of a suite write the same items in the same order, so a line mostly repeats an earlier one except for what was measured.
//! [`parse_templated_line`] compares the repeated bytes at once and reads the rest in one pass, without looking for the end of the line first. Every
//! other line is left to [`ItemLine::parse`](super::ItemLine::parse); a property test checks that both agree.

use crate::domain::{ItemStatus, amount_problem, count_problem, figure_problem};

use super::canonical_json::{CanonicalCursor, is_short};

/// What was measured of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ItemMeasurements {
    pub attempt: u32,
    pub revision: u32,
    pub status: ItemStatus,
    pub score: Option<f64>,
    pub duration_seconds: Option<f64>,
    pub cost_usd: Option<f64>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

/// The bytes that lines about one item repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineTemplate<'a> {
    /// From the key of the item up to the attempt.
    pub head: &'a [u8],
    /// The cluster and the category. Empty if the line states neither.
    pub tail: &'a [u8],
}

impl<'a> LineTemplate<'a> {
    /// Returns the refrain of a line that [`ItemLine::parse`](super::ItemLine::parse) accepts, or `None` if the line has not the shape that
    /// our writers give it. `lead` is the line's begin: a brace, and the run in files of several runs.
    pub fn from_line(line: &'a [u8], lead: &[u8]) -> Option<Self> {
        let line = line.strip_prefix(lead)?;
        let mut shape = CanonicalCursor(line);
        for key in [&b"\"item\":\""[..], b",\"kind\":\"", b",\"evaluator\":\""] {
            shape.skip_literal(key)?;
            shape.read_string()?;
        }
        shape.skip_literal(b",\"attempt\":")?;
        let head = &line[..line.len() - shape.0.len()];
        shape.read_integer()?;
        shape.skip_literal(b",\"revision\":")?;
        shape.read_integer()?;
        shape.skip_literal(b",\"status\":\"")?;
        shape.read_string()?;
        if shape.skip_literal(b",\"score\":").is_some() {
            shape.read_float()?;
        }
        let rest = shape.0;
        for key in [&b",\"cluster\":\""[..], b",\"category\":\""] {
            if shape.skip_literal(key).is_some() {
                shape.read_string()?;
            }
        }
        Some(Self {
            head,
            tail: &rest[..rest.len() - shape.0.len()],
        })
    }
}

/// Reads the first line of `text`, if it has this lead and refrain, the shape that our writers give it, and a line break. Returns what was
/// measured and the text after the line, or `None` for every other line.
pub fn parse_templated_line<'t>(
    text: &'t [u8],
    lead: &[u8],
    refrain: LineTemplate<'_>,
) -> Option<(ItemMeasurements, &'t [u8])> {
    let mut shape = CanonicalCursor(text);
    shape.skip_literal(lead)?;
    shape.skip_literal(refrain.head)?;
    let attempt = u32::try_from(shape.read_integer()?).ok()?;
    shape.skip_literal(b",\"revision\":")?;
    let revision = u32::try_from(shape.read_integer()?).ok()?;
    shape.skip_literal(b",\"status\":\"")?;
    let status = shape.read_name_of(&ItemStatus::ALL, ItemStatus::name)?;
    let score = if shape.skip_literal(b",\"score\":").is_some() {
        Some(shape.read_float()?)
    } else {
        None
    };
    shape.skip_literal(refrain.tail)?;
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
    let is_ended = shape.read_end(b",\"details\":")? > 0;
    let measured = ItemMeasurements {
        attempt,
        revision,
        status,
        score,
        duration_seconds,
        cost_usd,
        input_tokens,
        output_tokens,
    };
    (is_ended && is_short(text.len() - shape.0.len()) && measured.find_problem().is_none())
        .then_some((measured, shape.0))
}

impl ItemMeasurements {
    /// Returns why no outcome has these values, or `None` if one may.
    pub(super) fn find_problem(&self) -> Option<String> {
        if self.attempt == 0 {
            return Some("key `attempt`: attempts count from 1".to_owned());
        }
        let amounts = [
            ("duration_seconds", self.duration_seconds),
            ("cost_usd", self.cost_usd),
        ];
        let counts = [
            ("input_tokens", self.input_tokens),
            ("output_tokens", self.output_tokens),
        ];
        let mut problems = [("score", self.score.and_then(figure_problem))]
            .into_iter()
            .chain(amounts.map(|(key, value)| (key, value.and_then(amount_problem))))
            .chain(counts.map(|(key, value)| (key, value.and_then(count_problem))));
        problems.find_map(|(key, problem)| Some(format!("key `{key}` {}", problem?)))
    }
}
