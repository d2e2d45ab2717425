//! Item lines as Parquet: one file per group of sources, named after its sources.
//!
//! A segment is valid only if its name and its digest match; otherwise it is rebuilt.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use polars::prelude::*;
use sha2::{Digest, Sha256};

use crate::domain::{ItemOutcome, RunId, escape_invisible, to_hex};
use crate::files;
use crate::results::ItemLine;

use super::cache::{LIST_EXTENSION, SegmentList};
use super::ingest::for_each_item;
use super::item_file::{ItemFile, path_text};
use super::outcome_columns::OutcomeColumns;
use super::source_stamp::FileStamp;
use super::sql_error::SqlError;
use super::threads;

/// Changes whenever the columns or their meaning change.
const SEGMENT_VERSION: &str = "evalreport segment 3";
/// Sources are combined up to this size, so that many small runs make few files.
const GROUP_BYTES: u64 = 64 << 20;
/// Assumed ratio of the size of lines to their compressed size.
const COMPRESSION_RATIO: u64 = 20;
/// Fast rather than small: somebody waits for a segment, and nobody keeps it.
const COMPRESSION: ParquetCompression = ParquetCompression::Lz4Raw;
/// Rows that each thread holds in memory at once while it writes a segment.
const ROW_GROUP_ROWS: usize = 1 << 17;

/// Returns the segments with the files' lines, and writes missing or damaged ones, and the list of those of these stores.
pub(super) fn ensure_segments(
    files: &[ItemFile],
    folder: &Path,
    (stores, name): (Vec<String>, &str),
) -> Result<Vec<PathBuf>, SqlError> {
    fs::create_dir_all(folder).map_err(|error| SqlError::from_cache_error(folder, &error))?;
    files::sweep_files(folder);
    let mut groups = Vec::new();
    let mut group = Vec::new();
    let mut group_bytes = 0;
    for file in files {
        let stamp = match file.elsewhere {
            Some(_) => FileStamp::default(),
            None => FileStamp::from_path(&file.path)
                .map_err(|error| SqlError::from_read_error(&file.path, &error))?,
        };
        group_bytes += if file.journal_of.is_some() {
            stamp.bytes
        } else {
            stamp.bytes * COMPRESSION_RATIO
        };
        group.push((file, stamp));
        if group_bytes >= GROUP_BYTES {
            groups.push(std::mem::take(&mut group));
            group_bytes = 0;
        }
    }
    if !group.is_empty() {
        groups.push(group);
    }
    let paths = threads::map_on_threads(&groups, |group| ensure_segment(group, folder))?;
    let stems = paths
        .iter()
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let list = SegmentList {
        stores,
        segments: stems.collect(),
    };
    let place = folder.join(format!("{name}.{LIST_EXTENSION}"));
    // Segments without a list are deleted with the next chance, and written again.
    let _ = write_atomically(&place, &serde_json::to_vec(&list).unwrap_or_default());
    Ok(paths)
}

fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), SqlError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = files::create_temporary_in(folder)
        .map_err(|error| SqlError::from_cache_error(folder, &error))?;
    file.write_all(bytes)
        .map_err(|error| SqlError::from_cache_error(path, &error))?;
    file.persist(path)
        .map_err(|error| SqlError::from_cache_error(path, &error.error))?;
    Ok(())
}

fn ensure_segment(group: &[(&ItemFile, FileStamp)], folder: &Path) -> Result<PathBuf, SqlError> {
    let mut name = String::from(SEGMENT_VERSION);
    for (file, stamp) in group {
        let state = file
            .elsewhere
            .as_ref()
            .map_or_else(|| format!("{stamp:?}"), |lines| lines.content_stamp());
        name.push_str(&format!("\n{}\t{state}", path_text(&file.path)));
    }
    let path = folder.join(format!(
        "{}.parquet",
        &to_hex(&Sha256::digest(name.as_bytes()))[..32]
    ));
    let sum_path = path.with_extension("sha256");
    let is_good = files::read_to_string(&sum_path)
        .is_ok_and(|sum| file_digest(&path).is_ok_and(|found| found == sum));
    if !is_good {
        let file = files::create_temporary_in(folder)
            .map_err(|error| SqlError::from_cache_error(folder, &error))?;
        write_segment(group, &path, file.as_file())?;
        file.persist(&path)
            .map_err(|error| SqlError::from_cache_error(&path, &error.error))?;
        let sum = file_digest(&path).map_err(|error| SqlError::from_cache_error(&path, &error))?;
        write_atomically(&sum_path, sum.as_bytes())?;
    }
    Ok(path)
}

/// Returns the SHA-256 of a file, in hex.
pub(super) fn file_digest(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    files::for_each_block(files::open(path)?, |block| hasher.update(block))?;
    Ok(to_hex(&hasher.finalize()))
}

fn write_segment(
    group: &[(&ItemFile, FileStamp)],
    path: &Path,
    file: &File,
) -> Result<(), SqlError> {
    let cannot = |error: PolarsError| SqlError::Cache {
        path: path.to_owned(),
        message: escape_invisible(&error.to_string()),
    };
    // The Parquet writer writes single bytes.
    let mut buffered = BufWriter::with_capacity(1 << 20, file);
    let writer = ParquetWriter::new(&mut buffered)
        .with_compression(COMPRESSION)
        .batched(empty_items()?.schema());
    let mut writer = writer.map_err(cannot)?;
    for_each_frame(group.iter().map(|(source, _)| *source), |frame| {
        writer.write_batch(&frame).map_err(cannot)
    })?;
    writer.finish().map_err(cannot)?;
    drop(writer);
    buffered.flush().map_err(|error| SqlError::Cache {
        path: path.to_owned(),
        message: escape_invisible(&error.to_string()),
    })
}

/// Returns the files' lines without segments, if none can be written.
pub(super) fn read_into_memory(files: &[ItemFile]) -> Result<LazyFrame, SqlError> {
    let mut all = empty_items()?;
    for_each_frame(files.iter(), |frame| {
        all.vstack_mut(&frame)?;
        Ok(())
    })?;
    Ok(all.lazy())
}

/// Calls `each` with the lines of the files, one row group at a time.
fn for_each_frame<'f>(
    files: impl Iterator<Item = &'f ItemFile>,
    mut each: impl FnMut(DataFrame) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let mut rows = ItemTableRows::default();
    for source in files {
        let mut failure = None;
        let mut flush =
            |rows: &mut ItemTableRows| -> Result<(), SqlError> { each(rows.take_frame()?) };
        let own_run = source.journal_of.as_ref().map(RunId::as_str);
        let read = for_each_item(source, &|_| true, |item| {
            if let (None, Some(run)) = (&failure, own_run.or(item.run.as_deref())) {
                rows.push(run, item);
                if rows.length >= ROW_GROUP_ROWS {
                    failure = flush(&mut rows).err();
                }
            }
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        // An unreadable file must not be cached as if it were empty.
        read.map_err(|error| SqlError::from_read_error(&source.path, &error))?;
    }
    if rows.length > 0 {
        each(rows.take_frame()?)
    } else {
        Ok(())
    }
}

/// Columns of `items` under construction.
struct ItemTableRows {
    length: usize,
    run_id: StringChunkedBuilder,
    item: StringChunkedBuilder,
    kind: StringChunkedBuilder,
    evaluator: StringChunkedBuilder,
    cluster: StringChunkedBuilder,
    category: StringChunkedBuilder,
    attempt: Vec<u32>,
    revision: Vec<u32>,
    status: StringChunkedBuilder,
    score: Vec<Option<f64>>,
    duration_seconds: Vec<Option<f64>>,
    cost_usd: Vec<Option<f64>>,
    input_tokens: Vec<Option<u64>>,
    output_tokens: Vec<Option<u64>>,
}

impl Default for ItemTableRows {
    fn default() -> Self {
        let texts = |name: &str| StringChunkedBuilder::new(name.into(), 0);
        Self {
            length: 0,
            run_id: texts("run_id"),
            item: texts("item"),
            kind: texts("kind"),
            evaluator: texts("evaluator"),
            cluster: texts("cluster"),
            category: texts("category"),
            attempt: Vec::new(),
            revision: Vec::new(),
            status: texts("status"),
            score: Vec::new(),
            duration_seconds: Vec::new(),
            cost_usd: Vec::new(),
            input_tokens: Vec::new(),
            output_tokens: Vec::new(),
        }
    }
}

impl ItemTableRows {
    fn push(&mut self, run: &str, item: &ItemLine<'_>) {
        self.length += 1;
        self.run_id.append_value(run);
        self.item.append_value(&item.item);
        self.kind.append_value(item.kind.name());
        self.evaluator.append_value(&item.evaluator);
        self.cluster.append_option(item.cluster.as_deref());
        self.category.append_option(item.category.as_deref());
        self.attempt.push(item.attempt);
        self.revision.push(item.revision);
        self.status.append_value(item.status.name());
        self.score.push(item.score);
        self.duration_seconds.push(item.duration_seconds);
        self.cost_usd.push(item.cost_usd);
        self.input_tokens.push(item.input_tokens);
        self.output_tokens.push(item.output_tokens);
    }

    /// Returns the rows so far as a frame and starts anew.
    fn take_frame(&mut self) -> PolarsResult<DataFrame> {
        let rows = std::mem::take(self);
        DataFrame::new(
            rows.length,
            vec![
                rows.run_id.finish().into_column(),
                rows.item.finish().into_column(),
                rows.kind.finish().into_column(),
                rows.evaluator.finish().into_column(),
                rows.cluster.finish().into_column(),
                rows.category.finish().into_column(),
                Column::new("attempt".into(), rows.attempt),
                Column::new("revision".into(), rows.revision),
                rows.status.finish().into_column(),
                Column::new("score".into(), rows.score),
                Column::new("duration_seconds".into(), rows.duration_seconds),
                Column::new("cost_usd".into(), rows.cost_usd),
                Column::new("input_tokens".into(), rows.input_tokens),
                Column::new("output_tokens".into(), rows.output_tokens),
            ],
        )
    }
}

/// Returns the table without rows.
pub(super) fn empty_items() -> PolarsResult<DataFrame> {
    ItemTableRows::default().take_frame()
}

/// Reads the given runs' outcomes back from the segments, in the order of run, evaluator, item, attempt and revision.
pub(super) fn read_outcomes(
    items: LazyFrame,
    runs: &[&RunId],
) -> Result<Vec<ItemOutcome>, SqlError> {
    let wanted = Series::new(
        "wanted".into(),
        runs.iter().map(|run| run.as_str()).collect::<Vec<_>>(),
    );
    let order = ["run_id", "kind", "evaluator", "item", "attempt", "revision"];
    let sorted = items
        .filter(col("run_id").is_in(lit(wanted).implode(false), false))
        .sort(
            order,
            SortMultipleOptions::default().with_maintain_order(true),
        );
    let frame = threads::run_on_thread(threads::STACK_BYTES, || Ok(sorted.collect()?))?;
    let columns = OutcomeColumns::from_frame(&frame)?;
    Ok((0..frame.height())
        .filter_map(|row| columns.outcome_at(row))
        .collect())
}
