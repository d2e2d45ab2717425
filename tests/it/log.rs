//! What `--verbose` and `--log` say, and what they must not change.

use serde_json::{Value, json};

use crate::support::{Project, question, result};

fn quiz() -> Project {
    let project = Project::with(&[
        result("quiz-1", "quiz", "a", json!({})),
        result("quiz-2", "quiz", "b", json!({})),
    ]);
    project.items(
        "quiz-1",
        &[question("q1", 1, "pass"), question("q2", 1, "fail")],
    );
    project
}

/// The lines of a log that say `what`, without their times.
fn said<'a>(log: &'a str, what: &str) -> Vec<&'a str> {
    log.lines()
        .filter_map(|line| line.split_once("s ").map(|(_, said)| said))
        .filter(|said| said.starts_with(what))
        .collect()
}

#[test]
fn verbose_says_what_was_found_known_and_read() {
    let project = quiz();
    let first = project.run(["list", "--verbose"]);
    for (what, line) in [
        (
            "started",
            format!("started version={} command=list", env!("CARGO_PKG_VERSION")),
        ),
        ("no conf", "no configuration file".to_owned()),
        ("store", "store folder=results exists=true".to_owned()),
        (
            "cache f",
            "cache folder=.evalreport/cache exists=false".to_owned(),
        ),
        (
            "files l",
            "files listed store=results runs=2 imports=0 without_header=0 problems=0".to_owned(),
        ),
        ("run f", "run files known=0 read=2 runs=2".to_owned()),
        (
            "outcomes read",
            "outcomes read lines=2 outcomes=2".to_owned(),
        ),
        ("done", "done exit_code=0".to_owned()),
    ] {
        assert_eq!(said(&first.stderr, what), [line], "{}", first.stderr);
    }
    for phase in [
        "reading runs total=2 seconds=0.",
        "reading outcomes total=",
        "results opened runs=2",
        "cache written file=",
    ] {
        assert_eq!(
            said(&first.stderr, phase).len(),
            1,
            "{phase}: {}",
            first.stderr
        );
    }

    // A run more: the cache knows the others.
    project
        .file("evalreport.yaml", "version: 1\n")
        .result(&result("quiz-3", "quiz", "c", json!({})));
    let second = project.run(["-v", "leaderboard"]);
    assert_eq!(
        said(&second.stderr, "configuration file=").len(),
        1,
        "{}",
        second.stderr
    );
    assert_eq!(
        said(&second.stderr, "run files"),
        ["run files known=2 read=1 runs=3"]
    );
    assert_eq!(
        said(&second.stderr, "outcome files"),
        ["outcome files known=1 read=0 bytes=0"]
    );
}

#[test]
fn neither_changes_the_answer_or_the_exit_code() {
    let project = quiz();
    let plain = project.run(["leaderboard"]);
    for options in [
        &["--verbose"][..],
        &["--log", "a.log"],
        &["-v", "--log", "a.log"],
        &["-q", "-v"],
    ] {
        let output = project.run(["leaderboard"].into_iter().chain(options.iter().copied()));
        assert_eq!(
            (output.code, &output.stdout),
            (plain.code, &plain.stdout),
            "{options:?}"
        );
    }
    project.file("results/bad.json", "{");
    for (arguments, code) in [
        (["doctor", "--verbose"], 1),
        (["list", "--verbose"], 0),
        (["--strict", "-v"], 2),
    ] {
        assert_eq!(
            project
                .run(arguments.into_iter().chain((code == 2).then_some("list")))
                .code,
            code,
            "{arguments:?}"
        );
    }
}

/// The objects of a log, one a line.
fn objects(log: &str) -> Vec<Value> {
    log.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

/// Those that say `message`.
fn logged<'a>(objects: &'a [Value], message: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .filter(|object| object["message"] == message)
        .collect()
}

#[test]
fn quiet_silences_verbose_but_not_the_file() {
    let project = quiz();
    assert!(!project.path("run.log").exists());
    let output = project.run(["list", "--quiet", "--verbose", "--log", "run.log"]);
    assert_eq!(output.stderr, "");
    let log = project.read("run.log");
    assert!(log.lines().count() > 8, "{log}");

    // The next command's lines come after those of the first, and a failure is among them.
    assert_eq!(project.run(["show", "nothing", "--log", "run.log"]).code, 2);
    let both = project.read("run.log");
    assert!(both.starts_with(&log));
    let both = objects(&both);
    assert_eq!(logged(&both, "started").len(), 2);
    let [failed] = logged(&both, "failed")[..] else {
        panic!("{both:?}")
    };
    assert_eq!(
        (&failed["level"], &failed["exit_code"], &failed["error"]),
        (&json!("error"), &json!(2), &json!("no run `nothing`"))
    );
}

#[test]
fn the_log_is_an_object_a_line_with_typed_fields() {
    let project = quiz();
    project.run(["list", "--log", "run.log"]);
    let log = project.read("run.log");
    for line in log.lines() {
        assert!(
            line.starts_with("{\"time\":\"20") && !line.contains('\u{1b}'),
            "{line}"
        );
    }
    let objects = objects(&log);
    for object in &objects {
        let time = object["time"]
            .as_str()
            .and_then(|time| chrono::DateTime::parse_from_rfc3339(time).ok());
        assert!(
            time.is_some_and(|time| time.offset().local_minus_utc() == 0),
            "{object}"
        );
        assert!(
            object["target"]
                .as_str()
                .is_some_and(|target| target.starts_with("evalreport")),
            "{object}"
        );
        assert!(
            ["debug", "info", "warn", "error"]
                .contains(&object["level"].as_str().unwrap_or_default()),
            "{object}"
        );
    }
    let [opened] = logged(&objects, "results opened")[..] else {
        panic!("{log}")
    };
    assert_eq!(
        (&opened["runs"], opened["seconds"].is_f64()),
        (&json!(2), true)
    );
    let [store] = logged(&objects, "store")[..] else {
        panic!("{log}")
    };
    assert_eq!(
        (&store["folder"], &store["exists"]),
        (&json!("results"), &json!(true))
    );
}

#[test]
fn both_say_the_same() {
    let project = quiz();
    let output = project.run(["list", "--verbose", "--log", "run.log"]);
    let told = objects(&project.read("run.log"));
    assert_eq!(told.len(), output.stderr.lines().count());
    for (object, line) in told.iter().zip(output.stderr.lines()) {
        let (_, said) = line.split_once("s ").expect("seconds come first");
        let message = object["message"]
            .as_str()
            .expect("every event has a message");
        assert!(
            said == message || said.starts_with(&format!("{message} ")),
            "{line}: {object}"
        );
        for key in object
            .as_object()
            .expect("an object")
            .keys()
            .filter(|key| !["time", "level", "target", "message"].contains(&key.as_str()))
        {
            assert!(said.contains(&format!(" {key}=")), "{line}: {object}");
        }
    }
}

#[test]
fn a_log_that_cannot_be_opened_stops_everything() {
    let project = quiz();
    project
        .file("evalreport.yaml", "this is wrong")
        .file("folder/file", "");
    for (log, command) in [
        ("folder/file/run.log", "list"),
        ("folder", "list"),
        ("folder/file/run.log", "completions"),
    ] {
        let arguments = [command, "--log", log]
            .into_iter()
            .chain((command == "completions").then_some("bash"));
        let output = project.run(arguments);
        assert!(
            output
                .refusal()
                .starts_with(&format!("error: cannot open the log {log}: ")),
            "{}",
            output.stderr
        );
        assert!(
            output
                .stderr
                .contains("\n  hint: --log takes a file that can be written"),
            "{}",
            output.stderr
        );
    }
    assert!(!project.path(".evalreport").exists(), "nothing was read");
}

#[test]
fn imports_and_sites_are_told() {
    let project = Project::new();
    project.file("table.csv", "id,ok\nt1,yes\nt2,no\nt3,perhaps\n").file(
        "map.yaml",
        "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: {constant: s}, approach: {constant: x}, model: {constant: y}}\n\
         item: {id: id, kind: {constant: test}, status: {column: ok, values: {yes: pass, no: fail}}}\n",
    );
    let import = project.run(["-v", "import", "table.csv", "--map", "map.yaml"]);
    assert_eq!(
        said(&import.stderr, "file imported"),
        [
            "file imported file=table.csv outcome=Imported rows=3 accepted=2 refused=1 new_runs=1 repeated_runs=0 outcomes=2"
        ],
        "{}",
        import.stderr
    );
    let build = project.run(["-v", "build"]);
    let [site] = said(&build.stderr, "site written")[..] else {
        panic!("{}", build.stderr)
    };
    assert!(
        site.starts_with("site written folder=site written=")
            && site.ends_with(" kept=0 removed=0"),
        "{site}"
    );
    assert_eq!(
        said(&build.stderr, "writing run pages total=1 seconds=").len(),
        1,
        "{}",
        build.stderr
    );
}

#[test]
fn foreign_text_cannot_add_a_line() {
    let project = Project::new();
    project.file("results/x\u{1b}[2J\nforged.json", "{");
    project.run(["list", "--log", "run.log", "--suite", "a\nforged b"]);
    let log = project.read("run.log");
    assert!(!log.contains('\u{1b}') && log.contains('␛'), "{log}");
    assert_eq!(
        logged(&objects(&log), "could not be read").len(),
        1,
        "{log}"
    );
}
