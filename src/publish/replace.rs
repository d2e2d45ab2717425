//! A file put in its place, whole or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Puts a file in its place, whole or not at all.
pub(super) fn replace(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // A site is there to be read by a web server.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o644));
    }
    builder.prefix(".writing-");
    let mut file = match builder.tempfile_in(folder) {
        // Most folders are there: a site has few, with many files.
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder).and_then(|()| builder.tempfile_in(folder))?,
        made => made?,
    };
    file.write_all(bytes)?;
    file.persist(place).map_err(|error| error.error)?;
    Ok(())
}
