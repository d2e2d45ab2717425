//! Makes the arms of a command's targets: each target gets the options that fit its kind.

use crate::run::RunnableArm;

use super::arms::{ArmFactory, ArmOptions};
use super::failure::CommandFailure;

/// Makes the arms of all targets, in their order.
///
/// One command may name suites of code and of questions. Then `--agent` is for the questions, and for code only if an approach asks an
/// agent, as `oneshot` does. An approach with the name of an agent is for the questions.
///
/// # Errors
///
/// Fails if an option fits none of the targets, or if a target cannot be run.
pub(super) fn make_arms(
    maker: &ArmFactory<'_>,
    targets: &[String],
    wanted: &ArmOptions,
) -> Result<Vec<RunnableArm>, CommandFailure> {
    let asked: Vec<bool> = targets
        .iter()
        .map(|target| maker.asks_questions(target))
        .collect();
    let is_mixed = asked.contains(&true) && asked.contains(&false);
    // A target's own agent wins over the option.
    let has_use_for_agents = targets
        .iter()
        .zip(&asked)
        .any(|(target, asks)| *asks && !target.contains('@'));
    let mut arms = Vec::new();
    for (target, asks) in targets.iter().zip(asked) {
        let wanted = match (is_mixed, asks) {
            (false, _) => wanted.clone(),
            (true, true) => question_options(maker, wanted),
            (true, false) => code_options(maker, wanted, has_use_for_agents),
        };
        arms.extend(maker.arms_of_target(target, &wanted)?);
    }
    Ok(arms)
}

/// Returns the options that are for questions, if both kinds are mixed.
fn question_options(maker: &ArmFactory<'_>, wanted: &ArmOptions) -> ArmOptions {
    let agents = if wanted.agents.is_empty() {
        wanted
            .approaches
            .iter()
            .filter(|name| maker.is_agent_only(name))
            .cloned()
            .collect()
    } else {
        wanted.agents.clone()
    };
    ArmOptions {
        approaches: Vec::new(),
        agents,
        models: wanted.models.clone(),
    }
}

/// Returns the options that are for code, if both kinds are mixed.
fn code_options(
    maker: &ArmFactory<'_>,
    wanted: &ArmOptions,
    has_use_for_agents: bool,
) -> ArmOptions {
    let is_for_questions =
        |name: &String| wanted.agents.is_empty() && has_use_for_agents && maker.is_agent_only(name);
    let approaches: Vec<String> = wanted
        .approaches
        .iter()
        .filter(|name| !is_for_questions(name))
        .cloned()
        .collect();
    let agents = if has_use_for_agents && !approaches.iter().any(|name| maker.asks_agent(name)) {
        Vec::new()
    } else {
        wanted.agents.clone()
    };
    ArmOptions {
        approaches,
        agents,
        models: wanted.models.clone(),
    }
}
