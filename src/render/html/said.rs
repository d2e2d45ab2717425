//! Questions, answers and reasons for failures, as an index that the command palette loads in parts, one per suite.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::domain::{beginning, visible};
use crate::render::reasons;
use crate::views::{ItemStory, OverviewSuite};

use super::SiteFile;
use super::items::item_href_at;
use super::matrix::name;
use super::plan::{Plan, SuitePlace};
use super::shard;

/// Maximum number of suites whose texts the palette loads, and maximum bytes of one suite's texts.
const MOST_SUITES: usize = 40;
const MOST_BYTES: usize = 400_000;
/// Maximum characters of a question, and of one answer or reason; maximum bytes of all texts of an item.
const LONGEST_ASKED: usize = 240;
const LONGEST: usize = 80;
const MOST_OF_AN_ITEM: usize = 600;

/// The file that the palette loads first: the addresses of the index's parts.
#[derive(Serialize)]
struct Parts {
    names: Vec<String>,
    said: Vec<String>,
}

/// Texts of one suite's items: name, address below the folder, text.
#[derive(Serialize)]
struct Said<'a> {
    about: String,
    folder: String,
    items: Vec<(String, &'a str, String)>,
}

/// Lists the parts of the index; `names` are the search's own parts. The list's address never changes, so that pages need not be written
/// again when there are more parts.
pub(super) fn parts(plan: &Plan, names: &[String]) -> SiteFile {
    let said = plan
        .suites
        .iter()
        .filter(|place| place.items.count() > 0)
        .take(MOST_SUITES)
        .map(|place| shard::path(&stem(place), 0))
        .collect();
    shard::file(
        "palette",
        0,
        &Parts {
            names: names.to_vec(),
            said,
        },
    )
}

/// Makes the index of one suite, or returns `None` for a suite without items.
pub(super) fn of_suite(suite: &OverviewSuite, place: &SuitePlace) -> Option<SiteFile> {
    if suite.items.items.is_empty() {
        return None;
    }
    let folder = format!("suites/{}/i/", place.segment);
    let mut left = MOST_BYTES;
    let hrefs: Vec<String> = (0..suite.items.items.len())
        .map(|index| item_href_at(place, "", index))
        .collect();
    let mut items = Vec::new();
    for (line, href) in suite.items.items.iter().zip(&hrefs) {
        let Some(text) = suite
            .stories
            .of(&line.item, &line.kind)
            .map(told)
            .filter(|text| !text.is_empty())
        else {
            continue;
        };
        let Some(rest) = left.checked_sub(text.len() + href.len() + 20) else {
            break;
        };
        left = rest;
        items.push((name(line).to_string(), href.as_str(), text));
    }
    Some(shard::file(
        &stem(place),
        0,
        &Said {
            about: visible(&place.label),
            folder,
            items,
        },
    ))
}

/// Returns the stem of a suite's part. It does not depend on the suite's position.
fn stem(place: &SuitePlace) -> String {
    format!("said-{}", place.segment)
}

/// Joins the question, the answers and the reasons, each text once.
fn told(story: &ItemStory) -> String {
    let mut parts = Vec::<String>::new();
    let mut known = BTreeSet::<String>::new();
    let (mut bytes, asked) = (
        0,
        story
            .asked
            .as_deref()
            .map(|text| beginning(text, LONGEST_ASKED)),
    );
    let notes = || story.notes.values().flatten();
    let reasons = notes()
        .filter_map(|note| note.reason.as_deref())
        .map(|reason| beginning(&reasons::words(reason), LONGEST));
    let answers = notes()
        .filter_map(|note| note.answer.as_deref())
        .map(|answer| beginning(answer, LONGEST));
    for text in asked.into_iter().chain(reasons).chain(answers) {
        let text = visible(&text.split_whitespace().collect::<Vec<&str>>().join(" "));
        if text.is_empty() || bytes + text.len() > MOST_OF_AN_ITEM || !known.insert(text.clone()) {
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
        let story = ItemStory {
            asked: Some("What colour?".to_owned()),
            notes: [(arm, notes)].into(),
            ..ItemStory::default()
        };
        let text = told(&story);
        assert!(
            text.starts_with("What colour? · no file found · 000") && text.ends_with("green"),
            "{text}"
        );
        assert!(
            text.len() < 2 * MOST_OF_AN_ITEM && text.matches("no file").count() == 1,
            "{text}"
        );
    }
}
