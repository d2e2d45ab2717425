//! What turns a finished workspace into a score.

/// One way of scoring what an agent made, from 0 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Evaluator {
    RequirementFulfillment,
    Efficiency,
    ToolUse,
    Functional,
    CodeQuality,
    Complexity,
}

impl Evaluator {
    pub const ALL: [Self; 6] =
        [Self::RequirementFulfillment, Self::Efficiency, Self::ToolUse, Self::Functional, Self::CodeQuality, Self::Complexity];

    /// By how much they say about what was made: that it does what was asked, then how it came about, then how it is written.
    const BY_WEIGHT: [Self; 6] =
        [Self::RequirementFulfillment, Self::Functional, Self::ToolUse, Self::Efficiency, Self::CodeQuality, Self::Complexity];

    /// Returns where the score of this name stands among others; whatever is no evaluator's stands behind those that are.
    pub fn place_by_weight(name: &str) -> usize {
        let found = Self::from_name(name).and_then(|named| Self::BY_WEIGHT.iter().position(|evaluator| *evaluator == named));
        found.unwrap_or(Self::BY_WEIGHT.len())
    }

    /// Returns the name that scores are stored under.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequirementFulfillment => "requirementFulfillment",
            Self::Efficiency => "efficiency",
            Self::ToolUse => "tool_use",
            Self::Functional => "functional",
            Self::CodeQuality => "code_quality",
            Self::Complexity => "complexity",
        }
    }

    /// Finds the evaluator of a name, however its words are joined: `code_quality`, `codeQuality`, `code-quality`.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| -> String {
            name.chars().filter(|character| !['_', '-'].contains(character)).flat_map(char::to_lowercase).collect()
        };
        Self::ALL.into_iter().find(|evaluator| plain(evaluator.name()) == plain(name))
    }

    /// Says whether a judge decides, whose opinion can be asked for again.
    pub fn is_judged(self) -> bool {
        match self {
            Self::RequirementFulfillment | Self::ToolUse => true,
            Self::Efficiency | Self::Functional | Self::CodeQuality | Self::Complexity => false,
        }
    }
}
