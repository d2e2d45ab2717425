//! Imported runs for a judge: which runs can be judged here, and the answers that were imported with them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Filter, Run, RunId, escape_invisible};
use crate::results::Store;
use crate::run::judge::{KeptWork, UnfitReason};
use crate::suite;
use crate::warehouse::{StoredLocation, Warehouse};

use super::display_path::display_path;

/// The imported runs of a selection.
pub(super) struct ImportedRuns<'a> {
    warehouse: &'a Warehouse,
    /// Folder of each run's sealed pair of files.
    folders: HashMap<RunId, PathBuf>,
}

impl<'a> ImportedRuns<'a> {
    pub fn from_selection(warehouse: &'a Warehouse, filter: &Filter) -> Self {
        let mut folders = HashMap::new();
        for place in warehouse.stored_locations(filter) {
            if let StoredLocation::Sealed(pair, ids, _) = place
                && let Some(folder) = pair.runs.parent()
            {
                folders.extend(ids.into_iter().map(|id| (id, folder.to_owned())));
            }
        }
        Self { warehouse, folders }
    }

    /// Says why nothing can be stored for an imported run. `None` if the store's own import folder holds it.
    pub fn stored_elsewhere(&self, run: &RunId, store: &Store) -> Option<String> {
        match self.folders.get(run) {
            Some(folder) if *folder == store.imports_dir() => None,
            Some(folder) => Some(format!(
                "it was imported into {}, which is only read",
                display_path(folder.parent().unwrap_or(folder))
            )),
            None => {
                Some("its record has no file of its own name, so nothing can be added".to_owned())
            }
        }
    }

    /// Reads the answers of a run.
    pub fn read_answers(&self, run: &Arc<Run>) -> Result<KeptWork, UnfitReason> {
        let items = self
            .warehouse
            .read_detailed_outcomes(std::slice::from_ref(run));
        let items = items.map_err(|error| {
            UnfitReason::Unread(format!(
                "its answers cannot be read: {}",
                escape_invisible(&error.to_string())
            ))
        })?;
        KeptWork::from_answers(run, &items).ok_or_else(|| {
            let from = describe_import(run);
            UnfitReason::Lacking(format!(
                "{from} without the text of any answer, so there is nothing to judge; import a file that holds the answers"
            ))
        })
    }
}

/// Says which suite file to write so that an imported run's answers can be judged.
pub(super) fn suite_to_write(run: &Run) -> String {
    let name = escape_invisible(&run.suite);
    if suite::is_name(&run.suite) {
        format!(
            "to have its answers judged, write suites/{name}/suite.yaml with `name: {name}` and `acceptance_criteria`"
        )
    } else {
        "no suite can have that name; to have its answers judged, import it again with `--set suite=NAME`, and write \
         suites/NAME/suite.yaml with `name: NAME` and `acceptance_criteria`"
            .to_owned()
    }
}

fn describe_import(run: &Run) -> String {
    match &run.provenance {
        Some(from) => format!(
            "it was imported by `{}` from `{}`",
            escape_invisible(&from.importer),
            escape_invisible(&from.file)
        ),
        None => "it was imported".to_owned(),
    }
}
