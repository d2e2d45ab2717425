//! A folder outside the trees with aids for checks: a `python` where only `python3` exists, and compiled Python files.

use std::fs;
use std::io;
use std::path::Path;

use crate::files::HeldFolder;

use crate::run::shell::CommandShell;

const PYTHON_SCRIPT: &str = "#!/bin/sh\nexec python3 \"$@\"\n";

/// Creates the folder and adds it to the shell. Returns it with the new value of `PATH`.
pub fn lend_aids(
    shell: &mut CommandShell,
    path: Option<&str>,
    scratch: &Path,
) -> io::Result<(HeldFolder, Option<String>)> {
    let folder = HeldFolder::create_in(scratch)?;
    shell.set_variable("PYTHONPYCACHEPREFIX", folder.path().join("pycache"));
    let path = match path {
        Some(path) if !has_program(path, "python") && has_program(path, "python3") => {
            let programs = folder.path().join("bin");
            fs::create_dir(&programs)?;
            write_program(&programs.join("python"))?;
            let folders = std::env::split_paths(path).chain([programs]);
            std::env::join_paths(folders)
                .ok()
                .and_then(|joined| joined.into_string().ok())
                .or_else(|| Some(path.to_owned()))
        }
        Some(path) => Some(path.to_owned()),
        None => None,
    };
    if let Some(path) = &path {
        shell.set_variable("PATH", path);
    }
    Ok((folder, path))
}

fn has_program(path: &str, program: &str) -> bool {
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

#[cfg(unix)]
fn write_program(at: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(at, PYTHON_SCRIPT)?;
    fs::set_permissions(at, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn write_program(_at: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn python3_answers_for_python_only_where_nobody_else_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let (three, both, scratch) = (
            folder.path().join("three"),
            folder.path().join("both"),
            folder.path().join("scratch"),
        );
        for (programs, name) in [(&three, "python3"), (&both, "python3"), (&both, "python")] {
            fs::create_dir_all(programs).expect("a folder");
            fs::write(programs.join(name), "").expect("a file");
        }
        let path = |programs: &Path| programs.display().to_string();
        let mut shell = CommandShell::default();
        let (lent, with) = lend_aids(&mut shell, Some(&path(&three)), &scratch).expect("a folder");
        let programs = lent.path().join("bin");
        assert_eq!(
            with,
            Some(format!("{}:{}", path(&three), programs.display()))
        );
        assert!(has_program(&path(&programs), "python"));
        drop(lent);
        assert!(!programs.exists());
        let (_lent, with) = lend_aids(&mut shell, Some(&path(&both)), &scratch).expect("a folder");
        assert_eq!(with, Some(path(&both)));
    }
}
