//! The bytes of a file that a board is made from, and their digest: a board reads a part of a file, so it checks that part, and before anything
//! interprets it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use parquet::file::reader::{FileReader, SerializedFileReader};
use sha2::{Digest, Sha256};

use crate::domain::to_hex;
use crate::files;

use super::rows::{BOARD_COLUMNS, RUN_COLUMNS};

/// The footer of a Parquet file ends with its length, as four bytes, and four bytes that name the format.
const FOOTER_TRAILER_BYTES: u64 = 8;

/// Ranges of bytes in ascending order, and the digest of them all.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BoardBytes {
    ranges: Vec<(u64, u64)>,
    sha256: String,
}

impl BoardBytes {
    /// Looks into a file that was just written.
    pub fn from_file(path: &Path) -> io::Result<Self> {
        let mut file = files::open(path)?;
        let bytes = file.metadata()?.len();
        let reader = SerializedFileReader::new(file.try_clone()?).map_err(io::Error::other)?;
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for group in reader.metadata().row_groups() {
            for column in group.columns() {
                let name = column.column_path().string();
                if RUN_COLUMNS
                    .into_iter()
                    .chain(BOARD_COLUMNS)
                    .any(|read| read == name)
                {
                    ranges.push(column.byte_range());
                }
            }
        }
        let mut length = [0; 4];
        file.seek(SeekFrom::Start(bytes.saturating_sub(FOOTER_TRAILER_BYTES)))?;
        file.read_exact(&mut length)?;
        let footer = (u64::from(u32::from_le_bytes(length)) + FOOTER_TRAILER_BYTES).min(bytes);
        ranges.push((bytes - footer, footer));
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (start, length) in ranges {
            match joined.last_mut() {
                Some((first, held)) if *first + *held == start => *held += length,
                _ => joined.push((start, length)),
            }
        }
        let sha256 = digest_ranges(&mut file, &joined)?;
        Ok(Self {
            ranges: joined,
            sha256,
        })
    }

    /// Returns the form in a log: ranges as start and length, then the digest.
    pub fn to_log_text(&self) -> String {
        let ranges: Vec<String> = self
            .ranges
            .iter()
            .map(|(start, length)| format!("{start}+{length}"))
            .collect();
        format!("{} {}", ranges.join(","), self.sha256)
    }

    pub fn parse(text: &str) -> Option<Self> {
        let (ranges, sha256) = text.split_once(' ')?;
        let range = |text: &str| {
            let (start, length) = text.split_once('+')?;
            Some((start.parse().ok()?, length.parse().ok()?))
        };
        Some(Self {
            ranges: ranges.split(',').map(range).collect::<Option<_>>()?,
            sha256: sha256.to_owned(),
        })
    }

    /// Returns whether the file has these bytes.
    pub fn matches_file(&self, path: &Path) -> io::Result<bool> {
        Ok(digest_ranges(&mut files::open(path)?, &self.ranges)? == self.sha256)
    }
}

fn digest_ranges(file: &mut File, ranges: &[(u64, u64)]) -> io::Result<String> {
    let mut digest = Sha256::new();
    for (start, length) in ranges {
        file.seek(SeekFrom::Start(*start))?;
        files::for_each_block(Read::by_ref(file).take(*length), |block| {
            digest.update(block);
        })?;
    }
    Ok(to_hex(&digest.finalize()))
}
