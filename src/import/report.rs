//! What an import found and did, as plain data; the command line prints it.

use std::collections::BTreeMap;

use crate::domain::{Problem, RunId, StatedFigure, Unit};

use super::cell::Refused;
use super::rows::Row;

/// So many rows are shown for each reason.
const MOST_EXAMPLES: usize = 3;

/// The outcome of one import command: one report for each file, in the order given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    pub sources: Vec<SourceReport>,
    /// Nothing was written.
    pub dry_run: bool,
    /// Files that no format was recognised in, or none that is read.
    pub unrecognised: Vec<Unrecognised>,
    /// Files in the walked folders that were not looked into: their names say that they hold no results.
    pub passed_over: u64,
}

/// A file that is not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecognised {
    pub file: String,
    /// The tool that wrote it, where that is known, and what to do.
    pub tool: Option<&'static str>,
    pub hint: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOutcome {
    /// New runs were stored, or would be.
    Imported,
    /// The same file with the same map was imported before; it was not read again.
    AlreadyImported,
    /// Every run of it is in the store already.
    NothingNew,
    /// No row was accepted.
    NothingAccepted,
    /// The file as a whole cannot be read; nothing of it was stored.
    Unreadable,
}

impl SourceOutcome {
    /// Says whether a store holds what the source does.
    pub fn is_there(self) -> bool {
        matches!(self, Self::Imported | Self::AlreadyImported)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SourceReport {
    /// The file as the user named it.
    pub file: String,
    pub sha256: Option<String>,
    /// What the sealed pair is named by, where the source is of a known format.
    pub key: Option<String>,
    pub outcome: SourceOutcome,
    /// Why the file cannot be read, or has nothing to read.
    pub problems: Vec<Problem>,
    pub rows_read: u64,
    pub rows_accepted: u64,
    /// Totals and notes, which the map says are no rows of the table.
    pub rows_skipped: u64,
    /// In the order of their first row.
    pub refusals: Vec<Refusal>,
    pub runs_new: Vec<ImportedRun>,
    /// Runs that were in the store, or in an earlier file of the same command; theirs were kept.
    pub runs_repeated: Vec<ImportedRun>,
    /// New runs that replace what the store has of them: their sources grew or were changed.
    pub runs_replaced: Vec<ReplacedRun>,
    /// What the user should know of runs that were not taken, or came back.
    pub notes: Vec<String>,
    /// Item outcomes stored with the new runs.
    pub items: u64,
    pub stated: StatedReport,
    /// Columns that the map reads and no row had, where records can be made without them.
    pub columns_lacking: Vec<LackingColumn>,
    /// Columns that the rows have and the map does not read.
    pub columns_unused: Vec<String>,
    /// What is known of a source that another tool wrote; nothing for tables and rubrics.
    pub foreign: Option<ForeignReport>,
}

/// What a source of a known format holds and lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignReport {
    /// The format's name.
    pub format: &'static str,
    /// The version that the file names: of the tool or of the format.
    pub version: Option<String>,
    /// The files that the source consists of.
    pub files: usize,
    /// For each of our fields, how many runs or outcomes have it.
    pub fields: Vec<FieldHeld>,
    /// What was odd and how it was read, with how often; in the order they were met.
    pub quirks: Vec<(String, u64)>,
    /// What the file says about itself beside the same recomputed.
    pub stated: Vec<StatedLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldHeld {
    pub field: &'static str,
    pub held: u64,
    pub of: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StatedLine {
    pub run: RunId,
    pub figure: StatedFigure,
}

/// Rows refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub reason: String,
    pub rows: u64,
    pub examples: Vec<Problem>,
}

/// A stored run whose source holds something else now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedRun {
    pub run: RunId,
    pub by: RunId,
    /// Outcomes before, where that is known, and now.
    pub stored: Option<u64>,
    pub found: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedRun {
    pub id: RunId,
    pub suite: String,
    pub approach: String,
    pub model: String,
    /// What the map names to tell runs apart, where it does.
    pub identity: Option<String>,
    pub file: String,
    pub line: Option<usize>,
}

/// Published figures beside the same recomputed from the source's own counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StatedReport {
    pub checked: u64,
    pub agree: u64,
    /// Stated figures with no counts to check them by.
    pub unchecked: u64,
    pub disagreements: Vec<Disagreement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    pub run: ImportedRun,
    pub figure: String,
    pub unit: Unit,
    pub stated: f64,
    pub recomputed: f64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LackingColumn {
    pub column: String,
    /// The map's fields that read it.
    pub fields: Vec<String>,
    /// The nearest column that is there.
    pub hint: Option<String>,
}

impl SourceReport {
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            sha256: None,
            key: None,
            outcome: SourceOutcome::Unreadable,
            problems: Vec::new(),
            rows_read: 0,
            rows_accepted: 0,
            rows_skipped: 0,
            refusals: Vec::new(),
            runs_new: Vec::new(),
            runs_repeated: Vec::new(),
            runs_replaced: Vec::new(),
            notes: Vec::new(),
            items: 0,
            stated: StatedReport::default(),
            columns_lacking: Vec::new(),
            columns_unused: Vec::new(),
            foreign: None,
        }
    }

    pub fn rows_refused(&self) -> u64 {
        self.refusals.iter().map(|refusal| refusal.rows).sum()
    }
}

impl StatedReport {
    /// Compares what a run states about itself with what was recomputed.
    pub(super) fn check(&mut self, stated: &[StatedFigure], source: &ImportedRun) {
        for figure in stated {
            let (Some(disagrees), Some(recomputed)) = (figure.disagrees(), figure.recomputed) else {
                self.unchecked += 1;
                continue;
            };
            self.checked += 1;
            if disagrees {
                self.disagreements.push(Disagreement {
                    run: source.clone(),
                    figure: figure.name.clone(),
                    unit: figure.unit,
                    stated: figure.value,
                    recomputed,
                });
            } else {
                self.agree += 1;
            }
        }
    }
}

/// Counts refused rows by reason.
#[derive(Debug, Default)]
pub(super) struct Refusals {
    places: BTreeMap<String, usize>,
    found: Vec<Refusal>,
}

impl Refusals {
    pub fn add(&mut self, refused: Refused, label: &str, row: &Row<'_>) {
        let line = row.line.and_then(|line| usize::try_from(line).ok());
        self.add_at(refused, label, &format!("row {}", row.number), line);
    }

    /// Notes something refused; `name` says what it is within the file.
    pub fn add_at(&mut self, refused: Refused, label: &str, name: &str, line: Option<usize>) {
        let place = *self.places.entry(refused.reason.clone()).or_insert_with(|| {
            self.found.push(Refusal { reason: refused.reason.clone(), rows: 0, examples: Vec::new() });
            self.found.len() - 1
        });
        let refusal = &mut self.found[place];
        refusal.rows += 1;
        if refusal.examples.len() < MOST_EXAMPLES {
            let message = match refused.detail {
                Some(detail) => format!("{name}: {} ({detail})", refused.reason),
                None => format!("{name}: {}", refused.reason),
            };
            refusal.examples.push(Problem { line, ..Problem::in_file(label, message) });
        }
    }

    pub fn into_found(self) -> Vec<Refusal> {
        self.found
    }
}
