//! Counts errors and warnings in the text that compilers and linters print for people.
//!
//! If there is a summary, it is counted, because it sums up the lines above it. Otherwise the lines that name a place are counted. So a
//! command should run only one tool: of a tool with a summary and one without, only the first is counted.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::super::test_report::OutputText;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub errors: u64,
    pub warnings: u64,
}

impl Findings {
    pub fn add(&mut self, other: Self) {
        self.errors = self.errors.saturating_add(other.errors);
        self.warnings = self.warnings.saturating_add(other.warnings);
    }
}

/// Returns the number of findings. `None` if the output holds neither a summary nor a line that names a finding.
pub fn count_findings(outputs: &[OutputText]) -> Option<Findings> {
    let mut summaries = None;
    let mut places = None;
    let mut crates = FindingsByCrate::default();
    for line in outputs
        .iter()
        .flat_map(OutputText::lines)
        .map(truncate_line)
    {
        if let Some(found) = parse_summary(line) {
            summaries.get_or_insert_with(Findings::default).add(found);
        } else if !crates.read_line(line)
            && let Some(found) = parse_finding(line)
        {
            places.get_or_insert_with(Findings::default).add(found);
        }
    }
    if let Some(found) = crates.sum_findings() {
        summaries.get_or_insert_with(Findings::default).add(found);
    }
    summaries.or(places)
}

/// Returns the start of a line. A summary is a short line; a line of megabytes is something else.
fn truncate_line(line: &str) -> &str {
    &line[..line.floor_char_boundary(2_000)]
}

fn compile_pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// Reads a number; one that is too large counts as the largest possible. The score reaches 0 long before.
fn parse_count(found: &Captures, group: usize) -> u64 {
    found
        .get(group)
        .map_or(0, |digits| digits.as_str().parse().unwrap_or(u64::MAX))
}

/// eslint's `✖ 12 problems (5 errors, 7 warnings)`, pyright's `3 errors, 2 warnings, 0 informations`, `3 errors and 2 warnings`.
static ERRORS_FIRST: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(\d+) errors?(?:,| and) (\d+) warnings?\b"));
/// clang's `2 warnings and 1 error generated.`, oxlint's `Found 2 warnings and 1 error.`
static WARNINGS_FIRST: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"(\d+) warnings? and (\d+) errors?\b"));
/// ruff, mypy, tsc and biome: `Found 3 errors in 2 files`.
static FOUND_COUNT: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^Found (\d+) (error|warning)s?\b"));
/// javac's `3 errors`, clang's `1 warning generated.`, golangci-lint's `2 issues:`
static BARE_COUNT: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^(\d+) (error|warning|issue)s?(?: generated)?[.:]?$"));

fn parse_summary(line: &str) -> Option<Findings> {
    let line = line.trim();
    // eslint's second line says which of the findings in the first line can be fixed.
    if line.contains("fixable") {
        return None;
    }
    if let Some(found) = ERRORS_FIRST.captures(line) {
        return Some(Findings {
            errors: parse_count(&found, 1),
            warnings: parse_count(&found, 2),
        });
    }
    if let Some(found) = WARNINGS_FIRST.captures(line) {
        return Some(Findings {
            errors: parse_count(&found, 2),
            warnings: parse_count(&found, 1),
        });
    }
    let found = FOUND_COUNT
        .captures(line)
        .or_else(|| BARE_COUNT.captures(line))?;
    let count = parse_count(&found, 1);
    Some(if &found[2] == "warning" {
        Findings {
            errors: 0,
            warnings: count,
        }
    } else {
        Findings {
            errors: count,
            warnings: 0,
        }
    })
}

/// cargo's ``warning: `x` (bin "x") generated 3 warnings (1 duplicate)``
static GENERATED_WARNINGS: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"^warning: `([^`]+)`.* generated (\d+) warnings?(?: \((\d+) duplicates?\))?")
});
/// cargo's ``error: could not compile `x` (bin "x") due to 2 previous errors; 1 warning emitted``, and rustc's own words.
static FAILED_CRATE: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(
        r"^error: (?:could not compile `([^`]+)`.*|aborting) due to (?:(\d+) )?previous errors?(?:; (\d+) warnings? emitted)?",
    )
});
/// rustc's `warning: 2 warnings emitted`
static EMITTED_WARNINGS: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^warning: (\d+) warnings? emitted$"));

/// Findings that rustc reports, by crate. A crate is compiled several times, for itself and for its tests, and each compilation counts its
/// errors anew, so the largest number is used. rustc marks repeated warnings as duplicates.
#[derive(Default)]
struct FindingsByCrate(BTreeMap<String, CrateFindings>);

#[derive(Default)]
struct CrateFindings {
    errors: u64,
    generated: u64,
    emitted: u64,
}

impl FindingsByCrate {
    fn read_line(&mut self, line: &str) -> bool {
        let line = line.trim_end();
        if let Some(found) = GENERATED_WARNINGS.captures(line) {
            let new = parse_count(&found, 2).saturating_sub(parse_count(&found, 3));
            let of_crate = self.0.entry(found[1].to_owned()).or_default();
            of_crate.generated = of_crate.generated.saturating_add(new);
        } else if let Some(found) = FAILED_CRATE.captures(line) {
            let of_crate = self
                .0
                .entry(found.get(1).map_or("", |name| name.as_str()).to_owned())
                .or_default();
            let errors = if found.get(2).is_some() {
                parse_count(&found, 2)
            } else {
                1
            };
            of_crate.errors = of_crate.errors.max(errors);
            of_crate.emitted = of_crate.emitted.max(parse_count(&found, 3));
        } else if let Some(found) = EMITTED_WARNINGS.captures(line) {
            let of_crate = self.0.entry(String::new()).or_default();
            of_crate.emitted = of_crate.emitted.max(parse_count(&found, 1));
        } else {
            return false;
        }
        true
    }

    fn sum_findings(&self) -> Option<Findings> {
        let sum = self
            .0
            .values()
            .fold(Findings::default(), |mut sum, of_crate| {
                sum.add(Findings {
                    errors: of_crate.errors,
                    warnings: of_crate.generated.max(of_crate.emitted),
                });
                sum
            });
        (!self.0.is_empty()).then_some(sum)
    }
}

/// Maven's and many others' `[WARNING] text`
static BRACKETED_LEVEL: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^\s*\[(ERROR|WARNING|WARN)\]"));
/// tsc's `a.ts(1,2): error TS2322: text`
static TYPESCRIPT_ERROR: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r"\berror TS\d+:"));
/// flake8's `a.py:1:1: E302 text`, pylint's `a.py:1:0: C0114: text`
static CODED_FINDING: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^\S[^:]*:\d+:\d+: ([A-Z]+)\d+:? "));
/// Compilers' and mypy's `a.c:1:2: warning: text`
static COMPILER_FINDING: LazyLock<Regex> = LazyLock::new(|| {
    compile_pattern(r"^\S[^:]*:\d+(?::\d+)?:? (?:- )?(?:fatal )?(error|warning)\b")
});
/// go vet's `./a.go:3:2: text`
static GO_VET_FINDING: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(r"^(?:vet: )?[^:\s]+\.go:\d+:\d+: "));

const ONE_ERROR: Findings = Findings {
    errors: 1,
    warnings: 0,
};
const ONE_WARNING: Findings = Findings {
    errors: 0,
    warnings: 1,
};

/// Reads a line that names one finding.
fn parse_finding(line: &str) -> Option<Findings> {
    if let Some(found) = BRACKETED_LEVEL.captures(line) {
        return Some(if &found[1] == "ERROR" {
            ONE_ERROR
        } else {
            ONE_WARNING
        });
    }
    if TYPESCRIPT_ERROR.is_match(line) {
        return Some(ONE_ERROR);
    }
    if let Some(found) = CODED_FINDING.captures(line) {
        return Some(if matches!(&found[1], "E" | "F") {
            ONE_ERROR
        } else {
            ONE_WARNING
        });
    }
    if let Some(found) = COMPILER_FINDING.captures(line) {
        return Some(if &found[1] == "error" {
            ONE_ERROR
        } else {
            ONE_WARNING
        });
    }
    GO_VET_FINDING.is_match(line).then_some(ONE_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, errors: u64, warnings: u64) {
        assert_eq!(
            count_findings(&[OutputText::new(output.as_bytes(), &[])]),
            Some(Findings { errors, warnings }),
            "{output}"
        );
    }

    #[test]
    fn pinned_summaries() {
        check("✖ 12 problems (5 errors, 7 warnings)", 5, 7);
        check("3 errors and 2 warnings", 3, 2);
        check("[WARNING] unused\nbuilding\n[WARNING] deprecated\n", 0, 2);
        check("Found 3 errors.", 3, 0);
    }

    #[test]
    fn summaries_go_before_the_lines_they_sum_up() {
        check(
            "/w/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 3 problems (1 error, 2 warnings)\n  \
             1 error and 1 warning potentially fixable with the `--fix` option.\n",
            1,
            2,
        );
        check(
            "\u{1b}[31m\u{1b}[1m✖ 1 problem (1 error, 0 warnings)\u{1b}[22m\n",
            1,
            0,
        );
        check(
            "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.\n",
            1,
            0,
        );
        check(
            "a.py:1: error: Name \"x\" is not defined  [name-defined]\nFound 1 error in 1 file (checked 2 source files)\n",
            1,
            0,
        );
        check(
            "a.ts:1:7 - error TS2322: no\n\nFound 1 error in a.ts:1\n",
            1,
            0,
        );
        check("0 errors, 1 warning, 0 informations", 0, 1);
        check(
            "a.c:1:2: error: x\na.c:3:4: warning: y\n1 warning and 1 error generated.\n",
            1,
            1,
        );
        check("A.java:3: error: x\nB.java:3: error: x\n2 errors\n", 2, 0);
        check("Found 2 warnings and 1 error.\n", 1, 2);
        check("a.go:1:2: x (errcheck)\n1 issues:\n* errcheck: 1\n", 1, 0);
    }

    #[test]
    fn crates_are_counted_once() {
        check(
            "warning: unused variable: `x`\n --> src/main.rs:2:9\n\nwarning: `x` generated 2 warnings\n",
            0,
            2,
        );
        check(
            "warning: `x` (lib) generated 3 warnings (run `cargo clippy --fix --lib -p x` to apply 1 suggestion)\n\
             warning: `x` (lib test) generated 4 warnings (3 duplicates)\nwarning: `y` (bin \"y\") generated 1 warning\n",
            0,
            5,
        );
        check(
            "error[E0308]: mismatched types\nerror: could not compile `x` (lib) due to 2 previous errors; 1 warning emitted\n\
             warning: build failed, waiting for other jobs to finish...\n\
             error: could not compile `x` (lib test) due to 2 previous errors; 1 warning emitted\n",
            2,
            1,
        );
        check("error: could not compile `x` due to previous error\n", 1, 0);
        check(
            "error: aborting due to 3 previous errors; 1 warning emitted\n\n",
            3,
            1,
        );
        check("warning: unused\nwarning: 2 warnings emitted\n\n", 0, 2);
    }

    #[test]
    fn without_a_summary_the_lines_count() {
        check(
            "a.py:1:1: F401 'os' imported but unused\na.py:2:80: W291 trailing\na.py:3:1: E302 expected 2\na.py:4:1: C901 x\n",
            2,
            2,
        );
        check(
            "************* Module a\na.py:1:0: C0114: Missing module docstring (missing-module-docstring)\n\
             a.py:3:4: E0602: Undefined variable 'x' (undefined-variable)\n\nYour code has been rated at 5.00/10\n",
            1,
            1,
        );
        check(
            "a.ts(1,7): error TS2322: Type 'string'\nb.ts(1,7): error TS1005: ';' expected.\n",
            2,
            0,
        );
        check("a.py:1: error: x\na.py:1: note: y\n", 1, 0);
        check(
            "# example.com/a\nvet: ./a.go:3:2: undefined: x\n./b.go:3:2: unreachable code\n",
            2,
            0,
        );
    }

    #[test]
    fn other_words_count_nothing() {
        for other in [
            "",
            "All checks passed!",
            "Success: no issues found in 3 source files",
            "error",
            "12:30:05: E",
            "http://x:80:1: a",
        ] {
            assert_eq!(
                count_findings(&[OutputText::new(other.as_bytes(), &[])]),
                None,
                "{other}"
            );
        }
    }

    #[test]
    fn hostile_output_is_bounded() {
        let digits = "9".repeat(100_000);
        check(&format!("Found {} errors\n", &digits[..1_000]), u64::MAX, 0);
        check(
            &format!("{} errors and 1 warning\nFound 1 error\n", &digits[..500]),
            u64::MAX,
            1,
        );
        assert_eq!(
            count_findings(&[OutputText::new(
                format!("Found {digits} errors").as_bytes(),
                &[]
            )]),
            None
        );
        assert_eq!(
            count_findings(&[OutputText::new(&b"a:1:1: ".repeat(1 << 20), &[])]),
            None
        );
    }
}
