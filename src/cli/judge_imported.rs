//! Imported runs for a judge: which runs can be judged here, and the answers that were imported with them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::domain::{Filter, Run, RunId, visible};
use crate::results::Store;
use crate::run::judge::{Kept, Unfit};
use crate::suite;
use crate::warehouse::{StoredAt, Warehouse};

use super::shown::shown;

/// The imported runs of a selection.
pub(super) struct Imported<'a> {
    warehouse: &'a Warehouse,
    /// Folder of each run's sealed pair of files.
    folders: HashMap<RunId, PathBuf>,
}

impl<'a> Imported<'a> {
    pub fn of(warehouse: &'a Warehouse, filter: &Filter) -> Self {
        let mut folders = HashMap::new();
        for place in warehouse.stored_at(filter) {
            if let StoredAt::Sealed(pair, ids, _) = place
                && let Some(folder) = pair.runs.parent()
            {
                folders.extend(ids.into_iter().map(|id| (id, folder.to_owned())));
            }
        }
        Self { warehouse, folders }
    }

    /// Says why nothing can be stored for an imported run. `None` if the store's own import folder holds it.
    pub fn elsewhere(&self, run: &RunId, store: &Store) -> Option<String> {
        match self.folders.get(run) {
            Some(folder) if *folder == store.imports_dir() => None,
            Some(folder) => Some(format!(
                "it was imported into {}, which is only read",
                shown(folder.parent().unwrap_or(folder))
            )),
            None => {
                Some("its record has no file of its own name, so nothing can be added".to_owned())
            }
        }
    }

    /// Reads the answers of a run.
    pub fn answers(&self, run: &Arc<Run>) -> Result<Kept, Unfit> {
        let items = self.warehouse.detailed(std::slice::from_ref(run));
        let items = items.map_err(|error| {
            Unfit::Unread(format!(
                "its answers cannot be read: {}",
                visible(&error.to_string())
            ))
        })?;
        Kept::of_answers(run, &items).ok_or_else(|| {
            let from = import_of(run);
            Unfit::Lacking(format!(
                "{from} without the text of any answer, so there is nothing to judge; import a file that holds the answers"
            ))
        })
    }
}

/// Says which suite file to write so that an imported run's answers can be judged.
pub(super) fn suite_to_write(run: &Run) -> String {
    let name = visible(&run.suite);
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

fn import_of(run: &Run) -> String {
    match &run.provenance {
        Some(from) => format!(
            "it was imported by `{}` from `{}`",
            visible(&from.importer),
            visible(&from.file)
        ),
        None => "it was imported".to_owned(),
    }
}
