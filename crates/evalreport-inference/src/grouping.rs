//! Which runs share a table: all counted runs of a suite version, from all batches, and from all sources that were measured alike.

use std::collections::BTreeMap;

use crate::domain::{Filter, Provenance};
use crate::warehouse::{RunRow, Warehouse};

use super::arm::{Arm, ArmRuns, BatchSelection, SuiteGroup, group_by_arm};
use super::comparability;
use super::mismatch::Grade;
use super::night_key::Nights;
use super::sample::{ArmRates, SuiteItems};
use super::texts::ArmTexts;

/// The origin of imported runs: the importer, and the source if it is a separate study. `None` for own runs.
type ImportStudy = Option<(String, Option<String>)>;

/// The best grade at which runs of two sources get separate tables: other judges, examples or limits, or too few shared items.
const SEPARATE_TABLES_GRADE: Grade = Grade::D;

/// Groups the selected runs by suite and version, and by source if sources were not measured alike. Groups are sorted by suite, then newest
/// run first, then most arms first; arms by name.
pub fn suite_groups<'a>(
    warehouse: &'a Warehouse,
    filter: &Filter,
    grouping: BatchSelection,
) -> Vec<SuiteGroup<'a>> {
    let mut rows =
        BTreeMap::<(String, Option<String>), BTreeMap<ImportStudy, Vec<&'a RunRow>>>::new();
    for row in warehouse
        .runs()
        .iter()
        .filter(|row| filter.matches(&row.run))
    {
        let study = row.run.provenance.as_ref().map(Provenance::study_key);
        let study =
            study.map(|(importer, source)| (importer.to_owned(), source.map(str::to_owned)));
        rows.entry((row.run.suite.clone(), row.run.suite_version.clone()))
            .or_default()
            .entry(study)
            .or_default()
            .push(row);
    }
    let nights = match grouping {
        BatchSelection::NewestBatch => Nights::new(
            warehouse,
            rows.values().flat_map(BTreeMap::values).flatten().copied(),
        ),
        BatchSelection::AllBatches | BatchSelection::AllNights => Nights::default(),
    };
    let mut groups: Vec<SuiteGroup<'a>> = Vec::new();
    for ((suite, suite_version), studies) in rows {
        let tables = merge_alike_studies(warehouse, (&suite, suite_version.as_deref()), studies);
        let is_alone = tables.len() == 1;
        for (study, rows) in tables {
            let source = study
                .filter(|_| !is_alone)
                .and_then(|(importer, source)| match source {
                    Some(_) => rows[0]
                        .run
                        .provenance
                        .as_ref()
                        .map(|from| from.file.clone()),
                    None => Some(importer),
                });
            let newest = rows.iter().filter_map(|row| row.run.timestamp).max();
            let (suite, suite_version) = (suite.clone(), suite_version.clone());
            let arms = group_by_arm(&rows, grouping, &nights)
                .into_iter()
                .map(ArmRuns::drop_unmeasured_runs)
                .collect();
            groups.push(SuiteGroup {
                suite,
                suite_version,
                source,
                arms,
                newest,
                since: None,
                earlier: Vec::new(),
            });
        }
    }
    groups.sort_by(|left, right| {
        let by_age = left
            .suite
            .cmp(&right.suite)
            .then(right.newest.cmp(&left.newest));
        let by_size = by_age
            .then(right.arms.len().cmp(&left.arms.len()))
            .then(left.suite_version.cmp(&right.suite_version));
        by_size.then(left.source.cmp(&right.source))
    });
    groups
}

/// Merges studies that were measured alike, each under its first study.
fn merge_alike_studies<'a>(
    warehouse: &Warehouse,
    (suite, version): (&str, Option<&str>),
    studies: BTreeMap<ImportStudy, Vec<&'a RunRow>>,
) -> Vec<(ImportStudy, Vec<&'a RunRow>)> {
    let mut tables: Vec<(ImportStudy, Vec<&'a RunRow>)> = Vec::new();
    for (study, mut rows) in studies {
        let place = tables
            .iter()
            .position(|(_, others)| are_alike(warehouse, (suite, version), others, &rows));
        match place {
            Some(place) => tables[place].1.append(&mut rows),
            None => tables.push((study, rows)),
        }
    }
    tables
}

/// Compares the runs of two sources as if each were an arm.
fn are_alike(
    warehouse: &Warehouse,
    (suite, version): (&str, Option<&str>),
    one: &[&RunRow],
    other: &[&RunRow],
) -> bool {
    let arms = vec![study_as_arm("one", one), study_as_arm("other", other)];
    let (suite, suite_version) = (suite.to_owned(), version.map(str::to_owned));
    let group = SuiteGroup {
        suite,
        suite_version,
        source: None,
        arms,
        newest: None,
        since: None,
        earlier: Vec::new(),
    };
    let matrix = group.outcome_matrix(warehouse);
    let items = SuiteItems::from_group(&group, &matrix);
    let texts = ArmTexts::from_group(warehouse, &group, &matrix);
    let rates: Vec<ArmRates> = group
        .arms
        .iter()
        .map(|arm| ArmRates::from_runs(&arm.counted, &matrix, &items))
        .collect();
    // Sources without a known difference share a table.
    comparability::grade_pairs(&group.arms, &rates, &texts, &matrix)
        .iter()
        .all(|pair| pair.grade < SEPARATE_TABLES_GRADE)
}

/// Represents a source by a few of its runs: comparing all of a hundred files would be as slow as comparing all arms.
fn study_as_arm<'a>(name: &str, rows: &[&'a RunRow]) -> ArmRuns<'a> {
    let counted = rows
        .iter()
        .copied()
        .filter(|row| row.run.status.is_counted())
        .take(MAX_RUNS)
        .collect();
    ArmRuns {
        arm: Arm {
            approach: name.to_owned(),
            model: String::new(),
        },
        counted,
        excluded: Vec::new(),
        crashed: Vec::new(),
        cached: Vec::new(),
        earlier: 0,
    }
}

/// Maximum number of runs compared per source.
const MAX_RUNS: usize = 12;
