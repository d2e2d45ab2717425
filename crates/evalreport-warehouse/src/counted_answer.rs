//! Counts per item as the runs and outcomes that have these counts.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::domain::{ItemCounts, ItemStatus, Run, RunId, escape_invisible, to_hex};

use super::engine_answer::{EngineAnswer, EngineCell, EngineItem, EngineRow, EngineRun};

impl EngineAnswer {
    /// Makes runs that have these counts. Which attempt of a run passed is not known; the first ones did. `name` is shown in messages.
    ///
    /// # Errors
    ///
    /// Says which run has no usable id, or is of two arms.
    pub fn from_counts(name: &str, counts: &[ItemCounts]) -> Result<Self, String> {
        let mut by_run: BTreeMap<RunId, Vec<&ItemCounts>> = BTreeMap::new();
        for row in counts {
            by_run.entry(run_id(row)?).or_default().push(row);
        }
        let mut sets: BTreeMap<Vec<EngineItem>, usize> = BTreeMap::new();
        let (mut runs, mut rows) = (Vec::with_capacity(by_run.len()), Vec::new());
        for (id, mut of_run) in by_run {
            let arm = arm_of(of_run[0]);
            if of_run.iter().any(|row| arm_of(row) != arm) {
                return Err(format!("run `{id}` is of two arms or suites"));
            }
            let (suite, version, approach, model) = arm;
            let mut run = Run::new(id.clone(), suite, approach, model);
            run.suite_version = version.map(str::to_owned);
            runs.push(EngineRun {
                run,
                totals: None,
                hidden: None,
                published: None,
            });
            of_run.sort_by(|left, right| left.key.cmp(&right.key));
            for attempt in 1..=of_run
                .iter()
                .map(|row| outcome_count(row))
                .max()
                .unwrap_or(0)
            {
                let asked = || of_run.iter().filter(|row| outcome_count(row) >= attempt);
                let items = asked()
                    .map(|row| EngineItem {
                        key: row.key.clone(),
                        cluster: row.cluster.clone(),
                    })
                    .collect();
                let next = sets.len();
                let set = *sets.entry(items).or_insert(next);
                let cells = asked()
                    .map(|row| EngineCell::from_status(attempt_status(row, attempt)))
                    .collect();
                rows.push(EngineRow {
                    run: id.clone(),
                    attempt,
                    set,
                    cells,
                    scores: Vec::new(),
                });
            }
        }
        let mut sets: Vec<(usize, Vec<EngineItem>)> = sets
            .into_iter()
            .map(|(items, number)| (number, items))
            .collect();
        sets.sort_by_key(|(number, _)| *number);
        let sets = sets.into_iter().map(|(_, items)| items).collect();
        Ok(Self {
            name: name.to_owned(),
            runs,
            sets,
            rows,
            lines: None,
        })
    }
}

/// Suite, version, approach and model.
type SuiteArm<'a> = (&'a str, Option<&'a str>, &'a str, &'a str);

fn arm_of(row: &ItemCounts) -> SuiteArm<'_> {
    (
        &row.suite,
        row.suite_version.as_deref(),
        &row.approach,
        &row.model,
    )
}

fn run_id(row: &ItemCounts) -> Result<RunId, String> {
    match &row.run {
        Some(text) => {
            RunId::parse(text).map_err(|why| format!("run_id `{}`: {why}", escape_invisible(text)))
        }
        None => RunId::parse(&format!(
            "counts-{}",
            &to_hex(&Sha256::digest(format!("{:?}", arm_of(row))))[..16]
        )),
    }
}

fn outcome_count(row: &ItemCounts) -> u32 {
    row.counted + row.missing + row.skipped
}

/// Returns the status of one attempt: passes first, then the other counted outcomes, then those that are missing.
fn attempt_status(row: &ItemCounts, attempt: u32) -> ItemStatus {
    if attempt <= row.passed {
        ItemStatus::Pass
    } else if attempt <= row.counted {
        ItemStatus::Fail
    } else if attempt <= row.counted + row.missing {
        ItemStatus::Infra
    } else {
        ItemStatus::Skipped
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::{ItemKey, ItemKind};

    use super::*;

    fn row(
        run: Option<&str>,
        item: &str,
        [passed, counted, missing, skipped]: [u32; 4],
    ) -> ItemCounts {
        ItemCounts {
            run: run.map(str::to_owned),
            suite: "s".to_owned(),
            suite_version: None,
            approach: "a".to_owned(),
            model: "m".to_owned(),
            key: ItemKey {
                kind: ItemKind::Question,
                evaluator: "answers".to_owned(),
                item: item.to_owned(),
            },
            cluster: None,
            passed,
            counted,
            missing,
            skipped,
        }
    }

    #[test]
    fn the_outcomes_have_the_counts_that_they_are_made_of() {
        let rows = [
            row(Some("r"), "y", [1, 3, 1, 1]),
            row(Some("r"), "x", [2, 2, 0, 0]),
            row(None, "x", [0, 1, 0, 0]),
        ];
        let answer = EngineAnswer::from_counts("file", &rows).expect("counts");
        let told: Vec<(String, u32, Vec<&str>, Vec<u8>)> = answer
            .rows
            .iter()
            .map(|row| {
                let items = answer.sets[row.set]
                    .iter()
                    .map(|item| item.key.item.as_str())
                    .collect();
                (
                    row.run.to_string(),
                    row.attempt,
                    items,
                    row.cells.iter().map(|cell| cell.code()).collect(),
                )
            })
            .collect();
        let arm = answer.runs[0].run.id.to_string();
        assert!(arm.starts_with("counts-"), "{arm}");
        let r = |attempt, items: &[&'static str], codes: &[u8]| {
            ("r".to_owned(), attempt, items.to_vec(), codes.to_vec())
        };
        // 1 pass, 2 fail, 5 infra, 6 skipped.
        assert_eq!(
            told,
            [
                (arm, 1, vec!["x"], vec![2]),
                r(1, &["x", "y"], &[1, 1]),
                r(2, &["x", "y"], &[1, 2]),
                r(3, &["y"], &[2]),
                r(4, &["y"], &[5]),
                r(5, &["y"], &[6])
            ]
        );
    }

    #[test]
    fn a_run_is_of_one_arm_and_has_an_id() {
        let mut other = row(Some("r"), "y", [0, 1, 0, 0]);
        other.model = "n".to_owned();
        let failed = |rows: &[ItemCounts]| EngineAnswer::from_counts("file", rows).map(|_| ());
        assert_eq!(
            failed(&[row(Some("r"), "x", [0, 1, 0, 0]), other]),
            Err("run `r` is of two arms or suites".to_owned())
        );
        assert!(failed(&[row(Some("../r"), "x", [0, 1, 0, 0])]).is_err());
    }
}
