//! Workspaces in which an agent's skill was tested: the same prompts with and without the skill, graded by expectation.
//!
//! An iteration is a folder with one folder per eval. An eval's folder has one folder per configuration, which holds one folder per run or
//! the files of the only run. A configuration becomes a run, an expectation an item, and the runs of a configuration become attempts.
//! Figures in `benchmark.json` are checked, and replace missing gradings.

mod arm;
mod place;
mod wire;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::domain::{ItemKind, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::json::{to_count, to_filled_text, to_text};
use super::json_reader::read_value;
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::{ForeignFile, ForeignFileGroup};
use arm::{ConfigurationRuns, EvalRun};
use place::{
    BENCHMARK_FILE, EVAL_METADATA_FILE, EVALS_FILE, EvalRunPath, GRADING_FILE, TIMING_FILE,
    eval_folder, is_below_configuration, parse_eval_number,
};
use wire::{Benchmark, EvalMetadata, Expectation, SkillEvals, SkillGrading, Timing};

/// Maximum size of a grading that is compared with its copies. Gradings are short.
const MAX_COMPARED_BYTES: u64 = 4 << 20;

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "agent-skills",
        title: "agent skills",
        kind: ItemKind::Question,
        reads_names: true,
        version: 2,
    },
    claim_file,
    read_source,
)
.with_companions(is_companion);

/// Claims a file for the folder of its iteration, several levels above the file.
fn claim_file(peek: &Peek) -> Option<Claim> {
    let is_json = peek.content == ContentKind::Json && !peek.is_lines;
    let levels = match peek.name.as_str() {
        _ if is_json && is_benchmark(peek) => 1,
        EVALS_FILE
            if is_json && peek.has_all(&["skill_name", "evals"]) && is_beside_benchmark(peek) =>
        {
            2
        }
        EVAL_METADATA_FILE if is_json && peek.has("eval_id") => place::levels_above_eval(peek),
        GRADING_FILE if is_json && is_grading(peek) || is_below_configuration(peek) => {
            place::levels_above_run(peek)
        }
        TIMING_FILE if is_json && peek.has("total_tokens") || is_below_configuration(peek) => {
            place::levels_above_run(peek)
        }
        _ => return None,
    };
    Some(match peek.path.ancestors().nth(levels) {
        Some(folder) if folder.as_os_str().is_empty() => Claim::PartOf(".".into()),
        Some(folder) => Claim::PartOf(folder.to_owned()),
        None => Claim::Alone,
    })
}

fn is_benchmark(peek: &Peek) -> bool {
    peek.has("metadata.skill_name") && (peek.has("runs") || peek.has("run_summary"))
}

fn is_grading(peek: &Peek) -> bool {
    let lists = ["expectations", "assertion_results"];
    lists.iter().any(|list| {
        peek.has(&format!("{list}[].passed")) || (peek.has(list) && peek.has("summary.pass_rate"))
    })
}

/// Returns whether the skill's evals lie in an iteration's folder. The evals themselves are not results.
fn is_beside_benchmark(peek: &Peek) -> bool {
    let beside = peek
        .path
        .ancestors()
        .nth(2)
        .map(|folder| folder.join(BENCHMARK_FILE));
    beside
        .and_then(|file| Peek::from_path(&file).ok())
        .is_some_and(|peek| is_benchmark(&peek))
}

/// Returns whether an unread file below an iteration's folder is one that agents and their harness leave there.
fn is_companion(below: &Path) -> bool {
    let parts: Vec<&str> = below.iter().filter_map(|part| part.to_str()).collect();
    match parts.as_slice() {
        [] => false,
        [file] => file.starts_with("trigger_eval"),
        [folder, .., file] => {
            *folder == "evals"
                || parts.contains(&"outputs")
                || ["metrics.json", EVAL_METADATA_FILE, TIMING_FILE, EVALS_FILE].contains(file)
        }
    }
}

/// Files of an iteration's folder.
#[derive(Default)]
struct SkillWorkspace<'a> {
    benchmark: Benchmark,
    skill: Option<String>,
    /// Prompts by the eval's number, or by its folder if the number is unknown.
    prompts: BTreeMap<String, String>,
    /// Eval numbers by folder.
    numbers: BTreeMap<String, String>,
    gradings: BTreeMap<EvalRunPath, &'a ForeignFile>,
    timings: BTreeMap<EvalRunPath, Timing>,
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let mut workspace = SkillWorkspace::collect_files(source, sink)?;
    workspace.drop_duplicate_gradings(sink);
    let skill = workspace
        .skill
        .clone()
        .or_else(|| skill_from_folder(source))
        .unwrap_or_else(|| source.name.clone());
    let mut arms: BTreeMap<String, ConfigurationRuns> = BTreeMap::new();
    let mut damaged: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_read = BTreeSet::new();
    for (place, file) in &workspace.gradings {
        let number = workspace.eval_number(&place.eval);
        let key = (
            place.configuration.clone(),
            number.clone(),
            place.run.unwrap_or(1),
        );
        let Some(grading) =
            read_or_refuse::<SkillGrading>(file, "the grading cannot be read", sink)?
        else {
            if workspace.benchmark_run(&key).is_none() {
                *damaged.entry(place.configuration.clone()).or_default() += 1;
            }
            continue;
        };
        is_read.insert(key.clone());
        let prompt = workspace
            .prompts
            .get(&number)
            .or_else(|| workspace.prompts.get(&place.eval))
            .cloned();
        let timing = workspace.timings.remove(place);
        let benchmarked = workspace.benchmark_run(&key);
        let run = EvalRun::from_grading(
            eval_name(&place.eval, &number),
            key.2,
            prompt,
            &grading,
            timing,
            benchmarked,
        );
        arms.entry(place.configuration.clone())
            .or_default()
            .runs
            .push(run);
    }
    for run in workspace.benchmark.runs.iter() {
        let key = eval_run_key(run);
        if is_read.contains(&key) {
            continue;
        }
        let expectations: Vec<&Expectation> = run.expectations.iter().collect();
        if expectations.is_empty() {
            continue;
        }
        sink.note_quirk("runs without a grading of their own are read from benchmark.json");
        let prompt = workspace.prompts.get(&key.1).cloned();
        let run = EvalRun::from_benchmark(
            eval_name("", &key.1),
            key.2,
            prompt,
            &expectations,
            &run.result,
        );
        arms.entry(key.0).or_default().runs.push(run);
    }
    if arms.is_empty() && damaged.is_empty() {
        return Err(Problem::in_file(&source.shown, "holds no grading of a run")
            .with_hint("grading.json lies in the folder of each run")
            .into());
    }
    if damaged
        .keys()
        .any(|configuration| !arms.contains_key(configuration))
    {
        sink.note_quirk("configurations without a readable grading are skipped");
    }
    let benchmark = &workspace.benchmark;
    for (configuration, mut arm) in arms {
        arm.damaged = damaged.get(&configuration).copied().unwrap_or(0);
        arm.add_run(&skill, &source.name, &configuration, benchmark, sink)?;
    }
    Ok(())
}

/// Key of a run in a workspace: configuration, eval number and run number.
type EvalRunKey = (String, String, u32);

fn eval_run_key(run: &wire::BenchmarkRun) -> EvalRunKey {
    let number = to_count(&run.run_number)
        .and_then(|number| u32::try_from(number).ok())
        .unwrap_or(1);
    (
        to_text(&run.configuration).unwrap_or_default(),
        to_text(&run.eval_id).unwrap_or_default(),
        number,
    )
}

/// Returns an eval's name: its folder's, or `eval-<number>` without a folder.
fn eval_name(folder: &str, number: &str) -> String {
    if folder.is_empty() {
        format!("eval-{number}")
    } else {
        folder.to_owned()
    }
}

/// Returns the skill's name from the folder of its workspace.
fn skill_from_folder(source: &ForeignFileGroup) -> Option<String> {
    let file = source.files.first()?;
    let workspace = file
        .path
        .ancestors()
        .nth(file.name.split('/').count() + 1)?
        .file_name()?
        .to_str()?;
    workspace
        .strip_suffix("-workspace")
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

impl<'a> SkillWorkspace<'a> {
    fn collect_files(
        source: &'a ForeignFileGroup,
        sink: &mut ImportSink<'_>,
    ) -> Result<Self, ReadStop> {
        let mut workspace = Self::default();
        let mut timings: Vec<(EvalRunPath, &ForeignFile)> = Vec::new();
        for file in &source.files {
            match file.name.rsplit('/').next().unwrap_or_default() {
                GRADING_FILE => {
                    workspace
                        .gradings
                        .insert(EvalRunPath::from_file_name(&file.name), file);
                }
                TIMING_FILE => timings.push((EvalRunPath::from_file_name(&file.name), file)),
                EVAL_METADATA_FILE => {
                    let Some(metadata) = read_supplement::<EvalMetadata>(file, sink)? else {
                        continue;
                    };
                    let Some(folder) = eval_folder(&file.name) else {
                        continue;
                    };
                    let number = to_text(&metadata.eval_id);
                    if let Some(prompt) = to_filled_text(&metadata.prompt) {
                        workspace
                            .prompts
                            .insert(number.clone().unwrap_or_else(|| folder.to_owned()), prompt);
                    }
                    workspace
                        .numbers
                        .extend(number.map(|number| (folder.to_owned(), number)));
                }
                EVALS_FILE => {
                    let Some(evals) = read_supplement::<SkillEvals>(file, sink)? else {
                        continue;
                    };
                    workspace.skill = workspace.skill.or_else(|| to_text(&evals.skill_name));
                    for eval in evals.evals.iter() {
                        if let (Some(number), Some(prompt)) =
                            (to_text(&eval.id), to_text(&eval.prompt))
                        {
                            workspace.prompts.entry(number).or_insert(prompt);
                        }
                    }
                }
                // `benchmark.json`, whatever its name is.
                _ => {
                    if let Some(benchmark) = read_supplement::<Benchmark>(file, sink)? {
                        let named = benchmark
                            .metadata
                            .0
                            .as_ref()
                            .and_then(|metadata| to_text(&metadata.skill_name));
                        workspace.skill = named
                            .filter(|name| !name.trim().is_empty())
                            .or(workspace.skill);
                        workspace.benchmark = benchmark;
                    }
                }
            }
        }
        // A file next to the grading comes before one in the agent's output.
        timings.sort_by_key(|(_, file)| file.name.split('/').count());
        for (place, file) in timings {
            if !workspace.timings.contains_key(&place)
                && let Some(timing) = read_supplement(file, sink)?
            {
                workspace.timings.insert(place, timing);
            }
        }
        Ok(workspace)
    }

    /// Drops a grading in a configuration's folder if a run's folder has one too.
    fn drop_duplicate_gradings(&mut self, sink: &mut ImportSink<'_>) {
        let numbered: BTreeSet<(String, String)> = self
            .gradings
            .keys()
            .filter(|place| place.run.is_some())
            .map(|place| (place.configuration.clone(), place.eval.clone()))
            .collect();
        let is_copy = |place: &EvalRunPath| {
            place.run.is_none()
                && numbered.contains(&(place.configuration.clone(), place.eval.clone()))
        };
        let copies: Vec<EvalRunPath> = self
            .gradings
            .keys()
            .filter(|place| is_copy(place))
            .cloned()
            .collect();
        for copy in copies {
            let Some(file) = self.gradings.remove(&copy) else {
                continue;
            };
            let first = self.gradings.iter().find(|(place, _)| {
                place.configuration == copy.configuration && place.eval == copy.eval
            });
            let is_same = first.is_some_and(|(_, first)| {
                file_digest(first).is_some_and(|first| Some(first) == file_digest(file))
            });
            sink.note_quirk(if is_same {
                "gradings are in the folder of the run and again above it: each run counts once"
            } else {
                "a grading above the runs' folders differs from theirs: the gradings in the runs' folders count"
            });
        }
        for place in self.gradings.keys() {
            // A run with a folder of its own may have its timing one level above.
            let above = EvalRunPath {
                run: None,
                ..place.clone()
            };
            if place.run == Some(1)
                && !self.timings.contains_key(place)
                && let Some(timing) = self.timings.remove(&above)
            {
                self.timings.insert(place.clone(), timing);
            }
        }
    }

    /// Returns the number of the eval in a folder, or the folder's name if the number is unknown.
    fn eval_number(&self, folder: &str) -> String {
        self.numbers
            .get(folder)
            .cloned()
            .or_else(|| parse_eval_number(folder).map(str::to_owned))
            .unwrap_or_else(|| folder.to_owned())
    }

    fn benchmark_run(&self, key: &EvalRunKey) -> Option<&wire::BenchmarkRun> {
        self.benchmark
            .runs
            .iter()
            .find(|run| eval_run_key(run) == *key)
    }
}

/// Reads a file that supplements the gradings.
fn read_supplement<T: DeserializeOwned>(
    file: &ForeignFile,
    sink: &mut ImportSink<'_>,
) -> Result<Option<T>, ReadStop> {
    read_or_refuse(file, "the file cannot be read", sink)
}

/// Reads a file of the workspace. A damaged file is refused by its name, and reading goes on.
fn read_or_refuse<T: DeserializeOwned>(
    file: &ForeignFile,
    why_refused: &str,
    sink: &mut ImportSink<'_>,
) -> Result<Option<T>, ReadStop> {
    match read_value(file.open()?, &file.shown) {
        Ok(value) => Ok(Some(value)),
        Err(ReadStop::Store(error)) => Err(ReadStop::Store(error)),
        Err(ReadStop::Unreadable(problems)) => {
            let why = problems
                .first()
                .map(|problem| problem.message.clone())
                .unwrap_or_default();
            sink.refuse_part(&file.name, Refused::with_detail(why_refused, why));
            Ok(None)
        }
    }
}

fn file_digest(file: &ForeignFile) -> Option<String> {
    Some(hex_digest(
        &[&file.read_bytes(MAX_COMPARED_BYTES).ok()?],
        false,
    ))
}
