//! A table's cell: what people read of it, and the figures behind that for programs.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::views::Interval;

use super::format;

/// A figure in full precision, or the absence of one.
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
    /// The name that JSON has for a method, a verdict and the like.
    pub fn name(value: impl Serialize) -> Self {
        match serde_json::to_value(value) {
            Ok(serde_json::Value::String(name)) => Self::Text(name),
            _ => Self::Absent,
        }
    }

    /// Both ends of an interval.
    pub fn ends(interval: Option<Interval>) -> [Self; 2] {
        [interval.map(|ends| ends.low).into(), interval.map(|ends| ends.high).into()]
    }

    /// What a page sorts by: numbers and times have a place of their own, texts are read.
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
        if text.is_empty() { Self::Absent } else { Self::Text(text.to_owned()) }
    }
}

impl From<String> for Datum {
    fn from(text: String) -> Self {
        if text.is_empty() { Self::Absent } else { Self::Text(text) }
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

/// What stands in one row of one column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// As people read it; its interval, where it has one, comes after.
    pub text: String,
    /// The ends of its interval, as people read them.
    pub ends: Option<[String; 2]>,
    /// What a page has room to say in small print.
    pub small: String,
    /// One for each key of the column; fewer where the rest is absent.
    pub data: Vec<Datum>,
    /// What a page sorts by, where that is not the first figure.
    pub sort: Option<f64>,
    /// Nobody measured it: the text says so, and says no more.
    pub is_unknown: bool,
    /// Stands out on a page, together with all others that the evidence does not tell from it.
    pub is_bold: bool,
}

impl Cell {
    /// Words that are their own figure.
    pub fn words(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { data: vec![text.as_str().into()], text, ..Self::default() }
    }

    /// What people read of figures that are given with [`Self::data`].
    pub fn shown(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn count(number: u64) -> Self {
        Self { text: format::integer(number), data: vec![number.into()], ..Self::default() }
    }

    pub fn number(text: impl Into<String>, number: f64) -> Self {
        Self { text: text.into(), data: vec![number.into()], ..Self::default() }
    }

    /// A number as people read it, or a blank.
    pub fn known(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(|| Self::unknown(""), |value| Self::number(text(value), value))
    }

    /// A number as people read it, or that nobody measured it.
    pub fn measured(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(|| Self::unknown("unknown"), |value| Self::number(text(value), value))
    }

    /// A count, or a blank.
    pub fn counted(number: Option<u64>) -> Self {
        number.map_or_else(|| Self::unknown(""), Self::count)
    }

    /// A day, or a day and a time.
    pub fn time(time: Option<DateTime<Utc>>) -> Self {
        time.map_or_else(|| Self::unknown("unknown"), |time| Self { data: vec![time.into()], ..Self::shown(format::date(&time)) })
    }

    /// The word for a figure that nobody has.
    pub fn unknown(word: &str) -> Self {
        Self { text: word.to_owned(), is_unknown: true, ..Self::default() }
    }

    /// Figures that no reader of a table is shown.
    pub fn figures(data: impl Into<Vec<Datum>>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    #[must_use]
    pub fn data(mut self, data: impl Into<Vec<Datum>>) -> Self {
        self.data = data.into();
        self
    }

    /// Adds the interval, each end as people read it.
    #[must_use]
    pub fn between(mut self, interval: Option<Interval>, text: impl Fn(f64) -> String) -> Self {
        self.ends = interval.map(|ends| [text(ends.low), text(ends.high)]);
        self
    }

    #[must_use]
    pub fn small(mut self, small: impl Into<String>) -> Self {
        self.small = small.into();
        self
    }

    #[must_use]
    pub fn bold(mut self, is_bold: bool) -> Self {
        self.is_bold = is_bold;
        self
    }

    /// The value with its interval, where there is no small print: `8m 42s [7m 01s, 9m 30s]`.
    pub fn line(&self) -> String {
        match &self.ends {
            Some([low, high]) => format!("{} [{low}, {high}]", self.text),
            None => self.text.clone(),
        }
    }

    /// Says nothing to anybody.
    pub fn is_blank(&self) -> bool {
        self.is_unknown || (self.text.is_empty() && self.data.iter().all(|datum| *datum == Datum::Absent))
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::words(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::words(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::count(number)
    }
}
