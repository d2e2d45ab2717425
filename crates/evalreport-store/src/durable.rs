//! Writing files so that a crash leaves either the old state or the new one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::files;

/// Creates `path` with `bytes`, whole or not at all. Fails with `AlreadyExists` if it exists. Creates the folder if needed.
pub(super) fn create_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    create_new_via(folder, path, bytes)
}

/// Creates the file by way of a temporary file in another, existing folder.
pub(super) fn create_new_via(folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = files::create_temporary_in(folder)?;
    file.write_all(bytes)?;
    persist_new(file, path)
}

/// Removes the temporary files of killed processes. The caller must be alone in the folder.
pub(super) fn drop_temporary_in(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if name
            .to_str()
            .is_some_and(|name| name.starts_with(files::WRITING_PREFIX))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Syncs the file, gives it its name if the name is free, and syncs the folder.
pub(super) fn persist_new(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder_of(path))
}

/// Makes a new name in a folder survive a power cut. Windows has no such call; its file system journals names.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        files::open(folder)?.sync_all()
    } else {
        Ok(())
    }
}

/// More files than this are synced with the whole file system at once, where the system can: each sync may take ten milliseconds.
#[cfg(target_os = "linux")]
const MAX_SYNCED_ALONE: usize = 64;

/// Makes written files, and the names in the folders that hold them, survive a power cut.
pub(super) fn sync_files<'a>(
    files: &[PathBuf],
    folders: impl IntoIterator<Item = &'a PathBuf>,
) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if let Some(file) = files.get(MAX_SYNCED_ALONE) {
        return Ok(rustix::fs::syncfs(files::open(file)?)?);
    }
    files
        .iter()
        .try_for_each(|file| files::open(file)?.sync_all())?;
    folders
        .into_iter()
        .try_for_each(|folder| sync_folder(folder))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
