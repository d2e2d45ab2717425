//! Both arms' answers to items with different outcomes, side by side and compared word by word.

use crate::domain::shorten_to;
use crate::render::run_title::run_ordinal;
use crate::render::{format, phrases};
use crate::views::{Comparison, ListedItem, MAX_SIDES, Side};

use super::diff::{DiffPiece, WordDiff};
use super::grid::{GridCell, GridCellKind};
use super::link::ItemLink;
use super::routes::SiteRoutes;
use super::shell::{Text, escaped_length};

/// Maximum characters of one text. The data beside the page have more.
const MAX_OF_A_TEXT: usize = 1_200;
/// Maximum bytes of all texts together, escaped.
const MAX_OF_A_PAGE: usize = 60_000;

/// The items of a page, in its order.
pub(super) struct AnswerPairs {
    pub items: Vec<ItemAnswerPair>,
    pub notes: Vec<String>,
    /// The items' names, by position.
    places: Vec<ListedItem>,
}

pub(super) struct ItemAnswerPair {
    pub anchor: String,
    pub link: ItemLink,
    pub outcome: Text,
    pub expected: Option<Text>,
    pub note: Option<&'static str>,
    pub sides: Vec<ArmAnswer>,
}

/// One arm's outcome and answer.
pub(super) struct ArmAnswer {
    pub arm: Text,
    pub run: Text,
    pub href: Option<String>,
    pub transcript: Option<String>,
    pub status: (&'static str, &'static str, Text),
    pub answer: Option<Text>,
    /// Words that the other arm's answer lacks are marked.
    pub reply: Vec<DiffPiece>,
    pub reason: Option<Text>,
    pub judge: Option<Text>,
    /// Label of the text for screen readers.
    pub about: Text,
}

impl AnswerPairs {
    /// Returns the anchor of an item, or `None` if it is not on the page.
    pub fn find_anchor(&self, item: &ListedItem) -> Option<String> {
        self.places
            .iter()
            .position(|known| known == item)
            .map(|place| format!("#{}", item_anchor(place)))
    }
}

fn item_anchor(place: usize) -> String {
    format!("side-{}", place + 1)
}

/// Lays a pair's items out, or returns `None` if the store has no texts of them.
pub(super) fn pair_answers(
    pair: &Comparison,
    labels: &[String],
    plan: &SiteRoutes,
    root: &str,
    link: &dyn Fn(&ListedItem) -> ItemLink,
) -> Option<AnswerPairs> {
    if pair.sides.is_empty() {
        return None;
    }
    let mut sides = AnswerPairs {
        items: Vec::new(),
        notes: Vec::new(),
        places: Vec::new(),
    };
    let (mut bytes, mut is_cut) = (0, false);
    for (place, both) in pair.sides.iter().enumerate() {
        let arms = [&both.first, &both.second];
        is_cut |= arms
            .iter()
            .flat_map(|side| list_texts(side))
            .any(|text| text.chars().count() > MAX_OF_A_TEXT);
        let replies = arms.map(|side| {
            side.reply
                .as_deref()
                .map(truncate_answer)
                .unwrap_or_default()
        });
        let beside = if replies.iter().any(String::is_empty) {
            WordDiff {
                first: WordDiff::unmarked_pieces(&replies[0]),
                second: WordDiff::unmarked_pieces(&replies[1]),
                note: None,
            }
        } else {
            WordDiff::from_texts(&replies[0], &replies[1])
        };
        bytes += arms
            .iter()
            .flat_map(|side| list_texts(side))
            .map(|text| escaped_length(&truncate_answer(text)))
            .sum::<usize>();
        bytes += 11
            * beside
                .first
                .iter()
                .chain(&beside.second)
                .filter(|piece| piece.is_own)
                .count();
        if bytes > MAX_OF_A_PAGE && !sides.items.is_empty() {
            break;
        }
        let passed = usize::from(both.first.status != "pass");
        let pieces = [beside.first, beside.second];
        let link = link(&both.item);
        sides.items.push(ItemAnswerPair {
            anchor: item_anchor(place),
            outcome: Text::from(if pair.flips.as_ref().is_some_and(|flips| flips.by_rate) {
                format!("{} did better", labels[passed])
            } else {
                format!("only {} passed", labels[passed])
            }),
            expected: (!both.expected.is_empty())
                .then(|| Text::from(truncate_answer(&both.expected.join(" or ")))),
            note: beside.note,
            sides: arms
                .into_iter()
                .zip(labels)
                .zip(pieces)
                .map(|((side, label), reply)| {
                    build_arm_answer(side, label, reply, &link, plan, root)
                })
                .collect(),
            link,
        });
        sides.places.push(both.item.clone());
    }
    sides.notes = list_notes(pair, sides.items.len(), is_cut);
    Some(sides)
}

fn build_arm_answer(
    side: &Side,
    label: &str,
    reply: Vec<DiffPiece>,
    link: &ItemLink,
    plan: &SiteRoutes,
    root: &str,
) -> ArmAnswer {
    let cell = GridCell::item_status(&side.status);
    let (class, mark) = if let GridCellKind::Status(class, mark) = cell.kind {
        (class, mark)
    } else {
        ("", "")
    };
    let text = |text: &Option<String>| {
        text.as_deref()
            .map(|text| Text::from(truncate_answer(text)))
    };
    ArmAnswer {
        arm: Text::new(label),
        run: Text::from(
            plan.run_turn(&side.run)
                .map_or_else(|| side.run.clone(), run_ordinal),
        ),
        href: plan.run_path(&side.run).map(|path| format!("{root}{path}")),
        transcript: side
            .transcript
            .as_ref()
            .zip(plan.run_segment(&side.run))
            .map(|(link, segment)| format!("{root}runs/{segment}/{link}")),
        status: (class, mark, cell.text),
        answer: text(&side.answer),
        reply,
        reason: text(&side.reason),
        judge: text(&side.judge),
        about: Text::from(format!("{label} on {}", link.name)),
    }
}

fn list_texts(side: &Side) -> impl Iterator<Item = &String> {
    [&side.answer, &side.reply, &side.reason, &side.judge]
        .into_iter()
        .flatten()
}

/// Says which items or texts are not shown, and where they are.
fn list_notes(pair: &Comparison, shown: usize, is_cut: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let differing = pair
        .flips
        .as_ref()
        .map_or(0, |flips| flips.only_first + flips.only_second);
    if differing > shown as u64 {
        let shown = shown as u64;
        notes.push(format!(
            "Shown: {} of {}, the first of each kind, {MAX_SIDES} at most. The pages of runs and items have the others.",
            format::format_integer(shown),
            phrases::count_with_noun(differing, "items"),
        ));
    }
    if pair.sides.len() > shown {
        let left = (pair.sides.len() - shown) as u64;
        notes.push(format!(
            "No room for {} more: the JSON file of this page has {}.",
            phrases::count_with_noun(left, "items"),
            if left == 1 { "it" } else { "them" }
        ));
    }
    if is_cut {
        let most = format::format_integer(MAX_OF_A_TEXT as u64);
        notes.push(format!(
            "Texts are cut after {most} characters; the runs' pages have the stored text."
        ));
    }
    if pair.arms.iter().any(|arm| arm.run_ids.len() > 1) {
        notes.push(
            "If an item has several attempts, the page shows a passed attempt of the better arm and a failed one of the other.".to_owned(),
        );
    }
    notes
}

fn truncate_answer(text: &str) -> String {
    shorten_to(text, MAX_OF_A_TEXT)
}
