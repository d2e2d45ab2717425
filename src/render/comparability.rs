//! Comparability in words: the grade, and the differences behind it.

use crate::domain::{Evaluator, score_label};
use crate::views::{
    Apart, Board, Comparability, Comparison, GateReport, Grade, Mismatch, MismatchKind,
    SharedItems, SuiteBoard, UnlikePairs,
};

use super::{format, phrases};

/// Name of the items' own evaluator in a mismatch. Other names there are metrics.
const EVALUATOR: &str = "evaluator";

/// Maximum number of pairs that a note names.
const MAX_PAIRS: usize = 3;

/// Maximum number of named groups of arms that are not compared.
const MAX_APART: usize = 5;

/// Lists the differences between two arms' measurements, without a full stop, or says that there are none.
pub fn list_differences(pair: &Comparability) -> String {
    let mut said: Vec<String> = pair
        .items
        .as_ref()
        .and_then(shared_items_note)
        .into_iter()
        .collect();
    said.extend(
        pair.mismatches
            .iter()
            .filter_map(|found| describe_mismatch(found, pair.items.as_ref())),
    );
    if said.is_empty() {
        "no known differences".to_owned()
    } else {
        said.join("; ")
    }
}

/// Lists each difference with its grade and meaning, worst first.
pub(super) fn graded_differences(pair: &Comparability) -> Vec<(&'static str, String)> {
    let line = |found: &Mismatch| {
        let said = describe_mismatch(found, pair.items.as_ref())
            .or_else(|| shared_items_note(pair.items.as_ref()?));
        let meaning = found.kind.describe();
        (
            grade_letter(found.grade),
            said.map_or_else(|| meaning.to_owned(), |said| format!("{said} ({meaning})")),
        )
    };
    pair.mismatches.iter().map(line).collect()
}

/// Says how many items are shared, or returns `None` if all are.
fn shared_items_note(items: &SharedItems) -> Option<String> {
    let shared = if items.shared == 0 {
        "none".to_owned()
    } else {
        format::format_integer(items.shared)
    };
    let all = format!(
        "{} {} shared",
        format::format_integer(items.of),
        phrases::singular_or_plural(items.of, "items")
    );
    (items.shared < items.of).then(|| format!("{shared} of {all}"))
}

/// Describes one difference, or returns `None` if the count of shared items covers it.
fn describe_mismatch(found: &Mismatch, items: Option<&SharedItems>) -> Option<String> {
    let differs = |what: &str| match (&found.first, &found.second) {
        (Some(first), Some(second)) => format!("different {what} ({first}, {second})"),
        (Some(_) | None, Some(_) | None) => format!("different {what}"),
    };
    let what = found.what.as_deref();
    Some(match found.kind {
        MismatchKind::Items | MismatchKind::FewItems | MismatchKind::NoItems => return None,
        MismatchKind::UnknownTexts => match items {
            Some(items) if items.unknown < items.shared => {
                format!(
                    "texts of {} items not recorded, so they may differ",
                    format::format_integer(items.unknown)
                )
            }
            Some(_) | None => "item texts not recorded, so they may differ".to_owned(),
        },
        MismatchKind::Independent => {
            "two samples on request, so chance has to have decided which arm an item went to"
                .to_owned()
        }
        MismatchKind::UnknownItems => format!(
            "only {} are known, not the items behind them",
            what.unwrap_or("counts")
        ),
        MismatchKind::UnknownSetting => {
            let said = |text: &Option<String>| text.clone().unwrap_or_default();
            format!(
                "{}: {}, {}",
                setting_name(what),
                said(&found.first),
                said(&found.second)
            )
        }
        MismatchKind::Revision => differs(&format!(
            "number of new judgements of {}",
            what.map_or("", score_label)
        )),
        MismatchKind::Texts => {
            let changed = items.map_or(0, |items| items.changed);
            format!(
                "{} changed {} text",
                format::format_integer(changed),
                if changed == 1 { "its" } else { "their" }
            )
        }
        MismatchKind::Templates => differs("chat template"),
        MismatchKind::Resources => differs(what.unwrap_or("resources")),
        MismatchKind::EffectOfResources => format!(
            "{}, which changes pass rates",
            differs(what.unwrap_or("resources"))
        ),
        MismatchKind::Attempts => differs("number of attempts"),
        MismatchKind::Prompts => match what {
            None => "different prompts".to_owned(),
            Some(what) => differs(what),
        },
        MismatchKind::Judge => match what {
            None => differs("judge"),
            Some(EVALUATOR) => differs(EVALUATOR),
            Some(metric) => {
                let is_judged = Evaluator::from_name(metric).is_some_and(Evaluator::is_judged);
                differs(&format!(
                    "{} of {}",
                    if is_judged { "judge" } else { "evaluator" },
                    score_label(metric)
                ))
            }
        },
        MismatchKind::Shots => differs("n-shot"),
        MismatchKind::Limit => differs(what.unwrap_or("limit")),
        MismatchKind::SuiteVersion => {
            let short = |version: &Option<String>| {
                // A baseline may have several.
                let each = version.as_deref().unwrap_or("unknown").split(" and ");
                phrases::join_list(&each.map(phrases::short_version).collect::<Vec<_>>())
            };
            format!(
                "different suite version ({}, {})",
                short(&found.first),
                short(&found.second)
            )
        }
        MismatchKind::Source => differs("source"),
        MismatchKind::Totals | MismatchKind::NearTotals => differs("number of items"),
    })
}

/// Returns a setting's name for a sentence.
fn setting_name(what: Option<&str>) -> &str {
    match what {
        Some("n_shot") => "n-shot",
        Some(what) => what,
        None => "a setting",
    }
}

/// Formats the grade with the differences: `C: 298 of 300 items shared; 2 changed their text`.
pub fn grade_with_differences(pair: &Comparability) -> String {
    format!("{}: {}", grade_letter(pair.grade), list_differences(pair))
}

pub fn grade_letter(grade: Grade) -> &'static str {
    match grade {
        Grade::A => "A",
        Grade::B => "B",
        Grade::C => "C",
        Grade::D => "D",
        Grade::E => "E",
        Grade::F => "F",
    }
}

/// Returns the differences of the first two arms that a comparison refuses to compare.
pub(super) fn refusal_reason(comparison: &Comparison) -> Option<String> {
    comparison
        .comparability
        .iter()
        .find(|pair| pair.is_refused())
        .map(list_differences)
}

/// Returns the note below a comparison about pairs that were measured differently enough to doubt their difference.
pub(super) fn warning_note(comparison: &Comparison, labels: &[String]) -> Option<String> {
    let notes: Vec<String> = graded_pairs(comparison)
        .iter()
        .filter(|pairs| pairs.is_warning())
        .map(|pairs| pairs.sentence(comparison, labels))
        .collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}

/// Returns the grades of all other pairs.
pub(super) fn grade_details(comparison: &Comparison, labels: &[String]) -> Vec<String> {
    graded_pairs(comparison)
        .iter()
        .filter(|pairs| !pairs.is_warning())
        .map(|pairs| pairs.sentence(comparison, labels))
        .collect()
}

/// Pairs of one grade for one reason.
struct GradedPairs<'a> {
    grade: Grade,
    reason: String,
    pairs: Vec<&'a Comparability>,
}

/// Returns a comparison's pairs by grade and reason, the worst first.
fn graded_pairs(comparison: &Comparison) -> Vec<GradedPairs<'_>> {
    let mut groups: Vec<GradedPairs<'_>> = Vec::new();
    for grade in [Grade::F, Grade::E, Grade::D, Grade::C, Grade::B, Grade::A] {
        for pair in comparison
            .comparability
            .iter()
            .filter(|pair| pair.grade == grade)
        {
            let reason = list_differences(pair);
            match groups
                .iter_mut()
                .find(|group| (group.grade, &group.reason) == (grade, &reason))
            {
                Some(group) => group.pairs.push(pair),
                None => groups.push(GradedPairs {
                    grade,
                    reason,
                    pairs: vec![pair],
                }),
            }
        }
    }
    groups
}

impl GradedPairs<'_> {
    /// Returns whether a reader has to know this: grade C or worse, or an assumption that the reader's own option makes.
    fn is_warning(&self) -> bool {
        let is_assumed = |pair: &&Comparability| {
            pair.mismatches
                .iter()
                .any(|found| found.kind == MismatchKind::Independent)
        };
        self.grade >= Grade::C || self.pairs.iter().any(is_assumed)
    }

    /// Says the grade and the reason once, and which pairs have it: `Comparability C of a and b: 298 of 300 items shared.`
    fn sentence(&self, comparison: &Comparison, labels: &[String]) -> String {
        let grade = grade_letter(self.grade);
        let of = if comparison.arms.len() == 2 {
            String::new()
        } else if self.pairs.len() == comparison.comparability.len() {
            " of all pairs".to_owned()
        } else if self.pairs.len() > MAX_PAIRS {
            format!(
                " of {} of {}",
                format::format_integer(self.pairs.len() as u64),
                phrases::count_with_noun(comparison.comparability.len() as u64, "pairs")
            )
        } else {
            let named: Vec<String> = self
                .pairs
                .iter()
                .map(|pair| format!("{} and {}", labels[pair.first], labels[pair.second]))
                .collect();
            format!(" of {}", named.join(", "))
        };
        format!("Comparability {grade}{of}: {}.", self.reason)
    }
}

/// Warns if some arms of a board were measured differently.
pub(super) fn board_note(board: &SuiteBoard) -> Option<String> {
    let UnlikePairs {
        pairs,
        of,
        worst,
        mismatches,
    } = board.unlike.as_ref()?;
    let what: Vec<String> = mismatches
        .iter()
        .filter_map(|found| match found.kind {
            MismatchKind::FewItems => {
                Some("fewer than nine tenths of the items are shared".to_owned())
            }
            MismatchKind::NoItems => Some("no item is shared".to_owned()),
            MismatchKind::Items => Some("not all items are shared".to_owned()),
            MismatchKind::Texts => Some("items changed their text".to_owned()),
            _ => describe_mismatch(found, None),
        })
        .collect();
    let letters = if *worst == Grade::C {
        "C".to_owned()
    } else {
        format!("C to {}", grade_letter(*worst))
    };
    Some(format!(
        "Comparability: {} of {} {} grade {letters}: {}.",
        format::format_integer(*pairs),
        phrases::count_with_noun(*of, "pairs"),
        if *pairs == 1 { "has" } else { "have" },
        what.join("; ")
    ))
}

/// Lists arms that are in no common table.
pub fn apart_notes(apart: &[Apart]) -> Vec<String> {
    let mut notes: Vec<String> = apart
        .iter()
        .take(MAX_APART)
        .map(|pair| format!("{}.", apart_sentence(pair)))
        .collect();
    let more = apart.len() - notes.len();
    if more > 0 {
        notes.push(format!(
            "{} more groups of arms not compared; --format json has them.",
            format::format_integer(more as u64)
        ));
    }
    notes
}

fn apart_sentence(pair: &Apart) -> String {
    let named = |arms: &[crate::views::Arm]| {
        phrases::join_list(
            &arms
                .iter()
                .map(|arm| phrases::arm_name(&pair.suite, arm))
                .collect::<Vec<_>>(),
        )
    };
    let why: Vec<String> = pair
        .mismatches
        .iter()
        .filter_map(|found| describe_mismatch(found, None))
        .collect();
    let (first, second) = (named(&pair.first), named(&pair.second));
    format!(
        "Not compared on {}: {first} with {second} (grade {}: {})",
        pair.suite,
        grade_letter(pair.grade),
        why.join("; ")
    )
}

/// Lists everything that a strict comparison refuses, one line each.
pub fn list_refusals(comparisons: &[Comparison], apart: &[Apart]) -> Vec<String> {
    let of_tables = comparisons.iter().flat_map(|comparison| {
        let names: Vec<String> = phrases::comparison_labels(comparison);
        let refused = comparison
            .comparability
            .iter()
            .filter(|pair| pair.is_refused());
        refused
            .map(move |pair| {
                format!(
                    "{}: {} and {}: grade {}",
                    comparison.suite,
                    names[pair.first],
                    names[pair.second],
                    grade_with_differences(pair)
                )
            })
            .collect::<Vec<_>>()
    });
    of_tables.chain(apart.iter().map(apart_sentence)).collect()
}

/// Lists what a strict board refuses, one line per suite.
pub fn board_refusals(board: &Board) -> Vec<String> {
    board
        .suites
        .iter()
        .filter_map(|suite| Some(format!("{}: {}", suite.suite, board_note(suite)?)))
        .collect()
}

/// Lists comparisons that a strict gate refuses, one line per arm.
pub fn gate_notes(report: &GateReport) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for check in &report.checks {
        if let Some(pair) = check
            .comparability
            .as_ref()
            .filter(|pair| pair.is_refused())
        {
            let note = format!(
                "{} and its baseline: comparability {}",
                phrases::arm_on_suite(&check.suite, &check.arm),
                grade_with_differences(pair)
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: MismatchKind, what: Option<&str>, ends: Option<(&str, &str)>) -> Mismatch {
        let grade = kind.grade();
        let (first, second) = ends
            .map(|(first, second)| (first.to_owned(), second.to_owned()))
            .unzip();
        Mismatch {
            kind,
            grade,
            what: what.map(str::to_owned),
            first,
            second,
        }
    }

    #[test]
    fn what_differs_is_said_with_its_numbers() {
        let check =
            |items: Option<(u64, u64, u64, u64)>, mismatches: &[Mismatch], expected: &str| {
                let items = items.map(|(shared, of, changed, unknown)| SharedItems {
                    shared,
                    of,
                    changed,
                    unknown,
                });
                let pair = Comparability {
                    first: 0,
                    second: 1,
                    grade: crate::views::worst_grade(mismatches),
                    items,
                    mismatches: mismatches.to_vec(),
                    changed_items: Vec::new(),
                };
                assert_eq!(grade_with_differences(&pair), expected);
            };
        check(Some((300, 300, 0, 0)), &[], "A: no known differences");
        check(
            Some((298, 300, 2, 0)),
            &[
                found(MismatchKind::Judge, None, Some(("gpt-4o", "gpt-5"))),
                found(MismatchKind::Texts, None, None),
            ],
            "D: 298 of 300 items shared; different judge (gpt-4o, gpt-5); 2 changed their text",
        );
        check(
            Some((4, 4, 0, 4)),
            &[
                found(MismatchKind::UnknownTexts, None, None),
                found(
                    MismatchKind::UnknownSetting,
                    Some("n_shot"),
                    Some(("5", "not stated")),
                ),
            ],
            "B: item texts not recorded, so they may differ; n-shot: 5, not stated",
        );
        check(
            Some((0, 7, 0, 0)),
            &[found(MismatchKind::NoItems, None, None)],
            "F: none of 7 items shared",
        );
        check(
            None,
            &[found(MismatchKind::Totals, None, Some(("48", "50")))],
            "E: different number of items (48, 50)",
        );
        check(
            Some((1, 1, 0, 0)),
            &[found(
                MismatchKind::Limit,
                Some("time limit"),
                Some(("60", "none")),
            )],
            "D: different time limit (60, none)",
        );
    }
}
