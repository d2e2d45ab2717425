//! `import --map`: other tools' tables of every kind, once, with every refusal named.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{MAP, Project, lines, passed};

const CSV: &str = "task,approach,result\nq1,a,ok\nq2,a,wrong\nq1,b,ok\nq2,b,timeout\nq3,b,ok\n";

fn project() -> Project {
    let project = Project::new();
    project.file("map.yaml", MAP).file("table.csv", CSV);
    project
}

/// What the board says of the table above, whatever it was written in.
#[track_caller]
fn check_board(project: &Project) {
    let board = project.run(["leaderboard", "--suite", "quiz", "--format", "csv"]);
    let lines: Vec<_> = board
        .rows()
        .into_iter()
        .map(|row| {
            (
                row["approach"].clone(),
                passed(&row),
                row["missing"].clone(),
            )
        })
        .collect();
    let line = |approach: &str, passed: &str, missing: &str| {
        (approach.to_owned(), passed.to_owned(), missing.to_owned())
    };
    assert_eq!(lines, [line("b", "2/3", "0"), line("a", "1/2", "1")]);
}

#[track_caller]
fn imported(project: &Project, file: &str) -> Value {
    project
        .run(["import", file, "--map", "map.yaml", "--format", "json"])
        .json()["sources"][0]
        .clone()
}

fn rows() -> Vec<Value> {
    csv::Reader::from_reader(CSV.as_bytes())
        .deserialize::<std::collections::BTreeMap<String, String>>()
        .map(|row| json!(row.expect("CSV")))
        .collect()
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder
        .write_all(text)
        .and_then(|()| encoder.finish())
        .expect("memory")
}

fn zipped(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in members {
        writer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .expect("memory");
        writer.write_all(text.as_bytes()).expect("memory");
    }
    writer.finish().expect("memory").into_inner()
}

#[test]
fn the_same_table_in_every_format() {
    let list = json!(rows()).to_string();
    let lines = lines(rows());
    let yaml = format!("- {}\n", lines.trim_end().replace('\n', "\n- "));
    let (first, rest) = lines.split_at(lines.find('\n').expect("a line") + 1);
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("table.csv", CSV.as_bytes().to_vec()),
        ("table.tsv", CSV.replace(',', "\t").into_bytes()),
        ("crlf.csv", CSV.replace('\n', "\r\n").into_bytes()),
        ("bom.csv", [b"\xef\xbb\xbf", CSV.as_bytes()].concat()),
        ("unfinished-line.csv", CSV.trim_end().as_bytes().to_vec()),
        ("table.jsonl", lines.clone().into_bytes()),
        ("table.json", list.clone().into_bytes()),
        ("table.yaml", yaml.clone().into_bytes()),
        ("table.csv.gz", gzip(CSV.as_bytes())),
        ("table.jsonl.gz", gzip(lines.as_bytes())),
        (
            "table.csv.zst",
            zstd::encode_all(CSV.as_bytes(), 1).expect("memory"),
        ),
        ("table.zip", zipped(&[("inner/table.csv", CSV)])),
        (
            "parts.zip",
            zipped(&[("a.jsonl", first), ("b.jsonl", rest)]),
        ),
    ];
    for (file, bytes) in cases {
        let project = project();
        project.bytes(file, &bytes);
        let source = imported(&project, file);
        assert_eq!(
            (
                &source["rows_read"],
                &source["rows_accepted"],
                &source["items"]
            ),
            (&json!(5), &json!(5), &json!(5)),
            "{file}"
        );
        check_board(&project);
        assert_eq!(project.run(["doctor"]).code, 0, "{file}");
    }
}

#[test]
fn a_list_inside_a_document() {
    let project = project();
    project.file(
        "map.yaml",
        MAP.replace("rows: item\n", "rows: item\nlist: data.results\n"),
    );
    project.file(
        "report.json",
        json!({"version": 3, "data": {"other": [], "results": rows()}}).to_string(),
    );
    assert_eq!(imported(&project, "report.json")["rows_accepted"], 5);
    check_board(&project);
}

#[test]
fn a_dry_run_writes_nothing() {
    let project = project();
    let before = project.files("");
    let dry = project.run(["import", "table.csv", "--map", "map.yaml", "--dry-run"]);
    assert!(
        dry.answer().contains("would import 2 runs with 5 outcomes"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stdout.ends_with("dry run: nothing was written\n"),
        "{}",
        dry.stdout
    );
    let written: Vec<String> = project
        .files("")
        .into_iter()
        .filter(|file| !file.starts_with(".evalreport/") && !before.contains(file))
        .collect();
    assert_eq!(written, [] as [String; 0]);
    assert!(!project.path("results").exists());
}

#[test]
fn importing_twice_adds_nothing() {
    let project = project();
    let first = imported(&project, "table.csv");
    assert_eq!(
        (
            first["outcome"].as_str(),
            first["runs_new"].as_array().map(Vec::len)
        ),
        (Some("imported"), Some(2))
    );
    let store = project.records("results");
    assert_eq!(store.len(), 2, "one sealed pair: {store:?}");
    assert_eq!(
        imported(&project, "table.csv")["outcome"],
        "already_imported"
    );
    // The same runs from another file with the same content under another map, and from a longer one.
    project.file("copy.csv", format!("{CSV}q9,a,ok\nq1,c,ok\n"));
    let longer = imported(&project, "copy.csv");
    assert_eq!(
        (
            longer["runs_new"].as_array().map(Vec::len),
            longer["runs_repeated"].as_array().map(Vec::len)
        ),
        (Some(2), Some(1))
    );
    let board = project.run(["leaderboard", "--format", "csv", "--sort", "approach"]);
    // The third arm shares only some of the items: it stands on a board of its own, and all boards are one table.
    assert_eq!(
        board.passed(),
        ["3/5", "2/3", "1/1"],
        "the arm with another outcome in the other file has two runs"
    );
    project.file("again.csv", format!("{CSV}\n"));
    assert_eq!(imported(&project, "again.csv")["outcome"], "nothing_new");
    assert_eq!(project.records("results").len(), 4);
}

#[test]
fn ids_do_not_depend_on_the_machine_or_the_time() {
    let ids = || imported(&project(), "table.csv")["runs_new"].clone();
    assert_eq!(ids(), ids());
}

#[test]
fn rows_that_cannot_be_right_are_refused_with_reasons() {
    let project = project();
    project.file(
        "map.yaml",
        format!("{MAP}  score: points\n  input_tokens: tokens\n"),
    );
    project.file(
        "table.csv",
        "task,approach,result,points,tokens\nq1,a,ok,1,10\nq2,a,maybe,1,10\nq3,a,ok,abc,10\nq4,a,ok,NaN,10\nq5,a,ok,1e400,10\nq6,a,ok,1,-3\n\
         q1,a,wrong,1,10\n,a,ok,1,10\nq7,,ok,1,10\nq8,a,ok,,\nq9,a,also maybe,1,10\n",
    );
    let output = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert_eq!(output.code, 0, "the others count");
    insta::assert_snapshot!(output.snapshot());
    assert_eq!(
        project.run(["leaderboard", "--format", "csv"]).passed(),
        ["2/2"]
    );
    assert_eq!(project.run(["doctor"]).code, 0);
}

#[test]
fn a_file_with_a_cut_last_line_stores_nothing() {
    let project = project();
    let whole = "{\"task\":\"q1\",\"approach\":\"a\",\"result\":\"ok\"}\n{\"task\":\"q2\",\"approach\":\"a\",\"result\":\"ok\"}";
    project.file("cut.jsonl", &whole[..whole.len() - 9]);
    let output = project.run(["import", "cut.jsonl", "--map", "map.yaml"]);
    assert_eq!(output.code, 2);
    assert!(
        output.stdout.starts_with(
            "cut.jsonl:2: is cut off in the middle of the JSON\n  hint: fetch the file again"
        ),
        "{}",
        output.stdout
    );
    assert_eq!(project.files("results"), [] as [String; 0]);
    // The whole file counts in full; a last line break is not needed.
    project.file("cut.jsonl", whole);
    let output = project.run(["import", "cut.jsonl", "--map", "map.yaml"]);
    assert!(
        output
            .answer()
            .contains("2 rows read, 2 accepted, 0 refused"),
        "{}",
        output.stdout
    );
}

#[test]
fn strict_imports_all_or_nothing() {
    let project = project();
    project.file("table.csv", format!("{CSV}q9,a,perhaps\n"));
    let strict = project.run(["import", "table.csv", "--map", "map.yaml", "--strict"]);
    assert!(
        strict
            .refusal()
            .contains("1 row refused, and --strict imports all or nothing"),
        "{}",
        strict.stderr
    );
    assert_eq!(project.files("results"), [] as [String; 0]);
}

#[test]
fn columns_that_are_not_there_are_named_with_a_hint() {
    let project = project();
    project.file("map.yaml", MAP.replace("id: task", "id: taks"));
    let output = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert_eq!(output.code, 2);
    assert!(
        output
            .stdout
            .starts_with("table.csv: no row has the column `taks`\n  hint: did you mean `task`?"),
        "{}",
        output.stdout
    );
    assert_eq!(project.files("results"), [] as [String; 0]);
    // One that a record can do without is said and goes on.
    project
        .file("map.yaml", format!("{MAP}  cluster: categry\n"))
        .file(
            "table.csv",
            CSV.replace("result\n", "result,category\n")
                .replace("ok\n", "ok,x\n")
                .replace("wrong\n", "wrong,x\n")
                .replace("timeout\n", "timeout,x\n"),
        );
    let output = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert!(
        output
            .answer()
            .contains("no row has column `categry` (for item.cluster); did you mean `category`?"),
        "{}",
        output.stdout
    );
    check_board(&project);
}

#[test]
fn set_replaces_what_the_map_says() {
    let project = project();
    let output = project.run([
        "import",
        "table.csv",
        "--map",
        "map.yaml",
        "--set",
        "suite=other",
        "--set",
        "model=big",
    ]);
    assert_eq!(output.code, 0, "{}", output.stdout);
    let row = &project
        .run(["leaderboard", "other", "--format", "csv"])
        .rows()[0];
    assert_eq!(row["model"], "big");
    for (set, message) in [
        ("suit=x", "`suit` cannot be set from outside"),
        ("nothing", "`nothing` has no `=`"),
    ] {
        assert!(
            project
                .run(["import", "table.csv", "--map", "map.yaml", "--set", set])
                .refusal()
                .contains(message)
        );
    }
}

#[test]
fn runs_of_several_fields_and_attempts() {
    let project = project();
    project.file(
        "map.yaml",
        "format: evalreport/map/1\nname: trials\nrows: item\n\
         run: {suite: {constant: quiz}, approach: {constant: a}, model: model, index: {column: run, base: 0}, timestamp: day, tags: {lang: lang}}\n\
         item: {id: [lang, task], kind: {constant: test}, status: {equal: [gold, given]}, attempt: {occurrence: true}, evaluator: {constant: exact}}\n",
    );
    project.file(
        "table.csv",
        "model,run,day,lang,task,gold,given\nm,0,2026-01-02,py,t1,A,A\nm,0,2026-01-02,py,t1,A,B\nm,0,2026-01-02,py,t2,A,\nm,1,2026-01-03,rs,t1,A,A\n",
    );
    assert_eq!(
        imported(&project, "table.csv")["runs_new"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    let items = project
        .run([
            "sql",
            "select item, attempt, status, evaluator from items order by item, attempt",
            "--format",
            "json",
        ])
        .json();
    assert_eq!(
        items["rows"],
        json!([
            ["py/t1", 1, "pass", "exact"],
            ["py/t1", 2, "fail", "exact"],
            ["py/t2", 1, "fail", "exact"],
            ["rs/t1", 1, "pass", "exact"]
        ])
    );
    let runs = project
        .run(["list", "--runs", "--tag", "lang=rs", "--format", "csv"])
        .rows();
    assert_eq!(
        (
            runs.len(),
            runs[0]["timestamp"].as_str(),
            passed(&runs[0]).as_str()
        ),
        (1, "2026-01-03T00:00:00Z", "1/1")
    );
}

/// Rows that are runs, with figures that their source published.
fn published() -> Project {
    let project = Project::new();
    project.file(
        "map.yaml",
        "format: evalreport/map/1\nname: board\nrows: run\nsource: {url: https://example.org/board, licence: CC0}\n\
         run: {suite: {constant: poly}, approach: format, model: model, passed: solved, total: cases, cost_usd: {column: cost, values: {'0': null}, otherwise: keep}}\n\
         scores: {well_formed: {value: formed, unit: percent, direction: up, n: cases}}\n\
         stated: {pass_rate: {value: rate, unit: percent, passed: solved, total: cases, decimals: 1}}\n",
    );
    project.file(
        "board.csv",
        "model,format,solved,cases,rate,cost,formed\nm1,diff,116,225,51.6,14.41,99.1\nm2,whole,100,225,45.4,0,100\nm3,diff,1,3,33.3,,\nm4,diff,,,20.0,,\n",
    );
    project
}

#[test]
fn published_figures_are_checked_against_their_own_counts() {
    let project = published();
    let output = project.run(["import", "board.csv", "--map", "map.yaml"]);
    assert_eq!(output.code, 0);
    // 100 of 225 are 44.4 %, not 45.4 %.
    assert!(
        output.stdout.contains(
            "3 published figures checked against the source's counts: 2 agree, 1 does not"
        ),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stdout
            .contains("board.csv:3 whole · m2: pass_rate published 45.40%, recomputed 44.44%"),
        "{}",
        output.stdout
    );
    assert!(
        output
            .stdout
            .contains("1 published figure without counts to check them by"),
        "{}",
        output.stdout
    );
    let board = project.run(["leaderboard", "--format", "csv"]).rows();
    let row = |model: &str| {
        board
            .iter()
            .find(|row| row["model"] == model)
            .expect("a row")
    };
    assert_eq!(
        (
            passed(row("m1")).as_str(),
            row("m1")["cost_usd"].as_str(),
            row("m1")["score_well_formed"].as_str()
        ),
        ("116/225", "14.41", "0.991")
    );
    assert_eq!(
        row("m2")["cost_usd"],
        "",
        "the map says that 0 stands for unknown"
    );
    assert_eq!(row("m2")["disagreeing_runs"], "1");
    insta::assert_snapshot!(project.run(["show", "--model", "m2"]).snapshot());
}

#[test]
fn what_was_imported_says_where_it_came_from() {
    let project = published();
    assert_eq!(
        project
            .run(["import", "board.csv", "--map", "map.yaml"])
            .code,
        0
    );
    let json = project
        .run(["show", "--model", "m1", "--format", "json"])
        .json();
    let provenance = &json["runs"][0]["provenance"];
    let text = provenance.to_string();
    for part in ["board.csv", "map.yaml", "https://example.org/board"] {
        assert!(text.contains(part), "{text} does not name {part}");
    }
}

#[test]
fn every_problem_of_the_map_at_once() {
    let project = project();
    project.file(
        "map.yaml",
        MAP.replace("name:", "nane:")
            .replace("rows: item", "rows: both")
            .replace("{constant: m1}", "4.5"),
    );
    let output = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert_eq!(output.code, 2);
    insta::assert_snapshot!(output.snapshot());
    let missing = project.run(["import", "table.csv", "--map", "nowhere.yaml"]);
    assert!(
        missing.refusal().contains("nowhere.yaml"),
        "{}",
        missing.stderr
    );
    assert_eq!(project.files("results"), [] as [String; 0]);
}

#[test]
fn files_that_cannot_be_read_leave_nothing_behind() {
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 12].to_vec();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("cut.csv.gz", cut(gzip(CSV.as_bytes()))),
        (
            "cut.csv.zst",
            cut(zstd::encode_all(CSV.as_bytes(), 1).expect("memory")),
        ),
        ("cut.zip", cut(zipped(&[("table.csv", CSV)]))),
        (
            "cut.json",
            json!(rows()).to_string().into_bytes()[..100].to_vec(),
        ),
        ("wide.csv", b"\xff\xfet\0a\0s\0k\0".to_vec()),
        ("empty.csv", Vec::new()),
        ("header.csv", b"task,approach,result\n".to_vec()),
        ("unknown.bin", b"\x00\x01\x02\x03".to_vec()),
        ("bad.yaml", b"- {task: q1\n".to_vec()),
    ];
    for (file, bytes) in cases {
        let project = project();
        project.bytes(file, &bytes);
        let output = project.run(["import", file, "--map", "map.yaml"]);
        assert_eq!(output.code, 2, "{file}: {}", output.stdout);
        assert!(
            output.stdout.contains(file) && output.stdout.contains("nothing imported"),
            "{file}: {}",
            output.stdout
        );
        assert_eq!(project.files("results"), [] as [String; 0], "{file}");
        // A readable one beside it is imported all the same.
        let both = project.run(["import", file, "table.csv", "--map", "map.yaml"]);
        assert_eq!(both.code, 2, "{file}");
        check_board(&project);
        assert!(
            project
                .files("results")
                .iter()
                .all(|stored| !stored.contains(".writing-")),
            "{file}"
        );
    }
    let project = project();
    let missing = project.run(["import", "nowhere.csv", "--map", "map.yaml"]);
    assert!(
        missing
            .refusal()
            .starts_with("error: no such file or folder: nowhere.csv\n"),
        "{}",
        missing.stderr
    );
}

#[test]
fn hostile_values_are_shown_harmless() {
    let project = project();
    project.file(
        "table.csv",
        "task,approach,result\nq1,\"a\u{1b}[2J\",ok\nq2,a,\"\u{1b}]0;x\u{7}\"\n../../etc,a,ok\n",
    );
    let output = project.run(["import", "table.csv", "--map", "map.yaml"]);
    assert_eq!(output.code, 0, "{}", output.stdout);
    assert!(
        !output.stdout.contains('\u{1b}') && !output.stdout.contains('\u{7}'),
        "{:?}",
        output.stdout
    );
    let board = project.run(["leaderboard"]);
    assert!(
        !board.answer().contains('\u{1b}') && board.stdout.contains("a␛[2J"),
        "{}",
        board.stdout
    );
    assert!(!project.path("../../etc/items.jsonl").exists());
    assert_eq!(project.records("results").len(), 2);
}

/// The maps that are shipped stay readable.
#[test]
fn ready_maps_are_maps() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/look-up/import");
    let mut maps = 0;
    for entry in fs::read_dir(folder).expect("the folder is in the repository") {
        let path = entry.expect("readable").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let loaded =
                evalreport::import::TableMap::load(&path, &std::collections::BTreeMap::new());
            assert!(loaded.is_ok(), "{}", path.display());
            maps += 1;
        }
    }
    assert!(maps >= 5, "{maps}");
}

/// Published: tau-bench's four pass^k, and the share of questions that two models of MMLU-Pro answered in so many words.
#[test]
#[ignore = "reads published data: EVALREPORT_DATA names their folder"]
fn published_tables_reproduce() {
    let data = crate::needs::named("EVALREPORT_DATA");
    let board = |file: &str, map: &str| {
        let project = Project::new();
        let map = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("docs/look-up/import")
            .join(map)
            .display()
            .to_string();
        let report = project
            .run([
                "import",
                &data.join(file).display().to_string(),
                "--map",
                &map,
                "--format",
                "json",
            ])
            .json();
        assert_eq!(
            report["sources"][0]["rows_read"], report["sources"][0]["rows_accepted"],
            "{file}"
        );
        project.run(["leaderboard", "--format", "json"]).json()["suites"][0]["entries"][0].clone()
    };
    let thousandths = |value: &Value| value.as_f64().map(|value| (value * 1000.0).round());
    let tau = board("tau_bench/gpt-4o-airline.json.gz", "tau-bench.yaml");
    let all_pass: Vec<_> = tau["reliability"]
        .as_array()
        .expect("four attempts")
        .iter()
        .map(|chance| thousandths(&chance["all_pass"]))
        .collect();
    assert_eq!(
        all_pass,
        [Some(420.0), Some(273.0), Some(220.0), Some(200.0)]
    );
    for (model, questions, share) in [
        ("Meta-Llama-3-70B", 12_032, 520.0),
        ("gemini-1.5-flash-002", 12_012, 641.0),
    ] {
        let entry = board(
            &format!("mmlu_pro/native/model_outputs_{model}_5shots.zip"),
            "mmlu-pro-native.yaml",
        );
        let rate = &entry["pass_rate"];
        assert_eq!(
            (&entry["model"], &rate["n"], thousandths(&rate["value"])),
            (&json!(model), &json!(questions), Some(share))
        );
    }
}

#[test]
fn one_file_a_model_by_one_map_is_one_study() {
    let project = Project::new();
    project.file(
        "map.yaml",
        "format: evalreport/map/1\nname: t\nrows: item\nrun: {suite: {constant: s}, approach: {constant: a}, model: model}\n\
         item: {id: q, kind: {constant: question}, status: ok}\n",
    );
    // Each model was asked other questions, but for ten.
    for (model, from) in [("x", 0), ("y", 50)] {
        let rows = (from..from + 60).map(|item| {
            format!(
                "{model},{item},{}\n",
                if item % 3 == 0 { "fail" } else { "pass" }
            )
        });
        project.file(
            &format!("{model}.csv"),
            format!("model,q,ok\n{}", rows.collect::<String>()),
        );
        assert_eq!(
            project
                .run(["import", &format!("{model}.csv"), "--map", "map.yaml"])
                .code,
            0
        );
    }
    let compared = project.run(["compare"]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    assert!(
        compared.stdout.contains("10 of 110 items shared"),
        "{}",
        compared.stdout
    );
    assert!(
        !compared.stderr.contains("different source"),
        "{}",
        compared.stderr
    );
}
