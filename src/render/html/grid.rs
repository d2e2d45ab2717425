//! A table of the site: columns, rows and cells as the template needs them. All pages use it for their tables.

use chrono::{DateTime, Utc};

use crate::domain::{Direction, ItemStatus, Unit};
use crate::render::cell::{self, Datum};
use crate::render::format;
use crate::render::table::{self, ColumnVisibility, ReportTable, add_cells};

use super::shell::Text;
use super::trend_line::TrendLine;
use super::whisker::Whisker;

/// Minimum number of rows for a filter.
const FILTER_FROM: usize = 8;

/// Order after the first click on a column's head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SortOrder {
    None,
    Ascending,
    Descending,
}

/// How a column's head looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnLook {
    /// The row's name. It stays in view.
    Key,
    Number,
    Words,
    /// The head shows the scale of the dots below it.
    Scale,
}

#[derive(Clone, Debug)]
pub(super) struct GridColumn {
    pub name: Text,
    pub sub: Text,
    pub look: ColumnLook,
    pub sort: SortOrder,
    /// Whether the column is hidden at first if scripts let a reader choose columns.
    pub is_more: bool,
    /// Link of the head, only in tables that cannot be sorted.
    pub href: String,
    /// Unit of the sort keys, for filters. Empty if they are what is shown.
    pub unit: &'static str,
}

/// Unit of rates: filters compare their keys times 100.
pub(super) const SHARE_UNIT: &str = "share";

impl GridColumn {
    pub fn new(name: impl Into<Text>, look: ColumnLook, sort: SortOrder) -> Self {
        Self {
            name: name.into(),
            sub: Text::default(),
            look,
            sort,
            is_more: false,
            href: String::new(),
            unit: "",
        }
    }

    pub fn with_subtext(mut self, sub: impl Into<Text>) -> Self {
        self.sub = sub.into();
        self
    }

    /// Marks the sort keys as shares.
    pub fn with_shares(mut self) -> Self {
        self.unit = SHARE_UNIT;
        self
    }

    fn from_table_column(column: &table::TableColumn, look: ColumnLook) -> Self {
        let sort = match (look, column.direction) {
            (ColumnLook::Scale, _) => SortOrder::None,
            (ColumnLook::Number, Direction::Up | Direction::None)
            | (ColumnLook::Words, Direction::Up) => SortOrder::Descending,
            (ColumnLook::Number | ColumnLook::Words | ColumnLook::Key, _) => SortOrder::Ascending,
        };
        let small: Vec<&str> = [column.over.as_str(), column.about.as_str()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        // Counts of passed outcomes sort by their share, like rates.
        let is_share = column.unit == Some(Unit::Fraction)
            || column
                .keys
                .first()
                .is_some_and(|key| key == "pass_rate" || key == "passed");
        let is_difference = column.keys.first().is_some_and(|key| key == "to_leader");
        let unit = match (is_share, is_difference) {
            (true, _) => SHARE_UNIT,
            (false, true) => "pp",
            (false, false) => "",
        };
        Self {
            unit,
            ..Self::new(column.label.as_str(), look, sort).with_subtext(small.join("; "))
        }
    }
}

/// Kind of a cell.
#[derive(Clone, Debug)]
pub(super) enum GridCellKind {
    /// The row's name.
    Head,
    Number,
    Words,
    /// Words that keep a minimum width in a table wider than the page.
    Name,
    Unknown,
    /// A time in RFC 3339.
    Time(String),
    /// A status with its CSS class and its sign.
    Status(&'static str, &'static str),
    Dots(Whisker),
    Trend(TrendLine),
}

#[derive(Clone, Debug)]
pub(super) struct GridCell {
    pub kind: GridCellKind,
    pub text: Text,
    pub sub: Text,
    pub href: String,
    /// In a row's name: the row's arm, as its part of addresses.
    pub arm: String,
    /// CSS class of the colour of the arm that the cell names. Empty for other cells.
    pub tone: &'static str,
    /// Whether the cell is bold, together with all arms that are not significantly different.
    pub is_bold: bool,
    /// Sort key of a number, in full precision. Empty if unknown; `None` in columns of words.
    pub key: Option<String>,
}

impl GridCell {
    fn new(kind: GridCellKind, text: impl Into<Text>) -> Self {
        Self {
            kind,
            text: text.into(),
            sub: Text::default(),
            href: String::new(),
            arm: String::new(),
            tone: "",
            is_bold: false,
            key: None,
        }
    }

    /// Converts a table's cell, with its interval in small print.
    fn from_table_cell(cell: &cell::TableCell, look: ColumnLook) -> Self {
        let text = cell.text.as_str();
        let shown = match (look, cell.data.first()) {
            (ColumnLook::Key, _) => Self::head(text),
            (_, Some(Datum::Time(time))) => Self::time(Some(time)),
            (ColumnLook::Number, _) if cell.is_unknown || text.is_empty() => {
                Self::unknown(if text.is_empty() { "unknown" } else { text })
            }
            (_, _) if cell.is_unknown && !text.is_empty() => Self::unknown(text),
            (ColumnLook::Number, first) => {
                let key = cell
                    .sort
                    .map(|number| number.to_string())
                    .or_else(|| first.and_then(Datum::sort_key));
                Self {
                    key: Some(key.unwrap_or_default()),
                    ..Self::new(GridCellKind::Number, text)
                }
            }
            (ColumnLook::Words | ColumnLook::Scale, _) => Self::words(text),
        };
        let small = cell.ends.as_ref().map_or_else(
            || cell.small.clone(),
            |[low, high]| format!("{low} to {high}"),
        );
        shown.with_subtext(small).with_bold(cell.is_bold)
    }

    pub fn head(text: impl Into<Text>) -> Self {
        Self::new(GridCellKind::Head, text).replace_blank_name()
    }

    pub fn words(text: impl Into<Text>) -> Self {
        Self::new(GridCellKind::Words, text)
    }

    pub fn number(text: impl Into<Text>, key: f64) -> Self {
        Self {
            key: Some(key.to_string()),
            ..Self::new(GridCellKind::Number, text)
        }
    }

    pub fn name(text: impl Into<Text>) -> Self {
        Self::new(GridCellKind::Name, text)
    }

    pub fn count(number: u64) -> Self {
        Self {
            key: Some(number.to_string()),
            ..Self::new(GridCellKind::Number, format::format_integer(number))
        }
    }

    /// Creates a cell for a number, or `unknown`.
    pub fn number_or_unknown(value: Option<(String, f64)>) -> Self {
        value.map_or_else(
            || Self::unknown("unknown"),
            |(text, key)| Self::number(text, key),
        )
    }

    pub fn unknown(word: &str) -> Self {
        Self {
            key: Some(String::new()),
            ..Self::new(GridCellKind::Unknown, word)
        }
    }

    pub fn time(time: Option<&DateTime<Utc>>) -> Self {
        time.map_or_else(
            || Self::unknown("unknown"),
            |time| Self {
                key: Some(time.timestamp().to_string()),
                ..Self::new(
                    GridCellKind::Time(format::rfc3339_time(time)),
                    format::day_with_time(time),
                )
            },
        )
    }

    pub fn item_status(name: &str) -> Self {
        let (class, mark) = match ItemStatus::from_name(name) {
            Some(ItemStatus::Pass) => ("s-pass", "✓"),
            Some(ItemStatus::Fail) => ("s-fail", "✗"),
            Some(ItemStatus::Error | ItemStatus::Limit) => ("s-warn", "!"),
            Some(ItemStatus::Infra | ItemStatus::Skipped | ItemStatus::NotEvaluated) | None => {
                ("s-open", "–")
            }
        };
        Self::new(GridCellKind::Status(class, mark), name.replace('_', " "))
    }

    pub fn from_whisker(whisker: Option<Whisker>) -> Self {
        whisker.map_or_else(
            || Self::new(GridCellKind::Words, ""),
            |whisker| Self::new(GridCellKind::Dots(whisker), ""),
        )
    }

    pub fn from_trend(trend: Option<TrendLine>) -> Self {
        trend.map_or_else(
            || Self::unknown("unknown"),
            |trend| Self::new(GridCellKind::Trend(trend), ""),
        )
    }

    pub fn with_subtext(mut self, sub: impl Into<Text>) -> Self {
        self.sub = sub.into();
        self
    }

    pub fn with_link(mut self, href: Option<String>) -> Self {
        self.href = href.unwrap_or_default();
        self.replace_blank_name()
    }

    pub fn with_bold(mut self, is_bold: bool) -> Self {
        self.is_bold = is_bold;
        self
    }

    /// Replaces a blank name: screen readers and pointers need something to find.
    fn replace_blank_name(mut self) -> Self {
        if self.text.is_blank() {
            self.text = Text::new("(no name)");
        }
        self
    }
}

#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub id: String,
    pub caption: Text,
    pub about: Text,
    pub columns: Vec<GridColumn>,
    pub rows: Vec<Vec<GridCell>>,
    /// Text after "12 of 500 shown". `None` for a table without a filter.
    pub filter: Option<&'static str>,
    /// Whether the table is as wide as its content instead of the page.
    pub fits: bool,
    /// Whether rows have normal weight unless they are bold.
    pub is_ranked: bool,
    /// Address of the page that compares any two rows.
    pub any_pair: Option<String>,
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
            any_pair: None,
        }
    }

    /// Shows a table's columns for pages, without those that are empty in all rows.
    pub fn from_table(
        table: &ReportTable,
        id: impl Into<String>,
        caption: impl Into<Text>,
    ) -> Self {
        Self::from_all_columns(&table.seen_as(ColumnVisibility::Pages), id, caption)
    }

    /// Shows all columns of a table.
    pub fn from_all_columns(
        table: &ReportTable,
        id: impl Into<String>,
        caption: impl Into<Text>,
    ) -> Self {
        let mut grid = Self::new(id, caption);
        for (place, column) in table.columns.iter().enumerate() {
            let look = match place {
                0 => ColumnLook::Key,
                _ if column.is_number => ColumnLook::Number,
                _ => ColumnLook::Words,
            };
            let mut head = GridColumn::from_table_column(column, look);
            let is_percent = |row: &Vec<cell::TableCell>| row[place].text.ends_with('%');
            if head.unit.is_empty() && table.rows.iter().any(is_percent) {
                head = head.with_shares();
            }
            grid.add_column(
                head,
                table
                    .rows
                    .iter()
                    .map(|row| GridCell::from_table_cell(&row[place], look)),
            );
        }
        grid
    }

    /// Disables sorting: the rows have an order of their own.
    pub fn without_sorting(mut self) -> Self {
        for column in &mut self.columns {
            column.sort = SortOrder::None;
        }
        self
    }

    pub fn with_about(mut self, about: impl Into<Text>) -> Self {
        self.about = about.into();
        self
    }

    pub fn fit_to_content(mut self) -> Self {
        self.fits = true;
        self
    }

    pub fn with_ranked_rows(mut self) -> Self {
        self.is_ranked = true;
        self
    }

    /// Hides all columns at first except the first column and those whose heads start with a name in `kept`.
    pub fn hide_columns_except(mut self, kept: &[&str]) -> Self {
        for column in self.columns.iter_mut().skip(1) {
            column.is_more = column.look != ColumnLook::Scale
                && !kept
                    .iter()
                    .any(|name| column.name.to_string().starts_with(name));
        }
        self
    }

    /// Adds a filter if the table is long enough.
    pub fn with_filter(mut self, within: &'static str) -> Self {
        self.filter = (self.rows.len() >= FILTER_FROM).then_some(within);
        self
    }

    /// Inserts a column before the one at `place`, with one cell per row.
    pub fn insert_column(
        &mut self,
        place: usize,
        column: GridColumn,
        cells: impl IntoIterator<Item = GridCell>,
    ) {
        self.columns.insert(place, column);
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            row.insert(place, cell);
        }
    }

    /// Adds a column with one cell per row.
    pub fn add_column(&mut self, column: GridColumn, cells: impl IntoIterator<Item = GridCell>) {
        add_cells(&mut self.rows, self.columns.is_empty(), cells);
        self.columns.push(column);
    }
}
