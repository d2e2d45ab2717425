//! A table's cell: text for people, and figures for programs.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::views::Interval;

use super::format;

/// A figure in full precision, or `Absent`.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Absent,
    Integer(i64),
    Number(f64),
    Flag(bool),
    Text(String),
    Time(DateTime<Utc>),
}

impl Datum {
    /// Returns a value's JSON name, such as that of a method or verdict.
    pub fn json_name(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(serde_json::Value::String(name)) => Self::Text(name),
            _ => Self::Absent,
        }
    }

    /// Returns both ends of an interval, absent for `None`.
    pub fn interval_ends(interval: Option<Interval>) -> [Self; 2] {
        [
            interval.map(|ends| ends.low).into(),
            interval.map(|ends| ends.high).into(),
        ]
    }

    /// Returns the key by which a page sorts. `None` for texts, which sort by what is shown.
    pub(super) fn sort_key(&self) -> Option<String> {
        match self {
            Self::Absent | Self::Text(_) => None,
            Self::Integer(number) => Some(number.to_string()),
            Self::Number(number) => Some(number.to_string()),
            Self::Flag(flag) => Some(u8::from(*flag).to_string()),
            Self::Time(time) => Some(time.timestamp().to_string()),
        }
    }
}

impl From<u64> for Datum {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Datum {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Datum {
    fn from(number: usize) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Datum {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Datum {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Datum {
    fn from(text: &str) -> Self {
        if text.is_empty() {
            Self::Absent
        } else {
            Self::Text(text.to_owned())
        }
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Self {
        if text.is_empty() {
            Self::Absent
        } else {
            Self::Text(text)
        }
    }
}

impl From<DateTime<Utc>> for Datum {
    fn from(time: DateTime<Utc>) -> Self {
        Self::Time(time)
    }
}

impl<T: Into<Datum>> From<Option<T>> for Datum {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// Content of one row in one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableCell {
    /// Text for people, without the interval.
    pub text: String,
    /// Ends of the interval, as text for people.
    pub ends: Option<[String; 2]>,
    /// Small print on pages.
    pub small: String,
    /// One figure per key of the column. Missing ones at the end are absent.
    pub data: Vec<Datum>,
    /// Sort key on pages, if it differs from the first figure.
    pub sort: Option<f64>,
    /// Whether the value was not measured. Then the text says only that.
    pub is_unknown: bool,
    /// Whether pages show the cell in bold, together with all arms that are not significantly different.
    pub is_bold: bool,
}

impl TableCell {
    /// Creates a cell of words, which are also its figure.
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        Self {
            data: vec![text.as_str().into()],
            text,
            ..Self::default()
        }
    }

    /// Creates a cell of text for people. [`Self::with_data`] adds its figures.
    pub fn for_people(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    pub fn count(number: u64) -> Self {
        Self {
            text: format::format_integer(number),
            data: vec![number.into()],
            ..Self::default()
        }
    }

    pub fn number(text: impl Into<String>, number: f64) -> Self {
        Self {
            text: text.into(),
            data: vec![number.into()],
            ..Self::default()
        }
    }

    /// Creates a cell for a number, blank if it is `None`.
    pub fn number_or_blank(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(
            || Self::unknown(""),
            |value| Self::number(text(value), value),
        )
    }

    /// Creates a cell for a number, `unknown` if it is `None`.
    pub fn number_or_unknown(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(
            || Self::unknown("unknown"),
            |value| Self::number(text(value), value),
        )
    }

    /// Creates a cell for a count, blank if it is `None`.
    pub fn count_or_blank(number: Option<u64>) -> Self {
        number.map_or_else(|| Self::unknown(""), Self::count)
    }

    /// Creates a cell for a day, or a day with a time.
    pub fn time_or_unknown(time: Option<DateTime<Utc>>) -> Self {
        time.map_or_else(
            || Self::unknown("unknown"),
            |time| Self {
                data: vec![time.into()],
                ..Self::for_people(format::day_with_time(&time))
            },
        )
    }

    /// Creates a cell for an unknown value, shown as `word`.
    pub fn unknown(word: &str) -> Self {
        Self {
            text: word.to_owned(),
            is_unknown: true,
            ..Self::default()
        }
    }

    /// Creates a cell of figures for programs only.
    pub fn for_programs(data: impl Into<Vec<Datum>>) -> Self {
        Self {
            data: data.into(),
            ..Self::default()
        }
    }

    #[must_use]
    pub fn with_data(mut self, data: impl Into<Vec<Datum>>) -> Self {
        self.data = data.into();
        self
    }

    /// Adds the interval, with each end formatted by `text`.
    #[must_use]
    pub fn with_interval(
        mut self,
        interval: Option<Interval>,
        text: impl Fn(f64) -> String,
    ) -> Self {
        self.ends = interval.map(|ends| [text(ends.low), text(ends.high)]);
        self
    }

    #[must_use]
    pub fn with_small_print(mut self, small: impl Into<String>) -> Self {
        self.small = small.into();
        self
    }

    #[must_use]
    pub fn bold(mut self, is_bold: bool) -> Self {
        self.is_bold = is_bold;
        self
    }

    /// Returns the value with its interval on one line, for outputs without small print: `8m 42s [7m 01s, 9m 30s]`.
    pub fn single_line(&self) -> String {
        match &self.ends {
            Some([low, high]) => format!("{} [{low}, {high}]", self.text),
            None => self.text.clone(),
        }
    }

    /// Says whether the cell is unknown, or has neither text nor figures.
    pub fn is_blank(&self) -> bool {
        self.is_unknown
            || (self.text.is_empty() && self.data.iter().all(|datum| *datum == Datum::Absent))
    }
}

impl From<String> for TableCell {
    fn from(text: String) -> Self {
        Self::words(text)
    }
}

impl From<&str> for TableCell {
    fn from(text: &str) -> Self {
        Self::words(text)
    }
}

impl From<u64> for TableCell {
    fn from(number: u64) -> Self {
        Self::count(number)
    }
}
