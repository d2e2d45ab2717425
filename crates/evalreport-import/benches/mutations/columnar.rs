//! Files whose insides are read by place – Arrow, Parquet, workbooks, encrypted archives – and how they are broken: above all the lengths
//! that they state about themselves.

use std::fs;
use std::sync::Arc;

use aes::cipher::generic_array::GenericArray;
use aes::cipher::{BlockEncryptMut, KeyIvInit};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, ListArray, NullArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::archive::{DEFLATED, Member, written};
use super::broken::{Broken, Numbers};

/// Returns an encrypted member of an upload of HAL, with this salt: a run with two tasks, as a Fernet token under the published password.
pub fn hal_member(salt: &[u8], run: &str) -> String {
    const BLOCK: usize = 16;
    let text = format!(
        "{{\"config\": {{\"agent_name\": \"a\", \"benchmark_name\": \"gaia\", \"run_id\": \"{run}\"}}, \
         \"results\": {{\"successful_tasks\": [\"t1\"], \"failed_tasks\": [\"t2\"]}}}}"
    );
    let mut key = [0; 2 * BLOCK];
    let iterations = std::num::NonZeroU32::new(480_000).expect("it is not zero");
    ring::pbkdf2::derive(
        ring::pbkdf2::PBKDF2_HMAC_SHA256,
        iterations,
        salt,
        b"hal1234",
        &mut key,
    );
    let (signing, encryption) = key.split_at(BLOCK);
    let filling = BLOCK - text.len() % BLOCK;
    let mut blocks = [
        text.as_bytes(),
        &vec![u8::try_from(filling).expect("at most 16"); filling],
    ]
    .concat();
    let mut cipher = cbc::Encryptor::<aes::Aes128>::new_from_slices(encryption, &[0; BLOCK])
        .expect("sixteen bytes each");
    for block in blocks.chunks_exact_mut(BLOCK) {
        cipher.encrypt_block_mut(GenericArray::from_mut_slice(block));
    }
    // The version, a time and the first block of the cipher.
    let signed = [&[0x80], &[0; 8][..], &[0; BLOCK], &blocks].concat();
    let mac = ring::hmac::sign(
        &ring::hmac::Key::new(ring::hmac::HMAC_SHA256, signing),
        &signed,
    );
    let token = STANDARD.encode(URL_SAFE.encode([&signed, mac.as_ref()].concat()));
    format!(
        "{{\"encrypted_data\": \"{token}\", \"salt\": \"{}\"}}",
        STANDARD.encode(salt)
    )
}

/// Returns rows with the columns of the table's map, and columns of further kinds.
fn batch() -> RecordBatch {
    const ROWS: usize = 40;
    let texts = |text: &dyn Fn(usize) -> String| {
        Arc::new(StringArray::from_iter_values((0..ROWS).map(text))) as ArrayRef
    };
    let results: DictionaryArray<Int32Type> = (0..ROWS)
        .map(|row| Some(if row % 3 == 0 { "wrong" } else { "ok" }))
        .collect();
    let numbers = Arc::new(
        (0..ROWS)
            .map(|row| (row % 5 > 0).then_some(row as f64 / 40.0))
            .collect::<Float64Array>(),
    ) as ArrayRef;
    let usage = StructArray::try_from(vec![
        ("input_tokens", Arc::clone(&numbers)),
        ("name", texts(&|_| "same".to_owned())),
    ]);
    let tries = (0..ROWS).map(|row| {
        Some(
            (0..row % 4)
                .map(|number| i32::try_from(number).ok())
                .collect::<Vec<_>>(),
        )
    });
    RecordBatch::try_from_iter([
        ("task", texts(&|row| format!("q{row}"))),
        ("approach", texts(&|row| format!("a{}", row % 2))),
        ("model", texts(&|_| "m".to_owned())),
        ("result", Arc::new(results) as ArrayRef),
        ("score", Arc::clone(&numbers)),
        ("when", texts(&|row| format!("2026-01-{:02}", row % 28 + 1))),
        ("usage", Arc::new(usage.expect("a struct")) as ArrayRef),
        (
            "tries",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(tries)) as ArrayRef,
        ),
        (
            "is_new",
            Arc::new(
                (0..ROWS)
                    .map(|row| Some(row % 2 == 0))
                    .collect::<BooleanArray>(),
            ) as ArrayRef,
        ),
        ("nothing", Arc::new(NullArray::new(ROWS)) as ArrayRef),
    ])
    .expect("a batch")
}

/// Returns Arrow files, or streams: plain and with each codec.
pub fn arrow(is_stream: bool) -> Vec<(String, Vec<u8>)> {
    let batch = batch();
    let codecs = [
        ("plain", None),
        ("lz4", Some(CompressionType::LZ4_FRAME)),
        ("zstd", Some(CompressionType::ZSTD)),
    ];
    let file = |codec| {
        let options = IpcWriteOptions::default()
            .try_with_compression(codec)
            .expect("a codec");
        if is_stream {
            let mut writer =
                StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options)
                    .expect("a writer");
            for _ in 0..2 {
                writer.write(&batch).expect("memory");
            }
            writer.into_inner().expect("memory")
        } else {
            let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options)
                .expect("a writer");
            for _ in 0..2 {
                writer.write(&batch).expect("memory");
            }
            writer.into_inner().expect("memory")
        }
    };
    codecs
        .into_iter()
        .map(|(name, codec)| {
            (
                format!("{name}.{}", if is_stream { "arrows" } else { "arrow" }),
                file(codec),
            )
        })
        .collect()
}

/// Returns Parquet files with each codec and both kinds of pages.
pub fn parquet() -> Vec<(String, Vec<u8>)> {
    let batch = batch()
        .project(&[0, 1, 2, 3, 4, 5, 6, 7, 8])
        .expect("columns");
    let codecs = [
        ("plain", Compression::UNCOMPRESSED),
        ("snappy", Compression::SNAPPY),
        ("gzip", Compression::GZIP(GzipLevel::default())),
        ("brotli", Compression::BROTLI(BrotliLevel::default())),
        ("lz4", Compression::LZ4_RAW),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
    ];
    let file = |codec, version| {
        let properties = WriterProperties::builder()
            .set_compression(codec)
            .set_writer_version(version)
            .build();
        let mut writer =
            ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("memory");
        writer.into_inner().expect("memory")
    };
    let versions = [
        ("1", WriterVersion::PARQUET_1_0),
        ("2", WriterVersion::PARQUET_2_0),
    ];
    let files = codecs.into_iter().flat_map(|(name, codec)| {
        versions.map(|(number, version)| (format!("{name}-{number}.parquet"), codec, version))
    });
    files
        .map(|(name, codec, version)| (name, file(codec, version)))
        .collect()
}

pub fn workbook() -> Vec<(String, Vec<u8>)> {
    let file = super::subjects::repository().join("tests/it/tables/same/outcomes.xlsx");
    vec![("rows.xlsx".to_owned(), fs::read(file).expect("readable"))]
}

pub fn hal_archive() -> Vec<(String, Vec<u8>)> {
    let members = ["a", "b"].map(|run| {
        Member::new(
            &format!("{run}.json.encrypted"),
            DEFLATED,
            hal_member(b"0123456789abcdef", run).as_bytes(),
        )
    });
    vec![("upload.zip".to_owned(), written(&members))]
}

/// What lengths tend to break readers.
const LENGTHS: [i64; 20] = [
    0,
    1,
    -1,
    -2,
    7,
    0x7f,
    0xff,
    0x7fff,
    0xffff,
    1 << 20,
    0x7fff_ffff,
    -0x8000_0000,
    0xffff_ffff,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 54,
    1 << 62,
    i64::MAX,
    i64::MIN,
];

/// Breaks a file: a length most of the time, other bytes, its end.
pub fn broken(whole: &[u8], numbers: &mut Numbers) -> Broken {
    let mut bytes = whole.to_vec();
    for _ in 0..=numbers.below(3) {
        match numbers.below(8) {
            0..=3 => set_length(&mut bytes, numbers),
            4 => set_varint(&mut bytes, numbers),
            5 | 6 => {
                let place = place(bytes.len(), numbers);
                bytes[place] = u8::try_from(numbers.below(256)).expect("a byte");
            }
            _ => {
                let (from, to) = (place(bytes.len(), numbers), place(bytes.len(), numbers));
                let length = numbers.below(64).min(bytes.len() - from.max(to));
                let piece = bytes[from..from + length].to_vec();
                bytes[to..to + length].copy_from_slice(&piece);
            }
        }
    }
    if numbers.one_in(20) {
        let place = numbers.below(bytes.len());
        bytes.truncate(place.max(1));
    }
    let inflated = bytes.len();
    Broken { bytes, inflated }
}

/// Draws a place. The ends of a file say where the rest is.
fn place(length: usize, numbers: &mut Numbers) -> usize {
    match numbers.below(4) {
        0 => length - 1 - numbers.below(length.min(64)),
        1 => length - 1 - numbers.below(length.min(1200)),
        _ => numbers.below(length),
    }
}

/// Sets a number of 2, 4 or 8 bytes, mostly where such numbers are.
fn set_length(bytes: &mut [u8], numbers: &mut Numbers) {
    let width = [2, 4, 4, 8, 8][numbers.below(5)];
    let mut at = place(bytes.len(), numbers);
    if numbers.below(4) > 0 {
        at -= at % width;
    }
    let at = at.min(bytes.len().saturating_sub(width));
    let Some(field) = bytes.get_mut(at..at + width) else {
        return;
    };
    let mut own = [0; 8];
    own[..width].copy_from_slice(field);
    let own = i64::from_le_bytes(own);
    let value = match numbers.below(8) {
        0 => own.wrapping_add(1),
        1 => own.wrapping_mul(2),
        2 => own.wrapping_sub(1),
        3 => own ^ (1 << numbers.below(63)),
        _ => LENGTHS[numbers.below(LENGTHS.len())],
    };
    field.copy_from_slice(&value.to_le_bytes()[..width]);
}

/// Puts in a number of one to ten bytes, as Thrift has them, in place of one byte or beside it.
fn set_varint(bytes: &mut Vec<u8>, numbers: &mut Numbers) {
    let mut value = LENGTHS[numbers.below(LENGTHS.len())].cast_unsigned() << numbers.below(2);
    let mut number = Vec::new();
    while value > 0x7f {
        number.push(u8::try_from(value & 0x7f).expect("seven bits") | 0x80);
        value >>= 7;
    }
    number.push(u8::try_from(value).expect("seven bits"));
    let place = place(bytes.len(), numbers);
    // The length of what is around stays the same more often than not.
    let end = if numbers.one_in(3) {
        place + 1
    } else {
        (place + number.len()).min(bytes.len())
    };
    bytes.splice(place..end, number);
}
