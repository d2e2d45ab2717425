//! Files that are parts of the same runs: an object a file, or a file a task.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::domain::RunId;

use super::field::RowView;
use super::map::{AttemptField, TableMap};
use super::record::{RowRunNames, derive_run_id, read_outcome, read_run_names};

use super::map_rows::{for_each_map_row, map_columns};
use super::rows::ReadStop;
use super::source::{SourceFile, digest_parts};
use super::table_runs::blank_outcome;

/// Maximum mean size of files that may be parts. Larger files are read once, each as it is.
const MAX_MEAN_BYTES: u64 = 64 << 20;

/// Returns the sources that the files are: one of all readable files if some run has rows in several and no two files have the same outcome
/// of a run, else each file. A run whose files repeat its items is several runs, which only their files tell apart.
pub(super) fn group_parts<'p>(files: &[&'p Path], map: &TableMap) -> Vec<Vec<&'p Path>> {
    let single = || files.iter().map(|file| vec![*file]).collect();
    if files.len() < 2 || map.item.is_none() {
        return single();
    }
    let mut found = PartOutcomes::default();
    let (mut parts, mut unreadable, mut bytes) = (Vec::new(), Vec::new(), 0);
    for file in files {
        let source = SourceFile::from_path(file);
        bytes += source.as_ref().map_or(0, |source| source.bytes);
        if bytes / files.len() as u64 > MAX_MEAN_BYTES {
            return single();
        }
        match source.map(|source| found.take_file(&source, map)) {
            Ok(Ok(())) => parts.push(*file),
            _ => unreadable.push(vec![*file]),
        }
        if found.is_repeated {
            return single();
        }
    }
    if !found.is_any_shared {
        return single();
    }
    std::iter::once(parts).chain(unreadable).collect()
}

/// The outcomes of the files so far.
#[derive(Default)]
struct PartOutcomes {
    /// Number of the first file with rows of a run.
    first_files: HashMap<RunId, usize>,
    /// Digests of the outcomes of all files.
    outcomes: HashSet<[u8; 32]>,
    files: usize,
    /// Some run has rows in several files.
    is_any_shared: bool,
    /// Two files have the same outcome of a run.
    is_repeated: bool,
}

impl PartOutcomes {
    /// Takes the outcomes of a file. Fails if it cannot be read.
    fn take_file(&mut self, source: &SourceFile, map: &TableMap) -> Result<(), ReadStop> {
        let Some(fields) = &map.item else {
            return Ok(());
        };
        self.files += 1;
        let (mut names, mut outcome) = (RowRunNames::default(), blank_outcome(map));
        let mut own = HashSet::new();
        for_each_map_row(
            source,
            map,
            u64::MAX,
            &mut map_columns(map),
            &mut |_| {},
            &mut |row, place| {
                let Some(Ok(cells)) = row.map(|row| &row.cells) else {
                    return Ok(());
                };
                let view = RowView {
                    cells,
                    notation: &map.notation,
                    number: row.map_or(0, |row| row.number),
                    file: place.file,
                    member: place.member,
                };
                // A row that is refused will be refused again.
                if read_run_names(map, &view, &mut names).is_err()
                    || read_outcome(fields, &view, &mut outcome).is_err()
                {
                    return Ok(());
                }
                let run = derive_run_id(map, &names);
                let attempt = outcome.attempt.to_string();
                let key = digest_parts(
                    &[
                        run.as_str().as_bytes(),
                        outcome.item.as_bytes(),
                        outcome.evaluator.as_bytes(),
                        attempt.as_bytes(),
                    ],
                    true,
                );
                self.is_repeated |= self.outcomes.contains(&key);
                own.insert(key);
                let first = *self.first_files.entry(run).or_insert(self.files);
                self.is_any_shared |= first != self.files;
                Ok(())
            },
        )?;
        // Files of one object each may hold the attempts at an item, which are counted as they come.
        if own.len() > 1 || !matches!(fields.attempt, AttemptField::Occurrence) {
            self.outcomes.extend(own);
        }
        Ok(())
    }
}
