//! Starts git, in repositories that others may have written: asking never runs a program that the repository names.
//!
//! Git runs programs of a repository's configuration: hooks, file system monitors, filters, external diff programs, pagers, transports,
//! signature checks, credential helpers. All are turned off here. Filters of the user's own configuration stay, such as that of Git LFS: without
//! them every file that they store elsewhere would count as changed. Submodules are not entered, missing objects not fetched, no index is
//! rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::domain::escape_invisible;
use crate::files;
use crate::process::{self, ProgramCommand, ProgramExit, ProgramLimits, StopSignal};

/// If git takes longer to answer a question about commits, the answer is not recorded.
const QUERY_LIMIT: Duration = Duration::from_secs(10);
/// Time limit of copying a history.
const COPY_LIMIT: Duration = Duration::from_mins(30);
/// Room for the names of a few hundred thousand files.
const MAX_BYTES: u64 = 64 << 20;
/// If a git hook started this process, these variables refer to the hook's repository, not to the one to ask about.
pub const REPOSITORY_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];
/// Variables that change what git runs or reads.
const REMOVED_VARIABLES: [&str; 9] = [
    "GIT_ATTR_SOURCE",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GIT_ASKPASS",
];
const SET_VARIABLES: [(&str, &str); 3] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// Settings that keep git from fetching.
const OFFLINE_SETTINGS: [&str; 4] = [
    "core.askPass=",
    "core.gitProxy=",
    "core.sshCommand=false",
    "credential.helper=",
];
const SAFE_SETTINGS: [&str; 14] = [
    "advice.detachedHead=false",
    "core.alternateRefsCommand=",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.external=",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "gpg.program=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];
/// Commands that pass files through filters.
const FILTERING_COMMANDS: [&str; 2] = ["diff", "status"];
/// What a filter's section names a program by.
const FILTER_KEYS: [&str; 3] = ["clean", "process", "smudge"];

/// A question to git.
pub struct GitQuery<'a> {
    pub folder: &'a Path,
    pub arguments: &'a [&'a str],
    pub input: &'a [u8],
    pub patience: Duration,
    pub reach: GitReach,
}

/// What git may use beside the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitReach {
    Nothing,
    /// Another repository of this machine.
    Copy,
    /// The remotes and filters that the repository names: its own programs are about to run in any case.
    Remotes,
}

impl<'a> GitQuery<'a> {
    pub fn new(folder: &'a Path, arguments: &'a [&'a str], patience: Duration) -> Self {
        Self {
            folder,
            arguments,
            input: &[],
            patience,
            reach: GitReach::Nothing,
        }
    }

    /// Returns git's output, or its error message if it failed.
    pub fn read_output(&self, stop: &StopSignal) -> Result<Vec<u8>, String> {
        let is_filtering = self
            .arguments
            .first()
            .is_some_and(|command| FILTERING_COMMANDS.contains(command));
        let filters = if is_filtering {
            self.without_filters(stop)?
        } else {
            Vec::new()
        };
        self.run_with_settings(&filters, stop)
    }

    /// Returns settings that turn off the filters that the repository itself configures.
    fn without_filters(&self, stop: &StopSignal) -> Result<Vec<String>, String> {
        let mut names = BTreeSet::new();
        for scope in ["--local", "--worktree"] {
            let arguments = [
                "config",
                scope,
                "--includes",
                "--name-only",
                "-z",
                "--get-regexp",
                r"^filter\.",
            ];
            // It fails if nothing is found, and outside of a repository.
            let Ok(listed) = GitQuery {
                arguments: &arguments,
                ..*self
            }
            .run_with_settings(&[], stop) else {
                continue;
            };
            let listed = String::from_utf8_lossy(&listed).into_owned();
            let keys = listed
                .split('\0')
                .filter_map(|key| key.get("filter.".len()..)?.rsplit_once('.'));
            names.extend(keys.map(|(name, _)| name.to_owned()));
        }
        let mut settings = Vec::new();
        for name in names {
            if name.contains('=') {
                return Err(format!(
                    "the repository has a filter `{}`, which cannot be turned off",
                    escape_invisible(&name)
                ));
            }
            for key in FILTER_KEYS {
                let key = format!("filter.{name}.{key}");
                let own = ["--global", "--system"].iter().find_map(|scope| {
                    let arguments = ["config", scope, "--includes", "--get", &key];
                    GitQuery {
                        arguments: &arguments,
                        ..*self
                    }
                    .run_with_settings(&[], stop)
                    .ok()
                });
                let own = own
                    .map(|own| {
                        String::from_utf8_lossy(&own)
                            .trim_end_matches('\n')
                            .to_owned()
                    })
                    .unwrap_or_default();
                settings.push(format!("{key}={own}"));
            }
            settings.push(format!("filter.{name}.required=false"));
        }
        Ok(settings)
    }

    fn run_with_settings(&self, more: &[String], stop: &StopSignal) -> Result<Vec<u8>, String> {
        let is_offline = self.reach != GitReach::Remotes;
        let settings = SAFE_SETTINGS
            .iter()
            .chain(OFFLINE_SETTINGS.iter().filter(|_| is_offline))
            .copied()
            .chain(more.iter().map(String::as_str))
            .flat_map(|setting| ["-c", setting]);
        let argv = ["git", "--no-pager"]
            .into_iter()
            .chain(settings)
            .chain(self.arguments.iter().copied())
            .map(OsString::from)
            .collect();
        let lost = REPOSITORY_VARIABLES
            .iter()
            .chain(&REMOVED_VARIABLES)
            .map(|name| (OsString::from(name), None));
        let protocols = if self.reach == GitReach::Copy {
            "file"
        } else {
            ""
        };
        let offline = [
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", protocols),
        ]
        .into_iter()
        .filter(|_| is_offline);
        let given = SET_VARIABLES
            .into_iter()
            .chain(offline)
            .map(|(name, value)| (OsString::from(name), Some(OsString::from(value))));
        let env: BTreeMap<OsString, Option<OsString>> = lost.chain(given).collect();
        let limits = ProgramLimits {
            wall: Some(self.patience),
            output_bytes: MAX_BYTES,
            ..ProgramLimits::default()
        };
        let command = ProgramCommand {
            argv,
            cwd: self.folder.to_owned(),
            env,
            input: self.input.to_vec(),
            limits,
            confinement: None,
        };
        let finished = process::run_program(&command, stop).map_err(|error| error.to_string())?;
        match finished.end {
            ProgramExit::Exited(0) if finished.stdout.dropped == 0 => Ok(finished.stdout.bytes),
            ProgramExit::Exited(0) => Err("git named more files than are looked at".to_owned()),
            ProgramExit::Exited(_) | ProgramExit::Signalled(_) => {
                Err(error_line(&finished.stderr.text()))
            }
            ProgramExit::TimedOut => Err("git did not answer in time".to_owned()),
            ProgramExit::Stopped => Err("stopped".to_owned()),
        }
    }
}

/// Returns the trimmed output of a git command, or `None` if it failed.
pub fn git_output(folder: &Path, arguments: &[&str]) -> Option<String> {
    let bytes = GitQuery::new(folder, arguments, QUERY_LIMIT)
        .read_output(&StopSignal::new())
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Makes a repository at `to`, which must not exist, with the history of `from`'s `HEAD` and the tags in it, checked out without a branch.
/// Nothing else of the other repository is there: no branch, remote, stash, reference log, hook, setting or object.
pub fn copy_head(from: &Path, to: &Path) -> Result<(), String> {
    let stop = StopSignal::new();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    let ask = |folder: &Path, arguments: &[&str]| {
        GitQuery::new(folder, arguments, COPY_LIMIT)
            .read_output(&stop)
            .map(text)
    };
    let commit = ask(from, &["rev-parse", "--verify", "HEAD^{commit}"])?;
    let format =
        ask(from, &["rev-parse", "--show-object-format"]).unwrap_or_else(|_| "sha1".to_owned());
    let tags = ask(
        from,
        &[
            "for-each-ref",
            &format!("--merged={commit}"),
            "--format=%(refname)",
            "refs/tags",
        ],
    )
    .unwrap_or_default();
    fs::create_dir(to).map_err(|error| error.to_string())?;
    let format = format!("--object-format={format}");
    // Older versions know only one format.
    let format = Some(format.as_str()).filter(|format| *format != "--object-format=sha1");
    ask(
        to,
        &["init", "--quiet", "--template="]
            .into_iter()
            .chain(format)
            .collect::<Vec<_>>(),
    )?;
    let wanted: String = std::iter::once("HEAD\n".to_owned())
        .chain(tags.lines().map(|tag| format!("{tag}:{tag}\n")))
        .collect();
    let from = std::path::absolute(from)
        .unwrap_or_else(|_| from.to_owned())
        .display()
        .to_string();
    let fetch = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--update-shallow",
        "--stdin",
        &from,
    ];
    GitQuery {
        input: wanted.as_bytes(),
        reach: GitReach::Copy,
        ..GitQuery::new(to, &fetch, COPY_LIMIT)
    }
    .read_output(&stop)?;
    // The new repository's settings are ours, so its filters are the user's own.
    ask(
        to,
        &[
            "-c",
            "core.logAllRefUpdates=false",
            "checkout",
            "--quiet",
            "--detach",
            &commit,
        ],
    )?;
    for left in ["FETCH_HEAD", "ORIG_HEAD"] {
        files::missing_as_none(fs::remove_file(to.join(".git").join(left)))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Returns where the repositories around a folder keep what they hold of all branches.
pub fn places_around(folder: &Path) -> Vec<PathBuf> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut places = Vec::new();
    for above in folder.ancestors() {
        let git = above.join(".git");
        // In a worktree or submodule, a file names the folder.
        let named = files::read_to_string(&git).ok().and_then(|text| {
            text.strip_prefix("gitdir:")
                .map(|path| above.join(path.trim()))
        });
        for own in [Some(git), named]
            .into_iter()
            .flatten()
            .filter(|path| path.exists())
        {
            let shared = files::read_to_string(own.join("commondir"))
                .ok()
                .map(|path| own.join(path.trim()));
            places.extend(std::iter::once(own).chain(shared));
        }
    }
    places
}

fn error_line(said: &str) -> String {
    let last = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("git failed without a word");
    escape_invisible(last).chars().take(300).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Self(tempfile::tempdir().expect("a folder"));
            repository.run_git(&["init", "--quiet", "--initial-branch=main"]);
            repository.commit_file("a.txt", "one");
            repository
        }

        fn root_path(&self) -> &Path {
            self.0.path()
        }

        fn run_git(&self, arguments: &[&str]) -> String {
            git_output(self.root_path(), arguments)
                .unwrap_or_else(|| panic!("git {arguments:?} fails"))
        }

        fn commit_file(&self, file: &str, text: &str) {
            fs::write(self.root_path().join(file), text).expect("ours");
            self.run_git(&["add", "."]);
            self.run_git(&[
                "-c",
                "user.name=n",
                "-c",
                "user.email=e@example.org",
                "commit",
                "--quiet",
                "--allow-empty",
                "-m",
                text,
            ]);
        }
    }

    /// Settings that make git start a program, each of which leaves a mark in the folder `$M`.
    const PROGRAM_SETTINGS: [&str; 18] = [
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.editor",
        "core.askPass",
        "core.alternateRefsCommand",
        "core.gitProxy",
        "credential.helper",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.y.process",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "remote.origin.uploadpack",
        "filter.with space.clean",
    ];

    #[test]
    fn asking_runs_no_program_of_the_repository() {
        let (repository, marks) = (Repository::new(), tempfile::tempdir().expect("a folder"));
        fs::write(
            repository.root_path().join(".gitattributes"),
            "a.txt filter=x diff=x\nb.txt filter=y\nc.txt filter=\"with space\"\n",
        )
        .expect("ours");
        for file in ["b.txt", "c.txt"] {
            repository.commit_file(file, "two");
        }
        for hook in [
            "post-checkout",
            "post-index-change",
            "reference-transaction",
            "fsmonitor-watchman",
            "post-merge",
            "pre-auto-gc",
        ] {
            let path = repository.root_path().join(".git/hooks").join(hook);
            fs::create_dir_all(path.parent().expect("above")).expect("ours");
            fs::write(
                &path,
                format!("#!/bin/sh\ntouch '{}/{hook}'\n", marks.path().display()),
            )
            .expect("ours");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        }
        for setting in PROGRAM_SETTINGS {
            repository.run_git(&[
                "config",
                setting,
                &format!(
                    "touch '{}/{}'; cat",
                    marks.path().display(),
                    setting.replace(' ', "-")
                ),
            ]);
        }
        repository.run_git(&["config", "filter.x.required", "true"]);
        // A setting in a file of the checkout is as foreign.
        fs::write(
            repository.root_path().join("more"),
            format!(
                "[filter \"z\"]\n\tclean = touch '{}/z'; cat\n",
                marks.path().display()
            ),
        )
        .expect("ours");
        repository.run_git(&["config", "include.path", "../more"]);
        // An object is missing that a remote promises.
        for (key, value) in [
            ("remote.origin.url", "ext::sh -c touch% x"),
            ("remote.origin.promisor", "true"),
            ("protocol.ext.allow", "always"),
        ] {
            repository.run_git(&["config", key, value]);
        }
        for file in ["a.txt", "b.txt", "c.txt"] {
            fs::write(repository.root_path().join(file), "changed").expect("ours");
        }
        assert!(
            repository
                .run_git(&["status", "--porcelain", "--untracked-files=no"])
                .contains("b.txt")
        );
        assert!(
            repository
                .run_git(&[
                    "diff",
                    "--name-only",
                    "--no-ext-diff",
                    "--no-textconv",
                    "HEAD",
                    "--"
                ])
                .contains("c.txt")
        );
        repository.run_git(&["ls-files", "--others", "--exclude-standard"]);
        repository.run_git(&["rev-list", "HEAD"]);
        let copy = marks.path().join("copy");
        copy_head(repository.root_path(), &copy).expect("it is copied");
        fs::remove_dir_all(&copy).expect("ours");
        let marked: Vec<_> = fs::read_dir(marks.path())
            .expect("there")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert!(marked.is_empty(), "{marked:?}");
    }

    #[test]
    fn a_copy_holds_the_history_of_its_head_alone() {
        let repository = Repository::new();
        repository.run_git(&["tag", "v1"]);
        repository.run_git(&["checkout", "--quiet", "-b", "solution"]);
        repository.commit_file("solution.txt", "THE-SOLUTION");
        let solution = repository.run_git(&["rev-parse", "HEAD"]);
        repository.run_git(&[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            "tag",
            "-a",
            "-m",
            "THE-SOLUTION",
            "answer",
        ]);
        repository.run_git(&["checkout", "--quiet", "main"]);
        repository.commit_file("b.txt", "two");
        let later = repository.run_git(&["rev-parse", "HEAD"]);
        fs::write(repository.root_path().join("b.txt"), "STASHED").expect("ours");
        repository.run_git(&[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            "stash",
        ]);
        repository.run_git(&["reset", "--quiet", "--hard", "HEAD^"]);
        for is_packed in [false, true] {
            if is_packed {
                repository.run_git(&["repack", "-a", "-d", "-q"]);
                repository.run_git(&["pack-refs", "--all"]);
            }
            let place = tempfile::tempdir().expect("a folder");
            let copy = place.path().join("copy");
            copy_head(repository.root_path(), &copy).expect("it is copied");
            let ask = |arguments: &[&str]| git_output(&copy, arguments);
            assert_eq!(ask(&["log", "--format=%s"]).as_deref(), Some("one"));
            assert_eq!(
                ask(&["for-each-ref", "--format=%(refname)"]).as_deref(),
                Some("refs/tags/v1")
            );
            assert_eq!(
                (
                    ask(&["remote"]).as_deref(),
                    ask(&["stash", "list"]).as_deref(),
                    ask(&["status", "--porcelain"]).as_deref()
                ),
                (Some(""), Some(""), Some(""))
            );
            for name in [
                &solution,
                &later,
                "origin/solution",
                "solution",
                "answer",
                "stash@{0}",
                "HEAD@{1}",
                "FETCH_HEAD",
            ] {
                assert_eq!(ask(&["cat-file", "-e", name]), None, "{name}");
            }
            let objects = ask(&["cat-file", "--batch-all-objects", "--batch-check"])
                .expect("they are listed");
            assert_eq!(
                objects.lines().count(),
                3,
                "a commit, a tree and a file: {objects}"
            );
            for absent in [
                "objects/info/alternates",
                "logs",
                "hooks",
                "FETCH_HEAD",
                "ORIG_HEAD",
            ] {
                assert!(!copy.join(".git").join(absent).exists(), "{absent}");
            }
        }
        // A checkout of one commit, as in CI, and a worktree, whose `.git` is a file.
        let place = tempfile::tempdir().expect("a folder");
        let (shallow, tree) = (place.path().join("shallow"), place.path().join("tree"));
        let url = format!("file://{}", repository.root_path().display());
        let clone = [
            "clone",
            "--quiet",
            "--depth=1",
            &url,
            &shallow.display().to_string(),
        ];
        GitQuery {
            reach: GitReach::Copy,
            ..GitQuery::new(place.path(), &clone, QUERY_LIMIT)
        }
        .read_output(&StopSignal::new())
        .expect("a clone");
        repository.run_git(&[
            "worktree",
            "add",
            "--quiet",
            "--detach",
            &tree.display().to_string(),
        ]);
        for (from, to) in [(&shallow, "one"), (&tree, "two")] {
            copy_head(from, &place.path().join(to)).expect("it is copied");
            assert!(place.path().join(to).join("a.txt").is_file(), "{to}");
        }
        let around = places_around(&tree);
        assert!(
            around.iter().any(|path| path.canonicalize().ok()
                == repository.root_path().join(".git").canonicalize().ok()),
            "{around:?}"
        );
    }
}
