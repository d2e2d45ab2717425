//! Ways by which an approach, or what it wrote, gets at what is not its own. Where the system helps, none gets anywhere; where it does not,
//! every run that touched something is an outage which names what it touched.

use super::*;

/// Tests that an empty workspace fails, and that ask nothing but what the suite says.
const SUITE: &str = "setup: ['sh setup.sh']\ntests:\n  shared: [sh suites/s/tests/shared.sh, sh suites/s/tests/again.sh]\n";
const SHARED: &str = "test -e \"$EVAL_WORKSPACE/right.txt\"\n";
const AGAIN: &str = "sh \"$EVAL_WORKSPACE/program.sh\"; test -e \"$EVAL_WORKSPACE/right.txt\"\n";

/// A name, a line of the approach's script, what the program it wrote does, and what it touches. `$ROOT` is the project.
const WAYS: [(&str, &str, &str, &str); 15] = [
    (
        "the tests",
        "echo true > $ROOT/suites/s/tests/shared.sh",
        "",
        "suites/s/tests/shared.sh was changed",
    ),
    (
        "a test more",
        "echo true > $ROOT/suites/s/tests/more.sh",
        "",
        "suites/s/tests/more.sh was added",
    ),
    (
        "the whole suite",
        "rm -rf $ROOT/suites/s",
        "",
        "suites/s/suite.yaml is gone",
    ),
    (
        "the requirements",
        "echo easier > $ROOT/suites/s/order.md",
        "",
        "suites/s/order.md was changed",
    ),
    (
        "the store",
        "rm -rf $ROOT/results/*",
        "",
        "results/first.json is gone",
    ),
    (
        "a result",
        "sed -i s/fail/pass/ $ROOT/results/first/items.jsonl",
        "",
        "results/first/items.jsonl was changed",
    ),
    (
        "a header",
        "sed -i s/completed/infra/ $ROOT/results/first.json",
        "",
        "results/first.json was changed",
    ),
    (
        "its own journal",
        "for f in $ROOT/results/*/items.jsonl; do [ -s $f ] || echo '{}' >> $f; done",
        "",
        "items.jsonl was changed",
    ),
    (
        "the configuration",
        "echo >> $ROOT/evalreport.yaml",
        "",
        "evalreport.yaml was changed",
    ),
    (
        "a tombstone",
        "echo '{\"selector\":{\"approach\":[\"b\"]},\"reason\":\"x\",\"time\":\"2026-01-01T00:00:00Z\"}' >> $ROOT/results/retractions.jsonl",
        "",
        "results/retractions.jsonl was changed",
    ),
    (
        "the copy",
        "for f in ../../evalreport-*/suite/suites/s/tests/*.sh; do echo true > $f; done",
        "",
        "tests/again.sh was changed",
    ),
    (
        "the tests while they run",
        "",
        "echo true > $ROOT/suites/s/tests/shared.sh",
        "suites/s/tests/shared.sh was changed",
    ),
    (
        "the copy while it is used",
        "",
        "for f in ./suites/s/tests/*.sh; do echo true > $f; done",
        "tests/again.sh was changed",
    ),
    (
        "the store while tests run",
        "",
        "rm -rf $ROOT/results/first*",
        "results/first.json is gone",
    ),
    (
        "a link to the tests",
        "ln -s $ROOT/suites/s/tests mine; echo true > mine/shared.sh",
        "",
        "suites/s/tests/shared.sh was changed",
    ),
];

fn code(approach: &str, program: &str) -> Code {
    let code = Code::new(SUITE, "");
    let root = code
        .project
        .path("")
        .canonicalize()
        .expect("it is there")
        .display()
        .to_string();
    // The approach is started a last time by what it wrote, in case it left something to do.
    let script = format!(
        "ROOT={root}\ncat > program.sh <<'END'\nROOT={root}\n{program}\nEND\n: > setup.sh\n{approach}\n"
    );
    code.project
        .file("a.sh", format!("({script}) 2>/dev/null\ntrue\n"));
    code.project
        .file("suites/s/tests/shared.sh", SHARED)
        .file("suites/s/tests/again.sh", AGAIN);
    code.project
        .file("results/first.json", "{\"id\":\"first\",\"suite\":\"s\",\"approach\":\"b\",\"model\":\"m\",\"status\":\"completed\"}\n");
    let item = "{\"kind\":\"test\",\"item\":\"t\",\"evaluator\":\"shared_tests\",\"attempt\":1,\"revision\":0,\"status\":\"fail\"}\n";
    code.project
        .file("results/first/items.jsonl", item)
        .file("results/retractions.jsonl", "");
    code
}

fn own(code: &Code) -> Ran {
    code.all()
        .into_iter()
        .find(|ran| ran.header["approach"] == "a")
        .expect("the run is recorded")
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_touched_where_the_system_helps() {
    needs!(crate::needs::LANDLOCK);
    for (name, approach, program, _) in WAYS {
        let code = code(approach, program);
        let files = |code: &Code| -> Vec<(String, String)> {
            let kept = [
                "suites",
                "results/first",
                "results/first.json",
                "results/retractions.jsonl",
                "evalreport.yaml",
            ];
            let files = kept.iter().flat_map(|path| code.project.files(path));
            files
                .map(|path| (path.clone(), code.project.read(&path)))
                .collect()
        };
        let before = files(&code);
        code.command(&[], &[]);
        assert_eq!(before, files(&code), "{name}");
        let ran = own(&code);
        assert!(
            ran.header["isolation"]
                .as_str()
                .is_some_and(|said| said.starts_with("files, network, signals, powers")),
            "{name}"
        );
        ran.ended("completed", "");
        ran.shared(0, 2);
    }
}

/// A sandbox of the user's may keep programs from nothing.
#[test]
fn what_a_wrapped_approach_touches_is_named() {
    let code = code(WAYS[0].1, "").config("{id: a, wrap: [env], command: [sh, \"{root}/a.sh\"]}");
    code.command(&[], &[]);
    let ran = own(&code);
    assert_eq!(ran.header["isolation"], "by wrap");
    ran.ended("infra", "tampered: suites/s/tests/shared.sh was changed");
}

#[test]
fn whatever_is_touched_is_named_where_it_does_not() {
    for (name, approach, program, touched) in WAYS {
        let code = code(approach, program);
        code.command(&["--no-isolation"], &[]);
        let ran = own(&code);
        assert_eq!(ran.header["isolation"], "none: --no-isolation", "{name}");
        assert!(
            ran.error().starts_with("tampered: ") && ran.error().contains(touched),
            "{name}: {}",
            ran.error()
        );
        assert_eq!(ran.status(), "infra", "{name}");
        ran.is_untested();
    }
}

/// A suite of pytest with one test that passes and one that fails, on code that it imports.
const PYTEST: &str = "language: python\nsetup: ['pip install -q pytest', 'sh \"$EVAL_WORKSPACE/setup.sh\"']\n\
                      tests: {shared: ['pytest suites/s/tests/ -v']}\n";
const TESTS: &str = "import os, sys\nsys.path.insert(0, os.environ['EVAL_WORKSPACE'])\nimport made\n\n\n\
                     def test_one():\n    assert made.one() == 1\n\n\ndef test_two():\n    assert made.one() == 2\n";
/// Ends every test well, from inside of pytest.
const PATCH: &str = "import _pytest.runner as runner\n_call = runner.CallInfo.from_call.__func__\n\n\ndef _good(cls, func, when, reraise=None):\n    \
                     info = _call(cls, func, when, reraise)\n    info.excinfo = None\n    return info\n\n\nrunner.CallInfo.from_call = classmethod(_good)\n";
/// Writes the report that pytest would write where all is well.
const FORGE: &str = "import atexit, os, re\n_path = re.search(r'--junitxml=(\\S+)', os.environ.get('PYTEST_ADDOPTS', ''))\n\n\ndef _write():\n    \
                     cases = ''.join(f'<testcase classname=\"suites.s.tests.test_made\" name=\"{n}\" time=\"0\"/>' for n in ('test_one', 'test_two'))\n    \
                     open(_path[1], 'w').write(f'<testsuites><testsuite name=\"pytest\">{cases}</testsuite></testsuites>')\n    os._exit(0)\n\n\n\
                     _path and atexit.register(_write)\n";

/// Runs that suite on what a script of shell makes; `$ROOT` is the project.
fn pytest(script: &str, environment: &[(&str, &str)]) -> Ran {
    let code = Code::new(PYTEST, "");
    let root = code.project.path("").display().to_string();
    code.project.file(
        "a.sh",
        format!(
            "ROOT={root}\nprintf 'def one():\\n    return 1\\n' > made.py; : > setup.sh\n{script}\n"
        ),
    );
    code.project
        .file("suites/s/tests/test_made.py", TESTS)
        .file("patch.py", PATCH)
        .file("forge.py", FORGE);
    code.run_with(&[], environment)
}

#[test]
fn a_forged_report_is_no_result() {
    needs!(crate::needs::PYTEST);
    // What pip needs on this machine, whatever that is.
    let is_pips = |name: &str| {
        name.starts_with("PIP_")
            || name == "HOME"
            || name.contains("CERT")
            || name.to_lowercase().ends_with("_proxy")
    };
    let pips: Vec<(String, String)> = std::env::vars().filter(|(name, _)| is_pips(name)).collect();
    let pips: Vec<(&str, &str)> = pips
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let honest = pytest("", &pips);
    honest.ended("completed", "");
    honest.shared(1, 2);
    let names: Vec<&str> = honest
        .items("shared_tests")
        .iter()
        .map(|item| item.0)
        .collect();
    assert_eq!(
        names,
        [
            "suites/s/tests/test_made.py::test_one",
            "suites/s/tests/test_made.py::test_two"
        ]
    );
    let site = "$(python -c 'import site; print(site.getsitepackages()[0])')";
    for (name, script) in [
        (
            "pytest is patched from inside",
            "cat $ROOT/patch.py >> made.py".to_owned(),
        ),
        (
            "the report is written by the code",
            "cat $ROOT/forge.py >> made.py".to_owned(),
        ),
        (
            "pytest is patched by setup",
            format!(
                "cp $ROOT/patch.py .; cat > setup.sh <<'END'\ncat patch.py >> {site}/_pytest/main.py\nEND"
            ),
        ),
        (
            "setup puts a module in the way",
            format!(
                "cp $ROOT/forge.py .; cat > setup.sh <<'END'\ncp forge.py {site}/sitecustomize.py\nEND"
            ),
        ),
    ] {
        let ran = pytest(&script, &pips);
        if name == "pytest is patched from inside" {
            assert!(
                ran.error().starts_with("tampered: "),
                "{name}: {} {:?}",
                ran.error(),
                ran.items
            );
            assert_eq!(ran.status(), "infra", "{name}");
            ran.is_untested();
        } else {
            // It reaches neither the report nor the Python of the tests.
            ran.ended("completed", "");
            ran.shared(1, 2);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_read_that_is_not_ones_own() {
    needs!(crate::needs::LANDLOCK);
    let home = tempfile::tempdir().expect("a folder");
    let of = |name: &str| home.path().join(name);
    for (file, text) in [
        (".ssh/id", "KEPT key"),
        (".claude/sign-in", "KEPT sign-in"),
        (".tool/state", "KEPT state"),
        ("notes", "seen"),
        ("diary", "KEPT day"),
    ] {
        fs::create_dir_all(of(file).parent().expect("a folder"))
            .and_then(|()| fs::write(of(file), text))
            .expect("room");
    }
    let real = home
        .path()
        .canonicalize()
        .expect("there")
        .display()
        .to_string();
    let look = "cat $HOME/.ssh/id $REAL/.ssh/id $HOME/notes $REAL/diary $ROOT/evalreport.yaml $ROOT/results/first.json $ROOT/.git/config \
                $ROOT/suites/s/tests/shared.sh ../../evalreport-*/suite/suites/s/tests/shared.sh";
    let look = look.replace("$REAL", &real);
    let others = "for one in /proc/[0-9]*; do grep -aq KEPT_API_KEY= $one/environ && echo $one; done >> seen.txt";
    let approach = format!(
        "{look} > seen.txt; {others}; cat $HOME/.claude/sign-in {real}/.claude/sign-in > own.txt; echo more >> $HOME/.tool/state"
    );
    let code = code(
        &approach,
        &format!("{look} $HOME/.claude/sign-in > \"$EVAL_WORKSPACE/later.txt\" 2>/dev/null; true"),
    );
    let suite = SUITE.replace(
        "setup.sh']",
        "setup.sh', 'sh program.sh', 'cp later.txt \"$OUT\"']",
    );
    code.project
        .file(
            "suites/s/suite.yaml",
            format!("name: s\nrequirements: suites/s/order.md\n{suite}"),
        )
        .file(".git/config", "KEPT");
    let writes = of(".tool").display().to_string();
    let code = code.config(&format!(
        "{{id: a, reads: [~/notes], writes: [\"{writes}\"], command: [sh, \"{{root}}/a.sh\"]}}"
    ));
    let out = tempfile::tempdir().expect("a folder");
    let code = code.sharing(out.path());
    let place = home.path().display().to_string();
    code.command(
        &[],
        &[
            ("HOME", &place),
            ("OUT", &out.path().display().to_string()),
            ("KEPT_API_KEY", "secret"),
        ],
    );
    let ran = own(&code);
    ran.ended("completed", "");
    assert_eq!(
        (ran.kept("seen.txt"), ran.kept("own.txt")),
        (Some("seen"), Some(""))
    );
    assert_eq!(
        fs::read_to_string(out.path().join("later.txt")).expect("setup copied it"),
        "seen"
    );
    assert_eq!(
        fs::read_to_string(of(".tool/state")).expect("there"),
        "KEPT statemore\n"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn the_network_is_what_the_suite_grants() {
    needs!(crate::needs::LANDLOCK, "python3");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let reach = |mark: &str| {
        format!(
            "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}))\" 2>/dev/null && echo {mark} >> $OUT/reached"
        )
    };
    let suite = |network: &str| {
        let [setup, tests] = ["setup", "tests"].map(|mark| {
            serde_json::to_string(&format!("{}; true", reach(mark))).expect("text is JSON")
        });
        format!(
            "{network}setup: [{setup}]\nserver: {{command: 'exec python3 \"$EVAL_SUITE_DIR/server.py\" {{port}}'}}\n\
             tests: {{shared: ['python3 suites/s/ask.py /', {tests}]}}\n"
        )
    };
    for (network, expected) in [
        ("", "approach setup tests"),
        ("network: [approach]\n", "approach"),
        ("network: [setup]\n", "setup"),
    ] {
        let out = tempfile::tempdir().expect("a folder");
        let code =
            Code::new(&suite(network), &format!("{}; true", reach("approach"))).sharing(out.path());
        let ran = code.run_with(&[], &[("OUT", &out.path().display().to_string())]);
        ran.ended("completed", "");
        ran.shared(2, 2);
        let reached = fs::read_to_string(out.path().join("reached")).unwrap_or_default();
        assert_eq!(
            reached.split_whitespace().collect::<Vec<_>>().join(" "),
            expected,
            "{network}"
        );
    }
}
