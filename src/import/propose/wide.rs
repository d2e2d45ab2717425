//! Tables with the outcomes of several approaches or items side by side.

use std::collections::BTreeMap;

use super::super::sample::Sample;
use super::draft::WideDraft;
use super::ended::is_ended;
use super::look::{Look, Question, WideAre};
use super::summary::{Column, Kind, is_time};
use super::words::{Role, is_benchmark, is_model, is_numbered, is_total, words_of};

/// A wide table turned long, as the map will do it, so that the rest can be found as in any long table.
pub(super) struct Unfolded {
    pub sample: Sample,
    pub draft: WideDraft,
    pub are: WideAre,
}

/// Finds columns that are side by side, and turns the table long. Returns `None` if it is long already.
pub(super) fn unfold(look: &Look<'_>) -> Result<Option<Unfolded>, Question> {
    let hints = look.hints;
    if hints.wide.is_none() && (hints.passed.is_some() || hints.score.is_some()) {
        return Ok(None);
    }
    let is_name = |column: &Column| column.kind == Kind::Text && column.may_name();
    let has_arms = !look.best(Role::Model, 2, is_name).is_empty() || !look.best(Role::Approach, 2, is_name).is_empty();
    let has_items =
        !look.best(Role::Item, 2, |column| column.may_name() && column.kind != Kind::Outcomes && !is_numbered(&column.name)).is_empty();
    if !has_arms && let Some(found) = groups(look) {
        return Ok(Some(found));
    }
    let outcomes: Vec<&Column> = look
        .summary
        .columns
        .iter()
        // Skip columns with totals of the columns beside them.
        .filter(|column| column.is_outcomes() && !is_total(&column.name) && !is_around(column) && !is_ended(column))
        .collect();
    let numbers: Vec<&Column> =
        look.summary.columns.iter().filter(|column| is_side(column) && !is_around(column) && !is_total(&column.name)).collect();
    let has_judge = outcomes.iter().any(|column| column.clarity(Role::Passed) >= 2)
        || look.summary.columns.iter().any(|column| {
            column.numbers().is_some() && column.clarity(Role::Score).max(column.clarity(Role::Rate)) >= 2 && outcomes.len() < 2
        });
    if hints.wide.is_none() && (has_judge || (has_arms && has_items)) {
        return Ok(None);
    }
    // If some items have partial points, 1 and 0 are points too.
    let are_points = outcomes.iter().all(|column| column.values.keys().all(|text| text.parse::<f64>().is_ok()));
    let has_parts = numbers.iter().any(|column| column.numbers().is_some_and(|numbers| numbers.most <= 1.0 && !numbers.are_whole));
    let are_outcomes = outcomes.len() >= 2 && !(are_points && has_parts);
    let columns: Vec<&Column> = match (are_outcomes, outcomes.is_empty()) {
        (true, _) => outcomes,
        (false, true) => numbers,
        (false, false) => {
            let is_part = |column: &&Column| column.is_outcomes() || column.numbers().is_some_and(|numbers| numbers.most <= 1.0);
            let mut both: Vec<&Column> = outcomes.into_iter().chain(numbers).filter(is_part).collect();
            both.sort_by_key(|column| column.place);
            both
        }
    };
    if columns.len() < 2 {
        return Ok(None);
    }
    let labels: Vec<&Column> =
        look.summary.columns.iter().filter(|column| column.kind == Kind::Text && !column.is_among(&columns)).collect();
    if hints.wide.is_none() && columns.iter().filter(|column| is_time(&column.name)).count() * 2 > columns.len() {
        let text = format!(
            "`{}`, `{}` and others are times side by side, which are no approaches, items or suites",
            columns[0].name, columns[1].name
        );
        return Err(Question::new(text, "--wide approaches (or items, or suites), or --map MAP"));
    }
    let Some(are) = hints.wide.or_else(|| orientation(&columns, &labels, has_arms, has_items, are_outcomes)) else {
        let names: Vec<String> = columns.iter().take(4).map(|column| format!("`{}`", column.name)).collect();
        let more = if columns.len() > 4 { ", …" } else { "" };
        let text = format!("{}{more} are side by side: approaches, items, or suites with rates?", names.join(", "));
        return Err(Question::new(text, "--wide approaches (or items, or suites)"));
    };
    let (name, value) = match are {
        WideAre::Approaches => ("approach", if are_outcomes { "passed" } else { "score" }),
        WideAre::Items => ("item", if are_outcomes { "passed" } else { "score" }),
        WideAre::Suites => ("suite", "score"),
    };
    let groups: Vec<(String, BTreeMap<String, String>)> =
        columns.iter().map(|column| (column.name.clone(), BTreeMap::from([(value.to_owned(), column.name.clone())]))).collect();
    let draft = WideDraft {
        name: name.to_owned(),
        value: value.to_owned(),
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        groups: Vec::new(),
    };
    Ok(Some(Unfolded { sample: unfolded(look, name, &groups), draft, are }))
}

/// Returns whether the column belongs to the values around the rows, which are not side by side with others.
fn is_around(column: &Column) -> bool {
    column.name.starts_with("$.")
}

/// Returns whether the column has plain numbers with no other role.
fn is_side(column: &Column) -> bool {
    const OTHER: [Role; 9] = [
        Role::Cost,
        Role::Duration,
        Role::InputTokens,
        Role::OutputTokens,
        Role::TotalTokens,
        Role::Attempt,
        Role::Seed,
        Role::Total,
        Role::StandardError,
    ];
    let is_other = OTHER.iter().any(|role| column.clarity(*role) >= 2)
        || column.clarity(Role::Item) >= 2
        || words_of(&column.name).iter().any(|word| word == "rank");
    column.numbers().is_some_and(|numbers| numbers.least >= 0.0 && numbers.most <= 100.0 && !numbers.is_mixed)
        && !is_other
        && !column.name.is_empty()
}

/// Returns the kind of the columns side by side, by their titles and the rows' labels.
fn orientation(columns: &[&Column], labels: &[&Column], has_arms: bool, has_items: bool, are_outcomes: bool) -> Option<WideAre> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let share = |check: &dyn Fn(&str) -> bool| names.iter().filter(|name| check(name)).count() * 10 >= names.len() * 6;
    if !are_outcomes && (has_arms || !has_items) {
        let are_rates = names.iter().any(|name| is_benchmark(name))
            || columns.iter().all(|column| column.numbers().is_some_and(|numbers| numbers.has_percent) || column.name.contains('%'));
        if are_rates {
            return Some(WideAre::Suites);
        }
        if has_arms && share(&is_numbered) {
            return Some(WideAre::Items);
        }
        if !has_arms && share(&is_model) {
            return Some(WideAre::Approaches);
        }
        return None;
    }
    if has_items {
        return Some(WideAre::Approaches);
    }
    if has_arms {
        return Some(WideAre::Items);
    }
    // The rows are of unknown kind, but their labels and the columns' titles may tell.
    let row_labels: Vec<&str> = labels.first().map(|column| column.values.keys().map(String::as_str).collect()).unwrap_or_default();
    let rows_share = |check: &dyn Fn(&str) -> bool| {
        !row_labels.is_empty() && row_labels.iter().filter(|name| check(name)).count() * 10 >= row_labels.len() * 6
    };
    let by_items = share(&is_model) || rows_share(&is_numbered);
    let by_arms = share(&is_numbered) || rows_share(&is_model);
    match (by_items, by_arms) {
        (true, false) => Some(WideAre::Approaches),
        (false, true) => Some(WideAre::Items),
        _ => None,
    }
}

/// Finds columns such as `gpt4_passed` and `gpt4_cost`: a name and a measure.
fn groups(look: &Look<'_>) -> Option<Unfolded> {
    let mut found: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for column in &look.summary.columns {
        let Some(place) = column.name.rfind(['_', ' ', '.', ':', '/', '-']) else { continue };
        let (name, what) = (column.name[..place].trim(), column.name[place + 1..].trim());
        // `cost_usd` is one measure of two words.
        let (name, what) = match name.rfind(['_', ' ', '.', ':', '/', '-']) {
            Some(earlier) if matches!(what, "usd" | "ms" | "s" | "seconds" | "tokens") => {
                (name[..earlier].trim(), column.name[earlier + 1..].trim())
            }
            _ => (name, what),
        };
        if name.is_empty() || what.is_empty() {
            continue;
        }
        match found.iter_mut().find(|(known, _)| known == name) {
            Some((_, cells)) => drop(cells.insert(what.to_owned(), column.name.clone())),
            None => found.push((name.to_owned(), BTreeMap::from([(what.to_owned(), column.name.clone())]))),
        }
    }
    let judge = found.iter().find_map(|(_, cells)| {
        let is_judge = |what: &&String| super::words::roles_of(what).iter().any(|(role, clarity)| *role == Role::Passed && *clarity >= 2);
        let (what, column) = cells.iter().find(|(what, _)| is_judge(what))?;
        look.named(column).filter(|column| column.is_outcomes()).map(|_| what.clone())
    })?;
    found.retain(|(_, cells)| cells.contains_key(&judge));
    if found.len() < 2 {
        return None;
    }
    let draft = WideDraft { name: "approach".to_owned(), value: judge, columns: Vec::new(), groups: found.clone() };
    Some(Unfolded { sample: unfolded(look, "approach", &found), draft, are: WideAre::Approaches })
}

/// Returns the long table that the map will produce.
fn unfolded(look: &Look<'_>, name: &str, groups: &[(String, BTreeMap<String, String>)]) -> Sample {
    let taken: Vec<&String> = groups.iter().flat_map(|(_, cells)| cells.values()).collect();
    let kept: Vec<usize> = (0..look.sample.columns.len())
        .filter(|place| !taken.contains(&&look.sample.columns[*place]))
        .filter(|place| look.sample.columns[*place] != name)
        .collect();
    let mut targets: Vec<&String> = groups.iter().flat_map(|(_, cells)| cells.keys()).collect();
    targets.sort();
    targets.dedup();
    let mut columns: Vec<String> = kept.iter().map(|place| look.sample.columns[*place].clone()).collect();
    columns.push(name.to_owned());
    columns.extend(targets.iter().map(|target| (*target).clone()));
    let place_of = |column: &String| look.sample.columns.iter().position(|known| known == column);
    let mut rows = Vec::new();
    for row in &look.rows {
        for (label, cells) in groups {
            let mut long: Vec<Option<String>> = kept.iter().map(|place| row[*place].clone()).collect();
            long.push(Some(label.clone()));
            long.extend(targets.iter().map(|target| cells.get(*target).and_then(place_of).and_then(|place| row[place].clone())));
            rows.push(long);
        }
    }
    Sample { layout: look.sample.layout.clone(), columns, rows, compound: std::collections::BTreeSet::new(), doubled: Vec::new() }
}
