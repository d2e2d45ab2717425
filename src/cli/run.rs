//! `run`: runs suites and configured tasks with agents and approaches.

use crate::results::Batch;

use super::arguments::{
    Build, Engine, Gate, Instead, Judging, OfFiles, Publishing, Run, Selection,
};
use super::arms::{Maker, Wanted};
use super::carry::{self, Concluded, Place};
use super::failure::Failure;
use super::gate::Gated;
use super::settings::Settings;
use super::summary::{self, Said};
use super::{again, build, clock, exit_code, gate, preflight, subset, targets, until, versions};

pub(super) fn run(settings: &Settings, arguments: &Run) -> Result<u8, Failure> {
    let carrying = &arguments.carrying;
    carrying.fail_under.map_or(Ok(()), carry::check_percent)?;
    if arguments.gate.is_some() {
        gate::check_configured(settings)?;
    }
    let place = Place {
        site: arguments.site.clone(),
        ..Place::new(settings, arguments.scratch.as_deref())?
    };
    let now = clock::now();
    let maker = Maker {
        config: &settings.config,
        root: &place.root,
        environment: &place.environment,
        now,
    };
    let (batch, arms) = if let Some(which) = &arguments.resume {
        let batch = carry::unfinished(settings, which)?;
        let arms = maker.resumed(&batch)?;
        (batch, arms)
    } else if let Some(which) = &arguments.retry {
        again::retry(settings, &maker, which)?
    } else if !arguments.retest.is_empty() {
        again::retest(settings, &maker, &arguments.retest)?
    } else {
        let wanted = Wanted {
            approaches: arguments.approach.clone(),
            agents: arguments.agent.clone(),
            models: carrying.model.clone(),
        };
        let targets = if arguments.what.is_empty() {
            settings
                .config
                .tasks
                .iter()
                .map(|task| task.id.clone())
                .collect()
        } else {
            arguments.what.clone()
        };
        if targets.is_empty() {
            return Err(Failure::new("nothing to run")
                .with_hint("name a suite or a task; `evalreport list` shows them, `evalreport init` writes examples"));
        }
        let mut arms = targets::arms(&maker, &targets, &wanted)?;
        subset::narrow(&mut arms, &until::subset(carrying))?;
        versions::settle(settings, &mut arms);
        let batch = until::plan(settings, &arms, carrying, arguments.gate.is_some(), now)?;
        (
            Batch {
                without_output: arguments.no_output,
                without_isolation: arguments.no_isolation,
                ..batch
            },
            arms,
        )
    };
    preflight::check(
        &arms,
        again::is_of_tests(&batch, &arms),
        &place.environment,
        &place.root,
    )?;
    preflight::warn_of_missing_own_tools(settings, &arms, &place.environment, &place.root);
    if carrying.dry_run {
        carry::describe(settings, &batch)?;
        return Ok(exit_code::DONE);
    }
    preflight::warn_of_missing_judges(settings, &arms);
    let store = settings.store();
    let _lock = carry::lock(&store, arguments.exclusive)?;
    if arguments.resume.is_none() {
        batch.save(&store)?;
        // At once: a killed batch has a plan, too.
        settings.chain("run");
    }
    let carried = carry::carry(settings, batch, &arms, carrying, &place)?;
    again::conclude(settings, &carried.batch, &carried.records)?;
    let summarise = |said: &[Said<'_>]| {
        arguments
            .summary
            .as_deref()
            .map_or(Ok(()), |path| summary::append(path, &carried.batch, said))
    };
    let Concluded { code, tables } = match carry::conclude(settings, &carried, carrying) {
        Ok(concluded) => concluded,
        Err(failure) => {
            summarise(&[Said::Failure(&failure)])?;
            return Err(failure);
        }
    };
    if code == exit_code::INTERRUPTED {
        return Ok(code);
    }
    if carried.spent.is_some() {
        // A gate over a part of the runs could pass for want of the others.
        summarise(&[Said::Tables(&tables)])?;
        return Ok(code);
    }
    if let Some(site) = &arguments.site {
        build::run(
            settings,
            &Build {
                paths: Vec::new(),
                out: site.clone(),
                allow_empty: false,
                publishing: Publishing::default(),
                of_files: OfFiles::default(),
                selection: Selection::default(),
            },
        )?;
    }
    let Some(baseline) = &arguments.gate else {
        summarise(&[Said::Tables(&tables)])?;
        return Ok(code);
    };
    let gated = gated(settings, arguments, baseline, &carried.batch);
    match &gated {
        Ok(Gated { comment, .. }) => summarise(&[
            Said::Gate(comment.clone().unwrap_or_default()),
            Said::Tables(&tables),
        ])?,
        Err(failure) => summarise(&[Said::Failure(failure), Said::Tables(&tables)])?,
    }
    Ok(worse(code, gated?.code))
}

/// Checks the batch's runs by the configured rules.
fn gated(
    settings: &Settings,
    arguments: &Run,
    baseline: &str,
    batch: &Batch,
) -> Result<Gated, Failure> {
    let suites: std::collections::BTreeSet<String> =
        batch.arms.iter().map(|arm| arm.suite.clone()).collect();
    // Arms of the baseline that this batch was not asked to run are not missing.
    let approaches: std::collections::BTreeSet<String> =
        batch.arms.iter().map(|arm| arm.approach.clone()).collect();
    let asked = Gate {
        suites: suites.into_iter().collect(),
        baseline: Some(baseline.to_owned()),
        metric: None,
        max_drop: None,
        max_rise: None,
        max_cost: None,
        must_pass: Vec::new(),
        no_new_failures: false,
        accept: None,
        allow_removed: false,
        max_missing: None,
        instead: Instead::default(),
        on_inconclusive: arguments.on_inconclusive,
        junit: None,
        markdown: None,
        newest_batch: true,
        judging: Judging::default(),
        engine: Engine::default(),
        of_files: OfFiles::default(),
        selection: Selection {
            batch: Some(batch.id.clone()),
            approach: approaches.into_iter().collect(),
            ..Selection::default()
        },
    };
    gate::gated(settings, &asked)
}

/// Returns the worse of two exit codes: a negative answer is worse than an inconclusive one.
fn worse(one: u8, other: u8) -> u8 {
    let rank = |code: u8| match code {
        exit_code::DONE => 0,
        exit_code::INCONCLUSIVE => 1,
        _ => 2,
    };
    if rank(other) > rank(one) { other } else { one }
}
