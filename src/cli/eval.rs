//! `eval`: asks agents the questions of a file.

use crate::config::QuestionBudget;

use super::arguments::{Build, Eval, OfFiles, Publishing, Selection};
use super::arms::{ArmFactory, ArmOptions};
use super::execute_plan::{self, RunFolders};
use super::failure::CommandFailure;
use super::settings::Settings;
use super::{build, clock, exit_code, preflight, subset, until, versions};

pub(super) fn run_command(settings: &Settings, arguments: &Eval) -> Result<u8, CommandFailure> {
    let carrying = &arguments.carrying;
    carrying
        .fail_under
        .map_or(Ok(()), execute_plan::check_percent)?;
    let settings = &match &arguments.output_dir {
        Some(folder) => settings.with_results(folder.join("results")),
        None => settings.clone(),
    };
    let report = arguments
        .output_dir
        .as_ref()
        .map(|folder| folder.join("report"));
    let place = RunFolders {
        site: report.clone(),
        ..RunFolders::new(settings, None)?
    };
    let now = clock::now();
    let maker = ArmFactory {
        config: &settings.config,
        root: &place.root,
        environment: &place.environment,
        now,
    };
    let wanted = ArmOptions {
        approaches: Vec::new(),
        agents: arguments.agent.clone(),
        models: carrying.model.clone(),
    };
    let file = arguments
        .questions
        .as_ref()
        .ok_or_else(|| CommandFailure::new("which file of questions?"))?;
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let suite = arguments.suite.as_deref().or(stem).unwrap_or("questions");
    // The path is absolute, so that the batch can be resumed from any folder.
    let questions = std::path::absolute(file).unwrap_or_else(|_| file.clone());
    let mut arms = maker.arms_of_file(&questions, suite, &wanted, &QuestionBudget::default())?;
    subset::narrow_arms(&mut arms, &until::asked_subset(carrying))?;
    versions::settle_versions(settings, &mut arms);
    let batch = until::plan_runs(settings, &arms, carrying, false, now)?;
    preflight::check_programs(&arms, false, &place.environment, &place.root)?;
    if carrying.dry_run {
        execute_plan::describe_plan(settings, &batch)?;
        return Ok(exit_code::DONE);
    }
    let store = settings.store();
    let _lock = execute_plan::lock_store(&store, false)?;
    batch.save(&store)?;
    // At once: a killed batch has a plan, too.
    settings.append_chain_entry("eval");
    let carried = execute_plan::execute_batch(settings, batch, &arms, carrying, &place)?;
    let code = execute_plan::print_conclusion(settings, &carried, carrying)?.code;
    if code != exit_code::INTERRUPTED
        && let Some(report) = report
    {
        build::run_command(
            settings,
            &Build {
                paths: Vec::new(),
                out: report,
                allow_empty: false,
                publishing: Publishing::default(),
                of_files: OfFiles::default(),
                selection: Selection::default(),
            },
        )?;
    }
    Ok(code)
}
