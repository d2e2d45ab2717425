//! Reads the messages of Arrow files and streams. Whatever a message says about lengths is checked against the file before anything is
//! allocated for it: the library below allocates what it is told, and ends the program if it cannot.
//!
//! Format: <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_footer_length, read_record_batch};
use arrow_ipc::{
    Block, Message, MessageHeader, root_as_footer_with_opts, root_as_message_with_opts,
};
use arrow_schema::{ArrowError, SchemaRef};
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

use crate::files::{ReadAllowance, max_inflated_bytes};

/// First bytes of a file, padded to 8. The file ends with the length of its directory and the same bytes.
const MAGIC_BYTES: u64 = 8;
const TRAILER_BYTES: usize = 10;
/// Before a message's length, since Arrow 0.15.
const CONTINUATION_MARKER: [u8; 4] = [0xff; 4];
/// Length that precedes a compressed buffer.
const PREFIX_BYTES: u64 = 8;
/// Length of a buffer that is stored as it is among compressed ones.
const NOT_COMPRESSED: i64 = -1;
/// Rows without a byte of their own that a batch may state: all null, or all equal.
const FREE_ROWS: u64 = 1 << 20;
/// The shortest value is a bit.
const ROWS_PER_BYTE: u64 = 8;
/// Smallest table of a directory. Tables may be shared, which a small file could use to describe millions of columns.
const MIN_TABLE_BYTES: usize = 4;
const FREE_TABLES: usize = 1_000;
/// Texts and layouts of a directory may be shared as well.
const MAX_TIMES_SHARED: usize = 16;
const FREE_DIRECTORY_BYTES: usize = 1 << 20;

/// An Arrow file or stream.
pub(super) struct ArrowMessages<'f> {
    input: BufReader<&'f File>,
    /// Length of the file.
    bytes: u64,
    schema: SchemaRef,
    dictionaries: HashMap<i64, ArrayRef>,
    /// Inflated length of each dictionary. A delta copies what is there before it.
    dictionary_bytes: BTreeMap<i64, u64>,
    next: MessageCursor,
    left: ReadAllowance,
}

/// Where the next message is.
enum MessageCursor {
    /// In a file, whose directory names all messages.
    Listed(VecDeque<Block>),
    /// In a stream, one after the other.
    At(u64),
}

/// A message without its body.
struct MessageHead {
    metadata: Vec<u8>,
    /// Place of the body in the file.
    body: u64,
}

impl<'f> ArrowMessages<'f> {
    /// Opens a file with a directory.
    pub fn open_file(file: &'f File) -> Result<Self, String> {
        let (mut input, bytes) = open_buffered(file)?;
        let lacking = || "it has no directory at its end".to_owned();
        let end = bytes
            .checked_sub(TRAILER_BYTES as u64)
            .filter(|end| *end >= MAGIC_BYTES)
            .ok_or_else(lacking)?;
        let mut trailer = [0; TRAILER_BYTES];
        input
            .seek(SeekFrom::Start(end))
            .and_then(|_| input.read_exact(&mut trailer))
            .map_err(describe_read_error)?;
        let length =
            read_footer_length(trailer).map_err(|error| describe_arrow_error(&error))? as u64;
        let start = end
            .checked_sub(length)
            .filter(|start| *start >= MAGIC_BYTES)
            .ok_or_else(|| describe_excess_length("directory", length, bytes))?;
        let directory = read_bytes_at(&mut input, start, length)?;
        let footer = root_as_footer_with_opts(&verifier_options(&directory), &directory)
            .map_err(describe_flatbuffer_error)?;
        let schema = footer.schema().ok_or("its directory has no columns")?;
        let schema = Arc::new(fb_to_schema(schema));
        // Dictionaries come first: batches refer to them.
        let blocks: VecDeque<Block> = [footer.dictionaries(), footer.recordBatches()]
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect();
        let mut total: u64 = 0;
        for block in &blocks {
            let parts = [
                block.offset(),
                i64::from(block.metaDataLength()),
                block.bodyLength(),
            ]
            .map(u64::try_from);
            let [Ok(offset), Ok(metadata), Ok(body)] = parts else {
                return Err("its directory states a negative length".to_owned());
            };
            let length = metadata.saturating_add(body);
            if offset < MAGIC_BYTES || offset.saturating_add(length) > start {
                return Err(describe_excess_length("message", length, bytes));
            }
            total = total.saturating_add(length);
        }
        // Else a small file could name one message a million times.
        if total > bytes {
            return Err("messages of its directory overlap".to_owned());
        }
        Ok(Self::new(
            input,
            bytes,
            schema,
            MessageCursor::Listed(blocks),
        ))
    }

    /// Opens a stream, which has no directory.
    pub fn open_stream(file: &'f File) -> Result<Self, String> {
        let (mut input, bytes) = open_buffered(file)?;
        let head = read_head_at(&mut input, 0, bytes)?.ok_or("it is an empty stream")?;
        let message = parse_message(&head.metadata)?;
        let schema = message
            .header_as_schema()
            .ok_or("it does not begin with its columns")?;
        let schema = Arc::new(fb_to_schema(schema));
        let after = body_end(&message, &head, bytes)?;
        Ok(Self::new(input, bytes, schema, MessageCursor::At(after)))
    }

    fn new(input: BufReader<&'f File>, bytes: u64, schema: SchemaRef, next: MessageCursor) -> Self {
        let left = ReadAllowance::of_file(bytes);
        Self {
            input,
            bytes,
            schema,
            dictionaries: HashMap::new(),
            dictionary_bytes: BTreeMap::new(),
            next,
            left,
        }
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the next batch with these columns, or `None` at the end.
    pub fn next_batch(&mut self, columns: &[usize]) -> Result<Option<RecordBatch>, String> {
        loop {
            let Some(head) = self.next_head()? else {
                return Ok(None);
            };
            let message = parse_message(&head.metadata)?;
            let end = body_end(&message, &head, self.bytes)?;
            if let MessageCursor::At(place) = &mut self.next {
                *place = end;
            }
            let body = read_bytes_at(&mut self.input, head.body, end - head.body)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    let batch = message
                        .header_as_record_batch()
                        .ok_or("a batch has no columns")?;
                    check_batch(&batch, &body, &self.left)?;
                    let read = read_record_batch(
                        &body.into(),
                        batch,
                        self.schema.clone(),
                        &self.dictionaries,
                        Some(columns),
                        &version,
                    );
                    return read.map(Some).map_err(|error| describe_arrow_error(&error));
                }
                MessageHeader::DictionaryBatch => {
                    let dictionary = message
                        .header_as_dictionary_batch()
                        .ok_or("a dictionary has no values")?;
                    let values = dictionary.data().ok_or("a dictionary has no values")?;
                    let inflated = check_batch(&values, &body, &self.left)?;
                    let known = self.dictionary_bytes.entry(dictionary.id()).or_default();
                    if dictionary.isDelta() {
                        self.left.spend(*known).map_err(|error| error.to_string())?;
                        *known = known.saturating_add(inflated);
                    } else {
                        *known = inflated;
                    }
                    read_dictionary(
                        &body.into(),
                        dictionary,
                        &self.schema,
                        &mut self.dictionaries,
                        &version,
                    )
                    .map_err(|error| describe_arrow_error(&error))?;
                }
                MessageHeader::NONE => {}
                _ => {
                    return Err(
                        "it has a message that is neither a batch nor a dictionary".to_owned()
                    );
                }
            }
        }
    }

    fn next_head(&mut self) -> Result<Option<MessageHead>, String> {
        match &mut self.next {
            MessageCursor::At(place) => read_head_at(&mut self.input, *place, self.bytes),
            MessageCursor::Listed(blocks) => {
                let Some(block) = blocks.pop_front() else {
                    return Ok(None);
                };
                // Checked when the directory was read.
                let length = u64::try_from(block.metaDataLength()).unwrap_or_default();
                let offset = u64::try_from(block.offset()).unwrap_or_default();
                let head = read_head_at(&mut self.input, offset, self.bytes)?
                    .ok_or("its directory names an empty message")?;
                Ok(Some(MessageHead {
                    body: offset + length,
                    ..head
                }))
            }
        }
    }
}

fn open_buffered(file: &File) -> Result<(BufReader<&File>, u64), String> {
    let bytes = file.metadata().map_err(describe_read_error)?.len();
    Ok((BufReader::new(file), bytes))
}

/// Reads the head of the message at this place. Returns `None` at the end of a stream.
fn read_head_at(
    input: &mut BufReader<&File>,
    place: u64,
    bytes: u64,
) -> Result<Option<MessageHead>, String> {
    let left = bytes.saturating_sub(place);
    if left == 0 {
        return Ok(None);
    }
    input
        .seek(SeekFrom::Start(place))
        .map_err(describe_read_error)?;
    let mut word = [0; 4];
    input.read_exact(&mut word).map_err(describe_read_error)?;
    let mut start = place + 4;
    if word == CONTINUATION_MARKER {
        input.read_exact(&mut word).map_err(describe_read_error)?;
        start += 4;
    }
    let length = i32::from_le_bytes(word);
    let length = u64::try_from(length)
        .map_err(|_| format!("a message states a length of {length} bytes"))?;
    if length == 0 {
        return Ok(None);
    }
    if length > bytes.saturating_sub(start) {
        return Err(describe_excess_length("message", length, bytes));
    }
    Ok(Some(MessageHead {
        metadata: read_bytes_at(input, start, length)?,
        body: start + length,
    }))
}

fn parse_message(metadata: &[u8]) -> Result<Message<'_>, String> {
    root_as_message_with_opts(&verifier_options(metadata), metadata)
        .map_err(describe_flatbuffer_error)
}

/// Returns where a message's body ends.
fn body_end(message: &Message<'_>, head: &MessageHead, bytes: u64) -> Result<u64, String> {
    let length = message.bodyLength();
    let length =
        u64::try_from(length).map_err(|_| format!("a message states a body of {length} bytes"))?;
    head.body
        .checked_add(length)
        .filter(|end| *end <= bytes)
        .ok_or_else(|| describe_excess_length("message", length, bytes))
}

/// Reads bytes that are known to be in the file.
fn read_bytes_at(input: &mut BufReader<&File>, place: u64, length: u64) -> Result<Vec<u8>, String> {
    input
        .seek(SeekFrom::Start(place))
        .map_err(describe_read_error)?;
    let mut bytes = Vec::new();
    input
        .take(length)
        .read_to_end(&mut bytes)
        .map_err(describe_read_error)?;
    if (bytes.len() as u64) < length {
        Err("it is cut off".to_owned())
    } else {
        Ok(bytes)
    }
}

/// Checks what a batch states about its buffers and rows, and returns its inflated length.
pub(super) fn check_batch(
    batch: &arrow_ipc::RecordBatch<'_>,
    body: &[u8],
    left: &ReadAllowance,
) -> Result<u64, String> {
    let is_compressed = batch.compression().is_some();
    let mut inflated: u64 = 0;
    for buffer in batch.buffers().into_iter().flatten() {
        let (offset, length) = (buffer.offset(), buffer.length());
        let place = usize::try_from(offset)
            .ok()
            .zip(usize::try_from(length).ok());
        let bytes =
            place.and_then(|(offset, length)| body.get(offset..offset.checked_add(length)?));
        let bytes = bytes.ok_or_else(|| {
            format!(
                "a column states {length} bytes from {offset} on, and its message has {}",
                body.len()
            )
        })?;
        let own = if is_compressed && !bytes.is_empty() {
            inflated_length(bytes)?
        } else {
            bytes.len() as u64
        };
        inflated = inflated.saturating_add(own);
    }
    left.spend(inflated).map_err(|error| error.to_string())?;
    let most_rows = FREE_ROWS.saturating_add(inflated.saturating_mul(ROWS_PER_BYTE));
    let rows = std::iter::once((batch.length(), 0)).chain(
        batch
            .nodes()
            .into_iter()
            .flatten()
            .map(|node| (node.length(), node.null_count())),
    );
    for (length, nulls) in rows {
        if !u64::try_from(length).is_ok_and(|length| length <= most_rows)
            || !(0..=length).contains(&nulls)
        {
            return Err(format!(
                "a column states {length} rows and {nulls} nulls, and its message inflates to {inflated} bytes"
            ));
        }
    }
    Ok(inflated)
}

/// Returns the length that a compressed buffer says it inflates to.
fn inflated_length(buffer: &[u8]) -> Result<u64, String> {
    let short = || {
        format!(
            "a compressed column has {} bytes, which is less than its own length",
            buffer.len()
        )
    };
    let stated = i64::from_le_bytes(*buffer.first_chunk().ok_or_else(short)?);
    let packed = (buffer.len() as u64).saturating_sub(PREFIX_BYTES);
    match u64::try_from(stated) {
        Ok(stated) if stated <= max_inflated_bytes(packed) => Ok(stated),
        Err(_) if stated == NOT_COMPRESSED => Ok(packed),
        _ => Err(format!(
            "a column of {packed} bytes states that it inflates to {stated}"
        )),
    }
}

/// Limits of what the tables of a directory or message may describe.
fn verifier_options(bytes: &[u8]) -> VerifierOptions {
    VerifierOptions {
        max_tables: bytes.len() / MIN_TABLE_BYTES + FREE_TABLES,
        max_apparent_size: bytes
            .len()
            .saturating_mul(MAX_TIMES_SHARED)
            .saturating_add(FREE_DIRECTORY_BYTES),
        ..VerifierOptions::default()
    }
}

/// Checks a schema that another format holds: a message without a body, with the length before it.
pub(super) fn check_schema(bytes: &[u8]) -> Result<(), String> {
    let rest = bytes.strip_prefix(&CONTINUATION_MARKER).unwrap_or(bytes);
    let metadata = rest.get(4..).ok_or("its columns are cut off")?;
    parse_message(metadata).map(drop)
}

fn describe_excess_length(part: &str, length: u64, bytes: u64) -> String {
    format!("a {part} states {length} bytes, and the file has {bytes}")
}

/// Returns why the tables of a directory or message cannot be followed. The details name places that nobody else can see.
fn describe_flatbuffer_error(_: InvalidFlatbuffer) -> String {
    "its directory contradicts itself".to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(super) fn describe_read_error(error: io::Error) -> String {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        "it is cut off".to_owned()
    } else {
        error.to_string()
    }
}

fn describe_arrow_error(error: &ArrowError) -> String {
    error.to_string()
}
