//! The four tables as frames: `runs`, `items`, `scores`, `usage`.

use polars::prelude::*;

use super::open::{RunRow, Warehouse};
use super::segment;
use super::sql::SqlError;

/// The tables' names, in the order they are listed.
pub(super) const TABLES: [&str; 4] = ["runs", "items", "scores", "usage"];

impl Warehouse {
    /// Returns one of the four tables.
    pub(super) fn table(&self, name: &str) -> Result<LazyFrame, SqlError> {
        match name {
            "runs" => Ok(runs(&self.runs)?.lazy()),
            "scores" => Ok(scores(&self.runs)?.lazy()),
            "usage" => Ok(usage(&self.runs)?.lazy()),
            _ => self.items_table(),
        }
    }

    /// The item lines of the runs that no tombstone hides, under their aliases.
    pub(super) fn items_table(&self) -> Result<LazyFrame, SqlError> {
        let folder = self.segments_folder()?;
        let paths = segment::segments(&self.files, &folder)?;
        let all = if paths.is_empty() {
            segment::empty()?.lazy()
        } else {
            let paths = paths.iter().map(|path| PlRefPath::try_from_path(path)).collect::<PolarsResult<Vec<_>>>()?;
            LazyFrame::scan_parquet_files(paths.into_iter().collect(), ScanArgsParquet::default())?
        };
        let shown = Series::new("shown".into(), self.runs.iter().map(|row| row.run.id.as_str()).collect::<Vec<_>>());
        let mut items = if self.hides_some() { all.filter(col("run_id").is_in(lit(shown).implode(false), false)) } else { all };
        if !self.aliases().item.is_empty() {
            let aliased = self
                .aliases()
                .item
                .iter()
                .fold(col("item"), |name, (from, to)| when(col("item").eq(lit(from.clone()))).then(lit(to.clone())).otherwise(name));
            items = items.with_column(aliased.alias("item"));
        }
        Ok(items)
    }
}

fn column<T, S>(name: &str, rows: &[RunRow], value: impl Fn(&RunRow) -> T) -> Column
where
    Series: NamedFrom<Vec<T>, S>,
    S: ?Sized,
{
    Series::new(name.into(), rows.iter().map(value).collect::<Vec<T>>()).into()
}

fn runs(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    let milliseconds = |row: &RunRow| row.run.timestamp.map(|time| time.timestamp_millis());
    let timestamp = column("timestamp", rows, milliseconds).cast(&DataType::Datetime(TimeUnit::Milliseconds, None))?;
    Ok(DataFrame::new(
        rows.len(),
        vec![
            column("run_id", rows, |row| row.run.id.to_string()),
            column("suite", rows, |row| row.run.suite.clone()),
            column("approach", rows, |row| row.run.approach.clone()),
            column("model", rows, |row| row.run.model.clone()),
            timestamp,
            column("status", rows, |row| row.run.status.name()),
            column("error", rows, |row| row.run.error.clone()),
            column("duration_seconds", rows, |row| row.run.duration_seconds),
            column("shared_tests_passed", rows, |row| row.run.shared_tests_passed),
            column("shared_tests_total", rows, |row| row.run.shared_tests_total),
            column("own_tests_passed", rows, |row| row.run.own_tests_passed),
            column("own_tests_total", rows, |row| row.run.own_tests_total),
            column("files_generated", rows, |row| row.run.files_generated),
            column("lines_generated", rows, |row| row.run.lines_generated),
            column("batch_id", rows, |row| row.run.batch_id.clone()),
            column("run_index", rows, |row| row.run.run_index),
            column("suite_version", rows, |row| row.run.suite_version.clone()),
            column("tags", rows, |row| serde_json::to_string(&row.run.tags).unwrap_or_default()),
            column("importer", rows, |row| row.run.provenance.as_ref().map(|from| from.importer.clone())),
            column("source", rows, |row| row.run.provenance.as_ref().map(|from| from.file.clone())),
            column("item_lines", rows, |row| row.items.map(|items| items.lines)),
        ],
    )?)
}

fn usage(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    Ok(DataFrame::new(
        rows.len(),
        vec![
            column("run_id", rows, |row| row.run.id.to_string()),
            column("total_calls", rows, |row| row.run.total_calls),
            column("input_tokens", rows, |row| row.run.input_tokens),
            column("cache_write_tokens", rows, |row| row.run.usage.and_then(|usage| usage.cache_write)),
            column("cache_read_tokens", rows, |row| row.run.usage.and_then(|usage| usage.cache_read)),
            column("output_tokens", rows, |row| row.run.output_tokens),
            column("total_tokens", rows, |row| row.run.total_tokens),
            column("cost_usd", rows, |row| row.run.cost_usd),
            column("cost_source", rows, |row| row.run.cost_source.name()),
        ],
    )?)
}

fn scores(rows: &[RunRow]) -> Result<DataFrame, SqlError> {
    let scores: Vec<_> = rows.iter().flat_map(|row| row.run.scores.iter().map(move |score| (row.run.id.as_str(), score))).collect();
    Ok(DataFrame::new(
        scores.len(),
        vec![
            Column::new("run_id".into(), scores.iter().map(|(run, _)| *run).collect::<Vec<_>>()),
            Column::new("metric".into(), scores.iter().map(|(_, score)| score.metric.clone()).collect::<Vec<_>>()),
            Column::new("value".into(), scores.iter().map(|(_, score)| score.value).collect::<Vec<_>>()),
            Column::new("unit".into(), scores.iter().map(|(_, score)| score.unit.name()).collect::<Vec<_>>()),
            Column::new("direction".into(), scores.iter().map(|(_, score)| score.direction.name()).collect::<Vec<_>>()),
            Column::new("standard_error".into(), scores.iter().map(|(_, score)| score.standard_error).collect::<Vec<_>>()),
            Column::new("n".into(), scores.iter().map(|(_, score)| score.n).collect::<Vec<_>>()),
            Column::new("evaluator".into(), scores.iter().map(|(_, score)| score.evaluator.clone()).collect::<Vec<_>>()),
            Column::new("revision".into(), scores.iter().map(|(_, score)| score.revision).collect::<Vec<_>>()),
        ],
    )?)
}
