//! A table: its columns are said once, and the terminal, Markdown, CSV and the pages of the site show them.

use std::borrow::Cow;

use crate::domain::{Direction, Unit};

use super::cell::Cell;

/// Which side a column's text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Who sees a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    Everywhere,
    /// On a terminal and in Markdown.
    Lines,
    /// On pages of the site.
    Pages,
    /// By programs alone.
    Data,
}

/// What a column is called, what its figures are over, and which way is better.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub label: String,
    /// Which runs or items the figures are over, or their statistic: `all runs`, `median`.
    pub over: String,
    /// What a page has room to add in small print.
    pub about: String,
    /// Names of its figures in CSV, one for each datum of its cells; none where its words are a reading of other columns.
    pub keys: Vec<Cow<'static, str>>,
    /// The field of the row's JSON that the column tells of, where that is one.
    pub field: &'static str,
    /// What its first figure is counted in; none for words.
    pub unit: Option<Unit>,
    pub align: Align,
    /// A column of numbers sorts by its first figure.
    pub is_number: bool,
    pub direction: Direction,
    pub seen: Seen,
    /// Where space is short, columns of the highest rank go first; rank 0 stays always.
    pub rank: u8,
}

impl Column {
    fn new(label: impl Into<String>, align: Align) -> Self {
        Self {
            label: label.into(),
            over: String::new(),
            about: String::new(),
            keys: Vec::new(),
            field: "",
            unit: None,
            align,
            is_number: align == Align::Right,
            direction: Direction::None,
            seen: Seen::Everywhere,
            rank: 0,
        }
    }

    pub fn words(label: impl Into<String>) -> Self {
        Self::new(label, Align::Left)
    }

    pub fn number(label: impl Into<String>) -> Self {
        Self::new(label, Align::Right)
    }

    /// Figures for programs.
    pub fn data<K: Into<Cow<'static, str>>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self::new("", Align::Left).keys(keys).seen(Seen::Data)
    }

    #[must_use]
    pub fn over(mut self, over: impl Into<String>) -> Self {
        self.over = over.into();
        self
    }

    #[must_use]
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.about = about.into();
        self
    }

    #[must_use]
    pub fn keys<K: Into<Cow<'static, str>>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.keys = keys.into_iter().map(Into::into).collect();
        self
    }

    #[must_use]
    pub fn field(mut self, field: &'static str) -> Self {
        self.field = field;
        self
    }

    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.unit = Some(unit);
        self
    }

    #[must_use]
    pub fn better(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    #[must_use]
    pub fn seen(mut self, seen: Seen) -> Self {
        self.seen = seen;
        self
    }

    #[must_use]
    pub fn rank(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    #[must_use]
    pub fn left(mut self) -> Self {
        self.align = Align::Left;
        self
    }

    /// The label with what its figures are over: `Cost, all runs`.
    pub fn title(&self) -> String {
        titled(&self.label, &self.over)
    }
}

/// A label with what its figures are over: `Cost per run`, `Cost, all runs`.
pub(super) fn titled(label: &str, over: &str) -> String {
    match over {
        "" => label.to_owned(),
        over if over.starts_with("per ") => format!("{label} {over}"),
        over => format!("{label}, {over}"),
    }
}

/// Adds a column's cells to the rows, of which the first column makes as many as it has cells.
pub(super) fn add_cells<C>(rows: &mut Vec<Vec<C>>, is_first: bool, cells: impl IntoIterator<Item = C>) {
    if is_first {
        rows.extend(cells.into_iter().map(|cell| vec![cell]));
    } else {
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }
}

/// Cells in rows; every row has as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub title: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Cell>>,
    /// Sentences that come before the table: what it all comes to.
    pub lead: Vec<String>,
    /// Sentences that belong under the table.
    pub notes: Vec<String>,
    /// Sentences that explain it, for those who ask.
    pub more: Vec<String>,
    /// By a column's label: the sentence that stands in for it where it has no room.
    pub instead: Vec<(String, String)>,
    /// What the rows are of. Tables of the same are one in CSV.
    pub of: &'static str,
    /// What programs read, where people are shown the figures laid out otherwise.
    pub sheet: Option<Box<Table>>,
}

impl Table {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    /// A table of such rows, which has no title yet.
    pub fn of(rows: &'static str) -> Self {
        Self { of: rows, ..Self::default() }
    }

    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The table that programs read.
    pub fn for_programs(&self) -> &Self {
        self.sheet.as_deref().unwrap_or(self)
    }

    /// Adds a column of words, which CSV has by its label.
    pub fn left(&mut self, label: &str, rank: u8) {
        self.columns.push(Column::words(label).keys([label.to_owned()]).rank(rank));
    }

    /// Adds a column whose words keep to the right.
    pub fn right(&mut self, label: &str, rank: u8) {
        self.columns.push(Column::number(label).keys([label.to_owned()]).rank(rank));
    }

    /// Adds a column, whose cells come with the rows.
    pub fn head(&mut self, column: Column) {
        self.columns.push(column);
    }

    /// Adds a column with its cells, one for each row.
    pub fn column(&mut self, column: Column, cells: impl IntoIterator<Item = Cell>) {
        add_cells(&mut self.rows, self.columns.is_empty(), cells);
        self.columns.push(column);
    }

    /// Adds a row.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Adds rows.
    pub fn fill<C: Into<Cell>, R: IntoIterator<Item = C>>(&mut self, rows: impl IntoIterator<Item = R>) {
        for cells in rows {
            self.row(cells);
        }
    }

    /// Takes what explains the table among its notes.
    #[must_use]
    pub fn explained(mut self) -> Self {
        self.notes.append(&mut self.more);
        self
    }

    /// Leaves out the columns that are empty in every row.
    pub fn drop_empty_columns(&mut self) {
        let empty: Vec<usize> = (0..self.columns.len())
            .filter(|column| self.columns[*column].rank > 0 && self.rows.iter().all(|row| row[*column].is_blank()))
            .collect();
        self.drop_columns(&empty);
    }

    /// The columns that are seen in lines, or on pages, without those that nobody has a value for.
    pub(super) fn seen_as(&self, seen: Seen) -> Self {
        let mut table = self.clone();
        let hidden: Vec<usize> = (0..)
            .zip(&self.columns)
            .filter(|(_, column)| ![Seen::Everywhere, seen].contains(&column.seen))
            .map(|(index, _)| index)
            .collect();
        table.drop_columns(&hidden);
        table.drop_empty_columns();
        table
    }

    /// Leaves out the given columns and returns their labels.
    pub(super) fn drop_columns(&mut self, dropped: &[usize]) -> Vec<String> {
        let keep = |index: usize| !dropped.contains(&index);
        let names = dropped.iter().map(|index| self.columns[*index].title()).collect();
        let kept = |cells: Vec<Cell>| (0..).zip(cells).filter(|(index, _)| keep(*index)).map(|(_, cell)| cell).collect();
        self.rows = std::mem::take(&mut self.rows).into_iter().map(kept).collect();
        self.columns = (0..).zip(std::mem::take(&mut self.columns)).filter(|(index, _)| keep(*index)).map(|(_, column)| column).collect();
        names
    }
}
