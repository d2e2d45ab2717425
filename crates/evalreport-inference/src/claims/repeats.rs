//! Rows that are there twice, with different figures or outcomes.

use std::collections::BTreeMap;

use super::claim_table::{FigureTable, cell_text, is_nothing, plain_name};
use super::column_roles::ColumnRole;
use super::finding::{ClaimFinding, ClaimKind, Severity};

/// If more of the keys repeat than this, repeats are the design: runs or attempts without a column for them.
const MAX_REPEATED: f64 = 0.1;

/// Reports conflicts within a table.
pub(super) fn check_repeated_rows(sheet: &FigureTable<'_>, findings: &mut Vec<ClaimFinding>) {
    for row in &sheet.rows {
        for place in &sheet.table.rows[*row].doubled {
            let text = format!(
                "the row has `{}` twice, with different values",
                sheet.table.columns[*place]
            );
            findings.push(sheet.finding_at(
                ClaimKind::DoubledKey,
                Severity::Contradictory,
                &[*row],
                *place,
                Vec::new(),
                text,
            ));
        }
    }
    let outcomes = outcome_columns(sheet);
    let keys = if outcomes.is_empty() {
        row_keys(sheet)
    } else {
        vec![item_key_columns(sheet, &outcomes)]
    };
    let compared: Vec<usize> = if outcomes.is_empty() {
        result_columns(sheet)
    } else {
        outcomes.clone()
    };
    let mut told: std::collections::BTreeSet<Vec<usize>> = std::collections::BTreeSet::new();
    for key in keys.iter().filter(|key| !key.is_empty()) {
        for (rows, place) in find_conflicts(sheet, key, &compared) {
            if !told.insert(rows.clone()) {
                continue;
            }
            let values: Vec<&str> = rows
                .iter()
                .filter_map(|row| cell_text(sheet.table, *row, place))
                .collect();
            let (kind, noun) = if outcomes.is_empty() {
                (ClaimKind::ConflictingRows, "figures")
            } else {
                (ClaimKind::ConflictingOutcomes, "outcomes")
            };
            let name = key
                .iter()
                .filter_map(|place| cell_text(sheet.table, rows[0], *place))
                .map(plain_name)
                .collect::<Vec<_>>()
                .join(" · ");
            let text = format!(
                "`{name}` is there {} times, with the {noun} {}",
                rows.len(),
                values.join(" and ")
            );
            findings.push(sheet.finding_at(
                kind,
                Severity::Contradictory,
                &rows,
                place,
                Vec::new(),
                text,
            ));
        }
    }
}

/// Returns the rows with equal keys and different values, and the first column where they differ.
fn find_conflicts(
    sheet: &FigureTable<'_>,
    key: &[usize],
    compared: &[usize],
) -> Vec<(Vec<usize>, usize)> {
    let mut rows_of: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
    for row in &sheet.rows {
        let values: Vec<String> = key
            .iter()
            .map(|place| {
                cell_text(sheet.table, *row, *place)
                    .map(|text| plain_name(text).to_lowercase())
                    .unwrap_or_default()
            })
            .collect();
        // Two rows without a name need not be the same.
        let is_named = key
            .iter()
            .zip(&values)
            .filter(|(place, _)| {
                matches!(
                    sheet.titles[**place].role,
                    ColumnRole::Name | ColumnRole::Id
                )
            })
            .all(|(_, value)| !value.is_empty());
        if is_named && values.iter().any(|value| !value.is_empty()) {
            rows_of.entry(values).or_default().push(*row);
        }
    }
    let repeated = rows_of.values().filter(|rows| rows.len() > 1).count();
    if repeated > 1 && repeated as f64 > MAX_REPEATED * rows_of.len() as f64 {
        return Vec::new();
    }
    let different = |rows: &Vec<usize>, place: &usize| {
        let mut values = rows
            .iter()
            .filter_map(|row| cell_text(sheet.table, *row, *place))
            .filter(|text| !is_nothing(text))
            .map(normalise_value);
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    let found = rows_of.into_values().filter(|rows| rows.len() > 1);
    found
        .filter_map(|rows| {
            compared
                .iter()
                .find(|place| different(&rows, place))
                .map(|place| (rows.clone(), *place))
        })
        .collect()
}

/// Returns a figure or an outcome in one spelling.
fn normalise_value(text: &str) -> String {
    let text = plain_name(text).to_lowercase();
    text.trim_end_matches('%')
        .trim()
        .parse::<f64>()
        .map_or(text.clone(), |value| value.to_string())
}

/// Returns the columns that may be keys of the rows: each id, and all the texts together.
fn row_keys(sheet: &FigureTable<'_>) -> Vec<Vec<usize>> {
    let role = |place: &usize| sheet.titles[*place].role;
    let mut keys: Vec<Vec<usize>> = sheet
        .texts
        .iter()
        .copied()
        .filter(|place| role(place) == ColumnRole::Id)
        .map(|place| vec![place])
        .collect();
    let all: Vec<usize> = sheet
        .texts
        .iter()
        .copied()
        .filter(|place| !is_note(sheet, *place))
        .collect();
    let settings = sheet
        .series
        .iter()
        .filter(|series| {
            series.role == ColumnRole::OneRun || matches!(series.role, ColumnRole::Runs)
        })
        .map(|series| series.place);
    keys.push(
        all.into_iter()
            .chain(settings.filter(|place| !sheet.texts.contains(place)))
            .collect(),
    );
    keys
}

/// Returns whether a column is a text about the row. A date tells rows apart.
fn is_note(sheet: &FigureTable<'_>, place: usize) -> bool {
    let words = [
        "notes",
        "note",
        "comment",
        "comments",
        "source",
        "link",
        "links",
        "url",
        "urls",
        "website",
        "site",
        "logs",
        "log",
        "paper",
        "description",
    ];
    sheet.titles[place]
        .words
        .iter()
        .any(|word| words.contains(&word.as_str()))
}

fn result_columns(sheet: &FigureTable<'_>) -> Vec<usize> {
    let is_result = |role: ColumnRole| {
        matches!(
            role,
            ColumnRole::Rate | ColumnRole::Passed | ColumnRole::Failed | ColumnRole::Unknown
        )
    };
    let mut places: Vec<usize> = sheet
        .series
        .iter()
        .filter(|series| is_result(series.role))
        .map(|series| series.place)
        .collect();
    places.dedup();
    places
}

/// Returns the columns whose values are outcomes of single items.
fn outcome_columns(sheet: &FigureTable<'_>) -> Vec<usize> {
    const OUTCOME_WORDS: [&str; 24] = [
        "pass",
        "fail",
        "passed",
        "failed",
        "true",
        "false",
        "yes",
        "no",
        "0",
        "1",
        "correct",
        "incorrect",
        "right",
        "wrong",
        "resolved",
        "unresolved",
        "solved",
        "unsolved",
        "success",
        "failure",
        "ok",
        "0.0",
        "1.0",
        "error",
    ];
    const OUTCOME_TITLES: [&str; 22] = [
        "passed",
        "pass",
        "correct",
        "resolved",
        "solved",
        "success",
        "outcome",
        "status",
        "result",
        "verdict",
        "score",
        "ok",
        "grade",
        "acc",
        "accuracy",
        "failed",
        "reward",
        "bestanden",
        "richtig",
        "korrekt",
        "match",
        "em",
    ];
    (0..sheet.table.columns.len())
        .filter(|place| {
            let values: Vec<&str> = sheet
                .rows
                .iter()
                .filter_map(|row| cell_text(sheet.table, *row, *place))
                .collect();
            let is_titled = sheet.titles[*place]
                .words
                .iter()
                .any(|word| OUTCOME_TITLES.contains(&word.as_str()));
            let different: std::collections::BTreeSet<String> =
                values.iter().map(|value| value.to_lowercase()).collect();
            let are_outcomes = different
                .iter()
                .all(|value| OUTCOME_WORDS.contains(&value.as_str()));
            is_titled && values.len() >= 4 && different.len() >= 2 && are_outcomes
        })
        .collect()
}

/// Returns everything that tells attempts at items apart.
fn item_key_columns(sheet: &FigureTable<'_>, outcomes: &[usize]) -> Vec<usize> {
    const ITEM_KEY_WORDS: [&str; 16] = [
        "item", "task", "question", "id", "attempt", "run", "trial", "seed", "epoch", "repeat",
        "case", "instance", "sample", "problem", "number", "try",
    ];
    let is_long = |place: usize| {
        sheet
            .rows
            .iter()
            .filter_map(|row| cell_text(sheet.table, *row, place))
            .any(|text| text.len() > 120)
    };
    let is_key = |place: &usize| {
        let title = &sheet.titles[*place];
        let tells = title
            .words
            .iter()
            .any(|word| ITEM_KEY_WORDS.contains(&word.as_str()))
            || sheet.texts.contains(place);
        let is_about_answer = title.words.iter().any(|word| {
            [
                "answer",
                "response",
                "output",
                "prediction",
                "reason",
                "completion",
                "expected",
            ]
            .contains(&word.as_str())
        });
        tells
            && !outcomes.contains(place)
            && !matches!(title.role, ColumnRole::Aside)
            && !is_about_answer
            && !is_note(sheet, *place)
            && !is_long(*place)
    };
    (0..sheet.table.columns.len()).filter(is_key).collect()
}

/// Reports rows with the same id in several tables, with different figures in columns of the same name.
pub(super) fn check_across_tables(sheets: &[FigureTable<'_>], findings: &mut Vec<ClaimFinding>) {
    /// Where a row was first seen.
    type SeenRows<'s> = BTreeMap<(String, String), (&'s str, BTreeMap<String, String>)>;
    let mut seen: SeenRows<'_> = BTreeMap::new();
    for sheet in sheets {
        let ids: Vec<usize> = sheet
            .texts
            .iter()
            .copied()
            .filter(|place| sheet.titles[*place].role == ColumnRole::Id)
            .collect();
        let results = result_columns(sheet);
        let mut own: SeenRows<'_> = BTreeMap::new();
        for row in &sheet.rows {
            for id in &ids {
                let Some(value) = cell_text(sheet.table, *row, *id) else {
                    continue;
                };
                let key = (sheet.table.columns[*id].clone(), value.to_owned());
                let figures: BTreeMap<String, String> = results
                    .iter()
                    .filter_map(|place| {
                        Some((
                            sheet.table.columns[*place].clone(),
                            normalise_value(
                                cell_text(sheet.table, *row, *place)
                                    .filter(|text| !is_nothing(text))?,
                            ),
                        ))
                    })
                    .collect();
                if let Some((table, known)) = seen.get(&key)
                    && let Some((column, figure)) = figures.iter().find(|(column, figure)| {
                        known.get(*column).is_some_and(|known| known != *figure)
                    })
                    && let Some(place) = sheet.table.columns.iter().position(|name| name == column)
                {
                    let other = &known[column];
                    let text = format!("`{value}` has {figure} here, and {other} in {table}");
                    findings.push(sheet.finding_at(
                        ClaimKind::ConflictingRows,
                        Severity::Contradictory,
                        &[*row],
                        place,
                        vec![other.clone()],
                        text,
                    ));
                } else {
                    own.entry(key).or_insert((&sheet.table.name, figures));
                }
            }
        }
        for (key, value) in own {
            seen.entry(key).or_insert(value);
        }
    }
}
