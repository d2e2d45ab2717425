//! The baseline: the tree before the change, in a temporary folder of its own.
//!
//! Installed dependencies of the checkout are shared by links: `node_modules` and Python's virtual environments. Builds are repeated, so
//! that no file of the baseline reaches the checkout.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{self, HeldFolder};

use crate::process::StopSignal;
use crate::run::workspace::RunWorkspace;
use crate::verify::Listing;

use super::git::GitFolder;

/// Usual names of virtual environments.
const VENV_NAMES: [&str; 3] = [".venv", "venv", "env"];

/// The tree before the change.
pub struct BaselineTree {
    folder: PathBuf,
    /// Notes on what it shares with the checkout.
    pub notes: Vec<String>,
    held: BaselineStorage,
}

/// What is deleted with the baseline.
enum BaselineStorage {
    Worktree { scratch: HeldFolder, top: PathBuf },
    Copy(RunWorkspace),
}

impl BaselineTree {
    /// Checks out a commit outside the repository. `git` works in the folder to verify.
    pub fn from_commit(git: &GitFolder<'_>, commit: &str, scratch: &Path) -> Result<Self, String> {
        let (top, prefix) = git
            .top_folder()
            .ok_or("git does not say where the repository begins")?;
        let scratch =
            HeldFolder::create_in(scratch).map_err(|error| format!("no folder for it: {error}"))?;
        let tree = scratch.path().join("baseline");
        let folder = tree.join(prefix);
        // From here on it is removed when dropped, even if git is stopped half-way.
        let baseline = Self {
            folder,
            notes: Vec::new(),
            held: BaselineStorage::Worktree { scratch, top },
        };
        git.add_worktree(&tree, commit)?;
        match fs::metadata(&baseline.folder) {
            Ok(found) if found.is_dir() => Ok(baseline),
            Err(error) if !files::is_absence(&error) => {
                Err(format!("its folder cannot be looked at: {error}"))
            }
            _ => Err("the folder was not there yet".to_owned()),
        }
    }

    /// Recreates the tree that a workspace started with.
    pub fn from_start(start: &Path, scratch: &Path) -> Result<Self, String> {
        let workspace =
            RunWorkspace::create(scratch, Some(start)).map_err(|error| error.to_string())?;
        Ok(Self {
            folder: workspace.folder().to_owned(),
            notes: Vec::new(),
            held: BaselineStorage::Copy(workspace),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a path outside the tree that is deleted with it.
    pub fn path_beside(&self, name: &str) -> PathBuf {
        match &self.held {
            BaselineStorage::Worktree { scratch, .. } => scratch.path().join(name),
            BaselineStorage::Copy(workspace) => workspace.path_beside(name),
        }
    }

    /// Links dependencies that are installed in `checkout` and not part of the tree.
    pub fn link_dependencies(&mut self, checkout: &Path, listing: &Listing) {
        let folder_of = |path: &str| {
            path.rsplit_once('/')
                .map_or(String::new(), |(folder, _)| folder.to_owned())
        };
        let packages: BTreeSet<String> = listing
            .files
            .iter()
            .filter(|path| *path == "package.json" || path.ends_with("/package.json"))
            .map(|path| folder_of(path))
            .collect();
        for folder in packages {
            self.link_folder(checkout, &Path::new(&folder).join("node_modules"));
        }
        for name in VENV_NAMES {
            if checkout.join(name).join("pyvenv.cfg").is_file() {
                self.link_folder(checkout, Path::new(name));
            }
        }
    }

    fn link_folder(&mut self, checkout: &Path, below: &Path) {
        let (from, to) = (checkout.join(below), self.folder.join(below));
        let is_wanted = from.is_dir()
            && to.parent().is_some_and(Path::is_dir)
            && fs::symlink_metadata(&to).is_err();
        if is_wanted && symlink(&from, &to).is_ok() {
            self.notes.push(format!(
                "`{}` is that of the checkout",
                crate::domain::escape_invisible(&below.display().to_string())
            ));
        }
    }
}

impl Drop for BaselineTree {
    fn drop(&mut self) {
        match &self.held {
            BaselineStorage::Worktree { scratch, top } => {
                let git = GitFolder {
                    folder: top,
                    stop: &StopSignal::new(),
                };
                git.remove_worktree(&scratch.path().join("baseline"));
            }
            BaselineStorage::Copy(_workspace) => {}
        }
    }
}

/// Finds the virtual environment of a folder: its own, or else that of the nearest parent up to `root`.
pub fn find_venv(root: &Path, folder: &Path) -> Option<PathBuf> {
    let above = folder
        .ancestors()
        .take_while(|above| above.starts_with(root));
    above
        .flat_map(|above| VENV_NAMES.map(|name| above.join(name)))
        .find(|venv| venv.join("pyvenv.cfg").is_file())
}

/// Returns the path to the baseline's own code for Python, if the checkout's code is installed as "editable". Returns `None` otherwise.
pub fn python_path(venv: &Path, checkout: &Path, baseline: &Path) -> Option<PathBuf> {
    let libraries = fs::read_dir(venv.join("lib"))
        .ok()?
        .filter_map(Result::ok)
        .map(|entry| entry.path().join("site-packages"));
    let mut files: Vec<PathBuf> = libraries
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .collect();
    files.sort();
    let is_editable = |path: &Path| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        path.extension().is_some_and(|extension| extension == "pth")
            || name.starts_with("__editable__")
    };
    let place = checkout.display().to_string();
    let text = files
        .iter()
        .filter(|path| is_editable(path))
        .filter_map(|path| files::read_to_string(path).ok())
        .find(|text| text.contains(&place))?;
    // Either a path on its own line, or a mapping of packages, which are in `src` or at the top.
    let line = text
        .lines()
        .map(str::trim)
        .find_map(|line| Path::new(line).strip_prefix(checkout).ok());
    Some(match line {
        Some(below) => baseline.join(below),
        None if text.contains(&format!("{place}/src/")) => baseline.join("src"),
        None => baseline.to_owned(),
    })
}

#[cfg(unix)]
fn symlink(target: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn symlink(_target: &Path, _at: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    #[test]
    fn the_nearest_environment_is_taken_and_none_from_outside() {
        let outside = tempfile::tempdir().expect("a folder");
        let root = outside.path().join("checkout");
        file(outside.path(), ".venv/pyvenv.cfg", "");
        file(&root, "service/src/main.py", "");
        assert_eq!(find_venv(&root, &root.join("service")), None);
        file(&root, "venv/pyvenv.cfg", "");
        assert_eq!(
            find_venv(&root, &root.join("service")),
            Some(root.join("venv"))
        );
        file(&root, "service/.venv/pyvenv.cfg", "");
        assert_eq!(
            find_venv(&root, &root.join("service")),
            Some(root.join("service/.venv"))
        );
    }

    #[test]
    fn what_is_installed_from_the_checkout_is_looked_for_in_the_baseline() {
        let venv = tempfile::tempdir().expect("a folder");
        let (checkout, baseline) = (Path::new("/home/u/app"), Path::new("/tmp/b"));
        assert_eq!(python_path(venv.path(), checkout, baseline), None);
        file(
            venv.path(),
            "lib/python3.12/site-packages/other.pth",
            "/home/u/other\n",
        );
        assert_eq!(python_path(venv.path(), checkout, baseline), None);
        file(
            venv.path(),
            "lib/python3.12/site-packages/app.pth",
            "/home/u/app/src\n",
        );
        assert_eq!(
            python_path(venv.path(), checkout, baseline),
            Some(PathBuf::from("/tmp/b/src"))
        );
        file(
            venv.path(),
            "lib/python3.12/site-packages/__editable___app_finder.py",
            "MAPPING = {'app': '/home/u/app/app'}\n",
        );
        fs::remove_file(venv.path().join("lib/python3.12/site-packages/app.pth"))
            .expect("it was there");
        assert_eq!(
            python_path(venv.path(), checkout, baseline),
            Some(baseline.to_owned())
        );
    }
}
