//! Other stacks, with their own programs: cargo, node's tests by npm, go. Frontends have a module of their own.

use super::{Checkout, Verified};

/// Fails from the beginning, fast and strictly; the change has nothing to do with it. Then the change breaks what it touches.
#[track_caller]
pub(super) fn stands_then_breaks(
    checkout: &Checkout,
    goal: &str,
    good: (&str, &str),
    bad: (&str, &str),
) -> [Verified; 3] {
    checkout.write(good.0, good.1);
    let fast = checkout.verify(goal, "fast");
    fast.ended(0, "done_partial", "accept_partial");
    let strict = checkout.verify(goal, "strict");
    strict.ended(1, "not_done", "continue");
    checkout.write(bad.0, bad.1);
    let broken = checkout.verify(goal, "fast");
    broken.ended(1, "not_done", "continue");
    assert!(
        broken
            .scopes()
            .iter()
            .any(|(scope, _)| *scope == "blocking"),
        "{:#}",
        broken.answer
    );
    [fast, strict, broken]
}

#[test]
fn cargo() {
    let checkout = Checkout::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.0.0\"\nedition = \"2021\"\n",
        ),
        (".gitignore", "/target\n/Cargo.lock\n"),
        ("src/lib.rs", "pub mod adder;\npub mod other;\n"),
        (
            "src/adder.rs",
            "pub fn add(left: u8, right: u8) -> u8 {\n    left + right\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n",
        ),
        (
            "src/other.rs",
            "#[test]\nfn stands() {\n    let thing = Box::new(1);\n    assert_eq!(format!(\"{thing:p}\"), \"3\");\n}\n",
        ),
    ]);
    let good = "pub fn add(left: u8, right: u8) -> u8 {\n    right + left\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let bad = good.replace("right + left", "right - left");
    let [fast, ..] = stands_then_breaks(
        &checkout,
        "Turn the sum around",
        ("src/adder.rs", good),
        ("src/adder.rs", &bad),
    );
    assert_eq!(fast.text("stack"), "rust");
    assert!(
        fast.scopes()
            .iter()
            .all(|(scope, test)| *scope == "out_of_scope" && test.contains("stands")),
        "{:#}",
        fast.answer
    );
}

const NODE: [(&str, &str); 5] = [
    (
        "package.json",
        "{\"name\": \"app\", \"version\": \"0.0.0\", \"scripts\": {\"test\": \"node --test\"}}\n",
    ),
    ("adder.js", "exports.add = (left, right) => left + right;\n"),
    ("other.js", "exports.other = () => 1;\n"),
    (
        "test/adder.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('../adder.js');\n\
         test('adds', () => assert.strictEqual(add(1, 2), 3));\n",
    ),
    (
        "test/other.test.js",
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { other } = require('../other.js');\n\
         test('stands', () => assert.strictEqual(other(), 3));\n",
    ),
];

#[test]
fn npm() {
    needs!("node", "npm");
    let checkout = Checkout::new(&NODE);
    let good = "exports.add = (left, right) => right + left;\n";
    let bad = "exports.add = (left, right) => right - left;\n";
    let [fast, ..] = stands_then_breaks(
        &checkout,
        "Turn the sum around",
        ("adder.js", good),
        ("adder.js", bad),
    );
    assert_eq!(
        (fast.text("stack"), fast.text("primaryTest")),
        ("node", "npm test")
    );
    assert_eq!(fast.commands(), ["npm test"]);
}

#[test]
fn go() {
    needs!("go");
    let checkout = Checkout::new(&[
        ("go.mod", "module example.org/app\n\ngo 1.18\n"),
        (
            "adder/adder.go",
            "package adder\n\nfunc Add(left, right int) int { return left + right }\n",
        ),
        (
            "adder/adder_test.go",
            "package adder\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal(\"sum\")\n\t}\n}\n",
        ),
        ("other/other.go", "package other\n"),
        (
            "other/other_test.go",
            "package other\n\nimport \"testing\"\n\nfunc TestStands(t *testing.T) { t.Fatal(\"stands\") }\n",
        ),
    ]);
    let good = "package adder\n\nfunc Add(left, right int) int { return right + left }\n";
    let bad = "package adder\n\nfunc Add(left, right int) int { return right - left }\n";
    let [fast, strict, broken] = stands_then_breaks(
        &checkout,
        "Turn the sum around",
        ("adder/adder.go", good),
        ("adder/adder.go", bad),
    );
    assert_eq!(
        (fast.text("stack"), fast.commands()),
        ("go", vec!["go test ./..."])
    );
    assert!(
        fast.scopes()
            .iter()
            .all(|(scope, test)| *scope == "out_of_scope" && test.contains("TestStands")),
        "{:#}",
        fast.answer
    );
    assert_eq!(
        strict.commands(),
        ["go test ./...", "go build ./...", "go vet ./..."]
    );
    assert_eq!(strict.outcomes(), ["failed", "passed", "passed"]);
    let blocking: Vec<&str> = broken
        .scopes()
        .into_iter()
        .filter(|(scope, _)| *scope == "blocking")
        .map(|(_, test)| test)
        .collect();
    assert!(
        matches!(blocking.as_slice(), [test] if test.contains("TestAdds")),
        "{:#}",
        broken.answer
    );

    // Only the package that is concerned: what stands elsewhere is not even run.
    checkout.write("adder/adder.go", good);
    checkout.write("adder/more_test.go", GO_TEST);
    let targeted = checkout.verify("Add a new test", "fast");
    targeted.ended(0, "done_success", "stop");
    assert_eq!(targeted.commands(), ["go test ./adder"]);
    checkout.write("adder/more_test.go", &GO_TEST.replace("!= 5", "!= 6"));
    let wrong = checkout.verify("Add a new test", "fast");
    wrong.ended(1, "not_done", "continue");
    assert!(
        matches!(wrong.scopes().as_slice(), [("blocking", test)] if test.contains("TestMore")),
        "{:#}",
        wrong.answer
    );
}

const GO_TEST: &str = "package adder\n\nimport \"testing\"\n\nfunc TestMore(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal(\"sum\")\n\t}\n}\n";

/// What does not compile is told by the build as by the tests, and a package without tests is no failure.
#[test]
fn go_that_does_not_compile() {
    needs!("go");
    let checkout = Checkout::new(&[
        ("go.mod", "module example.org/app\n\ngo 1.18\n"),
        (
            "main.go",
            "package main\n\nfunc main() { println(one()) }\n\nfunc one() int { return 1 }\n",
        ),
    ]);
    checkout.write(
        "main.go",
        "package main\n\nfunc main() { println(one()) }\n\nfunc one() int { return 2 }\n",
    );
    let untested = checkout.verify("Print another number", "fast");
    untested.ended(3, "unverified", "escalate");
    assert_eq!(untested.outcomes(), ["not_runnable"]);
    checkout.write(
        "main.go",
        "package main\n\nfunc main() { println(one()) }\n",
    );
    let broken = checkout.verify("Fix the build", "fast");
    broken.ended(1, "not_done", "continue");
    assert_eq!(broken.commands()[0], "go build ./...");
    assert_eq!(
        broken.answer["failures"][0]["files"],
        serde_json::json!(["main.go"]),
        "{:#}",
        broken.answer
    );
}

#[test]
fn dependencies_of_the_checkout_serve_the_tree_as_it_was() {
    needs!("node", "npm");
    let checkout = Checkout::new(&NODE);
    checkout
        .write(".gitignore", "node_modules\n")
        .write("adder.js", "exports.add = require('sum');\n");
    checkout.write(
        "node_modules/sum/index.js",
        "module.exports = (left, right) => left + right;\n",
    );
    checkout.write("other.js", "exports.other = () => 3;\n");
    checkout.commit();
    checkout.write("other.js", "exports.other = () => 1;\n");
    let verified = checkout.verify("Turn the other around", "strict");
    verified
        .ended(1, "not_done", "continue")
        .because("`node_modules` is that of the checkout");
    // It could be run before the change, and only what the change broke fails now.
    assert_eq!(
        verified.answer["checks"][0]["baseline"], "passed",
        "{:#}",
        verified.answer
    );
    assert!(
        verified
            .scopes()
            .iter()
            .all(|(_, test)| test.contains("stands")),
        "{:#}",
        verified.answer
    );
    assert!(
        checkout.app().join("node_modules/sum/index.js").is_file(),
        "what was lent is still there"
    );
}
