//! Unwanted differences between two arms, and their grades.

use schemars::JsonSchema;
use serde::Serialize;

/// The comparability of two arms, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum Grade {
    A,
    B,
    C,
    D,
    E,
    F,
}

/// An unwanted difference between two arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    UnknownTexts,
    UnknownItems,
    UnknownSetting,
    Independent,
    Revision,
    Templates,
    Resources,
    Texts,
    Items,
    NearTotals,
    Attempts,
    Prompts,
    Judge,
    Shots,
    Limit,
    EffectOfResources,
    FewItems,
    Totals,
    SuiteVersion,
    Source,
    NoItems,
}

impl MismatchKind {
    pub const ALL: [Self; 21] = [
        Self::UnknownTexts,
        Self::UnknownItems,
        Self::UnknownSetting,
        Self::Independent,
        Self::Revision,
        Self::Templates,
        Self::Resources,
        Self::Texts,
        Self::Items,
        Self::NearTotals,
        Self::Attempts,
        Self::Prompts,
        Self::Judge,
        Self::Shots,
        Self::Limit,
        Self::EffectOfResources,
        Self::FewItems,
        Self::Totals,
        Self::SuiteVersion,
        Self::Source,
        Self::NoItems,
    ];

    /// The table of grades and meanings.
    const fn grade_rule(self) -> (Grade, &'static str) {
        match self {
            Self::UnknownTexts => (
                Grade::B,
                "the items have the same names, but item texts were not recorded, or by different tools",
            ),
            Self::UnknownItems => (
                Grade::B,
                "an arm has only counts or scores, as far as known of equally many items; which items is unknown",
            ),
            Self::UnknownSetting => (
                Grade::B,
                "only one arm's runs name a judge, a number of examples, a limit or a sandbox",
            ),
            Self::Independent => (
                Grade::B,
                "the arms are independent samples on request, so chance has to have decided which arm an item went to",
            ),
            Self::Revision => (
                Grade::B,
                "the same judge was asked again about one arm only",
            ),
            Self::Templates => (
                Grade::B,
                "the models have different chat templates, so other differences in wording are unknown",
            ),
            Self::Resources => (
                Grade::B,
                "the runs had different processors, memory, jobs, time limits of our own, kernels, sandboxes, rights of the agent, providers, regions or programs",
            ),
            Self::Texts => (
                Grade::C,
                "some items had different texts or right answers, and are not compared",
            ),
            Self::Items => (
                Grade::C,
                "at least nine tenths of all items are shared, but not all",
            ),
            Self::NearTotals => (
                Grade::C,
                "an arm has only counts or scores, of up to 5% fewer items than the other; which items is unknown",
            ),
            Self::Attempts => (
                Grade::C,
                "the runs made different numbers of attempts per item",
            ),
            Self::Prompts => (
                Grade::C,
                "the same items had different prompts or system instructions",
            ),
            Self::Judge => (
                Grade::D,
                "different judges or evaluators, or a judge with a different prompt",
            ),
            Self::Shots => (
                Grade::D,
                "different numbers of worked examples before each question",
            ),
            Self::Limit => (
                Grade::D,
                "imports have different limits of time, turns, tokens or money",
            ),
            Self::EffectOfResources => (
                Grade::D,
                "the runs had different resources, and runs of one arm pass more with one of them",
            ),
            Self::FewItems => (Grade::E, "fewer than nine tenths of all items are shared"),
            Self::Totals => (
                Grade::E,
                "an arm has only counts or scores, of over 5% fewer or more items",
            ),
            Self::SuiteVersion => (
                Grade::E,
                "different suite versions, so the arms have separate tables",
            ),
            Self::Source => (
                Grade::E,
                "different importers or maps, so the arms have separate tables",
            ),
            Self::NoItems => (Grade::F, "no item is shared"),
        }
    }

    pub fn grade(self) -> Grade {
        self.grade_rule().0
    }

    /// Returns the meaning, as a clause for use in a sentence.
    pub fn describe(self) -> &'static str {
        self.grade_rule().1
    }
}

/// One unwanted difference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Mismatch {
    pub kind: MismatchKind,
    pub grade: Grade,
    /// The setting, limit or metric, if the kind has several; `evaluator` if the items' own differs; `scores` if an arm has nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// The value of each arm, if it can be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<String>,
}

impl Mismatch {
    pub fn from_kind(kind: MismatchKind) -> Self {
        Self {
            kind,
            grade: kind.grade(),
            what: None,
            first: None,
            second: None,
        }
    }

    pub fn with_values(kind: MismatchKind, what: &str, first: String, second: String) -> Self {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Self {
            what: some(what.to_owned()),
            first: some(first),
            second: some(second),
            ..Self::from_kind(kind)
        }
    }

    pub(super) fn swap_arms(&self) -> Self {
        Self {
            first: self.second.clone(),
            second: self.first.clone(),
            ..self.clone()
        }
    }
}

/// Returns the worst grade of the mismatches, or A if there are none.
pub fn worst_grade(found: &[Mismatch]) -> Grade {
    found
        .iter()
        .map(|mismatch| mismatch.kind.grade())
        .max()
        .unwrap_or(Grade::A)
}

/// The items of two arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharedItems {
    /// Items that both arms were asked, with the same text as far as is known.
    pub shared: u64,
    /// Items that at least one arm was asked.
    pub of: u64,
    /// Items that both arms were asked in different texts. They are neither shared nor compared.
    pub changed: u64,
    /// Shared items whose texts are not known to be equal.
    pub unknown: u64,
}
