//! The orders of a suite's items. Each answers a question and has pages of its own.

use crate::views::OverviewSuite;

/// The selection and order of items on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemOrder {
    Name,
    Hardest,
    Category,
    Discriminating,
    Differing,
    Suspect,
}

impl ItemOrder {
    pub const ALL: [Self; 6] = [
        Self::Name,
        Self::Hardest,
        Self::Category,
        Self::Discriminating,
        Self::Differing,
        Self::Suspect,
    ];

    fn file_stem(self) -> &'static str {
        match self {
            Self::Name => "index",
            Self::Hardest => "hardest",
            Self::Category => "category",
            Self::Discriminating => "discriminating",
            Self::Differing => "differing",
            Self::Suspect => "suspect",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Name => "all, by name",
            Self::Hardest => "hardest first",
            Self::Category => "by category",
            Self::Discriminating => "most discriminating first",
            Self::Differing => "arms differ",
            Self::Suspect => "worth a second look",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Self::Name => "Every item, by name.",
            Self::Hardest => {
                "The items that pass least often come first. Each arm weighs the same, however many runs it has."
            }
            Self::Category => "By category; in each, the items that pass least often come first.",
            Self::Discriminating => {
                "First come items that better runs pass more often: the correlation, over runs, with the pass rate on all other items."
            }
            Self::Differing => {
                "Items that some arms pass in more than half of their outcomes and others do not. The largest differences come first."
            }
            Self::Suspect => {
                "Items worth checking, most unusual first. These signs are not verdicts."
            }
        }
    }

    /// Describes the order of the map's columns.
    pub fn map_description(self) -> &'static str {
        match self {
            Self::Name => "easiest at the left, hardest at the right",
            Self::Hardest => "hardest at the left",
            Self::Category => "by category, in each the hardest at the left",
            Self::Discriminating => "most discriminating at the left",
            Self::Differing => "largest differences at the left",
            Self::Suspect => "most unusual at the left",
        }
    }

    /// Returns the items of this order, by index.
    pub fn item_indices(self, suite: &OverviewSuite) -> Vec<usize> {
        let matrix = &suite.items;
        match self {
            Self::Name => (0..matrix.items.len()).collect(),
            Self::Hardest => matrix.orders.hardest.clone(),
            Self::Category => suite.items_by_category(),
            Self::Discriminating => matrix.orders.discriminating.clone(),
            Self::Differing => matrix.orders.differing.clone(),
            Self::Suspect => matrix.orders.suspect.clone(),
        }
    }

    /// Returns the file name of a page of this order, counted from 1.
    pub fn page_name(self, page: u64) -> String {
        match (self, page) {
            (Self::Name, 1) => "index.html".to_owned(),
            (Self::Name, page) => format!("p{page:04}.html"),
            (_, 1) => format!("{}.html", self.file_stem()),
            (_, page) => format!("{}-{page:04}.html", self.file_stem()),
        }
    }
}
