//! Batches that measure nothing, or not enough: they say so at once, with the reason and by the exit code.

use std::path::Path;

use serde_json::json;

use crate::agents::service::{Act, Service};
use crate::support::{Output, Project};

/// Three questions, and agents of which each fails in its own way.
fn quiz(agents: &str) -> Project {
    let project = Project::new();
    project.file(
        "questions.yaml",
        "version: 1\nquestions:\n\
         \x20 - {id: q1, question: One?, answers: [one, two], correct_answers: [one]}\n\
         \x20 - {id: q2, question: Two?, answers: [one, two], correct_answers: [two]}\n\
         \x20 - {id: q3, question: Three?, answers: [one, two], correct_answers: [two]}\n",
    );
    project.file(
        "evalreport.yaml",
        format!("version: 1\nagents:\n{agents}tasks:\n  - {{id: quiz, type: question_eval, questions_file: questions.yaml}}\n"),
    );
    project
}

fn script(id: &str, script: &str) -> String {
    format!(
        "  - {{id: {id}, type: command, command: [sh, -c, {}]}}\n",
        json!(script)
    )
}

/// Lines of stderr that begin in this way.
fn said(output: &Output, begin: &str) -> Vec<String> {
    output
        .stderr
        .lines()
        .filter(|line| line.starts_with(begin))
        .map(str::to_owned)
        .collect()
}

fn headers(project: &Project) -> Vec<serde_json::Value> {
    let is_header = |path: &String| {
        Path::new(path).extension().is_some_and(|end| end == "json")
            && path.matches('/').count() == 1
    };
    let paths = project.files("results").into_iter().filter(is_header);
    paths
        .map(|path| serde_json::from_str(&project.read(&path)).expect("a header is JSON"))
        .collect()
}

#[test]
fn an_agent_that_crashes_on_every_question_has_not_been_measured() {
    let project = quiz(&script("crash", "echo 'Traceback: boom' >&2; exit 3"));
    let output = project.run(["run", "quiz", "--site", "site"]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    let reason = "3 error: ended with exit status 3: Traceback: boom";
    assert_eq!(
        said(&output, "note: quiz"),
        [format!(
            "note: quiz crash/none, 3 outcomes: {reason} (such as q1)"
        )]
    );
    assert_eq!(
        said(&output, "nothing"),
        ["nothing was measured of quiz crash/none: see why above"]
    );
    assert_eq!(said(&output, "failed").len(), 1, "{}", output.stderr);
    let header = headers(&project).remove(0);
    assert_eq!(
        (&header["status"], &header["shared_tests_passed"]),
        (&json!("failed"), &json!(0))
    );
    let error =
        "all 3 questions ended with the same error: ended with exit status 3: Traceback: boom";
    assert_eq!(header["error"], error);
    let pages = project.files("site/runs");
    let page = project.read(
        pages
            .iter()
            .find(|path| path.ends_with("index.html"))
            .expect("the run has a page"),
    );
    assert!(
        page.contains(error) && page.contains("Reasons for failures"),
        "{page}"
    );
    // Who is alone is not first.
    let board = project.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(board["suites"][0]["entries"][0].get("standing"), None);
    assert_eq!(
        project.run(["leaderboard", "--format", "markdown"]).shown()[0]["Rank"],
        "–"
    );
    let shown = project.run(["show", header["id"].as_str().expect("an id")]);
    assert!(
        shown.stdout.contains("Why items did not pass"),
        "{}",
        shown.stdout
    );
}

/// What every surface shows of an arm: whether it has a rank, and its rate.
fn shown(project: &Project, arm: &str) -> (bool, serde_json::Value) {
    let board = project.run(["leaderboard", "--format", "json"]).json()["suites"][0].clone();
    let entries = board["entries"].as_array().expect("entries");
    let place = entries
        .iter()
        .position(|entry| entry["approach"] == arm)
        .expect("the arm is on the board");
    let (has_rank, rate) = (
        entries[place].get("standing").is_some(),
        entries[place]["primary"]["value"].clone(),
    );
    let comparison = project.run(["compare", "--format", "json"]).json()["comparisons"][0].clone();
    let compared = comparison["arms"]
        .as_array()
        .expect("arms")
        .iter()
        .position(|compared| compared["approach"] == arm)
        .expect("the arm is compared");
    assert_eq!(
        comparison["rows"][0]["cells"][compared]["value"], rate,
        "{comparison:#}"
    );
    // An arm without a rate comes last, and says why.
    if rate.is_null() {
        assert_eq!(place, entries.len() - 1, "{board:#}");
        let (markdown, table) = (
            project.run(["leaderboard", "--format", "markdown"]),
            project.run(["compare"]),
        );
        let line = markdown
            .shown()
            .into_iter()
            .find(|row| row["Approach"] == arm)
            .expect("a row");
        assert_eq!(
            (line["Rank"].as_str(), line["Notes"].as_str()),
            ("–", "2 runs crashed before anything was measured")
        );
        let note = format!(
            "{arm}: 2 runs crashed before anything was measured, so it has no rate and no rank."
        );
        assert!(table.stdout.contains(&note), "{}", table.stdout);
    }
    (has_rank, rate)
}

#[test]
fn an_arm_that_only_crashed_has_no_rank_and_no_rate() {
    let crash = script("crash", "echo boom >&2; exit 3");
    let project = quiz(
        &(crash.clone()
            + &script("good", "echo '<answer>two</answer>'")
            + &script("bad", "echo '<answer>no</answer>'")),
    );
    let output = project.run([
        "run",
        "quiz",
        "--agent",
        "crash,good,bad",
        "--runs",
        "2",
        "--site",
        "site",
    ]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert_eq!(shown(&project, "crash"), (false, json!(null)));
    // Wrong answers are a measurement.
    assert_eq!(shown(&project, "bad"), (true, json!(0.0)));
    assert!(shown(&project, "good").0);
    let board = project.read("site/suites/quiz/leaderboard.html");
    assert!(
        board.contains("2 runs crashed before anything was measured"),
        "{board}"
    );
    // The runs are listed all the same.
    let runs = project.read("site/suites/quiz/runs.html");
    assert_eq!(runs.matches(">crash<").count(), 2, "{runs}");
    // A gate does not pass what crashes now.
    let healthy = project
        .read("evalreport.yaml")
        .replace(&crash, &script("crash", "echo '<answer>two</answer>'"));
    let gated = |text: &str| {
        project.file("evalreport.yaml", text);
        project.run(["run", "quiz", "--agent", "crash", "--runs", "2"]);
        project.run([
            "gate",
            "--baseline",
            "last:1",
            "--max-drop",
            "5pp",
            "--agent",
            "crash",
        ])
    };
    gated(&healthy);
    // With a run that measured something, the arm has a rate, in which crashes have not passed.
    let mixed = shown(&project, "crash");
    assert!(
        mixed.0
            && mixed
                .1
                .as_f64()
                .is_some_and(|rate| (rate - 1.0 / 3.0).abs() < 1e-9),
        "{mixed:?}"
    );
    let gate = gated(&healthy.replace(
        "- {id: crash, type: command, command: [sh, -c, \"echo '<answer>two</answer>'\"]}",
        crash.trim(),
    ));
    assert_ne!(gate.code, 0, "{}", gate.stdout);
}

#[test]
fn one_answer_is_a_measurement() {
    let project = quiz(&script(
        "flaky",
        "if grep -q One; then echo '<answer>two</answer>'; else exit 1; fi",
    ));
    let output = project.run(["run", "quiz"]);
    assert_eq!(
        (output.code, headers(&project)[0]["status"].as_str()),
        (0, Some("completed")),
        "{}",
        output.stderr
    );
}

#[test]
fn a_program_that_is_not_there_costs_nothing() {
    let agents = script("good", "touch asked; echo '<answer>one</answer>'")
        + "  - {id: gone, type: command, command: [no-such-program]}\n";
    let project = quiz(&agents);
    let output = project.run(["run", "quiz", "--agent", "good,gone"]);
    let refusal = output.refusal();
    assert!(
        refusal.contains("gone needs it for `quiz`: program `no-such-program` not found on PATH"),
        "{refusal}"
    );
    assert!(!project.path("asked").exists() && !project.path("results").exists());
    let output = project.run(["eval", "questions.yaml", "--agent", "gone"]);
    assert!(
        output.refusal().contains("`no-such-program` not found"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_refused_key_and_an_unknown_model_end_the_batch_at_the_first_question() {
    for (status, said) in [
        (401, "was refused"),
        (403, "was refused"),
        (404, "does not know the model `m`"),
    ] {
        let body = json!({"error": {"message": "no"}}).to_string().into_bytes();
        let service = Service::start(vec![Act::Answer(status, "", body)]);
        let agent = format!(
            "  - {{id: api, type: openai, model: m, base_url: \"{}\", api_key_env: API_KEY}}\n",
            service.url("/v1")
        );
        let project = quiz(&agent);
        let output = project.run_in(
            ["run", "quiz", "--runs", "2"],
            &[("API_KEY", "k-0123456789")],
        );
        let refusal = output.refusal();
        assert!(
            refusal.contains("quiz api/m cannot be run: ") && refusal.contains(said),
            "{refusal}"
        );
        assert!(refusal.contains("evalreport run --resume"), "{refusal}");
        assert_eq!(service.requests().len(), 1, "{refusal}");
        assert!(headers(&project).is_empty());
    }
}

#[test]
fn a_refusal_after_an_answer_is_about_that_question() {
    let answer = json!({"model": "m", "choices": [{"message": {"content": "<answer>one</answer>"}, "finish_reason": "stop"}]});
    let refused = Act::Answer(
        403,
        "",
        b"{\"error\": {\"message\": \"not this\"}}".to_vec(),
    );
    let service = Service::start(vec![
        Act::Answer(200, "", answer.to_string().into_bytes()),
        refused,
    ]);
    let agent = format!(
        "  - {{id: api, type: openai, model: m, base_url: \"{}\"}}\n",
        service.url("/v1")
    );
    let project = quiz(&agent);
    let output = project.run(["run", "quiz"]);
    assert_eq!(
        (output.code, service.requests().len()),
        (0, 3),
        "{}",
        output.stderr
    );
    let note = "2 infra: a key was asked for";
    assert!(
        said(&output, "note: quiz")[0].contains(note),
        "{}",
        output.stderr
    );
}

#[test]
fn kinds_of_mistakes_are_counted_and_explained() {
    let answers = "input=$(cat); case $input in *One*) echo one;; *Two*) echo two;; *) echo '<answer>three</answer>';; esac";
    let project = quiz(&script("bare", answers));
    let output = project.run(["run", "quiz"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let notes = said(&output, "note: quiz");
    let missing = "2 missing: no `<answer>` tag; the prompt asks for a reply that ends in `<answer>choice</answer>`";
    let invalid = "1 invalid choice: the answer is not one of the choices";
    assert_eq!(
        notes,
        [format!(
            "note: quiz bare/none, 3 outcomes: {missing}; {invalid} (such as q1)"
        )]
    );
    let wrong = quiz(&script("wrong", "echo '<answer>one</answer>'")).run(["run", "quiz"]);
    assert!(said(&wrong, "note").is_empty(), "{}", wrong.stderr);
}

#[test]
fn a_limit_that_is_not_reached_says_by_how_much() {
    let project = quiz(&script("one", "echo '<answer>one</answer>'"));
    let output = project.run(["run", "quiz", "--fail-under", "80"]);
    assert_eq!(output.code, 1, "{}", output.stderr);
    assert_eq!(
        said(&output, "quiz one"),
        ["quiz one/none passed 33.3% (1 of 3), less than --fail-under 80"]
    );
    let several = project.run(["run", "quiz", "--runs", "2", "--fail-under", "33.5"]);
    assert_eq!(
        said(&several, "quiz one"),
        ["quiz one/none passed 33.3% in the mean of 2 runs, less than --fail-under 33.5"]
    );
    assert_eq!(project.run(["run", "quiz", "--fail-under", "33"]).code, 0);
}

/// A suite with tests and criteria, and one with criteria alone.
fn judged(judge: &str) -> Project {
    let project = Project::new();
    let criteria = "acceptance_criteria: [logs in, adds, removes, lists, sorts]\n";
    let tests = "tests: {shared: ['test -f \"$EVAL_WORKSPACE/made.txt\"']}\n";
    for (name, tests) in [("tested", tests), ("judged", "")] {
        project.file(
            &format!("suites/{name}/suite.yaml"),
            format!("name: {name}\nrequirements: suites/order.md\n{tests}{criteria}"),
        );
    }
    let verdicts: Vec<_> = ["logs in", "adds", "removes", "lists", "sorts"]
        .iter()
        .map(|criterion| json!({"criterion": criterion, "passed": *criterion != "sorts", "reasoning": "seen"}))
        .collect();
    project
        .file("suites/order.md", "Make it.\n")
        .file("verdicts.json", json!(verdicts).to_string());
    project.file(
        "evalreport.yaml",
        format!(
            "version: 1\n{judge}approaches:\n  - {{id: a, command: [sh, -c, 'echo x > made.txt']}}\nagents:\n{}{}",
            script("fair", "cat > /dev/null; cat verdicts.json"),
            script("dead", "echo 'no credit' >&2; exit 4"),
        ),
    );
    project
}

#[test]
fn a_judge_that_nobody_named_is_a_warning_at_once_and_an_exit_code() {
    for suite in ["tested", "judged"] {
        let output = judged("").run(["run", suite]);
        assert_eq!(output.code, 3, "{}", output.stderr);
        let warning = format!("warning: no judge for 5 acceptance criteria of `{suite}`");
        assert!(output.stderr.starts_with(&warning), "{}", output.stderr);
        assert!(
            output.stderr.contains(&format!(
                "not all was judged of {suite} a/none: no judge is configured"
            )),
            "{}",
            output.stderr
        );
        let is_unmeasured = output.stderr.contains("nothing was measured of");
        assert_eq!(is_unmeasured, suite == "judged", "{}", output.stderr);
    }
    let project = judged("evaluators: {requirementFulfillment: false}\n");
    let output = project.run(["run", "tested"]);
    assert_eq!(
        (output.code, said(&output, "warning").len()),
        (0, 0),
        "{}",
        output.stderr
    );
}

#[test]
fn a_judge_that_is_dead_is_a_warning_at_once_and_an_exit_code() {
    let output = judged("judge: {agent: dead}\n").run(["run", "tested", "--runs", "2"]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    let warnings = said(
        &output,
        "warning: tested a/none 1: the judge did not decide about requirementFulfillment:",
    );
    assert!(
        warnings.len() == 1 && warnings[0].contains("no credit"),
        "{}",
        output.stderr
    );
    let lines: Vec<&str> = output.stderr.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.starts_with("warning"))
        .expect("a warning");
    let second_run = lines
        .iter()
        .position(|line| line.starts_with("start     tested a/none 2"))
        .expect("a second run");
    assert!(first < second_run, "{}", output.stderr);
}

#[test]
fn a_judge_whose_program_is_missing_costs_nothing() {
    let project = judged("judge: {agent: gone}\n");
    let text = project.read("evalreport.yaml")
        + "  - {id: gone, type: command, command: [no-such-judge]}\n";
    project.file("evalreport.yaml", text);
    let output = project.run(["run", "judged"]);
    assert!(
        output
            .refusal()
            .contains("program `no-such-judge` not found on PATH"),
        "{}",
        output.stderr
    );
    assert!(!project.path("results").exists());
}

#[test]
fn what_a_judge_decided_in_part_was_measured() {
    let project = judged(
        "judge: {agent: part}\nevaluators: {requirementFulfillment: {criteria_per_question: 3}}\n",
    );
    let part = script(
        "part",
        "case $(cat) in *sorts*) echo overload >&2; exit 9;; esac; cat verdicts.json",
    );
    project.file("evalreport.yaml", project.read("evalreport.yaml") + &part);
    let output = project.run(["run", "judged"]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert!(
        output
            .stderr
            .contains("not all was judged of judged a/none"),
        "{}",
        output.stderr
    );
    assert!(
        !output.stderr.contains("nothing was measured"),
        "{}",
        output.stderr
    );
}

#[test]
fn an_approach_that_crashes_before_it_writes_has_not_been_measured() {
    let project = judged("evaluators: {requirementFulfillment: false}\n");
    let config = project
        .read("evalreport.yaml")
        .replace("echo x > made.txt", "echo boom >&2; exit 1");
    project.file("evalreport.yaml", config);
    let output = project.run(["run", "tested", "--runs", "2"]);
    assert_eq!(output.code, 3, "{}", output.stderr);
    assert_eq!(
        said(&output, "nothing"),
        ["nothing was measured of tested a/none: see why above"]
    );
    // What it left was tested.
    let config = project
        .read("evalreport.yaml")
        .replace("echo boom >&2; exit 1", "echo x > made.txt; exit 1");
    project.file("evalreport.yaml", config);
    assert_eq!(project.run(["run", "tested"]).code, 0);
}

#[test]
fn criteria_that_were_met_are_an_outcome() {
    let project = judged("judge: {agent: fair}\n");
    let output = project.run(["run", "judged"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let line = &said(&output, "completed")[0];
    assert!(
        line.contains("judged a/none 1: 4/5 criteria met, run "),
        "{line}"
    );
    let id = headers(&project)[0]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let again = project.run(["judge", &id, "--judge", "dead"]);
    assert_eq!(again.code, 1, "{}", again.stderr);
    assert!(
        again.stdout.contains("80.0 stands") && !again.stdout.contains("n/a"),
        "{}",
        again.stdout
    );
    assert!(
        again.stdout.contains(&format!("Run {id} was not judged: "))
            && again.stdout.contains("no credit"),
        "{}",
        again.stdout
    );
}

#[test]
fn what_was_done_before_is_counted_when_a_batch_goes_on() {
    let answer = json!({"model": "m", "choices": [{"message": {"content": "<answer>one</answer>"}, "finish_reason": "stop"}]});
    let answer = Act::Answer(200, "", answer.to_string().into_bytes());
    let refused = Act::Answer(401, "", b"{\"error\": {\"message\": \"expired\"}}".to_vec());
    // The first run is whole; of the second the first question is decided.
    let acts = [vec![answer.clone(); 4], vec![refused, answer]].concat();
    let service = Service::start(acts);
    let project = quiz(&format!(
        "  - {{id: api, type: openai, model: m, base_url: \"{}\"}}\n",
        service.url("/v1")
    ));
    let first = project.run(["run", "quiz", "--runs", "3"]);
    assert!(
        first.code == 2 && first.stderr.contains("cannot be run"),
        "{}",
        first.stderr
    );
    assert_eq!(headers(&project).len(), 1, "{}", first.stderr);
    let output = project.run(["run", "--resume"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let resumed = said(&output, "resumed");
    assert!(
        resumed
            .iter()
            .any(|line| line.ends_with("1 of 3 items were decided before")),
        "{}",
        output.stderr
    );
    let done: Vec<String> = said(&output, "completed");
    assert!(
        done[0].contains("(2 of 3 runs") && done[1].contains("(3 of 3 runs"),
        "{}",
        output.stderr
    );
}
