//! One record of a bundle: parsing, and writing to its file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Deserialize;

use super::super::json_memory_limit;
use crate::domain::escape_invisible;

/// Splits `{"kind":record}` into kind and record.
pub(super) fn split_record(line: &[u8]) -> Option<(&str, &[u8])> {
    let rest = line.strip_prefix(b"{\"")?.strip_suffix(b"}")?;
    let end = memchr::memchr(b'"', rest)?;
    Some((
        std::str::from_utf8(&rest[..end]).ok()?,
        rest[end + 1..].strip_prefix(b":")?,
    ))
}

/// Parses a record. An error is prefixed with `what`.
pub(super) fn parse_record<'a, T: Deserialize<'a>>(
    record: &'a [u8],
    what: &str,
) -> Result<T, String> {
    json_memory_limit::from_slice(record)
        .map_err(|error| format!("{what}: {}", escape_invisible(&error.to_string())))
}

/// Appends a line to a file of the folder, which is created when first needed.
pub(super) fn append_line(
    folder: Option<&Path>,
    name: &str,
    file: &mut Option<BufWriter<File>>,
    line: &str,
) -> Result<(), String> {
    let Some(folder) = folder else { return Ok(()) };
    let written = (|| -> io::Result<()> {
        let file = match file {
            Some(file) => file,
            none => {
                fs::create_dir_all(folder)?;
                none.insert(BufWriter::new(File::create_new(folder.join(name))?))
            }
        };
        file.write_all(line.as_bytes())
    })();
    written.map_err(|error| format!("cannot be unpacked: {error}"))
}
