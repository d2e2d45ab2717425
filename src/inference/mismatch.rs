//! What can differ between two arms beside what is compared, and how much that weighs.

use schemars::JsonSchema;
use serde::Serialize;

/// How fair a comparison is. The order is from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub enum Grade {
    A,
    B,
    C,
    D,
    E,
    F,
}

/// What can differ between two arms beside what is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MismatchKind {
    UnknownTexts,
    UnknownItems,
    UnknownSetting,
    Revision,
    Templates,
    Resources,
    Texts,
    Items,
    Attempts,
    Prompts,
    Judge,
    Shots,
    Limit,
    FewItems,
    Totals,
    SuiteVersion,
    Source,
    NoItems,
}

impl MismatchKind {
    pub const ALL: [Self; 18] = [
        Self::UnknownTexts,
        Self::UnknownItems,
        Self::UnknownSetting,
        Self::Revision,
        Self::Templates,
        Self::Resources,
        Self::Texts,
        Self::Items,
        Self::Attempts,
        Self::Prompts,
        Self::Judge,
        Self::Shots,
        Self::Limit,
        Self::FewItems,
        Self::Totals,
        Self::SuiteVersion,
        Self::Source,
        Self::NoItems,
    ];

    /// The table: what each kind makes of a comparison, and what it means.
    const fn rule(self) -> (Grade, &'static str) {
        match self {
            Self::UnknownTexts => (
                Grade::B,
                "the items have the same names, and nobody knows whether they had the same texts: no hashes, or those of two tools",
            ),
            Self::UnknownItems => (
                Grade::B,
                "an arm has counts or scores only, of as many items as the other as far as that is known, and nobody knows of which",
            ),
            Self::UnknownSetting => {
                (Grade::B, "the runs of one arm name a judge, a number of examples or a limit, those of the other none")
            }
            Self::Revision => (Grade::B, "the same judge was asked again about one arm and not about the other"),
            Self::Templates => {
                (Grade::B, "the models have other chat templates, so that whether they were otherwise asked in one wording is unknown")
            }
            Self::Resources => (Grade::B, "the runs had other processors, memory, kernel, provider or region, or other programs"),
            Self::Texts => (Grade::C, "items had other texts or right answers, and are left out of the pair"),
            Self::Items => (Grade::C, "not all items that either was asked are shared, but nine tenths of them or more"),
            Self::Attempts => (Grade::C, "the runs made different numbers of attempts at an item"),
            Self::Prompts => (Grade::C, "the same items were asked in another wording: other prompts, or another system instruction"),
            Self::Judge => (Grade::D, "another judge or evaluator decided, or the same judge was asked in other words"),
            Self::Shots => (Grade::D, "another number of worked examples came before each question"),
            Self::Limit => (Grade::D, "another limit of time, turns, tokens or money"),
            Self::FewItems => (Grade::E, "fewer than nine tenths of the items that either was asked are shared"),
            Self::Totals => (Grade::E, "an arm has counts or scores only, and of another number of items"),
            Self::SuiteVersion => (Grade::E, "another version of the suite, so that the arms stand in tables of their own"),
            Self::Source => (Grade::E, "imported by another importer or by another map, so that the arms stand in tables of their own"),
            Self::NoItems => (Grade::F, "no item is shared"),
        }
    }

    pub fn grade(self) -> Grade {
        self.rule().0
    }

    /// Returns what it means, in a sentence without its beginning and end.
    pub fn meaning(self) -> &'static str {
        self.rule().1
    }
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Mismatch {
    pub kind: MismatchKind,
    pub grade: Grade,
    /// Which setting, limit or metric, where the kind has several; `evaluator` where the items' own is another, and `scores` where an arm
    /// has nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// What each arm has, where that can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<String>,
}

impl Mismatch {
    pub(crate) fn of(kind: MismatchKind) -> Self {
        Self { kind, grade: kind.grade(), what: None, first: None, second: None }
    }

    pub(crate) fn between(kind: MismatchKind, what: &str, first: String, second: String) -> Self {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Self { what: some(what.to_owned()), first: some(first), second: some(second), ..Self::of(kind) }
    }

    pub(super) fn reversed(&self) -> Self {
        Self { first: self.second.clone(), second: self.first.clone(), ..self.clone() }
    }
}

/// Returns the worst grade of what differs; A where nothing does.
pub fn grade(found: &[Mismatch]) -> Grade {
    found.iter().map(|mismatch| mismatch.kind.grade()).max().unwrap_or(Grade::A)
}

/// The items of two arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SharedItems {
    /// Items that both were asked, in one text as far as that is known.
    pub shared: u64,
    /// Items that either was asked.
    pub of: u64,
    /// Items that both were asked in different texts: neither shared nor compared.
    pub changed: u64,
    /// Shared items whose texts nobody knows to be the same.
    pub unknown: u64,
}
