//! An arm's name on pages, with the dot of its colour and a link.

use crate::render::words;
use crate::views::{Arm, SuiteBoard};

use super::plan::{Plan, SuitePlace};
use super::shell::Text;

/// An arm's name on a page.
#[derive(Clone, Debug)]
pub(super) struct ArmName {
    pub label: Text,
    /// CSS class that colours its marks.
    pub tone: &'static str,
    /// Address of the arm's own page.
    pub href: Option<String>,
    /// The arm's part of addresses, by which two rows are ticked. Empty without a link.
    pub segment: String,
}

/// Names the arms of a suite's board by their shortest distinct names.
pub(super) fn of_board(board: &SuiteBoard, place: &SuitePlace) -> impl Fn(&Arm) -> ArmName {
    let name = words::names_on(board);
    move |arm| {
        let label = Text::from(name(arm));
        let label = if label.is_blank() { Text::new("(no name)") } else { label };
        ArmName { label, tone: tone(place.colour(arm)), href: None, segment: String::new() }
    }
}

/// Names the arms like [`of_board`], with links to their pages. `root` is the relative path to the site's root.
pub(super) fn linked(board: &SuiteBoard, place: &SuitePlace, plan: &Plan, root: &str) -> impl Fn(&Arm) -> ArmName {
    let name = of_board(board, place);
    move |arm| ArmName { href: Some(plan.arm_href(root, arm)), segment: plan.arms.segment(arm), ..name(arm) }
}

/// Returns the CSS class of a colour, or the neutral class for `None`.
pub(super) fn tone(colour: Option<u8>) -> &'static str {
    colour.and_then(|colour| ["a0", "a1", "a2", "a3", "a4", "a5"].get(usize::from(colour)).copied()).unwrap_or("an")
}
