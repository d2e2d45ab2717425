//! A table of the site: columns, rows and cells as the template needs them. Every table of every page is one of these.

use chrono::{DateTime, Utc};

use crate::domain::ItemStatus;
use crate::render::format;

use super::bars::Bars;
use super::shell::Text;
use super::whisker::Whisker;

/// Tables with fewer rows need no filter.
const FILTER_FROM: usize = 8;

/// What a column's first click shows first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    None,
    Ascending,
    Descending,
}

/// How a column's head looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The row's name: stays in view.
    Key,
    Number,
    Words,
    /// Carries the scale of the dots below it.
    Scale,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub name: Text,
    pub sub: Text,
    pub look: Look,
    pub sort: Sort,
}

impl Column {
    pub fn new(name: impl Into<Text>, look: Look, sort: Sort) -> Self {
        Self { name: name.into(), sub: Text::default(), look, sort }
    }

    pub fn sub(mut self, sub: impl Into<Text>) -> Self {
        self.sub = sub.into();
        self
    }
}

/// What kind of cell it is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The row's name.
    Head,
    Number,
    Words,
    /// Words that keep some width where a table is wider than the page.
    Name,
    Unknown,
    /// A time in RFC 3339.
    Time(String),
    /// A status with its class and its mark.
    Status(&'static str, &'static str),
    Dots(Whisker),
    Bars(Bars),
}

#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub kind: Kind,
    pub text: Text,
    pub sub: Text,
    pub href: String,
    /// Stands out, together with all others that the evidence does not tell from it.
    pub is_bold: bool,
    /// What a number sorts by, in full precision. Empty for an unknown one; absent in columns of words.
    pub key: Option<String>,
}

impl Cell {
    fn of(kind: Kind, text: impl Into<Text>) -> Self {
        Self { kind, text: text.into(), sub: Text::default(), href: String::new(), is_bold: false, key: None }
    }

    pub fn head(text: impl Into<Text>) -> Self {
        Self::of(Kind::Head, text).named()
    }

    pub fn words(text: impl Into<Text>) -> Self {
        Self::of(Kind::Words, text)
    }

    pub fn number(text: impl Into<Text>, key: f64) -> Self {
        Self { key: Some(key.to_string()), ..Self::of(Kind::Number, text) }
    }

    pub fn name(text: impl Into<Text>) -> Self {
        Self::of(Kind::Name, text)
    }

    /// A number in a column that is not sorted.
    pub fn figure(text: impl Into<Text>) -> Self {
        Self { key: Some(String::new()), ..Self::of(Kind::Number, text) }
    }

    pub fn count(number: u64) -> Self {
        Self { key: Some(number.to_string()), ..Self::of(Kind::Number, format::integer(number)) }
    }

    /// A number, or the word that says it is not known.
    pub fn maybe(value: Option<(String, f64)>) -> Self {
        value.map_or_else(|| Self::unknown("unknown"), |(text, key)| Self::number(text, key))
    }

    pub fn unknown(word: &str) -> Self {
        Self { key: Some(String::new()), ..Self::of(Kind::Unknown, word) }
    }

    pub fn time(time: Option<&DateTime<Utc>>) -> Self {
        time.map_or_else(
            || Self::unknown("unknown"),
            |time| Self { key: Some(time.timestamp().to_string()), ..Self::of(Kind::Time(format::timestamp(time)), format::date(time)) },
        )
    }

    pub fn item_status(name: &str) -> Self {
        let (class, mark) = match ItemStatus::from_name(name) {
            Some(ItemStatus::Pass) => ("s-pass", "✓"),
            Some(ItemStatus::Fail) => ("s-fail", "✗"),
            Some(ItemStatus::Error | ItemStatus::Limit) => ("s-warn", "!"),
            Some(ItemStatus::Infra | ItemStatus::Skipped | ItemStatus::NotEvaluated) | None => ("s-open", "–"),
        };
        Self::of(Kind::Status(class, mark), name.replace('_', " "))
    }

    pub fn dots(whisker: Option<Whisker>) -> Self {
        whisker.map_or_else(|| Self::of(Kind::Words, ""), |whisker| Self::of(Kind::Dots(whisker), ""))
    }

    pub fn bars(bars: Option<Bars>) -> Self {
        bars.map_or_else(|| Self::unknown("unknown"), |bars| Self::of(Kind::Bars(bars), ""))
    }

    pub fn sub(mut self, sub: impl Into<Text>) -> Self {
        self.sub = sub.into();
        self
    }

    pub fn link(mut self, href: Option<String>) -> Self {
        self.href = href.unwrap_or_default();
        self.named()
    }

    pub fn bold(mut self, is_bold: bool) -> Self {
        self.is_bold = is_bold;
        self
    }

    /// A link or a row without a name would be nothing to hear or to touch.
    fn named(mut self) -> Self {
        if self.text.is_blank() {
            self.text = Text::new("(no name)");
        }
        self
    }
}

/// A table with its caption.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub id: String,
    pub caption: Text,
    pub about: Text,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// Words after "12 of 500 shown"; `None` for a table without a filter.
    pub filter: Option<&'static str>,
    /// As wide as its contents instead of the page.
    pub fits: bool,
    /// Rows are set plain unless they are bold.
    pub is_ranked: bool,
}

impl Grid {
    pub fn new(id: impl Into<String>, caption: impl Into<Text>) -> Self {
        Self {
            id: id.into(),
            caption: caption.into(),
            about: Text::default(),
            columns: Vec::new(),
            rows: Vec::new(),
            filter: None,
            fits: false,
            is_ranked: false,
        }
    }

    pub fn about(mut self, about: impl Into<Text>) -> Self {
        self.about = about.into();
        self
    }

    pub fn fits(mut self) -> Self {
        self.fits = true;
        self
    }

    pub fn ranked(mut self) -> Self {
        self.is_ranked = true;
        self
    }

    /// Adds a filter to a table that is long enough for one.
    pub fn filtered(mut self, within: &'static str) -> Self {
        self.filter = (self.rows.len() >= FILTER_FROM).then_some(within);
        self
    }

    /// Adds a column with its cells, one for each row.
    pub fn column(&mut self, column: Column, cells: impl IntoIterator<Item = Cell>) {
        let first = self.columns.is_empty();
        self.columns.push(column);
        for (index, cell) in cells.into_iter().enumerate() {
            if first {
                self.rows.push(vec![cell]);
            } else if let Some(row) = self.rows.get_mut(index) {
                row.push(cell);
            }
        }
    }
}
