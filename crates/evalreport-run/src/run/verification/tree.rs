//! The tree to verify: its files, and which of them changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self};
use std::io::Read;
use std::path::Path;

use crate::evaluate::code;
use crate::files;
use crate::verify::{Listing, is_manifest};

use super::git::GitFolder;

/// Files beyond this number are ignored.
const MAX_FILES: usize = 200_000;
const MAX_MANIFESTS: usize = 2_000;
/// A longer manifest was not written by hand.
const MANIFEST_BYTES: u64 = 256 << 10;
/// Lock files identify the package manager, but the search for code leaves them out.
const LOCK_FILES: [&str; 13] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "poetry.lock",
    "uv.lock",
    "pdm.lock",
    "Pipfile.lock",
    "Cargo.lock",
    "go.sum",
    "deno.lock",
];

/// Lists a checkout's files: tracked, or new and not ignored.
pub fn list_checkout(git: &GitFolder<'_>) -> Result<Listing, String> {
    let files = git.list_files()?.into_iter().filter(|path| {
        fs::symlink_metadata(git.folder.join(path)).is_ok_and(|found| !found.is_dir())
    });
    Ok(read_listing(git.folder, files.take(MAX_FILES).collect()))
}

/// Lists the files of any folder, except those that tools install or generate.
pub fn list_folder(folder: &Path) -> Listing {
    let mut files: BTreeSet<String> = code::list_files(folder)
        .files
        .iter()
        .filter_map(|path| to_slash_path(path))
        .collect();
    let mut folders: BTreeSet<&str> = files
        .iter()
        .map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder))
        .collect();
    folders.insert("");
    let locks: Vec<String> = folders
        .iter()
        .flat_map(|below| {
            LOCK_FILES.iter().map(move |name| {
                if below.is_empty() {
                    (*name).to_owned()
                } else {
                    format!("{below}/{name}")
                }
            })
        })
        .filter(|path| fs::symlink_metadata(folder.join(path)).is_ok_and(|found| found.is_file()))
        .collect();
    files.extend(locks);
    read_listing(folder, files)
}

/// Lists the files that differ between two folders.
pub fn changed_files(before: &Path, now: &Path) -> Vec<String> {
    let of = |folder: &Path| -> BTreeSet<String> { list_folder(folder).files };
    let (old, new) = (of(before), of(now));
    old.union(&new)
        .filter(|path| {
            !(old.contains(*path)
                && new.contains(*path)
                && files::are_equal(before.join(path), now.join(path)))
        })
        .cloned()
        .collect()
}

fn read_listing(folder: &Path, files: BTreeSet<String>) -> Listing {
    let manifests = files
        .iter()
        .filter(|path| is_manifest(path))
        .take(MAX_MANIFESTS);
    let contents: BTreeMap<String, String> = manifests
        .filter_map(|path| Some((path.clone(), read_manifest(&folder.join(path))?)))
        .collect();
    Listing { files, contents }
}

/// Returns the text of a file, or `None` if it is a link, too long or not UTF-8.
fn read_manifest(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    // Reads one byte beyond the limit to detect longer files, whatever their stated size.
    files::open(path)
        .ok()?
        .take(MANIFEST_BYTES + 1)
        .read_to_string(&mut text)
        .ok()?;
    (text.len() as u64 <= MANIFEST_BYTES).then_some(text)
}

/// Returns a path below the root with `/` as separator, or `None` if it is not UTF-8.
fn to_slash_path(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path
        .components()
        .map(|part| part.as_os_str().to_str())
        .collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        folder
    }

    #[test]
    fn lock_files_are_listed_and_what_tools_brought_is_not() {
        let root = folder(&[
            ("web/package.json", "{}"),
            ("web/pnpm-lock.yaml", "x"),
            ("web/node_modules/a/package.json", "{}"),
            ("Cargo.lock", "x"),
            ("src/main.rs", "fn main() {}"),
        ]);
        let listing = list_folder(root.path());
        let files: Vec<&str> = listing.files.iter().map(String::as_str).collect();
        assert_eq!(
            files,
            [
                "Cargo.lock",
                "src/main.rs",
                "web/package.json",
                "web/pnpm-lock.yaml"
            ]
        );
        assert_eq!(
            listing.contents.get("web/package.json").map(String::as_str),
            Some("{}")
        );
    }

    #[test]
    fn what_is_edited_removed_or_new_is_changed() {
        let before = folder(&[
            ("same.py", "a"),
            ("edited.py", "a"),
            ("gone.py", "a"),
            ("d/longer.py", "a"),
        ]);
        let now = folder(&[
            ("same.py", "a"),
            ("edited.py", "b"),
            ("new.py", "a"),
            ("d/longer.py", "aa"),
        ]);
        assert_eq!(
            changed_files(before.path(), now.path()),
            ["d/longer.py", "edited.py", "gone.py", "new.py"]
        );
    }

    #[test]
    fn a_manifest_that_is_too_long_or_a_link_is_not_read() {
        let root = folder(&[
            (
                "package.json",
                &"x".repeat(usize::try_from(MANIFEST_BYTES).expect("it fits") + 1),
            ),
            ("real.json", "{}"),
        ]);
        assert_eq!(read_manifest(&root.path().join("package.json")), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(
                root.path().join("real.json"),
                root.path().join("linked.json"),
            )
            .expect("a link");
            assert_eq!(read_manifest(&root.path().join("linked.json")), None);
        }
        assert_eq!(
            read_manifest(&root.path().join("real.json")).as_deref(),
            Some("{}")
        );
    }
}
