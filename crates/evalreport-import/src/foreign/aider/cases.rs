//! Reads the result files of a run's cases.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::{CostSource, ItemDetails, ItemStatus};

use super::super::super::cell::Refused;
use super::super::super::rows::ReadStop;
use super::super::super::source::hex_digest;
use super::super::json::{to_amount, to_count, to_text};
use super::super::json_reader::read_value;
use super::super::sink::{ImportSink, RunHandle};
use super::super::source::ForeignFileGroup;
use super::run::{CASE_RESULTS, EVALUATOR, parse_git, parse_start, push_rate, set_start_time};

const MAX_CASE_BYTES: u64 = 64 << 20;

#[derive(Default, Deserialize)]
#[serde(default)]
struct AiderCase {
    exception: Value,
    testdir: Value,
    testcase: Value,
    model: Value,
    edit_format: Value,
    tests_outcomes: Value,
    cost: Value,
    duration: Value,
    prompt_tokens: Value,
    completion_tokens: Value,
    thinking_tokens: Value,
    reasoning_effort: Value,
    editor_model: Value,
    editor_edit_format: Value,
    commit_hash: Value,
    test_timeouts: Value,
    num_error_outputs: Value,
    num_malformed_responses: Value,
    num_exhausted_context_windows: Value,
    syntax_errors: Value,
    indentation_errors: Value,
    lazy_comments: Value,
}

/// One model with one edit format, in the folder of a run.
struct AiderArm {
    /// `None` if the run is stored already.
    run: Option<RunHandle>,
    model: String,
    edit_format: String,
    cases: u64,
    /// Number of cases solved within the first try, within the first two, and so on.
    solved_by: Vec<u64>,
    well_formed: u64,
}

pub(super) fn read_cases(
    source: &ForeignFileGroup,
    sink: &mut ImportSink<'_>,
) -> Result<(), ReadStop> {
    let mut arms: Vec<AiderArm> = Vec::new();
    // Cases that failed before there was a result. They do not name their model.
    let mut exceptions: Vec<(CaseLocation, String)> = Vec::new();
    let folder = run_name(source)?;
    for file in &source.files {
        let case: AiderCase = read_value(file.open()?, &file.shown)?;
        let place = CaseLocation::from_path(
            &file.name,
            to_text(&case.testdir).as_deref(),
            to_text(&case.testcase),
            &folder,
        );
        if let Some(exception) = to_text(&case.exception) {
            exceptions.push((place, exception));
            continue;
        }
        let Some(tries) = parse_tries(&case.tests_outcomes) else {
            sink.refuse_part(
                &file.name,
                Refused::new("tests_outcomes is no list of yes and no"),
            );
            continue;
        };
        let (model, edit_format) = (
            to_text(&case.model).unwrap_or_default(),
            to_text(&case.edit_format).unwrap_or_default(),
        );
        let arm = match arms
            .iter()
            .position(|arm| arm.model == model && arm.edit_format == edit_format)
        {
            Some(arm) => arm,
            None => {
                arms.push(begin_run(
                    &place,
                    &model,
                    &edit_format,
                    arms.is_empty(),
                    sink,
                ));
                if let Some(run) = arms.last().and_then(|arm| arm.run) {
                    fill_run(run, &place, &case, sink);
                }
                arms.len() - 1
            }
        };
        if let Some(arm) = arms.get_mut(arm) {
            arm.add_case(&place, &case, &tries, sink)?;
        }
    }
    if arms.len() > 1 {
        sink.note_quirk(
            "the folder has cases of several models or edit formats: each becomes a run",
        );
    }
    if arms.is_empty()
        && let Some((place, _)) = exceptions.first()
    {
        arms.push(begin_run(place, "", "", true, sink));
    }
    if let Some(arm) = arms.first_mut() {
        if !exceptions.is_empty() {
            sink.note_quirk("cases with only an exception are errors");
        }
        for (place, exception) in exceptions {
            arm.add_exception(&place, exception, sink)?;
        }
    }
    for arm in arms {
        arm.add_rates(sink);
    }
    Ok(())
}

/// Returns the run's name: its folder, or a digest of its files if the folder's name is not the run's own.
fn run_name(source: &ForeignFileGroup) -> Result<String, ReadStop> {
    if !source.name.is_empty() && !source.name.ends_with(CASE_RESULTS) {
        return Ok(source.name.clone());
    }
    let contents = source
        .files
        .iter()
        .map(|file| file.read_bytes(MAX_CASE_BYTES))
        .collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<&[u8]> = source
        .files
        .iter()
        .zip(&contents)
        .flat_map(|(file, content)| [file.name.as_bytes(), content.as_slice()])
        .collect();
    Ok(format!("cases-{}", &hex_digest(&parts, true)[..12]))
}

fn begin_run(
    place: &CaseLocation,
    model: &str,
    edit_format: &str,
    is_first: bool,
    sink: &mut ImportSink<'_>,
) -> AiderArm {
    let mut identity = vec![place.run.as_str()];
    if !is_first {
        identity.extend([model, edit_format]);
    }
    // Exercises in several languages are the polyglot benchmark. The older benchmark has no language folders.
    let suite = if place.language.is_some() {
        "aider-polyglot"
    } else {
        "aider-edit"
    };
    AiderArm {
        run: sink.begin_run(&identity, [suite, edit_format, model]),
        model: model.to_owned(),
        edit_format: edit_format.to_owned(),
        cases: 0,
        solved_by: Vec::new(),
        well_formed: 0,
    }
}

/// Fills in the facts of a run that each of its cases repeats.
fn fill_run(run: RunHandle, place: &CaseLocation, case: &AiderCase, sink: &mut ImportSink<'_>) {
    let record = sink.run_mut(run);
    if let Some(began) = parse_start(&place.run) {
        set_start_time(record, &began);
    }
    record.git = to_text(&case.commit_hash).and_then(|commit| parse_git(&commit));
    let settings = [
        ("reasoning_effort", &case.reasoning_effort),
        ("thinking_tokens", &case.thinking_tokens),
        ("editor_model", &case.editor_model),
        ("editor_edit_format", &case.editor_edit_format),
    ];
    record.tags.extend(
        settings
            .into_iter()
            .filter_map(|(key, value)| Some((key.to_owned(), to_text(value)?))),
    );
}

impl AiderArm {
    fn add_case(
        &mut self,
        place: &CaseLocation,
        case: &AiderCase,
        tries: &[bool],
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        self.cases += 1;
        let solved = tries.iter().position(|passed| *passed);
        if self.solved_by.len() < tries.len() {
            // A case solved by the last known try is also solved by any later one.
            let so_far = self.solved_by.last().copied().unwrap_or_default();
            self.solved_by.resize(tries.len(), so_far);
        }
        if let Some(solved) = solved {
            self.solved_by
                .iter_mut()
                .skip(solved)
                .for_each(|count| *count += 1);
        }
        self.well_formed +=
            u64::from(to_count(&case.num_malformed_responses).is_none_or(|count| count == 0));
        let Some(run) = self.run else { return Ok(()) };

        let happened = |value: &Value| to_count(value).is_some_and(|count| count > 0);
        let status = if solved.is_some() {
            ItemStatus::Pass
        } else if tries.is_empty() {
            ItemStatus::Error
        } else if happened(&case.num_exhausted_context_windows) || happened(&case.test_timeouts) {
            ItemStatus::Limit
        } else {
            ItemStatus::Fail
        };
        let mut outcome = sink.new_outcome(run, &place.item, status);
        outcome.category.clone_from(&place.language);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        outcome.duration_seconds = to_amount(&case.duration);
        // A cost of zero means not measured.
        outcome.cost_usd = to_amount(&case.cost).filter(|cost| *cost > 0.0);
        let tokens = |value: &Value| to_count(value).filter(|tokens| *tokens > 0);
        (outcome.input_tokens, outcome.output_tokens) =
            (tokens(&case.prompt_tokens), tokens(&case.completion_tokens));
        let details = ItemDetails {
            reason: (status != ItemStatus::Pass).then(|| failure_reason(case, tries)),
            cost_source: outcome.cost_usd.map(|_| CostSource::Reported),
            steps: Some(tries.len() as u64),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &place.item, outcome, details)
    }

    fn add_exception(
        &mut self,
        place: &CaseLocation,
        exception: String,
        sink: &mut ImportSink<'_>,
    ) -> Result<(), ReadStop> {
        self.cases += 1;
        let Some(run) = self.run else { return Ok(()) };
        let mut outcome = sink.new_outcome(run, &place.item, ItemStatus::Error);
        outcome.category.clone_from(&place.language);
        EVALUATOR.clone_into(&mut outcome.evaluator);
        let details = ItemDetails {
            reason: Some(exception),
            ..ItemDetails::default()
        };
        sink.add_outcome(run, &place.item, outcome, details)
    }

    fn add_rates(self, sink: &mut ImportSink<'_>) {
        let Some(run) = self.run.filter(|_| self.cases > 0) else {
            return;
        };
        let record = sink.run_mut(run);
        let share = |count: u64| count as f64 / self.cases as f64;
        for (place, solved) in self.solved_by.iter().enumerate() {
            push_rate(
                record,
                &format!("pass_rate_{}", place + 1),
                share(*solved),
                Some(self.cases),
            );
        }
        if !self.solved_by.is_empty() {
            push_rate(
                record,
                "well_formed",
                share(self.well_formed),
                Some(self.cases),
            );
        }
    }
}

/// Returns for each try whether its tests passed, or `None` if the outcomes are not a list of booleans.
fn parse_tries(outcomes: &Value) -> Option<Vec<bool>> {
    outcomes.as_array()?.iter().map(Value::as_bool).collect()
}

fn failure_reason(case: &AiderCase, tries: &[bool]) -> String {
    let counted = [
        ("test timeouts", &case.test_timeouts),
        (
            "exhausted context windows",
            &case.num_exhausted_context_windows,
        ),
        ("malformed responses", &case.num_malformed_responses),
        ("error outputs", &case.num_error_outputs),
        ("syntax errors", &case.syntax_errors),
        ("indentation errors", &case.indentation_errors),
        ("lazy comments", &case.lazy_comments),
    ];
    let mut said = vec![format!("tries: {}", tries.len())];
    said.extend(counted.into_iter().filter_map(|(what, value)| {
        Some(format!(
            "{what}: {}",
            to_count(value).filter(|count| *count > 0)?
        ))
    }));
    said.join(", ")
}

/// The run, language and item of a case.
struct CaseLocation {
    run: String,
    language: Option<String>,
    /// `<language>/<case>`.
    item: String,
}

impl CaseLocation {
    /// Reads the place from the file's path below the run's folder. A file by itself has its path in `testdir`.
    fn from_path(
        file: &str,
        testdir: Option<&str>,
        testcase: Option<String>,
        source: &str,
    ) -> Self {
        let own: Vec<&str> = testdir
            .unwrap_or_default()
            .split(['/', '\\'])
            .filter(|part| !part.is_empty())
            .collect();
        let run = own.iter().rev().find(|part| parse_start(part).is_some());
        let run = if parse_start(source).is_some() {
            source
        } else {
            run.copied().unwrap_or(source)
        };
        let (folders, _) = file.rsplit_once('/').unwrap_or_default();
        let parts: Vec<&str> = if folders.is_empty() {
            own
        } else {
            folders.split('/').collect()
        };
        let language = parts
            .windows(2)
            .rev()
            .find(|pair| pair[1] == "exercises")
            .map(|pair| pair[0].to_owned());
        let case = testcase
            .filter(|case| !case.trim().is_empty())
            .or_else(|| parts.last().map(|part| (*part).to_owned()));
        let case = case.unwrap_or_else(|| file.to_owned());
        let item = language
            .as_ref()
            .map_or_else(|| case.clone(), |language| format!("{language}/{case}"));
        Self {
            run: run.to_owned(),
            language,
            item,
        }
    }
}
