//! Bundles in sites made by this program.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::files::{BoundedReader, ReadAllowance};

/// The element around a compressed bundle in a page, which is base64. Browsers do not execute it.
const PAGE_ELEMENT_TAGS: [&str; 2] = [
    "<script type=\"application/zstd\" id=\"results\">",
    "</script>",
];
/// The path of the bundle in a site.
pub const BUNDLE_PATH_IN_SITE: &str = "data/results.bundle";
/// Maximum size of a page. Browsers open no larger one.
const MAX_PAGE_BYTES: u64 = 1 << 30;

/// Returns the path of the bundle in a site's folder.
pub fn bundle_path_in_site(folder: &Path) -> PathBuf {
    folder.join(BUNDLE_PATH_IN_SITE)
}

/// Returns the page element of a compressed bundle.
pub fn page_element(bundle: &[u8]) -> String {
    let [start, end] = PAGE_ELEMENT_TAGS;
    format!("{start}{}{end}\n", STANDARD.encode(bundle))
}

/// Returns whether a file with this beginning is a page made by this program.
pub(super) fn is_page(head: &[u8]) -> bool {
    head.starts_with(b"<!DOCTYPE html>")
        && memchr::memmem::find(head, b"<meta name=\"generator\" content=\"evalreport ").is_some()
}

/// Opens the bundle in a page. The reader is empty if the page has none.
pub(super) fn open_embedded(page: impl BufRead) -> io::Result<Box<dyn BufRead>> {
    let mut text = Vec::new();
    page.take(MAX_PAGE_BYTES).read_to_end(&mut text)?;
    let [start, end] = PAGE_ELEMENT_TAGS.map(str::as_bytes);
    // Texts in pages are escaped, so only the page itself can contain this element.
    let held = memchr::memmem::find(&text, start).map(|place| &text[place + start.len()..]);
    let Some(held) = held.and_then(|rest| rest.get(..memchr::memmem::find(rest, end)?)) else {
        return Ok(Box::new(io::empty()));
    };
    let bytes = STANDARD
        .decode(held)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let left = ReadAllowance::of_file(bytes.len() as u64);
    inflated_reader(Cursor::new(bytes), &left)
}

/// Reads a compressed bundle, of which no more is read than its size lets one expect.
pub(super) fn inflated_reader(
    compressed: impl BufRead + 'static,
    left: &ReadAllowance,
) -> io::Result<Box<dyn BufRead>> {
    Ok(Box::new(BufReader::with_capacity(
        64 << 10,
        BoundedReader::new(zstd::Decoder::with_buffer(compressed)?, left),
    )))
}
