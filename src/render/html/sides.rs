//! Both arms' answers to items with different outcomes, side by side and compared word by word.

use crate::domain::beginning;
use crate::render::run_title::run_turn;
use crate::render::{format, words};
use crate::views::{Comparison, ListedItem, MOST_SIDES, Side};

use super::diff::{Beside, Piece};
use super::grid::{Cell, Kind};
use super::link::ItemLink;
use super::plan::Plan;
use super::shell::{Text, escaped_length};

/// Maximum characters of one text. The data beside the page have more.
const MOST_OF_A_TEXT: usize = 1_200;
/// Maximum bytes of all texts together, escaped.
const MOST_OF_A_PAGE: usize = 60_000;

/// The items of a page, in its order.
pub(super) struct Sides {
    pub items: Vec<SidesOfItem>,
    pub notes: Vec<String>,
    /// The items' names, by position.
    places: Vec<ListedItem>,
}

pub(super) struct SidesOfItem {
    pub anchor: String,
    pub link: ItemLink,
    pub outcome: Text,
    pub expected: Option<Text>,
    pub note: Option<&'static str>,
    pub sides: Vec<OneSide>,
}

/// One arm's outcome and answer.
pub(super) struct OneSide {
    pub arm: Text,
    pub run: Text,
    pub href: Option<String>,
    pub transcript: Option<String>,
    pub status: (&'static str, &'static str, Text),
    pub answer: Option<Text>,
    /// Words that the other arm's answer lacks are marked.
    pub reply: Vec<Piece>,
    pub reason: Option<Text>,
    pub judge: Option<Text>,
    /// Label of the text for screen readers.
    pub about: Text,
}

impl Sides {
    /// Returns the anchor of an item, or `None` if it is not on the page.
    pub fn anchor(&self, item: &ListedItem) -> Option<String> {
        self.places
            .iter()
            .position(|known| known == item)
            .map(|place| format!("#{}", anchor(place)))
    }
}

fn anchor(place: usize) -> String {
    format!("side-{}", place + 1)
}

/// Lays a pair's items out, or returns `None` if the store has no texts of them.
pub(super) fn of_pair(
    pair: &Comparison,
    labels: &[String],
    plan: &Plan,
    root: &str,
    link: &dyn Fn(&ListedItem) -> ItemLink,
) -> Option<Sides> {
    if pair.sides.is_empty() {
        return None;
    }
    let mut sides = Sides {
        items: Vec::new(),
        notes: Vec::new(),
        places: Vec::new(),
    };
    let (mut bytes, mut is_cut) = (0, false);
    for (place, both) in pair.sides.iter().enumerate() {
        let arms = [&both.first, &both.second];
        is_cut |= arms
            .iter()
            .flat_map(|side| texts(side))
            .any(|text| text.chars().count() > MOST_OF_A_TEXT);
        let replies = arms.map(|side| side.reply.as_deref().map(short).unwrap_or_default());
        let beside = if replies.iter().any(String::is_empty) {
            Beside {
                first: Beside::alone(&replies[0]),
                second: Beside::alone(&replies[1]),
                note: None,
            }
        } else {
            Beside::of(&replies[0], &replies[1])
        };
        bytes += arms
            .iter()
            .flat_map(|side| texts(side))
            .map(|text| escaped_length(&short(text)))
            .sum::<usize>();
        bytes += 11
            * beside
                .first
                .iter()
                .chain(&beside.second)
                .filter(|piece| piece.is_own)
                .count();
        if bytes > MOST_OF_A_PAGE && !sides.items.is_empty() {
            break;
        }
        let passed = usize::from(both.first.status != "pass");
        let pieces = [beside.first, beside.second];
        let link = link(&both.item);
        sides.items.push(SidesOfItem {
            anchor: anchor(place),
            outcome: Text::from(if pair.flips.as_ref().is_some_and(|flips| flips.by_rate) {
                format!("{} did better", labels[passed])
            } else {
                format!("only {} passed", labels[passed])
            }),
            expected: (!both.expected.is_empty())
                .then(|| Text::from(short(&both.expected.join(" or ")))),
            note: beside.note,
            sides: arms
                .into_iter()
                .zip(labels)
                .zip(pieces)
                .map(|((side, label), reply)| one_side(side, label, reply, &link, plan, root))
                .collect(),
            link,
        });
        sides.places.push(both.item.clone());
    }
    sides.notes = notes(pair, sides.items.len(), is_cut);
    Some(sides)
}

fn one_side(
    side: &Side,
    label: &str,
    reply: Vec<Piece>,
    link: &ItemLink,
    plan: &Plan,
    root: &str,
) -> OneSide {
    let cell = Cell::item_status(&side.status);
    let (class, mark) = if let Kind::Status(class, mark) = cell.kind {
        (class, mark)
    } else {
        ("", "")
    };
    let text = |text: &Option<String>| text.as_deref().map(|text| Text::from(short(text)));
    OneSide {
        arm: Text::new(label),
        run: Text::from(
            plan.run_turn(&side.run)
                .map_or_else(|| side.run.clone(), run_turn),
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

fn texts(side: &Side) -> impl Iterator<Item = &String> {
    [&side.answer, &side.reply, &side.reason, &side.judge]
        .into_iter()
        .flatten()
}

/// Says which items or texts are not shown, and where they are.
fn notes(pair: &Comparison, shown: usize, is_cut: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let differing = pair
        .flips
        .as_ref()
        .map_or(0, |flips| flips.only_first + flips.only_second);
    if differing > shown as u64 {
        let shown = shown as u64;
        notes.push(format!(
            "Shown: {} of {}, the first of each kind, {MOST_SIDES} at most. The pages of runs and items have the others.",
            format::integer(shown),
            words::count_of(differing, "items"),
        ));
    }
    if pair.sides.len() > shown {
        let left = (pair.sides.len() - shown) as u64;
        notes.push(format!(
            "No room for {} more: the JSON file of this page has {}.",
            words::count_of(left, "items"),
            if left == 1 { "it" } else { "them" }
        ));
    }
    if is_cut {
        let most = format::integer(MOST_OF_A_TEXT as u64);
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

fn short(text: &str) -> String {
    beginning(text, MOST_OF_A_TEXT)
}
