//! How a verification ends, with real pytest: whose a failure is decides, and the profile.

use super::Checkout;

/// `test_other.py` fails from the beginning, and says another address each time.
const PYTHON: [(&str, &str); 6] = [
    (
        "pyproject.toml",
        "[project]\nname = \"app\"\nversion = \"0\"\n\n[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n",
    ),
    ("conftest.py", ""),
    (
        "adder.py",
        "def add(left, right):\n    return left + right\n",
    ),
    ("other.py", "class Thing:\n    pass\n"),
    (
        "tests/test_adder.py",
        "from adder import add\n\n\ndef test_adds():\n    assert add(1, 2) == 3\n",
    ),
    (
        "tests/test_other.py",
        "import other\n\n\ndef test_other():\n    assert other.Thing() == 3\n",
    ),
];

const GOAL: &str = "Let the adder multiply as well";

fn python() -> Checkout {
    Checkout::new(&PYTHON)
}

const MULTIPLY: &str = "def add(left, right):\n    return left + right\n\n\ndef multiply(left, right):\n    return left * right\n";

#[test]
fn a_failure_that_stood_before_is_accepted_fast_and_not_strictly() {
    needs!(crate::needs::PYTEST);
    let checkout = python();
    checkout.write("adder.py", MULTIPLY);
    for (profile, code, status, next) in [
        ("fast", 0, "done_partial", "accept_partial"),
        ("strict", 1, "not_done", "continue"),
    ] {
        let verified = checkout.verify(GOAL, profile);
        verified.ended(code, status, next);
        let failures = &verified.answer["failures"];
        assert_eq!(failures.as_array().map(Vec::len), Some(1), "{failures:#}");
        // Another address each time, and still the same failure.
        assert!(
            failures[0]["text"]
                .as_str()
                .is_some_and(|text| text.contains("0x")),
            "{failures:#}"
        );
        assert_eq!(failures[0]["atBaseline"], true, "{failures:#}");
        assert_eq!(failures[0]["scope"], "out_of_scope", "{failures:#}");
        assert!(
            verified.answer["baseline"]["name"]
                .as_str()
                .is_some_and(|name| name.starts_with("HEAD (")),
            "{:#}",
            verified.answer
        );
        assert_eq!(verified.answer["changed"], serde_json::json!(["adder.py"]));
    }
}

#[test]
fn a_new_failure_in_a_touched_file_blocks() {
    needs!(crate::needs::PYTEST);
    let checkout = python();
    checkout.write(
        "adder.py",
        "def add(left, right):\n    return left - right\n",
    );
    for profile in ["fast", "strict"] {
        let verified = checkout.verify(GOAL, profile);
        verified.ended(1, "not_done", "continue");
        let scopes = verified.scopes();
        assert!(
            scopes
                .iter()
                .any(|(scope, test)| *scope == "blocking" && test.contains("test_adds")),
            "{scopes:?}"
        );
        assert!(
            scopes
                .iter()
                .any(|(scope, test)| *scope == "out_of_scope" && test.contains("test_other")),
            "{scopes:?}"
        );
    }
}

#[test]
fn what_failed_before_and_passes_now_is_said_to_be_fixed() {
    needs!(crate::needs::PYTEST);
    let checkout = python();
    checkout.write(
        "other.py",
        "class Thing:\n    def __eq__(self, other):\n        return other == 3\n",
    );
    let verified = checkout.verify("Fix the comparison of things", "strict");
    verified.ended(0, "done_success", "stop");
    assert_eq!(
        (verified.fixed().len(), verified.scopes().len()),
        (1, 0),
        "{:#}",
        verified.answer
    );
    assert!(
        verified.fixed()[0].contains("test_other"),
        "{:?}",
        verified.fixed()
    );
    assert_eq!(
        (
            &verified.answer["checks"][0]["baseline"],
            &verified.answer["checks"][0]["outcome"]
        ),
        (&"failed".into(), &"passed".into())
    );
}

#[test]
fn a_revision_can_be_named() {
    needs!(crate::needs::PYTEST);
    let checkout = python();
    checkout.write(
        "adder.py",
        "def add(left, right):\n    return left - right\n",
    );
    checkout.commit();
    let verified = checkout.verify_with(&["--goal", GOAL, "--profile", "fast", "--base", "HEAD~1"]);
    verified.ended(1, "not_done", "continue");
    assert_eq!(verified.answer["changed"], serde_json::json!(["adder.py"]));
    // The change is committed: against the last commit there is none.
    let clean = checkout.verify(GOAL, "fast");
    clean.because("nothing is changed since HEAD");
    assert_eq!(
        (
            &clean.answer["baseline"],
            clean.answer["failures"].as_array().map(Vec::len)
        ),
        (&serde_json::Value::Null, Some(2))
    );
}

#[test]
fn where_nothing_can_be_run_nothing_is_verified() {
    let checkout = Checkout::new(&[("notes.txt", "a\n")]);
    checkout.write("notes.txt", "b\n");
    let verified = checkout.verify("Rework the numbers", "strict");
    verified.ended(3, "unverified", "escalate");
    assert_eq!(
        (verified.text("stack"), verified.commands().len()),
        ("unknown", 0)
    );
}

#[test]
fn a_folder_without_git_is_verified_without_a_baseline() {
    needs!(crate::needs::PYTEST);
    let checkout = python();
    checkout.write("tests/test_other.py", "def test_other():\n    pass\n");
    let project = &checkout.project;
    let copied = project.output(
        std::process::Command::new("sh")
            .args(["-c", "mkdir plain && cp -r app/. plain && rm -r plain/.git"]),
    );
    assert_eq!(copied.code, 0, "{}", copied.stderr);
    let path = super::path();
    let scratch = checkout.scratch.path().display().to_string();
    let arguments = [
        "verify",
        "plain",
        "--scratch",
        &scratch,
        "--goal",
        GOAL,
        "--profile",
        "strict",
        "--format",
        "json",
    ];
    let verified = project.run_in(arguments, &[("PATH", &path)]).json();
    assert_eq!(
        (&verified["terminalStatus"], &verified["baseline"]),
        (&"done_success".into(), &serde_json::Value::Null)
    );
    assert!(
        verified["reasons"]
            .to_string()
            .contains("not a git checkout"),
        "{verified:#}"
    );
    let refused = project.run_in(["verify", "plain", "--goal", "g", "--base", "HEAD"], &[]);
    assert!(
        refused
            .refusal()
            .contains("is not in a git repository, so there is no revision `HEAD`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn tests_that_cannot_be_run_block() {
    let checkout = Checkout::new(&PYTHON)
        .config("{primary_test: no-such-program --all, targeted_test: false}");
    checkout.write("adder.py", MULTIPLY);
    let verified = checkout.verify(GOAL, "fast");
    verified.ended(1, "blocked", "escalate");
    assert_eq!(verified.outcomes(), ["not_runnable"]);
}
