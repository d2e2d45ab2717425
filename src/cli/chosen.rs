//! `run --until decided` for two arms of a question file: which questions may be chosen, and the answer.

use crate::domain::Run;
use crate::inference::{Design, Policy};
use crate::render::foreseen;
use crate::run::{Arm, Chosen, QuestionWork, Work};
use crate::views::{ForeseenVerdict, question_groups};

use super::failure::Failure;
use super::settings::Settings;
use super::{output, policy};

/// Minimum number of questions. With fewer, choosing among them saves little.
const MIN_QUESTIONS: usize = 60;
/// The letter of a question that is not asked.
const NOT_ASKED: char = '.';

/// Returns the group of each question, a letter each, or `None` if the questions cannot be chosen: few or dependent questions, suites
/// whose verdict is not about single questions, and code.
pub(super) fn groups(settings: &Settings, arms: &[Arm]) -> Result<Option<String>, Failure> {
    let [Work::Questions(first), Work::Questions(second)] = [&arms[0].work, &arms[1].work] else { return Ok(None) };
    let policy = policy::configured(settings)?;
    let suite = &arms[0].planned.suite;
    if arms[0].planned.suite_version != arms[1].planned.suite_version || !can_choose(&policy, suite, [first, second]) {
        return Ok(None);
    }
    let questions = || first.spec.questions.iter().map(|question| question.id.as_str());
    let warehouse = settings.open_with(&settings.options())?;
    let groups = question_groups(&warehouse, suite, arms[0].planned.suite_version.as_deref(), questions());
    let is_excluded =
        |id: &str| policy.exclusions.iter().any(|exclusion| exclusion.item == id && exclusion.suite.as_ref().is_none_or(|of| of == suite));
    Ok(Some(groups.chars().zip(questions()).map(|(letter, id)| if is_excluded(id) { NOT_ASKED } else { letter }).collect()))
}

fn can_choose(policy: &Policy, suite: &str, works: [&QuestionWork; 2]) -> bool {
    let [questions, others] = works.map(|work| &work.spec.questions);
    let design = policy.designs.get(suite).or_else(|| policy.designs.get(""));
    let is_same = questions.len() == others.len() && questions.iter().zip(others).all(|(one, other)| one.id == other.id);
    let is_clustered = policy.use_clusters && questions.iter().any(|question| question.cluster.is_some());
    let has_other_metric = policy.primary.contains_key(suite) || policy.primary.contains_key("");
    is_same
        && questions.len() >= MIN_QUESTIONS
        && !is_clustered
        && !has_other_metric
        && design.is_none_or(|design| *design == Design::Items)
}

/// Prints the verdict of two runs of chosen questions.
pub(super) fn print(settings: &Settings, runs: [&Run; 2], chosen: Chosen) -> Result<(), Failure> {
    let alpha = policy::configured(settings)?.alpha;
    let found = ForeseenVerdict::of(runs, chosen.verdict, alpha, (chosen.asked, chosen.of), [chosen.won, chosen.lost]);
    let table = foreseen::table(&found);
    output::answer(settings, "foreseen", &[table], || found)
}
