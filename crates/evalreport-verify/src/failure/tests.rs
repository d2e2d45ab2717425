use proptest::prelude::*;

use super::*;
use crate::CheckKind;
use crate::testing::check;

/// Formats each failure as `test | files | signature`.
fn read(said: &str) -> Vec<String> {
    let shown = |failure: &CheckFailure| {
        format!(
            "{} | {} | {}",
            failure.test.as_deref().unwrap_or("-"),
            failure.files.join(" "),
            failure.signature
        )
    };
    extract_failures(&check(CheckKind::Test, "run"), said, &["/work/tree"])
        .iter()
        .map(shown)
        .collect()
}

const PYTEST: &str = "\
============================= test session starts ==============================
collected 5 items

tests/test_a.py .F                                                       [ 40%]
tests/test_b.py FE                                                       [100%]

==================================== ERRORS ====================================
_______________________ ERROR at setup of test_fixture ________________________

    @pytest.fixture
    def broken():
>       raise RuntimeError(\"no\")
E       RuntimeError: no

tests/test_b.py:9: RuntimeError
=================================== FAILURES ===================================
____________________________ TestMoney.test_round[2] _____________________________

self = <tests.test_a.TestMoney object at 0x7f0c2a4b>

>       assert total(1) == 2
E       assert 1 == 2
E        +  where 1 = total(1)

tests/test_a.py:12: AssertionError
___________________________________ test_raise ___________________________________

    def test_raise():
>       divide(1, 0)

tests/test_b.py:5:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
>       return left / right
E       ZeroDivisionError: division by zero

src/money.py:2: ZeroDivisionError
=========================== short test summary info ============================
FAILED tests/test_a.py::TestMoney::test_round[2] - assert 1 == 2
FAILED tests/test_b.py::test_raise - ZeroDivisionError: division by zero
ERROR tests/test_b.py::test_fixture - RuntimeError: no
==================== 2 failed, 2 passed, 1 error in 0.12s ====================
";

#[test]
fn pytest_names_tests_and_every_file_they_went_through() {
    let expected = [
        "tests/test_a.py::TestMoney::test_round[2] | tests/test_a.py | pytest | tests/test_a.py::TestMoney::test_round[2] | assert 1 == 2",
        "tests/test_b.py::test_fixture | tests/test_b.py | pytest | tests/test_b.py::test_fixture | RuntimeError: no",
        "tests/test_b.py::test_raise | src/money.py tests/test_b.py | pytest | tests/test_b.py::test_raise | \
         ZeroDivisionError: division by zero",
    ];
    assert_eq!(read(PYTEST), expected);
}

#[test]
fn pytest_that_cannot_import_names_the_file() {
    let said = "\
==================================== ERRORS ====================================
______________________ ERROR collecting tests/test_a.py _______________________
ImportError while importing test module '/work/tree/tests/test_a.py'.
tests/test_a.py:1: in <module>
    import nothing
E   ModuleNotFoundError: No module named 'nothing'
=========================== short test summary info ============================
ERROR tests/test_a.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
";
    assert_eq!(
        read(said),
        [
            "tests/test_a.py | tests/test_a.py | pytest | tests/test_a.py | ModuleNotFoundError: No module named 'nothing'"
        ]
    );
}

#[test]
fn every_tool_is_read() {
    let cases: [(&str, &[&str]); 22] = [
        (
            "running 2 tests\ntest money::tests::adds ... FAILED\ntest money::tests::ok ... ok\n\nfailures:\n\n\
             ---- money::tests::adds stdout ----\n\nthread 'money::tests::adds' (12345) panicked at src/money.rs:12:9:\n\
             assertion `left == right` failed\n  left: 1\n right: 2\nnote: run with `RUST_BACKTRACE=1`\n\n\nfailures:\n    money::tests::adds\n\n\
             test result: FAILED. 1 passed; 1 failed; 0 ignored\n\nerror: test failed, to rerun pass `--lib`\n",
            &[
                "money::tests::adds | src/money.rs | cargo test | money::tests::adds | assertion `left == right` failed",
            ],
        ),
        (
            "test src/lib.rs - add (line 3) ... FAILED\n",
            &[
                "src/lib.rs - add (line 3) | src/lib.rs | cargo test | src/lib.rs - add (line <n>) | ",
            ],
        ),
        (
            "        FAIL [   0.012s] (1/2) shop money::tests::adds\n",
            &["shop money::tests::adds |  | cargo test | shop money::tests::adds | "],
        ),
        (
            "error[E0425]: cannot find value `x` in this scope\n  --> src/main.rs:3:5\n   |\n3  |     x;\n\nerror: could not compile `shop` (bin) due to 1 previous error\n",
            &[
                "- | src/main.rs | diagnostic | src/main.rs | error[E0425]: cannot find value `x` in this scope",
            ],
        ),
        (
            "--- FAIL: TestAdd (0.00s)\n    add_test.go:7: got 3\nFAIL\nFAIL\texample.com/shop/money\t0.002s\nFAIL\n",
            &[
                "example.com/shop/money.TestAdd | example.com/shop/money/add_test.go | go test | example.com/shop/money.TestAdd | got 3",
            ],
        ),
        (
            "# example.com/shop\n./main.go:3:5: undefined: y\n",
            &["- | main.go | go | main.go | undefined: y"],
        ),
        (
            "FAIL src/a.test.js (5.1 s)\n  money\n    ✕ adds (3 ms)\n\n  ● money › adds\n\n    expect(received).toBe(expected)\n\n      at Object.<anonymous> (src/a.test.js:4:12)\n",
            &[
                "src/a.test.js › money › adds | src/a.test.js | jest | src/a.test.js › money › adds | expect(received).toBe(expected)",
            ],
        ),
        (
            " FAIL  src/a.test.ts > money > adds\nAssertionError: expected 3 to be 4\n ❯ src/a.test.ts:5:19\n",
            &[
                "src/a.test.ts > money > adds | src/a.test.ts | vitest | src/a.test.ts > money > adds | AssertionError: expected 3 to be 4",
            ],
        ),
        (
            " FAIL  src/a.test.ts [ src/a.test.ts ]\nError: Failed to load url ./x (resolved id: ./x) in /work/tree/src/a.test.ts.\n",
            &[
                "src/a.test.ts | src/a.test.ts | vitest | src/a.test.ts | Error: Failed to load url ./x (resolved id: ./x) in src/a.test.ts.",
            ],
        ),
        (
            "not ok 2 - adds\n  ---\n  duration_ms: 1.2\n  location: '/work/tree/test/a.test.js:5:1'\n  error: 'one is not two'\n  ...\n# tests 2\n",
            &["adds | test/a.test.js | tap | adds | one is not two"],
        ),
        (
            "✖ failing tests:\n\ntest at test/a.test.js:5:1\n✖ adds (1.2ms)\n  AssertionError [ERR_ASSERTION]: 1 == 2\n      at TestContext.<anonymous> (file:///work/tree/test/a.test.js:6:3)\n",
            &["adds | test/a.test.js | node | adds | AssertionError [ERR_ASSERTION]: 1 == 2"],
        ),
        (
            "  1 passing (3ms)\n  1 failing\n\n  1) money\n       adds:\n     AssertionError: 1 == 2\n      at Context.<anonymous> (test/a.js:4:3)\n",
            &["money adds | test/a.js | mocha | money adds | AssertionError: 1 == 2"],
        ),
        (
            "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/b.ts:9:1 - error TS1005: ';' expected.\n",
            &[
                "- | src/a.ts | diagnostic | src/a.ts | TS2322: Type 'string' is not assignable to type 'number'.",
                "- | src/b.ts | diagnostic | src/b.ts | TS1005: ';' expected.",
            ],
        ),
        (
            "\n/work/tree/src/a.js\n   3:7   error    'x' is not defined   no-undef\n  12:1   warning  Unexpected console   no-console\n\n✖ 2 problems (1 error, 1 warning)\n",
            &["- | src/a.js | eslint | src/a.js | 'x' is not defined no-undef"],
        ),
        (
            "error during build:\n[vite]: Rollup failed to resolve import \"./gone\" from \"/work/tree/src/main.js\".\n",
            &["- | src/main.js | bundler | src/main.js | cannot resolve ./gone"],
        ),
        (
            "✘ [ERROR] Could not read from file\n\n    src/main.ts:1:7:\n      1 │ import x\n",
            &["- | src/main.ts | bundler | src/main.ts | Could not read from file"],
        ),
        (
            "app.py:1:1: F401 `os` imported but unused\nFound 1 error.\n",
            &["- | app.py | diagnostic | app.py | F401 `os` imported but unused"],
        ),
        (
            "app.py:3: error: Name \"x\" is not defined  [name-defined]\n",
            &["- | app.py | diagnostic | app.py | error: Name \"x\" is not defined [name-defined]"],
        ),
        (
            "Traceback (most recent call last):\n  File \"/work/tree/app.py\", line 3, in <module>\n    import gone\nModuleNotFoundError: No module named 'gone'\n",
            &["- | app.py | python | app.py | ModuleNotFoundError: No module named 'gone'"],
        ),
        (
            "*** Error compiling './a.py'...\n  File \"./a.py\", line 1\n    def :\n        ^\nSyntaxError: invalid syntax\n",
            &["- | a.py | python | ./a.py | SyntaxError: invalid syntax"],
        ),
        (
            "[ERROR] Failures:\n[ERROR]   MoneyTest.adds:12 expected: <1> but was: <2>\n",
            &[
                "MoneyTest.adds | MoneyTest.java | junit | MoneyTest.adds | expected: <1> but was: <2>",
            ],
        ),
        (
            "make: Entering directory\nconfig.sh: line 3: frobnicate: cannot open\nmake: *** [Makefile:3: test] Error 1\n",
            &["- | config.sh | output | config.sh | config.sh: line <n>: frobnicate: cannot open"],
        ),
    ];
    for (said, expected) in cases {
        assert_eq!(read(said), expected, "{said}");
    }
}

#[test]
fn uncaught_errors_of_node_point_at_their_files() {
    let said = "/work/tree/server.js:3\n  boom()\n  ^\n\nReferenceError: boom is not defined\n    at Object.<anonymous> (/work/tree/server.js:3:3)\n    at node:internal/main:1:1\n";
    assert_eq!(
        read(said),
        ["- | server.js | javascript | server.js | ReferenceError: boom is not defined"]
    );
}

#[test]
fn folders_and_colours_of_a_check_do_not_matter() {
    let mut inner = check(CheckKind::Lint, "run");
    inner.folder = "web".to_owned();
    let coloured =
        "\u{1b}[36msrc/a.ts\u{1b}[0m:9:1 - \u{1b}[91merror\u{1b}[0m TS1005: ';' expected.\r\n";
    let found = extract_failures(&inner, coloured, &[]);
    assert_eq!(found[0].files, ["web/src/a.ts"]);
    assert_eq!(
        found[0].signature,
        "diagnostic | src/a.ts | TS1005: ';' expected."
    );
}

#[test]
fn paths_outside_the_tree_are_no_files_of_it() {
    assert_eq!(
        below_root("web", "../src/./a.py").as_deref(),
        Some("src/a.py")
    );
    for path in [
        "../../x.py",
        "/usr/lib/python3/x.py",
        "node_modules/x/y.js",
        "node:internal/x.js",
        ".",
    ] {
        assert_eq!(below_root("", path), None, "{path}");
    }
}

#[test]
fn hostile_words_are_bounded() {
    let check = check(CheckKind::Test, "run");
    let long = format!(
        "FAILED {}.py::test_x - {}",
        "é".repeat(1 << 20),
        "x".repeat(1 << 20)
    );
    assert!(
        extract_failures(&check, &long, &[])
            .iter()
            .all(|failure| failure.signature.len() < 400 && failure.text.len() <= MAX_TEXT)
    );
    let many = (0..20_000)
        .map(|number| format!("FAILED tests/test_{number}x.py::test - boom"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(extract_failures(&check, &many, &[]).len(), MAX_FAILURES);
    let escapes =
        "\u{1b}[".repeat(200_000) + "\u{1b}]8;;" + &"\u{1b}".repeat(1000) + "\nerror: x\n";
    assert!(extract_failures(&check, &escapes, &[]).len() <= 1);
    let huge = "error: the same\n".repeat(600_000);
    assert_eq!(extract_failures(&check, &huge, &[]).len(), 1);
}

/// Returns one failing test as pytest reports it. The arguments are the parts that differ from run to run.
fn pytest_block(
    name: usize,
    address: u64,
    line: u32,
    seconds: u32,
    seed: u32,
    folder: &str,
) -> (String, String) {
    let section = format!(
        "______ test_{name} ______\n\n>   assert thing\nE   AssertionError: <Thing object at 0x{address:x}> took {seconds}.5s with seed {seed} in {folder}/out\n\n\
         tests/test_a.py:{line}: AssertionError\n"
    );
    (
        section,
        format!(
            "FAILED tests/test_a.py::test_{name} - AssertionError: <Thing object at 0x{address:x}>...\n"
        ),
    )
}

fn signatures(blocks: &[(String, String)]) -> Vec<String> {
    let said = format!(
        "=== FAILURES ===\n{}=== short test summary info ===\n{}=== {} failed in 1.0s ===\n",
        blocks
            .iter()
            .map(|(section, _)| section.as_str())
            .collect::<String>(),
        blocks
            .iter()
            .map(|(_, line)| line.as_str())
            .collect::<String>(),
        blocks.len()
    );
    extract_failures(&check(CheckKind::Test, "pytest"), &said, &[])
        .into_iter()
        .map(|failure| failure.signature)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn order_addresses_times_seeds_and_folders_do_not_change_signatures(
        names in proptest::collection::btree_set(0usize..50, 1..8),
        noise in proptest::collection::vec((1u64.., 1u32..9999, 0u32..999, 0u32.., "[a-z0-9]{1,8}"), 16),
        turn in 0usize..8,
    ) {
        let block = |(place, name): (usize, &usize)| {
            let (address, line, seconds, seed, folder) = &noise[place];
            pytest_block(*name, *address, *line, *seconds, *seed, &format!("/tmp/{folder}"))
        };
        let first: Vec<_> = names.iter().enumerate().map(block).collect();
        let mut second: Vec<_> = names.iter().enumerate().map(|(place, name)| block((place + 8, name))).collect();
        let middle = turn % second.len();
        second.rotate_left(middle);
        let (first, second) = (signatures(&first), signatures(&second));
        prop_assert_eq!(first.len(), names.len());
        prop_assert_eq!(first, second);
    }

    #[test]
    fn lines_of_diagnostics_may_come_in_any_order(numbers in proptest::collection::btree_set(0u32..100, 1..10), shift in 1u32..500) {
        let lines: Vec<String> = numbers.iter().map(|number| format!("src/f{number}.ts({number},{number}): error TS{}: wrong\n", 1000 + number)).collect();
        let moved: Vec<String> = numbers.iter().rev().map(|number| format!("src/f{number}.ts({},1): error TS{}: wrong\n", number + shift, 1000 + number)).collect();
        let read = |lines: &[String]| extract_failures(&check(CheckKind::Syntax, "tsc"), &lines.concat(), &[]).into_iter().map(|failure| failure.signature).collect::<Vec<_>>();
        prop_assert_eq!(read(&lines), read(&moved));
    }

    #[test]
    fn no_words_break_the_reading(said in "(?s).{0,400}") {
        for failure in extract_failures(&check(CheckKind::Test, "run"), &said, &["/", ""]) {
            prop_assert!(failure.text.len() <= MAX_TEXT);
        }
    }
}
