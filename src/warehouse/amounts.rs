//! What each outcome of a matrix cost and took: read from the item lines of the runs that say so, when somebody asks.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use rayon::prelude::*;

use crate::domain::{ItemKind, RunId, takes_over};
use crate::results::ItemLine;

use super::ingest::each_item_line;
use super::item_file::ItemFile;
use super::matrix::OutcomeMatrix;
use super::open::{RunRow, Warehouse};

/// What one attempt at one item cost and took, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// In US dollars.
    pub cost_usd: Option<f64>,
    /// Input and output together; unknown where either is.
    pub tokens: Option<u64>,
    pub seconds: Option<f64>,
}

/// The amounts beside the outcomes of a matrix.
///
/// They belong to the item and not to who evaluates it: where several evaluators judge one item of a kind in one attempt, all its places
/// hold the same, which is the largest that any of them says. A sum over places counts such an item several times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemAmounts {
    /// By row of the matrix, and in it by place in [`super::MatrixRow::items`]; empty where nothing is known of a row.
    rows: Vec<Vec<Amounts>>,
}

impl ItemAmounts {
    /// Returns the amounts at a place of [`super::MatrixRow::items`] in a row of the matrix, both counted from 0.
    pub fn at(&self, row: usize, place: usize) -> Amounts {
        self.rows.get(row).and_then(|row| row.get(place)).copied().unwrap_or_default()
    }

    /// Whether nothing is known of any row.
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(Vec::is_empty)
    }
}

impl Amounts {
    fn of(item: &ItemLine<'_>) -> Self {
        let tokens = item.input_tokens.zip(item.output_tokens).map(|(input, output)| input.saturating_add(output));
        Self { cost_usd: item.cost_usd, tokens, seconds: item.duration_seconds }
    }

    fn largest(self, other: Self) -> Self {
        let larger = |one: Option<f64>, other: Option<f64>| one.zip(other).map(|(one, other)| one.max(other)).or(one).or(other);
        Self {
            cost_usd: larger(self.cost_usd, other.cost_usd),
            tokens: self.tokens.max(other.tokens),
            seconds: larger(self.seconds, other.seconds),
        }
    }
}

/// The line that counts so far at a place.
#[derive(Clone, Copy, Default)]
struct Standing {
    revision: u32,
    amounts: Amounts,
}

/// What is asked of a file: its runs, each with its first row in the matrix.
type Wanted<'a> = HashMap<&'a str, usize>;

/// Where items are in a matrix.
type Indices<'a> = HashMap<(ItemKind, &'a str, &'a str), u32>;

impl Warehouse {
    /// Returns what the outcomes of a matrix cost and took, for those of its runs that are given. A file is read only where a run's totals
    /// say that it holds amounts; where none does, nothing is read. Of several revisions the one counts that the outcome is taken from.
    ///
    /// Where a file that was read before cannot be read any more, nothing is known, and [`Warehouse::late_problems`] says so.
    pub fn item_amounts(&self, matrix: &OutcomeMatrix, runs: &[&RunRow]) -> ItemAmounts {
        let first_rows: HashMap<&RunId, usize> = matrix.rows.iter().enumerate().rev().map(|(place, row)| (&row.run, place)).collect();
        let files: HashMap<&Path, &ItemFile> = self.files.iter().map(|file| (file.path.as_path(), file)).collect();
        let mut wanted: HashMap<&Path, Wanted<'_>> = HashMap::new();
        for row in runs.iter().filter(|row| has_amounts(row)) {
            let unit = self.place_of(&row.run.id).and_then(|(unit, _)| self.snapshot.items.get(unit as usize));
            if let (Some(unit), Some(first)) = (unit, first_rows.get(&row.run.id)) {
                wanted.entry(Path::new(&unit.path)).or_default().insert(row.run.id.as_str(), *first);
            }
        }
        let wanted: Vec<(&ItemFile, Wanted<'_>)> =
            wanted.into_iter().filter_map(|(path, wanted)| Some((*files.get(path)?, wanted))).collect();
        if wanted.is_empty() {
            return ItemAmounts::default();
        }
        let indices: Indices<'_> =
            (0..).zip(&matrix.items).map(|(index, item)| ((item.key.kind, &*item.key.evaluator, &*item.key.item), index)).collect();
        let groups = groups(matrix);
        let read = |(file, wanted): (&ItemFile, Wanted<'_>)| {
            self.read_amounts(file, &wanted, matrix, &indices).map_err(|error| self.note_unread(&file.path, &error))
        };
        let Ok(found) = wanted.into_par_iter().map(read).collect::<Result<Vec<HashMap<usize, Vec<Standing>>>, ()>>() else {
            return ItemAmounts::default();
        };
        let mut rows = vec![Vec::new(); matrix.rows.len()];
        for (row, standing) in found.into_iter().flatten() {
            rows[row] = standing.into_iter().map(|standing| standing.amounts).collect();
            if let Some(groups) = &groups {
                share(&mut rows[row], &matrix.rows[row].items, groups);
            }
        }
        ItemAmounts { rows }
    }

    /// Reads one file: by row of the matrix, what stands at its places.
    fn read_amounts(
        &self,
        file: &ItemFile,
        wanted: &Wanted<'_>,
        matrix: &OutcomeMatrix,
        indices: &Indices<'_>,
    ) -> io::Result<HashMap<usize, Vec<Standing>>> {
        let aliases = &self.aliases().item;
        let own_run = file.journal_of.as_ref().map(RunId::as_str);
        let mut found: HashMap<usize, Vec<Standing>> = HashMap::new();
        // By row and place: the own name of what is shown there, where names are mapped.
        let mut own_names: HashMap<(usize, usize), String> = HashMap::new();
        each_item_line(file, |line| {
            // A line that cannot be read was told when the store was opened.
            let Ok(item) = ItemLine::parse(line) else { return };
            let Some(first) = own_run.or(item.run.as_deref()).and_then(|run| wanted.get(run)) else { return };
            let shown = aliases.get(&*item.item).map_or(&*item.item, String::as_str);
            let Some(index) = indices.get(&(item.kind, &*item.evaluator, shown)) else { return };
            let own = matrix.rows[*first..].iter().take_while(|row| row.run == matrix.rows[*first].run);
            let Some(row) = own.zip(*first..).find(|(row, _)| row.attempt == item.attempt).map(|(_, place)| place) else { return };
            let Ok(place) = matrix.rows[row].items.binary_search(index) else { return };
            if !file.may_stand(&item.evaluator, item.revision) {
                return;
            }
            let standing = &mut found.entry(row).or_insert_with(|| vec![Standing::default(); matrix.rows[row].items.len()])[place];
            if !aliases.is_empty() {
                // Of two items that are shown as one the matrix has the first by its own name.
                let name = own_names.entry((row, place)).or_insert_with(|| item.item.clone().into_owned());
                match name.as_str().cmp(&item.item) {
                    std::cmp::Ordering::Less => return,
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Greater => {
                        *name = item.item.clone().into_owned();
                        *standing = Standing::default();
                    }
                }
            }
            if takes_over(item.revision, standing.revision) {
                *standing = Standing { revision: item.revision, amounts: Amounts::of(&item) };
            }
        })?;
        Ok(found)
    }
}

/// Whether any line of a run says what it cost or took.
fn has_amounts(row: &RunRow) -> bool {
    row.items.is_some_and(|items| items.with_cost > 0 || items.with_duration > 0 || (items.with_input > 0 && items.with_output > 0))
}

/// Gives each item of a matrix the number of those of its kind and name; nothing where each is alone.
fn groups(matrix: &OutcomeMatrix) -> Option<Vec<u32>> {
    let mut numbers: HashMap<(ItemKind, &str), u32> = HashMap::new();
    let mut groups = Vec::with_capacity(matrix.items.len());
    for item in &matrix.items {
        let next = super::intern::number(numbers.len());
        groups.push(*numbers.entry((item.key.kind, &item.key.item)).or_insert(next));
    }
    (numbers.len() < matrix.items.len()).then_some(groups)
}

/// Gives all evaluators of an item the largest that any of them says.
fn share(amounts: &mut [Amounts], items: &[u32], groups: &[u32]) {
    let mut largest: HashMap<u32, Amounts> = HashMap::new();
    for (amounts, item) in amounts.iter().zip(items) {
        let of_group = largest.entry(groups[*item as usize]).or_default();
        *of_group = of_group.largest(*amounts);
    }
    for (amounts, item) in amounts.iter_mut().zip(items) {
        *amounts = largest[&groups[*item as usize]];
    }
}
