//! Ways by which an approach, or what it wrote, gets at what is not its own. Where the system helps, none gets anywhere; where it does not,
//! every run that touched something is an outage which names what it touched.

use std::process::Command;

use super::*;

/// Tests that an empty workspace fails, and that ask nothing but what the suite says.
const SUITE: &str = "setup: ['sh setup.sh']\ntests:\n  shared: [sh suites/s/tests/shared.sh, sh suites/s/tests/again.sh]\n";
const SHARED: &str = "test -e \"$EVAL_WORKSPACE/right.txt\"\n";
const AGAIN: &str = "sh \"$EVAL_WORKSPACE/program.sh\"; test -e \"$EVAL_WORKSPACE/right.txt\"\n";

/// A name, a line of the approach's script, what the program it wrote does, and what it touches. `$ROOT` is the project.
const WAYS: [(&str, &str, &str, &str); 15] = [
    ("the tests", "echo true > $ROOT/suites/s/tests/shared.sh", "", "suites/s/tests/shared.sh was changed"),
    ("a test more", "echo true > $ROOT/suites/s/tests/more.sh", "", "suites/s/tests/more.sh was added"),
    ("the whole suite", "rm -rf $ROOT/suites/s", "", "suites/s/suite.yaml is gone"),
    ("the requirements", "echo easier > $ROOT/suites/s/order.md", "", "suites/s/order.md was changed"),
    ("the store", "rm -rf $ROOT/results/*", "", "results/first.json is gone"),
    ("a result", "sed -i s/fail/pass/ $ROOT/results/first/items.jsonl", "", "results/first/items.jsonl was changed"),
    ("a header", "sed -i s/completed/infra/ $ROOT/results/first.json", "", "results/first.json was changed"),
    ("its own journal", "for f in $ROOT/results/*/items.jsonl; do [ -s $f ] || echo '{}' >> $f; done", "", "items.jsonl was changed"),
    ("the configuration", "echo >> $ROOT/evalreport.yaml", "", "evalreport.yaml was changed"),
    ("a tombstone", "echo '{\"selector\":{\"approach\":[\"b\"]},\"reason\":\"x\",\"time\":\"2026-01-01T00:00:00Z\"}' >> $ROOT/results/retractions.jsonl", "", "results/retractions.jsonl was changed"),
    ("the copy", "for f in ../../evalreport-*/suite/suites/s/tests/*.sh; do echo true > $f; done", "", "tests/again.sh was changed"),
    ("the tests while they run", "", "echo true > $ROOT/suites/s/tests/shared.sh", "suites/s/tests/shared.sh was changed"),
    ("the copy while it is used", "", "for f in ./suites/s/tests/*.sh; do echo true > $f; done", "tests/again.sh was changed"),
    ("the store while tests run", "", "rm -rf $ROOT/results/first*", "results/first.json is gone"),
    ("a link to the tests", "ln -s $ROOT/suites/s/tests mine; echo true > mine/shared.sh", "", "suites/s/tests/shared.sh was changed"),
];

fn code(approach: &str, program: &str) -> Code {
    let code = Code::new(SUITE, "");
    let root = code.project.path("").canonicalize().expect("it is there").display().to_string();
    // The approach is started a last time by what it wrote, in case it left something to do.
    let script = format!("ROOT={root}\ncat > program.sh <<'END'\nROOT={root}\n{program}\nEND\n: > setup.sh\n{approach}\n");
    code.project.file("a.sh", format!("({script}) 2>/dev/null\ntrue\n"));
    code.project.file("suites/s/tests/shared.sh", SHARED).file("suites/s/tests/again.sh", AGAIN);
    code.project.file("results/first.json", "{\"id\":\"first\",\"suite\":\"s\",\"approach\":\"b\",\"model\":\"m\",\"status\":\"completed\"}\n");
    let item = "{\"kind\":\"test\",\"item\":\"t\",\"evaluator\":\"shared_tests\",\"attempt\":1,\"revision\":0,\"status\":\"fail\"}\n";
    code.project.file("results/first/items.jsonl", item).file("results/retractions.jsonl", "");
    code
}

fn own(code: &Code) -> Ran {
    code.all().into_iter().find(|ran| ran.header["approach"] == "a").expect("the run is recorded")
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_touched_where_the_system_helps() {
    for (name, approach, program, _) in WAYS {
        let code = code(approach, program);
        let files = |code: &Code| -> Vec<(String, String)> {
            let kept = ["suites", "results/first", "results/first.json", "results/retractions.jsonl", "evalreport.yaml"];
            let files = kept.iter().flat_map(|path| code.project.files(path));
            files.map(|path| (path.clone(), code.project.read(&path))).collect()
        };
        let before = files(&code);
        code.command(&[], &[]);
        assert_eq!(before, files(&code), "{name}");
        let ran = own(&code);
        assert_eq!(ran.header["isolation"], "files, network, signals", "{name}");
        ran.ended("completed", "");
        ran.shared(0, 2);
    }
}

#[test]
fn whatever_is_touched_is_named_where_it_does_not() {
    for (name, approach, program, touched) in WAYS {
        let code = code(approach, program);
        code.command(&["--no-isolation"], &[]);
        let ran = own(&code);
        assert_eq!(ran.header["isolation"], "none: --no-isolation", "{name}");
        assert!(ran.error().starts_with("tampered: ") && ran.error().contains(touched), "{name}: {}", ran.error());
        assert_eq!(ran.status(), "infra", "{name}");
        ran.is_untested();
    }
}
