//! Published figures against themselves: real leaderboards, and tables of every format with an error in each.

use std::path::Path;

use serde_json::Value;

use crate::support::{Project, lines};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/claims");

/// Makes a table, with or without its error.
type Table<'t> = &'t dyn Fn(bool) -> String;

fn audit(project: &Project, files: &[&str]) -> Value {
    let mut arguments = vec!["audit", "--format", "json"];
    for file in files {
        arguments.extend(["--claims", file]);
    }
    project.run(arguments).json()["claims"].clone()
}

/// Returns the findings but first places, each as `kind file:line column stated -> possible`.
fn told(audit: &Value) -> Vec<String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let line = |finding: &Value| {
        let places: Vec<String> = finding["places"]
            .as_array()
            .expect("places")
            .iter()
            .map(|place| {
                place["line"]
                    .as_u64()
                    .map_or_else(|| format!("#{}", place["row"]), |line| line.to_string())
            })
            .collect();
        let table = word(&finding["table"]);
        let file = Path::new(&table)
            .file_name()
            .map_or_else(|| table.clone(), |name| name.to_string_lossy().into_owned());
        let possible: Vec<String> = finding["possible"]
            .as_array()
            .expect("figures")
            .iter()
            .map(word)
            .collect();
        let (kind, column, stated) = (
            word(&finding["kind"]),
            word(&finding["column"]),
            word(&finding["stated"]),
        );
        format!(
            "{kind} {file}:{} {column} {stated} -> {}",
            places.join(","),
            possible.join(" ")
        )
    };
    audit["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .filter(|finding| finding["kind"] != "first_place")
        .map(line)
        .collect()
}

#[test]
fn the_contradictions_of_real_leaderboards_are_found_and_nothing_else() {
    let project = Project::new();
    let files = [
        "deepseek-down.yml",
        "o1_results.yml",
        "qwq.yml",
        "r1_architect.yml",
    ]
    .map(|name| format!("{FIXTURES}/{name}"));
    let audit = audit(&project, &files.each_ref().map(String::as_str));
    assert_eq!(
        told(&audit),
        [
            "impossible_rate deepseek-down.yml:54 pass_rate_2 48.0 -> 48.6",
            "impossible_rate deepseek-down.yml:106 pass_rate_2 48.4 -> 48.7",
            "impossible_rate o1_results.yml:73 percent_cases_well_formed 90.0 -> 100.0",
            "impossible_rate qwq.yml:77 pass_rate_2 73.6 -> 73.5 74.2",
            "impossible_rate qwq.yml:125 percent_cases_well_formed 90.0 -> 100.0",
            "impossible_rate r1_architect.yml:59 pass_rate_2 61.7 -> 62.1",
            "different_totals deepseek-down.yml:54 test_cases 222 -> 225",
            "different_totals deepseek-down.yml:106 test_cases 224 -> 225",
            "different_totals qwq.yml:77 test_cases 132 -> 133",
            "different_totals r1_architect.yml:59 test_cases 224 -> 225",
        ]
    );
}

#[test]
fn a_number_of_items_is_recovered_from_the_digits() {
    let project = Project::new();
    let audit = audit(&project, &[&format!("{FIXTURES}/instructions.md")]);
    assert_eq!(
        told(&audit),
        ["rate_against_column instructions.md:9 Prompt-level accuracy 73.51 -> 73.38 73.57"]
    );
    let checked = &audit["checked"][0];
    assert_eq!(
        (
            checked["recovered"].as_u64(),
            checked["agree"].as_u64(),
            checked["rows"].as_u64()
        ),
        (Some(541), Some(9), Some(10))
    );
    // Few figures with one decimal do not tell it.
    project.file(
        "few.csv",
        "model,accuracy\na,84.1\nb,82.6\nc,79.7\nd,74.3\ne,69.7\n",
    );
    assert_eq!(
        self::audit(&project, &["few.csv"])["checked"],
        serde_json::json!([])
    );
}

/// Systems with their passes of 200 items.
const PASSED: [(&str, u32); 8] = [
    ("nova", 171),
    ("lyra", 163),
    ("vega", 150),
    ("orion", 133),
    ("altair", 118),
    ("rigel", 97),
    ("deneb", 64),
    ("mira", 31),
];

/// Half a win each is the win rate of two systems that tie, not a wrong digit.
#[test]
fn win_rates_of_systems_that_tie_are_not_accused() {
    let project = Project::new();
    let table = |is_tied: bool| {
        let won = |place: i32| {
            if place == 22 || (is_tied && place == 23) {
                22.5
            } else {
                f64::from(place)
            }
        };
        let row = |place: i32| format!("m{place},{:.3}\n", won(place) / 45.0);
        format!("model,win_rate\n{}", (0..46).map(row).collect::<String>())
    };
    project.file("tied.csv", table(true));
    project.file("wrong.csv", table(false));
    let found = audit(&project, &["tied.csv"]);
    assert_eq!(
        (&found["checked"][0]["recovered"], told(&found)),
        (&Value::from(45), Vec::new())
    );
    assert_eq!(told(&audit(&project, &["wrong.csv"])).len(), 1);
}

fn rows(row: impl Fn(usize, &str, u32) -> String) -> String {
    (0..)
        .zip(PASSED)
        .map(|(place, (name, passed))| row(place, name, passed) + "\n")
        .collect()
}

#[test]
fn each_kind_of_error_is_found_and_the_right_table_is_not_accused() {
    let share = |passed: u32| f64::from(passed) / 200.0;
    let error = |passed: u32| (share(passed) * (1.0 - share(passed)) / 200.0).sqrt();
    let rate = |passed: u32| format!("{:.1}", share(passed) * 100.0);
    let counts = |wrong: bool| {
        let figure = |place, passed| {
            if wrong && place == 3 {
                "66.9".to_owned()
            } else {
                rate(passed)
            }
        };
        format!(
            "model,correct,total,accuracy\n{}",
            rows(|place, name, passed| format!("{name},{passed},200,{}", figure(place, passed)))
        )
    };
    let errors = |wrong: bool| {
        let figure = |place, passed| {
            format!(
                "{:.4}",
                error(passed) * if wrong && place == 2 { 1.5 } else { 1.0 }
            )
        };
        format!(
            "model,n,acc,acc_stderr\n{}",
            rows(|place, name, passed| format!(
                "{name},200,{:.3},{}",
                share(passed),
                figure(place, passed)
            ))
        )
    };
    let intervals = |wrong: bool| {
        let ends = |place: usize, passed: u32| {
            let half = 1.959_964 * error(passed) * if wrong && place == 5 { 0.6 } else { 1.0 };
            format!(
                "{:.1},{:.1}",
                (share(passed) - half) * 100.0,
                (share(passed) + half) * 100.0
            )
        };
        let table = rows(|place, name, passed| {
            format!("{name},200,{},{}", rate(passed), ends(place, passed))
        });
        format!("model,questions,accuracy,ci_low,ci_high\n{table}")
    };
    let means = |wrong: bool| {
        let row = |place: usize, name: &str, passed: u32| {
            let (one, other) = (share(passed) * 90.0, share(passed) * 70.0 + place as f64);
            let mean = f64::midpoint(one, other) + if wrong && place == 6 { 2.0 } else { 0.0 };
            format!("{name},{mean:.2},{one:.2},{other:.2}")
        };
        format!("model,Average,MMLU,GPQA\n{}", rows(row))
    };
    let repeated = |wrong: bool| {
        let table = rows(|_, name, passed| format!("{name},{}", rate(passed)));
        let again = if wrong { "vega,71.5\n" } else { "vega,75.0\n" };
        format!("model,accuracy\n{table}{again}")
    };
    let outcomes = |wrong: bool| {
        let again = if wrong {
            "nova,t3,fail\n"
        } else {
            "nova,t3,pass\n"
        };
        let all: Vec<String> = (0..12)
            .map(|item| {
                format!(
                    "nova,t{item},{}\n",
                    if item % 4 == 1 { "fail" } else { "pass" }
                )
            })
            .collect();
        let all = all.concat();
        format!("model,task,outcome\n{all}{again}")
    };
    let runs = |wrong: bool| {
        let table = rows(|place, name, passed| {
            let rest = if wrong && place == 1 {
                ",".to_owned()
            } else {
                format!("{},{}", rate(passed + 2), rate(passed + 1))
            };
            format!("{name},3,{},{rest}", rate(passed))
        });
        format!("model,runs,run_1,run_2,run_3\n{table}")
    };
    let bold = |wrong: bool| {
        let mark = |place: usize, figure: String| {
            if place == usize::from(wrong) {
                format!("**{figure}**")
            } else {
                figure
            }
        };
        format!(
            "| model | accuracy |\n| --- | --- |\n{}",
            rows(|place, name, passed| format!("| {name} | {} |", mark(place, rate(passed))))
        )
    };
    let attempts = |wrong: bool| {
        let more = |place, passed| {
            if wrong && place == 4 {
                passed - 9
            } else {
                passed + 9
            }
        };
        format!(
            "model,pass@1,pass@3\n{}",
            rows(|place, name, passed| format!(
                "{name},{},{}",
                rate(passed),
                rate(more(place, passed))
            ))
        )
    };
    let outside = |wrong: bool| {
        let low =
            |place, passed| share(passed) * 100.0 + if wrong && place == 2 { 3.0 } else { -6.0 };
        let table = rows(|place, name, passed| {
            format!(
                "{name},{},{:.1},{:.1}",
                rate(passed),
                low(place, passed),
                share(passed) * 100.0 + 7.0
            )
        });
        format!("model,score,lower,upper\n{table}")
    };
    let tables: [(&str, Table<'_>, &str); 10] = [
        (
            "counts.csv",
            &counts,
            "impossible_rate counts.csv:5 accuracy 66.9 -> 66.5",
        ),
        (
            "errors.csv",
            &errors,
            "spread_against_rate errors.csv:4 acc_stderr 0.0459 -> 0.0306",
        ),
        (
            "intervals.csv",
            &intervals,
            "spread_against_rate intervals.csv:7 ci_low 44.3 -> 41.6 to 55.4",
        ),
        (
            "means.csv",
            &means,
            "total_against_parts means.csv:8 Average 30.60 -> 28.6",
        ),
        (
            "repeated.csv",
            &repeated,
            "conflicting_rows repeated.csv:4,10 accuracy 75.0 -> ",
        ),
        (
            "outcomes.csv",
            &outcomes,
            "conflicting_outcomes outcomes.csv:5,14 outcome pass -> ",
        ),
        ("runs.csv", &runs, "missing_runs runs.csv:3 runs 3 -> 1"),
        (
            "bold.md",
            &bold,
            "bold_is_not_best bold.md:4,3 accuracy **81.5** -> 85.5",
        ),
        (
            "attempts.csv",
            &attempts,
            "fewer_with_more attempts.csv:6 pass@3 54.5 -> ",
        ),
        (
            "outside.csv",
            &outside,
            "figure_outside_interval outside.csv:4 score 75.0 -> ",
        ),
    ];
    let project = Project::new();
    for (name, table, expected) in tables {
        project.file(name, table(true));
        assert_eq!(
            told(&audit(&project, &[name])),
            [expected],
            "{name}\n{}",
            table(true)
        );
        project.file(name, table(false));
        assert_eq!(
            told(&audit(&project, &[name])),
            [""; 0],
            "{name}\n{}",
            table(false)
        );
    }
}

#[test]
fn tables_of_every_form_are_read_and_files_are_compared() {
    let project = Project::new();
    let figures = |name: &str| {
        PASSED
            .iter()
            .map(|(model, passed)| {
                format!(
                    "{{\"id\": \"{model}\", \"{name}\": {}}}",
                    f64::from(*passed) / 2.0
                )
            })
            .collect::<Vec<_>>()
    };
    project.file(
        "one.json",
        format!("{{\"results\": [{}]}}", figures("score").join(", ")),
    );
    let mut other = figures("score");
    other[2] = other[2].replace("75", "71.5");
    project.file("other.jsonl", other.join("\n"));
    assert_eq!(
        told(&audit(&project, &["one.json", "other.jsonl"])),
        ["conflicting_rows other.jsonl:3 score 71.5 -> 75"]
    );
    // A key that is there twice, and several tables of a text.
    project.file(
        "twice.yml",
        "- {model: a, score: 50.5, score: 51.5}\n- {model: b, score: 40.5}\n",
    );
    assert_eq!(
        told(&audit(&project, &["twice.yml"])),
        ["doubled_key twice.yml:1 score  -> "]
    );
    let table = "| model | passed | total | rate |\n|-|-|-|-|\n| a | 3 | 8 | 38% |\n| b | 5 | 8 | 63% |\n| c | 7 | 8 | 78% |\n";
    project.file("two.md", format!("# One\n\n{table}\n# Two\n\n{table}"));
    let found = audit(&project, &["two.md"]);
    assert_eq!(
        told(&found),
        [
            "impossible_rate two.md:7 rate 78% -> 88%",
            "impossible_rate two.md:15 rate 78% -> 88%"
        ]
    );
    assert_eq!(found["tables"].as_array().map(Vec::len), Some(2));
}

#[test]
fn the_answer_is_for_people_and_for_ci() {
    let project = Project::new();
    project.file(
        "board.csv",
        "model,correct,total,accuracy\nnova,171,200,85.5\nlyra,163,200,81.5\nvega,150,200,72.7\n",
    );
    insta::assert_snapshot!(project.run(["audit", "--claims", "board.csv"]).snapshot());
    let code = |limit: &str| {
        project
            .run(["audit", "--claims", "board.csv", "--fail-on", limit])
            .code
    };
    assert_eq!(
        (
            code("impossible"),
            code("contradictory"),
            code("not-established")
        ),
        (1, 1, 1)
    );
    project.file(
        "right.csv",
        "model,correct,total,accuracy\nnova,171,200,85.5\nlyra,163,200,81.5\n",
    );
    assert_eq!(
        project
            .run([
                "audit",
                "--claims",
                "right.csv",
                "--fail-on",
                "contradictory"
            ])
            .code,
        0
    );
    assert_eq!(
        project
            .run([
                "audit",
                "--claims",
                "right.csv",
                "--fail-on",
                "not-established"
            ])
            .code,
        1,
        "the first place is open"
    );
    project.file("text.md", "No table.\n").file("empty.csv", "");
    insta::assert_snapshot!(
        project
            .run(["audit", "--claims", "text.md", "--claims", "empty.csv"])
            .snapshot()
    );
    assert!(
        project
            .run(["audit", "--claims", "text.md", "--claims", "absent.csv"])
            .refusal()
            .contains("no such file or folder: absent.csv")
    );
}

/// One sentence for a column that is wrong throughout, and none for its rows.
#[test]
fn a_column_that_is_wrong_throughout_is_explained_once() {
    let share = |passed: u32| f64::from(passed) / 200.0;
    let percent = |passed: u32| format!("{:.1}", share(passed) * 100.0);
    let unit = |wrong: bool| {
        let figure = |passed| {
            if wrong {
                format!("{:.3}", share(passed))
            } else {
                percent(passed)
            }
        };
        format!(
            "model,correct,total,accuracy (%)\n{}",
            rows(|_, name, passed| format!("{name},{passed},200,{}", figure(passed)))
        )
    };
    let mixed = |wrong: bool| {
        let figure = |place, passed| {
            if wrong && place == 4 {
                format!("{:.3}", share(passed))
            } else {
                percent(passed)
            }
        };
        format!(
            "model,correct,total,accuracy\n{}",
            rows(|place, name, passed| format!("{name},{passed},200,{}", figure(place, passed)))
        )
    };
    let swapped = |wrong: bool| {
        let row = |_, name: &str, passed: u32| {
            let (first, second) = (percent(passed), percent(passed + 20));
            let rates = if wrong {
                [second, first]
            } else {
                [first, second]
            };
            format!("{name},200,{passed},{},{}", passed + 20, rates.join(","))
        };
        format!(
            "model,test_cases,pass_num_1,pass_num_2,pass_rate_1,pass_rate_2\n{}",
            rows(row)
        )
    };
    let others = |wrong: bool| {
        let figure = |passed| percent(if wrong { 200 - passed } else { passed });
        format!(
            "model,correct,incorrect,total,accuracy\n{}",
            rows(|_, name, passed| format!(
                "{name},{passed},{},200,{}",
                200 - passed,
                figure(passed)
            ))
        )
    };
    let denominator = |wrong: bool| {
        let figure = |passed: u32| {
            format!(
                "{:.1}",
                100.0 * f64::from(passed) / if wrong { 225.0 } else { 200.0 }
            )
        };
        format!(
            "model,correct,total,accuracy\n{}",
            rows(|_, name, passed| format!("{name},{passed},200,{}", figure(passed)))
        )
    };
    let attempted = |wrong: bool| {
        let tried = |place: usize, passed: u32| {
            (passed + 5 * u32::try_from(place).expect("small") + 7).min(200)
        };
        let figure = |place, passed: u32| {
            100.0 * f64::from(passed)
                / if wrong {
                    f64::from(tried(place, passed))
                } else {
                    200.0
                }
        };
        format!(
            "model,correct,attempted,total,accuracy\n{}",
            rows(|place, name, passed| format!(
                "{name},{passed},{},200,{:.1}",
                tried(place, passed),
                figure(place, passed)
            ))
        )
    };
    let ends = |wrong: bool| {
        let row = |_, name: &str, passed: u32| {
            let (low, high) = (share(passed) * 100.0 - 6.5, share(passed) * 100.0 + 5.5);
            let (low, high) = if wrong { (high, low) } else { (low, high) };
            format!("{name},{},{low:.1},{high:.1}", percent(passed))
        };
        format!("model,score,ci_low,ci_high\n{}", rows(row))
    };
    let total = |wrong: bool| {
        let (sum, count) = (
            PASSED.iter().map(|(_, passed)| passed).sum::<u32>(),
            PASSED.len() as f64,
        );
        let last = if wrong {
            format!("Everything,{sum},{:.1}\n", f64::from(sum) / 2.0 / count)
        } else {
            String::new()
        };
        format!(
            "model,correct,accuracy\n{}{last}",
            rows(|_, name, passed| format!("{name},{passed},{}", percent(passed)))
        )
    };
    let error = |passed: u32| (share(passed) * (1.0 - share(passed))).sqrt() * 100.0;
    let deviations = |wrong: bool| {
        let by = if wrong { 1.0 } else { 200_f64.sqrt() };
        let table = rows(|_, name, passed| {
            format!("{name},200,{},{:.2}", percent(passed), error(passed) / by)
        });
        format!("model,n,accuracy,stderr\n{table}")
    };
    let tables: [(&str, Table<'_>, &str); 9] = [
        (
            "unit.csv",
            &unit,
            "`accuracy (%)` says percent, but its figures are shares from 0 to 1, as the counts of 8 of 8 rows confirm",
        ),
        (
            "mixed.csv",
            &mixed,
            "1 figure is a share from 0 to 1, among percentages",
        ),
        (
            "swapped.csv",
            &swapped,
            "`pass_rate_1` and `pass_rate_2` are swapped: `pass_rate_1` is `pass_num_2` of `test_cases`",
        ),
        (
            "others.csv",
            &others,
            "`accuracy` is `incorrect` of `total`, not of `correct`: columns are swapped, or the title is wrong",
        ),
        (
            "denominator.csv",
            &denominator,
            "`accuracy` is `correct` of 225 in every row, not of `total`",
        ),
        (
            "attempted.csv",
            &attempted,
            "`accuracy` is `correct` of `attempted`, not of `total`",
        ),
        (
            "ends.csv",
            &ends,
            "`ci_low` and `ci_high` are swapped in 8 of 8 rows",
        ),
        (
            "total.csv",
            &total,
            "`Everything` is the sum of the 8 other rows in a column: it is no system of its own, though it stands among them",
        ),
        (
            "deviations.csv",
            &deviations,
            "`stderr` says a standard error, but the figures are the standard deviation of outcomes of `accuracy`: √n times as large",
        ),
    ];
    let project = Project::new();
    for (name, table, expected) in tables {
        project.file(name, table(true));
        assert_eq!(
            why(&audit(&project, &[name])),
            [expected],
            "{name}\n{}",
            table(true)
        );
        project.file(name, table(false));
        assert_eq!(
            why(&audit(&project, &[name])),
            [""; 0],
            "{name}\n{}",
            table(false)
        );
    }
}

/// Returns the sentences of the findings but first places.
fn why(audit: &Value) -> Vec<String> {
    let all = audit["findings"].as_array().expect("findings");
    let kept = all
        .iter()
        .filter(|finding| finding["kind"] != "first_place");
    kept.map(|finding| finding["text"].as_str().expect("a sentence").to_owned())
        .collect()
}

#[test]
fn means_and_deviations_of_whole_scores_are_those_of_some_sample() {
    // Ratings from 1 to 5 of 12 answers: sums and sums of squares of samples that are there.
    const RATED: [(u32, u32); 12] = [
        (50, 214),
        (47, 193),
        (45, 181),
        (43, 165),
        (41, 151),
        (38, 130),
        (35, 117),
        (33, 101),
        (30, 90),
        (27, 71),
        (24, 58),
        (20, 42),
    ];
    let table = |mean_off: f64, deviation_off: f64| {
        let row = |(place, (sum, squares)): (usize, &(u32, u32))| {
            let mean = f64::from(*sum) / 12.0;
            let deviation = ((f64::from(*squares) - f64::from(*sum) * mean) / 11.0).sqrt();
            let (mean, deviation) = (
                mean + if place == 3 { mean_off } else { 0.0 },
                deviation + if place == 7 { deviation_off } else { 0.0 },
            );
            format!("m{place},12,{mean:.2},{deviation:.2}\n")
        };
        format!(
            "model,n,rating,sd\n{}",
            RATED.iter().enumerate().map(row).collect::<String>()
        )
    };
    let project = Project::new();
    project
        .file("right.csv", table(0.0, 0.0))
        .file("mean.csv", table(0.03, 0.0))
        .file("deviation.csv", table(0.0, 0.04));
    assert_eq!(told(&audit(&project, &["right.csv"])), [""; 0]);
    assert_eq!(
        told(&audit(&project, &["mean.csv"])),
        ["impossible_mean mean.csv:5 rating 3.61 -> 3.58 3.67"]
    );
    assert_eq!(
        told(&audit(&project, &["deviation.csv"])),
        ["impossible_deviation deviation.csv:9 sd 1.01 -> "]
    );
}

#[test]
fn stated_runs_are_compared_with_those_of_the_store() {
    let project = Project::new();
    let answers = |model: &str, runs: u32| -> String {
        let run = |run: u32| {
            (0..6).map(move |item| {
                format!(
                    "math,solo,{model},{run},q{item},{}",
                    !(run + item).is_multiple_of(3)
                )
            })
        };
        lines((1..=runs).flat_map(run))
    };
    project.file(
        "answers.csv",
        format!(
            "suite,approach,model,run,item,passed\n{}{}",
            answers("nova", 1),
            answers("lyra", 3)
        ),
    );
    assert_eq!(project.run(["import", "answers.csv", "--yes"]).code, 0);
    let table = "model,suite,runs,accuracy\nnova,math,3,66.7\nlyra,math,3,61.1\nvega,math,3,50.0\nnova,code,3,40.0\n";
    project.file("board.csv", table);
    let found = audit(&project, &["board.csv"]);
    assert_eq!(
        why(&found),
        ["3 runs of `nova` are stated; the store holds 1, on the suite `math`"]
    );
    assert_eq!(
        (
            &found["findings"][0]["severity"],
            &found["findings"][0]["possible"][0]
        ),
        (&Value::from("not_established"), &Value::from("1"))
    );
    // The title may state the runs, and the file may name the suite.
    project.file("math.md", "| Model | Accuracy (mean of 3) |\n| --- | --- |\n| **nova** | 66.7 |\n| lyra | 61.1 |\n| vega | 50.0 |\n");
    assert_eq!(
        why(&audit(&project, &["math.md"])),
        ["3 runs of `nova` are stated; the store holds 1, on the suite `math`"]
    );
    // Nothing is said without a store.
    let elsewhere = Project::new();
    elsewhere.file("board.csv", table);
    assert_eq!(why(&audit(&elsewhere, &["board.csv"])), [""; 0]);
}

#[test]
fn boards_of_resolved_instances_and_of_embeddings_are_checked() {
    let project = Project::new();
    let found = audit(&project, &[&format!("{FIXTURES}/resolved.json")]);
    let told = told(&found);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told[0].contains("resolved 64.33 -> 64.20 64.40")
            && told[1].contains("resolved 67.11 -> 67.00 67.33"),
        "{told:#?}"
    );
    let totals: Vec<(&str, Option<u64>)> = found["checked"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|checked| {
            (
                checked["column"].as_str().expect("a column"),
                checked["recovered"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        totals,
        [
            ("resolved of Test", Some(2294)),
            ("resolved of Verified", Some(500)),
            ("resolved of Lite", Some(300))
        ]
    );
    let found = audit(&project, &[&format!("{FIXTURES}/embeddings.csv")]);
    let checked: Vec<String> = found["checked"]
        .as_array()
        .expect("columns")
        .iter()
        .map(|checked| checked["follows"].to_string())
        .collect();
    assert!(
        checked
            .iter()
            .any(|follows| follows.contains("with the weights 8 : 8 : 3 : 2 : 10 : 9 : 1")),
        "{checked:#?}"
    );
    assert_eq!(
        self::told(&found),
        [
            "rank_against_figures embeddings.csv:13,20 Rank (Mean Task) 20 -> ",
            "rank_against_figures embeddings.csv:21,13 Rank (Mean Task) 12 -> ",
            "total_against_parts embeddings.csv:2 Mean (Task) 69.28 -> 68.38",
            "total_against_parts embeddings.csv:26 Mean (TaskType) 55.50 -> 54.80",
        ]
    );
}

#[test]
fn the_site_says_which_published_figures_contradict_each_other() {
    let project = Project::new();
    for (id, passed) in [("r1", "pass"), ("r2", "fail")] {
        project
            .result(&crate::support::result(
                id,
                "math",
                id,
                serde_json::json!({}),
            ))
            .items(id, &[crate::support::question("q1", 1, passed)]);
    }
    let board = "model,correct,total,accuracy\nnova,171,200,85.5\nlyra,163,200,81.5\n<b>vega</b>,150,200,72.7\n/home/someone/x,118,200,60.3\n";
    project.file("boards/math.csv", board);
    let configured = |suite: &str| {
        format!(
            "version: 1\npublished:\n  - {{suite: {suite}, file: boards/math.csv, source: \"https://example.org/board\"}}\n"
        )
    };
    project.file("evalreport.yaml", configured("math"));
    assert_eq!(project.run(["build", "--out", "site", "--redact"]).code, 0);
    let page = project.read("site/suites/math/published.html");
    let said = "2 published figures are impossible or contradict each other";
    assert!(
        page.contains(said)
            && page
                .contains("<a href=\"https://example.org/board\"><bdi>boards/math.csv</bdi></a>"),
        "{page}"
    );
    assert!(
        !page.contains("<b>vega") && !page.contains("someone"),
        "{page}"
    );
    let board = project.read("site/suites/math/leaderboard.html");
    assert!(
        board.contains(&format!(
            "{said}. <a href=\"../../suites/math/published.html\">"
        )),
        "{board}"
    );
    let data: Value =
        serde_json::from_str(&project.read("site/data/published/math.json")).expect("JSON");
    let answer = project
        .run(["audit", "--claims", "boards/math.csv", "--format", "json"])
        .json();
    assert!(
        answer.to_string().contains("someone") && !data.to_string().contains("someone"),
        "{data}"
    );
    // The same answer as the command, but for the redacted name.
    assert_eq!(why(&data["claims"]), why(&answer["claims"]));
    // A suite that has no runs, and a file that is not there.
    project.file("evalreport.yaml", configured("maths"));
    let built = project.run(["build", "--out", "site"]);
    assert_eq!(built.code, 0);
    assert!(
        built
            .stderr
            .contains("`published` in the configuration: no suite `maths`"),
        "{}",
        built.stderr
    );
    assert!(!project.path("site/suites/math/published.html").exists());
    std::fs::remove_file(project.path("boards/math.csv")).expect("a file");
    assert_eq!(project.run(["build", "--out", "site"]).code, 2);
}
