//! The file that says that a folder is a lake, and of which version.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::{Problem, visible};
use crate::files;

const FILE: &str = "_evalreport.json";
const FORMAT: &str = "evalreport lake";
/// Changes whenever the columns or their meaning change.
const VERSION: u64 = 2;
/// The oldest version that is read: it lacks the columns with which engines' answers are checked, which files need not.
const OLDEST_READ: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Marker {
    format: String,
    version: u64,
}

/// Fails unless the folder is a lake that this program can read.
pub(super) fn check(lake: &Path) -> Result<(), Problem> {
    check_version(lake, OLDEST_READ)
}

fn check_version(lake: &Path, oldest: u64) -> Result<(), Problem> {
    let path = lake.join(FILE);
    let shown = visible(&path.display().to_string());
    let bytes = match files::if_there(files::read(&path)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            return Err(Problem::in_file(
                visible(&lake.display().to_string()),
                format!("is not a lake: it has no {FILE}"),
            )
            .with_hint("`evalreport export lake DIR` makes one"));
        }
        Err(error) => return Err(Problem::unread(shown, &error)),
    };
    match serde_json::from_slice::<Marker>(&bytes) {
        Ok(marker) if marker.format == FORMAT && (oldest..=VERSION).contains(&marker.version) => {
            Ok(())
        }
        Ok(marker) if marker.format == FORMAT => Err(Problem::in_file(
            shown,
            format!(
                "is a lake of version {}; this evalreport writes version {VERSION}",
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
pub(super) fn create(lake: &Path) -> Result<(), Problem> {
    let shown = || visible(&lake.display().to_string());
    let cannot =
        |error: io::Error| Problem::in_file(shown(), format!("cannot be written: {error}"));
    fs::create_dir_all(lake).map_err(cannot)?;
    if !lake.join(FILE).exists() {
        let is_other = |entry: &fs::DirEntry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name != FILE && !name.starts_with('.')
        };
        // Another publisher may make it a lake right now: its tables come after its marker.
        if fs::read_dir(lake)
            .map_err(cannot)?
            .filter_map(Result::ok)
            .any(|entry| is_other(&entry))
            && !lake.join(FILE).exists()
        {
            return Err(
                Problem::in_file(shown(), "has other files and is not a lake")
                    .with_hint("publish into a new or an empty folder"),
            );
        }
        let mut file = files::temporary_in(lake).map_err(cannot)?;
        let marker = Marker {
            format: FORMAT.to_owned(),
            version: VERSION,
        };
        let text = serde_json::to_string(&marker).expect("a marker is JSON");
        writeln!(file, "{text}")
            .and_then(|()| file.as_file().sync_all())
            .map_err(cannot)?;
        match file.persist_noclobber(lake.join(FILE)) {
            Ok(_) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(cannot(error.error)),
        }
    }
    check_version(lake, VERSION)
}
