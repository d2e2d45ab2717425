//! Checks what a Parquet file states about itself – the lengths of its lists, the depth of its columns, what its pages inflate to – before
//! the library below allocates it.
//!
//! Format: <https://parquet.apache.org/docs/file-format/>, structures: <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::arrow::ProjectionMask;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use crate::files::{ReadAllowance, max_inflated_bytes};

use super::arrow_messages::{check_schema, describe_read_error};
use super::thrift::{I16_TYPE, I32_TYPE, I64_TYPE, ThriftType, ThriftValue, walk_struct};

const MAGIC: &[u8; 4] = b"PAR1";
const ENCRYPTED_MAGIC: &[u8; 4] = b"PARE";
/// The directory's length and the magic bytes at the end of the file.
const TRAILER_BYTES: usize = 8;
/// Deepest nesting of groups. Each level is a call in the library.
const MAX_LEVELS: usize = 64;
/// Bytes of all columns' paths that any file may have. Long names of outer groups are in the path of every column.
const FREE_PATH_BYTES: usize = 16 << 20;
/// A page's header with its statistics. Longer ones do not exist.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// The shortest value of a dictionary is a bit.
const VALUES_PER_BYTE: u64 = 8;
const DICTIONARY_PAGE: i64 = 2;
/// Length before Snappy data.
const MAX_LENGTH_BYTES: u64 = 5;
/// A byte of LZ4 data adds at most 255 bytes.
const MAX_TIMES_LZ4: u64 = 256;

const ANY: ThriftType = ThriftType::Any;
const ENCODING: ThriftType = I32_TYPE;
const STATISTICS: ThriftType = ThriftType::Struct(&[
    (1, ThriftType::Text),
    (2, ThriftType::Text),
    (3, I64_TYPE),
    (4, I64_TYPE),
    (5, ThriftType::Text),
    (6, ThriftType::Text),
    (7, ThriftType::Flag),
    (8, ThriftType::Flag),
]);
const KEY_VALUES: ThriftType = ThriftType::List(&ThriftType::Struct(&[
    (1, ThriftType::Text),
    (2, ThriftType::Text),
]));
const COLUMN: ThriftType = ThriftType::Struct(&[
    (1, I32_TYPE),
    (2, ThriftType::List(&ENCODING)),
    (3, ThriftType::List(&ThriftType::Text)),
    (4, I32_TYPE),
    (5, I64_TYPE),
    (6, I64_TYPE),
    (7, I64_TYPE),
    (8, KEY_VALUES),
    (9, I64_TYPE),
    (10, I64_TYPE),
    (11, I64_TYPE),
    (12, STATISTICS),
    (
        13,
        ThriftType::List(&ThriftType::Struct(&[
            (1, I32_TYPE),
            (2, ENCODING),
            (3, I32_TYPE),
        ])),
    ),
    (14, I64_TYPE),
    (15, I32_TYPE),
    (
        16,
        ThriftType::Struct(&[
            (1, I64_TYPE),
            (2, ThriftType::List(&I64_TYPE)),
            (3, ThriftType::List(&I64_TYPE)),
        ]),
    ),
]);
const CHUNK: ThriftType = ThriftType::Struct(&[
    (1, ThriftType::Text),
    (2, I64_TYPE),
    (3, COLUMN),
    (4, I64_TYPE),
    (5, I32_TYPE),
    (6, I64_TYPE),
    (7, I32_TYPE),
    (8, ANY),
    (9, ThriftType::Text),
]);
const ROW_GROUP: ThriftType = ThriftType::Struct(&[
    (1, ThriftType::List(&CHUNK)),
    (2, I64_TYPE),
    (3, I64_TYPE),
    (
        4,
        ThriftType::List(&ThriftType::Struct(&[
            (1, I32_TYPE),
            (2, ThriftType::Flag),
            (3, ThriftType::Flag),
        ])),
    ),
    (5, I64_TYPE),
    (6, I64_TYPE),
    (7, I16_TYPE),
]);
const SCHEMA_ELEMENT: ThriftType = ThriftType::Struct(&[
    (1, I32_TYPE),
    (2, I32_TYPE),
    (3, I32_TYPE),
    (4, ThriftType::Text),
    (5, I32_TYPE),
    (6, I32_TYPE),
    (7, I32_TYPE),
    (8, I32_TYPE),
    (9, I32_TYPE),
    (10, ANY),
]);
/// The directory at the end of the file.
const DIRECTORY: &[(i16, ThriftType)] = &[
    (1, I32_TYPE),
    (2, ThriftType::List(&SCHEMA_ELEMENT)),
    (3, I64_TYPE),
    (4, ThriftType::List(&ROW_GROUP)),
    (5, KEY_VALUES),
    (6, ThriftType::Text),
    (7, ThriftType::List(&ANY)),
    (8, ANY),
    (9, ThriftType::Text),
];
/// What precedes a page.
const PAGE_HEADER: &[(i16, ThriftType)] = &[
    (1, I32_TYPE),
    (2, I32_TYPE),
    (3, I32_TYPE),
    (4, I32_TYPE),
    (
        5,
        ThriftType::Struct(&[
            (1, I32_TYPE),
            (2, ENCODING),
            (3, ENCODING),
            (4, ENCODING),
            (5, STATISTICS),
        ]),
    ),
    (6, ANY),
    (
        7,
        ThriftType::Struct(&[(1, I32_TYPE), (2, ENCODING), (3, ThriftType::Flag)]),
    ),
    (
        8,
        ThriftType::Struct(&[
            (1, I32_TYPE),
            (2, I32_TYPE),
            (3, I32_TYPE),
            (4, ENCODING),
            (5, I32_TYPE),
            (6, I32_TYPE),
            (7, ThriftType::Flag),
            (8, STATISTICS),
        ]),
    ),
];

/// A column of the schema, or a group of columns.
#[derive(Default)]
struct SchemaNode {
    name_bytes: usize,
    children: usize,
}

/// Checks the directory of a file, which is all that opening it reads.
pub(super) fn check_directory(mut file: &File) -> Result<(), String> {
    let bytes = file.metadata().map_err(describe_read_error)?.len();
    let mut trailer = [0; TRAILER_BYTES];
    let end = bytes
        .checked_sub(TRAILER_BYTES as u64)
        .filter(|end| *end >= MAGIC.len() as u64)
        .ok_or("it has no directory at its end")?;
    file.seek(SeekFrom::Start(end))
        .and_then(|_| file.read_exact(&mut trailer))
        .map_err(describe_read_error)?;
    let (length, magic) = trailer.split_at(4);
    if magic == ENCRYPTED_MAGIC {
        return Err("it is encrypted, which is not read".to_owned());
    }
    if magic != MAGIC {
        return Err("it has no directory at its end".to_owned());
    }
    let length = length
        .iter()
        .rev()
        .fold(0, |length, byte| length << 8 | u64::from(*byte));
    let start = end
        .checked_sub(length)
        .ok_or_else(|| format!("its directory states {length} bytes, and the file has {bytes}"))?;
    file.seek(SeekFrom::Start(start))
        .map_err(describe_read_error)?;
    let mut directory = Vec::new();
    file.take(length)
        .read_to_end(&mut directory)
        .map_err(describe_read_error)?;

    let mut elements: Vec<SchemaNode> = Vec::new();
    let mut columns: Option<&[u8]> = None;
    let mut is_columns = false;
    let mut is_negative = false;
    walk_struct(
        &directory,
        DIRECTORY,
        &mut |path, found| match (path, found) {
            ([2], ThriftValue::Element) => elements.push(SchemaNode::default()),
            ([2, 4], ThriftValue::Text(name)) => elements
                .last_mut()
                .into_iter()
                .for_each(|element| element.name_bytes = name.len()),
            ([2, 5], ThriftValue::Number(children)) => {
                is_negative |= children < 0;
                elements.last_mut().into_iter().for_each(|element| {
                    element.children = usize::try_from(children).unwrap_or_default();
                });
            }
            ([5, 1], ThriftValue::Text(key)) => is_columns = key == b"ARROW:schema",
            ([5, 2], ThriftValue::Text(value)) if is_columns => columns = Some(value),
            _ => {}
        },
    )
    .ok_or("its directory contradicts itself or is cut off")?;
    if is_negative {
        return Err("its directory states a negative number of columns".to_owned());
    }
    check_elements(&elements, directory.len())?;
    if let Some(columns) = columns {
        let columns = STANDARD
            .decode(columns)
            .map_err(|_| "its description of columns is not Base64")?;
        check_schema(&columns)?;
    }
    Ok(())
}

/// Checks that the elements form one tree that is not too deep, and that the paths to its leaves are not too long.
fn check_elements(elements: &[SchemaNode], directory_bytes: usize) -> Result<(), String> {
    // Of each group that is not complete: the children that are missing, and the bytes of the path.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut path_bytes: usize = 0;
    for (place, element) in elements.iter().enumerate() {
        if element.children > elements.len() - place - 1 {
            return Err(format!(
                "a group states {} columns, and its directory has {}",
                element.children,
                elements.len()
            ));
        }
        let above = open.last().map_or(0, |(_, bytes)| *bytes);
        if let Some((missing, _)) = open.last_mut() {
            *missing -= 1;
        }
        let own = above.saturating_add(element.name_bytes);
        if element.children > 0 {
            open.push((element.children, own));
            if open.len() > MAX_LEVELS {
                return Err(format!(
                    "its columns are nested in more than {MAX_LEVELS} levels"
                ));
            }
        } else {
            path_bytes = path_bytes.saturating_add(own);
        }
        while open.last().is_some_and(|(missing, _)| *missing == 0) {
            open.pop();
        }
    }
    if path_bytes > FREE_PATH_BYTES.saturating_add(directory_bytes) {
        Err("the names of its columns are too long".to_owned())
    } else {
        Ok(())
    }
}

/// Returns whether a column that will be read is compressed with LZO, the only codec that is not read.
pub(super) fn needs_lzo(metadata: &ParquetMetaData, wanted: &ProjectionMask) -> bool {
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(|group| group.columns().iter().enumerate());
    columns
        .filter(|(place, _)| wanted.leaf_included(*place))
        .any(|(_, chunk)| chunk.compression() == Compression::LZO)
}

/// Checks the pages of the columns that will be read.
pub(super) fn check_pages(
    file: &File,
    metadata: &ParquetMetaData,
    wanted: &ProjectionMask,
) -> Result<(), String> {
    let bytes = file.metadata().map_err(describe_read_error)?.len();
    let left = ReadAllowance::of_file(bytes);
    let mut total: u64 = 0;
    for group in metadata.row_groups() {
        for (place, chunk) in group
            .columns()
            .iter()
            .enumerate()
            .filter(|(place, _)| wanted.leaf_included(*place))
        {
            let start = chunk
                .dictionary_page_offset()
                .unwrap_or_else(|| chunk.data_page_offset());
            let range = u64::try_from(start)
                .ok()
                .zip(u64::try_from(chunk.compressed_size()).ok());
            let range = range
                .and_then(|(start, length)| Some(start..start.checked_add(length)?))
                .filter(|range| range.end <= bytes);
            let range = range.ok_or_else(|| {
                format!(
                    "column {} states {} bytes from {start} on, and the file has {bytes}",
                    place + 1,
                    chunk.compressed_size()
                )
            })?;
            // Else a small file could name the same pages a million times.
            total = total.saturating_add(range.end - range.start);
            if total > bytes {
                return Err("its columns overlap".to_owned());
            }
            check_chunk(file, chunk, range.start, range.end, &left)?;
        }
    }
    Ok(())
}

fn check_chunk(
    file: &File,
    chunk: &ColumnChunkMetaData,
    start: u64,
    end: u64,
    left: &ReadAllowance,
) -> Result<(), String> {
    let mut input = BufReader::new(file);
    let mut place = start;
    let mut head: Vec<u8> = Vec::new();
    while place < end {
        let page = read_page_header(&mut input, &mut head, place, end)?;
        place += page.header;
        if page.packed > end - place {
            return Err(format!(
                "a page states {} bytes, and its column has {}",
                page.packed,
                end - place
            ));
        }
        let is_packed = chunk.compression() != Compression::UNCOMPRESSED && !page.is_stored;
        if is_packed && page.inflated > max_inflated_bytes(page.packed) {
            return Err(format!(
                "a page of {} bytes states that it inflates to {}",
                page.packed, page.inflated
            ));
        }
        left.spend(page.inflated.max(page.packed))
            .map_err(|error| error.to_string())?;
        let most_values = if is_packed {
            page.inflated
        } else {
            page.packed
        }
        .saturating_mul(VALUES_PER_BYTE);
        if page.dictionary_values > most_values {
            return Err(format!(
                "a dictionary of {} bytes states {} values",
                page.inflated, page.dictionary_values
            ));
        }
        input
            .seek(SeekFrom::Start(place + page.plain))
            .map_err(describe_read_error)?;
        check_inflated(&mut input, chunk.compression(), &page)?;
        place += page.packed;
    }
    Ok(())
}

/// What the header of a page states.
#[derive(Default)]
struct PageHeader {
    /// Length of the header itself.
    header: u64,
    packed: u64,
    inflated: u64,
    /// Zero unless it is a dictionary.
    dictionary_values: u64,
    /// Bytes at its beginning that are never compressed.
    plain: u64,
    /// The page is stored as it is, whatever the codec of its column.
    is_stored: bool,
}

fn read_page_header(
    input: &mut BufReader<&File>,
    head: &mut Vec<u8>,
    place: u64,
    end: u64,
) -> Result<PageHeader, String> {
    // Headers are short, except for statistics.
    let mut most = 512;
    loop {
        let length = most.min(end - place);
        input
            .seek(SeekFrom::Start(place))
            .map_err(describe_read_error)?;
        head.clear();
        input
            .take(length)
            .read_to_end(head)
            .map_err(describe_read_error)?;
        let mut numbers = [0_i64; 6];
        let mut kind = 0;
        let mut is_stored = false;
        let rest = walk_struct(head, PAGE_HEADER, &mut |path, found| {
            is_stored |= path == [8, 7] && found == ThriftValue::Flag(false);
            let ThriftValue::Number(number) = found else {
                return;
            };
            match path {
                [1] => kind = number,
                [2] => numbers[0] = number,
                [3] => numbers[1] = number,
                [7, 1] => numbers[2] = number,
                [8, 5] => numbers[3] = number,
                [8, 6] => numbers[4] = number,
                [5 | 8, 1] => numbers[5] = number,
                _ => {}
            }
        });
        let Some(rest) = rest else {
            if length < most || most >= MAX_HEADER_BYTES {
                return Err("the header of a page contradicts itself or is cut off".to_owned());
            }
            most *= 8;
            continue;
        };
        let stated = numbers.map(u64::try_from);
        let [
            Ok(inflated),
            Ok(packed),
            Ok(values),
            Ok(definitions),
            Ok(repetitions),
            Ok(_),
        ] = stated
        else {
            return Err("the header of a page states a negative length".to_owned());
        };
        let plain = definitions.saturating_add(repetitions);
        if plain > packed {
            return Err(format!(
                "a page of {packed} bytes states {plain} bytes of levels"
            ));
        }
        let header = (head.len() - rest.len()) as u64;
        let dictionary_values = if kind == DICTIONARY_PAGE { values } else { 0 };
        return Ok(PageHeader {
            header,
            packed,
            inflated,
            dictionary_values,
            plain,
            is_stored,
        });
    }
}

/// Holds what a page says it inflates to against its data, from here on, as far as its codec allows. Decoders of Snappy and LZ4 fill that much memory,
/// and those of gzip and Brotli do not stop there.
fn check_inflated(
    input: &mut BufReader<&File>,
    codec: Compression,
    page: &PageHeader,
) -> Result<(), String> {
    let (packed, stated) = (
        page.packed - page.plain,
        page.inflated.saturating_sub(page.plain),
    );
    if stated == 0 || page.is_stored {
        return Ok(());
    }
    let data = input.take(packed);
    let most = stated.saturating_add(1);
    let inflated = match codec {
        Compression::GZIP(_) => io::copy(
            &mut flate2::bufread::MultiGzDecoder::new(data).take(most),
            &mut io::sink(),
        ),
        Compression::BROTLI(_) => io::copy(
            &mut brotli::Decompressor::new(data, 4096).take(most),
            &mut io::sink(),
        ),
        Compression::SNAPPY => {
            let mut head = Vec::new();
            data.take(MAX_LENGTH_BYTES)
                .read_to_end(&mut head)
                .map_err(describe_read_error)?;
            Ok(snappy_length(&head))
        }
        Compression::LZ4 | Compression::LZ4_RAW
            if stated > packed.saturating_mul(MAX_TIMES_LZ4) =>
        {
            return Err(format!(
                "a page of {packed} bytes states that it inflates to {stated}"
            ));
        }
        _ => return Ok(()),
    };
    match inflated {
        Ok(inflated) if inflated > stated => Err(format!(
            "a page inflates to more than the {stated} bytes that it states"
        )),
        Ok(inflated) if codec == Compression::SNAPPY && inflated != stated => Err(format!(
            "a page states that it inflates to {stated} bytes, and its data to {inflated}"
        )),
        // Other errors are the decoder's to report.
        _ => Ok(()),
    }
}

/// Returns the length that Snappy data begins with, seven bits a byte.
fn snappy_length(head: &[u8]) -> u64 {
    let mut length = 0;
    for (place, byte) in head.iter().enumerate() {
        length |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    length
}
