//! Columnar files and archives that state lengths which they do not have: each is small, and would have its reader allocate all memory,
//! work without end, or call itself until the stack is full.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, NullArray, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::reader::read_footer_length;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{BrotliLevel, Compression, GzipLevel};
use parquet::file::properties::WriterProperties;

use super::archive::{Member, STORED, written};
use super::columnar::hal_member;
use super::hostile::{Hostile, Reader, foreign};

/// Rows of the originals, and what a column of them takes.
const ROWS: usize = 4_000;
const STATED_ROWS: i64 = 4_000;
const COLUMN_BYTES: i64 = 8 * STATED_ROWS;
const HUGE: i64 = 1 << 40;

pub fn lengths() -> Vec<Hostile> {
    let file = |name: &'static str,
                file: &'static str,
                says: &'static str,
                bytes: fn() -> Vec<u8>| {
        Hostile::new(
            name,
            Reader::Table,
            file,
            says,
            Box::new(move |write: &mut dyn Write| -> io::Result<()> { write.write_all(&bytes()) }),
        )
    };
    let states = "states";
    vec![
        file(
            "an Arrow file's directory",
            "t.arrow",
            "a directory states",
            || {
                let mut bytes = arrow(None);
                let place = bytes.len() - 10;
                bytes[place..place + 4].copy_from_slice(&i32::MAX.to_le_bytes());
                bytes
            },
        ),
        file(
            "a message's place in an Arrow file",
            "t.arrow",
            "a message states",
            || patched_last(&arrow(None), body_bytes(&arrow(None)), 1 << 54),
        ),
        file(
            "a message's body in an Arrow file",
            "t.arrow",
            "a message states",
            || {
                let bytes = arrow(None);
                patched(&bytes, body_bytes(&bytes), HUGE)
            },
        ),
        file(
            "a negative body in an Arrow file",
            "t.arrow",
            states,
            || {
                let bytes = arrow(None);
                patched(&bytes, body_bytes(&bytes), -8)
            },
        ),
        file(
            "a column in an Arrow file",
            "t.arrow",
            "a column states",
            || patched(&arrow(None), COLUMN_BYTES, HUGE),
        ),
        file(
            "a column of zstd in an Arrow file",
            "t.arrow",
            "states that it inflates to",
            || patched(&arrow(Some(CompressionType::ZSTD)), COLUMN_BYTES, HUGE),
        ),
        file(
            "a column of lz4 in an Arrow file",
            "t.arrow",
            "states that it inflates to",
            || {
                patched(
                    &arrow(Some(CompressionType::LZ4_FRAME)),
                    COLUMN_BYTES,
                    i64::MAX,
                )
            },
        ),
        file("rows in an Arrow file", "t.arrow", "rows", || {
            patched(&arrow(None), STATED_ROWS, HUGE)
        }),
        file(
            "rows without a byte in an Arrow file",
            "t.arrow",
            "rows",
            || {
                patched(
                    &arrow_of(Arc::new(NullArray::new(ROWS)), None),
                    STATED_ROWS,
                    HUGE,
                )
            },
        ),
        file(
            "a message in a stream",
            "t.arrows",
            "a message states",
            || {
                let mut bytes = stream();
                bytes[4..8].copy_from_slice(&i32::MAX.to_le_bytes());
                bytes
            },
        ),
        file(
            "a message's body in a stream",
            "t.arrows",
            "a message states",
            || {
                let bytes = stream();
                let body = body_bytes(&arrow(None));
                patched(&bytes, body, 956_301_311)
            },
        ),
        file(
            "a Parquet file's directory",
            "t.parquet",
            "its directory states",
            || [b"PAR1".as_slice(), &[0xff, 0xff, 0xff, 0x7f], b"PAR1"].concat(),
        ),
        file(
            "row groups in a Parquet file",
            "t.parquet",
            "contradicts itself",
            || {
                parquet_directory(&[
                    0x15, 2, 0x19, 0x1c, 0x48, 1, b'r', 0x15, 2, 0, 0x16, 0, 0x19, 0xfc, 0xff,
                    0xff, 0xff, 0xff, 7,
                ])
            },
        ),
        file(
            "columns of a group in a Parquet file",
            "t.parquet",
            "a group states",
            || {
                parquet_directory(&[
                    0x15, 2, 0x19, 0x1c, 0x48, 1, b'r', 0x15, 0xfe, 0xff, 0xff, 0xff, 0xf, 0, 0x16,
                    0, 0x19, 0xc, 0,
                ])
            },
        ),
        file(
            "groups in groups in a Parquet file",
            "t.parquet",
            "nested in more than",
            || {
                let mut directory = vec![0x15, 2, 0x19, 0xfc, 0xa0, 0x8d, 6];
                for _ in 0..100_000 {
                    directory.extend([0x35, 0, 0x18, 1, b'g', 0x15, 2, 0]);
                }
                parquet_directory(&directory)
            },
        ),
        file(
            "booleans without a byte in a Parquet file",
            "t.parquet",
            "contradicts itself",
            || parquet_directory(&[0x15, 2, 0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 7]),
        ),
        file("a page in a Parquet file", "t.parquet", states, || {
            with_page_of(Compression::SNAPPY, 0x7fff_ffff)
        }),
        file(
            "a page that is longer than it says, gzip",
            "t.parquet",
            "inflates to more than",
            || with_page_of(Compression::GZIP(GzipLevel::default()), 100),
        ),
        file(
            "a page that is longer than it says, brotli",
            "t.parquet",
            "inflates to more than",
            || with_page_of(Compression::BROTLI(BrotliLevel::default()), 100),
        ),
        Hostile::new(
            "keys of an encrypted archive",
            foreign("hal"),
            "u.zip",
            "needs more than 4 keys",
            Box::new(|write| {
                let member = |number: usize| {
                    let text = hal_member(format!("salt {number}").as_bytes(), &number.to_string());
                    Member::new(&format!("{number}.json.encrypted"), STORED, text.as_bytes())
                };
                write.write_all(&written(&(0..6).map(member).collect::<Vec<_>>()))
            }),
        ),
    ]
}

fn arrow(codec: Option<CompressionType>) -> Vec<u8> {
    arrow_of(Arc::new(Int64Array::from(vec![7; ROWS])), codec)
}

fn arrow_of(column: ArrayRef, codec: Option<CompressionType>) -> Vec<u8> {
    let batch = batch(column);
    let options = IpcWriteOptions::default()
        .try_with_compression(codec)
        .expect("a codec");
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a writer");
    writer.write(&batch).expect("memory");
    writer.into_inner().expect("memory")
}

fn stream() -> Vec<u8> {
    let batch = batch(Arc::new(Int64Array::from(vec![7; ROWS])));
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("memory");
    writer.into_inner().expect("memory")
}

/// Returns a batch of the column and another, so that a column is not as long as a message.
fn batch(column: ArrayRef) -> RecordBatch {
    let results = Arc::new(StringArray::from(vec!["ok"; ROWS])) as ArrayRef;
    RecordBatch::try_from_iter([("task", column), ("result", results)]).expect("a batch")
}

/// Returns the length of the only message's body.
fn body_bytes(file: &[u8]) -> i64 {
    let end = file.len() - 10;
    let length = read_footer_length(file[end..].try_into().expect("ten bytes")).expect("a length");
    let footer = arrow_ipc::root_as_footer(&file[end - length..end]).expect("a directory");
    footer.recordBatches().expect("a batch").get(0).bodyLength()
}

/// Writes another number wherever this one is.
fn patched(bytes: &[u8], number: i64, other: i64) -> Vec<u8> {
    let mut patched = bytes.to_vec();
    let places: Vec<usize> = places(bytes, number);
    for place in places {
        patched[place..place + 8].copy_from_slice(&other.to_le_bytes());
    }
    patched
}

fn patched_last(bytes: &[u8], number: i64, other: i64) -> Vec<u8> {
    let mut patched = bytes.to_vec();
    let last = *places(bytes, number).last().expect("it is there");
    patched[last..last + 8].copy_from_slice(&other.to_le_bytes());
    patched
}

fn places(bytes: &[u8], number: i64) -> Vec<usize> {
    let found: Vec<usize> = (0..bytes.len() - 7)
        .filter(|place| bytes[*place..place + 8] == number.to_le_bytes())
        .collect();
    assert!(!found.is_empty(), "{number} is not in the file");
    found
}

/// Returns a Parquet file of a directory alone.
fn parquet_directory(directory: &[u8]) -> Vec<u8> {
    let directory = [directory, &[0]].concat();
    let length = u32::try_from(directory.len()).expect("small").to_le_bytes();
    [b"PAR1".as_slice(), &directory, &length, b"PAR1"].concat()
}

/// Returns a Parquet file whose page states this inflated length.
fn with_page_of(codec: Compression, stated: i64) -> Vec<u8> {
    let results = Arc::new(StringArray::from(vec!["ok"; 200_000])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("task", Arc::new((0..200_000).collect::<Int64Array>()) as _),
        ("result", results),
    ]);
    let batch = batch.expect("a batch");
    let properties = WriterProperties::builder()
        .set_compression(codec)
        .set_dictionary_enabled(false)
        .build();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
    writer.write(&batch).expect("memory");
    let mut bytes = writer.into_inner().expect("memory");
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&bytes).expect("writable");
    let metadata = ParquetRecordBatchReaderBuilder::try_new(file)
        .expect("a whole file")
        .metadata()
        .clone();
    let page =
        usize::try_from(metadata.row_group(0).column(0).data_page_offset()).expect("a place");
    // The kind of the page, its inflated length and its length are its first three numbers; a number may have more bytes than it needs.
    let length = bytes[page + 3..]
        .iter()
        .take_while(|byte| **byte & 0x80 != 0)
        .count()
        + 1;
    let mut rest = stated.cast_unsigned() << 1;
    for (place, byte) in bytes[page + 3..].iter_mut().take(length).enumerate() {
        let is_last = place + 1 == length;
        *byte = u8::try_from(rest & 0x7f).expect("seven bits") | if is_last { 0 } else { 0x80 };
        rest >>= 7;
    }
    if rest > 0 {
        // What is cut off is at the end, where there is room: the page that comes next is not read.
        bytes[page + 3 + length - 1] |= 0x7f;
    }
    bytes
}
