//! The rows of the table `runs`, and which of them stand.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use polars::prelude::*;

use crate::domain::{Problem, Run, escape_invisible};
use crate::external_rows::{ExternalRun, OutcomeChecksum};
use crate::files;
use crate::hidden::HiddenBy;
use crate::results::{ScoreLine, parse_header};
use crate::segment::file_digest;
use crate::totals::ItemTotals;

use super::decoding::decode_file;
use super::log::DataFile;
use super::rows::{integer_column, text_column};

/// A row of `runs`: a revision of a run, a retraction, or its undo.
#[derive(Clone, Debug)]
pub(super) struct LakeRunRow {
    /// Under its stored names.
    pub run: Arc<Run>,
    pub totals: Option<ItemTotals>,
    pub publish: String,
    pub hidden: Option<(HiddenBy, String)>,
    /// Digest of the published content; empty if its outcomes were never published.
    pub content: String,
    /// About the standing outcomes.
    pub seal: OutcomeChecksum,
    /// A sum over the standing outcomes with their time and money. 0 if not known, in lakes of version 1 or from the cache.
    pub lines: u64,
    /// What evaluators said of the run, without the replies of judges.
    pub score_lines: Vec<ScoreLine>,
}

/// The columns after those of the tables `runs` and `usage` of SQL.
pub(super) const LAKE_RUN_COLUMNS: [&str; 16] = [
    "publish_id",
    "sequence",
    "deleted",
    "deleted_by",
    "deleted_reason",
    "month",
    "outcomes",
    "outcomes_check",
    "lines_check",
    "content",
    "totals",
    "score_lines",
    "record",
    "commit_rows",
    "all_runs",
    "row_check",
];

/// Columns of lakes before version 2 are these without the ones that only engines' answers are checked with.
const CHECK_COLUMNS: [&str; 4] = ["lines_check", "commit_rows", "all_runs", "row_check"];

/// Returns the month of a run in UTC, by which its outcomes are partitioned.
pub(super) fn month_of(run: &Run) -> String {
    run.timestamp.map_or_else(
        || "unknown".to_owned(),
        |time| time.format("%Y-%m").to_string(),
    )
}

/// The standing row of a run.
pub(super) struct LatestLakeRun {
    pub fact: LakeRunRow,
    pub sequence: i64,
}

/// Reads what stands: of each run the row with the highest sequence. Fails if a listed file is gone or damaged.
pub(super) fn read_latest_runs(
    listed: &[DataFile],
) -> Result<HashMap<String, LatestLakeRun>, Problem> {
    let mut standing: HashMap<String, LatestLakeRun> = HashMap::new();
    for file in listed {
        let shown = escape_invisible(&file.path.display().to_string());
        check_file_digest(file)?;
        let wrong = |message: String| Problem::in_file(&*shown, message).with_hint(RESTORE_HINT);
        let polars = |error: PolarsError| {
            wrong(format!(
                "cannot be read: {}",
                escape_invisible(&error.to_string())
            ))
        };
        let frame = decode_file(|| scan_file(&file.path).and_then(read_columns)).map_err(polars)?;
        let facts = parse_run_rows(&frame).map_err(polars)?;
        for (row, fact) in facts.into_iter().enumerate() {
            let (sequence, fact) =
                fact.map_err(|message| wrong(format!("row {}: {message}", row + 1)))?;
            let id = fact.run.id.as_str();
            if standing
                .get(id)
                .is_none_or(|known| known.sequence < sequence)
            {
                standing.insert(id.to_owned(), LatestLakeRun { fact, sequence });
            }
        }
    }
    Ok(standing)
}

pub(super) const RESTORE_HINT: &str =
    "restore the file from a copy, or publish the runs again into a new folder";

fn read_columns(mut file: LazyFrame) -> PolarsResult<DataFrame> {
    let is_newer = file.collect_schema()?.contains("lines_check");
    let is_read = |name: &&str| *name != "month" && !CHECK_COLUMNS.contains(name);
    let columns = ["run_id"]
        .into_iter()
        .chain(LAKE_RUN_COLUMNS.into_iter().filter(is_read))
        .chain(is_newer.then_some("lines_check"));
    file.select(columns.map(col).collect::<Vec<Expr>>())
        .collect()
}

type LakeRunResult = Result<(i64, LakeRunRow), String>;

fn parse_run_rows(frame: &DataFrame) -> PolarsResult<Vec<LakeRunResult>> {
    let (publish, by, reason) = (
        text_column(frame, "publish_id")?,
        text_column(frame, "deleted_by")?,
        text_column(frame, "deleted_reason")?,
    );
    let (content, totals, record) = (
        text_column(frame, "content")?,
        text_column(frame, "totals")?,
        text_column(frame, "record")?,
    );
    let score_lines = text_column(frame, "score_lines")?;
    let (sequence, outcomes, check) = (
        integer_column(frame, "sequence")?,
        integer_column(frame, "outcomes")?,
        integer_column(frame, "outcomes_check")?,
    );
    let lines = if frame.schema().contains("lines_check") {
        Some(integer_column(frame, "lines_check")?)
    } else {
        None
    };
    let (run_id, deleted) = (
        text_column(frame, "run_id")?,
        frame.column("deleted")?.bool()?.clone(),
    );
    let fact = |row: usize| -> LakeRunResult {
        let missing = |name: &str| format!("has no `{name}`");
        let record = record.get(row).ok_or_else(|| missing("record"))?;
        let run = parse_header(record.as_bytes(), "record", None, None)
            .map_err(|problems| problems.to_string())?;
        if run_id.get(row) != Some(run.id.as_str()) {
            return Err("its record is that of another run".to_owned());
        }
        let is_deleted = deleted.get(row).ok_or_else(|| missing("deleted"))?;
        let hidden = is_deleted.then(|| {
            let by = by
                .get(row)
                .and_then(HiddenBy::from_name)
                .unwrap_or(HiddenBy::Tombstone);
            (by, reason.get(row).unwrap_or_default().to_owned())
        });
        let totals = totals
            .get(row)
            .map(serde_json::from_str::<ItemTotals>)
            .transpose()
            .map_err(|error| format!("`totals`: {error}"))?;
        let outcomes = outcomes
            .get(row)
            .and_then(|number| u64::try_from(number).ok())
            .ok_or_else(|| missing("outcomes"))?;
        let check = check
            .get(row)
            .ok_or_else(|| missing("outcomes_check"))?
            .cast_unsigned();
        let publish = publish
            .get(row)
            .ok_or_else(|| missing("publish_id"))?
            .to_owned();
        let content = content.get(row).unwrap_or_default().to_owned();
        let score_lines = score_lines
            .get(row)
            .map(serde_json::from_str::<Vec<ScoreLine>>)
            .transpose();
        let score_lines = score_lines
            .map_err(|error| format!("`score_lines`: {error}"))?
            .unwrap_or_default();
        let lines = lines
            .as_ref()
            .and_then(|lines| lines.get(row))
            .unwrap_or_default()
            .cast_unsigned();
        let fact = LakeRunRow {
            run: Arc::new(run),
            totals,
            publish,
            hidden,
            content,
            seal: OutcomeChecksum { outcomes, check },
            lines,
            score_lines,
        };
        Ok((sequence.get(row).ok_or_else(|| missing("sequence"))?, fact))
    };
    Ok((0..frame.height()).map(fact).collect())
}

/// Fails if a file is not the one that was committed.
pub(super) fn check_file_digest(file: &DataFile) -> Result<(), Problem> {
    let shown = || escape_invisible(&file.path.display().to_string());
    let found = match files::missing_as_none(file_digest(&file.path)) {
        Ok(Some(found)) => found,
        Ok(None) => {
            return Err(
                Problem::in_file(shown(), "is gone, and the log of the lake lists it")
                    .with_hint(RESTORE_HINT),
            );
        }
        Err(error) => return Err(Problem::unread_file(shown(), &error)),
    };
    if file
        .sha256
        .as_ref()
        .is_some_and(|published| *published != found)
    {
        return Err(
            Problem::in_file(shown(), "is not as it was published: its digest differs")
                .with_hint(RESTORE_HINT),
        );
    }
    Ok(())
}

/// Scans one file by its path alone: names of folders say nothing that its columns do not.
pub(super) fn scan_file(path: &Path) -> PolarsResult<LazyFrame> {
    let options = polars::io::HiveOptions {
        enabled: Some(false),
        ..polars::io::HiveOptions::default()
    };
    LazyFrame::scan_parquet(
        PlRefPath::try_from_path(path)?,
        ScanArgsParquet {
            glob: false,
            hive_options: options,
            cache: false,
            ..ScanArgsParquet::default()
        },
    )
}

impl LakeRunRow {
    /// Returns the run as the seam takes it.
    pub fn to_external_run(&self) -> ExternalRun {
        let Self {
            run,
            totals,
            hidden,
            content,
            seal,
            score_lines,
            ..
        } = self;
        // Of a run that was retracted before it was ever published there are no outcomes.
        let seal = (!content.is_empty()).then_some(*seal);
        ExternalRun {
            run: Arc::clone(run),
            totals: *totals,
            hidden: hidden.clone(),
            seal,
            score_lines: score_lines.clone(),
        }
    }
}
