//! Evaluators, which score finished workspaces.

/// A way to score an agent's work, from 0 to 100.
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
    pub const ALL: [Self; 6] = [
        Self::RequirementFulfillment,
        Self::Efficiency,
        Self::ToolUse,
        Self::Functional,
        Self::CodeQuality,
        Self::Complexity,
    ];

    /// Ordered by importance: whether the work meets its requirements, then how it was made, then how it is written.
    const BY_WEIGHT: [Self; 6] = [
        Self::RequirementFulfillment,
        Self::Functional,
        Self::ToolUse,
        Self::Efficiency,
        Self::CodeQuality,
        Self::Complexity,
    ];

    /// Returns the position of a score's name in order of importance. Unknown names come last.
    pub fn importance_rank(name: &str) -> usize {
        let found = Self::from_name(name).and_then(|named| {
            Self::BY_WEIGHT
                .iter()
                .position(|evaluator| *evaluator == named)
        });
        found.unwrap_or(Self::BY_WEIGHT.len())
    }

    /// Returns the name under which scores are stored.
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

    /// Finds an evaluator by name in any spelling: `code_quality`, `codeQuality` or `code-quality`.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| -> String {
            name.chars()
                .filter(|character| !['_', '-'].contains(character))
                .flat_map(char::to_lowercase)
                .collect()
        };
        Self::ALL
            .into_iter()
            .find(|evaluator| plain(evaluator.name()) == plain(name))
    }

    /// Returns whether a judge decides. A judge can be asked again.
    pub fn is_judged(self) -> bool {
        match self {
            Self::RequirementFulfillment | Self::ToolUse => true,
            Self::Efficiency | Self::Functional | Self::CodeQuality | Self::Complexity => false,
        }
    }
}
