//! Engines that lie: of every lie comes a refusal, or the same board as without it.

use std::time::{Duration, Instant};

use arrow_array::{
    ArrayRef, Float64Array, Int8Array, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt64Array,
};
use serde_json::{Value, json};

use super::stand_in::{Lie, OutcomeRow, StandIn, Tables, batch};
use crate::support::{Project, in_parallel, lines, result};

fn item(name: u32, status: &str, score: Option<f64>) -> Value {
    let mut item = json!({"item": format!("q{name:02}"), "kind": "question", "evaluator": "answers", "attempt": 1, "revision": 0,
        "status": status, "cluster": format!("c{}", name % 3), "category": format!("k{}", name % 2), "cost_usd": 0.01 * f64::from(name + 1),
        "duration_seconds": 1.0 + f64::from(name), "input_tokens": 10 + name, "output_tokens": 5 + name});
    if let Some(score) = score {
        item["score"] = json!(score);
    }
    item
}

/// A lake of six runs in four commits: new runs, more runs with a retraction, a run that was judged again, and another retraction.
fn published() -> Project {
    let project = Project::new();
    let add = |id: &str, approach: &str, failing: u32| {
        let status = |number: u32| if number < failing { "fail" } else { "pass" };
        let score =
            |number: u32| (number.is_multiple_of(4)).then_some(0.25 + f64::from(number) / 100.0);
        let items: Vec<Value> = (0..12)
            .map(|number| item(number, status(number), score(number)))
            .collect();
        let more = json!({"timestamp": "2026-01-05T03:04:05Z", "cost_usd": 0.78, "duration_seconds": 78.0});
        project
            .result(&result(id, "s", approach, more))
            .items(id, &items);
    };
    let publish = || assert_eq!(project.run(["export", "lake", "lake"]).code, 0);
    for (id, approach, failing) in [
        ("a-1", "a", 2),
        ("a-2", "a", 3),
        ("b-1", "b", 6),
        ("d-1", "a", 12),
    ] {
        add(id, approach, failing);
    }
    publish();
    add("b-2", "b", 7);
    add("c-1", "c", 5);
    assert_eq!(
        project
            .run(["retract", "d-1", "--reason", "wrong seed"])
            .code,
        0
    );
    publish();
    project.file(
        "results/a-1/scores.jsonl",
        "{\"metric\":\"answers\",\"value\":1.0,\"unit\":\"points\",\"direction\":\"up\",\"revision\":0}\n",
    );
    let mut later = item(11, "fail", None);
    later["revision"] = json!(1);
    project.file(
        "results/a-1/items.jsonl",
        project.read("results/a-1/items.jsonl") + &lines(&[later]),
    );
    publish();
    assert_eq!(
        project
            .run(["retract", "b-2", "--reason", "wrong seed"])
            .code,
        0
    );
    publish();
    project
}

const QUESTIONS: [&[&str]; 3] = [
    &["leaderboard"],
    &["compare"],
    &["leaderboard", "--suite", "s"],
];

/// What a question answers through the engine: a board, or `None` and the message.
fn answer(project: &Project, question: &[&str], engine: &StandIn) -> Result<String, String> {
    let more = [
        "--format",
        "json",
        "--engine",
        &engine.url,
        "--engine-timeout",
        "20",
    ];
    let output = project.run(question.iter().copied().chain(more));
    if output.code == 0 {
        return Ok(output.stdout);
    }
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (2, ""),
        "{}",
        output.stderr
    );
    assert_eq!(
        output
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "))
            .count(),
        1,
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.len() < 3_000 && !output.stderr.contains('\u{1b}'),
        "{}",
        output.stderr
    );
    Err(output.stderr)
}

fn of<'t>(tables: &'t mut Tables, run: &'static str) -> impl Iterator<Item = &'t mut OutcomeRow> {
    tables
        .outcomes
        .iter_mut()
        .filter(move |row| row.run_id == run)
}

/// Changes the record of a run, as somebody does who edits a table.
fn edit(tables: &mut Tables, run: &str, from: &str, to: &str) {
    for row in tables
        .runs
        .iter_mut()
        .filter(|row| run.is_empty() || row.run_id == run)
    {
        assert!(row.record.contains(from), "{}", row.record);
        row.record = row.record.replacen(from, to, 1);
    }
}

fn text(value: &str) -> String {
    value.to_owned()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "a column is made where it is passed"
)]
fn column(answer: &RecordBatch, name: &str, with: ArrayRef) -> RecordBatch {
    let schema = answer.schema();
    let fields = schema.fields().iter().map(|field| field.name().as_str());
    batch(
        fields
            .zip(answer.columns())
            .map(|(of, column)| {
                (
                    of,
                    if of == name {
                        with.clone()
                    } else {
                        column.clone()
                    },
                )
            })
            .collect(),
    )
}

fn taken(answer: &RecordBatch, rows: impl Iterator<Item = usize>) -> Vec<RecordBatch> {
    rows.map(|row| answer.slice(row, 1)).collect()
}

fn cells(answer: &RecordBatch) -> Vec<i8> {
    answer
        .column(0)
        .as_any()
        .downcast_ref::<Int8Array>()
        .expect("bytes")
        .values()
        .to_vec()
}

fn of_cells(cells: impl IntoIterator<Item = Option<i8>>) -> RecordBatch {
    batch(vec![(
        "cell",
        std::sync::Arc::new(cells.into_iter().collect::<Int8Array>()),
    )])
}

/// Changes the answer to one query.
macro_rules! answers {
    ($query:literal, $answer:ident => $with:expr) => {
        Lie::Answer(|query, _, $answer| {
            if query == $query {
                $with
            } else {
                vec![$answer]
            }
        })
    };
}

macro_rules! tables {
    ($tables:ident => $change:expr) => {
        Lie::Tables(|$tables| {
            let _ = $change;
        })
    };
}

/// All lies, by what they do. Those with a text must be refused by a message with it; the others change nothing.
#[rustfmt::skip]
fn lies() -> Vec<(&'static str, Lie, Option<&'static str>)> {
    let refused = Some;
    vec![
        // Outcomes that are lost, doubled or of another time.
        ("failures of an arm are lost", tables!(t => t.outcomes.retain(|o| !(o.run_id.starts_with('b') && o.status == "fail"))), refused("`b-1` (6 of 12)")),
        ("all outcomes of a run are lost", tables!(t => t.outcomes.retain(|o| o.run_id != "b-1")), refused("`b-1` (0 of 12)")),
        ("one outcome is lost", tables!(t => t.outcomes.remove(t.outcomes.iter().position(|o| o.run_id == "c-1").expect("c-1"))), refused("`c-1` (11 of 12)")),
        ("an item is lost", tables!(t => t.outcomes.retain(|o| o.item != "q07")), refused("4 runs have other outcomes")),
        ("a cluster is lost", tables!(t => t.outcomes.retain(|o| o.cluster.as_deref() != Some("c1"))), refused("(8 of 12)")),
        ("passes are lost", tables!(t => t.outcomes.retain(|o| o.status != "pass")), refused("`a-1`")),
        ("no outcome is there", tables!(t => t.outcomes.clear()), refused("(0 of 12)")),
        ("outcomes are of last week", tables!(t => { let last = t.outcomes.iter().map(|o| o.publish_id.clone()).max(); t.outcomes.retain(|o| Some(&o.publish_id) != last.as_ref()); }), refused("`a-1` (0 of 12)")),
        ("outcomes are of the first day", tables!(t => { let first = t.outcomes.iter().map(|o| o.publish_id.clone()).min(); t.outcomes.retain(|o| Some(&o.publish_id) == first.as_ref()); }), refused("`c-1` (0 of 12)")),
        ("all outcomes are doubled", tables!(t => { let all = t.outcomes.clone(); t.outcomes.extend(all); }), refused("of 12)")),
        ("one outcome is doubled", tables!(t => { let one = t.outcomes.iter().find(|o| o.run_id == "c-1").cloned(); t.outcomes.extend(one); }), refused("`c-1` (at least 13 of 12)")),
        ("a run is doubled as a second attempt", tables!(t => { let more: Vec<_> = t.outcomes.iter().filter(|o| o.run_id == "c-1").cloned().map(|o| OutcomeRow { attempt: 2, ..o }).collect(); t.outcomes.extend(more); }), refused("`c-1` (at least")),
        ("one outcome replaces another", tables!(t => { let i = t.outcomes.iter().position(|o| o.run_id == "c-1").expect("a run"); t.outcomes[i] = OutcomeRow { attempt: 2, ..t.outcomes[i + 1].clone() }; }), refused("`c-1` (12, changed)")),
        ("replaced outcomes stand", tables!(t => t.outcomes.iter_mut().for_each(|o| o.standing = true)), refused("`a-1` (at least 13 of 12)")),
        ("outcomes that stand do not", tables!(t => of(t, "c-1").take(1).for_each(|o| o.standing = false)), refused("`c-1` (11 of 12)")),
        ("outcomes are of another publication", tables!(t => of(t, "c-1").for_each(|o| o.publish_id = text("p"))), refused("no run is named of the last publication")),
        // Outcomes that are changed.
        ("everything passes", tables!(t => t.outcomes.iter_mut().for_each(|o| o.status = text("pass"))), refused("changed")),
        ("an arm passes everything", tables!(t => of(t, "b-1").for_each(|o| o.status = text("pass"))), refused("`b-1` (12, changed)")),
        ("one outcome fails", tables!(t => of(t, "c-1").last().map(|o| o.status = text("fail"))), refused("`c-1` (12, changed)")),
        ("two outcomes change places", tables!(t => of(t, "c-1").enumerate().for_each(|(i, o)| match i { 0 => o.status = text("pass"), 11 => o.status = text("fail"), _ => {} })), refused("`c-1` (12, changed)")),
        ("failures are outages", tables!(t => t.outcomes.iter_mut().filter(|o| o.status == "fail").for_each(|o| o.status = text("infra"))), refused("changed")),
        ("failures are skipped", tables!(t => t.outcomes.iter_mut().filter(|o| o.status == "fail").for_each(|o| o.status = text("skipped"))), refused("changed")),
        ("a status is unknown", tables!(t => of(t, "c-1").take(1).for_each(|o| o.status = text("won"))), refused("a status that this version does not know")),
        ("two runs change outcomes", tables!(t => t.outcomes.iter_mut().for_each(|o| match o.run_id.as_str() { "a-2" => { o.run_id = text("b-1"); } "b-1" => { o.run_id = text("a-2"); } _ => {} })), refused("2 runs have other outcomes")),
        ("scores are better", tables!(t => t.outcomes.iter_mut().for_each(|o| o.score = o.score.map(|s| s + 0.5))), refused("changed")),
        ("scores are gone", tables!(t => t.outcomes.iter_mut().for_each(|o| o.score = None)), refused("changed")),
        ("attempts have other numbers", tables!(t => of(t, "c-1").for_each(|o| o.attempt = 2)), refused("`c-1` (12, changed)")),
        ("an attempt is none", tables!(t => of(t, "c-1").for_each(|o| o.attempt = 0)), refused("attempts count from 1")),
        ("an item has another name", tables!(t => t.outcomes.iter_mut().filter(|o| o.item == "q03").for_each(|o| o.item = text("q99"))), refused("an id that its names do not give")),
        ("an item has another evaluator", tables!(t => t.outcomes.iter_mut().for_each(|o| o.evaluator = text("judge"))), refused("an id that its names do not give")),
        ("an item is of another kind", tables!(t => t.outcomes.iter_mut().for_each(|o| o.kind = text("task"))), refused("an id that its names do not give")),
        ("clusters have other names", tables!(t => t.outcomes.iter_mut().for_each(|o| o.cluster = Some("one".to_owned()))), refused("queries/")),
        ("clusters are gone", tables!(t => t.outcomes.iter_mut().for_each(|o| { o.cluster = None; o.cluster_id = None; })), refused("changed")),
        ("outcomes cost twice as much", tables!(t => t.outcomes.iter_mut().for_each(|o| o.cost_usd = o.cost_usd.map(|c| c * 2.0))), refused("time, money or tokens")),
        ("times of an arm are halved", tables!(t => of(t, "b-1").for_each(|o| o.duration_seconds = o.duration_seconds.map(|d| d / 2.0))), refused("`b-1` (12 of 12)")),
        ("tokens are gone", tables!(t => t.outcomes.iter_mut().for_each(|o| o.input_tokens = None)), refused("time, money or tokens")),
        ("categories are others", tables!(t => t.outcomes.iter_mut().for_each(|o| o.category = Some("k".to_owned()))), refused("time, money or tokens")),
        // Runs.
        ("a run is lost", tables!(t => t.runs.retain(|r| r.run_id != "c-1")), refused("were published")),
        ("a run is lost and the others know it", tables!(t => { t.runs.retain(|r| r.run_id != "c-1"); t.runs.iter_mut().for_each(|r| r.all_runs -= 1); }), refused("not as they were published")),
        ("no run is there", tables!(t => t.runs.clear()), refused("no run is named of the last publication")),
        ("the runs are of last week", tables!(t => t.runs.retain(|r| r.sequence < 3)), refused("no run is named of the last publication")),
        ("a commit is lost", tables!(t => t.runs.retain(|r| r.sequence != 2)), refused("were published")),
        ("a retraction is lost", tables!(t => t.runs.retain(|r| !(r.run_id == "d-1" && r.deleted))), refused("of 3)")),
        ("an earlier revision is lost", tables!(t => t.runs.retain(|r| !(r.run_id == "a-1" && r.sequence == 1))), refused("1 (3 of 4)")),
        ("a run is there twice", tables!(t => { let one = t.runs[0].clone(); t.runs.push(one); }), refused("1 (5 of 4)")),
        ("one run is lost and another there twice", tables!(t => { let b = t.runs.iter().position(|r| r.run_id == "b-1").expect("b-1"); t.runs[b] = t.runs[0].clone(); }), refused("were published")),
        ("two runs change names", tables!(t => t.runs.iter_mut().for_each(|r| match r.run_id.as_str() { "b-1" => r.run_id = text("c-1"), "c-1" => r.run_id = text("b-1"), _ => {} })), refused("not as they were published")),
        ("two runs change records", tables!(t => { let [b, c] = ["b-1", "c-1"].map(|id| t.runs.iter().position(|r| r.run_id == id).expect("a run")); let record = std::mem::take(&mut t.runs[b].record); t.runs[b].record = std::mem::replace(&mut t.runs[c].record, record); }), refused("`b-1`, `c-1`")),
        ("a run is of another arm", tables!(t => edit(t, "b-1", "\"b\"", "\"a\"")), refused("the rows of `b-1` are not as they were published")),
        ("an arm has another name", tables!(t => { edit(t, "b-1", "\"b\"", "\"best\""); }), refused("`b-1`")),
        ("all runs are of another suite", tables!(t => edit(t, "", "\"s\"", "\"other\"")), refused("not as they were published")),
        ("a run is of another suite", tables!(t => edit(t, "b-1", "\"s\"", "\"other\"")), refused("`b-1`")),
        ("a run costs less", tables!(t => edit(t, "b-1", "0.78", "0.07")), refused("`b-1`")),
        ("a run is older", tables!(t => edit(t, "b-1", "2026-01-05", "2025-01-05")), refused("`b-1`")),
        ("sums of a run are others", tables!(t => t.runs.iter_mut().filter(|r| r.run_id == "b-1").for_each(|r| r.totals = r.totals.as_ref().map(|t| t.replace("12", "13")))), refused("`b-1`")),
        ("sums are gone", tables!(t => t.runs.iter_mut().for_each(|r| r.totals = None)), refused("not as they were published")),
        ("a run that counts is retracted", tables!(t => t.runs.iter_mut().filter(|r| r.run_id == "b-1").for_each(|r| r.deleted = true)), refused("`b-1`")),
        ("a retracted run counts", tables!(t => t.runs.iter_mut().filter(|r| r.run_id == "d-1").for_each(|r| r.deleted = false)), refused("`d-1`")),
        ("revisions change order", tables!(t => t.runs.iter_mut().filter(|r| r.run_id == "a-1").for_each(|r| r.sequence = 4 - r.sequence)), refused("not as they were published")),
        ("a lost outcome is not counted", tables!(t => { t.outcomes.remove(t.outcomes.iter().position(|o| o.run_id == "b-1").expect("b-1")); t.runs.iter_mut().filter(|r| r.run_id == "b-1").for_each(|r| r.outcomes -= 1); }), refused("`b-1`")),
        ("sums over outcomes are gone", tables!(t => t.runs.iter_mut().for_each(|r| r.outcomes_check = 0)), refused("not as they were published")),
        ("records are empty", tables!(t => t.runs.iter_mut().for_each(|r| r.record.clear())), refused("not as they were published")),
        ("records are cut off", tables!(t => t.runs.iter_mut().for_each(|r| r.record.truncate(20))), refused("not as they were published")),
        ("a record has depth", tables!(t => t.runs[2].record = "[".repeat(200_000)), refused("not as they were published")),
        ("commits have other sizes", tables!(t => t.runs.iter_mut().for_each(|r| r.commit_rows += 1)), refused("not as they were published")),
        ("runs have hostile names", tables!(t => edit(t, "", "\"s\"", "\"\\u001b[31m</script>\"")), refused("not as they were published")),
        // Answers that are not those of the tables.
        ("a row of the runs is left out", answers!("runs", a => taken(&a, 1..a.num_rows())), refused("runs, and 6 were published")),
        ("the runs are there twice", answers!("runs", a => vec![a.clone(), a]), refused("is there twice")),
        ("runs change while they are read", Lie::Answer(|query, asked, a| if query == "runs" && asked % 2 == 1 { taken(&a, 0..a.num_rows() - 1) } else { vec![a] }), refused("were published")),
        ("a column is missing", answers!("runs", a => vec![a.project(&[0, 1, 2]).expect("columns")]), refused("has no column")),
        ("a number is a text", answers!("runs", a => vec![column(&a, "outcomes", std::sync::Arc::new(StringArray::from(vec!["12"; a.num_rows()])))]), refused("of type Utf8")),
        ("numbers are null", answers!("runs", a => vec![column(&a, "outcomes", std::sync::Arc::new(Int64Array::new_null(a.num_rows())))]), refused("has a null")),
        ("numbers have no sign", answers!("rows", a => vec![column(&a, "cells", std::sync::Arc::new(UInt64Array::from(vec![12; a.num_rows()])))]), refused("of type UInt64")),
        ("rows count no cell", answers!("rows", a => vec![column(&a, "cells", std::sync::Arc::new(Int64Array::from(vec![0; a.num_rows()])))]), refused("a row of 0 outcomes")),
        ("rows count more than fit", answers!("rows", a => vec![column(&a, "cells", std::sync::Arc::new(Int64Array::from(vec![i64::MAX; a.num_rows()])))]), refused("of 12)")),
        ("rows are there twice", answers!("rows", a => vec![a.clone(), a]), refused("at least 24 of 12")),
        ("a row is left out", answers!("rows", a => taken(&a, 1..a.num_rows())), refused("`a-1` (0 of 12)")),
        ("rows are of an unknown run", answers!("rows", a => vec![column(&a, "run_id", std::sync::Arc::new(StringArray::from(vec!["x"; a.num_rows()])))]), refused("`x` is not in")),
        ("items are in another order", answers!("items", a => taken(&a, (0..a.num_rows()).rev())), refused("not in order")),
        ("items are left out", answers!("items", a => vec![a.slice(0, a.num_rows() - 1)]), refused("are not in queries/items.sql")),
        ("cells are in another order", answers!("cells", a => vec![of_cells(cells(&a).into_iter().rev().map(Some))]), refused("another sum")),
        ("a cell is left out", answers!("cells", a => vec![a.slice(1, a.num_rows() - 1)]), refused("queries/cells.sql")),
        ("there is a cell more", answers!("cells", a => vec![a.clone(), a.slice(0, 1)]), refused("more cells")),
        ("a cell is null", answers!("cells", a => vec![of_cells(cells(&a).into_iter().enumerate().map(|(i, c)| (i > 0).then_some(c)))]), refused("without nulls")),
        ("cells are wide", answers!("cells", a => vec![batch(vec![("cell", std::sync::Arc::new(cells(&a).into_iter().map(|c| Some(i32::from(c))).collect::<Int32Array>()))])]), refused("not of bytes")),
        ("passes and failures change places", answers!("cells", a => vec![of_cells(cells(&a).into_iter().map(|c| Some(match c { 1 => 2, 2 => 1, c => c })))]), refused("another sum")),
        ("scores are left out", answers!("scores", a => vec![a.slice(0, a.num_rows() - 1)]), refused("as many scores")),
        ("scores are in another order", answers!("scores", a => taken(&a, (0..a.num_rows()).rev())), refused("changed")),
        ("scores are no numbers", answers!("scores", a => vec![column(&a, "score", std::sync::Arc::new(Float64Array::from(vec![f64::NAN; a.num_rows()])))]), refused("changed")),
        ("the cells break off", Lie::Breaks, refused("the connection to")),
        ("an error is long", Lie::Error(4 << 10), refused("answers with an error")),
        ("an error is longer than a header may be", Lie::Error(4 << 20), refused("the connection to")),
        ("an answer is in many parts", Lie::Parts(20_000), refused("in 20000 parts")),
        // What engines may do.
        ("nothing", Lie::None, None),
        ("there is a column more", Lie::Answer(|_, _, a| { let schema = a.schema(); let mut all: Vec<(&str, ArrayRef)> = schema.fields().iter().map(|f| f.name().as_str()).zip(a.columns().iter().cloned()).collect(); all.push(("more", std::sync::Arc::new(Int8Array::from(vec![1; a.num_rows()])))); vec![batch(all)] }), None),
        ("columns are in another order", Lie::Answer(|_, _, a| { let order: Vec<usize> = (0..a.num_columns()).rev().collect(); vec![a.project(&order).expect("columns")] }), None),
        ("each row is a batch, with empty ones between", Lie::Answer(|_, _, a| (0..a.num_rows()).flat_map(|row| [a.slice(row, 1), a.slice(row, 0)]).collect()), None),
        ("an answer is in a few parts", Lie::Parts(3), None),
        ("runs that were never asked for are there", tables!(t => { let more: Vec<_> = t.outcomes.iter().take(3).cloned().map(|o| OutcomeRow { run_id: "x-1".to_owned(), ..o }).collect(); t.outcomes.extend(more); }), None),
    ]
}

#[test]
fn no_lying_engine_makes_another_board() {
    let project = published();
    let tables = Tables::of_lake(&project.path("lake"));
    let honest = StandIn::start(&tables, Lie::None);
    let truth =
        QUESTIONS.map(|question| answer(&project, question, &honest).expect("an honest engine"));
    for (question, truth) in QUESTIONS.iter().zip(&truth) {
        // The stand-in is right: its board is that of the files.
        let read = project
            .run(
                question
                    .iter()
                    .copied()
                    .chain(["--format", "json", "--results", "lake:lake"]),
            )
            .json();
        let truth: Value = serde_json::from_str(truth).expect("JSON");
        assert_eq!(
            (&read["suites"], &read["comparisons"]),
            (&truth["suites"], &truth["comparisons"]),
            "{question:?}"
        );
    }
    let asked = honest.asked();
    for query in [
        "runs",
        "commits",
        "publications",
        "rows",
        "items",
        "cells",
        "scores",
        "lines",
    ] {
        assert!(
            asked.iter().any(|name| name == query),
            "nothing asks for {query}: {asked:?}"
        );
    }
    let lies = lies();
    assert!(
        lies.iter()
            .filter(|(.., refused)| refused.is_some())
            .count()
            >= 60
    );
    let wrong = in_parallel(&lies, |(name, lie, refused)| {
        let engine = StandIn::start(&tables, *lie);
        let mut said = String::new();
        for (question, truth) in QUESTIONS.iter().zip(&truth) {
            match answer(&project, question, &engine) {
                Ok(board) if board == *truth => {}
                Ok(_) => return Some(format!("{name}: {question:?} gives another board")),
                Err(message) => said.push_str(&message),
            }
        }
        let is_right = match refused {
            Some(text) => said.contains(text),
            None => said.is_empty(),
        };
        (!is_right).then(|| format!("{name}: expected {refused:?}, and it says: {said}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn without_end(answer: RecordBatch) -> Box<dyn Iterator<Item = RecordBatch> + Send> {
    Box::new(std::iter::repeat(answer))
}

#[expect(clippy::needless_pass_by_value, reason = "one of several streams")]
fn empty_without_end(answer: RecordBatch) -> Box<dyn Iterator<Item = RecordBatch> + Send> {
    Box::new(std::iter::repeat(answer.slice(0, 0)))
}

/// Runs under ever new names.
fn runs_without_end(answer: RecordBatch) -> Box<dyn Iterator<Item = RecordBatch> + Send> {
    Box::new((0..).map(move |block: usize| {
        let first = answer.slice(0, 1);
        let ids = (0..20_000)
            .map(|number| format!("r-{block}-{number}"))
            .collect::<Vec<_>>();
        let of: Vec<RecordBatch> = std::iter::repeat_n(first, ids.len()).collect();
        let all = taken_together(&of);
        column(&all, "run_id", std::sync::Arc::new(StringArray::from(ids)))
    }))
}

/// Repeats one row: no crate of ours joins batches, so each column is made anew.
fn taken_together(rows: &[RecordBatch]) -> RecordBatch {
    use arrow_array::cast::AsArray as _;
    use arrow_array::types::Int64Type;
    let (first, count) = (&rows[0], rows.len());
    let schema = first.schema();
    let columns = schema
        .fields()
        .iter()
        .zip(first.columns())
        .map(|(field, column)| {
            let column: ArrayRef = if let Some(text) = column.as_string_opt::<i32>() {
                std::sync::Arc::new(StringArray::from(vec![
                    arrow_array::Array::is_valid(text, 0)
                        .then(|| text.value(0));
                    count
                ]))
            } else if let Some(yes) = column.as_boolean_opt() {
                std::sync::Arc::new(arrow_array::BooleanArray::from(vec![yes.value(0); count]))
            } else {
                std::sync::Arc::new(Int64Array::from(vec![
                    column
                        .as_primitive::<Int64Type>()
                        .value(0);
                    count
                ]))
            };
            (field.name().as_str(), column)
        });
    batch(columns.collect())
}

/// A few hundred kilobytes that unpack to gigabytes.
fn zeros(_: RecordBatch) -> Box<dyn Iterator<Item = RecordBatch> + Send> {
    let zeros: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![0; 2 << 20]));
    let names: Vec<String> = (0..24).map(|number| format!("c{number}")).collect();
    let all = batch(
        names
            .iter()
            .map(|name| (name.as_str(), zeros.clone()))
            .collect(),
    );
    Box::new(std::iter::once(all))
}

#[test]
fn an_engine_without_end_is_ended_in_time_and_memory() {
    let project = published();
    let tables = Tables::of_lake(&project.path("lake"));
    let slow = Duration::from_millis(50);
    for (name, lie, expected) in [
        (
            "empty batches for ever",
            Lie::Stream("rows", empty_without_end, slow),
            "sent nothing for 2 s",
        ),
        // It depends on the machine whether their number or the time ends it.
        (
            "empty batches as fast as they come",
            Lie::Stream("rows", empty_without_end, Duration::ZERO),
            "queries/rows.sql",
        ),
        (
            "rows for ever",
            Lie::Stream("rows", without_end, Duration::ZERO),
            "of 12)",
        ),
        (
            "cells for ever",
            Lie::Stream("cells", without_end, Duration::ZERO),
            "more cells",
        ),
        (
            "scores for ever",
            Lie::Stream("scores", without_end, Duration::ZERO),
            "as many scores",
        ),
        (
            "commits for ever, slowly",
            Lie::Stream("publications", without_end, slow),
            "took longer than 6 s",
        ),
        (
            "runs for ever",
            Lie::Stream("runs", runs_without_end, Duration::ZERO),
            "queries/runs.sql",
        ),
        (
            "zeros that unpack to 400 MB",
            Lie::Stream("rows", zeros, Duration::ZERO),
            "a message would have 384 MB unpacked",
        ),
    ] {
        let engine = StandIn::start(&tables, lie);
        let start = Instant::now();
        // 4 GB of addresses, of which threads and the program itself take a part.
        let line = format!(
            "ulimit -v 4000000; exec '{}' leaderboard --engine {} --engine-timeout 2 --engine-time-limit 6",
            crate::support::BINARY,
            engine.url
        );
        let output = project.output(
            std::process::Command::new("sh")
                .args(["-c", &line])
                .env("PATH", std::env::var("PATH").unwrap_or_default()),
        );
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (2, ""),
            "{name}: {}",
            output.stderr
        );
        assert!(
            output.stderr.contains(expected),
            "{name}: {}",
            output.stderr
        );
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "{name}: {:?}",
            start.elapsed()
        );
    }
}
