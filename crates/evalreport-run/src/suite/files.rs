//! The files that a suite names: finding and reading them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::document::{Fields, quote_text};
use crate::domain::escape_invisible;
use crate::files;

use super::text::read_nonblank;

/// Resolves `path` from the repository's root, or else from the suite's folder. The error holds both paths tried.
pub fn resolve_path(root: &Path, folder: &Path, path: &str) -> Result<PathBuf, [PathBuf; 2]> {
    let places = [root.join(path), folder.join(path)];
    match places.iter().find(|place| place.exists()) {
        Some(found) => Ok(found.clone()),
        None => Err(places),
    }
}

/// Reads a key that names an existing, non-empty file.
pub(super) fn named_file(
    fields: &mut Fields,
    key: &str,
    root: &Path,
    folder: &Path,
) -> Option<PathBuf> {
    let path = read_nonblank(fields, key)?;
    let shown = |path: &Path| quote_text(&path.display().to_string());
    let found = match resolve_path(root, folder, &path) {
        Ok(found) => found,
        Err([first, second]) => {
            fields.reject(
                key,
                format!(
                    "{key} file not found: looked at {} and {}",
                    shown(&first),
                    shown(&second)
                ),
                None,
            );
            return None;
        }
    };
    let wrong = match fs::metadata(&found) {
        Ok(metadata) if !metadata.is_file() => "is not a file".to_owned(),
        Ok(metadata) if metadata.len() == 0 => "is empty".to_owned(),
        Ok(_) => return Some(found),
        Err(error) => format!("cannot be read: {error}"),
    };
    fields.reject(key, format!("{key} file {} {wrong}", shown(&found)), None);
    None
}

/// Reads a key that names an existing folder.
pub(super) fn named_folder(
    fields: &mut Fields,
    key: &str,
    root: &Path,
    folder: &Path,
) -> Option<PathBuf> {
    let path = read_nonblank(fields, key)?;
    match resolve_path(root, folder, &path) {
        Ok(found) if found.is_dir() => Some(found),
        Ok(found) => {
            fields.reject(
                key,
                format!(
                    "{key} {} is not a folder",
                    quote_text(&found.display().to_string())
                ),
                None,
            );
            None
        }
        Err(places) => {
            let [first, second] = places.map(|place| quote_text(&place.display().to_string()));
            fields.reject(
                key,
                format!("{key} folder not found: looked at {first} and {second}"),
                None,
            );
            None
        }
    }
}

/// Returns the text of a file. The error is worded to follow the file's name.
pub(super) fn read_text(path: &Path, most_bytes: u64) -> Result<String, String> {
    let cannot =
        |error: std::io::Error| format!("cannot be read: {}", escape_invisible(&error.to_string()));
    let size = fs::metadata(path).map_err(cannot)?.len();
    if size > most_bytes {
        return Err(format!(
            "has {size} bytes, more than the {most_bytes} that are read"
        ));
    }
    let bytes = files::read(path).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|error| {
        format!(
            "is not valid UTF-8 from byte {} on",
            error.utf8_error().valid_up_to() + 1
        )
    })
}
