//! `compare`: compares arms on a suite.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::domain::{Filter, escape_invisible, shell_word};
use crate::render::json::{AnswerSchema, CompareAnswer, answer_schema};
use crate::render::table::ReportTable;
use crate::render::{category_rates, cohorts, comparability, comparison, phrases, tables};
use crate::views::{
    Arm, BaselineSelection, Comparison, ItemDetail, PairOrder, SuiteGroup, board_groups,
    category_rates as rates_by_category, compare_to_baseline, compare_with_items, count_retracted,
    criterion_flips, find_separate_arms,
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

/// Compare arms: in files, or on a suite
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Args, Default)]
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
    /// Compare all other arms with this one, by its name in the table, its approach or its model
    #[arg(long, value_name = "ARM", conflicts_with = "baseline")]
    pub against: Option<String>,
    /// Take only each arm's newest batch [default: all its runs since the newest change point of a pass rate]
    #[arg(long)]
    pub newest_batch: bool,
    /// Take all nights, also those before a change point: rates are then means of several levels
    #[arg(long, conflicts_with = "newest_batch")]
    pub all_nights: bool,
    /// Explain the table: intervals, methods, planning figures, other tests, unmeasured figures
    #[arg(long)]
    pub explain: bool,
    /// List the items that only one of two arms passed
    #[arg(long)]
    pub flips: bool,
    /// Group the items on which the two deciding arms differ, or that a single arm failed, by what their reasons share
    #[arg(long)]
    pub why: bool,
    /// Print pass rates by category of item too
    #[arg(long, value_enum, value_name = "FIELD")]
    pub by: Option<Breakdown>,
    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub engine: Engine,
    #[command(flatten)]
    pub of_files: OfFiles,
    #[command(flatten)]
    pub selection: Selection,
}

/// What pass rates are broken down by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Breakdown {
    Category,
}

impl Command for CompareArguments {
    const NAME: &'static str = "compare";
    const EXAMPLES: [Example; 2] = [
        (
            "evalreport compare answers.csv",
            "the arms in a table of answers, or in other tools' results",
        ),
        (
            "evalreport compare hello --explain",
            "the arms of a suite, with intervals and methods",
        ),
    ];
    const ANSWERS: &'static [AnswerSchema] = &[("compare", answer_schema::<CompareAnswer>)];

    fn run(&self, invocation: &Invocation<'_>) -> Result<u8, CommandFailure> {
        invocation.with_settings(ResultsUse::Read, |settings| run_command(settings, self))
    }
}

pub(super) fn run_command(
    settings: &Settings,
    arguments: &CompareArguments,
) -> Result<u8, CommandFailure> {
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
    // Files that are named are the selection.
    let are_alone = !stores.is_empty() && (what.is_empty() || arguments.baseline.is_some());
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
    let grouping = selection::batch_selection(arguments.newest_batch, arguments.all_nights);
    let mut groups: Vec<SuiteGroup<'_>> = match &held.baseline {
        Some(baseline) => {
            let groups = compare_to_baseline(&warehouse, &filter, baseline, grouping);
            baseline::print_older_runs(settings, &groups);
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
    let detail = ItemDetail {
        flips: arguments.flips,
        why: arguments.why,
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
    if let Some(name) = &arguments.against {
        keep_groups_with(&mut groups, name)?;
    }
    let with_criteria = |group: &SuiteGroup<'_>| {
        let order = match &arguments.against {
            Some(name) => find_arm(group, name).map_or(order, PairOrder::Against),
            None => order,
        };
        let table =
            compare_with_items(&warehouse, group, &policy, order, detail).map_err(|error| {
                CommandFailure::new(format!("the reasons of outcomes cannot be read: {error}"))
            })?;
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
        let by_category = if arguments.by.is_some() || turned.arms.len() == 1 {
            rates_by_category(&warehouse, &turned, &policy).map_err(|error| {
                CommandFailure::new(format!("the categories of items cannot be read: {error}"))
            })?
        } else {
            None
        };
        Ok(Comparison {
            by_category,
            criteria,
            ..table
        })
    };
    let is_asked = is_asked || (!paths.is_empty() && groups.len() == 1);
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
        .map(|table| {
            let mut laid_out = comparison::annotated_table(table);
            if table.arms.len() == 1 {
                laid_out.notes.push(next_command(&paths));
            }
            if arguments.flips && !arguments.explain {
                comparison::add_flips(&mut laid_out, table);
            }
            laid_out
        })
        .collect();
    if let Some(last) = tables.last_mut() {
        last.notes.extend(comparability::apart_notes(&apart));
        last.notes.extend(held.taken.clone());
    }
    let tables = tables::with_scope_notes(tables, retracted, !warehouse.aliases().is_empty());
    let tables = if arguments.explain {
        tables
            .into_iter()
            .map(ReportTable::with_explanations)
            .collect()
    } else {
        let are_compared = comparisons.iter().any(|table| table.arms.len() > 1);
        add_explain_hint(settings, tables, are_compared)
    };
    let tables = match arguments
        .by
        .filter(|_| !(arguments.why && settings.format == Format::Csv))
    {
        Some(by) => with_breakdown(settings, by, tables, &comparisons)?,
        None => tables,
    };
    let tables = if arguments.why {
        with_reasons(settings, tables, &comparisons)?
    } else {
        tables
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

/// Returns the arm of a group that is called so: in its table, or by its approach, its model, or both.
fn find_arm(group: &SuiteGroup<'_>, name: &str) -> Option<usize> {
    let arms: Vec<Arm> = group.arms.iter().map(|runs| runs.arm.clone()).collect();
    let labels = phrases::arm_labels(&group.suite, &arms);
    let only = |is_called: &dyn Fn(usize) -> bool| {
        let mut called = (0..arms.len()).filter(|arm| is_called(*arm));
        called.next().filter(|_| called.next().is_none())
    };
    only(&|arm| labels[arm] == name)
        .or_else(|| only(&|arm| phrases::arm_key(&arms[arm]) == name))
        .or_else(|| only(&|arm| arms[arm].approach == name))
        .or_else(|| only(&|arm| arms[arm].model == name))
}

/// Keeps the tables that have an arm of this name. Fails if none has it.
fn keep_groups_with(groups: &mut Vec<SuiteGroup<'_>>, name: &str) -> Result<(), CommandFailure> {
    let known: BTreeSet<String> = groups
        .iter()
        .flat_map(|group| {
            let arms: Vec<Arm> = group.arms.iter().map(|runs| runs.arm.clone()).collect();
            phrases::arm_labels(&group.suite, &arms)
        })
        .collect();
    groups.retain(|group| find_arm(group, name).is_some());
    if groups.is_empty() {
        return Err(selection::unknown_name(
            "arm",
            name,
            known.iter().map(String::as_str),
        ));
    }
    Ok(())
}

/// Adds the table by category after each comparison. CSV has only these, because two tables in one file would not be readable.
fn with_breakdown(
    settings: &Settings,
    Breakdown::Category: Breakdown,
    tables: Vec<ReportTable>,
    comparisons: &[Comparison],
) -> Result<Vec<ReportTable>, CommandFailure> {
    if comparisons
        .iter()
        .all(|comparison| comparison.by_category.is_none())
    {
        return Err(CommandFailure::new("no item has a category")
            .with_hint("a table's column `category` or `topic` gives it; `evalreport help import/tables` says how"));
    }
    let is_csv = settings.format == Format::Csv;
    Ok(tables
        .into_iter()
        .zip(comparisons)
        .flat_map(|(table, comparison)| {
            [
                Some(table).filter(|_| !is_csv),
                category_rates::category_table(comparison),
            ]
        })
        .flatten()
        .collect())
}

/// Adds after each comparison what failed attempts share. CSV has only these tables, because two tables in one file would not be readable.
fn with_reasons(
    settings: &Settings,
    tables: Vec<ReportTable>,
    comparisons: &[Comparison],
) -> Result<Vec<ReportTable>, CommandFailure> {
    let found: Vec<ReportTable> = comparisons
        .iter()
        .filter_map(cohorts::cohort_table)
        .collect();
    if found.is_empty() {
        return Err(CommandFailure::new("--why needs outcomes of items")
            .with_hint("`evalreport list --runs` shows the runs that have them"));
    }
    if settings.format == Format::Csv {
        return Ok(found);
    }
    Ok(tables.into_iter().chain(found).collect())
}

/// Returns the command that compares the only arm with another.
fn next_command(paths: &[PathBuf]) -> String {
    match paths {
        [one] if one.is_file() => {
            let other = one.extension().map_or_else(
                || "OTHER".to_owned(),
                |ending| format!("other.{}", ending.to_string_lossy()),
            );
            format!(
                "Compare it with another file: evalreport compare {} {}",
                shell_word(&display_path(one)),
                shell_word(&other)
            )
        }
        [] => "Run or import a second arm to compare.".to_owned(),
        [_] => "--approach @file makes each of its files an arm.".to_owned(),
        _ => "--approach @file makes each file an arm.".to_owned(),
    }
}

/// Adds a note on how to see explanations, once, if a person reads the tables.
fn add_explain_hint(
    settings: &Settings,
    mut tables: Vec<ReportTable>,
    are_compared: bool,
) -> Vec<ReportTable> {
    // One arm needs no explanation of differences.
    let has_more = are_compared && tables.iter().any(|table| !table.more.is_empty());
    if let Some(last) = tables.last_mut().filter(|table| {
        has_more
            && settings.format == Format::Table
            && table.lead.len() + table.notes.len() <= comparison::MAX_NOTES + 1
    }) {
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
