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
use super::super::rows::Stop;
use super::super::source::hex_digest;
use super::claim::Claim;
use super::format::Facts;
use super::importer::Format;
use super::json::{count, filled, text};
use super::json_reader::read_value;
use super::peek::{Content, Peek};
use super::sink::Sink;
use super::source::{ForeignFile, ForeignSource};
use arm::{Arm, EvalRun};
use place::{
    BENCHMARK, EVAL_METADATA, EVALS, GRADING, Place, TIMING, eval_beside, is_below_configuration,
    number_of,
};
use wire::{Benchmark, EvalMetadata, Evals, Expectation, Grading, Timing};

/// Maximum size of a grading that is compared with its copies. Gradings are short.
const MOST_COMPARED_BYTES: u64 = 4 << 20;

pub(super) const FORMAT: Format = Format::new(
    Facts {
        name: "agent-skills",
        title: "agent skills",
        kind: ItemKind::Question,
        reads_names: true,
        version: 2,
    },
    claim,
    read,
)
.with_companions(is_companion);

/// Claims a file for the folder of its iteration, several levels above the file.
fn claim(peek: &Peek) -> Option<Claim> {
    let is_json = peek.content == Content::Json && !peek.is_lines;
    let levels = match peek.name.as_str() {
        _ if is_json && is_benchmark(peek) => 1,
        EVALS if is_json && peek.has_all(&["skill_name", "evals"]) && is_beside_benchmark(peek) => {
            2
        }
        EVAL_METADATA if is_json && peek.has("eval_id") => place::levels_above_eval(peek),
        GRADING if is_json && is_grading(peek) || is_below_configuration(peek) => {
            place::levels_above_run(peek)
        }
        TIMING if is_json && peek.has("total_tokens") || is_below_configuration(peek) => {
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
        .map(|folder| folder.join(BENCHMARK));
    beside
        .and_then(|file| Peek::of(&file).ok())
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
                || ["metrics.json", EVAL_METADATA, TIMING, EVALS].contains(file)
        }
    }
}

/// Files of an iteration's folder.
#[derive(Default)]
struct Workspace<'a> {
    benchmark: Benchmark,
    skill: Option<String>,
    /// Prompts by the eval's number, or by its folder if the number is unknown.
    prompts: BTreeMap<String, String>,
    /// Eval numbers by folder.
    numbers: BTreeMap<String, String>,
    gradings: BTreeMap<Place, &'a ForeignFile>,
    timings: BTreeMap<Place, Timing>,
}

fn read(source: &ForeignSource, sink: &mut Sink<'_>) -> Result<(), Stop> {
    let mut workspace = Workspace::gather(source, sink)?;
    workspace.leave_out_copies(sink);
    let skill = workspace
        .skill
        .clone()
        .or_else(|| named_by_folder(source))
        .unwrap_or_else(|| source.name.clone());
    let mut arms: BTreeMap<String, Arm> = BTreeMap::new();
    let mut damaged: BTreeMap<String, u64> = BTreeMap::new();
    let mut is_read = BTreeSet::new();
    for (place, file) in &workspace.gradings {
        let number = workspace.number(&place.eval);
        let key = (
            place.configuration.clone(),
            number.clone(),
            place.run.unwrap_or(1),
        );
        let Some(grading) = read_or_refuse::<Grading>(file, "the grading cannot be read", sink)?
        else {
            if workspace.benchmarked(&key).is_none() {
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
        let benchmarked = workspace.benchmarked(&key);
        let run = EvalRun::graded(
            label(&place.eval, &number),
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
        let key = key_of(run);
        if is_read.contains(&key) {
            continue;
        }
        let expectations: Vec<&Expectation> = run.expectations.iter().collect();
        if expectations.is_empty() {
            continue;
        }
        sink.quirk("runs without a grading of their own are read from benchmark.json");
        let prompt = workspace.prompts.get(&key.1).cloned();
        let run =
            EvalRun::benchmarked(label("", &key.1), key.2, prompt, &expectations, &run.result);
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
        sink.quirk("configurations without a readable grading are skipped");
    }
    let benchmark = &workspace.benchmark;
    for (configuration, mut arm) in arms {
        arm.damaged = damaged.get(&configuration).copied().unwrap_or(0);
        arm.tell(&skill, &source.name, &configuration, benchmark, sink)?;
    }
    Ok(())
}

/// Key of a run in a workspace: configuration, eval number and run number.
type RunKey = (String, String, u32);

fn key_of(run: &wire::BenchmarkRun) -> RunKey {
    let number = count(&run.run_number)
        .and_then(|number| u32::try_from(number).ok())
        .unwrap_or(1);
    (
        text(&run.configuration).unwrap_or_default(),
        text(&run.eval_id).unwrap_or_default(),
        number,
    )
}

/// Returns an eval's name: its folder's, or `eval-<number>` without a folder.
fn label(folder: &str, number: &str) -> String {
    if folder.is_empty() {
        format!("eval-{number}")
    } else {
        folder.to_owned()
    }
}

/// Returns the skill's name from the folder of its workspace.
fn named_by_folder(source: &ForeignSource) -> Option<String> {
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

impl<'a> Workspace<'a> {
    fn gather(source: &'a ForeignSource, sink: &mut Sink<'_>) -> Result<Self, Stop> {
        let mut workspace = Self::default();
        let mut timings: Vec<(Place, &ForeignFile)> = Vec::new();
        for file in &source.files {
            match file.name.rsplit('/').next().unwrap_or_default() {
                GRADING => {
                    workspace.gradings.insert(Place::of(&file.name), file);
                }
                TIMING => timings.push((Place::of(&file.name), file)),
                EVAL_METADATA => {
                    let Some(metadata) = read_beside::<EvalMetadata>(file, sink)? else {
                        continue;
                    };
                    let Some(folder) = eval_beside(&file.name) else {
                        continue;
                    };
                    let number = text(&metadata.eval_id);
                    if let Some(prompt) = filled(&metadata.prompt) {
                        workspace
                            .prompts
                            .insert(number.clone().unwrap_or_else(|| folder.to_owned()), prompt);
                    }
                    workspace
                        .numbers
                        .extend(number.map(|number| (folder.to_owned(), number)));
                }
                EVALS => {
                    let Some(evals) = read_beside::<Evals>(file, sink)? else {
                        continue;
                    };
                    workspace.skill = workspace.skill.or_else(|| text(&evals.skill_name));
                    for eval in evals.evals.iter() {
                        if let (Some(number), Some(prompt)) = (text(&eval.id), text(&eval.prompt)) {
                            workspace.prompts.entry(number).or_insert(prompt);
                        }
                    }
                }
                // `benchmark.json`, whatever its name is.
                _ => {
                    if let Some(benchmark) = read_beside::<Benchmark>(file, sink)? {
                        let named = benchmark
                            .metadata
                            .0
                            .as_ref()
                            .and_then(|metadata| text(&metadata.skill_name));
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
                && let Some(timing) = read_beside(file, sink)?
            {
                workspace.timings.insert(place, timing);
            }
        }
        Ok(workspace)
    }

    /// Drops a grading in a configuration's folder if a run's folder has one too.
    fn leave_out_copies(&mut self, sink: &mut Sink<'_>) {
        let numbered: BTreeSet<(String, String)> = self
            .gradings
            .keys()
            .filter(|place| place.run.is_some())
            .map(|place| (place.configuration.clone(), place.eval.clone()))
            .collect();
        let is_copy = |place: &Place| {
            place.run.is_none()
                && numbered.contains(&(place.configuration.clone(), place.eval.clone()))
        };
        let copies: Vec<Place> = self
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
                digest(first).is_some_and(|first| Some(first) == digest(file))
            });
            sink.quirk(if is_same {
                "gradings are in the folder of the run and again above it: each run counts once"
            } else {
                "a grading above the runs' folders differs from theirs: the gradings in the runs' folders count"
            });
        }
        for place in self.gradings.keys() {
            // A run with a folder of its own may have its timing one level above.
            let above = Place {
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
    fn number(&self, folder: &str) -> String {
        self.numbers
            .get(folder)
            .cloned()
            .or_else(|| number_of(folder).map(str::to_owned))
            .unwrap_or_else(|| folder.to_owned())
    }

    fn benchmarked(&self, key: &RunKey) -> Option<&wire::BenchmarkRun> {
        self.benchmark.runs.iter().find(|run| key_of(run) == *key)
    }
}

/// Reads a file that supplements the gradings.
fn read_beside<T: DeserializeOwned>(
    file: &ForeignFile,
    sink: &mut Sink<'_>,
) -> Result<Option<T>, Stop> {
    read_or_refuse(file, "the file cannot be read", sink)
}

/// Reads a file of the workspace. A damaged file is refused by its name, and reading goes on.
fn read_or_refuse<T: DeserializeOwned>(
    file: &ForeignFile,
    why_refused: &str,
    sink: &mut Sink<'_>,
) -> Result<Option<T>, Stop> {
    match read_value(file.open()?, &file.shown) {
        Ok(value) => Ok(Some(value)),
        Err(Stop::Store(error)) => Err(Stop::Store(error)),
        Err(Stop::Unreadable(problems)) => {
            let why = problems
                .first()
                .map(|problem| problem.message.clone())
                .unwrap_or_default();
            sink.refuse(&file.name, Refused::with_detail(why_refused, why));
            Ok(None)
        }
    }
}

fn digest(file: &ForeignFile) -> Option<String> {
    Some(hex_digest(&[&file.read(MOST_COMPARED_BYTES).ok()?], false))
}
