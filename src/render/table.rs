//! A table: its columns are declared once for the terminal, Markdown, CSV and the pages of the site.

use std::borrow::Cow;

use crate::domain::{Direction, ItemKind, Unit, rate_label};

use super::cell::TableCell;

/// Alignment of a column's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// Outputs that show a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnVisibility {
    Everywhere,
    /// The terminal and Markdown.
    Lines,
    /// Pages of the site.
    Pages,
    /// CSV and SQL only.
    Data,
}

/// A column's name, its key for programs, the data behind its figures, and the better direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    pub label: String,
    /// The runs or items behind the figures, or their statistic: `all runs`, `median`.
    pub over: String,
    /// Small print on pages.
    pub about: String,
    /// Names of its figures in CSV, one per datum of its cells. Empty if its words repeat other columns.
    pub keys: Vec<Cow<'static, str>>,
    /// The field of the row's JSON that the column describes, or empty.
    pub field: &'static str,
    /// Unit of its first figure. `None` for words.
    pub unit: Option<Unit>,
    pub align: Align,
    /// Whether the column has numbers and sorts by its first figure.
    pub is_number: bool,
    pub direction: Direction,
    pub seen: ColumnVisibility,
    /// If space is short, columns of the highest rank are hidden first. Rank 0 is never hidden.
    pub rank: u8,
}

impl TableColumn {
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
            seen: ColumnVisibility::Everywhere,
            rank: 0,
        }
    }

    pub fn words(label: impl Into<String>) -> Self {
        Self::new(label, Align::Left)
    }

    pub fn number(label: impl Into<String>) -> Self {
        Self::new(label, Align::Right)
    }

    /// Creates a column of figures for programs only.
    pub fn for_programs<K: Into<Cow<'static, str>>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self::new("", Align::Left)
            .keys(keys)
            .visible_in(ColumnVisibility::Data)
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
    pub fn better_direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    #[must_use]
    pub fn visible_in(mut self, seen: ColumnVisibility) -> Self {
        self.seen = seen;
        self
    }

    #[must_use]
    pub fn rank(mut self, rank: u8) -> Self {
        self.rank = rank;
        self
    }

    #[must_use]
    pub fn align_left(mut self) -> Self {
        self.align = Align::Left;
        self
    }

    /// Returns the label with the data behind its figures: `Cost, all runs`.
    pub fn full_label(&self) -> String {
        join_label(&self.label, &self.over)
    }
}

/// Joins a label and the data behind its figures: `Cost per run`, `Cost, all runs`.
pub(super) fn join_label(label: &str, over: &str) -> String {
    match over {
        "" => label.to_owned(),
        over if over.starts_with("per ") => format!("{label} {over}"),
        over => format!("{label}, {over}"),
    }
}

/// Adds a column's cells to the rows. The first column creates one row per cell.
pub(super) fn add_cells<C>(
    rows: &mut Vec<Vec<C>>,
    is_first: bool,
    cells: impl IntoIterator<Item = C>,
) {
    if is_first {
        rows.extend(cells.into_iter().map(|cell| vec![cell]));
    } else {
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.push(cell);
        }
    }
}

/// Cells in rows. Every row has one cell per column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportTable {
    pub title: Option<String>,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<TableCell>>,
    /// Sentences above the table: the conclusion.
    pub lead: Vec<String>,
    /// Sentences below the table.
    pub notes: Vec<String>,
    /// Explanations on request.
    pub more: Vec<String>,
    /// Sentences that replace hidden columns, by the column's label.
    pub instead: Vec<(String, String)>,
    /// Rows that a person sees on request only, by index.
    pub rows_on_request: Vec<usize>,
    /// Kind of the rows. CSV joins tables of the same kind.
    pub of: &'static str,
    /// The table for programs, if people see the figures in another layout.
    pub sheet: Option<Box<ReportTable>>,
}

impl ReportTable {
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: Some(title.into()),
            ..Self::default()
        }
    }

    /// Creates a table for this kind of rows, without a title.
    pub fn for_rows(rows: &'static str) -> Self {
        Self {
            of: rows,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Returns the table for programs.
    pub fn for_programs(&self) -> &Self {
        self.sheet.as_deref().unwrap_or(self)
    }

    /// Adds a column of words. Its key in CSV is its label.
    pub fn add_text_column(&mut self, label: &str, rank: u8) {
        self.columns.push(
            TableColumn::words(label)
                .keys([label.to_owned()])
                .rank(rank),
        );
    }

    /// Adds a right-aligned column. Its key in CSV is its label.
    pub fn add_number_column(&mut self, label: &str, rank: u8) {
        self.columns.push(
            TableColumn::number(label)
                .keys([label.to_owned()])
                .rank(rank),
        );
    }

    /// Adds the column of an arm's rates. Its key in CSV is the same for all kinds of items.
    pub fn add_rate_column(&mut self, items: Option<ItemKind>) {
        self.columns.push(
            TableColumn::number(format!("{} [95% CI]", rate_label(items)))
                .keys(["Pass rate [95% CI]"]),
        );
    }

    /// Adds a column whose cells come with the rows.
    pub fn add_column(&mut self, column: TableColumn) {
        self.columns.push(column);
    }

    /// Adds a column with one cell per row.
    pub fn add_filled_column(
        &mut self,
        column: TableColumn,
        cells: impl IntoIterator<Item = TableCell>,
    ) {
        add_cells(&mut self.rows, self.columns.is_empty(), cells);
        self.columns.push(column);
    }

    pub fn add_row<C: Into<TableCell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    pub fn add_rows<C: Into<TableCell>, R: IntoIterator<Item = C>>(
        &mut self,
        rows: impl IntoIterator<Item = R>,
    ) {
        for cells in rows {
            self.add_row(cells);
        }
    }

    /// Moves the explanations to the notes, and shows all rows.
    #[must_use]
    pub fn with_explanations(mut self) -> Self {
        self.notes.append(&mut self.more);
        self.with_all_rows()
    }

    /// Shows the rows on request too.
    #[must_use]
    pub fn with_all_rows(mut self) -> Self {
        self.rows_on_request.clear();
        self
    }

    /// Removes the columns that are empty in every row, except those of rank 0.
    pub fn drop_empty_columns(&mut self) {
        let empty: Vec<usize> = (0..self.columns.len())
            .filter(|column| {
                self.columns[*column].rank > 0
                    && self.rows.iter().all(|row| row[*column].is_blank())
            })
            .collect();
        self.drop_columns(&empty);
    }

    /// Returns the table with only the columns and rows for this output, without columns that are empty in every row.
    pub(super) fn seen_as(&self, seen: ColumnVisibility) -> Self {
        let mut table = self.clone();
        let hidden: Vec<usize> = (0..)
            .zip(&self.columns)
            .filter(|(_, column)| ![ColumnVisibility::Everywhere, seen].contains(&column.seen))
            .map(|(index, _)| index)
            .collect();
        table.drop_columns(&hidden);
        let on_request = std::mem::take(&mut table.rows_on_request);
        if seen == ColumnVisibility::Lines {
            let mut index = 0..;
            table
                .rows
                .retain(|_| index.next().is_some_and(|row| !on_request.contains(&row)));
        }
        table.drop_empty_columns();
        table
    }

    /// Removes the given columns and returns their titles.
    pub(super) fn drop_columns(&mut self, dropped: &[usize]) -> Vec<String> {
        let keep = |index: usize| !dropped.contains(&index);
        let names = dropped
            .iter()
            .map(|index| self.columns[*index].full_label())
            .collect();
        let kept = |cells: Vec<TableCell>| {
            (0..)
                .zip(cells)
                .filter(|(index, _)| keep(*index))
                .map(|(_, cell)| cell)
                .collect()
        };
        self.rows = std::mem::take(&mut self.rows)
            .into_iter()
            .map(kept)
            .collect();
        self.columns = (0..)
            .zip(std::mem::take(&mut self.columns))
            .filter(|(index, _)| keep(*index))
            .map(|(_, column)| column)
            .collect();
        names
    }
}
