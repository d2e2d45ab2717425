use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::super::evaluated::Effort;
use super::super::layer::tests::read_yaml_layers;
use super::super::sample;
use super::*;

#[track_caller]
fn check(language: CodeLanguage, text: &str, expected: CodeElementCounts) {
    assert_eq!(count_elements(language, text), Ok(expected));
}

const PYTHON: &str = r#""""A module
about nothing.

"""
import os

LIMIT = 3


# A comment.
def total(items, factor=2):
    """Adds up."""
    result: int = 0
    for item in items:
        if item is None:
            continue
        elif item > LIMIT:
            result += item * factor
        else:
            result += 1
    return result


async def read(path):
    count: int
    try:
        with open(path) as file:
            text = f"{file.read()} -- {True}"
    except OSError:
        return ""
    if (size := len(text)) > 10:
        print(size)
    names = [name for name in text.split() if name]
    match size:
        case 0:
            a = b = 1.5
        case _:
            a = "x" if names else 'y'
    while size:
        size -= 1
    query = """first

second"""
    return query  # of two lines
"#;

#[test]
fn python_is_counted_as_by_hand() {
    let expected = CodeElementCounts {
        lines: 32,
        constants: 15,
        calls: 5,
        conditions: 7,
        loops: 3,
        assignments: 12,
        is_broken: false,
    };
    check(CodeLanguage::Python, PYTHON, expected);
    check(
        CodeLanguage::Python,
        &PYTHON.replace('\n', "\r\n"),
        expected,
    );
    check(CodeLanguage::Python, &format!("\u{feff}{PYTHON}"), expected);
}

#[test]
fn javascript_is_counted_as_by_hand() {
    let text = r#"#!/usr/bin/env node
// A comment.
import { a } from "./a.js";
/* block
   comment */
const limit = 3, name = `n${1}`;
let later;
class Box {
  size = 0;
  open;

  grow(by = 1) {
    this.size += by;
    return this.size > limit ? null : undefined;
  }
}
for (let i = 0; i < limit; i++) {
  if (i === 1) {
    later = new Box();
  } else if (/x+/.test(name)) {
    later.grow(true);
  }
}
for (const key of [1, 2]) console.log(key);
do { later = null; } while (false);
switch (name) {
  case "a":
    break;
  default:
    try { a(); } catch (error) { throw error; }
}
"#;
    let expected = CodeElementCounts {
        lines: 26,
        constants: 16,
        calls: 5,
        conditions: 5,
        loops: 3,
        assignments: 8,
        is_broken: false,
    };
    check(CodeLanguage::JavaScript, text, expected);
    // Plain JavaScript has the same counts in the other two languages.
    check(CodeLanguage::TypeScript, text, expected);
    check(CodeLanguage::Tsx, text, expected);
}

#[test]
fn types_of_typescript_compute_nothing() {
    let text = r#"type Kind = "a" | "b" | 3;
enum Level { Low = 1, High }
interface Item { kind: Kind; size?: number }
export class Store<T> {
  private items: T[] = [];
  readonly name: string;
  constructor(name: string) {
    this.name = name as string;
  }
  find(kind: Kind): T | undefined {
    for (const item of this.items) {
      if (item!) return item;
    }
    return undefined;
  }
}
"#;
    let expected = CodeElementCounts {
        lines: 16,
        constants: 2,
        calls: 0,
        conditions: 1,
        loops: 1,
        assignments: 3,
        is_broken: false,
    };
    check(CodeLanguage::TypeScript, text, expected);
}

#[test]
fn elements_are_read() {
    let text = "import React from \"react\";\n\
                export const App = ({ n }: { n: number }) => (\n\
                <ul title=\"x\">\n\
                {n > 0 ? <li key={n}>text</li> : null}\n\
                </ul>\n\
                );\n";
    let expected = CodeElementCounts {
        lines: 6,
        constants: 3,
        calls: 0,
        conditions: 1,
        loops: 0,
        assignments: 1,
        is_broken: false,
    };
    check(CodeLanguage::Tsx, text, expected);
}

#[test]
fn rust_is_counted_as_by_hand() {
    let text = r#"//! Docs.
use std::fmt;
/// Docs.
#[derive(Debug)]
pub struct Point { x: i64 }
const LIMIT: i64 = 3;
static NAME: &str = r"n";
trait Named { const ID: u8; }
fn total(items: &[Option<i64>]) -> i64 {
    let mut sum = 0;
    let later;
    for item in items {
        let Some(value) = item else { continue };
        if *value > LIMIT && true {
            sum += value;
        } else if let Some(_) = item {
            sum = -1;
        }
    }
    later = match sum {
        0 => 'a',
        n if n < 0 => 'b',
        _ => {
            println!("{}", format(1.5));
            'c'
        }
    };
    /* a
       comment */
    loop { break; }
    while later.is_ascii() {
        drop(later);
    }
    sum
}
"#;
    let expected = CodeElementCounts {
        lines: 31,
        constants: 12,
        calls: 3,
        conditions: 6,
        loops: 3,
        assignments: 7,
        is_broken: false,
    };
    check(CodeLanguage::Rust, text, expected);
}

#[test]
fn nothing_and_nonsense_are_counted_too() {
    for text in ["", "\n\n", "# only a comment\n", "\"\"\"only words\"\"\"\n"] {
        check(CodeLanguage::Python, text, CodeElementCounts::default());
    }
    let broken = count_elements(CodeLanguage::Python, "def f(:\n    x = 1\n")
        .expect("it is parsed all the same");
    assert!(broken.is_broken && broken.lines > 0, "{broken:?}");
}

#[test]
fn hostile_texts_end() {
    for part in [
        "(", "[{(", "a=", "if a:\n ", "`${", "x<y<", "/*", "f(\"", "\u{0}", "é",
    ] {
        for language in [
            CodeLanguage::Python,
            CodeLanguage::JavaScript,
            CodeLanguage::Tsx,
            CodeLanguage::Rust,
        ] {
            // The text may be counted or refused, but must neither crash the parser nor take forever.
            let _ = count_elements(language, &part.repeat(6_000 / part.len()));
        }
    }
    let deep = "(".repeat(usize::try_from(MAX_BYTES).expect("it fits"));
    assert!(count_elements(CodeLanguage::Python, &deep).is_ok_and(|counts| counts.is_broken));
}

fn evaluated(files: &[(&str, &str)], settings: &ComplexitySettings) -> EvaluatorResult {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| PathBuf::from(path)).collect();
    let suite = sample::sample_suite();
    evaluate_complexity(
        &Workpiece {
            suite: &suite,
            folder: Some(folder.path()),
            files: &paths,
            transcript: &[],
            effort: Effort::default(),
        },
        settings,
    )
}

#[test]
fn pinned_means() {
    let settings = ComplexitySettings::default();
    for (mean, score) in [
        (0.0, 100.0),
        (10.0, 50.0),
        (20.0, 0.0),
        (30.0, 0.0),
        (2.5, 88.0),
    ] {
        assert_eq!(
            settings.score_density(mean).to_bits(),
            f64::to_bits(score),
            "{mean}"
        );
    }
}

#[test]
fn the_mean_is_over_files_and_the_densest_comes_first() {
    // `b.js` has a weight of 7 on one line; `a.py` of 7 + 2 + 0 on three lines.
    let evaluated = evaluated(
        &[
            ("a.py", "x = 1\nprint(x)\npass\n"),
            ("b.js", "let x = 1;\n"),
            ("README.md", "# x\n"),
        ],
        &ComplexitySettings::default(),
    );
    assert_eq!(evaluated.score, Ok(75.0));
    assert_eq!(
        evaluated.details,
        json!({"mean": 5.0, "threshold": 20.0, "measured": 2, "files": [
            {"file": "b.js", "language": "JavaScript", "density": 7.0, "lines": 1, "constants": 1, "calls": 0, "conditions": 0,
             "loops": 0, "assignments": 1},
            {"file": "a.py", "language": "Python", "density": 3.0, "lines": 3, "constants": 1, "calls": 1, "conditions": 0,
             "loops": 0, "assignments": 1},
        ]})
    );
}

#[test]
fn a_bundle_does_not_outweigh_what_was_written() {
    let bundle = "a=1;b(2);".repeat(1_000);
    let plain = evaluated(
        &[("app.js", "let x = 1;\nx;\nx;\nx;\n")],
        &ComplexitySettings::default(),
    );
    let both = evaluated(
        &[
            ("app.js", "let x = 1;\nx;\nx;\nx;\n"),
            ("page.js", &bundle),
            ("dist/app.js", "let x = 1;\n"),
            ("empty.py", "# nothing\n"),
        ],
        &ComplexitySettings::default(),
    );
    assert_eq!((plain.score.clone(), both.score), (plain.score, Ok(91.0)));
    let left_out = json!({"count": 3, "files": [{"file": "page.js", "reason": "minified"}, {"file": "dist/app.js", "reason": "vendored"},
        {"file": "empty.py", "reason": "no line of code"}]});
    assert_eq!(both.details["left_out"], left_out);
}

#[test]
fn without_a_file_to_measure_there_is_no_score() {
    let default = ComplexitySettings::default();
    let reason = |files: &[(&str, &str)]| {
        evaluated(files, &default)
            .score
            .expect_err("nothing to measure")
    };
    assert_eq!(
        reason(&[("a.go", "x")]),
        "no file in Python, JavaScript, TypeScript or Rust was made or changed"
    );
    assert_eq!(
        reason(&[("a.min.js", "x")]),
        "every file that could be measured was left out"
    );
    let large = "x = 1\n".repeat(200_000);
    assert_eq!(
        evaluated(&[("a.py", &large)], &default).details["left_out"]["files"][0]["reason"],
        "too large"
    );
    let suite = sample::sample_suite();
    let piece = Workpiece {
        suite: &suite,
        folder: None,
        files: &[],
        transcript: &[],
        effort: Effort::default(),
    };
    assert_eq!(
        evaluate_complexity(&piece, &default)
            .score
            .expect_err("no folder"),
        "the files were not kept"
    );
}

#[test]
fn files_elsewhere_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("outside.py"), "x = 1\n").expect("a file");
    fs::write(folder.path().join("bytes.py"), b"\xff\xfe").expect("a file");
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).expect("a folder");
    let mut files: Vec<PathBuf> = ["../outside.py", "none.py", "../bytes.py"]
        .map(PathBuf::from)
        .into();
    files.push(folder.path().join("outside.py"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.path().join("outside.py"), inside.join("link.py"))
            .expect("a link");
        files.push(PathBuf::from("link.py"));
    }
    let suite = sample::sample_suite();
    let piece = Workpiece {
        suite: &suite,
        folder: Some(&inside),
        files: &files,
        transcript: &[],
        effort: Effort::default(),
    };
    let evaluated = evaluate_complexity(&piece, &ComplexitySettings::default());
    assert!(evaluated.score.is_err());
    assert_eq!(evaluated.details["left_out"]["count"], files.len());
    assert_eq!(
        read_source(folder.path(), Path::new("bytes.py")),
        Err("no text")
    );
}

#[test]
fn settings_are_read() {
    let all = "{threshold: 10, constant: 2, call: 3, condition: 5, loop: 7, assignment: 11}";
    let (settings, problems) =
        read_yaml_layers(&[all, "loop: 0\n"], ComplexitySettings::from_layers);
    assert_eq!(problems, [""; 0]);
    let expected = ComplexitySettings {
        threshold: 10.0,
        constant: 2.0,
        call: 3.0,
        condition: 5.0,
        r#loop: 0.0,
        assignment: 11.0,
    };
    assert_eq!(settings, expected);
    let (_, problems) = read_yaml_layers(
        &["threshold: 0\nloops: 1\n"],
        ComplexitySettings::from_layers,
    );
    assert_eq!(
        problems,
        [
            "0.yaml:1:12: `evaluators.x.threshold` must be greater than 0",
            "0.yaml:2:1: unknown key `evaluators.x.loops`"
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_leaves_the_scale(text in "(\\PC|\n| |\\(|\\)|=|if|for|\"){0,200}") {
        for name in ["a.py", "a.js", "a.tsx", "a.rs"] {
            let score = evaluated(&[(name, &text)], &ComplexitySettings::default()).score;
            prop_assert!(score.is_err() || score.is_ok_and(|score| (0.0..=100.0).contains(&score)));
        }
    }

    #[test]
    fn more_on_the_same_line_never_scores_higher(more in 0..30_usize) {
        let score = |more: usize| {
            let text = format!("x = f({})\n", vec!["g(1)"; more].join(", "));
            evaluated(&[("a.py", &text)], &ComplexitySettings::default()).score.expect("it is code")
        };
        prop_assert!(score(more + 1) <= score(more));
    }
}
