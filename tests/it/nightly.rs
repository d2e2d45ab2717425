//! The nights that are shipped to be copied: the systemd unit, the command of the document and the workflow, run as they stand in their
//! files, nine nights each. Something becomes worse before the third and is never repaired: every night from then on says so.

#![cfg(target_os = "linux")]

mod clock;
mod workflow;

use std::fs;
use std::path::Path;
use std::process::Command;

use clock::Clock;
use workflow::Workflow;

use super::support::{BINARY, Output, Project};

const NIGHTS: u32 = 9;
/// The first night with the regression.
const WORSE: u32 = 3;
const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn shipped(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).expect("the file is in the repository")
}

/// Runs lines of shell in a folder of the project, with the program first on the path and no home.
fn shell(project: &Project, folder: &str, lines: &str, environment: &[(&str, String)]) -> Output {
    let bin = Path::new(BINARY)
        .parent()
        .expect("the program is in a folder")
        .display();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args([
        "-e",
        "-c",
        &format!("cd '{}'\n{lines}", project.path(folder).display()),
    ]);
    command.envs([
        ("PATH", path),
        ("HOME", project.path("home").display().to_string()),
        ("NO_COLOR", "1".to_owned()),
    ]);
    project.output(command.envs(environment.iter().map(|(key, value)| (key, value))))
}

#[track_caller]
fn done(output: &Output, codes: &[i32]) {
    assert!(
        codes.contains(&output.code),
        "exit {}\n{}\n{}",
        output.code,
        output.stdout,
        output.stderr
    );
}

/// A folder that `init` has just filled.
fn fresh() -> Project {
    let project = Project::new();
    done(&shell(&project, "", "evalreport init evals", &[]), &[0]);
    project
}

/// The agent that took the longest choice takes the shortest.
fn worsen(project: &Project) {
    let script = project.read("evals/baselines/choose.sh");
    project.file(
        "evals/baselines/choose.sh",
        script.replace(
            "awk 'length > length(longest)",
            "awk 'NR == 1 || length < length(longest)",
        ),
    );
    assert_ne!(
        project.read("evals/baselines/choose.sh"),
        script,
        "the agent is another now"
    );
}

/// The value of a key of a unit, with lines that go on after a backslash.
fn of_unit(key: &str) -> Vec<String> {
    let text = shipped("docs/do/nightly/evalreport-nightly.service").replace("\\\n", " ");
    text.lines()
        .filter_map(|line| line.strip_prefix(key)?.strip_prefix('='))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_unit_runs_from_a_fresh_folder_and_is_red_from_the_third_night_on() {
    let project = fresh();
    let here = |line: &str| {
        line.replace("/usr/local/bin/", "")
            .replace("/srv/evals", ".")
    };
    let [before] = of_unit("ExecStartPre")
        .try_into()
        .expect("one command before");
    let before = here(before.strip_prefix('-').expect("it may fail"));
    let [command] = of_unit("ExecStart").try_into().expect("one command");
    assert!(
        of_unit("SuccessExitStatus").is_empty(),
        "only 0 is a success"
    );
    let mut said = String::new();
    for night in 1..=NIGHTS {
        let clock = Clock::days_ago(NIGHTS + 2 - night);
        if night == WORSE {
            worsen(&project);
        }
        let resumed = shell(&project, "evals", &before, &clock.environment());
        assert!(
            resumed.code == 2 && resumed.stderr.contains("no unfinished batch"),
            "{}",
            resumed.stderr
        );
        let output = shell(&project, "evals", &here(&command), &clock.environment());
        assert_eq!(
            output.code,
            i32::from(night >= WORSE),
            "night {night}\n{}\n{}",
            output.stdout,
            output.stderr
        );
        said = output.stdout;
        assert!(
            project.path("evals/site/index.html").exists(),
            "night {night}"
        );
        assert!(
            project.read("evals/nightly.log").contains(&clock.day()),
            "night {night}"
        );
    }
    let history = shell(&project, "evals", "evalreport history --format csv", &[]);
    let nights = |approach: &str| {
        history
            .rows()
            .iter()
            .filter(|row| row["approach"] == approach)
            .count()
    };
    assert_eq!(
        (nights("longest-choice"), nights("complete")),
        (9, 9),
        "{}",
        history.stdout
    );
    let since = Clock::days_ago(NIGHTS + 2 - WORSE).day();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains(&format!("still regressed since {since} (7 nights)")),
        "{said}"
    );
    let accept =
        "evalreport gate warmup hello --newest-batch --baseline last:7 --accept 'shorter is right'";
    done(&shell(&project, "evals", accept, &[]), &[0]);
    done(
        &shell(
            &project,
            "evals",
            &here(&command),
            &Clock::days_ago(1).environment(),
        ),
        &[0],
    );
}

#[test]
fn the_documents_command_runs_from_a_fresh_folder() {
    let project = fresh();
    let text = shipped("docs/do/run-nightly.md");
    let (_, block) = text.split_once("```console\n$ ").expect("a first command");
    let (command, _) = block.split_once("\n…").expect("its output");
    for night in 1..=NIGHTS {
        if night == WORSE {
            worsen(&project);
        }
        let output = shell(
            &project,
            "evals",
            command,
            &Clock::days_ago(NIGHTS + 1 - night).environment(),
        );
        assert_eq!(
            output.code,
            i32::from(night >= WORSE),
            "night {night}\n{}\n{}",
            output.stdout,
            output.stderr
        );
    }
    assert!(
        project.path("evals/site/index.html").exists()
            && project.read("evals/night.md").contains("warmup")
    );
}

/// Earlier nights stay as they were, whatever a night has made of them; what it adds is kept, and the job fails.
#[test]
fn the_workflow_keeps_earlier_nights_as_they_were() {
    let project = Project::new();
    let text = shipped(".github/workflows/nightly.yml");
    let (_, keep) = text
        .split_once("          path: new\n      - run: |\n")
        .expect("the step after the download");
    let script: String = keep
        .lines()
        .take_while(|line| line.starts_with("          "))
        .map(|line| line.trim().to_owned() + "\n")
        .collect();
    let git = "git -c user.name=a -c user.email=a@example.org";
    done(
        &shell(&project, "", "git init -q --bare -b main origin.git", &[]),
        &[0],
    );
    let night = |number: u32, prepare: &str, codes: &[i32]| {
        let folder = number.to_string();
        let clone = format!(
            "git clone -q origin.git {number} && cd {number} && mkdir new && echo {number} > new/{number}.json && {prepare}"
        );
        done(&shell(&project, "", &clone, &[]), &[0]);
        done(
            &shell(
                &project,
                &folder,
                &script,
                &[("GITHUB_RUN_ID", folder.clone())],
            ),
            codes,
        );
    };
    let first = format!("{git} commit -q --allow-empty -m begin && git push -q origin HEAD:main");
    night(1, &first, &[0]);
    night(2, "echo 1 > new/1.json", &[0]);
    night(3, "echo forged > new/1.json; echo 2 > new/2.json", &[1]);
    night(4, "echo 2 > new/2.json; echo 3 > new/3.json", &[1]);
    done(
        &shell(
            &project,
            "",
            "git clone -q -b nightly-results origin.git kept",
            &[],
        ),
        &[0],
    );
    let kept: Vec<String> = (1..=4)
        .map(|night| project.read(&format!("kept/results/{night}.json")))
        .collect();
    assert_eq!(kept, ["1\n", "2\n", "3\n", "4\n"]);
}

/// The workflow's own commands in a repository of its own, with questions and tests that take no minutes.
#[test]
fn the_workflow_runs_and_is_red_from_the_third_night_on() {
    needs!("python3");
    let workflow = Workflow::new();
    let (mut gates, mut said) = (Vec::new(), String::new());
    for night in 1..=NIGHTS {
        let clock = Clock::days_ago(NIGHTS + 1 - night);
        if night == WORSE {
            workflow.commit("suites/baselines/longest_answer.py", |text| {
                text.replace("ccc", "a")
            });
        }
        let night = workflow.night(night, &clock);
        gates.push((night.gate, night.verdict));
        said = workflow
            .project
            .read(&format!("{}/summary.md", night.folder));
        assert!(
            said.contains("basics") && said.contains("tasktracker"),
            "{said}"
        );
        assert!(
            workflow
                .project
                .path(&format!("{}/checkout/site/index.html", night.folder))
                .exists()
        );
        assert!(
            workflow
                .project
                .path(&format!("{}/baseline", night.folder))
                .exists(),
            "a bundle for pull requests"
        );
    }
    let expected: Vec<_> = (1..=NIGHTS)
        .map(|night| {
            if night < WORSE {
                ("success", true)
            } else {
                ("failure", false)
            }
        })
        .collect();
    assert_eq!(gates, expected, "{said}");
    assert!(said.contains("(7 nights)"), "{said}");
    let history = shell(
        &workflow.project,
        "9/checkout",
        "evalreport --results nightly/results history basics --format csv",
        &[],
    );
    let longest = history
        .rows()
        .iter()
        .filter(|row| row["approach"] == "longest-answer")
        .count();
    assert_eq!(longest, 9, "{}", history.stdout);
    let pull = "evalreport --results nightly/results gate basics --baseline ../../2/baseline --newest-batch --max-drop 5pp";
    done(&shell(&workflow.project, "3/checkout", pull, &[]), &[1]);
}
