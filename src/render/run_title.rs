//! Titles of runs for people, from arm and night, and short ids.

use crate::views::{Arm, RunOrdinal};

/// Maximum letters of an id that is shown whole.
const MAX_ID_LETTERS: usize = 16;
/// Letters kept of a longer id, at its beginning and at its end. Runs of one batch begin alike.
const ID_HEAD_LETTERS: usize = 8;
const ID_TAIL_LETTERS: usize = 4;

/// Titles a run by its arm, its night and its number: `planner · opus · night 24 · #1`; without an arm's name `night 24 · #1` or `run #1`.
pub fn run_title(arm: &Arm, turn: RunOrdinal) -> String {
    match (arm.display_name(), turn.night) {
        (Some(name), _) => format!("{name} · {}", run_ordinal(turn)),
        (None, Some(_)) => run_ordinal(turn),
        (None, None) => format!("run {}", run_ordinal(turn)),
    }
}

/// Titles a run beside its arm: `night 24 · #1`.
pub fn run_ordinal(turn: RunOrdinal) -> String {
    match turn.night {
        Some(night) => format!("night {night} · #{}", turn.number),
        None => format!("#{}", turn.number),
    }
}

/// Shortens a long id for people: `01a20202…12f5`.
pub fn short_id(id: &str) -> String {
    let letters: Vec<char> = id.chars().collect();
    if letters.len() <= MAX_ID_LETTERS {
        return id.to_owned();
    }
    let (first, last) = (
        &letters[..ID_HEAD_LETTERS],
        &letters[letters.len() - ID_TAIL_LETTERS..],
    );
    first
        .iter()
        .chain(['\u{2026}'].iter())
        .chain(last)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_titled_by_arm_night_and_number() {
        let arm = Arm {
            approach: "planner".to_owned(),
            model: "opus".to_owned(),
        };
        let title = |night| run_title(&arm, RunOrdinal { night, number: 1 });
        assert_eq!(
            [title(Some(24)), title(None)],
            ["planner · opus · night 24 · #1", "planner · opus · #1"]
        );
        let nameless = Arm {
            approach: "unnamed".to_owned(),
            model: "unknown".to_owned(),
        };
        let title = |night| run_title(&nameless, RunOrdinal { night, number: 1 });
        assert_eq!([title(Some(24)), title(None)], ["night 24 · #1", "run #1"]);
    }

    #[test]
    fn long_ids_are_shown_by_their_ends() {
        assert_eq!(
            short_id("01a20202-7d88-701d-8002-1a40fd3c12f5"),
            "01a20202…12f5"
        );
        assert_eq!(short_id("run-a"), "run-a");
        assert_eq!(
            short_id(&"é".repeat(17)),
            format!("{}…{}", "é".repeat(8), "é".repeat(4))
        );
    }
}
