//! Merges judgements of imported runs with the outcomes of their sealed pairs.

use super::item_file::JudgeRevisions;
use super::matrix::{MatrixRow, RowScores};
use super::open::Warehouse;
use crate::domain::{ItemStatus, RunId};

impl Warehouse {
    /// Returns the judges whose judgements replace a unit's outcomes of a run by the same evaluators. Empty except for the sealed pair of a
    /// judged run.
    pub(super) fn overriding_judges(&self, run: &RunId, unit: u32) -> JudgeRevisions<'_> {
        let judged = self
            .judged
            .get(run)
            .and_then(|judged| judged.unit)
            .filter(|judged| *judged != unit);
        judged
            .and_then(|judged| self.snapshot.items.get(judged as usize))
            .map_or(&[], |judged| &judged.standing)
    }

    /// Merges adjacent rows of the same run and attempt into one. Of two outcomes of an item, the later row's counts.
    pub(super) fn merge_attempt_rows(&self, rows: Vec<MatrixRow>) -> Vec<MatrixRow> {
        if self.judged.is_empty() {
            return rows;
        }
        let mut each: Vec<MatrixRow> = Vec::with_capacity(rows.len());
        for row in rows {
            match each
                .last_mut()
                .filter(|last| last.run == row.run && last.attempt == row.attempt)
            {
                Some(last) => *last = merge_rows(last, &row),
                None => each.push(row),
            }
        }
        each
    }
}

fn merge_rows(first: &MatrixRow, later: &MatrixRow) -> MatrixRow {
    let kept = first
        .items
        .iter()
        .enumerate()
        .filter(|(_, item)| later.items.binary_search(item).is_err());
    let kept = kept.map(|(place, item)| (*item, first, place));
    let mut places: Vec<(u32, &MatrixRow, usize)> = kept
        .chain(
            later
                .items
                .iter()
                .enumerate()
                .map(|(place, item)| (*item, later, place)),
        )
        .collect();
    places.sort_unstable_by_key(|(item, ..)| *item);
    let scores = if first.scores == later.scores && first.scores.len().is_none() {
        first.scores.clone()
    } else {
        RowScores::Own(
            places
                .iter()
                .map(|(_, row, place)| score_at(row, *place))
                .collect(),
        )
    };
    MatrixRow {
        run: first.run.clone(),
        attempt: first.attempt,
        items: places.iter().map(|(item, ..)| *item).collect(),
        statuses: places
            .iter()
            .map(|(_, row, place)| row.statuses.get(*place))
            .collect(),
        scores,
    }
}

fn score_at(row: &MatrixRow, place: usize) -> Option<f64> {
    match (&row.scores, row.statuses.get(place)) {
        (RowScores::Own(scores), _) => scores[place],
        (RowScores::Images, ItemStatus::Pass) => Some(1.0),
        (RowScores::Images, ItemStatus::Fail) => Some(0.0),
        (RowScores::Images | RowScores::Absent, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(items: &[u32], statuses: &[ItemStatus], scores: RowScores) -> MatrixRow {
        let run = RunId::parse("r").expect("a valid id");
        MatrixRow {
            run,
            attempt: 1,
            items: items.into(),
            statuses: statuses.iter().copied().collect(),
            scores,
        }
    }

    #[test]
    fn two_rows_of_an_attempt_are_one() {
        use ItemStatus::{Fail, NotEvaluated, Pass};
        let first = row(&[0, 2, 3], &[Pass, Fail, Fail], RowScores::Images);
        let both = merge_rows(
            &first,
            &row(&[1, 3], &[NotEvaluated, Pass], RowScores::Absent),
        );
        assert_eq!(
            both.outcomes().collect::<Vec<_>>(),
            [(0, Pass), (1, NotEvaluated), (2, Fail), (3, Pass)]
        );
        assert_eq!(
            both.scores,
            RowScores::Own(vec![Some(1.0), None, Some(0.0), None])
        );
        assert_eq!(
            merge_rows(&first, &row(&[5], &[Pass], RowScores::Images)).scores,
            RowScores::Images
        );
    }
}
