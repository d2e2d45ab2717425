//! The formats of other tools that are read.

use crate::domain::ItemKind;

/// The formats that are read.
///
/// A file is of the first that claims it, so those with names of their own in them come before those that share their shape with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ForeignFormat {
    Inspect,
    Harbor,
    TerminalBench,
    Promptfoo,
    LmEval,
    Helm,
    SweBench,
    Aider,
    Evalperf,
    EveryEvalEver,
    Zelda,
    Cogni,
    Kotef,
    Ralph,
    Ctrf,
    Junit,
}

impl ForeignFormat {
    pub const ALL: [Self; 16] = [
        Self::Inspect,
        Self::Harbor,
        Self::TerminalBench,
        Self::Promptfoo,
        Self::LmEval,
        Self::Helm,
        Self::SweBench,
        Self::Aider,
        Self::Evalperf,
        Self::EveryEvalEver,
        Self::Zelda,
        Self::Cogni,
        Self::Kotef,
        Self::Ralph,
        Self::Ctrf,
        Self::Junit,
    ];

    /// Returns the name that `--as` takes and provenance has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Harbor => "harbor",
            Self::TerminalBench => "terminal-bench",
            Self::Promptfoo => "promptfoo",
            Self::LmEval => "lm-eval",
            Self::Helm => "helm",
            Self::SweBench => "swe-bench",
            Self::Aider => "aider",
            Self::Evalperf => "evalperf",
            Self::EveryEvalEver => "every-eval-ever",
            Self::Zelda => "zelda",
            Self::Cogni => "cogni",
            Self::Kotef => "kotef",
            Self::Ralph => "ralph",
            Self::Ctrf => "ctrf",
            Self::Junit => "junit",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns what the items of the tool are, where a file does not say otherwise of some.
    pub(super) fn kind(self) -> ItemKind {
        match self {
            Self::Harbor | Self::TerminalBench | Self::SweBench | Self::Aider | Self::Evalperf | Self::Kotef => ItemKind::Task,
            Self::Inspect | Self::Promptfoo | Self::LmEval | Self::Helm | Self::EveryEvalEver | Self::Cogni => ItemKind::Question,
            Self::Zelda => ItemKind::Criterion,
            Self::Ralph | Self::Ctrf | Self::Junit => ItemKind::Test,
        }
    }

    /// Returns the name that the tool has in prose.
    pub fn title(self) -> &'static str {
        match self {
            Self::Inspect => "Inspect AI",
            Self::Harbor => "Harbor",
            Self::TerminalBench => "Terminal-Bench",
            Self::Promptfoo => "promptfoo",
            Self::LmEval => "lm-evaluation-harness",
            Self::Helm => "HELM",
            Self::SweBench => "SWE-bench",
            Self::Aider => "aider",
            Self::Evalperf => "EvalPerf",
            Self::EveryEvalEver => "Every Eval Ever",
            Self::Zelda => "zelda",
            Self::Cogni => "cogni",
            Self::Kotef => "kotef",
            Self::Ralph => "ralph eval",
            Self::Ctrf => "CTRF",
            Self::Junit => "JUnit XML",
        }
    }

    /// Says whether a file's name is part of what it says, so that the same bytes under another name are another import.
    pub(super) fn reads_names(self) -> bool {
        match self {
            Self::SweBench | Self::Aider | Self::LmEval | Self::Junit | Self::Ctrf | Self::Kotef | Self::Promptfoo | Self::Evalperf => true,
            Self::Inspect
            | Self::Harbor
            | Self::TerminalBench
            | Self::Helm
            | Self::EveryEvalEver
            | Self::Zelda
            | Self::Cogni
            | Self::Ralph => false,
        }
    }
}
