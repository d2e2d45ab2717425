//! Whether arms were measured alike: which items and texts they share, under which conditions, and what a strict comparison refuses.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Project, lines, question, result};

/// What a run of a harness was made with.
#[derive(Clone)]
struct Harness<'a> {
    model: &'a str,
    shots: u64,
    version: &'a str,
    items: std::ops::Range<u64>,
    /// Documents whose text is another.
    changed: &'a [u64],
    /// Documents whose right answer is another.
    corrected: &'a [u64],
    /// `acc` grades; `rouge1` gives a number, and `bleu` a part of what its figure is made of.
    metric: &'a str,
    /// What prompts, task and system instruction are hashed to, where they are.
    prompts: &'a str,
    task: &'a str,
    template: &'a str,
    instruction: &'a str,
    /// Samples were logged.
    logged: bool,
    /// After the third of February 2026.
    day: u32,
}

const HARNESS: Harness<'static> = Harness {
    model: "one",
    shots: 5,
    version: "1.0",
    items: 0..300,
    changed: &[],
    corrected: &[],
    metric: "acc",
    prompts: "",
    task: "",
    template: "",
    instruction: "",
    logged: true,
    day: 0,
};
const TWO: Harness<'static> = Harness {
    model: "two",
    ..HARNESS
};

impl Harness<'_> {
    /// Writes what lm-evaluation-harness would: the first model is right on two of three, others on four of seven.
    fn write(&self, project: &Project) {
        let is_right = |doc: u64| {
            if self.model == "one" {
                !doc.is_multiple_of(3)
            } else {
                doc % 7 < 4
            }
        };
        let sample = |doc: u64| {
            let hash = if self.changed.contains(&doc) {
                format!("{doc}-new")
            } else {
                format!("{doc}-old")
            };
            let grade = if is_right(doc) { 1.0 } else { 0.0 };
            let value = match self.metric {
                "bleu" => json!(["reference", "reply"]),
                "rouge1" => json!(0.25 + grade / 2.0),
                _ => json!(grade),
            };
            let target = if self.corrected.contains(&doc) {
                "y"
            } else {
                "x"
            };
            let mut sample = json!({"doc_id": doc, "doc": {"q": doc}, "target": target, "resps": [["x"]], "filtered_resps": ["x"],
                   "filter": "none", "metrics": [self.metric], "doc_hash": hash, "target_hash": target, self.metric: value});
            if !self.prompts.is_empty() {
                sample["prompt_hash"] = json!(format!("{}-{doc}", self.prompts));
            }
            sample
        };
        let right = self.items.clone().filter(|doc| is_right(*doc)).count() as f64;
        let total = self.items.end - self.items.start;
        let results = json!({
            "results": {"trivia": {"alias": "trivia", format!("{},none", self.metric): right / total as f64}},
            "configs": {"trivia": {"task": "trivia", "num_fewshot": self.shots}},
            "versions": {"trivia": self.version}, "n-shot": {"trivia": self.shots},
            "higher_is_better": {"trivia": {self.metric: true}},
            "task_hashes": {"trivia": self.task}, "chat_template_sha": self.template, "system_instruction_sha": self.instruction,
            "n-samples": {"trivia": {"original": total, "effective": total}},
            "config": {"model": "hf", "model_args": format!("pretrained={}", self.model)},
            "date": 1_770_114_030.0 + f64::from(self.day) * 86_400.0, "lm_eval_version": "0.4.9", "model_name": self.model,
        });
        let folder = format!("logs/{}-{}-{}", self.model, self.version, self.shots);
        let stamp = format!("2026-02-{:02}T10-20-30.125000", 3 + self.day);
        project.file(
            &format!("{folder}/results_{stamp}.json"),
            results.to_string(),
        );
        if self.logged {
            project.file(
                &format!("{folder}/samples_trivia_{stamp}.jsonl"),
                lines(self.items.clone().map(sample)),
            );
        }
    }
}

impl Harness<'_> {
    /// Imports the run alone into the store.
    fn beside(&self, project: Project) -> Project {
        std::fs::remove_dir_all(project.path("logs")).expect("the logs of before");
        self.write(&project);
        assert_eq!(project.run(["import", "logs", "--quiet"]).code, 0);
        project
    }
}

fn harness(runs: &[Harness<'_>]) -> Project {
    let project = Project::new();
    for run in runs {
        run.write(&project);
    }
    project
}

/// A log of Inspect with a judge and limits.
fn inspect(project: &Project, model: &str, judge: &str, limits: &Value, epochs: u64) {
    let sample = |id: u64, epoch: u64| {
        json!({"id": id, "epoch": epoch, "input": format!("question {id}"), "target": "x",
               "scores": {"graded": {"value": if (id + epoch).is_multiple_of(3) { "I" } else { "C" }}}})
    };
    let mut config = limits.clone();
    config["epochs"] = json!(epochs);
    let log = json!({
        "version": 2, "status": "success",
        "eval": {"eval_id": model, "run_id": model, "created": "2026-02-03T10:00:00+00:00", "task": "open", "task_version": 1, "model": model,
                 "config": config, "scorers": [{"name": "graded", "options": {"model": judge}}]},
        "stats": {"started_at": "2026-02-03T10:00:00+00:00", "completed_at": "2026-02-03T10:01:00+00:00"},
        "samples": (1..=epochs).flat_map(|epoch| (0..12).map(move |id| (id, epoch))).map(|(id, epoch)| sample(id, epoch)).collect::<Vec<_>>(),
    });
    project.file(&format!("logs/{model}.json"), log.to_string());
}

/// A log of Inspect whose twelve samples have choices as its file holds them.
fn choosing(project: &Project, model: &str, scorer: &str, choices: Option<[&str; 2]>) {
    let sample = |id: u64| {
        let given = json!({scorer: {"value": if id.is_multiple_of(3) { "I" } else { "C" }}});
        let mut sample = json!({"id": id, "epoch": 1, "input": format!("question {id}"), "target": "A", "scores": given});
        if let Some(choices) = choices {
            sample["choices"] = json!(choices);
        }
        sample
    };
    let log = json!({
        "version": 2, "status": "success",
        "eval": {"eval_id": model, "run_id": model, "created": "2026-02-03T10:00:00+00:00", "task": "open", "task_version": 1, "model": model,
                 "solver": "choose", "scorers": [{"name": scorer}]},
        "plan": {"steps": [{"solver": "multiple_choice"}]},
        "results": {"total_samples": 12, "scores": [{"name": scorer, "scorer": scorer, "metrics": {}}]},
        "stats": {"started_at": "2026-02-03T10:00:00+00:00", "completed_at": "2026-02-03T10:01:00+00:00"},
        "samples": (0..12).map(sample).collect::<Vec<_>>(),
    });
    project.file(&format!("logs/{model}.json"), log.to_string());
}

/// The grade of a pair, what differs, and what a strict comparison comes to.
#[track_caller]
fn graded(project: &Project) -> (String, Vec<String>, i32) {
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    let pair = comparability(&answer);
    let kinds = kinds(pair).into_iter().map(str::to_owned).collect();
    (
        pair["grade"].as_str().expect("a grade").to_owned(),
        kinds,
        project.run(["compare", "./logs", "--strict"]).code,
    )
}

#[track_caller]
fn check_graded(project: &Project, grade: &str, kinds: &[&str]) {
    let kinds = kinds.iter().map(ToString::to_string).collect();
    assert_eq!(
        graded(project),
        (grade.to_owned(), kinds, if grade < "C" { 0 } else { 2 })
    );
}

fn row<'a>(answer: &'a Value, metric: &str) -> &'a Value {
    let rows = answer["comparisons"][0]["rows"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["metric"]["name"] == metric || row["metric"]["label"] == metric)
        .unwrap_or_else(|| panic!("no {metric}: {rows:#?}"))
}

#[track_caller]
fn comparability(answer: &Value) -> &Value {
    let pairs = answer["comparisons"][0]["comparability"]
        .as_array()
        .expect("graded pairs");
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    &pairs[0]
}

fn headline(answer: &Value) -> &Value {
    let rows = answer["comparisons"][0]["rows"].as_array().expect("rows");
    let row = rows
        .iter()
        .find(|row| row["metric"]["name"] == "shared_tests")
        .expect("a rate");
    &row["evidence"]["pairs"][0]
}

fn kinds(pair: &Value) -> Vec<&str> {
    pair["mismatches"]
        .as_array()
        .map_or_else(Vec::new, |found| {
            found
                .iter()
                .filter_map(|one| one["kind"].as_str())
                .collect()
        })
}

/// One line, however wide the terminal is.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn items_whose_text_changed_leave_the_pair() {
    let same = harness(&[
        HARNESS,
        Harness {
            model: "two",
            ..HARNESS
        },
    ]);
    let answer = same.run(["compare", "./logs", "--format", "json"]).json();
    let pair = comparability(&answer);
    assert_eq!(
        (pair["grade"].as_str(), kinds(pair).len()),
        (Some("A"), 0),
        "{pair}"
    );
    let (whole, before) = (
        headline(&answer)["sizes"].clone(),
        headline(&answer)["difference"]["value"].clone(),
    );
    assert_eq!(whole["pairs"], 300);

    // The second alone is right on document 3, both are on document 8.
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            changed: &[3, 8],
            ..HARNESS
        },
    ]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    let pair = comparability(&answer);
    assert_eq!(
        pair["items"],
        json!({"shared": 298, "of": 300, "changed": 2, "unknown": 0})
    );
    assert_eq!(
        (pair["grade"].as_str(), kinds(pair)),
        (Some("C"), vec!["texts"])
    );
    let names: Vec<&str> = pair["changed_items"]
        .as_array()
        .expect("items")
        .iter()
        .filter_map(|item| item["item"].as_str())
        .collect();
    assert_eq!(names, ["3", "8"]);
    let evidence = headline(&answer);
    assert_eq!(
        evidence["sizes"],
        json!({"first": 300, "second": 300, "pairs": 298, "of": "questions"})
    );
    assert_ne!(evidence["difference"]["value"], before);
    assert_eq!(answer["comparisons"][0]["flips"]["shared"], 298);

    let said = "Comparability C: 298 of 300 items shared; 2 changed their text.";
    for format in ["table", "markdown"] {
        let text = project.run(["compare", "./logs", "--format", format]);
        let text = unwrapped(text.answer());
        assert!(
            text.contains(said) && text.contains("298 of 300 questions shared: "),
            "{text}"
        );
    }
    // The same from the store, warm and cold.
    assert_eq!(project.run(["import", "logs", "--quiet"]).code, 0);
    for _ in 0..2 {
        assert!(unwrapped(project.run(["compare"]).answer()).contains(said));
    }
}

#[test]
fn the_page_of_a_pair_says_what_was_left_out_and_its_numbers_can_be_recomputed() {
    needs!("python3");
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            changed: &[3, 8],
            ..HARNESS
        },
    ]);
    let built = project.run(["build", "./logs", "--out", "site", "--quiet"]);
    assert_eq!(built.code, 0, "{}", built.stderr);
    let pages = project.files("site/compare");
    let page = project.read(
        pages
            .iter()
            .find(|file| file.contains("--"))
            .expect("a page of the pair"),
    );
    for said in [
        "C: 298 of 300 items shared; 2 changed their text",
        "298 of 300 questions shared",
        "Why comparability is C",
        "Not compared, because their texts differ: <bdi>3</bdi>, <bdi>8</bdi>.",
        "Of 298 shared items",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let path = std::env::var("PATH").unwrap_or_default();
    let verify = project.output(
        Command::new("python3")
            .arg("site/verify_site.py")
            .env("PATH", path),
    );
    assert_eq!(verify.code, 0, "{}", verify.stdout);
    // The program looks at these pairs, and not past them.
    let is_pair = |file: &String| {
        file.strip_suffix(".json")
            .is_some_and(|stem| stem.contains("--"))
    };
    let data = project
        .files("site/data/compare")
        .into_iter()
        .find(is_pair)
        .expect("data of the pair");
    let text = project.read(&data);
    let digests = project.read("site/data/digests.json");
    assert!(text.contains("\"changed_items\""));
    project
        .file(&data, text.replace("\"item\": \"8\"", "\"item\": \"9\""))
        .file("site/data/digests.json", digests);
    let path = std::env::var("PATH").unwrap_or_default();
    let verify = project.output(
        Command::new("python3")
            .arg("site/verify_site.py")
            .env("PATH", path),
    );
    assert!(
        verify.code == 1 && verify.stdout.contains("difference"),
        "{}",
        verify.stdout
    );
}

#[test]
fn a_strict_comparison_names_everything_that_differs() {
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            shots: 0,
            changed: &[3],
            items: 0..290,
            ..HARNESS
        },
    ]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(kinds(comparability(&answer)), ["shots", "texts", "items"]);
    let refused = project.run(["compare", "./logs", "--strict"]);
    let said = unwrapped(refused.refusal());
    for reason in [
        "grade D",
        "289 of 300 items shared",
        "1 changed its text",
        "different n-shot (5, 0)",
        "--strict refuses",
    ] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let board = project.run(["leaderboard", "./logs"]);
    assert!(
        unwrapped(board.answer()).contains(
            "Comparability: 1 of 1 pair has grade C to D: different n-shot (0, 5); items changed their text; not all items are \
             shared."
        ),
        "{}",
        board.stdout
    );
    let refused = project.run(["leaderboard", "./logs", "--strict"]);
    let said = unwrapped(refused.refusal());
    assert!(
        said.contains("trivia: Comparability: 1 of 1 pair has grade")
            && said.contains("--strict refuses"),
        "{said}"
    );
    let alike = harness(&[
        HARNESS,
        Harness {
            model: "two",
            ..HARNESS
        },
    ]);
    assert_eq!(alike.run(["compare", "./logs", "--strict"]).code, 0);
    assert!(
        !alike
            .run(["leaderboard", "./logs", "--strict"])
            .answer()
            .contains("Comparability")
    );
}

#[test]
fn items_whose_text_changed_are_not_drawn_for_a_chance_to_lead() {
    let drawn = |changed: &[u64]| {
        let project = harness(&[
            HARNESS,
            Harness {
                model: "two",
                changed,
                ..HARNESS
            },
        ]);
        let answer = project
            .run(["leaderboard", "./logs", "--p-best", "--format", "json"])
            .json();
        answer["suites"][0]["evidence"]["drawn"]["units"].as_u64()
    };
    assert_eq!(drawn(&[]), Some(300));
    assert_eq!(drawn(&[3, 8]), Some(298));
    let many: Vec<u64> = (0..30).collect();
    assert_eq!(
        drawn(&many),
        None,
        "a tenth of the items is too much to leave out"
    );
}

#[test]
fn over_nights_items_of_other_texts_are_compared_by_nobody() {
    fn night(day: u32, changed: &[u64]) -> [Harness<'_>; 2] {
        [
            Harness { day, ..HARNESS },
            Harness {
                model: "two",
                day,
                changed,
                ..HARNESS
            },
        ]
    }
    let all: Vec<u64> = (0..300).collect();
    let history = |changed: &[u64]| {
        let nights = [night(0, &[]), night(1, &[]), night(2, changed)];
        let project = harness(&nights.concat());
        assert_eq!(project.run(["import", "./logs"]).code, 0);
        project.run(["history", "--format", "json"]).json()["histories"][0].clone()
    };
    let breaks = |history: &Value, arm: usize| {
        let nights = history["arms"][arm]["nights"]
            .as_array()
            .expect("nights")
            .clone();
        nights
            .iter()
            .map(|night| night["breaks"].clone())
            .collect::<Vec<Value>>()
    };
    let same = history(&[]);
    assert_eq!(
        (breaks(&same, 0), breaks(&same, 1)),
        (vec![Value::Null; 3], vec![Value::Null; 3])
    );
    assert_eq!(same["duels"][0]["won"], 3);
    let other = history(&all);
    assert_eq!(breaks(&other, 0), vec![Value::Null; 3]);
    assert_eq!(
        breaks(&other, 1),
        [Value::Null, Value::Null, json!(["texts"])],
        "{other:#}"
    );
    assert_eq!(
        other["duels"][0]["won"], 2,
        "the third night has no item that both were asked in one text"
    );
}

#[test]
fn judges_limits_and_attempts_are_conditions() {
    let project = Project::new();
    inspect(
        &project,
        "m/one",
        "openai/gpt-4o",
        &json!({"time_limit": 60, "message_limit": 30}),
        1,
    );
    inspect(
        &project,
        "m/two",
        "openai/gpt-5",
        &json!({"message_limit": 30}),
        2,
    );
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    let pair = comparability(&answer);
    assert_eq!(
        (pair["grade"].as_str(), kinds(pair)),
        (Some("D"), vec!["judge", "limit", "attempts"]),
        "{pair}"
    );
    let text = unwrapped(project.run(["compare", "./logs"]).answer());
    let said = "Comparability D: different judge (openai/gpt-4o, openai/gpt-5); different time limit (60, none); different number of attempts (1, 2).";
    assert!(text.contains(said), "{text}");
    assert!(
        unwrapped(project.run(["compare", "./logs", "--strict"]).refusal())
            .contains("openai/gpt-5")
    );
}

#[test]
fn arms_without_a_shared_item_are_not_comparable_on_anything() {
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            items: 300..600,
            ..HARNESS
        },
    ]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(comparability(&answer)["grade"], "F");
    assert_eq!(
        (&headline(&answer)["verdict"], &headline(&answer)["reason"]),
        (&json!("not_comparable"), &json!("disjoint_items"))
    );
    let all: Vec<u64> = (0..300).collect();
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            changed: &all,
            ..HARNESS
        },
    ]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(
        (
            comparability(&answer)["grade"].as_str(),
            &headline(&answer)["reason"]
        ),
        (Some("F"), &json!("other_texts"))
    );
    for row in answer["comparisons"][0]["rows"].as_array().expect("rows") {
        assert_eq!(
            row["evidence"]["pairs"][0]["verdict"], "not_comparable",
            "{row}"
        );
    }
    assert!(
        unwrapped(project.run(["compare", "./logs"]).answer())
            .contains("Comparability F: none of 300 items shared; 300 changed their text.")
    );
}

#[test]
fn items_that_have_scores_alone_were_asked_all_the_same() {
    for metric in ["bleu", "rouge1"] {
        let project = harness(&[Harness { metric, ..HARNESS }, Harness { metric, ..TWO }]);
        check_graded(&project, "A", &[]);
        let answer = project
            .run(["compare", "./logs", "--format", "json"])
            .json();
        assert_eq!(
            comparability(&answer)["items"],
            json!({"shared": 300, "of": 300, "changed": 0, "unknown": 0})
        );
        assert_ne!(
            row(&answer, metric)["evidence"]["pairs"][0]["verdict"],
            "not_comparable"
        );
    }
    let project = harness(&[
        Harness {
            metric: "rouge1",
            ..HARNESS
        },
        Harness {
            metric: "rouge1",
            shots: 0,
            changed: &[3],
            ..TWO
        },
    ]);
    check_graded(&project, "D", &["shots", "texts"]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    let pair = &row(&answer, "item_score")["evidence"]["pairs"][0];
    assert_eq!(
        (&pair["sizes"]["pairs"], &pair["verdict"]),
        (&json!(299), &json!("a_wins")),
        "{pair:#}"
    );
    let items = Harness {
        metric: "bleu",
        items: 300..600,
        ..TWO
    };
    check_graded(
        &harness(&[
            Harness {
                metric: "bleu",
                ..HARNESS
            },
            items,
        ]),
        "F",
        &["no_items"],
    );
}

#[test]
fn items_that_one_arm_skipped_are_shared_by_nobody() {
    let project = Project::with(&[
        result("a", "s", "x", json!({"suite_version": "v"})),
        result("b", "s", "y", json!({"suite_version": "v"})),
    ]);
    project.items(
        "a",
        &[
            question("q1", 1, "pass"),
            question("q2", 1, "skipped"),
            question("q3", 1, "skipped"),
        ],
    );
    project.items(
        "b",
        &[
            question("q1", 1, "pass"),
            question("q2", 1, "fail"),
            question("q3", 1, "skipped"),
        ],
    );
    let answer = project.run(["compare", "--format", "json"]).json();
    assert_eq!(
        comparability(&answer)["items"],
        json!({"shared": 1, "of": 2, "changed": 0, "unknown": 0})
    );
}

#[test]
fn arms_with_scores_alone_are_graded_by_settings_and_numbers() {
    let figures = Harness {
        metric: "f1",
        logged: false,
        ..HARNESS
    };
    check_graded(
        &harness(&[
            figures.clone(),
            Harness {
                model: "two",
                ..figures.clone()
            },
        ]),
        "B",
        &["unknown_items"],
    );
    let project = harness(&[
        figures.clone(),
        Harness {
            model: "two",
            shots: 0,
            items: 0..10,
            ..figures.clone()
        },
    ]);
    check_graded(&project, "E", &["totals", "shots"]);
    let text = unwrapped(project.run(["compare", "./logs"]).answer());
    assert!(
        text.contains("different number of items (10, 300); different n-shot (0, 5)"),
        "{text}"
    );
    // Beside an arm that has items.
    check_graded(
        &harness(&[
            HARNESS,
            Harness {
                model: "two",
                ..figures.clone()
            },
        ]),
        "B",
        &["unknown_items"],
    );
    check_graded(
        &harness(&[
            HARNESS,
            Harness {
                model: "two",
                items: 0..10,
                ..figures
            },
        ]),
        "E",
        &["totals"],
    );
}

#[test]
fn an_item_with_another_right_answer_leaves_the_pair() {
    let project = harness(&[
        HARNESS,
        Harness {
            corrected: &[3, 8],
            ..TWO
        },
    ]);
    check_graded(&project, "C", &["texts"]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(comparability(&answer)["items"]["changed"], 2);
}

#[test]
fn other_prompts_for_the_same_items_are_named() {
    let one = Harness {
        prompts: "p",
        task: "t",
        ..HARNESS
    };
    let two = Harness {
        model: "two",
        ..one.clone()
    };
    check_graded(&harness(&[one.clone(), two.clone()]), "A", &[]);
    check_graded(
        &harness(&[
            one.clone(),
            Harness {
                prompts: "q",
                task: "u",
                ..two.clone()
            },
        ]),
        "C",
        &["prompts"],
    );
    check_graded(
        &harness(&[
            one.clone(),
            Harness {
                task: "u",
                ..two.clone()
            },
        ]),
        "C",
        &["prompts"],
    );
    let instructed = harness(&[
        one.clone(),
        Harness {
            instruction: "0123456789abcdef",
            ..two.clone()
        },
    ]);
    check_graded(&instructed, "C", &["prompts"]);
    let text = unwrapped(instructed.run(["compare", "./logs"]).answer());
    assert!(
        text.contains("Comparability C: different system instruction (none, 0123456789ab)."),
        "{text}"
    );
    // A chat template is its model's, and changes every prompt: what else differs cannot be seen.
    let (own, other) = (
        Harness {
            template: "a",
            prompts: "p",
            ..one.clone()
        },
        Harness {
            template: "b",
            prompts: "q",
            task: "u",
            ..two.clone()
        },
    );
    check_graded(&harness(&[own, other]), "B", &["templates"]);
    // Other items have other prompts.
    check_graded(
        &harness(&[
            one,
            Harness {
                items: 0..290,
                task: "u",
                ..two
            },
        ]),
        "C",
        &["items"],
    );
}

#[test]
fn the_same_items_under_another_evaluator_are_the_same_items() {
    let project = Project::new();
    choosing(&project, "m/one", "match", Some(["yes", "no"]));
    choosing(&project, "m/two", "model_graded", Some(["yes", "no"]));
    check_graded(&project, "D", &["judge"]);
    let answer = project
        .run(["compare", "./logs", "--format", "json"])
        .json();
    assert_eq!(
        comparability(&answer)["items"],
        json!({"shared": 12, "of": 12, "changed": 0, "unknown": 0})
    );
    assert_eq!(
        (&headline(&answer)["verdict"], &headline(&answer)["reason"]),
        (&json!("not_comparable"), &json!("other_evaluator"))
    );
    let text = unwrapped(project.run(["compare", "./logs"]).answer());
    assert!(
        text.contains("Comparability D: different evaluator (match, model_graded)."),
        "{text}"
    );
}

#[test]
fn choices_are_part_of_what_was_asked() {
    let check =
        |choices: Option<[&str; 2]>, others: Option<[&str; 2]>, grade: &str, kinds: &[&str]| {
            let project = Project::new();
            choosing(&project, "m/one", "choice", choices);
            choosing(&project, "m/two", "choice", others);
            check_graded(&project, grade, kinds);
        };
    check(Some(["yes", "no"]), Some(["yes", "no"]), "A", &[]);
    check(
        Some(["yes", "no"]),
        Some(["no", "yes"]),
        "F",
        &["no_items", "texts"],
    );
    check(Some(["yes", "no"]), None, "B", &["unknown_texts"]);
    check(None, None, "B", &["unknown_texts"]);
}

#[test]
fn a_comparison_without_a_pair_says_which_arms_stand_apart() {
    let project = harness(&[
        HARNESS,
        Harness {
            version: "2.0",
            day: 1,
            ..TWO
        },
    ]);
    let said = "Not compared on trivia: 5-shot · two with 5-shot · one (grade E: different suite version (2.0, 1.0)).";
    let compared = project.run(["compare", "./logs"]);
    let text = unwrapped(compared.refusal());
    assert!(
        text.contains(said) && text.contains("no table has two arms to compare"),
        "{text}"
    );
    let board = project.run(["leaderboard", "./logs"]);
    assert!(unwrapped(board.answer()).contains(said), "{}", board.stdout);
    assert_eq!(project.run(["leaderboard", "./logs", "--strict"]).code, 0);
    assert_eq!(
        project
            .run(["build", "./logs", "--out", "site", "--quiet"])
            .code,
        0
    );
    let pages: Vec<String> = project
        .files("site/suites")
        .into_iter()
        .filter(|file| file.ends_with("/index.html"))
        .collect();
    let page = pages
        .iter()
        .map(|file| project.read(file))
        .find(|page| page.contains("Not compared on"));
    assert!(page.is_some(), "{pages:?}");
    // One arm alone stands apart from nothing.
    let alone = harness(&[
        HARNESS,
        Harness {
            version: "2.0",
            day: 1,
            ..HARNESS
        },
    ]);
    assert!(
        alone
            .run(["compare", "./logs"])
            .refusal()
            .contains("no suite has two arms to compare")
    );
}

#[test]
fn arms_of_two_versions_stand_apart_and_it_is_said() {
    let project = harness(&[
        HARNESS,
        Harness {
            model: "two",
            version: "2.0",
            ..HARNESS
        },
    ]);
    assert_eq!(project.run(["import", "logs", "--quiet"]).code, 0);
    let text = unwrapped(project.run(["compare", "trivia"]).answer());
    assert!(text.contains("Not compared on trivia: "), "{text}");
    let refused = project.run(["compare", "trivia", "--strict"]);
    assert!(
        unwrapped(refused.refusal()).contains("different suite version"),
        "{}",
        refused.stderr
    );
    // Where both arms have runs of one version, an older one is no obstacle.
    let both = harness(&[
        HARNESS,
        Harness {
            model: "two",
            ..HARNESS
        },
        Harness {
            version: "2.0",
            ..HARNESS
        },
    ]);
    assert_eq!(both.run(["import", "logs", "--quiet"]).code, 0);
    assert_eq!(both.run(["compare", "trivia", "--strict"]).code, 0);
}

#[test]
fn a_strict_gate_refuses_a_baseline_that_was_asked_other_texts() {
    let project = harness(&[HARNESS]);
    assert_eq!(
        project
            .run(["import", "logs", "--results", "old", "--quiet"])
            .code,
        0
    );
    Harness {
        changed: &[3, 8],
        ..HARNESS
    }
    .write(&project);
    assert_eq!(
        project
            .run(["import", "logs", "--set", "model=one", "--quiet"])
            .code,
        0
    );
    let gate = ["gate", "--baseline", "old", "--max-drop", "2pp"];
    let loose = project.run(gate);
    let said = "comparability C: 298 of 300 items shared; 2 changed their text";
    assert!(
        loose.code == 0 && unwrapped(&loose.stdout).contains(said),
        "{}{}",
        loose.stdout,
        loose.stderr
    );
    let strict = project.run([&gate[..], &["--strict"]].concat());
    assert!(
        unwrapped(strict.refusal()).contains(said),
        "{}",
        strict.stderr
    );
}

#[test]
fn a_strict_gate_refuses_a_baseline_of_another_version() {
    let project = harness(&[HARNESS]);
    assert_eq!(
        project
            .run(["import", "logs", "--results", "old", "--quiet"])
            .code,
        0
    );
    let project = Harness {
        version: "2.0",
        day: 1,
        ..HARNESS
    }
    .beside(project);
    let gate = ["gate", "--baseline", "old", "--max-drop", "2pp"];
    let said = "comparability E: different suite version (2.0, 1.0)";
    let loose = project.run(gate);
    assert!(
        loose.code == 3 && unwrapped(&loose.stdout).contains(said),
        "{}{}",
        loose.stdout,
        loose.stderr
    );
    let strict = project.run([&gate[..], &["--strict"]].concat());
    assert!(
        unwrapped(strict.refusal()).contains(said),
        "{}",
        strict.stderr
    );
}

#[test]
fn our_own_runs_of_one_suite_version_were_asked_the_same() {
    let check = |fields: &Value, grade: &str, said: &str| {
        let project = Project::with(&[
            result("a", "s", "x", fields.clone()),
            result("b", "s", "y", fields.clone()),
        ]);
        for run in ["a", "b"] {
            project.items(run, &[question("q1", 1, "pass"), question("q2", 1, "fail")]);
        }
        let output = project.run(["compare", "--explain"]);
        let text = unwrapped(output.answer());
        assert!(
            text.contains(&format!("Comparability {grade}: {said}.")),
            "{text}"
        );
        assert_eq!(project.run(["compare", "--strict"]).code, 0);
    };
    check(
        &json!({"suite_version": "abc"}),
        "A",
        "no known differences",
    );
    check(
        &json!({}),
        "B",
        "item texts not recorded, so they may differ",
    );
    // Tags of our own runs say what their user likes.
    check(
        &json!({"suite_version": "abc", "tags": {"judge": "me"}}),
        "A",
        "no known differences",
    );
}

#[test]
fn other_resources_are_noted_and_unknown_ones_are_not() {
    let project = Project::new();
    let had = |kernel: &str, cpus: u64, memory: u64| json!({"resources": {"kernel": kernel, "cpus": 8, "cpu_limit": cpus, "memory": memory}});
    let with_limit = |seconds: f64, mut fields: serde_json::Value| {
        fields["resources"]["time_limit"] = seconds.into();
        fields
    };
    for (approach, fields) in [
        ("a", with_limit(5400.0, had("6.8.0", 8, 17_179_869_184))),
        ("b", with_limit(7200.0, had("6.11.0", 2, 17_179_869_000))),
        ("c", json!({})),
        ("d", had("6.8.0", 8, 17_179_869_184)),
    ] {
        let items: Vec<_> = (1..=6)
            .map(|number| {
                question(
                    &format!("q{number}"),
                    1,
                    if number % 2 == 0 { "pass" } else { "fail" },
                )
            })
            .collect();
        project
            .result(&result(approach, "quiz", approach, fields))
            .items(approach, &items);
    }
    let compared = |arms: &str| {
        let answer = project
            .run(["compare", "quiz", "--approach", arms, "--format", "json"])
            .json();
        let pair = comparability(&answer).clone();
        let found = pair["mismatches"].as_array().cloned().unwrap_or_default();
        found
            .into_iter()
            .filter(|found| found["kind"] == "resources")
            .collect::<Vec<_>>()
    };
    let found = compared("a,b");
    let said: Vec<[&str; 3]> = found
        .iter()
        .map(|found| ["what", "first", "second"].map(|key| found[key].as_str().unwrap_or_default()))
        .collect();
    assert_eq!(
        said,
        [
            ["kernel", "6.8.0", "6.11.0"],
            ["processors", "8", "2"],
            ["time limit", "90 min", "2 h"]
        ]
    );
    assert!(compared("a,c").is_empty() && compared("a,d").is_empty());
    let text = unwrapped(
        project
            .run(["compare", "quiz", "--approach", "a,b", "--explain"])
            .answer(),
    );
    assert!(
        text.contains("different kernel (6.8.0, 6.11.0)")
            && text.contains("different processors (8, 2)"),
        "{text}"
    );
}
