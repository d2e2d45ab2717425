//! Copies of a question: items with equal texts are one draw, whatever their names.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::{ItemDetails, Run};
use crate::warehouse::{OutcomeMatrix, Warehouse};

use super::arm::SuiteGroup;
use super::policy::MIN_ITEMS;
use super::sample::SuiteItems;

/// If a smaller share of the items are copies, they change no error rate that anybody could measure.
const MIN_COPIED_SHARE: f64 = 0.02;
/// If there are fewer texts than this share of the items, the texts are no questions, but such as an instruction that all items share.
const MIN_TEXT_SHARE: f64 = 0.1;
/// A stored text of this length may be cut.
const MAX_WHOLE_CHARS: usize = 2000;

/// Items with the text of another item. Items with one text are one cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ItemCopies {
    /// Items whose text is known, and their different texts.
    pub items: u64,
    pub texts: u64,
}

/// Finds the copies among a suite's items, and makes each text with its copies one cluster. Clusters that share a text become one.
pub(super) fn cluster_copies(
    warehouse: &Warehouse,
    group: &SuiteGroup<'_>,
    matrix: &OutcomeMatrix,
    items: &mut SuiteItems,
) -> Option<ItemCopies> {
    let run = group
        .arms
        .iter()
        .flat_map(|arm| &arm.counted)
        .find(|row| row.run.has_copied_items)?;
    let texts = read_texts(warehouse, &run.run);
    let mut numbers = HashMap::<&str, u32>::new();
    let mut codes: Vec<Option<u32>> = Vec::with_capacity(items.unit_count());
    items.for_each_item(|_, columns| {
        let name = &matrix.items[columns[0] as usize].key.item;
        let next = numbers.len().try_into().unwrap_or(u32::MAX);
        let code = texts
            .get(name)
            .map(|text| *numbers.entry(text).or_insert(next));
        codes.push(code);
    });
    let known = codes.iter().flatten().count();
    let found = ItemCopies {
        items: known as u64,
        texts: numbers.len() as u64,
    };
    let copies = known - numbers.len();
    let is_relevant = copies as f64 >= MIN_COPIED_SHARE * known as f64
        && copies > 0
        && numbers.len() >= MIN_ITEMS
        && numbers.len() as f64 >= MIN_TEXT_SHARE * known as f64;
    is_relevant.then(|| {
        items.join_clusters(&codes);
        found
    })
}

/// Reads the texts of a run's items, by their names. Where a text may be cut, its hash stands for it.
fn read_texts(warehouse: &Warehouse, run: &Arc<Run>) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    // Items without readable lines have no text.
    let read = warehouse
        .read_detailed_outcomes(std::slice::from_ref(run))
        .unwrap_or_default();
    for (outcome, details) in read {
        let ItemDetails {
            question,
            item_hash,
            ..
        } = details;
        let whole = question.filter(|question| question.chars().count() < MAX_WHOLE_CHARS);
        let plain = |question: String| question.split_whitespace().collect::<Vec<_>>().join(" ");
        let hashed = || item_hash.map(|hash| format!("\u{0}{hash}"));
        if let Some(text) = whole.map(plain).or_else(hashed) {
            let name = warehouse.display_names().item_name(&outcome.item);
            texts.entry(name.to_owned()).or_insert(text);
        }
    }
    texts
}
