//! Questions, answers and reasons for failures, as an index that the command palette loads in parts, one per suite.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::{escape_invisible, shorten_to};
use crate::render::reasons;
use crate::views::{ItemAnswers, OverviewSuite};

use super::SiteFile;
use super::items::item_href_at;
use super::matrix::item_name;
use super::routes::{SiteRoutes, SuiteRoutes};
use super::shard;

/// Maximum number of suites whose texts the palette loads, and maximum bytes of one suite's texts.
const MAX_SUITES: usize = 40;
const MAX_BYTES: usize = 400_000;
/// Maximum characters of a question, and of one answer or reason; maximum bytes of all texts of an item.
const MAX_ASKED: usize = 240;
const MAX_ANSWER_LENGTH: usize = 80;
const MAX_OF_AN_ITEM: usize = 600;

/// The file that the palette loads first: the addresses of the index's parts.
#[derive(Serialize)]
struct AnswerIndexParts {
    names: Vec<String>,
    said: Vec<String>,
}

/// Texts of one suite's items: name, address below the folder, text.
#[derive(Serialize)]
struct SuiteAnswerIndex<'a> {
    about: String,
    folder: String,
    items: Vec<(String, &'a str, String)>,
}

/// Lists the parts of the index; `names` are the search's own parts. The list's address never changes, so that pages need not be written
/// again when there are more parts.
pub(super) fn parts_file(plan: &SiteRoutes, names: &[String]) -> SiteFile {
    let said = plan
        .suites
        .iter()
        .filter(|place| place.items.count() > 0)
        .take(MAX_SUITES)
        .map(|place| shard::file_path(&file_stem(place), 0))
        .collect();
    shard::script_file(
        "palette",
        0,
        &AnswerIndexParts {
            names: names.to_vec(),
            said,
        },
    )
}

/// Makes the index of one suite, or returns `None` for a suite without items.
pub(super) fn suite_file(suite: &OverviewSuite, place: &SuiteRoutes) -> Option<SiteFile> {
    if suite.items.items.is_empty() {
        return None;
    }
    let folder = format!("suites/{}/i/", place.segment);
    let mut left = MAX_BYTES;
    let hrefs: Vec<String> = (0..suite.items.items.len())
        .map(|index| item_href_at(place, "", index))
        .collect();
    let mut items = Vec::new();
    for (line, href) in suite.items.items.iter().zip(&hrefs) {
        let Some(text) = suite
            .stories
            .get(&line.item, &line.kind)
            .map(join_texts)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let Some(rest) = left.checked_sub(text.len() + href.len() + 20) else {
            break;
        };
        left = rest;
        items.push((item_name(line).to_string(), href.as_str(), text));
    }
    Some(shard::script_file(
        &file_stem(place),
        0,
        &SuiteAnswerIndex {
            about: escape_invisible(&place.label),
            folder,
            items,
        },
    ))
}

/// Returns the stem of a suite's part. It does not depend on the suite's position.
fn file_stem(place: &SuiteRoutes) -> String {
    format!("said-{}", place.segment)
}

/// Joins the question, the answers and the reasons, each text once.
fn join_texts(story: &ItemAnswers) -> String {
    let mut parts = Vec::<String>::new();
    let mut known = BTreeSet::<String>::new();
    let (mut bytes, asked) = (
        0,
        story
            .asked
            .as_deref()
            .map(|text| shorten_to(text, MAX_ASKED)),
    );
    let notes = || story.notes.values().flatten();
    let reasons = notes()
        .filter_map(|note| note.reason.as_deref())
        .map(|reason| shorten_to(&reasons::reason_with_meaning(reason), MAX_ANSWER_LENGTH));
    let answers = notes()
        .filter_map(|note| note.answer.as_deref())
        .map(|answer| shorten_to(answer, MAX_ANSWER_LENGTH));
    for text in asked.into_iter().chain(reasons).chain(answers) {
        let text = escape_invisible(&text.split_whitespace().collect::<Vec<&str>>().join(" "));
        if text.is_empty() || bytes + text.len() > MAX_OF_AN_ITEM || !known.insert(text.clone()) {
            continue;
        }
        bytes += text.len();
        parts.push(text);
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::views::{Arm, ItemNote};

    #[test]
    fn a_text_is_told_once_and_in_bounds() {
        let note = |answer: &str| ItemNote {
            run: "r".to_owned(),
            status: "fail".to_owned(),
            answer: Some(answer.to_owned()),
            reason: Some("no  file\nfound".to_owned()),
            scores: std::collections::BTreeMap::new(),
            transcript: None,
            times: 1,
        };
        let arm = Arm {
            approach: "a".to_owned(),
            model: String::new(),
        };
        let mut notes: Vec<ItemNote> = (0..40)
            .map(|number| note(&format!("{number:080}")))
            .collect();
        notes.push(note("green"));
        let story = ItemAnswers {
            asked: Some("What colour?".to_owned()),
            notes: [(arm, notes)].into(),
            ..ItemAnswers::default()
        };
        let text = join_texts(&story);
        assert!(
            text.starts_with("What colour? · no file found · 000") && text.ends_with("green"),
            "{text}"
        );
        assert!(
            text.len() < 2 * MAX_OF_AN_ITEM && text.matches("no file").count() == 1,
            "{text}"
        );
    }
}
