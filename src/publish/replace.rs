//! A file put in its place, whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::files;

/// Puts a file in its place, whole or not at all.
pub(super) fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut file = match files::temporary_in(folder) {
        // Most folders are there: a site has few, with many files.
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder).and_then(|()| files::temporary_in(folder))?,
        made => made?,
    };
    file.write_all(bytes)?;
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}
