//! An arm as pages name it: the dot of its colour, its name, and where the name leads.

use crate::render::words;
use crate::views::{Arm, SuiteBoard};

use super::plan::{Plan, SuitePlace};
use super::shell::Text;

/// An arm's name on a page.
#[derive(Clone, Debug)]
pub(super) struct ArmName {
    pub label: Text,
    /// The class that colours its marks.
    pub tone: &'static str,
    /// The arm's own page.
    pub href: Option<String>,
    /// The arm as addresses have it, by which two rows are ticked; empty where the name leads nowhere.
    pub segment: String,
}

/// Names the arms of a suite's board by the shortest names that tell them apart.
pub(super) fn of_board(board: &SuiteBoard, place: &SuitePlace) -> impl Fn(&Arm) -> ArmName {
    let name = words::names_on(board);
    move |arm| {
        let label = Text::from(name(arm));
        let label = if label.is_blank() { Text::new("(no name)") } else { label };
        ArmName { label, tone: tone(place.colour(arm)), href: None, segment: String::new() }
    }
}

/// The same, each leading to the arm's own page from a page with this way to the site's root.
pub(super) fn linked(board: &SuiteBoard, place: &SuitePlace, plan: &Plan, root: &str) -> impl Fn(&Arm) -> ArmName {
    let name = of_board(board, place);
    move |arm| ArmName { href: Some(plan.arm_href(root, arm)), segment: plan.arms.segment(arm), ..name(arm) }
}

/// The class of a colour; neutral without one.
pub(super) fn tone(colour: Option<u8>) -> &'static str {
    colour.and_then(|colour| ["a0", "a1", "a2", "a3", "a4", "a5"].get(usize::from(colour)).copied()).unwrap_or("an")
}
