//! A runner of the shipped workflow: its steps in their order, with a repository in a folder in place of the service's.

use std::fs;

use evalreport::document::{self, Node, Value};

use super::clock::Clock;
use super::{ROOT, done, shell, shipped};
use crate::support::Project;

const FILE: &str = ".github/workflows/nightly.yml";
/// What the workflow needs of the repository, but for the results that are there already.
const SHARED: [&str; 3] = ["evalreport.yaml", "suites", "tests/references"];
const QUESTIONS: u32 = 10;
/// What the agents are, in place of Python: they say an answer. One of them knows every one.
const AGENTS: [(&str, &str); 4] = [
    ("random_choice", "a"),
    ("longest_answer", "ccc"),
    ("keyword_overlap", "bb"),
    ("extractive", "bb"),
];
/// In place of minutes with real tools, a test that sees whether there is a program.
const QUICK: &str = "name: tasktracker\nrequirements: suites/tasktracker/requirements.md\n\
                     tests: {shared: ['grep -q argparse \"$EVAL_WORKSPACE/main.py\"', 'test -s \"$EVAL_WORKSPACE/main.py\"']}\n";

pub struct Workflow {
    pub project: Project,
    file: Node,
}

/// How a night ended.
pub struct Night {
    /// Below the project.
    pub folder: String,
    /// `success` or `failure`.
    pub gate: &'static str,
    /// Whether the last job was content.
    pub verdict: bool,
}

/// What is known while a night's jobs go on.
struct State<'a> {
    folder: String,
    environment: Vec<(&'a str, String)>,
    gate: &'static str,
}

impl Workflow {
    /// A repository with what the workflow needs, from which it is checked out.
    pub fn new() -> Self {
        let project = Project::new();
        let file = document::parse(FILE, &shipped(FILE)).expect("the workflow is YAML");
        for shared in SHARED {
            let target = project.path(&format!("origin/{shared}"));
            fs::create_dir_all(target.parent().expect("a folder")).expect("the folder can be made");
            let copied = format!("cp -R '{ROOT}/{shared}' '{}'", target.display());
            done(&shell(&project, "", &copied, &[]), &[0]);
        }
        project
            .file("origin/suites/tasktracker/suite.yaml", QUICK)
            .file("origin/results/.gitkeep", "");
        let question = |number| {
            format!(
                "  - {{id: q{number}, question: Which is the longest of {number}?, answers: [a, bb, ccc], correct_answers: [ccc]}}\n"
            )
        };
        let questions = (1..=QUESTIONS).map(question).collect::<String>();
        for (agent, answer) in AGENTS {
            project.file(
                &format!("origin/suites/baselines/{agent}.py"),
                format!("echo '<answer>{answer}</answer>'\n"),
            );
        }
        let config = project
            .read("origin/evalreport.yaml")
            .replace("[python3, suites/baselines/", "[sh, suites/baselines/");
        assert_eq!(
            config.matches("[sh, ").count(),
            AGENTS.len(),
            "every agent is a script"
        );
        project.file("origin/evalreport.yaml", config);
        project.file(
            "origin/suites/basics/questions.yaml",
            format!("version: 1\nquestions:\n{questions}"),
        );
        let git = "git init -q -b main && git add . && git -c user.name=a -c user.email=a@example.org commit -qm begin";
        done(&shell(&project, "origin", git, &[]), &[0]);
        Self { project, file }
    }

    /// Changes a file on the main branch.
    pub fn commit(&self, path: &str, change: impl Fn(&str) -> String) {
        let path = format!("origin/{path}");
        let text = self.project.read(&path);
        self.project.file(&path, change(&text));
        assert_ne!(self.project.read(&path), text, "{path} is changed");
        done(
            &shell(
                &self.project,
                "origin",
                "git -c user.name=a -c user.email=a@example.org commit -qam change",
                &[],
            ),
            &[0],
        );
    }

    pub fn night(&self, number: u32, clock: &Clock) -> Night {
        let folder = number.to_string();
        let summary = self
            .project
            .path(&format!("{folder}/summary.md"))
            .display()
            .to_string();
        let mut environment = vec![
            ("GITHUB_RUN_ID", number.to_string()),
            ("GITHUB_STEP_SUMMARY", summary),
        ];
        environment.extend(clock.environment());
        for (key, value) in map(self.file.get("env").expect("variables")) {
            environment.push((key, text(value).to_owned()));
        }
        let mut state = State {
            folder,
            environment,
            gate: "success",
        };
        let jobs = self.file.get("jobs").expect("jobs");
        // In the file's order, which is that of their needs.
        let mut verdict = true;
        for (name, job) in map(jobs) {
            verdict = self.job(name, job, &mut state);
            assert!(
                verdict || name == "verdict",
                "night {number}: the job `{name}` failed"
            );
        }
        Night {
            folder: state.folder,
            gate: state.gate,
            verdict,
        }
    }

    /// Runs a job's steps, and says whether all went well.
    fn job(&self, name: &str, job: &Node, state: &mut State<'_>) -> bool {
        let checkout = format!(
            "{}/{}",
            state.folder,
            if name == "evaluate" { "checkout" } else { name }
        );
        fs::create_dir_all(self.project.path(&checkout)).expect("the folder can be made");
        let steps = list(job.get("steps").expect("steps"));
        steps.iter().all(|step| {
            let may_fail = step
                .get("continue-on-error")
                .is_some_and(|value| text(value) == "true");
            let is_well = match (step.get("run"), step.get("uses")) {
                (Some(_), None) if step.get("name").is_some_and(|name| text(name) == "Compile") => {
                    true
                }
                (Some(run), None) => self.script(text(run), step, &checkout, state),
                (None, Some(uses)) => self.action(
                    text(uses).split('@').next().unwrap_or_default(),
                    step,
                    &checkout,
                    state,
                ),
                _ => panic!("a step of `{name}` neither runs nor uses anything"),
            };
            if step.get("id").is_some_and(|id| text(id) == "gate") {
                state.gate = if is_well { "success" } else { "failure" };
            }
            is_well || may_fail
        })
    }

    fn script(&self, lines: &str, step: &Node, checkout: &str, state: &State<'_>) -> bool {
        let mut environment = state.environment.clone();
        for (key, value) in step.get("env").map(map).unwrap_or_default() {
            // A folder asks for no token.
            let given = [
                ("GATE", "${{ needs.evaluate.outputs.gate }}", state.gate),
                ("TOKEN", "${{ github.token }}", ""),
            ];
            let (key, _, value) = given
                .iter()
                .find(|(name, from, _)| (*name, *from) == (key, text(value)))
                .expect("a known variable");
            environment.push((key, (*value).to_owned()));
        }
        let output = shell(&self.project, checkout, lines, &environment);
        let is_judged = lines.contains(" gate ") || lines.contains("$GATE");
        assert!(
            output.code == 0 || is_judged && output.code == 1,
            "exit {}: {lines}\n{}\n{}",
            output.code,
            output.stdout,
            output.stderr
        );
        output.code == 0
    }

    fn action(&self, action: &str, step: &Node, checkout: &str, state: &State<'_>) -> bool {
        let with = |key: &str| step.get("with").and_then(|with| with.get(key)).map(text);
        let run = |lines: &str| shell(&self.project, checkout, lines, &[]).code == 0;
        let origin = self.project.path("origin").display().to_string();
        let artifact = |name: &str| {
            self.project
                .path(&format!("{}/{name}", state.folder))
                .display()
                .to_string()
        };
        match action {
            "actions/checkout" => {
                let (branch, path) = (with("ref").unwrap_or("main"), with("path").unwrap_or("."));
                run(&format!(
                    "git clone -q --depth 1 --branch {branch} 'file://{origin}' {path}"
                ))
            }
            "actions/upload-artifact" => run(&format!(
                "cp -R {} '{}'",
                with("path").expect("a path"),
                artifact(with("name").expect("a name"))
            )),
            "actions/download-artifact" => run(&format!(
                "cp -R '{}' {}",
                artifact(with("name").expect("a name")),
                with("path").expect("a path")
            )),
            "actions/upload-pages-artifact" => self
                .project
                .path(&format!(
                    "{checkout}/{}/index.html",
                    with("path").expect("a path")
                ))
                .exists(),
            "actions/cache" | "actions/deploy-pages" => true,
            other => panic!("the action `{other}` is unknown here"),
        }
    }
}

fn text(node: &Node) -> &str {
    match &node.value {
        Value::Scalar(scalar) => &scalar.text,
        other => panic!("line {}: {other:?} is no text", node.line),
    }
}

fn list(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        other => panic!("line {}: {other:?} is no list", node.line),
    }
}

fn map(node: &Node) -> Vec<(&str, &Node)> {
    match &node.value {
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| (key.text.as_str(), value))
            .collect(),
        other => panic!("line {}: {other:?} is no map", node.line),
    }
}
