//! Where the commands of documents are run: folders with what the document says is there.
//!
//! Programs of other tools are stand-ins, which find their results written already.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::page::blocks;
use super::{ROOT, read};
use crate::support::{BINARY, Output, Project, lines, question, result};

/// What is shown at this width does not scroll sideways on a page.
pub const COLUMNS: &str = "98";

/// A folder in which commands are typed, and what stands beside it.
pub struct Place {
    project: Project,
    /// Below the project.
    folder: String,
    /// Programs that are found before those of the machine, and the home folder.
    beside: Project,
}

impl Place {
    /// Returns a new place of that name.
    pub fn new(name: &str) -> Self {
        let mut place = Self {
            project: Project::new(),
            folder: String::new(),
            beside: Project::new(),
        };
        place.fill(name);
        place
    }

    /// Runs a command with what a shell in a pipe has.
    pub fn run(&self, command: &str) -> Output {
        let bin = Path::new(BINARY)
            .parent()
            .expect("the program is in a folder")
            .display()
            .to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = self.project.path(&self.folder);
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            &format!("cd '{}' && exec 2>&1\n{command}", folder.display()),
        ]);
        let own = self.beside.path("programs").display().to_string();
        let home = self.beside.path("home").display().to_string();
        shell.envs([
            ("PATH", format!("{bin}:{own}:{path}").as_str()),
            ("HOME", home.as_str()),
            ("NO_COLOR", "1"),
            ("COLUMNS", COLUMNS),
        ]);
        self.project.output(&mut shell)
    }

    /// Runs a command that must succeed.
    fn must(&self, command: &str) {
        let output = self.run(command);
        assert_eq!(output.code, 0, "{command}\n{}", output.stdout);
    }

    /// Puts a program of another tool in place.
    fn program(&self, name: &str, script: &str) {
        self.beside.file(
            &format!("programs/{name}"),
            format!("#!/bin/sh\n{script}\n"),
        );
        let path = self.beside.path(&format!("programs/{name}"));
        self.must(&format!("chmod +x '{}'", path.display()));
    }

    /// Copies a file or folder of the repository.
    fn copy(&self, from: &str, to: &str) {
        let folder = Path::new(to).parent().unwrap_or(Path::new(""));
        self.must(&format!(
            "mkdir -p './{}' && cp -R '{ROOT}/{from}' './{to}'",
            folder.display()
        ));
    }

    /// Writes what `init` writes, and goes there.
    fn begin(&mut self) {
        self.must("evalreport init my-evals");
        "my-evals".clone_into(&mut self.folder);
    }

    fn fill(&mut self, name: &str) {
        match name {
            // Nothing at all.
            "empty" => (),
            // The repository with the results that are shipped; nothing there writes to them.
            "shipped" => {
                for shared in ["results", "suites", "evalreport.yaml", "docs"] {
                    self.must(&format!("ln -s '{ROOT}/{shared}' ."));
                }
            }
            // What `init` wrote.
            "begun" => self.begin(),
            // Runs, a table of outcomes, and a published table of scores.
            "board" => {
                self.begin();
                self.must("evalreport run hello --approach complete,sketch --runs 3 -q");
                self.copy(
                    "tests/fixtures/boards/proteingym_indels_zero_shot.csv",
                    "board.csv",
                );
                self.copy("tests/fixtures/tau-bench/airline-gpt-4o.csv", "trials.csv");
                let passes = |arm: &str, every: usize| -> String {
                    lines((0..20).map(|task| format!("{arm},t{task},{}", task % every > 0)))
                };
                let table = format!(
                    "model,task,passed\n{}{}",
                    passes("nova", 9),
                    passes("lyra", 3)
                );
                self.project.file("my-evals/answers.csv", table);
            }
            // Four trials of each task of a published run.
            "trials" => self.copy("tests/fixtures/tau-bench/airline-gpt-4o.csv", "airline.csv"),
            // Tables of published figures.
            "claims" => {
                for name in ["instructions.md", "deepseek-down.yml", "qwq.yml"] {
                    self.copy(&format!("tests/fixtures/claims/{name}"), name);
                }
            }
            // A judge who likes the style of one arm.
            "judged" => {
                let line = |i: u64| {
                    let (a, b) = (i * 7_919 % 100, i * 104_729 % 97);
                    let [v3, v4] = [a < 62, a < 62 || b < 35].map(u8::from);
                    format!(
                        "support,v3,nova,q{i},{v3},gpt-judge\nsupport,v4,nova,q{i},{v4},gpt-judge\n"
                    )
                };
                let lines: Vec<String> = (1..=600).map(line).collect();
                self.project.file(
                    "answers.csv",
                    format!("suite,approach,model,item,passed,judge\n{}", lines.concat()),
                );
            }
            // Votes on pairs of models.
            "abilities" => self.copy("tests/fixtures/abilities/scores.csv", "scores.csv"),
            "votes" => self.copy("tests/fixtures/votes/votes.csv", "votes.csv"),
            "nights" => {
                self.begin();
                for _ in 0..4 {
                    self.must(
                        "evalreport run warmup@longest-choice hello --approach complete --runs 3",
                    );
                }
            }
            // The same, with a program in the place of Claude's.
            "tried" => {
                self.begin();
                self.program("claude", CLAUDE);
            }
            // The same with the settings of the page.
            "tried-settings" => {
                self.fill("tried");
                let settings = code("docs/do/test-a-skill.md", "yaml", "agents:");
                self.project.file(
                    "my-evals/evalreport.yaml",
                    format!("version: 1\n{settings}"),
                );
                self.project
                    .file("my-evals/prompts/careful.md", "Check every argument.\n")
                    .file("my-evals/tips/CLAUDE.md", "Check.\n");
                self.project.file("my-evals/docs-server/mcp.json", "{}\n");
            }
            "tried-questions" => {
                self.fill("tried");
                let settings = code_at("docs/do/test-a-skill.md", "yaml", "agents:", 1);
                let tasks = "tasks:\n  - {id: warmup, type: question_eval, questions_file: questions/warmup.yaml}\n";
                self.project.file(
                    "my-evals/evalreport.yaml",
                    format!("version: 1\n{settings}{tasks}"),
                );
            }
            // The table of the README with its map, and the same imported.
            "table" | "imported" => {
                self.project.file(
                    "map.yaml",
                    code("docs/look-up/import/tables.md", "yaml", "format: "),
                );
                self.project.file(
                    "answers.csv",
                    code("docs/look-up/import/tables.md", "text", "task,"),
                );
                if name == "imported" {
                    self.must("evalreport import answers.csv --map map.yaml");
                }
            }
            // A result that was cut off, and a run that was.
            "damaged" => {
                let items: Vec<_> = (1..=6)
                    .map(|number| question(&format!("q{number}"), 1, "pass"))
                    .collect();
                self.project
                    .result(&result("quiz-1", "quiz", "a", json!({})))
                    .items("quiz-1", &items);
                let whole = self.project.read("results/quiz-1/items.jsonl");
                let cut = whole + "{\"item\": \"q7\", \"sta";
                self.project
                    .file("results/quiz-1/items.jsonl", cut)
                    .file("results/cut.json", "{\"id\": \"c");
            }
            // Four attempts at each of four questions by two approaches.
            "attempts" | "published" => attempts(&self.project, "results", ["a", "b"], &[]),
            // The smallest result of the page about formats, with its items.
            "by-hand" => {
                let written = blocks(&read("docs/look-up/store-files.md"))
                    .into_iter()
                    .filter(|block| block.language == "json")
                    .take(2);
                for (path, block) in ["results/quiz-1.json", "results/quiz-1/items.jsonl"]
                    .iter()
                    .zip(written)
                {
                    self.project.file(path, block.lines.join("\n") + "\n");
                }
            }
            // A bundle of the main branch, reports of a test runner before and after, and what a CI system has.
            "gated" => self.gated(),
            // A night's runs by two approaches, and another project's.
            "night" => {
                let night = [
                    ("batch_id", "nightly-42"),
                    ("model", "acme/fast-1"),
                    ("timestamp", "2026-02-03T04:05:06Z"),
                ];
                attempts(&self.project, "results", ["ralph", "oneshot"], &night);
                attempts(&self.project, "other/results", ["a", "b"], &[]);
            }
            // A store with what should not be published.
            "secrets" => {
                attempts(&self.project, "results", ["a", "b"], &[]);
                let key = format!("sk-{}", "a1B2c3D4e5".repeat(4));
                self.project.result(&result(
                    "r1",
                    "quiz",
                    "a",
                    json!({"error": format!("refused: {key}"), "status": "completed"}),
                ));
                let talk = json!({"item": "q1", "entry": {"role": "user", "content": "Write to ann@acme.dev, password=hunter2-and-more"}});
                self.project
                    .items("r1", &[question("q1", 1, "fail")])
                    .file("results/r1/transcript.jsonl", format!("{talk}\n"));
            }
            // What the tutorials begin with.
            "answers" | "npx" => self.answers(),
            "prompts" => self.program("claude", PROMPTED),
            "pytest" => self.program("pytest", PYTEST),
            // Files of questions, and agents that always answer the same.
            "asked" => self.asked(),
            _ => self.other(name),
        }
    }

    /// A bundle and test reports.
    fn gated(&self) {
        for (folder, first) in [("old", 1), ("new", 4), ("reports", 7)] {
            for run in first..first + 3 {
                self.project
                    .file(&format!("{folder}/{run}.xml"), report(run));
            }
        }
        self.must("evalreport --results main import old/*.xml && evalreport --results main export bundle main.bundle");
        self.must("cp main.bundle baseline.bundle && evalreport import new/*.xml");
        self.program("npx", "exec \"$@\"");
        for tool in ["store-file", "fetch-file", "post-comment", "pytest"] {
            self.program(tool, "");
        }
        // Cargo compiles our program and starts it.
        self.program(
            "cargo",
            "while [ \"$1\" != -- ]; do shift; done; shift; exec evalreport \"$@\"",
        );
    }

    /// The table of the tutorial, and results under the names of other pages.
    fn answers(&self) {
        self.must(&code("docs/do/compare-a-table.md", "sh", "awk "));
        self.must("cp answers.csv results.csv");
        self.copy(
            "tests/fixtures/import/promptfoo/repeat-two.json",
            "results.json",
        );
        self.project
            .file("old.xml", report(1))
            .file("new.xml", report(2));
        for starter in ["npx", "uvx"] {
            self.program(starter, "exec \"$@\"");
        }
    }

    fn asked(&self) {
        let question = "version: 1\nquestions:\n  - {id: sum, question: What is 17 + 26?, answers: [\"33\", \"43\"], correct_answers: [\"43\"]}\n";
        let bad = "version: 1\nquestions:\n  - id: sum\n    question: What is 17 + 26?\n    answers: [\"33\", \"43\"]\n    \
                   correct_answers: [\"34\"]\n  - id: sum\n    question: \"\"\n    answers: []\n    correct_answers: []\n";
        let agent = |id: &str| {
            format!("  - {{id: {id}, type: command, command: [echo, \"<answer>43</answer>\"]}}\n")
        };
        let task =
            "tasks:\n  - {id: capitals, type: question_eval, questions_file: questions.yaml}\n";
        self.project
            .file("questions.yaml", question)
            .file("bad.yaml", bad)
            .file(
                "suites/basics/suite.yaml",
                "name: basics\nquestions: questions.yaml\n",
            )
            .file("suites/basics/questions.yaml", question)
            .file(
                "evalreport.yaml",
                format!(
                    "version: 1\nagents:\n{}{}default_agent: local\n{task}",
                    agent("sonnet"),
                    agent("local")
                ),
            );
    }

    /// What the users of another tool have when they come.
    fn other(&self, name: &str) {
        if let Some((_, files, programs)) = TOOLS.iter().find(|(tool, ..)| *tool == name) {
            for (from, to) in *files {
                match to.strip_prefix("~/") {
                    Some(to) => {
                        let home = self.beside.path(&format!("home/{to}"));
                        self.must(&format!(
                            "mkdir -p '{0}' && cp -R '{ROOT}/tests/fixtures/{from}/.' '{0}'",
                            home.display()
                        ));
                    }
                    None => self.copy(&format!("tests/fixtures/{from}"), to),
                }
            }
            for program in *programs {
                self.program(program, "");
            }
        }
        match name {
            "epoch" => {
                let row = "a1,GPQA diamond,big-1_medium,0.850,choice:0.85±0.02,17 November 2025 4:28pm,Success,1.0.1\n";
                let head = "id,task,model,Best score (across scorers),Scores,started_at,Status,task version\n";
                self.project
                    .file("benchmarks_runs.csv", format!("{head}{row}"));
                self.copy(
                    "docs/look-up/import/epoch.yaml",
                    "docs/look-up/import/epoch.yaml",
                );
            }
            "export" => attempts(&self.project, "results", ["a", "b"], &[]),
            "aider" => {
                self.copy("tests/fixtures/import/aider/run", "benchmark/run");
                self.project.file("benchmark/benchmark.py", "#!/bin/sh\n");
                self.must("chmod +x benchmark/benchmark.py");
            }
            "langfuse" => {
                self.copy("tests/fixtures/import/langfuse/page.json", "scores.json");
                self.program(
                    "curl",
                    &format!("cat '{ROOT}/tests/fixtures/import/langfuse/page.json'"),
                );
            }
            "rubric" => {
                self.project.file(
                    "grades/paper.json",
                    code("docs/look-up/import/rubric.md", "json", "{"),
                );
            }
            "sessions" => {
                self.must("mv ~/.claude/projects/-home-dev-shop ~/.claude/projects/-home-me-shop");
                self.project.file("results.csv", "suite,approach,model,item,status\nshop,plain,m1,cart,pass\nshop,plain,m1,login,fail\n");
            }
            "tables" => {
                self.project.file(
                    "map.yaml",
                    code("docs/look-up/import/tables.md", "yaml", "format: "),
                );
                let table = code("docs/look-up/import/tables.md", "text", "task,");
                self.project.file("out/today.csv", table);
                self.must("mv out/today.csv \"out/$(date +%F).csv\"");
            }
            name if TOOLS.iter().any(|(tool, ..)| *tool == name) => (),
            name => {
                if name == "from-ralph" {
                    // Its program tests its suites.
                    self.program("ralph", "exit 1");
                }
                from_other_tools(&self.project, name);
            }
        }
    }
}

/// What other tools left: the place, files and folders of the fixtures with where they are, and programs that do nothing.
type Tool = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);
const TOOLS: [Tool; 31] = [
    (
        "logs",
        &[
            ("import/inspect/plain.json", "logs/plain.json"),
            ("import/promptfoo/repeat-two.json", "logs/two.json"),
        ],
        &["pip", "inspect"],
    ),
    (
        "agent-skills",
        &[(
            "import/agent-skills/release-notes-workspace",
            "my-skill-workspace",
        )],
        &[],
    ),
    (
        "aider",
        &[
            ("import/aider/run", "tmp.benchmarks"),
            (
                "import/aider/polyglot_small.yml",
                "polyglot_leaderboard.yml",
            ),
        ],
        &[],
    ),
    (
        "cogni",
        &[("import/cogni/several-agents.json", "out/0b7e/results.json")],
        &["cogni"],
    ),
    (
        "ctrf",
        &[
            ("import/ctrf/statuses.json", "ctrf-report.json"),
            ("import/ctrf/statuses.json", "ctrf/ctrf-report.json"),
        ],
        &["npx"],
    ),
    (
        "deepeval",
        &[
            (
                "import/deepeval/latest_run.json",
                ".deepeval/.latest_test_run.json",
            ),
            ("import/deepeval/test_run.json", "test_run.json"),
        ],
        &["deepeval"],
    ),
    ("epoch", &[], &[]),
    (
        "evalperf",
        &[
            (
                "import/evalperf/acme--coder-9B_vllm_temp_1.0_evalperf_results.brief.json",
                "acme--coder-9B_vllm_temp_1.0_evalperf_results.json",
            ),
            (
                "import/evalperf/acme--coder-9B_vllm_temp_1.0_evalperf_results.brief.json",
                "evalplus_results/evalperf/acme--coder-9B_vllm_temp_1.0_evalperf_results.brief.json",
            ),
        ],
        &["evalplus.evalperf"],
    ),
    (
        "every-eval-ever",
        &[(
            "import/every_eval_ever/with-samples",
            "data/BENCHMARK/DEVELOPER/MODEL",
        )],
        &[],
    ),
    (
        "hal",
        &[
            ("import/hal/gaia_UPLOAD.json", "gaia_generalist_UPLOAD.json"),
            ("import/hal-encrypted/gaia.zip", "hal_traces/gaia.zip"),
        ],
        &[],
    ),
    (
        "harbor",
        &[("import/harbor/reward-and-exception", "jobs/nightly")],
        &["harbor"],
    ),
    (
        "helm",
        &[
            ("import/helm/trials", "benchmark_output/runs/SUITE"),
            ("import/helm/splits", "benchmark_output/runs/nightly"),
        ],
        &["helm-run"],
    ),
    (
        "inspect",
        &[("import/inspect/plain.json", "logs/plain.json")],
        &["inspect"],
    ),
    ("inspect-logs", &[("logs", "logs")], &[]),
    (
        "junit",
        &[("import/junit/pytest.xml", "report.xml")],
        &["pytest"],
    ),
    (
        "kotef",
        &[
            (
                "import/kotef/eval-2026-01-02T03-04-05-678Z.json",
                "eval-2026-01-02T03-04-05-678Z.json",
            ),
            (
                "import/kotef/eval-2026-01-02T03-04-05-678Z.json",
                "results/eval-2026-01-02T03-04-05-678Z.json",
            ),
        ],
        &[],
    ),
    ("lm-eval", &[("import/lm_eval/plain", "out")], &["lm_eval"]),
    ("metr", &[("import/metr/runs.jsonl", "runs.jsonl")], &[]),
    (
        "opentelemetry",
        &[("import/opentelemetry/traces", "otel")],
        &[],
    ),
    (
        "promptfoo",
        &[
            ("import/promptfoo/repeat-two.json", "out.json"),
            ("import/promptfoo/repeat-two.json", "logs/day.json"),
        ],
        &["promptfoo"],
    ),
    (
        "jest",
        &[
            ("import/jest/jest.json", "jest-results.json"),
            ("import/jest/vitest-evals.json", "vitest-results.json"),
        ],
        &["npx"],
    ),
    (
        "mocha",
        &[("import/mocha/mocha.json", "mocha.json")],
        &["npx"],
    ),
    (
        "playwright",
        &[("import/playwright/report.json", "results.json")],
        &["npx"],
    ),
    (
        "evalite",
        &[("import/evalite/export.json", "results.json")],
        &["npx"],
    ),
    (
        "pytest-json-report",
        &[("import/pytest-json-report/report.json", "report.json")],
        &["pytest"],
    ),
    (
        "ralph",
        &[("import/ralph/zeros.json", "evals/results/zeros.json")],
        &["ralph"],
    ),
    (
        "sessions",
        &[
            ("import/claude-code/projects", "~/.claude/projects"),
            ("import/codex", "~/.codex/sessions"),
        ],
        &[],
    ),
    (
        "swe-bench",
        &[("import/swe-bench/schema-2", "reports")],
        &["python"],
    ),
    (
        "terminal-bench",
        &[("import/terminal-bench/resolved-and-timed-out", "runs/day")],
        &["tb"],
    ),
    ("zelda", &[("import/zelda/scored/.zelda", ".zelda")], &[]),
    ("rubric", &[], &[]),
];

/// Claude, of a kind: it errs on every third product unless it is told to go step by step, which takes it longer.
const PROMPTED: &str = r#"text=$(cat)
set -- $(echo "$text" | sed -n 's/^What is \([0-9]*\) \* \([0-9]*\)?$/\1 \2/p')
answer=$(( $1 * $2 ))
case "$text" in
  *"step by step"*) sleep 0.05 ;;
  *) [ $(( $1 % 3 )) -ne 0 ] || answer=$(( answer + 10 )) ;;
esac
echo "<answer>$answer</answer>""#;

/// A stand-in for pytest, so that the tutorial runs where pytest is not installed: it runs the tests of `test_shop.py` for real, and writes
/// JUnit XML with the elements, names and message that pytest writes of them. A report of pytest itself is in `tests/fixtures/import/junit`.
const PYTEST: &str = r#"exec python3 - "$@" <<'PROGRAM'
import sys

module, cases, failed = {}, "", 0
exec(open("test_shop.py").read(), module)
for name in [name for name in module if name.startswith("test_")]:
    try:
        module[name]()
        child = ""
    except AssertionError:
        child, failed = '<failure message="assert (2 + 3) == 6">AssertionError</failure>', failed + 1
    cases += f'<testcase classname="test_shop" name="{name}" time="0.001">{child}</testcase>'
path = next(word.split("=")[1] for word in sys.argv if word.startswith("--junitxml="))
open(path, "w").write(f'<testsuites><testsuite name="pytest" tests="2" failures="{failed}">{cases}</testsuite></testsuites>')
sys.exit(1 if failed else 0)
PROGRAM"#;

/// Returns the first block of a document that is in a language and begins so.
fn code(document: &str, language: &str, begin: &str) -> String {
    code_at(document, language, begin, 0)
}

fn code_at(document: &str, language: &str, begin: &str, number: usize) -> String {
    let text = read(document);
    let block = blocks(&text)
        .into_iter()
        .filter(|block| block.language == language && block.lines[0].starts_with(begin))
        .nth(number);
    block
        .unwrap_or_else(|| panic!("{document} has no {language} that begins with {begin}"))
        .lines
        .join("\n")
        + "\n"
}

/// Four attempts at each of four questions by two approaches, with some header fields more.
fn attempts(project: &Project, store: &str, approaches: [&str; 2], fields: &[(&str, &str)]) {
    for (approach, passed) in approaches.into_iter().zip([[4, 4, 0, 2], [2, 2, 1, 4]]) {
        let status = |attempt, passed| if attempt <= passed { "pass" } else { "fail" };
        let all = (1..=4).flat_map(|attempt| {
            passed
                .iter()
                .zip(1..)
                .map(move |(passed, number)| (attempt, *passed, number))
        });
        let items: Vec<_> = all
            .map(|(attempt, passed, number)| {
                question(&format!("q{number}"), attempt, status(attempt, passed))
            })
            .collect();
        let fields = fields
            .iter()
            .map(|(key, value)| ((*key).to_owned(), json!(value)))
            .collect();
        let header = result(
            approach,
            "quiz",
            approach,
            serde_json::Value::Object(fields),
        );
        project.file(&format!("{store}/{approach}.json"), header.to_string());
        project.file(
            &format!("{store}/{approach}/items.jsonl"),
            crate::support::lines(&items),
        );
    }
}

/// A report of 60 tests that pass, whose costs vary a little.
fn report(run: usize) -> String {
    let cost = format!(
        "<properties><property name=\"cost_usd\" value=\"0.0{}\"/></properties>",
        100 + run
    );
    let case =
        |at: usize| format!("<testcase classname=\"auth/login\" name=\"t{at}\">{cost}</testcase>");
    let named = "<properties><property name=\"approach\" value=\"a\"/><property name=\"model\" value=\"m\"/></properties>";
    let cases: String = (0..60).map(case).collect();
    format!(
        "<testsuite name=\"s\" timestamp=\"2026-01-0{}T0{run}:00:00Z\">{named}{cases}</testsuite>\n",
        run.div_ceil(3)
    )
}

/// Claude, of a kind: writes a program that greets, and a better one if it finds instructions. Its runs take times that differ more than
/// its arms do, by the number of the run, so that neither chance nor the machine's load decides a row of the table.
const CLAUDE: &str = r#"case " $* " in *" -p "*) ;; *) echo "2.1.197 (Claude Code)"; exit ;; esac
cat > /dev/null
if [ -f CLAUDE.md ]; then arm=with; else arm=without; fi
mkdir -p "$HOME/.claude"
seen=$(ls "$HOME/.claude" | grep -c "^$arm-")
: > "$HOME/.claude/$arm-$seen"
case $arm-$seen in
  without-0) sleep 0.3 ;; without-1) sleep 1.2 ;; without-2) sleep 0.6 ;;
  with-0) sleep 0.5 ;; with-1) sleep 1.9 ;; with-2) sleep 0.9 ;;
esac
if [ $arm = with ]; then
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
echo '{"type":"system","subtype":"init","model":"sonnet"}'
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":'$turns',"result":"Done.","total_cost_usd":'$cost',"usage":{"input_tokens":'$tokens',"output_tokens":310}}'
"#;

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
            project
                .file("evals/suites/flask/suite.yaml", suite)
                .file("examples/flask_requirements.md", "Make it.\n");
            for (approach, seconds, tokens, cost, passed, own, files, lines) in [
                ("ralph", 754, 245_000, 0.52, 18, 25, 12, 900),
                ("oneshot", 135, 89_000, 0.18, 14, 0, 8, 300),
            ] {
                let result = json!({
                    "id": format!("0b7e-{approach}"), "suite": "tasktracker", "approach": approach, "model": "sonnet",
                    "timestamp": "2026-01-10T10:00:00Z", "duration_seconds": seconds, "total_calls": 0, "input_tokens": 0,
                    "output_tokens": 0, "total_tokens": tokens, "cost_usd": cost, "shared_tests_passed": passed,
                    "shared_tests_total": 20, "own_tests_passed": own, "own_tests_total": own, "files_generated": files,
                    "lines_generated": lines, "output_dir": "out",
                });
                project.file(
                    &format!("evals/results/{approach}.json"),
                    result.to_string(),
                );
            }
        }
        "from-zelda" => {
            for file in ["result.json", "transcript.json"] {
                project.fixture(
                    &format!("import/zelda/scored/.zelda/runs/r1/{file}"),
                    &format!(".zelda/runs/r1/{file}"),
                );
            }
        }
        "from-kotef" => {
            project
                .file(
                    "pyproject.toml",
                    "[project]\nname = \"pages\"\n\n[tool.pytest.ini_options]\n",
                )
                .file(
                    "pages.py",
                    "def page(items, number):\n    return items[number * 10:][:10]\n",
                )
                .file("tests/test_pages.py", "def test_page():\n    pass\n");
        }
        other => panic!("no place `{other}`"),
    }
}
