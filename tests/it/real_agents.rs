//! The real programs of coding agents answer questions and write files, as they are installed, with a stand-in for their models' services:
//! what is recorded of them is what the service gave.
//!
//! `EVALREPORT_AGENTS` names the folder with the programs; without it they are looked for on `PATH`. A test whose program is not there is not run.

mod models;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::programs::Start as _;
use crate::support::{BINARY, Output, Project};
use models::{ANSWER, Act, FILE, Given, KEY, Models};

/// How one of the programs is told of another service than its maker's.
struct Tried {
    kind: &'static str,
    model: &'static str,
    /// More lines of its entry under `agents`, `{url}` being the service's address.
    entry: &'static str,
    /// Variables, `{url}` as above.
    variables: &'static [(&'static str, &'static str)],
    /// A file below the home folder.
    settings: Option<(&'static str, &'static str)>,
    /// The tool that writes a file.
    tool: &'static str,
    /// Where the money comes from.
    cost: &'static str,
    /// The model that it reports.
    reports: Option<&'static str>,
    /// Whether it ends by itself soon where the key is refused, and where there are too many requests.
    gives_up: (bool, bool),
}

const CLAUDE: Tried = Tried {
    kind: "claude",
    model: "claude-sonnet-4-5",
    entry: "",
    variables: &[("ANTHROPIC_BASE_URL", "{url}"), ("ANTHROPIC_API_KEY", KEY)],
    settings: None,
    tool: "Write",
    cost: "reported",
    reports: Some("claude-sonnet-4-5"),
    gives_up: (false, false),
};
const CODEX: Tried = Tried {
    kind: "codex",
    model: "m",
    entry: "command: [codex, -c, 'openai_base_url=\"{url}/v1\"']",
    variables: &[("CODEX_API_KEY", KEY)],
    settings: None,
    tool: "command_execution",
    cost: "priced",
    reports: None,
    gives_up: (true, true),
};
const GEMINI: Tried = Tried {
    kind: "gemini",
    model: "gemini-2.5-pro",
    entry: "",
    variables: &[("GOOGLE_GEMINI_BASE_URL", "{url}"), ("GEMINI_API_KEY", KEY)],
    settings: Some((
        ".gemini/settings.json",
        "{\"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}}",
    )),
    tool: "write_file",
    cost: "priced",
    reports: Some("gemini-2.5-pro"),
    gives_up: (true, false),
};
const OPENCODE: Tried = Tried {
    kind: "opencode",
    model: "local/m",
    entry: "env: [LOCAL_API_KEY]",
    variables: &[
        ("LOCAL_API_KEY", KEY),
        (
            "OPENCODE_CONFIG_CONTENT",
            "{\"provider\": {\"local\": {\"npm\": \"@ai-sdk/openai-compatible\", \"models\": {\"m\": {}}, \
             \"options\": {\"baseURL\": \"{url}/v1\", \"apiKey\": \"{env:LOCAL_API_KEY}\"}}}}",
        ),
    ],
    settings: None,
    tool: "write",
    cost: "priced",
    reports: None,
    gives_up: (true, false),
};

/// The folder that has a program: that which `EVALREPORT_AGENTS` names, or one on the search path.
pub fn folder_of(program: &str) -> Option<PathBuf> {
    let named = std::env::var_os("EVALREPORT_AGENTS").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = named.map_or_else(
        || std::env::split_paths(&path).collect(),
        |folder| vec![folder],
    );
    folders
        .into_iter()
        .find(|folder| folder.join(program).is_file())
}

/// A project with one agent, a file with a question and a suite whose one test wants the file that the model writes.
struct Trial<'a> {
    tried: &'a Tried,
    programs: PathBuf,
    project: Project,
    home: tempfile::TempDir,
    models: Models,
}

impl<'a> Trial<'a> {
    fn new(tried: &'a Tried, programs: &Path, act: Act, timeout: &str) -> Self {
        let (project, models) = (Project::new(), Models::start(act));
        let Tried { kind, model, .. } = tried;
        let entry = Self::filled(tried.entry, &models);
        project
            .file(
                "evalreport.yaml",
                format!(
                    "version: 1\nagents:\n  - id: a\n    type: {kind}\n    model: {model}\n    timeout: {timeout}\n    {entry}\n\
                     prices:\n  - {{model: {model}, usd_per_million: {{input: 1, output: 2, cache_read: 0.5}}}}\n"
                ),
            )
            .file("q.yaml", "version: 1\nquestions:\n  - {id: sky, question: Which colour?, answers: [Blue, Red], correct_answers: [Blue]}\n")
            .file("suites/s/requirements.md", format!("Write {}.\n", FILE.0))
            .file(
                "suites/s/suite.yaml",
                format!(
                    "name: s\nrequirements: suites/s/requirements.md\ntimeout: 2m\ntests:\n  shared: ['test \"$(cat \"$EVAL_WORKSPACE/{}\")\" = \"{}\"']\n",
                    FILE.0, FILE.1
                ),
            );
        let home = tempfile::tempdir().expect("a folder");
        if let Some((path, text)) = tried.settings {
            Project::at(home.path().to_owned()).file(path, text);
        }
        Self {
            tried,
            programs: programs.to_owned(),
            project,
            home,
            models,
        }
    }

    fn filled(text: &str, models: &Models) -> String {
        text.replace("{url}", &format!("http://127.0.0.1:{}", models.port))
    }

    /// Runs a command as somebody who has never started the program before.
    fn run(&self, arguments: &[&str]) -> Output {
        let path = format!(
            "{}:{}",
            self.programs.display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .env("PATH", path)
            .env("HOME", self.home.path())
            .env("LANG", "C.UTF-8");
        command.envs(
            self.tried
                .variables
                .iter()
                .map(|(name, value)| (*name, Self::filled(value, &self.models))),
        );
        self.project.output(&mut command)
    }

    fn ask(&self) -> Output {
        self.run(&["eval", "q.yaml"])
    }

    /// The header of the one run.
    fn header(&self) -> Value {
        let headers: Vec<String> = self
            .project
            .files("results")
            .into_iter()
            .filter(|path| {
                Path::new(path)
                    .extension()
                    .is_some_and(|ending| ending == "json")
                    && !path.contains("batches")
            })
            .collect();
        assert_eq!(headers.len(), 1, "{headers:?}");
        serde_json::from_str(&self.project.read(&format!(
            "results/{}",
            headers[0].trim_start_matches("results/")
        )))
        .expect("JSON")
    }

    fn of_run(&self, header: &Value, file: &str) -> Vec<Value> {
        let text = self.project.read(&format!(
            "results/{}/{file}",
            header["id"].as_str().expect("an id")
        ));
        text.lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect()
    }

    /// What every record says besides how well it went.
    #[track_caller]
    fn is_measured(&self, header: &Value, given: &Given, output: &Output) {
        let tokens = given.tokens;
        let usage = &header["usage"];
        assert_eq!(
            (
                usage["input"].as_u64(),
                usage["cache_read"].as_u64(),
                usage["output"].as_u64()
            ),
            (Some(tokens.input), Some(tokens.cached), Some(tokens.output)),
            "{header}\n{given:?}"
        );
        assert_eq!(
            (header["cost_source"].as_str(), header["model"].as_str()),
            (Some(self.tried.cost), Some(self.tried.model))
        );
        assert_eq!(
            header["reported_model"].as_str(),
            self.tried.reports,
            "{header}"
        );
        if self.tried.cost == "priced" {
            let (input, cached, output) = (tokens.input, tokens.cached, tokens.output);
            #[expect(clippy::cast_precision_loss, reason = "they are small")]
            let expected = (input as f64 + cached as f64 * 0.5 + output as f64 * 2.0) / 1e6;
            assert!(
                header["cost_usd"]
                    .as_f64()
                    .is_some_and(|cost| (cost - expected).abs() < 1e-9),
                "{header}"
            );
        }
        let version = Command::new(self.programs.join(self.tried.kind))
            .arg("--version")
            .env("HOME", self.home.path())
            .finish();
        let version = String::from_utf8(version.stdout).expect("text");
        let told = header["resources"]["agent_version"]
            .as_str()
            .expect("a version");
        assert!(
            version.contains(told) && told.contains('.'),
            "{told} of {version}"
        );
        for text in [&output.stdout, &output.stderr, &header.to_string()] {
            assert!(!text.contains(KEY), "{text}");
        }
    }
}

/// Answers a question, writes a file, and fails in every way that its service has.
fn try_out(tried: &Tried) {
    let programs = folder_of(tried.kind).expect("the test needs it");

    let trial = Trial::new(tried, &programs, Act::Answer, "60s");
    let output = trial.ask();
    assert_eq!(output.code, 0, "{}\n{}", output.stdout, output.stderr);
    let (header, given) = (trial.header(), trial.models.given());
    trial.is_measured(&header, &given, &output);
    let item = trial.of_run(&header, "items.jsonl").remove(0);
    assert_eq!(
        (&item["status"], &item["details"]["reply"]),
        (&json!("pass"), &json!(ANSWER)),
        "{item}"
    );
    assert_eq!(
        (
            &header["turns"],
            given.refusals,
            &item["details"]["repeated"]
        ),
        (&json!(1), 0, &Value::Null),
        "{item}"
    );

    let trial = Trial::new(tried, &programs, Act::Write, "60s");
    let output = trial.run(&["run", "s", "--approach", "oneshot", "--agent", "a"]);
    let (header, given) = (trial.header(), trial.models.given());
    assert_eq!(
        (output.code, &header["shared_tests_passed"]),
        (0, &json!(1)),
        "{}\n{}\n{header}",
        output.stdout,
        output.stderr
    );
    trial.is_measured(&header, &given, &output);
    assert_eq!(
        (&header["status"], &header["turns"], given.calls),
        (&json!("completed"), &json!(2), 1),
        "{header}"
    );
    let transcript = trial.of_run(&header, "transcript.jsonl");
    let tells = |text: &str| {
        transcript
            .iter()
            .any(|line| line.to_string().contains(text))
    };
    assert!(
        tells(&format!("\"{}\"", tried.tool)) && tells(FILE.0) && tells(ANSWER),
        "{transcript:?}"
    );

    // In isolation every program may start commands, as root too.
    if evalreport::process::support().files {
        let trial = Trial::new(tried, &programs, Act::Start, "60s");
        let output = trial.run(&["run", "s", "--approach", "oneshot", "--agent", "a"]);
        let header = trial.header();
        assert_eq!(
            (output.code, &header["shared_tests_passed"]),
            (0, &json!(1)),
            "{}\n{}\n{header}",
            output.stdout,
            output.stderr
        );
        assert_eq!(header["resources"]["rights"], "every tool", "{header}");
    }

    let (of_key, of_many) = tried.gives_up;
    for (status, ends, code) in [(401, of_key, 2), (404, true, 2), (429, of_many, 3)] {
        let trial = Trial::new(
            tried,
            &programs,
            Act::Refuse(status),
            if ends { "60s" } else { "12s" },
        );
        let output = trial.ask();
        let said = format!("{status}: {}\n{}", output.stdout, output.stderr);
        assert_eq!(output.code, code, "{said}");
        assert!(
            trial.models.given().refusals > 0 && !said.contains(KEY),
            "{said}"
        );
        if !ends {
            assert!(
                said.contains("its limit of time, while its service did not answer"),
                "{said}"
            );
        }
        if code == 3 {
            let header = trial.header();
            let item = trial.of_run(&header, "items.jsonl").remove(0);
            assert_eq!(item["status"], "infra", "{said}\n{item}");
            assert_eq!(
                item["details"]["repeated"]["throttled"].as_u64().is_some(),
                !ends,
                "{item}"
            );
        } else {
            assert!(output.stderr.contains("cannot be run"), "{said}");
        }
    }
}

#[test]
fn claude_is_recorded_as_its_service_answered() {
    needs!("claude");
    try_out(&CLAUDE);
}

#[test]
fn claude_ends_after_the_turns_that_it_is_allowed() {
    needs!("claude");
    let programs = folder_of("claude").expect("the test needs it");
    let tried = Tried {
        entry: "max_steps: 2",
        ..CLAUDE
    };
    let trial = Trial::new(&tried, &programs, Act::WriteOn, "60s");
    let output = trial.ask();
    let item = trial.of_run(&trial.header(), "items.jsonl").remove(0);
    assert_eq!(
        (output.code, &item["status"]),
        (0, &json!("limit")),
        "{}\n{item}",
        output.stdout
    );
    assert!(
        item["details"]["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("error_max_turns")),
        "{item}"
    );
}

#[test]
fn codex_is_recorded_as_its_service_answered() {
    needs!("codex");
    try_out(&CODEX);
}

#[test]
fn gemini_is_recorded_as_its_service_answered() {
    needs!("gemini");
    try_out(&GEMINI);
}

#[test]
fn opencode_is_recorded_as_its_service_answered() {
    needs!("opencode");
    try_out(&OPENCODE);
}
