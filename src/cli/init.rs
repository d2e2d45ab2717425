//! `init`: writes sample files that can be run at once.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::domain::shell_word;
use crate::files;

use super::command::{Command, Example, Invocation};
use super::display_path::display_path;
use super::failure::CommandFailure;
use super::{exit_code, output};

/// Write a configuration, a suite and questions that run at once
#[derive(Args)]
pub(super) struct InitArguments {
    /// Folder to write to
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

impl Command for InitArguments {
    const NAME: &'static str = "init";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport init my-evals",
            "a project that works at once, in a new folder",
        ),
        (
            "evalreport init nightly && cd nightly && evalreport list",
            "the same, and a look at it",
        ),
    ];
    const UNREAD: &'static [&'static str] = &["folder"];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        run_command(invocation.global.quiet, self)
    }
}

/// Every file with its text. The samples need nothing but a shell.
const SAMPLE_FILES: [(&str, &str); 7] = [
    ("evalreport.yaml", include_str!("init/evalreport.yaml")),
    (
        "baselines/choose.sh",
        include_str!("init/baselines/choose.sh"),
    ),
    (
        "baselines/hello.sh",
        include_str!("init/baselines/hello.sh"),
    ),
    (
        "questions/warmup.yaml",
        include_str!("init/questions/warmup.yaml"),
    ),
    (
        "suites/hello/requirements.md",
        include_str!("init/suites/hello/requirements.md"),
    ),
    (
        "suites/hello/suite.yaml",
        include_str!("init/suites/hello/suite.yaml"),
    ),
    (
        "suites/hello/tests/hello.sh",
        include_str!("init/suites/hello/tests/hello.sh"),
    ),
];
/// What needs no version control, because it can be made again.
const GITIGNORE: &str = "/.evalreport/\n/results/.runner.lock\n/site/\n";
/// A configuration under this other name would be hidden by ours.
const OTHER_CONFIGURATION: &str = "evalreport.yml";
/// The default folder.
const CURRENT_FOLDER: &str = ".";
/// Commands to run next, with their purpose.
const NEXT_COMMANDS: [(&str, &str); 5] = [
    (
        "evalreport run warmup --agent random-choice,longest-choice --runs 5",
        "put ten questions to two agents",
    ),
    (
        "evalreport run hello --approach complete,sketch --runs 3",
        "let two approaches write a program, and test it",
    ),
    ("evalreport list", "see what there is"),
    (
        "evalreport compare hello",
        "compare them: pass rates, costs and a verdict",
    ),
    (
        "evalreport build",
        "write the site; then open site/index.html",
    ),
];

fn run_command(is_quiet: bool, arguments: &InitArguments) -> Result<u8, CommandFailure> {
    let folder = &arguments.folder;
    let in_the_way = conflicting_files(folder);
    if !in_the_way.is_empty() {
        let details = in_the_way
            .iter()
            .map(|path| format!("{} is already there", format_path(folder, path)))
            .collect();
        let failure = CommandFailure {
            details,
            ..CommandFailure::new("nothing was written: init replaces no file")
        };
        return Err(failure.with_hint("choose an empty folder: evalreport init DIR"));
    }
    let mut written = Vec::new();
    for (path, text) in SAMPLE_FILES {
        let path = folder.join(path);
        if is_written(&path, text) {
            continue;
        }
        if let Err(error) = write_new_file(&path, text) {
            // Remove an incomplete example, so that it does not block the next attempt.
            for path in &written {
                let _ = fs::remove_file(path);
            }
            return Err(CommandFailure::new(format!(
                "cannot write {}: {error}",
                display_path(&path)
            )));
        }
        written.push(path);
    }
    write_gitignore(folder);
    if !is_quiet {
        output::print_text(&describe_next_steps(folder))?;
    }
    Ok(exit_code::DONE)
}

/// Writes which files can be made again, unless the folder says itself what version control ignores.
fn write_gitignore(folder: &Path) {
    let path = folder.join(".gitignore");
    if path.symlink_metadata().is_err() {
        // The example works without it.
        let _ = write_new_file(&path, GITIGNORE);
    }
}

/// Returns existing files that would be replaced or hidden, and files in place of folders. Files of an incomplete `init` do not count.
fn conflicting_files(folder: &Path) -> Vec<String> {
    let (written, mut missing): (Vec<_>, Vec<_>) = SAMPLE_FILES
        .iter()
        .partition(|(path, text)| is_written(&folder.join(path), text));
    if missing.is_empty() {
        missing = written;
    }
    let files = missing
        .iter()
        .map(|(path, _)| *path)
        .chain([OTHER_CONFIGURATION]);
    let is_there = |path: &str| folder.join(path).symlink_metadata().is_ok();
    let mut found: Vec<String> = files
        .filter(|path| is_there(path))
        .map(str::to_owned)
        .collect();
    for (path, _) in SAMPLE_FILES {
        let parents = Path::new(path)
            .ancestors()
            .skip(1)
            .filter(|parent| !parent.as_os_str().is_empty());
        found.extend(
            parents
                .filter(|parent| is_no_folder(&folder.join(parent)))
                .map(|parent| parent.display().to_string()),
        );
    }
    found.sort();
    found.dedup();
    found
}

fn is_no_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok() && !path.is_dir()
}

/// Says whether the file already exists with the text that `init` writes.
fn is_written(path: &Path, text: &str) -> bool {
    files::read(path).is_ok_and(|found| found == text.as_bytes())
}

/// Writes a new file completely or not at all. Never replaces a file, even if another program creates it meanwhile.
fn write_new_file(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(CURRENT_FOLDER));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask applies, as for any new file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".writing-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    Ok(())
}

/// Lists the written files and the next commands.
fn describe_next_steps(folder: &Path) -> String {
    let mut text = String::new();
    for (path, _) in SAMPLE_FILES {
        text.push_str(&format!("wrote {}\n", format_path(folder, path)));
    }
    text.push_str("\nNo key and no network needed. Next steps:\n\n");
    if folder != Path::new(CURRENT_FOLDER) {
        text.push_str(&format!("  cd {}\n", shell_word(&display_path(folder))));
    }
    let width = NEXT_COMMANDS
        .iter()
        .map(|(command, _)| command.len())
        .max()
        .unwrap_or(0);
    for (command, reason) in NEXT_COMMANDS {
        text.push_str(&format!("  {command:width$}  # {reason}\n"));
    }
    text.push_str("\nThen put your own agents and approaches into evalreport.yaml, and your own suites into suites/.\n");
    text
}

/// Formats the path of a written file.
fn format_path(folder: &Path, path: &str) -> String {
    if folder == Path::new(CURRENT_FOLDER) {
        display_path(Path::new(path))
    } else {
        display_path(&folder.join(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config, suite};

    #[test]
    fn every_file_is_sound() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in SAMPLE_FILES {
            write_new_file(&folder.path().join(path), text).expect("the file can be written");
        }
        let config =
            config::load(&folder.path().join("evalreport.yaml")).expect("a sound configuration");
        for task in &config.tasks {
            suite::load_questions(&folder.path().join(&task.questions_file))
                .expect("sound questions");
        }
        let suites = suite::discover_suites(folder.path()).expect("a folder of suites");
        assert!(!suites.is_empty() && !config.tasks.is_empty());
        for found in suites {
            found.suite.expect("a sound suite");
        }
    }

    #[test]
    fn what_is_commented_out_is_sound_too() {
        let commented = |line: &str| {
            line.strip_prefix("  # ")
                .filter(|rest| rest.starts_with(['-', ' ']))
                .map(|rest| format!("  {rest}"))
        };
        let (_, text) = SAMPLE_FILES[0];
        let text: Vec<String> = text
            .lines()
            .map(|line| commented(line).unwrap_or_else(|| line.to_owned()))
            .collect();
        let config =
            config::parse("evalreport.yaml", &text.join("\n")).expect("a sound configuration");
        assert_eq!(config.agents.len(), 4);
    }
}
