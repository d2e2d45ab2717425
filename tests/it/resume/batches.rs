//! Plans: going on with them, their end by a rule, and what they say before and after.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Value, json};

use super::{
    check, contains, count_lines, go_on, is_kind, kept, only_plan, quiz, start, undisturbed,
    wait_for, workshop,
};
use crate::support::Project;

/// Begins a batch, kills it once so many items are journalled, and returns its id.
fn begun(project: &Project, arguments: &[&str], items: usize) -> String {
    let mut child = start(project, arguments);
    let journalled = || {
        let files = project
            .files("results")
            .into_iter()
            .filter(|file| file.ends_with("items.jsonl"));
        files
            .map(|file| count_lines(&project.path(&file)))
            .sum::<usize>()
    };
    wait_for("items", || journalled() >= items);
    child.kill().expect("ours");
    child.wait();
    only_plan(project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned()
}

#[test]
fn questions_go_on_where_the_journal_ends() {
    let project = quiz(6);
    let arguments = [
        "run", "quiz", "--agent", "asked", "--runs", "2", "--seed", "3",
    ];
    let expected = undisturbed(&project, &arguments);
    fs::remove_file(project.path("asked")).expect("it was asked");
    let id = begun(&project, &arguments, 8);
    let first = kept(&project, "results");
    assert_eq!(
        first.keys().map(|key| key.1).collect::<Vec<_>>(),
        [1],
        "the first run is done"
    );
    let files: Vec<String> = project
        .files("results")
        .into_iter()
        .filter(|file| is_kind(file, "json") && !file.contains("batches"))
        .collect();
    let before = project.read(&files[0]);
    let listed = project.run(["list"]);
    assert!(
        listed.stdout.contains("Not finished")
            && listed
                .stdout
                .contains(&format!("To resume: evalreport run --resume {id}")),
        "{}",
        listed.stdout
    );
    let doctor = project.run(["doctor"]);
    assert_eq!(doctor.code, 1);
    let open = only_plan(&project, "results")["runs"][1]["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    contains(&doctor, &format!("results/{open}: abandoned run"));

    let plan = project.run(["run", "--resume", &id[..30], "--dry-run", "--format", "csv"]);
    assert_eq!(plan.column("runs"), ["1"], "what is left");
    assert_eq!(
        project.run(["run", "--resume", &id[..30], "--quiet"]).code,
        0
    );
    assert_eq!(
        project.read(&files[0]),
        before,
        "a run that is done is never repeated"
    );
    check(&project, "results", &expected);
    let asked = project.read("asked");
    let distinct: BTreeSet<&str> = asked.lines().collect();
    // The one that was being asked at the end is asked again, and no other.
    assert!(
        distinct.len() == 12 && asked.lines().count() <= 13,
        "{asked}"
    );
    let again = project.run(["run", "--resume"]);
    assert!(
        again.refusal().starts_with("error: no unfinished batch\n"),
        "{}",
        again.stderr
    );
    assert_eq!(
        project.run(["run", "--resume", &id, "--quiet"]).code,
        0,
        "a batch that is named says again what came of it"
    );
    check(&project, "results", &expected);
}

/// Approaches that run. They do not know what numbers their processes have out here, but all name their log.
fn working(project: &Project) -> usize {
    let log = format!(
        "{}/log/asleep.pids",
        project
            .path("")
            .file_name()
            .expect("a name")
            .to_string_lossy()
    );
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let words = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    words
        .filter(|words| String::from_utf8_lossy(words).contains(&log))
        .count()
}

#[test]
fn code_begins_again() {
    let project = workshop();
    let arguments = [
        "run",
        "lines",
        "--approach",
        "slow",
        "--runs",
        "2",
        "--seed",
        "3",
    ];
    project.file("go", "");
    let expected = undisturbed(&project, &arguments);
    fs::remove_file(project.path("go")).expect("ours");
    fs::remove_file(project.path("log/asleep.pids")).expect("it was run");
    let mut child = start(&project, &arguments);
    wait_for("the approach", || {
        count_lines(&project.path("log/asleep.pids")) > 0
    });
    // So long that the program's guard knows it.
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(working(&project), 1);
    child.kill().expect("ours");
    child.wait();
    wait_for("the approach to end with its runner", || {
        working(&project) == 0
    });
    assert!(kept(&project, "results").is_empty());
    project.file("go", "");
    go_on(&project, &arguments);
    check(&project, "results", &expected);
    assert_eq!(
        count_lines(&project.path("log/asleep.pids")),
        3,
        "the first one twice"
    );
}

#[test]
fn a_journal_that_a_power_cut_left_with_a_hole() {
    let project = quiz(6);
    let arguments = [
        "run", "quiz", "--agent", "asked", "--runs", "1", "--seed", "3",
    ];
    let expected = undisturbed(&project, &arguments);
    begun(&project, &arguments, 4);
    let journal = project
        .files("results")
        .into_iter()
        .find(|file| file.ends_with("items.jsonl"))
        .expect("it is there");
    let mut bytes = fs::read(project.path(&journal)).expect("readable");
    let second = bytes
        .iter()
        .position(|byte| *byte == b'\n')
        .expect("whole lines")
        + 1;
    bytes[second..second + 40].fill(0);
    project.bytes(&journal, &bytes);
    go_on(&project, &arguments);
    check(&project, "results", &expected);
}

#[test]
fn eight_straight_wins_end_the_repeats() {
    let project = quiz(5);
    let arguments = [
        "run",
        "quiz",
        "--agent",
        "good,bad",
        "--until",
        "decided",
        "--max-runs",
        "12",
        "--seed",
        "3",
    ];
    let done = project.run(arguments);
    let words =
        "decided after 8 runs of each arm: good/default won 8 and lost 0 of the pairs that differ";
    assert_eq!(done.code, 0, "{}", done.stderr);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat(&done.stdout).contains(words), "{}", done.stdout);
    let runs = kept(&project, "results");
    assert_eq!(runs.len(), 16);
    let id = only_plan(&project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(
        project
            .run(["run", "--resume"])
            .refusal()
            .starts_with("error: no unfinished batch\n")
    );
    let again = project.run(["run", "--resume", &id]);
    assert_eq!((again.code, kept(&project, "results").len()), (0, 16));
    assert!(flat(&again.stdout).contains(words), "{}", again.stdout);

    // Killed in the fifth round, it ends where it would have ended.
    let project = quiz(5);
    begun(&project, &arguments, 43);
    assert_eq!(project.run(["run", "--resume", "--quiet"]).code, 0);
    assert_eq!(kept(&project, "results"), runs);
}

#[test]
fn chosen_questions_foresee_a_winner() {
    let project = quiz(120);
    let arguments = [
        "run", "quiz", "--agent", "bad,good", "--until", "decided", "--seed", "3", "--format",
        "json",
    ];
    let done = project.run(arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer: Value = serde_json::from_str(&done.stdout).expect("JSON");
    crate::schema::validate("foreseen", &answer).expect("it keeps to its schema");
    let pair = &answer["pairs"][0];
    assert_eq!(
        (&pair["verdict"], &pair["compared"], &answer["items"]),
        (&"first_wins".into(), &20.into(), &120.into())
    );
    assert_eq!(
        (&pair["won"], &pair["lost"], &answer["arms"][0]["approach"]),
        (&20.into(), &0.into(), &"good".into())
    );
    assert_eq!(
        (&answer["winner"], &answer["units"], &answer["suites"]),
        (&0.into(), &"items".into(), &json!(["quiz"]))
    );
    let runs = kept(&project, "results");
    for run in runs.values() {
        assert_eq!(
            (run.items.len(), &run.header["status"]),
            (20, &"partial".into())
        );
        assert_eq!(
            run.header["error"],
            "20 of 120 questions were asked, chosen to decide between two arms"
        );
        assert!(
            run.header.get("shared_tests_passed").is_none() && run.header.get("scores").is_none(),
            "no rate: {}",
            run.header
        );
    }
    let ids = |agent: &str| -> Vec<Value> {
        runs[&(agent.to_owned(), 1)]
            .items
            .iter()
            .map(|item| item["item"].clone())
            .collect()
    };
    assert_eq!(ids("good"), ids("bad"));

    // A batch that is named says the same again, and boards do not count its runs.
    let id = only_plan(&project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let again = project.run(["run", "--resume", &id]);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        flat(&again.stdout).contains(
            "good wins: of 20 of 120 questions, good alone passed 20, bad alone passed 0."
        )
    );
    let board = project.run(["leaderboard"]);
    assert!(!board.stdout.contains("100%"), "{}", board.stdout);

    // Killed between blocks or in the middle of one, it chooses the same questions.
    for items in [3, 33] {
        let project = quiz(120);
        let slow = [
            "run",
            "quiz",
            "--agent",
            "asked,good",
            "--until",
            "decided",
            "--seed",
            "3",
        ];
        let expected = undisturbed(&project, &slow);
        assert!(
            expected.values().all(|run| run.items.len() < 120),
            "equal arms are foreseen to stay equal"
        );
        begun(&project, &slow, items);
        go_on(&project, &slow);
        check(&project, "results", &expected);
    }
}

#[test]
fn chosen_questions_of_a_file_foresee_a_winner_too() {
    let project = quiz(120);
    let arguments = [
        "eval",
        "questions.yaml",
        "--agent",
        "bad,good",
        "--until",
        "decided",
        "--seed",
        "3",
    ];
    let planned = project.run(arguments.into_iter().chain(["--dry-run"]));
    assert!(
        planned.answer().contains("questions are chosen"),
        "{}",
        planned.stdout
    );
    assert!(kept(&project, "results").is_empty());
    let done =
        project.run(
            arguments
                .into_iter()
                .chain(["--output-dir", "out", "--format", "json"]),
        );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = done.json();
    crate::schema::validate("foreseen", &answer).expect("it keeps to its schema");
    assert_eq!(
        (
            &answer["pairs"][0]["verdict"],
            &answer["arms"][0]["approach"]
        ),
        (&"first_wins".into(), &"good".into())
    );
    assert_eq!(
        (&answer["pairs"][0]["compared"], &answer["items"]),
        (&20.into(), &120.into())
    );
    let runs = kept(&project, "out/results");
    assert!(
        runs.len() == 2
            && runs
                .values()
                .all(|run| run.header["status"] == "partial" && run.items.len() == 20),
        "{answer}"
    );
    assert!(project.path("out/report/index.html").is_file());

    // Killed, it goes on by `run --resume` and chooses the same questions.
    let project = quiz(120);
    let slow = [
        "eval",
        "questions.yaml",
        "--agent",
        "asked,good",
        "--until",
        "decided",
        "--seed",
        "3",
    ];
    let expected = undisturbed(&project, &slow);
    assert!(
        expected.values().all(|run| run.items.len() < 120),
        "equal arms are foreseen to stay equal"
    );
    begun(&project, &slow, 33);
    go_on(&project, &slow);
    check(&project, "results", &expected);
}

#[test]
fn chosen_questions_begin_where_earlier_arms_differed() {
    let project = quiz(120);
    // Half of the questions are too easy to separate anybody.
    let answers = (0..120).map(|number| json!({"item": format!("q{number:02}"), "answer": format!("<answer>{}</answer>", if number < 60 { "two" } else { "one" })}));
    project.file("bad.jsonl", crate::support::lines(answers));
    assert_eq!(
        project
            .run(["run", "quiz", "--agent", "good,bad", "--quiet"])
            .code,
        0
    );
    let done = project.run([
        "run", "quiz", "--agent", "good,bad", "--until", "decided", "--seed", "3",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let plan = project
        .files("results/batches")
        .into_iter()
        .map(|file| project.read(&file))
        .find(|plan| plan.contains("question_groups"));
    let plan: Value = serde_json::from_str(&plan.expect("a plan with groups")).expect("JSON");
    assert_eq!(
        plan["question_groups"],
        format!("{}{}", "e".repeat(60), "c".repeat(60))
    );
    let asked = count_lines(&project.path(&format!(
        "results/{}/items.jsonl",
        plan["runs"][0]["id"].as_str().expect("an id")
    )));
    assert!(asked < 60, "{asked} of 120");
}

#[test]
fn chosen_questions_in_clusters_foresee_the_verdict_over_clusters() {
    let clustered = || {
        let project = quiz(120);
        let text = project.read("questions.yaml").lines().enumerate().fold(
            String::new(),
            |text, (line, row)| {
                text + &row.replace(
                    ", category:",
                    &format!(", cluster: passage {}, category:", line % 12),
                ) + "\n"
            },
        );
        project.file("questions.yaml", text);
        project
    };
    let project = clustered();
    let done = project.run([
        "run", "quiz", "--agent", "bad,good", "--until", "decided", "--seed", "3", "--format",
        "json",
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = done.json();
    crate::schema::validate("foreseen", &answer).expect("it keeps to its schema");
    assert_eq!(
        (&answer["units"], &answer["unit_count"]),
        (&"clusters".into(), &12.into())
    );
    assert_eq!(
        (
            &answer["pairs"][0]["verdict"],
            &answer["arms"][0]["approach"]
        ),
        (&"first_wins".into(), &"good".into())
    );
    assert!(
        answer["arms"][0]["asked"]
            .as_u64()
            .is_some_and(|asked| asked < 60),
        "{answer}"
    );
    // Each cluster was asked something before any was asked much.
    let runs = kept(&project, "results");
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for item in &runs[&("good".to_owned(), 1)].items {
        *counts
            .entry(item["cluster"].as_str().expect("a cluster").to_owned())
            .or_default() += 1;
    }
    assert!(
        counts.len() == 12
            && counts.values().max() <= counts.values().min().map(|least| least + 1).as_ref(),
        "{counts:?}"
    );

    // Equal arms differ nowhere. Killed in the middle, the batch asks the same questions.
    let project = clustered();
    let arguments = [
        "run",
        "quiz",
        "--agent",
        "asked,good",
        "--until",
        "decided",
        "--seed",
        "3",
    ];
    let expected = undisturbed(&project, &arguments);
    begun(&project, &arguments, 17);
    go_on(&project, &arguments);
    check(&project, "results", &expected);
}

#[test]
fn chosen_questions_decide_between_several_arms() {
    let project = quiz(240);
    let arguments = [
        "run",
        "quiz",
        "--agent",
        "mixed,bad,good",
        "--until",
        "decided",
        "--seed",
        "3",
    ];
    let done = project.run(arguments.into_iter().chain(["--format", "json"]));
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = done.json();
    crate::schema::validate("foreseen", &answer).expect("it keeps to its schema");
    let names: Vec<&Value> = (0..3).map(|arm| &answer["arms"][arm]["approach"]).collect();
    assert_eq!(
        names,
        ["good", "mixed", "bad"],
        "those that beat most others first"
    );
    let pairs: Vec<(&Value, &Value, &Value)> = (0..3)
        .map(|pair| &answer["pairs"][pair])
        .map(|pair| (&pair["first"], &pair["second"], &pair["verdict"]))
        .collect();
    let win = "first_wins".into();
    assert_eq!(
        pairs,
        [
            (&0.into(), &1.into(), &win),
            (&0.into(), &2.into(), &win),
            (&1.into(), &2.into(), &win)
        ]
    );
    let runs = kept(&project, "results");
    assert!(
        runs.len() == 3 && runs.values().all(|run| run.header["status"] == "partial"),
        "{answer}"
    );
    let id = only_plan(&project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let again = project.run(["run", "--resume", &id]);
    let said = again
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let words = "good wins against every other arm: the full run of 240 questions would name a winner in 3 of 3 pairs.";
    assert!(said.contains(words), "{}", again.stdout);

    // Too few questions for any choice, and limits that need rates: refused before anything is asked.
    let few = quiz(59);
    let refused = few.run(arguments);
    let words =
        "error: questions cannot be chosen for 3 arms: there are 59 questions, and it takes 60\n";
    assert!(refused.refusal().starts_with(words), "{}", refused.stderr);
    let refused = quiz(60).run(arguments.into_iter().chain(["--max-runs", "3"]));
    assert!(
        refused
            .refusal()
            .starts_with("error: chosen questions of 3 arms give no rates\n"),
        "{}",
        refused.stderr
    );
    assert!(kept(&few, "results").is_empty());
}

/// Suites of code whose tests pass more often if the approach writes something.
fn tasks(count: usize) -> Project {
    let project = Project::new();
    for number in 1..=count {
        let folder = format!("suites/task{number}");
        let suite = format!(
            "name: task{number}\nrequirements: {folder}/order.md\ntests:\n  shared:\n    - sh {folder}/check.sh\n"
        );
        let check = "echo 1..2\n\
                     if [ -s \"$EVAL_WORKSPACE/made.txt\" ]; then echo 'ok 1 - made'; else echo 'not ok 1 - made'; fi\n\
                     echo 'ok 2 - there'\n";
        project
            .file(&format!("{folder}/order.md"), "Write.\n")
            .file(&format!("{folder}/suite.yaml"), suite);
        project.file(&format!("{folder}/check.sh"), check);
    }
    project.file(
        "evalreport.yaml",
        "version: 1\napproaches:\n  - {id: writer, command: [sh, -c, 'echo made > made.txt']}\n  - {id: idle, command: ['true']}\n  - {id: lazy, command: ['true']}\n",
    );
    project
}

#[test]
fn runs_of_several_tasks_are_chosen_until_their_verdict_is_foreseen() {
    let project = tasks(8);
    let names: Vec<String> = (1..=8).map(|number| format!("task{number}")).collect();
    let run = |project: &Project, tasks: &[String], more: &[&str]| {
        let words = ["run"].into_iter().chain(tasks.iter().map(String::as_str));
        project.run(
            words
                .chain(["--until", "decided", "--max-runs", "4", "--seed", "3"])
                .chain(more.iter().copied()),
        )
    };
    let plan = run(
        &project,
        &names,
        &["--approach", "idle,writer", "--dry-run"],
    );
    assert!(
        plan.answer().contains("At most: runs of tasks are chosen"),
        "{}",
        plan.stdout
    );
    let done = run(
        &project,
        &names,
        &["--approach", "idle,writer", "--format", "json"],
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    let answer = done.json();
    crate::schema::validate("foreseen", &answer).expect("it keeps to its schema");
    assert_eq!(
        (&answer["units"], &answer["unit_count"], &answer["items"]),
        (&"tasks".into(), &8.into(), &32.into())
    );
    assert_eq!(
        (
            &answer["arms"][0]["approach"],
            &answer["pairs"][0]["verdict"]
        ),
        (&"writer".into(), &"first_wins".into())
    );
    let asked = answer["arms"][0]["asked"].as_u64().expect("a number");
    assert!((8..32).contains(&asked), "{answer}");
    let runs = || {
        project
            .files("results")
            .into_iter()
            .filter(|file| is_kind(file, "json") && file.matches('/').count() == 1)
            .count()
    };
    assert_eq!(
        runs() as u64,
        2 * asked,
        "no run is made that the verdict does not need"
    );

    // It is over, and says the same again.
    assert!(
        project
            .run(["run", "--resume"])
            .refusal()
            .starts_with("error: no unfinished batch\n")
    );
    let id = only_plan(&project, "results")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let again = project.run(["run", "--resume", &id]);
    let said = again
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(
        said.contains(&format!(
            "writer wins: of {asked} of 32 runs of each arm over 8 tasks"
        )),
        "{}",
        again.stdout
    );
    assert_eq!(runs() as u64, 2 * asked);

    // Without one of its runs it is unfinished, and makes that run again.
    let header = format!(
        "results/{}.json",
        only_plan(&project, "results")["runs"][0]["id"]
            .as_str()
            .expect("an id")
    );
    fs::remove_file(project.path(&header)).expect("it was run");
    assert_eq!(project.run(["run", "--resume", "--quiet"]).code, 0);
    assert_eq!(runs() as u64, 2 * asked);

    let refused = run(&project, &names[..5], &["--approach", "idle,writer"]);
    let words = "error: 5 tasks cannot give a verdict on 2 arms; 6 are needed\n";
    assert!(refused.refusal().starts_with(words), "{}", refused.stderr);
    let refused = run(&project, &names[..6], &["--approach", "idle,lazy,writer"]);
    let words = "error: 6 tasks cannot give a verdict on 3 arms; 7 are needed\n";
    assert!(refused.refusal().starts_with(words), "{}", refused.stderr);
    let refused = run(&project, &names[..1], &["--approach", "idle,lazy,writer"]);
    let words =
        "error: --until decided repeats the runs of one task for two arms, and there are 3 arms\n";
    assert!(refused.refusal().starts_with(words), "{}", refused.stderr);
    assert_eq!(
        runs() as u64,
        2 * asked,
        "nothing is paid for what cannot be decided"
    );
}

#[test]
fn few_or_dependent_questions_and_limits_need_whole_runs() {
    let whole = |project: &Project, more: &[&str]| {
        let arguments = [
            "run", "quiz", "--agent", "good,bad", "--until", "decided", "--seed", "3", "--quiet",
        ];
        let done = project.run(arguments.into_iter().chain(more.iter().copied()));
        assert!(done.code <= 1, "{}", done.stderr);
        kept(project, "results")
            .values()
            .all(|run| run.header["status"] == "completed")
    };
    assert!(whole(&quiz(59), &[]));
    assert!(whole(&quiz(60), &["--max-runs", "8"]));
    assert!(whole(&quiz(60), &["--fail-under", "50"]));
    let clustered = quiz(60);
    clustered.file(
        "questions.yaml",
        clustered
            .read("questions.yaml")
            .replace(", category:", ", cluster: passage, category:"),
    );
    assert!(whole(&clustered, &[]));
    assert!(!whole(&quiz(60), &[]));
}

#[test]
fn repeats_that_end_undecided_say_so() {
    let project = quiz(5);
    let flat = |arguments: &[&str]| {
        let done = project.run(arguments.iter().copied());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = flat(&[
        "run",
        "quiz",
        "--agent",
        "good,bad",
        "--until",
        "decided",
        "--max-runs",
        "3",
        "--seed",
        "3",
    ]);
    assert!(
        said.contains(
            "not decided after 3 runs of each arm, the most that were allowed: 3 pairs to 0"
        ),
        "{said}"
    );
    let told = project
        .run([
            "run",
            "quiz",
            "--agent",
            "good,bad",
            "--until",
            "decided",
            "--max-runs",
            "3",
            "--dry-run",
        ])
        .stderr;
    assert!(told.contains("note: whole runs are repeated, because the questions cannot be chosen: there are 5 questions"), "{told}");
    assert!(
        told.contains(
            "note: 3 runs of each arm decide nothing: it takes 8 pairs of runs that one arm wins"
        ),
        "{told}"
    );
    let said = flat(&[
        "run",
        "quiz",
        "--agent",
        "mixed",
        "--until",
        "ci:1pp",
        "--max-runs",
        "5",
        "--seed",
        "3",
    ]);
    assert!(
        said.contains("5 runs of each arm, the most that were allowed, are too few for an interval of ± 1 percentage points"),
        "{said}"
    );
}

#[test]
fn a_gate_without_rules_is_refused_before_anything_runs() {
    let project = quiz(5);
    let refused = project.run(["run", "quiz", "--agent", "good", "--gate", "last:1"]);
    assert!(
        refused.refusal().starts_with("error: no gate rule given\n"),
        "{}",
        refused.stderr
    );
    assert!(kept(&project, "results").is_empty());
}

#[test]
fn a_batch_without_output_is_gone_on_with_so() {
    let project = workshop();
    project.file("go", "");
    let arguments = [
        "run",
        "lines",
        "--approach",
        "slow",
        "--runs",
        "2",
        "--seed",
        "3",
        "--no-output",
    ];
    assert_eq!(project.run(arguments).code, 0);
    let plan = only_plan(&project, "results");
    assert_eq!(
        (plan["without_output"].as_bool(), plan["seed"].as_u64()),
        (Some(true), Some(3))
    );
    let header = format!(
        "results/{}.json",
        plan["runs"][0]["id"].as_str().expect("an id")
    );
    fs::remove_file(project.path(&header)).expect("ours");
    assert_eq!(project.run(["run", "--resume", "--quiet"]).code, 0);
    assert!(
        project
            .files("results")
            .iter()
            .all(|file| !file.contains("/output/"))
    );
}

#[test]
fn repeats_until_a_rate_is_known_well_enough() {
    let project = quiz(25);
    let output = project.run([
        "run",
        "quiz",
        "--agent",
        "mixed",
        "--until",
        "ci:5pp",
        "--max-runs",
        "40",
        "--seed",
        "3",
    ]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let runs = kept(&project, "results").len();
    assert!((6..40).contains(&runs), "{runs} runs");
    let flat = output
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let words = format!(
        "{runs} runs of each arm, as planned after the first 5 for an interval of ± 5 percentage points"
    );
    assert!(flat.contains(&words), "{}", output.stdout);
    let refused = project.run(["run", "quiz", "--agent", "mixed", "--until", "soon"]);
    assert!(
        refused
            .refusal()
            .starts_with("error: --until `soon` is no rule\n"),
        "{}",
        refused.stderr
    );
    let refused = project.run(["run", "quiz", "--agent", "mixed", "--until", "decided"]);
    assert!(
        refused.refusal().starts_with(
            "error: --until decided is about two arms or more, and there is only one\n"
        ),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let project = quiz(5);
    let before = project.files("");
    let plan = project.run([
        "run",
        "quiz",
        "--agent",
        "good,mixed",
        "--runs",
        "3",
        "--dry-run",
    ]);
    assert!(
        plan.answer().contains("6 runs in all; likely cost unknown"),
        "{}",
        plan.stdout
    );
    assert_eq!(project.files(""), before);
    assert_eq!(
        project
            .run(["run", "quiz", "--agent", "good", "--runs", "2", "--quiet"])
            .code,
        0
    );
    let before = project.files("");
    let plan = project.run(["run", "quiz", "--agent", "good", "--runs", "4", "--dry-run"]);
    // 5 questions at 0.25 dollars.
    assert!(
        plan.answer()
            .contains("4 runs in all; about $5.00, by the cost of earlier runs"),
        "{}",
        plan.stdout
    );
    let json: Value = project
        .run([
            "run",
            "quiz",
            "--agent",
            "good",
            "--runs",
            "4",
            "--dry-run",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(4), "{json}");
    assert_eq!(project.files(""), before);
}

#[test]
fn the_exit_code_says_whether_an_arm_passed_too_little() {
    let project = quiz(6);
    let code = |agent: &str, least: &str| {
        project
            .run([
                "run",
                "quiz",
                "--agent",
                agent,
                "--seed",
                "3",
                "--fail-under",
                least,
            ])
            .code
    };
    assert_eq!(
        (
            code("good", "100"),
            code("good,bad", "0.1"),
            code("bad", "0")
        ),
        (0, 1, 0)
    );
    assert_eq!(code("good", "101"), 2);
    let eval = [
        "eval",
        "questions.yaml",
        "--agent",
        "mixed",
        "--seed",
        "3",
        "--fail-under",
        "99",
    ];
    assert_eq!(project.run(eval).code, 1);
}

#[test]
fn what_cannot_be_gone_on_with_is_refused() {
    let project = quiz(5);
    let refusal = |arguments: &[&str]| project.run(arguments.iter().copied()).refusal().to_owned();
    assert!(
        refusal(&["run", "--resume"])
            .starts_with("error: no unfinished batch\n  hint: plans are in results/batches\n")
    );
    let id = begun(
        &project,
        &["run", "quiz", "--agent", "asked", "--runs", "2"],
        3,
    );
    assert!(refusal(&["run", "--resume", "0000"]).starts_with("error: there is no batch `0000`\n"));
    // Options of the plan are the plan's.
    for option in [
        ["--runs", "3"],
        ["--seed", "1"],
        ["--model", "m"],
        ["--tag", "a=b"],
        ["--agent", "good"],
    ] {
        contains(
            &project.run(["run", "--resume", &id].into_iter().chain(option)),
            "cannot be used with",
        );
    }
    let other = id.replace(&id[30..], "ffffff");
    project.file(
        &format!("results/batches/{other}.json"),
        project
            .read(&format!("results/batches/{id}.json"))
            .replace(&id, &other),
    );
    let both = refusal(&["run", "--resume", &id[..30]]);
    assert!(
        both.starts_with(&format!(
            "error: `{}` begins the ids of 2 batches\n",
            &id[..30]
        )) && both.contains(&other),
        "{both}"
    );
    fs::remove_file(project.path(&format!("results/batches/{other}.json"))).expect("ours");

    let questions = project.read("questions.yaml");
    project.file(
        "questions.yaml",
        questions.replace("What is 0?", "What was 0?"),
    );
    assert!(
        refusal(&["run", "--resume"])
            .starts_with("error: `quiz` has changed since the batch was planned\n")
    );
    project.file("questions.yaml", questions);
    let config = project.read("evalreport.yaml");
    project.file(
        "evalreport.yaml",
        config.replace("{id: asked,", "{id: other,"),
    );
    assert!(refusal(&["run", "--resume"]).starts_with("error: there is no agent `asked`\n"));
    project.file("evalreport.yaml", config);
    assert_eq!(project.run(["run", "--resume", "--quiet"]).code, 0);
}
