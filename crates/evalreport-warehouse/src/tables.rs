//! The four tables as frames: `runs`, `items`, `scores`, `usage`.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use polars::prelude::*;

use crate::domain::{ItemKind, ScoreRecord, latest_of_each};
use crate::files::FolderUse;

use super::cache::SEGMENTS_FOLDER;
use super::display_names::DisplayNames;
use super::item_file::ItemFile;
use super::open::Warehouse;
use super::run_row::RunRow;
use super::segment;
use super::sql_error::SqlError;
use super::threads;

/// The tables' names, in display order.
pub(super) const TABLES: [&str; 4] = ["runs", "items", "scores", "usage"];

/// The column of line numbers, used while lines are marked.
const LINE_NUMBER_COLUMN: &str = "place";

impl Warehouse {
    /// Returns one of the four tables.
    pub(super) fn table_frame(&self, name: &str) -> Result<LazyFrame, SqlError> {
        match name {
            "runs" => Ok(runs_table(&self.runs)?.lazy()),
            "scores" => Ok(scores_table(&self.runs)?.lazy()),
            "usage" => Ok(usage_table(&self.runs)?.lazy()),
            _ => self.marked_items(),
        }
    }

    /// Returns the item lines, each with whether it counts. If every run was evaluated once, only the revisions are read.
    fn marked_items(&self) -> Result<LazyFrame, SqlError> {
        let items = self.visible_items()?;
        let again = self.reevaluated_runs(&items)?;
        let marked = if again.is_empty() {
            items.with_column(lit(true).alias("standing"))
        } else {
            // Uses line numbers: a union of both kinds of runs would lose their order, and polars cannot count one.
            let placed = items.with_row_index(LINE_NUMBER_COLUMN, None);
            let runs = Series::new(
                "again".into(),
                again.iter().map(String::as_str).collect::<Vec<_>>(),
            );
            let stale = self.superseded_lines(
                placed
                    .clone()
                    .filter(col("run_id").is_in(lit(runs).implode(false), false)),
            )?;
            let is_stale = col(LINE_NUMBER_COLUMN).is_in(lit(stale).implode(false), false);
            placed
                .with_column(is_stale.not().alias("standing"))
                .drop(cols([LINE_NUMBER_COLUMN]))
        };
        Ok(self.apply_display_names(marked))
    }

    /// Returns the ids of re-evaluated runs: those with a revision above 0, or a current one.
    fn reevaluated_runs(&self, items: &LazyFrame) -> Result<BTreeSet<String>, SqlError> {
        let later = items
            .clone()
            .filter(col("revision").gt(lit(0)))
            .select([col("run_id").unique()])
            .collect()?;
        let later = later.column("run_id")?.str()?;
        let judged = self
            .files
            .iter()
            .filter(|file| !file.standing.is_empty())
            .filter_map(|file| file.journal_of.as_ref());
        Ok(later
            .iter()
            .flatten()
            .map(str::to_owned)
            .chain(judged.map(ToString::to_string))
            .collect())
    }

    /// Returns the line numbers of superseded lines. Judged evaluators keep only their whole current revision; all others, and imported
    /// runs, the highest revision of each outcome.
    fn superseded_lines(&self, placed: LazyFrame) -> Result<Series, SqlError> {
        let needed = [
            LINE_NUMBER_COLUMN,
            "run_id",
            "kind",
            "evaluator",
            "item",
            "attempt",
            "revision",
        ]
        .map(col);
        let frame = placed.select(needed).collect()?;
        let text = |name: &str| {
            frame
                .column(name)
                .and_then(|column| Ok(column.str()?.clone()))
        };
        let whole = |name: &str| {
            frame
                .column(name)
                .and_then(|column| Ok(column.u32()?.clone()))
        };
        let (run_id, kind, evaluator, item) = (
            text("run_id")?,
            text("kind")?,
            text("evaluator")?,
            text("item")?,
        );
        let (attempt, revision) = (whole("attempt")?, whole("revision")?);
        let journals: HashMap<&str, &ItemFile> = self
            .files
            .iter()
            .filter_map(|file| Some((file.journal_of.as_ref()?.as_str(), file)))
            .collect();
        let outcome = |row| {
            (
                run_id.get(row),
                kind.get(row),
                evaluator.get(row),
                item.get(row),
                attempt.get(row),
            )
        };
        let revision_of = |row: usize| revision.get(row).unwrap_or(0);
        let may_stand = |row: &usize| {
            let journal = run_id.get(*row).and_then(|run| journals.get(run));
            journal
                .zip(evaluator.get(*row))
                .is_none_or(|(file, name)| file.may_count(name, revision_of(*row)))
        };
        let standing = latest_of_each(
            (0..frame.height()).filter(may_stand),
            |row| outcome(*row),
            |row| revision_of(*row),
        );
        let standing: BTreeSet<usize> = standing.into_iter().collect();
        let line = whole(LINE_NUMBER_COLUMN)?;
        Ok(Series::new(
            "stale".into(),
            (0..frame.height())
                .filter(|row| !standing.contains(row))
                .filter_map(|row| line.get(row))
                .collect::<Vec<u32>>(),
        ))
    }

    /// Returns the item lines of the runs that are not retracted, under display names.
    pub(super) fn items_table(&self) -> Result<LazyFrame, SqlError> {
        Ok(self.apply_display_names(self.visible_items()?))
    }

    /// Returns the item lines of the runs that are not retracted.
    fn visible_items(&self) -> Result<LazyFrame, SqlError> {
        let all = self.stored_items()?;
        let shown = Series::new(
            "shown".into(),
            self.runs
                .iter()
                .map(|row| row.run.id.as_str())
                .collect::<Vec<_>>(),
        );
        Ok(if self.has_hidden_lines() {
            all.filter(col("run_id").is_in(lit(shown).implode(false), false))
        } else {
            all
        })
    }

    /// Returns all item lines, from segments in the cache or in a temporary folder; if neither can be written, from memory.
    fn stored_items(&self) -> Result<LazyFrame, SqlError> {
        threads::check_threads()?;
        let places: [&dyn Fn() -> Option<PathBuf>; 2] =
            [&|| self.segments_folder(), &|| self.temporary_folder()];
        let list = || (self.snapshot.stores.clone(), self.name.as_str());
        for folder in places.iter().filter_map(|place| place()) {
            match segment::ensure_segments(&self.files, &folder, list()) {
                Ok(paths) if paths.is_empty() => return Ok(segment::empty_items()?.lazy()),
                Ok(paths) => {
                    let paths = paths
                        .iter()
                        .map(|path| PlRefPath::try_from_path(path))
                        .collect::<PolarsResult<Vec<_>>>()?;
                    return Ok(LazyFrame::scan_parquet_files(
                        paths.into_iter().collect(),
                        ScanArgsParquet::default(),
                    )?);
                }
                Err(SqlError::Cache { message, .. }) => self.note_cache_trouble(message),
                Err(error) => return Err(error),
            }
        }
        segment::read_into_memory(&self.files)
    }

    /// Returns the folder of the segments in the cache, which nobody clears as long as this value lives.
    fn segments_folder(&self) -> Option<PathBuf> {
        let cache = self.cache.as_ref()?;
        self.cache_use.get_or_init(|| {
            // A folder that cannot be made is reported when a segment is written to it.
            let _ = std::fs::create_dir_all(cache);
            FolderUse::begin_use(cache)
        });
        Some(cache.join(SEGMENTS_FOLDER))
    }

    fn apply_display_names(&self, items: LazyFrame) -> LazyFrame {
        let DisplayNames {
            items: of_items,
            evaluators,
            clusters,
        } = self.display_names();
        let columns = [
            ("item", of_items),
            ("evaluator", evaluators),
            ("cluster", clusters),
        ];
        let renamed = columns
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(column, names)| {
                let each = |name, (from, to): (&String, &String)| {
                    when(col(column).eq(lit(from.clone())))
                        .then(lit(to.clone()))
                        .otherwise(name)
                };
                names.iter().fold(col(column), each).alias(column)
            });
        let renamed: Vec<Expr> = renamed.collect();
        if renamed.is_empty() {
            items
        } else {
            items.with_columns(renamed)
        }
    }
}

fn run_column<T, S>(name: &str, rows: &[RunRow], value: impl Fn(&RunRow) -> T) -> Column
where
    Series: NamedFrom<Vec<T>, S>,
    S: ?Sized,
{
    Series::new(name.into(), rows.iter().map(value).collect::<Vec<T>>()).into()
}

pub(super) fn runs_table(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    let milliseconds = |row: &RunRow| row.run.timestamp.map(|time| time.timestamp_millis());
    let timestamp = run_column("timestamp", rows, milliseconds)
        .cast(&DataType::Datetime(TimeUnit::Milliseconds, None))?;
    Ok(DataFrame::new(
        rows.len(),
        vec![
            run_column("run_id", rows, |row| row.run.id.to_string()),
            run_column("suite", rows, |row| row.run.suite.clone()),
            run_column("approach", rows, |row| row.run.approach.clone()),
            run_column("model", rows, |row| row.run.model.clone()),
            run_column("reported_model", rows, |row| row.run.reported_model.clone()),
            timestamp,
            run_column("status", rows, |row| row.run.status.name()),
            run_column("error", rows, |row| row.run.error.clone()),
            run_column("duration_seconds", rows, |row| row.run.duration_seconds),
            run_column("shared_tests_passed", rows, |row| {
                row.run.shared_tests_passed
            }),
            run_column("shared_tests_total", rows, |row| row.run.shared_tests_total),
            run_column("own_tests_passed", rows, |row| row.run.own_tests_passed),
            run_column("own_tests_total", rows, |row| row.run.own_tests_total),
            run_column("counted", rows, |row| row.run.counted.map(ItemKind::name)),
            run_column("files_generated", rows, |row| row.run.files_generated),
            run_column("lines_generated", rows, |row| row.run.lines_generated),
            run_column("batch_id", rows, |row| row.run.batch_id.clone()),
            run_column("run_index", rows, |row| row.run.run_index),
            run_column("suite_version", rows, |row| row.run.suite_version.clone()),
            run_column("tags", rows, |row| {
                serde_json::to_string(&row.run.tags).unwrap_or_default()
            }),
            run_column("importer", rows, |row| {
                row.run
                    .provenance
                    .as_ref()
                    .map(|from| from.importer.clone())
            }),
            run_column("source", rows, |row| {
                row.run.provenance.as_ref().map(|from| from.file.clone())
            }),
            run_column("item_lines", rows, |row| row.items.map(|items| items.lines)),
        ],
    )?)
}

pub(super) fn usage_table(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    Ok(DataFrame::new(
        rows.len(),
        vec![
            run_column("run_id", rows, |row| row.run.id.to_string()),
            run_column("total_calls", rows, |row| row.run.total_calls),
            run_column("turns", rows, |row| row.run.turns),
            run_column("input_tokens", rows, |row| row.run.input_tokens),
            run_column("cache_write_tokens", rows, |row| {
                row.run.usage.and_then(|usage| usage.cache_write)
            }),
            run_column("cache_read_tokens", rows, |row| {
                row.run.usage.and_then(|usage| usage.cache_read)
            }),
            run_column("output_tokens", rows, |row| row.run.output_tokens),
            run_column("total_tokens", rows, |row| row.run.total_tokens),
            run_column("cost_usd", rows, |row| row.run.cost_usd),
            run_column("cost_source", rows, |row| row.run.cost_source.name()),
        ],
    )?)
}

fn scores_table(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    let scores: Vec<_> = rows
        .iter()
        .flat_map(|row| {
            row.run
                .scores
                .iter()
                .map(move |score| (row.run.id.as_str(), score))
        })
        .collect();
    let standing: Vec<bool> = rows
        .iter()
        .flat_map(|row| latest_scores(&row.run.scores))
        .collect();
    Ok(DataFrame::new(
        scores.len(),
        vec![
            Column::new(
                "run_id".into(),
                scores.iter().map(|(run, _)| *run).collect::<Vec<_>>(),
            ),
            Column::new(
                "metric".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.metric.clone())
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "value".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.value)
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "unit".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.unit.name())
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "direction".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.direction.name())
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "least".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.range.map(|[least, _]| least))
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "most".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.range.map(|[_, most]| most))
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "standard_error".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.standard_error)
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "n".into(),
                scores.iter().map(|(_, score)| score.n).collect::<Vec<_>>(),
            ),
            Column::new(
                "evaluator".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.evaluator.clone())
                    .collect::<Vec<_>>(),
            ),
            Column::new(
                "revision".into(),
                scores
                    .iter()
                    .map(|(_, score)| score.revision)
                    .collect::<Vec<_>>(),
            ),
            Column::new("standing".into(), standing),
        ],
    )?)
}

/// Returns for each score of a run whether it counts: per metric the highest revision, and of equal ones the last.
fn latest_scores(scores: &[ScoreRecord]) -> impl Iterator<Item = bool> {
    let last = |metric: &str| {
        let places = scores
            .iter()
            .enumerate()
            .filter(|(_, score)| score.metric == metric);
        places
            .max_by_key(|(place, score)| (score.revision, *place))
            .map(|(place, _)| place)
    };
    scores
        .iter()
        .enumerate()
        .map(move |(place, score)| last(&score.metric) == Some(place))
}
