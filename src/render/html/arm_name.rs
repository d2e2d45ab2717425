//! An arm's name on pages, with the dot of its colour and a link.

use crate::render::phrases;
use crate::views::{Arm, SuiteBoard};

use super::routes::{SiteRoutes, SuiteRoutes};
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
pub(super) fn arm_namer(board: &SuiteBoard, place: &SuiteRoutes) -> impl Fn(&Arm) -> ArmName {
    let name = phrases::arm_namer(board);
    move |arm| {
        let label = Text::from(name(arm));
        let label = if label.is_blank() {
            Text::new("(no name)")
        } else {
            label
        };
        ArmName {
            label,
            tone: place.arm_tone(arm),
            href: None,
            segment: String::new(),
        }
    }
}

/// Names the arms like [`arm_namer`], with links to their pages. `root` is the relative path to the site's root.
pub(super) fn linked_arm_namer(
    board: &SuiteBoard,
    place: &SuiteRoutes,
    plan: &SiteRoutes,
    root: &str,
) -> impl Fn(&Arm) -> ArmName {
    let name = arm_namer(board, place);
    move |arm| ArmName {
        href: Some(plan.arm_href(root, arm)),
        segment: plan.arms.segment(arm),
        ..name(arm)
    }
}
