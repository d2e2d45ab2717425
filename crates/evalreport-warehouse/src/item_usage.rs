//! Cost, tokens and time of each outcome of a matrix, read on demand from the item lines.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use crate::domain::{ItemKind, RunId, replaces_revision};
use crate::results::ItemLine;

use super::ingest::for_each_item;
use super::item_file::ItemFile;
use super::matrix::OutcomeMatrix;
use super::open::Warehouse;
use super::run_row::RunRow;

/// Cost, tokens and time of one attempt at one item, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AttemptUsage {
    /// In US dollars.
    pub cost_usd: Option<f64>,
    /// Input and output together; `None` if either is unknown.
    pub tokens: Option<u64>,
    pub seconds: Option<f64>,
}

/// The amounts of a matrix's outcomes.
///
/// Amounts belong to the item, not to its evaluator. If several evaluators judge one item of a kind in one attempt, all its outcomes get
/// the largest reported amount, so a sum over outcomes counts such an item several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemUsage {
    /// By matrix row, then by index into [`super::MatrixRow::items`]. Empty if nothing is known of a row.
    rows: Vec<Vec<AttemptUsage>>,
}

impl ItemUsage {
    /// Returns the amounts at an index of [`super::MatrixRow::items`] in a matrix row, both counted from 0.
    pub fn for_outcome(&self, row: usize, place: usize) -> AttemptUsage {
        self.rows
            .get(row)
            .and_then(|row| row.get(place))
            .copied()
            .unwrap_or_default()
    }

    /// Returns whether no row has amounts.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Vec::is_empty)
    }
}

impl AttemptUsage {
    fn from_item_line(item: &ItemLine<'_>) -> Self {
        let tokens = item
            .input_tokens
            .zip(item.output_tokens)
            .map(|(input, output)| input.saturating_add(output));
        Self {
            cost_usd: item.cost_usd,
            tokens,
            seconds: item.duration_seconds,
        }
    }

    fn elementwise_max(self, other: Self) -> Self {
        let larger = |one: Option<f64>, other: Option<f64>| {
            one.zip(other)
                .map(|(one, other)| one.max(other))
                .or(one)
                .or(other)
        };
        Self {
            cost_usd: larger(self.cost_usd, other.cost_usd),
            tokens: self.tokens.max(other.tokens),
            seconds: larger(self.seconds, other.seconds),
        }
    }
}

/// The highest revision so far of an outcome, with its amounts.
#[derive(Clone, Copy, Default)]
struct LatestUsage {
    revision: u32,
    amounts: AttemptUsage,
}

/// The wanted runs of a file, each with its first matrix row.
type FirstRowByRun<'a> = HashMap<&'a str, usize>;

/// Indices of the items in a matrix.
type MatrixItemIndex<'a> = HashMap<(ItemKind, &'a str, &'a str), u32>;

impl Warehouse {
    /// Returns the amounts of a matrix's outcomes, for the given runs. A file is read only if a run's totals show that it has amounts. Of
    /// several revisions, the one of the outcome counts.
    ///
    /// If a file cannot be read any more, its amounts are unknown, and [`Warehouse::late_problems`] reports it.
    pub fn item_usage(&self, matrix: &OutcomeMatrix, runs: &[&RunRow]) -> ItemUsage {
        let first_rows: HashMap<&RunId, usize> = matrix
            .rows
            .iter()
            .enumerate()
            .rev()
            .map(|(place, row)| (&row.run, place))
            .collect();
        let files: HashMap<&Path, &ItemFile> = self
            .files
            .iter()
            .map(|file| (file.path.as_path(), file))
            .collect();
        let mut wanted: HashMap<&Path, FirstRowByRun<'_>> = HashMap::new();
        for row in runs.iter().filter(|row| has_usage(row)) {
            let unit = self
                .locate_outcomes(&row.run.id)
                .and_then(|(unit, _)| self.snapshot.items.get(unit as usize));
            if let (Some(unit), Some(first)) = (unit, first_rows.get(&row.run.id)) {
                wanted
                    .entry(Path::new(&unit.path))
                    .or_default()
                    .insert(row.run.id.as_str(), *first);
            }
        }
        let wanted: Vec<(&ItemFile, FirstRowByRun<'_>)> = wanted
            .into_iter()
            .filter_map(|(path, wanted)| Some((*files.get(path)?, wanted)))
            .collect();
        if wanted.is_empty() {
            return ItemUsage::default();
        }
        let indices: MatrixItemIndex<'_> = (0..)
            .zip(&matrix.items)
            .map(|(index, item)| {
                (
                    (item.key.kind, &*item.key.evaluator, &*item.key.item),
                    index,
                )
            })
            .collect();
        let groups = number_items(matrix);
        let read = |(file, wanted): (&ItemFile, FirstRowByRun<'_>)| {
            self.read_usage(file, &wanted, matrix, &indices)
                .map_err(|error| self.note_unreadable(&file.path, &error))
        };
        let Ok(found) = wanted
            .into_par_iter()
            .map(read)
            .collect::<Result<Vec<HashMap<usize, Vec<LatestUsage>>>, ()>>()
        else {
            return ItemUsage::default();
        };
        let mut rows = vec![Vec::new(); matrix.rows.len()];
        for (row, standing) in found.into_iter().flatten() {
            rows[row] = standing
                .into_iter()
                .map(|standing| standing.amounts)
                .collect();
            if let Some(groups) = &groups {
                share_largest_usage(&mut rows[row], &matrix.rows[row].items, groups);
            }
        }
        ItemUsage { rows }
    }

    /// Reads one file: the amounts by matrix row and index.
    fn read_usage(
        &self,
        file: &ItemFile,
        wanted: &FirstRowByRun<'_>,
        matrix: &OutcomeMatrix,
        indices: &MatrixItemIndex<'_>,
    ) -> io::Result<HashMap<usize, Vec<LatestUsage>>> {
        let names = self.display_names();
        let own_run = file.journal_of.as_ref().map(RunId::as_str);
        let mut found: HashMap<usize, Vec<LatestUsage>> = HashMap::new();
        // By row and index: the stored name of the shown item, if names are mapped.
        let mut own_names: HashMap<(usize, usize), String> = HashMap::new();
        for_each_item(file, &|run| wanted.contains_key(run), |item| {
            let Some(first) = own_run
                .or(item.run.as_deref())
                .and_then(|run| wanted.get(run))
            else {
                return;
            };
            let Some(index) = indices.get(&(
                item.kind,
                names.evaluator_name(&item.evaluator),
                names.item_name(&item.item),
            )) else {
                return;
            };
            let own = matrix.rows[*first..]
                .iter()
                .take_while(|row| row.run == matrix.rows[*first].run);
            let Some(row) = own
                .zip(*first..)
                .find(|(row, _)| row.attempt == item.attempt)
                .map(|(_, place)| place)
            else {
                return;
            };
            let Ok(place) = matrix.rows[row].items.binary_search(index) else {
                return;
            };
            if !file.may_count(&item.evaluator, item.revision) {
                return;
            }
            let standing = &mut found
                .entry(row)
                .or_insert_with(|| vec![LatestUsage::default(); matrix.rows[row].items.len()])
                [place];
            if !names.items.is_empty() {
                // If two items are shown under one name, the matrix uses the first by stored name.
                let name = own_names
                    .entry((row, place))
                    .or_insert_with(|| item.item.clone().into_owned());
                match name.as_str().cmp(&item.item) {
                    std::cmp::Ordering::Less => return,
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Greater => {
                        *name = item.item.clone().into_owned();
                        *standing = LatestUsage::default();
                    }
                }
            }
            if replaces_revision(item.revision, standing.revision) {
                *standing = LatestUsage {
                    revision: item.revision,
                    amounts: AttemptUsage::from_item_line(item),
                };
            }
        })?;
        Ok(found)
    }
}

/// Returns whether any line of a run has a cost, a duration or tokens.
fn has_usage(row: &RunRow) -> bool {
    row.items.is_some_and(|items| {
        items.with_cost > 0
            || items.with_duration > 0
            || (items.with_input > 0 && items.with_output > 0)
    })
}

/// Numbers the items of a matrix by kind and name. Returns `None` if each item has its own.
fn number_items(matrix: &OutcomeMatrix) -> Option<Vec<u32>> {
    let mut numbers: HashMap<(ItemKind, &str), u32> = HashMap::new();
    let mut groups = Vec::with_capacity(matrix.items.len());
    for item in &matrix.items {
        let next = super::intern::id_from_len(numbers.len());
        groups.push(
            *numbers
                .entry((item.key.kind, &item.key.item))
                .or_insert(next),
        );
    }
    (numbers.len() < matrix.items.len()).then_some(groups)
}

/// Gives all evaluators of an item the largest reported amount.
fn share_largest_usage(amounts: &mut [AttemptUsage], items: &[u32], groups: &[u32]) {
    let mut largest: HashMap<u32, AttemptUsage> = HashMap::new();
    for (amounts, item) in amounts.iter().zip(items) {
        let of_group = largest.entry(groups[*item as usize]).or_default();
        *of_group = of_group.elementwise_max(*amounts);
    }
    for (amounts, item) in amounts.iter_mut().zip(items) {
        *amounts = largest[&groups[*item as usize]];
    }
}
