//! Settings with which a run was made, what each belongs to, and how the name of an arm tells settings that differ.
//!
//! Importers keep settings as tags of the run. A setting of the *system* changes what is measured: runs of one suite that differ in it are
//! of different arms. A setting of the *harness* changes only how it was measured. Of a setting that is in no table here, nothing is
//! known, so it keeps runs apart too.

use std::collections::{BTreeMap, BTreeSet};

use super::Run;

/// Prefix of tags with settings of an agent that are in no table.
pub const AGENT_SETTING_PREFIX: &str = "agent.";
/// Prefix of tags with settings of a model or its replies that are in no table.
pub const MODEL_SETTING_PREFIX: &str = "model.";

/// How the name of an arm tells a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingForm {
    /// `@step9000`
    Revision,
    /// `high`: the word says what it is.
    Word,
    /// `5-shot`
    Shots,
    /// `temperature 0.7`
    Named,
}

/// What a setting belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingRole {
    System(SettingForm),
    Harness,
}

use SettingForm::{Named, Revision, Shots, Word};
use SettingRole::{Harness, System};

/// Known settings: the names of each, and what it belongs to. Of settings that tell the same arms apart, the first gives the name.
const KNOWN_SETTINGS: &[(&[&str], SettingRole)] = &[
    (
        &["revision", "checkpoint", "model_revision"],
        System(Revision),
    ),
    (
        &["reasoning_effort", "effort", "thinking_level"],
        System(Word),
    ),
    (&["reasoning", "enable_thinking", "thinking"], System(Named)),
    (
        &[
            "reasoning_tokens",
            "thinking_tokens",
            "thinking_budget",
            "budget_tokens",
        ],
        System(Named),
    ),
    (&["quantization", "quantisation"], System(Word)),
    (&["load_in_4bit"], System(Named)),
    (&["load_in_8bit"], System(Named)),
    (&["dtype", "torch_dtype"], System(Word)),
    (&["peft", "adapter", "lora", "delta"], System(Named)),
    (&["n_shot", "num_fewshot"], System(Shots)),
    (&["prompt_template"], System(Named)),
    (&["system_prompt", "system_instruction_sha"], System(Named)),
    (&["chat_template_sha"], System(Named)),
    (&["edit_format"], System(Word)),
    (&["editor_model"], System(Named)),
    (&["editor_edit_format"], System(Named)),
    (&["temperature"], System(Named)),
    (&["top_p"], System(Named)),
    (&["top_k"], System(Named)),
    (&["min_p"], System(Named)),
    (&["do_sample"], System(Named)),
    (&["repetition_penalty"], System(Named)),
    (&["frequency_penalty"], System(Named)),
    (&["presence_penalty"], System(Named)),
    (
        &[
            "seed",
            "fewshot_seed",
            "batch_size",
            "max_batch_size",
            "limit",
            "n_samples",
            "num_samples",
            "num_choices",
            "epochs",
            "log_level",
            "log_dir",
            "verbose",
            "backend",
            "device",
            "device_map",
            "parallelize",
            "tensor_parallel_size",
            "data_parallel_size",
            "pipeline_parallel_size",
            "gpu_memory_utilization",
            "swap_space",
            "max_model_len",
            "max_length",
            "max_tokens",
            "max_gen_toks",
            "max_tool_output",
            "max_retries",
            "max_connections",
            "num_concurrent",
            "timeout",
            "attempt_timeout",
            "until",
            "stop_seqs",
            "logprobs",
            "top_logprobs",
            "cache",
            "cache_prompt",
            "base_url",
            "model_base_url",
            "tokenized_requests",
            "tokenizer_backend",
            "trust_remote_code",
            "pretrained",
            "model",
            "model_name",
            "session_id",
            "version",
        ],
        Harness,
    ),
];

/// Maximum length in characters of a value in the name of an arm.
const MAX_SHOWN_VALUE: usize = 40;
/// Shown characters of a digest.
const DIGEST_CHARS: usize = 8;

/// Returns the name of the tag for a setting: the name itself if it is known, else below `prefix`.
pub fn setting_tag(prefix: &str, name: &str) -> String {
    if find_known(name).is_some() {
        name.to_owned()
    } else {
        format!("{prefix}{name}")
    }
}

/// A known setting: its row in the table, its place among the names there, and its role.
type KnownSetting = (usize, usize, SettingRole);

fn find_known(name: &str) -> Option<KnownSetting> {
    KNOWN_SETTINGS
        .iter()
        .enumerate()
        .find_map(|(row, (names, role))| {
            let place = names.iter().position(|known| *known == name)?;
            Some((row, place, *role))
        })
}

/// Returns whether the values of a setting are words, such as `high`, and a number is something else.
pub fn is_setting_in_words(name: &str) -> bool {
    matches!(find_known(name), Some((_, _, System(Word))))
}

/// Returns whether a setting is known to belong to the system.
pub fn is_system_setting(name: &str) -> bool {
    matches!(find_known(name), Some((_, _, System(_))))
}

/// Returns the name of a tag's setting without its prefix, if it is a setting at all.
fn setting_name(tag: &str) -> Option<&str> {
    let unknown = tag
        .strip_prefix(AGENT_SETTING_PREFIX)
        .or_else(|| tag.strip_prefix(MODEL_SETTING_PREFIX));
    unknown.or_else(|| find_known(tag).map(|_| tag))
}

/// Row of a setting that is in no table: after all that are.
const UNKNOWN_ROW: usize = KNOWN_SETTINGS.len();

/// Returns the rank and form of a system's setting, or `None` for tags that keep no runs apart.
fn system_form(tag: &str) -> Option<((usize, usize), SettingForm)> {
    match find_known(setting_name(tag)?) {
        Some((row, place, System(form))) => Some(((row, place), form)),
        Some((_, _, Harness)) => None,
        None => Some(((UNKNOWN_ROW, 0), Named)),
    }
}

/// Returns whether one of the pooled names means the setting: the tag, its name without a prefix, or another name of the same setting.
fn is_pooled(tag: &str, pooled: &BTreeSet<String>) -> bool {
    let Some(name) = setting_name(tag) else {
        return false;
    };
    let names = find_known(name).map_or(&[][..], |(row, _, _)| KNOWN_SETTINGS[row].0);
    [tag, name]
        .iter()
        .chain(names)
        .any(|name| pooled.contains(*name))
}

/// Whether nothing is known about a setting, so that somebody has to say whether it matters.
pub fn is_unknown_setting(tag: &str) -> bool {
    system_form(tag).is_some_and(|((row, _), _)| row == UNKNOWN_ROW)
}

/// Returns the run's settings that belong to the system, by tag, in the order in which they give names.
fn system_settings(run: &Run) -> impl Iterator<Item = (&str, &str)> {
    run.tags
        .iter()
        .filter(|(tag, _)| system_form(tag).is_some())
        .map(|(tag, value)| (tag.as_str(), value.as_str()))
}

/// The settings of a system that keep runs of one name apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArmSettings {
    /// By suite, approach and model: the tags whose values differ, in the order of the name.
    varying: BTreeMap<(String, String, String), Vec<String>>,
}

impl ArmSettings {
    /// Finds the settings in which runs of one suite, approach and model differ. Settings in `pooled`, by name with or without their
    /// prefix, keep no runs apart. Runs come with whether they are of a baseline: a setting that was changed since the baseline, and is one
    /// on each side, is what the comparison is about.
    pub fn find_varying<'a>(
        runs: impl IntoIterator<Item = (&'a Run, bool)>,
        pooled: &BTreeSet<String>,
    ) -> Self {
        let mut groups = BTreeMap::<(&str, &str, &str), [Vec<&Run>; 2]>::new();
        for (run, is_baseline) in runs {
            let arm = (
                run.suite.as_str(),
                run.approach.as_str(),
                run.model.as_str(),
            );
            groups.entry(arm).or_default()[usize::from(is_baseline)].push(run);
        }
        let varying = groups
            .into_iter()
            .filter_map(|((suite, approach, model), sides)| {
                let tags: BTreeSet<String> = sides
                    .iter()
                    .flat_map(|runs| varying_tags(runs))
                    .filter(|tag| !is_pooled(tag, pooled))
                    .collect();
                let arm = (suite.to_owned(), approach.to_owned(), model.to_owned());
                (!tags.is_empty()).then(|| (arm, fewest_tags(tags, &sides.concat())))
            });
        Self {
            varying: varying.collect(),
        }
    }

    /// Returns the tags that tell the run's arm from others of its suite, approach and model.
    pub fn tags_of(&self, run: &Run) -> &[String] {
        let arm = (run.suite.clone(), run.approach.clone(), run.model.clone());
        self.varying.get(&arm).map_or(&[], Vec::as_slice)
    }
}

/// Returns the model's name with the settings that tell the run's arm from others, such as `org/m@step9000` or `gpt-x (high)`.
pub fn model_with_settings(run: &Run, tags: &[String]) -> String {
    let mut name = run.model.clone();
    let mut words = Vec::new();
    for tag in tags {
        let form = system_form(tag).map_or(Named, |(_, form)| form);
        match (form, run.tags.get(tag)) {
            (Revision, Some(value)) => {
                name.push('@');
                name.push_str(&shown_value(tag, value));
            }
            (form, value) => words.push(setting_words(tag, form, value.map(String::as_str))),
        }
    }
    if !words.is_empty() {
        name.push_str(&format!(" ({})", words.join(", ")));
    }
    name
}

/// Returns the tags whose values differ between runs, or that only some of them have.
fn varying_tags<'a>(runs: &[&'a Run]) -> impl Iterator<Item = String> + use<'a> {
    let mut values = BTreeMap::<&str, (BTreeSet<&str>, usize)>::new();
    for run in runs {
        for (tag, value) in system_settings(run) {
            let (known, count) = values.entry(tag).or_default();
            known.insert(value);
            *count += 1;
        }
    }
    let total = runs.len();
    values
        .into_iter()
        .filter(move |(_, (values, count))| values.len() > 1 || *count < total)
        .map(|(tag, _)| tag.to_owned())
}

/// Leaves out tags that tell no runs apart which the others do not, the last of the table first.
fn fewest_tags(tags: BTreeSet<String>, runs: &[&Run]) -> Vec<String> {
    let mut kept: Vec<String> = tags.into_iter().collect();
    let rank = |tag: &String| (system_form(tag).map(|(rank, _)| rank), tag.clone());
    kept.sort_by_key(rank);
    let count_groups = |tags: &[String]| {
        runs.iter()
            .map(|run| tags.iter().map(|tag| run.tags.get(tag)).collect::<Vec<_>>())
            .collect::<BTreeSet<_>>()
            .len()
    };
    let groups = count_groups(&kept);
    let mut place = kept.len();
    while place > 0 && kept.len() > 1 {
        place -= 1;
        let tag = kept.remove(place);
        if count_groups(&kept) < groups {
            kept.insert(place, tag);
        }
    }
    kept
}

/// Returns what the name says of a setting; `None` as value means that the run does not state it.
fn setting_words(tag: &str, form: SettingForm, value: Option<&str>) -> String {
    let name = setting_name(tag).unwrap_or(tag);
    let Some(value) = value else {
        return format!("{name} unset");
    };
    let is_word = value.chars().any(char::is_alphabetic);
    match (form, value.to_ascii_lowercase().as_str()) {
        (_, "true") => name.to_owned(),
        (_, "false") => format!("no {name}"),
        (Word, _) if is_word => shown_value(tag, value),
        (Shots, _) => format!("{}-shot", shown_value(tag, value)),
        _ => format!("{name} {}", shown_value(tag, value)),
    }
}

fn shown_value(tag: &str, value: &str) -> String {
    let is_digest = tag.ends_with("_sha")
        || value.len() >= 32 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    let most = if is_digest {
        DIGEST_CHARS
    } else {
        MAX_SHOWN_VALUE
    };
    value.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::RunId;

    fn run(number: u32, suite: &str, model: &str, tags: &[(&str, &str)]) -> Run {
        let id = RunId::parse(&format!("r{number}")).expect("an id");
        let mut run = Run::new(id, suite, "a", model);
        run.tags = tags
            .iter()
            .map(|(tag, value)| ((*tag).to_owned(), (*value).to_owned()))
            .collect();
        run
    }

    fn names(runs: &[Run], pooled: &[&str]) -> Vec<String> {
        let pooled = pooled.iter().map(|name| (*name).to_owned()).collect();
        let settings = ArmSettings::find_varying(runs.iter().map(|run| (run, false)), &pooled);
        runs.iter()
            .map(|run| model_with_settings(run, settings.tags_of(run)))
            .collect()
    }

    fn names_by(tag: &str, values: &[Option<&str>]) -> Vec<String> {
        let runs: Vec<Run> = values
            .iter()
            .zip(0..)
            .map(|(value, number)| {
                let tags: Vec<(&str, &str)> = value.iter().map(|value| (tag, *value)).collect();
                run(number, "s", "org/m", &tags)
            })
            .collect();
        names(&runs, &[])
    }

    #[test]
    fn model_with_settings_has_the_shortest_words() {
        assert_eq!(
            names_by("revision", &[Some("step1000"), Some("step9000")]),
            ["org/m@step1000", "org/m@step9000"]
        );
        assert_eq!(
            names_by("reasoning_effort", &[Some("low"), Some("high"), None]),
            [
                "org/m (low)",
                "org/m (high)",
                "org/m (reasoning_effort unset)"
            ]
        );
        assert_eq!(
            names_by("load_in_4bit", &[Some("True"), Some("False")]),
            ["org/m (load_in_4bit)", "org/m (no load_in_4bit)"]
        );
        assert_eq!(
            names_by("temperature", &[Some("0"), Some("0.7")]),
            ["org/m (temperature 0)", "org/m (temperature 0.7)"]
        );
        assert_eq!(
            names_by("n_shot", &[Some("0"), Some("5")]),
            ["org/m (0-shot)", "org/m (5-shot)"]
        );
        assert_eq!(
            names_by("agent.planner", &[Some("tree"), Some("line")]),
            ["org/m (planner tree)", "org/m (planner line)"]
        );
    }

    #[test]
    fn find_varying_keeps_runs_of_one_setting_together() {
        assert_eq!(
            names_by("temperature", &[Some("1"), Some("1")]),
            ["org/m", "org/m"]
        );
        assert_eq!(names_by("temperature", &[Some("1")]), ["org/m"]);
        assert_eq!(
            names_by("seed", &[Some("1"), Some("2")]),
            ["org/m", "org/m"]
        );
        assert_eq!(
            names_by("colour", &[Some("1"), Some("2")]),
            ["org/m", "org/m"]
        );
    }

    #[test]
    fn find_varying_pools_on_demand_by_either_name() {
        let runs = [
            run(
                1,
                "s",
                "m",
                &[("agent.planner", "tree"), ("temperature", "0")],
            ),
            run(
                2,
                "s",
                "m",
                &[("agent.planner", "line"), ("temperature", "1")],
            ),
        ];
        assert_eq!(
            names(&runs, &["temperature"]),
            ["m (planner tree)", "m (planner line)"]
        );
        assert_eq!(names(&runs, &["temperature", "planner"]), ["m", "m"]);
        assert_eq!(names(&runs, &["temperature", "agent.planner"]), ["m", "m"]);
    }

    #[test]
    fn find_varying_looks_at_each_suite_approach_and_model_alone() {
        let runs = [
            run(1, "s", "m", &[("effort", "low")]),
            run(2, "s", "m", &[("effort", "high")]),
            run(3, "alone", "m", &[("effort", "high")]),
            run(4, "s", "other", &[("effort", "high")]),
        ];
        assert_eq!(names(&runs, &[]), ["m (low)", "m (high)", "m", "other"]);
    }

    #[test]
    fn model_with_settings_leaves_out_what_follows_from_another_setting() {
        let sha = ["a".repeat(40), "b".repeat(40)];
        let runs = [
            run(
                1,
                "s",
                "m",
                &[
                    ("revision", "step1"),
                    ("model_revision", &sha[0]),
                    ("agent.x", "1"),
                ],
            ),
            run(
                2,
                "s",
                "m",
                &[
                    ("revision", "step2"),
                    ("model_revision", &sha[1]),
                    ("agent.x", "1"),
                ],
            ),
        ];
        assert_eq!(names(&runs, &[]), ["m@step1", "m@step2"]);
        let moved = [
            run(
                1,
                "s",
                "m",
                &[("revision", "main"), ("model_revision", &sha[0])],
            ),
            run(
                2,
                "s",
                "m",
                &[("revision", "main"), ("model_revision", &sha[1])],
            ),
        ];
        assert_eq!(names(&moved, &[]), ["m@aaaaaaaa", "m@bbbbbbbb"]);
    }

    #[test]
    fn find_varying_does_not_depend_on_the_order_of_runs() {
        let mut runs = vec![
            run(1, "s", "m", &[("effort", "low"), ("temperature", "1")]),
            run(2, "s", "m", &[("effort", "high"), ("temperature", "1")]),
            run(3, "s", "m", &[("effort", "high"), ("temperature", "0")]),
        ];
        let forward = names(&runs, &[]);
        assert_eq!(
            forward,
            [
                "m (low, temperature 1)",
                "m (high, temperature 1)",
                "m (high, temperature 0)"
            ]
        );
        runs.reverse();
        let mut backward = names(&runs, &[]);
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn find_varying_pairs_a_baseline_with_what_was_changed_since() {
        let before = run(1, "s", "m", &[("temperature", "0")]);
        let after = run(2, "s", "m", &[("temperature", "1")]);
        let other = run(3, "s", "m", &[("temperature", "1")]);
        let none = BTreeSet::new();
        let changed = ArmSettings::find_varying([(&before, true), (&after, false)], &none);
        assert!(changed.tags_of(&after).is_empty());
        let both = [(&before, true), (&other, true), (&after, false)];
        assert_eq!(
            ArmSettings::find_varying(both, &none).tags_of(&after),
            ["temperature"]
        );
    }

    #[test]
    fn setting_tag_has_a_prefix_where_nothing_is_known() {
        assert_eq!(
            setting_tag(AGENT_SETTING_PREFIX, "reasoning_effort"),
            "reasoning_effort"
        );
        assert_eq!(
            setting_tag(AGENT_SETTING_PREFIX, "planner"),
            "agent.planner"
        );
        assert!(is_unknown_setting("agent.planner"));
        assert!(!is_unknown_setting("temperature") && !is_unknown_setting("seed"));
    }

    #[test]
    fn known_settings_are_named_once() {
        let all = || KNOWN_SETTINGS.iter().flat_map(|(names, _)| *names);
        assert_eq!(all().collect::<BTreeSet<_>>().len(), all().count());
    }

    #[test]
    fn find_varying_pools_a_setting_under_any_of_its_names() {
        let runs = [
            run(1, "s", "m", &[("revision", "a"), ("model_revision", "1")]),
            run(2, "s", "m", &[("revision", "b"), ("model_revision", "2")]),
        ];
        assert_eq!(names(&runs, &["revision"]), ["m", "m"]);
    }
}
