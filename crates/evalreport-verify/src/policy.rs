//! The policy: which kinds of checks run for a kind of goal under each profile.
//!
//! The policy is a table. `docs/look-up/verification.md` shows the same table.

use std::time::Duration;

use super::check::CheckKind::{self, Build, Lint, Smoke, Syntax, Targeted, Test};
use super::task::{TaskKind, WORDINGS, WordOrder};
use crate::domain::Profile;

/// Alternative kinds of checks. The first kind that has a command is run.
pub(super) type CheckStep = &'static [CheckKind];

pub(super) struct PolicyRow {
    pub kind: TaskKind,
    pub strict: &'static [CheckStep],
    pub fast: &'static [CheckStep],
    pub smoke: &'static [CheckStep],
    pub yolo: &'static [CheckStep],
}

impl PolicyRow {
    pub fn steps_for(&self, profile: Profile) -> &'static [CheckStep] {
        match profile {
            Profile::Strict => self.strict,
            Profile::Fast => self.fast,
            Profile::Smoke => self.smoke,
            Profile::Yolo => self.yolo,
        }
    }
}

/// Returns the maximum number of commands under a profile; `None` if there is no limit.
pub(super) fn max_checks(profile: Profile) -> Option<usize> {
    match profile {
        Profile::Strict | Profile::Fast => None,
        Profile::Smoke | Profile::Yolo => Some(2),
    }
}

const EVERYTHING: &[CheckStep] = &[&[Test, Targeted], &[Smoke], &[Build], &[Lint], &[Syntax]];
const STARTS_FIRST: &[CheckStep] = &[&[Smoke], &[Test, Targeted], &[Build], &[Lint], &[Syntax]];
const CORE: &[CheckStep] = &[&[Test, Targeted, Build, Syntax], &[Smoke]];
const NARROW: &[CheckStep] = &[&[Targeted, Syntax], &[Smoke]];
const CHEAP: &[CheckStep] = &[&[Smoke, Syntax, Build], &[Targeted]];
const ONE_CHECK: &[CheckStep] = &[&[Smoke, Targeted, Syntax]];

pub(super) const POLICY: [PolicyRow; 9] = [
    PolicyRow {
        kind: TaskKind::Tiny,
        strict: EVERYTHING,
        fast: NARROW,
        smoke: &[&[Targeted, Syntax]],
        yolo: &[&[Targeted, Syntax]],
    },
    PolicyRow {
        kind: TaskKind::AddTest,
        strict: &[&[Targeted], &[Test], &[Build], &[Lint], &[Syntax]],
        fast: &[&[Targeted, Test]],
        smoke: &[&[Targeted, Syntax]],
        yolo: &[&[Targeted, Syntax]],
    },
    PolicyRow {
        kind: TaskKind::FixBuild,
        strict: &[&[Build], &[Smoke], &[Test, Targeted], &[Lint], &[Syntax]],
        fast: &[&[Build, Smoke, Test, Syntax], &[Targeted]],
        smoke: &[&[Smoke, Build, Syntax], &[Build, Targeted]],
        yolo: &[&[Smoke, Build, Syntax]],
    },
    PolicyRow {
        kind: TaskKind::Docs,
        strict: EVERYTHING,
        fast: NARROW,
        smoke: &[&[Targeted, Syntax]],
        yolo: &[&[Targeted]],
    },
    PolicyRow {
        kind: TaskKind::Refactor,
        strict: EVERYTHING,
        fast: CORE,
        smoke: CHEAP,
        yolo: ONE_CHECK,
    },
    PolicyRow {
        kind: TaskKind::CreateApp,
        strict: STARTS_FIRST,
        fast: &[&[Smoke], &[Targeted, Test, Build, Syntax]],
        smoke: CHEAP,
        yolo: &[&[Smoke, Syntax]],
    },
    PolicyRow {
        kind: TaskKind::Frontend,
        strict: STARTS_FIRST,
        fast: &[&[Build, Smoke], &[Targeted, Test]],
        smoke: &[&[Smoke, Build], &[Targeted]],
        yolo: &[&[Smoke, Build, Syntax]],
    },
    PolicyRow {
        kind: TaskKind::FixError,
        strict: EVERYTHING,
        fast: CORE,
        smoke: CHEAP,
        yolo: ONE_CHECK,
    },
    PolicyRow {
        kind: TaskKind::General,
        strict: EVERYTHING,
        fast: CORE,
        smoke: CHEAP,
        yolo: ONE_CHECK,
    },
];

pub(super) fn policy_row(kind: TaskKind) -> &'static PolicyRow {
    POLICY
        .iter()
        .find(|row| row.kind == kind)
        .expect("every kind has a row, a test holds")
}

/// Returns the default time limit of a check.
pub(super) fn default_timeout(kind: CheckKind) -> Duration {
    Duration::from_secs(match kind {
        Test => 900,
        Targeted | Lint => 300,
        Smoke => 60,
        Build => 600,
        Syntax => 120,
    })
}

/// Returns the policy as Markdown tables: the words of each kind of goal, the checks of each profile, and the time limits.
pub fn policy_table() -> String {
    let mut text = String::from("| kind of goal | by these words |\n| --- | --- |\n");
    for wording in &WORDINGS {
        let list = |words: &[&str]| words.join(", ");
        let words = match (wording.verbs, wording.nouns, wording.order) {
            ([], words, _) | (words, [], _) => list(words),
            (verbs, nouns, WordOrder::Any) => {
                format!("one of *{}* and one of *{}*", list(verbs), list(nouns))
            }
            (verbs, nouns, WordOrder::Object) => {
                format!("*{}*, done to one of *{}*", list(verbs), list(nouns))
            }
        };
        text += &format!("| `{}` | {words} |\n", wording.kind.name());
    }
    text += &format!("| `{}` | anything else |\n", TaskKind::General.name());
    text += "\n| kind of goal |";
    for profile in Profile::ALL {
        text += &format!(" `{}` |", profile.name());
    }
    text += "\n| --- | --- | --- | --- | --- |\n";
    for row in &POLICY {
        text += &format!("| `{}` |", row.kind.name());
        for profile in Profile::ALL {
            let steps: Vec<String> = row
                .steps_for(profile)
                .iter()
                .map(|step| {
                    step.iter()
                        .map(|kind| kind.name())
                        .collect::<Vec<_>>()
                        .join(" / ")
                })
                .collect();
            text += &format!(" {} |", steps.join("; "));
        }
        text += "\n";
    }
    text += "\n| check | time limit in seconds |\n| --- | ---: |\n";
    for kind in CheckKind::ALL {
        text += &format!(
            "| {} | {} |\n",
            kind.name(),
            default_timeout(kind).as_secs()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_row_in_the_order_of_the_kinds() {
        assert_eq!(
            POLICY.iter().map(|row| row.kind).collect::<Vec<_>>(),
            TaskKind::ALL
        );
    }

    #[test]
    fn cheap_profiles_never_run_the_whole_suite() {
        for row in &POLICY {
            for profile in [Profile::Smoke, Profile::Yolo] {
                let steps = row.steps_for(profile);
                assert!(
                    steps.len() <= 2 && !steps.concat().contains(&Test),
                    "{} {}",
                    row.kind.name(),
                    profile.name()
                );
            }
            assert!(row.strict.len() >= row.fast.len());
        }
    }

    /// Tests that the tables in the documentation equal those of the code.
    #[test]
    fn the_documentation_has_this_policy() {
        let (begin, end) = ("<!-- policy: begin -->\n\n", "\n<!-- policy: end -->");
        let doc = include_str!("../../../docs/look-up/verification.md");
        let section = doc
            .split_once(begin)
            .and_then(|(_, rest)| rest.split_once(end))
            .map(|(section, _)| section);
        assert_eq!(
            section,
            Some(policy_table().as_str()),
            "replace what stands between the marks in docs/look-up/verification.md by the right side"
        );
    }
}
