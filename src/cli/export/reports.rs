//! `export json|junit|ctrf|eee`: writes the counted outcomes, run by run.

use std::path::Path;

use tracing::info;

use crate::domain::{Filter, Run};
use crate::render::export::{
    counts_alone, ctrf as ctrf_report, eee as every_eval_ever, junit as junit_report,
};
use crate::results::RecordsWriter;
use crate::views::RunTally;
use crate::warehouse::{RunOutcomes, Warehouse};

use super::super::failure::Failure;
use super::super::output;
use super::super::settings::Settings;
use super::super::shown::shown;
use super::written::Written;

/// Amount of data written.
#[derive(Default)]
struct Count {
    runs: usize,
    outcomes: usize,
    /// Number of runs without outcomes. `counted` is the number of outcomes known only as counts.
    empty: usize,
    counted: u64,
}

impl Count {
    fn say(&self, settings: &Settings, path: &Path) {
        info!(path = %path.display(), runs = self.runs, outcomes = self.outcomes, "exported");
        let (runs, outcomes) = (
            output::count(self.runs, "run"),
            output::count(self.outcomes, "outcome"),
        );
        output::say(settings, &format!("{}: {runs}, {outcomes}", shown(path)));
        if self.empty > 0 {
            let have = if self.empty == 1 { "has" } else { "have" };
            let counted = output::count(
                usize::try_from(self.counted).unwrap_or(usize::MAX),
                "outcome",
            );
            let counts = if self.counted > 0 {
                format!("; of {counted} there are counts, which are properties")
            } else {
                String::new()
            };
            output::say(
                settings,
                &format!(
                    "note: {} {have} no outcomes and no tests here{counts}",
                    output::count(self.empty, "run")
                ),
            );
        }
    }

    fn note(&mut self, run: &Run, tally: &RunTally) {
        self.empty += usize::from(tally.all().total() == 0);
        self.counted = self
            .counted
            .saturating_add(counts_alone(run, tally).map_or(0, |(_, total)| total));
    }
}

/// Counts a run's outcomes before they are written.
fn tally(outcomes: &mut RunOutcomes<'_>) -> Result<RunTally, Failure> {
    let mut tally = RunTally::default();
    outcomes.each(|outcome, _| {
        tally.add(outcome);
        Ok::<(), Failure>(())
    })?;
    Ok(tally)
}

pub(super) fn json(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    let mut count = Count::default();
    let runs: Vec<_> = warehouse
        .select(filter)
        .map(|row| row.run.as_ref())
        .collect();
    count.runs = runs.len();
    let mut file = Written::create(path)?;
    file.push(&RecordsWriter::begin(&runs))?;
    let mut writer = RecordsWriter::default();
    warehouse.each_run(filter, |_, outcomes| {
        outcomes.each(|outcome, details| {
            count.outcomes += 1;
            file.push(writer.item(outcome, details))
        })
    })?;
    file.push(RecordsWriter::END)?;
    file.commit()?;
    count.say(settings, path);
    Ok(())
}

pub(super) fn junit(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    let mut count = Count::default();
    let mut file = Written::create(path)?;
    file.push(junit_report::BEGIN)?;
    warehouse.each_run(filter, |run, outcomes| {
        let tally = tally(outcomes)?;
        count.runs += 1;
        count.note(run, &tally);
        file.push(&junit_report::begin_suite(run, &tally))?;
        outcomes.each(|outcome, details| {
            count.outcomes += 1;
            file.push(&junit_report::case(run, &tally, outcome, details))
        })?;
        file.push(junit_report::END_SUITE)
    })?;
    file.push(junit_report::END)?;
    file.commit()?;
    count.say(settings, path);
    Ok(())
}

pub(super) fn ctrf(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    let is_file = path
        .extension()
        .is_some_and(|extension| extension == "json")
        || path.exists() && !path.is_dir();
    let selected = warehouse.select(filter).count();
    if is_file && selected > 1 {
        return Err(Failure::new(format!(
            "a CTRF report is of one run, and {} are selected",
            output::count(selected, "run")
        ))
        .with_hint("give a folder, which gets a report for each run; or select one run"));
    }
    let mut count = Count::default();
    warehouse.each_run(filter, |run, outcomes| {
        let tally = tally(outcomes)?;
        count.runs += 1;
        count.note(run, &tally);
        // An id is safe as a file name.
        let target = if is_file {
            path.to_owned()
        } else {
            path.join(format!("{}.json", run.id))
        };
        let mut file = Written::create(&target)?;
        file.push(&ctrf_report::begin(run, &tally, env!("CARGO_PKG_VERSION")))?;
        let mut is_first = true;
        outcomes.each(|outcome, details| {
            count.outcomes += 1;
            if !std::mem::take(&mut is_first) {
                file.push(",\n")?;
            }
            file.push(&ctrf_report::test(&tally, outcome, details))
        })?;
        file.push(ctrf_report::END)?;
        file.commit().map(|_| ())
    })?;
    count.say(settings, path);
    Ok(())
}

pub(super) fn eee(
    settings: &Settings,
    path: &Path,
    warehouse: &Warehouse,
    filter: &Filter,
) -> Result<(), Failure> {
    let mut count = Count::default();
    let mut without = 0;
    warehouse.each_run(filter, |run, outcomes| {
        let tally = tally(outcomes)?;
        let groups = tally.groups();
        let place = every_eval_ever::Place::of(run);
        let mut rows = 0_u64;
        let mut samples: Option<Written> = None;
        outcomes.each(|outcome, details| {
            let Some(sample) = every_eval_ever::sample(run, &groups, outcome, details) else {
                return Ok(());
            };
            let file = match &mut samples {
                Some(file) => file,
                none => none.insert(Written::create(&path.join(place.samples()))?),
            };
            rows += 1;
            file.push(&sample)?;
            file.push("\n")
        })?;
        let samples = match samples {
            Some(file) => Some(every_eval_ever::Samples {
                sha256: file.commit()?,
                rows,
            }),
            None => None,
        };
        match every_eval_ever::record(run, &tally, &place, samples.as_ref()) {
            Some(record) => {
                let mut file = Written::create(&path.join(place.record()))?;
                file.push(&record)?;
                file.commit()?;
                count.runs += 1;
                count.outcomes += usize::try_from(rows).unwrap_or(usize::MAX);
            }
            None => without += 1,
        }
        Ok::<(), Failure>(())
    })?;
    count.say(settings, path);
    if without > 0 {
        output::say(
            settings,
            &format!(
                "note: {} without any figure: there is no record of them",
                output::count(without, "run")
            ),
        );
    }
    Ok(())
}
