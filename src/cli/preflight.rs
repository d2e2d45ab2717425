//! Checks before a plan starts: missing programs of agents and tests, and suites without a judge.

use std::path::Path;

use crate::agent::Environment;
use crate::domain::visible;
use crate::run::{Arm, CodeWork, Missing, Prerequisites, Work};

use super::failure::Failure;
use super::output;
use super::runnable;
use super::settings::Settings;

/// Fails if the program of an arm is missing, or a tool that the tests need: arms would cost money for an impossible comparison. Names all.
///
/// Programs inside a sandbox cannot be checked from here.
///
/// If only kept output is tested, no agent is started.
pub(super) fn check(
    arms: &[Arm],
    is_of_tests: bool,
    environment: &Environment,
    root: &Path,
) -> Result<(), Failure> {
    let mut details: Vec<String> = Vec::new();
    let mut hint = None;
    for arm in arms.iter().filter(|_| !is_of_tests) {
        for program in programs(arm, environment) {
            let Some(problem) = runnable::missing(&program, environment) else {
                continue;
            };
            let detail = format!(
                "{} needs it for `{}`: {}",
                visible(&arm.planned.approach),
                visible(&arm.planned.suite),
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
        let Work::Code(work) = &arm.work else {
            continue;
        };
        for Missing { what, remedy } in
            prerequisites.missing(&work.suite, &work.wrap_of_tests(&environment.root))
        {
            let detail = format!(
                "the tests of `{}` need it: {what} ({remedy})",
                visible(&work.suite.name)
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
    let failure = Failure {
        details,
        ..Failure::new("a program is missing; nothing was started")
    };
    Err(failure.with_hint(hint.unwrap_or_else(|| {
        "correct its path in evalreport.yaml, or make it executable".to_owned()
    })))
}

/// Warns of tools of the approaches' own tests that are not there. Own tests decide nothing, and an approach may bring the tools.
pub(super) fn warn_of_missing_own_tools(
    settings: &Settings,
    arms: &[Arm],
    environment: &Environment,
    root: &Path,
) {
    let prerequisites = Prerequisites::new(environment, root);
    let mut told: Vec<String> = Vec::new();
    for arm in arms {
        let Work::Code(work) = &arm.work else {
            continue;
        };
        for Missing { what, remedy } in
            prerequisites.missing_for_own_tests(&work.suite, &work.wrap_of_tests(&environment.root))
        {
            let suite = visible(&work.suite.name);
            let text = format!(
                "warning: own tests of `{suite}` need it: {what} ({remedy}). Unless an approach brings it, they are unknown"
            );
            if !told.contains(&text) {
                output::say(settings, &text);
                told.push(text);
            }
        }
    }
}

/// Returns the programs that a run of an arm starts first, outside of a sandbox.
fn programs(arm: &Arm, environment: &Environment) -> Vec<String> {
    match &arm.work {
        Work::Questions(work) => work
            .agent
            .program()
            .map(str::to_owned)
            .into_iter()
            .collect(),
        Work::Code(work) => of_code(work, environment),
    }
}

fn of_code(work: &CodeWork, environment: &Environment) -> Vec<String> {
    let outer = |wrap: Vec<String>| wrap.into_iter().next();
    let agent = outer(work.wrap_of_agent(&environment.root))
        .or_else(|| work.approach.program().map(str::to_owned));
    let sandbox = outer(work.wrap_of_tests(&environment.root));
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
pub(super) fn warn_of_missing_judges(settings: &Settings, arms: &[Arm]) {
    let mut suites: Vec<&CodeWork> = Vec::new();
    for arm in arms {
        if let Work::Code(work) = &arm.work
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
            count => output::count(count, "acceptance criterion").replace("criterions", "criteria"),
        };
        output::say(
            settings,
            &format!(
                "warning: no judge for {what} of `{}`: set `judge: {{agent: ID}}` in evalreport.yaml, or turn them off \
                 with `evaluators: {{requirementFulfillment: false}}`",
                visible(&work.suite.name)
            ),
        );
    }
}
