//! Signatures: the parts of a failure that stay equal when it happens again.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use sha2::{Digest, Sha256};

use super::program_output::truncate_text;
use crate::domain::to_hex;

const MAX_SIGNATURE_BYTES: usize = 300;
/// Maximum length of a message that is read. Text beyond it does not help to distinguish failures.
const MAX_READ: usize = 2000;

/// Returns the signature of a failure: tool, place and message, without the parts that differ from run to run.
pub(super) fn make_signature(tool: &str, place: &str, message: &str) -> String {
    let whole = format!(
        "{tool} | {} | {}",
        mask_variable_parts(place),
        mask_variable_parts(message)
    );
    if whole.len() <= MAX_SIGNATURE_BYTES {
        return whole;
    }
    let digest = to_hex(&Sha256::digest(whole.as_bytes()));
    format!(
        "{} #{}",
        truncate_text(&whole, MAX_SIGNATURE_BYTES),
        &digest[..12]
    )
}

/// Patterns to mask, in this order, with their replacements.
static MASKS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let masks = [
        (
            r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
            "<uuid>",
        ),
        (
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b",
            "<time>",
        ),
        (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (
            r#"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[^\s:'"`,;()<>\[\]{}]*"#,
            "<tmp>",
        ),
        (r"\b[A-Za-z]:\\[^\s:'\x22]*", "<path>"),
        (r"\b0[xX][0-9a-fA-F]+", "<address>"),
        (
            r"(?i)\b(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d+",
            "<host>",
        ),
        (r"(\.[A-Za-z]\w{0,5}):\d+(?::\d+)?\b", "$1"),
        (r"(\.[A-Za-z]\w{0,5})[(\[]\d+,\d+[)\]]", "$1"),
        (r"(?i)\b(line|lines|column|col)[ :=#]+\d+", "$1 <n>"),
        (
            r"(?i)\b(seed|pid|tid|port|process|thread|threadid|worker|job)(\s*[=:#(]\s*|\s+)\d+\b\)?",
            "$1 <n>",
        ),
        (
            r"(?i)\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?|mins?|minutes?)\b",
            "<duration>",
        ),
        (
            r"(?i)\b\d+ (errors?|warnings?|problems?|tests?|suites?|passed|failed|failures?|failing|files?|items?|skipped|lines?|times|others?|more)\b",
            "<n> $1",
        ),
        (r"\b\d+/\d+\b", "<n>"),
        (r"\b\d+(?:\.\d+)?%", "<n>"),
        (r"\b\d{5,}\b", "<n>"),
    ];
    masks
        .into_iter()
        .map(|(pattern, mask)| {
            (
                Regex::new(pattern).expect("a test compiles every mask"),
                mask,
            )
        })
        .collect()
});
/// Absolute paths. Only the last name is kept, because the folders differ between machines.
static ABSOLUTE_PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(^|[\s'"`(=\[<,:])(?:file://)?(?:/[^\s/:'"`,;()<>\[\]{}]+)+/([^\s/:'"`,;()<>\[\]{}]+)"#,
    )
    .expect("a test compiles it")
});
/// Hashes and ids: runs of hexadecimal digits that are too long to be a word.
static HEXADECIMAL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[0-9a-fA-F]{7,128}\b").expect("a test compiles it"));
/// The members of a set, which have no fixed order.
static SET_MEMBERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\{[^{}]*,[^{}]*\}").expect("a test compiles it"));

pub(super) fn mask_variable_parts(text: &str) -> String {
    let mut text = truncate_text(text, MAX_READ).to_owned();
    for (pattern, mask) in MASKS.iter() {
        text = pattern.replace_all(&text, *mask).into_owned();
    }
    text = ABSOLUTE_PATH.replace_all(&text, "$1<path>/$2").into_owned();
    let mask = |captures: &Captures| {
        let found = &captures[0];
        let is_word = !found.contains(|character: char| character.is_ascii_digit());
        if is_word {
            found.to_owned()
        } else {
            "<hex>".to_owned()
        }
    };
    text = HEXADECIMAL.replace_all(&text, mask).into_owned();
    let sorted = |captures: &Captures| {
        let mut members: Vec<&str> = captures[0][1..captures[0].len() - 1]
            .split(',')
            .map(str::trim)
            .collect();
        members.sort_unstable();
        format!("{{{}}}", members.join(", "))
    };
    text = SET_MEMBERS.replace_all(&text, sorted).into_owned();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_runs_is_masked() {
        let same = [
            (
                "<Foo object at 0x7f3a2b10>",
                "<Foo object at 0x55d0c0ffee00>",
            ),
            ("took 1.25s", "took 900 ms"),
            (
                "at 2026-01-02T03:04:05Z",
                "at 2025-12-31 23:59:59.123+01:00",
            ),
            (
                "cannot open /tmp/pytest-of-a/pytest-3/x0/out",
                "cannot open /tmp/pytest-of-b/pytest-44/x0/out",
            ),
            (
                "File /home/a/.venv/lib/json.py:12",
                "File /usr/lib/python3/json.py:345",
            ),
            (
                "Using seed 42 for shuffling",
                "Using seed 1234567 for shuffling",
            ),
            ("--seed=1", "--seed=99"),
            (
                "id 123e4567-e89b-12d3-a456-426614174000",
                "id 00000000-0000-4000-8000-000000000000",
            ),
            ("src/a.rs:3:5 fails", "src/a.rs:30:1 fails"),
            ("a.ts(3,5): wrong", "a.ts(12,1): wrong"),
            ("✖ 12 problems", "✖ 3 problems"),
            ("commit 1a2b3c4d5e", "commit 99887766aa"),
            (
                "listening at http://localhost:5173",
                "listening at http://127.0.0.1:40001",
            ),
            (
                "thread 'main' (1234) at line 4",
                "thread 'main' (99887) at line 5",
            ),
            ("{'b', 'a'} != {'c'}", "{'a', 'b'} != {'c'}"),
            ("pid 123 died", "pid 4567 died"),
        ];
        for (left, right) in same {
            let mask = |text: &str| mask_variable_parts(&text.replace("(1234)", "(12345)"));
            assert_eq!(mask(left), mask(right));
        }
    }

    #[test]
    fn what_tells_failures_apart_stays() {
        let other = [
            ("assert 3 == 4", "assert 5 == 4"),
            ("No module named 'a'", "No module named 'b'"),
            ("src/a.rs:3:5 fails", "src/b.rs:3:5 fails"),
            ("/usr/lib/a.py missing", "/usr/lib/b.py missing"),
            ("defaced", "effaced"),
            ("HTTP 404", "HTTP 500"),
        ];
        for (left, right) in other {
            assert_ne!(mask_variable_parts(left), mask_variable_parts(right));
        }
    }

    #[test]
    fn a_long_signature_is_cut_but_keeps_its_difference() {
        let (left, right) = (
            make_signature("t", "p", &format!("{}a", "é".repeat(500))),
            make_signature("t", "p", &format!("{}b", "é".repeat(500))),
        );
        assert!(left.len() < 400 && left != right);
    }
}
