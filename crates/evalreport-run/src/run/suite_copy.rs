//! A private copy of a suite from the time its runs began. All these runs get their requirements and tests from it.
//!
//! The copy has the repository's layout, so that commands find files under the same names. It holds copies of the suite's folder and of all
//! files that define its version. All other files are links to the originals. Stores and the folder `.git` are left out.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files::HeldFolder;
use crate::process::{self, paths_except};
use crate::suite::{self, Suite};

use super::CodeWork;
use super::canary_tests::ControlTests;
use super::git;
use super::tampering::FileSnapshot;
use super::tests_python::TestsPython;
use super::workspace::{self, copy_but, link};

/// Names that are never copied: git's folder, and this program's own.
const LEFT_OUT: [&str; 2] = [".git", ".evalreport"];

/// A suite's copy, deleted when dropped.
pub struct SuiteCopy {
    /// Held so that the copy lives as long.
    held: HeldFolder,
    /// Takes the place of the repository's folder.
    root: PathBuf,
    /// The suite with paths into the copy.
    suite: Suite,
    /// The files that a workspace starts with.
    start: Option<PathBuf>,
    /// Files of the suite that everyone except the agent may read.
    given: Vec<PathBuf>,
    controls: ControlTests,
    /// The state of the copy when it was made.
    census: FileSnapshot,
    /// The Python of the suite's tests, once a run has needed it.
    python: Mutex<Option<TestsPython>>,
}

impl SuiteCopy {
    /// Copies the suite of `work`, with paths relative to `root`. `left_out` are paths that the tests do not need.
    pub fn create(
        work: &CodeWork,
        root: &Path,
        scratch: &Path,
        left_out: &[PathBuf],
    ) -> io::Result<Self> {
        let held = HeldFolder::create_in(scratch)?;
        let copied = held.path().join("suite");
        let root = workspace::absolute_path(root);
        let mut parts = vec![workspace::absolute_path(&work.suite.folder)];
        parts.extend(
            suite::versioned_paths(&root, &work.suite)
                .iter()
                .map(|path| workspace::absolute_path(path)),
        );
        let mirror = SuiteMirror {
            root: &root,
            copied: &copied,
            parts: &parts,
            left_out,
        };
        fs::create_dir_all(&copied)?;
        mirror.mirror_folder(&root)?;
        let moved = |path: &Path| {
            let path = workspace::absolute_path(path);
            path.strip_prefix(&root)
                .map_or_else(|_| path.clone(), |below| copied.join(below))
        };
        let suite = Suite {
            folder: moved(&work.suite.folder),
            requirements: work.suite.requirements.as_deref().map(moved),
            workspace: work.suite.workspace.as_deref().map(moved),
            ..work.suite.clone()
        };
        let start = match work.start.as_deref() {
            // A repository has other branches, such as one with the solution.
            Some(start) if start.join(".git").exists() => {
                let history = held.path().join("start");
                git::copy_head(start, &history).map_err(|error| {
                    io::Error::other(format!(
                        "git could not copy the history of {}: {error}",
                        start.display()
                    ))
                })?;
                Some(history)
            }
            start => start.map(moved),
        };
        let controls = ControlTests::create_below(&work.suite.tests, &copied)?;
        let census = FileSnapshot::new(parts.iter().map(|path| moved(path)));
        let moved_all = |paths: Vec<PathBuf>| -> BTreeSet<PathBuf> {
            let moved = |path: &PathBuf| moved(&workspace::absolute_path(path));
            paths.iter().map(moved).collect()
        };
        let hidden = moved_all(suite::tested_paths(&root, &work.suite));
        let given = if hidden.contains(&suite.folder) {
            // Any file may be a test, except those that the other commands name and no test does.
            moved_all(suite::paths_beside_tests(&root, &work.suite))
                .into_iter()
                .filter(|path| path.starts_with(&suite.folder) && !hidden.contains(path))
                .collect()
        } else {
            paths_except(&suite.folder, &hidden)
        };
        Ok(Self {
            held,
            root: copied,
            suite,
            start,
            given,
            controls,
            census,
            python: Mutex::new(None),
        })
    }

    /// Returns the folder that takes the place of the repository's. Tests start in it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the files of the suite that setup and server may read: all except those that test commands name.
    pub fn readable_files(&self) -> &[PathBuf] {
        &self.given
    }

    /// Returns the controls: tests that cannot pass.
    pub fn controls(&self) -> &ControlTests {
        &self.controls
    }

    /// Returns the work with the suite and starting files of the copy.
    pub fn work_on_copy(&self, work: &CodeWork) -> CodeWork {
        CodeWork {
            suite: self.suite.clone(),
            start: self.start.clone(),
            ..work.clone()
        }
    }

    /// Returns the changes to the copy since it was made, with paths as in the repository.
    pub fn list_changes(&self) -> Vec<String> {
        let python = self.python.lock().unwrap_or_else(PoisonError::into_inner);
        let of_python = python
            .iter()
            .flat_map(|python| python.census.list_changes(&self.root));
        self.census
            .list_changes(&self.root)
            .into_iter()
            .chain(of_python)
            .collect()
    }

    /// Returns the Python of the suite's tests. If there is none yet, `make` makes it in a new folder, beside the copy.
    pub fn get_or_make_python<E>(
        &self,
        make: impl FnOnce(&Path) -> Result<TestsPython, E>,
    ) -> Result<TestsPython, E> {
        let mut python = self.python.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(python) = &*python {
            return Ok(python.clone());
        }
        let made = make(
            &self
                .held
                .path()
                .join(format!("python-{}", &process::fresh_mark()[..8])),
        )?;
        Ok(python.insert(made).clone())
    }
}

fn is_excluded(name: &OsStr) -> bool {
    LEFT_OUT.iter().any(|left_out| name == *left_out)
}

struct SuiteMirror<'a> {
    root: &'a Path,
    copied: &'a Path,
    parts: &'a [PathBuf],
    left_out: &'a [PathBuf],
}

impl SuiteMirror<'_> {
    fn mirror_folder(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (from, to) = (entry.path(), self.copied_path(&entry.path()));
            if self.parts.contains(&from) {
                if from.is_dir() {
                    copy_but(&is_excluded, &from, &to)?;
                } else {
                    fs::copy(&from, &to).map(drop)?;
                }
            } else if self.parts.iter().any(|part| part.starts_with(&from)) {
                fs::create_dir(&to)?;
                self.mirror_folder(&from)?;
            } else if !self.left_out.contains(&from) && !is_excluded(&entry.file_name()) {
                link(&from, &to)?;
            }
        }
        Ok(())
    }

    fn copied_path(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root)
            .map_or_else(|_| path.to_owned(), |below| self.copied.join(below))
    }
}
