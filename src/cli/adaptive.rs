//! `run --until decided`: which questions or runs of tasks may be chosen, and the answer.

use std::collections::BTreeSet;

use crate::domain::{Run, escape_invisible};
use crate::inference::{Arm as Name, Design, MIN_ITEMS, Policy};
use crate::render::foreseen;
use crate::render::table::ReportTable;
use crate::results::Batch;
use crate::run::{AdaptiveResult, ArmWork, QuestionWork, RunnableArm, task_arms};
use crate::stats::Units;
use crate::views::{ForeseenVerdict, PlannedRuns, question_groups};

use super::failure::CommandFailure;
use super::settings::Settings;
use super::{output, policy};

/// Minimum number of questions. With fewer, choosing among them saves little.
const MIN_QUESTIONS: usize = 60;
/// The letter of a question that is not asked.
const NOT_ASKED: char = '.';

/// How `--until decided` comes to its verdict.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DecisionMethod {
    /// Questions of one file are chosen: the group of each, a letter each.
    Questions(String),
    /// Runs of several tasks are chosen.
    Tasks,
    /// Two arms repeat whole runs. The reason is set if their questions cannot be chosen.
    Whole(Option<String>),
}

/// Decides what to choose. Fails before anything is paid if no verdict can come of it.
pub(super) fn choose_method(
    settings: &Settings,
    arms: &[RunnableArm],
) -> Result<DecisionMethod, CommandFailure> {
    let policy = policy::configured_policy(settings)?;
    let suites: BTreeSet<&str> = arms.iter().map(|arm| arm.planned.suite.as_str()).collect();
    let names: BTreeSet<(&str, &str)> = arms
        .iter()
        .map(|arm| (arm.planned.approach.as_str(), arm.planned.model.as_str()))
        .collect();
    if names.len() < 2 {
        return Err(CommandFailure::new(
            "--until decided is about two arms or more, and there is only one",
        )
        .with_hint("choose two approaches or two models"));
    }
    if suites.len() > 1 {
        return choose_tasks(arms, &suites, names.len(), &policy);
    }
    let works: Option<Vec<&QuestionWork>> = arms
        .iter()
        .map(|arm| match &arm.work {
            ArmWork::Questions(work) => Some(work.as_ref()),
            ArmWork::Code(_) => None,
        })
        .collect();
    let Some(works) = works else {
        let fewest = min_units(Units::Tasks, arms.len(), &policy);
        return if arms.len() == 2 {
            Ok(DecisionMethod::Whole(None))
        } else {
            Err(CommandFailure::new(format!(
                "--until decided repeats the runs of one task for two arms, and there are {} arms",
                arms.len()
            ))
            .with_hint(format!(
                "compare two arms, or run {fewest} tasks or more in one command"
            )))
        };
    };
    if let Some(why) = choosing_obstacle(arms, &works, &policy) {
        return if arms.len() == 2 {
            Ok(DecisionMethod::Whole(Some(why)))
        } else {
            Err(CommandFailure::new(format!(
                "questions cannot be chosen for {} arms: {why}",
                arms.len()
            ))
            .with_hint("run all questions (without --until), or compare two arms"))
        };
    }
    let suite = &arms[0].planned.suite;
    let questions = || {
        works[0]
            .spec
            .questions
            .iter()
            .map(|question| question.id.as_str())
    };
    let warehouse = settings.open_with(&settings.source_options())?;
    let groups = question_groups(
        &warehouse,
        suite,
        arms[0].planned.suite_version.as_deref(),
        questions(),
    );
    let is_excluded = |id: &str| {
        policy.exclusions.iter().any(|exclusion| {
            exclusion.item == id && exclusion.suite.as_ref().is_none_or(|of| of == suite)
        })
    };
    Ok(DecisionMethod::Questions(
        groups
            .chars()
            .zip(questions())
            .map(|(letter, id)| if is_excluded(id) { NOT_ASKED } else { letter })
            .collect(),
    ))
}

fn choose_tasks(
    arms: &[RunnableArm],
    suites: &BTreeSet<&str>,
    names: usize,
    policy: &Policy,
) -> Result<DecisionMethod, CommandFailure> {
    if arms
        .iter()
        .any(|arm| matches!(arm.work, ArmWork::Questions(_)))
    {
        return Err(CommandFailure::new(
            "--until decided is about one file of questions, or about several tasks of code",
        )
        .with_hint("name one question file, or only suites of code"));
    }
    if arms.len() != suites.len() * names {
        return Err(
            CommandFailure::new("--until decided needs the same arms on every task")
                .with_hint("name the approaches for all tasks"),
        );
    }
    if let Some(suite) = suites
        .iter()
        .find(|suite| policy.primary_metric(suite).is_some())
    {
        return Err(CommandFailure::new(format!(
            "--until decided compares pass rates, and `{}` has another primary metric",
            escape_invisible(suite)
        ))
        .with_hint("run the tasks without --until"));
    }
    let fewest = min_units(Units::Tasks, names, policy);
    if suites.len() < fewest {
        return Err(CommandFailure::new(format!(
            "{} tasks cannot give a verdict on {names} arms; {fewest} are needed",
            suites.len()
        ))
        .with_hint(format!(
            "name {fewest} tasks or more, or run each task alone with --until decided and two arms"
        )));
    }
    Ok(DecisionMethod::Tasks)
}

/// Returns the fewest units with which a verdict on each pair of some arms is possible.
fn min_units(units: Units, arms: usize, policy: &Policy) -> usize {
    units
        .fewest_deciding(arms * arms.saturating_sub(1) / 2, policy.alpha)
        .max(MIN_ITEMS)
}

/// Returns the units of the comparison of a suite's questions.
pub(super) fn question_units(policy: &Policy, suite: &str, work: &QuestionWork) -> Units {
    let is_clustered = policy.use_clusters
        && cluster_count(work) < work.spec.questions.len()
        && policy.configured_design(suite) != Some(Design::Items);
    if is_clustered {
        Units::Clusters
    } else {
        Units::Items
    }
}

/// A question without a cluster is its own.
fn cluster_count(work: &QuestionWork) -> usize {
    let clusters: BTreeSet<Result<&str, &str>> = work
        .spec
        .questions
        .iter()
        .map(|question| question.cluster.as_deref().ok_or(question.id.as_str()))
        .collect();
    clusters.len()
}

/// Returns why the questions cannot be chosen.
fn choosing_obstacle(
    arms: &[RunnableArm],
    works: &[&QuestionWork],
    policy: &Policy,
) -> Option<String> {
    let (first, suite) = (&works[0].spec.questions, arms[0].planned.suite.as_str());
    let is_same = |other: &QuestionWork| {
        let other = &other.spec.questions;
        first.len() == other.len()
            && first
                .iter()
                .zip(other)
                .all(|(one, other)| one.id == other.id)
    };
    let has_one_version = arms
        .iter()
        .all(|arm| arm.planned.suite_version == arms[0].planned.suite_version);
    if !has_one_version || !works.iter().all(|work| is_same(work)) {
        return Some("the arms have other questions".to_owned());
    }
    if first.len() < MIN_QUESTIONS {
        return Some(format!(
            "there are {}, and it takes {MIN_QUESTIONS}",
            output::format_count(first.len(), "question")
        ));
    }
    if policy.primary_metric(suite).is_some() {
        return Some("the suite has another primary metric than the pass rate".to_owned());
    }
    if policy
        .configured_design(suite)
        .is_some_and(|design| !design.is_over_items())
    {
        return Some("the suite's verdict is not about its questions".to_owned());
    }
    if question_units(policy, suite, works[0]) == Units::Clusters {
        let (clusters, fewest) = (
            cluster_count(works[0]),
            min_units(Units::Clusters, arms.len(), policy),
        );
        if clusters < fewest {
            return Some(format!(
                "they are in {}, and it takes {fewest}",
                output::format_count(clusters, "cluster")
            ));
        }
    }
    None
}

/// Prints the verdicts foreseen from chosen questions or runs, and returns the printed tables.
pub(super) fn print_verdicts(
    settings: &Settings,
    batch: &Batch,
    records: &[Run],
    chosen: &AdaptiveResult,
) -> Result<Vec<ReportTable>, CommandFailure> {
    let alpha = policy::configured_policy(settings)?.alpha;
    let arms: Vec<Vec<usize>> = match chosen.units {
        Units::Items | Units::Clusters => (0..batch.arms.len()).map(|arm| vec![arm]).collect(),
        Units::Tasks => task_arms(batch),
    };
    let suites: Vec<String> = arms
        .first()
        .into_iter()
        .flatten()
        .map(|arm| batch.arms[*arm].suite.clone())
        .collect();
    let of_arm = |(places, asked): (&Vec<usize>, &u64)| {
        let is_own = |run: &&Run| {
            batch
                .runs
                .iter()
                .any(|planned| planned.id == run.id && places.contains(&planned.arm))
        };
        let first = &batch.arms[places[0]];
        // The records have the model that answered.
        let runs: Vec<&Run> = records.iter().filter(is_own).collect();
        let model = runs.first().map_or(&first.model, |run| &run.model).clone();
        PlannedRuns {
            arm: Name {
                approach: first.approach.clone(),
                model,
            },
            asked: *asked,
            runs,
        }
    };
    let arms: Vec<PlannedRuns<'_>> = arms.iter().zip(&chosen.asked).map(of_arm).collect();
    let found = ForeseenVerdict::new(
        suites,
        (chosen.units, chosen.unit_count, chosen.items),
        alpha,
        &arms,
        &chosen.pairs,
    );
    let tables = foreseen::verdict_tables(&found);
    output::print_answer(settings, "foreseen", &tables, || found)?;
    Ok(tables)
}
