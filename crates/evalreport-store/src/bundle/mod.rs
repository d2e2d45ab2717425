//! Bundles: selected runs with all their records in one file, to copy them to another store or to a machine without a store.
//!
//! ```text
//! {"format":"evalreport/bundle/2","runs":3}                  the number of runs
//! {"run":{"format":"evalreport/result/1","id":…}}            an own run, followed by the files in its folder:
//! {"item":{"item":…}}                                          the lines of items.jsonl,
//! {"score":{"metric":…}}                                       of scores.jsonl,
//! {"message":{"entry":…}}                                      of transcript.jsonl,
//! {"file":{"path":"src/a.py","text":…}}                        and the files of output/
//! {"source":{"key":…,"runs":2}}                              a sealed pair, or its selected part:
//! {"imported":{"format":"evalreport/result/1","id":…}}         its headers,
//! {"item":{"run":…,"item":…}}                                  and its outcomes
//! {"judged":{"run":…}}                                       one of these runs, followed by its judgements:
//! {"item":{"item":…}}                                          the lines of items.jsonl,
//! {"score":{"metric":…}}                                       and of scores.jsonl
//! {"acceptance":{"suite":…,"batches":[…],"reason":…}}        an accepted regression of these runs
//! {"tombstone":{"selector":{"id":[…]},"reason":…}}           runs that were retracted; the bundle does not have them
//! {"end":{"lines":9,"items":128}}                            the numbers of lines and outcomes before; without it the file is truncated
//! ```
//!
//! Own runs come first, by id; then sources, by their first id, unchanged. So runs that are imported into another store and packed again
//! give the same bytes. Version 1 had only headers and outcomes, without kinds; it can still be read. A bundle with accepted regressions
//! or tombstones has version 4, one with judgements of imported runs version 3, any other version 2: older programs can read what they know.
//!
//! A site's folder has its bundle at [`bundle_path_in_site`]. A page with a whole site has its bundle in base64 in its [`page_element`].
//!
//! The file is plain if its name ends in `.jsonl`, else one zstd frame with a checksum. Both are written and read line by line.

mod decisions;
mod judged;
mod output_file;
mod page;
mod read;
mod record;
mod write;

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::domain::{RunId, to_hex};
use crate::files::{self, ReadAllowance};

pub use decisions::BundleDecisions;
pub use page::{BUNDLE_PATH_IN_SITE, bundle_path_in_site, page_element};
pub(super) use read::is_half_imported;
pub use read::{
    UnpackedBundle, preview_bundle, unpack_figures, unpack_into_folder, unpack_into_store,
};
pub use write::{BundleParts, BundleRewriter, BundleWriter};

const BUNDLE_FORMAT: &str = "evalreport/bundle/2";
/// The format of a bundle with judgements of imported runs.
const FORMAT_WITH_JUDGED: &str = "evalreport/bundle/3";
/// The format of a bundle with accepted regressions or tombstones.
const FORMAT_WITH_DECISIONS: &str = "evalreport/bundle/4";
const FORMAT_PREFIX: &str = "evalreport/bundle/";
/// The beginning of every bundle, whatever its version.
const BUNDLE_OPENING: &[u8] = b"{\"format\":\"evalreport/bundle/";
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Which records of a run are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleExtent {
    /// Every record.
    Whole,
    /// All records except messages and files, which no figure needs.
    Figures,
}

#[derive(Serialize, Deserialize)]
struct BundleHeader {
    format: String,
    runs: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BundleTrailer {
    end: BundleCounts,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BundleCounts {
    /// Number of lines before this one. Absent in version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    items: u64,
}

/// The first record of a sealed pair.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairHeader {
    /// The pair's key.
    key: String,
    runs: u64,
}

/// Returns whether a key has the form of the store's own keys.
fn is_key(key: &str) -> bool {
    key.len() == 64
        && key
            .bytes()
            .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Returns a key for a part of a pair, so that the whole pair can still be imported from its source.
fn partial_key<'a>(key: &str, ids: impl Iterator<Item = &'a RunId>) -> String {
    let mut hasher = Sha256::new();
    hasher.update(key);
    for id in ids {
        hasher.update("\n");
        hasher.update(id.as_str());
    }
    to_hex(&hasher.finalize())
}

/// Opens a file, decompressed if necessary. Of one of our pages it opens the embedded bundle.
fn open_bundle(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = files::open(path)?;
    let left = ReadAllowance::of_file(file.metadata()?.len());
    let mut reader = BufReader::with_capacity(64 << 10, file);
    let head = reader.fill_buf()?;
    if head.starts_with(&ZSTD_MAGIC) {
        page::inflated_reader(reader, &left)
    } else if page::is_page(head) {
        page::open_embedded(reader)
    } else {
        Ok(Box::new(reader))
    }
}

/// Returns whether a file begins like a bundle of any version.
pub fn is_bundle(path: &Path) -> io::Result<bool> {
    let mut start = Vec::with_capacity(BUNDLE_OPENING.len());
    // A file that cannot be decompressed is no bundle.
    let read = open_bundle(path)?
        .take(BUNDLE_OPENING.len() as u64)
        .read_to_end(&mut start);
    Ok(read.is_ok() && begins_bundle(&start))
}

/// Returns whether these are the first decompressed bytes of a bundle.
pub fn begins_bundle(head: &[u8]) -> bool {
    head.starts_with(BUNDLE_OPENING)
}

#[cfg(test)]
mod tests;
