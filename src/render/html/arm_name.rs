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
        let label = if label.is_blank() {
            Text::new("(no name)")
        } else {
            label
        };
        ArmName {
            label,
            tone: place.tone(arm),
            href: None,
            segment: String::new(),
        }
    }
}

/// Names the arms like [`of_board`], with links to their pages. `root` is the relative path to the site's root.
pub(super) fn linked(
    board: &SuiteBoard,
    place: &SuitePlace,
    plan: &Plan,
    root: &str,
) -> impl Fn(&Arm) -> ArmName {
    let name = of_board(board, place);
    move |arm| ArmName {
        href: Some(plan.arm_href(root, arm)),
        segment: plan.arms.segment(arm),
        ..name(arm)
    }
}
