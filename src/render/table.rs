//! A table of text cells: what the terminal, Markdown and CSV print.

/// Which side a column's text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// A column's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub align: Align,
    /// Where space is short, columns of the highest rank go first; rank 0 stays always.
    pub rank: u8,
}

/// Cells in rows; every row has as many cells as there are columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    pub title: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<String>>,
    /// Sentences that come before the table: what it all comes to.
    pub lead: Vec<String>,
    /// Sentences that belong under the table.
    pub notes: Vec<String>,
    /// Sentences that explain it, for those who ask.
    pub more: Vec<String>,
    /// By a column's name: the sentence that stands in for it where it has no room.
    pub instead: Vec<(String, String)>,
}

impl Table {
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..Self::default() }
    }

    pub fn left(&mut self, name: &str, rank: u8) {
        self.columns.push(Column { name: name.to_owned(), align: Align::Left, rank });
    }

    pub fn right(&mut self, name: &str, rank: u8) {
        self.columns.push(Column { name: name.to_owned(), align: Align::Right, rank });
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
            .filter(|column| self.columns[*column].rank > 0 && self.rows.iter().all(|row| row[*column].is_empty()))
            .collect();
        self.drop_columns(&empty);
    }

    /// Leaves out the given columns and returns their names.
    pub(super) fn drop_columns(&mut self, dropped: &[usize]) -> Vec<String> {
        let keep = |index: usize| !dropped.contains(&index);
        let names = dropped.iter().map(|index| self.columns[*index].name.clone()).collect();
        let kept = |cells: Vec<String>| (0..).zip(cells).filter(|(index, _)| keep(*index)).map(|(_, cell)| cell).collect();
        self.rows = std::mem::take(&mut self.rows).into_iter().map(kept).collect();
        self.columns = (0..).zip(std::mem::take(&mut self.columns)).filter(|(index, _)| keep(*index)).map(|(_, column)| column).collect();
        names
    }
}
