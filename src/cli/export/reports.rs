//! `export json|junit|ctrf|eee`: writes the counted outcomes, run by run.

use std::path::Path;

use tracing::info;

use crate::domain::{Filter, Run};
use crate::render::export::{
    counts_without_outcomes, ctrf as ctrf_report, eee as every_eval_ever, junit as junit_report,
};
use crate::results::RecordsWriter;
use crate::views::RunTally;
use crate::warehouse::{RunOutcomes, Warehouse};

use super::super::display_path::display_path;
use super::super::failure::CommandFailure;
use super::super::output;
use super::super::settings::Settings;
use super::written::OutputFile;

/// Amount of data written.
#[derive(Default)]
struct ExportCounts {
    runs: usize,
    outcomes: usize,
    /// Number of runs without outcomes. `counted` is the number of outcomes known only as counts.
    empty: usize,
    counted: u64,
}

impl ExportCounts {
    fn print_counts(&self, settings: &Settings, path: &Path) {
        info!(path = %path.display(), runs = self.runs, outcomes = self.outcomes, "exported");
        let (runs, outcomes) = (
            output::format_count(self.runs, "run"),
            output::format_count(self.outcomes, "outcome"),
        );
        output::print_message(
            settings,
            &format!("{}: {runs}, {outcomes}", display_path(path)),
        );
        if self.empty > 0 {
            let have = if self.empty == 1 { "has" } else { "have" };
            let counted = output::format_count(
                usize::try_from(self.counted).unwrap_or(usize::MAX),
                "outcome",
            );
            let counts = if self.counted > 0 {
                format!("; of {counted} there are counts, which are properties")
            } else {
                String::new()
            };
            output::print_message(
                settings,
                &format!(
                    "note: {} {have} no outcomes and no tests here{counts}",
                    output::format_count(self.empty, "run")
                ),
            );
        }
    }

    fn note_run(&mut self, run: &Run, tally: &RunTally) {
        self.empty += usize::from(tally.sum_groups().total() == 0);
        self.counted = self
            .counted
            .saturating_add(counts_without_outcomes(run, tally).map_or(0, |(_, total)| total));
    }
}

/// Counts a run's outcomes before they are written.
fn tally_outcomes(outcomes: &mut RunOutcomes<'_>) -> Result<RunTally, CommandFailure> {
    let mut tally = RunTally::default();
    outcomes.for_each(|outcome, _| {
        tally.add(outcome);
        Ok::<(), CommandFailure>(())
    })?;
    Ok(tally)
}

pub(super) fn export_json(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    let mut count = ExportCounts::default();
    let runs: Vec<_> = warehouse
        .select_runs(filter)
        .map(|row| row.run.as_ref())
        .collect();
    count.runs = runs.len();
    let mut file = OutputFile::create(path)?;
    file.push(&RecordsWriter::opening_text(&runs))?;
    let mut writer = RecordsWriter::default();
    warehouse.for_each_run(filter, |_, outcomes| {
        outcomes.for_each(|outcome, details| {
            count.outcomes += 1;
            file.push(writer.item_text(outcome, details))
        })
    })?;
    file.push(RecordsWriter::END)?;
    file.commit()?;
    count.print_counts(settings, path);
    Ok(())
}

pub(super) fn export_junit(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    let mut count = ExportCounts::default();
    let mut file = OutputFile::create(path)?;
    file.push(junit_report::DOCUMENT_BEGIN)?;
    warehouse.for_each_run(filter, |run, outcomes| {
        let tally = tally_outcomes(outcomes)?;
        count.runs += 1;
        count.note_run(run, &tally);
        file.push(&junit_report::begin_suite(run, &tally))?;
        outcomes.for_each(|outcome, details| {
            count.outcomes += 1;
            file.push(&junit_report::write_case(run, &tally, outcome, details))
        })?;
        file.push(junit_report::SUITE_END)
    })?;
    file.push(junit_report::DOCUMENT_END)?;
    file.commit()?;
    count.print_counts(settings, path);
    Ok(())
}

pub(super) fn export_ctrf(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    let is_file = path
        .extension()
        .is_some_and(|extension| extension == "json")
        || path.exists() && !path.is_dir();
    let selected = warehouse.select_runs(filter).count();
    if is_file && selected > 1 {
        return Err(CommandFailure::new(format!(
            "a CTRF report is of one run, and {} are selected",
            output::format_count(selected, "run")
        ))
        .with_hint("give a folder, which gets a report for each run; or select one run"));
    }
    let mut count = ExportCounts::default();
    warehouse.for_each_run(filter, |run, outcomes| {
        let tally = tally_outcomes(outcomes)?;
        count.runs += 1;
        count.note_run(run, &tally);
        // An id is safe as a file name.
        let target = if is_file {
            path.to_owned()
        } else {
            path.join(format!("{}.json", run.id))
        };
        let mut file = OutputFile::create(&target)?;
        file.push(&ctrf_report::write_head(
            run,
            &tally,
            env!("CARGO_PKG_VERSION"),
        ))?;
        let mut is_first = true;
        outcomes.for_each(|outcome, details| {
            count.outcomes += 1;
            if !std::mem::take(&mut is_first) {
                file.push(",\n")?;
            }
            file.push(&ctrf_report::write_test(&tally, outcome, details))
        })?;
        file.push(ctrf_report::DOCUMENT_END)?;
        file.commit().map(|_| ())
    })?;
    count.print_counts(settings, path);
    Ok(())
}

pub(super) fn export_eee(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), CommandFailure> {
    let mut count = ExportCounts::default();
    let mut without = 0;
    warehouse.for_each_run(filter, |run, outcomes| {
        let tally = tally_outcomes(outcomes)?;
        let groups = tally.outcome_groups();
        let place = every_eval_ever::ExportedRunPaths::from_run(run);
        let mut rows = 0_u64;
        let mut samples: Option<OutputFile> = None;
        outcomes.for_each(|outcome, details| {
            let Some(sample) = every_eval_ever::write_sample(run, &groups, outcome, details) else {
                return Ok(());
            };
            let file = match &mut samples {
                Some(file) => file,
                none => none.insert(OutputFile::create(&path.join(place.samples_path()))?),
            };
            rows += 1;
            file.push(&sample)?;
            file.push("\n")
        })?;
        let samples = match samples {
            Some(file) => Some(every_eval_ever::WrittenSamples {
                sha256: file.commit()?,
                rows,
            }),
            None => None,
        };
        match every_eval_ever::write_record(run, &tally, &place, samples.as_ref()) {
            Some(record) => {
                let mut file = OutputFile::create(&path.join(place.record_path()))?;
                file.push(&record)?;
                file.commit()?;
                count.runs += 1;
                count.outcomes += usize::try_from(rows).unwrap_or(usize::MAX);
            }
            None => without += 1,
        }
        Ok::<(), CommandFailure>(())
    })?;
    count.print_counts(settings, path);
    if without > 0 {
        output::print_message(
            settings,
            &format!(
                "note: {} without any figure: there is no record of them",
                output::format_count(without, "run")
            ),
        );
    }
    Ok(())
}
