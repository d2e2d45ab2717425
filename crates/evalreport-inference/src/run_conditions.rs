//! The recorded conditions of an arm's runs, and how those of two arms differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Evaluator, Resources, Run};
use crate::warehouse::OutcomeMatrix;

use super::arm::ArmRuns;
use super::mismatch::{Mismatch, MismatchKind};
use super::policy::MAX_UNSHARED_ITEMS;
use super::scores::newest_record;

/// A setting that importers keep as a tag of the run.
struct ConditionTag {
    tag: &'static str,
    label: &'static str,
    kind: MismatchKind,
}

const fn condition_tag(tag: &'static str, label: &'static str, kind: MismatchKind) -> ConditionTag {
    ConditionTag { tag, label, kind }
}

const CONDITION_TAGS: [ConditionTag; 15] = [
    condition_tag("judge", "", MismatchKind::Judge),
    condition_tag("n_shot", "", MismatchKind::Shots),
    condition_tag("time_limit", "time limit", MismatchKind::Limit),
    condition_tag(
        "working_limit",
        "limit of working time",
        MismatchKind::Limit,
    ),
    condition_tag(
        "agent_timeout",
        "time limit of the agent",
        MismatchKind::Limit,
    ),
    condition_tag(
        "max_agent_timeout",
        "longest time limit of the agent",
        MismatchKind::Limit,
    ),
    condition_tag(
        "timeout_multiplier",
        "multiplier of time limits",
        MismatchKind::Limit,
    ),
    condition_tag(
        "agent_timeout_multiplier",
        "multiplier of the agent's time limits",
        MismatchKind::Limit,
    ),
    condition_tag("message_limit", "message limit", MismatchKind::Limit),
    condition_tag("turn_limit", "turn limit", MismatchKind::Limit),
    condition_tag("max_steps", "step limit", MismatchKind::Limit),
    condition_tag("token_limit", "token limit", MismatchKind::Limit),
    condition_tag("max_tokens", "token limit of a reply", MismatchKind::Limit),
    condition_tag("cost_limit", "cost limit", MismatchKind::Limit),
    condition_tag("sandbox", "sandbox", MismatchKind::Resources),
];

/// Formats a resource of a run.
type ResourceFormat = fn(&Run) -> Option<String>;

/// Resources of a run that can affect an arm's figures.
const RESOURCE_FORMATS: [(&str, ResourceFormat); 11] = [
    ("processors", |run| {
        run_resources(run)?
            .usable_cpus()
            .map(|count| count.to_string())
    }),
    // Kernels on equal machines reserve different amounts of memory.
    ("memory", |run| {
        run_resources(run)?
            .usable_memory()
            .map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))
    }),
    ("number of parallel jobs", |run| {
        run_resources(run)?.jobs.map(|jobs| jobs.to_string())
    }),
    ("time limit", |run| {
        run_resources(run)?.time_limit.map(format_time_limit)
    }),
    ("kernel", |run| run_resources(run)?.kernel.clone()),
    ("versions of the tools", |run| {
        let versions: Vec<&str> = run_resources(run)?
            .tools
            .values()
            .map(String::as_str)
            .collect();
        Some(versions.join(", ")).filter(|versions| !versions.is_empty())
    }),
    ("version of the agent's program", |run| {
        run_resources(run)?.agent_version.clone()
    }),
    ("provider", |run| run_resources(run)?.provider.clone()),
    ("region", |run| run_resources(run)?.region.clone()),
    ("rights of the agent", |run| {
        run_resources(run)?.rights.clone()
    }),
    ("isolation", |run| {
        run.isolation.clone().filter(|_| run.provenance.is_none())
    }),
];

fn run_resources(run: &Run) -> Option<&Resources> {
    run.resources.as_ref()
}

/// Formats seconds in their largest whole unit.
fn format_time_limit(seconds: f64) -> String {
    let units = [(3600.0, "h"), (60.0, "min")];
    let (size, unit) = units
        .into_iter()
        .find(|(size, _)| seconds >= *size && seconds % size == 0.0)
        .unwrap_or((1.0, "s"));
    format!("{} {unit}", seconds / size)
}

/// Tags of imported runs with digests of text sent to the models beside the items.
const CHAT_TEMPLATE_TAG: &str = "chat_template_sha";
const SYSTEM_INSTRUCTION_TAG: &str = "system_instruction_sha";
const PROMPT_HASHES_TAG: &str = "prompt_hashes";
const TASK_HASH_TAG: &str = "task_hash";
/// The mismatch detail of an arm with neither items nor counts.
pub(super) const SCORES_DETAIL: &str = "scores";
/// Shown characters of a digest.
const SHOWN_CHARS: usize = 12;

/// Returns the recorded conditions of one run that the arm itself does not choose, by name: resources, and an import's limits and sandbox.
pub(super) fn run_conditions(run: &Run) -> Vec<(&'static str, String)> {
    let resources = RESOURCE_FORMATS
        .iter()
        .filter_map(|(what, said)| Some((*what, said(run)?)));
    let is_condition = |kind| matches!(kind, MismatchKind::Limit | MismatchKind::Resources);
    let limits = CONDITION_TAGS
        .iter()
        .filter(|setting| is_condition(setting.kind) && run.provenance.is_some());
    resources
        .chain(
            limits.filter_map(|setting| Some((setting.label, run.tags.get(setting.tag)?.clone()))),
        )
        .collect()
}

/// The conditions of an arm's runs.
pub(super) struct RunConditions {
    importers: BTreeSet<String>,
    /// By setting: the values that the runs name.
    settings: Vec<BTreeSet<String>>,
    /// The agents of the runs, with their models.
    agents: BTreeSet<(Option<String>, String)>,
    /// By resource: the values of the runs.
    resources: Vec<BTreeSet<String>>,
    template: BTreeSet<String>,
    instruction: BTreeSet<String>,
    prompts: BTreeSet<String>,
    task: BTreeSet<String>,
    /// For imported runs: the numbers of attempts at an item.
    attempts: BTreeSet<u32>,
    /// By metric: the evaluators, and the numbers of their revisions.
    decided: BTreeMap<String, (BTreeSet<String>, BTreeSet<u32>)>,
    /// By score metric: the numbers of items that the runs report for it.
    sizes: BTreeMap<String, BTreeSet<u64>>,
}

impl RunConditions {
    pub fn from_arm(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix) -> Self {
        let imported = || {
            arm.counted
                .iter()
                .filter_map(|row| Some((&row.run, row.run.provenance.as_ref()?)))
        };
        // Tags of our own runs belong to the user, so only importers' tags are read.
        let values = |tag: &str| -> BTreeSet<String> {
            imported()
                .filter_map(|(run, _)| run.tags.get(tag).cloned())
                .collect()
        };
        let mut decided = BTreeMap::<String, (BTreeSet<String>, BTreeSet<u32>)>::new();
        let mut sizes = BTreeMap::<String, BTreeSet<u64>>::new();
        for row in &arm.counted {
            let metrics: BTreeSet<&str> = row
                .run
                .scores
                .iter()
                .map(|score| score.metric.as_str())
                .collect();
            for score in metrics
                .into_iter()
                .filter_map(|metric| newest_record(row, metric))
            {
                if score.value.is_some() {
                    sizes
                        .entry(score.metric.clone())
                        .or_default()
                        .extend(score.n);
                }
                if let Some(evaluator) = &score.evaluator {
                    let (evaluators, revisions) = decided.entry(score.metric.clone()).or_default();
                    evaluators.insert(evaluator.clone());
                    revisions.insert(score.revision);
                }
            }
        }
        let attempts = |row: &&crate::warehouse::RunRow| {
            matrix
                .rows_of_run(&row.run.id)
                .iter()
                .map(|row| row.attempt)
                .max()
        };
        Self {
            importers: imported().map(|(_, from)| from.importer.clone()).collect(),
            settings: CONDITION_TAGS
                .iter()
                .map(|setting| values(setting.tag))
                .collect(),
            agents: arm
                .counted
                .iter()
                .map(|row| (row.run.agent.clone(), row.run.model.clone()))
                .collect(),
            resources: RESOURCE_FORMATS
                .iter()
                .map(|(_, said)| {
                    arm.counted
                        .iter()
                        .filter_map(|row| said(&row.run))
                        .collect()
                })
                .collect(),
            template: values(CHAT_TEMPLATE_TAG),
            instruction: values(SYSTEM_INSTRUCTION_TAG),
            prompts: values(PROMPT_HASHES_TAG),
            task: values(TASK_HASH_TAG),
            attempts: arm.counted.iter().filter_map(attempts).collect(),
            decided,
            sizes,
        }
    }

    /// Returns whether any run has a score.
    pub fn has_scores(&self) -> bool {
        !self.sizes.is_empty()
    }

    /// Compares the texts sent to the models beside the items, for arms with the same items. Chat templates change every prompt, so if the
    /// templates differ, prompts are not compared.
    pub fn prompt_mismatch(&self, other: &Self) -> Vec<Mismatch> {
        let digests = |values: &BTreeSet<String>| match values.len() {
            0 => "none".to_owned(),
            _ => join_values(
                values
                    .iter()
                    .map(|value| value.chars().take(SHOWN_CHARS).collect()),
            ),
        };
        let differ = |own: &BTreeSet<String>, others: &BTreeSet<String>| {
            !own.is_empty() && !others.is_empty() && own != others
        };
        let mut found = Vec::new();
        if self.instruction != other.instruction && self.importers == other.importers {
            let (own, others) = (digests(&self.instruction), digests(&other.instruction));
            found.push(Mismatch::with_values(
                MismatchKind::Prompts,
                "system instruction",
                own,
                others,
            ));
        }
        if self.template != other.template && self.importers == other.importers {
            found.push(Mismatch::with_values(
                MismatchKind::Templates,
                "",
                digests(&self.template),
                digests(&other.template),
            ));
        } else if differ(&self.prompts, &other.prompts) {
            found.push(Mismatch::from_kind(MismatchKind::Prompts));
        } else if differ(&self.task, &other.task) {
            found.push(Mismatch::with_values(
                MismatchKind::Prompts,
                "hash of the task",
                digests(&self.task),
                digests(&other.task),
            ));
        }
        found
    }

    /// Returns a mismatch if two arms' figures cover different numbers of unnamed items, by the runs' counts or by their scores.
    pub fn total_mismatch(
        &self,
        counted: &BTreeSet<u64>,
        other: &Self,
        other_counted: &BTreeSet<u64>,
    ) -> Option<Mismatch> {
        let said = |totals: &BTreeSet<u64>| join_values(totals.iter().map(u64::to_string));
        let differ = |own: &BTreeSet<u64>, others: &BTreeSet<u64>| {
            let what = if counted.is_empty() || other_counted.is_empty() {
                SCORES_DETAIL
            } else {
                ""
            };
            let all = || own.iter().chain(others).copied();
            let (fewest, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
            // A run that lacks one or two items has the same sample; one that lacks part of the suite may not.
            let kind = if fewest as f64 >= (1.0 - MAX_UNSHARED_ITEMS) * most as f64 {
                MismatchKind::NearTotals
            } else {
                MismatchKind::Totals
            };
            Mismatch::with_values(kind, what, said(own), said(others))
        };
        if !counted.is_empty() && !other_counted.is_empty() {
            return (counted.union(other_counted).count() > 1)
                .then(|| differ(counted, other_counted));
        }
        if counted.is_empty() && other_counted.is_empty() {
            let both = self
                .sizes
                .iter()
                .filter_map(|(metric, own)| Some((own, other.sizes.get(metric)?)));
            let mut known = both.filter(|(own, others)| !own.is_empty() && !others.is_empty());
            return known
                .find(|(own, others)| own != others)
                .map(|(own, others)| differ(own, others));
        }
        // A score may skip some of the items: one score with the same number is enough.
        let (own, others) = (
            self.sizes_or_counted(counted),
            other.sizes_or_counted(other_counted),
        );
        (!own.is_empty() && !others.is_empty() && own.is_disjoint(&others))
            .then(|| differ(&own, &others))
    }

    fn sizes_or_counted(&self, counted: &BTreeSet<u64>) -> BTreeSet<u64> {
        if counted.is_empty() {
            self.sizes.values().flatten().copied().collect()
        } else {
            counted.clone()
        }
    }

    /// Returns the differences that do not depend on the items.
    pub fn mismatches_with(&self, other: &Self) -> Vec<Mismatch> {
        let mut found = Vec::new();
        for ((setting, own), others) in CONDITION_TAGS
            .iter()
            .zip(&self.settings)
            .zip(&other.settings)
        {
            if own == others {
                continue;
            }
            let is_silent = own.is_empty() || others.is_empty();
            // A tool that records limits and records none has no limit.
            let says_all = setting.kind == MismatchKind::Limit
                && self.importers == other.importers
                && self.importers.len() == 1;
            let said = |values: &BTreeSet<String>| match values.len() {
                0 if says_all => "none".to_owned(),
                0 => "not stated".to_owned(),
                _ => join_values(values.iter().cloned()),
            };
            let kind = if is_silent && !says_all {
                MismatchKind::UnknownSetting
            } else {
                setting.kind
            };
            let what = if kind == MismatchKind::UnknownSetting && setting.label.is_empty() {
                setting.tag
            } else {
                setting.label
            };
            found.push(Mismatch::with_values(kind, what, said(own), said(others)));
        }
        // A different program of a different agent is the subject of the comparison, not a mismatch.
        let is_compared = |what: &str| {
            self.agents != other.agents
                && (what.starts_with("version") || matches!(what, "provider" | "region"))
        };
        for (((what, _), own), others) in RESOURCE_FORMATS
            .iter()
            .zip(&self.resources)
            .zip(&other.resources)
        {
            if !own.is_empty() && !others.is_empty() && own != others && !is_compared(what) {
                let (own, others) = (
                    join_values(own.iter().cloned()),
                    join_values(others.iter().cloned()),
                );
                found.push(Mismatch::with_values(
                    MismatchKind::Resources,
                    what,
                    own,
                    others,
                ));
            }
        }
        if self.attempts != other.attempts
            && !self.attempts.is_empty()
            && !other.attempts.is_empty()
        {
            let said = |attempts: &BTreeSet<u32>| join_values(attempts.iter().map(u32::to_string));
            found.push(Mismatch::with_values(
                MismatchKind::Attempts,
                "",
                said(&self.attempts),
                said(&other.attempts),
            ));
        }
        for (metric, (evaluators, revisions)) in &self.decided {
            let Some((others, other_revisions)) = other.decided.get(metric) else {
                continue;
            };
            if evaluators != others {
                let said = |evaluators: &BTreeSet<String>| join_values(evaluators.iter().cloned());
                found.push(Mismatch::with_values(
                    MismatchKind::Judge,
                    metric,
                    said(evaluators),
                    said(others),
                ));
            } else if revisions != other_revisions
                && Evaluator::from_name(metric).is_some_and(Evaluator::is_judged)
            {
                let said =
                    |revisions: &BTreeSet<u32>| join_values(revisions.iter().map(u32::to_string));
                found.push(Mismatch::with_values(
                    MismatchKind::Revision,
                    metric,
                    said(revisions),
                    said(other_revisions),
                ));
            }
        }
        found
    }
}

pub(super) fn join_values(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" and ")
}
