//! Which edits of a suite end comparability, and who says so.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Output, Project};

type Edit = fn(&Project);

const SUITE: &str = "# A note.\nname: s\ndescription: first words\nrequirements: suites/order.md\ntimeout: 10m\n\
                     tests: {shared: [sh suites/s/check.sh]}\n";

fn project() -> Project {
    let project = Project::new();
    project
        .file("suites/s/suite.yaml", SUITE)
        .file("suites/s/check.sh", "echo '3 passed, 1 failed'\n")
        .file("suites/order.md", "Make it.\n");
    project.file("q.yaml", "version: 1\nquestions:\n  - {id: q1, question: One?, answers: [one, two], correct_answers: [one]}\n");
    project.file(
        "evalreport.yaml",
        "version: 1\napproaches:\n  - {id: a, command: ['true']}\nagents:\n  - {id: b, type: command, command: [echo, '<answer>one</answer>']}\n\
         tasks:\n  - {id: quiz, type: question_eval, questions_file: q.yaml}\n",
    );
    project
}

#[track_caller]
fn run(project: &Project, what: &str) -> Output {
    let output = project.run(["run", what]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    output
}

fn notes(output: &Output) -> Vec<&str> {
    output
        .stderr
        .lines()
        .filter(|line| line.contains("is version"))
        .collect()
}

/// Plans of the store, the oldest first.
fn plans(project: &Project) -> Vec<(String, Value)> {
    let paths = project
        .files("results/batches")
        .into_iter()
        .filter(|path| !path.ends_with(".commits.jsonl"));
    paths
        .map(|path| {
            (
                path.clone(),
                serde_json::from_str(&project.read(&path)).expect("a plan is JSON"),
            )
        })
        .collect()
}

fn versions(project: &Project) -> Vec<String> {
    plans(project)
        .iter()
        .map(|(_, plan)| {
            plan["arms"][0]["suite_version"]
                .as_str()
                .expect("a version")
                .to_owned()
        })
        .collect()
}

#[test]
fn words_for_people_make_no_new_version() {
    let project = project();
    run(&project, "s");
    let cosmetic = SUITE
        .replace("# A note.\n", "")
        .replace("first words", "'other words'")
        + "tags: {team: search}\n";
    project.file(
        "suites/s/suite.yaml",
        cosmetic.replace(
            "shared: [sh suites/s/check.sh]",
            "shared:  ['sh suites/s/check.sh']",
        ),
    );
    let again = run(&project, "s");
    assert_eq!(notes(&again), [""; 0]);
    let found = versions(&project);
    assert!(found.len() == 2 && found[0] == found[1], "{found:?}");
    assert!(!project.run(["list"]).stdout.contains("is version"));
    run(&project, "quiz");
    project.file(
        "q.yaml",
        project
            .read("q.yaml")
            .replace(", answers:", ", category: easy, answers:")
            + "# a note\n",
    );
    assert_eq!(notes(&run(&project, "quiz")), [""; 0]);
}

#[test]
fn what_decides_makes_a_new_version_and_run_and_list_say_why() {
    let edits: [(&str, Edit, &str); 3] = [
        (
            "s",
            |project| {
                project.file("suites/s/suite.yaml", SUITE.replace("10m", "20m"));
            },
            "`timeout` in suite.yaml changed",
        ),
        (
            "s",
            |project| {
                project.file("suites/s/check.sh", "echo '4 passed'\n");
            },
            "`check.sh` changed",
        ),
        (
            "quiz",
            |project| {
                project.file("q.yaml", project.read("q.yaml").replace("One?", "Which?"));
            },
            "`q.yaml` changed",
        ),
    ];
    for (what, edit, why) in edits {
        let project = project();
        run(&project, what);
        edit(&project);
        let output = run(&project, what);
        let found = versions(&project);
        assert_ne!(found[0], found[1]);
        let [before, now] = [&found[0][..12], &found[1][..12]];
        let expected = format!(
            "note: `{what}` is version {now}, and was {before} in the last batch: {why}. Runs of the two are not compared"
        );
        assert_eq!(notes(&output), [expected]);
        let listed = project.run(["list"]);
        let note = format!("`{what}` is version {now} and was {before} before: {why}.");
        let flat = listed
            .stdout
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(flat.contains(&note), "{}", listed.stdout);
        let change = &project.run(["list", "--format", "json"]).json()["version_changes"][0];
        assert_eq!(
            (&change["suite"], &change["why"]),
            (&json!(what), &json!(why))
        );
        assert_eq!(
            (&change["version"], &change["before"]),
            (&json!(found[1]), &json!(found[0]))
        );
        // Nothing is new the second time.
        assert_eq!(notes(&run(&project, what)), [""; 0]);
    }
}

#[test]
fn content_that_comes_back_has_its_version_again() {
    let project = project();
    run(&project, "s");
    project.file("suites/s/suite.yaml", SUITE.replace("10m", "20m"));
    run(&project, "s");
    project.file("suites/s/suite.yaml", SUITE);
    let back = run(&project, "s");
    let found = versions(&project);
    assert!(found[0] == found[2] && found[0] != found[1], "{found:?}");
    assert_eq!(notes(&back).len(), 1, "{}", back.stderr);
}

/// Earlier releases hashed every byte, and their plans do not say what the version is of.
#[test]
fn runs_of_earlier_releases_are_compared_with_those_of_today() {
    for what in ["s", "quiz"] {
        let project = project();
        run(&project, what);
        let (path, mut plan) = plans(&project).remove(0);
        let bytes = plan["arms"][0]["content"]["bytes"].clone();
        plan["arms"][0]["suite_version"].clone_from(&bytes);
        plan["arms"][0]
            .as_object_mut()
            .expect("an arm")
            .remove("content");
        fs::write(project.path(&path), plan.to_string()).expect("it can be written");
        assert_eq!(notes(&run(&project, what)), [""; 0]);
        assert_eq!(json!(versions(&project)[1]), bytes);
        // From here on the plan knows the content, so that words may change.
        project.file(
            "suites/s/suite.yaml",
            SUITE.replace("first words", "other words"),
        );
        project.file("q.yaml", project.read("q.yaml") + "# a note\n");
        assert_eq!(notes(&run(&project, what)), [""; 0]);
        assert_eq!(json!(versions(&project)[2]), bytes);
    }
}

#[test]
fn a_batch_goes_on_after_a_cosmetic_edit_and_not_after_another() {
    let project = project();
    project.file(
        "evalreport.yaml",
        project
            .read("evalreport.yaml")
            .replace("['true']", "[sh, -c, 'echo Invalid API key; exit 1']"),
    );
    let output = project.run(["run", "s"]);
    assert_eq!(output.code, 2, "{}", output.stderr);
    project.file("suites/s/suite.yaml", SUITE.replace("10m", "20m"));
    assert!(
        project
            .run(["run", "--resume"])
            .refusal()
            .contains("`s` has changed since the batch was planned")
    );
    project.file(
        "suites/s/suite.yaml",
        SUITE.replace("first words", "other words"),
    );
    let resumed = project.run(["run", "--resume"]);
    assert!(
        resumed.stderr.contains("cannot be run: "),
        "{}",
        resumed.stderr
    );
}

/// A key that says what holds without it is no new content, nor is one that the program learned later.
#[test]
fn defaults_that_are_written_out_make_no_new_version() {
    let project = project();
    let without = SUITE.replace("timeout: 10m\n", "");
    project.file("suites/s/suite.yaml", &without);
    run(&project, "s");
    let written = without.replace(
        "tests: {shared: [sh suites/s/check.sh]}",
        "tests: {own: [], shared: [sh suites/s/check.sh], functional: []}",
    ) + "timeout: 120m\nsetup: []\nwrap: []\nnetwork: [tests, server, setup, approach]\nevaluators: {}\n";
    project.file("suites/s/suite.yaml", &written);
    assert_eq!(notes(&run(&project, "s")), [""; 0]);
    let found = versions(&project);
    assert_eq!(found[0], found[1]);
    assert_eq!(
        plans(&project)[0].1["arms"][0]["content"]["parts"],
        plans(&project)[1].1["arms"][0]["content"]["parts"]
    );
    // An empty list of who may use the network is no default.
    project.file(
        "suites/s/suite.yaml",
        written.replace("[tests, server, setup, approach]", "[]"),
    );
    assert_eq!(notes(&run(&project, "s")).len(), 1);
}

/// The last release hashed every key that was written. A store goes on with that version.
#[test]
fn runs_of_the_release_that_hashed_defaults_are_compared_with_those_of_today() {
    let project = project();
    project.file("suites/s/suite.yaml", SUITE.to_owned() + "setup: []\n");
    run(&project, "s");
    let (path, mut plan) = plans(&project).remove(0);
    let content = &mut plan["arms"][0]["content"];
    let earlier = content["earlier"][0].clone();
    assert_ne!(earlier, content["version"]);
    content["version"] = earlier.clone();
    content.as_object_mut().expect("a map").remove("earlier");
    plan["arms"][0]["suite_version"] = earlier.clone();
    fs::write(project.path(&path), plan.to_string()).expect("it can be written");
    assert_eq!(notes(&run(&project, "s")), [""; 0]);
    assert_eq!(json!(versions(&project)[1]), earlier);
}

/// Changing one of these ends the comparability of every user's results: let the program know the earlier way of hashing instead, as
/// `suite::version` does.
#[test]
fn a_program_that_learns_more_changes_no_version() {
    let project = project();
    run(&project, "s");
    run(&project, "quiz");
    project.file(
        "suites/asked/suite.yaml",
        "name: asked\nquestions: questions.yaml\n",
    );
    project.file("suites/asked/questions.yaml", project.read("q.yaml"));
    project.file(
        "evalreport.yaml",
        project.read("evalreport.yaml") + "default_agent: b\n",
    );
    run(&project, "asked");
    let short: Vec<String> = versions(&project)
        .iter()
        .map(|version| version[..16].to_owned())
        .collect();
    assert_eq!(
        short,
        ["f8c58a4cac87afc5", "6eaba866e70a2082", "8e1bb3b47f557078"]
    );
}

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Suite and version of each shipped run.
fn shipped_runs() -> Vec<(PathBuf, String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(Path::new(ROOT).join("results")).expect("the shipped results") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let run: Value =
                serde_json::from_slice(&fs::read(&path).expect("a header")).expect("JSON");
            if let (Some(suite), Some(version)) =
                (run["suite"].as_str(), run["suite_version"].as_str())
            {
                found.push((path, suite.to_owned(), version.to_owned()));
            }
        }
    }
    found
}

#[test]
fn the_shipped_runs_are_of_the_shipped_suites() {
    let root = Path::new(ROOT);
    let runs = shipped_runs();
    let suites = evalreport::suite::discover_suites(root).expect("the shipped suites");
    assert_eq!(suites.len(), 4);
    for found in suites {
        let suite = found.suite.expect("a sound suite");
        let content = evalreport::suite::suite_contents(root, &suite).expect("its content");
        let own: Vec<&String> = runs
            .iter()
            .filter(|(_, of, _)| *of == suite.name)
            .map(|(_, _, version)| version)
            .collect();
        assert!(own.len() >= 15, "{} has {} runs", suite.name, own.len());
        let known: Vec<&String> = [&content.version, &content.bytes]
            .into_iter()
            .chain(&content.earlier)
            .collect();
        assert!(
            own.iter().all(|version| known.contains(version)),
            "{}: {own:?} {known:?}",
            suite.name
        );
    }
    // What the last release had for the same files.
    for (name, version) in [
        ("basics", "98065e1d2ade"),
        ("flask", "8ac8baa2349f"),
        ("tasktracker", "1dbc5edbe723"),
    ] {
        let suite = evalreport::suite::find_suite(root, name).expect("a shipped suite");
        let content = evalreport::suite::suite_contents(root, &suite).expect("its content");
        let known = content.earlier.iter().chain([&content.version]);
        assert!(
            known.clone().any(|known| known.starts_with(version)),
            "{name}: {:?}",
            known.collect::<Vec<_>>()
        );
    }
}

/// The nightly example writes to a store of its own, and reads the shipped one beside it.
#[test]
fn a_night_in_a_store_of_its_own_is_compared_with_the_shipped_runs() {
    let project = project();
    let mut shipped = None;
    for (path, suite, version) in shipped_runs()
        .into_iter()
        .filter(|(_, suite, _)| suite == "basics")
    {
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        project.file(
            &format!("shipped/{name}"),
            fs::read_to_string(&path).expect("a header"),
        );
        shipped = Some((suite, version));
    }
    let (_, version) = shipped.expect("runs of basics");
    for file in ["suite.yaml", "questions.yaml"] {
        let text = fs::read_to_string(Path::new(ROOT).join("suites/basics").join(file))
            .expect("a shipped file");
        project.file(&format!("suites/basics/{file}"), text);
    }
    let output = project.run([
        "--results",
        "results",
        "--results",
        "shipped",
        "run",
        "basics",
        "--agent",
        "b",
    ]);
    assert!(
        output.code == 0 && notes(&output).is_empty(),
        "{}",
        output.stderr
    );
    assert_eq!(versions(&project), [version]);
}
