use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;

/// The suite from the document that defines the format. Only comments are shortened.
const SEED: &str = include_str!("../../../../tests/fixtures/seed-suite.yaml");

/// Creates a repository with these files.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        write(root.path(), path, text);
    }
    root
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn seed() -> TempDir {
    repository(&[
        ("evals/suites/tasktracker/suite.yaml", SEED),
        (
            "examples/task_tracker_requirements.md",
            "Make a task tracker.\n",
        ),
        (
            "evals/suites/tasktracker/tests/conftest.py",
            "import pytest\n",
        ),
        (
            "evals/suites/tasktracker/tests/test_auth.py",
            "def test_login(): pass\n",
        ),
    ])
}

/// Loads `text` as suite `s` of a repository with `req.md`. Returns the suite or all problems, each with its hint in brackets.
fn load_text(text: &str) -> Result<Suite, Vec<String>> {
    let root = repository(&[
        ("suites/s/suite.yaml", text),
        ("req.md", "Make it."),
        ("suites/s/questions.yaml", "version: 1"),
    ]);
    let base = format!("{}/", root.path().display());
    load_suite(root.path(), &root.path().join("suites/s")).map_err(|problems| {
        let shown = |problem: &Problem| match &problem.hint {
            Some(hint) => format!("{problem} [{hint}]"),
            None => problem.to_string(),
        };
        problems
            .iter()
            .map(shown)
            .map(|line| line.replace(&base, "").replace("suites/s/suite.yaml:", ""))
            .collect()
    })
}

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    assert_eq!(load_text(text).expect_err("the suite is wrong"), expected);
}

const SOUND: &str = "name: s\nrequirements: req.md\ntests: {shared: [pytest tests]}\n";

#[test]
fn the_seeds_suite_loads_unchanged() {
    let root = seed();
    let folder = root.path().join("evals/suites/tasktracker");
    let suite = load_suite(root.path(), &folder).expect("the seed's own example");
    let texts = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| (*text).to_owned())
            .collect::<Vec<_>>()
    };
    let expected = Suite {
        file: folder.join("suite.yaml").display().to_string(),
        folder: folder.clone(),
        name: "tasktracker".to_owned(),
        description: Some("REST API with JWT auth, 4 models, ~15 endpoints".to_owned()),
        workspace: None,
        requirements: Some(root.path().join("examples/task_tracker_requirements.md")),
        questions: None,
        language: Some("python".to_owned()),
        timeout: Some(Duration::from_hours(2)),
        setup: texts(&["pip install -r requirements.txt"]),
        server: Some(ServerSettings {
            command: "python -m uvicorn main:app --port 8000".to_owned(),
            health_check: Some("http://localhost:8000/health".to_owned()),
            startup_timeout: Some(Duration::from_secs(30)),
        }),
        tests: TestCommands {
            shared: texts(&["pytest evals/suites/tasktracker/tests/ -v"]),
            functional: texts(&[
                "curl -sf http://localhost:8000/health",
                "curl -sf http://localhost:8000/docs",
            ]),
            own: Vec::new(),
        },
        metrics: BTreeMap::from([
            (CodeMetric::LinesOfCode, SwitchSetting::On),
            (CodeMetric::FileCount, SwitchSetting::On),
        ]),
        acceptance_criteria: Vec::new(),
        evaluators: BTreeMap::new(),
        build_command: None,
        test_command: None,
        coverage_threshold: None,
        static_analysis: Vec::new(),
        goal: None,
        profile: None,
        files: Vec::new(),
        verification: None,
        wrap: Vec::new(),
        network: None,
        writes: Vec::new(),
        tags: BTreeMap::new(),
    };
    assert_eq!(suite, expected);
}

#[test]
fn every_other_key_is_read() {
    let text = "name: s
requirements: req.md
tests: {own: [pytest], shared: [pytest tests]}
metrics: {file_count: true, lines_of_code: {exclude: [docs]}, requirementFulfillment: true}
evaluators: {codeQuality: {weight: 2}, efficiency: false}
acceptance_criteria:
  - ' logs in '
  - criterion: tasks
    weight: 2
    children: [{criterion: adds tasks, weight: 0.5}, deletes tasks]
build_command: make
test_command: make test
coverage_threshold: 80
static_analysis: [ruff check .]
goal: add a new test
profile: fast
files: [src/app.py]
verification: {smoke_test: python app.py}
wrap: [bwrap, --ro-bind, /, /]
tags: {kind: api}
server: {command: 'serve {port}', health_check: 'http://localhost:{port}/'}
";
    let suite = load_text(text).expect("a sound suite");
    assert_eq!(suite.metrics[&CodeMetric::FileCount], SwitchSetting::On);
    assert!(
        matches!(&suite.metrics[&CodeMetric::LinesOfCode], SwitchSetting::With(node) if node.get("exclude").is_some())
    );
    assert_eq!(
        suite
            .evaluators
            .iter()
            .map(|(evaluator, setting)| (evaluator.name(), setting.is_wanted()))
            .collect::<Vec<_>>(),
        [
            ("requirementFulfillment", true),
            ("efficiency", false),
            ("code_quality", true)
        ]
    );
    let leaves: Vec<_> = AcceptanceCriterion::collect_leaves(&suite.acceptance_criteria)
        .iter()
        .map(|leaf| (leaf.criterion.as_str(), leaf.weight))
        .collect();
    assert_eq!(
        leaves,
        [
            ("logs in", 1.0),
            ("adds tasks", 0.5),
            ("deletes tasks", 1.0)
        ]
    );
    assert_eq!(
        (suite.coverage_threshold, suite.profile),
        (Some(80.0), Some(Profile::Fast))
    );
    assert_eq!(
        (suite.goal.as_deref(), suite.files.as_slice()),
        (Some("add a new test"), ["src/app.py".to_owned()].as_slice())
    );
    assert_eq!(
        (
            suite.wrap.len(),
            suite.tests.own.len(),
            suite.tags["kind"].as_str()
        ),
        (4, 1, "api")
    );
    assert!(
        suite
            .verification
            .is_some_and(|node| node.get("smoke_test").is_some())
    );
}

#[test]
fn what_is_asked_and_what_decides_must_be_there() {
    assert!(load_text(SOUND).is_ok());
    assert!(load_text("name: s\nacceptance_criteria: [it works]\n").is_ok());
    assert!(load_text("name: s\nrequirements: req.md\nacceptance_criteria: [it works]\n").is_ok());
    assert!(load_text("name: s\nquestions: questions.yaml\ntags: {kind: quiz}\n").is_ok());
    let tests = format!("1:1: `tests.shared` is missing [{NEEDED_MESSAGE}]");
    let requirements = format!("1:1: `requirements` is missing [{NEEDED_MESSAGE}]");
    refused(
        "description: x\n",
        &["1:1: `name` is missing", &requirements, &tests],
    );
    refused("name: s\nrequirements: req.md\n", &[&tests]);
    refused(
        "name: s\nrequirements: req.md\ntests: {own: [x]}\n",
        &[&format!(
            "3:8: `tests.shared` is missing [{NEEDED_MESSAGE}]"
        )],
    );
    refused(
        "name: s\nrequirements: req.md\ntests: {shared: []}\n",
        &[&format!(
            "3:8: `tests.shared` is missing [{NEEDED_MESSAGE}]"
        )],
    );
    refused(
        "name: s\ntests: {shared: [x]}\nacceptance_criteria: [y]\n",
        &[&requirements],
    );
    refused(
        "name: s\nrequirements: req.md\ntests: pytest\n",
        &["3:8: `tests` must be a map of keys, not text"],
    );
    refused(
        "name: s\nquestions: questions.yaml\nrequirements: req.md\n",
        &[
            "3:15: `requirements` is not used by a suite of `questions` [remove it, or make another suite of it]",
        ],
    );
}

#[test]
fn all_problems_come_at_once_with_their_places() {
    refused(
        "name: other
requirements: gone.md
requirments: x
language: 3
timeout: 90
setup: pip install
server: {comand: x, health_check: localhost, startup_timeout: soon}
tests: {shared: [pytest, ' ', 4], shard: []}
metrics: [lines_of_cod, efficiency, zzz]
evaluators: {efficiency: true, code_quality: yes, toolUse: 3}
acceptance_criteria: [a, {criterion: ' A', weight: 0}, {weight: -1}, '', {criterion: b, wieght: 1, children: [A]}]
coverage_threshold: 101
profile: quick
verification: []
wrap: bwrap
tags: {a: 1}
",
        &[
            "1:7: `name` is `other`, but the folder is `s` [rename the folder, or write name: s]",
            "2:15: requirements file not found: looked at `gone.md` and `suites/s/gone.md`",
            "3:1: unknown key `requirments` [did you mean `requirements`?]",
            "4:11: `language` must be text, not a number [write \"3\"]",
            "5:10: `timeout` needs a unit after `90` [write hours, minutes and seconds such as 2h, 30m, 1h30m or 90s]",
            "6:8: `setup` must be a list, not text",
            "7:9: `server.command` is missing",
            "7:10: unknown key `server.comand` [did you mean `command`?]",
            "7:35: `server.health_check` must be an http address, not `localhost` [write http://localhost:{port}/health]",
            "7:63: `server.startup_timeout` must be a duration, not `soon` [write hours, minutes and seconds such as 2h, 30m, 1h30m or 90s]",
            "8:26: `tests.shared[1]` is empty",
            "8:31: `tests.shared[2]` must be text, not a number [write \"4\"]",
            "8:35: unknown key `tests.shard` [did you mean `shared`?]",
            "9:11: unknown metric `lines_of_cod` [did you mean `lines_of_code`?]",
            "9:37: unknown metric `zzz` [known: requirementFulfillment, efficiency, tool_use, functional, code_quality, complexity, \
             lines_of_code, file_count]",
            "10:14: `efficiency` is given twice [keep one of the two]",
            "10:46: `evaluators.code_quality` must be true, false or a map of settings, not text",
            "10:60: `evaluators.toolUse` must be true, false or a map of settings, not a number",
            "11:26: duplicate criterion `A` [it is already on line 11; reword one]",
            "11:52: `acceptance_criteria[1].weight` must be above 0, but is `0`",
            "11:56: `acceptance_criteria[2].criterion` is missing",
            "11:65: `acceptance_criteria[2].weight` must be above 0, but is `-1`",
            "11:70: `acceptance_criteria[3]` is empty",
            "11:89: unknown key `acceptance_criteria[4].wieght` [did you mean `weight`?]",
            "11:111: duplicate criterion `A` [it is already on line 11; reword one]",
            "12:21: `coverage_threshold` is in percent, from 0 to 100, not `101`",
            "13:10: `profile` must be one of `strict`, `fast`, `smoke`, `yolo`, not `quick`",
            "14:15: `verification` must be a map of keys, not a list",
            "15:7: `wrap` must be a list, not text",
            "16:11: `tags.a` must be text, not a number [write \"1\"]",
        ],
    );
}

#[test]
fn a_problem_is_shown_at_its_line() {
    let root = repository(&[(
        "suites/s/suite.yaml",
        "name: s\nrequirement: req.md\nacceptance_criteria: [x]\n",
    )]);
    let folder = root.path().join("suites/s");
    let problems = load_suite(root.path(), &folder).expect_err("an unknown key");
    let text = fs::read_to_string(folder.join(SUITE_FILE)).expect("a file");
    let shown = document::render_problem(&problems[0], &text);
    let (_, excerpt) = shown.split_once('\n').expect("several lines");
    assert_eq!(
        excerpt,
        "  2 | requirement: req.md\n    | ^\n  hint: did you mean `requirements`?\n"
    );
}

#[test]
fn a_health_check_asks_where_the_server_listens() {
    refused(
        &format!(
            "{SOUND}server: {{command: 'serve --port {{port}}', health_check: 'http://localhost:8000/health'}}\n"
        ),
        &[
            "4:56: `server.health_check` asks a fixed port, but the command uses a free one [write `{port}` for the port in the health check too]",
        ],
    );
    assert!(load_text(&format!("{SOUND}server: {{command: 'serve $EVAL_PORT', health_check: 'http://localhost:{{port}}/'}}\n")).is_ok());
}

#[test]
fn files_are_looked_for_from_the_root_and_then_from_the_suite() {
    let root = repository(&[
        ("a.md", "root"),
        ("suites/s/a.md", "suite"),
        ("suites/s/b.md", "suite"),
    ]);
    let folder = root.path().join("suites/s");
    assert_eq!(
        resolve_path(root.path(), &folder, "a.md"),
        Ok(root.path().join("a.md"))
    );
    assert_eq!(
        resolve_path(root.path(), &folder, "b.md"),
        Ok(folder.join("b.md"))
    );
    assert_eq!(
        resolve_path(root.path(), &folder, "c.md"),
        Err([root.path().join("c.md"), folder.join("c.md")])
    );
    write(root.path(), "suites/s/empty.md", "");
    for (path, wrong) in [("suites", "is not a file"), ("empty.md", "is empty")] {
        write(
            root.path(),
            "suites/s/suite.yaml",
            &format!("name: s\nrequirements: {path}\nacceptance_criteria: [x]\n"),
        );
        let problems = load_suite(root.path(), &folder).expect_err("no such requirements");
        assert!(
            problems.len() == 1
                && problems[0].message.ends_with(wrong)
                && problems[0].line == Some(2),
            "{problems:?}"
        );
    }
}

#[test]
fn suites_are_found_in_both_places_right_or_wrong() {
    let root = seed();
    for (path, text) in [
        (
            "suites/zeta/suite.yaml",
            "name: zeta\nacceptance_criteria: [x]\n",
        ),
        ("suites/broken/suite.yaml", "name: [\n"),
        (
            "suites/tasktracker/suite.yaml",
            "name: tasktracker\nacceptance_criteria: [x]\n",
        ),
        ("suites/.hidden/suite.yaml", "name: x\n"),
        ("suites/baselines/run.py", ""),
        ("suites/README.md", ""),
    ] {
        write(root.path(), path, text);
    }
    let found = discover_suites(root.path()).expect("folders that can be listed");
    let shown: Vec<_> = found
        .iter()
        .map(|found| (found.name.as_str(), found.suite.is_ok()))
        .collect();
    assert_eq!(
        shown,
        [
            ("broken", false),
            ("tasktracker", true),
            ("tasktracker", false),
            ("zeta", true)
        ]
    );
    assert_eq!(
        found[1].path,
        root.path().join("suites/tasktracker/suite.yaml")
    );
    let Err(problems) = &found[2].suite else {
        panic!("a name that is taken")
    };
    assert!(
        problems[0]
            .message
            .starts_with("suite `tasktracker` is already in `"),
        "{problems:?}"
    );

    assert_eq!(
        find_suite(root.path(), "zeta").map(|suite| suite.name),
        Ok("zeta".to_owned())
    );
    assert!(find_suite(root.path(), "broken").is_err());
    let hint = |name| {
        find_suite(root.path(), name).expect_err("no such suite")[0]
            .hint
            .clone()
            .unwrap_or_default()
    };
    assert_eq!(hint("tasktraker"), "did you mean `tasktracker`?");
    assert_eq!(
        hint("nothing-like-it"),
        "known suites: `broken`, `tasktracker`, `zeta`"
    );

    let empty = repository(&[]);
    assert_eq!(discover_suites(empty.path()), Ok(Vec::new()));
    assert_eq!(
        find_suite(empty.path(), "a").expect_err("none")[0]
            .hint
            .as_deref(),
        Some("there is no suites/NAME/suite.yaml")
    );
}

fn version(root: &Path) -> String {
    let suite = load_suite(root, &root.join("evals/suites/tasktracker")).expect("a sound suite");
    suite_version(root, &suite).expect("files that can be read")
}

fn contents(root: &Path) -> SuiteContents {
    let suite = load_suite(root, &root.join("evals/suites/tasktracker")).expect("a sound suite");
    suite_contents(root, &suite).expect("files that can be read")
}

#[test]
fn a_version_is_the_content_and_nothing_else() {
    let (here, there) = (seed(), seed());
    let original = version(here.path());
    assert_eq!(original.len(), 64);
    assert_eq!(
        original,
        version(there.path()),
        "two checkouts of the same content"
    );
    assert_eq!(
        original, "35e59b6cce0da7d99a0910684c53e02b606b6e6bc0d9b822d44f9ba37dd9c3e0",
        "the same in every version of this program"
    );
    let of_keys = "999cd631ed317110ad9a7310bc6c2f8f9d66722e7b306ad4eec95d540437d313";
    assert_eq!(
        contents(here.path()).earlier,
        [of_keys],
        "what the release before defaults were left out called the version"
    );
    let of_bytes = "0c12120060a30c6d0f411102a9a526c1b5b9d58379a21593af8423ad9792e1ad";
    assert_eq!(
        contents(here.path()).bytes,
        of_bytes,
        "what earlier releases called the version"
    );
    for path in [
        "evals/suites/tasktracker/tests/__pycache__/test_auth.pyc",
        "evals/suites/tasktracker/tests/.pytest_cache/v",
        "evals/suites/tasktracker/tests/.DS_Store",
        "evals/suites/tasktracker/README.md",
        "requirements.txt",
        "src/main.py",
    ] {
        write(here.path(), path, "x");
        assert_eq!(version(here.path()), original, "{path}");
    }
    for (path, text) in [
        (
            "evals/suites/tasktracker/tests/conftest.py",
            "import pytest\r\n",
        ),
        ("evals/suites/tasktracker/tests/new/test_tasks.py", ""),
        (
            "examples/task_tracker_requirements.md",
            "Make a task tracker\n",
        ),
        (
            "evals/suites/tasktracker/suite.yaml",
            &format!("{SEED}\nbuild_command: make\n"),
        ),
        (
            "evals/suites/tasktracker/suite.yaml",
            &SEED.replace("timeout: 2h", "timeout: 3h"),
        ),
    ] {
        let changed = seed();
        write(changed.path(), path, text);
        assert_ne!(version(changed.path()), original, "{path}");
    }
    for text in [
        format!("{SEED}\n# a note\n"),
        format!("{SEED}\ntags: {{team: search}}\n"),
        SEED.replace("timeout: 2h", "timeout:   '2h'"),
        SEED.replacen("timeout: 2h\n", "", 1),
    ] {
        let changed = seed();
        write(changed.path(), "evals/suites/tasktracker/suite.yaml", &text);
        assert_eq!(version(changed.path()), original, "{text}");
        assert!(contents(changed.path()).bytes != of_bytes, "{text}");
    }
    let parts = contents(here.path()).parts;
    let names: Vec<&str> = parts
        .keys()
        .map(String::as_str)
        .filter(|name| !name.starts_with("key/"))
        .collect();
    assert_eq!(
        names,
        [
            "root/examples/task_tracker_requirements.md",
            "suite/tests/conftest.py",
            "suite/tests/test_auth.py"
        ]
    );
    let renamed = seed();
    let tests = renamed.path().join("evals/suites/tasktracker/tests");
    fs::rename(tests.join("test_auth.py"), tests.join("test_login.py")).expect("another name");
    assert_ne!(version(renamed.path()), original);
}

#[test]
fn a_test_counts_with_what_stands_beside_it() {
    let text = "name: s\nrequirements: req.md\ntests: {shared: ['pytest --rootdir=. \"suites/s/tests/a.py::test_one\" /bin/sh ..']}\n";
    let root = repository(&[
        ("suites/s/suite.yaml", text),
        ("req.md", "x"),
        ("suites/s/tests/a.py", "a"),
        ("suites/s/tests/helper.py", "b"),
    ]);
    let version = || {
        let suite = load_suite(root.path(), &root.path().join("suites/s")).expect("a sound suite");
        suite_version(root.path(), &suite).expect("files that can be read")
    };
    let original = version();
    write(root.path(), "src/lib.rs", "not part of the suite");
    assert_eq!(version(), original);
    write(root.path(), "suites/s/tests/helper.py", "c");
    assert_ne!(version(), original);
}
