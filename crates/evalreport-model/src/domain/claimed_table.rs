//! A table as its source prints it: every cell is text.

/// A table of published figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedTable {
    /// The file, with the sheet or the list inside it.
    pub name: String,
    pub columns: Vec<String>,
    pub rows: Vec<PublishedRow>,
}

/// The tables of a file of published figures about a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedFigures {
    pub suite: String,
    pub file: String,
    /// The web address that they come from.
    pub source: Option<String>,
    pub tables: Vec<PublishedTable>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedRow {
    /// From 1, without the header.
    pub number: u64,
    /// Line in the file, if the format has lines.
    pub line: Option<u64>,
    /// Text of each column, as printed. `None` if the cell is empty or missing.
    pub cells: Vec<Option<String>>,
    /// Columns that the row has twice, with different values.
    pub doubled: Vec<usize>,
}
