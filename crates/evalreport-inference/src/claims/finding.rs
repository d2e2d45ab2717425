//! What an audit of published figures finds.

/// How bad a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// No data could give the figure.
    Impossible,
    /// Two figures of the source exclude each other.
    Contradictory,
    /// Nothing is wrong, but the figures do not show what a reader takes from them.
    NotEstablished,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// No count out of the stated total is printed so.
    ImpossibleRate,
    /// The rate is not the one of the stated counts.
    RateAgainstCounts,
    /// The rate is no count of the total that all others are counts of.
    RateAgainstColumn,
    /// Nearly all figures of a column are on another scale than its title says, or some on another than the rest.
    WrongUnit,
    /// A column follows from other columns than its title says: swapped columns, or a share of the other items.
    WrongColumn,
    /// Rates are of another number of items than the stated one.
    OtherDenominator,
    /// A row is the sum or the mean of the others, and stands among them.
    TotalRow,
    /// A mean that no whole scores have, though those of the other rows have theirs.
    ImpossibleMean,
    /// A standard deviation that no whole scores of this mean have.
    ImpossibleDeviation,
    /// A rank is not that of the figures.
    RankAgainstFigures,
    /// A mean or a sum is not the one of its parts.
    TotalAgainstParts,
    /// A standard error, a half width or an interval does not follow from rate and total by the formula of the others.
    SpreadAgainstRate,
    /// An interval that does not contain its figure.
    FigureOutsideInterval,
    /// The same row has two different figures.
    ConflictingRows,
    /// The same item has two outcomes.
    ConflictingOutcomes,
    /// A row has a key twice, with different values.
    DoubledKey,
    /// Rows count different numbers of items.
    DifferentTotals,
    /// More runs are stated than there are.
    MissingRuns,
    /// More runs are stated than the store holds of the system.
    RunsAgainstStore,
    /// The figure of more attempts is smaller than that of fewer.
    FewerWithMore,
    /// The marked figure is not the best of its column.
    BoldIsNotBest,
    /// The first place is within what chance gives.
    FirstPlace,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema)]
pub struct ClaimPlace {
    /// From 1, without the header.
    pub row: u64,
    /// Line in the file, if the format has lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Name of the row.
    pub name: String,
}

/// Figures that cannot be true, or do not show what they seem to.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ClaimFinding {
    pub kind: ClaimKind,
    pub severity: Severity,
    pub table: String,
    pub places: Vec<ClaimPlace>,
    pub column: String,
    /// The figure as printed.
    pub stated: String,
    /// Figures that would be possible, nearest first. Empty if there is none to name.
    pub possible: Vec<String>,
    /// One sentence.
    pub text: String,
}

/// A column whose figures were checked.
#[derive(Clone, Debug, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct CheckedColumn {
    pub table: String,
    pub column: String,
    /// What its figures follow from.
    pub follows: String,
    /// Number of rows that were checked, and of those that agree.
    pub rows: u64,
    pub agree: u64,
    /// The recovered number of items, if the source does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovered: Option<u64>,
    /// Upper bound of the probability that chance gives a recovered number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
}

/// The audit of the tables of one call.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, schemars::JsonSchema)]
pub struct ClaimsAudit {
    pub tables: Vec<AuditedTable>,
    /// Worst first, then by table and row.
    pub findings: Vec<ClaimFinding>,
    pub checked: Vec<CheckedColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct AuditedTable {
    pub name: String,
    pub rows: u64,
    pub columns: u64,
}
