//! SWE-bench: reports of runs and of their instances, and submissions of the experiments repository.
//!
//! A run's report and its instances' reports are one source. The run's report lists the instances and their results; the instances' reports
//! list the failed tests. Only the names of files and folders tell model and run. The content tells what a file is, whatever its name.

mod instance;
mod run;
mod submission;

use std::path::{Path, PathBuf};

use crate::domain::{ItemKind, Problem};

use super::super::cell::Refused;
use super::super::rows::ReadStop;
use super::claim::Claim;
use super::format::FormatFacts;
use super::importer::FormatImporter;
use super::peek::{ContentKind, Peek};
use super::sink::ImportSink;
use super::source::ForeignFileGroup;
use instance::{is_unnamed, split_date, stem};

pub(super) const FORMAT: FormatImporter = FormatImporter::new(
    FormatFacts {
        name: "swe-bench",
        title: "SWE-bench",
        kind: ItemKind::Task,
        reads_names: true,
        version: 6,
    },
    claim_file,
    read_source,
);

fn claim_file(peek: &Peek) -> Option<Claim> {
    let folder = |levels: usize| Some(peek.path.ancestors().nth(levels)?.to_owned());
    let group = match peek.content {
        ContentKind::Json if is_submission_result(peek) && !is_unnamed(stem(&peek.name)) => {
            folder(1)?.join(stem(&peek.name))
        }
        ContentKind::Json if is_submission_result(peek) || is_resolved_by(peek) => {
            folder(if peek.folder_name(0) == Some("results") {
                2
            } else {
                1
            })?
        }
        ContentKind::Json if is_report(peek) => folder(1)?.join(stem(&peek.name)),
        ContentKind::Json if is_instance(peek) && peek.name == "report.json" => {
            group_of_instance(&peek.path)?
        }
        ContentKind::Json if is_instance(peek) => folder(1)?.join(stem(&peek.name)),
        ContentKind::Json if is_per_instance(peek) => folder(1)?,
        ContentKind::Text if is_metadata(peek) => folder(1)?,
        ContentKind::Json | ContentKind::Text | ContentKind::Zip | ContentKind::Xml => return None,
    };
    Some(Claim::PartOf(if group.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        group
    }))
}

/// Returns whether the file is a run's report. Multi-SWE-bench calls the list of resolved instances `resolved`.
fn is_report(peek: &Peek) -> bool {
    peek.has("total_instances")
        && (peek.has("resolved_ids") || (peek.has("resolved") && peek.has("submitted_instances")))
}

fn is_instance(peek: &Peek) -> bool {
    let names_patch = |id: &str| {
        peek.has(&format!("{id}.patch_exists")) || peek.has(&format!("{id}.patch_is_None"))
    };
    peek.folder_name(0).is_some_and(names_patch) || peek.keys_below("").any(names_patch)
}

/// Returns whether the file lists the instances by result, as `get_model_report` of 2023 and 2024 did and the experiments repository does. A
/// long report's last list, `resolved`, lies beyond the first look. Only the name tells that a run's report is a submission to
/// Multi-SWE-bench.
fn is_submission_result(peek: &Peek) -> bool {
    let has_any = |keys: &[&str]| keys.iter().any(|key| peek.has(key));
    if peek.name == "results.json"
        && has_any(&["resolved", "resolved_ids"])
        && has_any(&["total_instances", "generated"])
    {
        return true;
    }
    let has_resolved = peek.has("resolved") && !peek.has("total_instances");
    peek.has_all(&["no_generation", "generated"])
        || (has_resolved && has_any(&["no_generation", "no_logs"]))
}

/// Returns whether the file has sums by repository or by year. Their totals give the number of instances.
fn is_resolved_by(peek: &Peek) -> bool {
    peek.name.starts_with("resolved_by_")
        && peek
            .keys_below("")
            .any(|key| peek.has_all(&[&format!("{key}.resolved"), &format!("{key}.total")]))
}

fn is_per_instance(peek: &Peek) -> bool {
    peek.name == "per_instance_details.json"
        && peek
            .keys_below("")
            .any(|id| peek.has(&format!("{id}.resolved")))
}

fn is_metadata(peek: &Peek) -> bool {
    let head = String::from_utf8_lossy(&peek.head);
    let has = |key: &str| head.lines().any(|line| line.starts_with(key));
    let is_dated = peek
        .folder_name(0)
        .is_some_and(|folder| split_date(folder).0.is_some());
    is_dated
        && matches!(peek.name.as_str(), "metadata.yaml" | "metadata.yml")
        && has("info:")
        && (has("tags:") || has("assets:"))
}

/// Returns the source of an instance's report. `[logs/run_evaluation/]<run>/<model>/<instance>/report.json` belongs to
/// `<model>.<run>.json`, which lies beside `logs`.
fn group_of_instance(path: &Path) -> Option<PathBuf> {
    let folders: Vec<&Path> = path.ancestors().skip(1).collect();
    let name = |levels: usize| folders.get(levels)?.file_name()?.to_str();
    let (Some(model), Some(run)) = (name(1), name(2)) else {
        return Some((*folders.first()?).to_owned());
    };
    let above = if (name(3), name(4)) == (Some("run_evaluation"), Some("logs")) {
        5
    } else {
        3
    };
    Some(folders.get(above)?.join(format!("{model}.{run}")))
}

fn read_source(source: &ForeignFileGroup, sink: &mut ImportSink<'_>) -> Result<(), ReadStop> {
    let (mut run, mut submission) = (
        run::RunReportFiles::default(),
        submission::SubmissionFiles::default(),
    );
    let mut is_report_submitted = false;
    for file in &source.files {
        let peek = Peek::from_source_file(file)?;
        if is_submission_result(&peek) {
            if submission.results.is_some() {
                sink.refuse_part(&file.name, Refused::new("a second report of the same run"));
                continue;
            }
            submission.results = Some(file);
            // In Multi-SWE-bench, the results of a submission are a run's report.
            is_report_submitted = peek.has("total_instances");
        } else if is_report(&peek) {
            run.report = Some(file);
        } else if is_instance(&peek) {
            run.instances.push(file);
        } else if is_resolved_by(&peek) {
            submission.totals = Some(file);
        } else if is_per_instance(&peek) {
            submission.instances = Some(file);
        } else if is_metadata(&peek) {
            submission.metadata = Some(file);
        }
    }
    if let Some(file) = submission.results.filter(|_| is_report_submitted) {
        submission::read_multi_swe_bench(source, file, sink)
    } else if run.report.is_some() || !run.instances.is_empty() {
        run::read_run(source, &run, sink)
    } else if submission.results.is_some() || submission.instances.is_some() {
        submission::read_submission(source, &submission, sink)
    } else {
        Err(Problem::in_file(
            &source.shown,
            "holds no report of a run and no results of a submission",
        )
        .into())
    }
}
