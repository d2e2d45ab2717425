//! Finds the columns that tell the items' outcomes in a table.

use crate::domain::{ItemStatus, shell_word};

use super::draft::list;
use super::ended::{is_ended, says_no_more_than_ended, unless};
use super::look::{Look, Question, names, text};
use super::polarity::is_exit_code;
use super::statuses::status;
use super::summary::{Column, Kind, Yes};
use super::verdict::{is_of_pair, is_plain, verdict};
use super::words::{Role, own_name, words_of};

/// Longest answer that is judged by equality. Longer ones need a better judgement.
const LONGEST_ANSWER: usize = 40;

/// How an item's pass is known.
pub(super) enum Judged<'l> {
    By(&'l Column),
    Equal(&'l Column, &'l Column),
    Score(&'l Column),
}

/// The columns that tell items' outcomes, and how their attempts ended.
pub(super) struct Judgement<'l> {
    pub by: Judged<'l>,
    pub ended: Option<&'l Column>,
}

impl<'l> Judgement<'l> {
    pub fn columns(&self) -> Vec<&'l Column> {
        let by = match &self.by {
            Judged::By(column) | Judged::Score(column) => vec![*column],
            Judged::Equal(expected, given) => vec![*expected, *given],
        };
        by.into_iter().chain(self.ended).collect()
    }

    /// Writes the status of an item, or returns `None` if only a score is known.
    pub fn status(&self, look: &Look<'_>) -> Result<Option<String>, Question> {
        let form = match &self.by {
            Judged::By(column) => status(look, column)?,
            Judged::Equal(expected, given) => {
                format!("equal: {}", list([&expected.name, &given.name]))
            }
            Judged::Score(_) => return Ok(None),
        };
        let unless = match self.ended {
            Some(column) => unless(look, column)?,
            None => None,
        };
        Ok(Some(format!(
            "{{{}}}",
            std::iter::once(form)
                .chain(unless)
                .collect::<Vec<_>>()
                .join(", ")
        )))
    }

    /// Returns notes on columns that are read in another way than their first look suggests.
    pub fn notes(&self) -> Vec<String> {
        let inverted = match self.by {
            Judged::By(column) if is_exit_code(&column.name) => Some(format!(
                "`{}` 0 is read as a pass, any other as a fail",
                column.name
            )),
            Judged::By(column) if column.yes() == Yes::Failed => Some(format!(
                "`{}` names what failed: yes is read as a fail",
                column.name
            )),
            _ => None,
        };
        inverted.into_iter().chain(self.note_of_ending()).collect()
    }

    fn note_of_ending(&self) -> Option<String> {
        let name = &self.ended?.name;
        Some(match self.by {
            Judged::Score(_) => {
                format!(
                    "`{name}` says how attempts ended, which a score without a pass rate does not show: it is not read"
                )
            }
            Judged::By(_) | Judged::Equal(..) => {
                format!("`{name}` says how attempts ended, and not whether they passed")
            }
        })
    }
}

/// Finds the columns that tell items' outcomes.
pub(super) fn judged<'l>(look: &'l Look<'_>) -> Result<Option<Judgement<'l>>, Question> {
    let endings: Vec<&Column> = look
        .summary
        .columns
        .iter()
        .filter(|column| is_ended(column))
        .collect();
    let beside = |by: Judged<'l>| {
        let mut found = Judgement { by, ended: None };
        let judges = found.columns();
        found.ended = endings
            .iter()
            .copied()
            .find(|column| !column.is_among(&judges));
        found
    };
    if let Some(column) = look.hinted(look.hints.passed.as_ref(), "--passed COLUMN")? {
        return Ok(Some(beside(Judged::By(column))));
    }
    if let Some(column) = look.attempts.as_ref().and_then(|name| look.named(name)) {
        return Ok(Some(beside(Judged::By(column))));
    }
    if let Some(column) = look.hinted(look.hints.score.as_ref(), "--score COLUMN")? {
        return Ok(Some(beside(Judged::Score(column))));
    }
    check_pairs(look)?;
    let grade = grade(look, &|column| {
        (!column.name.starts_with("$.") || is_key_of_outcomes(column)) && !column.is_among(&endings)
    })?;
    let varies = |column: &Column| {
        column
            .numbers()
            .is_some_and(|numbers| numbers.least < numbers.most)
    };
    // The exit codes of programs, if no column grades the answers or says how attempts ended.
    let is_exit = |column: &&Column| {
        is_exit_code(&column.name) && (column.is_outcomes() || column.numbers().is_some())
    };
    let by_exit = || {
        look.summary
            .columns
            .iter()
            .find(|column| endings.is_empty() && is_exit(column))
    };
    let grade = grade.or_else(|| by_exit().map(Judged::By));
    let Some(ended) = endings.first() else {
        if let Some(Judged::By(column)) = &grade {
            check_verdict(look, column, varies)?;
        }
        return Ok(grade.map(beside));
    };
    match grade {
        Some(Judged::Score(column))
            if column.clarity(Role::Score).max(column.clarity(Role::Rate)) < 2 =>
        {
            let text = format!(
                "`{}` says how attempts ended, and `{}` may say how good they were",
                ended.name, column.name
            );
            Err(Question::new(
                text,
                format!(
                    "--passed {} (or --score {})",
                    shell_word(&ended.name),
                    shell_word(&column.name)
                ),
            ))
        }
        Some(Judged::Score(column)) if !varies(column) => judged_by_end(look, ended).map(Some),
        Some(grade) => Ok(Some(beside(grade))),
        None => judged_by_end(look, ended).map(Some),
    }
}

/// Returns whether the column is the key above lists of items, such as `passed` and `failed`.
fn is_key_of_outcomes(column: &Column) -> bool {
    column.name.starts_with("$.")
        && column.name.ends_with("{}")
        && column.is_outcomes()
        && column.values.keys().all(|text| is_plain(text))
}

/// Without a grade, the ending may be all there is. It can mean a pass only if the column has words for good and bad endings.
fn judged_by_end<'l>(look: &Look<'_>, ended: &'l Column) -> Result<Judgement<'l>, Question> {
    let is_told = ended
        .values
        .keys()
        .any(|text| look.hints.values.contains_key(text));
    if !is_told && (says_no_more_than_ended(ended) || ended.values.len() == 1) {
        let text = format!(
            "`{}` says how attempts ended, and no column says whether they passed",
            ended.name
        );
        return Err(Question::new(
            text,
            format!(
                "--passed {} (which counts each good end as a pass; or --passed COLUMN, or --score COLUMN)",
                shell_word(&ended.name)
            ),
        ));
    }
    Ok(Judgement {
        by: Judged::By(ended),
        ended: None,
    })
}

/// Asks if a verdict may not be one: it is equal for all items, or only tells that attempts ended, while a score varies.
fn check_verdict(
    look: &Look<'_>,
    column: &Column,
    varies: impl Fn(&Column) -> bool,
) -> Result<(), Question> {
    let only_passes = column
        .values
        .keys()
        .all(|text| column.says(text) == Some(ItemStatus::Pass));
    let scores = look.best(Role::Score, 2, |score| {
        score.name != column.name && !score.name.starts_with("$.") && varies(score)
    });
    if let Some(score) = scores.first()
        && (only_passes || says_no_more_than_ended(column))
    {
        let why = if only_passes {
            "is the same in every row"
        } else {
            "may say no more than that an attempt ended"
        };
        let text = format!("`{}` {why}, and `{}` varies", column.name, score.name);
        return Err(Question::new(
            text,
            format!(
                "--passed {} (or --score {})",
                shell_word(&column.name),
                shell_word(&score.name)
            ),
        ));
    }
    if column.values.keys().any(|text| is_of_pair(text)) {
        let text = format!(
            "`{}` has wins and losses against another answer, which are no outcomes of one answer",
            column.name
        );
        return Err(Question::new(
            text,
            format!("--passed {}", shell_word(&column.name)),
        ));
    }
    Ok(())
}

/// Asks if each row compares two answers, such as `model_a` and `model_b`.
fn check_pairs(look: &Look<'_>) -> Result<(), Question> {
    const SIDES: [(&str, &str); 6] = [
        ("a", "b"),
        ("1", "2"),
        ("left", "right"),
        ("first", "second"),
        ("chosen", "rejected"),
        ("x", "y"),
    ];
    let parts = |column: &Column| words_of(&column.name);
    for first in look.summary.columns.iter().filter(|column| {
        column
            .clarity(Role::Model)
            .max(column.clarity(Role::Approach))
            > 0
    }) {
        for (one, other) in SIDES {
            let words = parts(first);
            let Some(place) = words.iter().position(|word| word == one) else {
                continue;
            };
            let mut opposite = words.clone();
            other.clone_into(&mut opposite[place]);
            if words.len() > 1
                && let Some(second) = look
                    .summary
                    .columns
                    .iter()
                    .find(|column| parts(column) == opposite)
            {
                let text = format!(
                    "each row compares `{}` with `{}`, and is no outcome of one answer; `evalreport fit preferences` makes a board of votes",
                    first.name, second.name
                );
                return Err(Question::new(text, "--passed COLUMN (or --score COLUMN)"));
            }
        }
    }
    Ok(())
}

/// Finds the column that tells how good the answers were, among the allowed ones.
fn grade<'l>(
    look: &'l Look<'_>,
    may_grade: &dyn Fn(&Column) -> bool,
) -> Result<Option<Judged<'l>>, Question> {
    let may_judge = |column: &Column| {
        may_grade(column) && (column.is_outcomes() || is_nearly_outcomes(column, look))
    };
    let is_grade = |column: &Column| may_grade(column) && column.is_outcomes();
    let clear = [
        look.best(Role::Passed, 2, may_judge),
        look.best(Role::Failed, 2, is_grade),
        look.best(Role::Passed, 1, is_grade),
    ];
    let found = clear
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    if let Some(column) = one_of(look, &found)? {
        return Ok(Some(Judged::By(column)));
    }
    if let Some((expected, given)) = compared(look) {
        let is_same = |row: &&&Vec<Option<String>>| {
            text(row, expected).is_some() && text(row, expected) == text(row, given)
        };
        let same = look.rows.iter().filter(is_same).count();
        if same > 0 && expected.longest.max(given.longest) <= LONGEST_ANSWER {
            return Ok(Some(Judged::Equal(expected, given)));
        }
    }
    let plain: Vec<&Column> = look
        .summary
        .columns
        .iter()
        .filter(|column| is_grade(column) && column.values.keys().any(|text| is_plain(text)))
        .collect();
    if plain.len() == 1 {
        return Ok(Some(Judged::By(plain[0])));
    }
    let is_score = |column: &Column| {
        may_grade(column) && (column.figures().is_some() || column.kind == Kind::Fractions)
    };
    let scores = look.best(Role::Score, 1, is_score);
    if let Some(score) = headline(look, &scores)? {
        return Ok(Some(Judged::Score(score)));
    }
    // A column `result` in percent or as `8/10` is a score.
    let is_share = |column: &Column| {
        may_grade(column)
            && (column.kind == Kind::Fractions
                || column.numbers().is_some_and(|numbers| numbers.has_percent))
    };
    Ok(look
        .best(Role::Passed, 2, is_share)
        .first()
        .copied()
        .map(Judged::Score))
}

/// Returns the score that sums up the others, or the only one. Asks if there are several.
fn headline<'l>(look: &Look<'_>, scores: &[&'l Column]) -> Result<Option<&'l Column>, Question> {
    #[rustfmt::skip]
    const GENERAL: [&str; 20] = [
        "score", "total", "overall", "average", "mean", "final", "points", "reward", "grade", "mark", "rating", "punktzahl", "punkte", "bewertung", "wertung", "puntuacion", "punteggio", "nota",
        "note", "brier",
    ];
    let is_general = |column: &&&Column| {
        words_of(&own_name(&column.name))
            .iter()
            .all(|word| GENERAL.contains(&word.as_str()))
    };
    let (general, [first, second, ..]) =
        (scores.iter().filter(is_general).collect::<Vec<_>>(), scores)
    else {
        return Ok(scores.first().copied());
    };
    if let [one] = general.as_slice() {
        return Ok(Some(one));
    }
    let are_equal = look.rows.iter().all(|row| {
        scores
            .iter()
            .all(|score| text(row, score) == text(row, first))
    });
    if are_equal {
        return Ok(Some(first));
    }
    let text = format!(
        "`{}` and `{}` may each be the score, and they differ",
        first.name, second.name
    );
    Err(Question::new(
        text,
        format!(
            "--score {} (or another one; the others are kept beside it)",
            shell_word(&first.name)
        ),
    ))
}

/// Returns whether most of a column's words are known outcomes, besides a few unknown ones.
fn is_nearly_outcomes(column: &Column, look: &Look<'_>) -> bool {
    const MOST_WORDS: usize = 12;
    let is_known =
        |text: &&String| verdict(text).is_some() || look.hints.values.contains_key(*text);
    let known: usize = column
        .values
        .iter()
        .filter(|(text, _)| is_known(text))
        .map(|(_, count)| count)
        .sum();
    column.kind == Kind::Text && column.values.len() <= MOST_WORDS && known * 2 > column.filled
}

/// Returns the first of several columns. Asks if they disagree.
fn one_of<'l>(look: &Look<'_>, found: &[&'l Column]) -> Result<Option<&'l Column>, Question> {
    let [first, rest @ ..] = found else {
        return Ok(None);
    };
    for other in rest {
        let says = |row: &Vec<Option<String>>, column: &Column| {
            row[column.place]
                .as_deref()
                .and_then(|text| column.says(text))
                == Some(ItemStatus::Pass)
        };
        if look
            .rows
            .iter()
            .any(|row| says(row, first) != says(row, other))
        {
            let text = format!(
                "{} could each be the outcome, and they differ",
                names(found)
            );
            return Err(Question::new(
                text,
                format!("--passed {}", shell_word(&first.name)),
            ));
        }
    }
    Ok(Some(first))
}

/// Returns the expected answer's column and the given answer's.
pub(super) fn compared<'l>(look: &'l Look<'_>) -> Option<(&'l Column, &'l Column)> {
    let may = |column: &Column| column.may_name() || column.numbers().is_some();
    let expected = look.best(Role::Expected, 2, |column| {
        may(column) && column.clarity(Role::Answer) == 0
    });
    let given = look.best(Role::Answer, 2, |column| {
        may(column) && column.clarity(Role::Expected) == 0
    });
    let either = look.best(Role::Answer, 2, |column| {
        may(column) && column.clarity(Role::Expected) > 0
    });
    match (expected.first(), given.first(), either.first()) {
        (Some(expected), Some(given), _)
        | (Some(expected), None, Some(given))
        | (None, Some(given), Some(expected)) => Some((expected, given)),
        _ => None,
    }
}
