//! The recorded conditions of an arm's runs, and how those of two arms differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::{Evaluator, Resources, Run};
use crate::warehouse::OutcomeMatrix;

use super::arm::ArmRuns;
use super::mismatch::{Mismatch, MismatchKind};
use super::scores::newest;

/// A setting that importers keep as a tag of the run.
struct Setting {
    tag: &'static str,
    label: &'static str,
    kind: MismatchKind,
}

const fn setting(tag: &'static str, label: &'static str, kind: MismatchKind) -> Setting {
    Setting { tag, label, kind }
}

const SETTINGS: [Setting; 15] = [
    setting("judge", "", MismatchKind::Judge),
    setting("n_shot", "", MismatchKind::Shots),
    setting("time_limit", "time limit", MismatchKind::Limit),
    setting(
        "working_limit",
        "limit of working time",
        MismatchKind::Limit,
    ),
    setting(
        "agent_timeout",
        "time limit of the agent",
        MismatchKind::Limit,
    ),
    setting(
        "max_agent_timeout",
        "longest time limit of the agent",
        MismatchKind::Limit,
    ),
    setting(
        "timeout_multiplier",
        "multiplier of time limits",
        MismatchKind::Limit,
    ),
    setting(
        "agent_timeout_multiplier",
        "multiplier of the agent's time limits",
        MismatchKind::Limit,
    ),
    setting("message_limit", "message limit", MismatchKind::Limit),
    setting("turn_limit", "turn limit", MismatchKind::Limit),
    setting("max_steps", "step limit", MismatchKind::Limit),
    setting("token_limit", "token limit", MismatchKind::Limit),
    setting("max_tokens", "token limit of a reply", MismatchKind::Limit),
    setting("cost_limit", "cost limit", MismatchKind::Limit),
    setting("sandbox", "sandbox", MismatchKind::Resources),
];

/// Formats a resource of a run.
type Said = fn(&Run) -> Option<String>;

/// Resources of a run that can affect an arm's figures.
const RESOURCES: [(&str, Said); 11] = [
    ("processors", |run| {
        had(run)?.usable_cpus().map(|count| count.to_string())
    }),
    // Kernels on equal machines reserve different amounts of memory.
    ("memory", |run| {
        had(run)?
            .usable_memory()
            .map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)))
    }),
    ("number of parallel jobs", |run| {
        had(run)?.jobs.map(|jobs| jobs.to_string())
    }),
    ("time limit", |run| had(run)?.time_limit.map(said_time)),
    ("kernel", |run| had(run)?.kernel.clone()),
    ("versions of the tools", |run| {
        let versions: Vec<&str> = had(run)?.tools.values().map(String::as_str).collect();
        Some(versions.join(", ")).filter(|versions| !versions.is_empty())
    }),
    ("version of the agent's program", |run| {
        had(run)?.agent_version.clone()
    }),
    ("provider", |run| had(run)?.provider.clone()),
    ("region", |run| had(run)?.region.clone()),
    ("rights of the agent", |run| had(run)?.rights.clone()),
    ("isolation", |run| {
        run.isolation.clone().filter(|_| run.provenance.is_none())
    }),
];

fn had(run: &Run) -> Option<&Resources> {
    run.resources.as_ref()
}

/// Formats seconds in their largest whole unit.
fn said_time(seconds: f64) -> String {
    let units = [(3600.0, "h"), (60.0, "min")];
    let (size, unit) = units
        .into_iter()
        .find(|(size, _)| seconds >= *size && seconds % size == 0.0)
        .unwrap_or((1.0, "s"));
    format!("{} {unit}", seconds / size)
}

/// Tags of imported runs with digests of text sent to the models beside the items.
const TEMPLATE: &str = "chat_template_sha";
const INSTRUCTION: &str = "system_instruction_sha";
const PROMPTS: &str = "prompt_hashes";
const TASK: &str = "task_hash";
/// The mismatch detail of an arm with neither items nor counts.
pub(super) const SCORES: &str = "scores";
/// Shown characters of a digest.
const SHOWN_CHARS: usize = 12;

/// Returns the recorded conditions of one run that the arm itself does not choose, by name: resources, and an import's limits and sandbox.
pub(super) fn of_run(run: &Run) -> Vec<(&'static str, String)> {
    let resources = RESOURCES
        .iter()
        .filter_map(|(what, said)| Some((*what, said(run)?)));
    let is_condition = |kind| matches!(kind, MismatchKind::Limit | MismatchKind::Resources);
    let limits = SETTINGS
        .iter()
        .filter(|setting| is_condition(setting.kind) && run.provenance.is_some());
    resources
        .chain(
            limits.filter_map(|setting| Some((setting.label, run.tags.get(setting.tag)?.clone()))),
        )
        .collect()
}

/// The conditions of an arm's runs.
pub(super) struct Conditions {
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

impl Conditions {
    pub fn of(arm: &ArmRuns<'_>, matrix: &OutcomeMatrix) -> Self {
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
            for score in metrics.into_iter().filter_map(|metric| newest(row, metric)) {
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
                .rows_of(&row.run.id)
                .iter()
                .map(|row| row.attempt)
                .max()
        };
        Self {
            importers: imported().map(|(_, from)| from.importer.clone()).collect(),
            settings: SETTINGS.iter().map(|setting| values(setting.tag)).collect(),
            agents: arm
                .counted
                .iter()
                .map(|row| (row.run.agent.clone(), row.run.model.clone()))
                .collect(),
            resources: RESOURCES
                .iter()
                .map(|(_, said)| {
                    arm.counted
                        .iter()
                        .filter_map(|row| said(&row.run))
                        .collect()
                })
                .collect(),
            template: values(TEMPLATE),
            instruction: values(INSTRUCTION),
            prompts: values(PROMPTS),
            task: values(TASK),
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
    pub fn prompts_against(&self, other: &Self) -> Vec<Mismatch> {
        let digests = |values: &BTreeSet<String>| match values.len() {
            0 => "none".to_owned(),
            _ => joined(
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
            found.push(Mismatch::between(
                MismatchKind::Prompts,
                "system instruction",
                own,
                others,
            ));
        }
        if self.template != other.template && self.importers == other.importers {
            found.push(Mismatch::between(
                MismatchKind::Templates,
                "",
                digests(&self.template),
                digests(&other.template),
            ));
        } else if differ(&self.prompts, &other.prompts) {
            found.push(Mismatch::of(MismatchKind::Prompts));
        } else if differ(&self.task, &other.task) {
            found.push(Mismatch::between(
                MismatchKind::Prompts,
                "hash of the task",
                digests(&self.task),
                digests(&other.task),
            ));
        }
        found
    }

    /// Returns a mismatch if two arms' figures cover different numbers of unnamed items, by the runs' counts or by their scores.
    pub fn totals_against(
        &self,
        counted: &BTreeSet<u64>,
        other: &Self,
        other_counted: &BTreeSet<u64>,
    ) -> Option<Mismatch> {
        let said = |totals: &BTreeSet<u64>| joined(totals.iter().map(u64::to_string));
        let differ = |own: &BTreeSet<u64>, others: &BTreeSet<u64>| {
            let what = if counted.is_empty() || other_counted.is_empty() {
                SCORES
            } else {
                ""
            };
            Mismatch::between(MismatchKind::Totals, what, said(own), said(others))
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
        let (own, others) = (self.sizes_or(counted), other.sizes_or(other_counted));
        (!own.is_empty() && !others.is_empty() && own.is_disjoint(&others))
            .then(|| differ(&own, &others))
    }

    fn sizes_or(&self, counted: &BTreeSet<u64>) -> BTreeSet<u64> {
        if counted.is_empty() {
            self.sizes.values().flatten().copied().collect()
        } else {
            counted.clone()
        }
    }

    /// Returns the differences that do not depend on the items.
    pub fn against(&self, other: &Self) -> Vec<Mismatch> {
        let mut found = Vec::new();
        for ((setting, own), others) in SETTINGS.iter().zip(&self.settings).zip(&other.settings) {
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
                _ => joined(values.iter().cloned()),
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
            found.push(Mismatch::between(kind, what, said(own), said(others)));
        }
        // A different program of a different agent is the subject of the comparison, not a mismatch.
        let is_compared = |what: &str| {
            self.agents != other.agents
                && (what.starts_with("version") || matches!(what, "provider" | "region"))
        };
        for (((what, _), own), others) in
            RESOURCES.iter().zip(&self.resources).zip(&other.resources)
        {
            if !own.is_empty() && !others.is_empty() && own != others && !is_compared(what) {
                let (own, others) = (joined(own.iter().cloned()), joined(others.iter().cloned()));
                found.push(Mismatch::between(
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
            let said = |attempts: &BTreeSet<u32>| joined(attempts.iter().map(u32::to_string));
            found.push(Mismatch::between(
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
                let said = |evaluators: &BTreeSet<String>| joined(evaluators.iter().cloned());
                found.push(Mismatch::between(
                    MismatchKind::Judge,
                    metric,
                    said(evaluators),
                    said(others),
                ));
            } else if revisions != other_revisions
                && Evaluator::from_name(metric).is_some_and(Evaluator::is_judged)
            {
                let said = |revisions: &BTreeSet<u32>| joined(revisions.iter().map(u32::to_string));
                found.push(Mismatch::between(
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

pub(super) fn joined(values: impl Iterator<Item = String>) -> String {
    values.collect::<Vec<_>>().join(" and ")
}
