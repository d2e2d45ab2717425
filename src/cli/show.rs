//! `show`: everything about runs.

use std::str::FromStr;
use std::sync::Arc;

use crate::domain::{ItemDetails, ItemOutcome, Run, RunId, visible};
use crate::import::ForeignFormat;
use crate::render::json::ShowAnswer;
use crate::render::shown::Texts;
use crate::render::{judged, shown, tables};
use crate::results::{ScoreLine, Store};
use crate::views::{EvaluatorScore, ItemChoice, JudgeView, ShownRun, criteria_of, newest_scores, run_page, shown_run};
use crate::warehouse::{RunRow, Warehouse};

use super::arguments::{Format, Show};
use super::failure::Failure;
use super::settings::{self, Settings};
use super::{exit_code, output, selection};

/// More runs than this are a list.
const MAX_RUNS: usize = 50;
/// What a screen has room for.
const ITEMS_ON_A_SCREEN: usize = 20;

pub(super) fn run(settings: &Settings, arguments: &Show) -> Result<u8, Failure> {
    let mut warehouse = settings.open()?;
    let mut filter = arguments.selection.filter()?;
    filter.ids.clone_from(&arguments.ids);
    if filter.is_empty() {
        return Err(Failure::new("show needs a run id or a selection").with_hint("`evalreport list --runs` shows the ids"));
    }
    filter.ids = selection::complete_ids(&warehouse, &filter.ids)?;
    selection::check(&warehouse, &filter)?;
    let rows: Vec<_> = warehouse.select(&filter).collect();
    if rows.len() > MAX_RUNS {
        return Err(Failure::new(format!("{} match; show prints at most {MAX_RUNS}", output::count(rows.len(), "run")))
            .with_hint("narrow the selection, or use `evalreport list --runs`"));
    }
    let (choice, texts) = match settings.format {
        Format::Table | Format::Markdown => (ItemChoice::First(ITEMS_ON_A_SCREEN), Texts::Short),
        Format::Json | Format::Csv | Format::Junit => (ItemChoice::All, Texts::Whole),
    };
    let choice = arguments.items.unwrap_or(choice);
    let runs = rows.into_iter().map(|row| one(settings, &warehouse, row, choice)).collect::<Result<Vec<_>, Failure>>()?;
    let of_run = |run: &ShownRun| {
        let mut tables = vec![tables::run(run)];
        tables.extend(judged::criteria(run, texts));
        tables.extend(judged::evaluators(run, texts));
        tables.extend(judged::verification(run, texts));
        tables.extend(shown::items(run, texts));
        tables
    };
    let tables: Vec<_> = runs.iter().flat_map(of_run).collect();
    output::answer(settings, "show", &tables, || ShowAnswer { runs })?;
    settings.keep(&mut warehouse);
    Ok(exit_code::DONE)
}

fn one(settings: &Settings, warehouse: &Warehouse, row: &RunRow, choice: ItemChoice) -> Result<ShownRun, Failure> {
    let id = &row.run.id;
    let store = store_of(settings, id);
    let journalled = match &store {
        Some(store) => detailed(settings, store, id)?,
        None => None,
    };
    let items = match journalled {
        Some(items) => items,
        None if has_details(row) && choice != ItemChoice::First(0) => {
            detailed_imports(settings, warehouse, std::slice::from_ref(&row.run))?
        }
        // Outcomes of imported tables lie among those of other runs, and say nothing else.
        None if row.items.is_some() && choice != ItemChoice::First(0) => {
            let outcomes = warehouse.outcomes(&[id]).map_err(|error| Failure::new(visible(&error.to_string())))?;
            outcomes.into_iter().map(|outcome| (outcome, ItemDetails::default())).collect()
        }
        None => Vec::new(),
    };
    let place = |path: Option<std::path::PathBuf>| path.map(|path| settings::shown(&path));
    let transcript = place(store.as_ref().and_then(|store| store.transcript_path(id)));
    let output = place(store.as_ref().and_then(|store| store.output_path(id)));
    let mut page = run_page(warehouse, row);
    page.add_judgements(store.as_ref().map(|store| evaluators(store, id)).unwrap_or_default(), criteria_of(&items));
    Ok(shown_run(page, &items, choice, transcript, output))
}

/// More texts than this are not held in memory for one page.
const MOST_DETAILED: u64 = 20_000;

/// Says whether an imported run's lines are worth reading for what they say beside the outcomes: importers of known formats keep texts.
pub(super) fn has_details(row: &RunRow) -> bool {
    let importer = row.run.provenance.as_ref().map(|provenance| provenance.importer.as_str());
    let keeps_texts = importer.and_then(ForeignFormat::from_name).is_some();
    keeps_texts && row.items.is_some_and(|items| items.lines <= MOST_DETAILED)
}

/// Reads what evaluators said of a run. Lines that cannot be read were told of when the store was opened.
pub(super) fn evaluators(store: &Store, id: &RunId) -> Vec<EvaluatorScore> {
    newest_scores(ScoreLine::read_all(&store.scores_path(id), &mut Vec::new()).into_iter().map(evaluator_score).collect())
}

fn evaluator_score(line: ScoreLine) -> EvaluatorScore {
    let ScoreLine { score, details, reasoning, not_evaluated, judge, raw: _ } = line;
    EvaluatorScore {
        evaluator: score.metric,
        value: score.value,
        unit: score.unit,
        direction: score.direction,
        revision: score.revision,
        earlier: 0,
        not_evaluated,
        reasoning,
        details: details.filter(|details| !details.is_null()),
        judge: judge.map(|judge| JudgeView {
            agent: judge.agent,
            model: judge.model,
            prompt_sha256: judge.prompt_sha256,
            votes: judge.votes,
            agreement: judge.agreement,
            input_tokens: judge.usage.and_then(|usage| usage.input),
            output_tokens: judge.usage.and_then(|usage| usage.output),
            cost_usd: judge.cost_usd,
            cost_source: judge.cost_source.map(|source| source.name().to_owned()),
        }),
    }
}

/// Returns the store that has the run as a file of its own.
pub(super) fn store_of(settings: &Settings, id: &RunId) -> Option<Store> {
    settings.results.iter().map(Store::at).find(|store| store.header_path(id).is_file())
}

/// Reads a run's journal under the names that are shown.
pub(super) fn detailed(settings: &Settings, store: &Store, id: &RunId) -> Result<Option<Vec<(ItemOutcome, ItemDetails)>>, Failure> {
    let mut items = store.detailed_items(id)?;
    under_aliases(settings, items.iter_mut().flatten());
    Ok(items)
}

/// The same of imported runs.
pub(super) fn detailed_imports(
    settings: &Settings,
    warehouse: &Warehouse,
    runs: &[Arc<Run>],
) -> Result<Vec<(ItemOutcome, ItemDetails)>, Failure> {
    let mut items = warehouse.detailed(runs).map_err(|error| Failure::new(visible(&error.to_string())))?;
    under_aliases(settings, items.iter_mut());
    Ok(items)
}

fn under_aliases<'i>(settings: &Settings, items: impl Iterator<Item = &'i mut (ItemOutcome, ItemDetails)>) {
    for (outcome, _) in items {
        if let Some(alias) = settings.config.aliases.item.get(&outcome.item) {
            outcome.item.clone_from(alias);
        }
    }
}

impl FromStr for ItemChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "failed" => Ok(Self::Failed),
            number => number.parse().map(Self::First).map_err(|_| "write all, failed, or a number".to_owned()),
        }
    }
}
