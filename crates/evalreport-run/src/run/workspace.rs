//! A temporary folder for each run, outside the repository.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::HeldFolder;
use crate::process;

/// The folders of one phase of a run, made when it begins. Only programs of this phase may write there, so nothing that an earlier phase
/// left is found by a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseFolders {
    /// Temporary files.
    pub temporary: PathBuf,
    /// Caches of package managers and compilers.
    pub caches: PathBuf,
    /// Test reports, outside the workspace.
    pub reports: PathBuf,
    /// The path of the home folder, which is made when the first program of the phase is confined.
    pub home: PathBuf,
}

/// An approach's working folder and, outside it, the run's other files.
pub struct RunWorkspace {
    scratch: HeldFolder,
    folder: PathBuf,
}

impl RunWorkspace {
    /// Creates a workspace: empty, or a copy of `start`.
    pub fn create(scratch: &Path, start: Option<&Path>) -> io::Result<Self> {
        let scratch = HeldFolder::create_in(scratch)?;
        let folder = scratch.path().join("workspace");
        let workspace = Self { scratch, folder };
        match start {
            Some(start) => copy_tree(start, &workspace.folder)?,
            None => fs::create_dir(&workspace.folder)?,
        }
        Ok(workspace)
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a path outside the workspace, for files that the approach must not find.
    pub fn path_beside(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Makes the folders of a phase, under names that no program of an earlier phase can know.
    pub fn begin_phase(&self) -> io::Result<PhaseFolders> {
        let mark = process::fresh_mark();
        let folder = |kind: &str| {
            let folder = self.path_beside(&format!("{kind}-{}", &mark[..8]));
            fs::create_dir(&folder).map(|()| folder)
        };
        let home = self.path_beside(&format!("home-{}", &mark[..8]));
        Ok(PhaseFolders {
            temporary: folder("tmp")?,
            caches: folder("caches")?,
            reports: folder("reports")?,
            home,
        })
    }

    /// Returns the path of the file that marks the run's folder, by which the tests' Python knows the run.
    pub fn mark_path(&self) -> PathBuf {
        self.scratch.mark_path()
    }

    /// Returns the path of the run's virtual Python environment, if it has one.
    pub fn venv_path(&self) -> PathBuf {
        self.path_beside("venv")
    }

    /// Returns the path of the Python test runner, for environments without their own.
    pub fn runner_path(&self) -> PathBuf {
        self.path_beside("runner")
    }
}

/// Copies a tree. Links stay links, so that no outside file is copied.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy_but(&|_| false, from, to)
}

/// Copies a tree without the entries that `is_left_out` names.
pub fn copy_but(is_left_out: &dyn Fn(&OsStr) -> bool, from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if is_left_out(&entry.file_name()) {
            continue;
        }
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_but(is_left_out, &entry.path(), &target)?;
        } else if kind.is_symlink() {
            link(&fs::read_link(entry.path())?, &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

#[cfg(unix)]
pub fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
pub fn link(_target: &Path, at: &Path) -> io::Result<()> {
    Err(io::Error::other(format!(
        "{} is a symbolic link, which is not copied here",
        at.display()
    )))
}

/// Returns the absolute path, which a program needs if it starts in another folder.
pub fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_and_leaves_with_the_workspace() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let start = scratch.path().join("start");
        fs::create_dir_all(start.join("a/b")).expect("a folder");
        fs::write(start.join("a/b/c.txt"), "text").expect("a file");
        let workspace =
            RunWorkspace::create(&scratch.path().join("runs"), Some(&start)).expect("a workspace");
        assert_eq!(
            fs::read_to_string(workspace.folder().join("a/b/c.txt")).expect("copied"),
            "text"
        );
        let folder = workspace.folder().to_owned();
        drop(workspace);
        assert!(!folder.exists());
    }
}
