//! Tables with the outcomes of several approaches or items side by side.

use std::collections::BTreeMap;

use super::super::sample::Sample;
use super::super::shape::tries_of;
use super::draft::WideDraft;
use super::ended::is_ended;
use super::look::{Look, Question, WideAre};
use super::polarity::{Better, better};
use super::summary::{Column, Kind, currency_in_name, is_time, unit_in_name};
use super::tries::each_try;
use super::verdict::{is_of_pair, is_plain};
use super::words::{
    Role, is_about_others, is_benchmark, is_beside_outcome, is_model, is_numbered, is_total,
    words_of,
};

/// A wide table turned long, as the map will do it, so that the rest can be found as in any long table.
pub(super) struct Unfolded {
    pub sample: Sample,
    pub draft: WideDraft,
    pub are: WideAre,
    /// Each cell has the passed and all attempts at an item, such as `2/3`.
    pub are_tries: bool,
    /// Each row is a suite, and its cells are published rates.
    pub are_rates: bool,
}

/// Finds columns that are side by side, and turns the table long. Returns `None` if it is long already.
pub(super) fn unfold(look: &Look<'_>) -> Result<Option<Unfolded>, Question> {
    let hints = look.hints;
    if hints.wide.is_none() && (hints.passed.is_some() || hints.score.is_some()) {
        return Ok(None);
    }
    let is_name = |column: &Column| column.kind == Kind::Text && column.may_name();
    let has_arms = !look.best(Role::Model, 2, is_name).is_empty()
        || !look.best(Role::Approach, 2, is_name).is_empty();
    if hints.wide.is_none_or(|wide| wide == WideAre::Attempts)
        && let Some(found) = repeats(look)
    {
        return Ok(Some(found));
    }
    let has_items = !look
        .best(Role::Item, 2, |column| {
            column.may_name() && column.kind != Kind::Outcomes && !is_numbered(&column.name)
        })
        .is_empty();
    if !has_arms
        && hints.wide.is_none_or(|wide| wide == WideAre::Approaches)
        && let Some(found) = groups(look)
    {
        return Ok(Some(found));
    }
    // A cost or a time of an approach, such as `nova (s)`, is no outcome of it.
    let is_other = |column: &Column| is_attribute(&column.name) || is_spent_by_an_arm(&column.name);
    let outcomes: Vec<&Column> = look
        .summary
        .columns
        .iter()
        // Skip columns with totals of the columns beside them.
        .filter(|column| {
            column.is_outcomes()
                && !is_total(&column.name)
                && !is_around(column)
                && !is_ended(column)
                && !is_other(column)
        })
        .collect();
    // Beside columns with words such as `passed`, a column with yes and no tells something else about the rows.
    let (plain, unsure): (Vec<&Column>, Vec<&Column>) = outcomes
        .iter()
        .copied()
        .partition(|column| column.values.keys().any(|text| is_plain(text)));
    let outcomes = if plain.len() >= 2 && !unsure.is_empty() {
        plain
    } else {
        outcomes
    };
    let numbers: Vec<&Column> = look
        .summary
        .columns
        .iter()
        .filter(|column| {
            is_side(column) && !is_around(column) && !is_total(&column.name) && !is_other(column)
        })
        .collect();
    let has_judge = outcomes
        .iter()
        .any(|column| column.clarity(Role::Passed) >= 2)
        || look.summary.columns.iter().any(|column| {
            column.numbers().is_some()
                && column.clarity(Role::Score).max(column.clarity(Role::Rate)) >= 2
                && outcomes.len() < 2
        });
    if hints.wide.is_none() && (has_judge || (has_arms && has_items)) {
        return Ok(None);
    }
    // If some items have partial points, 1 and 0 are points too.
    let are_points = outcomes
        .iter()
        .all(|column| column.values.keys().all(|text| text.parse::<f64>().is_ok()));
    let has_parts = numbers.iter().any(|column| {
        column
            .numbers()
            .is_some_and(|numbers| numbers.most <= 1.0 && !numbers.are_whole)
    });
    let are_outcomes = outcomes.len() >= 2 && !(are_points && has_parts);
    let columns: Vec<&Column> = match (are_outcomes, outcomes.is_empty()) {
        (true, _) => outcomes,
        (false, true) => numbers,
        (false, false) => {
            let is_part = |column: &&Column| {
                column.is_outcomes() || column.numbers().is_some_and(|numbers| numbers.most <= 1.0)
            };
            let mut both: Vec<&Column> = outcomes
                .into_iter()
                .chain(numbers)
                .filter(is_part)
                .collect();
            both.sort_by_key(|column| column.place);
            both
        }
    };
    let tried = if columns.is_empty() {
        tried(look, &is_other)
    } else {
        Vec::new()
    };
    let are_tries = !tried.is_empty();
    let (columns, are_outcomes) = if are_tries {
        (tried, true)
    } else {
        (columns, are_outcomes)
    };
    if columns.len() < 2 {
        return Ok(answers(look, has_arms));
    }
    let labels: Vec<&Column> = look
        .summary
        .columns
        .iter()
        .filter(|column| column.kind == Kind::Text && !column.is_among(&columns))
        .collect();
    if hints.wide.is_none()
        && columns
            .iter()
            .filter(|column| is_time(&column.name))
            .count()
            * 2
            > columns.len()
    {
        let text = format!(
            "`{}`, `{}` and others are times side by side, which are no approaches, items or suites",
            columns[0].name, columns[1].name
        );
        return Err(Question::new(
            text,
            "--wide approaches (or items, or suites), or --map MAP",
        ));
    }
    let names: Vec<String> = columns
        .iter()
        .take(4)
        .map(|column| format!("`{}`", column.name))
        .collect();
    let names = format!(
        "{}{}",
        names.join(", "),
        if columns.len() > 4 { ", …" } else { "" }
    );
    let by_suite = !has_arms && !are_outcomes && rows_are_suites(look, &labels);
    let by_suite = by_suite.then_some(WideAre::Approaches);
    let found =
        || by_suite.or_else(|| orientation(&columns, &labels, has_arms, has_items, are_outcomes));
    let Some(are) = hints.wide.or_else(found) else {
        let (kinds, option) = if has_arms {
            ("items, or suites with rates", "--wide suites (or items)")
        } else {
            (
                "approaches, items, or suites with rates",
                "--wide approaches (or items, or suites)",
            )
        };
        return Err(Question::new(
            format!("{names} are side by side: {kinds}?"),
            option,
        ));
    };
    let are_rates = by_suite == Some(are);
    let are_scores = |column: &&Column| {
        column
            .numbers()
            .is_none_or(|numbers| numbers.most <= 1.0 || numbers.has_percent)
    };
    if hints.wide.is_none()
        && are == WideAre::Approaches
        && !are_rates
        && !columns.iter().all(are_scores)
    {
        let text = format!("the numbers of {names} may be scores, times or costs");
        return Err(Question::new(
            text,
            "--wide approaches (which reads them as scores, more is better)",
        ));
    }
    let (name, value) = match are {
        WideAre::Approaches | WideAre::Attempts => {
            ("approach", if are_outcomes { "passed" } else { "score" })
        }
        WideAre::Items => ("item", if are_outcomes { "passed" } else { "score" }),
        WideAre::Suites => ("suite", "score"),
    };
    let groups: Vec<(String, BTreeMap<String, String>)> = columns
        .iter()
        .map(|column| {
            (
                column.name.clone(),
                BTreeMap::from([(value.to_owned(), column.name.clone())]),
            )
        })
        .collect();
    let draft = WideDraft {
        name: name.to_owned(),
        value: value.to_owned(),
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        groups: Vec::new(),
    };
    let mut sample = unfolded(look, name, &groups);
    if are_tries {
        let place = sample.columns.len() - 1;
        each_try(&mut sample, place);
    }
    Ok(Some(Unfolded {
        sample,
        draft,
        are,
        are_tries,
        are_rates,
    }))
}

/// Finds columns whose cells have all attempts at an item, such as `[true, false]` or `2/3`. Points look like the second: attempts are few, as many in
/// every cell, and at some items none and at others all passed.
fn tried<'l>(look: &'l Look<'_>, is_other: &dyn Fn(&Column) -> bool) -> Vec<&'l Column> {
    const MOST_TRIES: u32 = 5;
    let is_one = |kind: &Kind, column: &Column| {
        let has_title = column.roles.iter().any(|(_, clarity)| *clarity >= 2);
        column.kind == *kind
            && !has_title
            && !is_around(column)
            && !is_total(&column.name)
            && !is_other(column)
    };
    let of_kind = |kind: &Kind| -> Vec<&Column> {
        look.summary
            .columns
            .iter()
            .filter(|column| is_one(kind, column))
            .collect()
    };
    let lists = of_kind(&Kind::Tries);
    if lists.len() > 1 {
        return lists;
    }
    let columns = of_kind(&Kind::Fractions);
    let cells: Option<Vec<(u32, u32)>> = columns
        .iter()
        .flat_map(|column| column.values.keys())
        .map(|text| tries_of(text))
        .collect();
    let cells = cells.unwrap_or_default();
    let Some(all) = cells
        .first()
        .map(|(_, all)| *all)
        .filter(|all| (2..=MOST_TRIES).contains(all))
    else {
        return Vec::new();
    };
    let has = |wanted: u32| cells.iter().any(|(passed, _)| *passed == wanted);
    if cells.iter().all(|(_, own)| *own == all) && has(0) && has(all) {
        columns
    } else {
        Vec::new()
    }
}

/// Returns whether each row is a suite of its own: a column with a title for suites has names of known benchmarks.
fn rows_are_suites(look: &Look<'_>, labels: &[&Column]) -> bool {
    let is_known = |column: &Column| column.values.keys().any(|name| is_benchmark(name));
    labels.iter().any(|column| {
        column.clarity(Role::Suite) >= 2 && look.is_unique(&[*column]) && is_known(column)
    })
}

/// Finds the answers of several approaches beside the expected one. An answer is one of the expected ones, and some are wrong.
fn answers(look: &Look<'_>, has_arms: bool) -> Option<Unfolded> {
    const MOST_CHOICES: usize = 12;
    const TARGET: &str = "response";
    let is_choice = |column: &Column| {
        (2..=MOST_CHOICES).contains(&column.values.len()) && column.kind == Kind::Text
    };
    let expected = look.best(Role::Expected, 2, |column| {
        is_choice(column) && !is_around(column)
    });
    let [expected] = expected.as_slice() else {
        return None;
    };
    let is_answer = |column: &&Column| {
        let same = look
            .rows
            .iter()
            .filter(|row| row[column.place] == row[expected.place])
            .count();
        !is_around(column)
            && column.name != expected.name
            && column.kind == Kind::Text
            && column.roles.iter().all(|(_, clarity)| *clarity < 2)
            && column
                .values
                .keys()
                .all(|answer| expected.values.contains_key(answer))
            && (1..look.rows.len()).contains(&same)
    };
    let columns: Vec<&Column> = look.summary.columns.iter().filter(is_answer).collect();
    if has_arms || look.hints.wide.is_some() || columns.len() < 2 {
        return None;
    }
    let groups: Vec<(String, BTreeMap<String, String>)> = columns
        .iter()
        .map(|column| {
            (
                column.name.clone(),
                BTreeMap::from([(TARGET.to_owned(), column.name.clone())]),
            )
        })
        .collect();
    let draft = WideDraft {
        name: "approach".to_owned(),
        value: TARGET.to_owned(),
        columns: columns.iter().map(|column| column.name.clone()).collect(),
        groups: Vec::new(),
    };
    let sample = unfolded(look, "approach", &groups);
    Some(Unfolded {
        sample,
        draft,
        are: WideAre::Approaches,
        are_tries: false,
        are_rates: false,
    })
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
    let is_other = better(&column.name) != Better::High
        || is_about_others(&column.name)
        || OTHER.iter().any(|role| column.clarity(*role) >= 2)
        || column.clarity(Role::Item) >= 2
        || words_of(&column.name).iter().any(|word| word == "rank");
    column
        .numbers()
        .is_some_and(|numbers| numbers.least >= 0.0 && numbers.most <= 100.0 && !numbers.is_mixed)
        && !is_other
        && !column.name.is_empty()
}

/// Returns the kind of the columns side by side, by their titles and the rows' labels.
fn orientation(
    columns: &[&Column],
    labels: &[&Column],
    has_arms: bool,
    has_items: bool,
    are_outcomes: bool,
) -> Option<WideAre> {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let share = |check: &dyn Fn(&str) -> bool| {
        names.iter().filter(|name| check(name)).count() * 10 >= names.len() * 6
    };
    if !are_outcomes && (has_arms || !has_items) {
        let are_rates = names.iter().any(|name| is_benchmark(name))
            || columns.iter().all(|column| {
                column.numbers().is_some_and(|numbers| numbers.has_percent)
                    || column.name.contains('%')
            });
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
    if has_arms {
        return Some(WideAre::Items);
    }
    if has_items {
        return Some(WideAre::Approaches);
    }
    // The rows are of unknown kind, but their labels and the columns' titles may tell.
    let row_labels: Vec<&str> = labels
        .first()
        .map(|column| column.values.keys().map(String::as_str).collect())
        .unwrap_or_default();
    let rows_share = |check: &dyn Fn(&str) -> bool| {
        !row_labels.is_empty()
            && row_labels.iter().filter(|name| check(name)).count() * 10 >= row_labels.len() * 6
    };
    let by_items = share(&is_model) || rows_share(&is_numbered);
    let by_arms = share(&is_numbered) || rows_share(&is_model);
    match (by_items, by_arms) {
        (true, false) => Some(WideAre::Approaches),
        (false, true) => Some(WideAre::Items),
        _ => None,
    }
}

/// Words of columns that describe the item of a row: no approach has such a name.
#[rustfmt::skip]
const ATTRIBUTES: [&str; 70] = [
    "public", "private", "hidden", "verified", "flaky", "hard", "easy", "difficulty", "level", "network", "internet", "delta", "diff", "difference", "gap", "change", "improvement", "params", "parameters", "param",
    "size", "context", "window", "year", "released", "price", "votes", "rank", "rang", "weight", "weights", "length", "steps", "turns", "depth", "age", "priority", "deprecated", "license", "required",
    "gpu", "reviewed", "annotated", "labeled", "valid", "low", "high", "ci", "std", "sd", "stderr", "ci_low", "ci_high", "offentlich", "schwer", "leicht", "einfach", "gepruft", "verifiziert", "gewicht",
    "jahr", "differenz", "schwierigkeit", "kontext", "difficile", "facile", "verifie", "poids", "dificil", "verificado",
];

/// First words of a column about the item of a row: `is_public`, `needs_network`.
#[rustfmt::skip]
const ABOUT_ITEMS: [&str; 22] = [
    "is", "has", "was", "are", "can", "needs", "need", "requires", "require", "uses", "used", "should", "must", "allows", "contains", "ist", "hat", "war", "braucht", "tiene", "necesita", "est",
];

/// Returns whether the column describes the item of a row or the size of a model, and is neither an approach nor a suite.
fn is_attribute(name: &str) -> bool {
    let words = words_of(name);
    let is_small =
        |word: &String| word.len() == 1 || word.bytes().all(|byte| byte.is_ascii_digit());
    let are_attributes = || {
        words
            .iter()
            .all(|word| is_small(word) || ATTRIBUTES.contains(&word.as_str()))
    };
    let has_attribute = words.iter().any(|word| ATTRIBUTES.contains(&word.as_str()));
    (words.len() > 1 && ABOUT_ITEMS.contains(&words[0].as_str()))
        || (has_attribute && are_attributes())
}

const SEPARATORS: [char; 6] = ['_', ' ', '.', ':', '/', '-'];

/// Returns whether a part of a title names something that is measured of each approach.
fn is_measure(what: &str) -> bool {
    const MEASURES: [Role; 8] = [
        Role::Passed,
        Role::Failed,
        Role::Score,
        Role::Cost,
        Role::Duration,
        Role::InputTokens,
        Role::OutputTokens,
        Role::Answer,
    ];
    super::words::roles_of(what)
        .iter()
        .any(|(role, clarity)| MEASURES.contains(role) && *clarity >= 2)
}

/// Returns whether a measure is a cost, a time or a number of tokens.
fn is_spending(what: &str) -> bool {
    const SPENT: [Role; 5] = [
        Role::Cost,
        Role::Duration,
        Role::InputTokens,
        Role::OutputTokens,
        Role::TotalTokens,
    ];
    super::words::roles_of(what)
        .iter()
        .any(|(role, clarity)| SPENT.contains(role) && *clarity >= 2)
}

/// Returns whether a column has the costs or the times of one approach, such as `nova (s)`.
pub(super) fn is_spent_by_an_arm(title: &str) -> bool {
    parted(title).is_some_and(|(_, what)| is_spending(&what))
}

/// Parts a title into a name and a measure: `nova_cost_usd`, `time_nova`, `nova (s)`. Returns `None` if no part is a measure.
fn parted(title: &str) -> Option<(String, String)> {
    let title = title.trim();
    if let Some((name, unit)) = title
        .strip_suffix([')', ']'])
        .and_then(|rest| rest.rsplit_once(['(', '[']))
    {
        let what = match (unit_in_name(unit), currency_in_name(unit)) {
            (Some(_), _) => Some(format!("duration ({unit})")),
            (_, Some(_)) => Some(format!("cost ({unit})")),
            _ => None,
        };
        if let Some(what) = what.filter(|_| !name.trim().is_empty() && !is_measure(name.trim())) {
            return Some((name.trim().to_owned(), what));
        }
    }
    let places = || {
        title
            .char_indices()
            .filter(|(_, letter)| SEPARATORS.contains(letter))
            .map(|(place, _)| place)
    };
    let split = |place: usize| (title[..place].trim(), title[place + 1..].trim());
    let is_name =
        |name: &str| !name.is_empty() && !words_of(name).iter().all(|word| is_beside_outcome(word));
    let last = places()
        .map(split)
        .find(|(name, what)| is_measure(what) && is_name(name));
    let first = || {
        places()
            .map(split)
            .rfind(|(what, name)| is_measure(what) && is_name(name))
            .map(|(what, name)| (name, what))
    };
    last.or_else(first)
        .map(|(name, what)| (name.to_owned(), what.to_owned()))
}

/// Finds columns such as `gpt4_passed` and `gpt4_cost`, or `correct_gpt4` and `time_gpt4`: a name and a measure.
fn groups(look: &Look<'_>) -> Option<Unfolded> {
    let mut found: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for column in look
        .summary
        .columns
        .iter()
        .filter(|column| !is_around(column))
    {
        let by_last = || {
            let place = column.name.rfind(SEPARATORS)?;
            Some((
                column.name[..place].trim().to_owned(),
                column.name[place + 1..].trim().to_owned(),
            ))
        };
        let Some((name, what)) = parted(&column.name).or_else(by_last) else {
            continue;
        };
        if name.is_empty() || what.is_empty() {
            continue;
        }
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, cells)) => drop(cells.insert(what, column.name.clone())),
            None => found.push((name, BTreeMap::from([(what, column.name.clone())]))),
        }
    }
    // The column of an approach itself, beside its cost or its time.
    for (name, cells) in &mut found {
        if let Some(column) = look
            .named(name)
            .filter(|column| column.is_outcomes() || column.numbers().is_some())
            && cells.keys().any(|what| is_spending(what))
        {
            let what = if column.is_outcomes() {
                "passed"
            } else {
                "score"
            };
            cells
                .entry(what.to_owned())
                .or_insert_with(|| column.name.clone());
        }
    }
    let judge_by = |roles: &[Role], fits: &dyn Fn(&Column) -> bool| {
        found.iter().find_map(|(_, cells)| {
            let is_judge = |what: &&String| {
                super::words::roles_of(what)
                    .iter()
                    .any(|(role, clarity)| roles.contains(role) && *clarity >= 2)
            };
            let (what, column) = cells.iter().find(|(what, _)| is_judge(what))?;
            look.named(column)
                .filter(|column| fits(column))
                .map(|_| what.clone())
        })
    };
    let passed = judge_by(&[Role::Passed, Role::Failed], &Column::is_outcomes);
    let scored = || {
        judge_by(&[Role::Score], &|column: &Column| {
            column.numbers().is_some()
        })
    };
    let (judge, is_sure) = match passed {
        Some(passed) => (passed, true),
        // Scores alone may be several scores of one approach.
        None => (scored()?, false),
    };
    let are_named = || {
        let is_name =
            |value: &String| found.iter().any(|(name, _)| name == value) || is_of_pair(value);
        look.summary.columns.iter().any(|column| {
            column.kind == Kind::Text
                && column.values.len() > 1
                && column.values.keys().all(is_name)
        })
    };
    // A column of winners has the approaches' names.
    let is_sure = is_sure || are_named();
    found.retain(|(_, cells)| cells.contains_key(&judge) && (is_sure || cells.len() > 1));
    if found.len() < 2 {
        return None;
    }
    let draft = WideDraft {
        name: "approach".to_owned(),
        value: judge,
        columns: Vec::new(),
        groups: found.clone(),
    };
    Some(Unfolded {
        sample: unfolded(look, "approach", &found),
        draft,
        are: WideAre::Approaches,
        are_tries: false,
        are_rates: false,
    })
}

/// Finds columns with repeats of the same approach: `run 1`, `run 2`, or `passed_1`, `passed_2`.
fn repeats(look: &Look<'_>) -> Option<Unfolded> {
    const COUNTERS: [&str; 18] = [
        "run",
        "seed",
        "trial",
        "attempt",
        "repeat",
        "repetition",
        "rep",
        "try",
        "iteration",
        "iter",
        "epoch",
        "replicate",
        "lauf",
        "durchlauf",
        "versuch",
        "essai",
        "intento",
        "poging",
    ];
    // `run1` and `run 1` are `run` and its number.
    let counted = |column: &&Column| {
        let name = column.name.trim();
        let word = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let is_number = word.len() < name.len();
        let word = words_of(word.trim_end_matches(SEPARATORS)).join("_");
        is_number.then_some(word)
    };
    let names_outcomes = |word: &str| {
        super::words::roles_of(word)
            .iter()
            .any(|(role, clarity)| *role == Role::Passed && *clarity == 3)
    };
    let is_repeat = |column: &&Column| {
        !is_around(column)
            && (column.is_outcomes()
                || column
                    .numbers()
                    .is_some_and(|numbers| numbers.least >= 0.0 && numbers.most <= 1.0))
            && counted(column).is_some_and(|word| {
                COUNTERS.contains(&word.as_str()) || (column.is_outcomes() && names_outcomes(&word))
            })
    };
    let columns: Vec<&Column> = look.summary.columns.iter().filter(is_repeat).collect();
    let (first, rest) = columns.split_first()?;
    let are_alike = rest.iter().all(|column| {
        counted(column) == counted(first) && column.is_outcomes() == first.is_outcomes()
    });
    let is_taken = look
        .summary
        .columns
        .iter()
        .any(|column| column.clarity(Role::Attempt) >= 2 && !column.is_among(&columns));
    if rest.is_empty() || !are_alike || is_taken {
        return None;
    }
    let value = if first.is_outcomes() {
        "passed"
    } else {
        "score"
    };
    let groups: Vec<(String, BTreeMap<String, String>)> = columns
        .iter()
        .enumerate()
        .map(|(place, column)| {
            (
                (place + 1).to_string(),
                BTreeMap::from([(value.to_owned(), column.name.clone())]),
            )
        })
        .collect();
    let draft = WideDraft {
        name: "attempt".to_owned(),
        value: value.to_owned(),
        columns: Vec::new(),
        groups: groups.clone(),
    };
    Some(Unfolded {
        sample: unfolded(look, "attempt", &groups),
        draft,
        are: WideAre::Attempts,
        are_tries: false,
        are_rates: false,
    })
}

/// Returns the long table that the map will produce.
fn unfolded(look: &Look<'_>, name: &str, groups: &[(String, BTreeMap<String, String>)]) -> Sample {
    let taken: Vec<&String> = groups
        .iter()
        .flat_map(|(_, cells)| cells.values())
        .collect();
    let kept: Vec<usize> = (0..look.sample.columns.len())
        .filter(|place| !taken.contains(&&look.sample.columns[*place]))
        .filter(|place| look.sample.columns[*place] != name)
        .collect();
    let mut targets: Vec<&String> = groups.iter().flat_map(|(_, cells)| cells.keys()).collect();
    targets.sort();
    targets.dedup();
    let mut columns: Vec<String> = kept
        .iter()
        .map(|place| look.sample.columns[*place].clone())
        .collect();
    columns.push(name.to_owned());
    columns.extend(targets.iter().map(|target| (*target).clone()));
    let place_of = |column: &String| look.sample.columns.iter().position(|known| known == column);
    let mut rows = Vec::new();
    for row in &look.rows {
        for (label, cells) in groups {
            let mut long: Vec<Option<String>> =
                kept.iter().map(|place| row[*place].clone()).collect();
            long.push(Some(label.clone()));
            long.extend(targets.iter().map(|target| {
                cells
                    .get(*target)
                    .and_then(place_of)
                    .and_then(|place| row[place].clone())
            }));
            rows.push(long);
        }
    }
    Sample {
        layout: look.sample.layout.clone(),
        columns,
        rows,
        compound: std::collections::BTreeSet::new(),
        doubled: Vec::new(),
        uncomputed: BTreeMap::new(),
    }
}
