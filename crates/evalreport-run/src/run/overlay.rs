//! Files that an approach adds to its workspace, such as instructions, skills or tool servers. Their effect is measured with and without
//! them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::domain::to_hex;
use crate::files;

use super::workspace::RunWorkspace;

/// The added files, so that they can be removed again.
pub struct Overlay<'a> {
    from: &'a Path,
    workspace: &'a RunWorkspace,
    /// Paths of the added files below `from`.
    laid: Vec<PathBuf>,
}

impl<'a> Overlay<'a> {
    /// Copies the folder's files into the workspace. A file that was already there is kept outside it.
    pub fn copy_into(from: &'a Path, workspace: &'a RunWorkspace) -> io::Result<Self> {
        let laid = list_files(from)?;
        for path in &laid {
            let target = workspace.folder().join(path);
            create_parent(&target)?;
            if target.exists() {
                let kept = Self::replaced_path(workspace, path);
                create_parent(&kept)?;
                fs::rename(&target, kept)?;
            }
            fs::copy(from.join(path), &target)?;
        }
        Ok(Self {
            from,
            workspace,
            laid,
        })
    }

    /// Removes the added files that are unchanged, because nobody made them during the run, and restores the files they replaced. Keeps
    /// files that the approach changed.
    pub fn remove_files(&self) {
        for path in &self.laid {
            let target = self.workspace.folder().join(path);
            // The approach may have replaced a folder by a link to files outside the workspace.
            if !is_within(self.workspace.folder(), path)
                || !files::are_equal(&target, self.from.join(path))
            {
                continue;
            }
            if fs::remove_file(&target).is_err()
                || fs::rename(Self::replaced_path(self.workspace, path), &target).is_ok()
            {
                continue;
            }
            for folder in path
                .ancestors()
                .skip(1)
                .filter(|folder| *folder != Path::new(""))
            {
                // Only empty folders can be removed.
                if fs::remove_dir(self.workspace.folder().join(folder)).is_err() {
                    break;
                }
            }
        }
    }

    fn replaced_path(workspace: &RunWorkspace, path: &Path) -> PathBuf {
        workspace.path_beside("replaced").join(path)
    }
}

/// Returns a digest of the folder's files and their names, which changes with the addition.
///
/// # Errors
///
/// Fails if a file or folder cannot be read, if an entry is neither, or if the folder has no file and so adds nothing.
pub fn digest_overlay(folder: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    let files = list_files(folder)?;
    if files.is_empty() {
        return Err(io::Error::other("it holds no file"));
    }
    for path in files {
        let bytes = files::read(folder.join(&path))?;
        hash.update(format!("{}\0{}\0", path.display(), bytes.len()));
        hash.update(bytes);
    }
    Ok(to_hex(&hash.finalize()))
}

/// Returns all regular files below the folder, sorted by name. Rejects anything else, such as links.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                files.push(path);
            } else {
                return Err(io::Error::other(format!(
                    "{} is neither a file nor a folder",
                    path.display()
                )));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Returns whether the path is a regular file that is reached through real folders, without links.
fn is_within(folder: &Path, path: &Path) -> bool {
    let kind =
        |path: &Path| fs::symlink_metadata(folder.join(path)).map(|metadata| metadata.file_type());
    kind(path).is_ok_and(|kind| kind.is_file())
        && path
            .ancestors()
            .skip(1)
            .all(|above| kind(above).is_ok_and(|kind| kind.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            create_parent(&folder.join(path)).expect("a folder");
            fs::write(folder.join(path), text).expect("a file");
        }
    }

    #[test]
    fn what_was_laid_is_taken_out_and_what_was_replaced_comes_back() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let (start, from) = (scratch.path().join("start"), scratch.path().join("with"));
        write(&start, &[("CLAUDE.md", "old"), ("src/a.py", "a")]);
        write(
            &from,
            &[
                ("CLAUDE.md", "new"),
                (".claude/skills/s/SKILL.md", "skill"),
                ("src/notes.md", "n"),
                ("changed.md", "c"),
            ],
        );
        let workspace =
            RunWorkspace::create(&scratch.path().join("runs"), Some(&start)).expect("a workspace");
        let read = |path: &str| fs::read_to_string(workspace.folder().join(path)).ok();
        let addition = Overlay::copy_into(&from, &workspace).expect("it is laid");
        assert_eq!(
            (
                read("CLAUDE.md").as_deref(),
                read(".claude/skills/s/SKILL.md").as_deref()
            ),
            (Some("new"), Some("skill"))
        );
        write(workspace.folder(), &[("changed.md", "of the agent")]);
        addition.remove_files();
        assert_eq!(
            (read("CLAUDE.md").as_deref(), read("changed.md").as_deref()),
            (Some("old"), Some("of the agent"))
        );
        assert!(
            !workspace.folder().join(".claude").exists()
                && read("src/notes.md").is_none()
                && read("src/a.py").is_some()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_folder_leads_nowhere() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let (outside, from) = (scratch.path().join("outside"), scratch.path().join("with"));
        write(&outside, &[("notes.md", "n")]);
        write(&from, &[("docs/notes.md", "n")]);
        let workspace =
            RunWorkspace::create(&scratch.path().join("runs"), None).expect("a workspace");
        let addition = Overlay::copy_into(&from, &workspace).expect("it is laid");
        fs::remove_dir_all(workspace.folder().join("docs")).expect("it is there");
        super::super::workspace::link(&outside, &workspace.folder().join("docs")).expect("a link");
        addition.remove_files();
        assert!(outside.join("notes.md").is_file());
        super::super::workspace::link(&outside, &from.join("link")).expect("a link");
        assert!(Overlay::copy_into(&from, &workspace).is_err() && digest_overlay(&from).is_err());
    }

    #[test]
    fn a_digest_tells_names_and_contents() {
        let scratch = tempfile::tempdir().expect("a temporary folder");
        let of = |name: &str, files: &[(&str, &str)]| {
            write(&scratch.path().join(name), files);
            digest_overlay(&scratch.path().join(name)).expect("it can be read")
        };
        let first = of("a", &[("x", "1"), ("y/z", "2")]);
        assert_eq!(first, of("b", &[("y/z", "2"), ("x", "1")]));
        fs::create_dir_all(scratch.path().join("empty/within")).expect("a folder");
        assert!(
            digest_overlay(&scratch.path().join("empty"))
                .is_err_and(|error| error.to_string() == "it holds no file")
        );
        assert!(
            first != of("c", &[("x", "12"), ("y/z", "")])
                && first != of("d", &[("x", "1"), ("y/w", "2")])
        );
    }
}
