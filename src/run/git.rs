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

use crate::domain::visible;
use crate::files;
use crate::process::{self, Command, End, Limits, Stop};

/// If git takes longer to answer a question about commits, the answer is not recorded.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit of copying a history.
const COPYING: Duration = Duration::from_mins(30);
/// Room for the names of a few hundred thousand files.
const MOST_BYTES: u64 = 64 << 20;
/// If a git hook started this process, these variables refer to the hook's repository, not to the one to ask about.
pub const PLACES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];
/// Variables that change what git runs or reads.
const LOST: [&str; 9] = [
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
const GIVEN: [(&str, &str); 3] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// Settings that keep git from fetching.
const OFFLINE: [&str; 4] = [
    "core.askPass=",
    "core.gitProxy=",
    "core.sshCommand=false",
    "credential.helper=",
];
const SETTINGS: [&str; 14] = [
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
const FILTERING: [&str; 2] = ["diff", "status"];
/// What a filter's section names a program by.
const FILTERS: [&str; 3] = ["clean", "process", "smudge"];

/// A question to git.
pub struct Question<'a> {
    pub folder: &'a Path,
    pub arguments: &'a [&'a str],
    pub input: &'a [u8],
    pub patience: Duration,
    pub reach: Reach,
}

/// What git may use beside the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Nothing,
    /// Another repository of this machine.
    Copy,
    /// The remotes and filters that the repository names: its own programs are about to run in any case.
    Remotes,
}

impl<'a> Question<'a> {
    pub fn new(folder: &'a Path, arguments: &'a [&'a str], patience: Duration) -> Self {
        Self {
            folder,
            arguments,
            input: &[],
            patience,
            reach: Reach::Nothing,
        }
    }

    /// Returns git's output, or its error message if it failed.
    pub fn ask(&self, stop: &Stop) -> Result<Vec<u8>, String> {
        let is_filtering = self
            .arguments
            .first()
            .is_some_and(|command| FILTERING.contains(command));
        let filters = if is_filtering {
            self.without_filters(stop)?
        } else {
            Vec::new()
        };
        self.run(&filters, stop)
    }

    /// Returns settings that turn off the filters that the repository itself configures.
    fn without_filters(&self, stop: &Stop) -> Result<Vec<String>, String> {
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
            let Ok(listed) = Question {
                arguments: &arguments,
                ..*self
            }
            .run(&[], stop) else {
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
                    visible(&name)
                ));
            }
            for key in FILTERS {
                let key = format!("filter.{name}.{key}");
                let own = ["--global", "--system"].iter().find_map(|scope| {
                    let arguments = ["config", scope, "--includes", "--get", &key];
                    Question {
                        arguments: &arguments,
                        ..*self
                    }
                    .run(&[], stop)
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

    fn run(&self, more: &[String], stop: &Stop) -> Result<Vec<u8>, String> {
        let is_offline = self.reach != Reach::Remotes;
        let settings = SETTINGS
            .iter()
            .chain(OFFLINE.iter().filter(|_| is_offline))
            .copied()
            .chain(more.iter().map(String::as_str))
            .flat_map(|setting| ["-c", setting]);
        let argv = ["git", "--no-pager"]
            .into_iter()
            .chain(settings)
            .chain(self.arguments.iter().copied())
            .map(OsString::from)
            .collect();
        let lost = PLACES
            .iter()
            .chain(&LOST)
            .map(|name| (OsString::from(name), None));
        let protocols = if self.reach == Reach::Copy {
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
        let given = GIVEN
            .into_iter()
            .chain(offline)
            .map(|(name, value)| (OsString::from(name), Some(OsString::from(value))));
        let env: BTreeMap<OsString, Option<OsString>> = lost.chain(given).collect();
        let limits = Limits {
            wall: Some(self.patience),
            output_bytes: MOST_BYTES,
            ..Limits::default()
        };
        let command = Command {
            argv,
            cwd: self.folder.to_owned(),
            env,
            input: self.input.to_vec(),
            limits,
            confinement: None,
        };
        let finished = process::run(&command, stop).map_err(|error| error.to_string())?;
        match finished.end {
            End::Exited(0) if finished.stdout.dropped == 0 => Ok(finished.stdout.bytes),
            End::Exited(0) => Err("git named more files than are looked at".to_owned()),
            End::Exited(_) | End::Signalled(_) => Err(complaint(&finished.stderr.text())),
            End::TimedOut => Err("git did not answer in time".to_owned()),
            End::Stopped => Err("stopped".to_owned()),
        }
    }
}

/// Returns the trimmed output of a git command, or `None` if it failed.
pub fn said(folder: &Path, arguments: &[&str]) -> Option<String> {
    let bytes = Question::new(folder, arguments, PATIENCE)
        .ask(&Stop::new())
        .ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// Makes a repository at `to`, which must not exist, with the history of `from`'s `HEAD` and the tags in it, checked out without a branch.
/// Nothing else of the other repository is there: no branch, remote, stash, reference log, hook, setting or object.
pub fn copy_head(from: &Path, to: &Path) -> Result<(), String> {
    let stop = Stop::new();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    let ask = |folder: &Path, arguments: &[&str]| {
        Question::new(folder, arguments, COPYING)
            .ask(&stop)
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
    Question {
        input: wanted.as_bytes(),
        reach: Reach::Copy,
        ..Question::new(to, &fetch, COPYING)
    }
    .ask(&stop)?;
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
        files::if_there(fs::remove_file(to.join(".git").join(left)))
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

fn complaint(said: &str) -> String {
    let last = said
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("git failed without a word");
    visible(last).chars().take(300).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Repository(tempfile::TempDir);

    impl Repository {
        fn new() -> Self {
            let repository = Self(tempfile::tempdir().expect("a folder"));
            repository.git(&["init", "--quiet", "--initial-branch=main"]);
            repository.commit("a.txt", "one");
            repository
        }

        fn at(&self) -> &Path {
            self.0.path()
        }

        fn git(&self, arguments: &[&str]) -> String {
            said(self.at(), arguments).unwrap_or_else(|| panic!("git {arguments:?} fails"))
        }

        fn commit(&self, file: &str, text: &str) {
            fs::write(self.at().join(file), text).expect("ours");
            self.git(&["add", "."]);
            self.git(&[
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
    const PROGRAMS: [&str; 18] = [
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
            repository.at().join(".gitattributes"),
            "a.txt filter=x diff=x\nb.txt filter=y\nc.txt filter=\"with space\"\n",
        )
        .expect("ours");
        for file in ["b.txt", "c.txt"] {
            repository.commit(file, "two");
        }
        for hook in [
            "post-checkout",
            "post-index-change",
            "reference-transaction",
            "fsmonitor-watchman",
            "post-merge",
            "pre-auto-gc",
        ] {
            let path = repository.at().join(".git/hooks").join(hook);
            fs::create_dir_all(path.parent().expect("above")).expect("ours");
            fs::write(
                &path,
                format!("#!/bin/sh\ntouch '{}/{hook}'\n", marks.path().display()),
            )
            .expect("ours");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        }
        for setting in PROGRAMS {
            repository.git(&[
                "config",
                setting,
                &format!(
                    "touch '{}/{}'; cat",
                    marks.path().display(),
                    setting.replace(' ', "-")
                ),
            ]);
        }
        repository.git(&["config", "filter.x.required", "true"]);
        // A setting in a file of the checkout is as foreign.
        fs::write(
            repository.at().join("more"),
            format!(
                "[filter \"z\"]\n\tclean = touch '{}/z'; cat\n",
                marks.path().display()
            ),
        )
        .expect("ours");
        repository.git(&["config", "include.path", "../more"]);
        // An object is missing that a remote promises.
        for (key, value) in [
            ("remote.origin.url", "ext::sh -c touch% x"),
            ("remote.origin.promisor", "true"),
            ("protocol.ext.allow", "always"),
        ] {
            repository.git(&["config", key, value]);
        }
        for file in ["a.txt", "b.txt", "c.txt"] {
            fs::write(repository.at().join(file), "changed").expect("ours");
        }
        assert!(
            repository
                .git(&["status", "--porcelain", "--untracked-files=no"])
                .contains("b.txt")
        );
        assert!(
            repository
                .git(&[
                    "diff",
                    "--name-only",
                    "--no-ext-diff",
                    "--no-textconv",
                    "HEAD",
                    "--"
                ])
                .contains("c.txt")
        );
        repository.git(&["ls-files", "--others", "--exclude-standard"]);
        repository.git(&["rev-list", "HEAD"]);
        let copy = marks.path().join("copy");
        copy_head(repository.at(), &copy).expect("it is copied");
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
        repository.git(&["tag", "v1"]);
        repository.git(&["checkout", "--quiet", "-b", "solution"]);
        repository.commit("solution.txt", "THE-SOLUTION");
        let solution = repository.git(&["rev-parse", "HEAD"]);
        repository.git(&[
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
        repository.git(&["checkout", "--quiet", "main"]);
        repository.commit("b.txt", "two");
        let later = repository.git(&["rev-parse", "HEAD"]);
        fs::write(repository.at().join("b.txt"), "STASHED").expect("ours");
        repository.git(&[
            "-c",
            "user.name=n",
            "-c",
            "user.email=e@example.org",
            "stash",
        ]);
        repository.git(&["reset", "--quiet", "--hard", "HEAD^"]);
        for is_packed in [false, true] {
            if is_packed {
                repository.git(&["repack", "-a", "-d", "-q"]);
                repository.git(&["pack-refs", "--all"]);
            }
            let place = tempfile::tempdir().expect("a folder");
            let copy = place.path().join("copy");
            copy_head(repository.at(), &copy).expect("it is copied");
            let ask = |arguments: &[&str]| said(&copy, arguments);
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
        let url = format!("file://{}", repository.at().display());
        let clone = [
            "clone",
            "--quiet",
            "--depth=1",
            &url,
            &shallow.display().to_string(),
        ];
        Question {
            reach: Reach::Copy,
            ..Question::new(place.path(), &clone, PATIENCE)
        }
        .ask(&Stop::new())
        .expect("a clone");
        repository.git(&[
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
            around
                .iter()
                .any(|path| path.canonicalize().ok()
                    == repository.at().join(".git").canonicalize().ok()),
            "{around:?}"
        );
    }
}
