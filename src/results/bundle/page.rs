//! Bundles in sites that this program made.

use std::io::{self, BufRead, Cursor, Read};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// What stands before and after a compressed bundle in a page, where it is written in base64. Browsers do not run it.
const IN_PAGE: [&str; 2] = ["<script type=\"application/zstd\" id=\"results\">", "</script>"];
/// Where a site has its bundle.
pub const IN_SITE: &str = "data/results.bundle";
/// No page that a browser opens is larger.
const MOST_PAGE_BYTES: u64 = 1 << 30;

/// Returns where the folder of a site has its bundle.
pub fn in_site(folder: &Path) -> PathBuf {
    folder.join(IN_SITE)
}

/// Returns the element of a page that holds a compressed bundle.
pub fn page_element(bundle: &[u8]) -> String {
    let [start, end] = IN_PAGE;
    format!("{start}{}{end}\n", STANDARD.encode(bundle))
}

/// Says whether a file that begins so is a page that this program made.
pub(super) fn is_page(head: &[u8]) -> bool {
    head.starts_with(b"<!DOCTYPE html>") && memchr::memmem::find(head, b"<meta name=\"generator\" content=\"evalreport ").is_some()
}

/// Opens the bundle in a page; nothing is in it where the page has none.
pub(super) fn held(page: impl BufRead) -> io::Result<Box<dyn BufRead>> {
    let mut text = Vec::new();
    page.take(MOST_PAGE_BYTES).read_to_end(&mut text)?;
    let [start, end] = IN_PAGE.map(str::as_bytes);
    // Texts in pages are escaped: only the page itself can say so.
    let held = memchr::memmem::find(&text, start).map(|place| &text[place + start.len()..]);
    let Some(held) = held.and_then(|rest| rest.get(..memchr::memmem::find(rest, end)?)) else { return Ok(Box::new(io::empty())) };
    let bytes = STANDARD.decode(held).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Box::new(io::BufReader::new(zstd::Decoder::with_buffer(Cursor::new(bytes))?)))
}
