//! Reads rows of Parquet and Arrow files in batches, wanted columns only. A struct's field is a column with a dot in its name.

use std::cell::Cell as Switch;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::{as_date, as_datetime};
use arrow_array::types::{
    ArrowTimestampType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Fields, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::domain::{Problem, escape_invisible};
use crate::files::ReadAllowance;

use super::arrow_messages::ArrowMessages;
use super::cell::{CellKind, RowCell};
use super::parquet_pages::{check_directory, check_pages, needs_lzo};
use super::rows::{ReadStop, RowSink};

/// Rows per batch.
const BATCH_ROWS: usize = 4096;
/// Deepest nesting of structs whose fields become columns.
const MAX_DEPTH: usize = 8;

/// Bytes that a row counts for at least. Columns of equal values take almost none, and reading their rows takes time all the same.
const MIN_ROW_BYTES: u64 = 64;

/// Reads a Parquet file. Calls `ready` when the columns are known; a problem that it returns stops the reading.
pub(super) fn read_parquet(
    file: File,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    catch_decoder_panic(|| check_directory(&file), rows)?
        .map_err(|why| damaged_file(rows, &why))?;
    let own = file
        .try_clone()
        .map_err(|error| rows.read_error(None, &error))?;
    let builder = catch_decoder_panic(|| ParquetRecordBatchReaderBuilder::try_new(file), rows)?
        .map_err(|error| damaged_file(rows, &error.to_string()))?;
    let wanted = ProjectedColumns::from_schema(builder.schema(), rows)?;
    if let Some(problem) = ready(rows) {
        return Err(problem.into());
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.roots.iter().copied());
    if needs_lzo(builder.metadata(), &mask) {
        let hint = "write it with another codec: zstd, snappy, gzip, brotli or lz4";
        return Err(rows
            .unreadable_problem(None, "is compressed with LZO, which is not read")
            .with_hint(hint)
            .into());
    }
    catch_decoder_panic(|| check_pages(&own, builder.metadata(), &mask), rows)?
        .map_err(|why| damaged_file(rows, &why))?;
    let builder = builder.with_projection(mask).with_batch_size(BATCH_ROWS);
    let mut reader = catch_decoder_panic(|| builder.build(), rows)?
        .map_err(|error| damaged_file(rows, &error.to_string()))?;
    wanted.read_batches(
        &own,
        || reader.next().transpose().map_err(|error| error.to_string()),
        rows,
    )
}

/// Returns the columns of a Parquet file, or `None` if it cannot be read.
pub(super) fn parquet_columns(file: File) -> Option<Vec<String>> {
    IS_DECODING.set(true);
    let opened = catch_unwind(AssertUnwindSafe(|| {
        check_directory(&file).ok()?;
        ParquetRecordBatchReaderBuilder::try_new(file).ok()
    }));
    IS_DECODING.set(false);
    Some(
        opened
            .ok()??
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect(),
    )
}

/// Reads an Arrow file. Feather is the same format.
pub(super) fn read_arrow(
    file: &File,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    read_messages(file, ArrowMessages::open_file, rows, ready)
}

/// Reads a stream of Arrow batches.
pub(super) fn read_arrow_stream(
    file: &File,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    read_messages(file, ArrowMessages::open_stream, rows, ready)
}

fn read_messages<'f>(
    file: &'f File,
    open: fn(&'f File) -> Result<ArrowMessages<'f>, String>,
    rows: &mut RowSink<'_>,
    ready: impl FnOnce(&RowSink<'_>) -> Option<Problem>,
) -> Result<(), ReadStop> {
    let mut messages =
        catch_decoder_panic(|| open(file), rows)?.map_err(|why| damaged_file(rows, &why))?;
    let wanted = ProjectedColumns::from_schema(messages.schema(), rows)?;
    if let Some(problem) = ready(rows) {
        return Err(problem.into());
    }
    let columns = wanted.roots.clone();
    wanted.read_batches(file, || messages.next_batch(&columns), rows)
}

/// Runs a decoder and turns its panic into a problem: some decoders of columns panic if parts of a file contradict each other.
fn catch_decoder_panic<T>(decode: impl FnOnce() -> T, rows: &RowSink<'_>) -> Result<T, ReadStop> {
    IS_DECODING.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    decoded.map_err(|_| damaged_file(rows, "its parts contradict each other"))
}

thread_local! {
    static IS_DECODING: Switch<bool> = const { Switch::new(false) };
}

/// Returns whether this thread is decoding columns of a foreign file. A panic there is reported as a problem of the file.
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

fn damaged_file(rows: &RowSink<'_>, why: &str) -> ReadStop {
    let why: String = escape_invisible(why).chars().take(300).collect();
    rows.unreadable_problem(
        None,
        format!("is damaged after row {}: {why}", rows.count()),
    )
    .with_hint("fetch the file again")
    .into()
}

/// Places of the wanted columns in the file.
struct ProjectedColumns {
    /// Top-level columns of the file that hold a wanted column, in order.
    roots: Vec<usize>,
    /// For each wanted column, the names from the top-level column down to the field.
    paths: Vec<Option<Vec<String>>>,
}

impl ProjectedColumns {
    fn from_schema(schema: &Arc<Schema>, rows: &mut RowSink<'_>) -> Result<Self, ReadStop> {
        let mut leaves = Vec::new();
        for (root, field) in schema.fields().iter().enumerate() {
            add_leaves(
                root,
                field.data_type(),
                vec![field.name().clone()],
                &mut leaves,
            );
        }
        let names: Vec<String> = leaves.iter().map(|(_, path)| path.join(".")).collect();
        let places = rows
            .columns
            .locate_in_header(&names)
            .map_err(|message| rows.unreadable_problem(None, message))?;
        let mut roots: Vec<usize> = places
            .iter()
            .flatten()
            .map(|place| leaves[*place].0)
            .collect();
        // Counting rows needs at least one column, even if none is wanted.
        if roots.is_empty() && !leaves.is_empty() {
            roots.push(0);
        }
        roots.sort_unstable();
        roots.dedup();
        Ok(Self {
            roots,
            paths: places
                .into_iter()
                .map(|place| Some(leaves[place?].1.clone()))
                .collect(),
        })
    }

    /// Reads the rows of all batches of the file.
    fn read_batches(
        &self,
        file: &File,
        mut next: impl FnMut() -> Result<Option<RecordBatch>, String>,
        rows: &mut RowSink<'_>,
    ) -> Result<(), ReadStop> {
        let left = ReadAllowance::of_file(
            file.metadata()
                .map_err(|error| rows.read_error(None, &error))?
                .len(),
        );
        let mut cells = rows.columns.empty_cells();
        while let Some(batch) =
            catch_decoder_panic(&mut next, rows)?.map_err(|why| damaged_file(rows, &why))?
        {
            let bytes = (batch.num_rows() as u64).saturating_mul(MIN_ROW_BYTES);
            left.spend(bytes)
                .map_err(|error| damaged_file(rows, &error.to_string()))?;
            let columns: Vec<Option<BatchColumn>> = self
                .paths
                .iter()
                .map(|path| {
                    path.as_ref()
                        .and_then(|path| BatchColumn::from_batch(&batch, path))
                })
                .collect();
            for row in 0..batch.num_rows() {
                for (cell, values) in cells.iter_mut().zip(&columns) {
                    match values {
                        Some(values) => values.fill_cell(row, cell),
                        None => cell.clear(),
                    }
                }
                rows.accept(None, &cells)?;
            }
        }
        Ok(())
    }
}

fn add_leaves(
    root: usize,
    kind: &DataType,
    path: Vec<String>,
    leaves: &mut Vec<(usize, Vec<String>)>,
) {
    let fields: &Fields = match kind {
        DataType::Struct(fields) if path.len() < MAX_DEPTH => fields,
        _ => return leaves.push((root, path)),
    };
    for field in fields {
        let mut below = path.clone();
        below.push(field.name().clone());
        add_leaves(root, field.data_type(), below, leaves);
    }
}

/// One column of a batch.
struct BatchColumn {
    /// Structs around the column. If one is null, the field is null.
    around: Vec<ArrayRef>,
    array: ArrayRef,
    /// For a dictionary: its keys, and each row's place among the values.
    keys: Option<(ArrayRef, Vec<usize>)>,
}

impl BatchColumn {
    fn from_batch(batch: &RecordBatch, path: &[String]) -> Option<Self> {
        let (first, rest) = path.split_first()?;
        let mut values = batch.column_by_name(first)?.clone();
        let mut around = Vec::new();
        for name in rest {
            let child = values.as_struct_opt()?.column_by_name(name)?.clone();
            around.push(std::mem::replace(&mut values, child));
        }
        if let Some(dictionary) = values.as_any_dictionary_opt() {
            let entries = dictionary.values().clone();
            let places = if entries.is_empty() {
                vec![0; values.len()]
            } else {
                dictionary.normalized_keys()
            };
            return Some(Self {
                around,
                keys: Some((values, places)),
                array: entries,
            });
        }
        Some(Self {
            around,
            array: values,
            keys: None,
        })
    }

    fn fill_cell(&self, row: usize, cell: &mut RowCell) {
        if self.around.iter().any(|array| array.is_null(row)) {
            return cell.set(CellKind::Null, "");
        }
        match &self.keys {
            Some((keys, _)) if keys.is_null(row) || self.array.is_empty() => {
                cell.set(CellKind::Null, "");
            }
            Some((_, places)) => set_value(&self.array, places[row], cell),
            None => set_value(&self.array, row, cell),
        }
    }
}

fn set_value(array: &ArrayRef, row: usize, cell: &mut RowCell) {
    if array.is_null(row) {
        return cell.set(CellKind::Null, "");
    }
    macro_rules! number {
        ($kind:ty) => {
            cell.set(
                CellKind::Number,
                &array.as_primitive::<$kind>().value(row).to_string(),
            )
        };
    }
    match array.data_type() {
        DataType::Boolean => cell.set(
            CellKind::Boolean,
            if array.as_boolean().value(row) {
                "true"
            } else {
                "false"
            },
        ),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Decimal128(..) => cell.set(
            CellKind::Number,
            &array.as_primitive::<Decimal128Type>().value_as_string(row),
        ),
        DataType::Decimal256(..) => cell.set(
            CellKind::Number,
            &array.as_primitive::<Decimal256Type>().value_as_string(row),
        ),
        DataType::Utf8 => cell.set(CellKind::Text, array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => cell.set(CellKind::Text, array.as_string::<i64>().value(row)),
        DataType::Utf8View => cell.set(CellKind::Text, array.as_string_view().value(row)),
        DataType::Binary => cell.set_bytes(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => cell.set_bytes(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => cell.set_bytes(array.as_binary_view().value(row)),
        DataType::Date32 => set_date(
            as_date::<Date32Type>(i64::from(array.as_primitive::<Date32Type>().value(row))),
            cell,
        ),
        DataType::Date64 => set_date(
            as_date::<Date64Type>(array.as_primitive::<Date64Type>().value(row)),
            cell,
        ),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => set_time::<TimestampSecondType>(array, row, cell),
            TimeUnit::Millisecond => set_time::<TimestampMillisecondType>(array, row, cell),
            TimeUnit::Microsecond => set_time::<TimestampMicrosecondType>(array, row, cell),
            TimeUnit::Nanosecond => set_time::<TimestampNanosecondType>(array, row, cell),
        },
        DataType::Null => cell.set(CellKind::Null, ""),
        DataType::List(_) => set_list(&array.as_list::<i32>().value(row), cell),
        DataType::LargeList(_) => set_list(&array.as_list::<i64>().value(row), cell),
        _ => cell.set(CellKind::Compound, ""),
    }
}

fn set_list(items: &ArrayRef, cell: &mut RowCell) {
    match items.as_boolean_opt() {
        Some(items) => cell.set_list(items.iter()),
        None => cell.set(CellKind::Compound, ""),
    }
}

/// A time is stored in UTC, whatever zone it is shown in.
fn set_time<T: ArrowTimestampType>(array: &ArrayRef, row: usize, cell: &mut RowCell) {
    match as_datetime::<T>(array.as_primitive::<T>().value(row)) {
        Some(time) => cell.set(
            CellKind::Text,
            &time.format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
        ),
        None => cell.set(CellKind::Invalid, ""),
    }
}

fn set_date(date: Option<chrono::NaiveDate>, cell: &mut RowCell) {
    match date {
        Some(date) => cell.set(CellKind::Text, &date.to_string()),
        None => cell.set(CellKind::Invalid, ""),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::{BooleanArray, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
    use parquet::file::properties::{WriterProperties, WriterVersion};

    use super::super::rows::testing::rows_of;
    use super::*;

    #[test]
    fn parquet_is_read_in_every_codec_but_lzo() {
        let column = |array: ArrayRef| array;
        let batch = RecordBatch::try_from_iter([
            (
                "task",
                column(Arc::new(StringArray::from_iter_values(["a", "b"]))),
            ),
            (
                "passed",
                column(Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ),
        ])
        .expect("a batch");
        for codec in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::BROTLI(BrotliLevel::default()),
            Compression::LZ4_RAW,
            Compression::ZSTD(ZstdLevel::default()),
        ] {
            for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
                let file = tempfile::tempfile().expect("a temporary file");
                let properties = WriterProperties::builder()
                    .set_compression(codec)
                    .set_writer_version(version)
                    .build();
                let own = file.try_clone().expect("a handle");
                let mut writer =
                    ArrowWriter::try_new(own, batch.schema(), Some(properties)).expect("a writer");
                writer.write(&batch).expect("writable");
                writer.close().expect("writable");
                let (rows, problem) = rows_of(&["task", "passed"], |rows| {
                    read_parquet(file, rows, |_| None)
                });
                assert_eq!(problem.map(|problem| problem.message), None, "{codec}");
                assert_eq!(rows.len(), 2, "{codec}: {rows:?}");
                assert!(rows[0].contains("'a'"), "{codec}: {rows:?}");
            }
        }
    }
}
