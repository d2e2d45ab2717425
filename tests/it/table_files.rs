//! Tables without a map in folders and archives, and what is said of rows and files that are not read.

use std::collections::BTreeMap;
use std::io::Write as _;

use crate::support::{Output, Project};

/// Passed and counted of each arm: `suite: approach/model`.
fn counts(said: &Output) -> BTreeMap<String, (u64, u64)> {
    assert_eq!(said.code, 0, "{}", said.stderr);
    let number = |text: &String| text.parse().unwrap_or(0);
    let count = |row: BTreeMap<String, String>| {
        (
            format!("{}: {}/{}", row["suite"], row["approach"], row["model"]),
            (number(&row["passed"]), number(&row["total"])),
        )
    };
    said.rows().into_iter().map(count).collect()
}

fn board(project: &Project, paths: &[&str]) -> Output {
    project.run(
        ["leaderboard", "--format", "csv"]
            .into_iter()
            .chain(paths.iter().copied()),
    )
}

fn arms<const N: usize>(expected: [(&str, (u64, u64)); N]) -> BTreeMap<String, (u64, u64)> {
    expected
        .into_iter()
        .map(|(arm, counts)| (arm.to_owned(), counts))
        .collect()
}

#[test]
fn refused_rows_are_said_each_time_and_refused_when_strict() {
    for (text, message) in [
        (
            "model,task,passed,note\nnova,a,1,fine\nnova,b,0,fine, but slow\nlyra,a,1,x\nlyra,b,1,x\n",
            "1 of 4 rows refused: wrong number of columns",
        ),
        (
            "model,task,passed,cost\nnova,a,1,0.5\n,b,0,0.5\nlyra,a,1,0.1\nlyra,b,1,0.2\n",
            "1 of 4 rows refused",
        ),
    ] {
        let project = Project::new();
        project.file("t.csv", text);
        let first = board(&project, &["t.csv"]);
        assert!(
            first.code == 0 && first.stderr.contains(message),
            "{}",
            first.stderr
        );
        // The second time the rows come from the cache.
        let again = board(&project, &["t.csv"]);
        assert_eq!((again.code, &again.stderr), (0, &first.stderr));
        for _ in 0..2 {
            let strict = project.run(["leaderboard", "t.csv", "--strict"]);
            assert!(
                strict.code == 2 && strict.stderr.contains(message),
                "{}",
                strict.stderr
            );
        }
    }
    // A word that is new after the examined rows.
    let project = Project::new();
    let rows: String = (0..20_400)
        .flat_map(|row| {
            [
                format!("nova,t{row},"),
                if row % 3 == 0 { "yes\n" } else { "no\n" }.to_owned(),
            ]
        })
        .collect();
    project.file(
        "long.csv",
        format!("model,task,passed\n{rows}nova,u1,Passed\nnova,u2,Passed\n"),
    );
    let said = board(&project, &["long.csv"]);
    assert!(
        said.stderr.contains("2 of 20,402 rows refused"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_row_may_end_before_empty_cells() {
    let project = Project::new();
    project.file("t.csv", "model,task,passed,note\nnova,a,1,x\nnova,b,0\nnova,c,0\nlyra,a,1,x\nlyra,b,1,,,\nlyra,c,0,x\n");
    let said = board(&project, &["t.csv", "--strict"]);
    assert_eq!(
        counts(&said),
        arms([("t: unnamed/lyra", (2, 3)), ("t: unnamed/nova", (1, 3))])
    );
    assert!(!said.stderr.contains("refused"), "{}", said.stderr);
}

#[test]
fn a_name_in_the_first_row_of_its_block_is_filled_down() {
    let project = Project::new();
    project.file(
        "t.csv",
        "model,task,passed\nnova,a,yes\n,b,no\n,c,no\nlyra,a,no\n,b,yes\n,c,yes\n",
    );
    let said = board(&project, &["t.csv"]);
    assert_eq!(
        counts(&said),
        arms([("t: unnamed/lyra", (2, 3)), ("t: unnamed/nova", (1, 3))])
    );
    assert!(
        said.stderr
            .contains("`model` has a value in the first row of each block"),
        "{}",
        said.stderr
    );
    // A gap is no block: its rows are refused, and said.
    project.file(
        "u.csv",
        "model,task,passed\nnova,a,yes\nnova,b,no\n,c,no\nlyra,a,no\nlyra,b,yes\nlyra,c,yes\n",
    );
    assert!(
        board(&project, &["u.csv"])
            .stderr
            .contains("1 of 6 rows refused")
    );
}

#[test]
fn what_differs_in_the_paths_names_the_approaches() {
    let project = Project::new();
    for (arm, rows) in [("nova", ["true", "true"]), ("lyra", ["false", "true"])] {
        let text = format!(
            "{{\"id\":1,\"correct\":{}}}\n{{\"id\":2,\"correct\":{}}}\n",
            rows[0], rows[1]
        );
        project.file(&format!("runs/{arm}/results.jsonl"), &text);
        project
            .file(&format!("repeats/{arm}/run1.jsonl"), &text)
            .file(&format!("repeats/{arm}/run2.jsonl"), &text);
        project
            .file(&format!("both/{arm}/alpha.jsonl"), &text)
            .file(&format!("both/{arm}/beta.jsonl"), &text);
        project.file(&format!("hive/model={arm}/part-0.jsonl"), &text);
    }
    let expected = arms([("runs: lyra/none", (1, 2)), ("runs: nova/none", (2, 2))]);
    assert_eq!(counts(&board(&project, &["runs"])), expected);
    // The same as two folders: the suite is the folder around both.
    assert_eq!(
        counts(&board(&project, &["runs/nova", "runs/lyra"])),
        expected
    );
    let repeats = board(&project, &["repeats"]);
    assert_eq!(
        repeats
            .rows()
            .iter()
            .map(|row| (row["approach"].as_str(), row["runs"].as_str()))
            .collect::<Vec<_>>(),
        [("nova", "2"), ("lyra", "2")]
    );
    assert_eq!(
        counts(&board(&project, &["hive"])),
        arms([
            ("hive: unnamed/lyra", (1, 2)),
            ("hive: unnamed/nova", (2, 2))
        ])
    );

    let open = board(&project, &["both"]);
    let refusal = open.refusal();
    assert!(
        refusal.contains(
            "the folders `lyra`, `nova` and the files `alpha`, `beta` may each name the approaches"
        ),
        "{refusal}"
    );
    assert!(
        refusal.contains("leaderboard --format csv both --approach @folder;")
            && !refusal.contains("nothing was imported"),
        "{refusal}"
    );
    let told = project.run([
        "import",
        "both",
        "--approach",
        "@folder",
        "--suite",
        "@file",
        "--yes",
    ]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let board = project.run(["leaderboard", "--format", "csv"]);
    assert_eq!(counts(&board).len(), 4, "{}", board.stdout);
}

#[test]
fn files_of_one_arm_are_runs_parts_or_suites() {
    let project = Project::new();
    let rows = |from: u32, passed: u32| -> String {
        let row = |id: u32| {
            format!(
                "{id},nova,{}\n{id},lyra,{}\n",
                u32::from(id % 2 == passed),
                passed
            )
        };
        "id,model,correct\n".to_owned() + &(from..from + 4).map(row).collect::<String>()
    };
    project
        .file("ds/gsm8k.csv", rows(1, 1))
        .file("ds/mmlu.csv", rows(1, 0));
    assert_eq!(
        counts(&board(&project, &["ds"])),
        arms([
            ("gsm8k: unnamed/lyra", (4, 4)),
            ("gsm8k: unnamed/nova", (2, 4)),
            ("mmlu: unnamed/lyra", (0, 4)),
            ("mmlu: unnamed/nova", (2, 4)),
        ])
    );
    project
        .file("parts/part-0.csv", rows(1, 1))
        .file("parts/part-1.csv", rows(5, 1));
    let parts = board(&project, &["parts"]);
    assert_eq!(
        parts
            .rows()
            .iter()
            .map(|row| row["n"].as_str())
            .collect::<Vec<_>>(),
        ["8", "8"],
        "{}",
        parts.stdout
    );
    project
        .file("sets/easy.csv", rows(1, 1))
        .file("sets/hard.csv", rows(1, 0));
    let open = board(&project, &["sets"]);
    assert!(
        open.refusal()
            .contains("the files `easy`, `hard` have rows of the same items"),
        "{}",
        open.stderr
    );
    assert!(
        open.refusal()
            .contains("leaderboard --format csv sets --suite @file;"),
        "{}",
        open.stderr
    );
    for (option, suites) in [("--suite", 2), ("--attempt", 1)] {
        let store = format!("store{option}");
        let told = project.run([
            "import",
            "sets",
            option,
            "@file",
            "--yes",
            "--results",
            &store,
        ]);
        assert_eq!(told.code, 0, "{}", told.stderr);
        let board = project.run(["leaderboard", "--format", "csv", "--results", &store]);
        let names: std::collections::BTreeSet<String> = board.column("suite").into_iter().collect();
        assert_eq!(
            (names.len(), board.rows().len()),
            (suites, 2 * suites),
            "{}",
            board.stdout
        );
    }
}

#[test]
fn columns_are_joined_by_their_names() {
    let project = Project::new();
    project
        .file(
            "out/nova.csv",
            "task,passed,flaky\nt1,1,0\nt2,1,0\nt3,0,0\n",
        )
        .file(
            "out/lyra.csv",
            "task,flaky,passed\nt1,1,0\nt2,1,0\nt3,1,1\n",
        );
    let said = project.run(["import", "out", "--passed", "passed", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let board = project.run(["leaderboard", "--format", "csv"]);
    assert_eq!(
        counts(&board),
        arms([("out: lyra/none", (1, 3)), ("out: nova/none", (2, 3))])
    );
}

#[test]
fn the_odd_file_of_a_folder_is_named() {
    let project = Project::new();
    let rows = "{\"id\":1,\"ok\":true}\n{\"id\":2,\"ok\":false}\n";
    project
        .file("out/lyra.jsonl", rows)
        .file("out/nova.jsonl", rows)
        .file("out/config.json", "{\"temperature\": 0.5, \"seed\": 7}");
    // A file without rows is passed over, and a table of another kind is refused.
    let said = board(&project, &["out"]);
    assert_eq!(counts(&said).len(), 2);
    assert!(
        said.stderr.contains(
            "config.json has figures or settings of a whole run and no rows: it is passed over"
        ),
        "{}",
        said.stderr
    );
    project.file(
        "out/config.json",
        "[{\"name\": \"temperature\", \"value\": 0.5}, {\"name\": \"seed\", \"value\": 7}]",
    );
    let refusal = board(&project, &["out"]);
    let refusal = refusal.refusal();
    assert!(
        refusal.contains("config.json: has other columns than out/lyra.jsonl and 1 more"),
        "{refusal}"
    );
    assert!(
        refusal.contains("name out/lyra.jsonl out/nova.jsonl alone"),
        "{refusal}"
    );
}

#[test]
fn members_of_an_archive_are_files() {
    let project = Project::new();
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = zip::ZipWriter::new(&mut bytes);
    for (name, text) in [
        ("out/nova.csv", "task,ok\n1,yes\n2,yes\n"),
        ("out/lyra.csv", "task,ok\n1,no\n2,yes\n"),
        ("out/README.md", "# Notes\n"),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .expect("a member");
        zip.write_all(text.as_bytes()).expect("memory");
    }
    zip.finish().expect("memory");
    project.bytes("all.zip", bytes.get_ref());
    let said = board(&project, &["all.zip"]);
    assert_eq!(
        counts(&said),
        arms([("all: lyra/none", (1, 2)), ("all: nova/none", (2, 2))])
    );
}

#[test]
fn questions_name_the_columns_and_commands_to_paste() {
    let project = Project::new();
    let open = |name: &str, text: &str, more: &[&str]| {
        project.file(name, text);
        let said = project.run(
            ["import", name, "--yes"]
                .into_iter()
                .chain(more.iter().copied()),
        );
        said.refusal().to_owned()
    };
    let rows = "model,task,mood,effort\nnova,a,bright,2\nnova,b,dull,3.5\nlyra,a,dull,1\nlyra,b,bright,7\n";
    let refusal = open("t.csv", rows, &[]);
    for part in [
        "`mood` has `bright` in 2, `dull` in 2 of 4 rows: --passed mood",
        "`effort` has numbers from 1 to 7: --score effort",
    ] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert!(
        refusal.contains("evalreport import t.csv --passed mood;"),
        "{refusal}"
    );
    let refusal = open("t.csv", rows, &["--passed", "mood"]);
    assert!(
        refusal.contains("`bright` in 2 of 4 rows")
            && refusal.contains("also unknown: `dull` in 2"),
        "{refusal}"
    );
    assert!(
        refusal.contains("--passed mood --value bright=fail;"),
        "{refusal}"
    );
    assert!(
        open("t.csv", rows, &["--passed", "Mood"]).contains(
            "there is no column `Mood`; the columns are `model`, `task`, `mood`, `effort`"
        )
    );
    // Numbers are no words for passed and failed.
    assert!(
        open(
            "t.csv",
            &rows.replace("2\n", "0\n"),
            &["--passed", "effort"]
        )
        .contains("numbers from 0 to 7")
    );

    // A dash, or nothing, may be a fail.
    let signs = "model,task,result\nnova,a,+\nnova,b,-\nlyra,a,+\nlyra,b,\n";
    let refusal = open("s.csv", signs, &["--passed", "result", "--value", "+=pass"]);
    assert!(
        refusal.contains("nothing or `-` in 2 of 4 rows") && refusal.contains("--value blank=fail"),
        "{refusal}"
    );
    let told = project.run([
        "import", "s.csv", "--yes", "--passed", "result", "--value", "+=pass", "--value", "-=fail",
    ]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(
        counts(&project.run(["leaderboard", "--format", "csv"])),
        arms([("s: unnamed/lyra", (1, 2)), ("s: unnamed/nova", (1, 2))])
    );

    let refusal = open(
        "h.csv",
        "model,item,score,score\nnova,a,0.3,1\nnova,b,0.4,0\nlyra,a,0.2,1\nlyra,b,0.7,1\n",
        &[],
    );
    assert!(
        refusal.contains("several columns are called `score`"),
        "{refusal}"
    );
    assert!(
        project
            .run(["leaderboard", "gone.csv"])
            .refusal()
            .contains("no such file or folder: gone.csv")
    );
}

#[test]
fn names_of_runs_are_attempts() {
    let project = Project::new();
    let row = |model: &str, run: u32, task: u32| {
        format!(
            "{model},run-{run},t{task},{}\n",
            u32::from((run + task).is_multiple_of(2))
        )
    };
    let rows: String = (0..2)
        .flat_map(|run| (0..4).map(move |task| row("nova", run, task) + &row("lyra", run, task)))
        .collect();
    project.file("t.csv", format!("model,run,task,passed\n{rows}"));
    for (store, more) in [("one", vec![]), ("two", vec!["--attempt", "run"])] {
        let said = project.run(
            ["import", "t.csv", "--yes", "--results", store]
                .into_iter()
                .chain(more),
        );
        assert!(
            said.stdout.contains("imported 4 runs with 16 outcomes"),
            "{}{}",
            said.stdout,
            said.stderr
        );
    }
}

#[test]
fn counts_of_categories_are_suites_of_their_own() {
    let project = Project::new();
    project.file("t.csv", "model,category,correct,total\nnova,maths,14,20\nnova,law,2,10\nlyra,maths,9,20\nlyra,law,5,10\n");
    let said = board(&project, &["t.csv"]);
    assert_eq!(counts(&said)["law: unnamed/nova"], (2, 10));
    assert_eq!(counts(&said)["maths: unnamed/nova"], (14, 20));
}

#[test]
fn tables_in_markdown_and_streams_are_read_and_other_compressions_named() {
    let project = Project::new();
    project.file("t.md", "# Results\n\n| Model | Task | Passed |\n|---|---|:-:|\n| nova | a | yes |\n| nova | b | no |\n| lyra | a | no |\n| lyra | b | no |\n\nDone.\n");
    assert_eq!(
        counts(&board(&project, &["t.md"])),
        arms([("t: unnamed/lyra", (0, 2)), ("t: unnamed/nova", (1, 2))])
    );

    let texts = |texts: [&str; 2]| {
        std::sync::Arc::new(arrow_array::StringArray::from(texts.to_vec())) as arrow_array::ArrayRef
    };
    let columns = [
        ("model", texts(["nova", "nova"])),
        ("task", texts(["a", "b"])),
        ("passed", texts(["yes", "no"])),
    ];
    let batch = arrow_array::RecordBatch::try_from_iter(columns).expect("a batch");
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a writer");
    writer.write(&batch).expect("memory");
    project.bytes("s.arrow", &writer.into_inner().expect("memory"));
    assert_eq!(
        counts(&board(&project, &["s.arrow"])),
        arms([("s: unnamed/nova", (1, 2))])
    );

    project
        .bytes("t.csv.bz2", b"BZh91AY&SY")
        .bytes("t.csv.xz", &[0xfd, b'7', b'z', b'X', b'Z', 0, 0, 4]);
    for (file, message) in [
        ("t.csv.bz2", "is compressed with bzip2"),
        ("t.csv.xz", "is compressed with xz"),
    ] {
        let said = board(&project, &[file]);
        assert!(
            said.refusal().contains(message) && said.stderr.contains("unpack it with"),
            "{}",
            said.stderr
        );
    }
}
