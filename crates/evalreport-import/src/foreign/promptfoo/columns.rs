//! Columns of an evaluation. Each is a prompt with a provider and becomes a run.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::super::json::{Lenient, to_count, to_text};
use super::row::PromptfooTest;
use super::wire::{PromptfooHead, PromptfooPrompt, PromptfooRow};

/// Longest label used as a name. Longer labels are whole prompts.
const MAX_LABEL_CHARS: usize = 80;

/// Facts about the columns, collected before their rows are imported.
#[derive(Default)]
pub(super) struct PromptColumns {
    by_number: BTreeMap<u64, PromptColumn>,
    /// Columns of rows without a column number, by provider and prompt.
    unnumbered: BTreeMap<(String, String), u64>,
    /// Places of the rows of each column and test. Each row is an attempt.
    places: BTreeMap<(u64, u64), Vec<u64>>,
    pub lacks_repeats: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct PromptColumn {
    pub provider: String,
    pub provider_label: String,
    pub prompt_label: String,
    pub prompt_id: String,
    /// Place and id of its first row. The id is random but equal in every file of the evaluation.
    first: Option<(u64, String)>,
    pub rows: u64,
}

/// A column with the names of its run.
#[derive(Debug)]
pub(super) struct NamedColumn {
    pub column: PromptColumn,
    pub approach: String,
    pub model: String,
    pub row_id: String,
}

/// Column of a row, and the row's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowPosition {
    pub column: u64,
    pub row: u64,
}

impl PromptColumns {
    /// Creates the columns that the head names.
    pub fn from_head(head: &PromptfooHead) -> Self {
        let mut columns = Self::default();
        for (number, prompt) in read_prompts(head).into_iter().enumerate() {
            columns.by_number.insert(
                number as u64,
                PromptColumn {
                    provider: to_text(&prompt.provider).unwrap_or_default(),
                    prompt_label: to_text(&prompt.label)
                        .or_else(|| to_text(&prompt.raw))
                        .unwrap_or_default(),
                    prompt_id: to_text(&prompt.id).unwrap_or_default(),
                    ..PromptColumn::default()
                },
            );
        }
        columns
    }

    /// Returns a row's place; `number` is its position in the file.
    pub fn locate_row(&mut self, row: &PromptfooRow, number: u64) -> RowPosition {
        let column = to_count(&row.prompt_idx).unwrap_or_else(|| {
            let next = self.unnumbered.len() as u64;
            let label = row
                .prompt
                .0
                .as_ref()
                .and_then(|prompt| to_text(&prompt.label))
                .unwrap_or_default();
            *self
                .unnumbered
                .entry((provider_and_label(row).0, label))
                .or_insert(next)
        });
        RowPosition {
            column,
            row: to_count(&row.test_idx).unwrap_or(number),
        }
    }

    pub fn add_row(&mut self, row: &PromptfooRow, place: RowPosition) {
        let column = self.by_number.entry(place.column).or_default();
        column.rows += 1;
        let (id, label) = provider_and_label(row);
        if !id.is_empty() {
            // In the head this field has the provider's label, if there is one.
            (column.provider, column.provider_label) = (id, label);
        }
        let prompt = row.prompt.0.as_ref();
        if let Some(label) = prompt.and_then(|prompt| to_text(&prompt.label)) {
            column.prompt_label = label;
        }
        if let Some(id) = to_text(&row.prompt_id) {
            column.prompt_id = id;
        }
        if let Some(id) = to_text(&row.id).filter(|id| !id.is_empty())
            && column
                .first
                .as_ref()
                .is_none_or(|(first, _)| place.row < *first)
        {
            column.first = Some((place.row, id));
        }
        self.places
            .entry((place.column, PromptfooTest::from_row(row).key()))
            .or_default()
            .push(place.row);
    }

    pub fn finish_rows(&mut self) {
        for places in self.places.values_mut() {
            places.sort_unstable();
            self.lacks_repeats |= places.len() > 1;
        }
    }

    /// Returns the number of a row's attempt: its own `repeatIndex`, else its position among rows of equal tests.
    pub fn attempt_number(
        &self,
        row: &PromptfooRow,
        place: RowPosition,
        test: &PromptfooTest,
    ) -> u32 {
        let stated = to_count(&row.repeat_index);
        let derived = self
            .places
            .get(&(place.column, test.key()))
            .map_or(0, |places| {
                places.partition_point(|other| *other < place.row) as u64
            });
        u32::try_from(stated.unwrap_or(derived))
            .unwrap_or(u32::MAX - 1)
            .saturating_add(1)
    }

    /// Names the columns, so that no two of an evaluation share approach and model.
    pub fn name_columns(&self) -> Vec<(u64, NamedColumn)> {
        let short = |id: &str| id.chars().take(8).collect::<String>();
        let name = |column: &PromptColumn| {
            let label = column.prompt_label.trim();
            let is_name = label.chars().count() <= MAX_LABEL_CHARS && !label.contains('\n');
            let words = label.split_whitespace().collect::<Vec<_>>().join(" ");
            if is_name {
                words
            } else {
                format!(
                    "{}… {}",
                    words.chars().take(60).collect::<String>(),
                    short(&column.prompt_id)
                )
                .trim()
                .to_owned()
            }
        };
        let mut named: Vec<(u64, NamedColumn)> = self
            .by_number
            .iter()
            .map(|(number, column)| {
                let row_id = column
                    .first
                    .as_ref()
                    .map(|(_, id)| id.clone())
                    .unwrap_or_default();
                (
                    *number,
                    NamedColumn {
                        approach: name(column),
                        model: column.provider.clone(),
                        row_id,
                        column: column.clone(),
                    },
                )
            })
            .collect();
        // First tell apart providers with several configurations, then prompts with one label, then any columns left.
        for step in 0..3 {
            let mut seen = BTreeSet::new();
            let twice: BTreeSet<(String, String)> = named
                .iter()
                .map(|(_, named)| (named.approach.clone(), named.model.clone()))
                .filter(|names| !seen.insert(names.clone()))
                .collect();
            for (number, named) in named
                .iter_mut()
                .filter(|(_, named)| twice.contains(&(named.approach.clone(), named.model.clone())))
            {
                let label = &named.column.provider_label;
                match step {
                    0 if !label.is_empty() => named.model = format!("{} ({label})", named.model),
                    1 if !named.column.prompt_id.is_empty() => {
                        named.approach =
                            format!("{} {}", named.approach, short(&named.column.prompt_id));
                    }
                    2 => {
                        let position = u128::from(*number) + 1;
                        named.approach = format!("{} column {position}", named.approach);
                    }
                    _ => {}
                }
            }
        }
        named
    }
}

/// Maximum number of columns of an evaluation.
pub(super) const MAX_COLUMNS: usize = 10_000;

/// Returns the prompts of the head, one per column.
pub(super) fn read_prompts(head: &PromptfooHead) -> Vec<PromptfooPrompt> {
    let read = |prompt: &Value| {
        Lenient::<PromptfooPrompt>::deserialize(prompt)
            .ok()
            .and_then(|prompt| prompt.0)
            .unwrap_or_default()
    };
    listed_columns(head).iter().map(read).collect()
}

/// Returns the columns as the file lists them.
pub(super) fn listed_columns(head: &PromptfooHead) -> &[Value] {
    let results = head.results.0.as_ref();
    let table = results.and_then(|results| results.table.0.as_ref()?.head.0.as_ref());
    let prompts = results
        .map(|results| &results.prompts)
        .filter(|prompts| prompts.is_array())
        .or(table.map(|table| &table.prompts));
    prompts.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the provider's id and its label, which may be equal or empty.
fn provider_and_label(row: &PromptfooRow) -> (String, String) {
    match &row.provider {
        Value::Object(provider) => {
            let word = |key: &str| provider.get(key).and_then(to_text).unwrap_or_default();
            (word("id"), word("label"))
        }
        other => (to_text(other).unwrap_or_default(), String::new()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Value) -> PromptfooRow {
        PromptfooRow::deserialize(value).expect("anything goes")
    }

    #[test]
    fn rows_of_equal_tests_are_attempts_in_their_order() {
        let test = |name: &str, place: u64| {
            row(json!({"promptIdx": 0, "testIdx": place, "testCase": {"description": name}}))
        };
        let rows = [test("b", 3), test("a", 1), test("a", 0), test("b", 2)];
        let mut columns = PromptColumns::default();
        for (number, row) in rows.iter().enumerate() {
            let place = columns.locate_row(row, number as u64);
            columns.add_row(row, place);
        }
        columns.finish_rows();
        let attempts: Vec<u32> = rows
            .iter()
            .map(|row| {
                let place = columns.locate_row(row, 0);
                columns.attempt_number(row, place, &PromptfooTest::from_row(row))
            })
            .collect();
        assert_eq!((attempts, columns.lacks_repeats), (vec![2, 2, 1, 1], true));
        let stated = row(
            json!({"promptIdx": 0, "testIdx": 0, "repeatIndex": 4, "testCase": {"description": "a"}}),
        );
        assert_eq!(
            columns.attempt_number(
                &stated,
                RowPosition { column: 0, row: 0 },
                &PromptfooTest::from_row(&stated)
            ),
            5
        );
    }

    #[test]
    fn no_two_columns_have_one_name() {
        let column = |column: u64, label: &str, prompt: &str, id: &str| {
            row(
                json!({"promptIdx": column, "provider": {"id": "openai:x", "label": label}, "prompt": {"label": prompt}, "promptId": id}),
            )
        };
        let rows = [
            column(0, "cold", "short", "aaaaaaaaaa"),
            column(1, "hot", "short", "aaaaaaaaaa"),
            column(2, "hot", "short", "bbbbbbbbbb"),
            column(3, "", "two\nlines", "cccccccccc"),
        ];
        let mut columns = PromptColumns::default();
        for row in &rows {
            let place = columns.locate_row(row, 0);
            columns.add_row(row, place);
        }
        let named = columns.name_columns();
        let pairs: Vec<(&str, &str)> = named
            .iter()
            .map(|(_, named)| (named.approach.as_str(), named.model.as_str()))
            .collect();
        assert_eq!(
            pairs,
            [
                ("short", "openai:x (cold)"),
                ("short aaaaaaaa", "openai:x (hot)"),
                ("short bbbbbbbb", "openai:x (hot)"),
                ("two lines… cccccccc", "openai:x")
            ]
        );
    }
}
