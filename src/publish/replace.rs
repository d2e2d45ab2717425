//! Atomic replacement of a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::files;

/// Writes a file atomically: readers see the old bytes or the new ones.
pub(super) fn replace_file(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut file = match files::create_temporary_in(folder) {
        // Create the folder only on failure: a site has few folders with many files, so most exist.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(folder).and_then(|()| files::create_temporary_in(folder))?
        }
        made => made?,
    };
    file.write_all(bytes)?;
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}
