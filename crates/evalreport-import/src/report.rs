//! Findings and results of an import, as plain data for the command line.

use std::collections::BTreeMap;

use crate::domain::{Problem, RunId, StatedFigure, Unit};

use super::cell::Refused;

/// Maximum number of rows shown per reason.
const MAX_EXAMPLES: usize = 3;

/// Result of one import command: one report per file, in the given order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportReport {
    pub sources: Vec<SourceReport>,
    /// Nothing was written.
    pub dry_run: bool,
    /// Files of unknown or unsupported formats.
    pub unrecognised: Vec<UnrecognisedSource>,
    /// Symbolic links in the walked folders, which are not followed.
    pub links: Vec<String>,
    /// Files in the walked folders that were not opened, because their names show that they hold no results.
    pub passed_over: u64,
}

/// A file that is not imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecognisedSource {
    pub file: String,
    /// The tool that wrote it, if known, and a remedy.
    pub tool: Option<&'static str>,
    pub hint: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceOutcome {
    /// New runs were stored, or would be in a dry run.
    Imported,
    /// The same file with the same map was imported before, and was not read again.
    AlreadyImported,
    /// All its runs are stored already.
    NothingNew,
    /// No row was accepted.
    NothingAccepted,
    /// The file cannot be read as a whole; nothing was stored.
    Unreadable,
}

impl SourceOutcome {
    /// Returns whether a store has the source's content.
    pub fn is_stored(self) -> bool {
        matches!(self, Self::Imported | Self::AlreadyImported)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SourceReport {
    /// The file as the user named it.
    pub file: String,
    pub sha256: Option<String>,
    /// Key of the sealed pair, if the source is of a known format.
    pub key: Option<String>,
    pub outcome: SourceOutcome,
    /// Problems that make the file unreadable or empty.
    pub problems: Vec<Problem>,
    pub rows_read: u64,
    pub rows_accepted: u64,
    /// Rows that the map skips, such as totals and notes.
    pub rows_skipped: u64,
    /// Ordered by their first row.
    pub refusals: Vec<RefusalReason>,
    pub runs_new: Vec<SourceRun>,
    /// Runs that the store or an earlier file of the command already had, and keeps.
    pub runs_repeated: Vec<SourceRun>,
    /// New runs that replace stored ones, because their sources grew or changed.
    pub runs_replaced: Vec<ReplacedRun>,
    /// New runs that stand for retracted ones, because it was asked for.
    pub runs_restored: Vec<ReplacedRun>,
    /// Notes on runs that were not taken, or were restored.
    pub notes: Vec<String>,
    /// Item outcomes stored with the new runs.
    pub items: u64,
    pub stated: PublishedFigureCheck,
    /// Columns that the map reads but no row had, if records can be made without them.
    pub columns_lacking: Vec<MissingColumn>,
    /// Columns of the rows that the map does not read.
    pub columns_unused: Vec<String>,
    /// Facts about a source of another tool. `None` for tables and rubrics.
    pub foreign: Option<ForeignReport>,
}

/// Content and gaps of a source of a known format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForeignReport {
    /// The format's name.
    pub format: &'static str,
    /// Version of the tool or the format, as the file names it.
    pub version: Option<String>,
    /// Number of the source's files.
    pub files: usize,
    /// For each of our fields, the number of runs or outcomes that have it.
    pub fields: Vec<FieldCoverage>,
    /// Oddities and how they were read, with their counts, in the order of their first occurrence.
    pub quirks: Vec<(String, u64)>,
    /// Published figures beside the recomputed ones.
    pub stated: Vec<PublishedFigureLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCoverage {
    pub field: &'static str,
    pub held: u64,
    pub of: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigureLine {
    pub run: RunId,
    pub figure: StatedFigure,
}

/// Rows refused for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalReason {
    pub reason: String,
    pub rows: u64,
    pub examples: Vec<Problem>,
}

/// A stored run whose source has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedRun {
    pub run: RunId,
    pub by: RunId,
    /// Number of outcomes or messages before, if known, and now.
    pub stored: Option<u64>,
    pub found: u64,
    /// What the two numbers count: `outcome` or `message`.
    pub unit: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRun {
    pub id: RunId,
    pub suite: String,
    pub approach: String,
    pub model: String,
    /// Identity of the run in its source, if the source or the map has one.
    pub identity: Option<String>,
    pub file: String,
    pub line: Option<usize>,
}

/// Published figures, compared with figures recomputed from the source's own counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PublishedFigureCheck {
    pub checked: u64,
    pub agree: u64,
    /// Published figures without counts to check them.
    pub unchecked: u64,
    pub disagreements: Vec<FigureDisagreement>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FigureDisagreement {
    pub run: SourceRun,
    pub figure: String,
    pub unit: Unit,
    pub stated: f64,
    pub recomputed: f64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingColumn {
    pub column: String,
    /// The map's fields that read it.
    pub fields: Vec<String>,
    /// The most similar existing column.
    pub hint: Option<String>,
}

impl SourceReport {
    /// Notes that the source cannot be read, perhaps only the second time: then it gives nothing, and replaces no run.
    pub(super) fn mark_unreadable(&mut self, problems: Vec<Problem>) {
        self.problems = problems;
        self.items = 0;
        self.runs_replaced.clear();
        self.runs_restored.clear();
    }

    /// Creates the report of a source that gives nothing, under the name of the problem's file.
    pub(super) fn from_problem(problem: Problem) -> Self {
        let report = Self::new(&problem.file);
        Self {
            problems: vec![problem],
            ..report
        }
    }

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
            runs_restored: Vec::new(),
            notes: Vec::new(),
            items: 0,
            stated: PublishedFigureCheck::default(),
            columns_lacking: Vec::new(),
            columns_unused: Vec::new(),
            foreign: None,
        }
    }

    pub fn count_refused_rows(&self) -> u64 {
        self.refusals.iter().map(|refusal| refusal.rows).sum()
    }
}

impl PublishedFigureCheck {
    /// Compares a run's published figures with the recomputed ones.
    pub(super) fn check_figures(&mut self, stated: &[StatedFigure], source: &SourceRun) {
        for figure in stated {
            let (Some(disagrees), Some(recomputed)) = (figure.disagrees(), figure.recomputed)
            else {
                self.unchecked += 1;
                continue;
            };
            self.checked += 1;
            if disagrees {
                self.disagreements.push(FigureDisagreement {
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
    found: Vec<RefusalReason>,
}

impl Refusals {
    /// Notes a refused part; `name` names it within the file.
    pub fn add_refusal(&mut self, refused: Refused, label: &str, name: &str, line: Option<usize>) {
        let place = *self
            .places
            .entry(refused.reason.clone())
            .or_insert_with(|| {
                self.found.push(RefusalReason {
                    reason: refused.reason.clone(),
                    rows: 0,
                    examples: Vec::new(),
                });
                self.found.len() - 1
            });
        let refusal = &mut self.found[place];
        refusal.rows += 1;
        if refusal.examples.len() < MAX_EXAMPLES {
            let message = match refused.detail {
                Some(detail) => format!("{name}: {} ({detail})", refused.reason),
                None => format!("{name}: {}", refused.reason),
            };
            refusal.examples.push(Problem {
                line,
                ..Problem::in_file(label, message)
            });
        }
    }

    pub fn into_reasons(self) -> Vec<RefusalReason> {
        self.found
    }
}
