//! The file that says that a folder is a lake, and of which version.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, escape_invisible};
use crate::files;

const MARKER_FILE: &str = "_evalreport.json";
const MARKER_FORMAT: &str = "evalreport lake";
/// Changes whenever the columns or their meaning change.
const LAKE_VERSION: u64 = 2;
/// The oldest version that is read: it lacks the columns with which engines' answers are checked, which files need not.
const OLDEST_READABLE_VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct LakeMarker {
    format: String,
    version: u64,
}

/// Fails unless the folder is a lake that this program can read.
pub(super) fn check_marker(lake: &Path) -> Result<(), Problem> {
    check_marker_version(lake, OLDEST_READABLE_VERSION)
}

fn check_marker_version(lake: &Path, oldest: u64) -> Result<(), Problem> {
    let path = lake.join(MARKER_FILE);
    let shown = escape_invisible(&path.display().to_string());
    let bytes = match files::missing_as_none(files::read(&path)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(Problem::in_file(
                escape_invisible(&lake.display().to_string()),
                format!("is not a lake: it has no {MARKER_FILE}"),
            )
            .with_hint("`evalreport export lake DIR` makes one"));
        }
        Err(error) => return Err(Problem::unread_file(shown, &error)),
    };
    match serde_json::from_slice::<LakeMarker>(&bytes) {
        Ok(marker)
            if marker.format == MARKER_FORMAT
                && (oldest..=LAKE_VERSION).contains(&marker.version) =>
        {
            Ok(())
        }
        Ok(marker) if marker.format == MARKER_FORMAT => Err(Problem::in_file(
            shown,
            format!(
                "is a lake of version {}; this evalreport writes version {LAKE_VERSION}",
                marker.version
            ),
        )
        .with_hint("use the evalreport that wrote it, or publish into another folder")),
        Ok(_) | Err(_) => Err(Problem::in_file(
            shown,
            "does not say that this folder is a lake",
        )),
    }
}

/// Makes a new or empty folder a lake, or checks that it is one that this program can write.
pub(super) fn create_marker(lake: &Path) -> Result<(), Problem> {
    let shown = || escape_invisible(&lake.display().to_string());
    let cannot =
        |error: io::Error| Problem::in_file(shown(), format!("cannot be written: {error}"));
    fs::create_dir_all(lake).map_err(cannot)?;
    if !lake.join(MARKER_FILE).exists() {
        let is_other = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name != MARKER_FILE && !name.starts_with('.')
        };
        // Another publisher may make it a lake right now: its tables come after its marker.
        if fs::read_dir(lake)
            .map_err(cannot)?
            .filter_map(Result::ok)
            .any(|entry| is_other(&entry))
            && !lake.join(MARKER_FILE).exists()
        {
            return Err(
                Problem::in_file(shown(), "has other files and is not a lake")
                    .with_hint("publish into a new or an empty folder"),
            );
        }
        let mut file = files::create_temporary_in(lake).map_err(cannot)?;
        let marker = LakeMarker {
            format: MARKER_FORMAT.to_owned(),
            version: LAKE_VERSION,
        };
        let text = serde_json::to_string(&marker).expect("a marker is JSON");
        writeln!(file, "{text}")
            .and_then(|()| file.as_file().sync_all())
            .map_err(cannot)?;
        match file.persist_noclobber(lake.join(MARKER_FILE)) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error.error)),
        }
    }
    check_marker_version(lake, LAKE_VERSION)
}
