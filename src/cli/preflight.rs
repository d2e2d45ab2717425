//! Checks before a plan starts: missing programs of agents and tests, and suites without a judge.

use std::path::Path;

use crate::agent::AgentEnvironment;
use crate::domain::escape_invisible;
use crate::run::{ArmWork, CodeWork, MissingPrerequisite, Prerequisites, RunnableArm};

use super::failure::CommandFailure;
use super::output;
use super::runnable;
use super::settings::Settings;

/// Fails if the program of an arm is missing, or a tool that the tests need: arms would cost money for an impossible comparison. Names all.
///
/// Programs inside a sandbox cannot be checked from here.
///
/// If only kept output is tested, no agent is started.
pub(super) fn check_programs(
    arms: &[RunnableArm],
    is_of_tests: bool,
    environment: &AgentEnvironment,
    root: &Path,
) -> Result<(), CommandFailure> {
    let mut details: Vec<String> = Vec::new();
    let mut hint = None;
    for arm in arms.iter().filter(|_| !is_of_tests) {
        for program in first_programs(arm, environment) {
            let Some(problem) = runnable::missing_program(&program, environment) else {
                continue;
            };
            let detail = format!(
                "{} needs it for `{}`: {}",
                escape_invisible(&arm.planned.approach),
                escape_invisible(&arm.planned.suite),
                problem.message
            );
            hint = hint.or(problem.hint);
            if !details.contains(&detail) {
                details.push(detail);
            }
        }
    }
    let prerequisites = Prerequisites::new(environment, root);
    for arm in arms {
        let ArmWork::Code(work) = &arm.work else {
            continue;
        };
        for MissingPrerequisite { what, remedy } in
            prerequisites.list_missing(&work.suite, &work.tests_wrap(&environment.root))
        {
            let detail = format!(
                "the tests of `{}` need it: {what} ({remedy})",
                escape_invisible(&work.suite.name)
            );
            hint.get_or_insert_with(|| {
                "add what is missing; `evalreport list` checks again".to_owned()
            });
            if !details.contains(&detail) {
                details.push(detail);
            }
        }
    }
    if details.is_empty() {
        return Ok(());
    }
    let failure = CommandFailure {
        details,
        ..CommandFailure::new("a program is missing; nothing was started")
    };
    Err(failure.with_hint(hint.unwrap_or_else(|| {
        "correct its path in evalreport.yaml, or make it executable".to_owned()
    })))
}

/// Warns of tools of the approaches' own tests that are not there. Own tests decide nothing, and an approach may bring the tools.
pub(super) fn warn_of_missing_own_tools(
    settings: &Settings,
    arms: &[RunnableArm],
    environment: &AgentEnvironment,
    root: &Path,
) {
    let prerequisites = Prerequisites::new(environment, root);
    let mut told: Vec<String> = Vec::new();
    for arm in arms {
        let ArmWork::Code(work) = &arm.work else {
            continue;
        };
        for MissingPrerequisite { what, remedy } in prerequisites
            .list_missing_for_own_tests(&work.suite, &work.tests_wrap(&environment.root))
        {
            let suite = escape_invisible(&work.suite.name);
            let text = format!(
                "warning: own tests of `{suite}` need it: {what} ({remedy}). Unless an approach brings it, they are unknown"
            );
            if !told.contains(&text) {
                output::print_message(settings, &text);
                told.push(text);
            }
        }
    }
}

/// Returns the programs that a run of an arm starts first, outside of a sandbox.
fn first_programs(arm: &RunnableArm, environment: &AgentEnvironment) -> Vec<String> {
    match &arm.work {
        ArmWork::Questions(work) => work
            .agent
            .program()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        ArmWork::Code(work) => programs_of_code(work, environment),
    }
}

fn programs_of_code(work: &CodeWork, environment: &AgentEnvironment) -> Vec<String> {
    let outer = |wrap: Vec<String>| wrap.into_iter().next();
    let agent = outer(work.agent_wrap(&environment.root))
        .or_else(|| work.approach.program_name().map(str::to_owned));
    let sandbox = outer(work.tests_wrap(&environment.root));
    let judge = work
        .evaluation
        .jury
        .as_ref()
        .and_then(|jury| jury.agent.program())
        .map(str::to_owned);
    // Suites of `ralph eval` are tested by that program, which no setup installs.
    let tester = work
        .suite
        .tests
        .shared
        .iter()
        .any(|line| line.starts_with("ralph "))
        .then(|| "ralph".to_owned());
    let tester = tester.filter(|_| sandbox.is_none());
    agent
        .into_iter()
        .chain(sandbox)
        .chain(judge)
        .chain(tester)
        .collect()
}

/// Warns of suites that need a judge if nobody named one.
pub(super) fn warn_of_missing_judges(settings: &Settings, arms: &[RunnableArm]) {
    let mut suites: Vec<&CodeWork> = Vec::new();
    for arm in arms {
        if let ArmWork::Code(work) = &arm.work
            && work.evaluation.is_judged()
            && work.evaluation.jury.is_none()
            && suites
                .iter()
                .all(|known| known.suite.name != work.suite.name)
        {
            suites.push(work);
        }
    }
    for work in suites {
        let what = match work.suite.acceptance_criteria.len() {
            0 => "its evaluators".to_owned(),
            count => output::format_count(count, "acceptance criterion")
                .replace("criterions", "criteria"),
        };
        output::print_message(
            settings,
            &format!(
                "warning: no judge for {what} of `{}`: set `judge: {{agent: ID}}` in evalreport.yaml, or turn them off \
                 with `evaluators: {{requirementFulfillment: false}}`",
                escape_invisible(&work.suite.name)
            ),
        );
    }
}
