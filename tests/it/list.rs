//! `list`: what can be run, beside what has results.

use serde_json::{Value, json};

use crate::eval::asked;
use crate::support::{Project, result};

/// Suites of every kind, right and wrong, and agents that can and cannot be asked.
fn workshop() -> Project {
    let project = asked();
    project.file(
        "suites/facts/suite.yaml",
        "name: facts\nquestions: facts.yaml\n",
    );
    project.file(
        "suites/facts/facts.yaml",
        "version: 1\nquestions:\n- {question: a, answers: [x, y], correct_answers: [x]}\n",
    );
    project.file("suites/app/suite.yaml", "name: app\nlanguage: python\nrequirements: requirements.md\ntests: {shared: [sh check.sh]}\n");
    project
        .file("suites/app/requirements.md", "Make it.")
        .file("suites/app/check.sh", "exit 0\n");
    project.file(
        "suites/bad/suite.yaml",
        "name: bad\nrequirments: x\ntests: {shared: 3}\n",
    );
    project.file(
        "suites/worse/suite.yaml",
        "name: worse\nquestions: worse.yaml\n",
    );
    project.file("suites/worse/worse.yaml", "version: 1\nquestions: []\n");
    project.file(
        "evalreport.yaml",
        "version: 1
agents:
- {id: knows, type: command, command: [sh, agent.sh]}
- {id: gone, type: command, command: [no-such-program-here]}
- {id: chat, type: anthropic, model: m, api_key_env: NO_SUCH_KEY_HERE}
- {id: any, type: command, command: [cat, '{model}']}
default_agent: knows
approaches:
- {id: shell, name: By hand, command: [sh, -c, 'true']}
- {id: lost, command: ['{root}/no-such-program', '{model}']}
tasks:
- {id: quiz, type: question_eval, questions_file: questions.yaml, agent: chat}
- {id: nothing, type: question_eval, questions_file: nowhere.yaml}
",
    );
    project
}

fn names<'a>(listed: &'a Value, what: &str, key: &str) -> Vec<&'a str> {
    listed["runnable"][what]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry[key].as_str())
        .collect()
}

/// The problems of one entry, as `file:line: message`.
fn problems(listed: &Value, what: &str, key: &str, name: &str) -> Vec<String> {
    let entries = listed["runnable"][what].as_array().expect("a list");
    let entry = entries
        .iter()
        .find(|entry| entry[key] == name)
        .expect("the entry is there");
    entry["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(words)
        .collect()
}

fn words(problem: &Value) -> String {
    let text = |key: &str| problem[key].as_str().unwrap_or_default();
    format!("{}:{}: {}", text("file"), problem["line"], text("message"))
}

#[test]
fn an_empty_store_is_no_reason_to_say_nothing() {
    needs!("python3");
    let project = workshop();
    let output = project.run(["list"]);
    for text in [
        "No results yet.",
        "Suites to run",
        "Tasks",
        "Agents",
        "Approaches",
        "evalreport run facts --agent knows",
        "evalreport run app --approach shell",
    ] {
        assert!(output.answer().contains(text), "{text}: {}", output.stdout);
    }
    // What is printed to try can be tried.
    assert_eq!(
        project
            .run(["run", "facts", "--agent", "knows", "--runs", "3", "--quiet"])
            .code,
        0
    );
    let after = project.run(["list"]);
    assert!(
        after.answer().contains("Results") && !after.stdout.contains("No results yet."),
        "{}",
        after.stdout
    );
    // Who asks for runs asks about results.
    assert_eq!(
        project
            .run(["list", "--runs", "--format", "csv"])
            .column("suite"),
        ["facts", "facts", "facts"]
    );
    assert_eq!(
        project
            .run(["list", "--suite", "facts", "--format", "json"])
            .json()
            .get("runnable"),
        None
    );
}

#[test]
fn everything_is_listed_with_what_is_wrong_with_it() {
    needs!("python3");
    let project = workshop();
    let listed = project.run(["list", "--format", "json"]).json();
    assert_eq!(
        names(&listed, "suites", "suite"),
        ["app", "bad", "facts", "worse"]
    );
    assert_eq!(
        names(&listed, "suites", "kind"),
        ["code", "questions", "questions"]
    );
    assert_eq!(
        listed.pointer("/runnable/suites/2/questions"),
        Some(&json!(1))
    );
    assert_eq!(
        names(&listed, "agents", "agent"),
        ["knows", "gone", "chat", "any"]
    );
    assert_eq!(
        names(&listed, "approaches", "approach"),
        ["shell", "lost", "oneshot", "ralph"]
    );
    assert_eq!(names(&listed, "tasks", "agent"), ["chat", "knows"]);

    let wrong = problems(&listed, "suites", "suite", "bad");
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(
        wrong.contains(&"suites/bad/suite.yaml:2: unknown key `requirments`".to_owned()),
        "{wrong:?}"
    );
    assert_eq!(
        problems(&listed, "suites", "suite", "worse"),
        ["suites/worse/worse.yaml:2: `questions` is empty"]
    );
    assert!(
        problems(&listed, "tasks", "task", "nothing")[0]
            .starts_with("nowhere.yaml:null: cannot be read")
    );
    assert_eq!(
        problems(&listed, "agents", "agent", "gone"),
        [":null: program `no-such-program-here` not found on PATH"]
    );
    assert!(problems(&listed, "agents", "agent", "chat")[0].contains("`NO_SUCH_KEY_HERE`"));
    assert!(problems(&listed, "approaches", "approach", "lost")[0].contains("there is no program"));
    for (what, key, name) in [
        ("suites", "suite", "app"),
        ("suites", "suite", "facts"),
        ("agents", "agent", "knows"),
        ("approaches", "approach", "shell"),
        ("agents", "agent", "any"),
    ] {
        assert_eq!(problems(&listed, what, key, name), [""; 0], "{name}");
    }
    assert_eq!(
        listed.pointer("/runnable/agents/3/needs_model"),
        Some(&json!(true))
    );
    assert_eq!(
        listed.pointer("/runnable/approaches/1/needs_model"),
        Some(&json!(true))
    );
}

#[test]
fn the_table_has_the_first_problem_and_verbose_all_of_them() {
    let project = workshop();
    let output = project.run(["list", "--verbose"]);
    assert!(
        output
            .stdout
            .contains("suites/bad/suite.yaml:1:1: `requirements` is missing (and 2 more)"),
        "{}",
        output.stdout
    );
    let told: Vec<&str> = output
        .stderr
        .lines()
        .filter(|line| line.contains("cannot be run what=suite name=bad"))
        .collect();
    assert_eq!(told.len(), 3, "{}", output.stderr);
    assert!(
        told[1].contains("hint=\"did you mean `requirements`?\""),
        "{told:?}"
    );
    // A key is named, and never shown.
    let keyed = project.run_in(
        ["list", "--verbose"],
        &[("NO_SUCH_KEY_HERE", "sk-secret-1234")],
    );
    assert!(
        !keyed.stdout.contains("NO_SUCH_KEY_HERE")
            && !format!("{}{}", keyed.stdout, keyed.stderr).contains("sk-secret"),
        "{}",
        keyed.stdout
    );
}

#[test]
fn a_folder_with_results_alone_is_listed_as_such() {
    let project = Project::with(&[result("run-1", "s", "a", json!({}))]);
    let output = project.run(["list"]);
    assert!(
        !output.answer().contains("Results") && !output.stdout.contains("ralph"),
        "{}",
        output.stdout
    );
    assert_eq!(
        project.run(["list", "--format", "csv"]).column("suite"),
        ["s"]
    );
    let nothing = Project::new().run(["list"]);
    assert!(
        nothing
            .refusal()
            .contains("hint: `evalreport init` writes something to run"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn markdown_and_csv_have_the_same_rows() {
    needs!("python3");
    let project = workshop();
    let markdown = project.run(["list", "--format", "markdown"]);
    assert!(
        markdown.answer().contains("### Suites to run")
            && markdown.stdout.contains("| facts | questions |"),
        "{}",
        markdown.stdout
    );
    let csv = project.run(["list", "--format", "csv"]);
    assert!(
        csv.answer().starts_with("Suite,Kind,Questions,Language,Needs,Runs so far,Problem\napp,code,,python,an approach,0,\n"),
        "{}",
        csv.stdout
    );
    assert!(
        csv.stdout
            .contains("\n\nAgent,Type,Model,Default,Problem\n"),
        "{}",
        csv.stdout
    );
}

#[test]
fn hostile_names_stay_text() {
    let project = asked();
    project.file("suites/x;rm\u{1b}[2J/suite.yaml", "name: a b\n");
    let output = project.run(["list"]);
    assert!(
        !output.answer().contains('\u{1b}') && !output.stdout.contains("run x;rm"),
        "{}",
        output.stdout
    );
}

/// What `run` would refuse before it begins is known without it.
#[test]
fn settings_of_evaluators_and_verification_are_looked_at() {
    let project = Project::new();
    project.file("suites/app/requirements.md", "Make it.");
    let suite = "name: app\nrequirements: suites/app/requirements.md\ntests: {shared: ['true']}\n";
    project.file(
        "suites/app/suite.yaml",
        format!("{suite}goal: Make it\nevaluators:\n  efficiency: {{speed: 3}}\nverification:\n  lint: true\n"),
    );
    project.file(
        "suites/facts/suite.yaml",
        "name: facts\nquestions: suites/facts/facts.yaml\n",
    );
    project.file(
        "suites/facts/facts.yaml",
        "version: 1\nquestions:\n- {question: a, answers: [x, y], correct_answers: [x]}\n",
    );
    let config = "version: 1\nevaluators:\n  complexity: {depth: no}\nverification:\n  primary_tst: make test\n";
    project.file("evalreport.yaml", config);
    let listed = project.run(["list", "--format", "json"]).json();
    let general: Vec<String> = listed["runnable"]["problems"]
        .as_array()
        .expect("a list")
        .iter()
        .map(words)
        .collect();
    assert_eq!(
        general,
        [
            "evalreport.yaml:3: unknown key `evaluators.complexity.depth`",
            "evalreport.yaml:5: unknown key `verification.primary_tst`"
        ]
    );
    assert_eq!(
        problems(&listed, "suites", "suite", "app"),
        [
            "suites/app/suite.yaml:6: unknown key `evaluators.efficiency.speed`",
            "evalreport.yaml:3: unknown key `evaluators.complexity.depth`",
            "suites/app/suite.yaml:8: `verification.lint` must be a command or false, not true",
            "evalreport.yaml:5: unknown key `verification.primary_tst`",
        ]
    );
    assert_eq!(
        problems(&listed, "suites", "suite", "facts"),
        [""; 0],
        "questions are neither evaluated nor verified"
    );
    // A run says the same, and is not offered.
    let refused = project.run(["run", "app", "--approach", "ralph"]);
    assert!(
        refused.refusal().contains("suites/app/suite.yaml:6"),
        "{}",
        refused.stderr
    );
    let table = project.run(["list"]);
    assert!(
        table
            .answer()
            .contains("evalreport.yaml:5:3: unknown key `verification.primary_tst`"),
        "{}",
        table.stdout
    );
    assert!(
        !table.stdout.contains("Try: evalreport run app"),
        "{}",
        table.stdout
    );

    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n- {id: chat, type: anthropic, model: m, api_key_env: NO_SUCH_KEY_HERE}\njudge: {agent: chat}\n",
    );
    project.file(
        "suites/app/suite.yaml",
        format!("{suite}acceptance_criteria: [It works.]\n"),
    );
    let listed = project.run(["list", "--format", "json"]).json();
    let judged = problems(&listed, "suites", "suite", "app");
    assert!(
        matches!(judged.as_slice(), [problem] if problem.contains("`NO_SUCH_KEY_HERE`")),
        "{judged:?}"
    );
}
