//! What documents show is what the program prints.
//!
//! A console block whose commands are followed by output has a line `<!-- shown: PLACE -->` above it, which names where it is run; in one document, blocks of one
//! place follow each other in one folder. In expected output a line `…` is any lines, and `…` within a line is any text. Commands without
//! output are not run: their options must exist.
//!
//! `EVALREPORT_DOCS=write cargo nextest run documented` writes what the program prints into the documents, whole, for `git diff` to be read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{BINARY, Project, question, result};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const OTHER_TOOLS: [&str; 4] = ["cogni", "ralph", "zelda", "kotef"];
const MARK: &str = "<!-- shown: ";

/// Writes a program that greets, and a better one where it finds instructions. Its runs take times that differ more than its arms do, so
/// that neither chance nor the machine's load decides a row of the table.
const CLAUDE: &str = r#"#!/bin/sh
cat > /dev/null
tenths=$(( EVAL_SEED % 6 ))
if [ -f CLAUDE.md ]; then
    tenths=$(( tenths * 3 / 2 + 1 ))
    cat > hello.sh <<'PROGRAM'
if [ $# -eq 0 ]; then set -- world; fi
for name in "$@"; do if [ -z "$name" ]; then echo "a name is empty" >&2; exit 2; fi; done
for name in "$@"; do echo "Hello, $name!"; done
PROGRAM
    tokens=5200 turns=4 cost=0.031
else
    echo 'echo "Hello, ${1:-world}!"' > hello.sh
    tokens=4100 turns=3 cost=0.024
fi
sleep "$(( tenths / 10 )).$(( tenths % 10 ))"
echo '{"type":"system","subtype":"init","model":"sonnet"}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":'$turns',"result":"Done.","total_cost_usd":'$cost',"usage":{"input_tokens":'$tokens',"output_tokens":310}}'
"#;

/// A fenced block: its lines in the document, without the fences.
struct Block {
    /// What follows the opening fence.
    language: String,
    /// The place that is named above it.
    place: Option<String>,
    /// The index of its first line.
    first: usize,
    lines: Vec<String>,
}

/// A command and the lines below it.
struct Shown {
    command: String,
    /// As it stands in the document, with its prompt.
    typed: Vec<String>,
    output: Vec<String>,
}

fn read(document: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(document)).expect("the document is in the repository")
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut is_open, mut above) = (false, "");
    for (number, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(_) if is_open => is_open = false,
            Some(language) => {
                let place = above.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(" -->")).map(str::to_owned);
                found.push(Block { language: language.to_owned(), place, first: number + 1, lines: Vec::new() });
                is_open = true;
            }
            None if is_open => found.last_mut().expect("an open block").lines.push(line.to_owned()),
            None => {}
        }
        above = line;
    }
    found
}

/// The commands of a console block. A command goes on after a backslash and within quotes.
fn shown(block: &Block) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let mut goes_on = false;
    for line in &block.lines {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (_, Some(last)) if goes_on => {
                last.command.push_str(&format!("\n{line}"));
                last.typed.push(line.clone());
            }
            (Some(command), _) => all.push(Shown { command: command.to_owned(), typed: vec![line.clone()], output: Vec::new() }),
            (None, Some(last)) => last.output.push(line.clone()),
            (None, None) => panic!("line {}: output without a command", block.first + 1),
        }
        let command = &all.last().expect("just added").command;
        goes_on = command.ends_with('\\') || command.matches('"').count() % 2 == 1;
    }
    all
}

/// Whether the lines are what is expected, with gaps.
fn fits(expected: &[String], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((gap, rest)) if gap == "…" => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((line, rest)) => lines.split_first().is_some_and(|(first, others)| line_fits(line, first) && fits(rest, others)),
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    let (expected, line) = (expected.trim_end(), line.trim_end());
    let mut parts = expected.split('…');
    let Some(mut left) = line.strip_prefix(parts.next().expect("split gives a part")) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return left.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some((_, after)) = left.split_once(part) else { return false };
        left = after;
    }
    true
}

/// A program to start in a folder, with what a shell in a pipe has.
fn shell(command: &str, folder: &Path) -> Command {
    let bin = Path::new(BINARY).parent().expect("the program is in a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("cd '{}' && exec 2>&1\n{command}", folder.display())]);
    // Programs that a place has of its own stand beside the folder where commands are typed.
    let own = folder.parent().expect("the folder is in another").join("programs").display().to_string();
    shell.envs([("PATH", format!("{bin}:{own}:{path}").as_str()), ("HOME", "/nonexistent"), ("NO_COLOR", "1")]);
    shell
}

/// A new place of that name, and the folder in it where commands are typed.
fn place(name: &str) -> (Project, PathBuf) {
    let project = Project::new();
    let folder = project.path("");
    let run = |folder: &Path, command: &str| {
        let output = project.output(&mut shell(command, folder));
        assert_eq!(output.code, 0, "{command}\n{}", output.stdout);
    };
    match name {
        // Nothing at all.
        "empty" => (),
        // The repository with the results that are shipped; nothing there writes.
        "shipped" => {
            for shared in ["results", "suites", "evalreport.yaml"] {
                run(&folder, &format!("ln -s '{ROOT}/{shared}' ."));
            }
        }
        // What `init` wrote.
        "begun" | "nights" => {
            run(&folder, "evalreport init my-evals");
            let folder = project.path("my-evals");
            if name == "nights" {
                for _ in 0..4 {
                    run(&folder, "evalreport run warmup@longest-choice hello --approach complete --runs 3");
                }
            }
            return (project, folder);
        }
        // The same, with a program in the place of Claude's.
        "tried" => {
            run(&folder, "evalreport init my-evals");
            project.file("programs/claude", CLAUDE);
            run(&folder, "chmod +x programs/claude");
            let folder = project.path("my-evals");
            return (project, folder);
        }
        // The table of the README with its map, and the same imported.
        "table" | "imported" => {
            let text = read("README.md");
            let of = |language: &str, begin: &str| -> String {
                let block = blocks(&text).into_iter().find(|block| block.language == language && block.lines[0].starts_with(begin));
                block.expect("the README has the example").lines.join("\n") + "\n"
            };
            project.file("map.yaml", of("yaml", "format: ")).file("answers.csv", of("text", "task,"));
            if name == "imported" {
                run(&folder, "evalreport import answers.csv --map map.yaml");
            }
        }
        // A result that was cut off, and a run that was.
        "damaged" => {
            let items: Vec<_> = (1..=6).map(|number| question(&format!("q{number}"), 1, "pass")).collect();
            project.result(&result("quiz-1", "quiz", "a", json!({}))).items("quiz-1", &items);
            let whole = project.read("results/quiz-1/items.jsonl");
            project.file("results/quiz-1/items.jsonl", whole + "{\"item\": \"q7\", \"sta").file("results/cut.json", "{\"id\": \"c");
        }
        // Four attempts at each of four questions by two approaches.
        "attempts" => {
            for (approach, passed) in [("a", [4, 4, 0, 2]), ("b", [2, 2, 1, 4])] {
                let status = |attempt, passed| if attempt <= passed { "pass" } else { "fail" };
                let all = (1..=4).flat_map(|attempt| passed.iter().zip(1..).map(move |(passed, number)| (attempt, *passed, number)));
                let items: Vec<_> =
                    all.map(|(attempt, passed, number)| question(&format!("q{number}"), attempt, status(attempt, passed))).collect();
                project.result(&result(approach, "quiz", approach, json!({}))).items(approach, &items);
            }
        }
        // The smallest result of the page about formats, with its items.
        "by-hand" => {
            let written = blocks(&read("docs/formats.md")).into_iter().filter(|block| block.language == "json").take(2);
            for (path, block) in ["results/quiz-1.json", "results/quiz-1/items.jsonl"].iter().zip(written) {
                project.file(path, block.lines.join("\n") + "\n");
            }
        }
        other => from_other_tools(&project, other),
    }
    (project, folder)
}

/// What the users of another tool have when they come.
fn from_other_tools(project: &Project, name: &str) {
    match name {
        "from-cogni" => {
            let question = "  - {id: q1, question: What is 2+2?, answers: [\"3\", \"4\", \"5\"], correct_answers: [\"4\"]}\n";
            project
                .fixture("import/cogni/zero-accuracy.json", "out/0b7e/r1/results.json")
                .file("questions.yaml", format!("version: 1\nquestions:\n{question}"))
                .file("guess.sh", "echo '<answer>4</answer>'\n")
                .file("evalreport.yaml", "version: 1\nagents:\n  - {id: guess, type: command, command: [sh, guess.sh]}\n");
        }
        "from-ralph" => {
            let suite = "name: flask\ndescription: Simple Flask web server\nrequirements: examples/flask_requirements.md\n\
                         language: python\ntype: web\ntimeout: 45m\nsetup:\n  - python3 -m venv venv\n\
                         \x20 - source venv/bin/activate && pip install flask pytest requests\n";
            project.file("evals/suites/flask/suite.yaml", suite).file("examples/flask_requirements.md", "Make it.\n");
            for (approach, seconds, tokens, cost, passed, own, files, lines) in
                [("ralph", 754, 245_000, 0.52, 18, 25, 12, 900), ("oneshot", 135, 89_000, 0.18, 14, 0, 8, 300)]
            {
                let result = json!({
                    "id": format!("0b7e-{approach}"), "suite": "tasktracker", "approach": approach, "model": "sonnet",
                    "timestamp": "2026-01-10T10:00:00Z", "duration_seconds": seconds, "total_calls": 0, "input_tokens": 0,
                    "output_tokens": 0, "total_tokens": tokens, "cost_usd": cost, "shared_tests_passed": passed,
                    "shared_tests_total": 20, "own_tests_passed": own, "own_tests_total": own, "files_generated": files,
                    "lines_generated": lines, "output_dir": "out",
                });
                project.file(&format!("evals/results/{approach}.json"), result.to_string());
            }
        }
        "from-zelda" => {
            for file in ["result.json", "transcript.json"] {
                project.fixture(&format!("import/zelda/scored/.zelda/runs/r1/{file}"), &format!(".zelda/runs/r1/{file}"));
            }
        }
        "from-kotef" => {
            project
                .file("pyproject.toml", "[project]\nname = \"pages\"\n\n[tool.pytest.ini_options]\n")
                .file("pages.py", "def page(items, number):\n    return items[number * 10:][:10]\n")
                .file("tests/test_pages.py", "def test_page():\n    pass\n");
        }
        other => panic!("no place `{other}`"),
    }
}

/// Runs every block that names a place and returns what differs; writes it if that is asked.
fn differences(document: &str) -> Vec<String> {
    let text = read(document);
    let mut places = BTreeMap::<String, (Project, PathBuf)>::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut differences = Vec::new();
    let mut printed = Vec::new();
    for block in blocks(&text).into_iter().filter(|block| block.language == "console") {
        let Some(name) = &block.place else { continue };
        let (project, folder) = places.entry(name.clone()).or_insert_with(|| place(name));
        let (mut actual, mut code, mut is_same) = (Vec::new(), 0, true);
        for Shown { command, typed, output } in shown(&block) {
            let got = if command == "echo $?" {
                format!("{code}\n")
            } else {
                let got = project.output(&mut shell(&command, folder));
                code = got.code;
                got.stdout
            };
            let got: Vec<&str> = got.lines().collect();
            is_same &= fits(&output, &got);
            actual.extend(typed);
            actual.extend(got.into_iter().map(str::to_owned));
        }
        if !is_same {
            differences.push(format!("{document}:{}, in `{name}`, is now:\n{}", block.first + 1, actual.join("\n")));
            printed.push((block.first, block.lines.len(), actual));
        }
    }
    if std::env::var("EVALREPORT_DOCS").is_ok_and(|wish| wish == "write") {
        for (first, count, actual) in printed.into_iter().rev() {
            lines.splice(first..first + count, actual);
        }
        fs::write(Path::new(ROOT).join(document), lines.join("\n") + "\n").expect("the document can be written");
    }
    differences
}

#[track_caller]
fn shows_what_is_printed(document: &str) {
    let differences = differences(document);
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn the_readme_shows_what_is_printed() {
    shows_what_is_printed("README.md");
}

#[test]
fn the_guide_shows_what_is_printed() {
    shows_what_is_printed("docs/guide.md");
}

#[test]
fn the_page_about_formats_shows_what_is_printed() {
    shows_what_is_printed("docs/formats.md");
}

#[test]
fn nightly_shows_what_is_printed() {
    shows_what_is_printed("docs/nightly.md");
}

#[test]
fn pages_for_users_of_other_tools_show_what_is_printed() {
    let differences: Vec<String> = OTHER_TOOLS.iter().flat_map(|tool| differences(&format!("docs/coming-from/{tool}.md"))).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// The tables' own commands, with whatever stands for names in them.
#[test]
fn commands_in_place_of_other_tools_have_options_that_exist() {
    for tool in OTHER_TOOLS {
        let project = Project::new();
        let text = read(&format!("docs/coming-from/{tool}.md"));
        let commands: Vec<&str> = text.split('`').filter(|code| code.starts_with("evalreport ")).collect();
        assert!(!commands.is_empty(), "{tool}");
        for command in commands {
            let got = project.output(&mut shell(&format!("{command} --help"), &project.path("")));
            assert_eq!(got.code, 0, "{tool}: {command}\n{}", got.stdout);
        }
    }
}

#[test]
fn with_and_without_shows_what_is_printed_and_its_settings_are_read() {
    shows_what_is_printed("docs/with-and-without.md");
    let text = read("docs/with-and-without.md");
    let settings: Vec<String> =
        blocks(&text).into_iter().filter(|block| block.language == "yaml").map(|block| block.lines.join("\n")).collect();
    assert_eq!(settings.len(), 2);
    for settings in settings {
        evalreport::config::parse("evalreport.yaml", &format!("version: 1\n{settings}\n"))
            .unwrap_or_else(|problems| panic!("{problems:#?}"));
    }
}

/// Commands of these documents that are not run, and what is said to be printed without being run.
#[test]
fn commands_that_are_not_run_have_options_that_exist() {
    for document in ["README.md", "docs/guide.md", "docs/nightly.md", "docs/with-and-without.md"] {
        let project = Project::new();
        let text = read(document);
        for block in blocks(&text).iter().filter(|block| block.place.is_none()) {
            let commands = match block.language.as_str() {
                "console" => shown(block),
                "sh" => {
                    let lines = block.lines.iter().map(|line| format!("$ {line}").replace("$     ", "    ")).collect();
                    shown(&Block { language: String::new(), place: None, first: block.first, lines })
                }
                _ => continue,
            };
            for Shown { command, output, .. } in commands {
                let at = format!("{document}:{}: {command}", block.first + 1);
                assert!(output.is_empty(), "{at}: output that no test sees; name the place where it is run");
                // Only their own options: what stands after another program's name is not ours.
                let ours = command.split("&&").map(str::trim).filter(|part| part.starts_with("evalreport "));
                for part in ours {
                    let part = part.split(" # ").next().expect("split gives a part").split(" || ").next().expect("split gives a part");
                    let got = project.output(&mut shell(&format!("{} --help", part.trim_end()), &project.path("")));
                    assert_eq!(got.code, 0, "{at}\n{}", got.stdout);
                }
            }
        }
    }
}

#[test]
fn gaps_fit_what_they_stand_for() {
    let fits = |expected: &[&str], lines: &[&str]| fits(&expected.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>(), lines);
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]) && fits(&["…"], &[]) && fits(&["a …, …s"], &["a 1, 2s"]));
    assert!(!fits(&["a"], &["a", "b"]) && !fits(&["a", "…", "d"], &["a", "b"]) && !fits(&["a … c"], &["a b d"]) && !fits(&["a"], &["ab"]));
}
