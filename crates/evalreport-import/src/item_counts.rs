//! A table of counts per item, as `queries/counts.sql` gives it: one row for each run and item.

use std::collections::BTreeSet;
use std::path::Path;

use crate::document::quote_text;
use crate::domain::{ItemCounts, ItemKey, ItemKind, Problem};

use super::cell::{self, Refused, RowCell};
use super::columns::SourceColumns;
use super::encoding::TextEncoding;
use super::first_problems::FirstProblems;
use super::layout::RowLayout;
use super::rows::{ReadStop, RowSink, SourceRow};
use super::source::SourceFile;

/// The columns that a table must have; then those that it may have.
const REQUIRED_COLUMNS: [&str; 6] = ["suite", "approach", "model", "item", "passed", "counted"];
const OPTIONAL_COLUMNS: [&str; 7] = [
    "run_id",
    "suite_version",
    "kind",
    "evaluator",
    "cluster",
    "missing",
    "skipped",
];
/// Maximum number of outcomes of a run, or of an arm without runs, at one item.
const MAX_OUTCOMES: u32 = 10_000;

/// Reads a table of counts, in any format of tables, compressed or not. Fails with all problems of the file at once.
pub fn read_item_counts(path: &Path) -> Result<Vec<ItemCounts>, Vec<Problem>> {
    let source = SourceFile::from_path(path).map_err(|problem| vec![problem])?;
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    let mut problems = FirstProblems::default();
    let read = source.for_each_part(TextEncoding::default(), &mut |_| {}, |part| {
        let label = part.label.clone();
        let mut columns = SourceColumns::new(
            REQUIRED_COLUMNS
                .into_iter()
                .chain(OPTIONAL_COLUMNS)
                .map(str::to_owned)
                .collect(),
        );
        let mut on_row = |row: &SourceRow<'_>| {
            let taken = match &row.cells {
                Ok(cells) => parse_counts(cells).map_err(|refused| match refused.detail {
                    Some(detail) => format!("{}: {detail}", refused.reason),
                    None => refused.reason,
                }),
                Err(refused) => Err(refused.reason.clone()),
            };
            let taken = taken.and_then(|counts| {
                let ItemCounts {
                    run,
                    suite,
                    suite_version,
                    approach,
                    model,
                    key,
                    ..
                } = counts.clone();
                let is_new = known.insert((run, suite, suite_version, approach, model, key));
                if is_new {
                    Ok(counts)
                } else {
                    Err(format!(
                        "a second row for the item {}",
                        quote_text(&counts.key.item)
                    ))
                }
            });
            match taken {
                Ok(counts) => found.push(counts),
                Err(message) => problems.add(&label, row, message),
            }
            Ok(())
        };
        let mut rows = RowSink::new(&label, &mut columns, &mut on_row);
        RowLayout::default().read_rows(part.format, part.input, &mut rows, |_| None)?;
        match columns.essential_columns_problem(|name| REQUIRED_COLUMNS.contains(&name), &label) {
            Some(problem) => Err(ReadStop::Unreadable(vec![problem])),
            None => Ok(()),
        }
    });
    let mut problems = problems.into_problems(read, &source.shown);
    if problems.is_empty() && found.is_empty() {
        problems.push(Problem::in_file(&source.shown, "has no row of counts"));
    }
    if problems.is_empty() {
        Ok(found)
    } else {
        Err(problems)
    }
}

fn parse_counts(cells: &[RowCell]) -> Result<ItemCounts, Refused> {
    let text =
        |place: usize| Some(cells[place].text.trim().to_owned()).filter(|text| !text.is_empty());
    let needed = |place: usize| {
        text(place).ok_or_else(|| Refused::new(format!("{} is empty", REQUIRED_COLUMNS[place])))
    };
    let optional = |name: &str| {
        OPTIONAL_COLUMNS
            .iter()
            .position(|welcome| *welcome == name)
            .and_then(|place| text(REQUIRED_COLUMNS.len() + place))
    };
    let count = |name: &str, value: Option<String>| {
        let value = value.map_or(Ok(0), |text| cell::parse_count(name, &text))?;
        u32::try_from(value)
            .ok()
            .filter(|value| *value <= MAX_OUTCOMES)
            .ok_or_else(|| Refused::new(format!("{name} is above {MAX_OUTCOMES}")))
    };
    let kind = match optional("kind") {
        None => ItemKind::Question,
        Some(name) => ItemKind::from_name(&name).ok_or_else(|| {
            Refused::with_value(
                "kind is not question, task, test, criterion or check",
                &name,
            )
        })?,
    };
    let key = ItemKey {
        kind,
        evaluator: optional("evaluator").unwrap_or_else(|| "answers".to_owned()),
        item: needed(3)?,
    };
    let (passed, counted) = (
        count("passed", Some(needed(4)?))?,
        count("counted", Some(needed(5)?))?,
    );
    if passed > counted {
        return Err(Refused::new(format!(
            "passed is {passed}, but counted is {counted}"
        )));
    }
    let (missing, skipped) = (
        count("missing", optional("missing"))?,
        count("skipped", optional("skipped"))?,
    );
    // Intervals would be too narrow: how much runs of an arm differ is then unknown.
    if optional("run_id").is_none() && counted + missing + skipped > 1 {
        return Err(Refused::new(
            "run_id is empty, but the item has more than one outcome",
        ));
    }
    Ok(ItemCounts {
        run: optional("run_id"),
        suite: needed(0)?,
        suite_version: optional("suite_version"),
        approach: needed(1)?,
        model: needed(2)?,
        key,
        cluster: optional("cluster"),
        passed,
        counted,
        missing,
        skipped,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<ItemCounts>, Vec<String>> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("counts.csv");
        std::fs::write(&path, text).expect("written");
        let plain = |problem: Problem| {
            format!(
                "{}: {}",
                problem
                    .line
                    .map_or_else(String::new, |line| line.to_string()),
                problem.message
            )
        };
        read_item_counts(&path).map_err(|problems| problems.into_iter().map(plain).collect())
    }

    #[test]
    fn a_row_is_an_item_of_an_arm() {
        let found = read("suite,approach,model,item,passed,counted,run_id,missing,kind\ns,a,m,q 1,2,3.0,r-1,1,task\ns,a,m,q 2,0,0,,,\n")
            .expect("counts");
        let key = |kind, item: &str| ItemKey {
            kind,
            evaluator: "answers".to_owned(),
            item: item.to_owned(),
        };
        assert_eq!(
            (
                found[0].run.as_deref(),
                found[0].key.clone(),
                found[0].passed,
                found[0].counted,
                found[0].missing
            ),
            (Some("r-1"), key(ItemKind::Task, "q 1"), 2, 3, 1)
        );
        assert_eq!(
            (
                found[1].run.as_deref(),
                found[1].key.clone(),
                found[1].counted
            ),
            (None, key(ItemKind::Question, "q 2"), 0)
        );
    }

    #[test]
    fn all_problems_at_once() {
        let problems = read(
            "suite,approach,model,item,passed,counted,kind\ns,a,m,x,2,1,\ns,a,m,y,-1,1,\ns,a,m,,1,1,\ns,a,m,z,1,1,wish\ns,a,m,w,1,1,\ns,a,m,w,0,1,\ns,a,m,v,1,99999,\ns,a,m,u,1,2,\n",
        );
        let problems = problems.expect_err("problems");
        let said = [
            "2: passed is 2, but counted is 1",
            "3: passed is",
            "4: item is empty",
            "5: kind is not",
            "7: a second row",
            "8: counted is above",
            "9: run_id is empty",
        ];
        assert_eq!(problems.len(), said.len(), "{problems:?}");
        for (problem, said) in problems.iter().zip(said) {
            assert!(problem.starts_with(said), "{problem}");
        }
        assert_eq!(
            read("suite,approach,model,item,passed\ns,a,m,x,1\n").expect_err("a column"),
            [": no row has the column `counted`"]
        );
        assert_eq!(
            read("suite,approach,model,item,passed,counted\n")
                .expect_err("rows")
                .len(),
            1
        );
    }
}
