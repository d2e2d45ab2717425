//! `eval`: questions put to programs, from the command line to results, report and log.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::agents::service::{Act, Service};
use crate::support::{Output, Project};

/// What one question is answered with says its text.
const AGENT: &str = r#"prompt=$(cat)
case $prompt in
    *France*) echo '{"answer": "<answer>Paris</answer>", "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 30}, "cost_usd": 0.25, "steps": 2, "tools": {"Read": 1, "Bash": 2}}' ;;
    *sky*) echo '{"answer": "It is <answer>Green</answer>", "cost_usd": 0.5}' ;;
    *sum*) echo 'Four, I would say.' ;;
    *moon*) echo 'the moon is down' >&2; exit 3 ;;
esac
"#;

const CONFIG: &str = "version: 1
agents:
- {id: knows, type: command, command: [sh, agent.sh]}
- {id: echo, type: command, command: [cat]}
";

const QUESTIONS: &str = "version: 1
questions:
- {id: france, question: What is the capital of France?, answers: [Paris, Lyon], correct_answers: [Paris], category: capitals, cluster: europe}
- {id: sky, question: What colour is the sky?, answers: [Blue, Green, Red, White], correct_answers: [Blue, White]}
- {id: sum, question: What is the sum of 2 and 2?, answers: ['3', '4'], correct_answers: ['4']}
- {id: moon, question: Who is the moon?, answers: [Selene, Helios], correct_answers: [Selene]}
";

pub fn asked() -> Project {
    let project = Project::new();
    project
        .file("agent.sh", AGENT)
        .file("evalreport.yaml", CONFIG)
        .file("questions.yaml", QUESTIONS);
    project
}

/// Puts a word in the place of every id, which is another each time.
fn redacted(text: &str) -> String {
    let is_id = |word: &&str| {
        word.len() == 36
            && word
                .bytes()
                .enumerate()
                .all(|(at, byte)| [8, 13, 18, 23].contains(&at) == (byte == b'-'))
    };
    let mut text = text.to_owned();
    let words: Vec<String> = text
        .split([' ', ')', '\n', '`'])
        .filter(is_id)
        .map(str::to_owned)
        .collect();
    for word in words {
        text = text.replace(&word, "[ID]");
    }
    text
}

fn only_run(project: &Project) -> (String, Value) {
    let files: Vec<String> = project
        .files("results")
        .into_iter()
        .filter(|path| path.strip_suffix(".json").is_some() && !path.contains("batches"))
        .collect();
    let [file] = files.as_slice() else {
        panic!("{files:?}")
    };
    let header: Value = serde_json::from_str(&project.read(file)).expect("a header is JSON");
    (
        header["id"]
            .as_str()
            .expect("a header has an id")
            .to_owned(),
        header,
    )
}

fn lines(project: &Project, path: &str) -> Vec<Value> {
    project
        .read(path)
        .lines()
        .map(|line| serde_json::from_str(line).expect("a journal's lines are JSON"))
        .collect()
}

#[test]
fn a_pipe_gets_a_plain_line_for_each_event() {
    let project = asked();
    let output = project.run([
        "eval",
        "questions.yaml",
        "--agent",
        "knows",
        "--runs",
        "2",
        "--seed",
        "7",
    ]);
    assert_eq!(output.code, 0);
    insta::assert_snapshot!(redacted(&output.stderr));
    assert!(!output.stderr.contains('\u{1b}'));

    let quiet = asked().run(["eval", "questions.yaml", "--agent", "knows", "--quiet"]);
    assert!(quiet.answer().contains("25 [5, 70]"), "{}", quiet.stdout);
}

#[test]
fn every_question_is_journalled_with_what_is_known_of_it() {
    let project = asked();
    // In the order of the file, whatever ends first.
    assert_eq!(
        project
            .run(["eval", "questions.yaml", "--agent", "knows", "--jobs", "4"])
            .code,
        0
    );
    let (id, header) = only_run(&project);
    // Two of the questions did not say what they cost: there is no sum.
    let figures = [
        "shared_tests_passed",
        "shared_tests_total",
        "cost_usd",
        "status",
        "approach",
        "suite",
    ]
    .map(|key| header[key].clone());
    assert_eq!(
        figures,
        [
            json!(1),
            json!(4),
            Value::Null,
            json!("completed"),
            json!("knows"),
            json!("questions")
        ]
    );

    let items = lines(&project, &format!("results/{id}/items.jsonl"));
    let told: Vec<[Value; 5]> = items
        .iter()
        .map(|item| {
            let details = &item["details"];
            [
                item["item"].clone(),
                item["status"].clone(),
                details["reason"].clone(),
                details["answer"].clone(),
                details["expected"].clone(),
            ]
        })
        .collect();
    assert_eq!(
        told[..3],
        [
            [
                json!("france"),
                json!("pass"),
                Value::Null,
                json!("Paris"),
                json!(["Paris"])
            ],
            [
                json!("sky"),
                json!("fail"),
                json!("wrong_choice"),
                json!("Green"),
                json!(["Blue", "White"])
            ],
            [
                json!("sum"),
                json!("fail"),
                json!("missing"),
                Value::Null,
                json!(["4"])
            ],
        ]
    );
    assert_eq!(
        (&told[3][0], &told[3][1]),
        (&json!("moon"), &json!("error"))
    );
    assert!(
        told[3][2].as_str().is_some_and(
            |reason| reason.contains("exit status 3") && reason.contains("the moon is down")
        ),
        "{told:?}"
    );
    assert_eq!(
        (
            &items[0]["input_tokens"],
            &items[0]["output_tokens"],
            &items[0]["cluster"]
        ),
        (&json!(40), &json!(5), &json!("europe"))
    );
    assert_eq!(items[0]["category"], "capitals");
    assert_eq!(items[0]["details"]["tools"], json!({"Bash": 2, "Read": 1}));

    let said = lines(&project, &format!("results/{id}/transcript.jsonl"));
    let asked: BTreeMap<&str, &str> = said
        .iter()
        .filter(|line| line["entry"]["role"] == "user")
        .filter_map(|line| Some((line["item"].as_str()?, line["entry"]["content"].as_str()?)))
        .collect();
    assert!(
        asked["sky"].starts_with("What colour is the sky?\n\nChoices:\n- Blue\n- Green\n"),
        "{asked:?}"
    );
}

#[test]
fn nothing_right_is_zero_and_not_nothing() {
    let project = asked();
    assert_eq!(
        project
            .run([
                "eval",
                "questions.yaml",
                "--agent",
                "echo",
                "--fail-under",
                "1",
                "--quiet"
            ])
            .code,
        1
    );
    let (_, header) = only_run(&project);
    assert_eq!(header["scores"][0]["metric"], "accuracy");
    assert_eq!(header["scores"][0]["value"].as_f64(), Some(0.0));
    // Of a guess, the half or the quarter would have been right: worse than chance is below zero.
    assert!(
        header["scores"][1]["value"]
            .as_f64()
            .is_some_and(|value| value < 0.0),
        "{header}"
    );
    assert_eq!(project.run(["doctor", "--quiet"]).code, 0);
    let leaderboard = project.run(["leaderboard", "--format", "json"]).json();
    assert_eq!(
        leaderboard.pointer("/suites/0/entries/0/pass_rate/value"),
        Some(&json!(0.0))
    );
}

#[test]
fn an_output_folder_gets_results_and_report() {
    let project = asked();
    let output = project.run([
        "eval",
        "questions.yaml",
        "--agent",
        "knows",
        "--output-dir",
        "out",
        "--suite",
        "facts",
    ]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stderr.contains("results in out/results, batch "),
        "{}",
        output.stderr
    );
    assert!(
        project.read("out/report/index.html").contains("facts")
            && !project.path("results").exists()
    );
    let pages: Vec<String> = project
        .files("out/report/runs")
        .into_iter()
        .filter(|path| path.ends_with("/index.html") && path != "out/report/runs/index.html")
        .collect();
    let [page] = pages.as_slice() else {
        panic!("{pages:?}")
    };
    let html = project.read(page);
    for text in [
        "wrong_choice",
        "Blue or White",
        ">Paris<",
        "the moon is down",
        "Chance-adjusted accuracy",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
}

#[test]
fn two_agents_are_compared_with_their_figures_under_proper_names() {
    let project = asked();
    let output = project.run(["eval", "questions.yaml", "--agent", "knows,echo", "--quiet"]);
    let metrics: Vec<&str> = output
        .answer()
        .lines()
        .filter_map(|line| line.strip_prefix("│ ")?.split('│').next())
        .map(str::trim)
        .collect();
    assert!(metrics.contains(&"Chance-adjusted accuracy"), "{metrics:?}");
    // The score of that name is the share of questions that passed, which stands there once.
    let accuracies = metrics
        .iter()
        .filter(|metric| metric.eq_ignore_ascii_case("accuracy"));
    assert_eq!(accuracies.count(), 1, "{metrics:?}");
    let board = project.run(["leaderboard", "--format", "csv"]);
    assert!(
        board.rows()[0].contains_key("score_chance_adjusted_accuracy")
            && !board.rows()[0].contains_key("score_accuracy"),
        "{}",
        board.stdout
    );
}

#[test]
fn the_cost_so_far_is_counted_once() {
    let project = asked();
    project
        .file(
            "suites/facts/suite.yaml",
            "name: facts\nquestions: questions.yaml\n",
        )
        .file("suites/facts/questions.yaml", QUESTIONS);
    project.file(
        "evalreport.yaml",
        format!("{CONFIG}tasks:\n- {{id: quiz, type: question_eval, questions_file: questions.yaml, agent: knows}}\n"),
    );
    // A suite, a task and a file of questions are one and the same to a purse.
    for arguments in [
        &["run", "facts", "--agent", "knows"][..],
        &["run", "quiz"],
        &["eval", "questions.yaml", "--agent", "knows"],
    ] {
        let output = project.run(arguments.iter().copied());
        assert!(
            output.stderr.contains("(1 of 1 runs, ≥ $0.75 so far)"),
            "{arguments:?}: {}",
            output.stderr
        );
    }
}

#[test]
fn the_log_tells_every_question() {
    let project = asked();
    project.run([
        "eval",
        "questions.yaml",
        "--agent",
        "knows",
        "--quiet",
        "--log",
        "eval.log",
    ]);
    let log = lines(&project, "eval.log");
    let items: Vec<(&Value, &Value)> = log
        .iter()
        .filter(|event| event["message"] == "item")
        .map(|event| (&event["item"], &event["status"]))
        .collect();
    assert_eq!(
        items,
        [
            (&json!("france"), &json!("pass")),
            (&json!("sky"), &json!("fail")),
            (&json!("sum"), &json!("fail")),
            (&json!("moon"), &json!("error"))
        ]
    );
}

#[test]
fn slips_are_refused_before_anything_is_written() {
    let project = asked();
    project.file(
        "wrong.yaml",
        "version: 1\nquestions:\n- {question: x, answers: [a], correct_answers: [b], hint: c}\n",
    );
    let refused = |output: Output, words: &[&str]| {
        for word in words {
            assert!(output.refusal().contains(word), "{word}: {}", output.stderr);
        }
    };
    refused(
        project.run(["eval", "questions.yaml", "--agent", "know"]),
        &["there is no agent `know`", "did you mean `knows`?"],
    );
    refused(
        project.run(["eval", "questions.yaml"]),
        &["which agent?", "known: knows, echo"],
    );
    refused(
        project.run(["eval", "nowhere.yaml", "--agent", "knows"]),
        &["nowhere.yaml"],
    );
    refused(
        project.run(["eval", "wrong.yaml", "--agent", "knows"]),
        &["wrong.yaml:3:", "correct_answers", "hint", "2 problems"],
    );
    refused(
        project.run([
            "eval",
            "questions.yaml",
            "--agent",
            "knows",
            "--fail-under",
            "101",
        ]),
        &["--fail-under 101"],
    );
    assert!(!project.path("results").exists());
}

#[test]
fn a_run_of_code_tells_its_steps_and_its_cost_once() {
    let project = Project::new();
    project.file(
        "suites/app/suite.yaml",
        "name: app\nrequirements: requirements.md\ntests: {shared: [test -f made.txt, test -f other.txt]}\n",
    );
    project.file("suites/app/requirements.md", "Make a file.");
    project.file(
        "maker.sh",
        "echo made > made.txt\necho '{\"answer\": \"done\", \"cost_usd\": 0.25, \"steps\": 3}'\n",
    );
    let maker = project.path("maker.sh");
    project.file(
        "evalreport.yaml",
        format!("version: 1\nagents:\n- {{id: maker, type: command, command: [sh, '{}']}}\ndefault_agent: maker\n", maker.display()),
    );
    let output = project.run(["run", "app", "--approach", "oneshot"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let said: Vec<&str> = output
        .stderr
        .lines()
        .filter_map(|line| line.get(..10))
        .map(str::trim_end)
        .collect();
    assert_eq!(
        said,
        ["start", "step", "step", "step", "completed", "results in"],
        "{}",
        output.stderr
    );
    assert!(
        output
            .stderr
            .contains("step      app oneshot/default 1: shared_tests"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("(1 of 1 runs, $0.25 so far)"),
        "{}",
        output.stderr
    );

    let shown = project.run(["show", "--suite", "app"]);
    for text in ["test -f other.txt", "fail", "Transcript", "Output"] {
        assert!(shown.answer().contains(text), "{text}: {}", shown.stdout);
    }
    let json = project
        .run(["show", "--suite", "app", "--format", "json"])
        .json();
    assert_eq!(
        project.read(&format!(
            "{}/made.txt",
            json["runs"][0]["output"].as_str().unwrap_or_default()
        )),
        "made\n"
    );
}

#[test]
fn a_run_says_what_it_had_to_work_with_and_what_was_asked_again() {
    let project = asked();
    let answer = r#"{"model": "m-1", "choices": [{"message": {"content": "<answer>Paris</answer>"}}], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}"#;
    let service = Service::start(vec![
        Act::Answer(429, "retry-after: 0\r\n", Vec::new()),
        Act::Answer(200, "x-region: here\r\n", answer.as_bytes().to_vec()),
    ]);
    let agent = format!(
        "- {{id: api, type: openai, model: m, provider: Some cloud, base_url: '{}'}}\n",
        service.url("/v1")
    );
    project.file("evalreport.yaml", format!("{CONFIG}{agent}"));
    assert_eq!(
        project
            .run(["eval", "questions.yaml", "--agent", "api"])
            .code,
        0
    );
    let (id, header) = only_run(&project);
    let resources = &header["resources"];
    for (name, is_known) in [
        ("system", true),
        ("kernel", cfg!(target_os = "linux")),
        ("cpus", cfg!(target_os = "linux")),
        ("cpu_limit", true),
    ] {
        assert!(
            !is_known || !resources[name].is_null(),
            "{name}: {resources}"
        );
    }
    assert_eq!(
        (&resources["provider"], &resources["region"]),
        (&"Some cloud".into(), &"here".into())
    );
    assert_eq!(resources["repeated"]["retries"], 1);
    assert_eq!(
        resources["time_limit"], 900.0,
        "the usual time of a chat API"
    );
    let items = lines(&project, &format!("results/{id}/items.jsonl"));
    let repeated: Vec<&Value> = items
        .iter()
        .filter_map(|item| item["details"].get("repeated"))
        .collect();
    assert_eq!(repeated.len(), 1, "{items:?}");
    assert_eq!(
        (&repeated[0]["retries"], &repeated[0]["throttled"]),
        (&json!(1), &json!(1))
    );
    let shown = project.run(["show", &id, "--format", "json"]).json();
    assert_eq!(
        shown["runs"][0]["resources"]["provider"], "Some cloud",
        "{shown}"
    );
    let text = project.run(["show", &id]).stdout;
    assert!(
        text.contains("Some cloud")
            && text.contains("1, 1 throttled")
            && text.contains("Processors"),
        "{text}"
    );
    assert_eq!(project.run(["build", "--out", "site", "--quiet"]).code, 0);
    let pages = project.files("site/runs");
    assert!(
        pages
            .iter()
            .any(|page| page.contains(&id) && project.read(page).contains("Some cloud")),
        "{pages:?}"
    );
}

#[test]
fn two_prompts_of_an_api_are_two_arms_with_their_cost_and_tokens() {
    let project = asked();
    let answer = json!({"model": "m", "choices": [{"message": {"content": "<answer>Paris</answer>"}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100}});
    let service = Service::start(vec![Act::Answer(200, "", answer.to_string().into_bytes())]);
    let url = service.url("/v1");
    project
        .file("prompts/careful.md", "Check {choices} before:\n{question}\n")
        .file(
            "evalreport.yaml",
            format!(
                "version: 1
agents:
- {{id: careful, type: openai, model: m, base_url: '{url}', system: You are careful., prompt: {{file: prompts/careful.md}}}}
- {{id: short, type: openai, model: m, base_url: '{url}', prompt: 'Briefly: {{question}}'}}
prices:
- {{model: m, usd_per_million: {{input: 1, output: 2}}}}
"
            ),
        )
        .file(
            "one.yaml",
            "version: 1\nquestions: [{id: france, question: Which?, answers: [Paris, Lyon], correct_answers: [Paris]}]\n",
        );
    let answer = project.run(["eval", "one.yaml", "--agent", "careful,short"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let mut sent: Vec<Value> = service
        .requests()
        .iter()
        .map(|request| {
            let body = request.split_once("\r\n\r\n").map_or("", |(_, body)| body);
            serde_json::from_str::<Value>(body).expect("JSON")["messages"].take()
        })
        .collect();
    sent.sort_by_key(|messages| messages.as_array().map_or(0, Vec::len));
    let contract = "Answer with exactly one of the choices. You may explain first. The reply must end with the choice, as XML text, in this \
        form:\n<answer>choice</answer>\n";
    assert_eq!(
        sent,
        [
            json!([{"role": "user", "content": format!("Briefly: Which?\n\nChoices:\n- Paris\n- Lyon\n\n{contract}")}]),
            json!([
                {"role": "system", "content": "You are careful."},
                {"role": "user", "content": format!("Check - Paris\n- Lyon before:\nWhich?\n\n{contract}")}
            ]),
        ]
    );
    let costs: Vec<f64> = project
        .files("results")
        .iter()
        .filter(|path| path.strip_suffix(".json").is_some() && !path.contains("batches"))
        .filter_map(|path| {
            let header: Value = serde_json::from_str(&project.read(path)).expect("JSON");
            header["cost_usd"].as_f64()
        })
        .collect();
    assert_eq!(costs, [0.0012, 0.0012]);

    // With another text, the agent is another arm, and its earlier runs are not counted with the new ones.
    project.file("prompts/careful.md", "Think, then answer {question}\n");
    let answer = project.run(["eval", "one.yaml", "--agent", "careful"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let board = project.run(["leaderboard", "--format", "json"]).json();
    let arms: Vec<(String, u64)> = board["suites"][0]["entries"]
        .as_array()
        .expect("entries")
        .iter()
        .map(|entry| {
            let name = format!("{} {}", entry["approach"], entry["model"]);
            (name.replace('"', ""), entry["runs"].as_u64().unwrap_or(0))
        })
        .collect();
    let careful: Vec<&(String, u64)> = arms
        .iter()
        .filter(|(name, runs)| {
            name.starts_with("careful m (prompt_template careful.md ") && *runs == 1
        })
        .collect();
    assert_eq!((careful.len(), arms.len()), (2, 3), "{arms:?}");
}

#[test]
fn a_prompt_that_asks_nothing_is_refused_before_anything_is_asked() {
    let project = asked();
    let service = Service::start(vec![Act::Close]);
    let refused = |prompt: &str| {
        project.file(
            "evalreport.yaml",
            format!(
                "version: 1\nagents:\n- {{id: api, type: openai, model: m, base_url: '{}', prompt: {prompt}}}\n",
                service.url("/v1")
            ),
        );
        let answer = project.run(["eval", "questions.yaml", "--agent", "api"]);
        assert_eq!(answer.code, 2, "{}", answer.stderr);
        answer.stderr
    };
    project
        .file("no-place.md", "Answer well.\n")
        .file("empty.md", "\n");
    for (prompt, said) in [
        ("Answer well.", "has no `{question}`"),
        ("{file: no-place.md}", "has no `{question}`"),
        ("{file: empty.md}", "`empty.md`: it is empty"),
        ("{file: gone.md}", "`gone.md`"),
        ("{path: no-place.md}", "unknown key `agents[0].prompt.path`"),
    ] {
        let told = refused(prompt);
        assert!(told.contains(said), "{prompt}: {told}");
    }
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n- {id: api, type: command, command: [cat], prompt: '{question}'}\n",
    );
    let told = project
        .run(["eval", "questions.yaml", "--agent", "api"])
        .stderr;
    assert!(
        told.contains("`agents[0].prompt` is not used by an agent of type `command`"),
        "{told}"
    );
    project.file(
        "evalreport.yaml",
        "version: 1\nagents:\n- {id: api, type: openai, model: m, requests_per_minute: 0}\n- {id: cat, type: command, command: [cat], tokens_per_minute: 5}\n",
    );
    let told = project
        .run(["eval", "questions.yaml", "--agent", "api"])
        .stderr;
    assert!(
        told.contains("`agents[0].requests_per_minute` must be at least 1")
            && told.contains(
                "`agents[1].tokens_per_minute` is not used by an agent of type `command`"
            ),
        "{told}"
    );
    assert!(service.requests().is_empty());
}

#[test]
fn free_answers_are_graded_and_what_could_not_be_read_is_told_apart() {
    let project = Project::new();
    let grader = |id: &str, grader: &str| {
        format!("- {{id: {id}, question: 'Ask {id}?', grader: {grader}}}\n")
    };
    let questions: String = [
        grader("right", "{kind: number, expected: 42}"),
        grader("wrong", "{kind: number, expected: 41}"),
        grader("doubt", "{kind: number, min: 43}"),
        grader("absent", "{kind: json, expected: 42}"),
        grader(
            "unit",
            "{kind: number, expected: 42, unit: km, unit_required: true}",
        ),
        grader("text", "{kind: exact, expected: '42'}"),
    ]
    .concat();
    project
        .file("questions.yaml", format!("version: 1\nquestions:\n{questions}"))
        .file(
            "agent.sh",
            "case $(cat) in *doubt*) echo 'Answer: 42 or 43';; *absent*) echo 'I would rather not.';; *) echo 'So it is **42**.'; echo; echo '**Answer:** 42';; esac\n",
        )
        .file(
            "evalreport.yaml",
            "version: 1\nagents:\n- {id: knows, type: command, command: [sh, agent.sh]}\n",
        );
    let answer = project.run(["eval", "questions.yaml", "--agent", "knows"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    for said in ["1 ambiguous answer", "1 missing answer", "1 unknown unit"] {
        assert!(answer.stderr.contains(said), "{said}: {}", answer.stderr);
    }
    assert!(!answer.stderr.contains("wrong answer"), "{}", answer.stderr);
    let (id, header) = only_run(&project);
    assert_eq!(
        (
            &header["shared_tests_passed"],
            &header["shared_tests_total"]
        ),
        (&json!(2), &json!(6)),
        "what could not be read stays in the denominator"
    );
    let told: Vec<Value> = lines(&project, &format!("results/{id}/items.jsonl"))
        .iter()
        .map(|item| {
            json!([
                item["item"],
                item["status"],
                item["details"]["reason"],
                item["details"]["answer"]
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!(["right", "pass", null, "42"]),
            json!(["wrong", "fail", "wrong_answer", "42"]),
            json!(["doubt", "fail", "ambiguous_answer", "42 or 43"]),
            json!(["absent", "fail", "missing_answer", null]),
            json!(["unit", "fail", "unknown_unit", "42"]),
            json!(["text", "pass", null, "42"]),
        ]
    );
}

#[test]
fn faults_of_graders_are_found_before_anything_is_asked() {
    let project = Project::new();
    project
        .file(
            "questions.yaml",
            "version: 1
questions:
- {id: a, question: '?', grader: {kind: regex, pattern: '(a)\\1'}}
- {id: b, question: '?', grader: {kind: exact, expected: no}}
- {id: c, question: '?', grader: {kind: json, schema: {type: nothing}}}
",
        )
        .file(
            "evalreport.yaml",
            "version: 1\nagents:\n- {id: knows, type: command, command: [touch, asked]}\n",
        );
    let answer = project.run(["eval", "questions.yaml", "--agent", "knows"]);
    assert_eq!(answer.code, 2);
    for said in [
        "cannot use the pattern",
        "must be text in quotes, not `no`",
        "`schema` is no JSON Schema",
        "has 3 problems",
    ] {
        assert!(answer.stderr.contains(said), "{said}: {}", answer.stderr);
    }
    assert!(!project.path("asked").exists() && !project.path("results").exists());
}
