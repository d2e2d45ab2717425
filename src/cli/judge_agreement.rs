//! Compares stored judgements with people's labels and with each other, without asking any judge.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use crate::domain::{
    Evaluator, ItemDetails, ItemOutcome, ItemStatus, Problem, Run, RunId, escape_invisible,
    is_person, latest_revision, latest_score,
};
use crate::render::json::AgreementAnswer;
use crate::render::judging;
use crate::results::{JudgeLine, Judgements};
use crate::run::judge::JudgementState;
use crate::suite::normalize_answer;
use crate::views::{AgreementReport, Rater, category_biases, measure_agreement};
use crate::warehouse::Warehouse;

use super::display_path::display_path;
use super::failure::CommandFailure;
use super::labels::{self, HumanLabel};
use super::settings::Settings;
use super::{exit_code, output, selection};

/// Compares the judge with labels that people gave.
pub(super) fn compare_with_people(
    settings: &Settings,
    judge: Option<&str>,
    path: &Path,
    labels: &[HumanLabel],
    warehouse: &Warehouse,
    runs: &[Arc<Run>],
) -> Result<u8, CommandFailure> {
    let file = display_path(path);
    let mut problems = Vec::new();
    let mut known: BTreeMap<RunId, Option<JudgementState>> = BTreeMap::new();
    let mut judges: BTreeMap<String, Rater> = BTreeMap::new();
    let mut people: BTreeMap<&str, Rater> = labels::rater_names(labels)
        .into_iter()
        .map(|name| {
            (
                name,
                Rater {
                    name: name.to_owned(),
                    labels: BTreeMap::new(),
                },
            )
        })
        .collect();
    let mut undecided = BTreeSet::new();
    for label in labels {
        let found = selection::match_ids(&label.run, runs.iter().map(|run| &run.id));
        let id = match found.as_slice() {
            [one] => (*one).clone(),
            [] => {
                problems.push(Problem::at_line(
                    &file,
                    label.line,
                    format!("no selected run `{}`", escape_invisible(&label.run)),
                ));
                continue;
            }
            several => {
                let message = format!(
                    "`{}` is the beginning of {} run ids",
                    escape_invisible(&label.run),
                    several.len()
                );
                problems.push(Problem::at_line(&file, label.line, message));
                continue;
            }
        };
        if !known.contains_key(&id) {
            known.insert(
                id.clone(),
                newest_judgement(&load_judgements(settings, warehouse, &id)?, judge),
            );
        }
        let standing = known.get(&id).and_then(Option::as_ref);
        let criterion = standing.map(|standing| {
            (
                standing,
                standing
                    .items
                    .iter()
                    .find(|(item, _)| normalize_answer(item) == normalize_answer(&label.item)),
            )
        });
        let rated = match criterion {
            None => (id.to_string(), label.item.clone()),
            Some((_, Some((item, _)))) => (id.to_string(), item.clone()),
            Some((standing, None)) => {
                let near = crate::domain::nearest_name(
                    &label.item,
                    standing.items.iter().map(|(item, _)| item.as_str()),
                );
                let problem = Problem::at_line(
                    &file,
                    label.line,
                    format!(
                        "run `{id}` has no criterion `{}`",
                        escape_invisible(&label.item)
                    ),
                );
                problems.push(match near {
                    Some(near) => {
                        problem.with_hint(format!("did you mean `{}`?", escape_invisible(near)))
                    }
                    None => problem,
                });
                continue;
            }
        };
        let decided = standing.and_then(|standing| {
            Some((
                standing.judge.clone()?,
                standing
                    .criteria_met()
                    .into_iter()
                    .find(|(item, _)| *item == rated.1)?
                    .1?,
            ))
        });
        match decided {
            Some((judge, met)) => {
                let said = judges.entry(judge.clone()).or_insert_with(|| Rater {
                    name: judge,
                    labels: BTreeMap::new(),
                });
                said.labels.insert(rated.clone(), met);
            }
            None => {
                undecided.insert(rated.clone());
            }
        }
        if let Some(person) = people.get_mut(label.rater.as_str()) {
            person.labels.insert(rated, label.met);
        }
    }
    if !problems.is_empty() {
        return Err(labels::problems_failure(path, &problems));
    }
    if judges.is_empty() {
        return Err(CommandFailure::new(
            "no judge has decided about any criterion that is labelled",
        )
        .with_hint(
            "judge the runs first with `evalreport judge`; --judge picks one of several judges",
        ));
    }
    // Several judges are several raters and are never merged.
    let (judges, people): (Vec<Rater>, Vec<Rater>) = (
        judges.into_values().collect(),
        people.into_values().collect(),
    );
    let raters: Vec<Rater> = judges.iter().chain(&people).cloned().collect();
    let bias = category_biases(&judges, &people, &BTreeMap::new());
    let report = AgreementReport {
        bias,
        ..measure_agreement(&raters, undecided.len() as u64)
    };
    output::print_answer_by_first_table(
        settings,
        "agreement",
        judging::agreement_tables(&report),
        || AgreementAnswer { report },
    )?;
    Ok(exit_code::DONE)
}

/// Compares the evaluators of stored runs with the labels that people gave them.
pub(super) fn compare_with_labels(
    settings: &Settings,
    warehouse: &Warehouse,
    runs: &[Arc<Run>],
) -> Result<u8, CommandFailure> {
    let outcomes = warehouse.read_detailed_outcomes(runs).map_err(|error| {
        CommandFailure::new(format!("the outcomes of the runs cannot be read: {error}"))
    })?;
    let rated = |outcome: &ItemOutcome| (outcome.run.to_string(), outcome.item.clone());
    let is_decided = |outcome: &&(ItemOutcome, ItemDetails)| {
        matches!(outcome.0.status, ItemStatus::Pass | ItemStatus::Fail) && outcome.0.attempt == 1
    };
    let labelled: BTreeSet<_> = outcomes
        .iter()
        .filter(|(outcome, _)| is_person(&outcome.evaluator))
        .map(|(outcome, _)| rated(outcome))
        .collect();
    let mut raters: BTreeMap<(bool, String), Rater> = BTreeMap::new();
    let (mut categories, mut decided) = (BTreeMap::new(), BTreeSet::new());
    for (outcome, details) in outcomes
        .iter()
        .filter(is_decided)
        .filter(|(outcome, _)| labelled.contains(&rated(outcome)))
    {
        let is_human = is_person(&outcome.evaluator);
        let row = warehouse
            .runs()
            .iter()
            .find(|row| row.run.id == outcome.run);
        let known = row
            .and_then(|row| latest_score(&row.run.scores, &outcome.evaluator))
            .and_then(|score| score.evaluator.clone());
        let name = known
            .filter(|_| !is_human)
            .unwrap_or_else(|| outcome.evaluator.clone());
        let person = raters
            .entry((is_human, name.clone()))
            .or_insert_with(|| Rater {
                name,
                labels: BTreeMap::new(),
            });
        person
            .labels
            .insert(rated(outcome), outcome.status == ItemStatus::Pass);
        if let Some(category) = outcome.category_in(details) {
            categories.insert(rated(outcome), category.to_owned());
        }
        if !is_human {
            decided.insert(rated(outcome));
        }
    }
    let (people, judges): (Vec<_>, Vec<_>) =
        raters.into_iter().partition(|((is_human, _), _)| *is_human);
    let [people, judges] = [people, judges].map(|raters| {
        raters
            .into_iter()
            .map(|(_, rater)| rater)
            .collect::<Vec<Rater>>()
    });
    if people.is_empty() || judges.is_empty() {
        return Err(CommandFailure::new("no person has labelled an item that a judge decides").with_hint(
            "`evalreport judge --next 50 --format csv > labels.csv` chooses items; fill in `label`, then `evalreport import labels.csv`",
        ));
    }
    let undecided = labelled.difference(&decided).count() as u64;
    let raters: Vec<Rater> = judges.iter().chain(&people).cloned().collect();
    let report = AgreementReport {
        bias: category_biases(&judges, &people, &categories),
        ..measure_agreement(&raters, undecided)
    };
    output::print_answer_by_first_table(
        settings,
        "agreement",
        judging::agreement_tables(&report),
        || AgreementAnswer { report },
    )?;
    Ok(exit_code::DONE)
}

/// Compares one judge with another over the runs that both have judged.
pub(super) fn compare_judges(
    settings: &Settings,
    judge: Option<&str>,
    other: &str,
    warehouse: &Warehouse,
    runs: &[Arc<Run>],
) -> Result<u8, CommandFailure> {
    let mut judges: [Option<Rater>; 2] = [None, None];
    let mut names = BTreeSet::new();
    for run in runs {
        let judgements = load_judgements(settings, warehouse, &run.id)?;
        names.extend(
            judgements
                .scores
                .iter()
                .filter_map(|line| line.judge.as_ref())
                .map(JudgeLine::name),
        );
        let theirs = newest_judgement(&judgements, Some(other));
        let without = Judgements {
            scores: judgements
                .scores
                .iter()
                .filter(|line| {
                    !line
                        .judge
                        .as_ref()
                        .is_some_and(|judge| is_judge_named(&judge.name(), other))
                })
                .cloned()
                .collect(),
            ..judgements.clone()
        };
        let ours = newest_judgement(&without, judge);
        let (Some(ours), Some(theirs)) = (ours, theirs) else {
            continue;
        };
        for (rater, standing) in judges.iter_mut().zip([ours, theirs]) {
            let name = standing.judge.clone().unwrap_or_default();
            let rater = rater.get_or_insert_with(|| Rater {
                name: name.clone(),
                labels: BTreeMap::new(),
            });
            if rater.name != name {
                return Err(CommandFailure::new(format!("`{}` and `{}` are two judges; name one", escape_invisible(&rater.name), escape_invisible(&name)))
                    .with_hint("name a judge with --judge or --against as listed: AGENT, AGENT:MODEL, or with its #PROMPT"));
            }
            let decided = standing
                .criteria_met()
                .into_iter()
                .filter_map(|(item, met)| Some(((run.id.to_string(), item), met?)));
            rater.labels.extend(decided);
        }
    }
    let [Some(ours), Some(theirs)] = judges else {
        let known: Vec<String> = names
            .iter()
            .map(|name| format!("`{}`", escape_invisible(name)))
            .collect();
        let hint = if known.is_empty() {
            "none of the runs was judged yet".to_owned()
        } else {
            format!("judges of these runs: {}", known.join(", "))
        };
        return Err(CommandFailure::new(format!(
            "no selected run was judged both by `{}` and by another",
            escape_invisible(other)
        ))
        .with_hint(hint));
    };
    let report = measure_agreement(&[ours, theirs], 0);
    output::print_answer_by_first_table(
        settings,
        "agreement",
        judging::agreement_tables(&report),
        || AgreementAnswer { report },
    )?;
    Ok(exit_code::DONE)
}

/// Returns the judgements of a run, whichever store holds it.
fn load_judgements(
    settings: &Settings,
    warehouse: &Warehouse,
    run: &RunId,
) -> Result<Judgements, CommandFailure> {
    match settings.stores().score_store_of(warehouse, run)? {
        Some(store) => Ok(store.read_judgements(run, Evaluator::RequirementFulfillment.name())?),
        None => Ok(Judgements::default()),
    }
}

/// Returns the newest judgement by any judge, or by the judge that `judge` names.
fn newest_judgement(judgements: &Judgements, judge: Option<&str>) -> Option<JudgementState> {
    let is_wanted = |name: &str| judge.is_none_or(|wanted| is_judge_named(name, wanted));
    let lines = judgements.scores.iter().filter(|line| {
        line.judge
            .as_ref()
            .is_some_and(|judge| is_wanted(&judge.name()))
    });
    let newest = lines.filter(|line| {
        line.score.value.is_some()
            || judgements
                .items_of_revision(line.score.revision)
                .next()
                .is_some()
    });
    latest_revision(newest, |line| line.score.revision)
        .map(|line| JudgementState::from_revision(judgements, line.score.revision))
}

/// Says whether `wanted` names a judge: by agent, by agent and model, or by the full name.
fn is_judge_named(name: &str, wanted: &str) -> bool {
    name.strip_prefix(wanted)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', ' ']))
}
