//! The folder of a site. Only changed files are written, and files of others never overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use tracing::debug;

use crate::domain::to_hex;
use crate::files::{self, FolderUse, WRITING_PREFIX};
use crate::render::html::SiteFile;
use crate::warehouse::FileStamp;

use super::build_cache::{BuildCache, CachedPages, PageTotals};
use super::error::PublishError;
use super::replace::replace_file;
use super::stored::display_path;

/// Lists the files that we wrote. Its presence marks the folder as ours.
const MANIFEST_FILE: &str = ".evalreport-manifest.json";
/// While a build goes on, lists the files that it makes and the last build had not: a line of JSON each, before the file. What a killed build
/// made is then known to the next one, which removes what it does not make itself.
const UNFINISHED_FILE: &str = ".evalreport-unfinished.jsonl";

#[derive(Default, Serialize, Deserialize)]
struct SiteManifest {
    /// SHA-256 of every file's bytes, by path from the site's root.
    files: BTreeMap<String, String>,
}

/// A site in progress; several threads write to it at once.
pub(super) struct SiteFolder {
    root: PathBuf,
    old: SiteManifest,
    journal: Mutex<Option<fs::File>>,
    /// Held so that no other build takes this one's files for leftovers.
    _use: Option<FolderUse>,
    /// What the last build knew of its files and their sources.
    known: BuildCache,
    memory: Option<PathBuf>,
    new: Mutex<NewSiteFiles>,
}

/// Files of this build so far.
#[derive(Default)]
struct NewSiteFiles {
    manifest: SiteManifest,
    memory: BuildCache,
    written: usize,
    kept: usize,
}

impl SiteFolder {
    /// Returns whether the folder is a site of ours with pages of runs.
    pub fn shows_runs(root: &Path) -> bool {
        let manifest = files::read(root.join(MANIFEST_FILE))
            .ok()
            .and_then(|bytes| serde_json::from_slice::<SiteManifest>(&bytes).ok());
        manifest.is_some_and(|manifest| {
            manifest
                .files
                .keys()
                .any(|path| path.starts_with("runs/") && path != "runs/index.html")
        })
    }

    /// Opens an empty or new folder, or one that already has a site of ours. Reads the last build's record from `cache`, if given.
    pub fn open(root: &Path, cache: Option<&Path>) -> Result<Self, PublishError> {
        let manifest = root.join(MANIFEST_FILE);
        let old = match files::read(&manifest) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                PublishError::new(format!("{} is damaged: {error}", display_path(&manifest)))
                    .with_hint("delete the folder, or choose another with --out")
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // If a build was killed at its very first file, only unfinished files are left.
                let is_unfinished = |entry: &fs::DirEntry| {
                    entry
                        .file_name()
                        .to_string_lossy()
                        .starts_with(WRITING_PREFIX)
                };
                let is_empty = match fs::read_dir(root) {
                    Ok(mut entries) => {
                        entries.all(|entry| entry.is_ok_and(|entry| is_unfinished(&entry)))
                    }
                    Err(error) if error.kind() == io::ErrorKind::NotFound => true,
                    Err(error) => {
                        return Err(PublishError::new(format!(
                            "cannot use {}: {error}",
                            display_path(root)
                        )));
                    }
                };
                if !is_empty {
                    return Err(PublishError::new(format!(
                        "{} contains files that are not from an evalreport site",
                        display_path(root)
                    ))
                    .with_hint("choose an empty or new folder with --out"));
                }
                SiteManifest::default()
            }
            Err(error) => {
                return Err(PublishError::new(format!(
                    "cannot read {}: {error}",
                    display_path(&manifest)
                )));
            }
        };
        let memory = cache.and_then(|cache| BuildCache::cache_path(cache, root).ok());
        let known = memory
            .as_deref()
            .map_or_else(BuildCache::default, BuildCache::load);
        fs::create_dir_all(root).map_err(|error| {
            PublishError::new(format!("cannot create {}: {error}", display_path(root)))
        })?;
        let held = FolderUse::begin_after_clearing(root, |alone| {
            files::sweep_tree(root, alone);
        });
        let mut folder = Self {
            root: root.to_owned(),
            old,
            known,
            memory,
            new: Mutex::default(),
            journal: Mutex::default(),
            _use: held,
        };
        // From here on the folder is ours, even if this build is interrupted.
        if folder.old.files.is_empty() {
            folder.save_manifest(&folder.old)?;
        }
        for path in folder.read_unfinished() {
            folder.old.files.entry(path).or_default();
        }
        Ok(folder)
    }

    /// Returns the paths of files that killed builds made.
    fn read_unfinished(&self) -> Vec<String> {
        let text = files::read(self.root.join(UNFINISHED_FILE)).unwrap_or_default();
        // The last line may be cut off: its file was not made.
        text.split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// Notes that a file is going to be made, unless the last build or this one knows it.
    fn note_unfinished(&self, path: &str) -> io::Result<()> {
        if self.old.files.contains_key(path) {
            return Ok(());
        }
        let mut line = serde_json::to_vec(path).map_err(io::Error::from)?;
        line.push(b'\n');
        let mut journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        if journal.is_none() {
            *journal = Some(files::open_with_options(
                fs::OpenOptions::new().create(true).append(true),
                self.root.join(UNFINISHED_FILE),
            )?);
        }
        journal
            .as_mut()
            .map_or(Ok(()), |file| file.write_all(&line))
    }

    /// Writes one file, unless it already has these bytes.
    pub fn write_file(&self, path: &str, bytes: &[u8]) -> Result<(), PublishError> {
        let place = self.path_in_site(path).ok_or_else(|| {
            PublishError::new(format!(
                "a page wants the path `{}`",
                crate::domain::escape_invisible(path)
            ))
        })?;
        let digest = sha256_hex(bytes);
        let is_same = self.old.files.get(path) == Some(&digest)
            && files::read(&place).is_ok_and(|found| found == bytes);
        if !is_same {
            self.note_unfinished(path)
                .and_then(|()| replace_file(&place, bytes))
                .map_err(|error| {
                    PublishError::new(format!("cannot write {}: {error}", display_path(&place)))
                })?;
        }
        let stamp = FileStamp::from_path(&place).ok();
        let mut new = self.new_files();
        *(if is_same {
            &mut new.kept
        } else {
            &mut new.written
        }) += 1;
        new.manifest.files.insert(path.to_owned(), digest);
        new.memory
            .files
            .extend(stamp.map(|stamp| (path.to_owned(), stamp)));
        Ok(())
    }

    /// Writes files and returns their paths.
    pub fn write_files(
        &self,
        files: impl IntoIterator<Item = SiteFile>,
    ) -> Result<Vec<String>, PublishError> {
        let write = |file: SiteFile| self.write_file(&file.path, &file.bytes).map(|()| file.path);
        files.into_iter().map(write).collect()
    }

    /// Keeps the files that the last build made from the same sources. Returns `None` if somebody changed them since, or if `may` rejects
    /// their totals.
    pub fn keep_files(
        &self,
        stamp: &str,
        may: impl FnOnce(&PageTotals) -> bool,
    ) -> Option<&CachedPages> {
        let kept = self.known.made.get(stamp).filter(|made| may(&made.said))?;
        let mut files = Vec::with_capacity(kept.paths.len());
        let parts = kept
            .parts
            .iter()
            .map(|part| Some((part, self.known.made.get(part)?)))
            .collect::<Option<Vec<_>>>()?;
        for path in parts
            .iter()
            .flat_map(|(_, part)| &part.paths)
            .chain(&kept.paths)
        {
            let (known, digest) = (self.known.files.get(path)?, self.old.files.get(path)?);
            if FileStamp::from_path(&self.path_in_site(path)?)
                .ok()
                .as_ref()
                != Some(known)
            {
                return None;
            }
            files.push((path, known, digest));
        }
        let mut new = self.new_files();
        new.kept += files.len();
        for (path, known, digest) in files {
            new.manifest.files.insert(path.clone(), digest.clone());
            new.memory.files.insert(path.clone(), *known);
        }
        let made = parts
            .into_iter()
            .map(|(stamp, part)| (stamp.clone(), part.clone()));
        new.memory
            .made
            .extend(made.chain([(stamp.to_owned(), kept.clone())]));
        Some(kept)
    }

    /// Records files that were just written, under the stamp of their sources.
    pub fn note_pages(&self, stamp: String, made: CachedPages) {
        self.new_files().memory.made.insert(stamp, made);
    }

    /// Returns how many files were written so far, and how many already had the same bytes.
    pub fn file_counts(&self) -> (usize, usize) {
        let new = self.new_files();
        (new.written, new.kept)
    }

    /// Lists the paths written or kept so far, in order.
    pub fn paths(&self) -> Vec<String> {
        self.new_files().manifest.files.keys().cloned().collect()
    }

    /// Lists the digests of the files below a folder that were written or kept so far.
    pub fn digests_below(&self, below: &str) -> BTreeMap<String, String> {
        self.new_files()
            .manifest
            .files
            .iter()
            .filter(|(path, _)| path.starts_with(below))
            .map(|(path, digest)| (path.clone(), digest.clone()))
            .collect()
    }

    /// Removes files of the last build that this build lacks, and saves the manifest. Returns the number of removed files.
    pub fn finish(self) -> Result<usize, PublishError> {
        let mut removed = 0;
        let new = self.new_files();
        for path in self
            .old
            .files
            .keys()
            .filter(|path| !new.manifest.files.contains_key(*path))
        {
            // Never trust the manifest's paths: one could point outside the folder.
            let Some(place) = self.path_in_site(path) else {
                continue;
            };
            match fs::remove_file(&place) {
                Ok(()) => removed += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(PublishError::new(format!(
                        "cannot remove {}: {error}",
                        display_path(&place)
                    )));
                }
            }
            remove_empty_folders(&self.root, &place);
        }
        self.save_manifest(&new.manifest)?;
        let journal = self.root.join(UNFINISHED_FILE);
        files::missing_as_none(fs::remove_file(&journal)).map_err(|error| {
            PublishError::new(format!("cannot remove {}: {error}", display_path(&journal)))
        })?;
        if let Some(Err(error)) = self.memory.as_deref().map(|memory| new.memory.save(memory)) {
            debug!(%error, "the next build makes every page");
        }
        Ok(removed)
    }

    fn new_files(&self) -> MutexGuard<'_, NewSiteFiles> {
        // No code that holds this lock leaves its data half changed, so a poisoned lock is safe to use.
        self.new.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn save_manifest(&self, manifest: &SiteManifest) -> Result<(), PublishError> {
        let mut json = serde_json::to_vec_pretty(manifest)
            .map_err(|error| PublishError::new(format!("cannot write the manifest: {error}")))?;
        json.push(b'\n');
        let place = self.root.join(MANIFEST_FILE);
        replace_file(&place, &json).map_err(|error| {
            PublishError::new(format!("cannot write {}: {error}", display_path(&place)))
        })
    }

    /// Returns the full path of a file of the site, or `None` if it would be outside the folder.
    fn path_in_site(&self, path: &str) -> Option<PathBuf> {
        let relative = Path::new(path);
        let is_plain = relative
            .components()
            .all(|component| matches!(component, Component::Normal(_)));
        (is_plain && !path.is_empty()).then(|| self.root.join(relative))
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

fn remove_empty_folders(root: &Path, place: &Path) {
    let mut folder = place.parent();
    while let Some(current) = folder.filter(|current| *current != root && current.starts_with(root))
    {
        if fs::remove_dir(current).is_err() {
            return;
        }
        folder = current.parent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_written_and_what_went_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("site");
        let site = SiteFolder::open(&root, None).expect("a new folder");
        site.write_file("index.html", b"one").expect("writable");
        site.write_file("runs/a/index.html", b"a")
            .expect("writable");
        site.finish().expect("writable");

        let site = SiteFolder::open(&root, None).expect("our folder");
        site.write_file("index.html", b"one").expect("writable");
        assert_eq!(site.file_counts(), (0, 1));
        assert_eq!(site.finish().expect("writable"), 1);
        assert!(!root.join("runs").exists());
    }

    #[test]
    fn a_build_that_was_killed_at_its_first_file_is_in_nobodys_way() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(".writing-abc"), "{").expect("writable");
        assert!(SiteFolder::open(folder.path(), None).is_ok());
        let other = tempfile::tempdir().expect("a temporary folder");
        fs::write(other.path().join("thesis.tex"), "").expect("writable");
        assert!(SiteFolder::open(other.path(), None).is_err());
    }

    #[test]
    fn nothing_of_a_killed_build_stays_in_the_next_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("site");
        let made = |site: &SiteFolder, paths: &[&str]| {
            for path in paths {
                site.write_file(path, b"x").expect("writable");
            }
        };
        let site = SiteFolder::open(&root, None).expect("a new folder");
        made(&site, &["index.html", "data/a.json"]);
        site.finish().expect("writable");
        // It was killed while it wrote a file that only it had, after another one.
        let killed = SiteFolder::open(&root, None).expect("our folder");
        made(&killed, &["index.html", "data/b.json"]);
        killed.note_unfinished("data/c.json").expect("writable");
        drop(killed);
        fs::write(root.join("data/.writing-abc.tmp"), "{").expect("writable");
        let site = SiteFolder::open(&root, None).expect("our folder");
        made(&site, &["index.html", "data/a.json"]);
        assert_eq!(site.finish().expect("writable"), 1);
        let names = |folder: &Path| {
            let mut names: Vec<String> = fs::read_dir(folder)
                .expect("there")
                .map(|entry| {
                    entry
                        .expect("there")
                        .file_name()
                        .to_string_lossy()
                        .into_owned()
                })
                .collect();
            names.sort();
            names
        };
        assert_eq!(
            (names(&root), names(&root.join("data"))),
            (
                vec![
                    MANIFEST_FILE.to_owned(),
                    "data".to_owned(),
                    "index.html".to_owned()
                ],
                vec!["a.json".to_owned()]
            )
        );
    }

    #[test]
    fn what_was_made_of_the_same_is_kept_while_it_is_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().join("site");
        let cache = folder.path().join("cache");
        let make = |stamp: &str| {
            let site = SiteFolder::open(&root, Some(&cache)).expect("our folder");
            let is_kept = site.keep_files(stamp, |_| true).is_some();
            if !is_kept {
                site.write_file("a.html", stamp.as_bytes())
                    .expect("writable");
                site.note_pages(
                    stamp.to_owned(),
                    CachedPages {
                        paths: vec!["a.html".to_owned()],
                        ..CachedPages::default()
                    },
                );
            }
            site.finish().expect("writable");
            is_kept
        };
        assert_eq!(
            ["one", "one", "two", "two", "one"].map(make),
            [false, true, false, true, false]
        );
        fs::write(root.join("a.html"), "thr").expect("writable");
        assert!(!make("one"), "somebody changed it");
        assert_eq!(fs::read(root.join("a.html")).expect("readable"), b"one");
        fs::remove_dir_all(&cache).expect("removable");
        assert_eq!(
            ["one", "one"].map(make),
            [false, true],
            "a cache can be deleted"
        );
        let refused = SiteFolder::open(&root, Some(&cache)).expect("our folder");
        assert!(
            refused.keep_files("one", |_| false).is_none(),
            "somebody says no"
        );
    }

    #[test]
    fn other_peoples_folders_and_paths_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("thesis.tex"), "x").expect("writable");
        assert!(SiteFolder::open(folder.path(), None).is_err());
        let site = SiteFolder::open(&folder.path().join("site"), None).expect("a new folder");
        for path in ["../x", "/etc/x", "a/../../x", ""] {
            assert!(site.write_file(path, b"x").is_err(), "{path}");
        }
    }
}
