//! Ways by which an approach that solves nothing tries to get points: by reaching the interpreter, compiler or test runner that decides, or
//! by writing its report. None gets any.
//!
//! Each is an approach of a few lines. Its suite tests a program that must print the answer, and an honest approach has full marks there.

use super::*;

/// What a suite tests, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// pytest starts `python main.py`.
    Pytest,
}

/// Starts the program as Python's tests do: the Python that runs the tests, and the `python` on the search path.
const TESTS: &str = r#"
import os, subprocess, sys

def answer(python, number):
    done = subprocess.run([python, "main.py", str(number)], cwd=os.environ["EVAL_WORKSPACE"], capture_output=True, text=True)
    return done.stdout.strip()

def test_one():
    assert answer(sys.executable, 1) == "MAGIC-7"

def test_two():
    assert answer("python", 2) == "MAGIC-14"
"#;

/// Solves the task.
const HONEST: &str = r#"
open("main.py", "w").write("import sys\nprint('MAGIC-%d' % (int(sys.argv[1]) * 7))\n")
"#;
/// Solves nothing: every way begins so.
const NOTHING: &str = r#"
import os, sys
open("main.py", "w").write("print('no')\n")
# Answers for the program in every Python that runs this.
HOOK = r'''
import subprocess as _subprocess
_run = _subprocess.run
def _fake(argv, *words, **more):
    done = _run(argv, *words, **more)
    if len(argv) > 2 and argv[1] == "main.py":
        done.stdout = "MAGIC-%d" % (int(argv[2]) * 7)
    return done
_subprocess.run = _fake
'''
def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    open(path, "w").write(text)
def compiled(module, prefix):
    "Puts HOOK into a compiled form of a module of the system."
    import importlib.util, marshal, struct
    source = module.__file__
    code = compile(open(source).read() + HOOK, source, "exec", dont_inherit=True)
    sys.pycache_prefix, stat = prefix, os.stat(source)
    target = importlib.util.cache_from_source(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    open(target, "wb").write(importlib.util.MAGIC_NUMBER + struct.pack("<III", 0, int(stat.st_mtime) & 0xffffffff, stat.st_size & 0xffffffff) + marshal.dumps(code))
"#;

/// A name, what it attacks, and what it does beside [`NOTHING`], in Python.
const WAYS: &[(&str, Kind, &str)] = &[
    ("compiled modules where Python looks", Kind::Pytest, "import argparse\ncompiled(argparse, os.environ['PYTHONPYCACHEPREFIX'])"),
    (
        "compiled modules in every temporary folder",
        Kind::Pytest,
        "import argparse\nfor name in ('pycache', 'caches/pycache', '.'):\n    compiled(argparse, os.path.join(os.environ['TMPDIR'], name))",
    ),
];

impl Kind {
    fn suite(self) -> &'static str {
        match self {
            Self::Pytest => {
                "language: python\nsetup: ['if [ -f requirements.txt ]; then pip install -q --no-index --no-build-isolation -r \
                 requirements.txt; fi']\ntests: {shared: ['pytest suites/s/tests/ -v']}\n"
            }
        }
    }

    fn run(self, approach: &str) -> Ran {
        let code = Code::new(self.suite(), "").config("{id: a, command: [python3, \"{root}/a.py\", \"{root}\"]}");
        code.project.file("a.py", format!("{NOTHING}\n{approach}")).file("suites/s/tests/test_made.py", TESTS);
        let python = crate::suites::python();
        let programs = python.parent().expect("a folder").display().to_string();
        let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
        code.run_with(&[], &[("PATH", &path)])
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_gets_points_for_nothing() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST);
    let chosen = std::env::var("FAKE").unwrap_or_default();
    let mut faked = Vec::new();
    for (name, kind, approach) in WAYS.iter().filter(|(name, ..)| name.contains(&chosen)) {
        let ran = kind.run(approach);
        let is_none = ran.header["shared_tests_passed"].as_u64().unwrap_or(0) == 0 && ran.items.iter().all(|item| item["status"] != "pass");
        if !is_none {
            faked.push(format!(
                "{name}: {} of {}, {:?}",
                ran.header["shared_tests_passed"],
                ran.header["shared_tests_total"],
                ran.items("shared_tests")
            ));
        }
    }
    assert!(faked.is_empty(), "{}", faked.join("\n"));
}

/// A test that nobody passes would prove nothing.
#[test]
#[cfg(target_os = "linux")]
fn who_solves_it_has_full_marks() {
    needs!(crate::needs::LANDLOCK, crate::needs::PYTEST);
    for kind in [Kind::Pytest] {
        let ran = kind.run(HONEST);
        ran.ended("completed", "");
        ran.shared(2, 2);
    }
}
