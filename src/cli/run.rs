//! `run`: runs suites and configured tasks with agents and approaches.

use crate::results::Batch;

use super::arguments::{Build, Engine, Gate, Instead, Judging, Publishing, Run, Selection};
use super::arms::{Maker, Wanted};
use super::carry::{self, Place};
use super::failure::Failure;
use super::settings::Settings;
use super::{build, clock, exit_code, gate, preflight, targets, until, versions};

pub(super) fn run(settings: &Settings, arguments: &Run) -> Result<u8, Failure> {
    let carrying = &arguments.carrying;
    carrying.fail_under.map_or(Ok(()), carry::check_percent)?;
    if arguments.gate.is_some() {
        gate::check_configured(settings)?;
    }
    let place = Place { site: arguments.site.clone(), ..Place::new(settings, arguments.scratch.as_deref())? };
    let now = clock::now();
    let maker = Maker { config: &settings.config, root: &place.root, environment: &place.environment, now };
    let (batch, arms) = if let Some(which) = &arguments.resume {
        let batch = carry::unfinished(settings, which)?;
        let arms = maker.resumed(&batch)?;
        (batch, arms)
    } else {
        let wanted = Wanted { approaches: arguments.approach.clone(), agents: arguments.agent.clone(), models: carrying.model.clone() };
        let targets = if arguments.what.is_empty() {
            settings.config.tasks.iter().map(|task| task.id.clone()).collect()
        } else {
            arguments.what.clone()
        };
        if targets.is_empty() {
            return Err(Failure::new("nothing to run")
                .with_hint("name a suite or a task; `evalreport list` shows them, `evalreport init` writes examples"));
        }
        let mut arms = targets::arms(&maker, &targets, &wanted)?;
        versions::settle(settings, &mut arms);
        let batch = until::plan(settings, &arms, carrying, arguments.gate.is_some(), now)?;
        (Batch { without_output: arguments.no_output, without_isolation: arguments.no_isolation, ..batch }, arms)
    };
    if carrying.dry_run {
        carry::describe(settings, &batch)?;
        return Ok(exit_code::DONE);
    }
    preflight::check(&arms, &place.environment)?;
    preflight::warn_of_missing_judges(settings, &arms);
    let store = settings.store();
    let _lock = carry::lock(&store, arguments.exclusive)?;
    if arguments.resume.is_none() {
        batch.save(&store)?;
    }
    let carried = carry::carry(settings, batch, &arms, carrying, &place)?;
    let mut code = carry::conclude(settings, &carried, carrying, arguments.summary.as_deref())?;
    if code == exit_code::INTERRUPTED {
        return Ok(code);
    }
    if let Some(site) = &arguments.site {
        build::run(
            settings,
            &Build { paths: Vec::new(), out: site.clone(), publishing: Publishing::default(), selection: Selection::default() },
        )?;
    }
    if let Some(baseline) = &arguments.gate {
        let suites: std::collections::BTreeSet<String> = carried.batch.arms.iter().map(|arm| arm.suite.clone()).collect();
        let asked = Gate {
            suites: suites.into_iter().collect(),
            baseline: Some(baseline.clone()),
            metric: None,
            max_drop: None,
            max_rise: None,
            max_cost: None,
            must_pass: Vec::new(),
            no_new_failures: false,
            instead: Instead::default(),
            on_inconclusive: None,
            junit: None,
            markdown: None,
            newest_batch: true,
            judging: Judging::default(),
            engine: Engine::default(),
            selection: Selection { batch: Some(carried.batch.id.clone()), ..Selection::default() },
        };
        let gated = gate::run(settings, &asked)?;
        if code == exit_code::DONE {
            code = gated;
        }
    }
    Ok(code)
}
