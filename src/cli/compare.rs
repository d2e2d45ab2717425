//! `compare`: compares arms on a suite.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

use crate::domain::{Filter, escape_invisible, shell_word};
use crate::render::json::{AnswerSchema, CompareAnswer, answer_schema};
use crate::render::table::ReportTable;
use crate::render::{comparability, comparison, phrases, tables};
use crate::views::{
    BaselineSelection, BatchSelection, Comparison, PairOrder, SuiteGroup, board_groups,
    compare_arms, compare_to_baseline, compare_with_flips, count_retracted, criterion_flips,
    find_separate_arms,
};
use crate::warehouse::{Warehouse, WarehouseOptions};

use super::command::{Command, Example, Invocation, ResultsUse};
use super::display_path::display_path;
use super::failure::{self, CommandFailure};
use super::file_arms::FileOptions;
use super::options::{Engine, Format, Judging, OfFiles, Selection};
use super::query::{NamedRuns, RunQuery};
use super::settings::Settings;
use super::{ad_hoc_import, baseline, engine, exit_code, output, policy, selection, unstarted};

/// Compare arms on a suite
#[derive(Args)]
pub(super) struct CompareArguments {
    /// Suites, run ids, `last` for the newest batch, or paths such as ./logs to other tools' results [default: every suite with at least two arms]
    #[arg(value_name = "SUITE|ID|PATH")]
    pub what: Vec<String>,
    /// Result files to compare, instead of stored runs
    #[arg(
        long,
        value_name = "FILE,FILE",
        value_delimiter = ',',
        conflicts_with = "what"
    )]
    pub files: Vec<PathBuf>,
    /// Compare each arm with its baseline: a store, bundle, result file, run, last:K, tag KEY=VALUE or git revision
    #[arg(long, value_name = "WHAT")]
    pub baseline: Option<String>,
    /// Take only each arm's newest batch [default: all its runs since the newest change point of a pass rate]
    #[arg(long)]
    pub newest_batch: bool,
    /// Explain the table: intervals, methods, planning figures, other tests, unmeasured figures
    #[arg(long)]
    pub explain: bool,
    /// List the items that only one of two arms passed
    #[arg(long)]
    pub flips: bool,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

impl Command for CompareArguments {
    const NAME: &'static str = "compare";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport compare hello --explain",
            "the arms of a suite, with intervals and methods",
        ),
        ("evalreport compare last", "the arms of the newest batch"),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("compare", answer_schema::<CompareAnswer>)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

fn run_command(settings: &Settings, arguments: &CompareArguments) -> Result<u8, CommandFailure> {
    let query = RunQuery {
        engine: Some(&arguments.engine),
        baseline: arguments.baseline.as_deref(),
        compares: arguments.baseline.is_none(),
        ..RunQuery::new(&arguments.what, &arguments.of_files, &arguments.selection)
    };
    let NamedRuns {
        settings,
        names: what,
        paths,
        mut filter,
        files: asked,
    } = query.resolve_names(settings)?;
    let (settings, stores) = &ad_hoc_import::with_stores(&settings, &paths, &asked)?;
    let are_alone =
        (arguments.baseline.is_some() || settings.file_arms.has_files()) && !stores.is_empty();
    let new = if are_alone {
        ad_hoc_import::ids_of_stores(settings, stores)?
    } else {
        Vec::new()
    };
    let policy = policy::policy_with_options(settings, &arguments.judging)?;
    let (mut warehouse, held) = open_results(settings, arguments, (&asked, &new))?;
    name_targets(&warehouse, &what, &mut filter)?;
    if what.is_empty() {
        // Files that are compared, with each other or with a baseline, are compared whatever else the stores hold.
        filter.ids.extend(new);
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    let filter = selection::resolve_filter(&warehouse, filter)?;
    policy::check_primaries(settings, &warehouse)?;
    let grouping = if arguments.newest_batch {
        BatchSelection::NewestBatch
    } else {
        BatchSelection::AllBatches
    };
    let mut groups: Vec<SuiteGroup<'_>> = match &held.baseline {
        Some(baseline) => {
            let groups = compare_to_baseline(&warehouse, &filter, baseline, grouping);
            groups
                .iter()
                .filter(|held| !held.baseline.is_empty())
                .map(crate::views::BaselineComparison::joint_table)
                .collect()
        }
        None => board_groups(&warehouse, &filter, grouping, &policy),
    };
    let is_asked = what.iter().any(|word| word != selection::LAST_WORD)
        || !arguments.selection.suite.is_empty()
        || !arguments.files.is_empty();
    let one = if arguments.flips {
        compare_with_flips
    } else {
        compare_arms
    };
    if settings.file_arms.has_files() {
        for group in &mut groups {
            settings
                .file_arms
                .sort_arms(&mut group.arms, |arm| (&arm.arm.approach, &arm.arm.model));
        }
    }
    let order = if held.baseline.is_some() || settings.file_arms.has_files() {
        PairOrder::AsGiven
    } else {
        PairOrder::AheadFirst
    };
    let with_criteria = |group: &SuiteGroup<'_>| {
        let table = one(&warehouse, group, &policy, order);
        // Put the arms into the table's order, so that the criteria are about its first and second arm.
        let mut turned = group.clone();
        turned.arms.sort_by_key(|arm| {
            table
                .arms
                .iter()
                .position(|compared| compared.arm == arm.arm)
        });
        let criteria = criterion_flips(&warehouse, &turned)
            .map_err(|error| CommandFailure::new(escape_invisible(&error.to_string())))?;
        Ok(Comparison { criteria, ..table })
    };
    let comparisons: Vec<Comparison> = groups
        .iter()
        .filter(|group| is_asked || group.arms.len() > 1)
        .map(with_criteria)
        .collect::<Result<_, CommandFailure>>()?;
    let apart = find_separate_arms(&groups);
    if comparisons.is_empty() {
        return Err(match &held.baseline {
            Some(_) => CommandFailure::new("the baseline has no other run of a selected suite and version")
                .with_hint("`evalreport list --runs` shows all runs"),
            None if apart.is_empty() && what.iter().any(|word| word == selection::LAST_WORD) => {
                CommandFailure::new("the newest batch has no two arms of a suite")
                    .with_hint("name the suite to compare it with earlier runs, as in `evalreport compare SUITE`")
            }
            None if apart.is_empty() && !paths.is_empty() && groups.len() == 1 && groups[0].arms.len() == 1 => {
                single_arm_failure(&paths, &with_criteria(&groups[0])?)
            }
            None if apart.is_empty() => {
                let suites: BTreeSet<&str> = groups.iter().map(|group| group.suite.as_str()).collect();
                let hint = match suites.len() {
                    0 | 1 => "`evalreport list` shows the suites and their arms".to_owned(),
                    count => format!(
                        "each of {count} suites has one arm: if they are one suite, {} with --set suite=NAME; `evalreport list` shows them",
                        if paths.is_empty() { "import their files again" } else { "compare the files" }
                    ),
                };
                CommandFailure::new("no suite has two arms to compare").with_hint(hint)
            }
            None => {
                let details = comparability::apart_notes(&apart).iter().map(|note| escape_invisible(note)).collect();
                CommandFailure { details, ..CommandFailure::new("no table has two arms to compare") }
                    .with_hint("name the suite to see the arms of each table, as in `evalreport compare SUITE`")
            }
        });
    }
    if arguments.flips
        && comparisons
            .iter()
            .all(|comparison| comparison.arms.len() != 2)
    {
        return Err(CommandFailure::new("--flips needs two arms")
            .with_hint("choose them with --approach and --model"));
    }
    let measured = comparisons
        .iter()
        .flat_map(|comparison| &comparison.rows)
        .map(|row| &row.metric);
    policy::check_margins(&arguments.judging, measured)?;
    if settings.strict {
        failure::refuse_incomparable(&comparability::list_refusals(&comparisons, &apart))?;
    }
    unstarted::print_note(settings, &warehouse, &filter);
    policy::warn_primaries(
        settings,
        comparisons
            .iter()
            .map(|table| (table.suite.as_str(), table.primary_not_measured.as_ref())),
    );
    let retracted = count_retracted(&warehouse, &filter);
    let mut tables: Vec<_> = comparisons
        .iter()
        .map(comparison::annotated_table)
        .collect();
    if let Some(last) = tables.last_mut() {
        last.notes.extend(comparability::apart_notes(&apart));
        last.notes.extend(held.taken.clone());
    }
    let tables = tables::with_scope_notes(tables, retracted, !warehouse.aliases().is_empty());
    let tables = if arguments.explain || arguments.flips {
        tables
            .into_iter()
            .map(ReportTable::with_explanations)
            .collect()
    } else {
        add_explain_hint(settings, tables)
    };
    engine::refuse_incomplete(settings, &warehouse)?;
    output::print_answer(settings, "compare", &tables, || CompareAnswer {
        comparisons,
        apart,
        taken: held.taken.clone(),
        retracted,
    })?;
    if held.lasts {
        settings.close_warehouse(&mut warehouse)?;
    }
    Ok(exit_code::DONE)
}

/// Says what files hold that have one arm, and what to compare it with.
fn single_arm_failure(paths: &[PathBuf], table: &Comparison) -> CommandFailure {
    let figure = table
        .rows
        .first()
        .and_then(|row| Some(phrases::cell_value(&row.metric, row.cells.first()?)));
    let figure = figure.map_or_else(String::new, |figure| format!(": {figure}"));
    let shown: Vec<String> = paths.iter().map(|path| display_path(path)).collect();
    match shown.as_slice() {
        [one] if paths[0].is_file() => {
            let file = shell_word(one);
            let other = paths[0].extension().map_or_else(
                || "OTHER".to_owned(),
                |ending| format!("other.{}", ending.to_string_lossy()),
            );
            CommandFailure::new(format!("{one} has one arm{figure}")).with_hint(format!(
                "compare it with another file: evalreport compare {file} {}",
                shell_word(&other)
            ))
        }
        [one] => CommandFailure::new(format!("{one} has one arm{figure}"))
            .with_hint("--approach @file makes each of its files an arm"),
        several => CommandFailure::new(format!(
            "{} have one arm{figure}",
            phrases::join_list(several)
        ))
        .with_hint("--approach @file makes each file an arm"),
    }
}

/// Adds a note on how to see explanations, once, if a person reads the tables.
fn add_explain_hint(settings: &Settings, mut tables: Vec<ReportTable>) -> Vec<ReportTable> {
    let has_more = tables.iter().any(|table| !table.more.is_empty());
    if let Some(last) = tables
        .last_mut()
        .filter(|_| has_more && settings.format == Format::Table)
    {
        last.notes
            .push("More: --explain gives intervals, methods, plans and flips.".to_owned());
    }
    tables
}

/// The baseline of a comparison, if any, and whether the warehouse's cache is worth keeping.
struct ComparedBaseline {
    baseline: Option<BaselineSelection>,
    /// Says which runs are the baseline, if its name does not.
    taken: Option<String>,
    lasts: bool,
}

fn open_results(
    settings: &Settings,
    arguments: &CompareArguments,
    files: (&FileOptions, &[String]),
) -> Result<(Warehouse, ComparedBaseline), CommandFailure> {
    let options = if arguments.files.is_empty() {
        settings.source_options()
    } else {
        WarehouseOptions {
            files: arguments.files.clone(),
            aliases: settings.config.aliases.clone(),
            ..WarehouseOptions::default()
        }
    };
    if !arguments.files.is_empty() {
        let mut warehouse = settings.open_with(&options)?;
        warehouse.split_arms_by_settings(&settings.pooled, &BTreeSet::new());
        // An unreadable file is an error if it was named: without it, there is nothing to compare.
        if !warehouse.problems().is_empty() {
            return Err(crate::domain::Problems(warehouse.problems().to_vec()).into());
        }
        if arguments.baseline.is_none() {
            output::print_conflicts(settings, &warehouse.find_fact_conflicts())?;
            return Ok((
                warehouse,
                ComparedBaseline {
                    baseline: None,
                    taken: None,
                    lasts: true,
                },
            ));
        }
    }
    let Some(what) = &arguments.baseline else {
        let suites: &[String] = if arguments.what.is_empty() {
            &arguments.selection.suite
        } else {
            &[]
        };
        return Ok((
            settings.open_suites(suites)?,
            ComparedBaseline {
                baseline: None,
                taken: None,
                lasts: true,
            },
        ));
    };
    let opened =
        baseline::open_with_baseline(settings, what, options, !arguments.newest_batch, files)?;
    output::print_warnings(settings, opened.warehouse.problems())?;
    Ok((
        opened.warehouse,
        ComparedBaseline {
            baseline: Some(opened.baseline),
            taken: opened.taken,
            lasts: opened.lasts,
        },
    ))
}

/// Adds targets to the filter, as suites or as run ids. A name that is both is a suite.
fn name_targets(
    warehouse: &Warehouse,
    what: &[String],
    filter: &mut Filter,
) -> Result<(), CommandFailure> {
    let suites: BTreeSet<&str> = warehouse
        .runs()
        .iter()
        .map(|row| row.run.suite.as_str())
        .collect();
    for target in what {
        if suites.contains(target.as_str()) {
            filter.suites.push(target.clone());
        } else if !selection::match_ids(target, warehouse.runs().iter().map(|row| &row.run.id))
            .is_empty()
        {
            filter.ids.push(target.clone());
        } else if target == selection::LAST_WORD {
            filter.ids.extend(selection::newest_batch(warehouse));
        } else if !warehouse.runs().is_empty() {
            return Err(selection::unknown_name(
                "suite or run",
                target,
                suites.iter().copied(),
            ));
        }
    }
    Ok(())
}
