//! Commands outside of documents: steps of workflows, units and images.

use super::read;

/// A step of a workflow that has commands.
struct Step {
    /// The line of its `run`, from 1.
    line: usize,
    name: Option<String>,
    /// Why no test runs it, as a comment above it or above its job says.
    reason: Option<String>,
}

const MARK: &str = "# not run: ";

/// Returns the steps of a workflow in their order.
fn steps(text: &str) -> Vec<Step> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_comment = |line: &str| line.trim_start().starts_with('#');
    // The reason in the comment that ends before a line.
    let above = |line: usize| {
        let mut comment = lines[..line]
            .iter()
            .rev()
            .take_while(|line| is_comment(line));
        comment
            .find_map(|line| line.trim_start().strip_prefix(MARK))
            .map(str::to_owned)
    };
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let key = line
            .trim_start()
            .strip_prefix("- ")
            .unwrap_or(line.trim_start());
        if is_comment(line) || !key.starts_with("run: ") {
            continue;
        }
        let begins = (0..=number)
            .rev()
            .find(|at| lines[*at].trim_start().starts_with("- "))
            .expect("a step begins with a dash");
        let job = (0..begins).rev().find(|at| {
            indent(lines[*at]) == 2 && !is_comment(lines[*at]) && lines[*at].ends_with(':')
        });
        let name = lines[begins..=number]
            .iter()
            .find_map(|line| line.split_once("name: ").map(|(_, name)| name.to_owned()));
        let reason = above(begins)
            .or_else(|| above(number))
            .or_else(|| job.and_then(above));
        found.push(Step {
            line: number + 1,
            name,
            reason,
        });
    }
    found
}

#[test]
fn every_step_of_a_workflow_is_run_or_says_why_it_is_not() {
    for file in [
        ".github/workflows/ci.yml",
        ".github/workflows/release.yml",
        "action.yml",
    ] {
        let steps = steps(&read(file));
        assert!(steps.len() >= 2, "{file}");
        for step in steps {
            assert!(
                step.reason
                    .is_some_and(|reason| reason.split_whitespace().count() >= 3),
                "{file}:{}: why is it not run?",
                step.line
            );
        }
    }
    // The nightly workflow is run by a test, except for the build.
    for step in steps(&read(".github/workflows/nightly.yml")) {
        assert_eq!(
            step.reason.is_some(),
            step.name.as_deref() == Some("Compile"),
            "nightly.yml:{}",
            step.line
        );
    }
}

#[test]
fn steps_without_a_reason_are_found() {
    let text = "jobs:\n  # not run: it needs a runner\n  one:\n    steps:\n      - run: a\n  two:\n    steps:\n      - name: b\n        \
                run: b\n      # not run: it costs money\n      - name: c\n        run: |\n          run: d\n      - run: e\n";
    let found: Vec<_> = steps(text)
        .into_iter()
        .map(|step| (step.line, step.name, step.reason.is_some()))
        .collect();
    let name = |name: &str| Some(name.to_owned());
    assert_eq!(
        found[..3],
        [
            (5, None, true),
            (9, name("b"), false),
            (12, name("c"), true)
        ]
    );
    assert_eq!(found.last(), Some(&(14, None, false)));
}

/// `nightly.rs` runs `ExecStart` and `ExecStartPre` of the service; an image that runs something while it is built needs a test, too.
#[test]
fn units_and_images_have_no_commands_that_are_not_run() {
    let unit = read("docs/do/nightly/evalreport-nightly.service");
    let commands: Vec<&str> = unit
        .lines()
        .filter(|line| line.starts_with("Exec"))
        .filter_map(|line| line.split('=').next())
        .collect();
    assert_eq!(commands, ["ExecStartPre", "ExecStart"]);
    let image = read("packaging/Dockerfile");
    assert!(
        image
            .lines()
            .all(|line| !line.trim_start().to_uppercase().starts_with("RUN")),
        "{image}"
    );
}
