//! A suite as it was when its runs began: a private copy, from which all of them are given requirements and tests.
//!
//! The copy is laid out as the repository is, so that commands find every file where they name it. The suite's folder and whatever else
//! its version is made of are copied; all other files are links to where they are. Stores and git's own folder are not there.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::HeldFolder;
use crate::process::all_but;
use crate::suite::{self, Suite};

use super::CodeWork;
use super::control::Controls;
use super::tampering::Census;
use super::workspace::{self, copy, link};

/// Names that a copy does without: git's, and this program's own.
const LEFT_OUT: [&str; 2] = [".git", ".evalreport"];

/// The copy; it goes away with the value.
pub struct SuiteCopy {
    #[expect(dead_code, reason = "held so that the copy lives as long")]
    held: HeldFolder,
    /// Stands for the repository's folder.
    root: PathBuf,
    /// The suite with the paths of the copy.
    suite: Suite,
    /// What a workspace begins as.
    start: Option<PathBuf>,
    /// What of the suite is for all but the agent.
    given: Vec<PathBuf>,
    controls: Controls,
    /// As it was made.
    census: Census,
}

impl SuiteCopy {
    /// Copies the suite of `work`, whose paths begin at `root`. `left_out` are paths that nobody needs for tests.
    pub fn create(work: &CodeWork, root: &Path, scratch: &Path, left_out: &[PathBuf]) -> io::Result<Self> {
        let held = HeldFolder::create_in(scratch)?;
        let copied = held.path().join("suite");
        let root = workspace::absolute(root);
        let mut parts = vec![workspace::absolute(&work.suite.folder)];
        parts.extend(suite::parts(&root, &work.suite).iter().map(|path| workspace::absolute(path)));
        let mirror = Mirror { root: &root, copied: &copied, parts: &parts, left_out };
        fs::create_dir_all(&copied)?;
        mirror.folder(&root)?;
        let moved = |path: &Path| {
            let path = workspace::absolute(path);
            path.strip_prefix(&root).map_or_else(|_| path.clone(), |below| copied.join(below))
        };
        let suite = Suite {
            folder: moved(&work.suite.folder),
            requirements: work.suite.requirements.as_deref().map(moved),
            workspace: work.suite.workspace.as_deref().map(moved),
            ..work.suite.clone()
        };
        // A repository is cloned from where it is.
        let start = work.start.as_deref().map(|start| if start.join(".git").exists() { start.to_owned() } else { moved(start) });
        let controls = Controls::put(&work.suite.tests, &copied)?;
        let census = Census::of(parts.iter().map(|path| moved(path)));
        let hidden = suite::tested_by(&root, &work.suite).iter().map(|path| moved(&workspace::absolute(path))).collect();
        let given = all_but(&suite.folder, &hidden);
        Ok(Self { held, root: copied, suite, start, given, controls, census })
    }

    /// Stands for the repository's folder: tests are started there.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files of the suite that setup and server may read: all but those that test commands name.
    pub fn given(&self) -> &[PathBuf] {
        &self.given
    }

    /// The tests that cannot pass.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// The suite and the tree to begin with, as they are in the copy.
    pub fn work(&self, work: &CodeWork) -> CodeWork {
        CodeWork { suite: self.suite.clone(), start: self.start.clone(), ..work.clone() }
    }

    /// Returns what of the copy is not as it was made, named as in the repository.
    pub fn changes(&self) -> Vec<String> {
        self.census.changes(&self.root)
    }
}

struct Mirror<'a> {
    root: &'a Path,
    copied: &'a Path,
    parts: &'a [PathBuf],
    left_out: &'a [PathBuf],
}

impl Mirror<'_> {
    fn folder(&self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (from, to) = (entry.path(), self.place(&entry.path()));
            if self.parts.contains(&from) {
                if from.is_dir() { copy(&from, &to)? } else { fs::copy(&from, &to).map(drop)? }
            } else if self.parts.iter().any(|part| part.starts_with(&from)) {
                fs::create_dir(&to)?;
                self.folder(&from)?;
            } else if !self.left_out.contains(&from) && !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
                link(&from, &to)?;
            }
        }
        Ok(())
    }

    fn place(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).map_or_else(|_| path.to_owned(), |below| self.copied.join(below))
    }
}
