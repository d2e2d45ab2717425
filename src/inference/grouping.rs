//! Which runs stand in one table: all counted runs of a suite's version, from all batches, and from all sources that were measured alike.

use std::collections::BTreeMap;

use crate::domain::{Filter, Provenance};
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, Grouping, SuiteGroup, arm_runs};
use super::comparability;
use super::mismatch::Grade;
use super::sample::{Items, Rates};
use super::texts::ArmTexts;

/// Where imported runs come from: the importer, and the source where that is a study of its own; absent for own runs.
type Study = Option<(String, Option<String>)>;

/// From here on runs of two sources stand apart: other judges, examples or limits, too few shared items, or none.
const APART: Grade = Grade::D;

/// Groups the selected runs by suite and version, and by source where sources were not measured alike. Groups stand by suite, those with
/// the newest run first, of equal ones those with most arms; arms by name.
pub fn suite_groups<'a>(warehouse: &'a Warehouse, filter: &Filter, grouping: Grouping) -> Vec<SuiteGroup<'a>> {
    let mut rows = BTreeMap::<(String, Option<String>), BTreeMap<Study, Vec<&'a RunRow>>>::new();
    for row in warehouse.runs().iter().filter(|row| filter.matches(&row.run)) {
        let study = row.run.provenance.as_ref().map(Provenance::study);
        let study = study.map(|(importer, source)| (importer.to_owned(), source.map(str::to_owned)));
        rows.entry((row.run.suite.clone(), row.run.suite_version.clone())).or_default().entry(study).or_default().push(row);
    }
    let mut groups: Vec<SuiteGroup<'a>> = Vec::new();
    for ((suite, suite_version), studies) in rows {
        let tables = alike(warehouse, (&suite, suite_version.as_deref()), studies);
        let is_alone = tables.len() == 1;
        for (study, rows) in tables {
            let source = study.filter(|_| !is_alone).and_then(|(importer, source)| match source {
                Some(_) => rows[0].run.provenance.as_ref().map(|from| from.file.clone()),
                None => Some(importer),
            });
            let newest = rows.iter().filter_map(|row| row.run.timestamp).max();
            let (suite, suite_version) = (suite.clone(), suite_version.clone());
            groups.push(SuiteGroup { suite, suite_version, source, arms: arm_runs(&rows, grouping), newest });
        }
    }
    groups.sort_by(|left, right| {
        let by_age = left.suite.cmp(&right.suite).then(right.newest.cmp(&left.newest));
        let by_size = by_age.then(right.arms.len().cmp(&left.arms.len())).then(left.suite_version.cmp(&right.suite_version));
        by_size.then(left.source.cmp(&right.source))
    });
    groups
}

/// Puts the studies that were measured alike together, each under the first of its studies.
fn alike<'a>(
    warehouse: &Warehouse,
    (suite, version): (&str, Option<&str>),
    studies: BTreeMap<Study, Vec<&'a RunRow>>,
) -> Vec<(Study, Vec<&'a RunRow>)> {
    let mut tables: Vec<(Study, Vec<&'a RunRow>)> = Vec::new();
    for (study, mut rows) in studies {
        let place = tables.iter().position(|(_, others)| are_alike(warehouse, (suite, version), others, &rows));
        match place {
            Some(place) => tables[place].1.append(&mut rows),
            None => tables.push((study, rows)),
        }
    }
    tables
}

/// Holds the runs of one source against those of another, as if each were an arm.
fn are_alike(warehouse: &Warehouse, (suite, version): (&str, Option<&str>), one: &[&RunRow], other: &[&RunRow]) -> bool {
    let arms = vec![as_arm("one", one), as_arm("other", other)];
    let group = SuiteGroup { suite: suite.to_owned(), suite_version: version.map(str::to_owned), source: None, arms, newest: None };
    let matrix = group.matrix(warehouse);
    let items = Items::of(&group, &matrix);
    let texts = ArmTexts::of_group(warehouse, &group, &matrix);
    let rates: Vec<Rates> = group.arms.iter().map(|arm| Rates::of(&arm.counted, &matrix, &items)).collect();
    // Sources of which nothing is known to differ stand together.
    comparability::of_arms(&group.arms, &rates, &texts, &matrix).iter().all(|pair| pair.grade < APART)
}

/// One run speaks for its source: comparing all of a hundred files would be comparing all arms.
fn as_arm<'a>(name: &str, rows: &[&'a RunRow]) -> ArmRuns<'a> {
    let counted = rows.iter().copied().filter(|row| row.run.status.is_counted()).take(MOST_RUNS).collect();
    ArmRuns { arm: Arm { approach: name.to_owned(), model: String::new() }, counted, excluded: Vec::new(), earlier: 0 }
}

/// Runs of each source that are looked at.
const MOST_RUNS: usize = 12;
