//! The tabs of a suite's bar.

/// A tab of a suite's bar. It has one page, or several that link each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabGroup {
    Verdict,
    Cost,
    Items,
    Pairs,
    History,
}

impl TabGroup {
    pub const ALL: [Self; 5] = [
        Self::Verdict,
        Self::Cost,
        Self::Items,
        Self::Pairs,
        Self::History,
    ];

    /// Returns the word of the tab if it has several pages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Verdict => "Verdict",
            Self::Cost => "Cost",
            Self::Items => "Items",
            Self::Pairs => "Pairs",
            Self::History => "History and runs",
        }
    }
}
