//! Columns that may have the outcomes of a table in which no title or word tells.

use crate::domain::shell_word;

use super::arms::Arms;
use super::look::{Look, Question, names};
use super::polarity::{Better, better};
use super::summary::{Column, Kind, Yes};
use super::wide::is_spent_by_an_arm;
use super::words::{Role, is_about_others};

/// Maximum number of columns that are offered, and of values that are shown of each.
const MOST_OFFERED: usize = 5;
const MOST_WORDS: usize = 5;

/// Returns a question for each column that may have the outcomes, with its values and the option that chooses it.
pub(super) fn candidates(look: &Look<'_>) -> Vec<Question> {
    let is_free = |column: &&Column| {
        let is_other = [
            Role::Item,
            Role::Model,
            Role::Approach,
            Role::Suite,
            Role::Question,
            Role::Seed,
            Role::Attempt,
            Role::Cost,
        ]
        .into_iter()
        .chain([
            Role::Duration,
            Role::InputTokens,
            Role::OutputTokens,
            Role::TotalTokens,
            Role::Time,
        ])
        .any(|role| column.clarity(role) >= 2);
        let is_other =
            is_other || is_about_others(&column.name) || is_spent_by_an_arm(&column.name);
        !is_other && !column.name.is_empty() && (column.values.len() > 1 || column.is_outcomes())
    };
    let free: Vec<&Column> = look.summary.columns.iter().filter(is_free).collect();
    let words = free.iter().filter(|column| {
        matches!(column.kind, Kind::Outcomes | Kind::Text) && column.values.len() <= MOST_WORDS
    });
    let numbers = free.iter().filter(|column| column.numbers().is_some());
    let lists = free.iter().filter(|column| column.kind == Kind::Tries);
    let mut found: Vec<Question> = words
        .map(|column| in_words(look, column))
        .chain(numbers.map(|column| in_numbers(column)))
        .chain(lists.map(|column| in_lists(column)))
        .collect();
    found.truncate(MOST_OFFERED);
    let is_empty = |column: &&Column| {
        column.filled == 0
            && column
                .clarity(Role::Passed)
                .max(column.clarity(Role::Score))
                >= 2
    };
    if let Some(empty) = look.summary.columns.iter().find(is_empty) {
        found.insert(
            0,
            Question::new(format!("`{}` has no value in any row", empty.name), ""),
        );
    }
    if found.is_empty() {
        let text = "no column has outcomes: none has few words or numbers that could say which items passed";
        found.push(Question::new(text, "--passed COLUMN (or --score COLUMN)"));
    }
    if let Ok(arms) = Arms::of(look, &[])
        && !arms.columns().is_empty()
        && look.is_unique(&arms.columns())
        && let Some(first) = found.first_mut()
    {
        first.text = format!(
            "{}; each value of {} has a single row, which may be a whole run",
            first.text,
            names(&arms.columns())
        );
    }
    found
}

fn in_words(look: &Look<'_>, column: &Column) -> Question {
    let mut words: Vec<String> = column
        .values
        .iter()
        .map(|(word, count)| format!("`{word}` in {count}"))
        .collect();
    words.extend(
        (look.rows.len() > column.filled)
            .then(|| format!("nothing in {}", look.rows.len() - column.filled)),
    );
    let text = format!(
        "no column is known to have outcomes; `{}` has {} of {} rows",
        column.name,
        words.join(", "),
        look.rows.len()
    );
    let as_fail = if column.is_outcomes() && column.yes() == Yes::Failed {
        " (reads yes as a fail)"
    } else {
        ""
    };
    Question::new(
        text,
        format!("--passed {}{as_fail}", shell_word(&column.name)),
    )
}

fn in_lists(column: &Column) -> Question {
    let first = column.values.keys().next().map_or("", String::as_str);
    let text = format!(
        "no column is known to have outcomes; `{}` has lists such as `{first}`, which may be the attempts at an item",
        column.name
    );
    Question::new(text, format!("--passed {}", shell_word(&column.name)))
}

fn in_numbers(column: &Column) -> Question {
    let range = column.numbers().map_or_else(String::new, |numbers| {
        format!(" from {} to {}", numbers.least, numbers.most)
    });
    let text = format!(
        "no column is known to have outcomes; `{}` has numbers{range}",
        column.name
    );
    let end = if better(&column.name) == Better::Low {
        "down"
    } else {
        "up"
    };
    Question::new(
        text,
        format!("--score {} --direction {end}", shell_word(&column.name)),
    )
}
