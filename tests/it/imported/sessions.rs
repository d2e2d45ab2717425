//! Session files of Claude Code and Codex.

use serde_json::{Value, json};

use super::{Imported, copy};
use crate::support::{Project, result};

const SESSION: &str = "5f0c2c1e-0000-4000-8000-00000000a001";
const PRICES: &str = "version: 1
prices:
  - {model: claude-sonnet-4-5-20250929, usd_per_million: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}}
  - {model: claude-haiku-4-5-20251001, usd_per_million: {input: 1, output: 5, cache_read: 0.1, cache_write: 1.25}}
  - {model: gpt-5.2-codex, usd_per_million: {input: 1.25, output: 10, cache_read: 0.125}}
";

/// The runs as stored, also those that were replaced.
fn stored(project: &Project) -> Vec<Value> {
    let files = project.files("results/imports");
    let texts = files
        .iter()
        .filter(|file| file.ends_with(".runs.jsonl"))
        .map(|file| project.read(file));
    texts
        .flat_map(|text| {
            text.lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect::<Vec<Value>>()
        })
        .collect()
}

fn only(imported: &Imported) -> Value {
    let [run] = imported.runs().try_into().expect("one run");
    run
}

#[test]
fn each_message_counts_once_however_often_it_is_repeated() {
    let run = only(&Imported::fixture("claude-code/projects"));
    // Blocks of msg_01 repeat its tokens, the first line before all were there; the side chain repeats msg_02 under another request.
    assert_eq!(
        run["usage"],
        json!({"input": 30, "cache_write": 3050, "cache_read": 38200, "output": 248})
    );
    assert_eq!(
        (&run["input_tokens"], &run["total_tokens"], &run["turns"]),
        (&json!(41280), &json!(41528), &json!(6))
    );
    assert_eq!(
        (&run["suite"], &run["approach"], &run["model"]),
        (
            &json!("shop"),
            &json!("Claude Code"),
            &json!("claude-sonnet-4-5-20250929")
        )
    );
    assert_eq!(
        run["reported_model"],
        "claude-haiku-4-5-20251001 + claude-sonnet-4-5-20250929"
    );
    assert_eq!(
        (&run["total_calls"], &run["duration_seconds"]),
        (&json!(2), &json!(330.0)),
        "two prompts from 9:00:00 to 9:05:30"
    );
    assert_eq!(
        run["tags"]["tools"],
        "Bash 1, Edit 1, Grep 1, Read 1, Task 1"
    );
    assert_eq!(
        (&run["agent"], &run["tags"]["session_id"]),
        (&json!("Claude Code 2.0.14"), &json!(SESSION))
    );
    assert!(run["cost_usd"].is_null() && run["shared_tests_total"].is_null());
    assert!(
        !run.to_string().contains("cart"),
        "nothing that was said is kept"
    );
}

#[test]
fn tokens_cost_what_the_table_says() {
    let project = copy("claude-code");
    project.file("evalreport.yaml", PRICES);
    let report = project.run(["import", "runs/projects", "--format", "json"]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    // Sonnet: 15 in, 2550 written, 37700 read, 206 out; Haiku: 15, 500, 500, 42.
    let usd = (15.0 * 3.0
        + 2550.0 * 3.75
        + 37700.0 * 0.3
        + 206.0 * 15.0
        + 15.0
        + 500.0 * 1.25
        + 500.0 * 0.1
        + 42.0 * 5.0)
        / 1e6;
    let run = &stored(&project)[0];
    assert!(
        (run["cost_usd"].as_f64().expect("a cost") - usd).abs() < 1e-9
            && run["cost_source"] == "priced",
        "{run}, not {usd}"
    );
}

#[test]
fn a_model_without_a_price_has_no_cost() {
    let project = copy("claude-code");
    project.file("evalreport.yaml", PRICES.replace("claude-haiku", "another"));
    let report = project
        .run(["import", "runs/projects", "--format", "json"])
        .json();
    assert!(report.to_string().contains(
        "has no price for these requests, so the cost is unknown: claude-haiku-4-5-20251001"
    ));
    assert!(stored(&project)[0]["cost_usd"].is_null());
}

#[test]
fn older_files_say_what_they_cost() {
    let run = only(&Imported::fixture("claude-code/old-1.jsonl"));
    assert_eq!(
        (&run["cost_source"], &run["usage"]["input"]),
        (&json!("reported"), &json!(300))
    );
    assert!((run["cost_usd"].as_f64().expect("a cost") - 0.46).abs() < 1e-12);
    let nameless = only(&Imported::fixture("claude-code/nameless.jsonl"));
    assert_eq!(
        (
            &nameless["usage"]["input"],
            &nameless["model"],
            &nameless["suite"]
        ),
        (
            &json!(3000),
            &json!("unknown (nameless.jsonl)"),
            &json!("sessions")
        )
    );
}

#[test]
fn a_session_of_a_run_is_no_second_run() {
    let project = copy("claude-code");
    project.result(&result(
        "code-1",
        "shop",
        "claude",
        json!({"tags": {"session": SESSION}}),
    ));
    let report = project
        .run(["import", "runs/projects", "--format", "json"])
        .json();
    assert!(
        report
            .to_string()
            .contains("run `code-1` of the store names this session"),
        "{report}"
    );
    assert_eq!(
        project
            .run(["sql", "select count(*) from runs", "--format", "csv"])
            .stdout
            .lines()
            .nth(1),
        Some("1")
    );
}

#[test]
fn sessions_of_two_agents_may_have_one_id() {
    let project = Project::new();
    let claude = json!({"type": "assistant", "sessionId": "s1", "message": {"id": "m", "model": "a", "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let codex = json!({"type": "turn_context", "payload": {"model": "b"}});
    project
        .file("logs/claude.jsonl", format!("{claude}\n"))
        .file("logs/s1.jsonl", format!("{codex}\n"));
    let report = project.run(["import", "logs", "--format", "json"]).json();
    assert_eq!(
        (
            &report["sources"][0]["outcome"],
            &report["sources"][1]["outcome"]
        ),
        (&json!("imported"), &json!("imported")),
        "{report}"
    );
}

#[test]
fn a_session_that_goes_on_replaces_what_it_was() {
    let project = copy("claude-code");
    let file = format!("runs/projects/-home-dev-shop/{SESSION}.jsonl");
    let whole = project.read(&file);
    let begun: Vec<&str> = whole.lines().take(8).collect();
    project.file(&file, begun.join("\n") + "\n");
    assert_eq!(project.run(["import", "runs/projects"]).code, 0);
    project.file(&file, &whole);
    let again = project
        .run(["import", "runs/projects", "--format", "json"])
        .json();
    assert_eq!(
        again["sources"][0]["runs_replaced"]
            .as_object()
            .map(serde_json::Map::len),
        Some(1),
        "{again}"
    );
    let standing = project
        .run(["sql", "select run_id from runs", "--format", "csv"])
        .stdout;
    let of_standing = |run: &&Value| standing.contains(run["id"].as_str().expect("an id"));
    let used: Vec<Value> = stored(&project)
        .iter()
        .filter(of_standing)
        .map(|run| run["output_tokens"].clone())
        .collect();
    assert_eq!(used, [json!(248)]);
}

#[test]
fn a_last_line_that_is_cut_off_leaves_the_rest() {
    let project = copy("claude-code");
    let file = format!("runs/projects/-home-dev-shop/{SESSION}.jsonl");
    let whole = project.read(&file);
    project.file(&file, &whole[..whole.len() - 60]);
    assert_eq!(project.run(["import", "runs/projects"]).code, 0);
    let run = &stored(&project)[0];
    assert_eq!(
        (&run["status"], &run["output_tokens"]),
        (&json!("failed"), &json!(168)),
        "without the last message"
    );
}

#[test]
fn codex_counts_each_request_once_and_its_sum_is_checked() {
    let imported = Imported::fixture(
        "codex/rollout-2026-05-13T09-00-00-0199e1a2-0000-7000-8000-00000000c001.jsonl",
    );
    let run = only(&imported);
    assert_eq!(
        run["usage"],
        json!({"input": 3300, "cache_read": 13300, "output": 440})
    );
    assert_eq!(
        (&run["model"], &run["turns"], &run["total_calls"]),
        (&json!("gpt-5.2-codex"), &json!(3), &json!(2))
    );
    assert_eq!(
        (&run["suite"], &run["agent"], &run["tags"]["tools"]),
        (
            &json!("shop"),
            &json!("Codex 0.58.0"),
            &json!("apply_patch 1, exec_command 1")
        )
    );
    assert!(run["tags"]["models"].as_str().is_some_and(|models| {
        models.contains("gpt-5.3-codex (input 500; cache read 5500; output 150; requests 1)")
    }));
    assert_eq!(imported.stated(), (4, 4, 0));
    let added = Imported::fixture("codex/reasoning-added.jsonl");
    assert_eq!(
        added.stated(),
        (4, 3, 0),
        "a total to which the reasoning was added once more"
    );
}

#[test]
fn the_files_of_a_folder_are_runs_that_cost_can_be_compared_of() {
    let project = Project::new();
    for (fixture, file) in [
        ("claude-code/old-1.jsonl", "logs/a.jsonl"),
        ("codex/reasoning-added.jsonl", "logs/b.jsonl"),
    ] {
        project.fixture(&format!("import/{fixture}"), file);
    }
    let report = project.run(["import", "logs", "--format", "json"]).json();
    let formats: Vec<&Value> = report["sources"]
        .as_array()
        .expect("sources")
        .iter()
        .map(|source| &source["foreign"]["format"])
        .collect();
    assert_eq!(
        formats,
        ["codex", "claude-code"].iter().rev().collect::<Vec<_>>()
    );
}

/// A line of Claude Code with a message from the model: input and output tokens.
fn answer(session: &str, id: &str, minute: u64, tokens: [u64; 2]) -> Value {
    json!({"type": "assistant", "sessionId": session, "requestId": format!("r{id}"), "cwd": "/home/me/shop", "uuid": format!("u{id}"),
        "timestamp": format!("2026-05-13T09:{minute:02}:00Z"),
        "message": {"id": id, "role": "assistant", "model": "claude-sonnet-4-5-20250929", "content": [{"type": "tool_use", "id": format!("t{id}"), "name": "Bash"}],
            "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]}}})
}

fn prompt(session: &str, uuid: &str, minute: u64) -> Value {
    json!({"type": "user", "sessionId": session, "uuid": uuid, "timestamp": format!("2026-05-13T09:{minute:02}:00Z"),
        "message": {"role": "user", "content": "go on"}})
}

fn lines(lines: &[Value]) -> String {
    lines
        .iter()
        .flat_map(|line| [line.to_string(), "\n".to_owned()])
        .collect()
}

/// Session `one`, and session `two`, which repeats all of it and goes on.
fn resumed() -> Project {
    let project = Project::new();
    let said = |session| {
        vec![
            prompt(session, "p1", 0),
            answer(session, "m1", 1, [10, 100]),
            answer(session, "m2", 2, [20, 200]),
        ]
    };
    let longer = [
        said("two"),
        vec![prompt("two", "p2", 3), answer("two", "m3", 4, [1, 7])],
    ]
    .concat();
    project
        .file("evalreport.yaml", PRICES)
        .file("logs/z/one.jsonl", lines(&said("one")))
        .file("logs/a/two.jsonl", lines(&longer));
    project
}

/// What the current runs add up to: runs, output tokens, prompts.
#[track_caller]
fn sums(project: &Project) -> String {
    assert_eq!(project.run(["doctor"]).code, 0);
    let runs = current(project);
    let sum = |field: &str| {
        runs.iter()
            .filter_map(|run| run[field].as_u64())
            .sum::<u64>()
    };
    format!(
        "{},{},{}",
        runs.len(),
        sum("output_tokens"),
        sum("total_calls")
    )
}

/// The stored runs that count.
#[track_caller]
fn current(project: &Project) -> Vec<Value> {
    let ids = project.run(["sql", "select run_id from runs", "--format", "csv"]);
    assert_eq!(ids.code, 0, "{}", ids.stderr);
    let counts = |run: &Value| ids.stdout.contains(run["id"].as_str().expect("an id"));
    stored(project).into_iter().filter(counts).collect()
}

#[track_caller]
fn import(project: &Project, arguments: &[&str]) -> String {
    let output = project.run(["import"].into_iter().chain(arguments.iter().copied()));
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
    output.stdout + &output.stderr
}

#[test]
fn a_session_that_repeats_another_counts_only_what_it_adds() {
    let project = resumed();
    let said = import(&project, &["logs"]);
    assert!(
        said.contains("left 3 messages to session `one`: counted in run"),
        "{said}"
    );
    assert_eq!(sums(&project), "2,307,2");
    let used = |session: &str| {
        let run = stored(&project)
            .into_iter()
            .find(|run| run["tags"]["session_id"] == session)
            .expect("the session");
        (
            run["output_tokens"].clone(),
            run["tags"]["tools"].clone(),
            run["duration_seconds"].clone(),
        )
    };
    assert_eq!(used("one"), (json!(300), json!("Bash 2"), json!(120.0)));
    assert_eq!(used("two"), (json!(7), json!("Bash 1"), json!(60.0)));
    assert!(import(&project, &["logs"]).contains("imported before"));
}

#[test]
fn imports_one_after_another_count_a_repeated_message_once() {
    let project = resumed();
    import(&project, &["logs/z"]);
    import(&project, &["logs/a"]);
    assert_eq!(sums(&project), "2,307,2");
    let project = resumed();
    import(&project, &["logs/a"]);
    let said = import(&project, &["logs/z"]);
    assert!(said.contains("left 3 messages to session `two`"), "{said}");
    assert_eq!(sums(&project), "1,307,2");
    // The shorter one went on by itself.
    let more = project.read("logs/z/one.jsonl") + &lines(&[answer("one", "m9", 9, [1, 1])]);
    project.file("logs/z/one.jsonl", more);
    import(&project, &["logs"]);
    assert_eq!(sums(&project), "2,308,2");
}

#[test]
fn a_prompt_in_two_files_of_a_session_is_one() {
    let project = Project::new();
    let said = [
        prompt("one", "p1", 0),
        answer("one", "m1", 1, [10, 100]),
        prompt("one", "p2", 2),
    ];
    project
        .file("logs/one.jsonl", lines(&said))
        .file("logs/agent-a.jsonl", lines(&said[..2]));
    let said = import(&project, &["logs"]);
    assert!(
        said.contains("ignored 1 line with a message that is counted already"),
        "{said}"
    );
    assert_eq!(sums(&project), "1,100,2");
}

#[test]
fn a_session_that_went_on_at_another_place_is_the_same_session() {
    let project = Project::new();
    let said = [
        prompt("one", "p1", 0),
        answer("one", "m1", 1, [10, 100]),
        answer("one", "m2", 2, [10, 50]),
    ];
    project
        .file("logs/one.jsonl", lines(&said[..2]))
        .file("copy/backup.jsonl", lines(&said));
    import(&project, &["logs"]);
    let told = import(&project, &["copy"]);
    assert!(told.contains("3 messages, 2 before"), "{told}");
    assert_eq!(sums(&project), "1,150,1");
    project.file("logs/one.jsonl", lines(&said[..1]));
    let said = import(&project, &["logs"]);
    assert!(
        said.contains("the store has more messages of the run") && said.contains("(3, here 1)"),
        "{said}"
    );
    assert_eq!(sums(&project), "1,150,1");
}

#[test]
fn what_the_cache_keeps_for_an_hour_has_its_own_price() {
    let project = Project::new();
    let mut line = answer("one", "m1", 1, [1000, 100]);
    line["message"]["usage"]["cache_creation_input_tokens"] = json!(10_000);
    line["message"]["usage"]["cache_creation"] =
        json!({"ephemeral_5m_input_tokens": 4000, "ephemeral_1h_input_tokens": 6000});
    project
        .file("evalreport.yaml", PRICES)
        .file("logs/one.jsonl", lines(&[line]));
    import(&project, &["logs"]);
    let usd = stored(&project)[0]["cost_usd"].as_f64().expect("a cost");
    assert!(
        (usd - (1000.0 * 3.0 + 4000.0 * 3.75 + 6000.0 * 6.0 + 100.0 * 15.0) / 1e6).abs() < 1e-9,
        "{usd}"
    );
}

/// Session `one`, and a table whose run names it.
fn made_in_a_session() -> Project {
    let project = resumed();
    project.file(
        "table.csv",
        "approach,model,task,passed\noneshot,sonnet,t1,1\noneshot,sonnet,t2,0\n",
    );
    project
}

const TABLE: [&str; 4] = ["table.csv", "--yes", "--set", "tags.session=one"];

/// The only run: the table's outcomes with the session's usage.
#[track_caller]
fn is_joined(project: &Project, output: u64) {
    assert_eq!(project.run(["doctor", "--verify"]).code, 0);
    let turns = if output == 300 { 2 } else { 3 };
    let [run]: [Value; 1] = current(project).try_into().expect("one run");
    let fields = [
        "approach",
        "suite",
        "shared_tests_passed",
        "shared_tests_total",
        "output_tokens",
        "total_calls",
        "turns",
        "cost_source",
    ];
    let found: Vec<Value> = fields.iter().map(|field| run[*field].clone()).collect();
    assert_eq!(
        json!(found),
        json!(["oneshot", "table", 1, 2, output, 1, turns, "priced"])
    );
    let items = project
        .run([
            "sql",
            "select item, status from items order by item",
            "--format",
            "csv",
        ])
        .stdout;
    assert_eq!(
        items.lines().skip(1).collect::<Vec<_>>(),
        ["t1,pass", "t2,fail"]
    );
    let parts: Vec<&Value> = run["provenance"]["joined"]
        .as_array()
        .expect("parts")
        .iter()
        .map(|part| &part["importer"])
        .collect();
    assert_eq!(
        (&run["provenance"]["importer"], parts),
        (
            &json!("table"),
            vec![&json!("table"), &json!("claude-code")]
        )
    );
    assert_eq!(run["tags"]["tools"], format!("Bash {turns}"));
}

#[test]
fn a_run_and_its_session_are_one_run_in_either_order() {
    for is_table_first in [true, false] {
        let project = made_in_a_session();
        let mut imports: [&[&str]; 2] = [&TABLE, &["logs/z"]];
        if !is_table_first {
            imports.reverse();
        }
        import(&project, imports[0]);
        let said = import(&project, imports[1]);
        assert!(said.contains("joined into `"), "{said}");
        is_joined(&project, 300);
        assert!(
            import(&project, imports[0]).contains("imported before")
                && import(&project, imports[1]).contains("imported before")
        );
        is_joined(&project, 300);
        // The session goes on.
        let more = project.read("logs/z/one.jsonl") + &lines(&[answer("one", "m9", 9, [1, 1])]);
        project.file("logs/z/one.jsonl", more);
        let said = import(&project, &["logs/z"]);
        assert!(said.contains("4 messages, 3 before"), "{said}");
        is_joined(&project, 301);
        // What the joined session counts counts in no other.
        import(&project, &["logs/a"]);
        assert_eq!(sums(&project), "2,308,2");
    }
}

#[test]
fn a_session_of_two_runs_belongs_to_neither() {
    let project = made_in_a_session();
    project
        .file("table.csv", "approach,model,task,passed\noneshot,sonnet,t1,1\noneshot,sonnet,t2,0\nother,sonnet,t1,0\nother,sonnet,t2,0\n");
    import(&project, &TABLE);
    let said = import(&project, &["logs/z"]);
    assert!(
        said.contains("2 runs name session `one`, and its usage cannot be split"),
        "{said}"
    );
    assert_eq!(
        project
            .run(["sql", "select count(*) from runs", "--format", "csv"])
            .stdout
            .lines()
            .nth(1),
        Some("3")
    );
}

/// Lines of Codex: the session's begin, and counts of the last request with the sum so far.
fn begun(id: &str, minute: u64) -> Vec<Value> {
    let time = format!("2026-05-13T09:{minute:02}:00Z");
    vec![
        json!({"timestamp": time, "type": "session_meta", "payload": {"id": id, "cwd": "/home/me/shop", "cli_version": "0.58.0"}}),
        json!({"timestamp": time, "type": "turn_context", "payload": {"model": "gpt-5.2-codex"}}),
    ]
}

fn counted(minute: u64, last: u64, sum: u64) -> Vec<Value> {
    let time = format!("2026-05-13T09:{minute:02}:30Z");
    let usage = |output: u64| json!({"input_tokens": 10 * output, "output_tokens": output, "total_tokens": 11 * output});
    vec![
        json!({"timestamp": time, "type": "event_msg", "payload": {"type": "user_message", "message": "go on"}}),
        json!({"timestamp": time, "type": "response_item", "payload": {"type": "web_search_call", "status": "completed"}}),
        json!({"timestamp": time, "type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": usage(last), "total_token_usage": usage(sum)}}}),
    ]
}

fn codex(project: &Project, file: &str, parts: &[Vec<Value>]) {
    project.file(file, lines(&parts.concat()));
}

#[test]
fn the_segments_of_a_codex_session_are_one_run() {
    let project = || {
        let project = Project::new();
        codex(
            &project,
            "logs/2026/05/13/rollout-2026-05-13T09-00-00-aa.jsonl",
            &[begun("aa", 0), counted(1, 50, 50)],
        );
        codex(
            &project,
            "logs/2026/05/14/rollout-2026-05-14T09-30-00-aa_ab.jsonl",
            &[begun("aa", 30), counted(31, 30, 80)],
        );
        project
    };
    let [together, after, before] = [project(), project(), project()];
    import(&together, &["logs"]);
    for (project, days) in [(&after, ["13", "14"]), (&before, ["14", "13"])] {
        for day in days {
            import(project, &[&format!("logs/2026/05/{day}")]);
        }
    }
    for project in [&together, &after, &before] {
        assert_eq!(sums(project), "1,80,2");
        let run = current(project).pop().expect("the run");
        assert_eq!(
            (
                &run["turns"],
                &run["duration_seconds"],
                &run["tags"]["tools"]
            ),
            (&json!(2), &json!(1890.0), &json!("web_search 2"))
        );
        import(project, &["logs"]);
        assert_eq!(sums(project), "1,80,2");
    }
}

#[test]
fn a_fork_of_a_codex_session_counts_only_what_it_adds() {
    let project = Project::new();
    let parent = [begun("aa", 0), counted(1, 50, 50)].concat();
    codex(
        &project,
        "logs/rollout-2026-05-13T09-00-00-aa.jsonl",
        std::slice::from_ref(&parent),
    );
    let fork = [begun("bb", 30)[..1].to_vec(), parent, counted(31, 7, 57)];
    codex(&project, "logs/rollout-2026-05-13T09-30-00-bb.jsonl", &fork);
    let said = import(&project, &["logs"]);
    assert_eq!(
        said.matches(": 3 agree, 0 do not").count(),
        2,
        "the fork's sums contain its parent's: {said}"
    );
    assert_eq!(sums(&project), "2,57,2");
    let run = stored(&project)
        .into_iter()
        .find(|run| run["tags"]["session_id"] == "bb")
        .expect("the fork");
    assert_eq!(
        (&run["model"], &run["output_tokens"], &run["tags"]["tools"]),
        (&json!("gpt-5.2-codex"), &json!(7), &json!("web_search 1"))
    );
}

#[test]
fn a_joined_run_comes_apart_if_another_run_names_its_session() {
    let project = made_in_a_session();
    import(&project, &TABLE);
    import(&project, &["logs/z"]);
    is_joined(&project, 300);
    project.file(
        "other.csv",
        "approach,model,task,passed\nother,sonnet,t1,0\nother,sonnet,t2,1\n",
    );
    let said = import(
        &project,
        &["other.csv", "--yes", "--set", "tags.session=one"],
    );
    assert!(
        said.contains("its usage cannot be split") && said.contains("counts again"),
        "{said}"
    );
    let approaches = project
        .run([
            "sql",
            "select approach from runs order by approach",
            "--format",
            "csv",
        ])
        .stdout;
    assert_eq!(
        approaches.lines().skip(1).collect::<Vec<_>>(),
        ["Claude Code", "oneshot", "other"]
    );
    assert_eq!(sums(&project), "3,300,1");
}
