use super::*;
use crate::testing::{listing, task};
use crate::{Readiness, detect_stacks};

type Files = &'static [(&'static str, &'static str)];
/// Files, goal, changed files, and the commands that each profile runs.
type Case = (
    Files,
    &'static str,
    &'static [&'static str],
    [(Profile, &'static [&'static str]); 4],
);

const PYTHON: Files = &[
    ("requirements.txt", "pytest\nruff\n"),
    ("conftest.py", ""),
    ("app.py", ""),
    ("money.py", ""),
    ("README.md", ""),
    ("tests/test_app.py", ""),
    ("tests/test_money.py", ""),
];
const VITE: Files = &[
    (
        "package.json",
        r#"{"scripts": {"dev": "vite", "build": "vite build", "test": "vitest", "lint": "eslint ."},
            "devDependencies": {"vite": "5", "vitest": "1"}}"#,
    ),
    ("src/main.js", ""),
    ("src/util.js", ""),
];
const RUST: Files = &[
    ("Cargo.toml", "[package]\nname='shop'\n"),
    ("src/lib.rs", ""),
    ("src/money/round.rs", ""),
    ("tests/orders.rs", ""),
];
const GO: Files = &[
    ("go.mod", "module m\n"),
    ("main.go", ""),
    ("money/round.go", ""),
    ("money/round_test.go", ""),
];
const MIXED: Files = &[
    ("api/requirements.txt", "pytest\n"),
    ("api/app.py", ""),
    ("api/tests/test_app.py", ""),
    (
        "web/package.json",
        r#"{"scripts": {"dev": "vite", "build": "vite build", "test": "vitest"}, "devDependencies": {"vite": "5"}}"#,
    ),
    ("web/src/main.js", ""),
];
const EMPTY: Files = &[("README.md", ""), ("notes.txt", "")];

fn chosen(files: Files, task: &VerificationTask, overrides: &Overrides) -> CheckSelection {
    let listing = listing(files);
    select_checks(&detect_stacks(&listing), &listing, task, overrides)
}

/// Formats the commands, each after its folder if it has one.
fn commands(selection: &CheckSelection) -> Vec<String> {
    let shown = |check: &PlannedCheck| {
        if check.folder.is_empty() {
            check.command.clone()
        } else {
            format!("{}$ {}", check.folder, check.command)
        }
    };
    selection.checks.iter().map(shown).collect()
}

#[test]
fn goals_get_the_checks_that_fit() {
    use Profile::{Fast, Smoke, Strict, Yolo};
    let cases: &[Case] = &[
        (
            VITE,
            "fix Vite import errors",
            &[],
            [
                (
                    Strict,
                    &["npm run build", "npm run dev", "npm test", "npm run lint"],
                ),
                (Fast, &["npm run build"]),
                (Smoke, &["npm run dev", "npm run build"]),
                (Yolo, &["npm run dev"]),
            ],
        ),
        (
            PYTHON,
            "add a new test for rounding",
            &["tests/test_money.py"],
            [
                (
                    Strict,
                    &[
                        "pytest tests/test_money.py",
                        "pytest",
                        "ruff check .",
                        "python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (Fast, &["pytest tests/test_money.py"]),
                (Smoke, &["pytest tests/test_money.py"]),
                (Yolo, &["pytest tests/test_money.py"]),
            ],
        ),
        (
            PYTHON,
            "create a Python GUI",
            &[],
            [
                (
                    Strict,
                    &[
                        "python app.py",
                        "pytest",
                        "ruff check .",
                        "python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (Fast, &["python app.py", "pytest tests/test_app.py"]),
                (Smoke, &["python app.py", "pytest tests/test_app.py"]),
                (Yolo, &["python app.py"]),
            ],
        ),
        (
            PYTHON,
            "tiny: round money up",
            &["money.py"],
            [
                (
                    Strict,
                    &[
                        "pytest",
                        "python app.py",
                        "ruff check .",
                        "python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (Fast, &["pytest tests/test_money.py", "python app.py"]),
                (Smoke, &["pytest tests/test_money.py"]),
                (Yolo, &["pytest tests/test_money.py"]),
            ],
        ),
        (
            PYTHON,
            "make discounts stack",
            &["money.py"],
            [
                (
                    Strict,
                    &[
                        "pytest",
                        "python app.py",
                        "ruff check .",
                        "python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (Fast, &["pytest", "python app.py"]),
                (Smoke, &["python app.py", "pytest tests/test_money.py"]),
                (Yolo, &["python app.py"]),
            ],
        ),
        (
            RUST,
            "refactor rounding",
            &["src/money/round.rs"],
            [
                (
                    Strict,
                    &["cargo test", "cargo build", "cargo clippy --all-targets"],
                ),
                (Fast, &["cargo test"]),
                (Smoke, &["cargo check", "cargo test -- money::round::"]),
                (Yolo, &["cargo test -- money::round::"]),
            ],
        ),
        (
            MIXED,
            "make discounts stack",
            &[],
            [
                (
                    Strict,
                    &[
                        "api$ python -m pytest",
                        "web$ npm test",
                        "api$ python app.py",
                        "web$ npm run dev",
                        "web$ npm run build",
                        "api$ python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (
                    Fast,
                    &[
                        "api$ python -m pytest",
                        "web$ npm test",
                        "api$ python app.py",
                        "web$ npm run dev",
                    ],
                ),
                (Smoke, &["api$ python app.py", "web$ npm run dev"]),
                (Yolo, &["api$ python app.py", "web$ npm run dev"]),
            ],
        ),
        (
            MIXED,
            "make discounts stack",
            &["web/src/main.js"],
            [
                (
                    Strict,
                    &[
                        "api$ python -m pytest",
                        "web$ npm test",
                        "api$ python app.py",
                        "web$ npm run dev",
                        "web$ npm run build",
                        "api$ python -m compileall -q -x '(venv|node_modules)/' .",
                    ],
                ),
                (Fast, &["web$ npm test", "web$ npm run dev"]),
                (
                    Smoke,
                    &[
                        "web$ npm run dev",
                        "web$ npx --no-install vitest related --run src/main.js",
                    ],
                ),
                (Yolo, &["web$ npm run dev"]),
            ],
        ),
    ];
    for (files, goal, changed, expected) in cases {
        for (profile, expected) in expected {
            let mut task = task(goal, *profile);
            task.changed = changed.iter().map(|file| (*file).to_owned()).collect();
            let selection = chosen(files, &task, &Overrides::default());
            assert_eq!(
                commands(&selection),
                *expected,
                "{goal:?} {}",
                profile.name()
            );
            assert!(
                selection
                    .checks
                    .iter()
                    .all(|check| !check.reason.is_empty() && !check.timeout.is_zero())
            );
        }
    }
}

#[test]
fn no_goal_makes_cheap_profiles_run_more_than_two_commands() {
    for files in [PYTHON, VITE, RUST, GO, MIXED, EMPTY] {
        for goal in [
            "",
            "fix the build",
            "add tests",
            "create an app",
            "tiny",
            "update the docs",
            "style the button",
            "refactor",
            "fix a bug",
        ] {
            for profile in [Profile::Smoke, Profile::Yolo] {
                let selection = chosen(files, &task(goal, profile), &Overrides::default());
                assert!(
                    selection.checks.len() <= 2,
                    "{goal}: {:?}",
                    commands(&selection)
                );
                assert!(
                    selection
                        .checks
                        .iter()
                        .all(|check| check.kind != CheckKind::Test),
                    "{goal}: {:?}",
                    commands(&selection)
                );
            }
        }
    }
}

#[test]
fn ids_are_never_alike() {
    let both: Files = &[
        ("Cargo.toml", "[package]\nname='x'\n"),
        (
            "package.json",
            r#"{"scripts": {"test": "x", "build": "y"}}"#,
        ),
        ("web/package.json", r#"{"scripts": {"test": "x"}}"#),
    ];
    let selection = chosen(both, &task("", Profile::Strict), &Overrides::default());
    let ids: Vec<&str> = selection
        .checks
        .iter()
        .map(|check| check.id.as_str())
        .collect();
    assert_eq!(
        ids,
        [
            "test",
            "test@node",
            "test:web",
            "build",
            "build@node",
            "lint"
        ]
    );
}

#[test]
fn tests_of_changed_files_are_named_to_each_runner() {
    let cases: &[(Files, &[&str], Option<&str>)] = &[
        (
            PYTHON,
            &["money.py", "tests/test_app.py"],
            Some("pytest tests/test_app.py tests/test_money.py"),
        ),
        (PYTHON, &["conftest.py"], None),
        (PYTHON, &["README.md", "gone.py"], None),
        (RUST, &["src/lib.rs"], None),
        (
            RUST,
            &["tests/orders.rs", "src/money/round.rs"],
            Some("cargo test --test orders && cargo test -- money::round::"),
        ),
        (GO, &["money/round.go"], Some("go test ./money")),
        (
            GO,
            &["main.go", "money/round_test.go"],
            Some("go test . ./money"),
        ),
        (
            VITE,
            &["src/util.js"],
            Some("npx --no-install vitest related --run src/util.js"),
        ),
        (
            &[
                ("package.json", r#"{"devDependencies": {"jest": "29"}}"#),
                ("yarn.lock", ""),
                ("src/a.ts", ""),
            ],
            &["src/a.ts"],
            Some("yarn run jest --findRelatedTests src/a.ts"),
        ),
        (
            &[
                ("package.json", r#"{"scripts": {"test": "node --test"}}"#),
                ("a.js", ""),
                ("test/a.test.js", ""),
            ],
            &["a.js"],
            Some("node --test test/a.test.js"),
        ),
        (
            &[
                ("package.json", r#"{"scripts": {"test": "mocha"}}"#),
                ("a.js", ""),
            ],
            &["a.js"],
            None,
        ),
        (
            &[
                ("pom.xml", ""),
                ("src/main/java/Money.java", ""),
                ("src/test/java/MoneyTest.java", ""),
            ],
            &["src/main/java/Money.java"],
            Some("mvn -B test -Dtest=MoneyTest"),
        ),
        (
            &[
                ("build.gradle", ""),
                ("gradlew", ""),
                ("src/test/java/MoneyTest.java", ""),
            ],
            &["src/test/java/MoneyTest.java"],
            Some("./gradlew test --tests MoneyTest"),
        ),
        (
            &[
                ("Cargo.toml", "[workspace]\nmembers=['a']\n"),
                ("a/Cargo.toml", "[package]\nname='shop-core'\n"),
                ("a/src/x.rs", ""),
                ("a/tests/t/main.rs", ""),
            ],
            &["a/src/x.rs", "a/tests/t/main.rs"],
            Some("cargo test -p shop-core --test t && cargo test -p shop-core -- x::"),
        ),
    ];
    for (files, changed, expected) in cases {
        let mut task = task("tiny", Profile::Yolo);
        task.changed = changed.iter().map(|file| (*file).to_owned()).collect();
        let selection = chosen(files, &task, &Overrides::default());
        let targeted = selection
            .checks
            .iter()
            .find(|check| check.kind == CheckKind::Targeted)
            .map(|check| check.command.as_str());
        assert_eq!(targeted, *expected, "{changed:?}");
    }
}

#[test]
fn hostile_names_are_words_and_never_commands() {
    let files: Files = &[
        ("requirements.txt", "pytest\n"),
        ("tests/test_$(touch x).py", ""),
        ("tests/test_'; rm -rf ~; '.py", ""),
        ("tests/test_\nx.py", ""),
    ];
    let mut task = task("add a test", Profile::Fast);
    task.changed = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let selection = chosen(files, &task, &Overrides::default());
    assert_eq!(
        commands(&selection),
        [r"pytest 'tests/test_$(touch x).py' 'tests/test_'\''; rm -rf ~; '\''.py'"]
    );
    assert!(!selection.checks[0].reason.contains('\n'));
}

#[test]
fn what_only_a_person_can_check_is_said() {
    for (files, goal, profile, expected) in [
        (
            PYTHON,
            "fix typo in README.md",
            Profile::Yolo,
            Some("`README.md`"),
        ),
        (
            PYTHON,
            "fix typo in README.md",
            Profile::Fast,
            Some("`README.md`"),
        ),
        (
            EMPTY,
            "tiny change",
            Profile::Fast,
            Some("look for yourself"),
        ),
        (EMPTY, "add paging", Profile::Yolo, Some("add paging")),
        (EMPTY, "add paging", Profile::Fast, None),
        (EMPTY, "add paging", Profile::Strict, None),
    ] {
        let selection = chosen(files, &task(goal, profile), &Overrides::default());
        assert_eq!(commands(&selection), Vec::<String>::new(), "{goal}");
        assert_eq!(selection.manual.is_some(), expected.is_some(), "{goal}");
        assert!(
            selection
                .manual
                .unwrap_or_default()
                .contains(expected.unwrap_or_default()),
            "{goal}"
        );
    }
    assert_eq!(
        chosen(
            PYTHON,
            &task("fix typo in README.md", Profile::Strict),
            &Overrides::default()
        )
        .manual,
        None,
        "everything is run"
    );
}

#[test]
fn what_is_declared_wins() {
    let line = |text: &str| CommandOverride::Line(text.to_owned());
    let overrides = Overrides {
        commands: [
            (CheckKind::Test, line("make test")),
            (CheckKind::Lint, CommandOverride::Off),
            (CheckKind::Targeted, line("./t {files}")),
            (CheckKind::Smoke, line("./serve")),
        ]
        .into(),
        timeouts: [(CheckKind::Test, Duration::from_secs(5))].into(),
        readiness: Some(Readiness {
            line: Some("up".to_owned()),
            seconds: 90,
            may_end: false,
        }),
        ..Overrides::default()
    };
    let selection = chosen(PYTHON, &task("add paging", Profile::Strict), &overrides);
    assert_eq!(
        commands(&selection),
        [
            "make test",
            "./serve",
            "python -m compileall -q -x '(venv|node_modules)/' ."
        ]
    );
    assert_eq!(selection.checks[0].timeout, Duration::from_secs(5));
    assert!(selection.checks[0].reason.contains("declared"));

    let mut work = task("add paging", Profile::Smoke);
    work.changed = vec!["money.py".to_owned()];
    let selection = chosen(PYTHON, &work, &overrides);
    assert_eq!(commands(&selection), ["./serve", "./t money.py"]);
    assert_eq!(
        selection.checks[0].timeout,
        Duration::from_secs(90),
        "it may take that long to be ready"
    );

    assert_eq!(
        commands(&chosen(
            MIXED,
            &task("add paging", Profile::Fast),
            &overrides
        )),
        ["make test", "./serve"],
        "once for the whole tree"
    );
    assert_eq!(
        commands(&chosen(
            EMPTY,
            &task("add paging", Profile::Fast),
            &overrides
        )),
        ["make test", "./serve"]
    );

    let off = Overrides {
        is_off: Some(true),
        ..Overrides::default()
    };
    let selection = chosen(PYTHON, &task("add paging", Profile::Strict), &off);
    assert_eq!((selection.checks.len(), selection.manual), (0, None));
}

#[test]
fn a_server_is_a_smoke_test_with_a_line_and_a_limit() {
    let smoke = |files: Files| {
        chosen(
            files,
            &task("fix the build", Profile::Yolo),
            &Overrides::default(),
        )
        .checks
        .remove(0)
    };
    let vite = smoke(VITE).readiness.expect("a server");
    let line =
        regex::Regex::new(vite.line.as_deref().expect("a line")).expect("a regular expression");
    for said in [
        "  VITE v5.0.0  ready in 300 ms",
        "  ➜  Local:   http://localhost:5173/",
        "Server listening on port 3000",
    ] {
        assert!(line.is_match(said), "{said}");
    }
    assert!(!line.is_match("> vite --host") && !line.is_match("already compiling"));
    assert_eq!(
        smoke(PYTHON).readiness,
        Some(Readiness {
            line: None,
            seconds: 10,
            may_end: true
        }),
        "a window says nothing"
    );
}
