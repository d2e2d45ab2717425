//! Where an approach works, and what surrounds it.

use std::process::Command;

use super::*;
use crate::programs::Start as _;

#[test]
fn a_sandbox_reaches_the_agent_and_the_tests() {
    let suite = "wrap: [env, MARK=suite]\nsetup: ['test \"$MARK\" = suite']\ntests: {shared: ['test \"$MARK\" = suite', 'grep suite \"$EVAL_WORKSPACE/made.txt\"']}\n";
    let approach = "echo \"$MARK\" > made.txt";
    let ran = Code::new(suite, approach).run();
    ran.ended("completed", "");
    ran.shared(2, 2);
    // An approach may have one of its own, and its tests another.
    let boxed = "{id: a, wrap: [env, MARK=own], command: [sh, '{root}/a.sh']}";
    let both = Code::new(suite, approach).config(boxed).run();
    assert_eq!(
        (
            both.items("shared_tests")[0].1,
            both.items("shared_tests")[1].1,
            both.kept("made.txt")
        ),
        ("pass", "fail", Some("own\n"))
    );
    // What an agent in a sandbox wrote is not started outside of it.
    let only = Code::new(
        &suite
            .replace("wrap: [env, MARK=suite]\n", "")
            .replace("suite", "own"),
        approach,
    )
    .config(boxed)
    .run();
    only.ended("completed", "");
    only.shared(2, 2);
}

#[test]
fn a_sandbox_of_the_project_is_found_from_everywhere() {
    let code = Code::new(
        "wrap: [./box.sh]\nsetup: ['test \"$BOX\" = 1']\ntests: {shared: ['test \"$BOX\" = 1']}\n",
        "test \"$BOX\" = 1",
    );
    code.project
        .file("box.sh", "#!/bin/sh\nBOX=1 exec \"$@\"\n");
    let made = Command::new("chmod")
        .arg("+x")
        .arg(code.project.path("box.sh"))
        .finish()
        .status;
    assert!(made.success());
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(1, 1);
}

#[test]
fn a_scratch_folder_in_shared_memory_stays_in_sight() {
    needs!(crate::needs::LANDLOCK);
    // Confined programs have shared memory of their own. Where there is none, nothing hides the folder.
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let suite = "tests: {shared: ['test -s \"$EVAL_WORKSPACE/made.txt\"']}\n";
    let code = Code {
        scratch: memory,
        ..Code::new(suite, "echo made > made.txt")
    };
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(1, 1);
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_readable_in_shared_memory_cannot_be_changed() {
    needs!(crate::needs::LANDLOCK);
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let words = memory.path().join("words.txt");
    std::fs::write(&words, "kept").expect("room");
    let place = memory.path().display();
    let script = format!(
        "cat {place}/words.txt > made.txt; echo evil > {place}/words.txt; touch {place}/new; rm {place}/words.txt; true"
    );
    let suite = "tests: {shared: ['grep -q kept \"$EVAL_WORKSPACE/made.txt\"']}\n";
    let code = Code::new(suite, &script).config(&format!(
        "{{id: a, reads: ['{place}'], command: [sh, '{{root}}/a.sh']}}"
    ));
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(1, 1);
    // Without namespaces programs share the machine's memory, as docs/look-up/suite-yaml.md says.
    let isolation = ran.header["isolation"].as_str().unwrap_or_default();
    if !isolation.contains("processes") {
        return;
    }
    assert_eq!(
        std::fs::read_to_string(&words).expect("it is there"),
        "kept"
    );
    assert!(!memory.path().join("new").exists());
}

#[test]
fn secrets_reach_the_approach_only_and_no_record() {
    needs!("python3");
    let secret = "sk-do-not-tell-4711";
    let gone = "test -z \"$X_API_KEY$Y_TOKEN\"";
    let suite = format!(
        "setup: ['{gone}']\nserver: {{command: '{gone} && exec python3 \"$EVAL_SUITE_DIR/server.py\" {{port}}'}}\n\
         tests: {{shared: ['{gone}', 'test \"$PLAIN\" = seen'], functional: ['{gone}'], own: ['{gone}']}}\n"
    );
    let script = "test -n \"$X_API_KEY\" -a -z \"$Y_TOKEN\" && echo \"using $X_API_KEY\" && echo \"using $X_API_KEY\" >&2; exit 1";
    let code =
        Code::new(&suite, script).config("{id: a, env: [X_API_KEY], command: [sh, '{root}/a.sh']}");
    let ran = code.run_with(
        &[],
        &[
            ("X_API_KEY", secret),
            ("Y_TOKEN", secret),
            ("PLAIN", "seen"),
        ],
    );
    ran.ended(
        "failed",
        "using [X_API_KEY] (not given to it: Y_TOKEN; `env` grants keys)",
    );
    ran.shared(2, 2);
    assert_eq!(
        (ran.counts("own"), ran.items("functional_tests")[0].1),
        ([Some(1), Some(1)], "pass")
    );
    assert!(!ran.error().contains("server"), "{}", ran.error());
    for path in code.project.files("results") {
        assert!(!code.project.read(&path).contains(secret), "{path}");
    }
}

#[test]
fn a_tree_to_begin_with_is_copied_and_only_changes_are_counted() {
    let suite =
        "workspace: start\ntests: {shared: ['test -s \"$EVAL_WORKSPACE/lib/given.txt\"']}\n";
    let code = Code::new(
        suite,
        "printf 'a\\nb\\n' > new.txt; echo more >> lib/changed.txt; rm gone.txt; cp \"$1\" requirements.md",
    );
    code.project
        .file("start/lib/given.txt", "given\n")
        .file("start/lib/changed.txt", "first\n")
        .file("start/gone.txt", "x\n");
    let ran = code.run();
    ran.shared(1, 1);
    // The new file and the changed one; a copy of the requirements is nobody's work.
    assert_eq!(
        (
            &ran.header["files_generated"],
            &ran.header["lines_generated"]
        ),
        (&2.into(), &4.into())
    );
    assert_eq!(ran.kept("lib/changed.txt"), Some("first\nmore\n"));
    assert_eq!(
        (
            code.project.read("start/lib/changed.txt").as_str(),
            code.project.read("start/gone.txt").as_str()
        ),
        ("first\n", "x\n")
    );
}

#[test]
fn a_repository_to_begin_with_gives_a_clone() {
    let code = Code::new(
        "workspace: start\ntests: {shared: ['test -d \"$EVAL_WORKSPACE/.git\"']}\n",
        "git log --format=%s > log.txt; echo x > new.txt; git add new.txt; git -c user.name=n -c user.email=e@example.org commit --quiet -m mine",
    );
    code.project.file("start/a.txt", "a\n");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        let output = code.project.output(
            command
                .arg("-C")
                .arg(code.project.path("start"))
                .args(arguments),
        );
        assert_eq!(output.code, 0, "{}", output.stderr);
        output.stdout
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&[
        "-c",
        "user.name=n",
        "-c",
        "user.email=e@example.org",
        "commit",
        "--quiet",
        "-m",
        "first words",
    ]);
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(1, 1);
    assert_eq!(
        (&ran.header["files_generated"], ran.kept("log.txt")),
        (&2.into(), Some("first words\n"))
    );
    assert_eq!(
        (
            git(&["worktree", "list"]).lines().count(),
            git(&["status", "--porcelain"]).as_str()
        ),
        (1, "")
    );
}

/// The solution on another branch of the repository is found by neither the approach nor its code: not by name, not by its number, not in the
/// suite's copy, not where the repository is.
#[test]
fn a_repository_to_begin_with_gives_no_other_branch() {
    let tries = "for place in . START ../*/suite/suites/s/start ../../*/start; do for name in solution origin/solution refs/stash HEAD@{1} NUMBER; do \
                 git -C $place show $name 2>/dev/null; git -C $place show $name:solution.txt 2>/dev/null; done; grep -rqs THE-SOLUTION $place && echo $place; done";
    let code = Code::new("", "");
    code.project.file("suites/s/start/a.txt", "a\n");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(code.project.path("suites/s/start"))
            .args(["-c", "user.name=n", "-c", "user.email=e@example.org"]);
        let output = code.project.output(command.args(arguments));
        assert_eq!(output.code, 0, "{}", output.stderr);
        output.stdout.trim().to_owned()
    };
    git(&["init", "--quiet", "--initial-branch=main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "first"]);
    git(&["checkout", "--quiet", "-b", "solution"]);
    code.project
        .file("suites/s/start/solution.txt", "THE-SOLUTION\n");
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "THE-SOLUTION"]);
    let number = git(&["rev-parse", "HEAD"]);
    git(&["checkout", "--quiet", "main"]);
    let start = code
        .project
        .path("suites/s/start")
        .canonicalize()
        .expect("there")
        .display()
        .to_string();
    let tries = tries
        .replace("START", &start)
        .replace("NUMBER", &number)
        .replace("THE-SOLUTION", "THE[-]SOLUTION");
    let suite = "name: s\nrequirements: suites/s/order.md\nworkspace: suites/s/start\nsetup: ['sh tries.sh > setup.txt; true', 'test ! -s setup.txt']\n\
                 tests: {shared: ['git -C \"$EVAL_WORKSPACE\" log --format=%s']}\n";
    code.project.file("suites/s/suite.yaml", suite);
    code.project
        .file("a.sh", format!("cat > tries.sh <<'END'\n{tries}\nEND\nsh tries.sh > tried.txt\ngit log --all --format=%s > log.txt\n"));
    let ran = code.run();
    ran.ended("completed", "");
    assert_eq!(
        (ran.kept("tried.txt"), ran.kept("log.txt")),
        (Some(""), Some("first\n"))
    );
}

/// A file of the workspace with the name of a module must not get into the making of the environment.
#[test]
fn python_suites_get_an_environment_of_their_own() {
    needs!("python3");
    let suite = "language: python\nsetup: [pip --version, 'python -c \"import sys; assert sys.prefix != sys.base_prefix\"']\n\
                 tests: {shared: ['python -m pip --version', 'python suites/s/tests/prefix.py'], own: ['test -z \"$PYTHONHOME\"']}\n";
    let code = Code::new(
        suite,
        "for name in venv zipfile sysconfig; do echo 'raise SystemExit(5)' > $name.py; done",
    );
    let prefix =
        "import helper, os, sys\nassert sys.prefix == os.environ['VIRTUAL_ENV'], sys.prefix\n";
    code.project
        .file("suites/s/tests/prefix.py", prefix)
        .file("suites/s/tests/helper.py", "");
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(2, 2);
    let caches: Vec<String> = code
        .project
        .files("suites")
        .into_iter()
        .filter(|path| path.contains("__pycache__"))
        .collect();
    assert!(caches.is_empty(), "{caches:?}");
}

#[test]
fn without_python_nothing_is_tested() {
    let code = Code::new("language: python\ntests: {shared: ['true']}\n", "");
    let programs = code.project.path("bin");
    fs::create_dir(&programs).expect("a folder");
    for name in ["sh", "sleep"] {
        std::os::unix::fs::symlink(format!("/bin/{name}"), programs.join(name)).expect("a link");
    }
    let path = programs.display().to_string();
    let refused = code
        .project
        .run_in(["run", "s", "--approach", "a"], &[("PATH", path.as_str())]);
    assert!(
        refused.refusal().contains("`python3` is not on PATH"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        code.project.files("results"),
        [] as [String; 0],
        "nothing was started"
    );
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nobody_up() {
    let code = Code::new(
        "language: javascript\ntests: {shared: ['true']}\n",
        "rm -f notes.txt; mkfifo package.json notes.txt requirements.md main.js; mkdir -p .ralph; mkfifo .ralph/run_metrics.json\n",
    );
    code.project.file("extra/notes.txt", "of the approach\n");
    let code = code.config("{id: a, files: extra, command: [sh, \"{root}/a.sh\"]}");
    let begun = std::time::Instant::now();
    let ran = code.run();
    ran.ended("completed", "");
    ran.shared(1, 1);
    assert!(begun.elapsed().as_secs() < 30, "nobody waited for a writer");
}

#[test]
fn a_file_of_any_length_is_not_read_into_memory() {
    let code = Code::new(
        "language: javascript\ntests: {shared: ['true']}\n",
        "for name in package.json README.md requirements.txt main.js notes.txt; do truncate -s 40G $name; done\n",
    );
    code.project.file("extra/notes.txt", "of the approach\n");
    let code = code.config("{id: a, files: extra, command: [sh, \"{root}/a.sh\"]}");
    let ran = code.run_with(&["--no-output"], &[]);
    ran.ended("completed", "");
    ran.shared(1, 1);
}

/// Setup may read the suite's files except tests, and runs what the approach wrote.
#[test]
fn setup_reads_no_test_however_commands_name_it() {
    needs!(crate::needs::LANDLOCK);
    for command in [
        "sh suites/s/tests/run.sh",
        "sh \"$EVAL_SUITE_DIR/tests/run.sh\"",
        "sh ${EVAL_SUITE_DIR}/tests/run.sh",
        "sh \"suites/$EVAL_SUITE/tests/run.sh\"",
        "cd suites && sh s/tests/run.sh",
        "cd \"$EVAL_SUITE_DIR\" && sh tests/run.sh",
        "sh suites/s/test*/run.sh",
        "for t in suites/*/tests/run.sh; do sh $t; done",
        "D=suites; sh $D/s/tests/run.sh",
    ] {
        let suite = format!(
            "setup: ['cat \"$EVAL_SUITE_DIR/data.txt\" && sh \"$EVAL_WORKSPACE/made.sh\"']\ntests: {{shared: [{}]}}\n",
            serde_json::to_string(command).expect("text is JSON")
        );
        let code = Code::new(
            &suite,
            "echo 'cat \"$EVAL_SUITE_DIR/tests/answer.txt\" > \"$EVAL_WORKSPACE/read.txt\"; true' > made.sh\n",
        );
        code.project
            .file("suites/s/data.txt", "for setup\n")
            .file("suites/s/tests/answer.txt", "42\n")
            .file(
                "suites/s/tests/run.sh",
                "grep 42 \"$EVAL_SUITE_DIR/tests/answer.txt\" && ! grep 42 \"$EVAL_WORKSPACE/read.txt\"\n",
            );
        let ran = code.run();
        ran.ended("completed", "");
        ran.shared(1, 1);
    }
}

#[test]
fn an_approach_reads_no_site_that_was_built() {
    needs!(crate::needs::LANDLOCK);
    let code = Code::new(
        "tests: {shared: ['test \"$(cat $EVAL_WORKSPACE/read.txt)\" = \"\"']}\n",
        "root=$(dirname \"$0\"); cat \"$root/site/index.html\" \"$root/site/data/digests.json\" \"$root/public/board/index.html\" > read.txt; true\n",
    );
    code.run().ended("completed", "");
    for folder in ["site", "public/board"] {
        let built = code.project.run(["build", "--out", folder]);
        assert_eq!(built.code, 0, "{}", built.stderr);
    }
    let output = code.command(&[], &[]);
    assert!(output.stderr.contains("1/1 passed"), "{}", output.stderr);
}
